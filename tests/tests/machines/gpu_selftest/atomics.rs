//! `cuda_std::atomic`: what contention must leave behind, in whatever order the threads came.

use crate::selftest_gpu::{Gpu, Outcome, same, same_set};

/// Read-modify-write operations, one cell each.
const CELLS: usize = 14;

fn scrambled(i: u32) -> u32 {
    i.wrapping_mul(0x9e37_79b9) ^ 0x1234_5678
}

fn key_64(i: u32) -> u64 {
    u64::from(scrambled(i)) << 20 | u64::from(i)
}

/// A signed value in a 64-bit cell whose upper half nobody touches.
fn signed(value: i32) -> u64 {
    value.cast_unsigned().into()
}

/// Cells before anybody touched them. Minima start high, maxima low.
fn initial() -> [u64; CELLS] {
    let low = signed(i32::MIN);
    [0, 0, 0, 0, u32::MAX.into(), signed(i32::MAX), u64::MAX, 0, low, 0, 0, 0, 0, 0]
}

/// Checks what `n` threads saw and left, after each applied every operation once.
fn contention(n: u32, before: &[u64], after: &[u64]) -> Result<(), String> {
    let seen = |cell: usize| before.iter().skip(cell).step_by(CELLS).copied();
    let counted = |step: &dyn Fn(u32) -> u64| (0..n).map(step).collect::<Vec<u64>>();

    // Additions: each thread saw the sum of those before it, so together all partial sums.
    same_set("add_u32", seen(0), counted(&u64::from))?;
    same_set("add_i32", seen(1), counted(&|i| signed(-3 * i as i32)))?;
    same_set("add_u64", seen(2), counted(&|i| u64::from(i) << 31))?;
    same_set("add_f32", seen(3), counted(&|i| (i as f32 * 0.25).to_bits().into()))?;
    same_set("cas_u32", seen(12), counted(&u64::from))?;

    // Exchanges: every value is seen once, by a thread or at the end.
    let all = |values: &dyn Fn(u32) -> u64| (0..n).map(values).chain([0]).collect::<Vec<u64>>();
    same_set("exch_u32", seen(10).chain([after[10]]), all(&|i| (i + 1).into()))?;
    same_set("exch_u64", seen(11).chain([after[11]]), all(&|i| u64::from(i + 1) << 32))?;

    // Compare-and-swap with zero: one thread wins, the others see the winner.
    let winner = before.chunks(CELLS).position(|row| row[13] == 0);
    let winner = winner.map_or(0, |i| (i as u64 + 1) << 32);
    same("cas_u64, winner", &[after[13]], &[winner])?;
    same_set("cas_u64", seen(13), (1..n).map(|_| winner).chain([0]))?;

    // Extremes: what a thread saw is the start or another's value, and never beyond the end.
    let keys = || (0..n).map(scrambled);
    type Order = fn(u64) -> i128;
    let extremes: [(&str, usize, u64, Order); 6] = [
        ("min_u32", 4, keys().min().unwrap_or(0).into(), |v| v.into()),
        ("min_i32", 5, signed(keys().map(u32::cast_signed).min().unwrap_or(0)), |v| (v as u32 as i32).into()),
        ("min_u64", 6, (0..n).map(key_64).min().unwrap_or(0), |v| v.into()),
        ("max_u32", 7, keys().max().unwrap_or(0).into(), |v| -i128::from(v)),
        ("max_i32", 8, signed(keys().map(u32::cast_signed).max().unwrap_or(0)), |v| {
            -i128::from(v as u32 as i32)
        }),
        ("max_u64", 9, (0..n).map(key_64).max().unwrap_or(0), |v| -i128::from(v)),
    ];
    for (name, cell, end, order) in extremes {
        same(name, &[after[cell]], &[end])?;
        let valid: std::collections::HashSet<u64> = (0..n)
            .map(|i| if cell == 6 || cell == 9 { key_64(i) } else { scrambled(i).into() })
            .chain([initial()[cell]])
            .collect();
        if let Some(odd) = seen(cell).find(|&v| !valid.contains(&v) || order(v) < order(end)) {
            return Err(format!("{name}: a thread saw {odd:#x}"));
        }
    }
    let ends = [n.into(), signed(-3 * n as i32), u64::from(n) << 31, (n as f32 * 0.25).to_bits().into()];
    same("sums", &after[..4], &ends)?;
    same("counted", &after[12..13], &[n.into()])
}

pub(crate) fn device(gpu: &Gpu) -> Outcome {
    const BLOCKS: u32 = 64;
    const THREADS: u32 = 256;
    let n = BLOCKS * THREADS;
    let (cells, before) = (gpu.upload(&initial()), gpu.zeros::<u64>(n as usize * CELLS));
    gpu.launch_1d("atomic_device", BLOCKS, THREADS, &[cells.arg(), before.arg()])?;
    contention(n, &gpu.download(&before)?, &gpu.download(&cells)?)?;
    Ok(format!("{n} threads"))
}

pub(crate) fn block(gpu: &Gpu) -> Outcome {
    const BLOCKS: usize = 4;
    for threads in [32u32, 256, 1024] {
        let (cells, after) = (gpu.upload(&initial()), gpu.zeros::<u64>(BLOCKS * CELLS));
        let row = threads as usize * CELLS;
        let before = gpu.zeros::<u64>(BLOCKS * row);
        gpu.launch_1d("atomic_block", BLOCKS as u32, threads, &[cells.arg(), before.arg(), after.arg()])?;
        let (before, after) = (gpu.download(&before)?, gpu.download(&after)?);
        for (before, after) in before.chunks(row).zip(after.chunks(CELLS)) {
            contention(threads, before, after)?;
        }
    }
    Ok("4 blocks of up to 1024 threads".into())
}

pub(crate) fn messages_device(gpu: &Gpu) -> Outcome {
    for _ in 0..10 {
        let (mail, out) = (gpu.zeros::<u64>(48), gpu.upload(&[u32::MAX; 2]));
        gpu.launch_1d("atomic_messages_device", 2, 1, &[mail.arg(), out.arg()])?;
        same("errors of receiver and sender", &gpu.download(&out)?, &[0, 0])?;
    }
    Ok("2560 messages".into())
}

pub(crate) fn messages_block(gpu: &Gpu) -> Outcome {
    for _ in 0..10 {
        let out = gpu.upload(&[u32::MAX; 2]);
        gpu.launch_1d("atomic_messages_block", 1, 64, &[out.arg()])?;
        same("errors of receiver and sender", &gpu.download(&out)?, &[0, 0])?;
    }
    Ok("2560 messages".into())
}

pub(crate) fn volatile(gpu: &Gpu) -> Outcome {
    let (cells, out) = (gpu.zeros::<u64>(32), gpu.upload(&[u32::MAX; 2]));
    gpu.launch_1d("atomic_volatile", 2, 1, &[cells.arg(), out.arg()])?;
    same("turns that never came", &gpu.download(&out)?, &[0, 0])?;
    Ok("256 turns".into())
}

/// One thread's operations in the order of the kernel, on plain memory; the values before.
fn apply(cells: &mut [u64; CELLS], i: u32) -> [u64; CELLS] {
    let before = *cells;
    let (key, long) = (scrambled(i), key_64(i));
    let least = |a: u64, b: u32| (a as u32 as i32).min(b.cast_signed());
    let most = |a: u64, b: u32| (a as u32 as i32).max(b.cast_signed());
    *cells = [
        before[0] + 1,
        signed((before[1] as u32 as i32) - 3),
        before[2] + (1 << 31),
        (f32::from_bits(before[3] as u32) + 0.25).to_bits().into(),
        before[4].min(key.into()),
        signed(least(before[5], key)),
        before[6].min(long),
        before[7].max(key.into()),
        signed(most(before[8], key)),
        before[9].max(long),
        (i + 1).into(),
        u64::from(i + 1) << 32,
        before[12] + 1,
        if before[13] == 0 { u64::from(i + 1) << 32 } else { before[13] },
    ];
    before
}

/// The check accepts threads that come one after the other in any order, and no lost update.
#[test]
fn contention_is_judged_rightly() {
    const N: u32 = 500;
    let mut cells = initial();
    let mut before = vec![0; N as usize * CELLS];
    for step in 0..N {
        let i = step * 343 % N;
        before[i as usize * CELLS..][..CELLS].copy_from_slice(&apply(&mut cells, i));
    }
    contention(N, &before, &cells).unwrap();
    for cell in 0..CELLS {
        let mut lost = before.clone();
        lost[77 * CELLS + cell] ^= 0x4000_0000;
        let mut ended = cells;
        ended[cell] ^= 1;
        assert!(contention(N, &lost, &cells).is_err(), "cell {cell} of a thread");
        assert!(contention(N, &before, &ended).is_err(), "cell {cell} at the end");
    }
}
