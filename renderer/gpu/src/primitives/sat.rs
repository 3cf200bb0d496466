//! Summed-area tables, and the box blur that they are for.

use std::marker::PhantomData;

use primitives::sat::{
    BoxBlur as BlurKernel, BoxBlurArgs, CornersArgs, DOWN, IntegrateArgs, ScanDownArgs, Size, Sum, Tabulate,
    Tabulated, TileSumsArgs, blur,
};
use primitives::{Entry, Kernel, MOST, Ptr, WARP};

use super::call::Call;
use super::parallel::{chunk_len, for_each_item};
use super::temp::Pieces;
use super::{Primitives, Temp, Work};
use crate::backend::Error;
use crate::backend::cuda::Cuda;

/// The summed-area table of an image: entry (x, y) is the sum over the columns up to x and the rows up to y. Pixels have
/// `CHANNELS` numbers side by side, 1 or, of floats, 4, and so has the table. `T` says of what numbers:
/// [`Narrow`](super::Narrow), [`Wide`](super::Wide) or [`Whole`](super::Whole).
///
/// Of numbers below zero, too, an entry is off by at most a part of the sum of their magnitudes. With [`Narrow`] entries,
/// `f32`, that is 32·2⁻²⁴. With [`Wide`] ones, `f64`, and w numbers in each of h rows, it is (w/128 + h/64 + 100)·2⁻⁵³ on a
/// GPU, and (w + h)·2⁻⁵³ on a CPU, which sums in a row. A sum over a rectangle, being a difference of entries, is off by as
/// much as they are, however small it is: small rectangles of large images want [`Wide`]. [`Whole`] entries, `u32` or
/// `u64`, wrap: sums over rectangles are exact if they are below 2³² or 2⁶⁴.
///
/// [`Narrow`]: super::Narrow
/// [`Wide`]: super::Wide
/// [`Whole`]: super::Whole
#[derive(Debug)]
pub struct SummedArea<T, const CHANNELS: u32 = 1> {
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Where in its buffer the table begins.
    pub first: u32,
    kind: PhantomData<T>,
}

impl<T: Tabulated<CHANNELS>, const CHANNELS: u32> SummedArea<T, CHANNELS> {
    /// A table for images of this many pixels.
    pub fn new(width: u32, height: u32) -> Self {
        Self { width, height, first: 0, kind: PhantomData }
    }

    /// The same, with the table from its buffer's element `first` on.
    #[must_use]
    pub fn placed_at(self, first: u32) -> Self {
        Self { first, ..self }
    }

    /// Bytes of temporary memory; 0 for images that are empty, or too large for [`SummedArea::run`].
    pub fn temp_bytes(&self) -> usize {
        let n = u128::from(self.width) * u128::from(self.height) * u128::from(CHANNELS);
        if n == 0 || n > u128::from(MOST) {
            return 0;
        }
        SatTemp::<T::Sum>::new(Ptr::NULL, self.size()).bytes
    }

    fn size(&self) -> Size<CHANNELS> {
        Size { width: self.width.saturating_mul(CHANNELS), height: self.height }
    }

    /// Queues the table of `image`.
    ///
    /// # Errors
    /// A buffer is too small, there are more than [`MOST`](super::MOST) numbers, or the machine reports an error.
    pub fn run<B: Primitives>(
        &self,
        backend: &mut B,
        image: &B::Buf<T::Pixel>,
        table: &mut B::Buf<T::Entry>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, "computing a summed-area table");
        let n = call.numbers([self.width, self.height, CHANNELS])?;
        let image = call.input("image", image, n)?;
        let table = call.output_from("table", table, self.first, n)?;
        if n == 0 {
            return Ok(());
        }
        let size = self.size();
        let SatTemp { rows, columns, .. } = SatTemp::new(call.temp(temp, self.temp_bytes())?, size);
        let work = SatWork::<T, CHANNELS>(IntegrateArgs { image, table, size, rows, columns });
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }
}

struct SatTemp<S> {
    rows: Ptr<S>,
    columns: Ptr<S>,
    bytes: usize,
}

impl<S> SatTemp<S> {
    fn new<const CHANNELS: u32>(start: Ptr<u8>, size: Size<CHANNELS>) -> Self {
        let mut pieces = Pieces::new(start);
        let rows = pieces.take(size.row_sums() as usize * size.across() as usize);
        let columns = pieces.take(size.column_sums() as usize * size.down() as usize);
        Self { rows, columns, bytes: pieces.bytes() }
    }
}

/// The table, with sums in the order of the twin's: by bands of rows, of which each begins with the sums of the columns
/// above it.
fn integrate_bands<T: Tabulate, const CHANNELS: u32>(
    image: &[T::Pixel],
    size: Size<CHANNELS>,
    band: usize,
    columns: &mut [T::Sum],
    table: &mut [T::Entry],
) {
    let width = size.width as usize;
    sum_columns::<T>(image, width, band, columns);
    let bands = image.chunks(band * width).zip(table.chunks_mut(band * width));
    for_each_item(bands.zip(columns.chunks_mut(width)), |_, ((image, table), columns)| {
        for (pixels, entries) in image.chunks(width).zip(table.chunks_mut(width)) {
            let mut sums = [T::Sum::ZERO; 4];
            for (x, (column, entry)) in columns.iter_mut().zip(entries).enumerate() {
                let sum = &mut sums[x % CHANNELS as usize];
                *column = column.plus(T::sum(T::local(pixels[x])));
                *sum = sum.plus(*column);
                *entry = T::entry(T::carry(*sum), T::carry(T::Sum::ZERO), T::Local::ZERO);
            }
        }
    });
}

/// Sums of the columns above each band of rows.
fn sum_columns<T: Tabulate>(image: &[T::Pixel], width: usize, band: usize, columns: &mut [T::Sum]) {
    let strip = width.div_ceil(rayon::current_num_threads()).next_multiple_of(16);
    // The strips of all bands, side by side.
    let mut strips: Vec<Vec<&mut [T::Sum]>> = (0..width.div_ceil(strip)).map(|_| Vec::new()).collect();
    for columns in columns.chunks_mut(width) {
        strips.iter_mut().zip(columns.chunks_mut(strip)).for_each(|(strip, columns)| strip.push(columns));
    }
    for_each_item(strips, |k, bands| {
        bands[0].fill(T::Sum::ZERO);
        for b in 1..bands.len() {
            let (above, below) = bands.split_at_mut(b);
            let sums = &mut *below[0];
            sums.copy_from_slice(above[b - 1]);
            for pixels in image[(b - 1) * band * width..].chunks(width).take(band) {
                for (sum, pixel) in sums.iter_mut().zip(&pixels[k * strip..]) {
                    *sum = sum.plus(T::sum(T::local(*pixel)));
                }
            }
        }
    });
}

struct SatWork<T: Tabulated<CHANNELS>, const CHANNELS: u32>(
    IntegrateArgs<T::Pixel, T::Sum, T::Entry, CHANNELS>,
);

impl<T: Tabulated<CHANNELS>, const CHANNELS: u32> Work for SatWork<T, CHANNELS> {
    unsafe fn on_cpu(&self) {
        let IntegrateArgs { image, table, size, columns, .. } = self.0;
        let n = size.width * size.height;
        // There is room for the sums of the columns of every row of tiles, and so of every band.
        let band = chunk_len(n as usize).div_ceil(size.width as usize).next_multiple_of(DOWN as usize);
        let bands = (size.height as usize).div_ceil(band);
        // SAFETY: as the caller promised; they are three buffers.
        let (image, table, columns) =
            unsafe { (image.slice(n), table.slice_mut(n), columns.slice_mut(bands as u32 * size.width)) };
        integrate_bands::<T, CHANNELS>(image, size, band, columns, table);
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let IntegrateArgs { image, size, rows, columns, .. } = self.0;
        let (across, down) = (size.across(), size.down());
        // SAFETY: as the caller promised; a block a tile, 32 columns, or a row of tiles.
        unsafe {
            let sums = TileSumsArgs { image, size, rows, columns };
            gpu.launch_primitive::<T::TileSums>(across * down, sums)?;
            for (sums, width, height) in
                [(rows, size.row_sums(), across), (columns, size.column_sums(), down)]
            {
                let scan = ScanDownArgs { sums, width, height };
                gpu.launch_primitive::<T::ScanDown>(width.div_ceil(WARP), scan)?;
            }
            gpu.launch_primitive::<T::Corners>(down, CornersArgs { columns, size })?;
            gpu.launch_primitive::<T::Integrate>(across * down, self.0)
        }
    }
}

/// Replaces each pixel by the mean over a rectangle around it, in constant time, from the image's summed-area table. Of the
/// rectangle what is within the image counts.
#[derive(Debug, Clone, Copy)]
pub struct BoxBlur<const CHANNELS: u32 = 1> {
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Pixels on either side that count, along x and y, beside that in the middle.
    pub radii: [u32; 2],
}

impl<const CHANNELS: u32> BoxBlur<CHANNELS>
where
    BlurKernel<CHANNELS>: Entry,
{
    /// Queues it.
    ///
    /// # Errors
    /// A buffer is too small, there are more than [`MOST`](super::MOST) numbers, or the machine reports an error.
    pub fn run<B: Primitives>(
        &self,
        backend: &mut B,
        table: &B::Buf<f64>,
        blurred: &mut B::Buf<f32>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, "blurring");
        let &Self { width, height, radii } = self;
        let n = call.numbers([width, height, CHANNELS])?;
        if n == 0 {
            return Ok(());
        }
        let work = BlurWork(BoxBlurArgs {
            table: call.input("table", table, n)?,
            blurred: call.output("output", blurred, n)?,
            size: Size::<CHANNELS> { width: width * CHANNELS, height },
            // Beyond the image there is nothing, however far.
            radii: [radii[0].min(width), radii[1].min(height)],
        });
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }
}

struct BlurWork<const CHANNELS: u32>(BoxBlurArgs<CHANNELS>);

impl<const CHANNELS: u32> Work for BlurWork<CHANNELS>
where
    BlurKernel<CHANNELS>: Entry,
{
    unsafe fn on_cpu(&self) {
        let args = self.0;
        let n = args.size.width * args.size.height;
        // SAFETY: as the caller promised; they are two buffers.
        unsafe {
            let table = args.table.slice(n);
            let chunk = chunk_len(n as usize);
            for_each_item(args.blurred.slice_mut(n).chunks_mut(chunk), |k, pixels| {
                for (i, to) in (k * chunk..).zip(pixels.iter_mut()) {
                    *to = blur(&args, |entry| table[entry as usize], i as u32);
                }
            });
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let n = self.0.size.width * self.0.size.height;
        // SAFETY: as the caller promised; a thread a number.
        unsafe {
            gpu.launch_primitive::<BlurKernel<CHANNELS>>(n.div_ceil(BlurKernel::<CHANNELS>::BLOCK), self.0)
        }
    }
}
