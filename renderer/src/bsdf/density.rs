//! Where samples should be, by the density that is claimed of them: cells of directions, and integrals over them.

use glam::{DVec3, Vec3};

use super::batch::BatchBsdf;

/// Cells along θ and φ.
pub(super) const CELLS: [usize; 2] = [40, 48];
/// Part of the samples that lies beyond a window on either side.
const BEYOND: f64 = 0.004;
/// How often the part of a window that has a peak is divided, whatever it looks like: a peak may be narrower than 0.01°.
const NARROWEST: u32 = 12;
/// And how often any other, as long as that changes the integral.
const HALVINGS: u32 = 4;
/// Directions that are asked about at a time, as a multiple of 25: as many as caches hold.
const BATCH: usize = 25 << 14;

/// A window of directions, degrees: θ to the normal, φ to the plane of incidence on the side away from ωo.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) theta: [f64; 2],
    pub(super) phi: [f64; 2],
}

impl Window {
    /// The window that holds nearly all samples.
    pub(super) fn around(samples: &[(f64, f64)]) -> Self {
        let range = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            let at = |q: f64| values.get(((values.len() - 1) as f64 * q) as usize).copied().unwrap_or(0.0);
            let (low, high) = (at(BEYOND), at(1.0 - BEYOND));
            let margin = 0.02 * (high - low);
            [low - margin, high + margin]
        };
        let [low, high] = range(samples.iter().map(|s| s.0).collect());
        let theta_low = if low < 0.12 * high { 0.0 } else { low };
        let theta_high = if high > 84.0 && high <= 92.0 { 90.0 } else { high.min(180.0) };
        let [left, right] = range(samples.iter().map(|s| s.1).collect());
        let phi = if right - left > 240.0 { [-180.0, 180.0] } else { [left.max(-180.0), right.min(180.0)] };
        Self { theta: [theta_low, theta_high], phi }
    }

    pub(super) fn index(&self, (theta, phi): (f64, f64)) -> Option<usize> {
        let u = (theta - self.theta[0]) / (self.theta[1] - self.theta[0]);
        let v = (phi - self.phi[0]) / (self.phi[1] - self.phi[0]);
        let inside = |t: f64| (0.0..1.0).contains(&t);
        (inside(u) && inside(v))
            .then(|| (u * CELLS[0] as f64) as usize * CELLS[1] + (v * CELLS[1] as f64) as usize)
    }

    /// θ of the lower edge of a row, degrees.
    pub(super) fn theta_at(&self, row: f64) -> f64 {
        self.theta[0] + (self.theta[1] - self.theta[0]) * row / CELLS[0] as f64
    }

    pub(super) fn phi_at(&self, column: f64) -> f64 {
        self.phi[0] + (self.phi[1] - self.phi[0]) * column / CELLS[1] as f64
    }

    /// The directions of a cell.
    pub(super) fn cell(&self, cell: usize) -> Self {
        let (row, column) = ((cell / CELLS[1]) as f64, (cell % CELLS[1]) as f64);
        Self {
            theta: [row, row + 1.0].map(|r| self.theta_at(r)),
            phi: [column, column + 1.0].map(|c| self.phi_at(c)),
        }
    }

    /// The rest of the sphere, in windows that do not cross the horizon.
    pub(super) fn outside(&self) -> Vec<Self> {
        let ([low, high], [left, right]) = (self.theta, self.phi);
        let thetas = [[0.0, low.min(90.0)], [90.0, low], [high, 90.0], [high.max(90.0), 180.0]];
        let round = thetas.map(|theta| Self { theta, phi: [-180.0, 180.0] });
        let beside = [[-180.0, left], [right, 180.0]].map(|phi| Self { theta: [low.max(0.0), high], phi });
        let is_some = |w: &Self| w.theta[0] < w.theta[1] && w.phi[0] < w.phi[1];
        round.into_iter().chain(beside).filter(is_some).collect()
    }

    /// Its quarters, or its lower and its upper half where φ says nothing.
    fn parts(&self, whatever_phi: bool) -> Vec<Self> {
        let halves = |[a, b]: [f64; 2]| [[a, 0.5 * (a + b)], [0.5 * (a + b), b]];
        let phis = if whatever_phi { vec![self.phi] } else { halves(self.phi).to_vec() };
        halves(self.theta)
            .into_iter()
            .flat_map(|theta| phis.iter().map(move |phi| Self { theta, phi: *phi }))
            .collect()
    }

    fn has(&self, (theta, phi): (f64, f64)) -> bool {
        (self.theta[0]..=self.theta[1]).contains(&theta)
            && (is_upright(theta) || (self.phi[0]..=self.phi[1]).contains(&phi))
    }

    /// Solid angle of a cell of a row.
    pub(super) fn solid_angle(&self, row: usize) -> f64 {
        let [a, b] = [row, row + 1].map(|r| self.theta_at(r as f64).to_radians().cos());
        (a - b) * ((self.phi[1] - self.phi[0]) / CELLS[1] as f64).to_radians()
    }
}

/// Around the normal there are all φ.
fn is_upright(theta: f64) -> bool {
    !(0.05..=179.95).contains(&theta)
}

/// The direction at `theta` degrees to the normal, and `phi` degrees from the plane of incidence, which is at an azimuth.
pub(super) fn direction(azimuth: f64, theta: f64, phi: f64) -> Vec3 {
    let ((s, c), (y, x)) = (theta.to_radians().sin_cos(), (phi + azimuth).to_radians().sin_cos());
    DVec3::new(s * x, s * y, c).as_vec3().normalize()
}

/// Degrees to the normal, and to the plane of incidence on the side away from ωo.
pub(super) fn polar(azimuth: f64, w: Vec3) -> (f64, f64) {
    let w: DVec3 = w.as_dvec3();
    let theta = w.x.hypot(w.y).atan2(w.z).to_degrees();
    let phi = w.y.atan2(w.x).to_degrees() - azimuth;
    (theta, phi - 360.0 * ((phi + 180.0) / 360.0).floor())
}

/// The density that a BSDF claims of samples, from one direction.
pub(super) struct Density<'a, B> {
    pub(super) bsdf: &'a mut B,
    pub(super) wo: [f32; 3],
    /// Of the plane of incidence, degrees.
    pub(super) azimuth: f64,
}

/// A part of a window whose integral is not yet known well enough.
struct Part {
    /// Number of the window.
    of: usize,
    window: Window,
    whole: f64,
    /// How often it may yet be divided with a peak in it, and without.
    left: [u32; 2],
    /// θ and φ of the peak that it has.
    peak: Option<(f64, f64)>,
}

impl Part {
    fn new(of: usize, window: Window, whole: f64, left: [u32; 2], peaks: &[(f64, f64)]) -> Self {
        let inside = peaks.iter().copied().filter(|p| left[0] > 0 && window.has(*p));
        let peak = inside.max_by_key(|p| !is_upright(p.0));
        Self { of, window, whole, left, peak }
    }

    fn divided(&self) -> Vec<Window> {
        self.window.parts(self.peak.is_some_and(|p| is_upright(p.0)))
    }

    /// Whether the sum of its parts will do.
    fn is_known(&self, sum: f64, enough: f64) -> bool {
        self.peak.is_none() && (self.left[1] == 0 || (sum - self.whole).abs() <= enough + 2e-4 * sum)
    }

    /// How often its parts may be divided.
    const fn left_to_parts(&self) -> [u32; 2] {
        let [narrowest, halvings] = self.left;
        if self.peak.is_some() { [narrowest - 1, halvings] } else { [0, halvings - 1] }
    }
}

impl<B: BatchBsdf> Density<'_, B> {
    /// ∫ pdf dω over each of the windows, by Gauss–Legendre quadrature: of parts, and of theirs, where there is one of the
    /// `peaks` or an error of more than `enough`.
    pub(super) fn masses(
        &mut self,
        windows: &[Window],
        peaks: &[(f64, f64)],
        enough: f64,
    ) -> Result<Vec<f64>, B::Error> {
        let mut masses = vec![0.0; windows.len()];
        let wholes = self.gauss(windows)?;
        let parts = windows.iter().zip(wholes).enumerate();
        let mut open: Vec<_> =
            parts.map(|(of, (w, whole))| Part::new(of, *w, whole, [NARROWEST, HALVINGS], peaks)).collect();
        while !open.is_empty() {
            let divided: Vec<_> = open.iter().map(Part::divided).collect();
            let mut values = self.gauss(&divided.concat())?.into_iter();
            let mut next = Vec::new();
            for (part, windows) in open.iter().zip(divided) {
                let wholes: Vec<_> = values.by_ref().take(windows.len()).collect();
                let sum = wholes.iter().sum();
                if part.is_known(sum, enough) {
                    masses[part.of] += sum;
                } else {
                    let left = part.left_to_parts();
                    let parts = windows.into_iter().zip(wholes);
                    next.extend(parts.map(|(w, whole)| Part::new(part.of, w, whole, left, peaks)));
                }
            }
            open = next;
        }
        Ok(masses)
    }

    /// ∫ pdf dω over each window by 5 × 5 points.
    fn gauss(&mut self, windows: &[Window]) -> Result<Vec<f64>, B::Error> {
        let mut sums = Vec::with_capacity(windows.len());
        for windows in windows.chunks(BATCH / 25) {
            let nodes: Vec<_> = windows.iter().flat_map(nodes).collect();
            let wi: Vec<_> =
                nodes.iter().map(|node| direction(self.azimuth, node[0], node[1]).to_array()).collect();
            let mut pdf = vec![0.0; nodes.len()];
            self.bsdf.pdf(&vec![self.wo; nodes.len()], &wi, &mut pdf)?;
            let weighed: Vec<_> = nodes.iter().zip(pdf).map(|(node, pdf)| node[2] * f64::from(pdf)).collect();
            sums.extend(weighed.chunks(25).map(|values| values.iter().sum::<f64>()));
        }
        Ok(sums)
    }
}

/// θ and φ of the points in a window at which its integral is taken, and the solid angle that each stands for.
fn nodes(window: &Window) -> [[f64; 3]; 25] {
    const NODES: [(f64, f64); 5] = [
        (0.046_910_077_030_668, 0.118_463_442_528_095),
        (0.230_765_344_947_158, 0.239_314_335_249_683),
        (0.5, 0.284_444_444_444_444),
        (0.769_234_655_052_842, 0.239_314_335_249_683),
        (0.953_089_922_969_332, 0.118_463_442_528_095),
    ];
    let [d_theta, d_phi] = [window.theta, window.phi].map(|[a, b]| b - a);
    let area = d_theta.to_radians() * d_phi.to_radians();
    std::array::from_fn(|i| {
        let ((u, wu), (v, wv)) = (NODES[i / 5], NODES[i % 5]);
        let theta = window.theta[0] + u * d_theta;
        [theta, window.phi[0] + v * d_phi, wu * wv * area * theta.to_radians().sin()]
    })
}
