//! Pixels as planes of numbers, as the stages take them.

use device::denoise::Grid;
use rayon::prelude::*;

/// Planes of images, one channel after the other, times a factor. Margins are zero.
pub(super) fn pack<const N: usize>(grid: Grid, images: [&[[f32; 3]]; N], factor: f32) -> Vec<f32> {
    let channels: Vec<_> = images.into_iter().flat_map(|image| [0, 1, 2].map(|c| (image, c))).collect();
    let mut planes = vec![0.0; channels.len() * grid.plane()];
    planes.par_chunks_exact_mut(grid.plane()).zip(channels).for_each(|(plane, (image, c))| {
        fill(grid, plane, |i| image[i][c] * factor);
    });
    planes
}

/// One plane.
pub(super) fn pack_one(grid: Grid, values: &[f32]) -> Vec<f32> {
    let mut plane = vec![0.0; grid.plane()];
    fill(grid, &mut plane, |i| values[i]);
    plane
}

fn fill(grid: Grid, plane: &mut [f32], value: impl Fn(usize) -> f32) {
    let width = grid.width as usize;
    for y in 0..grid.height as usize {
        let row = &mut plane[grid.at(0, y as i32)..][..width];
        row.iter_mut().enumerate().for_each(|(x, to)| *to = value(y * width + x));
    }
}

/// The image of three planes, times a factor.
pub(super) fn unpack(grid: Grid, planes: &[f32], factor: f32) -> Vec<[f32; 3]> {
    let width = grid.width as usize;
    let pixel = |i: usize| {
        let place = grid.at((i % width) as i32, (i / width) as i32);
        // Rounding may have led beyond what there are numbers for.
        [0, 1, 2].map(|c| (planes[c * grid.plane() + place] * factor).clamp(f32::MIN, f32::MAX))
    };
    (0..width * grid.height as usize).into_par_iter().map(pixel).collect()
}

/// By what radiance is multiplied so that its mean is 1.
pub(super) fn scale_of(halves: &[Vec<[f32; 3]>; 2]) -> f32 {
    let of_pixel = |pixel: &[f32; 3]| pixel.iter().copied().map(f64::from).sum::<f64>();
    let sum: f64 = halves.par_iter().flatten().map(of_pixel).sum();
    let scale = (6.0 * halves[0].len() as f64 / sum) as f32;
    if scale.is_normal() && scale > 0.0 { scale } else { 1.0 }
}
