//! From structures in memory to columns and back, four at a time: a square of four words of each is four reads, eight shuffles and
//! four writes, where word by word there are sixteen reads and sixteen writes.

use glam::{Mat4, Vec4};

use super::columns::Columned;

/// A structure that is words of four bytes, and whose columns are these words' in the same order.
///
/// # Safety
/// It has no padding, any words are one, and word w of place i of `Column<N>` is number w·N + i, where N is a multiple of 16.
pub(super) unsafe trait Rows: Columned {
    /// Number of words.
    const WORDS: usize = size_of::<Self>() / size_of::<f32>();
}

/// Lanes that are moved at a time.
pub(super) const ROWS: usize = 4;

/// Four places from `i` on; those from `len` on are replaced by `i`.
#[inline(always)]
pub(super) fn four(i: usize, len: usize) -> [usize; ROWS] {
    [0, 1, 2, 3].map(|k| if i + k < len { i + k } else { i })
}

/// Puts rows into columns, from place `i` on.
///
/// # Safety
/// The rows can be read.
#[inline(always)]
pub(super) unsafe fn put_rows<T: Rows, const N: usize>(
    rows: [*const T; ROWS],
    column: &mut T::Column<N>,
    i: usize,
) {
    const { assert!(size_of::<T::Column<N>>() == N * size_of::<T>() && T::WORDS >= ROWS) };
    assert!(i <= N - ROWS);
    let columns = core::ptr::from_mut(column).cast::<f32>();
    for w in squares::<T>() {
        // SAFETY: the row has four words from the `w`-th on, and columns of them have four places from the `i`-th.
        unsafe {
            let read =
                |row: *const T| Vec4::from_array(row.cast::<[f32; 4]>().byte_add(4 * w).read_unaligned());
            let [a, b, c, d] = rows;
            let square = Mat4::from_cols(read(a), read(b), read(c), read(d)).transpose();
            for (k, part) in [square.x_axis, square.y_axis, square.z_axis, square.w_axis].iter().enumerate() {
                columns.add((w + k) * N + i).cast::<[f32; 4]>().write_unaligned(part.to_array());
            }
        }
    }
}

/// Takes rows out of columns, from place `i` on.
///
/// # Safety
/// The rows can be written.
#[inline(always)]
pub(super) unsafe fn take_rows<T: Rows, const N: usize>(
    column: &T::Column<N>,
    i: usize,
    rows: [*mut T; ROWS],
) {
    const { assert!(size_of::<T::Column<N>>() == N * size_of::<T>() && T::WORDS >= ROWS) };
    assert!(i <= N - ROWS);
    let columns = core::ptr::from_ref(column).cast::<f32>();
    for w in squares::<T>() {
        // SAFETY: as in `put_rows`.
        unsafe {
            let read =
                |k: usize| Vec4::from_array(columns.add((w + k) * N + i).cast::<[f32; 4]>().read_unaligned());
            let square = Mat4::from_cols(read(0), read(1), read(2), read(3)).transpose();
            let parts = [square.x_axis, square.y_axis, square.z_axis, square.w_axis];
            for (row, part) in rows.into_iter().zip(parts) {
                row.cast::<[f32; 4]>().byte_add(4 * w).write_unaligned(part.to_array());
            }
        }
    }
}

/// First words of the squares of a `T`; the last one may overlap the one before.
#[inline(always)]
fn squares<T: Rows>() -> impl Iterator<Item = usize> {
    (0..T::WORDS).step_by(ROWS).map(|w| w.min(T::WORDS - ROWS))
}

/// Implements [`Rows`] for a structure of which `columned` has declared the columns.
macro_rules! rows {
    ($T:ty as $Columns:ident { $($field:ident: $F:ty),* }) => {
        // SAFETY: the fields are such structures; that they follow each other in the same order is asserted below.
        unsafe impl $crate::path::rows::Rows for $T {}

        const _: () = {
            use core::mem::offset_of;
            const N: usize = $crate::path::columns::LANES;
            const fn size<T: $crate::path::rows::Rows>() -> usize {
                size_of::<T>()
            }
            assert!(size_of::<$T>() == 0 $(+ size::<$F>())*);
            $(assert!(offset_of!($Columns<N>, $field) == N * offset_of!($T, $field));)*
        };
    };
}
pub(super) use rows;

// SAFETY: a word is its own column.
unsafe impl Rows for f32 {}
// SAFETY: as above.
unsafe impl Rows for u32 {}
// SAFETY: columns of the elements follow each other as they do.
unsafe impl<T: Rows> Rows for [T; 3] {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::PathState;
    use crate::path::columns::LANES;

    const N: usize = 2 * LANES;

    /// A state whose words are all different, and differ from those of other numbers.
    fn state(number: u32) -> PathState {
        let words: [u32; 23] = core::array::from_fn(|w| 1000 * number + w as u32);
        // SAFETY: a state is as many words, and any are one.
        unsafe { core::mem::transmute(words) }
    }

    fn words(state: &PathState) -> [u32; 23] {
        // SAFETY: as above.
        unsafe { core::mem::transmute(*state) }
    }

    /// Rows come to their places, wherever these begin, other places stay as they were, and rows come back as they went.
    #[test]
    fn rows_come_and_go() {
        for first in [0, 4, 7, N - ROWS] {
            let mut columns = PathState::zeroed::<N>();
            let states = [1, 2, 3, 4].map(state);
            // SAFETY: the rows can be read.
            unsafe { put_rows(states.each_ref().map(core::ptr::from_ref), &mut columns, first) };
            for i in 0..N {
                let expected = i.checked_sub(first).and_then(|k| states.get(k)).map_or([0; 23], words);
                assert_eq!(
                    words(&PathState::get(&columns, i)),
                    expected,
                    "place {i} of those from {first} on"
                );
            }
            let mut back = [5, 6, 7, 8].map(state);
            let [a, b, c, d] = &mut back;
            // SAFETY: the rows can be written.
            unsafe { take_rows(&columns, first, [a, b, c, d].map(core::ptr::from_mut)) };
            assert_eq!(back.map(|s| words(&s)), states.map(|s| words(&s)));
            assert_ne!(words(&back[0]), words(&states[1]), "control");
        }
    }

    #[test]
    fn places_beyond_the_last_are_replaced() {
        assert_eq!((four(4, 9), four(8, 9)), ([4, 5, 6, 7], [8; 4]));
    }
}
