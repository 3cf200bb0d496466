//! Rows of the page. Everything that is not ours goes through [`Escaped`].

use std::fmt;
use std::io::{self, Write};

use super::pixels::Encoded;
use super::{Entry, Page, Status};
use crate::report::plot::ColorMap;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 5] = [
    include_str!("pixels.js"),
    include_str!("paint.js"),
    include_str!("panel.js"),
    include_str!("viewer.js"),
    include_str!("page.js"),
];

/// Numbers that are columns of the table of cases; the others are shown when a row is opened.
const COLUMNS: usize = 3;

/// Text as HTML, in elements and in quoted attributes. Control characters, which HTML has no way to write, become
/// U+FFFD, as do those that change the direction of what follows.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => write!(f, "{c}")?,
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => f.write_str("\u{fffd}")?,
                c if c.is_control() => f.write_str("\u{fffd}")?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

/// Writes the page: its template, with what belongs there in the place of every `{{name}}`.
pub(super) fn write(
    page: &Page,
    entries: &[&Entry],
    encoded: &[Option<Encoded>],
    out: &mut impl Write,
) -> io::Result<()> {
    let columns = columns(entries);
    for piece in PAGE.split("{{") {
        let Some((name, rest)) = piece.split_once("}}") else {
            out.write_all(piece.as_bytes())?;
            continue;
        };
        match name {
            "title" => write!(out, "{}", Escaped(&page.title))?,
            "subtitle" => write!(out, "{}", Escaped(&page.subtitle))?,
            "style" => out.write_all(STYLE.as_bytes())?,
            "scripts" => SCRIPTS.iter().try_for_each(|s| out.write_all(s.as_bytes()))?,
            "colors" => colors(out)?,
            "proportions" => proportions(entries, out)?,
            "filters" => filters(entries, out)?,
            "columns" => columns.iter().try_for_each(|c| writeln!(out, "<span>{}</span>", Escaped(c)))?,
            "column-count" => write!(out, "{}", columns.len() + 1)?,
            "cases" => {
                for (i, (entry, encoded)) in entries.iter().zip(encoded).enumerate() {
                    case(i, entry, &columns, encoded.as_ref(), out)?;
                }
            }
            "pixels" => {
                for (i, encoded) in encoded.iter().enumerate() {
                    encoded.iter().try_for_each(|e| pixels(i, e, out))?;
                }
            }
            _ => unreachable!("the template names {name}"),
        }
        out.write_all(rest.as_bytes())?;
    }
    Ok(())
}

/// The names of the numbers that are columns.
fn columns<'a>(entries: &[&'a Entry]) -> Vec<&'a str> {
    let first = entries.iter().find(|e| !e.numbers.is_empty());
    first.iter().flat_map(|e| &e.numbers).take(COLUMNS).map(|(name, _)| name.as_str()).collect()
}

/// The word that scripts and styles know a status by.
fn class(status: Status) -> String {
    status.words().replace(' ', "-")
}

/// A mark beside the colour, for those who do not see it.
fn mark(status: Status) -> &'static str {
    match status {
        Status::Failed => "✕",
        Status::Error => "!",
        Status::Unresolved => "?",
        Status::Passed => "✓",
        Status::Skipped => "–",
        Status::NotRun => "·",
    }
}

/// The statuses that there are, and how many cases have them.
fn statuses(entries: &[&Entry]) -> impl Iterator<Item = (Status, usize)> {
    Status::ALL
        .map(|s| (s, entries.iter().filter(|e| e.status == s).count()))
        .into_iter()
        .filter(|(_, n)| *n > 0)
}

/// How many there are of each status, as a bar.
fn proportions(entries: &[&Entry], out: &mut impl Write) -> io::Result<()> {
    write!(out, r#"<div class="proportions" aria-hidden="true">"#)?;
    for (status, n) in statuses(entries) {
        write!(out, r#"<span class="{}" style="flex-grow: {n}"></span>"#, class(status))?;
    }
    writeln!(out, "</div>")
}

/// A button for each status, to hide and show the cases that have it.
fn filters(entries: &[&Entry], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, r#"<div class="filters" role="group" aria-label="Show cases that are">"#)?;
    for (status, n) in statuses(entries) {
        let (class, mark, words) = (class(status), mark(status), status.words());
        write!(
            out,
            r#"<button type="button" class="filter {class}" data-status="{class}" aria-pressed="true">"#
        )?;
        let mark = format_args!(r#"<b aria-hidden="true">{mark}</b>"#);
        writeln!(out, r#"{mark}{words} <span class="count">{n}</span></button>"#)?;
    }
    writeln!(out, "</div>")
}

/// One case: a row, and what opens below it.
fn case(
    i: usize,
    entry: &Entry,
    columns: &[&str],
    encoded: Option<&Encoded>,
    out: &mut impl Write,
) -> io::Result<()> {
    let (class, mark, words) = (class(entry.status), mark(entry.status), entry.status.words());
    write!(out, r#"<details class="case {class}" id="case-{i}" data-status="{class}" "#)?;
    if let Some(encoded) = encoded {
        write!(out, "data-images='{}'", describe(encoded))?;
    }
    writeln!(out, r#"><summary><span class="thumbnail">"#)?;
    if let Some(encoded) = encoded.filter(|e| !e.thumbnail.is_empty()) {
        writeln!(out, r#"<img alt="" src="data:image/png;base64,{}">"#, encoded.thumbnail)?;
    }
    writeln!(out, r#"</span><span class="status {class}"><b aria-hidden="true">{mark}</b>{words}</span>"#)?;
    writeln!(out, r#"<span class="name"><bdi>{}</bdi></span>"#, Escaped(&entry.name))?;
    for column in columns {
        let value = entry.numbers.iter().find(|(name, _)| name == column).map_or("", |(_, value)| value);
        number(column, value, out)?;
    }
    number("time", &duration(entry.seconds), out)?;
    let headline = entry.words.first().map_or("", String::as_str);
    writeln!(out, r#"<span class="headline">{}</span></summary>"#, Escaped(headline))?;
    body(entry, encoded, out)?;
    writeln!(out, "</details>")
}

/// A number of a row, or the place of one.
fn number(name: &str, value: &str, out: &mut impl Write) -> io::Result<()> {
    if value.is_empty() {
        return writeln!(out, r#"<span class="number"></span>"#);
    }
    let (name, value) = (Escaped(name), Escaped(value));
    writeln!(out, r#"<span class="number"><span class="label">{name} </span>{value}</span>"#)
}

/// What opens below a row: the verdict, the images, the numbers, the log.
fn body(entry: &Entry, encoded: Option<&Encoded>, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, r#"<div class="body"><div class="findings">"#)?;
    if entry.words.len() > 1 {
        writeln!(out, r#"<div class="words">"#)?;
        entry.words.iter().skip(1).try_for_each(|w| writeln!(out, "<p>{}</p>", Escaped(w)))?;
        writeln!(out, "</div>")?;
    }
    if !entry.numbers.is_empty() {
        writeln!(out, r#"<table class="numbers"><tbody>"#)?;
        for (name, value) in &entry.numbers {
            let (name, value) = (Escaped(name), Escaped(value));
            writeln!(out, r#"<tr><th scope="row">{name}</th><td>{value}</td></tr>"#)?;
        }
        writeln!(out, "</tbody></table>")?;
    }
    writeln!(out, "</div>")?;
    match encoded {
        Some(encoded) if encoded.reduction > 1 => {
            let ([w, h], k) = (encoded.size, encoded.reduction);
            writeln!(
                out,
                r#"<p class="note">Reduced {k}×, from {w} × {h} pixels, to keep this page small: means of {k} × {k} pixels to two digits; of z and ꟻLIP, the largest.</p>"#,
            )?;
        }
        Some(_) => {}
        None => writeln!(out, r#"<p class="note">There are no images of this case.</p>"#)?,
    }
    if encoded.is_some() {
        writeln!(out, r#"<div class="viewer"></div>"#)?;
    }
    if !entry.log.trim().is_empty() {
        let open = if encoded.is_none() { " open" } else { "" };
        let log = Escaped(&entry.log);
        writeln!(out, r#"<details class="log"{open}><summary>Log</summary><pre>{log}</pre></details>"#)?;
    }
    writeln!(out, "</div>")
}

/// What the page has to know to show pixels, as JSON of numbers and of our own names.
fn describe(encoded: &Encoded) -> String {
    let parts: Vec<_> = encoded.parts.iter().map(|p| (p.name, (p.bits, p.channels))).collect();
    let parts = parts.into_iter().map(|(name, (bits, channels))| {
        (name.to_owned(), serde_json::json!({ "bits": bits, "channels": channels }))
    });
    serde_json::json!({
        "size": encoded.size,
        "stored": encoded.reduced_size(),
        "reduction": encoded.reduction,
        "worst": encoded.worst.map(|w| [w.x, w.y, w.width, w.height]),
        "parts": parts.collect::<serde_json::Map<_, _>>(),
    })
    .to_string()
}

/// The pixels of a case, in elements that are neither shown nor run.
fn pixels(i: usize, encoded: &Encoded, out: &mut impl Write) -> io::Result<()> {
    for part in &encoded.parts {
        let name = part.name;
        write!(out, r#"<script type="application/octet-stream" id="pixels-{i}-{name}">"#)?;
        out.write_all(part.base64.as_bytes())?;
        writeln!(out, "</script>")?;
    }
    Ok(())
}

/// The colours of maps, in equal steps.
fn colors(out: &mut impl Write) -> io::Result<()> {
    const STEPS: u32 = 16;
    let stops = |map: ColorMap| -> Vec<_> {
        (0..=STEPS).map(|i| map.at(f64::from(i) / f64::from(STEPS)).0).collect()
    };
    let maps = serde_json::json!({ "signed": stops(ColorMap::BlueRed), "unsigned": stops(ColorMap::Magma) });
    write!(out, "{maps}")
}

/// A time, to read.
fn duration(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() || s < 0.0 => String::new(),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 600.0 => format!("{s:.0} s"),
        s => format!("{:.0} min", s / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes() {
        let escaped = |text: &str| Escaped(text).to_string();
        assert_eq!(
            escaped("</a><a b='c' d=\"e\">&"),
            "&lt;/a&gt;&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;"
        );
        assert_eq!(escaped("é\n\tαβ 🫧"), "é\n\tαβ 🫧");
        assert_eq!(
            escaped("\0\u{1b}[1m\r\u{202e}\u{2069}\u{85}"),
            "\u{fffd}\u{fffd}[1m\u{fffd}\u{fffd}\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn times_are_short() {
        let cases = [(0.04, "0.0 s"), (9.94, "9.9 s"), (75.4, "75 s"), (3600.0, "60 min"), (f64::NAN, "")];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text);
        }
    }
}
