//! `cuda_std::shared` and `cuda_std::mem`.

use crate::selftest_gpu::{Gpu, Outcome, arg, same};

pub(crate) fn shared_static(gpu: &Gpu) -> Outcome {
    const BLOCKS: u32 = 3;
    let out = gpu.zeros::<u32>(BLOCKS as usize * 128 * 4);
    gpu.launch_1d("shared_static", BLOCKS, 128, &[out.arg()])?;
    let value = |block: u32, thread: u32| (block * 128 + thread) * 3 + 1;
    let row = |i: u32| {
        let (block, me) = (i / 128, i % 128);
        let opposite = value(block, 127 - me);
        [opposite, (127 - me) ^ 0x55, opposite + 2, value(block, me % 4) + 1000]
    };
    let want: Vec<u32> = (0..BLOCKS * 128).flat_map(row).collect();
    same("shared_static", &gpu.download(&out)?, &want)?;
    Ok(String::new())
}

pub(crate) fn shared_dynamic(gpu: &Gpu) -> Outcome {
    // The second size is what every GPU gives without being asked twice.
    for (threads, bytes) in [(64, 64 * 4), (1024, 48 * 1024), (33, 33 * 4)] {
        let out = gpu.zeros::<u32>(2 * threads as usize * 2);
        gpu.launch("shared_dynamic", (2, 1, 1), (threads, 1, 1), bytes, &[out.arg()])?;
        let got = gpu.download(&out)?;
        let (sizes, words): (Vec<u32>, Vec<u32>) = got.chunks(2).map(|row| (row[0], row[1])).unzip();
        let what = format!("{threads} threads, {bytes} bytes");
        let opposite = |i: u32| (i / threads * threads + threads - 1 - i % threads) * 7 + 2;
        same(&what, &words, &(0..2 * threads).map(opposite).collect::<Vec<_>>())?;
        // The machine may give out memory in larger pieces.
        if let Some(size) = sizes.iter().find(|&&size| size < bytes || size >= bytes + 1024) {
            return Err(format!("{what}: {size} bytes reported"));
        }
    }
    Ok(String::new())
}

pub(crate) fn loads(gpu: &Gpu) -> Outcome {
    const THREADS: u32 = 256;
    let words: Vec<u32> = (0..THREADS * 12).map(|i| i.wrapping_mul(0x9e37_79b9) ^ 0xa5a5).collect();
    let input = gpu.upload(&words);
    for way in 0..20u32 {
        let out = gpu.zeros::<u32>(words.len());
        gpu.launch_1d("mem_loads", THREADS / 64, 64, &[arg(way), input.arg(), out.arg()])?;
        same(&format!("way {way}"), &gpu.download(&out)?, &words)?;
    }
    Ok("20 ways".into())
}

pub(crate) fn stores(gpu: &Gpu) -> Outcome {
    const THREADS: u32 = 256;
    let want: Vec<u32> = (0..THREADS).flat_map(|i| (0..12).map(move |k| i * 1000 + k)).collect();
    for way in 0..12u32 {
        let out = gpu.zeros::<u32>(want.len());
        gpu.launch_1d("mem_stores", THREADS / 64, 64, &[arg(way), out.arg()])?;
        same(&format!("way {way}"), &gpu.download(&out)?, &want)?;
    }
    Ok("12 ways".into())
}
