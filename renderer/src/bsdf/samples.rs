//! Samples against the density that is claimed of them.

use device::bsdf::Tinted;
use device::rng::SamplerKind;
use glam::Vec3;
use rayon::prelude::*;
use torrance_plot::chart::{Axis, Color, ColorMap, Drawing, Entry, Panel, Rect, Sign, Stroke, Theme};

use super::batch::BatchLobe;
use super::chi2::{self, Verdict};
use super::density::{CELLS, Density, Window, polar};
use super::furnace::{color_bar, shade};
use super::integrate::{draw, probe};
use super::{Chart, NoChart, Study, Table, degrees, footnote};

/// Samples that are counted.
const SAMPLES: u32 = 1 << 19;
/// Error of the expected part in a cell that no test sees.
const ENOUGH: f64 = 0.03 / SAMPLES as f64;

/// Observed and expected sample counts.
struct Comparison {
    window: Window,
    observed: Vec<f64>,
    expected: Vec<f64>,
    verdict: Verdict,
}

pub(super) fn chart(study: &Study) -> Result<Chart, NoChart> {
    let theta_o = study.angles.get(study.angles.len() / 2).copied().unwrap_or(0.0);
    let (bsdf, wo) = (study.subject.bsdf(), study.wo(theta_o));
    let drawn = (0..1 << 14).filter_map(|i| draw(&bsdf, wo, SamplerKind::Independent, 1, i));
    let pilot: Vec<_> = drawn.filter(|s| s.pdf > 0.0).map(|s| polar(study.azimuth, s.wi)).collect();
    if pilot.len() < 100 {
        return Err(NoChart::NoDensity);
    }
    let window = Window::around(&pilot);
    let comparison = compare(study, &bsdf, wo, window);
    let theme = study.theme();
    let title = format!("samples against pdf at θₒ = {}", degrees(theta_o));
    let (mut drawing, body, size) = study.page(&title, 1000.0, 760.0);
    let cells = body.grid(2, 2, (30.0, 14.0));
    let density = |counts: &[f64]| -> Vec<f64> {
        let per = |(i, n): (usize, &f64)| n / (f64::from(SAMPLES) * window.solid_angle(i / CELLS[1]));
        counts.iter().enumerate().map(per).collect()
    };
    let (sampled, pdf) = (density(&comparison.observed), density(&comparison.expected));
    let most = sampled.iter().chain(&pdf).fold(0.0_f64, |a, b| a.max(*b));
    let least = pdf.iter().filter(|x| **x > 0.0).fold(most, |a, b| a.min(*b));
    let densities = Axis::log("[sr⁻¹]", 10f64.powf(least.log10().floor()).max(most * 1e-4), most);
    let residuals: Vec<f64> = comparison
        .observed
        .iter()
        .zip(&comparison.expected)
        .map(|(o, e)| if *e >= 5.0 { (o - e) / e.sqrt() } else { f64::NAN })
        .collect();
    let deviations = Axis::stepped("[σ]", -4.0, 4.0, 2.0);
    for (map, cell) in [
        ("(a) density of the samples", &sampled[..], ColorMap::Viridis, &densities),
        ("(b) pdf", &pdf, ColorMap::Viridis, &densities),
        ("(c) difference over its standard deviation", &residuals, ColorMap::BlueRed, &deviations),
    ]
    .into_iter()
    .zip(&cells)
    {
        heat(&mut drawing, theme, *cell, window, map);
    }
    marginal(&mut drawing, theme, cells[3], &comparison);
    let Verdict { chi2, dof, p } = comparison.verdict;
    let note = format!(
        "{SAMPLES} samples; χ² = {chi2:.0}, {dof} degrees of freedom, p = {p:.3}; what lies beyond the maps counts as one cell"
    );
    footnote(&mut drawing, theme, note);
    Ok(Chart {
        drawing,
        size,
        table: table(&comparison, &residuals),
        facts: vec![("chi2", chi2), ("degrees_of_freedom", dof as f64), ("p_value", p)],
    })
}

fn compare(study: &Study, bsdf: &Tinted, wo: Vec3, window: Window) -> Comparison {
    let cells = CELLS[0] * CELLS[1];
    let observed = (0..64u32)
        .into_par_iter()
        .map(|part| {
            let mut counts = vec![0.0; cells];
            for i in part * (SAMPLES / 64)..(part + 1) * (SAMPLES / 64) {
                if let Some(sample) = draw(bsdf, wo, SamplerKind::Independent, 2, i)
                    && sample.pdf > 0.0
                    && let Some(cell) = window.index(polar(study.azimuth, sample.wi))
                {
                    counts[cell] += 1.0;
                }
            }
            counts
        })
        .reduce(|| vec![0.0; cells], |a, b| a.iter().zip(&b).map(|(a, b)| a + b).collect());
    let probe = probe(bsdf, wo);
    let peaks: Vec<_> = [probe.reflected, probe.transmitted, Some(Vec3::new(-wo.x, -wo.y, wo.z))]
        .into_iter()
        .flatten()
        .map(|peak| polar(study.azimuth, peak))
        .collect();
    let windows: Vec<_> = (0..cells).map(|i| window.cell(i)).collect();
    let mut bsdf = BatchLobe(bsdf);
    let mut density = Density { bsdf: &mut bsdf, wo: wo.to_array(), azimuth: study.azimuth };
    let Ok(masses) = density.masses(&windows, &peaks, ENOUGH);
    let expected: Vec<f64> = masses.into_iter().map(|mass| f64::from(SAMPLES) * mass).collect();
    let rest = |counts: &[f64]| (f64::from(SAMPLES) - counts.iter().sum::<f64>()).max(0.0);
    let with_rest = |counts: &[f64]| [counts, &[rest(counts)]].concat();
    let verdict = chi2::test(&with_rest(&observed), &with_rest(&expected));
    Comparison { window, observed, expected, verdict }
}

/// Draws the values of all cells, called `heading`, by a map of colours and its scale.
fn heat(
    drawing: &mut Drawing,
    theme: Theme,
    cell: Rect,
    window: Window,
    (heading, values, map, scale): (&str, &[f64], ColorMap, &Axis),
) {
    let frame = cell.inset([56.0, 28.0, 74.0, 62.0]);
    fill_cells(drawing, frame, |i| match values[i].is_nan() {
        true => theme.background.mix(theme.grid, 0.8),
        false => shade(map, scale.at(values[i])),
    });
    let x = angle_axis("φᵢ from the plane of incidence", window.phi[0], window.phi[1]);
    let y = angle_axis("θᵢ", window.theta[0], window.theta[1]);
    let mut panel = Panel::over(drawing, theme, frame, x, y);
    panel.axes();
    panel.heading(heading, &[]);
    let bar = Rect { x: frame.right() + 12.0, y: frame.y, w: 13.0, h: frame.h };
    color_bar(drawing, theme, bar, map, scale);
}

/// Fills a frame with the colours of all cells, neighbours of one colour at once.
fn fill_cells(drawing: &mut Drawing, frame: Rect, color: impl Fn(usize) -> Color) {
    let (w, h) = (frame.w / CELLS[1] as f64, frame.h / CELLS[0] as f64);
    for row in 0..CELLS[0] {
        let cells: Vec<_> = (row * CELLS[1]..(row + 1) * CELLS[1]).map(&color).collect();
        let mut start = 0;
        for run in cells.chunk_by(|a, b| a == b) {
            let (x, y) = (frame.x + start as f64 * w, frame.bottom() - (row + 1) as f64 * h);
            let width = run.len() as f64 * w + 0.4;
            let r = Rect { x, y, w: width.min(frame.right() - x), h: (h + 0.4).min(frame.bottom() - y) };
            drawing.fill(r, run[0]);
            start += run.len();
        }
    }
}

/// An axis of degrees that are few or many.
fn angle_axis(label: &str, low: f64, high: f64) -> Axis {
    let steps =
        [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 90.0];
    let step = steps.into_iter().find(|s| (high - low) / s <= 6.5).unwrap_or(90.0);
    Axis::degrees(label, low, high, step)
}

/// Counts and expectations by θ alone.
fn by_theta(counts: &[f64]) -> Vec<f64> {
    counts.chunks(CELLS[1]).map(|row| row.iter().sum()).collect()
}

fn marginal(drawing: &mut Drawing, theme: Theme, cell: Rect, comparison: &Comparison) {
    let window = &comparison.window;
    let frame = cell.inset([56.0, 46.0, 10.0, 62.0]);
    let width = (window.theta_at(1.0) - window.theta_at(0.0)).to_radians();
    let per = width * f64::from(SAMPLES);
    let (observed, expected) = (by_theta(&comparison.observed), by_theta(&comparison.expected));
    let most = expected.iter().chain(&observed).fold(0.0_f64, |a, b| a.max(*b)) / per;
    let x = angle_axis("θᵢ", window.theta[0], window.theta[1]);
    let y = Axis::from_zero("density of θᵢ  [rad⁻¹]", most * 1.02, 5);
    let mut panel = Panel::new(drawing, theme, frame, x, y);
    let middle = |row: usize| window.theta_at(row as f64 + 0.5);
    let steps = expected.iter().enumerate().flat_map(|(row, e)| {
        [(window.theta_at(row as f64), e / per), (window.theta_at(row as f64 + 1.0), e / per)]
    });
    let line = Stroke::solid(theme.series(0), 1.6);
    panel.curve(steps, line);
    let dots = observed.iter().enumerate().map(|(row, o)| (middle(row), o / per, 2.0 * o.sqrt() / per));
    panel.dots(dots, theme.series(1), 2.2);
    panel.axes();
    let p = comparison.verdict.p;
    let entries =
        [Entry::new(Sign::Line(line), "pdf"), Entry::new(Sign::Dot(theme.series(1)), "samples ± 2σ")];
    panel.heading(&format!("(d) by θᵢ; χ² of all cells: p = {p:.3}"), &entries);
}

fn table(comparison: &Comparison, residuals: &[f64]) -> Table {
    let mut table =
        Table::new("theta_low_deg,theta_high_deg,phi_low_deg,phi_high_deg,observed,expected,residual_sigma");
    for (i, residual) in residuals.iter().enumerate() {
        let Window { theta, phi } = comparison.window.cell(i);
        table.row(
            &[],
            &[theta[0], theta[1], phi[0], phi[1], comparison.observed[i], comparison.expected[i], *residual],
        );
    }
    table
}
