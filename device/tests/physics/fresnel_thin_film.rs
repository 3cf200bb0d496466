//! Interference in thin films against transfer matrices in f64, integrated over the spectrum.

use device::bsdf::fresnel::{conductor, dielectric, thin_film_conductor, thin_film_dielectric};
use glam::Vec3;

use crate::common::ggx::METALS;
use crate::common::optics::{C, boundary, layer, spectrum, white};

const COSINES: [f32; 8] = [1.0, 0.9, 0.7, 0.5, 0.3, 0.15, 0.05, 0.01];
/// Of film and base.
const DIELECTRICS: [(f32, f32); 11] = [
    (1.33, 1.0),
    (1.33, 1.5),
    (1.38, 1.7),
    (1.5, 1.33),
    (2.0, 1.5),
    (2.4, 1.5),
    (1.3, 2.4),
    // From within glass.
    (0.887, 0.667),
    (1.2, 0.667),
    // Through a gap of air or water, which light tunnels through.
    (0.667, 1.0),
    (0.887, 1.2),
];

/// Tolerances of the largest error, and of the root mean square over all angles and thicknesses.
const WORST: f64 = 0.02;
const RMS: f64 = 0.0025;

/// 0 to 2 µm.
fn thicknesses() -> impl Iterator<Item = f32> {
    (0..=100).map(|i| 20.0 * i as f32)
}

/// Deliberate mistakes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    None,
    SOnly,
    NoPhase,
    HalfThePath,
    FilmAndBaseSwapped,
}

/// Reflectance integrated over the spectrum, in the range of colours.
fn integrated(
    spectrum: &[(f64, [f64; 3])],
    cos: f32,
    film: f32,
    thickness: f32,
    base: [C; 3],
    mistake: Mistake,
) -> [f64; 3] {
    let (cos, film, thickness) = (f64::from(cos), C(film.into(), 0.0), f64::from(thickness));
    let reflected = |waves: f64, base: C| {
        let [s, p] = match mistake {
            Mistake::HalfThePath => layer(cos, film, 0.5 * waves, base),
            Mistake::FilmAndBaseSwapped => layer(cos, base, waves, film),
            Mistake::NoPhase => {
                // A real base of the same reflectance at normal incidence.
                let r = boundary(1.0, base)[0].sqrt();
                layer(cos, film, waves, C((1.0 + r) / (1.0 - r), 0.0))
            }
            _ => layer(cos, film, waves, base),
        };
        if mistake == Mistake::SOnly { s } else { 0.5 * (s + p) }
    };
    let mut sum = [0.0; 3];
    for (lambda, weights) in spectrum {
        let waves = thickness / lambda;
        let red = reflected(waves, base[0]);
        sum = std::array::from_fn(|c| {
            let r = if base[c] == base[0] { red } else { reflected(waves, base[c]) };
            sum[c] + weights[c] * r
        });
    }
    sum.map(|s| s.clamp(0.0, 1.0))
}

/// Largest and root mean square error over angles and thicknesses.
fn compare(pairs: impl Iterator<Item = (Vec3, [f64; 3])>) -> (f64, f64) {
    let (mut worst, mut squares, mut n) = (0.0_f64, 0.0, 0.0);
    for (a, b) in pairs {
        for c in 0..3 {
            let e = (f64::from(a[c]) - b[c]).abs();
            assert!(e.is_finite());
            worst = worst.max(e);
            squares += e * e;
            n += 1.0;
        }
    }
    (worst, f64::sqrt(squares / n))
}

fn cases() -> impl Iterator<Item = (f32, f32)> {
    COSINES.into_iter().flat_map(|c| thicknesses().map(move |t| (c, t)))
}

fn dielectric_errors(film: f32, base: f32, mistake: Mistake) -> (f64, f64) {
    let (spectrum, n) = (spectrum(), C(base.into(), 0.0));
    compare(cases().map(|(c, t)| {
        (thin_film_dielectric(c, film, t, base), integrated(&spectrum, c, film, t, [n; 3], mistake))
    }))
}

fn metal_errors(film: f32, eta: Vec3, k: Vec3, mistake: Mistake) -> (f64, f64) {
    let base = [0, 1, 2].map(|i| C(eta[i].into(), k[i].into()));
    let spectrum = spectrum();
    compare(cases().map(|(c, t)| {
        (thin_film_conductor(c, film, t, eta, k), integrated(&spectrum, c, film, t, base, mistake))
    }))
}

#[test]
fn the_oracle_has_the_known_limits() {
    let w = white();
    assert!((w[0] - 0.9505).abs() < 2e-3 && (w[2] - 1.0888).abs() < 2e-3, "D65: {w:?}");
    // A quarter wave of index √n makes glass invisible; a half wave does nothing.
    let (n, film) = (C(1.5, 0.0), C(1.5_f64.sqrt(), 0.0));
    assert!(layer(1.0, film, 0.25 / film.0, n)[0] < 1e-15);
    assert!((layer(1.0, film, 0.5 / film.0, n)[0] - 0.04).abs() < 1e-15);
    for cos in [1.0, 0.6, 0.2] {
        let (thin, plain) = (layer(cos, film, 0.0, C(0.2, 3.0)), boundary(cos, C(0.2, 3.0)));
        assert!((thin[0] - plain[0]).abs() < 1e-14 && (thin[1] - plain[1]).abs() < 1e-14);
    }
}

#[test]
fn films_on_dielectrics_agree_with_transfer_matrices() {
    for (film, base) in DIELECTRICS {
        let (worst, rms) = dielectric_errors(film, base, Mistake::None);
        println!("film {film} on {base}: worst {worst:.4}, rms {rms:.4}");
        assert!(worst < WORST && rms < RMS, "film {film} on {base}: worst {worst}, rms {rms}");
    }
}

#[test]
fn films_on_metals_agree_with_transfer_matrices() {
    let films = [0.75, 1.33, 1.5, 2.4];
    for (i, (name, eta, k)) in METALS.into_iter().enumerate() {
        for (_, film) in films.into_iter().enumerate().filter(|(j, _)| tier::takes(i + j, films.len())) {
            let (worst, rms) = metal_errors(film, eta, k, Mistake::None);
            println!("film {film} on {name}: worst {worst:.4}, rms {rms:.4}");
            assert!(worst < WORST && rms < RMS, "film {film} on {name}: worst {worst}, rms {rms}");
        }
    }
}

#[test]
fn control_wrong_films_are_rejected() {
    for mistake in [Mistake::SOnly, Mistake::HalfThePath, Mistake::FilmAndBaseSwapped] {
        let (worst, rms) = dielectric_errors(2.0, 1.5, mistake);
        assert!(worst > WORST && rms > RMS, "{mistake:?}: {worst} {rms}");
    }
    let (_, eta, k) = METALS[1];
    for mistake in [Mistake::SOnly, Mistake::HalfThePath, Mistake::NoPhase] {
        let (worst, rms) = metal_errors(1.5, eta, k, mistake);
        assert!(worst > WORST && rms > RMS, "{mistake:?}: {worst} {rms}");
    }
}

#[test]
fn without_a_film_the_base_is_left() {
    let mut worst = [0.0_f32; 4];
    for cos in (0..=500).map(|i| i as f32 / 500.0) {
        for film in [1.0, 1.2, 1.33, 2.4] {
            for base in [0.667, 1.0, 1.33, 1.5, 2.4] {
                let plain = dielectric(cos, base).0;
                let none = thin_film_dielectric(cos, film, 0.0, base);
                let same = thin_film_dielectric(cos, 1.0, 300.0, base);
                if cos > 0.0 || base != 1.0 {
                    worst[0] = worst[0].max((none - Vec3::splat(plain)).abs().max_element());
                    worst[1] = worst[1].max((same - Vec3::splat(plain)).abs().max_element());
                }
            }
            for (_, eta, k) in METALS {
                let plain = conductor(cos, eta, k);
                worst[2] =
                    worst[2].max((thin_film_conductor(cos, film, 0.0, eta, k) - plain).abs().max_element());
                worst[3] =
                    worst[3].max((thin_film_conductor(cos, 1.0, 300.0, eta, k) - plain).abs().max_element());
            }
        }
    }
    println!("no film, film of the outside: {worst:?}");
    assert!(worst.into_iter().all(|w| w < 2e-5), "{worst:?}");
    let film = thin_film_dielectric(1.0, 1.33, 100.0, 1.5);
    assert!((film - Vec3::splat(0.04)).abs().max_element() > 1e-3, "control: a film shows");
}

#[test]
fn corners_lie_in_0_1() {
    let cosines = [0.0, 1e-30, 1e-6, 1e-3, 0.3, 0.461_759_3, 0.5, 0.745, 0.745_356, 0.999_999_9, 1.0];
    let indices = [0.4, 0.667, 0.887, 0.999_999_9, 1.0, 1.000_000_1, 1.33, 1.5, 2.4, 4.0];
    let thicknesses = [0.0, 1e-3, 1.0, 100.0, 550.0, 2000.0, 1e5, 1e9, f32::MAX];
    let ok = |v: Vec3| v.cmpge(Vec3::ZERO).all() && v.cmple(Vec3::ONE).all();
    for cos in cosines {
        for film in indices {
            for t in thicknesses {
                for base in indices {
                    let v = thin_film_dielectric(cos, film, t, base);
                    assert!(ok(v), "cos {cos}, film {film}, {t} nm, base {base}: {v}");
                    let v = thin_film_conductor(cos, film, t, Vec3::splat(base), Vec3::new(0.0, 1e-6, 3.0));
                    assert!(ok(v), "cos {cos}, film {film}, {t} nm, base {base} + ik: {v}");
                }
                for (_, eta, k) in METALS {
                    assert!(ok(thin_film_conductor(cos, film, t, eta, k)));
                }
                let mirror = thin_film_conductor(cos, film, t, Vec3::ZERO, Vec3::ONE);
                assert!(mirror.min_element() > 0.9999, "{mirror}");
            }
        }
    }
    assert!(!ok(Vec3::NAN) && !ok(Vec3::splat(1.1)), "control");
}
