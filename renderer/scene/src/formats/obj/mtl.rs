//! Material libraries of OBJ files: what they say, statement by statement.
//!
//! The statements are those of Wavefront's format and of its extension to physically based materials (Clara.io 2014).
//! Statements without effect here are warned of, once for each kind.

use std::collections::BTreeSet;

use glam::{Vec2, Vec3};
use torrance_text::quoted;

use crate::description::limits::{MAX_COORDINATE, MAX_IOR, MAX_RADIANCE};
use crate::files::mesh::obj::scan::{Complaint, MOST, Word, logical_lines, split_words};
use crate::input::{Error, Problem};

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
    pub(super) opacity: Option<f32>,
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

/// The statements of numbers. `Tr` is 1 − `d`.
const NUMBERS: [Number; 10] = [
    ("Ns", |m| &mut m.exponent, 0.0, f32::MAX),
    ("Ni", |m| &mut m.ior, 0.001, MAX_IOR),
    ("d", |m| &mut m.opacity, 0.0, 1.0),
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

const MAPS: [Map; 15] = [
    ("map_Kd", |m| &mut m.diffuse_map),
    ("map_Ks", |m| &mut m.specular_map),
    ("map_Ke", |m| &mut m.emission_map),
    ("map_d", |m| &mut m.opacity_map),
    ("map_Pr", |m| &mut m.roughness_map),
    ("map_Pm", |m| &mut m.metallic_map),
    ("map_Ps", |m| &mut m.sheen_map),
    ("map_bump", |m| &mut m.height_map),
    ("map_Bump", |m| &mut m.height_map),
    ("bump", |m| &mut m.height_map),
    ("norm", |m| &mut m.normal_map),
    ("map_Kn", |m| &mut m.normal_map),
    ("map_norm", |m| &mut m.normal_map),
    ("map_ke", |m| &mut m.emission_map),
    ("map_kd", |m| &mut m.diffuse_map),
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
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<(Vec<MtlMaterial>, Vec<Problem>), Error> {
    let mut library = Library::default();
    let (mut problems, mut warnings) = (Vec::new(), Vec::new());
    for (line, text) in logical_lines(bytes) {
        let words = split_words(&text);
        let Some(((span, _), _)) = words.split_first() else { continue };
        let whole = span.start..words[words.len() - 1].0.end;
        if let Err((span, message)) = library.statement(line, &text, &words) {
            problems.push(Problem::at_line(file, line, &text, span.unwrap_or(whole.clone()), message));
            if problems.len() >= MOST {
                break;
            }
        }
        let found = library.warnings.drain(..);
        warnings.extend(found.map(|m| Problem::at_line(file, line, &text, whole.clone(), m)));
    }
    if problems.is_empty() { Ok((library.materials, warnings)) } else { Err(Error { problems }) }
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
}

impl Library {
    fn statement(&mut self, line: usize, text: &str, words: &[Word<'_>]) -> Result<(), Complaint> {
        let Some(((_, keyword), rest)) = words.split_first() else { return Ok(()) };
        if *keyword == "newmtl" {
            let name = rest_of(text, rest).ok_or((None, "a material needs a name".to_owned()))?;
            if !self.names.insert(name.to_owned()) {
                self.warnings.push(format!("material {} is there already; the first counts", quoted(name)));
            }
            self.said.clear();
            self.materials.push(MtlMaterial { name: name.into(), ..MtlMaterial::default() });
            return Ok(());
        }
        let Some(material) = self.materials.last_mut() else {
            return Err((None, "this belongs to no material; begin one with newmtl".into()));
        };
        let counts = NUMBERS.iter().any(|(name, ..)| name == keyword)
            || MAPS.iter().any(|(name, _)| name == keyword)
            || ["Kd", "Ks", "Ke", "Tr", "illum"].contains(keyword);
        if counts && !self.said.insert((*keyword).to_owned()) {
            let message =
                format!("material {} has {keyword} already; the last counts", quoted(&material.name));
            self.warnings.push(message);
        }
        if let Some((_, number, lo, hi)) = NUMBERS.iter().find(|(name, ..)| name == keyword) {
            let has_halo = rest.first().is_some_and(|w| w.1 == "-halo");
            let rest = if has_halo { &rest[1..] } else { rest };
            if has_halo && self.warned.insert("-halo".to_owned()) {
                self.warnings.push(not_applied("-halo", keyword));
            }
            *number(material) = Some(number_in(rest, *lo, *hi)?);
            return Ok(());
        }
        if let Some((name, map)) = MAPS.iter().find(|(name, _)| name == keyword) {
            let (found, left_out) = map_file(line, text, rest, name)?;
            let new = left_out.into_iter().filter(|option| self.warned.insert((*option).to_owned()));
            self.warnings.extend(new.map(|option| not_applied(option, name)));
            *map(material) = Some(found);
            return Ok(());
        }
        match *keyword {
            "Kd" => material.diffuse = Some(color(rest, f32::MAX)?),
            "Ks" => material.specular = Some(color(rest, f32::MAX)?),
            "Ke" => material.emission = Some(color(rest, MAX_RADIANCE)?),
            "Tr" => material.opacity = Some(1.0 - number_in(rest, 0.0, 1.0)?),
            "illum" => material.model = Some(number_in(rest, 0.0, 10.0)? as u32),
            // Light from everywhere that nothing casts shadows in.
            "Ka" | "map_Ka" => {}
            other => self.warn_of(other),
        }
        let Some(MtlMaterial { diffuse, specular, .. }) = self.materials.last_mut() else { return Ok(()) };
        for color in [diffuse, specular].into_iter().flatten().filter(|color| color.max_element() > 1.0) {
            self.warnings.push("a surface reflects no more than 1; the colour is clamped".into());
            *color = color.min(Vec3::ONE);
        }
        Ok(())
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
        let known = KNOWN.contains(&keyword);
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

/// Three numbers, or one for a grey.
fn color(words: &[Word<'_>], most: f32) -> Result<Vec3, Complaint> {
    if let Some((span, word @ ("spectral" | "xyz"))) = words.first() {
        return Err((
            Some(span.clone()),
            format!("{} colours are not read; write red, green and blue", quoted(word)),
        ));
    }
    match words {
        [_] => number_in(words, 0.0, most).map(Vec3::splat),
        [_, _, _, ..] => {
            let channel = |i: usize| number_in(&words[i..], 0.0, most);
            Ok(Vec3::new(channel(0)?, channel(1)?, channel(2)?))
        }
        _ => Err((None, format!("a colour has three numbers, and this one has {}", words.len()))),
    }
}

/// Options, and the name of a file; and the options that would change something, and are not supported.
fn map_file<'a>(
    line: usize,
    text: &str,
    mut words: &[Word<'a>],
    keyword: &str,
) -> Result<(MapFile, Vec<&'a str>), Complaint> {
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
            "-texres" | "-type" => (1, false),
            "-mm" => (2, [at(0, 0.0)?, at(1, 1.0)?] == [0.0, 1.0]),
            "-t" => (numbers, [at(0, 0.0)?, at(1, 0.0)?, at(2, 0.0)?] == [0.0; 3]),
            other => {
                return Err((Some(span.clone()), format!("unknown option {} of {keyword}", quoted(other))));
            }
        };
        left_out.extend((!is_all).then_some(*option));
        words = rest.get(used..).unwrap_or_default();
    }
    let file = rest_of(text, words).ok_or((None, format!("{keyword} needs the name of an image")))?;
    // As on Windows.
    map.file = file.replace('\\', "/");
    Ok((map, left_out))
}
