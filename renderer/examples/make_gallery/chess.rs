//! An end game in glTF: solid glass against dark metal with a thin film.

use glam::{Vec2, Vec3, vec2, vec3};
use image::Rgb;
use serde_json::{Value, json};

use super::images::{png, rgb};
use super::mesh::{Mesh, floats, smooth};
use super::noise::{at, fractal};

// Radius and height along each piece; a square of the board is 1.

const PAWN: &[[f32; 2]] = &[
    [0.0, 0.0],
    [0.33, 0.0],
    [0.35, 0.03],
    [0.35, 0.09],
    [0.27, 0.16],
    [0.19, 0.24],
    [0.13, 0.42],
    [0.115, 0.56],
    [0.21, 0.6],
    [0.21, 0.635],
    [0.12, 0.67],
    [0.17, 0.73],
    [0.205, 0.85],
    [0.17, 0.97],
    [0.09, 1.035],
    [0.0, 1.05],
];
const ROOK: &[[f32; 2]] = &[
    [0.0, 0.0],
    [0.38, 0.0],
    [0.4, 0.03],
    [0.4, 0.11],
    [0.31, 0.19],
    [0.24, 0.28],
    [0.2, 0.6],
    [0.2, 0.85],
    [0.29, 0.92],
    [0.3, 0.96],
    [0.3, 1.2],
    [0.28, 1.21],
    [0.21, 1.2],
    [0.2, 1.08],
    [0.18, 1.06],
    [0.0, 1.06],
];
const BISHOP: &[[f32; 2]] = &[
    [0.0, 0.0],
    [0.37, 0.0],
    [0.39, 0.03],
    [0.39, 0.1],
    [0.29, 0.18],
    [0.2, 0.28],
    [0.13, 0.6],
    [0.12, 0.9],
    [0.24, 0.95],
    [0.24, 0.99],
    [0.13, 1.03],
    [0.19, 1.12],
    [0.215, 1.24],
    [0.17, 1.4],
    [0.08, 1.53],
    [0.045, 1.56],
    [0.07, 1.61],
    [0.05, 1.665],
    [0.0, 1.68],
];
const QUEEN: &[[f32; 2]] = &[
    [0.0, 0.0],
    [0.41, 0.0],
    [0.43, 0.03],
    [0.43, 0.12],
    [0.32, 0.21],
    [0.22, 0.33],
    [0.145, 0.7],
    [0.13, 1.15],
    [0.26, 1.21],
    [0.26, 1.25],
    [0.15, 1.3],
    [0.17, 1.45],
    [0.27, 1.72],
    [0.25, 1.74],
    [0.17, 1.69],
    [0.12, 1.76],
    [0.06, 1.8],
    [0.085, 1.86],
    [0.06, 1.92],
    [0.0, 1.94],
];
const KING: &[[f32; 2]] = &[
    [0.0, 0.0],
    [0.42, 0.0],
    [0.44, 0.03],
    [0.44, 0.12],
    [0.33, 0.22],
    [0.23, 0.34],
    [0.16, 0.75],
    [0.145, 1.25],
    [0.27, 1.31],
    [0.27, 1.35],
    [0.16, 1.4],
    [0.18, 1.55],
    [0.25, 1.78],
    [0.22, 1.83],
    [0.1, 1.88],
    [0.05, 1.92],
    [0.05, 1.99],
    [0.13, 2.04],
    [0.13, 2.09],
    [0.05, 2.13],
    [0.045, 2.22],
    [0.0, 2.23],
];
const PIECES: [(&str, &[[f32; 2]]); 5] =
    [("pawn", PAWN), ("rook", ROOK), ("bishop", BISHOP), ("queen", QUEEN), ("king", KING)];

/// Piece, file from a = 0 and rank from 1.
const GLASS: [(usize, u32, u32); 9] =
    [(4, 6, 1), (1, 4, 1), (1, 3, 7), (2, 5, 4), (0, 5, 2), (0, 6, 2), (0, 7, 3), (0, 3, 4), (0, 1, 3)];
const METAL: [(usize, u32, u32); 9] =
    [(4, 6, 8), (3, 2, 5), (1, 5, 8), (2, 1, 6), (0, 5, 7), (0, 6, 6), (0, 7, 5), (0, 4, 6), (0, 0, 5)];

/// The model, as a binary file of glTF 2.0.
pub(crate) fn glb() -> Vec<u8> {
    let mut model = Model::default();
    let materials = materials(&mut model);
    let shapes = PIECES.map(|(_, profile)| {
        let mesh = Mesh { uvs: Vec::new(), ..Mesh::lathe(&smooth(profile, 3), 32) };
        model.vertices(&mesh)
    });
    for (side, pieces) in [(0, GLASS), (1, METAL)] {
        let meshes = [0, 1, 2, 3, 4].map(|i| model.primitive(PIECES[i].0, &shapes[i], side));
        for (piece, file, rank) in pieces {
            model.node(meshes[piece], [file as f32 - 3.5, 0.0, 4.5 - rank as f32], [1.0; 3]);
        }
    }
    let square = quad();
    let board = model.mesh("board", &square, 2);
    model.node(board, [0.0; 3], [4.0, 1.0, 4.0]);
    let frame = model.mesh("frame", &frame(), 3);
    model.node(frame, [0.0; 3], [1.0; 3]);
    let table = model.mesh("table", &square, 4);
    model.node(table, [0.0, -0.4, 0.0], [60.0, 1.0, 60.0]);
    for (name, position, direction, size, material) in [
        ("window", [-8.0, 9.0, -8.0], [0.0, 0.0, 0.0], [5.0, 1.0, 3.5], 5),
        ("lamp", [9.0, 7.0, 3.0], [0.0, 0.5, -1.0], [3.0, 1.0, 3.0], 6),
    ] {
        let mesh = model.mesh(name, &square, material);
        model.light(mesh, position, direction, size);
    }
    model.camera([4.6, 5.3, 9.6], [0.4, 0.1, 0.1], 30.0);
    model.finish(materials)
}

fn materials(model: &mut Model) -> Value {
    let board = model.image(&png(256, board));
    json!([
        {
            "name": "glass",
            "pbrMetallicRoughness": { "metallicFactor": 0, "roughnessFactor": 0 },
            "extensions": {
                "KHR_materials_transmission": { "transmissionFactor": 1 },
                "KHR_materials_volume": { "thicknessFactor": 0.4 },
                "KHR_materials_ior": { "ior": 1.52 },
            },
        },
        {
            "name": "metal",
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.2, 0.15, 0.12, 1], "metallicFactor": 1, "roughnessFactor": 0.28,
            },
            "extensions": { "KHR_materials_iridescence": {
                "iridescenceFactor": 1, "iridescenceIor": 1.7, "iridescenceThicknessMaximum": 330,
            } },
        },
        {
            "name": "marble",
            "pbrMetallicRoughness": {
                "baseColorTexture": { "index": board }, "metallicFactor": 0, "roughnessFactor": 0.6,
            },
            "extensions": {
                "KHR_materials_clearcoat": { "clearcoatFactor": 0.8, "clearcoatRoughnessFactor": 0.12 },
            },
        },
        {
            "name": "wood",
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.09, 0.03, 0.014, 1], "metallicFactor": 0, "roughnessFactor": 0.5,
            },
            "extensions": { "KHR_materials_clearcoat": { "clearcoatFactor": 1 } },
        },
        {
            "name": "velvet",
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.03, 0.07, 0.055, 1], "metallicFactor": 0, "roughnessFactor": 1,
            },
            "extensions": {
                "KHR_materials_sheen": { "sheenColorFactor": [0.16, 0.3, 0.24], "sheenRoughnessFactor": 0.5 },
            },
        },
        light("window", [0.86, 0.94, 1.0], 7.0),
        light("lamp", [1.0, 0.75, 0.48], 6.0),
    ])
}

fn light(name: &str, color: [f32; 3], strength: f32) -> Value {
    json!({
        "name": name,
        "pbrMetallicRoughness": { "baseColorFactor": [0, 0, 0, 1] },
        "emissiveFactor": color,
        "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": strength } },
    })
}

/// A pixel of the board: squares of light and dark marble.
fn board(x: f32, y: f32) -> Rgb<u8> {
    let [i, j] = [x, y].map(|c| (c / 32.0) as i32);
    let seed = (100.0 * at(i, j, 1)) as u32;
    let cloud = fractal(x / 22.0, y / 22.0, 0, seed);
    let vein = 1.0 - (8.0 * (fractal(x / 30.0 + cloud, y / 30.0, 0, seed + 50) - 0.5)).abs().min(1.0);
    let color = if (i + j) % 2 == 0 {
        vec3(222.0, 212.0, 192.0).lerp(vec3(150.0, 134.0, 112.0), 0.5 * vein * cloud + 0.3 * cloud)
    } else {
        vec3(38.0, 52.0, 44.0).lerp(vec3(112.0, 128.0, 112.0), 0.5 * vein * cloud + 0.15 * cloud)
    };
    rgb(color)
}

/// The square [-1, 1]² that faces up.
fn quad() -> Mesh {
    let mut mesh = Mesh { triangles: vec![[0, 1, 2], [0, 2, 3]], ..Mesh::default() };
    for [x, z] in [[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]] {
        mesh.positions.push(vec3(x, 0.0, z));
        mesh.normals.push(Vec3::Y);
        mesh.uvs.push(vec2(x, z) * 0.5 + 0.5);
    }
    mesh
}

/// Frame around the board: a bevelled rim.
fn frame() -> Mesh {
    let mut mesh = Mesh::default();
    let section = [vec2(4.0, 0.0), vec2(4.06, 0.07), vec2(4.5, 0.07), vec2(4.62, -0.05), vec2(4.62, -0.4)];
    for side in 0..4 {
        let turn = |p: Vec3| (0..side).fold(p, |p, _| vec3(p.z, p.y, -p.x));
        for pair in section.windows(2) {
            let slope = pair[1] - pair[0];
            let normal = vec3(-slope.y, slope.x, 0.0).normalize();
            let first = mesh.positions.len() as u32;
            let corner = |p: Vec2, s: f32| vec3(p.x, p.y, s * p.x);
            for p in
                [corner(pair[0], 1.0), corner(pair[1], 1.0), corner(pair[1], -1.0), corner(pair[0], -1.0)]
            {
                mesh.positions.push(turn(p));
                mesh.normals.push(turn(normal));
                mesh.uvs.push(vec2(p.z, p.x));
            }
            mesh.triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
    }
    mesh
}

/// A document and its buffer.
#[derive(Default)]
struct Model {
    binary: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    images: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
    cameras: Vec<Value>,
}

impl Model {
    fn view(&mut self, bytes: &[u8]) -> usize {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        self.views.push(json!({ "buffer": 0, "byteOffset": self.binary.len(), "byteLength": bytes.len() }));
        self.binary.extend(bytes);
        self.views.len() - 1
    }

    fn accessor(&mut self, bytes: &[u8], component: u32, kind: &str, count: usize) -> usize {
        let view = self.view(bytes);
        self.accessors.push(json!({
            "bufferView": view, "componentType": component, "type": kind, "count": count,
        }));
        self.accessors.len() - 1
    }

    /// A texture of an image.
    fn image(&mut self, png: &[u8]) -> usize {
        let view = self.view(png);
        self.images.push(json!({ "bufferView": view, "mimeType": "image/png" }));
        self.images.len() - 1
    }

    fn mesh(&mut self, name: &str, mesh: &Mesh, material: usize) -> usize {
        let vertices = self.vertices(mesh);
        self.primitive(name, &vertices, material)
    }

    /// The accessors of a mesh, as a primitive has them.
    fn vertices(&mut self, mesh: &Mesh) -> Value {
        const FLOAT: u32 = 5126;
        const UNSIGNED_SHORT: u32 = 5123;
        let vectors = |v: &[Vec3]| v.iter().flat_map(|p| floats(&p.to_array())).collect::<Vec<_>>();
        let count = mesh.positions.len();
        let positions = self.accessor(&vectors(&mesh.positions), FLOAT, "VEC3", count);
        let bounds =
            |pick: fn(Vec3, Vec3) -> Vec3| mesh.positions.iter().copied().reduce(pick).map(|p| p.to_array());
        self.accessors[positions]["min"] = json!(bounds(Vec3::min));
        self.accessors[positions]["max"] = json!(bounds(Vec3::max));
        let normals = self.accessor(&vectors(&mesh.normals), FLOAT, "VEC3", count);
        let mut attributes = json!({ "POSITION": positions, "NORMAL": normals });
        if !mesh.uvs.is_empty() {
            let uvs: Vec<u8> = mesh.uvs.iter().flat_map(|p| floats(&p.to_array())).collect();
            attributes["TEXCOORD_0"] = json!(self.accessor(&uvs, FLOAT, "VEC2", count));
        }
        let corners = mesh.triangles.as_flattened();
        let indices: Vec<u8> = corners.iter().flat_map(|i| (*i as u16).to_le_bytes()).collect();
        let indices = self.accessor(&indices, UNSIGNED_SHORT, "SCALAR", corners.len());
        json!({ "attributes": attributes, "indices": indices })
    }

    fn primitive(&mut self, name: &str, vertices: &Value, material: usize) -> usize {
        let mut primitive = vertices.clone();
        primitive["material"] = json!(material);
        self.meshes.push(json!({ "name": name, "primitives": [primitive] }));
        self.meshes.len() - 1
    }

    fn node(&mut self, mesh: usize, translation: [f32; 3], scale: [f32; 3]) {
        self.nodes.push(json!({ "mesh": mesh, "translation": translation, "scale": scale }));
    }

    /// A square that faces a point with its +y.
    fn light(&mut self, mesh: usize, from: [f32; 3], to: [f32; 3], size: [f32; 3]) {
        let y = (Vec3::from(to) - Vec3::from(from)).normalize();
        let x = y.cross(Vec3::Y).normalize();
        let z = x.cross(y);
        let column = |v: Vec3, s: f32| (v * s).extend(0.0).to_array();
        let [sx, sy, sz] = size;
        let columns = [column(x, sx), column(y, sy), column(z, sz), Vec3::from(from).extend(1.0).to_array()];
        self.nodes.push(json!({ "mesh": mesh, "matrix": columns.as_flattened() }));
    }

    fn camera(&mut self, from: [f32; 3], to: [f32; 3], degrees: f32) {
        let z = (Vec3::from(from) - Vec3::from(to)).normalize();
        let x = Vec3::Y.cross(z).normalize();
        let columns = [x.extend(0.0), z.cross(x).extend(0.0), z.extend(0.0), Vec3::from(from).extend(1.0)];
        let columns = columns.map(|c| c.to_array());
        let perspective = json!({ "yfov": degrees.to_radians(), "aspectRatio": 1.5, "znear": 0.1 });
        self.cameras.push(json!({ "type": "perspective", "perspective": perspective }));
        self.nodes.push(json!({ "camera": 0, "matrix": columns.as_flattened() }));
    }

    /// The file: a header, the document padded with spaces, and the buffer.
    fn finish(mut self, materials: Value) -> Vec<u8> {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        let extensions =
            ["clearcoat", "emissive_strength", "ior", "iridescence", "sheen", "transmission", "volume"];
        let textures: Vec<_> = (0..self.images.len()).map(|i| json!({ "source": i })).collect();
        let document = json!({
            "asset": { "version": "2.0", "generator": "cargo run --release --example make_gallery" },
            "extensionsUsed": extensions.map(|e| format!("KHR_materials_{e}")),
            "scene": 0,
            "scenes": [{ "nodes": (0..self.nodes.len()).collect::<Vec<_>>() }],
            "nodes": self.nodes,
            "cameras": self.cameras,
            "meshes": self.meshes,
            "materials": materials,
            "textures": textures,
            "images": self.images,
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{ "byteLength": self.binary.len() }],
        });
        let mut text = document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let chunks = [(b"JSON", text), (b"BIN\0", self.binary)];
        let length = 12 + chunks.iter().map(|(_, bytes)| 8 + bytes.len()).sum::<usize>();
        let mut out = b"glTF".to_vec();
        out.extend(2_u32.to_le_bytes());
        out.extend((length as u32).to_le_bytes());
        for (kind, bytes) in chunks {
            out.extend((bytes.len() as u32).to_le_bytes());
            out.extend(kind);
            out.extend(bytes);
        }
        out
    }
}
