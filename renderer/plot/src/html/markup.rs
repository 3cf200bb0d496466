//! Rows of the page. Everything that is not ours goes through [`Escaped`].

use std::io::{self, Write};

use super::encoded::EncodedImages;
use super::{Entry, Page, Status};
use crate::web::{self, Escaped, Grid};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 2] = [include_str!("viewer.js"), include_str!("page.js")];

/// Numbers that are columns of the table of cases; the others are shown when a row is opened.
const COLUMNS: usize = 3;

/// Writes the page: its template, with what belongs there in the place of every `{{name}}`.
pub(super) fn write(
    page: &Page,
    entries: &[&Entry],
    encoded: &[Option<EncodedImages>],
    out: &mut impl Write,
) -> io::Result<()> {
    let columns = columns(entries);
    web::write(PAGE, STYLE, &SCRIPTS, out, |name, out| match name {
        "title" => write!(out, "{}", Escaped(&page.title)),
        "subtitle" => write!(out, "{}", Escaped(&page.subtitle)),
        "proportions" => proportions(entries, out),
        "filters" => filters(entries, out),
        "columns" => columns.iter().try_for_each(|c| writeln!(out, "<span>{}</span>", Escaped(c))),
        "column-count" => write!(out, "{}", columns.len() + 1),
        "cases" => {
            let cases = entries.iter().zip(encoded).enumerate();
            cases.into_iter().try_for_each(|(i, (entry, e))| case(i, entry, &columns, e.as_ref(), out))
        }
        "pixels" => {
            let encoded = encoded.iter().enumerate();
            encoded.into_iter().try_for_each(|(i, e)| e.iter().try_for_each(|e| pixels(i, e, out)))
        }
        _ => unreachable!("the template names {name}"),
    })
}

/// The names of the numbers that are columns.
fn columns<'a>(entries: &[&'a Entry]) -> Vec<&'a str> {
    let first = entries.iter().find(|e| !e.numbers.is_empty());
    first.iter().flat_map(|e| &e.numbers).take(COLUMNS).map(|(name, _)| name.as_str()).collect()
}

/// The word that scripts and styles know a status by.
fn class(status: Status) -> String {
    status.label().replace(' ', "-")
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
        let (class, mark, label) = (class(status), mark(status), status.label());
        write!(
            out,
            r#"<button type="button" class="filter {class}" data-status="{class}" aria-pressed="true">"#
        )?;
        let mark = format_args!(r#"<b aria-hidden="true">{mark}</b>"#);
        writeln!(out, r#"{mark}{label} <span class="count">{n}</span></button>"#)?;
    }
    writeln!(out, "</div>")
}

/// One case: a row, and what opens below it.
fn case(
    i: usize,
    entry: &Entry,
    columns: &[&str],
    encoded: Option<&EncodedImages>,
    out: &mut impl Write,
) -> io::Result<()> {
    let (class, mark, label) = (class(entry.status), mark(entry.status), entry.status.label());
    write!(out, r#"<details class="case {class}" id="case-{i}" data-status="{class}" "#)?;
    if let Some(encoded) = encoded {
        write!(out, "data-images='{}'", describe(encoded))?;
    }
    writeln!(out, r#"><summary><span class="thumbnail">"#)?;
    if let Some(encoded) = encoded.filter(|e| !e.thumbnail.is_empty()) {
        writeln!(out, r#"<img alt="" src="data:image/png;base64,{}">"#, encoded.thumbnail)?;
    }
    writeln!(out, r#"</span><span class="status {class}"><b aria-hidden="true">{mark}</b>{label}</span>"#)?;
    writeln!(out, r#"<span class="name"><bdi>{}</bdi></span>"#, Escaped(&entry.name))?;
    for column in columns {
        let value = entry.numbers.iter().find(|(name, _)| name == column).map_or("", |(_, value)| value);
        number(column, value, out)?;
    }
    number("time", &duration(entry.seconds), out)?;
    let headline = entry.verdict.first().map_or("", String::as_str);
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

/// The body below a row: the verdict, the images, the numbers, the log.
fn body(entry: &Entry, encoded: Option<&EncodedImages>, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, r#"<div class="body"><div class="findings">"#)?;
    if entry.verdict.len() > 1 {
        writeln!(out, r#"<div class="words">"#)?;
        entry.verdict.iter().skip(1).try_for_each(|w| writeln!(out, "<p>{}</p>", Escaped(w)))?;
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
        Some(encoded) if encoded.grid.reduction > 1 => {
            let Grid { size: [w, h], reduction: k } = encoded.grid;
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

/// Layout of the pixels for the page's scripts, as JSON of numbers and our own names.
fn describe(encoded: &EncodedImages) -> String {
    let parts: Vec<_> = encoded.parts.iter().map(|p| (p.name, (p.bits, p.channels))).collect();
    let parts = parts.into_iter().map(|(name, (bits, channels))| {
        (name.to_owned(), serde_json::json!({ "bits": bits, "channels": channels }))
    });
    serde_json::json!({
        "size": encoded.grid.size,
        "stored": encoded.grid.reduced_size(),
        "reduction": encoded.grid.reduction,
        "worst": encoded.worst.map(|w| [w.x, w.y, w.width, w.height]),
        "parts": parts.collect::<serde_json::Map<_, _>>(),
    })
    .to_string()
}

/// The pixels of a case.
fn pixels(i: usize, encoded: &EncodedImages, out: &mut impl Write) -> io::Result<()> {
    encoded
        .parts
        .iter()
        .try_for_each(|part| web::write_pixels(&format!("pixels-{i}-{}", part.name), part, out))
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
    fn times_are_short() {
        let cases = [(0.04, "0.0 s"), (9.94, "9.9 s"), (75.4, "75 s"), (3600.0, "60 min"), (f64::NAN, "")];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text);
        }
    }
}
