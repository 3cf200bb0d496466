//! The metals that scenes can name, computed anew from the spectra in `assets/metals`.

use std::fs;

use glam::{DMat3, DVec3};
use torrance_scene::metals::METALS;

/// Columns of numbers by wavelength in nm.
type Table<const N: usize> = Vec<(f64, [f64; N])>;

fn read<const N: usize>(name: &str) -> Table<N> {
    let path = format!("{}/../../assets/metals/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let row = |line: &str| {
        let mut numbers = line.split(',').map(|x| x.parse::<f64>().expect("a number"));
        let wavelength = numbers.next().expect("a wavelength");
        (wavelength, numbers.collect::<Vec<_>>().try_into().expect("all columns"))
    };
    text.lines().filter(|l| !l.starts_with('#')).map(row).collect()
}

/// Between the rows, along straight lines; beyond them, as at the end.
fn at<const N: usize>(table: &Table<N>, wavelength: f64) -> [f64; N] {
    let next = table.partition_point(|(w, _)| *w < wavelength).clamp(1, table.len() - 1);
    let ((w0, a), (w1, b)) = (table[next - 1], table[next]);
    let t = ((wavelength - w0) / (w1 - w0)).clamp(0.0, 1.0);
    std::array::from_fn(|i| a[i] + t * (b[i] - a[i]))
}

/// The CIE 1931 2° observer by sums of piecewise Gaussians: Wyman, Sloan & Shirley 2013, "Simple Analytic
/// Approximations to the CIE XYZ Color Matching Functions", JCGT 2(2). It is off by 0.022 at most.
fn observer(wavelength: f64) -> DVec3 {
    let lobe = |height: f64, center: f64, below: f64, above: f64| {
        let t = (wavelength - center) * if wavelength < center { below } else { above };
        height * (-0.5 * t * t).exp()
    };
    DVec3::new(
        lobe(0.362, 442.0, 0.0624, 0.0374)
            + lobe(1.056, 599.8, 0.0264, 0.0323)
            + lobe(-0.065, 501.1, 0.0490, 0.0382),
        lobe(0.821, 568.8, 0.0213, 0.0247) + lobe(0.286, 530.9, 0.0613, 0.0322),
        lobe(1.217, 437.0, 0.0845, 0.0278) + lobe(0.681, 459.0, 0.0385, 0.0725),
    )
}

/// From linear sRGB to XYZ, by rows (IEC 61966-2-1).
const XYZ_FROM_RGB: [f64; 9] = [0.4124, 0.3576, 0.1805, 0.2126, 0.7152, 0.0722, 0.0193, 0.1192, 0.9505];

/// Wavelengths, and how sensitive the channels are: to white light, (1, 1, 1) in sum.
fn sensitivities() -> Vec<(f64, DVec3)> {
    let (d65, rgb_from_xyz) = (read("d65"), DMat3::from_cols_array(&XYZ_FROM_RGB).transpose().inverse());
    let mut all: Vec<_> = (380..=780)
        .step_by(5)
        .map(|w| {
            let w = f64::from(w);
            let [power] = at(&d65, w);
            (w, rgb_from_xyz * observer(w) * power)
        })
        .collect();
    let white: DVec3 = all.iter().map(|(_, s)| *s).sum();
    all.iter_mut().for_each(|(_, s)| *s /= white);
    all
}

/// A spectrum as the channels see it in white light.
fn average(spectrum: impl Fn(f64) -> f64) -> DVec3 {
    sensitivities().into_iter().map(|(w, s)| s * spectrum(w)).sum()
}

/// Reflectance at normal incidence.
fn f0(n: f64, k: f64) -> f64 {
    ((n - 1.0).powi(2) + k * k) / ((n + 1.0).powi(2) + k * k)
}

/// Reflectance by Fresnel's amplitudes, with n + ik and the cosine within the metal as complex numbers.
fn fresnel(cos: f64, n: f64, k: f64) -> f64 {
    let mul = |(a, b): (f64, f64), (c, d): (f64, f64)| (a * c - b * d, a * d + b * c);
    // cos²θt·(n + ik)² = (n + ik)² − sin²θ, and its root in the first quadrant.
    let (re, im) = (n * n - k * k - (1.0 - cos * cos), 2.0 * n * k);
    let length = re.hypot(im);
    let root = ((0.5 * (length + re)).max(0.0).sqrt(), (0.5 * (length - re)).max(0.0).sqrt());
    let index2 = mul((n, k), (n, k));
    let part = |a: (f64, f64), b: (f64, f64)| {
        ((a.0 - b.0).powi(2) + (a.1 - b.1).powi(2)) / ((a.0 + b.0).powi(2) + (a.1 + b.1).powi(2))
    };
    0.5 * (part((cos, 0.0), root) + part((index2.0 * cos, index2.1 * cos), root))
}

/// (η, k, F0) of a spectrum of n and k, by the rules of [`METALS`].
fn reduced(spectrum: &Table<2>) -> (DVec3, DVec3, DVec3) {
    let f0_at = |w| {
        let [n, k] = at(spectrum, w);
        f0(n, k)
    };
    let best = sensitivities().into_iter().map(|(w, _)| f0_at(w)).fold(0.0, f64::max);
    let (eta, f0) = (average(|w| at(spectrum, w)[0]), average(f0_at));
    let r = f0.min(DVec3::splat(best));
    // F0 = ((η − 1)² + k²) / ((η + 1)² + k²), solved for k².
    let k2 = (r * (eta + 1.0).powf(2.0) - (eta - 1.0).powf(2.0)) / (1.0 - r);
    assert!(eta.min_element() > 0.0 && k2.min_element() > 0.0, "no metal has {eta} and {k2}");
    (eta, k2.powf(0.5), f0)
}

#[test]
fn metals_are_their_spectra() {
    for metal in METALS {
        let (eta, k, _) = reduced(&read(metal.names[0]));
        let off = (metal.eta.as_dvec3() - eta).abs().max((metal.k.as_dvec3() - k).abs()).max_element();
        assert!(off < 6e-5, "{}: not eta {eta:.4}, k {k:.4}", metal.names[0]);
    }
}

#[test]
fn every_spectrum_has_a_metal_and_every_name_only_one() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/metals");
    let files = fs::read_dir(folder).expect("the folder is there").count();
    assert_eq!(files, METALS.len() + 1, "D65 is not a metal");
    let mut names: Vec<_> = METALS.iter().flat_map(|m| m.names).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

/// The reflectance at normal incidence in table 9.2 of Akenine-Möller et al., Real-Time Rendering, 4th ed. (2018), in
/// linear sRGB, for metals that are from the same measurements in both.
const PUBLISHED: [(&str, [f64; 3]); 4] = [
    ("chromium", [0.549, 0.556, 0.554]),
    ("palladium", [0.733, 0.697, 0.652]),
    ("mercury", [0.781, 0.780, 0.778]),
    ("brass", [0.910, 0.778, 0.423]),
];

/// Largest difference from what is published, of reflectance computed in some way from a spectrum.
fn off_from_published(f0: impl Fn(&Table<2>) -> DVec3) -> f64 {
    let off = |(name, rgb): &(&str, [f64; 3])| (f0(&read(name)) - DVec3::from(*rgb)).abs().max_element();
    PUBLISHED.iter().map(off).fold(0.0, f64::max)
}

#[test]
fn colours_are_the_published_ones() {
    let off = off_from_published(|spectrum| reduced(spectrum).2);
    assert!(off < 0.003, "{off}");
}

#[test]
fn control_colours_at_three_wavelengths_are_not_the_published_ones() {
    let at_three = |spectrum: &Table<2>| {
        DVec3::from([650.0, 550.0, 450.0].map(|w| {
            let [n, k] = at(spectrum, w);
            f0(n, k)
        }))
    };
    assert!(off_from_published(at_three) > 0.02);
}

/// Gold and copper of the same table, measured by others: (1.000, 0.782, 0.344), cut off at 1, and
/// (0.955, 0.638, 0.538).
#[test]
fn gold_is_yellow_and_copper_is_red() {
    for (name, rgb) in [("gold", [1.0, 0.782, 0.344]), ("copper", [0.955, 0.638, 0.538])] {
        let metal = METALS.iter().find(|m| m.names[0] == name).expect("it is there");
        for (i, expected) in rgb.into_iter().enumerate() {
            let f0 = f0(metal.eta[i].into(), metal.k[i].into());
            assert!((f0 - expected).abs() < 0.03, "{name}: {f0} in channel {i}");
        }
    }
}

/// Root mean square over cosines of the difference between reflectance of three channels and of the spectrum.
fn off_at_angles(spectrum: &Table<2>, eta: DVec3, k: DVec3) -> DVec3 {
    const N: usize = 32;
    let cosines = (0..N).map(|i| (i as f64 + 0.5) / N as f64);
    let squares = cosines.map(|cos| {
        let expected = average(|w| {
            let [n, k] = at(spectrum, w);
            fresnel(cos, n, k)
        });
        let found = DVec3::from(std::array::from_fn(|i| fresnel(cos, eta[i], k[i])));
        (found - expected).powf(2.0)
    });
    (squares.sum::<DVec3>() / N as f64).powf(0.5)
}

#[test]
fn reflectance_is_the_spectrum_s_at_all_angles() {
    for metal in METALS {
        let off = off_at_angles(&read(metal.names[0]), metal.eta.as_dvec3(), metal.k.as_dvec3());
        // Of gold, red is cut off, by what it is too much.
        let bound = DVec3::new(if metal.names[0] == "gold" { 0.05 } else { 0.005 }, 0.005, 0.005);
        println!("{}: {off:.4}", metal.names[0]);
        assert!(off.cmple(bound).all(), "{}: {off}", metal.names[0]);
    }
}

#[test]
fn control_averages_of_k_reflect_otherwise() {
    let spectrum = read("copper");
    let averages = average(|w| at(&spectrum, w)[1]);
    let off = off_at_angles(&spectrum, reduced(&spectrum).0, averages);
    assert!(off.max_element() > 0.01, "{off}");
}
