//! `[materials]`.

use std::collections::HashSet;
use std::rc::Rc;

use device::bsdf::principled;
use device::material::texture::NO_TEXTURE;
use glam::Vec3;

use super::keys;
use super::names::Names;
use super::texture::Textures;
use crate::input::{Field, Section};
use crate::input::{hint, quoted};
use crate::scene::limits::{MAX_IOR, MIN_ALPHA};
use crate::scene::metals;
use crate::scene::{
    Blend, Color, ConductorMaterial, DielectricMaterial, DiffuseMaterial, Distribution, Facets, GltfMaterial,
    InvalidNormals, Masking, Material, MaterialKind, NormalMap, NormalMapKind, PlasticMaterial,
    PrincipledMaterial, Scalar, Scattering, SheenMaterial, Texture, ThinDielectricMaterial, Tints, texture,
};

/// The materials read so far, by name.
pub(super) struct Materials {
    /// `None` where a definition was wrong, so that shapes that name it are not blamed.
    list: Vec<(String, Option<Material>)>,
    /// The names of those that have one.
    names: Rc<Names>,
    /// All names.
    taken: HashSet<String>,
}

/// Name of the material of shapes that have none; no TOML scene can define it, since it is reserved.
pub(in crate::scene) const BLACK: &str = "(none)";

impl Materials {
    pub(super) fn get(&self, index: usize) -> Option<&Material> {
        self.list[index].1.as_ref()
    }

    /// Whether textures of some kind are looked up where the material is, or others that it is made of.
    pub(super) fn has(&self, material: &Material, textures: &[Texture], is: fn(&Texture) -> bool) -> bool {
        self.has_within(material, textures, is, device::material::MAX_BLENDS)
    }

    /// As [`Materials::has`], `levels` deep: a material that is made of itself has been reported.
    fn has_within(&self, m: &Material, textures: &[Texture], is: fn(&Texture) -> bool, levels: u32) -> bool {
        let mut others = m.references().filter_map(|i| self.get(i));
        m.textures().into_iter().any(|i| texture::has(i, textures, is))
            || (levels > 0 && others.any(|m| self.has_within(m, textures, is, levels - 1)))
    }

    /// The names of those that have one, which come first.
    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    /// Index of a material that reflects nothing, for light sources without a material.
    pub(super) fn black(&mut self) -> usize {
        self.list.iter().position(|(name, _)| name == BLACK).unwrap_or_else(|| {
            let black = Material::new(BLACK, MaterialKind::diffuse(Vec3::ZERO));
            self.list.push((BLACK.to_owned(), Some(black)));
            self.list.len() - 1
        })
    }

    /// Adds one that a shape, called `owner`, has for itself, and gives its index.
    pub(super) fn inline(
        &mut self,
        field: &Field<'_>,
        owner: &str,
        textures: &mut Textures<'_>,
    ) -> Option<usize> {
        let mut name = format!("{owner}.material");
        while !self.taken.insert(name.clone()) {
            name.push('\'');
        }
        let section = field.table(format!("the material of {owner}"))?;
        let material = Reader { section, names: &self.names, textures }.material(&name);
        self.list.push((name, material));
        let index = self.list.len() - 1;
        check_references(&self.list, index, field);
        check_opacities(&self.list, index, field);
        Some(index)
    }

    /// The materials; complete if no error was reported.
    pub(super) fn done(self) -> Vec<Material> {
        self.list.into_iter().filter_map(|(_, m)| m).collect()
    }
}

pub(super) fn materials(top: &Section<'_>, textures: &mut Textures<'_>) -> Materials {
    let Some(section) = top.get("materials").and_then(|f| f.table("[materials]")) else {
        return Materials { list: Vec::new(), names: Rc::default(), taken: HashSet::new() };
    };
    let entries = section.entries();
    let names = Rc::new(Names::new(entries.iter().map(|(name, _)| *name)));
    let mut list = Vec::new();
    for (name, field) in &entries {
        let section = field.table(format!("material {}", field.name));
        let material = section.and_then(|section| Reader { section, names: &names, textures }.material(name));
        if *name == BLACK {
            field.src.error(field.key_span.clone(), format!("the name {BLACK:?} is reserved"));
        }
        list.push(((*name).to_owned(), material));
    }
    for (i, (_, field)) in entries.iter().enumerate() {
        check_references(&list, i, field);
        check_opacities(&list, i, field);
    }
    let taken = names.iter().map(str::to_owned).collect();
    Materials { list, names, taken }
}

/// Reads a material on its own.
pub(super) fn material(name: &str, section: &Section<'_>, textures: &mut Textures<'_>) -> Option<Material> {
    Reader { section: section.clone(), names: &Names::default(), textures }.material(name)
}

/// Reports a material that refers to itself, by way of others or too many of them.
fn check_references(list: &[(String, Option<Material>)], start: usize, field: &Field<'_>) {
    let mut level = vec![start];
    for depth in 0.. {
        level = level.iter().filter_map(|i| list[*i].1.as_ref()).flat_map(Material::references).collect();
        level.sort_unstable();
        level.dedup();
        if level.is_empty() {
            return;
        }
        let name = &field.name;
        if level.contains(&start) {
            return field.src.error(field.key_span.clone(), format!("material {name} is made of itself"));
        }
        if depth >= list.len() {
            return; // Others are made of themselves, and are reported.
        }
        if depth + 1 >= device::material::MAX_BLENDS as usize {
            let most = device::material::MAX_BLENDS - 1;
            let message = format!("material {name} nests others more than {most} levels deep");
            return field.src.error(field.key_span.clone(), message);
        }
    }
}

/// Reports materials within another that have holes: those of the material that a shape has are the ones there are.
fn check_opacities(list: &[(String, Option<Material>)], index: usize, field: &Field<'_>) {
    let Some(material) = &list[index].1 else { return };
    let parts = material.references().filter_map(|i| list[i].1.as_ref());
    for part in parts.filter(|part| !part.opacity.is(1.0)) {
        let (part, name) = (quoted(&part.name), &field.name);
        let message = format!(
            "material {part} has an \"opacity\", which counts for nothing within material {name}; give that one instead"
        );
        field.src.error(field.key_span.clone(), message);
    }
}

/// The range of most parameters.
const UNIT: (f32, f32) = (0.0, 1.0);

/// Most light that a coat sends back; all would never leave.
const MAX_INTERNAL: f32 = 0.999;

/// Index of refraction of a coat, which is denser than what is around it.
fn coat_ior(field: Field<'_>) -> Option<f32> {
    field.number_in(1.01, 10.0)
}

/// Reads one material.
struct Reader<'a, 'b, 't> {
    section: Section<'a>,
    names: &'b Names,
    textures: &'b mut Textures<'t>,
}

impl Reader<'_, '_, '_> {
    fn material(&mut self, name: &str) -> Option<Material> {
        let section = self.section.clone();
        let field = section.require("type", "type = \"diffuse\"")?;
        if let Some(theirs) = field.as_str()
            && let Some(ours) = keys::material_meant(theirs)
        {
            let message = format!("unknown type {}; it is called {ours:?} here", quoted(theirs));
            section.src.error(field.span(), message);
            return None;
        }
        let kind = field.choice(&keys::MATERIAL.choices())?;
        section.reject_unknown_keys(&keys::MATERIAL.known(Some(kind)));
        let kind = kind.name();
        self.check_sides(kind);
        let two_sided = section.get("two_sided").map_or(Some(true), |f| f.boolean());
        let back = section.get("back").map_or(Some(None), |f| self.reference(&f).map(Some));
        let opacity = self.scalar("opacity", 1.0, UNIT);
        let holes_emit = section.get("holes_emit").map_or(Some(false), |f| f.boolean());
        let normal_map = self.normal_map();
        let kind = match kind {
            "diffuse" => self.diffuse(),
            "dielectric" => self.dielectric(),
            "thin_dielectric" => self.thin_dielectric(),
            "plastic" => self.plastic(),
            "sheen" => self.sheen(),
            "principled" => self.principled(),
            "gltf" => self.gltf(),
            "blend" => self.blend(),
            _ => self.conductor(),
        };
        Some(Material {
            name: name.to_owned(),
            two_sided: two_sided?,
            back: back?,
            opacity: opacity?,
            holes_emit: holes_emit?,
            normal_map: normal_map?,
            kind: kind?,
        })
    }

    /// Reports what says nothing for a material of this kind, or what its back does already.
    fn check_sides(&self, kind: &str) {
        let section = &self.section;
        let wrong = |key: &str, rule: &str| {
            if let Some(field) = section.get(key) {
                section.src.error(field.key_span, format!("{} {rule}; leave {key:?} out", section.name));
            }
        };
        if kind == "blend" {
            for key in ["two_sided", "normal_map", "bump_map"] {
                wrong(key, "is a blend, whose parts have their own sides and maps");
            }
        } else if kind.ends_with("dielectric") {
            wrong("two_sided", "is a dielectric, which light passes from both sides");
        } else if section.get("spec_trans").is_some_and(|f| !f.is_zero()) {
            wrong("two_sided", "has \"spec_trans\", so that light passes from both sides");
        } else if kind == "gltf" && section.get("transmission").is_some_and(|f| !f.is_zero()) {
            wrong("two_sided", "has \"transmission\", so that light passes from both sides");
        } else if section.get("back").is_some() {
            wrong("two_sided", "has another material on its back");
        }
    }

    fn diffuse(&mut self) -> Option<MaterialKind> {
        let field = self.section.require("reflectance", "reflectance = [0.8, 0.8, 0.8]")?;
        let (reflectance, roughness) =
            (self.textures.color(&field, 1.0), self.scalar("roughness", 0.0, UNIT));
        Some(MaterialKind::Diffuse(DiffuseMaterial {
            reflectance: reflectance?,
            roughness: roughness?,
            reserved: [0; 2],
        }))
    }

    fn conductor(&mut self) -> Option<MaterialKind> {
        let (eta_k, facets, scattering) = (eta_k(&self.section), self.facets(true), self.scattering());
        let reflection = self.color("reflection_tint", Vec3::ONE);
        let ((eta, k), facets) = (eta_k?, Facets { scattering: scattering? as u32, ..facets? });
        self.warn_of_smoothness(&facets);
        let tints = Tints { reflection: reflection?, ..Tints::NONE };
        Some(MaterialKind::Conductor(ConductorMaterial::new(eta, k, facets).tinted(tints)))
    }

    fn dielectric(&mut self) -> Option<MaterialKind> {
        let (ior, facets, scattering) = (self.ior(), self.facets(false), self.scattering());
        let tints = self.tints();
        let facets = Facets { scattering: scattering? as u32, ..facets? };
        if facets.scattering() == Scattering::Compensated && facets.distribution() == Distribution::Beckmann {
            return self.section.get("scattering")?.fail(
                "is \"compensated\", which dielectrics have for distribution = \"ggx\" only; \"random_walk\" goes with both",
            );
        }
        self.warn_of_smoothness(&facets);
        Some(MaterialKind::Dielectric(DielectricMaterial::new(ior?, facets).tinted(tints?)))
    }

    /// Factors of what is reflected and transmitted.
    fn tints(&mut self) -> Option<Tints> {
        let [reflection, transmission] =
            ["reflection_tint", "transmission_tint"].map(|key| self.color(key, Vec3::ONE));
        Some(Tints { reflection: reflection?, transmission: transmission? })
    }

    /// How light between facets is accounted for; not at all if nothing is said.
    fn scattering(&self) -> Option<Scattering> {
        const CHOICES: [(&str, Scattering); 3] = [
            ("none", Scattering::None),
            ("compensated", Scattering::Compensated),
            ("random_walk", Scattering::RandomWalk),
        ];
        self.section.get("scattering").map_or(Some(Scattering::None), |field| field.choice(&CHOICES))
    }

    fn gltf(&mut self) -> Option<MaterialKind> {
        let default = GltfMaterial::DEFAULT;
        let base_color = self.color("base_color", default.base_color.value);
        let specular_color = match self.section.get("specular_color") {
            Some(field) => self.textures.color(&field, MAX_IOR),
            None => Some(default.specular_color),
        };
        let sheen_color = self.color("sheen_color", default.sheen_color.value);
        let scalar = |reader: &mut Self, key: &str, default: Scalar| reader.scalar(key, default.value, UNIT);
        let metallic = scalar(self, "metallic", default.metallic);
        let roughness = scalar(self, "roughness", default.roughness);
        let specular = scalar(self, "specular", default.specular);
        let transmission = scalar(self, "transmission", default.transmission);
        let anisotropy = scalar(self, "anisotropy", default.anisotropy);
        let clearcoat = scalar(self, "clearcoat", default.clearcoat);
        let clearcoat_roughness = scalar(self, "clearcoat_roughness", default.clearcoat_roughness);
        let sheen_roughness = scalar(self, "sheen_roughness", default.sheen_roughness);
        let iridescence = scalar(self, "iridescence", default.iridescence);
        let thickness =
            self.scalar("iridescence_thickness", default.iridescence_thickness.value, (0.0, 10_000.0));
        let number = |key: &str, default: f32, (low, high): (f32, f32)| {
            self.section.get(key).map_or(Some(default), |f| f.number_in(low, high))
        };
        let ior = number("ior", default.ior, (1.0, 10.0));
        let iridescence_ior = number("iridescence_ior", default.iridescence_ior, (1.0, 10.0));
        let rotation = self.section.get("anisotropy_rotation").map_or(Some([1.0, 0.0]), |f| rotation(&f));
        let material = GltfMaterial {
            base_color: base_color?,
            specular_color: specular_color?,
            sheen_color: sheen_color?,
            metallic: metallic?,
            roughness: roughness?,
            specular: specular?,
            transmission: transmission?,
            anisotropy: anisotropy?,
            clearcoat: clearcoat?,
            clearcoat_roughness: clearcoat_roughness?,
            sheen_roughness: sheen_roughness?,
            iridescence: iridescence?,
            iridescence_thickness: thickness?,
            rotation: rotation?,
            ior: ior?,
            iridescence_ior: iridescence_ior?,
            ..default
        };
        self.warn_of_idle_layers(&material);
        Some(MaterialKind::Gltf(material))
    }

    /// Warns of what is said of layers that are not there.
    fn warn_of_idle_layers(&self, m: &GltfMaterial) {
        let default = GltfMaterial::DEFAULT;
        let (coat, film) = (m.clearcoat.is(0.0), m.iridescence.is(0.0));
        let (sheen, grain) = (m.sheen_color.value == Vec3::ZERO, m.anisotropy.is(0.0));
        let thickness = m.iridescence_thickness != default.iridescence_thickness;
        let roughness = m.sheen_roughness != default.sheen_roughness;
        for (key, strength, is_idle) in [
            ("anisotropy_rotation", "anisotropy", grain && m.rotation != default.rotation),
            (
                "clearcoat_roughness",
                "clearcoat",
                coat && m.clearcoat_roughness != default.clearcoat_roughness,
            ),
            ("sheen_roughness", "sheen_color", sheen && roughness),
            ("iridescence_ior", "iridescence", film && m.iridescence_ior != default.iridescence_ior),
            ("iridescence_thickness", "iridescence", film && thickness),
        ] {
            self.warn_if(is_idle, key, &format!("without {strength:?}, which is 0"));
        }
    }

    /// Warns that a key has no effect.
    fn warn_if(&self, is_idle: bool, key: &str, why: &str) {
        if let Some(field) = self.section.get(key).filter(|_| is_idle) {
            field.warn(&format!("{} has no effect {why}", field.name));
        }
    }

    /// Warns of what is said of the facets of a surface that has none.
    fn warn_of_smoothness(&self, facets: &Facets) {
        let is_smooth = facets.alpha.iter().all(|alpha| alpha.is(0.0));
        let why = "on a smooth surface";
        self.warn_if(is_smooth && facets.scattering() != Scattering::None, "scattering", why);
        self.warn_if(is_smooth && facets.distribution() != Distribution::Ggx, "distribution", why);
    }

    fn thin_dielectric(&mut self) -> Option<MaterialKind> {
        let (ior, tints) = (self.ior(), self.tints());
        Some(MaterialKind::ThinDielectric(ThinDielectricMaterial::new(ior?).tinted(tints?)))
    }

    fn plastic(&mut self) -> Option<MaterialKind> {
        let field = self.section.require("reflectance", "reflectance = [0.7, 0.1, 0.1]")?;
        let (reflectance, specular) = (self.textures.color(&field, 1.0), self.color("specular", Vec3::ONE));
        let (facets, ior) = (self.facets(false), self.section.get("ior").map_or(Some(1.5), coat_ior));
        let nonlinear = self.section.get("nonlinear").map_or(Some(false), |f| f.boolean());
        let computed = PlasticMaterial::COMPUTED;
        let internal = self
            .section
            .get("internal_reflectance")
            .map_or(Some(computed), |f| f.number_in(0.0, MAX_INTERNAL));
        let facets = facets?;
        self.warn_of_smoothness(&facets);
        if facets.is_anisotropic() {
            let field = self.section.get("alpha").or_else(|| self.section.get("roughness"))?;
            return field.fail("differs along u and v; the coat of a plastic is as rough along both");
        }
        Some(MaterialKind::Plastic(PlasticMaterial {
            reflectance: reflectance?,
            specular: specular?,
            facets,
            ior: ior?,
            nonlinear: nonlinear?.into(),
            coat: 0,
            internal_reflectance: internal?,
        }))
    }

    fn sheen(&mut self) -> Option<MaterialKind> {
        let (color, roughness) = (self.color("color", Vec3::ONE), self.scalar("roughness", 0.3, UNIT));
        Some(MaterialKind::Sheen(SheenMaterial { color: color?, roughness: roughness?, reserved: [0; 2] }))
    }

    fn principled(&mut self) -> Option<MaterialKind> {
        let default = principled::Parameters::DEFAULT;
        let base_color = self.color("base_color", default.base_color);
        let [
            roughness,
            anisotropic,
            metallic,
            spec_tint,
            spec_trans,
            flatness,
            sheen,
            sheen_tint,
            clearcoat,
            gloss,
        ] = [
            ("roughness", default.roughness),
            ("anisotropic", default.anisotropic),
            ("metallic", default.metallic),
            ("spec_tint", default.spec_tint),
            ("spec_trans", default.spec_trans),
            ("flatness", default.flatness),
            ("sheen", default.sheen),
            ("sheen_tint", default.sheen_tint),
            ("clearcoat", default.clearcoat),
            ("clearcoat_gloss", default.clearcoat_gloss),
        ]
        .map(|(key, default)| self.scalar(key, default, UNIT));
        let spec_trans = spec_trans?;
        let is_idle = |strength: Option<Scalar>, of: Option<Scalar>| {
            strength.is_some_and(|s| s.is(0.0)) && of.is_some_and(|of| !of.is(0.0))
        };
        self.warn_if(is_idle(clearcoat, gloss), "clearcoat_gloss", "without \"clearcoat\", which is 0");
        self.warn_if(is_idle(sheen, sheen_tint), "sheen_tint", "without \"sheen\", which is 0");
        let eta = self.principled_eta(default.eta, !spec_trans.is(0.0));
        Some(MaterialKind::Principled(PrincipledMaterial {
            base_color: base_color?,
            roughness: roughness?,
            anisotropic: anisotropic?,
            metallic: metallic?,
            spec_tint: spec_tint?,
            spec_trans,
            flatness: flatness?,
            sheen: sheen?,
            sheen_tint: sheen_tint?,
            clearcoat: clearcoat?,
            clearcoat_gloss: gloss?,
            eta: eta?,
            masking: Masking::Correlated as u32,
            reserved: [0; 2],
        }))
    }

    /// Index of refraction, from `ior` or `specular`.
    fn principled_eta(&self, default: f32, is_transmissive: bool) -> Option<f32> {
        match (self.section.get("ior"), self.section.get("specular")) {
            (Some(_), Some(specular)) => {
                let rule = "gives both \"ior\" and \"specular\"; keep one";
                specular.src.error(specular.key_span, format!("{} {rule}", self.section.name));
                None
            }
            (Some(ior), None) => ior.number_in(0.1, 10.0),
            (None, Some(specular)) => {
                // What refracts needs an interface.
                let least = if is_transmissive { 1e-3 } else { 0.0 };
                specular.number_in(0.0, 1.0).map(|s| principled::eta_from_specular(s.max(least)))
            }
            (None, None) => Some(default),
        }
    }

    fn blend(&mut self) -> Option<MaterialKind> {
        let field = self.section.require("materials", "materials = [\"rust\", \"steel\"]")?;
        let names = field.numbers(2, "the names of two materials")?;
        let parts = [self.reference(&names[0]), self.reference(&names[1])];
        let weight = self.section.require("weight", "weight = 0.5 (the part of the second)")?;
        let weight = self.textures.scalar(&weight, UNIT)?;
        Some(MaterialKind::Blend(Blend { materials: [parts[0]? as u32, parts[1]? as u32], weight }))
    }

    /// The index of a material by its name, wherever in the file it is defined.
    fn reference(&self, field: &Field<'_>) -> Option<usize> {
        let name = field.string()?;
        let found = self.names.index_of(name);
        if found.is_none() {
            let hint = hint(name, "the scene has", self.names.iter());
            field.src.error(field.span(), format!("unknown material {}{hint}", quoted(name)));
        }
        found
    }

    /// Index of refraction relative to the outside; that of common glass if there is none.
    fn ior(&self) -> Option<f32> {
        const GLASS: f32 = 1.5;
        self.section.get("ior").map_or(Some(GLASS), |field| field.number_in(0.1, 10.0))
    }

    /// A number by its key, from `range`, which may come from a texture.
    fn scalar(&mut self, key: &str, default: f32, range: (f32, f32)) -> Option<Scalar> {
        match self.section.get(key) {
            Some(field) => self.textures.scalar(&field, range),
            None => Some(Scalar::new(default)),
        }
    }

    /// A colour by its key, which may come from a texture.
    fn color(&mut self, key: &str, default: Vec3) -> Option<Color> {
        match self.section.get(key) {
            Some(field) => self.textures.color(&field, 1.0),
            None => Some(Color::new(default)),
        }
    }

    /// Microfacets, from `alpha` or `roughness`, each a number, two, or a texture, and `distribution`.
    fn facets(&mut self, required: bool) -> Option<Facets> {
        let distribution = distribution(&self.section);
        let section = self.section.clone();
        let (field, is_roughness) = match (section.get("roughness"), section.get("alpha")) {
            (Some(roughness), Some(_)) => {
                let message = format!(
                    "{} gives both \"roughness\" and \"alpha\"; keep one (alpha = roughness²)",
                    section.name
                );
                section.src.error(roughness.key_span, message);
                return None;
            }
            (None, Some(alpha)) => (Some(alpha), false),
            (Some(roughness), None) => (Some(roughness), true),
            (None, None) if required => {
                (section.require("roughness", "roughness = 0.3 (or alpha = 0.09)"), true)
            }
            (None, None) => return Some(Facets { distribution: distribution? as u32, ..Facets::SMOOTH }),
        };
        let alpha = along_u_and_v(&field?, |field| self.alpha(field, is_roughness))?;
        let textured = alpha.iter().any(|a| a.texture != NO_TEXTURE);
        Some(Facets {
            alpha: if is_roughness && !textured {
                alpha.map(|a| {
                    Scalar::new(if a.value == 0.0 { 0.0 } else { (a.value * a.value).clamp(MIN_ALPHA, 1.0) })
                })
            } else {
                alpha
            },
            distribution: distribution? as u32,
            is_roughness: (is_roughness && textured).into(),
            ..Facets::SMOOTH
        })
    }

    /// Roughness or alpha along one direction.
    fn alpha(&mut self, field: &Field<'_>, is_roughness: bool) -> Option<Scalar> {
        let least = if is_roughness { MIN_ALPHA.sqrt() } else { MIN_ALPHA };
        self.textures.scalar(field, (least, 1.0))
    }

    fn normal_map(&mut self) -> Option<Option<NormalMap>> {
        let section = self.section.clone();
        let (field, is_bump) = match (section.get("normal_map"), section.get("bump_map")) {
            (None, None) => return Some(None),
            (Some(field), Some(_)) => {
                let message =
                    format!("{} gives both \"normal_map\" and \"bump_map\"; keep one", section.name);
                section.src.error(field.key_span, message);
                return None;
            }
            (Some(field), None) => (field, false),
            (None, Some(field)) => (field, true),
        };
        let (texture, map) = self.textures.map(&field, is_bump)?;
        let kind = match is_bump {
            true => Some(NormalMapKind::Bump),
            false => map.get("green").map_or(Some(NormalMapKind::Up), |f| f.choice(GREEN)),
        };
        let scale = map.get("strength").map_or(Some(1.0), |f| f.number_in(-1e6, 1e6));
        let invalid =
            map.get("invalid_normals").map_or(Some(InvalidNormals::Bend), |f| f.choice(INVALID_NORMALS));
        let hard = [("soft", false), ("hard", true)];
        let hard_terminator = map.get("terminator").map_or(Some(false), |f| f.choice(&hard));
        Some(Some(NormalMap {
            texture,
            kind: kind?,
            scale: scale?,
            invalid: invalid?,
            hard_terminator: hard_terminator?,
        }))
    }
}

/// Where green points in normal maps, by name.
pub(in crate::scene) const GREEN: &[(&str, NormalMapKind)] = &[
    ("up", NormalMapKind::Up),
    ("down", NormalMapKind::Down),
    ("across", NormalMapKind::Across),
    ("against", NormalMapKind::Against),
];
/// What is done to normals that cannot be, by name.
pub(in crate::scene) const INVALID_NORMALS: &[(&str, InvalidNormals)] =
    &[("bend", InvalidNormals::Bend), ("flip", InvalidNormals::Flip), ("keep", InvalidNormals::Keep)];

/// Index of refraction and extinction of a conductor: those of a `metal` by name, or `eta` and `k`.
fn eta_k(section: &Section<'_>) -> Option<(Vec3, Vec3)> {
    let said = ["eta", "k"].iter().find_map(|key| section.get(key));
    match (section.get("metal"), said) {
        (Some(metal), None) => metal.choice(&metals::choices()).map(|metal| (metal.eta, metal.k)),
        (Some(_), Some(said)) => {
            let message =
                format!("{} gives both \"metal\" and {}; a metal has its own", section.name, said.name);
            section.src.error(said.key_span, message);
            None
        }
        (None, None) => {
            section.require("metal", "metal = \"gold\" (or \"eta\" and \"k\")");
            None
        }
        (None, Some(_)) => {
            let eta = section.require("eta", "eta = [0.143, 0.375, 1.442]").and_then(|f| f.color(MAX_IOR));
            let k_field = section.require("k", "k = [3.983, 2.386, 1.603]");
            let k = k_field.as_ref().and_then(|f| f.color(MAX_IOR));
            let (eta, k) = (eta?, k?);
            if (eta.cmpeq(Vec3::ZERO) & k.cmpeq(Vec3::ZERO)).any() {
                let message = "\"eta\" and \"k\" are both 0 in the same channel; no material is like that";
                section.src.error(k_field?.span(), message);
            }
            Some((eta, k))
        }
    }
}

/// Cosine and sine of an angle in degrees, or these themselves.
fn rotation(field: &Field<'_>) -> Option<[f32; 2]> {
    if !field.is_array() {
        let (sin, cos) = field.number_in(-360.0, 360.0)?.to_radians().sin_cos();
        return Some([cos, sin]);
    }
    let both = field.numbers(2, "degrees, or a direction such as [0, 1]")?;
    let (cos, sin) = (both[0].number_in(-1.0, 1.0), both[1].number_in(-1.0, 1.0));
    let (cos, sin) = (cos?, sin?);
    match (cos * cos + sin * sin - 1.0).abs() < 1e-5 {
        true => Some([cos, sin]),
        false => field.fail("must be of length 1"),
    }
}

/// Statistics of microfacets; GGX if nothing is said.
fn distribution(section: &Section<'_>) -> Option<Distribution> {
    const CHOICES: [(&str, Distribution); 2] =
        [("ggx", Distribution::Ggx), ("beckmann", Distribution::Beckmann)];
    section.get("distribution").map_or(Some(Distribution::Ggx), |field| field.choice(&CHOICES))
}

/// A value for both directions, 0 for a smooth surface, or `[u, v]`.
fn along_u_and_v(
    field: &Field<'_>,
    mut read: impl FnMut(&Field<'_>) -> Option<Scalar>,
) -> Option<[Scalar; 2]> {
    const SMOOTH: [Scalar; 2] = [Scalar::new(0.0); 2];
    if field.is_zero() {
        return Some(SMOOTH);
    }
    if !field.is_array() {
        return read(field).map(|x| [x; 2]);
    }
    let numbers = field.numbers(2, "a number, or two: along u and along v")?;
    match (numbers[0].is_zero(), numbers[1].is_zero()) {
        (true, true) => return Some(SMOOTH),
        (false, false) => {}
        _ => {
            return field
                .fail("is 0 along one direction only; a surface is smooth along both or rough along both");
        }
    }
    let (u, v) = (read(&numbers[0]), read(&numbers[1]));
    Some([u?, v?])
}
