//! Counts of ids in a pixel.

use device::matte::{MOST_IDS, MattePixel};

fn count_of(pixel: &MattePixel, id: u32) -> u32 {
    pixel.ids().find(|(of, _)| *of == id).map_or(0, |(_, count)| count)
}

/// As many samples of an id as its number, in an order that differs by `step`.
fn mixed(ids: u32, step: usize) -> Vec<u32> {
    let all: Vec<u32> = (1..=ids).flat_map(|id| std::iter::repeat_n(id, id as usize)).collect();
    (0..all.len()).map(|i| all[i * step % all.len()]).collect()
}

#[test]
fn counts_do_not_depend_on_the_order() {
    let ids = MOST_IDS as u32;
    // 136 samples: steps without a common divisor meet all of them.
    for step in [1, 3, 5, 135] {
        let [mut whole, mut first, mut second] = [MattePixel::default(); 3];
        for (i, id) in mixed(ids, step).into_iter().enumerate() {
            whole.add(id, 1);
            [&mut first, &mut second][i % 2].add(id, 1);
        }
        first.merge(&second);
        for pixel in [whole, first] {
            assert!((1..=ids).all(|id| count_of(&pixel, id) == id), "{pixel:?}");
            assert_eq!(pixel.samples(), 136);
        }
    }
}

#[test]
fn what_shows_much_stays_among_many_that_show_little() {
    let mut pixel = MattePixel::default();
    for sample in 0..4096_u32 {
        // Every eighth is of one thing, the others of a thousand; it comes only once there is no room.
        let id =
            if sample % 8 == 0 && sample > 64 { 1 } else { 2 + sample.wrapping_mul(2_654_435_761) % 1000 };
        pixel.add(id, 1);
    }
    assert!(count_of(&pixel, 1) >= 480, "{pixel:?}");
    assert_eq!(pixel.samples(), 4096, "what is left out is counted");
}
