//! `cuda_std::mem`.

use cuda_std::kernel;
use cuda_std::mem::*;
use cuda_std::thread::index_1d;

/// One, two, four and twelve words, as the loads take them.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Two([u32; 2]);

/// As [`Two`].
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Four([f32; 4]);

/// A record like a node of a hierarchy: three instructions.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Twelve {
    floats: [f32; 3],
    bytes: [u8; 4],
    halves: [u16; 8],
    long: u64,
    tail: [u32; 2],
}

/// Loads words 0 … 11 of a thread's row of `input` in one of 20 ways, and writes them to its row of `out`:
/// 0 … 3 are the named read-only loads; then 4, 8, 16 and 48 bytes for each of `ldg`, `ldcs`, `ldcg`, `ld`.
///
/// One way a launch: side by side in one thread, the assembler makes wide loads of narrow ones.
///
/// # Safety
/// `input` and `out` have 12 words a thread, and `input` is aligned to 16 bytes.
#[kernel]
pub unsafe fn mem_loads(way: u32, input: *const u32, out: *mut u32) {
    let row = index_1d() as usize * 12;
    // SAFETY: the launch's promise.
    unsafe {
        let input = input.add(row);
        let floats = input.cast::<f32>();
        macro_rules! generic {
            ($way:expr, $load:ident) => {
                match $way {
                    0 => core::array::from_fn(|k| $load(input.add(k))),
                    1 => core::array::from_fn(|k| $load(input.cast::<Two>().add(k / 2)).0[k % 2]),
                    2 => core::array::from_fn(|k| $load(input.cast::<Four>().add(k / 4)).0[k % 4].to_bits()),
                    _ => twelve($load(input.cast::<Twelve>())),
                }
            };
        }
        let words = match way {
            0 => core::array::from_fn(|k| ldg_u32(input.add(k))),
            1 => core::array::from_fn(|k| ldg_f32(floats.add(k)).to_bits()),
            2 => core::array::from_fn(|k| match k % 4 {
                0 | 1 => ldg_u32x2(input.add(k / 4 * 4))[k % 4],
                _ => ldg_f32x2(floats.add(k / 4 * 4 + 2))[k % 4 - 2].to_bits(),
            }),
            3 => {
                join([ldg_u32x4(input), ldg_f32x4(floats.add(4)).map(f32::to_bits), ldg_u32x4(input.add(8))])
            }
            4..8 => generic!(way - 4, ldg),
            8..12 => generic!(way - 8, ldcs),
            12..16 => generic!(way - 12, ldcg),
            _ => generic!(way - 16, ld),
        };
        super::write(out, row, words);
    }
}

#[inline(always)]
fn join([a, b, c]: [[u32; 4]; 3]) -> [u32; 12] {
    let mut words = [0; 12];
    words[..4].copy_from_slice(&a);
    words[4..8].copy_from_slice(&b);
    words[8..].copy_from_slice(&c);
    words
}

/// The words of a record, by its fields.
#[inline(always)]
fn twelve(record: Twelve) -> [u32; 12] {
    let [x, y, z] = record.floats.map(f32::to_bits);
    let [h0, h1, h2, h3, h4, h5, h6, h7] = record.halves.map(u32::from);
    let [t0, t1] = record.tail;
    let (low, high) = (record.long as u32, (record.long >> 32) as u32);
    let bytes = u32::from_le_bytes(record.bytes);
    [x, y, z, bytes, h1 << 16 | h0, h3 << 16 | h2, h5 << 16 | h4, h7 << 16 | h6, low, high, t0, t1]
}

/// Stores 12 words in one of 12 ways, the `k`th of a thread's row being 1000 · thread + k: 4, 8, 16 and 48
/// bytes for each of `stcs`, `stcg`, `st`.
///
/// # Safety
/// `out` has room for 12 words a thread and is aligned to 16 bytes.
#[kernel]
pub unsafe fn mem_stores(way: u32, out: *mut u32) {
    let i = index_1d();
    let base = i * 1000;
    // SAFETY: the launch's promise.
    unsafe {
        let row = out.add(i as usize * 12);
        macro_rules! store {
            ($way:expr, $store:ident) => {
                match $way {
                    0 => (0..12).for_each(|k| $store(row.add(k as usize), base + k)),
                    1 => (0..6).for_each(|k| {
                        $store(row.cast::<Two>().add(k as usize), Two([base + 2 * k, base + 2 * k + 1]));
                    }),
                    2 => (0..3).for_each(|k| {
                        let words = [0, 1, 2, 3].map(|w| f32::from_bits(base + 4 * k + w));
                        $store(row.cast::<Four>().add(k as usize), Four(words));
                    }),
                    _ => $store(row.cast::<Twelve>(), record(base)),
                }
            };
        }
        match way {
            0..4 => store!(way, stcs),
            4..8 => store!(way - 4, stcg),
            _ => store!(way - 8, st),
        }
    }
}

/// A record whose words are `first`, `first` + 1, ….
#[inline(always)]
fn record(first: u32) -> Twelve {
    let half = |k: u32| ((first + 4 + k / 2) >> (k % 2 * 16)) as u16;
    Twelve {
        floats: [0, 1, 2].map(|k| f32::from_bits(first + k)),
        bytes: (first + 3).to_le_bytes(),
        halves: [0, 1, 2, 3, 4, 5, 6, 7].map(half),
        long: u64::from(first + 9) << 32 | u64::from(first + 8),
        tail: [first + 10, first + 11],
    }
}
