//! `cuda_std::warp`.

use crate::selftest_gpu::{Buffer, Gpu, Outcome, Word, same};

/// Threads of each launch: three whole warps.
const THREADS: u32 = 96;

fn scrambled(lane: u32) -> u32 {
    lane.wrapping_add(1).wrapping_mul(0x9e37_79b9)
}

fn scrambled_64(lane: u32) -> u64 {
    u64::from(lane + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Runs a kernel that writes a row of `N` values a thread, and compares with `row(lane)`.
fn rows<T: Word + PartialEq + std::fmt::Debug, const N: usize>(
    gpu: &Gpu,
    kernel: &str,
    row: impl Fn(u32) -> [T; N],
) -> Outcome {
    let out: Buffer<T> = gpu.zeros(THREADS as usize * N);
    gpu.launch_1d(kernel, 1, THREADS, &[out.arg()])?;
    let want: Vec<T> = (0..THREADS).flat_map(|thread| row(thread % 32)).collect();
    same(kernel, &gpu.download(&out)?, &want)?;
    Ok(String::new())
}

pub(crate) fn lanes(gpu: &Gpu) -> Outcome {
    let out = gpu.zeros::<u32>(THREADS as usize * 8);
    gpu.launch_1d("warp_lanes", 1, THREADS, &[out.arg()])?;
    for (thread, got) in (0..THREADS).zip(gpu.download(&out)?.chunks(8)) {
        let lane = thread % 32;
        let eq = 1u32 << lane;
        let lt = eq - 1;
        same(&format!("thread {thread}"), &got[..6], &[lane, lt, lt | eq, eq, !lt, !lt & !eq])?;
        // Which lanes run together is the machine's choice, but a lane is one of them, and of its branch.
        let (all, odd) = (got[6], got[7]);
        let own = if lane % 2 == 1 { eq } else { 0 };
        if all & eq == 0 || odd & own != own || odd & !0xaaaa_aaaa != 0 || (own == 0) != (odd == 0) {
            return Err(format!("thread {thread}: active masks {all:#x}, of the odd lanes {odd:#x}"));
        }
    }
    Ok(String::new())
}

/// The lanes that up, down, xor and idx by 0, 1, 5, 31 read from.
fn sources(lane: u32) -> [u32; 16] {
    let mut sources = [0; 16];
    for (i, by) in [0, 1, 5, 31].into_iter().enumerate() {
        let up = if lane >= by { lane - by } else { lane };
        let down = if lane + by < 32 { lane + by } else { lane };
        sources[i * 4..][..4].copy_from_slice(&[up, down, lane ^ by, by]);
    }
    sources
}

pub(crate) fn shuffle_32(gpu: &Gpu) -> Outcome {
    rows(gpu, "warp_shuffle_32", |lane| sources(lane).map(scrambled))
}

pub(crate) fn shuffle_64(gpu: &Gpu) -> Outcome {
    rows(gpu, "warp_shuffle_64", |lane| sources(lane).map(scrambled_64))
}

pub(crate) fn shuffle_types(gpu: &Gpu) -> Outcome {
    rows(gpu, "warp_shuffle_types", |lane| {
        let next = (lane + 1).min(31);
        [
            u64::from((-(next as i32)).cast_unsigned()),
            (next as f32 + 0.5).to_bits().into(),
            (-(i64::from(next) << 40)).cast_unsigned(),
            (f64::from(next) + 0.25).to_bits(),
            if lane < 16 { scrambled(15 - lane).into() } else { 0 },
        ]
    })
}

pub(crate) fn votes(gpu: &Gpu) -> Outcome {
    rows(gpu, "warp_votes", |lane| {
        let mut row = [0; 20];
        for (i, limit) in [0u32, 1, 13, 32].into_iter().enumerate() {
            let ballot = ((1u64 << limit) - 1) as u32;
            let (all, any) = (limit == 32, limit > 0);
            row[i * 4..][..4].copy_from_slice(&[all.into(), any.into(), (all || !any).into(), ballot]);
        }
        if lane < 8 {
            row[16..].copy_from_slice(&[0, 1, 0, 8]);
        }
        row
    })
}

pub(crate) fn matches(gpu: &Gpu) -> Outcome {
    let lanes_with = |f: &dyn Fn(u32) -> bool| (0..32).filter(|&i| f(i)).fold(0, |mask, i| mask | 1 << i);
    rows(gpu, "warp_matches", |lane| {
        let fives = lanes_with(&|i| i / 5 == lane / 5);
        let thirds = lanes_with(&|i| i % 3 == lane % 3);
        let fours = lanes_with(&|i| i % 4 == lane % 4);
        [fives, thirds, 0, 0, u32::MAX, 1, 0, 0, u32::MAX, 1, fours]
    })
}

pub(crate) fn reduce(gpu: &Gpu) -> Outcome {
    let values = || (0..32).map(scrambled);
    let longs = || (0..32).map(scrambled_64);
    rows(gpu, "warp_reduce", |lane| {
        let upto = lane as usize + 1;
        [
            values().fold(0, u32::wrapping_add).into(),
            values().map(u32::cast_signed).min().map_or(0, |least| least.cast_unsigned().into()),
            values().max().map_or(0, u64::from),
            longs().fold(0, u64::wrapping_add),
            (31.0f32 * 32.0 / 2.0 * 0.25).to_bits().into(),
            values().take(upto).fold(0, u32::wrapping_add).into(),
            longs().take(upto).max().unwrap_or(0),
        ]
    })
}

pub(crate) fn sync(gpu: &Gpu) -> Outcome {
    let mut want: Vec<u32> = (0..32).collect();
    for round in 0..64 {
        want = (0..32).map(|i| want[(i + 11) % 32].wrapping_mul(5).wrapping_add(round)).collect();
    }
    let out = gpu.zeros::<u32>(32);
    gpu.launch_1d("warp_sync", 1, 32, &[out.arg()])?;
    same("values", &gpu.download(&out)?, &want)?;
    Ok(String::new())
}
