//! Textures: inline tables in the place of numbers and colours.

use std::collections::HashMap;

use device::material::texture::{Channel, Wrap};
use glam::{Affine2, Vec2};

use super::keys;
use crate::input::quoted;
use crate::input::{Field, Section};
use crate::scene::image::{self, Found, Meaning};
use crate::scene::{Bitmap, Files, Format, Image, TexelFilter, Texture};

/// What the numbers of an image file mean, if neither the file nor the user says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColorSpace {
    /// Bytes are encoded as sRGB.
    Srgb,
    /// Numbers are what they are.
    Linear,
}

/// The images and textures of a scene, each image read once however many textures use it.
pub(super) struct Textures<'a> {
    files: &'a Files,
    /// By name and meaning; `None` for those with errors, which are reported once.
    read: HashMap<(String, Meaning), Option<usize>>,
    pub(super) images: Vec<Image>,
    pub(super) textures: Vec<Texture>,
}

impl<'a> Textures<'a> {
    /// For a scene that may read `files`.
    pub(super) fn new(files: &'a Files) -> Self {
        Self { files, read: HashMap::new(), images: Vec::new(), textures: Vec::new() }
    }

    /// The texture in the place of a parameter, and its table.
    pub(super) fn read<'b>(
        &mut self,
        field: &Field<'b>,
        space: ColorSpace,
        is_number: bool,
    ) -> Option<(u32, Section<'b>)> {
        let section = field.table(format!("texture {}", field.name))?;
        section.reject_unknown_keys(&[keys::TEXTURE, &["factor"]].concat());
        let texture = self.texture(&section, space, is_number, false)?;
        Some((texture as u32, section))
    }

    /// The texture of a normal or bump map, and its table.
    pub(super) fn read_map<'b>(&mut self, field: &Field<'b>, is_bump: bool) -> Option<(usize, Section<'b>)> {
        let section = field.table(field.name.clone())?;
        let extra = if is_bump { keys::BUMP_MAP } else { keys::NORMAL_MAP };
        section.reject_unknown_keys(&[keys::TEXTURE, extra].concat());
        let texture = self.texture(&section, ColorSpace::Linear, is_bump, is_bump)?;
        Some((texture, section))
    }

    fn texture(
        &mut self,
        section: &Section<'_>,
        space: ColorSpace,
        is_number: bool,
        is_height: bool,
    ) -> Option<usize> {
        let spaces = [("srgb", ColorSpace::Srgb), ("linear", ColorSpace::Linear)];
        let space = section.get("color_space").map_or(Some(space), |f| f.choice(&spaces));
        let wrap = section.get("wrap").map_or(Some([Wrap::Repeat; 2]), |f| wrap(&f));
        const FILTERS: [(&str, TexelFilter); 2] =
            [("linear", TexelFilter::Linear), ("nearest", TexelFilter::Nearest)];
        let filter = section.get("filter").map_or(Some(TexelFilter::Linear), |f| f.choice(&FILTERS));
        let channels = [("r", Channel::R), ("g", Channel::G), ("b", Channel::B), ("a", Channel::A)];
        let default = if is_number { Channel::R } else { Channel::Rgb };
        let channel = section.get("channel").map_or(Some(default), |f| f.choice(&channels))?;
        let image_from_uv = image_from_uv(section);
        let file = section.require("file", "file = \"wood.png\"")?;
        let is_alpha = channel == Channel::A;
        let is_srgb = space? == ColorSpace::Srgb;
        let image = self.image(&file, Meaning { is_srgb, is_alpha, is_height, is_radiance: false })?;
        // Floats have three channels, all of them alpha then.
        let is_float = self.images[image].format == Format::RgbF32;
        let channel = if is_alpha && is_float { Channel::R } else { channel };
        self.textures.push(Texture::Bitmap(Bitmap {
            image,
            image_from_uv: image_from_uv?,
            wrap: wrap?,
            channel,
            filter: filter?,
        }));
        Some(self.textures.len() - 1)
    }

    fn image(&mut self, file: &Field<'_>, meaning: Meaning) -> Option<usize> {
        let name = file.string()?;
        let key = (name.to_owned(), meaning);
        if let Some(known) = self.read.get(&key) {
            return *known;
        }
        let path = self.files.resolve(name);
        let shown = quoted(&self.files.folder().join(name).display().to_string());
        let read = path.and_then(|path| Ok((image::read(&path, meaning)?, path)));
        let index = match read {
            Ok((Found { mut image, warning }, path)) => {
                image.file = Some(path.into());
                if let Some(warning) = warning {
                    file.src.warn(file.src.problem(file.span(), format!("image {shown} {warning}")));
                }
                self.images.push(image);
                Some(self.images.len() - 1)
            }
            Err(reason) => {
                file.src.error(file.span(), format!("cannot read image {shown}: {reason}"));
                None
            }
        };
        self.read.insert(key, index);
        index
    }
}

/// One way for both directions, or one each.
fn wrap(field: &Field<'_>) -> Option<[Wrap; 2]> {
    const CHOICES: [(&str, Wrap); 3] =
        [("repeat", Wrap::Repeat), ("mirror", Wrap::Mirror), ("clamp", Wrap::Clamp)];
    if !field.is_array() {
        return field.choice(&CHOICES).map(|w| [w; 2]);
    }
    let both = field.numbers(2, "a word, or two: for u and for v")?;
    let (u, v) = (both[0].choice(&CHOICES), both[1].choice(&CHOICES));
    Some([u?, v?])
}

/// Turns texture coordinates by `rotate`, scales them by `scale`, and moves them by `offset`.
fn image_from_uv(section: &Section<'_>) -> Option<Affine2> {
    let pair = |key: &str, default: f32| match section.get(key) {
        None => Some(Vec2::splat(default)),
        Some(field) if !field.is_array() => field.number_in(-1e6, 1e6).map(Vec2::splat),
        Some(field) => {
            let both = field.numbers(2, "a number, or two: for u and for v")?;
            let (u, v) = (both[0].number_in(-1e6, 1e6), both[1].number_in(-1e6, 1e6));
            Some(Vec2::new(u?, v?))
        }
    };
    let (scale, offset) = (pair("scale", 1.0), pair("offset", 0.0));
    let degrees = section.get("rotate").map_or(Some(0.0), |f| f.number_in(-360.0, 360.0));
    let turned = Affine2::from_angle(degrees?.to_radians());
    Some(Affine2::from_translation(offset?) * Affine2::from_scale(scale?) * turned)
}
