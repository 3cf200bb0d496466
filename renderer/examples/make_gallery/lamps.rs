//! Strings of lamps that hang in the garden behind the marbles.

use super::noise::Random;

/// Distance, height of the ends, how far the middle hangs, ends from left to right, metres; and lamps.
const STRINGS: [([f32; 5], u32); 4] = [
    ([1.1, 0.2, 0.12, -0.62, 0.6], 13),
    ([1.7, 0.34, 0.18, -0.85, 0.9], 14),
    ([1.4, 0.02, 0.07, -0.7, 0.75], 11),
    ([2.2, 0.08, 0.16, -1.1, 1.1], 12),
];

/// Text files of transforms for lamps of three colours.
pub(crate) fn lamps() -> [Vec<u8>; 3] {
    let mut random = Random::new(7);
    let mut files: [String; 3] = Default::default();
    for ([distance, height, sag, left, right], count) in STRINGS {
        for i in 0..count {
            let t = (i as f32 + 0.5) / count as f32;
            let x = left + (right - left) * t + random.between(-0.02, 0.02);
            let y = height - 4.0 * sag * t * (1.0 - t) + random.between(-0.012, 0.012);
            let z = random.between(-0.1, 0.1) - distance;
            let choice = random.unit();
            let color = [0.62, 0.82].iter().filter(|from| choice > **from).count();
            files[color] += &format!("1,0,0,{x:.3}, 0,1,0,{y:.3}, 0,0,1,{z:.3}\n");
        }
    }
    files.map(String::into_bytes)
}
