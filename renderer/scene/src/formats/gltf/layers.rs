//! Extensions of materials.

use device::material::texture::NO_TEXTURE;
use glam::Vec3;

use super::json::Node;
use super::material::Reader;
use crate::description::{
    Channel, Color, DielectricMaterial, Distribution, Facets, GltfMaterial, MaterialKind, Scalar,
};

/// Largest index of refraction: what is beyond reflects two thirds already.
const MAX_IOR: f32 = 10.0;
/// Most that the colour of a dielectric's reflection may be; it counts up to total reflection.
const MAX_SPECULAR: f32 = 1e6;

impl<'a> Reader<'_, '_, 'a> {
    /// Adds what extensions say.
    pub(super) fn extensions(&mut self, mut gltf: GltfMaterial) -> Option<MaterialKind> {
        let section = |name: &str, keys: &[&str]| {
            self.node.extension(name).map_or(Some(None), |node| node.object(keys).map(Some))
        };
        let ior = section("KHR_materials_ior", &["ior"])?;
        let specular = section(
            "KHR_materials_specular",
            &["specularFactor", "specularTexture", "specularColorFactor", "specularColorTexture"],
        )?;
        let transmission =
            section("KHR_materials_transmission", &["transmissionFactor", "transmissionTexture"])?;
        let volume = section(
            "KHR_materials_volume",
            &["thicknessFactor", "thicknessTexture", "attenuationDistance", "attenuationColor"],
        )?;
        let anisotropy = section(
            "KHR_materials_anisotropy",
            &["anisotropyStrength", "anisotropyRotation", "anisotropyTexture"],
        )?;
        let clearcoat = section(
            "KHR_materials_clearcoat",
            &[
                "clearcoatFactor",
                "clearcoatTexture",
                "clearcoatRoughnessFactor",
                "clearcoatRoughnessTexture",
                "clearcoatNormalTexture",
            ],
        )?;
        let sheen = section(
            "KHR_materials_sheen",
            &["sheenColorFactor", "sheenColorTexture", "sheenRoughnessFactor", "sheenRoughnessTexture"],
        )?;
        let iridescence = section(
            "KHR_materials_iridescence",
            &[
                "iridescenceFactor",
                "iridescenceTexture",
                "iridescenceIor",
                "iridescenceThicknessMinimum",
                "iridescenceThicknessMaximum",
                "iridescenceThicknessTexture",
            ],
        )?;
        if let Some(section) = specular {
            self.specular(&section, &mut gltf)?;
        }
        if let Some(section) = ior {
            set_ior(&section, &mut gltf)?;
        }
        if let Some(section) = anisotropy {
            self.anisotropy(&section, &mut gltf)?;
        }
        if let Some(section) = clearcoat {
            self.clearcoat(&section, &mut gltf)?;
        }
        if let Some(section) = sheen {
            let factor = section.numbers_in("sheenColorFactor", [0.0; 3], 1.0)?;
            gltf.sheen_color = self.textured(&section, factor.into(), "sheenColorTexture")?;
            let (factor, texture) = ("sheenRoughnessFactor", "sheenRoughnessTexture");
            let roughness = self.scalar(&section, factor, 0.0, texture, Channel::A)?;
            if gltf.sheen_color.value != Vec3::ZERO {
                gltf.sheen_roughness = roughness;
            }
        }
        if let Some(section) = iridescence {
            self.iridescence(&section, &mut gltf)?;
        }
        if let Some(section) = transmission {
            let (factor, texture) = ("transmissionFactor", "transmissionTexture");
            gltf.transmission = self.scalar(&section, factor, 0.0, texture, Channel::R)?;
        }
        self.volume(volume, gltf)
    }

    fn specular(&mut self, section: &Node<'a>, gltf: &mut GltfMaterial) -> Option<()> {
        let (factor, texture) = ("specularFactor", "specularTexture");
        gltf.specular = self.scalar(section, factor, 1.0, texture, Channel::A)?;
        let color = section.numbers_in("specularColorFactor", [1.0; 3], MAX_SPECULAR)?;
        gltf.specular_color = self.textured(section, color.into(), "specularColorTexture")?;
        Some(())
    }

    fn anisotropy(&mut self, section: &Node<'a>, gltf: &mut GltfMaterial) -> Option<()> {
        let (factor, texture) = ("anisotropyStrength", "anisotropyTexture");
        gltf.anisotropy = self.scalar(section, factor, 0.0, texture, Channel::B)?;
        let mut rotation = section.get_or("anisotropyRotation", 0.0, |n| n.number())?;
        if gltf.anisotropy.texture != NO_TEXTURE
            && let Some(lookup) = self.lookup(section, texture)?
        {
            rotation += self.direction(section, &lookup);
        }
        let (sin, cos) = rotation.sin_cos();
        gltf.rotation = [cos, sin];
        Some(())
    }

    /// The angle of the directions that red and green of a texture are, if it is the same all over.
    fn direction(&mut self, section: &Node<'a>, lookup: &super::textures::Lookup) -> f32 {
        const SAME: i32 = 3;
        let Some(image) = self.textures.bytes(lookup) else { return 0.0 };
        let mut directions =
            image.texels.iter().map(|t| t.to_le_bytes()).map(|[r, g, ..]| [r, g].map(i32::from));
        let Some([x, y]) = directions.next() else { return 0.0 };
        let is_same = directions.all(|[a, b]| (a - x).abs() <= SAME && (b - y).abs() <= SAME);
        if !is_same {
            section.warn(
                "has an \"anisotropyTexture\" of directions, which is not supported; its strength is used",
            );
            return 0.0;
        }
        let of = |byte: i32| byte as f32 / 127.5 - 1.0;
        of(y).atan2(of(x))
    }

    fn clearcoat(&mut self, section: &Node<'a>, gltf: &mut GltfMaterial) -> Option<()> {
        gltf.clearcoat = self.scalar(section, "clearcoatFactor", 0.0, "clearcoatTexture", Channel::R)?;
        let (factor, texture) = ("clearcoatRoughnessFactor", "clearcoatRoughnessTexture");
        gltf.clearcoat_roughness = self.scalar(section, factor, 0.0, texture, Channel::G)?;
        if let Some(normal) = section.get("clearcoatNormalTexture") {
            normal.warn("is not supported: coats follow the normals of what they cover");
        }
        Some(())
    }

    fn iridescence(&mut self, section: &Node<'a>, gltf: &mut GltfMaterial) -> Option<()> {
        const MOST: f32 = 10_000.0;
        let (factor, texture) = ("iridescenceFactor", "iridescenceTexture");
        gltf.iridescence = self.scalar(section, factor, 0.0, texture, Channel::R)?;
        gltf.iridescence_ior = section.number_in("iridescenceIor", 1.3, 1.0, MAX_IOR)?;
        let least = section.number_in("iridescenceThicknessMinimum", 100.0, 0.0, MOST)?;
        let most = section.number_in("iridescenceThicknessMaximum", 400.0, 0.0, MOST)?;
        gltf.iridescence_thickness = match self.lookup(section, "iridescenceThicknessTexture")? {
            Some(lookup) => {
                let texture = self.textures.bitmap(&lookup, false, Channel::G);
                self.textures.between(least, most, texture)
            }
            None => Scalar::new(most),
        };
        Some(())
    }

    /// Materials that transmit all light and have a thickness fill the space behind the surface; the rest is thin.
    fn volume(&mut self, section: Option<Node<'a>>, gltf: GltfMaterial) -> Option<MaterialKind> {
        let thin = Some(MaterialKind::Gltf(gltf));
        let Some(section) = section else { return thin };
        let thickness = section.number_in("thicknessFactor", 0.0, 0.0, f32::MAX)?;
        let color = section.numbers_in("attenuationColor", [1.0; 3], 1.0)?;
        if thickness == 0.0 || gltf.transmission.is(0.0) {
            return thin;
        }
        if color != [1.0; 3] && section.get("attenuationDistance").is_some() {
            section.warn("absorbs light by its \"attenuationColor\", which is not supported: it is clear");
        }
        let is_glass = gltf.transmission.is(1.0)
            && gltf.metallic.is(0.0)
            && gltf.specular.is(1.0)
            && [gltf.clearcoat, gltf.iridescence, gltf.anisotropy].iter().all(|s| s.is(0.0))
            && [gltf.base_color, gltf.specular_color].iter().all(|c| *c == Color::new(Vec3::ONE))
            && gltf.sheen_color == Color::new(Vec3::ZERO)
            && gltf.roughness.texture == NO_TEXTURE;
        if !is_glass {
            section.warn(
                "has a thickness, which is supported for what is clear, colourless, uncoated and not metallic: it is \
                 thin instead",
            );
            return thin;
        }
        let alpha = gltf.roughness.value * gltf.roughness.value;
        let facets = match alpha < Facets::MIN_ALPHA {
            true => Facets::SMOOTH,
            false => Facets::new(glam::Vec2::splat(alpha), Distribution::Ggx),
        };
        Some(MaterialKind::Dielectric(DielectricMaterial::new(gltf.ior, facets)))
    }

    /// The older specular–glossiness model: a dielectric over a diffuse base whose reflectance at normal incidence is the
    /// specular colour.
    pub(super) fn specular_glossiness(&mut self, section: Node<'a>) -> Option<GltfMaterial> {
        let section = section.object(&[
            "diffuseFactor",
            "diffuseTexture",
            "specularFactor",
            "glossinessFactor",
            "specularGlossinessTexture",
        ])?;
        let mut gltf = GltfMaterial { metallic: Scalar::new(0.0), ..GltfMaterial::DEFAULT };
        gltf.base_color = self.base_color(&section, "diffuseFactor", "diffuseTexture")?;
        let specular = section.numbers_in("specularFactor", [1.0; 3], 1.0)?;
        gltf.specular_color = self.textured(&section, specular.into(), "specularGlossinessTexture")?;
        set_total_reflection(&mut gltf);
        let glossiness = section.number_in("glossinessFactor", 1.0, 0.0, 1.0)?;
        gltf.roughness = match self.lookup(&section, "specularGlossinessTexture")? {
            Some(lookup) => {
                let texture = self.textures.bitmap(&lookup, true, Channel::A);
                self.textures.between(1.0, 1.0 - glossiness, texture)
            }
            None => Scalar::new(1.0 - glossiness),
        };
        Some(gltf)
    }
}

/// The index of refraction; by the specification, 0 means total reflection.
fn set_ior(section: &Node<'_>, gltf: &mut GltfMaterial) -> Option<()> {
    if section.get("ior").is_some_and(|ior| ior.value.as_f64() == Some(0.0)) {
        set_total_reflection(gltf);
        return Some(());
    }
    gltf.ior = section.number_in("ior", 1.5, 1.0, MAX_IOR)?;
    Some(())
}

/// Makes the reflectance straight on the specular colour.
fn set_total_reflection(gltf: &mut GltfMaterial) {
    gltf.ior = MAX_IOR;
    let reflectance = (MAX_IOR - 1.0) / (MAX_IOR + 1.0);
    gltf.specular_color.value /= reflectance * reflectance;
}
