//! Summed-area tables (Crow 1984, "Summed-area tables for texture mapping"): entry (x, y) is the sum of all pixels in the
//! columns up to x and the rows up to y, so that four entries give the sum over any rectangle.
//!
//! The image is read twice and the table written once: [`TileSums`] adds up the rows and columns of tiles, [`ScanDown`] and
//! [`Corners`] scan these, and [`Integrate`] sums up each tile from what lies left of it and above it (Nehab, Maximo, Lima
//! & Hoppe 2011, "GPU-efficient recursive filtering and summed-area tables"). No tile waits for another, and sums have an
//! order: a table is the same bits on every GPU.
//!
//! # Errors
//! Sums of tiles are in `f64`. Within tiles, tables of `f64` are summed in `f64`, too: of rows of w numbers and columns of
//! h, an entry is off by at most (w/128 + h/64 + 100)·2⁻⁵³ times the sum of the magnitudes; in the twin, which sums in a
//! row, by (w + h)·2⁻⁵³ times. Tables of `f32` are summed in `f32` there: an entry is off by at most 32·2⁻²⁴ times the sum
//! of the magnitudes however large the image is, and most by a rounding or two, in the twin by one. The sum over a rectangle
//! is a difference of entries that may be much larger, and is off by as much as these, however small it is itself: small
//! rectangles of large images need `f64`. Sums of whole numbers wrap, and so do their differences: a rectangle's is exact as
//! long as it is below 2³² or 2⁶⁴.

mod blur;
mod carries;
mod integrate;
mod tiles;

pub use blur::{BoxBlur, BoxBlurArgs, blur};
pub use carries::{Corners, CornersArgs, ScanDown, ScanDownArgs};
pub use integrate::{Integrate, IntegrateArgs};
pub use tiles::{TileSums, TileSumsArgs};

use core::marker::PhantomData;

use bytemuck::Pod;

use super::{Entry, Exchange, Kernel};

/// Rows of a thread in a tile.
const ROWS: usize = 8;

/// Threads of a block that works on a tile.
const BLOCK: u32 = 256;

/// Numbers of a row of a tile: four a lane.
pub const ACROSS: u32 = 128;

/// Rows of a tile.
pub const DOWN: u32 = BLOCK / 32 * ROWS as u32;

/// A type in which sums are accumulated.
pub trait Sum: Pod + Send + Sync + Exchange {
    /// The empty sum.
    const ZERO: Self;
    /// The sum of two.
    fn plus(self, other: Self) -> Self;
}

/// Types of pixels, of intermediate sums, and of the entries of their table.
pub trait Tabulate: 'static {
    /// Type of the pixels.
    type Pixel: Pod + Send + Sync;
    /// Type of sums within a tile.
    type Local: Sum;
    /// Type of sums of tiles.
    type Sum: Sum;
    /// A sum of tiles, to be added to one within a tile.
    type Carry: Copy;
    /// Type of the table's entries.
    type Entry: Pod + Send + Sync;

    /// A pixel, to be summed within a tile.
    fn local(pixel: Self::Pixel) -> Self::Local;
    /// A sum within a tile, to be summed with those of other tiles.
    fn sum(local: Self::Local) -> Self::Sum;
    /// A sum of tiles, to be added to one within a tile.
    fn carry(sum: Self::Sum) -> Self::Carry;
    /// The entry for the sums above the tile, left of it, and within it.
    fn entry(above: Self::Carry, left: Self::Carry, local: Self::Local) -> Self::Entry;
}

/// Tables for which there are kernels.
pub trait Tabulated<const CHANNELS: u32>: Tabulate {
    /// Sums up tiles.
    type TileSums: Kernel<Args = TileSumsArgs<Self::Pixel, Self::Sum, CHANNELS>> + Entry;
    /// Scans their sums.
    type ScanDown: Kernel<Args = ScanDownArgs<Self::Sum>> + Entry;
    /// Scans rows of tiles.
    type Corners: Kernel<Args = CornersArgs<Self::Sum, CHANNELS>> + Entry;
    /// Makes the table.
    type Integrate: Kernel<Args = IntegrateArgs<Self::Pixel, Self::Sum, Self::Entry, CHANNELS>> + Entry;
}

impl<T: Tabulate, const CHANNELS: u32> Tabulated<CHANNELS> for T
where
    TileSums<T, CHANNELS>: Entry,
    ScanDown<T::Sum>: Entry,
    Corners<T::Sum, CHANNELS>: Entry,
    Integrate<T, CHANNELS>: Entry,
{
    type TileSums = TileSums<T, CHANNELS>;
    type ScanDown = ScanDown<T::Sum>;
    type Corners = Corners<T::Sum, CHANNELS>;
    type Integrate = Integrate<T, CHANNELS>;
}

macro_rules! sums {
    ($($T:ty: $zero:expr, $plus:expr;)*) => { $(
        impl Sum for $T {
            const ZERO: Self = $zero;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                let plus: fn($T, $T) -> $T = $plus;
                plus(self, other)
            }
        }
    )* };
}
sums! {
    u32: 0, u32::wrapping_add;
    u64: 0, u64::wrapping_add;
    f32: 0.0, |a, b| a + b;
    f64: 0.0, |a, b| a + b;
}

/// Tables of `u32` of `u32`, or of `u64` of `u64`, which wrap.
pub struct Whole<T = u32>(PhantomData<T>);

macro_rules! whole {
    ($($T:ty),*) => { $(
        impl Tabulate for Whole<$T> {
            type Pixel = $T;
            type Local = $T;
            type Sum = $T;
            type Carry = $T;
            type Entry = $T;

            #[inline(always)]
            fn local(pixel: $T) -> $T {
                pixel
            }

            #[inline(always)]
            fn sum(local: $T) -> $T {
                local
            }

            #[inline(always)]
            fn carry(sum: $T) -> $T {
                sum
            }

            #[inline(always)]
            fn entry(above: $T, left: $T, local: $T) -> $T {
                above.wrapping_add(left).wrapping_add(local)
            }
        }
    )* };
}
whole!(u32, u64);

/// Tables of `f32` of `f32`.
pub struct Narrow;

impl Tabulate for Narrow {
    type Pixel = f32;
    type Local = f32;
    type Sum = f64;
    /// The rounded sum, and its rounding error.
    type Carry = [f32; 2];
    type Entry = f32;

    #[inline(always)]
    fn local(pixel: f32) -> f32 {
        pixel
    }

    #[inline(always)]
    fn sum(local: f32) -> f64 {
        f64::from(local)
    }

    #[inline(always)]
    fn carry(sum: f64) -> [f32; 2] {
        let rounded = sum as f32;
        [rounded, (sum - f64::from(rounded)) as f32]
    }

    /// With the error of the one addition of large numbers (Knuth's two-sum) among the small ones.
    #[inline(always)]
    fn entry(above: [f32; 2], left: [f32; 2], local: f32) -> f32 {
        let sum = above[0] + left[0];
        let of_left = sum - above[0];
        let error = (above[0] - (sum - of_left)) + (left[0] - of_left);
        sum + (local + (error + (above[1] + left[1])))
    }
}

/// Tables of `f64` of `f32`.
pub struct Wide;

impl Tabulate for Wide {
    type Pixel = f32;
    type Local = f64;
    type Sum = f64;
    type Carry = f64;
    type Entry = f64;

    #[inline(always)]
    fn local(pixel: f32) -> f64 {
        f64::from(pixel)
    }

    #[inline(always)]
    fn sum(local: f64) -> f64 {
        local
    }

    #[inline(always)]
    fn carry(sum: f64) -> f64 {
        sum
    }

    #[inline(always)]
    fn entry(above: f64, left: f64, local: f64) -> f64 {
        above + left + local
    }
}

/// The size of an image or a table whose pixels are `CHANNELS` numbers, 1 or 4, side by side.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Size<const CHANNELS: u32> {
    /// Numbers of a row: not zero, and a multiple of `CHANNELS`.
    pub width: u32,
    /// Rows. Not zero.
    pub height: u32,
}

impl<const CHANNELS: u32> Size<CHANNELS> {
    /// Tiles side by side. Not zero.
    pub fn across(self) -> u32 {
        self.width.div_ceil(ACROSS).max(1)
    }

    /// Tiles one upon the other.
    pub fn down(self) -> u32 {
        self.height.div_ceil(DOWN)
    }

    /// Sums of rows of tiles side by side with the first one, and what is between them and those of the next tiles.
    pub fn row_sums(self) -> u32 {
        self.height * CHANNELS
    }

    /// Sums of columns of a row of tiles, and then of its tiles.
    pub fn column_sums(self) -> u32 {
        self.width + self.across() * CHANNELS
    }
}

/// The table of an image, of which `columns` are the sums of columns in the end.
///
/// # Panics
/// A slice is too short.
pub fn twin<T: Tabulate, const CHANNELS: u32>(
    image: &[T::Pixel],
    size: Size<CHANNELS>,
    columns: &mut [T::Sum],
    table: &mut [T::Entry],
) {
    let (width, channels) = (size.width as usize, CHANNELS as usize);
    let nothing = T::carry(T::Sum::ZERO);
    let columns = &mut columns[..width];
    columns.fill(T::Sum::ZERO);
    for (pixels, entries) in image.chunks(width).zip(table.chunks_mut(width)).take(size.height as usize) {
        let mut sums = [T::Sum::ZERO; 4];
        for (x, column) in columns.iter_mut().enumerate() {
            let sum = &mut sums[x % channels];
            *column = column.plus(T::sum(T::local(pixels[x])));
            *sum = sum.plus(*column);
            entries[x] = T::entry(T::carry(*sum), nothing, T::Local::ZERO);
        }
    }
}

/// The sum over the pixels in the columns `x.0..x.1` and the rows `y.0..y.1` of an image, of which `entry` gives the
/// table's entries by their index.
#[inline(always)]
pub fn rectangle<const CHANNELS: u32>(
    entry: impl Fn(u32) -> f64,
    size: Size<CHANNELS>,
    channel: u32,
    x: (u32, u32),
    y: (u32, u32),
) -> f64 {
    let up_to = |x: u32, y: u32| {
        if x == 0 || y == 0 { 0.0 } else { entry((y - 1) * size.width + (x - 1) * CHANNELS + channel) }
    };
    (up_to(x.1, y.1) - up_to(x.0, y.1)) - (up_to(x.1, y.0) - up_to(x.0, y.0))
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use bytemuck::Pod;
    use cuda_std::{mem, warp};

    use super::{ROWS, Size, Sum};
    use crate::{Ptr, Quad};

    /// Four neighbours of a row that has `width` numbers, of which they are the ones from `x` on; zeros behind its end.
    ///
    /// # Safety
    /// `row` is the index of the row's first number in an image, which nothing writes; `x` is a multiple of 4.
    #[inline(always)]
    unsafe fn load<T: Pod>(image: Ptr<T>, row: u32, x: u32, width: u32) -> [T; 4] {
        let mut quad = [T::zeroed(); 4];
        if width % 4 == 0 {
            if x < width {
                // SAFETY: rows begin at multiples of four.
                quad = unsafe { mem::ldg(image.at(row + x).cast::<Quad<T>>()) }.0;
            }
        } else {
            for j in 0..4 {
                if x + (j as u32) < width {
                    // SAFETY: just checked.
                    quad[j] = unsafe { image.load_constant(row + x + j as u32) };
                }
            }
        }
        quad
    }

    /// [`load`] for each row of a thread, from row `top` on; zeros below the image.
    ///
    /// # Safety
    /// As there, for an image of this size.
    #[inline(always)]
    pub(super) unsafe fn load_rows<T: Pod, const CHANNELS: u32>(
        image: Ptr<T>,
        size: Size<CHANNELS>,
        top: u32,
        x: u32,
    ) -> [[T; 4]; ROWS] {
        of_rows(|r| {
            let y = top + r;
            if y < size.height {
                // SAFETY: just checked.
                unsafe { load(image, y * size.width, x, size.width) }
            } else {
                [T::zeroed(); 4]
            }
        })
    }

    /// Writes numbers as [`load`] reads them, where they are within the row.
    ///
    /// # Safety
    /// As there; nobody else uses these.
    #[inline(always)]
    pub(super) unsafe fn store<T: Copy>(table: Ptr<T>, row: u32, x: u32, width: u32, quad: [T; 4]) {
        // The table may begin anywhere.
        if width % 4 == 0 && table.at(0).addr() % align_of::<Quad<T>>() == 0 {
            if x < width {
                // SAFETY: rows begin at multiples of four, and so aligned.
                unsafe { mem::st(table.at(row + x).cast(), Quad(quad)) };
            }
        } else {
            for j in 0..4 {
                if x + (j as u32) < width {
                    // SAFETY: just checked.
                    unsafe { table.store(row + x + j as u32, quad[j]) };
                }
            }
        }
    }

    /// Sums of the lanes before this one.
    ///
    /// # Safety
    /// All lanes of the warp call this together.
    #[inline(always)]
    pub(super) unsafe fn before_lane<S: Sum>(value: S) -> S {
        // SAFETY: as the caller promised.
        let before = unsafe {
            let up_to = warp::scan_inclusive(value, S::plus);
            warp::shuffle_up(warp::FULL_MASK, up_to, 1)
        };
        if warp::lane_id() == 0 { S::ZERO } else { before }
    }

    /// Sums along a row of a tile, of which each lane has four neighbours, by channel.
    ///
    /// # Safety
    /// All lanes of the warp call this together.
    #[inline(always)]
    pub(super) unsafe fn along<S: Sum, const CHANNELS: u32>([a, b, c, d]: [S; 4]) -> [S; 4] {
        // SAFETY: as the caller promised.
        unsafe {
            if CHANNELS == 1 {
                let (ab, cd) = (a.plus(b), c.plus(d));
                let before = before_lane(ab.plus(cd));
                let middle = before.plus(ab);
                [before.plus(a), middle, middle.plus(c), middle.plus(cd)]
            } else {
                [
                    before_lane(a).plus(a),
                    before_lane(b).plus(b),
                    before_lane(c).plus(c),
                    before_lane(d).plus(d),
                ]
            }
        }
    }

    /// Calls `of` for each row of a thread. The compiler does not unroll loops over so much.
    #[inline(always)]
    pub(super) fn of_rows<T>(mut of: impl FnMut(u32) -> T) -> [T; ROWS] {
        [of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)]
    }

    /// Sums of each of four.
    #[inline(always)]
    pub(super) fn plus<S: Sum>([a, b, c, d]: [S; 4], [e, f, g, h]: [S; 4]) -> [S; 4] {
        [a.plus(e), b.plus(f), c.plus(g), d.plus(h)]
    }
}
