//! `#[kernel]` and `cuda_std::thread`.

use bytemuck::{Pod, Zeroable};

use crate::selftest_gpu::{Gpu, Outcome, arg, same};

/// As the kernel's `Record`, with its padding spelled out.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Record {
    byte: u8,
    padding: [u8; 3],
    word: u32,
    long: u64,
    float: f32,
    array: [u16; 3],
    more_padding: [u8; 6],
    out: u64,
}

pub(crate) fn arguments(gpu: &Gpu) -> Outcome {
    let out = gpu.zeros::<u64>(10);
    let record = Record {
        byte: 200,
        padding: [0xee; 3],
        word: 0xdead_beef,
        long: 0x0123_4567_89ab_cdef,
        float: -1.5,
        array: [1, 2, 0xffff],
        more_padding: [0xee; 6],
        out: out.address(),
    };
    let args = [arg(7u8), arg(-3i64), arg(record), arg(0.1f32), arg(41u32)];
    gpu.launch_1d("kernel_arguments", 1, 1, &args)?;
    let want = [
        7,
        (-3i64).cast_unsigned(),
        200,
        0xdead_beef,
        0x0123_4567_89ab_cdef,
        u64::from((-1.5f32).to_bits()),
        1 << 32 | 2 << 16 | 0xffff,
        u64::from(0.1f32.to_bits()),
        42,
        size_of::<Record>() as u64,
    ];
    same("arguments", &gpu.download(&out)?, &want)?;
    Ok(String::new())
}

pub(crate) fn indices(gpu: &Gpu) -> Outcome {
    let shapes =
        [((3, 2, 4), (5, 3, 2)), ((7, 1, 1), (96, 1, 1)), ((1, 5, 1), (8, 16, 1)), ((2, 3, 2), (1, 1, 33))];
    for (grid, block) in shapes {
        let ((gx, gy, gz), (dx, dy, dz)) = (grid, block);
        let threads = gx * gy * gz * dx * dy * dz;
        let out = gpu.zeros::<u32>(threads as usize * 32);
        gpu.launch("thread_indices", grid, block, 0, &[out.arg()])?;
        let mut want = Vec::new();
        for place in 0..threads {
            let (block, thread) = (place / (dx * dy * dz), place % (dx * dy * dz));
            let (tx, ty, tz) = (thread % dx, thread / dx % dy, thread / (dx * dy));
            let (bx, by, bz) = (block % gx, block / gx % gy, block / (gx * gy));
            let plain = [tx, ty, tz, bx, by, bz, dx, dy, dz, gx, gy, gz];
            let (x, y, z) = (bx * dx + tx, by * dy + ty, bz * dz + tz);
            want.extend(plain.iter().chain(&plain).chain(&[x, x, y, x, y, z, gx * dx, thread]));
        }
        same(&format!("grid {grid:?} block {block:?}"), &gpu.download(&out)?, &want)?;
    }
    Ok(String::new())
}

pub(crate) fn sync(gpu: &Gpu) -> Outcome {
    let mut want: Vec<u32> = (0..256).collect();
    for round in 0..64 {
        want = (0..256).map(|i| want[(i + 37) % 256].wrapping_mul(5).wrapping_add(round)).collect();
    }
    for _ in 0..20 {
        let out = gpu.zeros::<u32>(256);
        gpu.launch_1d("thread_sync", 1, 256, &[out.arg()])?;
        same("values", &gpu.download(&out)?, &want)?;
    }
    Ok(String::new())
}

pub(crate) fn sync_votes(gpu: &Gpu) -> Outcome {
    for threads in [32u32, 100, 128, 1024] {
        let out = gpu.zeros::<u32>(threads as usize * 15);
        gpu.launch_1d("thread_sync_votes", 1, threads, &[out.arg()])?;
        let limits = [0, 1, 100, 128, threads].map(|limit| limit.min(threads));
        let row: Vec<u32> =
            limits.iter().flat_map(|&n| [n, u32::from(n == threads), u32::from(n > 0)]).collect();
        let want = row.repeat(threads as usize);
        same(&format!("{threads} threads"), &gpu.download(&out)?, &want)?;
    }
    Ok(String::new())
}

/// Runs a kernel that passes messages between two threads.
fn fence(gpu: &Gpu, kernel: &str, blocks: u32, threads: u32) -> Outcome {
    for _ in 0..10 {
        let (mailbox, out) = (gpu.zeros::<u32>(96), gpu.upload(&[u32::MAX; 2]));
        gpu.launch_1d(kernel, blocks, threads, &[mailbox.arg(), out.arg()])?;
        same("errors of receiver and sender", &gpu.download(&out)?, &[0, 0])?;
    }
    Ok("2560 messages".into())
}

pub(crate) fn block_fence(gpu: &Gpu) -> Outcome {
    fence(gpu, "thread_block_fence", 1, 64)
}

pub(crate) fn device_fence(gpu: &Gpu) -> Outcome {
    fence(gpu, "thread_device_fence", 2, 1)
}

pub(crate) fn system_fence(gpu: &Gpu) -> Outcome {
    fence(gpu, "thread_system_fence", 2, 1)
}

pub(crate) fn clocks(gpu: &Gpu) -> Outcome {
    let out = gpu.zeros::<u64>(6);
    gpu.launch_1d("thread_clocks", 1, 1, &[out.arg()])?;
    let values = gpu.download(&out)?;
    let [clock, clock64, timer, clock_after, clock64_after, timer_after] = values[..] else {
        return Err(format!("{} values", values.len()));
    };
    let cycles = clock64_after.wrapping_sub(clock64);
    let cycles_32 = (clock_after as u32).wrapping_sub(clock as u32);
    let nanoseconds = timer_after.wrapping_sub(timer);
    if clock >> 32 != 0 || clock_after >> 32 != 0 {
        return Err("the 32-bit clock has more than 32 bits".into());
    }
    if (cycles as u32).wrapping_sub(cycles_32).cast_signed().unsigned_abs() > 10_000 {
        return Err(format!("{cycles_32} cycles by `clock`, {cycles} by `clock64`"));
    }
    // 100 sleeps of 0 … 20 µs each, and whatever else runs on the machine.
    if !(100_000..1_000_000_000).contains(&nanoseconds) || !(50_000..10_000_000_000).contains(&cycles) {
        return Err(format!("1 ms of sleep took {nanoseconds} ns and {cycles} cycles"));
    }
    Ok(format!("1 ms of sleep: {nanoseconds} ns, {cycles} cycles"))
}
