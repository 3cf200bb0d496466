//! Whether a BSDF keeps what renderers take for granted of it, whoever computes it.

use device::path::Drawn;
use device::rng::{pcg4d, uniform};
use device::sampling::sample_cosine_hemisphere;
use glam::{DVec3, Vec2, Vec3};
use statrs::function::erf::erfc;

use super::batch::{BatchBsdf, SampleColumns};
use super::chi2;
use super::density::{CELLS, Density, Window, direction, polar};

/// How a BSDF is tested.
#[derive(Debug, Clone, PartialEq)]
pub struct Conformance {
    /// Angles of ωo to the normal, degrees, in [0, 90).
    pub angles: Vec<f64>,
    /// Azimuth of ωo, degrees from the x axis.
    pub azimuth: f64,
    /// Samples drawn from each ωo, ≥ 1.
    pub samples: u32,
    /// The probability with which a BSDF that is right is rejected all the same, in (0, 1). Half of it is `density`'s, half
    /// `energy`'s; other tests do not depend on chance.
    pub significance: f64,
    /// Largest deviation of what is to be equal, relative to the larger, but for one in a thousand: where half vectors cancel,
    /// `f32` is far off.
    pub tolerance: f64,
    /// Seed of the random numbers.
    pub seed: u32,
}

impl Default for Conformance {
    fn default() -> Self {
        let angles = vec![0.0, 30.0, 60.0, 80.0];
        Self { angles, azimuth: 0.0, samples: 1 << 18, significance: 0.01, tolerance: 0.01, seed: 0 }
    }
}

/// What the tests have found.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// All tests, whether passed or not.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether the BSDF has passed all of them.
    pub fn passed(&self) -> bool {
        self.findings.iter().all(|finding| finding.passed)
    }
}

/// What one test has found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The test: `finite`, `weight`, `sample_pdf`, `normalization`, `density`, `coverage`, `reciprocity` or `energy`.
    pub name: &'static str,
    /// Whether the BSDF has passed it.
    pub passed: bool,
    /// What it goes by: a p-value of `density` and `energy`, the smallest of all ωo, and of others the largest deviation.
    pub statistic: f64,
    /// The least p-value, or the largest deviation, with which it is passed.
    pub limit: f64,
    /// ωo for which it is so, degrees to the normal; NaN where none stands out.
    pub theta_o: f64,
    /// What that means, in a sentence.
    pub sentence: String,
}

/// Tests a BSDF by what its three functions say of each other:
///
/// - `finite`: all values are finite and none is negative, and directions are unit vectors.
/// - `weight`: the weight of a sample is f·|cos θi| / pdf. Where f is an estimate, as of random walks, it is not, and this is no
///   fault.
/// - `sample_pdf`: the density of a sample is that of its direction.
/// - `normalization`: the density adds up to no more than 1, and a thousandth.
/// - `density`: samples are distributed as `pdf` says, those that fail included, by Pearson's χ² test over cells of
///   directions, for each ωo.
/// - `coverage`: no light comes from where no sample is drawn: of ∫ f·|cos θi| at most a thousandth is where the density is zero.
/// - `reciprocity`: f(ωo, ωi) = f(ωi, ωo) above the surface.
/// - `energy`: no more light is scattered than arrives: the mean of weights, as power, is no greater than 1 by more than its
///   error and a thousandth.
///
/// # Errors
/// Those of the BSDF.
pub fn conformance<B: BatchBsdf>(bsdf: &mut B, how: &Conformance) -> Result<Report, B::Error> {
    let mut findings = Vec::new();
    for (number, theta) in how.angles.iter().enumerate() {
        let view = View::new(bsdf, how, *theta, number as u32)?;
        findings.extend([view.finite(), view.weight(how), view.sample_pdf(how)]);
        findings.extend(view.density(bsdf, how)?);
        findings.extend([view.coverage(bsdf, how)?, view.energy(how)]);
    }
    findings.push(reciprocity(bsdf, how)?);
    Ok(Report { findings: worst(findings) })
}

/// Of each test the finding that is farthest beyond its limit, or else the nearest to it.
fn worst(findings: Vec<Finding>) -> Vec<Finding> {
    let mut worst: Vec<Finding> = Vec::new();
    for finding in findings {
        match worst.iter_mut().find(|of| of.name == finding.name) {
            None => worst.push(finding),
            Some(before) if finding.badness() > before.badness() => *before = finding,
            Some(_) => {}
        }
    }
    worst
}

impl Finding {
    /// Larger the worse it is.
    fn badness(&self) -> f64 {
        match (self.statistic.is_nan(), is_p(self.name)) {
            (true, _) => f64::NEG_INFINITY,
            (false, true) => -self.statistic,
            (false, false) => self.statistic,
        }
    }
}

fn is_p(name: &str) -> bool {
    ["density", "energy"].contains(&name)
}

/// The significance of each of `n` tests that together reject what is right with half the probability that is allowed (Šidák).
fn each_of(how: &Conformance, n: usize) -> f64 {
    1.0 - (1.0 - 0.5 * how.significance).powf(1.0 / n.max(1) as f64)
}

/// Three uniforms.
fn uniforms(i: usize, stream: u32, seed: u32) -> [f32; 3] {
    let [a, b, c, _] = pcg4d([i as u32, stream, seed, 0xB5DF]).map(uniform);
    [a, b, c]
}

/// A direction that is uniform on the sphere.
fn anywhere([a, b, _]: [f32; 3]) -> [f32; 3] {
    let z = 2.0 * f64::from(a) - 1.0;
    let (sin, (y, x)) = ((1.0 - z * z).max(0.0).sqrt(), (std::f64::consts::TAU * f64::from(b)).sin_cos());
    DVec3::new(sin * x, sin * y, z).as_vec3().normalize().to_array()
}

/// The value that all but one in a thousand do not exceed; 0 of none.
fn nearly_all(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get((values.len() * 999 / 1000).min(values.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

/// How far two numbers are apart, relative to the larger; those below a thousandth count as that much.
fn apart(a: f64, b: f64) -> f64 {
    let difference = (a - b).abs() / a.abs().max(b.abs()).max(1e-3);
    if difference.is_nan() { f64::INFINITY } else { difference }
}

fn apart_rgb(a: DVec3, b: DVec3) -> f64 {
    let size = a.abs().max_element().max(b.abs().max_element()).max(1e-3);
    let difference = (a - b).abs().max_element() / size;
    if difference.is_nan() { f64::INFINITY } else { difference }
}

fn wide(v: [f32; 3]) -> DVec3 {
    Vec3::from(v).as_dvec3()
}

fn cosine(wi: [f32; 3]) -> f64 {
    f64::from(wi[2].abs())
}

/// Samples from one ωo, and what the BSDF says of the directions that have a density.
struct View {
    theta: f64,
    wo: [f32; 3],
    drawn: SampleColumns,
    /// Rows of the samples that have a density.
    smooth: Vec<usize>,
    f: Vec<[f32; 3]>,
    pdf: Vec<f32>,
    number: u32,
}

impl View {
    fn new<B: BatchBsdf>(bsdf: &mut B, how: &Conformance, theta: f64, number: u32) -> Result<Self, B::Error> {
        let wo = direction(how.azimuth, -theta, 0.0).to_array();
        let n = how.samples as usize;
        let u: Vec<_> = (0..n).map(|i| uniforms(i, 2 * number, how.seed)).collect();
        let mut drawn = SampleColumns::new(n);
        bsdf.sample(&vec![wo; n], &u, drawn.room())?;
        let smooth: Vec<_> = drawn.which(Drawn::VALID | Drawn::DELTA, Drawn::VALID).collect();
        let wi: Vec<_> = smooth.iter().map(|i| drawn.wi[*i]).collect();
        let (mut f, mut pdf) = (vec![[0.0; 3]; wi.len()], vec![0.0; wi.len()]);
        bsdf.eval(&vec![wo; wi.len()], &wi, &mut f)?;
        bsdf.pdf(&vec![wo; wi.len()], &wi, &mut pdf)?;
        Ok(Self { theta, wo, drawn, smooth, f, pdf, number })
    }

    /// A finding about a deviation.
    fn finding(&self, name: &'static str, statistic: f64, limit: f64, what: &str) -> Finding {
        let passed = statistic <= limit;
        let sentence = format!("at θo = {}° {what} {statistic:.4}, of {limit} at most", self.theta);
        Finding { name, passed, statistic, limit, theta_o: self.theta, sentence }
    }

    fn finite(&self) -> Finding {
        let is_value = |x: &f32| x.is_finite() && *x >= 0.0;
        let is_fine = |(row, i): (usize, &usize)| {
            let length = wide(self.drawn.wi[*i]).length();
            (length - 1.0).abs() < 1e-4
                && self.f[row].iter().chain(&self.drawn.weight[*i]).all(is_value)
                && is_value(&self.pdf[row])
                && is_value(&self.drawn.pdf[*i])
        };
        let wrong = self.smooth.iter().enumerate().filter(|smooth| !is_fine(*smooth)).count();
        let deltas = self.drawn.which(Drawn::VALID | Drawn::DELTA, Drawn::VALID | Drawn::DELTA);
        let wrong_deltas = deltas.filter(|i| !self.drawn.weight[*i].iter().all(is_value)).count();
        let what = "values that are negative or no numbers, or directions that are no unit vectors:";
        self.finding("finite", (wrong + wrong_deltas) as f64, 0.0, what)
    }

    fn weight(&self, how: &Conformance) -> Finding {
        let error = |(row, i): (usize, &usize)| {
            let wi = self.drawn.wi[*i];
            let expected = wide(self.f[row]) * (cosine(wi) / f64::from(self.pdf[row]));
            apart_rgb(wide(self.drawn.weight[*i]), expected)
        };
        let errors = self.smooth.iter().enumerate().map(error).collect();
        let what = "weights differ from f·|cos θi| / pdf by";
        self.finding("weight", nearly_all(errors), how.tolerance, what)
    }

    fn sample_pdf(&self, how: &Conformance) -> Finding {
        let error = |(row, i): (usize, &usize)| apart(self.drawn.pdf[*i].into(), self.pdf[row].into());
        let errors = self.smooth.iter().enumerate().map(error).collect();
        let what = "the densities of samples differ from those of their directions by";
        self.finding("sample_pdf", nearly_all(errors), how.tolerance, what)
    }

    /// χ² over cells of the window that has nearly all samples, the rest of the sphere, and samples that fail; and the sum of
    /// the density, which χ² does not see where it is the same everywhere.
    fn density<B: BatchBsdf>(&self, bsdf: &mut B, how: &Conformance) -> Result<Vec<Finding>, B::Error> {
        let n = f64::from(how.samples);
        let places: Vec<_> =
            self.smooth.iter().map(|i| polar(how.azimuth, self.drawn.wi[*i].into())).collect();
        let limit = each_of(how, how.angles.len());
        let finding = |statistic: f64, sentence| Finding {
            name: "density",
            passed: statistic.is_nan() || statistic >= limit,
            statistic,
            limit,
            theta_o: self.theta,
            sentence,
        };
        if places.len() < 100 {
            let sentence = "samples go into single directions, which have no density".to_owned();
            return Ok(vec![finding(f64::NAN, sentence)]);
        }
        let window = Window::around(&places);
        let cells = CELLS[0] * CELLS[1];
        let mut windows: Vec<_> = (0..cells).map(|i| window.cell(i)).collect();
        windows.extend(window.outside());
        let mut density = Density { bsdf, wo: self.wo, azimuth: how.azimuth };
        let masses = density.masses(&windows, &self.peaks(how), 0.03 / n)?;
        let mut expected: Vec<_> = masses[..cells].iter().map(|mass| n * mass).collect();
        let outside = n * masses[cells..].iter().sum::<f64>();
        let mut observed = vec![0.0; cells];
        places.iter().filter_map(|place| window.index(*place)).for_each(|cell| observed[cell] += 1.0);
        let inside = observed.iter().sum::<f64>();
        let all = expected.iter().sum::<f64>() + outside;
        // Few failures that are expected are what is left of an integral by quadrature.
        if n - all > 1e-3 * n {
            expected.extend([outside, n - all]);
            observed.extend([places.len() as f64 - inside, n - places.len() as f64]);
        } else {
            expected.push((outside + n - all).max(0.0));
            observed.push(n - inside);
        }
        let chi2::Verdict { chi2, dof, p } = chi2::test(&observed, &expected);
        let sentence = format!(
            "at θo = {}° samples are apart from their density by χ² = {chi2:.0} with {dof} degrees of freedom, p = {p:.2e}",
            self.theta
        );
        let sum = self.finding("normalization", all / n, 1.001, "the density adds up to");
        Ok(vec![sum, finding(p, sentence)])
    }

    /// Where densities may be narrow: at the mirror direction, and on each side where f is largest.
    fn peaks(&self, how: &Conformance) -> Vec<(f64, f64)> {
        let [x, y, z] = self.wo;
        let mut peaks = vec![polar(how.azimuth, Vec3::new(-x, -y, z))];
        for side in [1.0, -1.0] {
            let rows = self.smooth.iter().zip(&self.pdf).filter(|(i, _)| self.drawn.wi[**i][2] * side > 0.0);
            let peak = rows.max_by(|a, b| a.1.total_cmp(b.1));
            peaks.extend(peak.map(|(i, _)| polar(how.azimuth, self.drawn.wi[*i].into())));
        }
        peaks
    }

    fn coverage<B: BatchBsdf>(&self, bsdf: &mut B, how: &Conformance) -> Result<Finding, B::Error> {
        let n = (how.samples as usize).min(1 << 16);
        let wi: Vec<_> = (0..n).map(|i| anywhere(uniforms(i, 2 * self.number + 1, how.seed))).collect();
        let (mut f, mut pdf) = (vec![[0.0; 3]; n], vec![0.0; n]);
        bsdf.eval(&vec![self.wo; n], &wi, &mut f)?;
        bsdf.pdf(&vec![self.wo; n], &wi, &mut pdf)?;
        let light = |i: usize| wide(f[i]).max_element() * cosine(wi[i]);
        let all: f64 = (0..n).map(light).sum();
        let missed: f64 = (0..n).filter(|i| pdf[*i] <= 0.0).map(light).sum();
        let part = if missed == 0.0 { 0.0 } else { missed / all };
        Ok(self.finding("coverage", part, 1e-3, "the part of the light that no sample finds is"))
    }

    fn energy(&self, how: &Conformance) -> Finding {
        let n = f64::from(how.samples);
        let power = |i: usize| wide(self.drawn.weight[i]) * f64::from(self.drawn.eta[i]).powi(2);
        let powers = || self.drawn.which(Drawn::VALID, Drawn::VALID).map(power);
        let mean = powers().sum::<DVec3>() / n;
        let variance = (powers().map(|x| x * x).sum::<DVec3>() / n - mean * mean).max(DVec3::ZERO);
        let p_of = |c: usize| {
            let (excess, error) = (mean[c] - 1.0 - 1e-3, (variance[c] / n).sqrt());
            match excess <= 0.0 {
                true => 1.0,
                false => 0.5 * erfc(excess / (error * std::f64::consts::SQRT_2)),
            }
        };
        let statistic = (0..3).map(p_of).fold(1.0, f64::min);
        let limit = each_of(how, 3 * how.angles.len());
        let most = mean.max_element();
        let sentence = format!(
            "at θo = {}° {most:.4} of the light is scattered in the brightest channel; were it 1, as much or more would be found \
             with p = {statistic:.2e}",
            self.theta
        );
        let passed = statistic >= limit;
        Finding { name: "energy", passed, statistic, limit, theta_o: self.theta, sentence }
    }
}

/// f of pairs above the surface both ways: half of them anywhere, half by samples.
fn reciprocity<B: BatchBsdf>(bsdf: &mut B, how: &Conformance) -> Result<Finding, B::Error> {
    const STREAM: u32 = 1 << 30;
    let n = (how.samples as usize).min(1 << 16);
    let pair = |i: usize, stream: u32| {
        let [a, b, _] = uniforms(i, STREAM + stream, how.seed);
        sample_cosine_hemisphere(Vec2::new(a, b)).to_array()
    };
    let wo: Vec<_> = (0..n).map(|i| pair(i, 0)).collect();
    let u: Vec<_> = (0..n).map(|i| uniforms(i, STREAM + 1, how.seed)).collect();
    let mut drawn = SampleColumns::new(n);
    bsdf.sample(&wo, &u, drawn.room())?;
    let is_above = |i: usize| drawn.flags[i] & Drawn::VALID != 0 && drawn.wi[i][2] > 0.0;
    let wi: Vec<_> =
        (0..n).map(|i| if i % 2 == 1 && is_above(i) { drawn.wi[i] } else { pair(i, 2) }).collect();
    let (mut there, mut back) = (vec![[0.0; 3]; n], vec![[0.0; 3]; n]);
    bsdf.eval(&wo, &wi, &mut there)?;
    bsdf.eval(&wi, &wo, &mut back)?;
    let errors = there.iter().zip(&back).map(|(a, b)| apart_rgb(wide(*a), wide(*b))).collect();
    let (statistic, limit) = (nearly_all(errors), how.tolerance);
    let sentence = format!(
        "f(ωo, ωi) and f(ωi, ωo) above the surface differ by {statistic:.2e}, of {limit:.2e} at most"
    );
    let passed = statistic <= limit;
    Ok(Finding { name: "reciprocity", passed, statistic, limit, theta_o: f64::NAN, sentence })
}

#[cfg(test)]
mod tests;
