//! Textures: by name, and as tables in the place of numbers and colours.

use std::collections::{BTreeMap, HashMap};

use device::material::texture::{Channel, Wrap};
use glam::{Affine2, Mat2, Vec2, Vec3};
use torrance_text::{hint, quoted, quoted_path};

use super::keys::{self, MAX_UV};
use crate::description::limits::{MAX_RADIANCE, MAX_TEXTURE_LEVELS};
use crate::description::{Bitmap, Color, Image, MAX_TEXTURE_STEPS, Scalar, TexelFilter, Texture};
use crate::files::Files;
use crate::files::image::{DecodedImage, Meaning, Range};
use crate::input::{Field, Section};

/// Channels of texels, by name.
pub(crate) const CHANNELS: &[(&str, Channel)] =
    &[("r", Channel::R), ("g", Channel::G), ("b", Channel::B), ("a", Channel::A), ("rgb", Channel::Rgb)];
/// Continuations beyond the edges of an image, by name.
pub(crate) const WRAPS: &[(&str, Wrap)] =
    &[("repeat", Wrap::Repeat), ("mirror", Wrap::Mirror), ("clamp", Wrap::Clamp)];
/// How texels are looked up, by name.
pub(crate) const FILTERS: &[(&str, TexelFilter)] =
    &[("linear", TexelFilter::Linear), ("nearest", TexelFilter::Nearest), ("mipmap", TexelFilter::Mipmap)];
/// Ranges of values, by name.
pub(crate) const RANGES: &[(&str, Range)] =
    &[("unit", Range::Unit), ("radiance", Range::Radiance), ("height", Range::Height)];
/// Whether whole numbers are encoded as sRGB, by name.
const SPACES: &[(&str, bool)] = &[("srgb", true), ("linear", false)];

/// The use of a texture, which sets its defaults.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextureUse {
    /// Whether it is a colour as displays show it.
    is_srgb: bool,
    /// Whether it gives a single number.
    is_number: bool,
    /// The range of its values.
    range: Range,
    /// The widest range that is taken.
    most: Range,
}

impl TextureUse {
    /// Something that has a name, and any use.
    const NAMED: Self = Self { most: Range::Height, ..Self::colors(Range::Unit) };
    /// Normals in tangent space.
    pub(super) const NORMALS: Self = Self { is_srgb: false, ..Self::colors(Range::Unit) };
    /// A number.
    const NUMBER: Self = Self { is_number: true, ..Self::NORMALS };
    /// Heights.
    pub(super) const HEIGHTS: Self = Self { range: Range::Height, most: Range::Height, ..Self::NUMBER };

    /// A colour of channels up to `high`.
    const fn color(high: f32) -> Self {
        Self::colors(if high > 1.0 { Range::Radiance } else { Range::Unit })
    }

    const fn colors(range: Range) -> Self {
        Self { is_srgb: true, is_number: false, range, most: range }
    }
}

/// Progress of reading a named texture.
enum TextureState<'a> {
    Unread(Field<'a>),
    /// It is being read: meeting it again means a cycle.
    InProgress,
    /// Its index, if nothing was wrong with it.
    Read(Option<usize>),
}

/// The images and textures of a scene, each image read once however many textures use it.
pub(super) struct Textures<'a> {
    files: &'a Files,
    /// By name and meaning; `None` for those with errors, which are reported once.
    read: HashMap<(String, Meaning), Option<usize>>,
    named: Vec<(&'a str, TextureState<'a>)>,
    /// Where each of these is.
    indices: HashMap<&'a str, usize>,
    /// How many textures are read now, each within the one before.
    level: usize,
    pub(super) images: Vec<Image>,
    pub(super) textures: Vec<Texture>,
    /// Of how many textures each is made, itself and repetitions included.
    steps: Vec<usize>,
    /// The range of each.
    ranges: Vec<Range>,
}

impl<'a> Textures<'a> {
    /// For a scene that may read `files`.
    pub(super) fn new(files: &'a Files) -> Self {
        Self {
            files,
            read: HashMap::new(),
            named: Vec::new(),
            indices: HashMap::new(),
            level: 0,
            images: Vec::new(),
            textures: Vec::new(),
            steps: Vec::new(),
            ranges: Vec::new(),
        }
    }

    /// Reads `[textures]`.
    pub(super) fn read_named(&mut self, top: &Section<'a>) {
        let Some(section) = top.get("textures").and_then(|f| f.table("[textures]")) else { return };
        for (name, field) in section.entries() {
            if name.starts_with('#') {
                field.src.error(field.key_span.clone(), "names that begin with \"#\" are colours");
            }
            self.indices.insert(name, self.named.len());
            self.named.push((name, TextureState::Unread(field)));
        }
        for i in 0..self.named.len() {
            self.named_at(i);
        }
    }

    /// The names of textures, by their indices.
    pub(super) fn names(&self) -> BTreeMap<usize, String> {
        let read = self.named.iter().filter_map(|(name, state)| match state {
            TextureState::Read(Some(index)) => Some((*index, (*name).to_owned())),
            _ => None,
        });
        read.collect()
    }

    /// The index of a texture with a name, read now if it has not been.
    fn named_at(&mut self, i: usize) -> Option<Option<usize>> {
        match std::mem::replace(&mut self.named[i].1, TextureState::InProgress) {
            TextureState::InProgress => None,
            TextureState::Read(index) => {
                self.named[i].1 = TextureState::Read(index);
                Some(index)
            }
            TextureState::Unread(field) => {
                let section = field.table(format!("texture {}", field.name));
                let index = section.and_then(|section| {
                    let kind = kind(&section)?;
                    section.reject_unknown_keys(&keys::TEXTURE.known(Some(kind)));
                    self.texture(&section, kind, TextureUse::NAMED)
                });
                self.named[i].1 = TextureState::Read(index);
                Some(index)
            }
        }
    }

    /// The texture that has the name in `field`, for `what` takes values up to `most`.
    fn find(&mut self, field: &Field<'_>, what: &str, most: Range) -> Option<usize> {
        let name = field.string()?;
        let Some(i) = self.indices.get(name).copied() else {
            let hint = match self.named.is_empty() {
                true => format!("; define it with [textures.{}]", super::text::toml_key(name)),
                false => hint(name, "the scene has", self.named.iter().map(|(name, _)| *name)),
            };
            field.src.error(field.span(), format!("unknown texture {}{hint}", quoted(name)));
            return None;
        };
        match self.named_at(i) {
            Some(Some(index)) if self.ranges[index] > most => {
                let message = format!(
                    "{}, and {} has {:?}; define another for it",
                    takes(what, most),
                    quoted(name),
                    word(self.ranges[index])
                );
                field.src.error(field.span(), message);
                None
            }
            Some(index) => index,
            None => {
                field.src.error(field.span(), format!("texture {} is made of itself", quoted(name)));
                None
            }
        }
    }

    /// A number from `range`, or what gives it.
    pub(super) fn scalar(&mut self, field: &Field<'_>, (low, high): (f32, f32)) -> Option<Scalar> {
        if field.is_number() {
            return field.number_in(low, high).map(Scalar::new);
        }
        if field.as_str().is_some() && !self.named.is_empty() {
            let found = self.find(field, &field.name, TextureUse::NUMBER.most);
            return found.map(|texture| Scalar { value: 1.0, texture: texture as u32 });
        }
        if !field.is_table() {
            return field.wrong_type("a number, or a texture such as { file = \"wood.png\" }");
        }
        let (texture, section) = self.parameter(field, TextureUse::NUMBER)?;
        let value = section.get("factor").map_or(Some(1.0), |f| f.number_in(low, high))?;
        Some(Scalar { value, texture: texture as u32 })
    }

    /// A colour of channels up to `high`, or what gives it.
    pub(super) fn color(&mut self, field: &Field<'_>, high: f32) -> Option<Color> {
        self.color_for(field, high, TextureUse::color(high))
    }

    fn color_for(&mut self, field: &Field<'_>, high: f32, purpose: TextureUse) -> Option<Color> {
        if field.as_str().is_some_and(|name| self.is_name(name)) {
            let found = self.find(field, &field.name, purpose.most);
            return found.map(|texture| Color { value: Vec3::ONE, texture: texture as u32 });
        }
        if !field.is_table() {
            return field.color(high).map(Color::new);
        }
        let (texture, section) = self.parameter(field, purpose)?;
        let value = section.get("factor").map_or(Some(Vec3::ONE), |f| f.color(high))?;
        Some(Color { value, texture: texture as u32 })
    }

    /// Whether a word in the place of a colour is meant to be the name of a texture.
    fn is_name(&self, word: &str) -> bool {
        !word.starts_with('#') && !self.named.is_empty()
    }

    /// The texture in the place of a parameter, and its table.
    fn parameter<'b>(&mut self, field: &Field<'b>, purpose: TextureUse) -> Option<(usize, Section<'b>)> {
        let section = field.table(format!("texture {}", field.name))?;
        let texture = self.inline(&section, &field.name, (&keys::PARAMETER, &["factor"]), purpose)?;
        Some((texture, section))
    }

    /// The texture of a normal or bump map, and its table.
    pub(super) fn map<'b>(&mut self, field: &Field<'b>, is_bump: bool) -> Option<(usize, Section<'b>)> {
        let section = field.table(field.name.clone())?;
        let (table, extra, purpose): (_, &[&str], _) = match is_bump {
            true => (&keys::BUMP_MAP, &["strength", "invalid_normals", "terminator"], TextureUse::HEIGHTS),
            false => (
                &keys::NORMAL_MAP,
                &["green", "strength", "invalid_normals", "terminator"],
                TextureUse::NORMALS,
            ),
        };
        let texture = self.inline(&section, &field.name, (table, extra), purpose)?;
        Some((texture, section))
    }

    /// A texture for `what` that a table names or is; `extra` are the keys of the table that are not of a texture.
    fn inline(
        &mut self,
        section: &Section<'_>,
        what: &str,
        (table, extra): (&'static keys::Section, &[&'static str]),
        purpose: TextureUse,
    ) -> Option<usize> {
        if let Some(name) = section.get("texture") {
            reject_keys_beside_name(section, extra);
            return self.find(&name, what, purpose.most);
        }
        let kind = kind(section)?;
        section.reject_unknown_keys(&table.known(Some(kind)));
        let texture = self.texture(section, kind, purpose)?;
        if self.ranges[texture] > purpose.most {
            let span = section.get("range").map_or(section.span.clone(), |field| field.span());
            let range = word(self.ranges[texture]);
            let message = format!("{}, and this one has {range:?}", takes(what, purpose.most));
            section.src.error(span, message);
            return None;
        }
        Some(texture)
    }

    fn texture(&mut self, section: &Section<'_>, kind: &keys::Type, purpose: TextureUse) -> Option<usize> {
        if self.level == MAX_TEXTURE_LEVELS {
            let most = MAX_TEXTURE_LEVELS - 1;
            let message = format!("{} nests others more than {most} levels deep", section.name);
            section.src.error(section.span.clone(), message);
            return None;
        }
        let range = section.get("range").map_or(Some(purpose.range), |f| f.choice(RANGES))?;
        self.level += 1;
        let texture = self.texture_of_kind(section, kind, TextureUse { range, ..purpose });
        self.level -= 1;
        let texture = texture?;
        let steps = 1 + texture.references().map(|part| self.steps[part]).sum::<usize>();
        if steps > MAX_TEXTURE_STEPS {
            let message = format!(
                "{} is made of {steps} textures, repetitions counted; the most is {MAX_TEXTURE_STEPS}",
                section.name
            );
            section.src.error(section.span.clone(), message);
            return None;
        }
        self.textures.push(texture);
        self.steps.push(steps);
        self.ranges.push(range);
        Some(self.textures.len() - 1)
    }

    fn texture_of_kind(
        &mut self,
        section: &Section<'_>,
        kind: &keys::Type,
        purpose: TextureUse,
    ) -> Option<Texture> {
        match kind.name() {
            "bitmap" => self.bitmap(section, purpose).map(Texture::Bitmap),
            "checker" => {
                let squares_from_uv = map_of_uv(section);
                let colors = self.two(section, "colors", purpose);
                Some(Texture::Checker { squares_from_uv: squares_from_uv?, colors: colors? })
            }
            "mix" => {
                let colors = self.two(section, "colors", purpose);
                let weight = section.require("weight", "weight = 0.5 (the part of the second)");
                let weight = weight.and_then(|f| self.scalar(&f, (0.0, 1.0)));
                Some(Texture::Mix { colors: colors?, weight: weight? })
            }
            "product" => self.two(section, "factors", purpose).map(Texture::Product),
            _ => Some(Texture::VertexColor { channel: channel(section, purpose)? }),
        }
    }

    /// Two colours.
    fn two(&mut self, section: &Section<'_>, key: &str, purpose: TextureUse) -> Option<[Color; 2]> {
        let field = section.require(key, &format!("{key} = [0.8, \"#204060\"]"))?;
        let both = field.numbers(2, "two colours, for example [0.8, \"#204060\"]")?;
        let part = TextureUse::colors(purpose.range);
        let high = if purpose.range == Range::Unit { 1.0 } else { MAX_RADIANCE };
        if purpose.range == Range::Unit && purpose.most > Range::Unit && both.iter().any(is_bright) {
            return field
                .fail("has channels above 1; what gives light may have them, with range = \"radiance\"");
        }
        let (first, second) = (self.color_for(&both[0], high, part), self.color_for(&both[1], high, part));
        Some([first?, second?])
    }

    fn bitmap(&mut self, section: &Section<'_>, purpose: TextureUse) -> Option<Bitmap> {
        let is_srgb = section.get("color_space").map_or(Some(purpose.is_srgb), |f| f.choice(SPACES));
        let wrap = section.get("wrap").map_or(Some([Wrap::Repeat; 2]), |f| wrap(&f));
        let filter = section.get("filter").map_or(Some(TexelFilter::Linear), |f| f.choice(FILTERS));
        let channel = channel(section, purpose)?;
        let image_from_uv = map_of_uv(section);
        let file = section.require("file", "file = \"wood.png\"")?;
        let is_alpha = channel == Channel::A;
        let image = self.image(&file, Meaning { is_srgb: is_srgb?, is_alpha, range: purpose.range })?;
        let channel = self.images[image].channel_for(channel);
        Some(Bitmap { image, image_from_uv: image_from_uv?, wrap: wrap?, channel, filter: filter? })
    }

    /// The image of an environment.
    pub(super) fn environment(&mut self, section: &Section<'_>, file: &Field<'_>) -> Option<usize> {
        let is_srgb = section.get("color_space").map_or(Some(true), |f| f.choice(SPACES));
        self.image(file, Meaning { is_srgb: is_srgb?, is_alpha: false, range: Range::Radiance })
    }

    fn image(&mut self, file: &Field<'_>, meaning: Meaning) -> Option<usize> {
        let name = file.string()?;
        let key = (name.to_owned(), meaning);
        if let Some(known) = self.read.get(&key) {
            return *known;
        }
        let path = self.files.resolve(name);
        let shown = quoted_path(self.files.folder().join(name));
        let index = match path.and_then(|path| self.files.image(&path, meaning)) {
            Ok(DecodedImage { image, warning }) => {
                if let Some(warning) = warning {
                    file.src.warn(file.src.problem(file.span(), format!("image {shown} {warning}")));
                }
                // Read in two ways that make no difference, it is one image.
                let known = self.images.iter().position(|known| *known == image);
                known.or_else(|| {
                    self.images.push(image);
                    Some(self.images.len() - 1)
                })
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

/// Reports keys beside the name of a texture, except `extra`: they belong to the texture itself.
fn reject_keys_beside_name(section: &Section<'_>, extra: &[&'static str]) {
    let mut known = [&["texture"], extra].concat();
    for (key, field) in section.entries() {
        let is_of_texture = key == "type" || keys::TEXTURE.key(key).is_some();
        if !is_of_texture || extra.contains(&key) {
            continue;
        }
        let message = match (key, extra.contains(&"factor")) {
            ("scale", true) => {
                "\"scale\" is how often a texture repeats, which is said where it is defined; \
                 \"factor\" is what multiplies it"
                    .to_owned()
            }
            _ => format!("{} is said where the texture is defined, not beside its name", field.name),
        };
        section.src.error(field.key_span, message);
        known.push(keys::TEXTURE.key(key).map_or("type", |key| key.name));
    }
    section.reject_unknown_keys(&known);
}

/// The rule for textures of a parameter.
fn takes(what: &str, most: Range) -> String {
    format!("{what} takes textures of range {:?}", word(most))
}

/// The name of a range.
fn word(range: Range) -> &'static str {
    RANGES.iter().find(|(_, known)| *known == range).map_or("", |(word, _)| word)
}

/// Whether a field is a colour with channels above 1.
fn is_bright(field: &Field<'_>) -> bool {
    let channels = if field.is_array() { field.array("a colour") } else { Some(vec![field.clone()]) };
    channels.into_iter().flatten().any(|x| x.is_number() && x.number().is_some_and(|x| x > 1.0))
}

/// The type of a texture; a bitmap by default.
fn kind(section: &Section<'_>) -> Option<&'static keys::Type> {
    match section.get("type") {
        Some(field) => field.choice(&keys::TEXTURE.choices()),
        None => keys::TEXTURE.type_named(keys::TEXTURE.default_type),
    }
}

/// The channel that counts.
fn channel(section: &Section<'_>, purpose: TextureUse) -> Option<Channel> {
    let default = if purpose.is_number { Channel::R } else { Channel::Rgb };
    section.get("channel").map_or(Some(default), |f| f.choice(CHANNELS))
}

/// One way for both directions, or one each.
fn wrap(field: &Field<'_>) -> Option<[Wrap; 2]> {
    if !field.is_array() {
        return field.choice(WRAPS).map(|w| [w; 2]);
    }
    let both = field.numbers(2, "a word, or two: for u and for v")?;
    let (u, v) = (both[0].choice(WRAPS), both[1].choice(WRAPS));
    Some([u?, v?])
}

/// Turns texture coordinates by `rotate`, scales them by `scale`, and moves them by `offset`; or does what `matrix` says.
fn map_of_uv(section: &Section<'_>) -> Option<Affine2> {
    if let Some(field) = section.get("matrix") {
        if let Some(other) = ["rotate", "scale", "offset"].iter().find_map(|key| section.get(key)) {
            let message = format!("{} is given by \"matrix\" already; keep one of them", other.name);
            section.src.error(other.key_span, message);
        }
        return matrix(&field);
    }
    let pair = |key: &str, default: f32| match section.get(key) {
        None => Some(Vec2::splat(default)),
        Some(field) if !field.is_array() => field.number_in(-MAX_UV, MAX_UV).map(Vec2::splat),
        Some(field) => {
            let both = field.numbers(2, "a number, or two: for u and for v")?;
            let (u, v) = (both[0].number_in(-MAX_UV, MAX_UV), both[1].number_in(-MAX_UV, MAX_UV));
            Some(Vec2::new(u?, v?))
        }
    };
    let (scale, offset) = (pair("scale", 1.0), pair("offset", 0.0));
    let degrees = section.get("rotate").map_or(Some(0.0), |f| f.number_in(-360.0, 360.0));
    let turned = Affine2::from_angle(degrees?.to_radians());
    Some(Affine2::from_translation(offset?) * Affine2::from_scale(scale?) * turned)
}

/// Two rows of three numbers.
fn matrix(field: &Field<'_>) -> Option<Affine2> {
    const WHAT: &str = "two rows of three numbers";
    let mut m = [[0.0; 3]; 2];
    for (row, out) in field.numbers(2, WHAT)?.iter().zip(&mut m) {
        for (number, o) in row.numbers(3, WHAT)?.iter().zip(out) {
            *o = number.number_in(-MAX_UV, MAX_UV)?;
        }
    }
    let matrix2 = Mat2::from_cols(Vec2::new(m[0][0], m[1][0]), Vec2::new(m[0][1], m[1][1]));
    Some(Affine2 { matrix2, translation: Vec2::new(m[0][2], m[1][2]) })
}
