//! Problems of the input: message, place, and help.

use std::fmt;
use std::ops::Range;

use miette::{GraphicalReportHandler, GraphicalTheme, MietteSpanContents, SourceSpan};

/// Most problems a report shows; what follows is usually a consequence.
const MOST_REPORTED: usize = 20;

/// Most problems collected from one file; further ones are usually of the same kind.
pub const MOST_PROBLEMS: usize = 10_000;

/// Longest source line, bytes, that a report quotes.
const LONGEST_LINE: usize = 400;

/// An error or warning about one place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as the user would write its path.
    pub file: String,
    /// Line and column, both from 1, columns in characters; `None` if the file as a whole is meant.
    pub place: Option<(usize, usize)>,
    /// The message, in one line.
    pub message: String,
    /// A hint on the solution or the reason, if helpful.
    pub help: Option<String>,
    /// What is done about it, of a mistake that a sensible picture survives; it follows the message.
    pub remedy: Option<Box<str>>,
    excerpt: Option<Box<Excerpt>>,
}

/// The lines of a file around a place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Excerpt {
    text: String,
    /// Number of lines before `text`.
    lines_before: usize,
    /// The marked bytes of `text`.
    span: Range<usize>,
}

/// Severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// The file can be used, but the result may not be as intended.
    Warning,
}

impl Problem {
    /// A problem of a whole file.
    pub fn of_file(file: impl Into<String>, message: impl Into<String>) -> Self {
        let (file, message) = (file.into(), message.into());
        Self { file, place: None, message, help: None, remedy: None, excerpt: None }
    }

    /// A problem at the bytes `span` of `text`, the contents of `file`.
    pub fn at(file: &str, text: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        Self::at_indexed(file, text, &Index::new(text), span, message)
    }

    /// [`Self::at`] for many problems of the same text.
    pub fn at_indexed(
        file: &str,
        text: &str,
        index: &Index,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        let start = floor_char_boundary(text, span.start);
        let place = index.place(text, start);
        let (line, column) = (place.newlines + 1, place.chars + 1);
        let excerpt = Excerpt::around(text, start..span.end.max(start), place.line_start, line).map(Box::new);
        Self { place: Some((line, column)), excerpt, ..Self::of_file(file, message) }
    }

    /// A problem on line `line` of `file`, which reads `text`, at its bytes `span`.
    pub fn at_line(
        file: &str,
        line: usize,
        text: &str,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        let mut problem = Self::at(file, text, span, message);
        problem.place = problem.place.map(|(_, column)| (line, column));
        if let Some(excerpt) = &mut problem.excerpt {
            excerpt.lines_before = line.saturating_sub(1);
        }
        problem
    }

    /// Adds a hint on the solution.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Makes a warning of it: of what is wrong, and what is done about it.
    pub fn forgiven(mut self, remedy: impl Into<Box<str>>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Makes an error of a warning again, if it is of a mistake that was forgiven.
    pub(crate) fn held_against(mut self) -> Self {
        self.remedy = None;
        self
    }

    /// The report for a person to read: `error: FILE:LINE:COLUMN: message`, then the place in the file.
    /// Ends in a newline.
    pub fn report(&self, severity: Severity, color: bool) -> String {
        let word = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut out = format!("{word}: {self}\n");
        if let Some(excerpt) = &self.excerpt {
            let theme = if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
            let handler = GraphicalReportHandler::new_themed(theme)
                .with_wrap_lines(false)
                .with_links(false)
                .without_syntax_highlighting();
            let mut snippet = String::new();
            let lines = Lines { file: &self.file, excerpt };
            let quoted = Quoted { lines, span: excerpt.span.clone().into() };
            if handler.render_report(&mut snippet, &quoted).is_ok() {
                // The first line is the handler's own headline, which says less than ours.
                out.extend(snippet.split_inclusive('\n').skip_while(|l| !l.contains('[')));
            }
        }
        if let Some(help) = &self.help {
            out.push_str(&format!("  help: {}\n", without_controls(help)));
        }
        out
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [file, message] =
            [&self.file, &self.message].map(|text| without_controls(text).replace('\n', " "));
        match self.place {
            Some((line, column)) => write!(f, "{file}:{line}:{column}: {message}"),
            None => write!(f, "{file}: {message}"),
        }?;
        self.remedy.as_ref().map_or(Ok(()), |remedy| write!(f, "; {remedy}"))
    }
}

/// An index of the lines of a text, to find positions without scanning all of it.
pub struct Index {
    /// The place of every [`Self::STRIDE`]th byte.
    places: Vec<Position>,
}

/// A byte of a text by lines.
#[derive(Clone, Copy, Default)]
struct Position {
    /// Number of line ends before it.
    newlines: usize,
    /// The first byte of its line.
    line_start: usize,
    /// Number of characters of its line that begin before it.
    chars: usize,
}

impl Position {
    /// Goes past `byte`, which is at `at`.
    fn pass(&mut self, at: usize, byte: u8) {
        if byte == b'\n' {
            *self = Self { newlines: self.newlines + 1, line_start: at + 1, chars: 0 };
        } else if byte & 0xc0 != 0x80 {
            self.chars += 1;
        }
    }
}

impl Index {
    const STRIDE: usize = 1024;

    /// Indexes a text at regular intervals.
    pub fn new(text: &str) -> Self {
        let mut places = Vec::with_capacity(text.len() / Self::STRIDE + 1);
        let mut place = Position::default();
        for (at, byte) in text.bytes().enumerate() {
            if at % Self::STRIDE == 0 {
                places.push(place);
            }
            place.pass(at, byte);
        }
        Self { places }
    }

    fn place(&self, text: &str, at: usize) -> Position {
        let known = (at / Self::STRIDE).min(self.places.len().saturating_sub(1));
        let mut place = self.places.get(known).copied().unwrap_or_default();
        let from = known * Self::STRIDE;
        for (i, byte) in text.as_bytes()[from..at].iter().enumerate() {
            place.pass(from + i, *byte);
        }
        place
    }
}

impl Excerpt {
    /// The line of `span` with one line on either side, or nothing if those are too long to show.
    fn around(text: &str, span: Range<usize>, line_start: usize, line: usize) -> Option<Self> {
        let before = match line_start {
            0 => 0,
            at => line_start_of(text, at - 1)?,
        };
        let this_end = line_end_of(text, line_start)?;
        let after = if this_end < text.len() { line_end_of(text, this_end + 1)? } else { this_end };
        if text[before..after].lines().any(|l| l.trim_end_matches('\r').len() > LONGEST_LINE)
            || text.is_empty()
        {
            return None;
        }
        // A span over several lines is marked on its first.
        let end = ceil_char_boundary(text, span.end.min(this_end)).max(span.start);
        Some(Self {
            text: without_controls(&text[before..after]),
            lines_before: line - 1 - usize::from(before < line_start),
            span: span.start - before..end - before,
        })
    }
}

/// How far to look for the end of a line that is not too long to show: past a carriage return, too.
const LINE_WINDOW: usize = LONGEST_LINE + 2;

/// Where the line that ends at `end` begins, unless it is too long.
fn line_start_of(text: &str, end: usize) -> Option<usize> {
    let from = end.saturating_sub(LINE_WINDOW);
    let newline = text.as_bytes()[from..end].iter().rposition(|b| *b == b'\n');
    newline.map(|i| from + i + 1).or((from == 0).then_some(0))
}

/// Where the line that begins at `start` ends, unless it is too long.
fn line_end_of(text: &str, start: usize) -> Option<usize> {
    let to = text.len().min(start + LINE_WINDOW);
    let newline = text.as_bytes()[start..to].iter().position(|b| *b == b'\n');
    newline.map(|i| start + i).or((to == text.len()).then_some(to))
}

/// Whether a terminal would interpret the character rather than show it: control characters, and those that change the
/// direction of text.
fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Replaces characters that terminals would interpret, byte by byte: a file must not control the terminal.
fn without_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => out.push(' '),
            c if is_obeyed(c) => out.extend(std::iter::repeat_n('?', c.len_utf8())),
            c => out.push(c),
        }
    }
    out
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

fn ceil_char_boundary(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(text.len())
}

/// An excerpt as miette wants it.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("here")]
struct Quoted<'a> {
    #[source_code]
    lines: Lines<'a>,
    #[label(primary)]
    span: SourceSpan,
}

/// The lines of an excerpt of a file.
#[derive(Debug)]
struct Lines<'a> {
    file: &'a str,
    excerpt: &'a Excerpt,
}

impl miette::SourceCode for Lines<'_> {
    /// The whole excerpt, or without context the span alone: that is how miette asks for its line and column.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        context_before: usize,
        context_after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, miette::MietteError> {
        let Excerpt { text, lines_before, .. } = self.excerpt;
        let whole = context_before + context_after > 0;
        let range = if whole { 0..text.len() } else { span.offset()..span.offset() + span.len() };
        let (Some(part), Some(before)) = (text.get(range.clone()), text.get(..range.start)) else {
            return Err(miette::MietteError::OutOfBounds);
        };
        let column = before.chars().rev().take_while(|c| *c != '\n').count();
        Ok(Box::new(MietteSpanContents::new_named(
            self.file.to_owned(),
            part.as_bytes(),
            SourceSpan::from(range),
            lines_before + before.matches('\n').count(),
            column,
            part.lines().count(),
        )))
    }
}

/// All errors found in a scene: at least one, at most ten thousand. It is shown as a line for each.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Error {
    /// The problems, in the order of the files.
    pub problems: Vec<Problem>,
}

impl Error {
    /// The report for a person to read. Each problem begins with a line `error: FILE:LINE:COLUMN: message`.
    pub fn report(&self, color: bool) -> String {
        let reports: Vec<_> =
            self.problems.iter().take(MOST_REPORTED).map(|p| p.report(Severity::Error, color)).collect();
        let mut out = reports.join("\n");
        match self.problems.len() {
            0 | 1 => {}
            n if n >= MOST_PROBLEMS => {
                out.push_str(&format!("\nat least {n} errors, the first {MOST_REPORTED} shown\n"));
            }
            n if n > MOST_REPORTED => {
                out.push_str(&format!("\n{n} errors, the first {MOST_REPORTED} shown\n"))
            }
            n => out.push_str(&format!("\n{n} errors\n")),
        }
        out
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

/// An error of the operating system, without its number and in the same words everywhere.
pub fn io_reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::NotADirectory => "its folder is a file".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_without_counting_from_the_start() {
        let mut text = String::new();
        for i in 0..900 {
            // Characters of one to four bytes fall on the strides of the index.
            text.push_str(["a = 1\n", "é\r\n", "\n", "x = \"→𝄞\" # no end "][i % 4]);
        }
        for text in [text.as_str(), "", "\n", "é"] {
            let index = Index::new(text);
            let ends = text.char_indices().map(|(i, _)| i).chain([text.len(), text.len() + 9]);
            for at in ends {
                let before = &text[..at.min(text.len())];
                let line = before.matches('\n').count() + 1;
                let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
                let problem = Problem::at_indexed("f", text, &index, at..at, "");
                assert_eq!(problem.place, Some((line, column)), "byte {at}");
            }
        }
    }

    #[test]
    fn lines_too_long_to_show_are_left_out() {
        for (length, ending, shown) in [(400, "\n", true), (400, "\r\n", true), (401, "\n", false)] {
            let long = "x".repeat(length) + ending;
            for text in [format!("{long}a = 1\n"), format!("a = 1\n{long}b"), format!("b\n{long}a = 1")] {
                let at = text.find("a = 1").unwrap();
                assert_eq!(Problem::at("f", &text, at..at + 1, "").excerpt.is_some(), shown, "{text:?}");
            }
        }
    }
}
