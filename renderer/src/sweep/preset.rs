//! Predefined sweeps.

use torrance_scene::{SceneValues, toml_key};
use torrance_text::quoted;

use super::{Axis, SweepError, spec};

/// A sweep of a material's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// TOML of the material that takes the place of one without these parameters.
    stand_in: &'static str,
    /// Settings common to all variants: `{}` stands for the path of the material.
    sets: &'static [(&'static str, &'static str)],
    /// The parameters and their values.
    params: &'static [&'static str],
}

/// All presets.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "roughness",
        about: "from mirror to matte",
        stand_in: "{ type = \"conductor\", metal = \"gold\" }",
        sets: &[],
        params: &["{}.roughness=0:1:9"],
    },
    Preset {
        name: "metallic-roughness",
        about: "roughness across, metallic down, of the principled model",
        stand_in: "{ type = \"principled\", base_color = [0.9, 0.45, 0.15] }",
        sets: &[],
        params: &["{}.roughness=0:1:5", "{}.metallic=0:1:5"],
    },
    Preset {
        name: "ior",
        about: "refractive indices from water to diamond",
        stand_in: "{ type = \"dielectric\" }",
        sets: &[],
        params: &["{}.ior=1.1,1.333,1.5,1.8,2.42"],
    },
    Preset {
        name: "anisotropy",
        about: "roughness along and across the surface's direction",
        stand_in: "{ type = \"conductor\", metal = \"aluminium\" }",
        sets: &[],
        params: &["{}.roughness=[0.1,0.1],[0.1,0.2],[0.1,0.4],[0.1,0.8],[0.4,0.1]"],
    },
    Preset {
        name: "multiscatter",
        about: "what facets do with light that meets several of them, by roughness",
        stand_in: "{ type = \"conductor\", metal = \"gold\" }",
        sets: &[],
        params: &["{}.roughness=0.2:1:9", "{}.scattering=none,compensated,random_walk"],
    },
    Preset {
        name: "masking",
        about: "separable and height-correlated masking, by roughness",
        stand_in: "{ type = \"conductor\", metal = \"gold\" }",
        sets: &[("{}.scattering", "none")],
        params: &["{}.roughness=0.2:1:9", "render.masking=separable,correlated"],
    },
];

/// A preset applied to a scene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresetParams {
    /// Parameters to sweep, as for `--param`.
    pub params: Vec<String>,
    /// The material's new TOML, if it lacked the parameters and was replaced.
    pub replaced: Option<String>,
}

impl Preset {
    /// Prepares a scene for the sweep of its material `material`; by default the one called `ball`, or the only one.
    ///
    /// # Errors
    /// There is no such material, or it is not clear which.
    pub fn apply(&self, scene: &mut SceneValues, material: Option<&str>) -> Result<PresetParams, SweepError> {
        let path = material_path(scene, material)?;
        let filled = |text: &str| text.replace("{}", &path);
        let params: Vec<_> = self.params.iter().map(|param| filled(param)).collect();
        let axes = spec::parse(&params, &|_| Ok(Vec::new()))?;
        let is_set = |path: &str, value: &str| scene.clone().set(path, value).is_ok();
        let takes = |axis: &Axis| axis.values.iter().all(|value| is_set(&axis.path, value));
        let suits = axes.iter().all(takes) && self.sets.iter().all(|(at, value)| is_set(&filled(at), value));
        let replaced = if suits {
            None
        } else {
            scene.set(&path, self.stand_in)?;
            Some(format!("{path} = {}", self.stand_in))
        };
        for (at, value) in self.sets {
            scene.set(&filled(at), value)?;
        }
        Ok(PresetParams { params, replaced })
    }
}

/// The path of the material of a name.
fn material_path(scene: &SceneValues, name: Option<&str>) -> Result<String, SweepError> {
    let names = scene.names("materials");
    let list = || names.iter().map(|name| toml_key(name)).collect::<Vec<_>>().join(", ");
    let fault = |reason| Err(SweepError(reason));
    let path = |name| Ok(format!("materials.{}", toml_key(name)));
    match name {
        Some(name) if names.contains(&name) => path(name),
        Some(name) => fault(format!("there is no material {}; there are {}", quoted(name), list())),
        None if names.contains(&"ball") => path("ball"),
        None => match names[..] {
            [] => fault("the scene has no material".to_owned()),
            [name] => path(name),
            _ => fault(format!("which material? --material with one of {}", list())),
        },
    }
}
