//! Vectors of f64: glam's are not compiled in.

use std::ops::{Add, Div, Mul, Neg, Sub};

use glam::Vec3;

#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct DVec3 {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) z: f64,
}

impl DVec3 {
    pub(crate) const ZERO: Self = Self::new(0.0, 0.0, 0.0);
    pub(crate) const Z: Self = Self::new(0.0, 0.0, 1.0);

    pub(crate) const fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }

    pub(crate) fn to_array(self) -> [f64; 3] {
        [self.x, self.y, self.z]
    }

    pub(crate) fn dot(self, o: Self) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    pub(crate) fn cross(self, o: Self) -> Self {
        Self::new(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)
    }

    pub(crate) fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    pub(crate) fn normalize(self) -> Self {
        self / self.length()
    }

    /// Some unit vector orthogonal to this one.
    pub(crate) fn any_orthonormal(self) -> Self {
        let axis = if self.x.abs() < 0.7 * self.length() { Self::new(1.0, 0.0, 0.0) } else { Self::Z };
        self.cross(axis).normalize()
    }

    pub(crate) fn to_f32(self) -> Vec3 {
        Vec3::new(self.x as f32, self.y as f32, self.z as f32)
    }
}

/// To f64, exactly.
pub(crate) fn wide(v: Vec3) -> DVec3 {
    DVec3::new(v.x.into(), v.y.into(), v.z.into())
}

impl Add for DVec3 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::new(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl Sub for DVec3 {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

impl Neg for DVec3 {
    type Output = Self;
    fn neg(self) -> Self {
        -1.0 * self
    }
}

impl Mul<DVec3> for f64 {
    type Output = DVec3;
    fn mul(self, v: DVec3) -> DVec3 {
        DVec3::new(self * v.x, self * v.y, self * v.z)
    }
}

impl Div<f64> for DVec3 {
    type Output = Self;
    fn div(self, s: f64) -> Self {
        Self::new(self.x / s, self.y / s, self.z / s)
    }
}
