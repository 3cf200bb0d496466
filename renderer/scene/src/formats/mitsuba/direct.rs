//! How many samples the integrator `direct` takes of direct light, which changes its image.

use super::view::{PropertyView, View};
use crate::description::{Description, Direct};

/// Most samples of lights: beyond it, brightness says little.
const MOST: i64 = 1_000_000;

/// Samples of lights and of BSDFs at each hit.
#[derive(Clone, Copy)]
pub(super) struct DirectSamples<'a> {
    lights: i64,
    bsdf: i64,
    /// What says how many there are of lights, or of BSDFs.
    given: [Option<PropertyView<'a>>; 2],
}

impl<'a> DirectSamples<'a> {
    /// One of each, as integrators of whole paths take them.
    pub(super) const ONE: Self = Self { lights: 1, bsdf: 1, given: [None; 2] };

    pub(super) fn read(view: &View<'a>) -> Option<Self> {
        let both = view.integer("shading_samples", 1, (1, MOST));
        let given = ["emitter_samples", "bsdf_samples"].map(|name| view.get(name));
        let shading = view.get("shading_samples");
        if let ([Some(_), _] | [_, Some(_)], Some(shading)) = (given, shading) {
            return shading.fail("is given by the samples of lights and of bsdfs already; keep one of them");
        }
        let lights = view.integer("emitter_samples", both?, (0, MOST))?;
        let bsdf = view.integer("bsdf_samples", both?, (0, MOST))?;
        if lights + bsdf == 0 {
            return view.fail("has samples neither of lights nor of bsdfs");
        }
        Some(Self { lights, bsdf, given: given.map(|given| given.or(shading)) })
    }

    /// Gives a scene the light that Mitsuba 3.9.1 makes of so many samples: it adds those of lights that are points instead
    /// of taking their mean.
    pub(super) fn apply(&self, scene: &mut Description) {
        if self.lights == 0 {
            scene.render.direct = Direct::Bsdf;
        }
        let [lights, bsdf] = self.given;
        if let (Some(given), 0) = (bsdf, self.bsdf) {
            given.warn("is passed over: without samples of bsdfs, mirrors would show no lights");
        }
        if self.lights < 2 || scene.lights.is_empty() {
            return;
        }
        let times = self.lights;
        for light in &mut scene.lights {
            *light.kind.brightness_mut() *= times as f32;
        }
        if let Some(given) = lights {
            given.warn(format!("makes lights that are points {times} times as bright, as in Mitsuba"));
        }
    }
}
