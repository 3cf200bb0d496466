//! A description as a TOML document.

use glam::{Affine2, Affine3A, Mat3, Vec3};
use toml::{Table, Value};

use super::Extent;
use super::assets::{Assets, ImageName};
use super::entries::{Entries, Names};
use super::materials::material;
use crate::description::{
    Bitmap, Camera, Color, Description, Dimension, Environment, FovAxis, Geometry, Image, Instance, Lens,
    PixelFilter, Portal, Projection, PunctualKind, PunctualLight, RenderSettings, Shape, SunSky, TexelFilter,
    Texture, key,
};
use crate::files::asset::range;
use crate::files::image::Range;
use crate::formats::toml::text::{number, rgb, toml_key, vector};
use crate::formats::toml::{
    AXES, BLACK, CHANNELS, FALLOFFS, FILTERS, HIDDEN_NORMALS, HOLES, NORMALS, RANGES, TEXEL_FILTERS, WRAPS,
};
use crate::formats::toml::{DIRECT, MASKINGS, SAMPLERS};
use device::material::texture::{Channel, Wrap};

/// Instances of a group in a row, from which on they are a file.
const MANY: usize = 17;

/// The document that says `d`, which is canonical.
pub(super) fn document(d: &Description, assets: &mut Assets<'_>, extent: Extent) -> Table {
    let mut top = Entries { table: Table::new(), extent: Extent::Short };
    let mut add = |key: &str, value: Value| {
        let is_empty = match &value {
            Value::Table(table) => table.is_empty() && key != "render",
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        top.put_unless(is_empty, key, value);
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
    let lights = d.lights.iter().enumerate().map(|(i, light)| self::light(i, light, extent).into());
    add("lights", Value::Array(lights.collect()));
    let textures = names.textures.iter().enumerate();
    let textures = textures.map(|(i, name)| (name.clone(), texture(i, d, &names, assets, extent).into()));
    add("textures", Table::from_iter(textures).into());
    let materials = d.materials.iter().filter(|m| m.name != BLACK);
    let materials = materials.map(|m| (m.name.clone(), material(m, &names, extent).into()));
    add("materials", Table::from_iter(materials).into());
    add("shapes", shapes(&d.shapes, "shapes", &names, assets, extent));
    let groups = d.groups.iter().map(|group| {
        let place = format!("groups.{}.shapes", toml_key(&group.name));
        let shapes = shapes(&group.shapes, &place, &names, assets, extent);
        (group.name.clone(), Table::from_iter([("shapes".to_owned(), shapes)]).into())
    });
    let groups = Table::from_iter(groups);
    add("groups", groups.into());
    add("instances", instances(d, assets));
    top.table
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
    let mut t = Entries::new(extent);
    let whole = |x: u32| Value::Integer(x.into());
    let size = vec![whole(r.width), whole(r.height)];
    t.put_unless((r.width, r.height) == (default.width, default.height), "size", size);
    t.put_unless(r.spp == default.spp, "spp", whole(r.spp));
    t.put_unless(r.max_depth == default.max_depth, "max_depth", whole(r.max_depth));
    t.put_unless(r.rr_depth == default.rr_depth, "rr", r.rr_depth.map_or(Value::Boolean(false), whole));
    t.word("sampler", &r.sampler, &default.sampler, SAMPLERS);
    t.word("direct", &r.direct, &default.direct, DIRECT);
    t.word("masking", &r.masking, &default.masking, MASKINGS);
    t.put_unless(r.seed == default.seed, "seed", whole(r.seed));
    t.put_unless(r.filter == default.filter, "filter", filter(&r.filter, extent));
    t.flag("sample_border", r.sample_border, default.sample_border);
    t.word("hidden_normals", &r.hidden_normals, &default.hidden_normals, HIDDEN_NORMALS);
    t.word("holes", &r.holes, &default.holes, HOLES);
    t.flag("hide_emitters", r.hide_emitters, default.hide_emitters);
    t.table
}

fn filter(filter: &PixelFilter, extent: Extent) -> Value {
    let kind = std::mem::discriminant(filter);
    let Some((name, default)) = FILTERS.iter().find(|(_, f)| std::mem::discriminant(f) == kind) else {
        return Value::Table(Table::new());
    };
    let numbers = |filter: &PixelFilter| match *filter {
        PixelFilter::Box { radius }
        | PixelFilter::Tent { radius }
        | PixelFilter::BlackmanHarris { radius } => {
            vec![("radius", radius)]
        }
        PixelFilter::Gaussian { radius, sigma } => vec![("radius", radius), ("sigma", sigma)],
        PixelFilter::Mitchell { radius, b, c } => vec![("radius", radius), ("b", b), ("c", c)],
    };
    if filter == default && extent == Extent::Short {
        return Value::from(*name);
    }
    let mut t = Entries::new(extent);
    t.put("type", *name);
    for ((key, value), (_, default)) in numbers(filter).into_iter().zip(numbers(default)) {
        t.number(key, value, default);
    }
    t.table.into()
}

fn camera(c: &Camera, extent: Extent) -> Table {
    let mut t = Entries::new(extent);
    let (name, is_default) = match c.projection {
        Projection::Perspective { .. } => ("perspective", true),
        Projection::Orthographic { .. } => ("orthographic", false),
        Projection::Equirectangular => ("equirectangular", false),
    };
    t.put_unless(is_default, "type", name);
    t.put("position", vector(c.position));
    t.put("target", vector(c.target));
    t.vector("up", c.up, Vec3::Y);
    t.flag("mirrored", c.mirrored, false);
    match &c.projection {
        Projection::Perspective { fov, fov_axis, principal_point, lens } => {
            t.put("fov", number(*fov));
            t.word("fov_axis", fov_axis, &FovAxis::default(), AXES);
            let point = principal_point.to_array();
            t.put_unless(point == [0.0; 2], "principal_point", point.map(number).to_vec());
            if let Some(lens) = lens {
                t.put("lens", self::lens(lens, extent));
            }
        }
        Projection::Orthographic { size, axis } => {
            t.put("size", number(*size));
            t.word("size_axis", axis, &FovAxis::default(), AXES);
        }
        Projection::Equirectangular => {}
    }
    t.table
}

fn lens(lens: &Lens, extent: Extent) -> Table {
    let mut t = Entries::new(extent);
    t.put("radius", number(lens.radius));
    t.put("focus_distance", number(lens.focus_distance));
    t.put_unless(lens.blades == 0, "blades", Value::Integer(lens.blades.into()));
    t.number("rotation", lens.rotation, 0.0);
    t.table
}

fn environment(e: &Environment, images: &[Image], assets: &mut Assets<'_>, extent: Extent) -> Table {
    let mut t = Entries::new(extent);
    let rotation = match e {
        Environment::Constant(radiance) => {
            t.put("radiance", rgb(*radiance));
            return t.table;
        }
        Environment::Image { image, scale, world_from_image } => {
            let ImageName { name, meaning } = assets.image(*image, &images[*image]);
            t.put("file", name);
            t.put_unless(meaning.is_srgb, "color_space", space(meaning.is_srgb));
            t.put_unless(*scale == Vec3::ONE, "scale", rgb(*scale));
            world_from_image
        }
        Environment::SunSky(sky) => {
            sun_sky(&mut t, sky);
            &sky.world_from_sky
        }
    };
    t.put_unless(*rotation == Mat3::IDENTITY, "transform", transform(&Affine3A::from_mat3(*rotation)));
    t.table
}

fn sun_sky(t: &mut Entries, sky: &SunSky) {
    t.put("type", "sun_sky");
    t.put("sun_direction", vector(sky.sun_direction));
    t.number("turbidity", sky.turbidity, 3.0);
    t.put_unless(sky.ground_albedo == Vec3::splat(0.3), "ground_albedo", rgb(sky.ground_albedo));
    t.number("sky_scale", sky.sky_scale, 1.0);
    t.number("sun_scale", sky.sun_scale, 1.0);
    t.number("sun_diameter", sky.sun_diameter, 0.5358);
}

fn space(is_srgb: bool) -> &'static str {
    if is_srgb { "srgb" } else { "linear" }
}

fn light(index: usize, light: &PunctualLight, extent: Extent) -> Table {
    let mut t = Entries { table: Table::new(), extent: Extent::Short };
    t.put_unless(light.name == format!("lights[{index}]"), "name", light.name.as_str());
    t.extent = extent;
    match &light.kind {
        PunctualKind::Point { position, intensity } => {
            t.put("type", "point");
            t.put("position", vector(*position));
            t.put("intensity", rgb(*intensity));
        }
        PunctualKind::Spot { position, direction, intensity, inner, outer, falloff } => {
            t.put("type", "spot");
            t.put("position", vector(*position));
            t.put("direction", vector(*direction));
            t.put("intensity", rgb(*intensity));
            t.number("inner", *inner, 0.0);
            t.number("outer", *outer, 45.0);
            t.word("falloff", falloff, &Default::default(), FALLOFFS);
        }
        PunctualKind::Directional { direction, irradiance, diameter } => {
            t.put("type", "directional");
            t.put("direction", vector(*direction));
            t.put("irradiance", rgb(*irradiance));
            t.number("diameter", *diameter, 0.0);
        }
    }
    t.table
}

fn texture(index: usize, d: &Description, names: &Names, assets: &mut Assets<'_>, extent: Extent) -> Table {
    let mut t = Entries::new(extent);
    let colors = |colors: &[Color; 2]| Value::Array(colors.iter().map(|c| names.color(c)).collect());
    let range = |t: &mut Entries| t.word("range", &names.ranges[index], &Range::Unit, RANGES);
    match &d.textures[index] {
        Texture::Bitmap(bitmap) => self::bitmap(&mut t, bitmap, &d.images[bitmap.image], assets),
        Texture::Checker { squares_from_uv, colors: both } => {
            t.put("type", "checker");
            t.put("colors", colors(both));
            range(&mut t);
            map_of_uv(&mut t, squares_from_uv);
        }
        Texture::Mix { colors: both, weight } => {
            t.put("type", "mix");
            t.put("colors", colors(both));
            t.put("weight", names.scalar(weight));
            range(&mut t);
        }
        Texture::Product(both) => {
            t.put("type", "product");
            t.put("factors", colors(both));
            range(&mut t);
        }
        Texture::VertexColor { channel } => {
            t.put("type", "vertex_color");
            t.word("channel", channel, &Channel::Rgb, CHANNELS);
        }
    }
    t.table
}

fn bitmap(t: &mut Entries, bitmap: &Bitmap, image: &Image, assets: &mut Assets<'_>) {
    let ImageName { name, meaning } = assets.image(bitmap.image, image);
    t.put("file", name);
    t.put_unless(meaning.is_srgb, "color_space", space(meaning.is_srgb));
    t.word("range", &meaning.range, &Range::Unit, RANGES);
    let channel = if meaning.is_alpha { Channel::A } else { bitmap.channel };
    t.word("channel", &channel, &Channel::Rgb, CHANNELS);
    t.word("filter", &bitmap.filter, &TexelFilter::Linear, TEXEL_FILTERS);
    let word = |wrap: Wrap| WRAPS.iter().find(|(_, w)| *w == wrap).map_or("", |(word, _)| word);
    match bitmap.wrap {
        [u, v] if u == v => t.word("wrap", &u, &Wrap::Repeat, WRAPS),
        both => t.put("wrap", both.map(|w| Value::from(word(w))).to_vec()),
    }
    map_of_uv(t, &bitmap.image_from_uv);
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
    let mut t = Entries { table: Table::new(), extent: Extent::Short };
    t.put_unless(shape.name == place, "name", shape.name.as_str());
    t.extent = extent;
    t.put("type", shape.geometry.name());
    if let Geometry::Mesh(mesh) = &shape.geometry {
        let (file, normals, flip_v) = assets.mesh(mesh, &shape.name);
        t.put("file", file);
        t.word("normals", &normals, &Default::default(), NORMALS);
        t.flag("flip_v", flip_v, false);
    }
    for (key, dimension) in shape.geometry.clone().dimensions() {
        match (dimension, key.default) {
            (Dimension::Point(p), key::Default::Vector(default)) => t.vector(key.name, *p, default.into()),
            (Dimension::Length(x), key::Default::Number(default)) => t.number(key.name, *x, default),
            (Dimension::Point(p), _) => t.put(key.name, vector(*p)),
            (Dimension::Length(x), _) => t.put(key.name, number(*x)),
        }
    }
    if names.materials[shape.material] != BLACK {
        t.put("material", names.materials[shape.material].as_str());
    }
    let is_dark = shape.emission == Color::new(Vec3::ZERO);
    t.put_unless(is_dark, "emission", names.color(&shape.emission));
    t.word("emission_sides", &shape.emission_two_sided, &false, &[("front", false), ("both", true)]);
    t.flag("flip_normals", shape.flip_normals, false);
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
