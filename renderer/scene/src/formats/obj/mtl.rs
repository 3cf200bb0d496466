//! Material libraries of OBJ files: what they say, statement by statement.
//!
//! The statements are those of Wavefront's format and of its extension to physically based materials (Clara.io 2014).
//! Statements without effect here are warned of, once for each kind, and so are those with mistakes, which are left out.
//! Capital letters and small ones are the same in statements, as some programs write them.

use std::collections::BTreeSet;
use std::ops::Range;

use glam::{Vec2, Vec3};
use torrance_text::quoted;

use crate::description::limits::{MAX_COORDINATE, MAX_IOR, MAX_RADIANCE};
use crate::files::mesh::obj::scan::{Complaint, Word, logical_lines, split_words};
use crate::input::{Mistakes, Problem};

/// A material as its library describes it; `None` where nothing is given.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct MtlMaterial {
    pub(super) name: String,
    /// `Kd`, the colour of diffuse reflection.
    pub(super) diffuse: Option<Vec3>,
    /// `Ks`, that of specular reflection.
    pub(super) specular: Option<Vec3>,
    /// `Ke`, that of emission.
    pub(super) emission: Option<Vec3>,
    /// Exponent of Blinn's highlight.
    pub(super) exponent: Option<f32>,
    pub(super) ior: Option<f32>,
    /// `d`, or else 1 − `Tr`.
    pub(super) opacity: Option<f32>,
    /// `Tr`.
    transparency: Option<f32>,
    pub(super) roughness: Option<f32>,
    pub(super) metallic: Option<f32>,
    pub(super) sheen: Option<f32>,
    pub(super) coat: Option<f32>,
    pub(super) coat_roughness: Option<f32>,
    pub(super) anisotropy: Option<f32>,
    /// Of the direction of anisotropy, turns.
    pub(super) rotation: Option<f32>,
    /// `illum`.
    pub(super) model: Option<u32>,
    pub(super) diffuse_map: Option<MapFile>,
    pub(super) specular_map: Option<MapFile>,
    pub(super) emission_map: Option<MapFile>,
    pub(super) opacity_map: Option<MapFile>,
    pub(super) roughness_map: Option<MapFile>,
    pub(super) metallic_map: Option<MapFile>,
    pub(super) sheen_map: Option<MapFile>,
    pub(super) height_map: Option<MapFile>,
    pub(super) normal_map: Option<MapFile>,
}

/// A statement of a number: its name, the number, and its range.
type Number = (&'static str, fn(&mut MtlMaterial) -> &mut Option<f32>, f32, f32);

/// Index of refraction, which counts for nothing if it is out of range: some programs write `Ni 0` for want of one.
const IOR: Number = ("Ni", |m| &mut m.ior, 0.001, MAX_IOR);

/// The statements of other numbers, which are brought into their range.
const NUMBERS: [Number; 10] = [
    ("Ns", |m| &mut m.exponent, 0.0, f32::MAX),
    ("d", |m| &mut m.opacity, 0.0, 1.0),
    ("Tr", |m| &mut m.transparency, 0.0, 1.0),
    ("Pr", |m| &mut m.roughness, 0.0, 1.0),
    ("Pm", |m| &mut m.metallic, 0.0, 1.0),
    ("Ps", |m| &mut m.sheen, 0.0, 1.0),
    ("Pc", |m| &mut m.coat, 0.0, 1.0),
    ("Pcr", |m| &mut m.coat_roughness, 0.0, 1.0),
    ("aniso", |m| &mut m.anisotropy, 0.0, 1.0),
    ("anisor", |m| &mut m.rotation, -1.0, 1.0),
];

/// A statement of a texture: its name, and the texture.
type Map = (&'static str, fn(&mut MtlMaterial) -> &mut Option<MapFile>);

const MAPS: [Map; 12] = [
    ("map_Kd", |m| &mut m.diffuse_map),
    ("map_Ks", |m| &mut m.specular_map),
    ("map_Ke", |m| &mut m.emission_map),
    ("map_d", |m| &mut m.opacity_map),
    ("map_Pr", |m| &mut m.roughness_map),
    ("map_Pm", |m| &mut m.metallic_map),
    ("map_Ps", |m| &mut m.sheen_map),
    ("map_bump", |m| &mut m.height_map),
    ("bump", |m| &mut m.height_map),
    ("norm", |m| &mut m.normal_map),
    ("map_Kn", |m| &mut m.normal_map),
    ("map_norm", |m| &mut m.normal_map),
];

/// An image file and how it lies on the surface.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MapFile {
    pub(super) file: String,
    /// The line that names it.
    pub(super) line: usize,
    /// `-s` and `-o`, in u and v from the bottom: image = scale · uv + offset.
    pub(super) scale: Vec2,
    pub(super) offset: Vec2,
    /// `-clamp`.
    pub(super) clamp: bool,
    /// `-imfchan`: r, g, b, m (matte: alpha), l (luminance) or z.
    pub(super) channel: Option<char>,
    /// `-bm`.
    pub(super) strength: f32,
}

/// Reads the contents of a material library. `file` is its name in messages.
pub(super) fn read(file: &str, bytes: &[u8]) -> (Vec<MtlMaterial>, Vec<Problem>) {
    let mut library = Library::default();
    let (mut mistakes, mut warnings) = (Mistakes::default(), Vec::new());
    for (line, text) in logical_lines(bytes) {
        let words = split_words(&text);
        let Some(((span, keyword), _)) = words.split_first() else { continue };
        let whole = span.start..words[words.len() - 1].0.end;
        let at = |span: Option<_>, message| {
            Problem::at_line(file, line, &text, span.unwrap_or(whole.clone()), message)
        };
        let keyword = keyword.to_ascii_lowercase();
        // What is before all materials may be anything.
        let kind = if library.materials.is_empty() { "newmtl" } else { keyword.as_str() };
        let wrong = library.statement(line, &text, &words);
        for ((span, message), remedy) in library.forgiven.drain(..) {
            mistakes.add(kind, &remedy, || at(span, message));
        }
        if let Err((span, message)) = wrong {
            mistakes.add(kind, "the statement is left out", || at(span, message));
        }
        warnings.extend(library.warnings.drain(..).map(|message| at(None, message)));
    }
    warnings.extend(mistakes.into_warnings());
    let mut materials = library.materials;
    for material in &mut materials {
        let transparency = material.transparency.map(|t| 1.0 - t);
        material.opacity = material.opacity.or(transparency);
    }
    if !materials.is_empty() && materials.iter().all(|m| m.opacity == Some(0.0)) {
        materials.iter_mut().for_each(|m| m.opacity = None);
        // VCGlib, and so MeshLab until 2023, wrote `Tr 1` for what is opaque.
        let problem = Problem::of_file(file, "all materials are fully transparent");
        warnings.push(problem.forgiven("they are opaque, since some programs write Tr for d"));
    }
    (materials, warnings)
}

#[derive(Debug, Default)]
struct Library {
    materials: Vec<MtlMaterial>,
    names: BTreeSet<String>,
    /// Statements and options that have been warned of.
    warned: BTreeSet<String>,
    /// The statements of the last material.
    said: BTreeSet<String>,
    /// Warnings of the line at hand.
    warnings: Vec<String>,
    /// Mistakes in the line at hand that do not spoil it, and what is done about them.
    forgiven: Vec<(Complaint, String)>,
}

impl Library {
    fn statement(&mut self, line: usize, text: &str, words: &[Word<'_>]) -> Result<(), Complaint> {
        let Some(((_, keyword), rest)) = words.split_first() else { return Ok(()) };
        let is = |name: &str| keyword.eq_ignore_ascii_case(name);
        if is("newmtl") {
            self.begin(rest_of(text, rest));
            return Ok(());
        }
        if self.materials.is_empty() {
            return Err((None, "this belongs to no material; begin one with newmtl".into()));
        }
        self.warn_of_repetition(keyword);
        if let Some((_, number, lo, hi)) = NUMBERS.iter().find(|(name, ..)| is(name)) {
            let has_halo = rest.first().is_some_and(|w| w.1 == "-halo");
            let rest = if has_halo { &rest[1..] } else { rest };
            if has_halo && self.warned.insert("-halo".to_owned()) {
                self.warnings.push(not_applied("-halo", keyword));
            }
            let x = self.clamped(rest, *lo, *hi)?;
            self.set(|material| *number(material) = Some(x));
            return Ok(());
        }
        if let Some((name, map)) = MAPS.iter().find(|(name, _)| is(name)) {
            let found = self.map_file(line, text, rest, name)?;
            self.set(|material| *map(material) = Some(found));
            return Ok(());
        }
        match keyword.to_ascii_lowercase().as_str() {
            "kd" => {
                let color = self.reflectance(rest)?;
                self.set(|material| material.diffuse = Some(color));
            }
            "ks" => {
                let color = self.reflectance(rest)?;
                self.set(|material| material.specular = Some(color));
            }
            "ke" => {
                let color = self.color(rest, MAX_RADIANCE)?;
                self.set(|material| material.emission = Some(color));
            }
            "ni" => {
                let (_, ior, lo, hi) = IOR;
                let x = number_in(rest, lo, hi)?;
                self.set(|material| *ior(material) = Some(x));
            }
            "illum" => {
                let model = self.clamped(rest, 0.0, 10.0)? as u32;
                self.set(|material| material.model = Some(model));
            }
            // Light from everywhere that nothing casts shadows in.
            "ka" | "map_ka" => {}
            _ => self.warn_of(keyword),
        }
        Ok(())
    }

    /// Begins a material.
    fn begin(&mut self, name: Option<&str>) {
        if name.is_none() {
            let complaint = (None, "a material needs a name".to_owned());
            self.forgiven.push((complaint, "it is that of \"usemtl\" without a name".to_owned()));
        }
        let name = name.unwrap_or_default();
        if !self.names.insert(name.to_owned()) {
            self.warnings.push(format!("material {} is there already; the first counts", quoted(name)));
        }
        self.said.clear();
        self.materials.push(MtlMaterial { name: name.into(), ..MtlMaterial::default() });
    }

    /// Changes the last material.
    fn set(&mut self, change: impl FnOnce(&mut MtlMaterial)) {
        if let Some(material) = self.materials.last_mut() {
            change(material);
        }
    }

    fn warn_of_repetition(&mut self, keyword: &str) {
        let is = |name: &str| keyword.eq_ignore_ascii_case(name);
        let counts = NUMBERS.iter().any(|(name, ..)| is(name))
            || MAPS.iter().any(|(name, _)| is(name))
            || ["Kd", "Ks", "Ke", "Ni", "illum"].into_iter().any(is);
        if counts && !self.said.insert(keyword.to_ascii_lowercase()) {
            let name = self.materials.last().map_or("", |material| &material.name);
            let message = format!("material {} has {keyword} already; the last counts", quoted(name));
            self.warnings.push(message);
        }
    }

    /// A number, brought into a range.
    fn clamped(&mut self, words: &[Word<'_>], lo: f32, hi: f32) -> Result<f32, Complaint> {
        let word = words.first().ok_or((None, "a number is missing".to_owned()))?;
        let x = number(word)?;
        number_in(words, lo, hi).or_else(|complaint| {
            let nearest = x.clamp(lo, hi);
            self.forgiven.push((complaint, format!("it is taken as {nearest}")));
            Ok(nearest)
        })
    }

    /// Three numbers, or one for a grey.
    fn color(&mut self, words: &[Word<'_>], most: f32) -> Result<Vec3, Complaint> {
        if let Some((span, word @ ("spectral" | "xyz"))) = words.first() {
            return Err((
                Some(span.clone()),
                format!("{} colours are not read; write red, green and blue", quoted(word)),
            ));
        }
        match words {
            [_] => self.clamped(words, 0.0, most).map(Vec3::splat),
            [_, _, _, ..] => {
                let mut channel = |i: usize| self.clamped(&words[i..], 0.0, most);
                Ok(Vec3::new(channel(0)?, channel(1)?, channel(2)?))
            }
            _ => Err((None, format!("a colour has three numbers, and this one has {}", words.len()))),
        }
    }

    fn reflectance(&mut self, words: &[Word<'_>]) -> Result<Vec3, Complaint> {
        let color = self.color(words, f32::MAX)?;
        if color.max_element() > 1.0 {
            self.warnings.push("a surface reflects no more than 1; the colour is clamped".into());
        }
        Ok(color.min(Vec3::ONE))
    }

    /// Options, and the name of a file.
    fn map_file(
        &mut self,
        line: usize,
        text: &str,
        words: &[Word<'_>],
        keyword: &str,
    ) -> Result<MapFile, Complaint> {
        let (found, options) = map_file(line, text, words)?;
        for (span, option, is_known) in options {
            if !is_known {
                let message = format!("unknown option {} of {keyword}", quoted(option));
                self.forgiven.push(((Some(span), message), "it is left out".to_owned()));
            } else if self.warned.insert(option.to_owned()) {
                self.warnings.push(not_applied(option, keyword));
            }
        }
        let complaint = || (None, format!("{keyword} needs the name of an image"));
        found.ok_or_else(complaint)
    }

    fn warn_of(&mut self, keyword: &str) {
        const KNOWN: [&str; 14] = [
            "Tf",
            "Km",
            "Kt",
            "Fr",
            "Ft",
            "sharpness",
            "disp",
            "decal",
            "refl",
            "map_Ns",
            "map_aat",
            "map_refl",
            "map_RMA",
            "map_ORM",
        ];
        if !self.warned.insert(keyword.to_owned()) {
            return;
        }
        let known = KNOWN.iter().any(|known| known.eq_ignore_ascii_case(keyword));
        let what = if known { "is not supported" } else { "is not known" };
        self.warnings.push(format!("the statement {} {what}, and left out", quoted(keyword)));
    }
}

fn not_applied(option: &str, keyword: &str) -> String {
    format!("the option {} of {keyword} is not supported, and left out", quoted(option))
}

/// All of a line from its second word on: names may have spaces.
fn rest_of<'a>(text: &'a str, words: &[Word<'_>]) -> Option<&'a str> {
    let (first, last) = (words.first()?, words.last()?);
    Some(&text[first.0.start..last.0.end])
}

fn number((span, word): &Word<'_>) -> Result<f32, Complaint> {
    match word.parse::<f32>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err((Some(span.clone()), format!("{} is not finite", quoted(word)))),
        Err(_) => Err((Some(span.clone()), format!("{} is not a number", quoted(word)))),
    }
}

fn number_in(words: &[Word<'_>], lo: f32, hi: f32) -> Result<f32, Complaint> {
    let word = words.first().ok_or((None, "a number is missing".to_owned()))?;
    match number(word)? {
        x if (lo..=hi).contains(&x) => Ok(x),
        x if hi == f32::MAX => Err((Some(word.0.clone()), format!("{x} is below {lo}"))),
        x => Err((Some(word.0.clone()), format!("{x} is not from {lo} to {hi}"))),
    }
}

/// The options of textures.
const OPTIONS: [&str; 14] = [
    "-o",
    "-s",
    "-t",
    "-bm",
    "-clamp",
    "-imfchan",
    "-blendu",
    "-blendv",
    "-cc",
    "-boost",
    "-texres",
    "-type",
    "-mm",
    "-colorspace",
];

/// An option that is left out: where it is, its name, and whether it is known.
type LeftOut<'a> = (Range<usize>, &'a str, bool);

/// What the options say of an image, if its name follows, and the options that would change something and are left out.
fn map_file<'a>(
    line: usize,
    text: &str,
    mut words: &[Word<'a>],
) -> Result<(Option<MapFile>, Vec<LeftOut<'a>>), Complaint> {
    let mut left_out = Vec::new();
    let mut map = MapFile {
        file: String::new(),
        line,
        scale: Vec2::ONE,
        offset: Vec2::ZERO,
        clamp: false,
        channel: None,
        strength: 1.0,
    };
    while let Some(((span, option), rest)) = words.split_first().filter(|((_, w), _)| w.starts_with('-')) {
        let numbers = rest.iter().take(3).take_while(|(_, w)| w.parse::<f32>().is_ok()).count();
        let at = |i: usize, default: f32| match rest[..numbers].get(i) {
            Some((span, w)) => match number(&(span.clone(), w))? {
                x if x.abs() <= MAX_COORDINATE => Ok(x),
                _ => Err((Some(span.clone()), format!("{} is beyond ±{MAX_COORDINATE:e}", quoted(w)))),
            },
            None => Ok(default),
        };
        let word = rest.first().map_or("", |w| w.1);
        // Of how many words its value is, and whether nothing is left out.
        let (used, is_all) = match *option {
            "-o" => {
                map.offset = Vec2::new(at(0, 0.0)?, at(1, 0.0)?);
                (numbers, true)
            }
            "-s" => {
                map.scale = Vec2::new(at(0, 1.0)?, at(1, 1.0)?);
                (numbers, true)
            }
            "-bm" => {
                map.strength = at(0, 1.0)?;
                (1, true)
            }
            "-clamp" => {
                map.clamp = word == "on";
                (1, true)
            }
            "-imfchan" => {
                map.channel = word.chars().next().filter(|c| "rgbmlz".contains(*c));
                (1, true)
            }
            "-blendu" | "-blendv" => (1, word == "on"),
            "-cc" => (1, word == "off"),
            "-boost" => (1, at(0, 0.0)? == 0.0),
            "-texres" | "-type" | "-colorspace" => (1, false),
            "-mm" => (2, [at(0, 0.0)?, at(1, 1.0)?] == [0.0, 1.0]),
            "-t" => (numbers, [at(0, 0.0)?, at(1, 0.0)?, at(2, 0.0)?] == [0.0; 3]),
            // What follows an option that is not known are its values as far as they are numbers.
            _ => (numbers, false),
        };
        if !is_all {
            left_out.push((span.clone(), *option, OPTIONS.contains(option)));
        }
        words = rest.get(used..).unwrap_or_default();
    }
    // As on Windows, and in quotes as by some programs.
    let file = rest_of(text, words).map(|file| file.trim_matches('"').replace('\\', "/"));
    Ok((file.filter(|file| !file.is_empty()).map(|file| MapFile { file, ..map }), left_out))
}
