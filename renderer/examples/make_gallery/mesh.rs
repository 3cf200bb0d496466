//! Triangle meshes, surfaces of revolution, and PLY files of them.

use std::f32::consts::TAU;

use glam::{Vec2, Vec3, vec2, vec3};

/// Triangles and convex quadrilaterals; normals, texture coordinates and colours (sRGB) where there are as many as positions.
#[derive(Default)]
pub(crate) struct Mesh {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) normals: Vec<Vec3>,
    pub(crate) uvs: Vec<Vec2>,
    pub(crate) colors: Vec<[u8; 3]>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) quads: Vec<[u32; 4]>,
}

impl Mesh {
    /// Adds a convex polygon of one colour.
    pub(crate) fn polygon(&mut self, color: [u8; 3], corners: &[Vec3]) {
        let colored: Vec<_> = corners.iter().map(|p| (*p, color)).collect();
        self.shaded_polygon(&colored);
    }

    /// Adds a convex polygon with a colour at each corner.
    pub(crate) fn shaded_polygon(&mut self, corners: &[(Vec3, [u8; 3])]) {
        let first = self.positions.len() as u32;
        for (position, color) in corners {
            self.positions.push(*position);
            self.colors.push(*color);
        }
        self.triangles.extend((2..corners.len() as u32).map(|i| [first, first + i - 1, first + i]));
    }

    /// The surface that `profile`, radii and heights, makes around the y axis. u runs around, v along it.
    pub(crate) fn lathe(profile: &[Vec2], around: u32) -> Self {
        let mut mesh = Self::default();
        let length = profile.windows(2).map(|p| p[0].distance(p[1])).sum::<f32>();
        let mut along = 0.0;
        for (i, p) in profile.iter().enumerate() {
            let before = profile[i.saturating_sub(1)];
            let tangent = profile[(i + 1).min(profile.len() - 1)] - before;
            along += p.distance(before);
            for j in 0..=around {
                let u = j as f32 / around as f32;
                // The seam is closed to the last bit.
                let (sin, cos) = ((j % around) as f32 / around as f32 * TAU).sin_cos();
                mesh.positions.push(vec3(p.x * cos, p.y, p.x * sin));
                mesh.normals.push(vec3(tangent.y * cos, -tangent.x, tangent.y * sin).normalize());
                mesh.uvs.push(vec2(u, along / length));
            }
        }
        let row = around + 1;
        for (i, p) in profile.windows(2).enumerate() {
            for j in 0..around {
                let a = i as u32 * row + j;
                // A point on the axis is a corner of one triangle, not two.
                if p[0].x > 0.0 {
                    mesh.triangles.push([a, a + row, a + 1]);
                }
                if p[1].x > 0.0 {
                    mesh.triangles.push([a + 1, a + row, a + row + 1]);
                }
            }
        }
        mesh
    }

    /// A binary PLY file that `make_gallery` makes.
    pub(crate) fn ply(&self) -> Vec<u8> {
        self.ply_of("make_gallery")
    }

    /// A binary PLY file that names the example that makes it.
    pub(crate) fn ply_of(&self, example: &str) -> Vec<u8> {
        let has = |n: usize| n == self.positions.len();
        let (normals, uvs, colors) = (has(self.normals.len()), has(self.uvs.len()), has(self.colors.len()));
        let mut header = String::from("ply\nformat binary_little_endian 1.0\n");
        header += &format!("comment made by `cargo run --release --example {example}`\n");
        header += &format!("element vertex {}\n", self.positions.len());
        let mut properties = vec![("float", "x y z")];
        properties.extend(normals.then_some(("float", "nx ny nz")));
        properties.extend(uvs.then_some(("float", "u v")));
        properties.extend(colors.then_some(("uchar", "red green blue")));
        for (kind, names) in properties {
            names.split(' ').for_each(|name| header += &format!("property {kind} {name}\n"));
        }
        header += &format!("element face {}\n", self.triangles.len() + self.quads.len());
        let short = self.positions.len() <= 1 << 16;
        let index = if short { "ushort" } else { "uint" };
        header += &format!("property list uchar {index} vertex_indices\nend_header\n");

        let mut out = header.into_bytes();
        for i in 0..self.positions.len() {
            out.extend(floats(&self.positions[i].to_array()));
            out.extend(normals.then(|| floats(&self.normals[i].to_array())).into_iter().flatten());
            out.extend(uvs.then(|| floats(&self.uvs[i].to_array())).into_iter().flatten());
            out.extend(colors.then(|| self.colors[i]).into_iter().flatten());
        }
        let faces = self.triangles.iter().map(|t| &t[..]).chain(self.quads.iter().map(|q| &q[..]));
        for face in faces {
            out.push(face.len() as u8);
            face.iter().for_each(|i| out.extend(&i.to_le_bytes()[..if short { 2 } else { 4 }]));
        }
        out
    }
}

/// Least significant byte first.
pub(crate) fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// A curve through all points, with `steps` pieces from one to the next (Catmull and Rom 1974).
pub(crate) fn smooth(points: &[[f32; 2]], steps: usize) -> Vec<Vec2> {
    let at = |i: usize| Vec2::from(points[i.min(points.len() - 1)]);
    let mut curve = Vec::new();
    for i in 0..points.len() - 1 {
        let [a, b, c, d] = [at(i.saturating_sub(1)), at(i), at(i + 1), at(i + 2)];
        for step in 0..steps {
            let t = step as f32 / steps as f32;
            let p = (b * 2.0
                + (c - a) * t
                + (a * 2.0 - b * 5.0 + c * 4.0 - d) * t * t
                + (b * 3.0 - a - c * 3.0 + d) * t * t * t)
                / 2.0;
            curve.push(vec2(p.x.max(0.0), p.y));
        }
    }
    curve.push(at(points.len() - 1));
    curve
}
