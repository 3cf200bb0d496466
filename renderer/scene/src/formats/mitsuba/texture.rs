//! Textures, and the colours and numbers that may come from them.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use device::material::texture::NO_TEXTURE;
use glam::{Affine2, DAffine3, DVec3, Mat2, Vec2, Vec3};
use torrance_text::{quoted, quoted_path};

use super::spectrum::{self, Role};
use super::tree::{Class, Value};
use super::view::{PropertyView, View, color_in};
use crate::description::limits::{MAX_IOR, MAX_RADIANCE};
use crate::description::{Bitmap, Channel, Color, Format, Image, Scalar, TexelFilter, Texture, Wrap};
use crate::files::Files;
use crate::files::image::{DecodedImage, Meaning, Range};

/// Use of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Purpose {
    quantity: Quantity,
    /// Whether it gives a number, not a colour.
    is_number: bool,
}

impl Purpose {
    /// The part of its texels that counts.
    const fn channel(self) -> Channel {
        if self.is_number { Channel::R } else { Channel::Rgb }
    }
}

/// Most levels of textures within one another.
const MAX_LEVELS: usize = 8;

/// The meaning of a colour or number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Quantity {
    /// A fraction, in [0, 1].
    Fraction,
    /// Real or imaginary part of an index of refraction.
    Index,
    /// Radiance, or another measure of light.
    Light,
    /// Heights of any value.
    Height,
}

impl Quantity {
    /// The largest value allowed.
    const fn most(self) -> f32 {
        match self {
            Self::Fraction => 1.0,
            Self::Index => MAX_IOR,
            Self::Light | Self::Height => MAX_RADIANCE,
        }
    }

    /// The range of the numbers of its images.
    const fn range(self) -> Range {
        match self {
            Self::Fraction => Range::Unit,
            Self::Index | Self::Light => Range::Radiance,
            Self::Height => Range::Height,
        }
    }
}

/// The images and textures of a scene, each read once however many objects refer to it.
pub(super) struct Textures<'a> {
    files: &'a Files,
    /// By file and meaning; nothing for those with errors.
    read: HashMap<(PathBuf, Meaning), Option<usize>>,
    /// By object and use.
    known: HashMap<(usize, Purpose), Option<Color>>,
    /// How many textures are read now, each within the one before.
    level: usize,
    /// By image: the same in grey.
    greys: HashMap<usize, usize>,
    /// By texture: the attribute of a mesh that it is.
    attributes: HashMap<usize, String>,
    pub(super) images: Vec<Image>,
    pub(super) textures: Vec<Texture>,
}

impl<'a> Textures<'a> {
    pub(super) fn new(files: &'a Files) -> Self {
        Self {
            files,
            read: HashMap::new(),
            known: HashMap::new(),
            level: 0,
            greys: HashMap::new(),
            attributes: HashMap::new(),
            images: Vec::new(),
            textures: Vec::new(),
        }
    }

    /// Adds the attributes of meshes that a texture is made of to `names`.
    pub(super) fn add_attributes(&self, texture: u32, names: &mut BTreeSet<String>) {
        let index = texture as usize;
        names.extend(self.attributes.get(&index).cloned());
        let references = self.textures.get(index).into_iter().flat_map(Texture::references);
        references.for_each(|i| self.add_attributes(i as u32, names));
    }

    /// How many times as wide as high an image is, for those that are no images 1.
    pub(super) fn aspect(&self, texture: u32) -> f64 {
        let image = match self.textures.get(texture as usize) {
            Some(Texture::Bitmap(bitmap)) => &self.images[bitmap.image],
            _ => return 1.0,
        };
        f64::from(image.width) / f64::from(image.height)
    }

    /// A colour, or `default`.
    pub(super) fn color(
        &mut self,
        view: &View<'_>,
        name: &'static str,
        default: f32,
        quantity: Quantity,
    ) -> Option<Color> {
        self.value_or(view, name, default, Purpose { quantity, is_number: false })
    }

    fn value_or(
        &mut self,
        view: &View<'_>,
        name: &'static str,
        default: f32,
        purpose: Purpose,
    ) -> Option<Color> {
        view.get(name).map_or(Some(Color::new(Vec3::splat(default))), |given| self.value(&given, purpose))
    }

    /// A number in [0, 1], or `default`; what comes from a texture is brought there when it is looked up.
    pub(super) fn scalar(&mut self, view: &View<'_>, name: &'static str, default: f32) -> Option<Scalar> {
        let Some(given) = view.get(name) else { return Some(Scalar::new(default)) };
        if matches!(given.property.value, Value::Float(_) | Value::Integer(_)) {
            return given.number_in(0.0, 1.0).map(Scalar::new);
        }
        let purpose = Purpose { quantity: Quantity::Fraction, is_number: true };
        let Color { value, texture } = self.value(&given, purpose)?;
        Some(Scalar { value: value.x, texture })
    }

    /// The texture of heights or normals that `given` is.
    pub(super) fn map(&mut self, given: &PropertyView<'_>, is_bump: bool) -> Option<usize> {
        let quantity = if is_bump { Quantity::Height } else { Quantity::Fraction };
        let Color { value, texture } = self.value(given, Purpose { quantity, is_number: is_bump })?;
        if texture != NO_TEXTURE && value == Vec3::ONE {
            return Some(texture as usize);
        }
        if texture != NO_TEXTURE || is_bump {
            return given.fail("has to be a texture");
        }
        // The same normal everywhere.
        let colors = [Color::new(value); 2];
        let texture = self.add(Texture::Checker { squares_from_uv: Affine2::IDENTITY, colors }).texture;
        Some(texture as usize)
    }

    /// A colour, or a number in all channels, as it is given.
    fn value(&mut self, given: &PropertyView<'_>, purpose: Purpose) -> Option<Color> {
        let Purpose { quantity, is_number } = purpose;
        let role = match quantity {
            // Within textures of light, Mitsuba has spectra filter daylight.
            Quantity::Light if given.view.object.class == Class::Emitter => Role::Emitted,
            Quantity::Index => Role::Averaged,
            _ => Role::Reflected,
        };
        if let Some(color) = given.plain_color(role) {
            let color = if is_number { mean(color) } else { color };
            return color_in(given, color, quantity.most()).map(Color::new);
        }
        let Some(view) = given.object().filter(|view| view.object.class == Class::Texture) else {
            return given.wrong_type("a number, a colour or a texture");
        };
        let key = (view.index, purpose);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        if self.level >= MAX_LEVELS {
            return given.error(format!("textures are nested more than {MAX_LEVELS} levels deep"));
        }
        self.level += 1;
        let color = view.plugin().and_then(|plugin| {
            let children: &[_] = if plugin == "d65" { &[Class::Texture] } else { &[] };
            view.finish(self.texture(&view, plugin, purpose), children)
        });
        self.level -= 1;
        self.known.insert(key, color);
        color
    }

    fn texture(&mut self, view: &View<'_>, plugin: &str, purpose: Purpose) -> Option<Color> {
        let Purpose { quantity, is_number } = purpose;
        match plugin {
            "uniform" | "rawconstant" => {
                // Mitsuba has the same value beyond them.
                view.ignore(&["wavelength_min", "wavelength_max"]);
                let value = view.require("value")?;
                match value.property.value {
                    Value::Vector(v) => color_in(&value, v, quantity.most()).map(Color::new),
                    _ => self.value(&value, purpose),
                }
            }
            "srgb" => self.value(&view.require("color")?, purpose),
            "d65" => self.daylight(view, purpose),
            "regular" | "irregular" | "blackbody" => spectrum_of(view, purpose),
            "checkerboard" => {
                let a = self.value_or(view, "color0", 0.4, purpose);
                let b = self.value_or(view, "color1", 0.2, purpose);
                let uv = to_uv(view)?;
                // Mitsuba's squares have sides of ½, and change places where it needs a number (3.9.1, `eval_1`).
                let squares_from_uv = Affine2::from_scale(Vec2::splat(2.0)) * uv;
                let colors = if is_number { [b?, a?] } else { [a?, b?] };
                Some(self.add(Texture::Checker { squares_from_uv, colors }))
            }
            "mesh_attribute" => {
                let scale = view.number_in("scale", 1.0, (0.0, quantity.most().into()));
                let given = view.require("name")?;
                let name = given.text()?;
                if !(name.starts_with("vertex_") || name.starts_with("face_")) {
                    let name = quoted(name);
                    return given.error(format!(
                        "the name of the mesh attribute {name} has to start with \"vertex_\" or \"face_\""
                    ));
                }
                let Color { texture, .. } = self.add(Texture::VertexColor { channel: purpose.channel() });
                self.attributes.insert(texture as usize, name.to_owned());
                Some(Color { value: Vec3::splat(scale?), texture })
            }
            // The only other one that `plugins` lets through.
            _ => self.bitmap(view, purpose),
        }
    }

    /// Daylight, which is white, times a colour; or a texture of any name, which Mitsuba does not scale.
    fn daylight(&mut self, view: &View<'_>, purpose: Purpose) -> Option<Color> {
        let most = purpose.quantity.most();
        let scale = view.number_in("scale", 1.0, (0.0, most.into()));
        let color = match (view.get("color"), view.child(Class::Texture)?) {
            (Some(color), Some(texture)) if !std::ptr::eq(color.property, texture.property) => {
                return texture.error("\"color\" is given already; keep one of them");
            }
            (_, Some(texture)) => {
                view.warn_of(&["scale"], "it scales colours, and no textures");
                return scale.and(self.value(&texture, purpose));
            }
            (Some(color), None) => self.value(&color, purpose)?.value,
            (None, None) => Vec3::ONE,
        };
        let color = color * scale?;
        if color.max_element() > most {
            return view.error(format!("\"scale\" makes this brighter than {most:e}"));
        }
        Some(Color::new(color))
    }

    fn add(&mut self, texture: Texture) -> Color {
        self.textures.push(texture);
        Color { value: Vec3::ONE, texture: self.textures.len() as u32 - 1 }
    }

    fn bitmap(&mut self, view: &View<'_>, purpose: Purpose) -> Option<Color> {
        const FILTERS: [(&str, TexelFilter); 2] =
            [("bilinear", TexelFilter::Linear), ("nearest", TexelFilter::Nearest)];
        const WRAPS: [(&str, Wrap); 3] =
            [("repeat", Wrap::Repeat), ("mirror", Wrap::Mirror), ("clamp", Wrap::Clamp)];
        let raw = view.boolean("raw", false);
        let filter = view.choice("filter_type", TexelFilter::Linear, &FILTERS);
        let wrap = view.choice("wrap_mode", Wrap::Repeat, &WRAPS);
        let image_from_uv = to_uv(view);
        // How Mitsuba keeps texels says nothing about the image.
        view.ignore(&["format", "accel"]);
        let file = view.require("filename")?;
        let meaning = Meaning { is_srgb: !raw?, is_alpha: false, range: purpose.quantity.range() };
        let mut image = self.image(&file, meaning)?;
        if purpose.is_number {
            image = self.grey(image);
        }
        let channel = purpose.channel();
        let bitmap =
            Bitmap { image, image_from_uv: image_from_uv?, wrap: [wrap?; 2], channel, filter: filter? };
        Some(self.add(Texture::Bitmap(bitmap)))
    }

    /// The index of an image in a file, read as `meaning` says.
    pub(super) fn image(&mut self, file: &PropertyView<'_>, meaning: Meaning) -> Option<usize> {
        let name = file.text()?;
        let key = (file.path(self.files, "image", name)?, meaning);
        if let Some(known) = self.read.get(&key) {
            return *known;
        }
        let shown = format!("image {}", quoted_path(&key.0));
        let read = file.read(&shown, self.files.image(&key.0, meaning));
        let index = read.map(|DecodedImage { image, warning }| {
            if let Some(warning) = warning {
                file.view.sources.warn(&file.property.place, format!("{shown} {warning}"));
            }
            self.images.push(image);
            self.images.len() - 1
        });
        self.read.insert(key, index);
        index
    }

    /// The image with the luminance of each texel in the place of its colour, which is what Mitsuba takes where it needs
    /// a number.
    fn grey(&mut self, index: usize) -> usize {
        if let Some(known) = self.greys.get(&index) {
            return *known;
        }
        let grey = match grey(&self.images[index]) {
            Some(image) => {
                self.images.push(image);
                self.images.len() - 1
            }
            None => index,
        };
        self.greys.insert(index, grey);
        grey
    }
}

/// The colour of a spectrum, or its mean in all channels.
fn spectrum_of(view: &View<'_>, purpose: Purpose) -> Option<Color> {
    let Purpose { quantity, is_number } = purpose;
    let role = match quantity {
        Quantity::Light => Role::Emitted,
        Quantity::Index => Role::Averaged,
        Quantity::Fraction | Quantity::Height => Role::Reflected,
    };
    let spectrum = spectrum::read(view)?;
    if role != Role::Emitted && view.object.plugin == "blackbody" {
        return view.error("a blackbody is light, and cannot be what something else is like");
    }
    let color = spectrum.color(role, |what| {
        view.sources.warn(&view.object.place, format!("{} {what}", view.describe()));
    });
    if color.max_element() > quantity.most().into() {
        return view.fail(format!("is more than {:e}", quantity.most()));
    }
    let color = if is_number { mean(color) } else { color };
    Some(Color::new(color.as_vec3()))
}

/// The mean of a colour in all channels: what Mitsuba takes where it needs a number, if the colour is not of an image.
fn mean(color: DVec3) -> DVec3 {
    DVec3::splat(color.element_sum() / 3.0)
}

/// Weights of linear sRGB in luminance, as Mitsuba has them.
const LUMINANCE: DVec3 = DVec3::new(0.212_671, 0.715_160, 0.072_169);

/// The luminance of an image that has colours.
fn grey(image: &Image) -> Option<Image> {
    let count = image.width as usize * image.height as usize;
    let colors: Vec<[f32; 4]> = (0..count).map(|i| image.texel(i)).collect();
    if colors.iter().all(|[r, g, b, _]| r == g && g == b) {
        return None;
    }
    let grey = |[r, g, b, _]: [f32; 4]| {
        let luminance = DVec3::new(r.into(), g.into(), b.into()).dot(LUMINANCE);
        [(luminance as f32).to_bits(); 3]
    };
    let texels = colors.into_iter().flat_map(grey).collect();
    Some(Image::new(image.width, image.height, Format::RgbF32, texels))
}

/// The transform of texture coordinates: what `to_uv` does in the plane.
fn to_uv(view: &View<'_>) -> Option<Affine2> {
    let DAffine3 { matrix3: m, translation: t } = view.transform("to_uv")?;
    let column = |v: DVec3| v.truncate().as_vec2();
    Some(Affine2 { matrix2: Mat2::from_cols(column(m.x_axis), column(m.y_axis)), translation: column(t) })
}
