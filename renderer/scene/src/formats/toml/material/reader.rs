//! One material.

use device::bsdf::principled;
use device::material::texture::NO_TEXTURE;
use glam::Vec3;
use torrance_text::quoted;

use crate::description::key::Key;
use crate::description::limits::MIN_ALPHA;
use crate::description::{
    ConductorMaterial, Distribution, InvalidNormals, Material, MaterialKind, NormalMap, NormalMapKind,
    Parameter, PrincipledMaterial, Scalar, Scattering, metals,
};
use crate::formats::toml::keys;
use crate::formats::toml::names::Names;
use crate::formats::toml::texture::{TextureUse, Textures};
use crate::formats::toml::values::{ByName, Named, ValueReader, Visitor, require};
use crate::input::{Field, Section};

/// Reads one material.
pub(super) struct Reader<'a, 'b, 't> {
    pub(super) section: Section<'a>,
    pub(super) names: &'b Names,
    pub(super) textures: &'b mut Textures<'t>,
}

impl Reader<'_, '_, '_> {
    pub(super) fn material(&mut self, name: &str) -> Option<Material> {
        let section = self.section.clone();
        let field = section.require("type", "type = \"diffuse\"")?;
        if let Some(theirs) = field.as_str()
            && let Some(ours) = keys::material_suggestion(theirs)
        {
            let message = format!("unknown type {}; it is called {ours:?} here", quoted(theirs));
            section.src.error(field.span(), message);
            return None;
        }
        let kind = field.choice(&keys::MATERIAL.choices())?;
        section.reject_unknown_keys(&keys::MATERIAL.known(Some(kind)));
        self.check_sides(kind.name());
        let mut values = ValueReader::new(&section, &keys::MATERIAL, Some(kind));
        let (two_sided, holes_emit) = (values.or("two_sided", true), values.or("holes_emit", false));
        let cull_backfaces = values.or("cull_backfaces", false);
        let back = section.get("back").map_or(Some(None), |f| self.reference(&f).map(Some));
        let opacity = match section.get("opacity") {
            Some(field) => self.textures.scalar(&field, (0.0, 1.0)),
            None => Some(Scalar::new(1.0)),
        };
        let normal_map = self.normal_map();
        let kind = self.kind(kind.name());
        Some(Material {
            name: name.to_owned(),
            two_sided: two_sided?,
            cull_backfaces: cull_backfaces?,
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
        // What goes without saying may be said, as where a material with all its defaults gets another type.
        let is_usual = |key: &str, said: Option<bool>| {
            (key, said) == ("two_sided", Some(true)) || (key, said) == ("cull_backfaces", Some(false))
        };
        let wrong = |key: &str, rule: &str| {
            if let Some(field) = section.get(key).filter(|field| !is_usual(key, field.as_bool())) {
                section.src.error(field.key_span, format!("{} {rule}; leave {key:?} out", section.name));
            }
        };
        if kind == "blend" {
            for key in ["two_sided", "normal_map", "bump_map"] {
                wrong(key, "is a blend, whose parts have their own sides and maps");
            }
        } else if kind.ends_with("dielectric") {
            wrong("two_sided", "is a dielectric, which light passes from both sides");
            if kind == "dielectric" {
                wrong("cull_backfaces", "is a dielectric, which light leaves through its back");
            }
        } else if section.get("spec_trans").is_some_and(|f| !f.is_zero()) {
            wrong("two_sided", "has \"spec_trans\", so that light passes from both sides");
            wrong("cull_backfaces", "has \"spec_trans\", so that light leaves through its back");
        } else if kind == "gltf" && section.get("transmission").is_some_and(|f| !f.is_zero()) {
            wrong("two_sided", "has \"transmission\", so that light passes from both sides");
        } else if section.get("back").is_some() {
            wrong("two_sided", "has another material on its back");
            wrong("cull_backfaces", "has another material on its back");
        }
    }

    /// The parameters of a kind, by their list, and what concerns several of them.
    fn kind(&mut self, name: &str) -> Option<MaterialKind> {
        let mut kind = MaterialKind::named(name)?;
        let (mut is_right, mut derived): (_, &[Key]) = (true, &[]);
        for (keys, parameter) in kind.parameters() {
            if parameter == Parameter::Derived {
                derived = keys;
            }
            is_right &= self.parameter(keys, parameter).is_some();
        }
        is_right &= match (&mut kind, derived) {
            (MaterialKind::Conductor(p), [metal, eta, k]) => self.metal(p, metal, [eta, k]).is_some(),
            (MaterialKind::Principled(p), [specular]) => self.specular(p, specular).is_some(),
            _ => true,
        };
        if !is_right {
            return None;
        }
        self.check_facets(&mut kind)?;
        self.warn_of_idle_parameters(&mut kind);
        Some(kind)
    }

    /// Reads a parameter; one that is not given keeps its default.
    fn parameter(&mut self, keys: &'static [Key], parameter: Parameter<'_>) -> Option<()> {
        let key = &keys[0];
        match parameter {
            Parameter::Derived => return Some(()),
            Parameter::Roughness(alpha, is_roughness) => return self.roughness(keys, alpha, is_roughness),
            _ => {}
        }
        let field =
            if key.required { Some(require(&self.section, key)?) } else { self.section.get(key.name) };
        let Some(field) = field else { return Some(()) };
        let (low, high) = key.value.range();
        match parameter {
            Parameter::Scalar(scalar) => *scalar = self.textures.scalar(&field, (low, high))?,
            Parameter::Color(color) => *color = self.textures.color(&field, high)?,
            Parameter::Number(number) | Parameter::Optional(number) => {
                *number = field.number_in(low, high)?
            }
            Parameter::Flag(flag) => *flag = field.boolean()?.into(),
            Parameter::Word(place) => {
                let words: Vec<_> = key.value.choices().iter().map(|(word, _)| *word).zip(0..).collect();
                *place = field.choice(&words)?;
            }
            Parameter::Rotation(rotation) => *rotation = read_rotation(&field)?,
            Parameter::Materials(materials) => {
                let [a, b] = field.numbers("the names of two materials")?.map(|name| self.reference(&name));
                *materials = [a? as u32, b? as u32];
            }
            Parameter::Derived | Parameter::Roughness(..) => {}
        }
        Some(())
    }

    /// Index of refraction and extinction of a conductor.
    fn metal(&self, conductor: &mut ConductorMaterial, metal: &Key, eta_k: [&Key; 2]) -> Option<()> {
        let (eta, k) = read_metal(&self.section, metal, eta_k)?;
        *conductor = ConductorMaterial::new(eta, k, conductor.facets).tinted(conductor.tints);
        Some(())
    }

    /// The index of refraction of the principled model, where `specular` gives it.
    fn specular(&self, material: &mut PrincipledMaterial, key: &Key) -> Option<()> {
        let Some(specular) = self.section.get(key.name) else { return Some(()) };
        self.section.reject_both(["ior", "specular"], "specular")?;
        // What refracts needs an interface.
        let least = if material.spec_trans.is(0.0) { 0.0 } else { 1e-3 };
        let (low, high) = key.value.range();
        material.eta = principled::eta_from_specular(specular.number_in(low, high)?.max(least));
        Some(())
    }

    /// Reports facets that the kind cannot have, and warns of facet parameters without facets.
    fn check_facets(&self, kind: &mut MaterialKind) -> Option<()> {
        let (is_dielectric, is_plastic) =
            (matches!(kind, MaterialKind::Dielectric(_)), matches!(kind, MaterialKind::Plastic(_)));
        let Some(facets) = kind.facets_mut() else { return Some(()) };
        let (distribution, scattering) = (facets.distribution(), facets.scattering());
        if is_dielectric && scattering == Scattering::Compensated && distribution == Distribution::Beckmann {
            return self.section.get("scattering")?.fail(
                "is \"compensated\", which dielectrics have for distribution = \"ggx\" only; \"random_walk\" goes with both",
            );
        }
        if facets.is_smooth() {
            let why = "on a smooth surface";
            self.warn_if(scattering != Scattering::None, "scattering", why);
            self.warn_if(distribution != Distribution::Ggx, "distribution", why);
        }
        if is_plastic && facets.is_anisotropic() {
            let field = self.section.get("alpha").or_else(|| self.section.get("roughness"))?;
            return field.fail("differs along u and v; the coat of a plastic is as rough along both");
        }
        Some(())
    }

    /// Warns of parameters that refine others which are 0.
    fn warn_of_idle_parameters(&self, kind: &mut MaterialKind) {
        let mut initial = kind.initial();
        let parameters = kind.parameters();
        let is_zero = |name: &str| parameters.iter().any(|(keys, p)| keys[0].name == name && p.is_zero());
        for ((keys, parameter), (_, default)) in parameters.iter().zip(initial.parameters()) {
            let Key { name, depends_on: other, .. } = keys[0];
            self.warn_if(
                *parameter != default && is_zero(other),
                name,
                &format!("without {other:?}, which is 0"),
            );
        }
    }

    /// Warns that a key has no effect.
    fn warn_if(&self, is_idle: bool, key: &str, why: &str) {
        if let Some(field) = self.section.get(key).filter(|_| is_idle) {
            field.warn(&format!("{} has no effect {why}", field.name));
        }
    }

    /// The index of a material by its name, wherever in the file it is defined.
    fn reference(&self, field: &Field<'_>) -> Option<usize> {
        self.names.find(field, "material", |_| String::new())
    }

    /// Alpha of microfacets, from `roughness` or `alpha`, each a number, two, or a texture.
    fn roughness(
        &mut self,
        keys: &'static [Key],
        alpha: &mut [Scalar; 2],
        is_roughness: &mut u32,
    ) -> Option<()> {
        let section = self.section.clone();
        let (field, by_roughness) = match (section.get(keys[0].name), section.get(keys[1].name)) {
            (Some(roughness), Some(_)) => {
                let message = format!(
                    "{} gives both \"roughness\" and \"alpha\"; keep one (alpha = roughness²)",
                    section.name
                );
                section.src.error(roughness.key_span, message);
                return None;
            }
            (None, Some(alpha)) => (alpha, false),
            (Some(roughness), None) => (roughness, true),
            (None, None) if keys[0].required => (require(&section, &keys[0])?, true),
            (None, None) => return Some(()),
        };
        let range = keys[usize::from(!by_roughness)].value.range();
        let read = along_u_and_v(&field, |field| self.textures.scalar(field, range))?;
        let is_textured = read.iter().any(|a| a.texture != NO_TEXTURE);
        let squared = |a: Scalar| {
            Scalar::new(if a.value == 0.0 { 0.0 } else { (a.value * a.value).clamp(MIN_ALPHA, 1.0) })
        };
        *alpha = if by_roughness && !is_textured { read.map(squared) } else { read };
        *is_roughness = (by_roughness && is_textured).into();
        Some(())
    }

    fn normal_map(&mut self) -> Option<Option<NormalMap>> {
        self.section.reject_both(["normal_map", "bump_map"], "normal_map")?;
        let (field, table, purpose, kind) =
            match (self.section.get("normal_map"), self.section.get("bump_map")) {
                (Some(field), _) => (field, &keys::NORMAL_MAP, TextureUse::NORMALS, NormalMapKind::Up),
                (None, Some(field)) => (field, &keys::BUMP_MAP, TextureUse::HEIGHTS, NormalMapKind::Bump),
                (None, None) => return Some(None),
            };
        let section = field.table(field.name.clone())?;
        let texture = self.textures.inline(&section, &field.name, table, purpose)?;
        let mut map =
            NormalMap { texture, kind, scale: 1.0, invalid: InvalidNormals::Bend, hard_terminator: false };
        let mut reader = ValueReader::new(&section, table, None);
        visit_map(&mut reader, &mut map);
        reader.is_right.then_some(Some(map))
    }
}

impl Named for NormalMapKind {
    const NAMES: ByName<Self> =
        &[("up", Self::Up), ("down", Self::Down), ("across", Self::Across), ("against", Self::Against)];
}
impl Named for InvalidNormals {
    const NAMES: ByName<Self> = &[("bend", Self::Bend), ("flip", Self::Flip), ("keep", Self::Keep)];
}

/// The values of a map beside its texture.
pub(crate) fn visit_map(visitor: &mut impl Visitor, map: &mut NormalMap) {
    if map.kind != NormalMapKind::Bump {
        visitor.visit("green", &mut map.kind);
    }
    visitor.visit("strength", &mut map.scale);
    visitor.visit("invalid_normals", &mut map.invalid);
    visitor.visit("terminator", &mut map.hard_terminator);
}

/// Index of refraction and extinction of a conductor: those of a `metal` by name, or `eta` and `k`.
fn read_metal(section: &Section<'_>, key: &Key, [eta, k]: [&Key; 2]) -> Option<(Vec3, Vec3)> {
    let index = section.get(eta.name).or_else(|| section.get(k.name));
    match (section.get(key.name), index) {
        (Some(metal), None) => metal.choice(&metals::choices()).map(|metal| (metal.eta, metal.k)),
        (Some(_), Some(index)) => {
            let message =
                format!("{} gives both \"metal\" and {}; a metal has its own", section.name, index.name);
            section.src.error(index.key_span, message);
            None
        }
        (None, None) => {
            require(section, key);
            None
        }
        (None, Some(_)) => {
            let field = require(section, k);
            let color = |field: Option<Field<'_>>, key: &Key| field?.color(key.value.range().1);
            let (eta, k) = (color(require(section, eta), eta), color(field.clone(), k));
            let (eta, k) = (eta?, k?);
            if (eta.cmpeq(Vec3::ZERO) & k.cmpeq(Vec3::ZERO)).any() {
                let message = "\"eta\" and \"k\" are both 0 in the same channel; no material is like that";
                section.src.error(field?.span(), message);
            }
            Some((eta, k))
        }
    }
}

/// Cosine and sine of an angle in degrees, or these themselves.
fn read_rotation(field: &Field<'_>) -> Option<[f32; 2]> {
    if !field.is_array() {
        let (sin, cos) = field.number_in(-360.0, 360.0)?.to_radians().sin_cos();
        return Some([cos, sin]);
    }
    let both = field.numbers("degrees, or a direction such as [0, 1]")?;
    let [cos, sin] = both.map(|part| part.number_in(-1.0, 1.0));
    let (cos, sin) = (cos?, sin?);
    match (cos * cos + sin * sin - 1.0).abs() < 1e-5 {
        true => Some([cos, sin]),
        false => field.fail("must be of length 1"),
    }
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
    let [u, v] = field.numbers("a number, or two: along u and along v")?;
    match (u.is_zero(), v.is_zero()) {
        (true, true) => return Some(SMOOTH),
        (false, false) => {}
        _ => {
            return field
                .fail("is 0 along one direction only; a surface is smooth along both or rough along both");
        }
    }
    let [u, v] = [read(&u), read(&v)];
    Some([u?, v?])
}
