//! Elements of primitives, and operators on them.

use core::marker::PhantomData;

/// A number type that primitives support.
pub trait Element: bytemuck::Pod + PartialOrd + Exchange + Send + Sync {
    /// Zero.
    const ZERO: Self;
    /// The smallest number; −∞ among floats.
    const LOWEST: Self;
    /// The largest number; +∞ among floats.
    const HIGHEST: Self;

    /// The sum: whole numbers wrap.
    fn plus(self, other: Self) -> Self;
    /// The smaller one. NaNs are ignored, and −0 is less than +0.
    fn least(self, other: Self) -> Self;
    /// The larger one. NaNs are ignored, and +0 is greater than −0.
    fn greatest(self, other: Self) -> Self;
}

/// Values that lanes of a warp can exchange.
#[cfg(target_arch = "nvptx64")]
pub use cuda_std::warp::Shuffle as Exchange;

/// Values that lanes of a warp can exchange: on the host, all.
#[cfg(not(target_arch = "nvptx64"))]
pub trait Exchange {}

#[cfg(not(target_arch = "nvptx64"))]
impl<T> Exchange for T {}

macro_rules! whole {
    ($($T:ty),*) => { $(
        impl Element for $T {
            const ZERO: Self = 0;
            const LOWEST: Self = <$T>::MIN;
            const HIGHEST: Self = <$T>::MAX;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn least(self, other: Self) -> Self {
                self.min(other)
            }

            #[inline(always)]
            fn greatest(self, other: Self) -> Self {
                self.max(other)
            }
        }
    )* };
}
whole!(u32, i32, u64);

impl Element for f32 {
    const ZERO: Self = 0.0;
    const LOWEST: Self = f32::NEG_INFINITY;
    const HIGHEST: Self = f32::INFINITY;

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    /// One instruction on a GPU, which has these rules.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    fn least(self, other: Self) -> Self {
        self.min(other)
    }

    /// As [`Element::least`] of a GPU.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    fn greatest(self, other: Self) -> Self {
        self.max(other)
    }

    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn least(self, other: Self) -> Self {
        if self < other || (self == other && self.is_sign_negative()) || other.is_nan() {
            self
        } else {
            other
        }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn greatest(self, other: Self) -> Self {
        if self > other || (self == other && self.is_sign_positive()) || other.is_nan() {
            self
        } else {
            other
        }
    }
}

/// An associative operator. It need not commute: primitives keep the order.
pub trait Operator: 'static {
    /// Type of its operands.
    type Value: Element;
    /// Combined with any value, that value.
    const IDENTITY: Self::Value;

    /// `earlier ∘ later`.
    fn combine(earlier: Self::Value, later: Self::Value) -> Self::Value;
}

macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident = $identity:ident, $combine:ident;)*) => { $(
        $(#[$doc])*
        pub struct $name<T>(PhantomData<T>);

        impl<T: Element> Operator for $name<T> {
            type Value = T;
            const IDENTITY: T = T::$identity;

            #[inline(always)]
            fn combine(earlier: T, later: T) -> T {
                earlier.$combine(later)
            }
        }
    )* };
}

operators! {
    /// The sum: whole numbers wrap.
    Sum = ZERO, plus;
    /// The smallest. NaNs are ignored, and −0 is less than +0.
    Min = HIGHEST, least;
    /// The largest. NaNs are ignored, and +0 is greater than −0.
    Max = LOWEST, greatest;
}

/// Composition of maps x ↦ a·x + b of 32-bit numbers, which wrap: a scan of them solves every linear recurrence
/// xᵢ₊₁ = aᵢ·xᵢ + bᵢ (Blelloch 1990, "Prefix sums and their applications", section 1.4). It does not commute. A value has
/// a in its low half and b in its high half.
pub struct Affine;

impl Operator for Affine {
    type Value = u64;
    const IDENTITY: u64 = 1;

    #[inline(always)]
    fn combine(earlier: u64, later: u64) -> u64 {
        let [(a, b), (c, d)] = [earlier, later].map(|map| (map as u32, (map >> 32) as u32));
        u64::from(a.wrapping_mul(c)) | u64::from(b.wrapping_mul(c).wrapping_add(d)) << 32
    }
}
