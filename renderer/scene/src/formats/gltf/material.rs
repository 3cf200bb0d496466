//! Materials: metallic-roughness, and what of it the core of the format says.

use std::collections::HashMap;

use device::material::texture::NO_TEXTURE;
use glam::Vec3;
use torrance_text::quoted;

use super::json::Node;
use super::textures::{Lookup, Textures, WITHOUT_IMAGE};
use crate::description::limits::MAX_RADIANCE;
use crate::description::{
    Channel, Color, DiffuseMaterial, GltfMaterial, InvalidNormals, Material, MaterialKind, NormalMap,
    NormalMapKind, Scalar, Texture,
};

const MATERIAL: &[&str] = &[
    "pbrMetallicRoughness",
    "normalTexture",
    "occlusionTexture",
    "emissiveTexture",
    "emissiveFactor",
    "alphaMode",
    "alphaCutoff",
    "doubleSided",
];

const METALLIC_ROUGHNESS: &[&str] =
    &["baseColorFactor", "baseColorTexture", "metallicFactor", "roughnessFactor", "metallicRoughnessTexture"];

/// Properties of a material that its shapes need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MaterialEntry {
    /// Index into the description's materials.
    pub(super) material: usize,
    pub(super) emission: Color,
    pub(super) two_sided: bool,
    /// Which texture coordinates its textures are placed by, if it has any.
    pub(super) set: Option<u32>,
    /// Whether it matters where u grows.
    pub(super) has_direction: bool,
}

/// The materials read so far.
pub(super) struct Materials<'b, 'a> {
    pub(super) textures: Textures<'b, 'a>,
    /// By index and whether meshes have colours; `None` for those with errors, which are reported once.
    read: HashMap<(Option<usize>, bool), Option<MaterialEntry>>,
    pub(super) list: Vec<Material>,
}

impl<'b, 'a> Materials<'b, 'a> {
    pub(super) fn new(textures: Textures<'b, 'a>) -> Self {
        Self { textures, read: HashMap::new(), list: Vec::new() }
    }

    /// A material of the document, by its index if it is not the default one, on meshes that have colours or not.
    pub(super) fn get(&mut self, index: Option<usize>, is_colored: bool) -> Option<MaterialEntry> {
        if let Some(known) = self.read.get(&(index, is_colored)) {
            return *known;
        }
        let read = self.read(index, is_colored);
        self.read.insert((index, is_colored), read);
        read
    }

    fn read(&mut self, index: Option<usize>, is_colored: bool) -> Option<MaterialEntry> {
        let document = self.textures.buffers.document;
        let (node, name) = match index {
            Some(index) => {
                let node = document.element("materials", index, MATERIAL)?;
                let name = node.get("name").and_then(|n| n.value.as_str().map(str::to_owned));
                (node, name.unwrap_or_else(|| format!("materials[{index}]")))
            }
            None => {
                let path = "the default material".to_owned();
                (document.at(path, &serde_json::Value::Null), "(default)".to_owned())
            }
        };
        let mut reader =
            Reader { node: node.clone(), textures: &mut self.textures, is_colored, sets: Vec::new() };
        let (kind, emission) = reader.kind_and_emission()?;
        let opacity = reader.opacity()?;
        let normal_map = reader.normal_map()?;
        let two_sided = node.get_or("doubleSided", false, |n| n.boolean())?;
        let set = reader.set();
        let has_direction =
            normal_map.is_some() || matches!(&kind, MaterialKind::Gltf(p) if !p.anisotropy.is(0.0));
        let mut material = Material { opacity, normal_map, ..Material::new(name, kind) };
        material.cull_backfaces = !two_sided && material.can_cull_backfaces();
        self.list.push(material);
        Some(MaterialEntry { material: self.list.len() - 1, emission, two_sided, set, has_direction })
    }
}

/// Reads one material.
pub(super) struct Reader<'r, 'b, 'a> {
    pub(super) node: Node<'a>,
    pub(super) textures: &'r mut Textures<'b, 'a>,
    /// Whether colours of vertices multiply the base colour.
    is_colored: bool,
    /// The texture coordinates that textures are placed by, and which textures these are.
    sets: Vec<(u32, String)>,
}

impl<'a> Reader<'_, '_, 'a> {
    fn kind_and_emission(&mut self) -> Option<(MaterialKind, Color)> {
        if self.node.extension("KHR_materials_unlit").is_some() {
            let base = match self.pbr()? {
                Some(pbr) => self.base_color(&pbr, "baseColorFactor", "baseColorTexture")?,
                None => self.colored(Color::new(Vec3::ONE)),
            };
            return Some((MaterialKind::Diffuse(DiffuseMaterial::new(Color::new(Vec3::ZERO))), base));
        }
        let kind = match self.node.extension("KHR_materials_pbrSpecularGlossiness") {
            Some(section) => MaterialKind::Gltf(self.specular_glossiness(section)?),
            None => self.metallic_roughness()?,
        };
        Some((kind, self.emission()?))
    }

    fn pbr(&self) -> Option<Option<Node<'a>>> {
        self.node.optional("pbrMetallicRoughness", |node| node.object(METALLIC_ROUGHNESS))
    }

    fn metallic_roughness(&mut self) -> Option<MaterialKind> {
        let mut gltf = GltfMaterial::DEFAULT;
        match self.pbr()? {
            Some(pbr) => {
                gltf.base_color = self.base_color(&pbr, "baseColorFactor", "baseColorTexture")?;
                let packed = "metallicRoughnessTexture";
                gltf.metallic = self.scalar(&pbr, "metallicFactor", 1.0, packed, Channel::B)?;
                gltf.roughness = self.scalar(&pbr, "roughnessFactor", 1.0, packed, Channel::G)?;
            }
            None => gltf.base_color = self.colored(gltf.base_color),
        }
        self.extensions(gltf)
    }

    /// The base colour without its alpha, times the colours of vertices.
    pub(super) fn base_color(&mut self, section: &Node<'a>, factor: &str, texture: &str) -> Option<Color> {
        let [r, g, b, _] = section.numbers_in(factor, [1.0; 4], 1.0)?;
        let color = self.textured(section, Vec3::new(r, g, b), texture)?;
        Some(self.colored(color))
    }

    /// A colour times those of vertices, if there are any.
    fn colored(&mut self, color: Color) -> Color {
        if !self.is_colored {
            return color;
        }
        let vertices = self.textures.add(Texture::VertexColor { channel: Channel::Rgb });
        let texture = match color.texture {
            NO_TEXTURE => vertices,
            texture => {
                let factors = [texture, vertices].map(|texture| Color { value: Vec3::ONE, texture });
                self.textures.add(Texture::Product(factors))
            }
        };
        Color { texture, ..color }
    }

    fn emission(&mut self) -> Option<Color> {
        let factor = self.node.numbers_in("emissiveFactor", [0.0; 3], 1.0)?;
        let strength = match self.node.extension("KHR_materials_emissive_strength") {
            Some(section) => {
                let section = section.object(&["emissiveStrength"])?;
                section.number_in("emissiveStrength", 1.0, 0.0, MAX_RADIANCE)?
            }
            None => 1.0,
        };
        let node = self.node.clone();
        let emission = self.textured(&node, strength * Vec3::from(factor), "emissiveTexture")?;
        // What a texture was to make shine stays dark without it.
        let is_lost = emission.texture == NO_TEXTURE && node.get("emissiveTexture").is_some();
        Some(if is_lost { Color::new(Vec3::ZERO) } else { emission })
    }

    /// The part that is there: by alpha, or by whether that is above a threshold.
    fn opacity(&mut self) -> Option<Scalar> {
        let Some(mode) = self.node.get("alphaMode") else { return Some(Scalar::new(1.0)) };
        let section = self.node.extension("KHR_materials_pbrSpecularGlossiness");
        let (section, factor, texture) = match section {
            Some(section) => (section, "diffuseFactor", "diffuseTexture"),
            None => match self.pbr()? {
                Some(pbr) => (pbr, "baseColorFactor", "baseColorTexture"),
                None => return Some(Scalar::new(1.0)),
            },
        };
        let alpha = section.get_or(factor, [1.0; 4], |n| n.numbers())?[3].clamp(0.0, 1.0);
        let lookup = self.lookup(&section, texture)?;
        match (mode.string()?, lookup) {
            ("OPAQUE", _) => Some(Scalar::new(1.0)),
            ("BLEND", None) => Some(Scalar::new(alpha)),
            ("BLEND", Some(lookup)) => {
                let texture = self.textures.bitmap(&lookup, true, Channel::A);
                Some(Scalar { value: alpha, texture })
            }
            ("MASK", lookup) => {
                let cutoff = self.node.number_in("alphaCutoff", 0.5, 0.0, f32::MAX)?;
                let texture = match lookup {
                    None => NO_TEXTURE,
                    Some(lookup) => self.textures.mask(&lookup, alpha, cutoff)?,
                };
                let is_there = texture != NO_TEXTURE || alpha >= cutoff;
                Some(Scalar { value: if is_there { 1.0 } else { 0.0 }, texture })
            }
            (other, _) => {
                let modes = ["OPAQUE", "MASK", "BLEND"];
                let near = self.node.document.log.suggestions.nearest(other, modes);
                let near = near.map_or_else(String::new, |n| format!("; did you mean {n:?}?"));
                mode.fail(format!("must be \"OPAQUE\", \"MASK\" or \"BLEND\", not {}{near}", quoted(other)))
            }
        }
    }

    fn normal_map(&mut self) -> Option<Option<NormalMap>> {
        let Some(info) = self.node.get("normalTexture") else { return Some(None) };
        let node = self.node.clone();
        let Some(lookup) = self.lookup(&node, "normalTexture")? else { return Some(None) };
        let texture = self.textures.bitmap(&lookup, false, Channel::Rgb);
        if texture == NO_TEXTURE {
            return Some(None);
        }
        let scale = info.number_in("scale", 1.0, -1e6, 1e6)?;
        Some(Some(NormalMap {
            texture: texture as usize,
            kind: NormalMapKind::Up,
            scale,
            invalid: InvalidNormals::Bend,
            hard_terminator: false,
        }))
    }

    /// Where a texture is looked up, if it is there.
    pub(super) fn lookup(&mut self, section: &Node<'a>, key: &str) -> Option<Option<Lookup>> {
        let Some(info) = section.get(key) else { return Some(None) };
        let log = self.node.document.log;
        let found = log.forgiving(WITHOUT_IMAGE, || self.textures.lookup(&info));
        let Some(lookup) = found else { return Some(None) };
        if !self.sets.iter().any(|(set, path)| (*set, path) == (lookup.set, &info.path)) {
            self.sets.push((lookup.set, info.path));
        }
        Some(Some(lookup))
    }

    /// A number from `section`, times a channel of a texture.
    pub(super) fn scalar(
        &mut self,
        section: &Node<'a>,
        factor: &str,
        default: f32,
        texture: &str,
        channel: Channel,
    ) -> Option<Scalar> {
        let value = section.number_in(factor, default, 0.0, 1.0)?;
        match self.lookup(section, texture)? {
            // Not even looked at where it counts for nothing.
            Some(lookup) if value != 0.0 => {
                Some(Scalar { value, texture: self.textures.bitmap(&lookup, false, channel) })
            }
            _ => Some(Scalar::new(value)),
        }
    }

    /// A colour times a texture of `section`.
    pub(super) fn textured(&mut self, section: &Node<'a>, value: Vec3, texture: &str) -> Option<Color> {
        match self.lookup(section, texture)? {
            Some(lookup) if value != Vec3::ZERO => {
                Some(Color { value, texture: self.textures.bitmap(&lookup, true, Channel::Rgb) })
            }
            _ => Some(Color::new(value)),
        }
    }

    /// The set of texture coordinates that is used: that of the first texture.
    fn set(&self) -> Option<u32> {
        let (set, _) = self.sets.first()?;
        let others: Vec<_> =
            self.sets.iter().filter(|(other, _)| other != set).map(|(_, path)| path.as_str()).collect();
        if !others.is_empty() {
            self.node.warn(format!(
                "has textures by several sets of texture coordinates, and one is supported: {} by TEXCOORD_{set} all the \
                 same",
                others.join(", ")
            ));
        }
        Some(*set)
    }
}
