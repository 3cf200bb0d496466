//! What is wrong with the input, where, and how to put it right.

use std::fmt;
use std::ops::Range;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteSpanContents, SourceSpan};

/// Most problems a report shows; what follows is usually a consequence.
const SHOWN: usize = 20;

/// Longest source line, bytes, that a report quotes.
const LONGEST_LINE: usize = 400;

/// One thing wrong, or suspicious, at one place of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as the user would write its path.
    pub file: String,
    /// Line and column, both from 1, columns in characters; `None` if the file as a whole is meant.
    pub place: Option<(usize, usize)>,
    /// What is wrong, in one line.
    pub message: String,
    /// What to do about it, or why it is so, if that needs saying.
    pub help: Option<String>,
    excerpt: Option<Excerpt>,
}

/// The lines of a file around a place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Excerpt {
    text: String,
    /// Number of lines before `text`.
    lines_before: usize,
    /// What is meant, bytes of `text`.
    span: Range<usize>,
}

/// Whether a render can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// It cannot.
    Error,
    /// It can, but the result may not be what the user wanted.
    Warning,
}

impl Problem {
    /// A problem of a whole file.
    pub fn of_file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), place: None, message: message.into(), help: None, excerpt: None }
    }

    /// A problem at the bytes `span` of `text`, the contents of `file`.
    pub(super) fn at(file: &str, text: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        let start = floor_char_boundary(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line = text[..line_start].bytes().filter(|b| *b == b'\n').count() + 1;
        let column = text[line_start..start].chars().count() + 1;
        let excerpt = Excerpt::around(text, start..span.end.max(start), line_start, line);
        Self { place: Some((line, column)), excerpt, ..Self::of_file(file, message) }
    }

    /// A problem on line `line` of `file`, which reads `text`, at its bytes `span`.
    pub(super) fn at_line(
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

    /// Adds what to do about it.
    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The report a person reads: `error: FILE:LINE:COLUMN: message`, then the place in the file.
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
            if handler.render_report(&mut snippet, &Quoted { file: &self.file, excerpt }).is_ok() {
                // The first line is the handler's own headline, which says less than ours.
                out.extend(snippet.split_inclusive('\n').skip_while(|l| !l.contains('[')));
            }
        }
        if let Some(help) = &self.help {
            out.push_str(&format!("  help: {help}\n"));
        }
        out
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "{}:{line}:{column}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

impl Excerpt {
    /// The line of `span` with one line on either side, or nothing if those are too long to show.
    fn around(text: &str, span: Range<usize>, line_start: usize, line: usize) -> Option<Self> {
        let before = match line_start {
            0 => 0,
            at => text[..at - 1].rfind('\n').map_or(0, |i| i + 1),
        };
        let line_end = |from: usize| text[from..].find('\n').map_or(text.len(), |i| from + i);
        let this_end = line_end(line_start);
        let after = if this_end < text.len() { line_end(this_end + 1) } else { this_end };
        if text[before..after].lines().any(|l| l.len() > LONGEST_LINE) || text.is_empty() {
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

/// Replaces control characters byte by byte: a terminal must not obey a scene file.
fn without_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => out.push(' '),
            c if c.is_control() => out.extend(std::iter::repeat_n('?', c.len_utf8())),
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
#[derive(Debug)]
struct Quoted<'a> {
    file: &'a str,
    excerpt: &'a Excerpt,
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("here")
    }
}

impl std::error::Error for Quoted<'_> {}

impl miette::Diagnostic for Quoted<'_> {
    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(self)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = SourceSpan::from(self.excerpt.span.clone());
        Some(Box::new(std::iter::once(LabeledSpan::new_primary_with_span(None, span))))
    }
}

impl miette::SourceCode for Quoted<'_> {
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

/// Why a scene cannot be rendered: everything found wrong with it, at least one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What is wrong, in the order in which the files have it.
    pub problems: Vec<Problem>,
}

impl Error {
    /// The report a person reads. Each problem begins with a line `error: FILE:LINE:COLUMN: message`.
    pub fn report(&self, color: bool) -> String {
        let reports: Vec<_> =
            self.problems.iter().take(SHOWN).map(|p| p.report(Severity::Error, color)).collect();
        let mut out = reports.join("\n");
        match self.problems.len() {
            0 | 1 => {}
            n if n > SHOWN => out.push_str(&format!("\n{n} errors, the first {SHOWN} shown\n")),
            n => out.push_str(&format!("\n{n} errors\n")),
        }
        out
    }
}

impl fmt::Display for Error {
    /// One line a problem.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

/// What an operating system error means, without its number and in the same words everywhere.
pub(super) fn io_reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::NotADirectory => "its folder is a file".to_owned(),
        _ => error.to_string(),
    }
}
