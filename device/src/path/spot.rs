//! Columns of where paths scatter, and of the lights that they may see there.

use glam::{Vec2, Vec3};

use super::columns::{Columned, columned};
use super::step::{Scatterer, VisibleLight};
use crate::light::{LightPoint, LightSample, WholeSample};
use crate::material::normal::Terminator;
use crate::material::{At, Surfaces};
use crate::sampling::Frame;

columned! {
    /// Shadow terminators.
    Terminators of Terminator { n: Vec3, alpha2: f32 }
}
columned! {
    /// Places where paths scatter.
    Spots of
    /// A [`Scatterer`] without its scene.
    struct Spot {
        side: Vec3,
        keeps: bool,
        below: Vec3,
        p: Vec3,
        offset: Vec3,
        frame: Frame,
        wo: Vec3,
        terminator: Terminator,
        /// Index of the material.
        material: u32,
        kind: u32,
        around: u32,
        transmits: bool,
        uv: Vec2,
        footprint: f32,
        triangle: u32,
        b: Vec2,
        front: bool,
        seed: u32,
    }
}

impl Spot {
    /// # Safety
    /// The scatterer is of this scene.
    #[inline(always)]
    pub(super) unsafe fn new(at: &Scatterer<'_>, scene: &Surfaces) -> Self {
        let &Scatterer {
            side, keeps, below, p, offset, frame, wo, terminator, kind, around, transmits, ..
        } = at;
        let At { uv, footprint, triangle, b, front, seed, .. } = at.at;
        // SAFETY: the material is one of the scene's.
        let material = unsafe { at.material.offset_from_unsigned(scene.materials) } as u32;
        Self {
            side,
            keeps,
            below,
            p,
            offset,
            frame,
            wo,
            terminator,
            material,
            kind,
            around,
            transmits,
            uv,
            footprint,
            triangle,
            b: Vec2::from_array(b),
            front,
            seed,
        }
    }

    /// The scatterer, of the scene from which it came.
    #[inline(always)]
    pub(super) fn scatterer(self, scene: &Surfaces) -> Scatterer<'_> {
        let Self { side, keeps, below, p, offset, frame, wo, terminator, kind, around, transmits, .. } = self;
        let Self { uv, footprint, triangle, b, front, seed, .. } = self;
        let material = scene.materials.wrapping_add(self.material as usize);
        let at = At { scene, uv, footprint, triangle, b: b.to_array(), front, seed };
        Scatterer {
            side,
            keeps,
            below,
            p,
            offset,
            frame,
            wo,
            terminator,
            material,
            kind,
            at,
            around,
            transmits,
        }
    }
}

columned! {
    /// Points on lights.
    LightPoints of LightPoint { p: Vec3, n: Vec3, extent: f32 }
}

columned! {
    /// Directions to lights.
    LightSamples of WholeSample {
        wi: Vec3, has_target: bool, target: LightPoint, li: Vec3, pdf: f32, is_delta: bool,
    }
}

/// [`VisibleLight`]s.
#[repr(align(64))]
pub(super) struct Lights<const N: usize> {
    sample: LightSamples<N>,
    pub(super) wi: <Vec3 as Columned>::Column<N>,
    o: <Vec3 as Columned>::Column<N>,
}

impl Columned for VisibleLight {
    type Column<const N: usize> = Lights<N>;

    #[inline(always)]
    fn zeroed<const N: usize>() -> Lights<N> {
        Lights { sample: WholeSample::zeroed(), wi: Vec3::zeroed(), o: Vec3::zeroed() }
    }

    #[inline(always)]
    fn get<const N: usize>(column: &Lights<N>, i: usize) -> Self {
        let WholeSample { wi, has_target, target, li, pdf, is_delta } = WholeSample::get(&column.sample, i);
        let target = if has_target { Some(target) } else { None };
        let sample = LightSample { wi, target, li, pdf, is_delta };
        Self { sample, wi: Vec3::get(&column.wi, i), o: Vec3::get(&column.o, i) }
    }

    #[inline(always)]
    fn set<const N: usize>(self, column: &mut Lights<N>, i: usize) {
        WholeSample::of(Some(self.sample)).1.set(&mut column.sample, i);
        self.wi.set(&mut column.wi, i);
        self.o.set(&mut column.o, i);
    }
}

impl<const N: usize> Lights<N> {
    /// Puts a light that is seen along `wi`, local frame, from `o` into place `i`.
    #[inline(always)]
    pub(super) fn set(&mut self, i: usize, sample: WholeSample, wi: Vec3, o: Vec3) {
        sample.set(&mut self.sample, i);
        wi.set(&mut self.wi, i);
        o.set(&mut self.o, i);
    }
}
