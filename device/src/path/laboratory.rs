//! The lobe of one material on arrays of directions, for those who study it by itself.

use glam::{Vec2, Vec3};

use super::stage::{Count, Function};
use crate::bsdf::{BsdfSample, Listed, Lit, Tint, Visitor};
use crate::bvh::Arch;
use crate::features::{Compiled, Full};
use crate::material::{At, Material, Parameters, ParametersVisitor, Surfaces};

/// A material, and the directions that it is seen from.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Specimen {
    /// A scene of which it is the first material and no blend, with its textures and coats.
    pub scene: *const Surfaces,
    /// Directions to the viewer, local frame; those below the surface see nothing.
    pub wo: *const Vec3,
    /// How far each is from the next: 1, or 0 where all see it from the same one.
    pub wo_stride: u32,
    /// Number of invocations.
    pub count: u32,
}

impl Specimen {
    /// The `i`th direction that it is seen from.
    ///
    /// # Safety
    /// The pointers are valid, and `i` < `count`.
    #[inline(always)]
    unsafe fn wo(&self, i: usize) -> Vec3 {
        // SAFETY: as the caller promised.
        unsafe { self.wo.add(i * self.wo_stride as usize).read() }
    }

    /// Shows the lobe to a visitor: that in the middle of the textures, seen from the front. Also gives its tint. `None` of
    /// what no kernel knows.
    ///
    /// # Safety
    /// The pointers are valid.
    #[inline(always)]
    unsafe fn show<V: Visitor>(&self, visitor: V) -> Option<(V::Output, Tint)> {
        // SAFETY: as the caller promised.
        unsafe {
            let at = At::new(&*self.scene, Vec2::splat(0.5));
            let material = at.scene.materials;
            Material::show::<Full, _>(material, (*material).header().kind, Resolved { at: &at, visitor })
        }
    }
}

/// Resolves a material to its lobe and its tint, and passes the lobe on.
struct Resolved<'a, V> {
    at: &'a At<'a>,
    visitor: V,
}

impl<V: Visitor> ParametersVisitor for Resolved<'_, V> {
    type Output = (V::Output, Tint);

    #[inline(always)]
    fn visit<P: Parameters>(self, parameters: &P) -> Self::Output {
        (parameters.with_lobe::<Full, _>(self.at, self.visitor), parameters.tint::<Full>(self.at))
    }
}

/// A pair of directions that a lobe is evaluated for.
struct Pair {
    wo: Vec3,
    wi: Vec3,
}

impl Visitor for Pair {
    type Output = Lit;

    #[inline(always)]
    fn visit<L: Listed>(self, lobe: L) -> Lit {
        let is_compiled = Full::sees(L::FEATURE) && !L::DELTA;
        let (f, pdf) = if is_compiled { lobe.eval_pdf(self.wo, self.wi) } else { (Vec3::ZERO, 0.0) };
        Lit { f, pdf }
    }
}

/// Uniforms by which a lobe is to draw a direction.
struct Uniforms {
    wo: Vec3,
    uc: f32,
    u: Vec2,
}

impl Visitor for Uniforms {
    type Output = Option<BsdfSample>;

    #[inline(always)]
    fn visit<L: Listed>(self, lobe: L) -> Option<BsdfSample> {
        if Full::sees(L::FEATURE) { lobe.sample(self.wo, self.uc, self.u) } else { None }
    }
}

/// Arguments of the stage that evaluates; every column has [`Specimen::count`] elements.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct EvaluateArgs {
    /// What is looked at.
    pub specimen: Specimen,
    /// Directions to the light, local frame.
    pub wi: *const Vec3,
    /// Room for f(wo, wi), without the cosine; null if it is not wanted.
    pub f: *mut Vec3,
    /// Room for the solid-angle density of `wi`; null if it is not wanted.
    pub pdf: *mut f32,
}

// SAFETY: every invocation writes only its own elements.
unsafe impl Send for EvaluateArgs {}
// SAFETY: as above.
unsafe impl Sync for EvaluateArgs {}

impl Count for EvaluateArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.specimen.count
    }
}

/// The stage that evaluates f and density of pairs of directions.
pub struct Evaluate;

impl Function for Evaluate {
    type Args = EvaluateArgs;

    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &EvaluateArgs) {
        let i = i as usize;
        // SAFETY: as the caller promised; the element is this invocation's.
        unsafe {
            let (wo, wi) = (args.specimen.wo(i), args.wi.add(i).read());
            let (f, pdf) = match args.specimen.show(Pair { wo, wi }) {
                Some((lit, tint)) => (lit.f * tint.factor(wo, wi), lit.pdf),
                None => (Vec3::ZERO, 0.0),
            };
            if !args.f.is_null() {
                args.f.add(i).write(f);
            }
            if !args.pdf.is_null() {
                args.pdf.add(i).write(pdf);
            }
        }
    }
}

/// Bits that tell what became of a sample.
pub struct Drawn;

impl Drawn {
    /// A direction was drawn. All columns are 0 where none was.
    pub const VALID: u8 = 1;
    /// It was drawn from a finite set: its density is 0, and its weight has the probability in it.
    pub const DELTA: u8 = 1 << 1;
    /// It is on the other side of the surface.
    pub const TRANSMITTED: u8 = 1 << 2;

    /// Those of a sample that was drawn.
    #[inline(always)]
    pub fn of(wo: Vec3, sample: &BsdfSample) -> u8 {
        let delta = if sample.pdf == 0.0 { Self::DELTA } else { 0 };
        let transmitted = if wo.z * sample.wi.z < 0.0 { Self::TRANSMITTED } else { 0 };
        Self::VALID | delta | transmitted
    }
}

/// Arguments of the stage that draws; every column has [`Specimen::count`] elements.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DrawArgs {
    /// What is looked at.
    pub specimen: Specimen,
    /// Uniforms in [0, 1): one that chooses the component, and two that place the direction.
    pub u: *const [f32; 3],
    /// Room for directions, local frame.
    pub wi: *mut Vec3,
    /// Room for weights, f·|cos θi| / pdf.
    pub weight: *mut Vec3,
    /// Room for solid-angle densities.
    pub pdf: *mut f32,
    /// Room for indices of refraction where `wi` leads relative to where `wo` does.
    pub eta: *mut f32,
    /// Room for bits of [`Drawn`].
    pub flags: *mut u8,
}

// SAFETY: every invocation writes only its own elements.
unsafe impl Send for DrawArgs {}
// SAFETY: as above.
unsafe impl Sync for DrawArgs {}

impl Count for DrawArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.specimen.count
    }
}

/// The stage that draws directions.
pub struct Draw;

impl Function for Draw {
    type Args = DrawArgs;

    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &DrawArgs) {
        let i = i as usize;
        // SAFETY: as the caller promised; the element is this invocation's.
        unsafe {
            let (wo, [uc, x, y]) = (args.specimen.wo(i), args.u.add(i).read());
            let shown = args.specimen.show(Uniforms { wo, uc, u: Vec2::new(x, y) });
            let (wi, weight, pdf, eta, flags) = match shown {
                Some((Some(s), tint)) => {
                    (s.wi, s.weight * tint.factor(wo, s.wi), s.pdf, s.eta, Drawn::of(wo, &s))
                }
                _ => (Vec3::ZERO, Vec3::ZERO, 0.0, 0.0, 0),
            };
            args.wi.add(i).write(wi);
            args.weight.add(i).write(weight);
            args.pdf.add(i).write(pdf);
            args.eta.add(i).write(eta);
            args.flags.add(i).write(flags);
        }
    }
}
