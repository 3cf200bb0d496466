//! Summary statistics of an image.

use serde::Serialize;

use super::{Image, ImageEstimate, develop};

/// The reported percentiles.
pub const PERCENTILES: [u32; 7] = [1, 5, 25, 50, 75, 95, 99];

/// Statistics of the luminance of an image over its finite pixels. Undefined statistics are NaN, such as all of them for
/// an image without finite pixels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Statistics {
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// [`PERCENTILES`], interpolated between the two nearest pixels.
    pub percentiles: [f64; 7],
    /// Root mean square of the pixels' standard errors, over pixels whose standard error is known.
    pub stderr: f64,
    /// `stderr / |mean|`; 0 without noise.
    pub relative_stderr: f64,
    /// Number of pixels that are not finite.
    pub non_finite: usize,
}

impl Statistics {
    /// Column names of [`Statistics::values`].
    pub const COLUMNS: [&str; 13] = [
        "mean",
        "min",
        "max",
        "p1",
        "p5",
        "p25",
        "p50",
        "p75",
        "p95",
        "p99",
        "stderr",
        "relative_stderr",
        "non_finite",
    ];

    /// Computes the statistics of an image.
    ///
    /// The channels of a sample vary together: a light that is found or not brightens all of them. So the standard error
    /// of luminance is taken to be the luminance of the standard errors, which it is where samples differ in brightness
    /// alone; where they differ in colour as well, it is smaller.
    pub fn new(measured: &ImageEstimate) -> Self {
        let pixels = &measured.image.pixels;
        let all = pixels.iter().map(|p| luminance(*p));
        let mut sorted: Vec<_> = all.filter(|l| l.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let [mean, stderr] = mean_and_stderr(measured);
        Self {
            mean,
            min: percentile(&sorted, 0.0),
            max: percentile(&sorted, 100.0),
            percentiles: PERCENTILES.map(|p| percentile(&sorted, p.into())),
            stderr,
            relative_stderr: relative(mean, stderr),
            non_finite: pixels.len() - sorted.len(),
        }
    }

    /// [`Statistics::relative_stderr`] alone, in a fraction of the time.
    pub fn relative_stderr_of(measured: &ImageEstimate) -> f64 {
        let [mean, stderr] = mean_and_stderr(measured);
        relative(mean, stderr)
    }

    /// All numbers, in the order of [`Statistics::COLUMNS`].
    pub fn values(&self) -> [f64; 13] {
        let [p1, p5, p25, p50, p75, p95, p99] = self.percentiles;
        let Self { mean, min, max, stderr, relative_stderr, non_finite, .. } = *self;
        [mean, min, max, p1, p5, p25, p50, p75, p95, p99, stderr, relative_stderr, non_finite as f64]
    }
}

/// Mean luminance over finite pixels, and standard error over those of them where it is known.
fn mean_and_stderr(measured: &ImageEstimate) -> [f64; 2] {
    let all = measured.image.pixels.iter().map(|p| luminance(*p));
    let noise = measured.noise.as_ref().map_or(&[][..], |noise| &noise.stderr);
    let known = all.zip(noise).filter(|(l, _)| l.is_finite());
    let squares = known.map(|(_, stderr)| luminance(*stderr).powi(2)).filter(|x| x.is_finite());
    [mean_luminance(&measured.image), mean(squares).sqrt()]
}

/// Mean luminance over finite pixels; NaN without any. Added up in their order, so that it is the same on any number of threads.
pub(super) fn mean_luminance(image: &Image) -> f64 {
    mean(image.pixels.iter().map(|p| luminance(*p)).filter(|l| l.is_finite()))
}

fn relative(mean: f64, stderr: f64) -> f64 {
    if stderr == 0.0 { 0.0 } else { stderr / mean.abs() }
}

/// NaN or infinite if a channel is.
fn luminance(rgb: [f32; 3]) -> f64 {
    develop::luminance(rgb.map(f64::from))
}

/// NaN of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0_u64), |(sum, n), x| (sum + x, n + 1));
    sum / n as f64
}

/// The value that `percent` of the sorted values are below; NaN of nothing.
fn percentile(sorted: &[f64], percent: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = percent / 100.0 * last as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + at.fract() * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::{Film, Pixel};

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-6 * b.abs(), "{a}, not {b}");
    }

    /// 101 grey pixels of 0 to 100, in no order, without noise.
    fn ramp() -> ImageEstimate {
        let pixels = (0..101).map(|i| [(i * 37 % 101) as f32; 3]).collect();
        ImageEstimate {
            image: Image { width: 101, height: 1, pixels },
            noise: None,
            rounding: Default::default(),
            clamped: None,
        }
    }

    #[test]
    fn a_ramp_has_its_percentiles() {
        let Statistics { mean, min, max, percentiles, stderr, relative_stderr, non_finite } =
            Statistics::new(&ramp());
        close(mean, 50.0);
        close(max, 100.0);
        assert_eq!((min, non_finite), (0.0, 0));
        percentiles.iter().zip(PERCENTILES).for_each(|(found, p)| close(*found, p.into()));
        assert!(stderr.is_nan() && relative_stderr.is_nan(), "nothing is known of its noise");
    }

    #[test]
    fn percentiles_are_between_pixels() {
        assert_eq!(percentile(&[1.0, 2.0, 4.0], 75.0), 3.0);
        assert_eq!(percentile(&[7.0], 99.0), 7.0);
        assert!(percentile(&[], 50.0).is_nan());
    }

    #[test]
    fn pixels_that_are_not_finite_are_counted_and_left_out() {
        let mut measured = ramp();
        measured.image.pixels.extend([
            [f32::NAN, 0.0, 0.0],
            [0.0, f32::INFINITY, 0.0],
            [f32::NEG_INFINITY; 3],
        ]);
        let statistics = Statistics::new(&measured);
        assert_eq!(statistics.non_finite, 3);
        assert_eq!(statistics.values()[..10], Statistics::new(&ramp()).values()[..10]);

        measured.image.pixels.clear();
        let statistics = Statistics::new(&measured);
        assert_eq!(statistics.non_finite, 0);
        assert!(statistics.values()[..12].iter().all(|x| x.is_nan()));
    }

    #[test]
    fn luminance_weighs_the_channels() {
        let image =
            Image { width: 3, height: 1, pixels: vec![[3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0]] };
        let statistics = Statistics::new(&ImageEstimate { image, ..ramp() });
        close(statistics.mean, 1.0);
        close(statistics.max, 3.0 * 0.7152);
        close(statistics.min, 3.0 * 0.0722);
    }

    #[test]
    fn noise_is_that_of_the_samples() {
        // Half of the samples are a + d and half are a − d: the unbiased variance is n d² / (n − 1), and the mean's
        // standard error d / √(n − 1).
        let pixel = |a: f64, d: f64, count: u64| {
            let n = count as f64;
            Pixel { sum: [(n * a).into(); 3], sum_sq: [(n * (a * a + d * d)).into(); 3], count, rejected: 0 }
        };
        let mut film = Film { width: 2, height: 1, pixels: vec![pixel(1.0, 0.5, 26), pixel(3.0, 1.5, 26)] };
        let statistics = Statistics::new(&ImageEstimate::from(&film));
        close(statistics.stderr, ((0.1_f64.powi(2) + 0.3_f64.powi(2)) / 2.0).sqrt());
        close(statistics.relative_stderr, statistics.stderr / 2.0);

        // A single sample says nothing of noise.
        film.pixels[1] = pixel(3.0, 0.0, 1);
        close(Statistics::new(&ImageEstimate::from(&film)).stderr, 0.1);
    }

    #[test]
    fn every_number_has_a_name() {
        let statistics = Statistics::new(&ramp());
        let value = |name: &str| {
            let i = Statistics::COLUMNS.iter().position(|column| *column == name);
            statistics.values()[i.unwrap_or_else(|| panic!("no column {name}"))]
        };
        close(value("mean"), 50.0);
        close(value("max"), 100.0);
        assert_eq!((value("min"), value("non_finite")), (0.0, 0.0));
        assert!(value("stderr").is_nan() && value("relative_stderr").is_nan());
        for p in PERCENTILES {
            close(value(&format!("p{p}")), p.into());
        }
    }
}
