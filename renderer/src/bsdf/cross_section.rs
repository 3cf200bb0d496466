//! f and f·|cos θi| in the plane of incidence.

use device::bsdf::Lobe;
use glam::DVec3;
use torrance_plot::chart::{Axis, Drawing, Entry, Panel, Rect, Sign, Stroke};

use super::integrate::{Probe, probe};
use super::{Chart, Study, Table, degrees, dense_angles, footnote, legend, spikes, transmits};

/// The curve of one ωo.
pub(super) struct Curve {
    pub(super) theta_o: f64,
    pub(super) probe: Probe,
    /// θi in degrees, f, and f·|cos θi|.
    points: Vec<(f64, DVec3, DVec3)>,
}

impl Curve {
    pub(super) fn new(study: &Study, theta_o: f64) -> Self {
        let (bsdf, wo) = (study.subject.bsdf(), study.wo(theta_o));
        let probe = probe(&bsdf, wo);
        let reach = if transmits(&probe) { 180.0 } else { 90.0 };
        let at = |theta: f64| {
            let wi = study.in_plane(theta);
            let f = bsdf.eval(wo, wi).as_dvec3();
            (theta, f, f * f64::from(wi.z.abs()))
        };
        let points = dense_angles(study, &probe, theta_o, -reach, reach).into_iter().map(at).collect();
        Self { theta_o, probe, points }
    }

    /// θi in degrees, and the shown number of f, or of f·|cos θi|.
    pub(super) fn values<'a>(
        &'a self,
        study: &'a Study,
        with_cosine: bool,
    ) -> impl Iterator<Item = (f64, f64)> + 'a {
        let value = move |p: &(f64, DVec3, DVec3)| study.channel.value(if with_cosine { p.2 } else { p.1 });
        self.points.iter().map(move |p| (p.0, value(p)))
    }
}

/// The contents of a panel.
struct View {
    heading: String,
    label: String,
    with_cosine: bool,
    log: bool,
}

/// Both quantities by both scales.
fn views() -> Vec<View> {
    let panels = [("a", true, false), ("b", true, true), ("c", false, false), ("d", false, true)];
    let view = |(letter, with_cosine, log): (&str, bool, bool)| {
        let quantity = if with_cosine { "f · |cos θᵢ|" } else { "f" };
        let scale = if log { "logarithmic" } else { "linear" };
        let heading = format!("({letter}) {quantity}, {scale}");
        View { heading, label: format!("{quantity}  [sr⁻¹]"), with_cosine, log }
    };
    panels.map(view).into()
}

/// The only view of materials that have nothing but delta directions.
fn spikes_alone() -> Vec<View> {
    let (heading, label) = ("power by direction".to_owned(), "part of the power".to_owned());
    vec![View { heading, label, with_cosine: true, log: false }]
}

pub(super) fn chart(study: &Study) -> Chart {
    let curves: Vec<_> = study.angles.iter().map(|theta| Curve::new(study, *theta)).collect();
    let has_deltas = curves.iter().any(|c| !c.probe.deltas.is_empty());
    let has_width = curves.iter().any(|c| c.values(study, true).any(|(_, v)| v > 0.0));
    let (views, columns, height) = if has_width { (views(), 2, 700.0) } else { (spikes_alone(), 1, 430.0) };
    let theme = study.theme();
    let (mut drawing, body, size) = study.page("cross-sections in the plane of incidence", 1000.0, height);
    let body = legend(&mut drawing, theme, body, &entries(study, &curves)).inset([0.0, 0.0, 0.0, 8.0]);
    let cells = body.grid(columns, views.len() / columns, (30.0, 14.0));
    for (view, cell) in views.iter().zip(cells) {
        draw(study, &mut drawing, cell, view, &curves);
    }
    let note = if has_deltas {
        "; arrows: directions of no width, where f is infinite, with the part of the power that they carry"
    } else {
        ""
    };
    footnote(&mut drawing, theme, format!("curves: {}{note}", study.shown()));
    Chart { drawing, size, table: table(&curves), facts: Vec::new() }
}

fn entries(study: &Study, curves: &[Curve]) -> Vec<Entry> {
    let theme = study.theme();
    let entry = |(i, curve): (usize, &Curve)| {
        let stroke = Stroke::solid(theme.series(i), 1.7);
        let text = format!("θₒ = {}{}", degrees(curve.theta_o), spikes(study, &curve.probe));
        Entry::new(Sign::Line(stroke), text)
    };
    let mirror = Sign::Line(Stroke::solid(theme.axis, 1.0).dotted());
    curves.iter().enumerate().map(entry).chain([Entry::new(mirror, "mirror direction")]).collect()
}

fn draw(study: &Study, drawing: &mut Drawing, cell: Rect, view: &View, curves: &[Curve]) {
    let theme = study.theme();
    let frame = cell.inset([56.0, 28.0, 6.0, 46.0]);
    let (reach, step) = if curves.iter().any(|c| transmits(&c.probe)) { (180.0, 45.0) } else { (90.0, 30.0) };
    let x = Axis::degrees("θᵢ, negative on the side of ωₒ", -reach, reach, step);
    let y = value_axis(study, curves, view.with_cosine, view.log, &view.label);
    let mut panel = Panel::new(drawing, theme, frame, x, y);
    for (i, curve) in curves.iter().enumerate() {
        let color = theme.series(i);
        panel.vertical(curve.theta_o, Stroke::solid(color.mix(theme.background, 0.35), 1.0).dotted());
        for delta in curve.probe.deltas.iter().filter(|_| view.with_cosine) {
            let height = if view.log { 0.3 } else { study.channel.value(delta.weight) } * panel.y.high;
            panel.spike(study.theta_in_plane(delta.wi), height, Stroke::solid(color, 1.9));
        }
    }
    for (i, curve) in curves.iter().enumerate() {
        panel.curve(curve.values(study, view.with_cosine), Stroke::solid(theme.series(i), 1.7));
    }
    panel.axes();
    panel.heading(&view.heading, &[]);
}

/// An axis that holds all curves; where it is logarithmic, six decades of them, or as many more, up to twelve, as it takes
/// to show what lies between the peaks.
fn value_axis(study: &Study, curves: &[Curve], with_cosine: bool, log: bool, label: &str) -> Axis {
    let values = || curves.iter().flat_map(|c| c.values(study, with_cosine)).map(|(_, v)| v);
    let high = values().filter(|v| v.is_finite()).fold(0.0, f64::max);
    if !log {
        return Axis::from_zero(label, if high > 0.0 { high * 1.04 } else { 1.0 }, 5);
    }
    let high = if high > 0.0 { high * 1.5 } else { 1.0 };
    // The cosine takes curves to 0 at the horizon: what counts is what is common.
    let mut positive: Vec<_> = values().filter(|v| *v > 0.0).collect();
    positive.sort_by(f64::total_cmp);
    let low = positive.get(positive.len() / 50).map_or(high * 1e-3, |low| 0.7 * low);
    // Peaks have most of the points: of angles, as many as there are.
    let mut between: Vec<_> = curves
        .iter()
        .flat_map(|c| c.values(study, with_cosine))
        .filter(|(theta, v)| (theta % 5.0).abs() < 1e-9 && *v > 0.0)
        .map(|(_, v)| v)
        .collect();
    between.sort_by(f64::total_cmp);
    let most = between.get(between.len() / 4).map_or(high * 1e-6, |v| v.clamp(high * 1e-12, high * 1e-6));
    let low = 10f64.powf(low.max(most).min(high * 0.1).log10().floor());
    Axis::log(label, low, high)
}

fn table(curves: &[Curve]) -> Table {
    let mut table = Table::new("theta_o_deg,theta_i_deg,f_r,f_g,f_b,f_cos_r,f_cos_g,f_cos_b");
    for curve in curves {
        for (theta, f, f_cos) in &curve.points {
            table.row(&[], &[curve.theta_o, *theta, f.x, f.y, f.z, f_cos.x, f_cos.y, f_cos.z]);
        }
    }
    table
}
