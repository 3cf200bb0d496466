//! Textures as described.

use std::path::Path;
use std::sync::Arc;

pub use device::material::texture::{Channel, Format, Wrap};
use device::material::texture::{NO_TEXTURE, SRGB_TO_LINEAR};
use glam::Affine2;
use half::f16;

use super::{Color, Scalar};

/// A pattern over a surface.
#[derive(Debug, Clone, PartialEq)]
pub enum Texture {
    /// An image.
    Bitmap(Bitmap),
    /// Squares of two colours. The squares in which u and v, after `squares_from_uv`, both have whole parts that are
    /// even, or both odd, have the first.
    Checker {
        /// Takes texture coordinates to squares with sides of 1: twice the `to_uv` of Mitsuba's `checkerboard`.
        squares_from_uv: Affine2,
        /// The two colours.
        colors: [Color; 2],
    },
    /// `(1 − weight)·colors[0] + weight·colors[1]`.
    Mix {
        /// The two colours.
        colors: [Color; 2],
        /// Weight of the second, in [0, 1].
        weight: Scalar,
    },
    /// The product of two colours.
    Product([Color; 2]),
    /// The vertex colours of a mesh, interpolated; white for meshes without.
    VertexColor {
        /// The channel that counts.
        channel: Channel,
    },
}

impl Texture {
    /// Its type in scene files.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Bitmap(_) => "bitmap",
            Self::Checker { .. } => "checker",
            Self::Mix { .. } => "mix",
            Self::Product(_) => "product",
            Self::VertexColor { .. } => "vertex_color",
        }
    }

    /// The bitmap, if it is one.
    pub fn bitmap_mut(&mut self) -> Option<&mut Bitmap> {
        if let Self::Bitmap(bitmap) = self { Some(bitmap) } else { None }
    }

    /// Whether it is placed by texture coordinates.
    pub(crate) const fn is_by_uvs(&self) -> bool {
        matches!(self, Self::Bitmap(_) | Self::Checker { .. })
    }

    /// Whether it is the colours at vertices.
    pub(crate) const fn is_by_vertices(&self) -> bool {
        matches!(self, Self::VertexColor { .. })
    }

    /// Indices of the textures that it is made of.
    pub fn references(&self) -> impl Iterator<Item = usize> + use<> {
        let indices = match self {
            Self::Checker { colors, .. } => [colors[0].texture, colors[1].texture, NO_TEXTURE],
            Self::Mix { colors, weight } => [colors[0].texture, colors[1].texture, weight.texture],
            Self::Product(colors) => [colors[0].texture, colors[1].texture, NO_TEXTURE],
            Self::Bitmap(_) | Self::VertexColor { .. } => [NO_TEXTURE; 3],
        };
        indices.into_iter().filter(|i| *i != NO_TEXTURE).map(|i| i as usize)
    }
}

/// Whether a texture, or one that it is made of, is of some kind.
pub(crate) fn has(texture: u32, textures: &[Texture], is: fn(&Texture) -> bool) -> bool {
    textures
        .get(texture as usize)
        .is_some_and(|t| is(t) || t.references().any(|i| has(i as u32, textures, is)))
}

/// How texels are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TexelFilter {
    /// The nearest texel alone.
    Nearest,
    /// Four texels, interpolated.
    #[default]
    Linear,
    /// Eight texels of two smaller versions of the image, chosen by how much of it a ray sees.
    Mipmap,
}

/// An image, how it lies on a surface, and what of it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Bitmap {
    /// Index into [`super::Description::images`].
    pub image: usize,
    /// From texture coordinates to the unit square of the image, v = 0 at the top.
    pub image_from_uv: Affine2,
    /// Continuation beyond the edges in u and v.
    pub wrap: [Wrap; 2],
    /// The channel of texels that counts.
    pub channel: Channel,
    /// How texels are looked up.
    pub filter: TexelFilter,
}

impl Bitmap {
    /// All of an image, once over the unit square, and repeated.
    pub const fn new(image: usize) -> Self {
        Self {
            image,
            image_from_uv: Affine2::IDENTITY,
            wrap: [Wrap::Repeat; 2],
            channel: Channel::Rgb,
            filter: TexelFilter::Linear,
        }
    }
}

/// Texels, row by row from the top.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Width, texels.
    pub width: u32,
    /// Height, texels.
    pub height: u32,
    /// How they are stored.
    pub format: Format,
    /// The texels, packed as `format` describes.
    pub texels: Arc<[u32]>,
    /// The file that it was read from, if it is one.
    pub file: Option<Arc<Path>>,
}

impl Image {
    /// An image that does not come from a file.
    pub const fn new(width: u32, height: u32, format: Format, texels: Arc<[u32]>) -> Self {
        Self { width, height, format, texels, file: None }
    }

    /// Texel `i`, row by row from the top: linear red, green and blue, and alpha, which is 1 in formats without alpha.
    ///
    /// # Panics
    /// If `i` is out of range.
    pub fn texel(&self, i: usize) -> [f32; 4] {
        let part = |byte: u8| f32::from(byte) / 255.0;
        let linear = |byte: u8| SRGB_TO_LINEAR[usize::from(byte)];
        match self.format {
            Format::Rgba8 => self.texels[i].to_le_bytes().map(part),
            Format::Srgb8 => {
                let [r, g, b, a] = self.texels[i].to_le_bytes();
                [linear(r), linear(g), linear(b), part(a)]
            }
            Format::RgbF32 => {
                let [r, g, b] = [0, 1, 2].map(|c| f32::from_bits(self.texels[3 * i + c]));
                [r, g, b, 1.0]
            }
            Format::RgbaF16 => {
                let words = [self.texels[2 * i], self.texels[2 * i + 1]];
                [words[0], words[0] >> 16, words[1], words[1] >> 16]
                    .map(|x| f16::from_bits(x as u16).to_f32())
            }
        }
    }

    /// The channel of its texels to read for `channel`. An image that was read for its alpha into a format without alpha
    /// has it in the other channels.
    pub(crate) fn channel_for(&self, channel: Channel) -> Channel {
        match channel {
            Channel::A if self.format == Format::RgbF32 => Channel::R,
            other => other,
        }
    }
}

/// Most textures that one is made of, itself and repetitions included.
pub const MAX_TEXTURE_STEPS: usize = 256;

/// Of how many textures each is made, itself and repetitions included.
///
/// # Errors
/// The index of one that is made of more than [`MAX_TEXTURE_STEPS`], or of itself.
pub fn texture_steps(textures: &[Texture]) -> Result<Vec<usize>, usize> {
    let mut steps = vec![None; textures.len()];
    for _ in 0..=MAX_TEXTURE_STEPS {
        for (i, texture) in textures.iter().enumerate() {
            let sum = texture.references().try_fold(1, |sum: usize, i| Some(sum + steps[i]?));
            if sum.is_some_and(|sum| sum > MAX_TEXTURE_STEPS) {
                return Err(i);
            }
            steps[i] = sum;
        }
    }
    steps.iter().enumerate().map(|(i, steps)| steps.ok_or(i)).collect()
}

/// A texel of [`Format::RgbaF16`].
pub fn half_words(rgba: [f32; 4]) -> [u32; 2] {
    let [r, g, b, a] = rgba.map(|x| u32::from(f16::from_f32(x).to_bits()));
    [r | g << 16, b | a << 16]
}
