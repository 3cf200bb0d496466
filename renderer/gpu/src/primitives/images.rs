//! Matrices and images: transposing, luminance, convolution, summed-area tables and box blurs.

use bytemuck::Pod;
use primitives::convolution::{Convolve, ConvolveArgs, MOST_RADIUS};
use primitives::luminance::{self, LuminanceArgs};
use primitives::transpose::{self, TransposeArgs};
use primitives::{Entry, Quad};

use super::call::Call;
use super::moves::words_per_element;
use super::parallel::{chunk_len, for_each_item};
use super::{Length, Primitives, Work, kernels};
use crate::backend::Error;
use crate::backend::cuda::Cuda;

pub use primitives::convolution::Border;

/// Transposes a matrix of elements of 4, 8 or 16 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Transpose {
    /// Elements of a row of the input.
    pub width: u32,
    /// Its rows.
    pub height: u32,
}

impl Transpose {
    /// Queues it: both matrices lie row by row.
    ///
    /// # Errors
    /// A buffer is too small, there are more than [`MOST`](super::MOST) elements, or the machine reports an error.
    pub fn run<B: Primitives, T: Pod + Send + Sync>(
        &self,
        backend: &mut B,
        from: &B::Buf<T>,
        to: &mut B::Buf<T>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, "transposing");
        let &Self { width, height } = self;
        let n = call.numbers([width, height, 1])?;
        let work = TransposeWork(TransposeArgs {
            from: call.input("input", from, n)?,
            to: call.output("output", to, n)?,
            width,
            height,
        });
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }
}

struct TransposeWork<T>(TransposeArgs<T>);

impl<T: Pod + Send + Sync> TransposeWork<T> {
    unsafe fn launch<A: kernels::moves::Access>(&self, gpu: &mut Cuda) -> Result<(), Error>
    where
        transpose::Transpose<A>: Entry,
    {
        let TransposeArgs { from, to, width, height } = self.0;
        let args = TransposeArgs { from: from.cast(), to: to.cast(), width, height };
        let blocks = transpose::Transpose::<A>::blocks(width, height);
        // SAFETY: as the caller promised; a block a tile.
        unsafe { gpu.launch_primitive::<transpose::Transpose<A>>(blocks, args) }
    }
}

impl<T: Pod + Send + Sync> Work for TransposeWork<T> {
    unsafe fn on_cpu(&self) {
        let TransposeArgs { from, to, width, height } = self.0;
        let n = width * height;
        // SAFETY: as the caller promised; they are two buffers.
        let (from, to) = unsafe { (from.slice(n), to.slice_mut(n)) };
        let [width, height] = [width as usize, height as usize];
        let columns = chunk_len(to.len()).div_ceil(height.max(1)).max(1);
        if columns >= width {
            return transpose::twin(from, to, width, height);
        }
        for_each_item(to.chunks_mut(columns * height), |k, to| {
            for (y, row) in from.chunks(width).enumerate() {
                for (x, element) in row[k * columns..].iter().take(to.len() / height).enumerate() {
                    to[x * height + y] = *element;
                }
            }
        });
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        // SAFETY: as the caller promised.
        unsafe {
            match const { words_per_element::<T>() } {
                1 => self.launch::<u32>(gpu),
                2 => self.launch::<u64>(gpu),
                _ => self.launch::<Quad<u32>>(gpu),
            }
        }
    }
}

/// The relative luminance of linear Rec. 709 pixels, of 3 or 4 numbers side by side: red, green, blue, and anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Luminance<const CHANNELS: usize>;

impl<const CHANNELS: usize> Luminance<CHANNELS>
where
    luminance::Luminance<CHANNELS>: Entry,
{
    /// Queues it, for so many pixels.
    ///
    /// # Errors
    /// A buffer is too small, there are more than [`MOST`](super::MOST) numbers, or the machine reports an error.
    pub fn run<B: Primitives>(
        &self,
        backend: &mut B,
        pixels: &B::Buf<f32>,
        luminances: &mut B::Buf<f32>,
        length: Length<'_, B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, "computing luminances");
        let most = length.most();
        let n = call.numbers([most, 1, CHANNELS as u32])?;
        let work = LuminanceWork::<CHANNELS>(LuminanceArgs {
            pixels: call.input("input", pixels, n)?,
            luminances: call.output("output", luminances, most)?,
            length: call.length(length)?,
        });
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }
}

struct LuminanceWork<const CHANNELS: usize>(LuminanceArgs);

impl<const CHANNELS: usize> Work for LuminanceWork<CHANNELS>
where
    luminance::Luminance<CHANNELS>: Entry,
{
    unsafe fn on_cpu(&self) {
        let LuminanceArgs { pixels, luminances, length } = self.0;
        // SAFETY: as the caller promised; they are two buffers.
        unsafe {
            let n = length.get();
            let chunk = chunk_len(n as usize);
            let pixels = pixels.slice(n * CHANNELS as u32).chunks(chunk * CHANNELS);
            let chunks = pixels.zip(luminances.slice_mut(n).chunks_mut(chunk));
            for_each_item(chunks, |_, (pixels, luminances)| luminance::twin::<CHANNELS>(pixels, luminances));
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let blocks = self.0.length.most().div_ceil(luminance::Luminance::<CHANNELS>::TILE);
        // SAFETY: as the caller promised; a thread four pixels.
        unsafe { gpu.launch_primitive::<luminance::Luminance<CHANNELS>>(blocks, self.0) }
    }
}

/// Separable convolution of an image, whose pixels have any number of channels side by side.
#[derive(Debug, Clone, Copy)]
pub struct Convolution {
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Numbers of a pixel.
    pub channels: u32,
    /// Pixels on either side that count, along x and y: at most 16.
    pub radii: [u32; 2],
    /// The pixels beyond the image.
    pub border: Border,
}

impl Convolution {
    /// How many weights it takes: those of the pixels from left to right, and then of those from top to bottom.
    pub fn weights(&self) -> u32 {
        let [x, y] = self.radii;
        x.saturating_add(y).saturating_add(1).saturating_mul(2)
    }

    /// Queues it.
    ///
    /// # Errors
    /// A buffer is too small, a radius or the image too large, or the machine reports an error.
    pub fn run<B: Primitives>(
        &self,
        backend: &mut B,
        image: &B::Buf<f32>,
        weights: &B::Buf<f32>,
        convolved: &mut B::Buf<f32>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, "convolving");
        let &Self { width, height, channels, radii, border } = self;
        if radii.iter().any(|radius| *radius > MOST_RADIUS) {
            return Err(call.error(format!("a radius of {radii:?} is more than {MOST_RADIUS}")));
        }
        let n = call.numbers([width, height, channels])?;
        let work = ConvolutionWork(ConvolveArgs {
            image: call.input("input", image, n)?,
            convolved: call.output("output", convolved, n)?,
            weights: call.input("list of weights", weights, self.weights())?,
            size: [width, height],
            channels,
            radii,
            border,
        });
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }
}

/// Row `y`, with sums in the order of the twin's.
fn convolve_row(args: &ConvolveArgs, image: &[f32], weights: &[f32], y: u32, convolved: &mut [f32]) {
    let ([width, height], [radius_x, radius_y]) = (args.size, args.radii);
    let (along_x, along_y) = weights.split_at(2 * radius_x as usize + 1);
    let channels = args.channels as usize;
    let row = width as usize * channels;
    for (i, to) in convolved.iter_mut().enumerate() {
        let (x, channel) = ((i / channels) as u32, i % channels);
        let mut sum = 0.0;
        for (v, weight_y) in along_y.iter().enumerate() {
            let Some(v) = args.border.pixel(y + v as u32, radius_y, height) else { continue };
            let pixels = &image[v as usize * row..][..row];
            let mut of_row = 0.0;
            for (u, weight_x) in along_x.iter().enumerate() {
                if let Some(u) = args.border.pixel(x + u as u32, radius_x, width) {
                    of_row += weight_x * pixels[u as usize * channels + channel];
                }
            }
            sum += weight_y * of_row;
        }
        *to = sum;
    }
}

struct ConvolutionWork(ConvolveArgs);

impl Work for ConvolutionWork {
    unsafe fn on_cpu(&self) {
        let args = &self.0;
        let ([width, height], [x, y]) = (args.size, args.radii);
        let n = width * height * args.channels;
        // SAFETY: as the caller promised; they are three buffers.
        let (image, weights, convolved) = unsafe {
            (args.image.slice(n), args.weights.slice(2 * (x + y + 1)), args.convolved.slice_mut(n))
        };
        let row = (width * args.channels).max(1) as usize;
        let rows = chunk_len(convolved.len()).div_ceil(row);
        for_each_item(convolved.chunks_mut(rows * row), |k, to| {
            for (y, to) in (k * rows..).zip(to.chunks_mut(row)) {
                convolve_row(args, image, weights, y as u32, to);
            }
        });
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        // SAFETY: as the caller promised; a block a tile of a channel.
        unsafe { gpu.launch_primitive::<Convolve>(Convolve::blocks(self.0.size, self.0.channels), self.0) }
    }
}
