//! What tests of primitives share: the lengths and the data that they try, and the machines.

/// Lengths at which blocks, warps and tiles end or do not. On a GPU also those that fill it.
pub fn lengths(is_gpu: bool) -> Vec<u32> {
    let mut lengths = vec![0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, (1 << 20) - 1, (1 << 20) + 1];
    if is_gpu {
        lengths.extend([(1 << 24) + 7, 1 << 27]);
    }
    lengths
}

/// As [`lengths`], without the longest: for what takes the host long to check.
pub fn short_lengths(is_gpu: bool) -> Vec<u32> {
    let mut lengths = lengths(is_gpu);
    lengths.retain(|n| *n < 1 << 24);
    lengths
}

/// Numbers without an order: a bijection of 64 bits (Steele et al. 2014, SplitMix64), of a counter.
pub fn random(seed: u64, n: u32) -> Vec<u64> {
    (0..u64::from(n))
        .map(|i| {
            let mut z = seed.wrapping_add((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        })
        .collect()
}

/// Numbers that primitives may find difficult, each with its name: random ones, all equal, in order, in the wrong order,
/// all but one zero, few different ones.
pub fn difficult(n: u32) -> Vec<(&'static str, Vec<u64>)> {
    let last = u64::from(n.saturating_sub(1));
    let of = |f: &dyn Fn(u64) -> u64| (0..u64::from(n)).map(f).collect();
    vec![
        ("random", random(1, n)),
        ("all equal", of(&|_| 0x0123_4567_89ab_cdef)),
        ("in order", of(&|i| i)),
        ("reversed", of(&|i| last - i)),
        ("one flag", of(&|i| u64::from(i == last / 2))),
        ("few", random(2, n).into_iter().map(|x| x % 3).collect()),
    ]
}

/// Runs a block for the host, and for the first GPU if there is one: `for_each_backend!(|backend, is_gpu| { … })`.
#[macro_export]
macro_rules! for_each_backend {
    (|$backend:ident, $is_gpu:ident| $body:block) => {
        for machine in $crate::machines() {
            match machine {
                $crate::Machine::Cpu => {
                    let $is_gpu = false;
                    #[allow(unused_mut, reason = "not every body needs it so")]
                    let mut $backend = ::renderer::backend::cpu::Cpu::new(None).expect("threads start");
                    $body
                }
                $crate::Machine::Cuda => {
                    let $is_gpu = true;
                    #[allow(unused_mut, reason = "not every body needs it so")]
                    let mut $backend = ::renderer::backend::cuda::Cuda::new(0).expect("the device opens");
                    $body
                }
            }
        }
    };
}
