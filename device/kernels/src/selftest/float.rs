//! `cuda_std::float`, and `libm` behind it: each function over an array of values.

use cuda_std::float::*;
use cuda_std::kernel;
use cuda_std::thread::index_1d;

/// `out[i] = f(x[i])`, the function chosen by its number in the host's list.
///
/// # Safety
/// `x` and `out` have `n` values.
#[kernel]
pub unsafe fn float_unary(function: u32, n: u32, x: *const f32, out: *mut f32) {
    let i = index_1d();
    if i >= n {
        return;
    }
    // SAFETY: the launch's promise.
    let x = unsafe { x.add(i as usize).read() };
    let value = match function {
        0 => x.sqrt(),
        1 => x.rsqrt(),
        2 => x.rcp(),
        3 => x.sin(),
        4 => x.cos(),
        5 => x.sin_cos().0,
        6 => x.sin_cos().1,
        7 => x.tan(),
        8 => x.asin(),
        9 => x.acos(),
        10 => x.atan(),
        11 => x.exp(),
        12 => x.exp2(),
        13 => x.ln(),
        14 => x.log2(),
        15 => x.floor(),
        16 => x.ceil(),
        17 => x.trunc(),
        18 => x.round(),
        19 => x.fract(),
        20 => sqrt_rn(x),
        21 => rcp_rn(x),
        22 => sin_approx(x),
        23 => cos_approx(x),
        _ => f32::NAN,
    };
    // SAFETY: the launch's promise.
    unsafe { out.add(i as usize).write(value) }
}

/// `out[i] = f(x[i], y[i])`, the function chosen by its number in the host's list.
///
/// # Safety
/// `x`, `y` and `out` have `n` values.
#[kernel]
pub unsafe fn float_binary(function: u32, n: u32, x: *const f32, y: *const f32, out: *mut f32) {
    let i = index_1d();
    if i >= n {
        return;
    }
    // SAFETY: the launch's promise.
    let (x, y) = unsafe { (x.add(i as usize).read(), y.add(i as usize).read()) };
    let value = match function {
        0 => x.atan2(y),
        1 => x.powf(y),
        2 => x.powi(y as i32),
        3 => mul_rn(x, y),
        4 => add_rn(x, y),
        5 => sub_rn(x, y),
        6 => div_rn(x, y),
        _ => f32::NAN,
    };
    // SAFETY: the launch's promise.
    unsafe { out.add(i as usize).write(value) }
}

/// x·y + z in five ways: `mul_add`, `fma_rn`, a product and a sum that must stay apart, the same with a
/// difference, and a plain expression, which this build fuses. 5 values a thread.
///
/// # Safety
/// `x`, `y` and `z` have `n` values, and `out` 5 · `n`.
#[kernel]
pub unsafe fn float_products(n: u32, x: *const f32, y: *const f32, z: *const f32, out: *mut f32) {
    let i = index_1d();
    if i >= n {
        return;
    }
    let k = i as usize;
    // SAFETY: the launch's promise.
    unsafe {
        let (x, y, z) = (x.add(k).read(), y.add(k).read(), z.add(k).read());
        let values =
            [x.mul_add(y, z), fma_rn(x, y, z), add_rn(mul_rn(x, y), z), sub_rn(mul_rn(x, y), -z), x * y + z];
        super::write(out, k * 5, values);
    }
}
