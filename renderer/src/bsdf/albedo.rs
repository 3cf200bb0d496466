//! Directional albedo against angle and roughness.

use glam::{DVec3, Vec2};
use rayon::prelude::*;
use torrance_plot::chart::{Anchor, Axis, Color, Drawing, Entry, Panel, Rect, Sign, Stroke, Theme};

use super::integrate::{Albedo, albedo_sampled, is_random};
use super::{Chart, Study, Table, albedo_at, degrees, footnote, frame_of};

/// Samples behind a dot.
const SAMPLES: u32 = 1 << 14;

/// Angles of the curves against angle, degrees.
fn angles() -> Vec<f64> {
    let mut angles: Vec<f64> = (0..=44).map(|i| 2.0 * f64::from(i)).collect();
    angles.extend([87.0, 88.5, 89.0, 89.5]);
    angles.sort_by(f64::total_cmp);
    angles.dedup();
    angles
}

/// Roughnesses of the curves against roughness.
fn roughnesses() -> Vec<f64> {
    (1..=25).map(|i| 0.04 * f64::from(i)).collect()
}

/// A curve of the panel against angle: its name, its colour, and what it shows.
type Series = (&'static str, Color, fn(&Albedo) -> f64);

/// Per channel if they differ; reflected and transmitted apart if there are both.
fn series(theme: &Theme, curve: &[(f64, Albedo)]) -> Vec<Series> {
    let largest =
        |part: fn(&Albedo) -> DVec3| curve.iter().map(|(_, a)| part(a).max_element()).fold(0.0, f64::max);
    let grey = curve.iter().all(|(_, a)| {
        let t = a.total();
        (t.x - t.y).abs().max((t.y - t.z).abs()) < 1e-6
    });
    if largest(|a| a.transmitted) > 0.0 {
        return vec![
            ("reflected", theme.series(0), |a| a.reflected.y),
            ("transmitted", theme.series(1), |a| a.transmitted.y),
            ("both", theme.text, |a| a.total().y),
        ];
    }
    if grey {
        return vec![("all channels", theme.text, |a| a.reflected.x)];
    }
    let [r, g, b] = theme.channels;
    vec![("red", r, |a| a.reflected.x), ("green", g, |a| a.reflected.y), ("blue", b, |a| a.reflected.z)]
}

pub(super) fn chart(study: &Study) -> Chart {
    let theme = study.theme();
    let bsdf = study.subject.bsdf();
    let curve: Vec<(f64, Albedo)> =
        angles().into_par_iter().map(|theta| (theta, albedo_at(study, &bsdf, theta))).collect();
    let is_rough = study.subject.alpha().is_some();
    let width = if is_rough { 1000.0 } else { 620.0 };
    let (mut drawing, body, size) = study.page("directional albedo", width, 448.0);
    let mut table = Table::new(
        "against,theta_o_deg,roughness,estimate,reflected_r,reflected_g,reflected_b,transmitted_r,transmitted_g,\
         transmitted_b,standard_error",
    );
    let columns = if is_rough { 2 } else { 1 };
    let cells = body.grid(columns, 1, (30.0, 0.0));
    against_angle(study, &mut drawing, cells[0], &curve, &mut table);
    if is_rough {
        against_roughness(study, &mut drawing, cells[1], &mut table);
    }
    let shown = if is_rough { format!("(b): {}; ", study.shown()) } else { String::new() };
    let curves = if is_random(&bsdf) { "means of samples" } else { "quadrature of f" };
    let note = format!("{shown}curves: {curves}; dots: means of {SAMPLES} samples ± their standard error");
    footnote(&mut drawing, theme, note);
    let facts = vec![
        ("albedo_at_normal_incidence", study.channel.value(albedo_at(study, &bsdf, 0.0).total())),
        ("largest_albedo", curve.iter().map(|(_, a)| a.total().max_element()).fold(0.0, f64::max)),
    ];
    Chart { drawing, size, table, facts }
}

fn record(table: &mut Table, against: &str, theta: f64, roughness: f64, sampled: Option<f64>, a: &Albedo) {
    let estimate = if sampled.is_some() { "samples" } else { "quadrature" };
    let (r, t) = (a.reflected, a.transmitted);
    // Two words are apart by two numbers, so that columns of the same kind stay together.
    let words = [against, &super::number(theta), &super::number(roughness), estimate];
    table.row(&words, &[r.x, r.y, r.z, t.x, t.y, t.z, sampled.unwrap_or(f64::NAN)]);
}

fn albedo_axis(high: f64) -> Axis {
    Axis::from_zero("directional albedo", if high > 0.8 { 1.0_f64.max(high) } else { high * 1.05 }, 5)
}

fn against_angle(
    study: &Study,
    drawing: &mut Drawing,
    cell: Rect,
    curve: &[(f64, Albedo)],
    table: &mut Table,
) {
    let theme = study.theme();
    let bsdf = study.subject.bsdf();
    let roughness = study.subject.alpha().map_or(f64::NAN, |a| f64::from(a.x).sqrt());
    let series = series(&theme, curve);
    let high = series.iter().flat_map(|(.., pick)| curve.iter().map(|(_, a)| pick(a))).fold(0.0, f64::max);
    let dots: Vec<(f64, Albedo, DVec3)> = (0..9)
        .into_par_iter()
        .map(|i| {
            let theta = if i == 8 { 87.0 } else { 10.0 * f64::from(i) + 5.0 };
            let (a, error) = albedo_sampled(&bsdf, study.wo(theta), SAMPLES, i as u32);
            (theta, a, error)
        })
        .collect();
    let x = Axis::degrees("θₒ", 0.0, 90.0, 15.0);
    let mut panel = Panel::new(drawing, theme, frame_of(cell), x, albedo_axis(high));
    let mut entries = Vec::new();
    for (name, color, pick) in series {
        let stroke = Stroke::solid(color, 1.8);
        panel.curve(curve.iter().map(|(theta, a)| (*theta, pick(a))), stroke);
        panel.dots(dots.iter().map(|(theta, a, e)| (*theta, pick(a), e.max_element())), color, 2.8);
        entries.push(Entry::new(Sign::Line(stroke), name));
    }
    panel.axes();
    panel.heading("(a) against the angle of incidence", &entries);
    for (theta, a) in curve {
        record(table, "angle", *theta, roughness, None, a);
    }
    for (theta, a, error) in &dots {
        record(table, "angle", *theta, roughness, Some(error.max_element()), a);
    }
}

fn against_roughness(study: &Study, drawing: &mut Drawing, cell: Rect, table: &mut Table) {
    let theme = study.theme();
    let rough = |roughness: f64| study.subject.with_alpha(Vec2::splat((roughness * roughness) as f32)).bsdf();
    let family_of: Vec<(f64, Vec<(f64, Albedo)>)> = study
        .angles
        .par_iter()
        .map(|theta| {
            let at = |r: f64| (r, albedo_at(study, &rough(r), *theta));
            (*theta, roughnesses().into_par_iter().map(at).collect())
        })
        .collect();
    let value = |a: &Albedo| study.channel.value(a.total());
    let high = family_of.iter().flat_map(|(_, c)| c).map(|(_, a)| value(a)).fold(0.0, f64::max);
    let x = Axis::linear("roughness √α", 0.0, 1.0, 5);
    let mut panel = Panel::new(drawing, theme, frame_of(cell), x, albedo_axis(high));
    let mut entries = Vec::new();
    for (i, (theta, curve)) in family_of.iter().enumerate() {
        let stroke = Stroke::solid(theme.series(i), 1.8);
        panel.curve(curve.iter().map(|(r, a)| (*r, value(a))), stroke);
        let dots: Vec<_> = [0.2, 0.4, 0.6, 0.8, 1.0]
            .into_par_iter()
            .map(|r| (r, albedo_sampled(&rough(r), study.wo(*theta), SAMPLES, 77)))
            .collect();
        panel.dots(
            dots.iter().map(|(r, (a, e))| (*r, value(a), study.channel.value(*e))),
            theme.series(i),
            2.8,
        );
        entries.push(Entry::new(Sign::Line(stroke), format!("θₒ = {}", degrees(*theta))));
        for (r, a) in curve {
            record(table, "roughness", *theta, *r, None, a);
        }
        for (r, (a, e)) in &dots {
            record(table, "roughness", *theta, *r, Some(e.max_element()), a);
        }
    }
    if let Some(alpha) = study.subject.alpha().filter(|a| a.x == a.y && a.x > 0.0) {
        let r = f64::from(alpha.x).sqrt();
        panel.vertical(r, Stroke::solid(theme.axis, 1.0).dashed());
        let (shift, anchor) = if r > 0.75 { (-6.0, Anchor::End) } else { (6.0, Anchor::Start) };
        panel.note("this material", (r, 0.0), [shift, -8.0], anchor);
    }
    panel.axes();
    panel.heading("(b) against roughness", &entries);
}
