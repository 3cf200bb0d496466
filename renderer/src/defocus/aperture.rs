//! Shapes that layers are blurred by, made of strips of rows.

use std::ops::Range;

use primitives::defocus::Strip;

/// Strips of half a disc, at most.
const MOST_STRIPS: usize = 16;

/// A shape that things out of focus take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// A round one.
    #[default]
    Disc,
    /// A square.
    Box,
}

/// One of the shapes that there are, made of whole pixels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Aperture {
    /// Of a box half the width, less that of the middle pixel; of a disc that of the circle whose second moment is the
    /// same, so that the blur of a pixel, and of any mixture of discs, is as wide as that of the lens.
    pub(super) radius: f32,
    /// From the middle outwards; none for the pixel alone.
    pub(super) strips: Vec<Strip>,
}

impl Shape {
    /// Ever larger ones, from the pixel alone to the first that is not smaller than `most`.
    pub(super) fn family(self, most: f32) -> Vec<Aperture> {
        let mut family = vec![Aperture { radius: 0.0, strips: Vec::new() }];
        let mut size: f64 = 1.0;
        while family.last().is_some_and(|a| a.radius < most) {
            family.push(match self {
                Self::Disc => disc(size),
                Self::Box => square(size as u32),
            });
            size += match self {
                // Near enough to each other for mixtures of two to look like what is between.
                Self::Disc => (size / 8.0).max(0.5),
                Self::Box => 1.0,
            };
        }
        family
    }
}

fn square(half: u32) -> Aperture {
    Aperture { radius: half as f32, strips: vec![Strip { end: half + 1, half }] }
}

/// All pixels whose centres are not farther than `radius`, at least 1; large discs have fewer corners.
fn disc(radius: f64) -> Aperture {
    let rows = radius as u32 + 1;
    let half = |row: u32| (radius * radius - f64::from(row * row)).sqrt() as u32;
    let mut strips: Vec<Strip> = Vec::new();
    for row in 0..rows {
        match strips.last_mut() {
            Some(strip) if strip.half == half(row) => strip.end = row + 1,
            _ => strips.push(Strip { end: row + 1, half: half(row) }),
        }
    }
    if strips.len() > MOST_STRIPS {
        strips = coarse(rows, half);
    }
    Aperture { radius: 2.0 * variance(&strips).sqrt() as f32, strips }
}

/// Strips that end at equal angles, each as long as its rows are on average.
fn coarse(rows: u32, half: impl Fn(u32) -> u32) -> Vec<Strip> {
    let mut strips = Vec::new();
    let mut begin = 0;
    for k in 1..=MOST_STRIPS {
        let angle = std::f64::consts::FRAC_PI_2 * k as f64 / MOST_STRIPS as f64;
        let end = (f64::from(rows) * angle.sin()).round() as u32;
        if end > begin {
            let total: u32 = (begin..end).map(&half).sum();
            let half = (f64::from(total) / f64::from(end - begin)).round() as u32;
            strips.push(Strip { end, half });
            begin = end;
        }
    }
    strips
}

/// Mean square of the distance from the middle along an axis; of a circle, a quarter of the squared radius.
fn variance(strips: &[Strip]) -> f64 {
    let squares = |most: f64| most * (most + 1.0) * (2.0 * most + 1.0) / 3.0;
    let (mut area, mut sum) = (0.0, 0.0);
    for (rows, half) in rows(strips) {
        for row in rows {
            let (row, half) = (f64::from(row), f64::from(half));
            let weight = if row > 0.0 { 2.0 } else { 1.0 };
            area += weight * (2.0 * half + 1.0);
            sum += weight * (squares(half) + row * row * (2.0 * half + 1.0));
        }
    }
    sum / (2.0 * area)
}

/// The rows of each strip, from the middle one on, and half their length.
fn rows(strips: &[Strip]) -> impl Iterator<Item = (Range<u32>, u32)> {
    strips.iter().scan(0, |begin, strip| {
        let rows = *begin..strip.end;
        *begin = strip.end;
        Some((rows, strip.half))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against pixels counted one by one.
    #[test]
    fn small_discs_are_all_pixels_within_the_radius() {
        for radius in [1.0_f64, 1.5, 2.0, 2.5, 7.3, 20.0] {
            let Aperture { radius: wide, strips } = disc(radius);
            let reach = radius as i32 + 1;
            let (mut count, mut moment) = (0, 0);
            for (dx, dy) in (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| (x, y))) {
                let within = f64::from(dx * dx + dy * dy) <= radius * radius;
                let in_strips = rows(&strips)
                    .any(|(rows, half)| rows.contains(&dy.unsigned_abs()) && dx.unsigned_abs() <= half);
                assert_eq!(within, in_strips, "({dx}, {dy}) of {radius}");
                count += i32::from(within);
                moment += if within { dx * dx } else { 0 };
            }
            let expected = 2.0 * (f64::from(moment) / f64::from(count)).sqrt();
            assert!((f64::from(wide) - expected).abs() < 1e-6, "{wide}, not {expected}");
            assert!(strips.len() <= MOST_STRIPS);
        }
    }

    #[test]
    fn large_discs_are_nearly_round() {
        for radius in [40.0_f64, 100.0, 1000.0, 4096.0] {
            let Aperture { radius: wide, strips } = disc(radius);
            assert!(strips.len() <= MOST_STRIPS);
            assert!((f64::from(wide) / radius - 1.0).abs() < 0.01, "{wide}, not {radius}");
            for (rows, half) in rows(&strips) {
                let middle = f64::from(rows.start + rows.end - 1) / 2.0;
                let off = f64::from(half).hypot(middle) / radius - 1.0;
                assert!(off.abs() < 0.05, "{off} at rows {rows:?} of {radius}");
            }
        }
    }

    #[test]
    fn families_grow_in_small_steps() {
        for (shape, most) in [(Shape::Disc, 300.0), (Shape::Box, 300.0), (Shape::Disc, 0.0)] {
            let family = shape.family(most);
            assert_eq!(family[0].strips, []);
            assert!(family.last().unwrap().radius >= most);
            for pair in family.windows(2) {
                let step = pair[1].radius - pair[0].radius;
                assert!(step > 0.0 && step <= (0.2 * pair[1].radius).max(1.3), "{step}");
            }
        }
    }
}
