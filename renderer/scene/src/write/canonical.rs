//! A description as a scene file would give it: the same scene, its parts in the order in which they are read, and with
//! names that differ.

use std::collections::HashSet;
use std::sync::Arc;

use device::bsdf::microfacet::Masking;
use device::material::texture::NO_TEXTURE;
use glam::Vec3;

use crate::description::limits::MIN_ALPHA;
use crate::description::{
    Color, Description, Environment, Facets, Geometry, Material, MaterialKind, PlasticMaterial, Scalar,
    Shape, Texture, TriangleMesh, drop_empty_groups,
};
use crate::files::mesh::{Placement, place};
use crate::formats::toml::BLACK;
use crate::formats::toml::text::short_key;

/// The description that reading `description` from a scene file gives.
pub fn canonical(description: &Description) -> Description {
    let mut d = description.clone();
    if d.environment == Some(Environment::Constant(Vec3::ZERO)) {
        d.environment = None;
    }
    drop_empty_groups(&mut d.groups, &mut d.instances);
    drop_flat_triangles(&mut d);
    all_shapes(&mut d).for_each(|shape| shape.emission_two_sided &= shape.emits());
    order_textures(&mut d);
    order_images(&mut d);
    settle_materials(&mut d);
    settle_names(&mut d);
    d
}

impl Description {
    /// Whether both are the same scene, wherever their files are.
    pub fn is_same_scene(&self, other: &Self) -> bool {
        let mut both = [self.clone(), other.clone()];
        let [a, b] = &mut both;
        let meshes = all_shapes(a).zip(all_shapes(b)).all(|(a, b)| match (&a.geometry, &b.geometry) {
            (Geometry::Mesh(a), Geometry::Mesh(b)) => is_same_mesh(a, b),
            _ => true,
        });
        for d in &mut both {
            d.images.iter_mut().for_each(|image| image.file = None);
            let nothing = Geometry::Mesh(Arc::new(TriangleMesh::default()));
            for shape in all_shapes(d).filter(|shape| matches!(shape.geometry, Geometry::Mesh(_))) {
                shape.geometry = nothing.clone();
            }
        }
        meshes && both[0] == both[1]
    }
}

fn is_same_mesh(a: &Arc<TriangleMesh>, b: &Arc<TriangleMesh>) -> bool {
    Arc::ptr_eq(a, b)
        || (a.positions == b.positions
            && a.normals == b.normals
            && a.uvs == b.uvs
            && a.colors == b.colors
            && a.triangles == b.triangles)
}

/// All shapes, those of groups included.
pub(super) fn all_shapes(d: &mut Description) -> impl Iterator<Item = &mut Shape> {
    d.shapes.iter_mut().chain(d.groups.iter_mut().flat_map(|group| &mut group.shapes))
}

/// Leaves out the triangles that have no area where they stand.
fn drop_flat_triangles(d: &mut Description) {
    for shape in all_shapes(d) {
        if let Geometry::Mesh(mesh) = &mut shape.geometry
            && let Placement::Without { mesh: others, .. } = place(mesh, &shape.world_from_object)
        {
            *mesh = others;
        }
    }
}

/// Puts textures after those that they are made of.
fn order_textures(d: &mut Description) {
    let mut order = Vec::with_capacity(d.textures.len());
    let mut done = vec![false; d.textures.len()];
    for start in 0..d.textures.len() {
        visit(start, &d.textures, &mut done, &mut order);
    }
    let mut new = vec![NO_TEXTURE; order.len()];
    order.iter().enumerate().for_each(|(to, from)| new[*from] = to as u32);
    let renumber = |index: &mut u32| *index = new.get(*index as usize).copied().unwrap_or(NO_TEXTURE);
    let mut textures: Vec<_> = order.iter().map(|from| d.textures[*from].clone()).collect();
    for texture in &mut textures {
        colors_mut(texture).for_each(|color| renumber(&mut color.texture));
        if let Texture::Mix { weight, .. } = texture {
            renumber(&mut weight.texture);
        }
    }
    d.textures = textures;
    let names = std::mem::take(&mut d.texture_names);
    d.texture_names = names.into_iter().map(|(index, name)| (new[index] as usize, name)).collect();
    d.materials.iter_mut().for_each(|material| material.for_each_texture(renumber));
    all_shapes(d).for_each(|shape| renumber(&mut shape.emission.texture));
    let slides = d.lights.iter_mut().filter_map(|light| light.kind.slide_mut());
    slides.for_each(|slide| renumber(&mut slide.texture));
}

fn visit(index: usize, textures: &[Texture], done: &mut [bool], order: &mut Vec<usize>) {
    if !std::mem::replace(&mut done[index], true) {
        textures[index].references().for_each(|part| visit(part, textures, done, order));
        order.push(index);
    }
}

/// The colours that a texture is made of.
fn colors_mut(texture: &mut Texture) -> impl Iterator<Item = &mut Color> {
    let colors: &mut [Color] = match texture {
        Texture::Checker { colors, .. } | Texture::Mix { colors, .. } | Texture::Product(colors) => colors,
        Texture::Bitmap(_) | Texture::VertexColor { .. } => &mut [],
    };
    colors.iter_mut()
}

/// Puts images in the order of those who use them, each once, and leaves out what nobody does.
fn order_images(d: &mut Description) {
    let mut order = Vec::new();
    let bitmaps = d.textures.iter_mut().filter_map(|t| t.bitmap_mut().map(|bitmap| &mut bitmap.image));
    let environment = match &mut d.environment {
        Some(Environment::Image { image, .. }) => Some(image),
        _ => None,
    };
    for index in bitmaps.chain(environment) {
        let to = order.iter().position(|from| d.images[*from] == d.images[*index]).unwrap_or(order.len());
        if to == order.len() {
            order.push(*index);
        }
        *index = to;
    }
    d.images = order.iter().map(|from| d.images[*from].clone()).collect();
}

/// Says of materials what the reader says, and puts the black one of shapes without a material last.
fn settle_materials(d: &mut Description) {
    d.materials.iter_mut().for_each(settle);
    let nothing = Material::new(BLACK, MaterialKind::diffuse(Vec3::ZERO));
    let is_nothing = |m: &Material| *m == nothing;
    let referred: HashSet<_> = d.materials.iter().flat_map(Material::references).collect();
    let blacks: Vec<_> = (0..d.materials.len()).filter(|i| is_nothing(&d.materials[*i])).collect();
    let all: Vec<_> = all_shapes(d).map(|shape| (shape.material, shape.emits())).collect();
    // Only what emits may go without a material.
    let droppable =
        |i: &usize| !referred.contains(i) && all.iter().all(|(material, emits)| material != i || *emits);
    let blacks: Vec<_> = blacks.into_iter().filter(droppable).collect();
    let used = all.iter().any(|(material, _)| blacks.contains(material));
    let kept: Vec<_> = (0..d.materials.len()).filter(|i| !blacks.contains(i)).collect();
    let new = |old: usize| kept.iter().position(|i| *i == old).unwrap_or(kept.len());
    let new: Vec<_> = (0..d.materials.len()).map(new).collect();
    let mut materials: Vec<_> = kept.iter().map(|i| d.materials[*i].clone()).collect();
    materials.extend(used.then_some(nothing));
    for material in &mut materials {
        material.back = material.back.map(|i| new[i]);
        if let MaterialKind::Blend(blend) = &mut material.kind {
            blend.materials = blend.materials.map(|i| new[i as usize] as u32);
        }
    }
    d.materials = materials;
    all_shapes(d).for_each(|shape| shape.material = new[shape.material]);
}

fn settle(material: &mut Material) {
    let passes = material.kind.has_no_sides() || material.back.is_some();
    material.two_sided |= passes;
    material.cull_backfaces &= material.can_cull_backfaces();
    material.kind.set_masking(Masking::Correlated);
    if let Some(facets) = material.kind.facets_mut() {
        settle_facets(facets);
    }
    if let MaterialKind::Plastic(plastic) = &mut material.kind {
        plastic.coat = 0;
        if plastic.internal_reflectance < 0.0 {
            plastic.internal_reflectance = PlasticMaterial::COMPUTED;
        }
    }
}

/// Turns roughness that is the same everywhere into alpha.
fn settle_facets(facets: &mut Facets) {
    if facets.is_roughness != 0 && !facets.is_textured() {
        let alpha =
            |r: Scalar| Scalar::new(if r.value == 0.0 { 0.0 } else { (r.value * r.value).max(MIN_ALPHA) });
        facets.alpha = facets.alpha.map(alpha);
        facets.is_roughness = 0;
    }
}

/// Gives names to what has none, and others to what has the same.
fn settle_names(d: &mut Description) {
    let black = Material::new(BLACK, MaterialKind::diffuse(Vec3::ZERO));
    let (last, others) = match d.materials.split_last_mut() {
        Some((last, others)) if *last == black => (None, others),
        Some((last, others)) => (Some(last), others),
        None => (None, &mut [][..]),
    };
    let names = others.iter_mut().chain(last).map(|material| {
        if material.name == BLACK {
            material.name = "black".to_owned();
        }
        &mut material.name
    });
    distinguish(names, |_| "material".to_owned());
    name_textures(d);
    distinguish(d.shapes.iter_mut().map(|s| &mut s.name), |i| format!("shapes[{i}]"));
    distinguish(d.lights.iter_mut().map(|l| &mut l.name), |i| format!("lights[{i}]"));
    distinguish(d.groups.iter_mut().map(|g| &mut g.name), |_| "group".to_owned());
    for group in &mut d.groups {
        let place = format!("groups.{}.shapes", short_key(&group.name));
        distinguish(group.shapes.iter_mut().map(|s| &mut s.name), |i| format!("{place}[{i}]"));
    }
}

/// Gives names to textures that have none: those of their files, or what they are.
fn name_textures(d: &mut Description) {
    let plain = |texture: &Texture| match texture {
        Texture::Bitmap(bitmap) => {
            let stem = d.images[bitmap.image].file.as_ref().and_then(|f| f.file_stem());
            stem.map_or("image".to_owned(), |stem| stem.to_string_lossy().into_owned())
        }
        other => other.name().replace('_', " "),
    };
    // Names that are given are taken first.
    let mut names: Vec<_> = d.texture_names.iter().map(|(i, name)| (*i, name.clone())).collect();
    let nameless = d.textures.iter().enumerate().filter(|(i, _)| !d.texture_names.contains_key(i));
    names.extend(nameless.map(|(i, texture)| (i, plain(texture))));
    let mut taken = HashSet::new();
    for (i, name) in names {
        // Words that begin so are colours.
        let plain = name.trim_start_matches('#').to_owned();
        let numbered = (2..).map(|n| format!("{plain}-{n}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|name| taken.insert(name.clone()));
        d.texture_names.insert(i, free.unwrap_or(plain));
    }
}

/// Makes names differ by adding numbers; `default` is the name of what has none.
fn distinguish<'a>(names: impl Iterator<Item = &'a mut String>, default: impl Fn(usize) -> String) {
    let names: Vec<_> = names.collect();
    // Those that stand for no name are taken first.
    let mut taken: HashSet<String> = HashSet::new();
    let mut own: HashSet<String> = names.iter().map(|name| (**name).clone()).collect();
    for (i, name) in names.into_iter().enumerate() {
        if name.is_empty() {
            *name = default(i);
        }
        let plain = name.clone();
        let mut n = 2;
        while !taken.insert(name.clone()) {
            loop {
                *name = format!("{plain} {n}");
                n += 1;
                if own.insert(name.clone()) {
                    break;
                }
            }
        }
    }
}
