//! Summed-area tables: sums of windows exactly, and samples by the weights.

use device::light::Table;
use device::light::table::{PARTS, Window};

use crate::common::Random;
use crate::common::statistics::{Verdicts, chi2_test};

const WIDTH: u32 = 7;
const HEIGHT: u32 = 5;

/// Uneven weights, some of them zero and one large, and the table of them.
fn table() -> (Vec<u64>, Vec<u64>, Table) {
    let mut random = Random::new(9);
    let mut weights: Vec<u64> = (0..WIDTH * HEIGHT).map(|_| random.bits() >> 60 << 36).collect();
    (weights[10], weights[11], weights[12]) = (0, 1 << 48, 1);
    let mut entries = vec![0; ((WIDTH + 1) * (HEIGHT + 1)) as usize];
    for y in 1..=HEIGHT {
        for x in 1..=WIDTH {
            let above = (0..y).flat_map(|y| (0..x).map(move |x| (y * WIDTH + x) as usize));
            entries[(y * (WIDTH + 1) + x) as usize] = above.map(|i| weights[i]).sum();
        }
    }
    (weights, entries, Table { first: 0, width: WIDTH, height: HEIGHT, reserved: 0 })
}

const WINDOWS: [Window; 4] = [
    Window { x: [0, WIDTH * PARTS], y: [0, HEIGHT * PARTS] },
    Window { x: [300, 1500], y: [200, 1100] },
    Window { x: [512, 768], y: [256, 1280] },
    Window { x: [1025, 1030], y: [256, 700] },
];

/// The part of a cell that is in a window.
fn part(window: Window, [x, y]: [u32; 2]) -> f64 {
    let along = |[a, b]: [u32; 2], i: u32| {
        let (low, high) = (a.max(i * PARTS), b.min((i + 1) * PARTS));
        f64::from(high.saturating_sub(low)) / f64::from(PARTS)
    };
    along(window.x, x) * along(window.y, y)
}

#[test]
fn windows_have_the_weight_of_what_is_in_them() {
    let (weights, entries, table) = table();
    // SAFETY: the entries are the table's.
    let entries = unsafe { table.entries(entries.as_ptr()) };
    for (i, weight) in weights.iter().enumerate() {
        assert_eq!(entries.weight([i as u32 % WIDTH, i as u32 / WIDTH]), *weight);
    }
    for window in WINDOWS {
        let cell = |i: u32| weights[i as usize] as f64 * part(window, [i % WIDTH, i / WIDTH]);
        let expected: f64 = (0..WIDTH * HEIGHT).map(cell).sum();
        let found = entries.mass(window) as f64 / f64::from(PARTS);
        assert!((found / expected - 1.0).abs() < 1e-9, "{window:?}: {found}, not {expected}");
    }
}

/// P-value of the cells that samples of a window are in, if the window were `of`.
fn counted(window: Window, of: Window) -> f64 {
    const N: u64 = 1_000_000;
    let (weights, entries, table) = table();
    // SAFETY: the entries are the table's.
    let entries = unsafe { table.entries(entries.as_ptr()) };
    let mut random = Random::new(77);
    let mut counts = vec![0; (WIDTH * HEIGHT) as usize];
    for _ in 0..N {
        let [u, v] = [random.bits(), random.bits()].map(|bits| (bits >> 32) as u32);
        let place = entries.sample(window, [u, v]).expect("there is something in the window");
        let [x, y] = [0, 1].map(|k| f64::from(place.cell[k]) + f64::from(place.within[k]));
        let within = |x: f64, [a, b]: [u32; 2]| {
            let parts = x * f64::from(PARTS);
            parts > f64::from(a) - 1e-2 && parts < f64::from(b) + 1e-2
        };
        assert!(within(x, window.x) && within(y, window.y), "{place:?} is not in {window:?}");
        counts[(place.cell[1] * WIDTH + place.cell[0]) as usize] += 1;
    }
    let cell = |i: u32| weights[i as usize] as f64 * part(of, [i % WIDTH, i / WIDTH]);
    let expected: Vec<f64> = (0..WIDTH * HEIGHT).map(cell).collect();
    let total: f64 = expected.iter().sum();
    chi2_test(&counts, &expected.iter().map(|e| e / total * N as f64).collect::<Vec<_>>())
}

#[test]
fn samples_of_windows_follow_the_weights() {
    let (mut verdicts, mut control) = (Verdicts::default(), Verdicts::default());
    for window in [WINDOWS[2], WINDOWS[3], Window { x: [300, 1000], y: [600, 1100] }] {
        verdicts.add(counted(window, window), format!("{window:?}"));
        let larger = Window { y: [0, window.y[1]], ..window };
        control.add(counted(window, larger), format!("{window:?}"));
    }
    verdicts.report("windows");
    verdicts.assert_none_rejected();
    control.assert_all_rejected();
}

#[test]
fn nothing_is_drawn_where_there_is_nothing() {
    let entries = [0; 6];
    let table = Table { first: 0, width: 2, height: 1, reserved: 0 };
    // SAFETY: the entries are the table's.
    let entries = unsafe { table.entries(entries.as_ptr()) };
    assert!(entries.sample(Window { x: [0, 2 * PARTS], y: [0, PARTS] }, [1, 2]).is_none());
}
