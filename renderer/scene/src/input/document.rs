//! A TOML document read key by key: every value knows its place, and everything wrong is collected
//! rather than only the first.

use std::cell::{OnceCell, RefCell};
use std::ops::{Range, RangeInclusive};

use glam::Vec3;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};
use torrance_image::film::develop::srgb_decode;
use torrance_text::{Suggestions, quoted};

use super::problem::{Error, Index, MOST_PROBLEMS, Problem};

/// Suggests the meaning of a key that is not among the known ones, so that it can follow a semicolon.
pub(crate) type Suggest = fn(key: &str, known: &[&str]) -> Option<String>;

/// Beginning of messages about text that is not TOML.
pub(crate) const NOT_TOML: &str = "not valid TOML: ";

/// A file, and what was found wrong in it so far.
pub struct Source<'a> {
    /// The name of the file, for messages.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
    suggest: Suggest,
    pub(crate) suggestions: Suggestions,
    /// Made with the first problem.
    index: OnceCell<Index>,
    /// At most [`MOST_PROBLEMS`].
    pub errors: RefCell<Vec<Problem>>,
    /// Warnings so far.
    pub warnings: RefCell<Vec<Problem>>,
}

impl<'a> Source<'a> {
    fn new(file: &'a str, text: &'a str, suggest: Suggest) -> Self {
        Self {
            file,
            text,
            suggest,
            suggestions: Suggestions::default(),
            index: OnceCell::new(),
            errors: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    /// A problem at a place of this file, not yet collected.
    pub fn problem(&self, span: Range<usize>, message: impl Into<String>) -> Problem {
        let index = self.index.get_or_init(|| Index::new(self.text));
        Problem::at_indexed(self.file, self.text, index, span, message)
    }

    /// Reports an error at a place.
    pub fn error(&self, span: Range<usize>, message: impl Into<String>) {
        if self.errors.borrow().len() < MOST_PROBLEMS {
            self.push(self.problem(span, message));
        }
    }

    /// Reports an error.
    pub fn push(&self, problem: Problem) {
        let mut errors = self.errors.borrow_mut();
        if errors.len() < MOST_PROBLEMS {
            errors.push(problem);
        }
    }

    /// Reports a warning.
    pub fn warn(&self, problem: Problem) {
        self.warnings.borrow_mut().push(problem);
    }

    /// What a key that is not among the `known` may mean, to end a message; nothing if there have been enough.
    fn meaning(&self, key: &str, known: &[&str]) -> String {
        let meaning = if self.suggestions.allow() { (self.suggest)(key, known) } else { None };
        match meaning {
            Some(meaning) => format!("; {meaning}"),
            None => self.suggestions.hint(key, "valid are", || known.iter().copied()),
        }
    }

    /// The text at `span`, on one line and not too long.
    fn written(&self, span: &Range<usize>) -> String {
        let text = self.text.get(span.clone()).unwrap_or_default().trim();
        match text.char_indices().nth(40) {
            Some((end, _)) => text[..end].escape_debug().to_string() + "…",
            None => text.escape_debug().to_string(),
        }
    }
}

/// Parses the text of a TOML file and has `read` make something of the document, which messages call `name`. Gives that
/// and what looks suspicious, or everything that is wrong.
pub fn parse<T>(
    file: &str,
    text: &str,
    name: &str,
    suggest: Suggest,
    read: impl FnOnce(&Section<'_>) -> Option<T>,
) -> Result<(T, Vec<Problem>), Error> {
    let src = Source::new(file, text, suggest);
    let (document, mut syntax_errors) = DeTable::parse_recoverable(text);
    if !syntax_errors.is_empty() {
        syntax_errors.sort_by_key(|e| e.span().map(|span| span.start));
        // Behind a place that is no TOML, parsers lose their way: what they complain of there may well be right.
        let lost = syntax_errors.iter().position(|e| e.message() != "duplicate key");
        let count = lost.map_or(syntax_errors.len(), |i| i + 1).min(MOST_PROBLEMS);
        let problems = syntax_errors[..count].iter().map(|e| syntax_error(&src, e)).collect();
        return Err(Error { problems: sorted(file, problems) });
    }
    let made = read(&Section::new(&src, Table::Parsed(document.get_ref()), 0..0, name));
    let errors = src.errors.into_inner();
    match made {
        Some(made) if errors.is_empty() => Ok((made, sorted(file, src.warnings.into_inner()))),
        _ => Err(Error { problems: sorted(file, errors) }),
    }
}

/// As [`parse`], of a document that is no text. `None` if there is anything to say of it: only of text it can be said well.
pub fn read_plain<T>(
    file: &str,
    document: &toml::Table,
    suggest: Suggest,
    read: impl FnOnce(&Section<'_>) -> Option<T>,
) -> Option<T> {
    let src = Source::new(file, "", suggest);
    let made = read(&Section::new(&src, Table::Plain(document), 0..0, ""))?;
    (src.errors.into_inner().is_empty() && src.warnings.into_inner().is_empty()).then_some(made)
}

/// A table, of text or not.
#[derive(Clone, Copy)]
enum Table<'a> {
    Parsed(&'a DeTable<'a>),
    Plain(&'a toml::Table),
}

/// A value, likewise.
#[derive(Clone, Copy)]
enum Node<'a> {
    Parsed(&'a Spanned<DeValue<'a>>),
    Plain(&'a Value),
}

/// What a value is. Numbers are `None` if they are too large for anything.
enum Kind<'a> {
    String(&'a str),
    Integer(Option<i128>),
    Float(Option<f64>),
    Boolean(bool),
    Date,
    Array(Vec<Node<'a>>),
    Table(Table<'a>),
}

impl<'a> Table<'a> {
    /// A key, where it is, and its value.
    fn get(self, key: &str) -> Option<(&'a str, Range<usize>, Node<'a>)> {
        match self {
            Self::Parsed(table) => {
                let (key, value) = table.get_key_value(key)?;
                Some((key.get_ref(), key.span(), Node::Parsed(value)))
            }
            Self::Plain(table) => {
                let (key, value) = table.get_key_value(key)?;
                Some((key, 0..0, Node::Plain(value)))
            }
        }
    }

    /// All of them, in the order of the file.
    fn entries(self) -> Vec<(&'a str, Range<usize>, Node<'a>)> {
        match self {
            Self::Parsed(table) => {
                let entry = |(key, value): (&'a Spanned<std::borrow::Cow<'a, str>>, _)| {
                    (key.get_ref().as_ref(), key.span(), Node::Parsed(value))
                };
                let mut entries: Vec<_> = table.iter().map(entry).collect();
                entries.sort_by_key(|(_, span, _)| span.start);
                entries
            }
            Self::Plain(table) => {
                table.iter().map(|(key, value)| (key.as_str(), 0..0, Node::Plain(value))).collect()
            }
        }
    }
}

impl<'a> Node<'a> {
    fn span(self) -> Range<usize> {
        match self {
            Self::Parsed(value) => value.span(),
            Self::Plain(_) => 0..0,
        }
    }

    fn kind(self) -> Kind<'a> {
        match self {
            Self::Parsed(value) => match value.get_ref() {
                DeValue::String(text) => Kind::String(text),
                DeValue::Integer(i) => Kind::Integer(i128::from_str_radix(i.as_str(), i.radix()).ok()),
                DeValue::Float(x) => Kind::Float(x.as_str().parse().ok()),
                DeValue::Boolean(is_so) => Kind::Boolean(*is_so),
                DeValue::Datetime(_) => Kind::Date,
                DeValue::Array(array) => Kind::Array(array.iter().map(Node::Parsed).collect()),
                DeValue::Table(table) => Kind::Table(Table::Parsed(table)),
            },
            Self::Plain(value) => match value {
                Value::String(text) => Kind::String(text),
                Value::Integer(i) => Kind::Integer(Some((*i).into())),
                Value::Float(x) => Kind::Float(Some(*x)),
                Value::Boolean(is_so) => Kind::Boolean(*is_so),
                Value::Datetime(_) => Kind::Date,
                Value::Array(array) => Kind::Array(array.iter().map(Node::Plain).collect()),
                Value::Table(table) => Kind::Table(Table::Plain(table)),
            },
        }
    }
}

/// In the order of the file, then of the files it uses.
pub fn sorted(file: &str, mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by_cached_key(|p| (p.file != file, p.file.clone(), p.place));
    problems.dedup();
    problems
}

fn syntax_error(src: &Source<'_>, error: &toml::de::Error) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let before = src.text.get(..span.start).unwrap_or_default();
    let rest = src.text.get(span.start..).unwrap_or_default();
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
    let message = match error.message() {
        "duplicate key" => {
            let key = src.text.get(span.clone()).unwrap_or_default();
            format!("{} is defined twice", quoted(key))
        }
        _ if before.trim_end_matches([' ', '\t']).ends_with('=')
            && (rest.is_empty() || rest.starts_with('\n')) =>
        {
            "there is no value after \"=\"".to_owned()
        }
        "invalid basic string, expected `\"`" => "this string has no \" at its end".to_owned(),
        "missing comma between array elements, expected `,`" => {
            "there is no \",\" between two elements of an array, or no \"]\" at its end".to_owned()
        }
        other => other.replace('`', "\""),
    };
    src.problem(span, format!("{NOT_TOML}{message}"))
}

/// A table of the document.
#[derive(Clone)]
pub struct Section<'a> {
    /// The file.
    pub src: &'a Source<'a>,
    table: Table<'a>,
    /// Where its header, or the whole inline table, stands.
    pub span: Range<usize>,
    /// Its name in messages, e.g. `[camera]` or `shapes[2]`.
    pub name: String,
    /// The section that has the values which this one lacks.
    below: Option<Box<Section<'a>>>,
}

impl<'a> Section<'a> {
    /// A section of the file: its table, where it is, and its name in messages.
    fn new(src: &'a Source<'a>, table: Table<'a>, span: Range<usize>, name: impl Into<String>) -> Self {
        Self { src, table, span, name: name.into(), below: None }
    }

    /// This section, over others that have the values which are not in it.
    pub fn over(mut self, below: Option<Self>) -> Self {
        match self.below.take() {
            Some(mine) => self.below = Some(Box::new(mine.over(below))),
            None => self.below = below.map(Box::new),
        }
        self
    }

    /// The value of a key, if it is there or below.
    pub fn get(&self, key: &str) -> Option<Field<'a>> {
        self.own(key).or_else(|| self.below.as_ref()?.get(key))
    }

    /// The value of a key, if it is in this very table.
    pub fn own(&self, key: &str) -> Option<Field<'a>> {
        let (key, key_span, value) = self.table.get(key)?;
        Some(Field { src: self.src, key_span, name: quoted(key), value })
    }

    /// The value of a key that must be there.
    pub fn require(&self, key: &str, example: &str) -> Option<Field<'a>> {
        let field = self.get(key);
        if field.is_none() {
            self.src.error(self.span.clone(), format!("{} lacks {key:?}, for example: {example}", self.name));
        }
        field
    }

    /// Reports two keys for the same thing, where `at` is.
    pub fn reject_both(&self, [a, b]: [&str; 2], at: &str) -> Option<()> {
        if self.get(a).is_none() || self.get(b).is_none() {
            return Some(());
        }
        let message = format!("{} gives both {a:?} and {b:?}; keep one", self.name);
        self.src.error(self.get(at)?.key_span, message);
        None
    }

    /// Reports the first of keys that `whole`, if it is there, says already.
    pub fn reject_beside(&self, whole: &str, others: &[&str]) -> Option<()> {
        let other = self.get(whole).and_then(|_| others.iter().find_map(|key| self.get(key)));
        let Some(Field { name, key_span, .. }) = other else { return Some(()) };
        self.src.error(key_span, format!("{name} is given by {whole:?} already; keep one of them"));
        None
    }

    /// Everything in the table, in the order of the file.
    pub fn entries(&self) -> Vec<(&'a str, Field<'a>)> {
        let field =
            |(key, key_span, value)| (key, Field { src: self.src, key_span, name: quoted(key), value });
        self.table.entries().into_iter().map(field).collect()
    }

    /// Reports every key that is not among `known`.
    pub fn reject_unknown_keys(&self, known: &[&str]) {
        for (key, span, _) in self.table.entries() {
            if !known.contains(&key) {
                let what = format!("unknown key {} in {}", quoted(key), self.name);
                let hint = self.src.meaning(key, known);
                self.src.error(span, what + &hint);
            }
        }
    }
}

/// A value of the document and what it is called.
#[derive(Clone)]
pub struct Field<'a> {
    /// The file.
    pub src: &'a Source<'a>,
    /// Where the key is, bytes.
    pub key_span: Range<usize>,
    /// Its key, quoted.
    pub name: String,
    value: Node<'a>,
}

impl<'a> Field<'a> {
    /// Where the value is, bytes.
    pub fn span(&self) -> Range<usize> {
        self.value.span()
    }

    /// Reports that the value is wrong: `"key" WHY`.
    pub fn fail<T>(&self, why: &str) -> Option<T> {
        self.src.error(self.span(), format!("{} {why}", self.name));
        None
    }

    /// Says at the key what is suspicious.
    pub fn warn(&self, message: &str) {
        self.src.warn(self.src.problem(self.key_span.clone(), message));
    }

    /// Reports that the value is wrong: `"key" RULE, not VALUE`.
    pub fn reject<T>(&self, rule: &str) -> Option<T> {
        self.fail(&format!("{rule}, not {}", self.written()))
    }

    /// Reports that the value is of the wrong type.
    pub fn wrong_type<T>(&self, expected: &str) -> Option<T> {
        let found = match self.value.kind() {
            Kind::String(text) => format!("the string {}", quoted(text)),
            Kind::Integer(_) | Kind::Float(_) => format!("the number {}", self.written()),
            Kind::Boolean(is_so) => is_so.to_string(),
            Kind::Date => "a date".to_owned(),
            Kind::Array(array) => format!("an array of {}", array.len()),
            Kind::Table(_) => "a table".to_owned(),
        };
        self.fail(&format!("must be {expected}, not {found}"))
    }

    /// Its text in the file.
    pub fn written(&self) -> String {
        self.src.written(&self.span())
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.value.kind(), Kind::Array(_))
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.value.kind(), Kind::Table(_))
    }

    /// Whether it is an integer or a float.
    pub fn is_number(&self) -> bool {
        matches!(self.value.kind(), Kind::Integer(_) | Kind::Float(_))
    }

    /// The value if it is a boolean; no complaint otherwise.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value.kind() {
            Kind::Boolean(is_so) => Some(is_so),
            _ => None,
        }
    }

    /// The value if it is a string; no complaint otherwise.
    pub fn as_str(&self) -> Option<&'a str> {
        match self.value.kind() {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// `true` or `false`, or an error.
    pub fn boolean(&self) -> Option<bool> {
        self.as_bool().or_else(|| self.wrong_type("true or false"))
    }

    /// Text, or an error.
    pub fn string(&self) -> Option<&'a str> {
        self.as_str().or_else(|| self.wrong_type("a string"))
    }

    /// A table, which messages call `name`, or an error.
    pub fn table(&self, name: impl Into<String>) -> Option<Section<'a>> {
        match self.value.kind() {
            Kind::Table(table) => Some(Section::new(self.src, table, self.span(), name)),
            _ => self.wrong_type("a table"),
        }
    }

    /// The elements of an array, or an error that says what it should be an array of.
    pub fn array(&self, of: &str) -> Option<Vec<Field<'a>>> {
        let Kind::Array(array) = self.value.kind() else {
            return self.wrong_type(of);
        };
        let item =
            |value| Field { src: self.src, key_span: self.key_span.clone(), name: self.name.clone(), value };
        Some(array.into_iter().map(item).collect())
    }

    /// A whole number in `range`.
    pub fn integer(&self, range: RangeInclusive<u32>) -> Option<u32> {
        let value = match self.value.kind() {
            Kind::Integer(i) => i.and_then(|i| u32::try_from(i).ok()).filter(|v| range.contains(v)),
            Kind::Float(_) => None,
            _ => return self.wrong_type("a whole number"),
        };
        let rule = || format!("must be a whole number between {} and {}", range.start(), range.end());
        value.or_else(|| self.reject(&rule()))
    }

    /// A whole number from 0 upwards without another bound.
    pub fn natural(&self) -> Option<u64> {
        match self.value.kind() {
            Kind::Integer(i) => {
                let value = i.and_then(|i| u64::try_from(i).ok());
                value.or_else(|| self.reject("must be a whole number that is not negative"))
            }
            Kind::Float(_) => self.reject("must be a whole number"),
            _ => self.wrong_type("a whole number"),
        }
    }

    /// Whether this is the number 0; reports nothing.
    pub fn is_zero(&self) -> bool {
        match self.value.kind() {
            Kind::Integer(i) => i == Some(0),
            Kind::Float(x) => x == Some(0.0),
            _ => false,
        }
    }

    /// A finite number; integers count as well.
    pub fn number(&self) -> Option<f64> {
        let value = match self.value.kind() {
            Kind::Integer(i) => i.map(|i| i as f64),
            Kind::Float(x) => x,
            _ => return self.wrong_type("a number"),
        };
        value.filter(|v| v.is_finite()).or_else(|| self.reject("must be a finite number"))
    }

    /// A number in `[low, high]`.
    pub fn number_in(&self, low: f32, high: f32) -> Option<f32> {
        // Rounded before it is compared: bounds are written as they are printed.
        let value = self.number()? as f32;
        if (low..=high).contains(&value) { Some(value) } else { self.reject(&between(low, high)) }
    }

    /// Three numbers in `[-limit, limit]`.
    pub fn vec3(&self, limit: f32) -> Option<Vec3> {
        let [x, y, z] = self.numbers("three numbers, for example [0, 1, 0]")?;
        let number = |field: Field<'_>| field.number_in(-limit, limit);
        Some(Vec3::new(number(x)?, number(y)?, number(z)?))
    }

    /// An array of exactly `N` values.
    pub fn numbers<const N: usize>(&self, what: &str) -> Option<[Field<'a>; N]> {
        self.array(what)?.try_into().ok().or_else(|| self.wrong_type(what))
    }

    /// Rows of numbers in `[-limit, limit]`.
    pub fn matrix<const ROWS: usize, const COLUMNS: usize>(
        &self,
        what: &str,
        limit: f32,
    ) -> Option<[[f32; COLUMNS]; ROWS]> {
        let mut m = [[0.0; COLUMNS]; ROWS];
        for (row, out) in self.numbers::<ROWS>(what)?.iter().zip(&mut m) {
            for (number, out) in row.numbers::<COLUMNS>(what)?.iter().zip(out) {
                *out = number.number_in(-limit, limit)?;
            }
        }
        Some(m)
    }

    /// A colour with channels in `[0, high]`: `[r, g, b]` or a grey number, both linear, or `"#rrggbb"`, sRGB.
    pub fn color(&self, high: f32) -> Option<Vec3> {
        const WHAT: &str = "a colour: [r, g, b], a number for grey, or \"#rrggbb\"";
        match self.value.kind() {
            Kind::Integer(_) | Kind::Float(_) => self.number_in(0.0, high).map(Vec3::splat),
            Kind::String(hex) => parse_hex(hex).or_else(|| self.wrong_type(WHAT)),
            Kind::Array(_) => {
                let [r, g, b] = self.numbers(WHAT)?.map(|channel| channel.number_in(0.0, high));
                Some(Vec3::new(r?, g?, b?))
            }
            _ => self.wrong_type(WHAT),
        }
    }

    /// One of several words.
    pub fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        let word = self.string()?;
        let found = choices.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
        if found.is_none() {
            let names = || choices.iter().map(|(name, _)| *name);
            let hint = self.src.suggestions.hint(word, "it is", names);
            self.src.error(
                self.span(),
                format!("unknown {} {}{hint}", self.name.trim_matches('"'), quoted(word)),
            );
        }
        found
    }
}

/// The rule a number outside `[low, high]` breaks.
fn between(low: f32, high: f32) -> String {
    let plain = |v: f32| if v.abs() >= 1e6 { format!("{v:e}") } else { v.to_string() };
    format!("must be between {} and {}", plain(low), plain(high))
}

/// `#rrggbb`, sRGB, as linear light.
pub fn parse_hex(text: &str) -> Option<Vec3> {
    let digits =
        text.strip_prefix('#').filter(|d| d.len() == 6 && d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let channel = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).ok().map(linear_from_srgb);
    Some(Vec3::new(channel(0)?, channel(2)?, channel(4)?))
}

fn linear_from_srgb(byte: u8) -> f32 {
    srgb_decode(f64::from(byte) / 255.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_colours_are_srgb() {
        assert_eq!(parse_hex("#000000"), Some(Vec3::ZERO));
        assert_eq!(parse_hex("#ffffff"), Some(Vec3::ONE));
        let grey = parse_hex("#BCbcBc").unwrap();
        assert!((grey.x - 0.502_886).abs() < 1e-5, "{grey}");
        for bad in ["", "#fff", "ffffff", "#gggggg", "#ffffff0", "#ééé"] {
            assert_eq!(parse_hex(bad), None, "{bad:?}");
        }
    }
}
