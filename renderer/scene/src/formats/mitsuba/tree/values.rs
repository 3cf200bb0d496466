//! Values of properties.

use std::path::Path;

use glam::{DAffine3, DMat3, DVec3};
use roxmltree::Node;
use torrance_text::{Suggestions, quoted, quoted_path};

use super::{Builder, Class, Context, OTHER_TAGS, Value, name_place, start_tag, tag_of};
use crate::description::limits::MAX_SPECTRUM_BYTES;
use crate::formats::mitsuba::source::{Position, Repeated};
use crate::formats::mitsuba::spectrum::Spectrum;
use crate::formats::mitsuba::transform;
use crate::input::file::{read_regular, text_of};
use crate::input::{Error, Problem};

/// How far from 1 the length of the axis of a rotation may be: axes of three digits are meant as those of unit length.
const LENGTH_TOLERANCE: f64 = 2e-3;

impl Builder<'_> {
    /// The value of a property, by its tag.
    pub(super) fn value(&mut self, node: &Node<'_, '_>, tag: &str, context: Context) -> Option<Value> {
        match tag {
            "integer" | "float" | "boolean" | "string" | "rgb" => {
                self.check_attributes(node, context, &["name", "value"]);
                let (text, place) = self.attribute(node, "value", context)?;
                self.simple_value(tag, text, &place)
            }
            "spectrum" => {
                self.check_attributes(node, context, &["name", "value", "filename"]);
                self.spectrum(node, context).map(Value::Spectrum)
            }
            "point" | "vector" => {
                self.check_attributes(node, context, &["name", "value", "x", "y", "z"]);
                self.vector(node, None, context).map(Value::Vector)
            }
            "transform" => {
                self.check_attributes(node, context, &["name"]);
                let mut total = DAffine3::IDENTITY;
                for step in node.children().filter(Node::is_element) {
                    total = self.step(&step, context)? * total;
                }
                Some(Value::Transform(total))
            }
            "ref" => {
                self.check_attributes(node, context, &["name", "id"]);
                Some(Value::Reference(self.attribute(node, "id", context)?.0))
            }
            _ => {
                let tags = Class::TAGS.iter().map(|(tag, _)| *tag).chain(OTHER_TAGS);
                let place = start_tag(node, context.file);
                if transform::STEPS.contains(&tag) {
                    return self.sources.error(&place, format!("<{tag}> belongs into a <transform>"));
                }
                self.sources.error(
                    &place,
                    format!("unknown element <{tag}>{}", meant(tag, tags, &self.sources.suggestions)),
                )
            }
        }
    }

    /// A spectrum, from `value` or from a file.
    fn spectrum(&mut self, node: &Node<'_, '_>, context: Context) -> Option<Spectrum> {
        if !node.has_attribute("filename") {
            let (text, place) = self.attribute(node, "value", context)?;
            return self.sources.value(&place, Spectrum::parse(&text));
        }
        if let Some(value) = node.attribute_node("value") {
            let message = "\"value\" is given by \"filename\" already; keep one of them";
            return self.sources.error(&name_place(&value, context.file), message);
        }
        let (name, place) = self.attribute(node, "filename", context)?;
        let path = self.tree.found(self.files, &self.sources.texts[context.file].folder, &name);
        let path = self.sources.read(&place, &format!("spectrum {}", quoted_path(&name)), path)?;
        if let Some(known) = self.spectra.get(&path) {
            return *known;
        }
        let spectrum = self.spectrum_file(&path, &place);
        self.spectra.insert(path, spectrum);
        spectrum
    }

    /// The text of a file; what is wrong with it is reported.
    pub(super) fn text<'b>(&self, shown: &str, bytes: &'b [u8]) -> Option<&'b str> {
        let report = |error: Error| error.problems.into_iter().for_each(|p| self.sources.push(p));
        text_of(shown, bytes).map_err(report).ok()
    }

    fn spectrum_file(&self, path: &Path, place: &Position) -> Option<Spectrum> {
        let shown = path.display().to_string();
        let bytes = read_regular(path, MAX_SPECTRUM_BYTES);
        let bytes = self.sources.read(place, &format!("spectrum {}", quoted_path(&shown)), bytes)?;
        let text = self.text(&shown, &bytes)?;
        match Spectrum::parse_file(text) {
            Ok((spectrum, excess)) => {
                if let Some(span) = excess {
                    let message = "what follows the first two numbers of a line is passed over";
                    self.sources.push_warning(Problem::at(&shown, text, span, message));
                }
                Some(spectrum)
            }
            Err((span, error)) => {
                self.sources.push(Problem::at(&shown, text, span, error.to_string()));
                None
            }
        }
    }

    fn simple_value(&self, tag: &str, text: String, place: &Position) -> Option<Value> {
        let wrong = |what: &str| self.sources.error(place, format!("{} is not {what}", quoted(&text)));
        match tag {
            "integer" => text.trim().parse().ok().map(Value::Integer).or_else(|| wrong("a whole number")),
            "float" => self.number(&text, place).map(Value::Float),
            "boolean" if text.eq_ignore_ascii_case("true") => Some(Value::Boolean(true)),
            "boolean" if text.eq_ignore_ascii_case("false") => Some(Value::Boolean(false)),
            "boolean" => wrong("\"true\" or \"false\""),
            "string" => Some(Value::Text(text)),
            _ => match numbers(&text).as_deref() {
                Some([grey]) => Some(Value::Rgb([*grey; 3])),
                Some([r, g, b]) => Some(Value::Rgb([*r, *g, *b])),
                _ => wrong("one number or three: red, green and blue"),
            },
        }
    }

    /// Three numbers, from `value` or from `x`, `y` and `z`, of which those that are missing are `default`.
    fn vector(&mut self, node: &Node<'_, '_>, default: Option<f64>, context: Context) -> Option<DVec3> {
        if node.has_attribute("value") {
            if let Some(other) = ["x", "y", "z"].iter().find_map(|name| node.attribute_node(*name)) {
                let message = format!("{:?} is given by \"value\" already; keep one of them", other.name());
                return self.sources.error(&name_place(&other, context.file), message);
            }
            let (text, place) = self.attribute(node, "value", context)?;
            return match numbers(&text).as_deref() {
                Some([x]) => Some(DVec3::splat(*x)),
                Some([x, y, z]) => Some(DVec3::new(*x, *y, *z)),
                _ => self.sources.error(&place, format!("{} is not one number or three", quoted(&text))),
            };
        }
        let mut out = [0.0; 3];
        for (name, out) in ["x", "y", "z"].iter().zip(&mut out) {
            *out = match default {
                Some(default) if !node.has_attribute(*name) => default,
                _ => {
                    let (text, place) = self.attribute(node, name, context)?;
                    self.number(&text, &place)?
                }
            };
        }
        Some(DVec3::from(out))
    }

    fn number(&self, text: &str, place: &Position) -> Option<f64> {
        number(text).or_else(|| self.sources.error(place, format!("{} is not a finite number", quoted(text))))
    }

    /// A step of a transform.
    fn step(&mut self, node: &Node<'_, '_>, context: Context) -> Option<DAffine3> {
        let tag = tag_of(node);
        let place = start_tag(node, context.file);
        match tag {
            "translate" | "scale" => {
                self.check_attributes(node, context, &["value", "x", "y", "z"]);
                let is_scale = tag == "scale";
                let v = self.vector(node, Some(if is_scale { 1.0 } else { 0.0 }), context)?;
                Some(if is_scale { DAffine3::from_scale(v) } else { DAffine3::from_translation(v) })
            }
            "rotate" => {
                self.check_attributes(node, context, &["value", "x", "y", "z", "angle"]);
                let axis = self.vector(node, Some(0.0), context)?;
                let (angle, angle_place) = self.attribute(node, "angle", context)?;
                let degrees = self.number(&angle, &angle_place)?;
                if axis == DVec3::ZERO {
                    return self.sources.error(&place, "the axis of a rotation has no direction");
                }
                if (axis.length() - 1.0).abs() > LENGTH_TOLERANCE {
                    let message = format!(
                        "the axis of this rotation has the length {:.4}, so that it stretches as well, as in Mitsuba",
                        axis.length()
                    );
                    self.sources.warn_each(Repeated::Axis, &place, message);
                }
                Some(DAffine3::from_mat3(transform::rotation(axis, degrees)))
            }
            "lookat" | "lookAt" => {
                self.check_attributes(node, context, &["origin", "target", "up"]);
                let origin = self.triple(node, "origin", context)?;
                let target = self.triple(node, "target", context)?;
                let up = match node.has_attribute("up") {
                    true => self.triple(node, "up", context)?,
                    false => DVec3::ZERO,
                };
                self.sources.value(&place, transform::look_at(origin, target, up))
            }
            "matrix" => {
                self.check_attributes(node, context, &["value"]);
                let (text, place) = self.attribute(node, "value", context)?;
                self.matrix(&text, &place)
            }
            _ => {
                let near = meant(tag, transform::STEPS, &self.sources.suggestions);
                self.sources.error(&place, format!("<{tag}> is no step of a <transform>{near}"))
            }
        }
    }

    /// Four rows of four numbers, or three of three.
    fn matrix(&self, text: &str, place: &Position) -> Option<DAffine3> {
        const NO_NUMBERS: &str = "a matrix has 16 numbers, or 9: row by row";
        let Some(m) = numbers(text) else { return self.sources.error(place, NO_NUMBERS) };
        let rows = match m.len() {
            16 => 4,
            9 => 3,
            n => return self.sources.error(place, format!("{NO_NUMBERS}; these are {n}")),
        };
        if rows == 4 && m[12..] != [0.0, 0.0, 0.0, 1.0] {
            return self.sources.error(place, "the last row of a matrix has to be 0 0 0 1");
        }
        let column = |c: usize| DVec3::new(m[c], m[rows + c], m[2 * rows + c]);
        let translation = if rows == 4 { column(3) } else { DVec3::ZERO };
        Some(DAffine3 { matrix3: DMat3::from_cols(column(0), column(1), column(2)), translation })
    }

    /// An attribute of three numbers.
    fn triple(&mut self, node: &Node<'_, '_>, name: &str, context: Context) -> Option<DVec3> {
        let (text, place) = self.attribute(node, name, context)?;
        match numbers(&text).as_deref() {
            Some([x, y, z]) => Some(DVec3::new(*x, *y, *z)),
            _ => self.sources.error(&place, format!("{} is not three numbers", quoted(&text))),
        }
    }
}

/// The question whether another tag is meant, if one is like it.
fn meant<'a>(tag: &str, tags: impl IntoIterator<Item = &'a str>, suggestions: &Suggestions) -> String {
    suggestions.nearest(tag, tags).map_or_else(String::new, |near| format!("; did you mean <{near}>?"))
}

/// A finite number.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|x: &f64| x.is_finite())
}

/// Finite numbers between commas and spaces.
pub(crate) fn numbers(text: &str) -> Option<Vec<f64>> {
    text.split([',', ' ', '\t', '\n', '\r']).filter(|t| !t.is_empty()).map(number).collect()
}
