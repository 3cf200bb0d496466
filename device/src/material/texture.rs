//! Textures: images looked up by texture coordinates, squares, colours of vertices, and products and mixtures of others.

use core::f32::consts::LOG2_E;

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::program::{Height, run};
use super::{At, Surfaces};
use crate::arch::{floor, half, load, look, max, min, outlined, read_apart};
use crate::features::Features;
use crate::math::ln;

/// Index that stands for no texture.
pub const NO_TEXTURE: u32 = u32::MAX;

/// A texture, or a step on the way to one, 48 bytes: by its [`Op`], what the fields say here of an image, or a
/// [`super::program::Combination`].
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Texture {
    /// Takes (u, v, 1) to the unit square of the image: two rows. v = 0 is the top row of the image. Of squares: to squares
    /// with sides of 1.
    pub image_from_uv: [[f32; 3]; 2],
    /// Index of its first word in [`Surfaces::texels`]. Of a program: of its first step in [`Surfaces::textures`].
    pub first: u32,
    /// Width in texels, in 1 ..= 32767. Of a program: number of its steps.
    pub width: u32,
    /// Height in texels, in 1 ..= 32767.
    pub height: u32,
    /// [`Wrap`] of u in the lowest byte, of v in the next, [`Format`] in the third, and [`Channel`] in the last.
    pub kind: u32,
    /// [`Op`] in the lowest byte, [`Filter`] in the next, and in the third the number of smaller versions that follow the
    /// image, for [`Filter::Mipmap`].
    pub op: u32,
    /// Unused.
    pub reserved: u32,
}

const _: () = assert!(size_of::<Texture>() == 48);

/// Kind of texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Op {
    /// An image.
    Image,
    /// 0 in the squares in which u and v both have whole parts that are even, or both odd; 1 in the others.
    Squares,
    /// The colours at the vertices of the triangle, interpolated.
    VertexColor,
    /// The product of two colours.
    Product,
    /// Two colours by a weight.
    Mix,
    /// A program of several of the others, whose last step yields the result.
    Program,
}

/// How texels are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Filter {
    /// Four texels, interpolated.
    Linear,
    /// The nearest texel alone.
    Nearest,
    /// Four texels each of two smaller versions, interpolated.
    Mipmap,
}

/// Continuation of an image beyond its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u32)]
pub enum Wrap {
    /// The image again.
    #[default]
    Repeat,
    /// The image in a mirror.
    Mirror,
    /// Its outermost texels.
    Clamp,
}

/// How texels are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Format {
    /// Red, green, blue and alpha, a byte each from the lowest, as linear values of 255ths.
    Rgba8,
    /// As before, but red, green and blue encoded as sRGB.
    Srgb8,
    /// Three words: red, green and blue as f32.
    RgbF32,
    /// Two words: red, green, blue and alpha as halves, from the lowest. They are finite.
    RgbaF16,
}

/// Channels of a texel that a texture uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Channel {
    /// The colour.
    Rgb,
    /// Red, as a grey.
    R,
    /// Green, as a grey.
    G,
    /// Blue, as a grey.
    B,
    /// Alpha, as a grey; 1 if there is none.
    A,
}

impl Format {
    /// Words that a texel takes.
    pub const fn words(self) -> u32 {
        match self {
            Self::Rgba8 | Self::Srgb8 => 1,
            Self::RgbaF16 => 2,
            Self::RgbF32 => 3,
        }
    }
}

impl Texture {
    /// The word that [`Texture::kind`] is.
    pub const fn kind(wrap: [Wrap; 2], format: Format, channel: Channel) -> u32 {
        wrap[0] as u32 | (wrap[1] as u32) << 8 | (format as u32) << 16 | (channel as u32) << 24
    }

    /// Whether it is a mipmapped image.
    pub const fn has_mipmaps(&self) -> bool {
        self.is(Op::Image) && self.has_filter(Filter::Mipmap)
    }

    /// Features that it takes to be looked up, beside [`Features::TEXTURES`].
    pub const fn features(&self) -> Features {
        let is_made_of_others = self.is(Op::Product) || self.is(Op::Mix) || self.is(Op::Program);
        Features::MIPMAPS.when(self.has_mipmaps()).and(Features::PROGRAMS.when(is_made_of_others))
    }

    /// The word that [`Texture::op`] is of an image; `smaller` versions follow it.
    pub const fn image_op(filter: Filter, smaller: u32) -> u32 {
        Op::Image as u32 | (filter as u32) << 8 | smaller << 16
    }

    #[inline(always)]
    pub(super) const fn is(&self, op: Op) -> bool {
        self.op & 0xff == op as u32
    }

    #[inline(always)]
    const fn has_filter(&self, filter: Filter) -> bool {
        (self.op >> 8) & 0xff == filter as u32
    }

    const fn has_format(&self, format: Format) -> bool {
        (self.kind >> 16) & 0xff == format as u32
    }

    /// The position in the unit square of the image, or among squares. `uv` is where it has just been written.
    #[inline(always)]
    pub(super) fn place(&self, uv: &Vec2) -> Vec2 {
        let [u, v] = self.image_from_uv;
        let (x, y) = (read_apart(&uv.x), read_apart(&uv.y));
        Vec2::new(u[0] * x + u[1] * y + u[2], v[0] * x + v[1] * y + v[2])
    }

    /// The position in texels from the corner of the image, before wrapping.
    #[inline(always)]
    fn position(&self, uv: &Vec2) -> Vec2 {
        self.place(uv) * Vec2::new(self.width as f32, self.height as f32)
    }

    /// A texel by column and row.
    ///
    /// # Safety
    /// The texture is one of a valid `scene`, and column and row are within it.
    #[inline(always)]
    unsafe fn texel(&self, scene: &Surfaces, x: u32, y: u32) -> Vec3 {
        let index = (y * self.width + x) as usize;
        // SAFETY: column and row are within the image, whose texels are there.
        unsafe {
            let first = scene.texels.add(self.first as usize);
            if self.has_format(Format::RgbF32) {
                let rgb = first.add(3 * index).cast::<f32>();
                return self.channel([load(rgb), load(rgb.add(1)), load(rgb.add(2)), 1.0]);
            }
            if self.has_format(Format::RgbaF16) {
                let [rg, ba] = [load(first.add(2 * index)), load(first.add(2 * index + 1))];
                return self.channel([half(rg), half(rg >> 16), half(ba), half(ba >> 16)]);
            }
            let [r, g, b, a] = load(first.add(index)).to_le_bytes();
            self.channel(if self.has_format(Format::Srgb8) {
                [from_srgb(r), from_srgb(g), from_srgb(b), part(a)]
            } else {
                [part(r), part(g), part(b), part(a)]
            })
        }
    }

    /// The channels of a texel that this texture uses.
    #[inline(always)]
    pub(super) fn channel(&self, [r, g, b, a]: [f32; 4]) -> Vec3 {
        match self.kind >> 24 {
            1 => Vec3::splat(r),
            2 => Vec3::splat(g),
            3 => Vec3::splat(b),
            4 => Vec3::splat(a),
            _ => Vec3::new(r, g, b),
        }
    }

    /// Words of the image.
    #[inline(always)]
    const fn words(&self) -> u32 {
        let per_texel = match (self.kind >> 16) & 0xff {
            2 => Format::RgbF32.words(),
            3 => Format::RgbaF16.words(),
            _ => 1,
        };
        self.width * self.height * per_texel
    }

    /// The image, or as much smaller a version of it.
    #[inline(always)]
    fn version(&self, smaller: u32) -> Self {
        let mut version = *self;
        for _ in 0..smaller {
            version.first += version.words();
            version.width = smaller_side(version.width);
            version.height = smaller_side(version.height);
        }
        version
    }

    /// Number of times that the image should be halved for a texel to be as large as the footprint, by area: λ of
    /// Akenine-Möller et al. 2019, eq. 20.2 and 20.6.
    #[inline(always)]
    fn level(&self, footprint: f32) -> f32 {
        let [u, v] = self.image_from_uv;
        let area = (u[0] * v[1] - u[1] * v[0]).abs() * (self.width as f32 * self.height as f32);
        let texels = footprint * footprint * area;
        if texels > 1.0 { min(0.5 * LOG2_E * ln(texels), ((self.op >> 16) & 0xff) as f32) } else { 0.0 }
    }

    /// The colour of the image.
    ///
    /// # Safety
    /// It is an image of the scene of `at`.
    #[inline(always)]
    pub(super) unsafe fn color(&self, at: &At<'_>) -> Vec3 {
        // SAFETY: as the caller promised.
        unsafe {
            if self.has_filter(Filter::Nearest) {
                let ([x, _], [y, _], _) = self.around(self.position(&at.uv) + 0.5);
                return self.texel(at.scene, x, y);
            }
            if Features::may_be_asked_for(Features::MIPMAPS) && self.has_filter(Filter::Mipmap) {
                return self.between_versions(at);
            }
            self.interpolated(at)
        }
    }

    /// Four texels each of the two versions of the image whose texels are next in size to the footprint.
    ///
    /// # Safety
    /// As [`Texture::color`].
    #[inline(never)]
    unsafe fn between_versions(&self, at: &At<'_>) -> Vec3 {
        let level = self.level(at.footprint);
        // SAFETY: it is at least 0 and at most the number of smaller versions.
        let whole = unsafe { level.to_int_unchecked::<u32>() };
        let (fine, rest) = (self.version(whole), level - whole as f32);
        // SAFETY: as the caller promised.
        let color = unsafe { fine.interpolated(at) };
        if rest == 0.0 {
            return color;
        }
        // SAFETY: the level is below the last.
        color + (unsafe { fine.version(1).interpolated(at) } - color) * rest
    }

    /// Columns and rows of the four texels around a position in texels, and how far it is from the centre of the first to
    /// those of the others. Positions far outside, or that are no numbers, are kept where texels can be counted.
    #[inline(always)]
    fn around(&self, position: Vec2) -> ([u32; 2], [u32; 2], Vec2) {
        const FAR: f32 = 1e9;
        let within = |x: f32| min(max(x, -FAR), FAR);
        let p = Vec2::new(within(position.x), within(position.y)) - 0.5;
        // SAFETY: both are within ±10⁹.
        let [x, y] = unsafe { [floor(p.x), floor(p.y)] };
        let columns = wrapped(self.kind & 0xff, x, self.width);
        (columns, wrapped((self.kind >> 8) & 0xff, y, self.height), p - Vec2::new(x as f32, y as f32))
    }

    /// The four texels around a point, interpolated.
    ///
    /// # Safety
    /// As [`Texture::color`].
    #[inline(always)]
    unsafe fn interpolated(&self, at: &At<'_>) -> Vec3 {
        let ([x0, x1], [y0, y1], f) = self.around(self.position(&at.uv));
        // SAFETY: as the caller promised; columns and rows are wrapped.
        unsafe {
            let [t00, t10] = [self.texel(at.scene, x0, y0), self.texel(at.scene, x1, y0)];
            let [t01, t11] = [self.texel(at.scene, x0, y1), self.texel(at.scene, x1, y1)];
            let (top, bottom) = (t00 + (t10 - t00) * f.x, t01 + (t11 - t01) * f.x);
            top + (bottom - top) * f.y
        }
    }

    /// The first channel h of the image, whatever its filter, and (∂h/∂u, ∂h/∂v).
    ///
    /// # Safety
    /// As [`Texture::color`].
    #[inline(always)]
    pub(super) unsafe fn height(&self, at: &At<'_>) -> Vec3 {
        let ([x0, x1], [y0, y1], f) = self.around(self.position(&at.uv));
        // SAFETY: as the caller promised; columns and rows are wrapped.
        let (t00, t10, t01, t11) = unsafe {
            let texel = |x, y| self.texel(at.scene, x, y).x;
            (texel(x0, y0), texel(x1, y0), texel(x0, y1), texel(x1, y1))
        };
        let dx = (t10 - t00) * (1.0 - f.y) + (t11 - t01) * f.y;
        let dy = (t01 - t00) * (1.0 - f.x) + (t11 - t10) * f.x;
        let (top, bottom) = (t00 + (t10 - t00) * f.x, t01 + (t11 - t01) * f.x);
        let (dx, dy) = (dx * self.width as f32, dy * self.height as f32);
        let [u, v] = self.image_from_uv;
        Vec3::new(top + (bottom - top) * f.y, dx * u[0] + dy * v[0], dx * u[1] + dy * v[1])
    }
}

/// The width or height of the next smaller version.
#[inline(always)]
pub const fn smaller_side(n: u32) -> u32 {
    if n > 1 { n / 2 } else { 1 }
}

/// A byte as a part of 255.
#[inline(always)]
fn part(byte: u8) -> f32 {
    f32::from(byte) * (1.0 / 255.0)
}

/// The linear value of a byte.
#[inline(always)]
fn from_srgb(byte: u8) -> f32 {
    // SAFETY: the table is there, and has an entry for every byte.
    unsafe { load(&raw const SRGB_TO_LINEAR[byte as usize]) }
}

/// The indices in 0 .. `n` that stand for `i` and `i` + 1 by a [`Wrap`]. One division for both, which takes the longest.
#[inline(always)]
fn wrapped(kind: u32, i: i32, n: u32) -> [u32; 2] {
    let n = max_i(n as i32, 1);
    if kind == Wrap::Clamp as u32 {
        return [i, i + 1].map(|i| min_i(max_i(i, 0), n - 1) as u32);
    }
    let period = if kind == Wrap::Mirror as u32 { 2 * n } else { n };
    let first = i.wrapping_rem_euclid(period);
    let next = if first + 1 == period { 0 } else { first + 1 };
    // Beyond the image are its mirror images, if anything.
    [first, next].map(|i| if i < n { i } else { period - 1 - i } as u32)
}

#[inline(always)]
const fn max_i(a: i32, b: i32) -> i32 {
    if a > b { a } else { b }
}

#[inline(always)]
const fn min_i(a: i32, b: i32) -> i32 {
    if a < b { a } else { b }
}

/// The texture's colour.
///
/// # Safety
/// The scene of `at` is valid and has the texture.
#[inline(always)]
pub unsafe fn lookup(at: &At<'_>, texture: u32) -> Vec3 {
    // A copy, so that only this one is in memory.
    let at = *at;
    // SAFETY: as the caller promised.
    outlined(move || unsafe {
        let texture = look(at.scene.textures.add(texture as usize));
        if texture.is(Op::Image) { texture.color(&at) } else { run::<Vec3>(&at, &texture) }
    })
}

/// (∂h/∂u, ∂h/∂v) of the first channel h, of images interpolated whatever their filter.
///
/// # Safety
/// As [`lookup`].
#[inline(always)]
pub(super) unsafe fn gradient(at: &At<'_>, texture: u32) -> Vec2 {
    // A copy, so that only this one is in memory.
    let at = *at;
    outlined(move || {
        // SAFETY: as the caller promised.
        let Height(h) = unsafe {
            let texture = look(at.scene.textures.add(texture as usize));
            run::<Height>(&at, &texture)
        };
        Vec2::new(h.y, h.z)
    })
}

/// Linear value of an sRGB byte (IEC 61966-2-1).
pub static SRGB_TO_LINEAR: [f32; 256] = {
    let mut table = [0.0; 256];
    let mut i = 0;
    while i < 256 {
        let c = i as f64 / 255.0;
        table[i] = if c <= 0.04045 { c / 12.92 } else { to_the_12_fifths((c + 0.055) / 1.055) } as f32;
        i += 1;
    }
    table
};

/// x^2.4 for x in (0, 1], at compile time: x² times the square of the fifth root, by Newton's method.
const fn to_the_12_fifths(x: f64) -> f64 {
    let mut root = 1.0;
    let mut i = 0;
    while i < 60 {
        let fourth = root * root * root * root;
        root = (4.0 * root + x / fourth) / 5.0;
        i += 1;
    }
    x * x * root * root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_is_decoded_to_half_an_ulp_or_so() {
        for (i, found) in SRGB_TO_LINEAR.iter().enumerate() {
            let c = i as f64 / 255.0;
            let expected = if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
            assert!((f64::from(*found) - expected).abs() <= 1e-7 * expected, "{i}: {found}, not {expected}");
        }
    }

    #[test]
    fn indices_wrap() {
        for (kind, expected) in [
            (Wrap::Repeat, [3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]),
            (Wrap::Mirror, [3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0]),
            (Wrap::Clamp, [0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3]),
        ] {
            for (i, pair) in (-5..).zip(expected.windows(2)) {
                assert_eq!(wrapped(kind as u32, i, 4), pair, "{kind:?} of {i}");
            }
        }
        // A single texel is its own neighbour.
        assert!(
            [Wrap::Repeat, Wrap::Mirror, Wrap::Clamp]
                .iter()
                .all(|&kind| wrapped(kind as u32, 7, 1) == [0, 0])
        );
    }
}
