//! The power heuristic.

use device::mis::power_heuristic;

use crate::common::Random;

fn densities() -> impl Iterator<Item = (f32, f32)> {
    let mut random = Random::new(1);
    (0..100_000).map(move |_| {
        let mut density = || random.power_of_ten(-30.0, 30.0) as f32;
        (density(), density())
    })
}

#[test]
fn weights_of_two_strategies_add_up_to_one() {
    for (p, q) in densities() {
        let sum = power_heuristic(p, q) + power_heuristic(q, p);
        assert!((sum - 1.0).abs() < 3e-7, "{p} {q}: {sum}");
    }
}

/// Veach 1997, eq. 9.13, in f64, where the squares fit.
#[test]
fn weights_are_those_of_squared_densities() {
    let weight = |p: f32, q: f32, power: i32| {
        let (p, q) = (f64::from(p).powi(power), f64::from(q).powi(power));
        p / (p + q)
    };
    let worst = |power| {
        let error = |(p, q)| (f64::from(power_heuristic(p, q)) - weight(p, q, power)).abs();
        densities().map(error).fold(0.0, f64::max)
    };
    assert!(worst(2) < 2e-7);
    assert!(worst(1) > 0.1, "control: the balance heuristic is another");
}

#[test]
fn extremes_have_their_limits() {
    assert_eq!(power_heuristic(1.0, 0.0), 1.0, "nobody else can draw it");
    assert_eq!(power_heuristic(1.0, f32::INFINITY), 0.0);
    assert_eq!(power_heuristic(1e30, 1e30), 0.5);
    assert_eq!(power_heuristic(1e30, 1e-30), 1.0);
    assert_eq!(power_heuristic(1e-30, 1e30), 0.0);
    assert_eq!(power_heuristic(f32::MAX, f32::MIN_POSITIVE), 1.0);
    assert_eq!(power_heuristic(f32::MIN_POSITIVE, f32::MAX), 0.0);
    let textbook = |p: f32, q: f32| p * p / (p * p + q * q);
    assert!(textbook(1e30, 1e30).is_nan(), "control: as it is written, it overflows");
}
