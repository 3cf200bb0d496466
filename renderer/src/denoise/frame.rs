//! Planes of an image in the memory of a machine, and what is done with all of them.

use std::ptr;

use device::denoise::{DifferenceArgs, DistanceArgs, Grid, MirrorArgs, RegressArgs, SpreadArgs, Strip};
use device::path::stage::stages;
use torrance_gpu::backend::{Backend, Buffer, Error};

use super::RIDGE;

/// Bytes for the tables of a strip: on a CPU, what its caches hold; on a GPU, what keeps it busy.
const TABLE_BYTES: [u64; 2] = [1 << 25, 1 << 30];

/// The fewest rows of a strip, and the most.
const ROWS: [u64; 2] = [8, 1024];

/// How pixels are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Likeness {
    /// The difference of halves, which tells their variance, is averaged over squares that reach so many pixels.
    pub(super) spread: i32,
    /// The surroundings of pixels are squares that reach so many.
    pub(super) patch: i32,
    /// The square of a difference that is nothing where there is no noise.
    pub(super) epsilon: f32,
}

/// Where planes are, and what holds for all of them.
pub(super) struct Frame<B: Backend> {
    pub(super) grid: Grid,
    /// A plane: the part of a pixel's samples that is in the first half.
    pub(super) share: B::Buf<f32>,
}

/// Planes of two halves.
pub(super) struct Pair<B: Backend> {
    /// Number of planes of each.
    pub(super) channels: usize,
    pub(super) values: B::Buf<f32>,
    /// As many of their variance.
    pub(super) variances: B::Buf<f32>,
    pub(super) likeness: Likeness,
}

/// Tables of a strip, one of each half: how little the surroundings of pixels look alike.
pub(super) struct Tables<B: Backend> {
    differences: B::Buf<f32>,
    pub(super) distances: [B::Buf<f32>; 2],
}

/// What is done with a strip and its tables; says whether to go on.
type OfStrip<'a, B> = dyn FnMut(&mut B, Strip, &Tables<B>) -> Result<bool, Error> + 'a;

impl<B: Backend> Frame<B> {
    pub(super) fn new(backend: &mut B, grid: Grid, share: &[f32]) -> Result<Self, Error> {
        let frame = Self { grid, share: backend.upload("shares of the halves", share)? };
        frame.mirror(backend, &frame.share)?;
        Ok(frame)
    }

    /// So many planes of zeros.
    pub(super) fn planes(
        &self,
        backend: &mut B,
        label: &'static str,
        count: usize,
    ) -> Result<B::Buf<f32>, Error> {
        backend.zeroed(label, count * self.grid.plane())
    }

    /// Where plane `i` of a buffer begins.
    pub(super) fn plane(&self, buffer: &B::Buf<f32>, i: usize) -> *mut f32 {
        debug_assert!((i + 1) * self.grid.plane() <= buffer.len());
        buffer.ptr().wrapping_add(i * self.grid.plane())
    }

    /// The planes of both halves.
    pub(super) fn halves(&self, buffer: &B::Buf<f32>) -> [*mut f32; 2] {
        [0, buffer.len() / self.grid.plane() / 2].map(|i| self.plane(buffer, i))
    }

    /// All rows.
    pub(super) fn whole(&self) -> Strip {
        Strip { grid: self.grid, top: 0, rows: self.grid.height, radius: 0 }
    }

    /// Continues the planes of a buffer beyond the image.
    pub(super) fn mirror(&self, backend: &mut B, buffer: &B::Buf<f32>) -> Result<(), Error> {
        let count = (buffer.len() / self.grid.plane()) as u32;
        let args = MirrorArgs { grid: self.grid, planes: buffer.ptr(), count };
        // SAFETY: there are so many planes; buffers are freed after the work.
        unsafe { backend.launch::<stages::denoise_mirror>(args) }
    }

    /// Halves with their variance, given that of both together if it is known.
    pub(super) fn pair(
        &self,
        backend: &mut B,
        values: B::Buf<f32>,
        known: Option<&B::Buf<f32>>,
        likeness: Likeness,
    ) -> Result<Pair<B>, Error> {
        let channels = values.len() / self.grid.plane() / 2;
        self.mirror(backend, &values)?;
        let variances = self.planes(backend, "variances of the halves", 2 * channels)?;
        let args = SpreadArgs {
            strip: self.whole(),
            halves: self.halves(&values).map(<*mut f32>::cast_const),
            share: self.share.ptr(),
            known: known.map_or(ptr::null(), |known| known.ptr().cast_const()),
            variances: self.halves(&variances),
            channels: channels as u32,
            radius: likeness.spread,
        };
        // SAFETY: the planes are so many, of this size; buffers are freed after the work.
        unsafe { backend.launch::<stages::denoise_spread>(args)? };
        self.mirror(backend, &variances)?;
        Ok(Pair { channels, values, variances, likeness })
    }

    /// Calls `f` with strips of rows that are all of the image, and tables that compare pixels of halves, as far apart as `radius`.
    /// Stops if `f` says so, and returns whether it has not.
    pub(super) fn compare(
        &self,
        backend: &mut B,
        pair: &Pair<B>,
        radius: i32,
        f: &mut OfStrip<'_, B>,
    ) -> Result<bool, Error> {
        let height = self.grid.height;
        let strip = |top, rows| Strip { grid: self.grid, top, rows, radius };
        let most = rows_of(backend.room(), |rows| strip(0, rows)).min(height);
        let tables = Tables::new(backend, strip(0, most))?;
        for top in (0..height).step_by(most as usize) {
            let strip = strip(top as i32, most.min(height - top));
            tables.fill(backend, self, pair, strip)?;
            if !f(backend, strip, &tables)? {
                return Ok(false);
            }
        }
        backend.synchronize()?;
        Ok(true)
    }

    /// Fits the values of both halves of an image in a strip by features.
    pub(super) fn fit(
        &self,
        backend: &mut B,
        (values, fitted): (&B::Buf<f32>, &B::Buf<f32>),
        features: &B::Buf<f32>,
        (strip, tables): (Strip, &Tables<B>),
        bandwidth: f32,
    ) -> Result<(), Error> {
        for half in 0..2 {
            let args = RegressArgs {
                strip,
                distances: tables.distances[1 - half].ptr(),
                features: features.ptr(),
                values: self.halves(values)[half],
                fitted: self.halves(fitted)[half],
                bandwidth,
                ridge: RIDGE,
            };
            // SAFETY: the planes are so many, and the tables are this strip's; buffers are freed after the work.
            unsafe { backend.launch::<stages::denoise_regress>(args)? };
        }
        Ok(())
    }
}

/// Bytes of the tables of a strip.
fn table_bytes(strip: Strip) -> u64 {
    let [distances, differences] = strip.table_sizes();
    4 * (2 * distances + differences) as u64
}

/// How many rows a strip should have, on a machine with so much room of its own, if it has.
fn rows_of(room: Option<u64>, strip: impl Fn(u32) -> Strip) -> u32 {
    let bytes = match room {
        Some(room) => TABLE_BYTES[1].min(room / 2),
        None => TABLE_BYTES[0],
    };
    let [of_one, of_two] = [1, 2].map(|rows| table_bytes(strip(rows)));
    let rows = 1 + bytes.saturating_sub(of_one) / (of_two - of_one);
    rows.clamp(ROWS[0], ROWS[1]) as u32
}

impl<B: Backend> Tables<B> {
    fn new(backend: &mut B, strip: Strip) -> Result<Self, Error> {
        let [distances, differences] = strip.table_sizes();
        let mut table = |size| backend.zeroed("table of distances between pixels", size);
        Ok(Self { differences: table(differences)?, distances: [table(distances)?, table(distances)?] })
    }

    /// Compares the pixels of both halves.
    fn fill(&self, backend: &mut B, frame: &Frame<B>, pair: &Pair<B>, strip: Strip) -> Result<(), Error> {
        let Pair { channels, likeness: Likeness { patch, epsilon, .. }, .. } = *pair;
        let differences = self.differences.ptr();
        for half in 0..2 {
            let of_pixels = DifferenceArgs {
                strip,
                values: frame.halves(&pair.values)[half],
                variance: frame.halves(&pair.variances)[half],
                channels: channels as u32,
                epsilon,
                differences,
            };
            let distances = self.distances[half].ptr();
            let of_surroundings = DistanceArgs { strip, differences, distances, patch };
            // SAFETY: the planes are so many, and the tables are for at least as many rows; buffers are freed after the work.
            unsafe {
                backend.launch::<stages::denoise_difference>(of_pixels)?;
                backend.launch::<stages::denoise_distance>(of_surroundings)?;
            }
        }
        Ok(())
    }
}
