//! Operations that the polynomials are built from, over `std`: correctly rounded, or nearly so.

pub(crate) fn sqrt(x: f32) -> f32 {
    x.sqrt()
}

pub(crate) fn rsqrt(x: f32) -> f32 {
    (1.0 / f64::from(x).sqrt()) as f32
}

pub(crate) fn rcp(x: f32) -> f32 {
    1.0 / x
}

pub(crate) fn fma(x: f32, y: f32, z: f32) -> f32 {
    x.mul_add(y, z)
}

pub(crate) fn floor(x: f32) -> f32 {
    x.floor()
}

pub(crate) fn ceil(x: f32) -> f32 {
    x.ceil()
}

pub(crate) fn trunc(x: f32) -> f32 {
    x.trunc()
}

pub(crate) fn exp2(x: f32) -> f32 {
    x.exp2()
}

pub(crate) fn log2(x: f32) -> f32 {
    x.log2()
}

pub(crate) fn div(x: f32, y: f32) -> f32 {
    x / y
}
