//! Textures and images to records of the device.

use std::ops::Range;

use device::material::program::{Combination, STACK};
use device::material::texture::{Filter, NO_TEXTURE, Op, Texture as DeviceTexture, smaller_side};
use glam::{Affine2, Vec3};
use rayon::prelude::*;
use torrance_image::film::develop::srgb_encode;
use torrance_scene::{
    Bitmap, Channel, Color, Format, Image, Scalar, TexelFilter, Texture, Wrap, half_words, texture_steps,
};

use super::Error;

/// The records of all textures, then the steps of those that are programs; and the texels.
pub(super) fn records(
    images: &[Image],
    textures: &[Texture],
) -> Result<(Vec<DeviceTexture>, Vec<u32>), Error> {
    texture_steps(textures).map_err(Error::TextureTooComplex)?;
    let (texels, placed) = texels(images, textures)?;
    let records = Records { images, placed: &placed, textures };
    let mut heads = Vec::with_capacity(textures.len());
    let mut steps = Vec::new();
    for (i, texture) in textures.iter().enumerate() {
        heads.push(records.leaf(texture).unwrap_or_else(|| {
            let first = textures.len() + steps.len();
            let depth = records.push_steps(i, &mut steps);
            debug_assert!(depth <= STACK, "no program is long enough to need more");
            let len = textures.len() + steps.len() - first;
            program(first..first + len)
        }));
    }
    heads.append(&mut steps);
    Ok((heads, texels))
}

/// Position of an image among the texels, and the number of smaller versions that follow it.
#[derive(Debug, Clone, Copy)]
struct TexelPlace {
    first: u32,
    smaller: u32,
}

/// The texels of the images that textures look up, and of smaller versions of those that are looked up so.
fn texels(images: &[Image], textures: &[Texture]) -> Result<(Vec<u32>, Vec<TexelPlace>), Error> {
    let (mut is_used, mut with_versions) = (vec![false; images.len()], vec![false; images.len()]);
    for texture in textures {
        if let Texture::Bitmap(Bitmap { image, filter, .. }) = texture {
            is_used[*image] = true;
            with_versions[*image] |= *filter == TexelFilter::Mipmap;
        }
    }
    let (mut texels, mut placed) = (Vec::new(), Vec::with_capacity(images.len()));
    for ((image, is_used), with_versions) in images.iter().zip(is_used).zip(with_versions) {
        let first = texels.len() as u32;
        // That of an environment has a place of its own.
        if is_used {
            texels.extend_from_slice(&image.texels);
        }
        let smaller = if with_versions { push_smaller(image, &mut texels) } else { 0 };
        if u32::try_from(texels.len()).is_err() {
            return Err(Error::TooManyTexels(texels.len()));
        }
        placed.push(TexelPlace { first, smaller });
    }
    Ok((texels, placed))
}

struct Records<'a> {
    images: &'a [Image],
    placed: &'a [TexelPlace],
    textures: &'a [Texture],
}

impl Records<'_> {
    /// The record of a texture that is made of no others.
    fn leaf(&self, texture: &Texture) -> Option<DeviceTexture> {
        match texture {
            Texture::Bitmap(bitmap) => Some(self.bitmap(bitmap)),
            Texture::VertexColor { channel } => {
                Some(DeviceTexture { kind: kind(*channel), ..record(Op::VertexColor, &Affine2::IDENTITY) })
            }
            Texture::Checker { .. } | Texture::Mix { .. } | Texture::Product(_) => None,
        }
    }

    fn bitmap(&self, bitmap: &Bitmap) -> DeviceTexture {
        let (image, placed) = (&self.images[bitmap.image], self.placed[bitmap.image]);
        let filter = match bitmap.filter {
            TexelFilter::Linear => Filter::Linear,
            TexelFilter::Nearest => Filter::Nearest,
            TexelFilter::Mipmap => Filter::Mipmap,
        };
        DeviceTexture {
            first: placed.first,
            width: image.width,
            height: image.height,
            kind: DeviceTexture::kind(bitmap.wrap, image.format, bitmap.channel),
            op: DeviceTexture::image_op(filter, placed.smaller),
            ..record(Op::Image, &bitmap.image_from_uv)
        }
    }

    /// Appends the steps that leave a texture on the stack; yields how deep that gets.
    fn push_steps(&self, texture: usize, steps: &mut Vec<DeviceTexture>) -> usize {
        let texture = &self.textures[texture];
        if let Some(leaf) = self.leaf(texture) {
            steps.push(leaf);
            return 1;
        }
        match texture {
            Texture::Checker { squares_from_uv, colors } => {
                // A mixture of which the squares are the weight.
                let squares = record(Op::Squares, squares_from_uv);
                let weight = Operand { factor: Vec3::ONE, source: Some(Source::Step(squares)) };
                self.push_combination(Op::Mix, colors, weight, steps)
            }
            Texture::Mix { colors, weight } => {
                self.push_combination(Op::Mix, colors, Operand::number(weight), steps)
            }
            Texture::Product(colors) => {
                self.push_combination(Op::Product, colors, Operand::number(&Scalar::new(0.0)), steps)
            }
            Texture::Bitmap(_) | Texture::VertexColor { .. } => 1,
        }
    }

    /// Appends what leaves the product or mixture on the stack: first those operands that need most of it themselves, as
    /// Sethi & Ullman 1970, "The Generation of Optimal Code for Arithmetic Expressions".
    fn push_combination(
        &self,
        op: Op,
        colors: &[Color; 2],
        weight: Operand,
        steps: &mut Vec<DeviceTexture>,
    ) -> usize {
        let operands = [Operand::color(&colors[0]), Operand::color(&colors[1]), weight];
        let mut programs: Vec<_> = operands
            .iter()
            .enumerate()
            .filter_map(|(k, operand)| {
                let mut own = Vec::new();
                let depth = match operand.source? {
                    Source::Texture(i) => self.push_steps(i, &mut own),
                    Source::Step(step) => {
                        own.push(step);
                        1
                    }
                };
                Some((k, depth, own))
            })
            .collect();
        programs.sort_by_key(|(_, depth, _)| std::cmp::Reverse(*depth));
        let mut places = [Combination::CONSTANT; 3];
        let (mut depth, count) = (1, programs.len());
        for (below, (k, own_depth, own)) in programs.into_iter().enumerate() {
            places[k] = (count - 1 - below) as u32;
            depth = depth.max(below + own_depth);
            steps.extend(own);
        }
        let [c0, c1, weight] = operands.map(|operand| operand.factor);
        let combination = Combination {
            colors: [c0.to_array(), c1.to_array()],
            weight: weight.x,
            operands: places[0] | places[1] << 2 | places[2] << 4,
            reserved: [0; 2],
            op: op as u32,
            reserved2: 0,
        };
        steps.push(combination.record());
        depth
    }
}

/// Factor of a product, or end of a mix.
#[derive(Clone, Copy)]
struct Operand {
    factor: Vec3,
    source: Option<Source>,
}

#[derive(Clone, Copy)]
enum Source {
    Texture(usize),
    Step(DeviceTexture),
}

impl Operand {
    fn new(factor: Vec3, texture: u32) -> Self {
        let source = (texture != NO_TEXTURE).then_some(Source::Texture(texture as usize));
        Self { factor, source }
    }

    fn color(color: &Color) -> Self {
        Self::new(color.value, color.texture)
    }

    fn number(number: &Scalar) -> Self {
        Self::new(Vec3::splat(number.value), number.texture)
    }
}

/// The record of an operation, with the transform from texture coordinates.
fn record(op: Op, from_uv: &Affine2) -> DeviceTexture {
    let row = |i: usize| [from_uv.matrix2.x_axis[i], from_uv.matrix2.y_axis[i], from_uv.translation[i]];
    DeviceTexture {
        image_from_uv: [row(0), row(1)],
        first: 0,
        width: 0,
        height: 0,
        kind: kind(Channel::Rgb),
        op: op as u32,
        reserved: 0,
    }
}

fn kind(channel: Channel) -> u32 {
    DeviceTexture::kind([Wrap::Repeat; 2], Format::Rgba8, channel)
}

/// The texture whose steps are in a range.
fn program(steps: Range<usize>) -> DeviceTexture {
    let record = record(Op::Program, &Affine2::IDENTITY);
    DeviceTexture { first: steps.start as u32, width: steps.len() as u32, ..record }
}

/// Red, green, blue and alpha, linear.
type Texel = [f32; 4];

/// Appends smaller versions of an image, each half as wide and high as the one before, rounded down, to 1 by 1; yields how
/// many. All are of the mean colour of the image.
fn push_smaller(image: &Image, texels: &mut Vec<u32>) -> u32 {
    let mut size = [image.width, image.height];
    let mut count = 0;
    let mut last: Vec<Texel> = Vec::new();
    while size != [1, 1] {
        let smaller = size.map(smaller_side);
        last = if count == 0 {
            halved(size, smaller, |i| image.texel(i))
        } else {
            halved(size, smaller, |i| last[i])
        };
        last.iter().for_each(|texel| encode(image.format, *texel, texels));
        (size, count) = (smaller, count + 1);
    }
    count
}

/// Every texel becomes the mean of the texels that it covers: of two, or where the size was odd three, along each side.
fn halved(from: [u32; 2], to: [u32; 2], texel: impl Fn(usize) -> Texel + Sync) -> Vec<Texel> {
    let mean = |i: usize| {
        let (x, y) = (i as u32 % to[0], i as u32 / to[0]);
        let mut sum = [0.0; 4];
        for (row, by_row) in covered(y, from[1], to[1]) {
            for (column, by_column) in covered(x, from[0], to[0]) {
                let texel = texel(row as usize * from[0] as usize + column as usize);
                for (sum, x) in sum.iter_mut().zip(texel) {
                    *sum += by_row * by_column * f64::from(x);
                }
            }
        }
        sum.map(|x| x as f32)
    };
    (0..to[0] as usize * to[1] as usize).into_par_iter().map(mean).collect()
}

/// Which of `from` texels in a row texel `i` of `to` covers, and which part of it each is.
fn covered(i: u32, from: u32, to: u32) -> impl Iterator<Item = (u32, f64)> {
    // In units of 1/to of a texel all is whole.
    let (start, end) = (u64::from(i) * u64::from(from), u64::from(i + 1) * u64::from(from));
    let to = u64::from(to);
    (start / to..end.div_ceil(to)).map(move |j| {
        let part = ((j + 1) * to).min(end) - (j * to).max(start);
        (j as u32, part as f64 / (end - start) as f64)
    })
}

fn encode(format: Format, [r, g, b, a]: Texel, words: &mut Vec<u32>) {
    let byte = |x: f64| (x * 255.0).round() as u8;
    let srgb = |x: f32| byte(srgb_encode(x.into()));
    match format {
        Format::Rgba8 => words.push(u32::from_le_bytes([r, g, b, a].map(|x| byte(x.into())))),
        Format::Srgb8 => words.push(u32::from_le_bytes([srgb(r), srgb(g), srgb(b), byte(a.into())])),
        Format::RgbF32 => words.extend([r, g, b].map(f32::to_bits)),
        Format::RgbaF16 => words.extend(half_words([r, g, b, a])),
    }
}

#[cfg(test)]
mod tests;
