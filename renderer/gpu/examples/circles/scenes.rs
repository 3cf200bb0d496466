//! Scenes like those of a well-known exercise, made from a seed.

use clap::ValueEnum;

use super::kernel::Circle;

/// Circles on a background.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) circles: Vec<Circle>,
    pub(crate) background: [f32; 3],
}

/// The scenes' names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Name {
    /// Three large ones: red, green, blue
    Rgb,
    /// 10 000 anywhere
    Rand10k,
    /// 100 000 anywhere
    Rand100k,
    /// 1208 in staggered rows
    Pattern,
    /// 100 000 snowflakes, soft, the nearest last
    Snowsingle,
    /// 9 940 little ones and 60 big ones over them, which are faint
    Biglittle,
}

/// Numbers that look random: a counter, scrambled (Steele et al. 2014, "Fast splittable pseudorandom number generators").
struct Random(u64);

impl Random {
    /// In [0, 1).
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 40) as f32 / (1 << 24) as f32
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    fn color(&mut self) -> [f32; 3] {
        [0; 3].map(|_| self.unit())
    }
}

/// A circle, half transparent, in units of the image's size.
fn circle(x: f32, y: f32, radius: f32, color: [f32; 3]) -> Circle {
    Circle { x, y, radius, opacity: 0.5, color, softness: 0.0 }
}

/// A number of circles at random places.
fn anywhere(random: &mut Random, count: usize, radii: (f32, f32)) -> Vec<Circle> {
    let one = |r: &mut Random| circle(r.unit(), r.unit(), r.between(radii.0, radii.1), r.color());
    (0..count).map(|_| one(random)).collect()
}

fn rgb() -> Vec<Circle> {
    let place = |(i, (x, y)): (usize, (f32, f32))| {
        let mut color = [0.1; 3];
        color[i] = 1.0;
        circle(x, y, 0.3, color)
    };
    [(0.5, 0.38), (0.4, 0.58), (0.6, 0.58)].into_iter().enumerate().map(place).collect()
}

fn pattern() -> Vec<Circle> {
    const ROWS: u32 = 35;
    let row = |j: u32| {
        (0..ROWS - j % 2).map(move |i| {
            let [u, v] = [i as f32 + 0.5 + (j % 2) as f32 / 2.0, j as f32 + 0.5].map(|at| at / ROWS as f32);
            circle(u, v, 0.022, [u, 0.5 * (1.0 - u) + 0.3 * v, 1.0 - v])
        })
    };
    (0..ROWS).flat_map(row).collect()
}

/// The farther, the smaller, and the paler.
fn snow(random: &mut Random) -> Vec<Circle> {
    const COUNT: u32 = 100_000;
    let flake = |i: u32| {
        let near = i as f32 / COUNT as f32;
        let radius = (0.0015 + 0.012 * near.powi(20)) * random.between(0.7, 1.3);
        let white = 0.75 + 0.25 * near;
        let color = [white - 0.1, white - 0.04, white];
        let flake = circle(random.unit(), random.unit(), radius, color);
        Circle { opacity: 0.3 + 0.6 * near, softness: 1.0, ..flake }
    };
    (0..COUNT).map(flake).collect()
}

impl Scene {
    /// A scene of that name, for an image of such a size. The same every time.
    pub(crate) fn new(name: Name, width: u32, height: u32) -> Self {
        let mut random = Random(name as u64);
        let mut circles = match name {
            Name::Rgb => rgb(),
            Name::Rand10k => anywhere(&mut random, 10_000, (0.02, 0.08)),
            Name::Rand100k => anywhere(&mut random, 100_000, (0.02, 0.08)),
            Name::Pattern => pattern(),
            Name::Snowsingle => snow(&mut random),
            Name::Biglittle => {
                let little = anywhere(&mut random, 9_940, (0.004, 0.03));
                let big = anywhere(&mut random, 60, (0.1, 0.35)).into_iter();
                little.into_iter().chain(big.map(|c| Circle { opacity: 0.1, ..c })).collect()
            }
        };
        let (across, down) = (width as f32, height as f32);
        for circle in &mut circles {
            circle.x *= across;
            circle.y *= down;
            circle.radius *= across.min(down);
        }
        let background = if name == Name::Snowsingle { [0.02, 0.04, 0.1] } else { [1.0; 3] };
        Self { circles, background }
    }
}
