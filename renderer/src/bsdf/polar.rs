//! Lobes as polar plots: reflection above the surface, transmission below.

use torrance_plot::chart::{Anchor, Color, Drawing, Entry, Font, Rect, Sign, Stroke, Theme, power_of_ten};

use super::cross_section::Curve;
use super::subject::short;
use super::{Chart, Study, Table, degrees, footnote, legend, spikes, transmits};

/// Decades that the logarithmic plot shows.
const DECADES: f64 = 3.0;

/// The lobe of one ωo.
struct Lobe {
    curve: Curve,
    /// θi in degrees, and f·|cos θi|.
    points: Vec<(f64, f64)>,
    /// The largest f·|cos θi|.
    most: f64,
}

impl Lobe {
    fn new(study: &Study, theta_o: f64) -> Self {
        let curve = Curve::new(study, theta_o);
        let points: Vec<_> = curve.values(study, true).collect();
        let most = points.iter().map(|p| p.1).filter(|v| v.is_finite()).fold(0.0, f64::max);
        Self { curve, points, most }
    }

    fn entry(&self, study: &Study, color: Color) -> Entry {
        let theta = degrees(self.curve.theta_o);
        let text = match self.most > 0.0 {
            true => format!("θₒ = {theta}, maximum {} sr⁻¹", short(self.most as f32)),
            false => format!("θₒ = {theta}{}", spikes(study, &self.curve.probe)),
        };
        Entry::new(Sign::Line(Stroke::solid(color, 2.0)), text)
    }
}

pub(super) fn chart(study: &Study) -> Chart {
    let lobes: Vec<_> = study.angles.iter().map(|theta| Lobe::new(study, *theta)).collect();
    let below = lobes.iter().any(|lobe| transmits(&lobe.curve.probe));
    let theme = study.theme();
    let (mut drawing, body, size) = study.page("lobes", 1000.0, if below { 600.0 } else { 405.0 });
    let entries: Vec<_> =
        lobes.iter().enumerate().map(|(i, lobe)| lobe.entry(study, theme.series(i))).collect();
    let body = legend(&mut drawing, theme, body, &entries);
    let places = body.inset([0.0, 10.0, 0.0, 12.0]).grid(2, 1, (30.0, 0.0));
    let plots = [("linear", false), ("logarithmic", true)];
    for ((letter, (scale, log)), place) in ["a", "b"].into_iter().zip(plots).zip(places) {
        let heading = format!("({letter}) f · |cos θᵢ| over its maximum, {scale}");
        PolarPlot::new(&mut drawing, theme, place, below, log).draw(study, &heading, &lobes);
    }
    let note = if lobes.iter().any(|lobe| !lobe.curve.probe.deltas.is_empty()) {
        "; thick arrows: directions of no width, of a length that is the part of the power that they carry"
    } else {
        ""
    };
    footnote(&mut drawing, theme, format!("curves: {}; thin arrows: ωₒ{note}", study.shown()));
    let mut table = Table::new("theta_o_deg,theta_i_deg,f_cos,f_cos_of_maximum");
    for lobe in &lobes {
        for (theta, value) in &lobe.points {
            table.row(&[], &[lobe.curve.theta_o, *theta, *value, value / lobe.most]);
        }
    }
    Chart { drawing, size, table, facts: Vec::new() }
}

/// A polar plot in its place on the page.
struct PolarPlot<'a> {
    drawing: &'a mut Drawing,
    theme: Theme,
    place: Rect,
    center: [f64; 2],
    radius: f64,
    /// Whether the lower half is shown.
    below: bool,
    log: bool,
}

impl<'a> PolarPlot<'a> {
    fn new(drawing: &'a mut Drawing, theme: Theme, place: Rect, below: bool, log: bool) -> Self {
        let (top, bottom) = (place.y + 44.0, place.bottom() - 26.0);
        let tall = if below { 0.5 * (bottom - top) } else { bottom - top };
        let radius = tall.min(0.5 * place.w - 40.0);
        let center = [place.x + 0.5 * place.w, top + radius];
        Self { drawing, theme, place, center, radius, below, log }
    }

    /// The place at `theta` degrees to the normal, `r` of the radius away.
    fn at(&self, theta: f64, r: f64) -> [f64; 2] {
        let (s, c) = theta.to_radians().sin_cos();
        [self.center[0] + self.radius * r * s, self.center[1] - self.radius * r * c]
    }

    /// The part of the radius that stands for a part of the maximum.
    fn length(&self, value: f64) -> f64 {
        if !self.log {
            return value;
        }
        if value > 0.0 { (1.0 + value.log10() / DECADES).max(0.0) } else { 0.0 }
    }

    fn draw(&mut self, study: &Study, heading: &str, lobes: &[Lobe]) {
        self.grid();
        let font = Font { size: 12.5, color: self.theme.text, bold: true };
        self.drawing.text(heading, [self.place.x, self.place.y + 8.0], Anchor::Start, font);
        for (i, lobe) in lobes.iter().enumerate() {
            let color = self.theme.series(i);
            let arrow = Stroke::solid(color.mix(self.theme.background, 0.3), 1.1);
            let [from, to] = [1.0, 0.84].map(|r| self.at(-lobe.curve.theta_o, r));
            self.drawing.arrow(from, to, arrow);
            let curve: Vec<_> = lobe
                .points
                .iter()
                .filter(|_| lobe.most > 0.0)
                .map(|(theta, value)| self.at(*theta, self.length(value / lobe.most).min(1.0)))
                .collect();
            self.drawing.line(&curve, Stroke::solid(color, 1.8));
            for delta in &lobe.curve.probe.deltas {
                let length = self.length(study.channel.value(delta.weight)).max(0.03);
                let to = self.at(study.theta_in_plane(delta.wi), length);
                self.drawing.arrow(self.center, to, Stroke::solid(color, 2.4));
            }
        }
        // The surface, above all else.
        let [left, right] = [self.at(-90.0, 1.06), self.at(90.0, 1.06)];
        self.drawing.line(&[left, right], Stroke::solid(self.theme.text, 1.6));
    }

    fn grid(&mut self) {
        let thin = Stroke::solid(self.theme.grid.mix(self.theme.axis, 0.12), 0.9);
        let reach: i32 = if self.below { 180 } else { 90 };
        let font = Font { size: 10.5, color: self.theme.muted, bold: false };
        let circles: &[f64] = if self.log { &[1.0 / 3.0, 2.0 / 3.0, 1.0] } else { &[0.25, 0.5, 0.75, 1.0] };
        for r in circles {
            let arc: Vec<_> = (-reach..=reach).map(|theta| self.at(f64::from(theta), *r)).collect();
            self.drawing.line(&arc, thin);
        }
        for theta in (-reach..=reach).step_by(30).filter(|t| *t != -180) {
            let theta_f = f64::from(theta);
            let (from, to) = (self.at(theta_f, 0.0), self.at(theta_f, 1.0));
            self.drawing.line(&[from, to], thin);
            let [x, y] = self.at(theta_f, 1.0);
            let (s, c) = theta_f.to_radians().sin_cos();
            let sign = if theta < 0 { "−" } else { "" };
            let shift = if theta.abs() == 90 { 24.0 } else { 15.0 };
            let at = [x + shift * s, y - 13.0 * c + 4.0];
            self.drawing.text(format!("{sign}{}°", theta.abs()), at, Anchor::Middle, font);
        }
        for r in circles {
            let text = match self.log {
                true => power_of_ten(((r - 1.0) * DECADES).round() as i32),
                false => format!("{r}"),
            };
            // On the side that no mirror reflection goes to.
            let [x, y] = self.at(-90.0, *r);
            self.drawing.text(text, [x + 3.0, y + 12.0], Anchor::Middle, font);
        }
    }
}
