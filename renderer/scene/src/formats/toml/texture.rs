//! Textures: by name, and as tables in the place of numbers and colours.

use std::collections::{BTreeMap, HashMap};

use device::material::texture::{Channel, Wrap};
use glam::{Affine2, Vec2, Vec3};
use torrance_text::{quoted, quoted_path};

use super::keys::{self, MAX_UV};
use super::names::Names;
use super::values::{ByName, Named, type_of};
use crate::description::limits::{MAX_RADIANCE, MAX_TEXTURE_LEVELS};
use crate::description::{Bitmap, Color, Image, MAX_TEXTURE_STEPS, Scalar, TexelFilter, Texture};
use crate::files::Files;
use crate::files::image::{DecodedImage, Meaning, Range};
use crate::input::{Field, Section};

impl Named for Channel {
    const NAMES: ByName<Self> =
        &[("r", Self::R), ("g", Self::G), ("b", Self::B), ("a", Self::A), ("rgb", Self::Rgb)];
}
impl Named for Wrap {
    const NAMES: ByName<Self> = &[("repeat", Self::Repeat), ("mirror", Self::Mirror), ("clamp", Self::Clamp)];
}
impl Named for TexelFilter {
    const NAMES: ByName<Self> =
        &[("linear", Self::Linear), ("nearest", Self::Nearest), ("mipmap", Self::Mipmap)];
}
impl Named for Range {
    const NAMES: ByName<Self> =
        &[("unit", Self::Unit), ("radiance", Self::Radiance), ("height", Self::Height)];
}
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
    names: Names,
    /// Those that have these names.
    named: Vec<TextureState<'a>>,
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
            names: Names::default(),
            named: Vec::new(),
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
        let entries = section.entries();
        self.names = Names::new(entries.iter().map(|(name, _)| *name));
        for (name, field) in entries {
            if name.starts_with('#') {
                field.src.error(field.key_span.clone(), "names that begin with \"#\" are colours");
            }
            self.named.push(TextureState::Unread(field));
        }
        for i in 0..self.named.len() {
            self.named_at(i);
        }
    }

    /// The names of textures, by their indices.
    pub(super) fn names(&self) -> BTreeMap<usize, String> {
        let read = self.named.iter().zip(self.names.iter()).filter_map(|(state, name)| match state {
            TextureState::Read(Some(index)) => Some((*index, name.to_owned())),
            _ => None,
        });
        read.collect()
    }

    /// The index of a texture with a name, read now if it has not been.
    fn named_at(&mut self, i: usize) -> Option<Option<usize>> {
        match std::mem::replace(&mut self.named[i], TextureState::InProgress) {
            TextureState::InProgress => None,
            TextureState::Read(index) => {
                self.named[i] = TextureState::Read(index);
                Some(index)
            }
            TextureState::Unread(field) => {
                let section = field.table(format!("texture {}", field.name));
                let index = section.and_then(|section| {
                    let kind = kind(&section)?;
                    section.reject_unknown_keys(&keys::TEXTURE.known(Some(kind)));
                    self.texture(&section, kind, TextureUse::NAMED)
                });
                self.named[i] = TextureState::Read(index);
                Some(index)
            }
        }
    }

    /// The texture that has the name in `field`, for `what` takes values up to `most`.
    fn find(&mut self, field: &Field<'_>, what: &str, most: Range) -> Option<usize> {
        let i = self.names.find(field, "texture", |name| format!("; define it with [textures.{name}]"))?;
        let name = quoted(field.string()?);
        match self.named_at(i) {
            Some(Some(index)) if self.ranges[index] > most => {
                let (rule, range) = (takes(what, most), self.ranges[index].word());
                let message = format!("{rule}, and {name} has {range:?}; define another for it");
                field.src.error(field.span(), message);
                None
            }
            Some(index) => index,
            None => {
                field.src.error(field.span(), format!("texture {name} is made of itself"));
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
        let section = field.table(format!("texture {}", field.name))?;
        let texture = self.inline(&section, &field.name, &keys::PARAMETER, TextureUse::NUMBER)?;
        let value = section.get("factor").map_or(Some(1.0), |f| f.number_in(low, high))?;
        Some(Scalar { value, texture: texture as u32 })
    }

    /// A colour of channels up to `high`, or what gives it.
    pub(super) fn color(&mut self, field: &Field<'_>, high: f32) -> Option<Color> {
        self.color_for(field, high, TextureUse::color(high))
    }

    fn color_for(&mut self, field: &Field<'_>, high: f32, purpose: TextureUse) -> Option<Color> {
        // In a scene with textures, other words than colours are meant to be names.
        if field.as_str().is_some_and(|word| !word.starts_with('#')) && !self.named.is_empty() {
            let found = self.find(field, &field.name, purpose.most);
            return found.map(|texture| Color { value: Vec3::ONE, texture: texture as u32 });
        }
        if !field.is_table() {
            return field.color(high).map(Color::new);
        }
        let section = field.table(format!("texture {}", field.name))?;
        let texture = self.inline(&section, &field.name, &keys::PARAMETER, purpose)?;
        let value = section.get("factor").map_or(Some(Vec3::ONE), |f| f.color(high))?;
        Some(Color { value, texture: texture as u32 })
    }

    /// A texture for `what` that a table names or is.
    pub(super) fn inline(
        &mut self,
        section: &Section<'_>,
        what: &str,
        table: &'static keys::Section,
        purpose: TextureUse,
    ) -> Option<usize> {
        if let Some(name) = section.get("texture") {
            reject_keys_beside_name(section, table);
            return self.find(&name, what, purpose.most);
        }
        let kind = kind(section)?;
        section.reject_unknown_keys(&table.known(Some(kind)));
        let texture = self.texture(section, kind, purpose)?;
        if self.ranges[texture] > purpose.most {
            let span = section.get("range").map_or(section.span.clone(), |field| field.span());
            let range = self.ranges[texture].word();
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
        let range = section.get("range").map_or(Some(purpose.range), |f| f.choice(Range::NAMES))?;
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
        let both: [_; 2] = field.numbers("two colours, for example [0.8, \"#204060\"]")?;
        let part = TextureUse::colors(purpose.range);
        let high = if purpose.range == Range::Unit { 1.0 } else { MAX_RADIANCE };
        if purpose.range == Range::Unit && purpose.most > Range::Unit && both.iter().any(is_bright) {
            return field
                .fail("has channels above 1; what gives light may have them, with range = \"radiance\"");
        }
        let [first, second] = both.map(|color| self.color_for(&color, high, part));
        Some([first?, second?])
    }

    fn bitmap(&mut self, section: &Section<'_>, purpose: TextureUse) -> Option<Bitmap> {
        let is_srgb = section.get("color_space").map_or(Some(purpose.is_srgb), |f| f.choice(SPACES));
        let wrap = section.get("wrap").map_or(Some([Wrap::Repeat; 2]), |f| wrap(&f));
        let filter =
            section.get("filter").map_or(Some(TexelFilter::Linear), |f| f.choice(TexelFilter::NAMES));
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

/// Reports keys beside the name of a texture that belong to the texture itself.
fn reject_keys_beside_name(section: &Section<'_>, table: &'static keys::Section) {
    let own = table.keys.iter().map(|key| key.name);
    let mut known = vec!["texture"];
    known.extend(own.filter(|key| *key != "texture" && keys::TEXTURE.key(key).is_none()));
    for (key, field) in section.entries() {
        let of_texture = keys::TEXTURE.key(key).map(|key| key.name).or((key == "type").then_some("type"));
        let Some(of_texture) = of_texture else { continue };
        let message = match (key, table.id) {
            ("scale", "parameter") => {
                "\"scale\" is how often a texture repeats, which is said where it is defined; \
                 \"factor\" is what multiplies it"
                    .to_owned()
            }
            _ => format!("{} is said where the texture is defined, not beside its name", field.name),
        };
        section.src.error(field.key_span, message);
        known.push(of_texture);
    }
    section.reject_unknown_keys(&known);
}

/// The rule for textures of a parameter.
fn takes(what: &str, most: Range) -> String {
    format!("{what} takes textures of range {:?}", most.word())
}

/// Whether a field is a colour with channels above 1.
fn is_bright(field: &Field<'_>) -> bool {
    let channels = if field.is_array() { field.array("a colour") } else { Some(vec![field.clone()]) };
    channels.into_iter().flatten().any(|x| x.is_number() && x.number().is_some_and(|x| x > 1.0))
}

/// The type of a texture; a bitmap by default.
fn kind(section: &Section<'_>) -> Option<&'static keys::Type> {
    type_of(section, &keys::TEXTURE, keys::TEXTURE.default_type)
}

/// The channel that counts.
fn channel(section: &Section<'_>, purpose: TextureUse) -> Option<Channel> {
    let default = if purpose.is_number { Channel::R } else { Channel::Rgb };
    section.get("channel").map_or(Some(default), |f| f.choice(Channel::NAMES))
}

/// One way for both directions, or one each.
fn wrap(field: &Field<'_>) -> Option<[Wrap; 2]> {
    if !field.is_array() {
        return field.choice(Wrap::NAMES).map(|w| [w; 2]);
    }
    let [u, v] = field.numbers("a word, or two: for u and for v")?.map(|word| word.choice(Wrap::NAMES));
    Some([u?, v?])
}

/// Turns texture coordinates by `rotate`, scales them by `scale`, and moves them by `offset`; or does what `matrix` says.
fn map_of_uv(section: &Section<'_>) -> Option<Affine2> {
    if let Some(field) = section.get("matrix") {
        section.reject_beside("matrix", &["rotate", "scale", "offset"]);
        let [x, y] = field.matrix::<2, 3>("two rows of three numbers", MAX_UV)?.map(Vec3::from);
        return Some(Affine2::from_cols(Vec2::new(x.x, y.x), Vec2::new(x.y, y.y), Vec2::new(x.z, y.z)));
    }
    let pair = |key: &str, default: f32| match section.get(key) {
        None => Some(Vec2::splat(default)),
        Some(field) if !field.is_array() => field.number_in(-MAX_UV, MAX_UV).map(Vec2::splat),
        Some(field) => {
            let both = field.numbers("a number, or two: for u and for v")?;
            let [u, v] = both.map(|number| number.number_in(-MAX_UV, MAX_UV));
            Some(Vec2::new(u?, v?))
        }
    };
    let (scale, offset) = (pair("scale", 1.0), pair("offset", 0.0));
    let degrees = section.get("rotate").map_or(Some(0.0), |f| f.number_in(-360.0, 360.0));
    let turned = Affine2::from_angle(degrees?.to_radians());
    Some(Affine2::from_translation(offset?) * Affine2::from_scale(scale?) * turned)
}
