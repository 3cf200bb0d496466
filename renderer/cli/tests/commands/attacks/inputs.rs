//! Inputs of any size, each large in its own way.

use std::f64::consts::TAU;
use std::fmt::Display;

use image::ImageFormat;
use serde_json::json;
use torrance_image::film::Layers;
use torrance_image::film::encode::{Exr, encode_layers};
use torrance_image::film::layers::Samples;

use super::seeds::{glb, serialized, toml, toml_of_image, toml_of_mesh, xml, xml_of_mesh, xml_of_spectrum};

/// A kind of input.
pub(super) struct Input {
    pub(super) name: &'static str,
    /// The size that is compared with ten times itself.
    pub(super) n: usize,
    /// The files of an input of a size.
    pub(super) files: fn(usize) -> Files,
    /// The command that reads them.
    command: &'static str,
    /// More arguments, for an input of a size.
    more: fn(usize) -> Vec<String>,
    /// How it ends.
    pub(super) code: i32,
}

/// Names and contents.
type Files = Vec<(String, Vec<u8>)>;

impl Input {
    const fn new(name: &'static str, n: usize, command: &'static str, files: fn(usize) -> Files) -> Self {
        Self { name, n, files, command, more: |_| Vec::new(), code: 0 }
    }

    const fn with(self, more: fn(usize) -> Vec<String>) -> Self {
        Self { more, ..self }
    }

    const fn refused(self) -> Self {
        Self { code: 2, ..self }
    }

    /// The command's arguments, for an input of a size.
    pub(super) fn arguments(&self, n: usize) -> Vec<String> {
        self.command.split_whitespace().map(str::to_owned).chain((self.more)(n)).collect()
    }
}

/// What each of so many numbers becomes, one after the other.
fn each<T: Display>(n: usize, of: impl Fn(usize) -> T) -> String {
    (0..n).map(|i| of(i).to_string()).collect()
}

fn one(name: &str, bytes: impl Into<Vec<u8>>) -> Files {
    vec![(name.to_owned(), bytes.into())]
}

fn spheres(n: usize) -> String {
    each(n, |i| {
        format!("[[shapes]]\ntype = \"sphere\"\nmaterial = \"a\"\ncenter = [{i}, 0, 0]\nradius = 0.3\n")
    })
}

fn scene(more: String) -> Files {
    one("s.toml", toml("0.5", &format!("type = \"sphere\"\n{more}")))
}

/// A scene of Mitsuba with what each of so many numbers becomes.
fn xml_scene(n: usize, of: impl Fn(usize) -> String) -> Files {
    one("s.xml", xml(&each(n, of)))
}

/// A scene of a mesh file, which is beside it.
fn mesh(name: &str, bytes: impl Into<Vec<u8>>) -> Files {
    [one("s.toml", toml_of_mesh(name)), one(name, bytes)].concat()
}

/// A strip of so many triangles.
fn ribbon(n: usize) -> String {
    let vertices = each(n + 2, |i| format!("v {} {} 0\n", i / 2, i % 2));
    vertices + &each(n, |i| format!("f {} {} {}\n", i + 1, i + 2, i + 3))
}

fn ply(n: usize, binary: bool) -> Vec<u8> {
    let format = if binary { "binary_little_endian" } else { "ascii" };
    let mut out = format!(
        "ply\nformat {format} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\nelement face {n}\n\
         property list uchar int vertex_indices\nend_header\n",
        n + 2
    )
    .into_bytes();
    for i in 0..n + 2 {
        let [x, y] = [i / 2, i % 2];
        match binary {
            true => out.extend([x as f32, y as f32, 0.0].iter().flat_map(|x| x.to_le_bytes())),
            false => out.extend(format!("{x} {y} 0\n").bytes()),
        }
    }
    for i in 0..n as u32 {
        match binary {
            true => {
                out.push(3);
                out.extend([i, i + 1, i + 2].iter().flat_map(|i| i.to_le_bytes()));
            }
            false => out.extend(format!("3 {i} {} {}\n", i + 1, i + 2).bytes()),
        }
    }
    out
}

/// A model of so many nodes, each with a mesh of its own.
fn nodes(n: usize) -> Vec<u8> {
    let bytes: Vec<u8> =
        [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let document = json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": (0..n).collect::<Vec<_>>() }],
        "nodes": (0..n).map(|i| json!({ "name": format!("node {i}"), "mesh": i, "translation": [i, 0, 0] })).collect::<Vec<_>>(),
        "meshes": (0..n).map(|i| json!({ "name": format!("mesh {i}"), "primitives": [{ "attributes": { "POSITION": 0 } }] })).collect::<Vec<_>>(),
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" }],
        "bufferViews": [{ "buffer": 0, "byteLength": bytes.len() }],
        "buffers": [{ "byteLength": bytes.len() }],
    });
    glb(&document, &bytes)
}

/// An image of radiance with standard errors, and noise from a seed.
fn film(side: u32, seed: u32) -> Layers {
    let pixels = side * side;
    let mut layers = Layers::new(side, side);
    let noise = |i: u32| (i.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 8) as f32 / (1 << 24) as f32;
    let values: Vec<_> = (0..pixels).map(|i| [noise(3 * i), noise(3 * i + 1), noise(3 * i + 2)]).collect();
    layers.push_floats("", ["R", "G", "B"], &values);
    layers.push_floats("stderr", ["R", "G", "B"], &vec![[0.3; 3]; pixels as usize]);
    layers.push("samples", Samples::Uint(vec![16; pixels as usize]));
    layers.saying([("seed".to_owned(), seed.to_string())])
}

fn exr(layers: Layers) -> Vec<u8> {
    encode_layers(layers, Exr::default()).expect("it is encoded").bytes
}

/// The side of a square of so many pixels.
fn side(pixels: usize) -> u32 {
    (pixels as f64).sqrt() as u32
}

fn two_films(n: usize) -> Files {
    [one("a.exr", exr(film(side(n), 1))), one("b.exr", exr(film(side(n), 2)))].concat()
}

/// A file with so many attributes.
fn exr_of_attributes(n: usize) -> Vec<u8> {
    use exr::prelude::*;
    let channel = |name: &str| AnyChannel::new(name, FlatSamples::F32(vec![0.5; 4]));
    let channels = ["R", "G", "B"].map(channel).into_iter().collect();
    let mut layer =
        Layer::new((2, 2), LayerAttributes::default(), Encoding::UNCOMPRESSED, AnyChannels::sort(channels));
    let attribute = |i| (Text::from(&*format!("a{i}")), AttributeValue::I32(i));
    layer.attributes.other.extend((0..n as i32).map(attribute));
    let mut bytes = std::io::Cursor::new(Vec::new());
    Image::from_layer(layer).write().to_buffered(&mut bytes).expect("it is encoded");
    bytes.into_inner()
}

fn png(n: usize) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let image =
        image::RgbImage::from_fn(side(n), side(n), |x, y| image::Rgb([x as u8, y as u8, (x * y) as u8]));
    image.write_to(&mut bytes, ImageFormat::Png).expect("it is encoded");
    bytes.into_inner()
}

/// A mesh of so many triangles as a `.serialized` file.
fn serialized_ribbon(n: usize) -> Vec<u8> {
    let vertices = (0..n + 2).flat_map(|i| [(i / 2) as f32, (i % 2) as f32, 0.0]).flat_map(f32::to_le_bytes);
    let triangles = (0..n as u32).flat_map(|i| [i, i + 1, i + 2]).flat_map(u32::to_le_bytes);
    serialized(n as u64 + 2, n as u64, &vertices.chain(triangles).collect::<Vec<_>>())
}

/// A polygon of so many corners.
fn polygon(n: usize) -> String {
    let corner = |i: usize| (TAU * i as f64 / n as f64).sin_cos();
    let vertices = each(n, |i| format!("v {:.9} {:.9} 0\n", corner(i).1, corner(i).0));
    format!("{vertices}f{}\n", each(n, |i| format!(" {}", i + 1)))
}

/// So many triangles around a corner, each with a normal of its own.
fn fan(n: usize) -> String {
    let corner = |i: usize| (TAU * i as f64 / n as f64).sin_cos();
    let vertices =
        each(n, |i| format!("v {:.9} {:.9} 1\nvn {:.9} 0 1\n", corner(i).1, corner(i).0, corner(i).1));
    let faces = each(n, |i| format!("f {0}//{1} {2}//{1} {3}//{1}\n", n + 1, i + 1, i + 1, (i + 1) % n + 1));
    format!("{vertices}v 0 0 0\n{faces}")
}

fn misspelt(n: usize) -> String {
    each(n, |i| format!("[materials.name{i}]\ntype = \"diffuse\"\n"))
        + &each(n, |i| format!("[[shapes]]\ntype = \"sphere\"\nmaterial = \"nome{i}\"\n"))
}

fn materials_of_obj(n: usize) -> Files {
    let faces = each(n, |i| format!("usemtl m{i}\nf 1 2 3\n"));
    let materials = each(n, |i| format!("newmtl m{i}\nKd 0.5 0.5 0.5\n"));
    [one("s.obj", format!("mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n{faces}")), one("m.mtl", materials)]
        .concat()
}

/// So many instances of a box, in a row.
fn instances(n: usize) -> Files {
    let at = |x: f32| [1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let transforms: Vec<u8> = (0..n).flat_map(|i| at(i as f32)).flat_map(f32::to_le_bytes).collect();
    let group = "[[groups.g.shapes]]\ntype = \"box\"\nmaterial = \"a\"\n[[instances]]\ngroup = \"g\"\n\
        transforms = \"t.f32\"\n";
    [scene(group.to_owned()), one("t.f32", transforms)].concat()
}

const TOML: &str = "inspect s.toml";
const XML: &str = "inspect s.xml";
const RENDER: &str = "render s.toml -o out.pfm --size=8x8 --spp=1";

/// All kinds.
pub(super) const INPUTS: [Input; 34] = [
    Input::new("TOML: shapes", 20_000, TOML, |n| scene(spheres(n))),
    Input::new("TOML: materials", 20_000, TOML, |n| {
        scene(each(n, |i| format!("[materials.m{i}]\ntype = \"diffuse\"\nreflectance = 0.5\n")))
    }),
    Input::new("TOML: misspelt names among as many", 10_000, TOML, |n| scene(misspelt(n))).refused(),
    Input::new("TOML: unknown keys", 50_000, TOML, |n| scene(each(n, |i| format!("key{i} = 1\n")))).refused(),
    Input::new("TOML: paths of parameters", 5_000, "inspect s.toml --paths", |n| scene(spheres(n))),
    Input::new("TOML: conversion", 10_000, "convert s.toml out.toml --force", |n| scene(spheres(n))),
    Input::new("XML: shapes", 10_000, XML, |n| {
        xml_scene(n, |i| {
            format!("<shape type=\"sphere\" id=\"s{i}\"><float name=\"radius\" value=\"0.3\"/></shape>\n")
        })
    }),
    Input::new("XML: attributes of an element", 500_000, XML, |n| {
        one("s.xml", xml(&format!("<shape type=\"sphere\" {}/>", each(n, |i| format!("a{i}=\"1\" ")))))
    })
    .refused(),
    Input::new("XML: parameters", 10_000, XML, |n| {
        xml_scene(n, |i| {
            format!(
                "<default name=\"d{i}\" value=\"1\"/><shape type=\"sphere\"><float name=\"radius\" value=\"$d{i}\"/>\
                 </shape>\n"
            )
        })
    }),
    Input::new("XML: parameters that it lacks", 1_500, XML, |n| {
        xml_scene(n, |i| format!("<default name=\"d{i}\" value=\"1\"/>\n"))
    })
    .with(|n| (0..n).map(|i| format!("-Dzz{i}=2")).collect())
    .refused(),
    Input::new("render: images", 1_000, "render scene.toml --size=1x1 --spp=1 --set=nothing=1", |_| {
        Vec::new()
    })
    .with(|n| (0..n).flat_map(|i| ["-o".to_owned(), format!("{i}.png")]).collect())
    .refused(),
    Input::new("XML: references", 10_000, XML, |n| {
        xml_scene(n, |i| {
            format!("<bsdf type=\"diffuse\" id=\"m{i}\"/><shape type=\"sphere\"><ref id=\"m{i}\"/></shape>\n")
        })
    }),
    Input::new("glTF: nodes and meshes", 5_000, "inspect s.glb", |n| one("s.glb", nodes(n))),
    Input::new("OBJ: triangles", 100_000, TOML, |n| mesh("m.obj", ribbon(n))),
    Input::new("OBJ: corners of a polygon", 50_000, TOML, |n| mesh("m.obj", polygon(n))),
    Input::new("OBJ: normals at a corner", 30_000, TOML, |n| mesh("m.obj", fan(n))),
    Input::new("MTL: materials", 5_000, "inspect s.obj", materials_of_obj),
    Input::new("PLY: triangles as text", 200_000, TOML, |n| mesh("m.ply", ply(n, false))),
    Input::new("PLY: triangles as bytes", 500_000, TOML, |n| mesh("m.ply", ply(n, true))),
    Input::new("serialized: triangles", 300_000, XML, |n| {
        let scene = xml_of_mesh("serialized", "m.serialized");
        [one("s.xml", scene), one("m.serialized", serialized_ribbon(n))].concat()
    }),
    Input::new("spectrum: wavelengths", 90_000, XML, |n| {
        let lines = each(n, |i| format!("{} 0.5\n", 360.0 + 400.0 * i as f64 / n as f64));
        [one("s.xml", xml_of_spectrum("x.spd")), one("x.spd", lines)].concat()
    }),
    Input::new("PNG: texels", 1_000_000, TOML, |n| {
        [one("s.toml", toml_of_image("t.png")), one("t.png", png(n))].concat()
    }),
    Input::new("EXR: attributes", 900, "compare a.exr b.exr", |n| {
        [one("a.exr", exr_of_attributes(n)), one("b.exr", exr_of_attributes(n))].concat()
    }),
    Input::new("compare: pixels", 100_000, "compare a.exr b.exr", two_films),
    Input::new("merge: pixels", 200_000, "merge a.exr b.exr -o m.exr", two_films),
    Input::new("merge: files", 50, "merge -o m.exr", |n| {
        (0..n as u32).map(|i| (format!("{i}.exr"), exr(film(64, i)))).collect()
    })
    .with(|n| (0..n).map(|i| format!("{i}.exr")).collect()),
    Input::new("render: a row of spheres", 20_000, RENDER, |n| scene(spheres(n))),
    Input::new("render: a ribbon of triangles", 50_000, RENDER, |n| mesh("m.ply", ply(n, true))),
    Input::new("render: lights", 5_000, RENDER, |n| {
        scene(spheres(n).replace("radius", "emission = 1\nradius"))
    }),
    Input::new("render: instances", 20_000, RENDER, instances),
    Input::new("suite: cases", 5_000, "regress suite.toml --list", |n| {
        one(
            "suite.toml",
            each(n, |i| {
                format!("[[case]]\nname = \"c{i}\"\nscene = \"scene.toml\"\nreference = \"r{i}.exr\"\n")
            }),
        )
    }),
    // So many do not fit on a sheet.
    Input::new("sweep: values in a file", 20_000, "sweep scene.toml -o s.png", |n| {
        one("values", each(n, |i| format!("0.{i:06}\n")))
    })
    .with(|_| vec!["--param=materials.grey.reflectance=@values".to_owned()])
    .refused(),
    Input::new(
        "sweep: characters of the title",
        2_000,
        "sweep scene.toml --size=4x4 --spp=1 -o s.png",
        |_| Vec::new(),
    )
    .with(|n| vec!["--param=camera.fov=30,40".to_owned(), format!("--title={}", "wide ".repeat(n / 5))]),
    Input::new("--set: values", 200, "inspect scene.toml", |_| Vec::new())
        .with(|n| (0..n).map(|i| format!("--set=camera.fov={}", 1 + i % 100)).collect()),
];
