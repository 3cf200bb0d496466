//! Materials and textures to records of the device.

use device::bsdf::Tinted;
use device::bsdf::microfacet::Microfacet;
use device::bsdf::plastic::Coat;
use device::features::{Features, Full};
use device::material::texture::Texture as DeviceTexture;
use device::material::{At, Header, Material as DeviceMaterial};
use device::scene::SceneView;
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use torrance_gpu::backend::Shared;
use torrance_scene::{
    Color, Description, Facets, Geometry, HiddenNormals, Image, InvalidNormals, Masking, Material,
    MaterialKind, NormalMapKind, PlasticMaterial, Scalar, Shape, Texture,
};

use super::Error;
use super::fingerprint::digest;

/// Vertex attributes that the shading of a shape needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct VertexAttributes {
    /// dp/du.
    pub(super) tangents: bool,
    /// Texture coordinates.
    pub(super) uvs: bool,
    /// Colours at its vertices.
    pub(super) colors: bool,
}

/// The records of all materials, and the coats of the plastics among them.
pub(super) fn records(description: &Description) -> (Vec<DeviceMaterial>, Vec<Coat>) {
    let mut coats = Vec::new();
    let bent = bent(description);
    let records = description.materials.iter().zip(bent).map(|(material, bends)| {
        record(
            material,
            description.render.masking,
            if bends { Header::BENDS_NORMALS } else { 0 },
            &mut coats,
        )
    });
    (records.collect(), coats)
}

/// Which materials bend interpolated normals: those that reflect as around a mirror, on meshes that have such normals. Maps may
/// have it otherwise.
fn bent(description: &Description) -> Vec<bool> {
    let mut bent = vec![false; description.materials.len()];
    if description.render.hidden_normals != HiddenNormals::Bend {
        return bent;
    }
    let is_smooth =
        |shape: &&Shape| matches!(&shape.geometry, Geometry::Mesh(mesh) if !mesh.normals.is_empty());
    let of_smooth = description.all_shapes().filter(is_smooth).map(|shape| shape.material).collect();
    for i in reached(description, of_smooth) {
        let Material { kind, normal_map, .. } = &description.materials[i];
        let is_matt =
            matches!(kind, MaterialKind::Diffuse(_) | MaterialKind::Sheen(_) | MaterialKind::Blend(_));
        bent[i] = !is_matt && normal_map.is_none_or(|map| map.invalid == InvalidNormals::Bend);
    }
    bent
}

fn record(material: &Material, masking: Masking, flags: u32, coats: &mut Vec<Coat>) -> DeviceMaterial {
    let mut header = Header { flags, opacity: material.opacity, ..Header::PLAIN };
    header.flags |= if material.two_sided { Header::TWO_SIDED } else { 0 };
    header.flags |= if material.holes_emit { Header::HOLES_EMIT } else { 0 };
    header.flags |= if material.cull_backfaces { Header::CULLS_BACKFACES } else { 0 };
    header.back = material.back.map_or(Header::NONE, |i| i as u32);
    if let Some(map) = &material.normal_map {
        header.normal_map = map.texture as u32;
        header.normal_scale = map.scale;
        header.flags |= match map.kind {
            NormalMapKind::Up => 0,
            NormalMapKind::Down => Header::Y_DOWN,
            NormalMapKind::Across => Header::Y_ACROSS,
            NormalMapKind::Against => Header::Y_ACROSS | Header::Y_DOWN,
            NormalMapKind::Bump => Header::BUMP,
        };
        header.flags |= match map.invalid {
            InvalidNormals::Bend => 0,
            InvalidNormals::Flip => Header::FLIP_INVALID_NORMALS,
            InvalidNormals::Keep => Header::KEEP_INVALID_NORMALS,
        };
        header.flags |= if map.hard_terminator { Header::HARD_TERMINATOR } else { 0 };
    }
    let mut kind = material.kind;
    kind.set_masking(masking);
    if let MaterialKind::Plastic(plastic) = &mut kind {
        plastic.coat = coats.len() as u32;
        coats.extend(coats_of(plastic, masking));
    }
    kind.record(header)
}

fn coats_of(plastic: &PlasticMaterial, masking: Masking) -> Vec<Coat> {
    let distribution = plastic.facets.distribution();
    let coat = |roughness: f32| {
        let alpha = Vec2::splat((roughness * roughness).max(Facets::MIN_ALPHA));
        Coat::new(&Microfacet { alpha, distribution, masking }, plastic.ior)
    };
    let wanted: Vec<_> = plastic.coats_wanted().collect();
    wanted.into_par_iter().map(coat).collect()
}

/// Vertex attributes that each material needs, including those of materials that it may resolve to.
pub(super) fn wants(description: &Description, records: &[DeviceMaterial]) -> Vec<VertexAttributes> {
    let colors = description.textures.iter().any(|t| matches!(t, Texture::VertexColor { .. }));
    let wants = |material| {
        let reached = reached(description, vec![material]);
        let textured = features_of(description, records, &reached).contains(Features::TEXTURES);
        VertexAttributes {
            tangents: reached.iter().any(|i| records[*i].header().has(Header::TANGENTS)),
            uvs: textured,
            colors: textured && colors,
        }
    };
    (0..records.len()).map(wants).collect()
}

/// Features that kernels need for the materials of the scene's shapes, and for those that these may resolve to.
pub(super) fn features(description: &Description, records: &[DeviceMaterial]) -> Features {
    let of_shapes = description.all_shapes().map(|shape| shape.material).collect();
    features_of(description, records, &reached(description, of_shapes))
}

/// Materials by what shading them asks of a kernel: those that ask for the same are a family, whose paths can be shaded
/// together by a kernel that knows nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Families {
    /// The family of each material.
    pub of_material: Vec<u32>,
    /// Features that each family needs, of [`Features::OF_MATERIAL`]. There is at least one family.
    pub features: Vec<Features>,
}

impl Families {
    /// Most families: beyond, materials share the last one.
    pub const MOST: usize = 16;

    /// Families of the materials of shapes. Materials of no shape are in the first.
    pub(super) fn new(description: &Description, records: &[DeviceMaterial]) -> Self {
        let mut families = Self { of_material: vec![0; records.len()], features: Vec::new() };
        let mut of_shapes: Vec<_> = description.all_shapes().map(|shape| shape.material).collect();
        of_shapes.sort_unstable();
        of_shapes.dedup();
        for material in of_shapes {
            let wanted = features_of(description, records, &reached(description, vec![material]));
            families.of_material[material] = families.with(wanted.common(Features::OF_MATERIAL)) as u32;
        }
        if families.features.is_empty() {
            families.features.push(Features::NONE);
        }
        families
    }

    /// Those of scenes with the same materials in the same order, each of which asks for what it asks for in any of them.
    /// `None` if they are not as many.
    pub(super) fn joined<'a>(all: impl Iterator<Item = &'a Self> + Clone) -> Option<Self> {
        let count = all.clone().next()?.of_material.len();
        if all.clone().any(|families| families.of_material.len() != count) {
            return None;
        }
        let mut joined = Self { of_material: vec![0; count], features: Vec::new() };
        for material in 0..count {
            let wanted = all.clone().map(|f| f.features[f.of_material[material] as usize]);
            joined.of_material[material] = joined.with(wanted.fold(Features::NONE, Features::and)) as u32;
        }
        Some(joined)
    }

    /// The index of the family that asks for these.
    fn with(&mut self, wanted: Features) -> usize {
        if let Some(i) = self.features.iter().position(|f| *f == wanted) {
            return i;
        }
        if self.features.len() < Self::MOST {
            self.features.push(wanted);
        } else {
            let last = &mut self.features[Self::MOST - 1];
            *last = last.and(wanted);
        }
        self.features.len() - 1
    }
}

/// Features that kernels need for some of the materials.
fn features_of(description: &Description, records: &[DeviceMaterial], materials: &[usize]) -> Features {
    let of = |i: &usize| description.materials[*i].kind.features().and(records[*i].features());
    materials.iter().map(of).fold(Features::NONE, Features::and)
}

/// The materials in `next`, and all that these may turn out to be, each once.
fn reached(description: &Description, mut next: Vec<usize>) -> Vec<usize> {
    let mut seen = vec![false; description.materials.len()];
    let mut reached = Vec::new();
    while let Some(i) = next.pop() {
        if !std::mem::replace(&mut seen[i], true) {
            reached.push(i);
            next.extend(description.materials[i].references());
        }
    }
    reached
}

/// Materials to be looked at on their own, with the textures that they use.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Swatches {
    /// The textures.
    pub textures: Vec<DeviceTexture>,
    /// The texels of all textures.
    pub texels: Shared<u32>,
    /// [`super::fingerprint::digest`] of the texels.
    pub(super) digest: u64,
}

impl Swatches {
    /// Features that looking the textures up takes, beside [`Features::TEXTURES`].
    pub fn features(&self) -> Features {
        self.textures.iter().map(DeviceTexture::features).fold(Features::NONE, Features::and)
    }

    /// The textures that materials refer to.
    pub fn new(images: &[Image], textures: &[Texture]) -> Result<Self, Error> {
        let (textures, texels) = super::textures::records(images, textures)?;
        Ok(Self { textures, digest: digest(&texels), texels: texels.into() })
    }

    /// The record of a material by itself, and its coats.
    pub(crate) fn record(material: &Material, masking: Masking) -> (DeviceMaterial, Vec<Coat>) {
        let mut coats = Vec::new();
        (record(material, masking, 0, &mut coats), coats)
    }

    /// How a material scatters at texture coordinates (½, ½), seen from the front. A blend absorbs: it is chosen from
    /// before it scatters.
    pub(crate) fn lobe(&self, material: &Material, masking: Masking) -> Tinted {
        let (record, coats) = Self::record(material, masking);
        // SAFETY: the record is a material, and the scene has what materials look up.
        self.look(&coats, |at| unsafe {
            DeviceMaterial::bsdf::<Full>(&raw const record, record.header().kind, at)
        })
    }

    /// A number of a material there.
    pub(crate) fn scalar(&self, scalar: &Scalar) -> f32 {
        self.look(&[], |at| scalar.at::<Full>(at))
    }

    /// A colour of a material there.
    pub(crate) fn color(&self, color: &Color) -> Vec3 {
        self.look(&[], |at| color.at::<Full>(at))
    }

    /// A number of a material at texture coordinates.
    pub(super) fn scalar_at(&self, scalar: &Scalar, uv: Vec2) -> f32 {
        self.look(&[], |at| scalar.at::<Full>(&At { uv, ..*at }))
    }

    /// A colour of a material at texture coordinates.
    pub(super) fn color_at(&self, color: &Color, uv: Vec2) -> Vec3 {
        self.look(&[], |at| color.at::<Full>(&At { uv, ..*at }))
    }

    /// The facets of a material there, which is not smooth.
    pub(crate) fn microfacet(&self, facets: &Facets) -> Microfacet {
        self.look(&[], |at| facets.at::<Full>(at))
    }

    /// Calls `f` with the shading point, in a scene of nothing but textures and `coats`.
    fn look<T>(&self, coats: &[Coat], f: impl FnOnce(&At<'_>) -> T) -> T {
        // SAFETY: it is made of pointers, which may be null, and numbers.
        let mut scene: SceneView = unsafe { std::mem::zeroed() };
        scene.coats = coats.as_ptr();
        (scene.textures, scene.texels) = (self.textures.as_ptr(), self.texels.as_ptr());
        f(&At::new(&scene, Vec2::splat(0.5)))
    }
}
