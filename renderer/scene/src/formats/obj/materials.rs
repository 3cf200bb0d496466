//! Materials of a library as materials of a scene.
//!
//! A material with any physically based statement (`Pr`, `Pm`, `Ps`, `Pc`, `Pcr`, `aniso`, `anisor`, or their textures)
//! becomes the material of glTF: base colour `Kd`, metallic `Pm`, roughness `Pr`, sheen `Ps` (white, with a roughness of
//! 0.3), clear coat `Pc` and `Pcr`, index of refraction `Ni`; `Ks`, `map_Ks` and `Ns` do not count. The others are what
//! their illumination model comes nearest to:
//!
//! | `illum` | becomes |
//! |---|---|
//! | 4, 6, 7, 9 | a dielectric with index `Ni`, or 1.5; smooth |
//! | 3, 5, 8, if `Kd` is black | a metal that reflects `Ks` |
//! | 0, 1, or if `Ks` is black | diffuse reflection of `Kd` |
//! | others | plastic: `Kd` below a coat whose reflection `Ks` scales, index `Ni`, or 1.5 |
//!
//! Roughness follows from the exponent `Ns`: α = √(2/(Ns + 2)) (Walter et al. 2007, §5.3). `d` is the part of the surface
//! that is there, except of dielectrics. Bump maps are heights in metres, times `-bm`. Colours of vertices multiply `Kd`.
//!
//! A texture that cannot be read leaves its factor: the colour or number beside it. What it was to make shine stays dark.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use device::material::texture::NO_TEXTURE;
use glam::{Affine2, Mat2, Vec2, Vec3};
use torrance_text::{quoted, quoted_path};

use super::mtl::{MapFile, MtlMaterial};
use crate::description::limits::MIN_ALPHA;
use crate::description::{
    Bitmap, Channel, Color, DielectricMaterial, DiffuseMaterial, Distribution, Facets, GltfMaterial, Image,
    InvalidNormals, Material, MaterialKind, NormalMap, NormalMapKind, PlasticMaterial, Scalar, Texture, Wrap,
};
use crate::files::Files;
use crate::files::image::{Meaning, Range};
use crate::formats::model::GREY;
use crate::input::{Mistakes, Problem};

/// Index of refraction of glass and plastics that say nothing.
const IOR: f32 = 1.5;
/// Index of refraction below which there would be no surface.
const LEAST_IOR: f32 = 1.000_1;
/// Roughness of sheen, for which libraries have no statement.
const SHEEN_ROUGHNESS: f32 = 0.3;

/// The textures of a scene's materials.
pub(super) struct Textures<'a> {
    files: &'a Files,
    /// The library at hand, as messages call it, and its folder.
    library: String,
    folder: PathBuf,
    pub(super) images: Vec<Image>,
    pub(super) textures: Vec<Texture>,
    read: HashMap<(String, Meaning), Option<usize>>,
    /// Libraries with materials whose highlights are left out.
    without_highlights: HashSet<String>,
    /// Whether vertices have colours.
    is_colored: bool,
    pub(super) mistakes: Mistakes,
    pub(super) warnings: Vec<Problem>,
}

const COLOR: Meaning = Meaning { is_srgb: true, is_alpha: false, range: Range::Unit };
/// Radiance may be above 1.
const RADIANCE: Meaning = Meaning { is_srgb: true, is_alpha: false, range: Range::Radiance };
const NUMBER: Meaning = Meaning { is_srgb: false, is_alpha: false, range: Range::Unit };
const HEIGHT: Meaning = Meaning { is_srgb: false, is_alpha: false, range: Range::Height };

impl<'a> Textures<'a> {
    pub(super) fn new(files: &'a Files, is_colored: bool) -> Self {
        Self {
            files,
            library: String::new(),
            folder: PathBuf::new(),
            images: Vec::new(),
            textures: Vec::new(),
            read: HashMap::new(),
            without_highlights: HashSet::new(),
            is_colored,
            mistakes: Mistakes::default(),
            warnings: Vec::new(),
        }
    }

    /// Enters the library at `path`, to which what follows belongs.
    pub(super) fn enter(&mut self, path: &Path) {
        self.library = path.display().to_string();
        self.folder = path.parent().unwrap_or(Path::new("")).to_owned();
    }

    fn color(&mut self, value: Vec3, map: Option<&MapFile>) -> Color {
        Color { value, texture: self.texture_or_none(map, COLOR, Channel::Rgb) }
    }

    fn scalar(&mut self, value: f32, map: Option<&MapFile>) -> Scalar {
        Scalar { value, texture: self.texture_or_none(map, NUMBER, Channel::R) }
    }

    /// The index of a texture, or [`NO_TEXTURE`].
    fn texture_or_none(&mut self, map: Option<&MapFile>, meaning: Meaning, default: Channel) -> u32 {
        let texture = map.and_then(|map| self.texture(map, meaning, default));
        texture.map_or(NO_TEXTURE, |texture| texture as u32)
    }

    /// The index of a texture; `None` if it cannot be read, which has been reported.
    fn texture(&mut self, map: &MapFile, meaning: Meaning, default: Channel) -> Option<usize> {
        let channel = match map.channel {
            Some('r') => Channel::R,
            Some('g') => Channel::G,
            Some('b') => Channel::B,
            Some('m') => Channel::A,
            _ => default,
        };
        let image = self.image(map, Meaning { is_alpha: channel == Channel::A, ..meaning })?;
        let channel = self.images[image].channel_for(channel);
        // The scale and offset are for v from the bottom: 1 − v' = s·(1 − v) + o.
        let (scale, offset) = (map.scale, map.offset);
        let offset = Vec2::new(offset.x, 1.0 - scale.y - offset.y);
        let wrap = [if map.clamp { Wrap::Clamp } else { Wrap::Repeat }; 2];
        let image_from_uv = Affine2 { matrix2: Mat2::from_diagonal(scale), translation: offset };
        let bitmap = Bitmap { image_from_uv, wrap, channel, ..Bitmap::new(image) };
        self.textures.push(Texture::Bitmap(bitmap));
        Some(self.textures.len() - 1)
    }

    /// Warns, once a library, of a physically based material with statements that only others follow.
    fn warn_of_highlights(&mut self, m: &MtlMaterial) {
        let has_color = m.specular.is_some_and(|color| color != Vec3::ZERO);
        let said = [("Ks", has_color), ("map_Ks", m.specular_map.is_some()), ("Ns", m.exponent.is_some())];
        let said: Vec<_> = said.into_iter().filter(|(_, is_said)| *is_said).map(|(key, _)| key).collect();
        // An exponent alone is that of no highlight.
        if said.is_empty() || said == ["Ns"] || !self.without_highlights.insert(self.library.clone()) {
            return;
        }
        let message = format!(
            "material {} is physically based, so that its {} and those of others like it are left out",
            quoted(&m.name),
            said.join(", ")
        );
        self.warnings.push(Problem::of_file(self.library.as_str(), message));
    }

    fn image(&mut self, map: &MapFile, meaning: Meaning) -> Option<usize> {
        let key = (self.folder.join(&map.file).display().to_string(), meaning);
        if let Some(known) = self.read.get(&key) {
            return *known;
        }
        let index = self.read_image(map, &key.0, meaning);
        self.read.insert(key, index);
        index
    }

    fn read_image(&mut self, map: &MapFile, shown: &str, meaning: Meaning) -> Option<usize> {
        let problem = |message| Problem::at_line(&self.library, map.line, "", 0..0, message);
        let shown = quoted_path(shown);
        let found = self.files.look_for(&self.folder, &map.file);
        let read = found.and_then(|(path, is_other)| {
            if is_other {
                let remedy = format!("{} is used", quoted_path(&path));
                self.mistakes.add("another image", &remedy, || problem(format!("there is no image {shown}")));
            }
            self.files.image(&path, meaning)
        });
        match read {
            Ok(found) => {
                self.warnings.extend(found.warning.map(|w| problem(format!("image {shown} {w}"))));
                self.images.push(found.image);
                Some(self.images.len() - 1)
            }
            Err(reason) => {
                let message = || problem(format!("cannot read image {shown}: {reason}"));
                self.mistakes.add("image", "the material is without it", message);
                None
            }
        }
    }

    /// A colour times those of vertices, if there are any.
    fn colored(&mut self, color: Color) -> Color {
        if !self.is_colored {
            return color;
        }
        self.textures.push(Texture::VertexColor { channel: Channel::Rgb });
        let mut texture = self.textures.len() as u32 - 1;
        if color.texture != NO_TEXTURE {
            let factors = [color.texture, texture].map(|texture| Color { value: Vec3::ONE, texture });
            self.textures.push(Texture::Product(factors));
            texture += 1;
        }
        Color { texture, ..color }
    }
}

/// The colour of faces without a material: that of their vertices, or grey.
pub(super) fn default_color(textures: &mut Textures<'_>) -> Color {
    let grey = if textures.is_colored { Vec3::ONE } else { GREY };
    textures.colored(Color::new(grey))
}

/// A material that says nothing.
pub(super) fn plain(name: &str, textures: &mut Textures<'_>) -> Material {
    Material::new(name, MaterialKind::Diffuse(DiffuseMaterial::new(default_color(textures))))
}

/// The material, and the radiance that its surfaces emit.
pub(super) fn material(m: &MtlMaterial, textures: &mut Textures<'_>) -> (Material, Color) {
    let kind = if is_physical(m) { gltf(m, textures) } else { classic(m, textures) };
    if is_physical(m) {
        textures.warn_of_highlights(m);
    }
    let is_clear = matches!(kind, MaterialKind::Dielectric(_));
    let mut material = Material::new(&m.name, kind);
    let emission = emission(m, textures);
    let radiance = emission.value;
    if !is_clear {
        let value = m.opacity.unwrap_or(1.0);
        let opacity = textures.scalar(value, m.opacity_map.as_ref());
        if opacity.is(1.0) || radiance == Vec3::ZERO {
            material.opacity = opacity;
        } else {
            let message =
                format!("material {} emits light, and is not transparent therefore", quoted(&m.name));
            textures.warnings.push(Problem::of_file(textures.library.as_str(), message));
        }
    }
    material.normal_map = normal_map(m, textures);
    (material, emission)
}

fn emission(m: &MtlMaterial, textures: &mut Textures<'_>) -> Color {
    let dark = Color::new(Vec3::ZERO);
    let radiance = m.emission.unwrap_or(if m.emission_map.is_some() { Vec3::ONE } else { Vec3::ZERO });
    match &m.emission_map {
        _ if radiance == Vec3::ZERO => dark,
        None => Color::new(radiance),
        Some(map) => textures
            .texture(map, RADIANCE, Channel::Rgb)
            .map_or(dark, |texture| Color { value: radiance, texture: texture as u32 }),
    }
}

fn normal_map(m: &MtlMaterial, textures: &mut Textures<'_>) -> Option<NormalMap> {
    let (map, kind, meaning) = match (m.normal_map.as_ref(), m.height_map.as_ref()) {
        (Some(map), _) => (map, NormalMapKind::Up, NUMBER),
        (None, map) => (map?, NormalMapKind::Bump, HEIGHT),
    };
    let channel = if kind == NormalMapKind::Bump { Channel::R } else { Channel::Rgb };
    let texture = textures.texture(map, meaning, channel)?;
    Some(NormalMap {
        texture,
        kind,
        scale: map.strength,
        invalid: InvalidNormals::Bend,
        hard_terminator: false,
    })
}

fn is_physical(m: &MtlMaterial) -> bool {
    let numbers = [m.roughness, m.metallic, m.sheen, m.coat, m.coat_roughness, m.anisotropy, m.rotation];
    let maps = [&m.roughness_map, &m.metallic_map, &m.sheen_map];
    numbers.iter().any(Option::is_some) || maps.into_iter().any(Option::is_some)
}

/// The number, or else 1 where there is a texture, or else `default`.
fn factor(number: Option<f32>, map: Option<&MapFile>, default: f32) -> f32 {
    number.unwrap_or(if map.is_some() { 1.0 } else { default })
}

fn diffuse_color(m: &MtlMaterial, textures: &mut Textures<'_>) -> Color {
    let texture = textures.texture_or_none(m.diffuse_map.as_ref(), COLOR, Channel::Rgb);
    if texture == NO_TEXTURE && m.diffuse.is_none() {
        return default_color(textures);
    }
    // Programs for which a texture takes the place of the colour write black beside it.
    let value = m.diffuse.filter(|color| texture == NO_TEXTURE || *color != Vec3::ZERO);
    textures.colored(Color { value: value.unwrap_or(Vec3::ONE), texture })
}

fn gltf(m: &MtlMaterial, textures: &mut Textures<'_>) -> MaterialKind {
    let roughness = factor(m.roughness, m.roughness_map.as_ref(), 0.5);
    let metallic = factor(m.metallic, m.metallic_map.as_ref(), 0.0);
    let sheen = factor(m.sheen, m.sheen_map.as_ref(), 0.0);
    let (sin, cos) = (m.rotation.unwrap_or_default() * std::f32::consts::TAU).sin_cos();
    MaterialKind::Gltf(GltfMaterial {
        base_color: diffuse_color(m, textures),
        metallic: textures.scalar(metallic, m.metallic_map.as_ref()),
        roughness: textures.scalar(roughness, m.roughness_map.as_ref()),
        sheen_color: textures.color(Vec3::splat(sheen), m.sheen_map.as_ref()),
        sheen_roughness: if sheen > 0.0 {
            Scalar::new(SHEEN_ROUGHNESS)
        } else {
            GltfMaterial::DEFAULT.sheen_roughness
        },
        clearcoat: Scalar::new(m.coat.unwrap_or_default()),
        clearcoat_roughness: Scalar::new(m.coat_roughness.unwrap_or_default()),
        anisotropy: Scalar::new(m.anisotropy.unwrap_or_default()),
        rotation: [cos, sin],
        ior: m.ior.filter(|n| *n > 1.0).unwrap_or(IOR),
        ..GltfMaterial::DEFAULT
    })
}

fn classic(m: &MtlMaterial, textures: &mut Textures<'_>) -> MaterialKind {
    let ior = m.ior.filter(|n| *n > LEAST_IOR).unwrap_or(IOR);
    let black = Color::new(Vec3::ZERO);
    let model = m.model.unwrap_or(2);
    if [4, 6, 7, 9].contains(&model) {
        return MaterialKind::Dielectric(DielectricMaterial::new(ior, Facets::SMOOTH));
    }
    let specular_map = m.specular_map.as_ref();
    let specular = m.specular.unwrap_or(if specular_map.is_some() { Vec3::ONE } else { Vec3::ZERO });
    // The texture of what reflects nothing need not be read.
    let specular =
        if model < 2 || specular == Vec3::ZERO { black } else { textures.color(specular, specular_map) };
    let diffuse = match m.diffuse {
        Some(Vec3::ZERO) if m.diffuse_map.is_none() => black,
        _ => diffuse_color(m, textures),
    };
    let alpha = (2.0 / (m.exponent.unwrap_or(10.0) + 2.0)).sqrt().clamp(MIN_ALPHA, 1.0);
    if specular == black {
        return MaterialKind::Diffuse(DiffuseMaterial::new(diffuse));
    }
    if [3, 5, 8].contains(&model) && diffuse == black {
        return MaterialKind::Gltf(GltfMaterial {
            base_color: specular,
            roughness: Scalar::new(alpha.sqrt()),
            ..GltfMaterial::DEFAULT
        });
    }
    MaterialKind::Plastic(PlasticMaterial {
        reflectance: diffuse,
        specular,
        facets: Facets::new(Vec2::splat(alpha), Distribution::Ggx),
        ior,
        nonlinear: 0,
        coat: 0,
        internal_reflectance: PlasticMaterial::COMPUTED,
    })
}
