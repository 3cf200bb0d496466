//! Primitives in places that are difficult for who builds a tree, and ordinary ones.

use device::rng::{pcg4d, uniform};
use device::shape::{Kind, Primitive};
use glam::Vec3;

/// How primitives lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Spheres, each as far from the next as that from the one after.
    Row,
    /// Spheres, each a little farther from the next than the one before.
    Growing,
    /// Triangles of a strip that is two wide.
    Ribbon,
    /// Thin triangles with one corner in common.
    Star,
    /// Spheres along a spiral, ever larger.
    Spiral,
    /// The same sphere, again and again.
    Coincident,
    /// Spheres around one another.
    Concentric,
    /// Spheres that are half as large and half as far away, again and again.
    Halving,
    /// A sphere around all others, which are in a row.
    Huge,
    /// Spheres on a plane, in rows and columns.
    Grid,
    /// Spheres anywhere.
    Cloud,
    /// Triangles of hills.
    Terrain,
}

impl Layout {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Row,
        Self::Growing,
        Self::Ribbon,
        Self::Star,
        Self::Spiral,
        Self::Coincident,
        Self::Concentric,
        Self::Halving,
        Self::Huge,
        Self::Grid,
        Self::Cloud,
        Self::Terrain,
    ];

    /// A name for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Growing => "growing",
            Self::Ribbon => "ribbon",
            Self::Star => "star",
            Self::Spiral => "spiral",
            Self::Coincident => "coincident",
            Self::Concentric => "concentric",
            Self::Halving => "halving",
            Self::Huge => "huge",
            Self::Grid => "grid",
            Self::Cloud => "cloud",
            Self::Terrain => "terrain",
        }
    }

    /// What its primitives are.
    pub const fn means(self) -> &'static str {
        match self {
            Self::Row => "spheres at the same distance from one another",
            Self::Growing => "spheres at ever larger distances",
            Self::Ribbon => "a strip of triangles",
            Self::Star => "thin triangles around one corner",
            Self::Spiral => "spheres along a spiral, ever larger",
            Self::Coincident => "the same sphere many times",
            Self::Concentric => "spheres around one another",
            Self::Halving => "spheres at half the distance and of half the size of the one before",
            Self::Huge => "one large sphere, and a row of small ones in it",
            Self::Grid => "spheres in rows and columns",
            Self::Cloud => "spheres anywhere",
            Self::Terrain => "triangles of hills",
        }
    }

    /// So many primitives.
    pub(crate) fn primitives(self, n: u32) -> Vec<Primitive> {
        (0..n).map(|i| self.primitive(i, n)).collect()
    }

    /// Primitive i of n.
    fn primitive(self, i: u32, n: u32) -> Primitive {
        let (x, part) = (i as f32, i as f32 / n as f32);
        match self {
            Self::Row => sphere(Vec3::X * x, 0.4),
            Self::Growing => sphere(Vec3::X * (x + x * x / n as f32), 0.4),
            Self::Ribbon => {
                let [a, b] = [(i / 2) as f32, (i / 2 + 1) as f32].map(|x| Vec3::X * x);
                if i.is_multiple_of(2) {
                    triangle(a, b, a + Vec3::Y)
                } else {
                    triangle(b, b + Vec3::Y, a + Vec3::Y)
                }
            }
            Self::Star => {
                let (sin, cos) = (std::f32::consts::TAU * part).sin_cos();
                let (out, side) = (Vec3::new(cos, sin, 0.0), 1e-4 * Vec3::new(-sin, cos, 0.0));
                triangle(Vec3::ZERO, out + side, out - side)
            }
            Self::Spiral => {
                let (sin, cos) = (60.0 * part).sin_cos();
                sphere(100.0 * part * part * Vec3::new(cos, sin, 0.2 * part), 0.1 * part * part + 1e-6)
            }
            Self::Coincident => sphere(Vec3::ONE, 0.5),
            Self::Concentric => sphere(Vec3::ONE, 1.0 + x),
            Self::Halving => {
                // No smaller than what numbers can tell.
                let size = 0.5_f32.powi((i % 100) as i32);
                sphere(size * (1.0 + 0.1 * part) * Vec3::X, 0.3 * size)
            }
            Self::Huge if i == 0 => sphere(Vec3::ZERO, 2.0 * n as f32),
            Self::Huge => sphere(Vec3::X * x, 0.4),
            Self::Grid => {
                let side = (n as f32).sqrt().ceil() as u32;
                sphere(Vec3::new((i % side) as f32, (i / side) as f32, 0.0), 0.4)
            }
            Self::Cloud => sphere(anywhere(i), 0.5 / (n as f32).cbrt()),
            Self::Terrain => {
                let side = (0.5 * n as f32).sqrt().ceil() as u32;
                let corner = |dx, dy| {
                    let at = |k: u32| 2.0 * k as f32 / side as f32 - 1.0;
                    let (x, y) = (at(i / 2 % side + dx), at(i / 2 / side + dy));
                    Vec3::new(x, y, 0.1 * (17.0 * x).sin() * (13.0 * y).cos() + 0.02 * (140.0 * x * y).sin())
                };
                let third = if i.is_multiple_of(2) { corner(1, 0) } else { corner(0, 1) };
                triangle(corner(0, 0), corner(1, 1), third)
            }
        }
    }
}

fn anywhere(i: u32) -> Vec3 {
    let [x, y, z, _] = pcg4d([i, 0, 2, 7]).map(uniform);
    Vec3::new(x, y, z)
}

fn sphere(center: Vec3, radius: f32) -> Primitive {
    let shape = triangle(center, Vec3::new(radius, 0.0, 0.0), Vec3::ZERO);
    Primitive { material_flags: Kind::Sphere.flag(), ..shape }
}

fn triangle(a: Vec3, b: Vec3, c: Vec3) -> Primitive {
    let (light, normals) = (Primitive::NO_LIGHT, Primitive::FLAT);
    Primitive { a, b, c, material_flags: 0, light, normals }
}
