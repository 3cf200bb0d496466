//! The plugins of Mitsuba 3, by class.

use super::tree::Class;

/// Names of plugins that are read, and of others.
pub(super) struct Plugins {
    pub(super) known: &'static [&'static str],
    pub(super) unsupported: &'static [&'static str],
}

impl Plugins {
    /// Whether there is a plugin of a name, read or not.
    pub(super) fn has(&self, name: &str) -> bool {
        self.known.contains(&name) || self.unsupported.contains(&name)
    }
}

/// The plugins of a class, if any are read.
pub(super) const fn plugins(class: Class) -> Option<Plugins> {
    let (known, unsupported): (&[_], &[_]) = match class {
        Class::Integrator => (
            &["path", "direct", "volpath", "volpathmis", "aov", "moment"],
            &[
                "depth",
                "ptracer",
                "stokes",
                "bdpt",
                "prb",
                "prb_basic",
                "prbvolpath",
                "prb_projective",
                "direct_projective",
                "direct_reparam",
                "prb_reparam",
                "emission_reparam",
                "volprim_rf_basic",
                "prb_threepoint",
            ],
        ),
        Class::Sensor => (
            &["perspective", "thinlens", "orthographic"],
            &["irradiancemeter", "radiancemeter", "batch", "distant", "equirectangular", "spherical"],
        ),
        Class::Film => (&["hdrfilm"], &["specfilm"]),
        Class::Filter => (&["box", "tent", "gaussian", "mitchell", "catmullrom"], &["lanczos"]),
        Class::Sampler => (&["independent", "stratified", "multijitter", "orthogonal", "ldsampler"], &[]),
        Class::Shape => (
            &[
                "obj",
                "ply",
                "serialized",
                "rectangle",
                "cube",
                "sphere",
                "disk",
                "cylinder",
                "shapegroup",
                "instance",
                "merge",
            ],
            &["sdfgrid", "bsplinecurve", "linearcurve", "ellipsoids", "ellipsoidsmesh", "blender"],
        ),
        Class::Bsdf => (
            &[
                "diffuse",
                "roughconductor",
                "conductor",
                "roughdielectric",
                "dielectric",
                "thindielectric",
                "plastic",
                "roughplastic",
                "principled",
                "twosided",
                "mask",
                "blendbsdf",
                "bumpmap",
                "normalmap",
                "null",
            ],
            &[
                "hair",
                "measured",
                "measured_polarized",
                "circular",
                "polarizer",
                "retarder",
                "pplastic",
                "principledthin",
                "sggx",
            ],
        ),
        Class::Texture => (
            &[
                "bitmap",
                "checkerboard",
                "mesh_attribute",
                "uniform",
                "srgb",
                "rawconstant",
                "d65",
                "regular",
                "irregular",
                "blackbody",
            ],
            &["volume", "spectrum"],
        ),
        // The last of them in shapes.
        Class::Emitter => (
            &["constant", "envmap", "point", "spot", "projector", "directional", "sunsky", "area"],
            &["timed_sunsky", "directionalarea", "volumelight"],
        ),
        Class::Scene | Class::Medium | Class::Volume | Class::Phase => return None,
    };
    Some(Plugins { known, unsupported })
}
