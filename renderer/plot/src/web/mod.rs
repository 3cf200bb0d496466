//! Building blocks of self-contained HTML pages: pixels as text, a zooming image view, colour maps, and escaped text.
//!
//! A page is a template with `{{name}}` placeholders, one style and one script. It opens from disk and loads nothing from
//! the network; its content security policy lets no other script run.

mod pixels;
mod text;

use std::io::{self, Write};

use super::chart::ColorMap;

pub(super) use pixels::{Detail, Grid, PixelData, least_reduction};
pub(super) use text::{Escaped, json};

/// The beginning of every page, up to its title: its content security policy.
const HEAD: &str = include_str!("head.html");

/// Colours of pages, light and dark, as variables of their style.
pub const COLORS: &str = include_str!("colors.css");

/// The beginning of every page's style after that: controls, views of images.
const STYLE: &str = include_str!("base.css");

/// The beginning of every page's script: reading pixels, painting them, views of the paintings, and the theme.
const SCRIPTS: [&str; 5] = [
    include_str!("pixels.js"),
    include_str!("paint.js"),
    include_str!("panel.js"),
    include_str!("views.js"),
    include_str!("theme.js"),
];

/// Writes a page: its template with every `{{name}}` placeholder filled in. `fill` writes the placeholders specific to
/// this page; its style and scripts come after the common ones.
pub(super) fn write<W: Write + ?Sized>(
    template: &str,
    style: &str,
    scripts: &[&str],
    out: &mut W,
    mut fill: impl FnMut(&str, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    for piece in template.split("{{") {
        let Some((name, rest)) = piece.split_once("}}") else {
            out.write_all(piece.as_bytes())?;
            continue;
        };
        match name {
            "head" => out.write_all(HEAD.as_bytes())?,
            "style" => [COLORS, STYLE, style].iter().try_for_each(|s| out.write_all(s.as_bytes()))?,
            "scripts" => {
                SCRIPTS.iter().chain(scripts).try_for_each(|s| out.write_all(s.as_bytes()))?;
            }
            "colors" => colors(out)?,
            name => fill(name, out)?,
        }
        out.write_all(rest.as_bytes())?;
    }
    Ok(())
}

/// Writes an image or a map where scripts find it, in an element that is neither shown nor run.
pub(super) fn write_pixels(id: &str, part: &PixelData, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    write!(out, r#"<script type="application/octet-stream" id="{id}">"#)?;
    out.write_all(part.base64.as_bytes())?;
    writeln!(out, "</script>")
}

/// The colours of maps, in equal steps.
fn colors(out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    const STEPS: u32 = 16;
    let stops = |map: ColorMap| -> Vec<_> {
        (0..=STEPS).map(|i| map.at(f64::from(i) / f64::from(STEPS)).0).collect()
    };
    let maps = serde_json::json!({ "signed": stops(ColorMap::BlueRed), "unsigned": stops(ColorMap::Magma) });
    write!(out, "{maps}")
}
