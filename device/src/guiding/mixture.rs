//! What a guide knows of the light in a region: a mixture of von Mises–Fisher lobes.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};
use primitives::Quad;

use super::vmf;
use crate::arch::{load, max, min, rsqrt};
use crate::row::{Row, each_of_row, sum};

/// Number of lobes.
pub const LOBES: usize = Row::LEN;

/// A density of directions that depends on where they begin: 256 bytes. A lobe points to a place, as seen from the pivot, and so into
/// another direction from elsewhere (Ruppert et al. 2020, "Robust Fitting of Parallax-Aware Mixtures for Path Guiding", section 6).
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Mixture {
    /// Unit mean directions from the pivot, x, y and z.
    pub mean: [Row; 3],
    /// Concentrations.
    pub kappa: Row,
    /// Probabilities; their sum is 1.
    pub weight: Row,
    /// Densities at the means, with the probabilities, 1/sr.
    pub peak: Row,
    /// 1 over the distance of the places that lobes point to, 1/m; 0 for directions that are the same from everywhere, negative for those
    /// of light that converges to a place behind.
    pub per_distance: Row,
    /// A point among those of the region.
    pub pivot: Vec3,
    /// Probability with which directions are drawn from the BSDF instead.
    pub bsdf: f32,
    /// Mean luminance of what comes from surfaces and is scattered here, ∫ f L cos θ dω; 0 if it is not known.
    pub scattered: f32,
    /// Second moments of what records would bring: if directions were drawn so, and if they were by the BSDF alone.
    pub moments: [f32; 2],
    /// Nothing.
    pub reserved: f32,
}

const _: () = assert!(size_of::<Mixture>() == 256);

/// Where directions begin.
pub(super) struct Viewpoint {
    /// Viewpoint there to the pivot.
    to_pivot: [f32; 3],
    /// 1 over the least distance of places from the pivot, so that none is where directions begin, on either side.
    most_per_distance: f32,
}

impl Viewpoint {
    #[inline(always)]
    pub(super) fn new(pivot: Vec3, p: Vec3) -> Self {
        let to_pivot = pivot - p;
        let length2 = max(to_pivot.dot(to_pivot), f32::MIN_POSITIVE);
        Self { to_pivot: to_pivot.to_array(), most_per_distance: 0.9 * rsqrt(length2) }
    }

    /// The direction from here to what is seen in the unit direction `mean` from the pivot. Never zero.
    #[inline(always)]
    pub(super) fn towards(&self, mean: [f32; 3], per_distance: f32) -> [f32; 3] {
        let per_distance = min(max(per_distance, -self.most_per_distance), self.most_per_distance);
        [0, 1, 2].map(|c| mean[c] + self.to_pivot[c] * per_distance)
    }
}

impl Mixture {
    /// The mean direction of lobe `k`, not of unit length, of which `number` reads the numbers.
    ///
    /// # Safety
    /// There is the mixture, and nothing writes it; `number` is as [`Row::number`].
    #[inline(always)]
    unsafe fn towards(
        this: *const Self,
        from: &Viewpoint,
        k: usize,
        number: unsafe fn(*const Row, usize) -> f32,
    ) -> [f32; 3] {
        // SAFETY: as the caller promised.
        unsafe {
            let means = (&raw const (*this).mean).cast::<Row>();
            let mean = [0, 1, 2].map(|c| number(means.add(c), k));
            from.towards(mean, number(&raw const (*this).per_distance, k))
        }
    }

    /// # Safety
    /// There is the mixture, and nothing writes it.
    #[inline(always)]
    unsafe fn from(this: *const Self, p: Vec3) -> Viewpoint {
        // SAFETY: as the caller promised.
        let Quad([x, y, z, _]) = unsafe { load((&raw const (*this).pivot).cast::<Quad<f32>>()) };
        Viewpoint::new(Vec3::new(x, y, z), p)
    }

    /// The probability of the BSDF.
    ///
    /// # Safety
    /// There is the mixture, and nothing writes it.
    #[inline(always)]
    pub unsafe fn bsdf(this: *const Self) -> f32 {
        // SAFETY: as the caller promised.
        unsafe { load(&raw const (*this).bsdf) }
    }

    /// [`Mixture::scattered`].
    ///
    /// # Safety
    /// There is the mixture, and nothing writes it.
    #[inline(always)]
    pub unsafe fn scattered(this: *const Self) -> f32 {
        // SAFETY: as the caller promised.
        unsafe { load(&raw const (*this).scattered) }
    }

    /// The solid-angle density of the unit direction `w` from `p`.
    ///
    /// # Safety
    /// There is the mixture, and nothing writes it.
    #[inline(always)]
    pub unsafe fn pdf(this: *const Self, p: Vec3, w: Vec3) -> f32 {
        // SAFETY: as the caller promised.
        unsafe {
            let from = Self::from(this, p);
            let mut densities = [0.0; LOBES];
            each_of_row!(k => {
                let away = one_minus_cos(Self::towards(this, &from, k, Row::number), w);
                let kappa = Row::number(&raw const (*this).kappa, k);
                densities[k] = Row::number(&raw const (*this).peak, k) * vmf::falloff(kappa, away);
            });
            sum(&densities)
        }
    }

    /// Draws a unit direction from `p`.
    ///
    /// # Safety
    /// There is the mixture, and nothing writes it.
    #[inline(always)]
    pub unsafe fn sample(this: *const Self, p: Vec3, u: Vec2) -> Vec3 {
        // SAFETY: as the caller promised.
        unsafe {
            let (mut chosen, mut before, mut own, mut end) = (0, 0.0, 1.0, 0.0);
            each_of_row!(k => {
                let weight = Row::number(&raw const (*this).weight, k);
                let is_reached = weight > 0.0 && end <= u.x;
                chosen = if is_reached { k } else { chosen };
                before = if is_reached { end } else { before };
                own = if is_reached { weight } else { own };
                end += weight;
            });
            let _ = end;
            let u = Vec2::new(min(max((u.x - before) / own, 0.0), 1.0), u.y);
            let [x, y, z] = Self::towards(this, &Self::from(this, p), chosen, Row::number_at);
            let mean = Vec3::new(x, y, z);
            let kappa = Row::number_at(&raw const (*this).kappa, chosen);
            vmf::sample(mean * rsqrt(mean.dot(mean)), kappa, u)
        }
    }

    /// Densities of the lobes alone, without their probabilities, in the unit direction `w` from `p`.
    #[inline(always)]
    pub(super) fn own_densities(&self, p: Vec3, w: Vec3) -> [f32; LOBES] {
        let mut densities = [0.0; LOBES];
        let from = Viewpoint::new(self.pivot, p);
        each_of_row!(k => {
            let mean = [self.mean[0].0[k], self.mean[1].0[k], self.mean[2].0[k]];
            let away = one_minus_cos(from.towards(mean, self.per_distance.0[k]), w);
            densities[k] = vmf::peak(self.kappa.0[k]) * vmf::falloff(self.kappa.0[k], away);
        });
        densities
    }
}

/// 1 − cos of the angle between a direction of any length and a unit direction: half the square of what is between them, which
/// remains exact where it is small.
#[inline(always)]
fn one_minus_cos([x, y, z]: [f32; 3], w: Vec3) -> f32 {
    let scale = rsqrt(x * x + y * y + z * z);
    let [x, y, z] = [w.x - x * scale, w.y - y * scale, w.z - z * scale];
    0.5 * (x * x + y * y + z * z)
}
