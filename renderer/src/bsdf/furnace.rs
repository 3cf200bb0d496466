//! White furnace test of microfacets: the energy that single scattering loses.

use glam::Vec2;
use rayon::prelude::*;
use torrance_plot::chart::{
    Anchor, Axis, Color, ColorMap, Drawing, Font, Panel, Rect, Stroke, Theme, contours,
};
use torrance_scene::Scattering;

use super::integrate::{Precision, albedo};
use super::{Chart, NoChart, Study, Subject, Table, footnote};

/// Columns (angles) and rows (roughnesses) of a map.
const SIZE: [usize; 2] = [73, 46];
/// Angles from 0 to this, degrees.
const STEEPEST: f64 = 89.0;
/// Roughnesses from this to 1.
const SMOOTHEST: f64 = 0.1;
/// Losses that get a contour; less, the quadrature does not tell.
const LEVELS: [f64; 8] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5];

/// All ways there are to account for light between facets.
const SCATTERINGS: [(&str, Scattering); 2] =
    [("single scattering", Scattering::None), ("compensated", Scattering::Compensated)];

/// Part of the energy that is lost, angle by angle in rows of equal roughness.
struct Map {
    name: &'static str,
    lost: Vec<f64>,
}

fn theta(column: usize) -> f64 {
    STEEPEST * column as f64 / (SIZE[0] - 1) as f64
}

fn roughness(row: usize) -> f64 {
    SMOOTHEST + (1.0 - SMOOTHEST) * row as f64 / (SIZE[1] - 1) as f64
}

/// Holds an absorption-free material into the furnace.
fn measure(study: &Study, name: &'static str, white: &Subject) -> Map {
    let lost = (0..SIZE[0] * SIZE[1]).into_par_iter().map(|i| {
        let r = roughness(i / SIZE[0]);
        let bsdf = white.with_alpha(Vec2::splat((r * r) as f32)).bsdf();
        1.0 - albedo(&bsdf, study.wo(theta(i % SIZE[0])), Precision::MAP).total().y
    });
    Map { name, lost: lost.collect() }
}

pub(super) fn chart(study: &Study) -> Result<Chart, NoChart> {
    let white = study.subject.white().ok_or(NoChart::NothingLost)?;
    let theme = study.theme();
    let maps = SCATTERINGS.map(|(name, scattering)| measure(study, name, &white.with_scattering(scattering)));
    let n = maps.len();
    let width = 130.0 + 520.0 * n as f64;
    let (mut drawing, body, size) = study.page("energy lost in a white furnace", width, 500.0);
    let most = maps.iter().flat_map(|m| &m.lost).fold(0.0_f64, |a, b| a.max(*b)).max(1e-3);
    let scale = Axis::from_zero("1 − albedo", most, 5).percent();
    let maps_place = body.inset([0.0, 0.0, 92.0, 0.0]);
    for (i, cell) in maps_place.grid(n, 1, (24.0, 0.0)).into_iter().enumerate() {
        let frame = cell.inset([56.0, 28.0, 10.0, 62.0]);
        draw_map(&mut drawing, theme, frame, &maps[i], &scale);
    }
    let bar = Rect { x: body.right() - 74.0, y: body.y + 28.0, w: 16.0, h: body.h - 90.0 };
    color_bar(&mut drawing, theme, bar, ColorMap::Viridis, &scale);
    let note = "no facet absorbs: what neither comes back nor passes is lost by the model; quadrature of f to about 0.1 %";
    footnote(&mut drawing, theme, note);

    let mut table = Table::new("scattering,theta_o_deg,roughness,alpha,lost");
    for map in &maps {
        for (i, lost) in map.lost.iter().enumerate() {
            let r = roughness(i / SIZE[0]);
            table.row(&[map.name], &[theta(i % SIZE[0]), r, r * r, *lost]);
        }
    }
    Ok(Chart { drawing, size, table, facts: vec![("largest_loss", most)] })
}

fn draw_map(drawing: &mut Drawing, theme: Theme, frame: Rect, map: &Map, scale: &Axis) {
    let [columns, rows] = SIZE;
    let (w, h) = (frame.w / (columns - 1) as f64, frame.h / (rows - 1) as f64);
    let color = |lost: f64| shade(ColorMap::Viridis, scale.at(lost));
    // Values are at the corners of the map's cells: halves of the outermost are outside.
    let place = |u: f64, v: f64| [frame.x + u * w, frame.bottom() - v * h];
    for row in 0..rows {
        let values = &map.lost[row * columns..(row + 1) * columns];
        let (low, high) = ((row as f64 - 0.5).max(0.0), (row as f64 + 0.5).min((rows - 1) as f64));
        let mut start = 0;
        for run in values.chunk_by(|a, b| color(*a) == color(*b)) {
            let end = start + run.len();
            let [left, right] = [start, end].map(|c| (c as f64 - 0.5).clamp(0.0, (columns - 1) as f64));
            let ([x0, y1], [x1, y0]) = (place(left, low), place(right, high));
            // A little into the next, so that no seam shows.
            let seam = |end: f64, limit: f64| (end + 0.4).min(limit);
            let r = Rect { x: x0, y: y0, w: seam(x1, frame.right()) - x0, h: seam(y1, frame.bottom()) - y0 };
            drawing.fill(r, color(run[0]));
            start = end;
        }
    }
    for level in LEVELS {
        let shade = color(level);
        let mut lines = contours(&map.lost, columns, level);
        lines.sort_by_key(Vec::len);
        for (i, line) in lines.iter().rev().enumerate() {
            let places: Vec<_> = line.iter().map(|p| place(p[0], p[1])).collect();
            drawing.line(&places, Stroke::solid(shade.contrast().mix(shade, 0.35), 1.0));
            if i == 0 && places.len() > 12 {
                contour_label(drawing, &places, frame, level, shade);
            }
        }
    }
    let x = Axis::degrees("θₒ", 0.0, STEEPEST, 15.0);
    let y = Axis::linear("roughness √α", SMOOTHEST, 1.0, 9);
    let mut panel = Panel::over(drawing, theme, frame, x, y);
    panel.axes();
    let [least, most] = [f64::min, f64::max]
        .map(|f| map.lost.iter().copied().reduce(f).unwrap_or(0.0) * 100.0)
        .map(|percent| format!("{percent:.1} %").replace("-0.0", "0.0").replace('-', "−"));
    panel.heading(&format!("{}: {least} to {most}", map.name), &[]);
}

/// Writes the level of a contour onto it, where there is room.
fn contour_label(drawing: &mut Drawing, places: &[[f64; 2]], frame: Rect, level: f64, shade: Color) {
    let font = Font { size: 10.5, color: shade.contrast(), bold: false };
    let text = format!("{:.0} %", level * 100.0);
    let inside = frame.inset([22.0, 14.0, 22.0, 14.0]);
    let is_inside = |p: &&[f64; 2]| {
        (inside.x..inside.right()).contains(&p[0]) && (inside.y..inside.bottom()).contains(&p[1])
    };
    let candidates: Vec<_> = places.iter().filter(is_inside).collect();
    let Some(p) = candidates.get(candidates.len() / 3) else { return };
    let w = torrance_plot::chart::text_width(&text, font) + 6.0;
    drawing.fill(Rect { x: p[0] - 0.5 * w, y: p[1] - 7.0, w, h: 14.0 }, shade);
    drawing.text(text, [p[0], p[1] + 3.8], Anchor::Middle, font);
}

/// One of 128 shades, so that neighbours may be drawn as one.
pub(super) fn shade(map: ColorMap, t: f64) -> Color {
    map.at((t * 127.0).round() / 127.0)
}

/// The colours of a scale, with its numbers at the right.
pub(super) fn color_bar(drawing: &mut Drawing, theme: Theme, bar: Rect, map: ColorMap, scale: &Axis) {
    const STEPS: usize = 128;
    for i in 0..STEPS {
        let (t, h) = (i as f64 / (STEPS - 1) as f64, bar.h / STEPS as f64);
        let y = bar.bottom() - (i + 1) as f64 * h;
        let r = Rect { x: bar.x, y, w: bar.w, h: (h + 0.4).min(bar.bottom() - y) };
        drawing.fill(r, map.at(t));
    }
    let stroke = Stroke::solid(theme.axis, 1.0);
    let (right, bottom) = (bar.right(), bar.bottom());
    drawing.line(&[[bar.x, bar.y], [right, bar.y], [right, bottom], [bar.x, bottom], [bar.x, bar.y]], stroke);
    let font = Font { size: 11.0, color: theme.muted, bold: false };
    for (value, text) in &scale.ticks {
        let y = bottom - bar.h * scale.at(*value);
        if (bar.y - 0.5..=bottom + 0.5).contains(&y) {
            drawing.line(&[[right, y], [right + 4.0, y]], stroke);
            drawing.text(text.as_str(), [right + 7.0, y + 4.0], Anchor::Start, font);
        }
    }
    let font = Font { size: 11.5, color: theme.text, bold: false };
    drawing.text(scale.label.as_str(), [right, bar.y - 10.0], Anchor::Middle, font);
}
