//! Images, samplers, and how textures lie on surfaces.

use std::collections::HashMap;
use std::sync::Arc;

use device::material::texture::NO_TEXTURE;
use glam::{Affine2, Mat2, Vec2};
use rayon::prelude::*;

use super::buffers::Buffers;
use super::json::Node;
use crate::description::{Bitmap, Channel, Color, Format, Image, Scalar, TexelFilter, Texture, Wrap};
use crate::files::image::{self, DecodedImage, Meaning, Range};

/// Extensions by which textures have images of other formats that are read.
const READ_IMAGES: [&str; 2] = ["KHR_texture_basisu", "EXT_texture_webp"];

/// Extensions by which textures have images that are not.
const OTHER_IMAGES: [&str; 2] = ["EXT_texture_avif", "MSFT_texture_dds"];

const TRANSFORM: &str = "KHR_texture_transform";

/// Texels of a mask along a texel of the image that it is made of, so that its edge is where the interpolated alpha
/// crosses the cut-off and not around whole texels.
const MASK_TEXELS: u32 = 4;
/// Longest side of a mask that is finer than its image.
const MAX_MASK_SIDE: u32 = 4096;

/// Most words that texels of all images together take: 2 GiB.
const MAX_TEXELS: usize = 1 << 29;

/// The bits of 1 as a float of 16 bits.
const HALF_ONE: u32 = 0x3c00;

/// What is done about a texture that cannot be read.
pub(super) const WITHOUT_IMAGE: &str = "the material is without it";

/// Where a parameter finds its texels.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Lookup {
    /// Index into the document's images.
    image: usize,
    image_from_uv: Affine2,
    wrap: [Wrap; 2],
    filter: TexelFilter,
    /// Which texture coordinates of a vertex.
    pub(super) set: u32,
}

/// The images and textures read so far.
pub(super) struct Textures<'b, 'a> {
    pub(super) buffers: &'b Buffers<'a>,
    /// `None` for those that cannot be read, of which is warned once.
    read: HashMap<(usize, Meaning), Option<usize>>,
    pub(super) images: Vec<Image>,
    pub(super) textures: Vec<Texture>,
    /// Indices of textures by what they are.
    made: HashMap<String, u32>,
    /// Indices of images that are masks by what they are made of.
    masks: HashMap<String, usize>,
    /// Whether images are opaque, of those of which that was asked.
    opaque: HashMap<usize, bool>,
    /// Words of all images.
    texels: usize,
}

impl<'b, 'a> Textures<'b, 'a> {
    pub(super) fn new(buffers: &'b Buffers<'a>) -> Self {
        Self {
            buffers,
            read: HashMap::new(),
            images: Vec::new(),
            textures: Vec::new(),
            made: HashMap::new(),
            masks: HashMap::new(),
            opaque: HashMap::new(),
            texels: 0,
        }
    }

    /// A `textureInfo`.
    pub(super) fn lookup(&self, info: &Node<'a>) -> Option<Lookup> {
        let info = info.clone().object(&["index", "texCoord", "scale", "strength"])?;
        let node = info.require("index")?.indexed("textures", &["sampler", "source"])?;
        let other = OTHER_IMAGES.into_iter().find(|name| node.extension(name).is_some());
        let read = match READ_IMAGES.into_iter().find_map(|name| node.extension(name)) {
            Some(read) => Some(read.object(&["source"])?.require("source")?),
            None => None,
        };
        let image = match (read.or_else(|| node.get("source")), other) {
            (Some(source), other) => {
                if let Some(name) = other {
                    node.warn(format!(
                        "has an image by {name}, which is not supported; its \"source\" is used"
                    ));
                }
                source.index("images")?
            }
            (None, Some(name)) => {
                return node.fail(format!("has its image by {name}, which is not supported"));
            }
            (None, None) => return node.fail("has no \"source\" that says which image it is of"),
        };
        let default = ([Wrap::Repeat; 2], TexelFilter::Linear);
        let log = self.buffers.document.log;
        let sampler =
            log.forgiving("the usual is taken", || node.get_or("sampler", default, |n| sampler(&n)));
        let (wrap, filter) = sampler.unwrap_or(default);
        let mut set = info.get_or("texCoord", 0, |n| n.whole())?;
        let mut image_from_uv = Affine2::IDENTITY;
        if let Some(transform) = info.extension(TRANSFORM) {
            let transform = transform.object(&["offset", "rotation", "scale", "texCoord"])?;
            set = transform.get_or("texCoord", set, |n| n.whole())?;
            image_from_uv = affine(&transform)?;
        }
        let set = u32::try_from(set).ok().or_else(|| info.fail("has too large a \"texCoord\""))?;
        Some(Lookup { image, image_from_uv, wrap, filter, set })
    }

    /// A texture of one channel, or of the colours, of an image; [`NO_TEXTURE`] if that cannot be read.
    pub(super) fn bitmap(&mut self, lookup: &Lookup, is_srgb: bool, channel: Channel) -> u32 {
        let found = self.look_up(lookup, is_srgb, channel);
        found.map_or(NO_TEXTURE, |bitmap| self.add(Texture::Bitmap(bitmap)))
    }

    /// One channel, or the colours, of an image that can be read; nothing for alpha that is 1 everywhere.
    fn look_up(&mut self, lookup: &Lookup, is_srgb: bool, channel: Channel) -> Option<Bitmap> {
        let image = self.image(lookup.image, meaning(is_srgb, false))?;
        if channel == Channel::A && self.is_opaque(image) {
            return None;
        }
        // Floats have no alpha beside them: it is an image of its own, unless there is none.
        let alone = match (channel, self.images[image].format) {
            (Channel::A, Format::RgbF32) => self.image(lookup.image, meaning(false, true)),
            _ => None,
        };
        let (image, channel) = alone.map_or((image, channel), |alone| (alone, Channel::R));
        let Lookup { image_from_uv, wrap, filter, .. } = *lookup;
        Some(Bitmap { image, image_from_uv, wrap, channel, filter })
    }

    /// Whether the alpha of an image is 1 everywhere, as where it has none.
    fn is_opaque(&mut self, image: usize) -> bool {
        let Image { format, texels, .. } = &self.images[image];
        *self.opaque.entry(image).or_insert_with(|| match format {
            Format::Srgb8 | Format::Rgba8 => texels.iter().all(|texel| texel >> 24 == 0xff),
            Format::RgbaF16 => texels.iter().skip(1).step_by(2).all(|word| word >> 16 == HALF_ONE),
            _ => false,
        })
    }

    /// The index of a texture, which may be there already.
    pub(super) fn add(&mut self, texture: Texture) -> u32 {
        let textures = &mut self.textures;
        *self.made.entry(format!("{texture:?}")).or_insert_with(|| {
            textures.push(texture);
            textures.len() as u32 - 1
        })
    }

    /// `low` where the texture is 0, and `high` where it is 1.
    pub(super) fn between(&mut self, low: f32, high: f32, texture: u32) -> Scalar {
        let scale = low.max(high);
        if scale == 0.0 || texture == NO_TEXTURE {
            return Scalar::new(high);
        }
        let colors = [low, high].map(|x| Color::new(glam::Vec3::splat(x / scale)));
        let weight = Scalar { value: 1.0, texture };
        Scalar { value: scale, texture: self.add(Texture::Mix { colors, weight }) }
    }

    /// A texture that is 1 where alpha times `factor` is at least `cutoff`, and 0 elsewhere; [`NO_TEXTURE`] if it cannot be
    /// read.
    pub(super) fn mask(&mut self, lookup: &Lookup, factor: f32, cutoff: f32) -> Option<u32> {
        let Some(bitmap) = self.look_up(lookup, true, Channel::A) else { return Some(NO_TEXTURE) };
        let key = format!("{:?}", (bitmap.image, bitmap.wrap, bitmap.filter, factor, cutoff));
        let image = match self.masks.get(&key) {
            Some(image) => *image,
            None => {
                let image = masked(&self.images[bitmap.image], &bitmap, factor, cutoff);
                let image = self.keep(image)?;
                self.masks.insert(key, image);
                image
            }
        };
        let mask = Bitmap { image, channel: Channel::R, filter: TexelFilter::Nearest, ..bitmap };
        Some(self.add(Texture::Bitmap(mask)))
    }

    /// The index of a new image, unless there are too many texels.
    fn keep(&mut self, image: Image) -> Option<usize> {
        self.texels += image.texels.len();
        if self.texels > MAX_TEXELS {
            let message = format!("has images of more than {MAX_TEXELS} texels in all, which is the most");
            self.buffers.document.log.error(message);
            return None;
        }
        self.images.push(image);
        Some(self.images.len() - 1)
    }

    /// The image of a lookup, as bytes that are no colours, if they are bytes.
    pub(super) fn bytes(&mut self, lookup: &Lookup) -> Option<&Image> {
        let image = self.image(lookup.image, meaning(false, false))?;
        Some(&self.images[image]).filter(|image| image.format == Format::Rgba8)
    }

    fn image(&mut self, index: usize, meaning: Meaning) -> Option<usize> {
        if let Some(known) = self.read.get(&(index, meaning)) {
            return *known;
        }
        let log = self.buffers.document.log;
        let read = log
            .forgiving(WITHOUT_IMAGE, || self.read_image(index, meaning).and_then(|image| self.keep(image)));
        self.read.insert((index, meaning), read);
        read
    }

    fn read_image(&self, index: usize, meaning: Meaning) -> Option<Image> {
        let node = self.buffers.document.element("images", index, &["uri", "bufferView", "mimeType"])?;
        let mut file = None;
        let found = match (node.get("bufferView"), node.get("uri")) {
            (Some(view), _) => image::parse(self.buffers.view(&view)?.bytes(), false, meaning),
            (None, Some(uri)) => {
                let bytes;
                (bytes, file) = self.buffers.uri(&uri)?;
                image::parse(&bytes, false, meaning)
            }
            (None, None) => return node.fail("has neither a \"bufferView\" nor a \"uri\""),
        };
        match found {
            Ok(DecodedImage { mut image, warning }) => {
                if let Some(warning) = warning {
                    node.warn(warning);
                }
                image.file = file.map(Into::into);
                Some(image)
            }
            // It was read without, so that this is what it lacks.
            Err(_) if meaning.is_alpha => None,
            Err(reason) => node.fail(format!("cannot be read: {reason}")),
        }
    }
}

/// How a sampler goes on beyond the edges of an image, and looks up texels.
fn sampler(from: &Node<'_>) -> Option<([Wrap; 2], TexelFilter)> {
    let node = from.indexed("samplers", &["magFilter", "minFilter", "wrapS", "wrapT"])?;
    // Smaller versions are for those who take one sample; here a pixel is the mean of many.
    let filter = node.get_or("magFilter", TexelFilter::Linear, |n| match n.whole()? {
        9728 => Some(TexelFilter::Nearest),
        9729 => Some(TexelFilter::Linear),
        other => n.fail(format!("is {other}; textures are magnified by 9728 or 9729")),
    })?;
    let wrap = |key| {
        node.get_or(key, Wrap::Repeat, |n| match n.whole()? {
            10497 => Some(Wrap::Repeat),
            33071 => Some(Wrap::Clamp),
            33648 => Some(Wrap::Mirror),
            other => n.fail(format!("is {other}; textures wrap by 10497, 33071 or 33648")),
        })
    };
    Some(([wrap("wrapS")?, wrap("wrapT")?], filter))
}

const fn meaning(is_srgb: bool, is_alpha: bool) -> Meaning {
    Meaning { is_srgb, is_alpha, range: Range::Unit }
}

/// From texture coordinates to the image: scaled, turned counter-clockwise as the image is seen, whose v points down,
/// and moved.
fn affine(transform: &Node<'_>) -> Option<Affine2> {
    let scale = transform.get_or("scale", [1.0; 2], |n| n.numbers())?;
    let offset = transform.get_or("offset", [0.0; 2], |n| n.numbers())?;
    let (sin, cos) = transform.get_or("rotation", 0.0, |n| n.number())?.sin_cos();
    let turn = Mat2::from_cols(Vec2::new(cos, -sin), Vec2::new(sin, cos));
    let scale = Mat2::from_diagonal(scale.into());
    Some(Affine2::from_mat2_translation(turn * scale, offset.into()))
}

/// The image of bytes, white where the alpha of `image` times `factor` is at least `cutoff` and black elsewhere.
fn masked(image: &Image, bitmap: &Bitmap, factor: f32, cutoff: f32) -> Image {
    let finer = match bitmap.filter {
        _ if image.width.max(image.height) > MAX_MASK_SIDE / MASK_TEXELS => 1,
        TexelFilter::Nearest => 1,
        _ => MASK_TEXELS,
    };
    let (width, height) = (image.width * finer, image.height * finer);
    // Alpha alone is all channels.
    let is_alone = image.format == Format::RgbF32 && bitmap.channel == Channel::R;
    let channel = if is_alone { 0 } else { 3 };
    let texels = image.width as usize * image.height as usize;
    let alpha: Vec<f32> = (0..texels).into_par_iter().map(|i| image.texel(i)[channel]).collect();
    // Where a column or row of the mask lies between two of the image.
    let between = |i: u32, n: u32, wrap: Wrap| {
        let x = (i as f32 + 0.5) / finer as f32 - 0.5;
        let first = x.floor() as i64;
        ([first, first + 1].map(|i| wrapped(i, n, wrap)), x - x.floor())
    };
    let columns: Vec<_> = (0..width).map(|i| between(i, image.width, bitmap.wrap[0])).collect();
    let row = |(i, texels): (usize, &mut [u32])| {
        let (rows, t) = between(i as u32, image.height, bitmap.wrap[1]);
        let [above, below] = rows.map(|row| &alpha[(row * image.width) as usize..][..image.width as usize]);
        for (texel, ([left, right], s)) in texels.iter_mut().zip(&columns) {
            let along = |row: &[f32]| row[*left as usize] * (1.0 - s) + row[*right as usize] * s;
            let there = factor * (along(above) * (1.0 - t) + along(below) * t) >= cutoff;
            *texel = if there { u32::MAX } else { 0xff00_0000 };
        }
    };
    // Where they stay from the beginning: masks are large.
    let mut texels: Arc<[u32]> = std::iter::repeat_n(0, width as usize * height as usize).collect();
    let own = Arc::get_mut(&mut texels).into_iter();
    own.for_each(|texels| texels.par_chunks_exact_mut(width as usize).enumerate().for_each(row));
    Image::new(width, height, Format::Rgba8, texels)
}

/// A column or row of an image, wherever it is counted to.
fn wrapped(i: i64, n: u32, wrap: Wrap) -> u32 {
    let n = i64::from(n);
    let i = match wrap {
        Wrap::Repeat => i.rem_euclid(n),
        Wrap::Clamp => i.clamp(0, n - 1),
        Wrap::Mirror => {
            let i = i.rem_euclid(2 * n);
            i.min(2 * n - 1 - i)
        }
    };
    i as u32
}
