//! Metering: the exposure at which an image is neither dark nor bright.

use super::develop::luminance;
use super::image::{Image, is_finite};

/// The luminance that the mean one is brought to: that of a card which looks halfway between black and white. Reinhard et al.
/// 2002, "Photographic Tone Reproduction for Digital Images", equation 2.
const KEY: f64 = 0.18;

/// Which part of the pixels counts for nothing at either end, so that neither a lamp nor a dark corner decides.
const TRIMMED: f64 = 0.1;

/// The exposure, in stops, that brings the mean luminance of an image to 0.18: the log-average of equation 1 of the same paper, of
/// the pixels that are not black, without the darkest and the brightest tenth of these. `None` if all are black.
pub fn metered(image: &Image) -> Option<f32> {
    let logarithm = |pixel: &[f32; 3]| luminance(pixel.map(f64::from)).log2();
    let lit = image.pixels.iter().filter(|pixel| is_finite(pixel)).map(logarithm);
    let mut stops: Vec<f64> = lit.filter(|stops| stops.is_finite()).collect();
    if stops.is_empty() {
        return None;
    }
    let trimmed = (TRIMMED * stops.len() as f64) as usize;
    // Not sorted: images are large, and it is enough to know which are at the ends.
    stops.select_nth_unstable_by(trimmed, f64::total_cmp);
    let brighter = &mut stops[trimmed..];
    let count = brighter.len() - trimmed;
    brighter.select_nth_unstable_by(count - 1, f64::total_cmp);
    let kept = &brighter[..count];
    let mean = kept.iter().sum::<f64>() / kept.len() as f64;
    Some((KEY.log2() - mean) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(grey: impl IntoIterator<Item = f32>) -> Image {
        let pixels: Vec<_> = grey.into_iter().map(|x| [x; 3]).collect();
        Image { width: pixels.len() as u32, height: 1, pixels }
    }

    #[test]
    fn a_grey_card_is_exposed_as_it_is() {
        for (grey, stops) in [(0.18, 0.0), (0.09, 1.0), (0.72, -2.0), (0.18 / 1024.0, 10.0)] {
            assert!((metered(&image([grey; 7])).unwrap() - stops).abs() < 1e-5);
        }
        // Half of it twice as bright, the other half as dark.
        assert!(metered(&image([0.09, 0.36])).unwrap().abs() < 1e-5);
    }

    #[test]
    fn neither_background_nor_lamps_nor_damage_count() {
        let card = [0.18; 20];
        let others = [0.0, 0.0, 0.0, f32::NAN, f32::INFINITY, -1.0, 1e6, 1e5];
        assert!(metered(&image(card.into_iter().chain(others))).unwrap().abs() < 1e-5);
        // Negative control: as many lamps as there is card do.
        assert!(metered(&image(card.into_iter().chain([1e6; 20]))).unwrap() < -5.0);
        assert_eq!(metered(&image([0.0; 4])), None);
        assert_eq!(metered(&image([])), None);
    }
}
