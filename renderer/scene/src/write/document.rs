//! A description as a TOML document.

use glam::{Affine2, Affine3A, Mat3, Vec3};
use toml::{Table, Value};

use super::Extent;
use super::assets::{Assets, ImageName};
use super::entries::{Entries, Names};
use super::materials::material;
use crate::description::{
    Camera, Channel, Color, Description, Environment, Geometry, Image, Instance, PixelFilter, Portal,
    Projection, PunctualKind, PunctualLight, RenderSettings, Shape, Texture,
};
use crate::files::asset::range;
use crate::files::image::Range;
use crate::formats::toml::text::{number, rgb, short_key, vector};
use crate::formats::toml::{
    BLACK, Named, keys, visit_clip, visit_dimensions, visit_filter, visit_frame, visit_lens,
    visit_projection, visit_sampling, visit_sky, visit_visibility,
};

/// Instances of a group in a row, from which on they are a file.
const MANY: usize = 17;

/// The document that says `d`, which is canonical.
pub(super) fn document(d: &Description, assets: &mut Assets<'_>, extent: Extent) -> Table {
    let mut top = Table::new();
    let mut add = |key: &str, value: Value| {
        let is_empty = match &value {
            Value::Table(table) => table.is_empty() && key != "render",
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        if !is_empty {
            top.insert(key.to_owned(), value);
        }
    };
    let names = Names {
        textures: d.texture_names.values().cloned().collect(),
        ranges: ranges(d),
        materials: d.materials.iter().map(|material| material.name.clone()).collect(),
    };
    add("render", render(&d.render, extent).into());
    add("camera", camera(&d.camera, extent).into());
    if let Some(environment) = &d.environment {
        add("environment", self::environment(environment, &d.images, assets, extent).into());
    }
    let portal = |portal: &Portal| {
        let edges = portal.edges.map(vector).to_vec().into();
        Table::from_iter([("corner".to_owned(), vector(portal.corner)), ("edges".to_owned(), edges)]).into()
    };
    add("portals", Value::Array(d.portals.iter().map(portal).collect()));
    let lights = d.lights.iter().enumerate().map(|(i, light)| self::light(i, light, &names, extent).into());
    add("lights", Value::Array(lights.collect()));
    let textures = names.textures.iter().enumerate();
    let textures = textures.map(|(i, name)| (name.clone(), texture(i, d, &names, assets, extent).into()));
    add("textures", Table::from_iter(textures).into());
    let materials = d.materials.iter().filter(|m| m.name != BLACK);
    let materials = materials.map(|m| (m.name.clone(), material(m, &names, extent).into()));
    add("materials", Table::from_iter(materials).into());
    add("shapes", shapes(&d.shapes, "shapes", &names, assets, extent));
    let groups = d.groups.iter().map(|group| {
        let place = format!("groups.{}.shapes", short_key(&group.name));
        let shapes = shapes(&group.shapes, &place, &names, assets, extent);
        (group.name.clone(), Table::from_iter([("shapes".to_owned(), shapes)]).into())
    });
    let groups = Table::from_iter(groups);
    add("groups", groups.into());
    add("instances", instances(d, assets));
    top
}

/// The least that each texture has to be allowed: what is made of others gives what they give.
fn ranges(d: &Description) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::with_capacity(d.textures.len());
    for texture in &d.textures {
        let own = match texture {
            Texture::Bitmap(bitmap) => range(&d.images[bitmap.image]),
            Texture::Checker { colors, .. } | Texture::Mix { colors, .. } | Texture::Product(colors) => {
                let is_light = colors.iter().any(|c| c.value.max_element() > 1.0);
                if is_light { Range::Radiance } else { Range::Unit }
            }
            Texture::VertexColor { .. } => Range::Unit,
        };
        // In canonical descriptions these come before.
        ranges.push(texture.references().map(|part| ranges[part]).fold(own, Range::max));
    }
    ranges
}

fn render(r: &RenderSettings, extent: Extent) -> Table {
    let default = RenderSettings::default();
    let mut t = Entries::new(&keys::RENDER, "", extent);
    let mut r = r.clone();
    let size = [r.width, r.height].map(|side| Value::Integer(side.into())).to_vec();
    t.put_unless((r.width, r.height) == (default.width, default.height), "size", size);
    visit_sampling(&mut t, &mut r);
    t.put_unless(r.filter == default.filter, "filter", filter(r.filter, extent));
    visit_visibility(&mut t, &mut r);
    t.table
}

fn filter(mut filter: PixelFilter, extent: Extent) -> Value {
    let kind = std::mem::discriminant(&filter);
    let known = PixelFilter::NAMES.iter().find(|(_, f)| std::mem::discriminant(f) == kind);
    let Some((name, default)) = known else { return Value::Table(Table::new()) };
    if filter == *default && extent == Extent::Short {
        return Value::from(*name);
    }
    let mut t = Entries::new(&keys::FILTER, name, extent);
    t.put("type", *name);
    visit_filter(&mut t, &mut filter);
    t.table.into()
}

fn camera(c: &Camera, extent: Extent) -> Table {
    let (name, is_default) = match c.projection {
        Projection::Perspective { .. } => ("perspective", true),
        Projection::Orthographic { .. } => ("orthographic", false),
        Projection::Equirectangular => ("equirectangular", false),
    };
    let mut c = c.clone();
    let mut t = Entries::new(&keys::CAMERA, name, extent);
    t.put_unless(is_default, "type", name);
    visit_frame(&mut t, &mut c);
    t.value("mirrored", &c.mirrored);
    visit_clip(&mut t, &mut c.clip);
    if let Projection::Perspective { fov, .. } = &c.projection {
        t.value("fov", fov);
    }
    visit_projection(&mut t, &mut c.projection);
    if let Projection::Perspective { lens: Some(lens), .. } = &mut c.projection {
        let mut with = Entries::new(&keys::LENS, "", extent);
        visit_lens(&mut with, lens);
        t.put("lens", with.table);
    }
    t.table
}

fn environment(e: &Environment, images: &[Image], assets: &mut Assets<'_>, extent: Extent) -> Table {
    let name = match e {
        Environment::Constant(_) => "constant",
        Environment::Image { .. } => "image",
        Environment::SunSky(_) => "sun_sky",
        Environment::Studio(_) => "studio",
    };
    let mut t = Entries::new(&keys::ENVIRONMENT, name, extent);
    let rotation = match e {
        Environment::Constant(radiance) => {
            t.value("radiance", radiance);
            return t.table;
        }
        Environment::Image { image, scale, world_from_image } => {
            let ImageName { name, meaning } = assets.image(*image, &images[*image]);
            t.put("file", name);
            t.put_unless(meaning.is_srgb, "color_space", space(meaning.is_srgb));
            t.value("scale", scale);
            world_from_image
        }
        Environment::SunSky(sky) => {
            t.put("type", name);
            t.put("sun_direction", vector(sky.sun_direction));
            visit_sky(&mut t, &mut sky.clone());
            &sky.world_from_sky
        }
        Environment::Studio(studio) => {
            t.put("type", name);
            t.value("scale", &studio.scale);
            &studio.world_from_studio
        }
    };
    t.put_unless(*rotation == Mat3::IDENTITY, "transform", transform(&Affine3A::from_mat3(*rotation)));
    t.table
}

fn space(is_srgb: bool) -> &'static str {
    if is_srgb { "srgb" } else { "linear" }
}

fn light(index: usize, light: &PunctualLight, names: &Names, extent: Extent) -> Table {
    let mut t = Entries::new(&keys::LIGHT, light.kind.name(), extent);
    if light.name != format!("lights[{index}]") {
        t.put("name", light.name.as_str());
    }
    t.put("type", light.kind.name());
    match &light.kind {
        PunctualKind::Point { position, intensity } => {
            t.value("position", position);
            t.value("intensity", intensity);
        }
        PunctualKind::Projector { position, direction, fov, aspect, slide, .. } => {
            t.value("position", position);
            t.value("direction", direction);
            t.value("up", &slide.up);
            t.put("intensity", names.color(&light.kind.color()));
            t.value("fov", fov);
            t.value("aspect", aspect);
        }
        PunctualKind::Spot { position, direction, inner, outer, falloff, slide, .. } => {
            t.value("position", position);
            t.value("direction", direction);
            if let Some(slide) = slide {
                t.value("up", &slide.up);
            }
            t.put("intensity", names.color(&light.kind.color()));
            t.value("inner", inner);
            t.value("outer", outer);
            t.value("falloff", falloff);
        }
        PunctualKind::Directional { direction, irradiance, diameter } => {
            t.value("direction", direction);
            t.value("irradiance", irradiance);
            t.value("diameter", diameter);
        }
    }
    t.table
}

fn texture(index: usize, d: &Description, names: &Names, assets: &mut Assets<'_>, extent: Extent) -> Table {
    let texture = &d.textures[index];
    let mut t = Entries::new(&keys::TEXTURE, texture.name(), extent);
    let colors = |colors: &[Color; 2]| Value::Array(colors.iter().map(|c| names.color(c)).collect());
    let range = |t: &mut Entries, range: Range| t.put_unless(range == Range::Unit, "range", range.word());
    let channel =
        |t: &mut Entries, channel: Channel| t.put_unless(channel == Channel::Rgb, "channel", channel.word());
    if !matches!(texture, Texture::Bitmap(_)) {
        t.put("type", texture.name());
    }
    match texture {
        Texture::Bitmap(bitmap) => {
            let ImageName { name, meaning } = assets.image(bitmap.image, &d.images[bitmap.image]);
            t.put("file", name);
            t.put_unless(meaning.is_srgb, "color_space", space(meaning.is_srgb));
            range(&mut t, meaning.range);
            channel(&mut t, if meaning.is_alpha { Channel::A } else { bitmap.channel });
            t.value("filter", &bitmap.filter);
            match bitmap.wrap {
                [u, v] if u == v => t.value("wrap", &u),
                both => t.put("wrap", both.map(|wrap| Value::from(wrap.word())).to_vec()),
            }
            map_of_uv(&mut t, &bitmap.image_from_uv);
        }
        Texture::Checker { squares_from_uv, colors: both } => {
            t.put("colors", colors(both));
            range(&mut t, names.ranges[index]);
            map_of_uv(&mut t, squares_from_uv);
        }
        Texture::Mix { colors: both, weight } => {
            t.put("colors", colors(both));
            t.put("weight", names.scalar(weight));
            range(&mut t, names.ranges[index]);
        }
        Texture::Product(both) => {
            t.put("factors", colors(both));
            range(&mut t, names.ranges[index]);
        }
        Texture::VertexColor { channel: of } => channel(&mut t, *of),
    }
    t.table
}

/// `scale` and `offset`, or a `matrix`.
fn map_of_uv(t: &mut Entries, m: &Affine2) {
    let [a, b] = [m.matrix2.x_axis, m.matrix2.y_axis];
    let pair = |x: f32, y: f32| {
        if x == y { number(x) } else { Value::Array(vec![number(x), number(y)]) }
    };
    if (a.y, b.x) != (0.0, 0.0) {
        let row = |row: usize| Value::Array([a[row], b[row], m.translation[row]].map(number).to_vec());
        return t.put("matrix", vec![row(0), row(1)]);
    }
    t.put_unless((a.x, b.y) == (1.0, 1.0), "scale", pair(a.x, b.y));
    let moved = m.translation;
    t.put_unless((moved.x, moved.y) == (0.0, 0.0), "offset", pair(moved.x, moved.y));
}

fn shapes(shapes: &[Shape], place: &str, names: &Names, assets: &mut Assets<'_>, extent: Extent) -> Value {
    let shapes = shapes.iter().enumerate();
    let shape = |(i, s): (usize, &Shape)| shape(&format!("{place}[{i}]"), s, names, assets, extent).into();
    Value::Array(shapes.map(shape).collect())
}

/// A shape, which without a name would have `place` as one.
fn shape(place: &str, shape: &Shape, names: &Names, assets: &mut Assets<'_>, extent: Extent) -> Table {
    let mut t = Entries::new(&keys::SHAPE, shape.geometry.name(), extent);
    if shape.name != place {
        t.put("name", shape.name.as_str());
    }
    t.put("type", shape.geometry.name());
    if let Geometry::Mesh(mesh) = &shape.geometry {
        let (file, normals, flip_v) = assets.mesh(mesh, &shape.name);
        t.put("file", file);
        t.value("normals", &normals);
        t.value("flip_v", &flip_v);
    }
    visit_dimensions(&mut t, &mut shape.geometry.clone());
    if names.materials[shape.material] != BLACK {
        t.put("material", names.materials[shape.material].as_str());
    }
    t.put_unless(!shape.emits(), "emission", names.color(&shape.emission));
    t.value("emission_sides", &shape.emission_two_sided);
    t.value("flip_normals", &shape.flip_normals);
    if shape.world_from_object != Affine3A::IDENTITY {
        t.put("transform", transform(&shape.world_from_object));
    }
    t.table
}

/// The steps of a transform: what scales, and what moves, or a matrix.
fn transform(t: &Affine3A) -> Value {
    let [x, y, z] = [t.matrix3.x_axis, t.matrix3.y_axis, t.matrix3.z_axis].map(Vec3::from);
    let moved = Vec3::from(t.translation);
    let step = |key: &str, value: Value| Value::Table(Table::from_iter([(key.to_owned(), value)]));
    let scales = Vec3::new(x.x, y.y, z.z);
    if [x.y, x.z, y.x, y.z, z.x, z.y] != [0.0; 6] {
        let row = |row: usize| Value::Array([x[row], y[row], z[row], moved[row]].map(number).to_vec());
        let last = Value::Array([0.0, 0.0, 0.0, 1.0].map(number).to_vec());
        return vec![step("matrix", vec![row(0), row(1), row(2), last].into())].into();
    }
    let mut steps = Vec::new();
    if scales != Vec3::ONE {
        steps.push(step("scale", rgb(scales)));
    }
    if moved != Vec3::ZERO || steps.is_empty() {
        steps.push(step("translate", vector(moved)));
    }
    steps.into()
}

/// The places of groups: many of one in a row are a file.
fn instances(d: &Description, assets: &mut Assets<'_>) -> Value {
    let mut all = Vec::new();
    for run in d.instances.chunk_by(|a, b| a.group == b.group) {
        let name = d.groups[run[0].group as usize].name.as_str();
        let entry = |key: &str, value: Value| {
            let group = ("group".to_owned(), Value::from(name));
            Value::Table(Table::from_iter([group, (key.to_owned(), value)]))
        };
        if run.len() >= MANY {
            let file = assets.transforms(name, run.iter().map(|i| i.world_from_group).collect());
            all.push(entry("transforms", file.into()));
        } else {
            let one = |i: &Instance| entry("transform", transform(&i.world_from_group));
            all.extend(run.iter().map(one));
        }
    }
    all.into()
}
