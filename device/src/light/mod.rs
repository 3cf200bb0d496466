//! Emitters, and choosing among them.

mod area;
pub mod environment;
mod guide;
mod lighting;
pub mod portal;
mod punctual;
pub mod select;
mod slide;
pub mod surface;
pub mod table;
pub mod tree;

use core::f32::consts::FRAC_1_PI;

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

pub use environment::{Environment, SkyTexel};
pub use guide::GuideEntry;
pub use lighting::Lighting;
pub use portal::Portal;
pub use slide::Slide;
pub use surface::EmissiveSurface;
pub use table::Table;
pub use tree::LightNode;

use crate::arch::{load, outlined};
use crate::features::{Compiled, Features};
use crate::rng::uniform;
use crate::sampling::sample_uniform_sphere;
use crate::shape::{Kind, Triangle};

/// An emitter, 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Light {
    /// Of shapes, as [`crate::shape::Primitive::a`]. Point, spot: position. Directional: unit vector towards it.
    pub a: Vec3,
    /// [`Light::of_shape`], or [`Light::POINT`] and other kinds; and flags.
    pub kind_flags: u32,
    /// Of shapes, as [`crate::shape::Primitive::b`]. Spot: unit vector along the axis. Directional: 1 − cos of the angular
    /// radius of its disk is x; 0 if it is a point in the sky.
    pub b: Vec3,
    /// Probability with which this light is chosen, if that is by power.
    pub pmf: f32,
    /// Of shapes, as [`crate::shape::Primitive::c`]. Spot, smooth: the cosine of the outer angle is x, and 1 over the
    /// difference of the cosines y. Spot, linear: the outer angle is x, and 1 over the difference of the angles y.
    pub c: Vec3,
    /// Surface area, m²; zero for what has none.
    pub area: f32,
    /// Emitted radiance, the same in all directions. Point, spot: intensity. Directional without a disk: irradiance.
    pub le: Vec3,
    /// Largest coordinate of any of its points, to which their rounding is relative; zero for what has no surface.
    pub extent: f32,
}

const _: () = assert!(size_of::<Light>() == 64);

/// A direction towards a light.
#[derive(Clone, Copy, Debug)]
pub struct LightSample {
    /// Unit direction from the reference point.
    pub wi: Vec3,
    /// A point on the light, or `None` for what is infinitely far.
    pub target: Option<LightPoint>,
    /// Radiance arriving along `wi` if nothing is in the way; irradiance across `wi` if `is_delta`.
    pub li: Vec3,
    /// Solid-angle density of `wi`, the choice of the light included; that alone if `is_delta`.
    pub pdf: f32,
    /// Whether light comes from this one direction, which no other sampling finds.
    pub is_delta: bool,
}

/// A [`LightSample`] without options: all fields have values in any case. Those of an option that is none would be what was there
/// before, which makes a chain of a loop over many samples, and no vector instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholeSample {
    pub(crate) wi: Vec3,
    pub(crate) has_target: bool,
    pub(crate) target: LightPoint,
    pub(crate) li: Vec3,
    pub(crate) pdf: f32,
    pub(crate) is_delta: bool,
}

impl WholeSample {
    /// No light.
    pub(crate) const NONE: Self = Self {
        wi: Vec3::ZERO,
        has_target: false,
        target: LightPoint { p: Vec3::ZERO, n: Vec3::ZERO, extent: 0.0 },
        li: Vec3::ZERO,
        pdf: 1.0,
        is_delta: false,
    };

    /// Whether there is a sample, and its values.
    #[inline(always)]
    pub(crate) fn of(sample: Option<LightSample>) -> (bool, Self) {
        match sample {
            Some(LightSample { wi, target: Some(target), li, pdf, is_delta }) => {
                (true, Self { wi, has_target: true, target, li, pdf, is_delta })
            }
            Some(LightSample { wi, target: None, li, pdf, is_delta }) => {
                (true, Self { wi, li, pdf, is_delta, ..Self::NONE })
            }
            None => (false, Self::NONE),
        }
    }
}

/// A point on a light.
#[derive(Clone, Copy, Debug)]
pub struct LightPoint {
    /// The point.
    pub p: Vec3,
    /// Unit normal there, on the side that is looked at; zero if there is no surface.
    pub n: Vec3,
    /// Largest coordinate of the light, to which the rounding of `p` is relative.
    pub extent: f32,
}

impl Light {
    /// An emissive triangle.
    pub const TRIANGLE: u32 = Self::of_shape(Kind::Triangle);
    /// An emissive sphere.
    pub const SPHERE: u32 = Self::of_shape(Kind::Sphere);
    /// Everything beyond the scene, the same everywhere.
    pub const ENVIRONMENT: u32 = Kind::COMMON;
    /// A point that shines into all directions alike.
    pub const POINT: u32 = Self::ENVIRONMENT + 1;
    /// A point that shines into a cone.
    pub const SPOT: u32 = Self::ENVIRONMENT + 2;
    /// A direction, or a disk in the sky.
    pub const DIRECTIONAL: u32 = Self::ENVIRONMENT + 3;
    /// Everything beyond the scene: [`Lighting::environment`].
    pub const IMAGE: u32 = Self::ENVIRONMENT + 4;
    /// The first of the shapes that not all kernels know.
    const RARE_SHAPES: u32 = Self::ENVIRONMENT + 5;
    /// Flag: emits from the back instead of the front.
    pub const FLIPPED: u32 = 1 << 8;
    /// Flag: emits from both sides.
    pub const TWO_SIDED: u32 = 1 << 9;
    /// Flag of a spot light: falls off linearly in the angle.
    pub const LINEAR_FALLOFF: u32 = 1 << 10;
    /// Flag: emission varies over the surface, or with the direction through a slide, as [`Lighting::emissive`] says.
    pub const VARYING: u32 = 1 << 11;

    /// The kind of a light that is a shape.
    pub const fn of_shape(shape: Kind) -> u32 {
        let number = shape as u32;
        if number < Kind::COMMON { number } else { number - Kind::COMMON + Self::RARE_SHAPES }
    }

    /// The same light, chosen with a probability; black if that is 0.
    #[inline(always)]
    pub(crate) fn chosen_with(self, pmf: f32) -> Self {
        if pmf > 0.0 { Self { pmf, ..self } } else { Self { pmf: 1.0, le: Vec3::ZERO, ..self } }
    }

    #[inline(always)]
    const fn kind(&self) -> u32 {
        self.kind_flags & 0xff
    }

    /// Whether [`Light::sample_li`] is all that there is to sampling it.
    #[inline(always)]
    pub(crate) const fn is_common(&self) -> bool {
        let varies = self.kind_flags & Self::VARYING != 0;
        matches!(self.kind(), Self::TRIANGLE | Self::SPHERE | Self::ENVIRONMENT) && !varies
    }

    /// Whether it is everything beyond the scene, by an image.
    #[inline(always)]
    pub(crate) const fn is_image(&self) -> bool {
        self.kind() == Self::IMAGE
    }

    /// Whether it is a direction, or a disk in the sky.
    #[inline(always)]
    pub(crate) const fn is_directional(&self) -> bool {
        self.kind() == Self::DIRECTIONAL
    }

    /// Features that the light requires of a kernel.
    pub const fn features(&self) -> Features {
        let varies = self.kind_flags & Self::VARYING != 0;
        let has_slide = varies && matches!(self.kind(), Self::POINT | Self::SPOT);
        Features::LIGHTS.when(!self.is_common()).and(Features::SLIDES.when(has_slide))
    }

    /// Radiance that leaves into direction `w`, where `ng` is the normal by the shape's own orientation.
    #[inline(always)]
    pub fn le(&self, ng: Vec3, w: Vec3) -> Vec3 {
        let cos = ng.dot(w);
        let cos = if self.kind_flags & Self::FLIPPED != 0 { -cos } else { cos };
        if cos > 0.0 || self.kind_flags & Self::TWO_SIDED != 0 { self.le } else { Vec3::ZERO }
    }

    /// Draws a direction from `p` towards this light, which is a triangle, a sphere or a constant environment; `None`
    /// where there is nothing to be seen of it.
    #[inline(always)]
    pub fn sample_li(&self, p: Vec3, u: Vec2) -> Option<LightSample> {
        match self.kind() {
            Self::TRIANGLE => self.sample_by_area::<Triangle>(p, u),
            Self::SPHERE => self.sample_sphere(p, u),
            _ => {
                let (wi, pdf) = (sample_uniform_sphere(u), self.pmf * UNIFORM_SPHERE_PDF);
                Some(LightSample { wi, target: None, li: self.le, pdf, is_delta: false })
            }
        }
    }

    /// As [`Light::sample_li`], for loops over columns.
    #[inline(always)]
    pub(crate) fn sample_whole(&self, p: Vec3, u: Vec2) -> (bool, WholeSample) {
        let by_area = WholeSample::of(self.sample_by_area::<Triangle>(p, u));
        let of_sphere = WholeSample::of(self.sample_sphere(p, u));
        let (wi, pdf) = (sample_uniform_sphere(u), self.pmf * UNIFORM_SPHERE_PDF);
        let far_away = (true, WholeSample { wi, pdf, li: self.le, ..WholeSample::NONE });
        if self.kind() == Self::TRIANGLE {
            by_area
        } else if self.kind() == Self::SPHERE {
            of_sphere
        } else {
            far_away
        }
    }

    /// Solid-angle density with which a surface light is sampled from `p` in the direction to its point at distance `t`
    /// where the cosine between direction and normal is `cos`; that of a constant environment whatever they are. The
    /// choice of the light is included.
    #[inline(always)]
    pub fn pdf_li(&self, p: Vec3, t: f32, cos: f32) -> f32 {
        let pdf = match self.kind() {
            Self::SPHERE => match self.one_minus_cos_of_cone(p) {
                Some(one_minus_cos) => 0.5 * FRAC_1_PI / one_minus_cos,
                None => t * t / (self.area * cos.abs()),
            },
            Self::ENVIRONMENT => UNIFORM_SPHERE_PDF,
            _ => t * t / (self.area * cos.abs()),
        };
        self.pmf * pdf
    }

    /// Draws a direction from `p` towards this light, which is `index` among those of the scene, by random words; `None`
    /// where there is nothing to be seen of it.
    ///
    /// # Safety
    /// `scene` is valid, has the light, and asks for no features but those of `C`.
    #[inline(always)]
    pub unsafe fn sample<C: Compiled>(
        &self,
        scene: &Lighting,
        index: u32,
        p: Vec3,
        bits: [u32; 3],
    ) -> Option<LightSample> {
        let u = Vec2::new(uniform(bits[0]), uniform(bits[1]));
        if !C::sees(Features::LIGHTS) {
            return self.sample_li(p, u);
        }
        let scene = scene.shared();
        let sample = match self.kind() {
            Self::TRIANGLE | Self::SPHERE | Self::ENVIRONMENT => self.sample_li(p, u)?,
            // SAFETY: as the caller promised.
            _ => outlined(move || unsafe { self.sample_rare(scene, p, bits) })?,
        };
        if self.kind_flags & Self::VARYING == 0 {
            return Some(sample);
        }
        // SAFETY: the scene has the surface of a light that varies, or its slide.
        let part = outlined(move || unsafe {
            match C::sees(Features::SLIDES) && matches!(self.kind(), Self::POINT | Self::SPOT) {
                true => slide::part::<C>(scene, load(scene.emissive.add(index as usize)).slide, -sample.wi),
                false => surface::sampled::<C>(scene, index, &sample, u),
            }
        });
        Some(LightSample { li: sample.li * part, ..sample })
    }

    /// As [`Light::sample`], of the kinds that are not [`Light::sample_li`]'s.
    ///
    /// # Safety
    /// As [`Light::sample`].
    #[inline(always)]
    unsafe fn sample_rare(&self, scene: &Lighting, p: Vec3, bits: [u32; 3]) -> Option<LightSample> {
        let u = Vec2::new(uniform(bits[0]), uniform(bits[1]));
        match self.kind() {
            Self::POINT | Self::SPOT => self.sample_point(p),
            Self::DIRECTIONAL => Some(self.sample_directional(u)),
            Self::IMAGE => {
                // SAFETY: an image is the environment of the scene.
                let s = unsafe { environment::sample(scene, p, bits) }?;
                let pdf = self.pmf * s.pdf;
                Some(LightSample { wi: s.wi, target: None, li: s.li, pdf, is_delta: false })
            }
            kind => self.sample_rare_shape(kind.wrapping_sub(Self::RARE_SHAPES), p, u),
        }
    }

    /// Radiance of this light, infinitely far, from direction `d`.
    ///
    /// # Safety
    /// As [`Light::sample`].
    #[inline(always)]
    pub unsafe fn le_from<C: Compiled>(&self, scene: &Lighting, d: Vec3) -> Vec3 {
        if !C::sees(Features::LIGHTS) {
            return self.le;
        }
        let scene = scene.shared();
        match self.kind() {
            // SAFETY: an image is the environment of the scene.
            Self::IMAGE => outlined(move || unsafe { load(scene.environment).radiance(scene, d) }),
            Self::DIRECTIONAL if !self.disk_has(d) => Vec3::ZERO,
            _ => self.le,
        }
    }

    /// Solid-angle density with which [`Light::sample`] from `p` yields `d`, where there is light of it from there. The
    /// choice of the light is included.
    ///
    /// # Safety
    /// As [`Light::sample`]; the light is infinitely far.
    #[inline(always)]
    pub unsafe fn pdf_from<C: Compiled>(&self, scene: &Lighting, p: Vec3, d: Vec3) -> f32 {
        if !C::sees(Features::LIGHTS) {
            return self.pmf * UNIFORM_SPHERE_PDF;
        }
        let scene = scene.shared();
        self.pmf
            * match self.kind() {
                Self::IMAGE => {
                    // SAFETY: an image is the environment of the scene.
                    outlined(move || unsafe { environment::pdf(scene, &load(scene.environment), p, d) })
                }
                Self::DIRECTIONAL => self.disk_pdf(),
                _ => UNIFORM_SPHERE_PDF,
            }
    }
}

const UNIFORM_SPHERE_PDF: f32 = 0.25 * FRAC_1_PI;
