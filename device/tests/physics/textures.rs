//! Texture lookups against bilinear interpolation in f64, and texture coordinates of spheres against what they mean.

mod coordinates;

use device::features::Full;
use device::material::texture::{Channel, Filter, Format, Texture, Wrap};
use device::material::{At, Color, Scalar};
use device::scene::SceneView;
use glam::{Vec2, Vec3};

use crate::common::vector::{DVec3, wide};
use crate::common::{Random, empty_scene};

const WRAPS: [Wrap; 3] = [Wrap::Repeat, Wrap::Mirror, Wrap::Clamp];
const FORMATS: [Format; 4] = [Format::Rgba8, Format::Srgb8, Format::RgbF32, Format::RgbaF16];
const CHANNELS: [Channel; 5] = [Channel::Rgb, Channel::R, Channel::G, Channel::B, Channel::A];

/// Source of a texture.
#[derive(Clone, Debug)]
struct Picture {
    size: [u32; 2],
    format: Format,
    wrap: [Wrap; 2],
    channel: Channel,
    nearest: bool,
    image_from_uv: [[f32; 3]; 2],
    words: Vec<u32>,
}

const AS_IT_IS: [[f32; 3]; 2] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

/// Words around the texels, which no lookup may meet: NaN as floats, and all 255 as bytes.
const GUARD: u32 = u32::MAX;
const GUARDS: usize = 64;

impl Picture {
    /// Texels, placement and all else by chance.
    fn random(random: &mut Random) -> Self {
        let mut below = |n: u32| (random.bits() % u64::from(n)) as u32;
        let size = [1 + below(9), 1 + below(7)];
        let format = FORMATS[below(4) as usize];
        let wrap = [(); 2].map(|()| WRAPS[below(3) as usize]);
        let (channel, nearest) = (CHANNELS[below(5) as usize], below(3) == 0);
        let n = (size[0] * size[1]) as usize * format.words() as usize;
        let word = |_| match format {
            Format::RgbF32 => random.f32().to_bits(),
            // Signs and exponents by chance, up to 2: subnormal ones too.
            Format::RgbaF16 => random.bits() as u32 & 0xbfff_bfff,
            Format::Rgba8 | Format::Srgb8 => random.bits() as u32,
        };
        let words = (0..n).map(word).collect();
        let image_from_uv = [(); 2].map(|()| [(); 3].map(|()| random.within(-3.0, 3.0) as f32));
        Self { size, format, wrap, channel, nearest, image_from_uv, words }
    }

    /// Lays the texels out between guards, and has `look` look at a scene with the texture, number 0.
    fn with<T>(&self, look: impl FnOnce(&SceneView) -> T) -> T {
        let mut texels = vec![GUARD; GUARDS];
        texels.extend(&self.words);
        texels.extend([GUARD; GUARDS]);
        let texture = Texture {
            image_from_uv: self.image_from_uv,
            first: GUARDS as u32,
            width: self.size[0],
            height: self.size[1],
            kind: Texture::kind(self.wrap, self.format, self.channel),
            op: Texture::image_op(if self.nearest { Filter::Nearest } else { Filter::Linear }, 0),
            reserved: 0,
        };
        let mut scene = empty_scene();
        (scene.textures, scene.texels) = (&raw const texture, texels.as_ptr());
        look(&scene)
    }

    /// The selected channels of the texel in a column and row of the image.
    fn texel(&self, column: u32, row: u32) -> DVec3 {
        let i = (row * self.size[0] + column) as usize;
        let [r, g, b, a] = match self.format {
            Format::RgbF32 => {
                let [r, g, b] = [0, 1, 2].map(|c| f64::from(f32::from_bits(self.words[3 * i + c])));
                [r, g, b, 1.0]
            }
            Format::RgbaF16 => [0, 16, 32, 48].map(|bit| {
                let half = self.words[2 * i + bit / 32] >> (bit % 32);
                let (exponent, fraction) = ((half >> 10 & 31) as i32, f64::from(half & 1023) / 1024.0);
                let magnitude = match exponent {
                    0 => fraction * 2.0_f64.powi(-14),
                    _ => (1.0 + fraction) * 2.0_f64.powi(exponent - 15),
                };
                if half & 0x8000 == 0 { magnitude } else { -magnitude }
            }),
            Format::Rgba8 => self.words[i].to_le_bytes().map(|x| f64::from(x) / 255.0),
            Format::Srgb8 => {
                let [r, g, b, a] = self.words[i].to_le_bytes().map(|x| f64::from(x) / 255.0);
                let linear = |c: f64| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
                [linear(r), linear(g), linear(b), a]
            }
        };
        match self.channel {
            Channel::Rgb => DVec3::new(r, g, b),
            Channel::R => DVec3::new(r, r, r),
            Channel::G => DVec3::new(g, g, g),
            Channel::B => DVec3::new(b, b, b),
            Channel::A => DVec3::new(a, a, a),
        }
    }

    /// Where (u, v) is, in texels from the upper left corner.
    fn position(&self, uv: Vec2) -> [f64; 2] {
        let row = |i: usize| {
            let m = self.image_from_uv[i].map(f64::from);
            (m[0] * f64::from(uv.x) + m[1] * f64::from(uv.y) + m[2]) * f64::from(self.size[i])
        };
        [row(0), row(1)]
    }

    /// The picture's value at a position: of the texel that it is in, or a mean of those whose centres are within one texel,
    /// weighted by tents. The plane is full of pictures, each the one before it again, or mirrored; or its edge goes on.
    fn value(&self, [x, y]: [f64; 2]) -> DVec3 {
        let at = |column: f64, row: f64| {
            let [c, r] = [(column, 0), (row, 1)].map(|(i, axis)| {
                let n = f64::from(self.size[axis]);
                let tile = (i / n).floor();
                let within = i - tile * n;
                let index = match self.wrap[axis] {
                    Wrap::Repeat => within,
                    Wrap::Mirror if tile.rem_euclid(2.0) == 0.0 => within,
                    Wrap::Mirror => n - 1.0 - within,
                    Wrap::Clamp => i.clamp(0.0, n - 1.0),
                };
                index as u32
            });
            self.texel(c, r)
        };
        if self.nearest {
            return at(x.floor(), y.floor());
        }
        let mut sum = DVec3::ZERO;
        for row in [-1.0, 0.0, 1.0].map(|d| y.floor() + d) {
            for column in [-1.0, 0.0, 1.0].map(|d| x.floor() + d) {
                let tent = |centre: f64, at: f64| (1.0 - (centre + 0.5 - at).abs()).max(0.0);
                sum = sum + tent(column, x) * tent(row, y) * at(column, row);
            }
        }
        sum
    }
}

fn lookup(scene: &SceneView, uv: Vec2) -> Vec3 {
    let at = At::new(scene, uv);
    Color { value: Vec3::ONE, texture: 0 }.at::<Full>(&at)
}

/// Largest difference between lookups and `expected`, over pictures and places by chance.
fn error(expected: impl Fn(&Picture, Vec2) -> DVec3) -> f64 {
    let (mut random, mut worst) = (Random::new(1), 0.0_f64);
    for _ in 0..3000 {
        let picture = Picture::random(&mut random);
        for _ in 0..30 {
            let uv = 8.0 * random.vec2() - 4.0;
            let near_an_edge = |x: &f64| (x - x.round()).abs() < 1e-3;
            if picture.nearest && picture.position(uv).iter().any(near_an_edge) {
                continue; // Rounding decides which texel it is.
            }
            let found = picture.with(|scene| lookup(scene, uv));
            worst = worst.max((wide(found) - expected(&picture, uv)).length());
        }
    }
    worst
}

#[test]
fn lookups_interpolate_texels() {
    let worst = error(|picture, uv| picture.value(picture.position(uv)));
    println!("off by {worst:e}");
    assert!(worst < 1e-4, "off by {worst}");
}

#[test]
fn control_other_lookups_are_rejected() {
    let moved = |x: f64, y: f64| {
        error(move |picture, uv| {
            let [s, t] = picture.position(uv);
            picture.value([s + x, t + y])
        })
    };
    assert!(
        moved(0.002, 0.0) > 1e-3 && moved(0.0, 0.002) > 1e-3,
        "a place off by two thousandths of a texel"
    );
    let with = |change: fn(&mut Picture)| {
        error(|picture, uv| {
            let mut picture = picture.clone();
            change(&mut picture);
            picture.value(picture.position(uv))
        })
    };
    assert!(with(|p| p.nearest = !p.nearest) > 0.1);
    assert!(with(|p| p.wrap.swap(0, 1)) > 0.1);
    assert!(with(|p| p.image_from_uv[1] = p.image_from_uv[1].map(|x| -x)) > 0.1, "upside down");
    assert!(
        with(|p| if p.format == Format::Srgb8 {
            p.format = Format::Rgba8
        }) > 0.1
    );
    assert!(
        with(|p| if p.channel == Channel::G {
            p.channel = Channel::B
        }) > 0.1
    );
}

/// Of an image with a black texel at the left and a white one at the right, and one with a black row above a white one.
#[test]
fn the_first_texel_is_at_the_upper_left() {
    let picture = |size, nearest| Picture {
        size,
        format: Format::Rgba8,
        wrap: [Wrap::Clamp; 2],
        channel: Channel::Rgb,
        nearest,
        image_from_uv: AS_IT_IS,
        words: vec![0xff00_0000, 0xffff_ffff],
    };
    let along = |nearest| {
        [0.0, 0.25, 0.5 - 1e-3, 0.5 + 1e-3, 0.625, 0.75, 1.0].map(|x| {
            let across = picture([2, 1], nearest).with(|scene| lookup(scene, Vec2::new(x, 0.3)));
            let down = picture([1, 2], nearest).with(|scene| lookup(scene, Vec2::new(0.3, x)));
            assert!(across == down && across == Vec3::splat(across.x), "{across} {down}");
            across.x
        })
    };
    assert_eq!(along(true), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    let smooth = along(false);
    for (found, expected) in smooth.iter().zip([0.0, 0.0, 0.498, 0.502, 0.75, 1.0, 1.0]) {
        assert!((found - expected).abs() < 1e-6, "{smooth:?}");
    }
}

#[test]
fn textures_are_scaled_by_what_they_stand_for() {
    let picture = Picture {
        size: [1, 1],
        format: Format::Rgba8,
        wrap: [Wrap::Repeat; 2],
        channel: Channel::Rgb,
        nearest: false,
        image_from_uv: AS_IT_IS,
        words: vec![0xff00_66ff],
    };
    picture.with(|scene| {
        let at = At::new(scene, Vec2::splat(0.7));
        let color = Color { value: Vec3::new(0.5, 0.25, 1.0), texture: 0 }.at::<Full>(&at);
        assert!((color - Vec3::new(0.5, 0.1, 0.0)).length() < 1e-7, "{color}");
        assert_eq!(Scalar { value: 0.75, texture: 0 }.at::<Full>(&at), 0.75);
    });
}

/// Coordinates that are huge, or no numbers at all, meet texels of the image and no others, between which nothing is to
/// be interpolated here.
#[test]
fn no_lookup_leaves_the_image() {
    let ends = [0.0, 1e-30, 0.5, 1.0 - f32::EPSILON, 1.0, 7.3, 1e4, 1e9, 3e9, 1e20, f32::MAX, f32::INFINITY];
    let ends: Vec<_> = ends.into_iter().flat_map(|x| [x, -x]).chain([f32::NAN]).collect();
    let all_wraps = WRAPS.iter().flat_map(|&u| WRAPS.map(|v| [u, v]));
    for (wrap, format) in all_wraps.flat_map(|wrap| FORMATS.map(|format| (wrap, format))) {
        for size in [[1, 1], [1, 5], [7, 1], [4, 3]] {
            for (nearest, scale) in [(false, 1.0), (true, 1.0), (false, 1e6), (true, -1e6)] {
                let (word, expected) = match format {
                    Format::RgbF32 => (0.3_f32.to_bits(), 0.3),
                    Format::RgbaF16 => (0x3400_3400, 0.25),
                    Format::Rgba8 => (0x3333_3333, 0.2),
                    Format::Srgb8 => (0, 0.0),
                };
                let n = (size[0] * size[1]) as usize * format.words() as usize;
                let image_from_uv = [[scale, 0.0, 0.0], [0.0, scale, 0.0]];
                let (channel, words) = (Channel::Rgb, vec![word; n]);
                let picture = Picture { size, format, wrap, channel, nearest, image_from_uv, words };
                picture.with(|scene| {
                    for uv in ends.iter().flat_map(|&u| ends.iter().map(move |&v| Vec2::new(u, v))) {
                        let found = lookup(scene, uv);
                        assert!(
                            (found - expected).abs().max_element() < 1e-6,
                            "{found} at {uv} of {picture:?}"
                        );
                    }
                });
            }
        }
    }
}
