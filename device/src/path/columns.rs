//! Values side by side, field by field: loops over them become vector instructions.

use glam::{Vec2, Vec3};

use crate::sampling::Frame;

/// Lanes of the widest machine: loops over columns go by so many places at once.
pub(super) const LANES: usize = 16;

/// A value that is kept field by field.
pub(super) trait Columned: Copy {
    /// Room for `N` of them.
    type Column<const N: usize>;

    /// Room full of zeros.
    fn zeroed<const N: usize>() -> Self::Column<N>;

    /// The value in place `i`.
    fn get<const N: usize>(column: &Self::Column<N>, i: usize) -> Self;

    /// Puts the value in place `i`.
    fn set<const N: usize>(self, column: &mut Self::Column<N>, i: usize);
}

/// Runs a body for every place `$i` in a range, and up to fifteen beyond, in blocks of which each is a loop of its own: of a
/// fixed length, so that there is no rest that would be left to scalar instructions. No function of a closure: the compiler
/// would not inline a large one.
///
/// # Panics
/// `$n` places do not hold the last block.
macro_rules! each_block {
    ($n:expr, $range:expr, |$i:ident| $body:block) => {{
        let core::ops::Range { start, end } = $range;
        assert!(end + $crate::path::columns::LANES <= $n + 1);
        for block in (start..end).step_by($crate::path::columns::LANES) {
            let first = $crate::path::columns::first_of::<$n>(block);
            for k in 0..$crate::path::columns::LANES {
                let $i = first + k;
                $body
            }
        }
    }};
}
pub(super) use each_block;

/// `first`, where a block begins in columns of `N` places. That it ends within them is plain to the compiler by the minimum: where
/// it has to check, part of each block is left to scalar instructions.
#[inline(always)]
pub(super) fn first_of<const N: usize>(first: usize) -> usize {
    first.min(N - LANES)
}

macro_rules! plain {
    ($T:ty, $zero:literal) => {
        impl Columned for $T {
            type Column<const N: usize> = [Self; N];

            #[inline(always)]
            fn zeroed<const N: usize>() -> [Self; N] {
                [$zero; N]
            }

            #[inline(always)]
            fn get<const N: usize>(column: &[Self; N], i: usize) -> Self {
                column[i]
            }

            #[inline(always)]
            fn set<const N: usize>(self, column: &mut [Self; N], i: usize) {
                column[i] = self;
            }
        }
    };
}

plain!(f32, 0.0);
plain!(u32, 0);

impl Columned for bool {
    type Column<const N: usize> = [u32; N];

    #[inline(always)]
    fn zeroed<const N: usize>() -> [u32; N] {
        [0; N]
    }

    #[inline(always)]
    fn get<const N: usize>(column: &[u32; N], i: usize) -> Self {
        column[i] != 0
    }

    #[inline(always)]
    fn set<const N: usize>(self, column: &mut [u32; N], i: usize) {
        column[i] = u32::from(self);
    }
}

impl<T: Columned> Columned for [T; 2] {
    type Column<const N: usize> = [T::Column<N>; 2];

    #[inline(always)]
    fn zeroed<const N: usize>() -> Self::Column<N> {
        [T::zeroed(), T::zeroed()]
    }

    #[inline(always)]
    fn get<const N: usize>([a, b]: &Self::Column<N>, i: usize) -> Self {
        [T::get(a, i), T::get(b, i)]
    }

    #[inline(always)]
    fn set<const N: usize>(self, [a, b]: &mut Self::Column<N>, i: usize) {
        let [x, y] = self;
        x.set(a, i);
        y.set(b, i);
    }
}

impl<T: Columned> Columned for [T; 3] {
    type Column<const N: usize> = [T::Column<N>; 3];

    #[inline(always)]
    fn zeroed<const N: usize>() -> Self::Column<N> {
        [T::zeroed(), T::zeroed(), T::zeroed()]
    }

    #[inline(always)]
    fn get<const N: usize>([a, b, c]: &Self::Column<N>, i: usize) -> Self {
        [T::get(a, i), T::get(b, i), T::get(c, i)]
    }

    #[inline(always)]
    fn set<const N: usize>(self, [a, b, c]: &mut Self::Column<N>, i: usize) {
        let [x, y, z] = self;
        x.set(a, i);
        y.set(b, i);
        z.set(c, i);
    }
}

/// As [`each_block`] over the first `$len` places of `$column`, of which each takes the value `$value`. It is computed in blocks on
/// the stack: what is written there is not what the value is read from, as the compiler has to know where that is not columns.
macro_rules! fill_blocks {
    ($n:expr, $len:expr, $T:ty, $column:expr, |$i:ident| $value:expr) => {{
        const LANES: usize = $crate::path::columns::LANES;
        assert!($len + LANES <= $n + 1);
        for first in (0..$len).step_by(LANES) {
            let first = $crate::path::columns::first_of::<$n>(first);
            let mut block = <$T as Columned>::zeroed::<LANES>();
            for k in 0..LANES {
                let $i = first + k;
                <$T as Columned>::set($value, &mut block, k);
            }
            for k in 0..LANES {
                <$T as Columned>::get(&block, k).set($column, first + k);
            }
        }
    }};
}
pub(super) use fill_blocks;

/// Implements [`Columned`] for a structure, of which a second one with the same fields has the columns. The structure itself is
/// declared as well where it begins with `struct`. With `rows`, it is one of [`Rows`](super::rows::Rows).
macro_rules! columned {
    (
        $(#[$meta:meta])* $Columns:ident of
        $(#[$of:meta])* struct $T:ident { $($(#[$doc:meta])* $field:ident: $F:ty),* $(,)? }
    ) => {
        $(#[$of])*
        #[derive(Clone, Copy)]
        pub(super) struct $T {
            $($(#[$doc])* pub(super) $field: $F,)*
        }

        columned! { $(#[$meta])* $Columns of $T { $($field: $F),* } }
    };
    ($(#[$meta:meta])* rows $Columns:ident of $T:ty { $($field:ident: $F:ty),* $(,)? }) => {
        columned! { $(#[$meta])* $Columns of $T { $($field: $F),* } }
        $crate::path::rows::rows! { $T as $Columns { $($field: $F),* } }
    };
    ($(#[$meta:meta])* $Columns:ident of $T:ty { $($field:ident: $F:ty),* $(,)? }) => {
        $(#[$meta])*
        #[repr(C, align(64))]
        pub(super) struct $Columns<const N: usize> {
            $(pub(super) $field: <$F as Columned>::Column<N>,)*
        }

        impl Columned for $T {
            type Column<const N: usize> = $Columns<N>;

            #[inline(always)]
            fn zeroed<const N: usize>() -> $Columns<N> {
                $Columns { $($field: <$F as Columned>::zeroed()),* }
            }

            #[inline(always)]
            fn get<const N: usize>(column: &$Columns<N>, i: usize) -> Self {
                Self { $($field: <$F as Columned>::get(&column.$field, i)),* }
            }

            #[inline(always)]
            fn set<const N: usize>(self, column: &mut $Columns<N>, i: usize) {
                $(self.$field.set(&mut column.$field, i);)*
            }
        }
    };
}
pub(super) use columned;

columned! {
    /// Points of the plane.
    Vec2s of Vec2 { x: f32, y: f32 }
}
columned! {
    /// Vectors.
    rows Vec3s of Vec3 { x: f32, y: f32, z: f32 }
}
columned! {
    /// Orthonormal bases.
    Frames of Frame { x: Vec3, y: Vec3, z: Vec3 }
}
