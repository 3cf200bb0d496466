//! Arguments for `opt` and `llc`.

use super::{PTX_ISA, TARGET_CPU};

/// The passes. rustc runs none of its own (see [`super::rustc`]), so this is the whole optimisation.
///
/// Only kernels stay public; what no kernel reaches goes before anything costly runs. Address spaces are
/// inferred once pointers are out of stack slots, and the result is simplified once more.
const PASSES: &str = "internalize,globaldce,default<O3>,function(infer-address-spaces),default<O3>";

/// Floating point as a renderer wants it: products and sums fuse, square roots and quotients are the fast
/// ones, denormals are zero. Without these LLVM writes `mul.rn` and `add.rn`, which ptxas may not fuse, and
/// arithmetic takes twice as long.
const FLOATS: [&str; 4] = [
    "--fp-contract=fast",
    "--nvptx-prec-sqrtf32=0",
    "--nvptx-prec-divf32=0",
    "--denormal-fp-math-f32=preserve-sign",
];

/// How large an unrolled loop may be, four times as large as by default: a loop over an array that is to be in registers
/// must be unrolled, or the array is in memory.
const UNROLL: &str = "--unroll-threshold=1200";

/// Up to how many bytes `llc` copies structs by as wide loads and stores as their alignment allows. Beyond, 128 by default,
/// it writes a loop that copies byte by byte.
const COPIES: &str = "--mem-intrinsic-expand-size=1024";

/// Arguments of `opt`, before the input. With `unroll`, loops may become large.
pub fn opt_arguments(kernels: &[String], unroll: bool) -> Vec<String> {
    let mut kernels = kernels.to_vec();
    kernels.sort();
    let mut arguments =
        vec![format!("-passes={PASSES}"), format!("--internalize-public-api-list={}", kernels.join(","))];
    arguments.extend(unroll.then(|| UNROLL.to_owned()));
    arguments
}

/// Arguments of `llc`, before the input.
pub fn llc_arguments() -> Vec<String> {
    // Comments on every block and declaration would be a tenth of the text.
    let target = [
        "-O3".to_owned(),
        "-asm-verbose=0".to_owned(),
        format!("-mcpu={TARGET_CPU}"),
        format!("-mattr=+{PTX_ISA}"),
        COPIES.to_owned(),
    ];
    target.into_iter().chain(FLOATS.map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kernels_stay_public_in_a_fixed_order() {
        let arguments = opt_arguments(&["b".into(), "a".into()], false);
        assert_eq!(arguments[1], "--internalize-public-api-list=a,b");
        assert!(arguments[0].starts_with("-passes=internalize,globaldce,"));
    }

    #[test]
    fn llc_is_told_target_and_arithmetic() {
        let arguments = llc_arguments().join(" ");
        for expected in
            ["-mcpu=sm_75", "-mattr=+ptx70", "--fp-contract=fast", "--nvptx-prec-divf32=0", COPIES]
        {
            assert!(arguments.contains(expected), "{expected} in {arguments}");
        }
    }
}
