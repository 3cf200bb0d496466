//! Height-correlated against separable masking and shadowing.

use device::bsdf::microfacet::{Masking, Microfacet};
use glam::Vec2;
use rayon::prelude::*;
use torrance_plot::chart::{Axis, Drawing, Entry, Panel, Rect, Sign, Stroke};

use super::{Chart, NoChart, Study, Subject, Table, albedo_at, degrees, footnote, frame_of};

/// Roughness parameters that are compared.
const ALPHAS: [f32; 4] = [0.1, 0.3, 0.6, 1.0];
/// Angle of ωo where roughnesses are compared, degrees.
const FIXED: f64 = 60.0;

pub(super) fn chart(study: &Study) -> Result<Chart, NoChart> {
    let Some(facets) = study.subject.microfacet() else {
        return Err(NoChart::NothingMasked);
    };
    let theme = study.theme();
    let (mut drawing, body, size) = study.page("masking and shadowing G₂", 1200.0, 428.0);
    let mut table = Table::new("panel,theta_o_deg,alpha,theta_i_deg,correlated,separable");
    let cells = body.grid(3, 1, (22.0, 0.0));
    let alpha = super::subject::alphas(facets.alpha);

    let by_angle: Vec<_> =
        study.angles.iter().map(|theta| Family { name: degrees(*theta), theta_o: *theta, facets }).collect();
    let heading = format!("(a) G₂ by θₒ, {alpha}");
    draw_g2(study, &mut drawing, cells[0], &heading, &by_angle, "g2_by_angle", &mut table);

    let by_alpha: Vec<_> = ALPHAS
        .iter()
        .map(|alpha| {
            let facets = Microfacet { alpha: Vec2::splat(*alpha), ..facets };
            Family { name: format!("α = {alpha}"), theta_o: FIXED, facets }
        })
        .collect();
    let heading = format!("(b) G₂ by α, θₒ = {FIXED}°");
    draw_g2(study, &mut drawing, cells[1], &heading, &by_alpha, "g2_by_alpha", &mut table);

    let largest = draw_difference(study, &mut drawing, cells[2], &mut table);
    let note = "G₂ of directions on the same side; solid: height-correlated; dashed: separable. (c): no facet absorbs; quadrature of f";
    footnote(&mut drawing, theme, note);
    Ok(Chart { drawing, size, table, facts: vec![("largest_difference_of_albedo", largest)] })
}

/// A pair of curves: the same facets with both functions.
struct Family {
    name: String,
    theta_o: f64,
    facets: Microfacet,
}

fn draw_g2(
    study: &Study,
    drawing: &mut Drawing,
    cell: Rect,
    heading: &str,
    families: &[Family],
    panel_name: &str,
    table: &mut Table,
) {
    let theme = study.theme();
    let x = Axis::degrees("θᵢ, negative on the side of ωₒ", -90.0, 90.0, 30.0);
    let y = Axis::stepped("G₂(ωₒ, ωᵢ)", 0.0, 1.0, 0.2);
    let mut panel = Panel::new(drawing, theme, frame_of(cell), x, y);
    let mut entries = Vec::new();
    for (i, f) in families.iter().enumerate() {
        let g2 = |masking: Masking, theta_i: f64| {
            let facets = Microfacet { masking, ..f.facets };
            f64::from(facets.g2(study.wo(f.theta_o), study.in_plane(theta_i)))
        };
        let thetas = || (-178..=178).map(|i| 0.5 * f64::from(i));
        let solid = Stroke::solid(theme.series(i), 1.7);
        panel.curve(thetas().map(|t| (t, g2(Masking::Separable, t))), solid.dashed());
        panel.curve(thetas().map(|t| (t, g2(Masking::Correlated, t))), solid);
        entries.push(Entry::new(Sign::Line(solid), f.name.as_str()));
        let alpha = f64::from(f.facets.alpha.x);
        for t in thetas() {
            let values = [f.theta_o, alpha, t, g2(Masking::Correlated, t), g2(Masking::Separable, t)];
            table.row(&[panel_name], &values);
        }
    }
    panel.axes();
    panel.heading(heading, &entries);
}

/// Draws the difference of the albedos of facets that absorb nothing, and gives the one that is farthest from 0.
fn draw_difference(study: &Study, drawing: &mut Drawing, cell: Rect, table: &mut Table) -> f64 {
    let theme = study.theme();
    let white = study.subject.white().unwrap_or_else(|| study.subject.clone());
    let albedo = |subject: &Subject, theta: f64| albedo_at(study, &subject.bsdf(), theta).total().y;
    let angles: Vec<f64> = (0..=44).map(|i| 2.0 * f64::from(i)).chain([89.0]).collect();
    let curves: Vec<Vec<[f64; 3]>> = ALPHAS
        .par_iter()
        .map(|alpha| {
            let white = white.with_alpha(Vec2::splat(*alpha));
            let at = |theta: &f64| {
                let [c, s] = [Masking::Correlated, Masking::Separable]
                    .map(|masking| albedo(&white.with_masking(masking), *theta));
                [*theta, c, s]
            };
            angles.par_iter().map(at).collect()
        })
        .collect();
    let largest = curves.iter().flatten().map(|[_, c, s]| c - s).fold(0.0, f64::max);
    let least = curves.iter().flatten().map(|[_, c, s]| c - s).fold(0.0, f64::min);
    let x = Axis::degrees("θₒ", 0.0, 90.0, 15.0);
    let label = "correlated − separable albedo";
    let y = if least < -1e-4 {
        Axis::linear(label, least * 1.1, largest.max(1e-3) * 1.1, 6)
    } else {
        Axis::from_zero(label, largest.max(1e-3), 5)
    };
    let mut panel = Panel::new(drawing, theme, frame_of(cell), x, y.percent());
    let mut entries = Vec::new();
    for (i, (alpha, curve)) in ALPHAS.iter().zip(&curves).enumerate() {
        let stroke = Stroke::solid(theme.series(i), 1.7);
        panel.curve(curve.iter().map(|[t, c, s]| (*t, c - s)), stroke);
        entries.push(Entry::new(Sign::Line(stroke), format!("α = {alpha}")));
        for [t, c, s] in curve {
            table.row(&["white_albedo"], &[*t, f64::from(*alpha), f64::NAN, *c, *s]);
        }
    }
    panel.axes();
    panel.heading("(c) difference of white albedo", &entries);
    if -least > largest { least } else { largest }
}
