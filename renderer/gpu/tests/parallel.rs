//! Primitives on several threads of a CPU: to the bit what the sequential twins compute, which one thread runs, or which are
//! called here.

use bytemuck::{Pod, Zeroable};
use primitives::convolution::{self, ConvolveArgs};
use primitives::sat::{self, Size};
use primitives::{Ptr, transpose};
use torrance_gpu::backend::cpu::{Cpu, CpuBuf};
use torrance_gpu::backend::{Backend, Error};
use torrance_gpu::primitives::*;

/// Lengths around those of chunks, which have 2¹⁴ elements at least.
const LENGTHS: [u32; 7] = [0, 1, 1000, 1 << 14, (1 << 14) + 1, 3 << 14, 300_007];

/// Sizes of images: narrow, wide, and about square.
const SIZES: [[u32; 2]; 7] =
    [[0, 20_000], [1, 1], [1, 40_000], [3, 30_000], [40_000, 1], [50_000, 3], [333, 300]];

/// Numbers that look random, the same ones each time.
fn longs(n: u32) -> Vec<u64> {
    let hash = |i: u64| {
        let x = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    (0..u64::from(n)).map(hash).collect()
}

fn random_words(n: u32) -> Vec<u32> {
    longs(n).into_iter().map(|x| x as u32).collect()
}

/// Numbers of all kinds, NaNs, infinities and zeros of both signs included.
fn floats(n: u32) -> Vec<f32> {
    const SPECIAL: [f32; 6] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, f32::MIN_POSITIVE];
    let float = |x: u64| (x >> 40) as f32 / 1024.0 - 8000.0;
    let of = |x: u64| if x.is_multiple_of(97) { SPECIAL[(x >> 8) as usize % 6] } else { float(x) };
    longs(n).into_iter().map(of).collect()
}

/// Without NaNs and infinities: a NaN that is computed may have any bits.
fn finite(n: u32) -> Vec<f32> {
    floats(n).into_iter().map(|x| if x.is_finite() { x } else { 1.0 }).collect()
}

/// The bytes of all results, one after the other.
type Results = Result<Vec<u8>, Error>;

/// Compares results on several threads with those on one.
#[track_caller]
fn check(name: &str, n: u32, run: impl Fn(&mut Cpu) -> Results) {
    let on = |threads| run(&mut Cpu::new(Some(threads)).unwrap()).unwrap();
    let expected = on(1);
    for threads in [2, 3, 8] {
        assert!(on(threads) == expected, "{name} of {n} on {threads} threads");
    }
}

fn download<T: Pod + Send + Sync>(cpu: &mut Cpu, buffer: &CpuBuf<T>) -> Results {
    Ok(bytemuck::cast_slice(&cpu.download(buffer)?).to_owned())
}

#[test]
fn reductions() {
    fn reduce<R: Reducible>(name: &str, values: Vec<R::Item>) {
        let n = values.len() as u32;
        check(name, n, |cpu| {
            let input = cpu.upload("input", &values)?;
            let mut output = cpu.zeroed::<R::Output>("output", 1)?;
            let reduce = Reduce::<R>::default();
            let mut temp = Temp::new(cpu, reduce.temp_bytes(n))?;
            reduce.run(cpu, &input, &mut output, Length::Host(n), &mut temp)?;
            download(cpu, &output)
        });
    }
    for n in LENGTHS {
        reduce::<Sum<u32>>("sum of u32", random_words(n));
        reduce::<Max<u64>>("maximum of u64", longs(n));
        reduce::<Min<f32>>("minimum of f32", floats(n));
        reduce::<Sum<f32>>("sum of f32", finite(n));
        reduce::<ArgMax<f32>>("argmax of f32", floats(n));
        // Of the largest ones, which are many, the first counts.
        reduce::<ArgMax<u32>>("argmax of u32", random_words(n).into_iter().map(|x| x % 3).collect());
        reduce::<Mean>("mean", finite(n.max(1)));
    }
}

#[test]
fn scans() {
    fn scan<O: Scannable>(name: &str, values: Vec<O::Value>) {
        let n = values.len() as u32;
        for bounds in [Bounds::Exclusive, Bounds::Inclusive] {
            check(name, n, |cpu| {
                let input = cpu.upload("input", &values)?;
                let mut output = cpu.zeroed("output", values.len())?;
                let scan = Scan::<O>::new(bounds);
                let mut temp = Temp::new(cpu, scan.temp_bytes(n))?;
                scan.run(cpu, &input, &mut output, Length::Host(n), &mut temp)?;
                download(cpu, &output)
            });
        }
    }
    for n in LENGTHS {
        scan::<Sum<u32>>("sums of u32", random_words(n));
        scan::<Sum<f32>>("sums of f32", finite(n));
        scan::<Max<f32>>("maxima of f32", floats(n));
        scan::<Affine>("affine maps", longs(n));
    }
}

#[test]
fn selections() {
    for n in LENGTHS {
        // As many as not, few, and none.
        for every in [2, 40_000, u32::MAX] {
            let values = random_words(n);
            let flags: Vec<u8> = values.iter().map(|x| u8::from(x % every == 1)).collect();
            for select in [Select::compact(), Select::partition()] {
                check("selection", n, |cpu| {
                    let (input, flags) = (cpu.upload("input", &values)?, cpu.upload("flags", &flags)?);
                    let mut output = cpu.zeroed("output", values.len())?;
                    let (mut count, length) = (cpu.zeroed("count", 1)?, Length::Host(n));
                    let mut temp = Temp::new(cpu, select.temp_bytes(n))?;
                    select.flagged(cpu, &input, &flags, &mut output, &mut count, length, &mut temp)?;
                    let mut results = [download(cpu, &output)?, download(cpu, &count)?].concat();
                    select.indices(cpu, &flags, &mut output, &mut count, length, &mut temp)?;
                    results.extend(download(cpu, &output)?);
                    Ok(results)
                });
            }
        }
    }
}

#[test]
fn runs() {
    for n in LENGTHS {
        // Short runs, runs that are longer than chunks, and one of all.
        for length in [3, 40_000, u32::MAX] {
            let values: Vec<u32> = (0..n).map(|i| i / length).collect();
            check("runs", n, |cpu| {
                let input = cpu.upload("input", &values)?;
                let mut all = Vec::new();
                for len in [values.len(), values.len(), values.len(), 1] {
                    all.push(cpu.zeroed::<u32>("runs", len)?);
                }
                let [values, starts, lengths, count] = &mut all[..] else { unreachable!() };
                let runs = RunBuffers { values, starts, lengths, count };
                let mut temp = Temp::new(cpu, RunLength.temp_bytes(n))?;
                RunLength.run(cpu, &input, runs, Length::Host(n), &mut temp)?;
                let parts: Result<Vec<_>, _> = all.iter().map(|buffer| download(cpu, buffer)).collect();
                Ok(parts?.concat())
            });
        }
    }
}

#[test]
fn histograms() {
    for n in LENGTHS {
        let (numbers, floats) = (random_words(n), floats(n));
        for bins in [1, 100, 1 << 13, 1 << 20] {
            check("histogram", n, |cpu| {
                let input = cpu.upload("input", &numbers)?;
                let mut counts = cpu.zeroed("counts", bins as usize)?;
                Histogram::values(bins).run(cpu, &input, &mut counts, Length::Host(n))?;
                let mut results = download(cpu, &counts)?;
                let input = cpu.upload("input", &floats)?;
                Histogram::even(-9000.0..9000.0, bins).run(cpu, &input, &mut counts, Length::Host(n))?;
                results.extend(download(cpu, &counts)?);
                Ok(results)
            });
        }
    }
}

#[test]
fn sorts_by_digits() {
    fn sort<K: RadixSortable>(name: &str, sort: RadixSort<K>, keys: Vec<K>) {
        let n = keys.len() as u32;
        check(name, n, |cpu| {
            let (input, values) = (cpu.upload("keys", &keys)?, cpu.upload("values", &longs(n))?);
            let (mut output, mut moved) =
                (cpu.zeroed("keys", keys.len())?, cpu.zeroed("values", keys.len())?);
            let mut temp = Temp::new(cpu, sort.pairs_temp_bytes::<u64>(n))?;
            let to = (&mut output, &mut moved);
            sort.run_pairs(cpu, (&input, &values), to, Length::Host(n), &mut temp)?;
            let mut results = [download(cpu, &output)?, download(cpu, &moved)?].concat();
            sort.run(cpu, &input, &mut output, Length::Host(n), &mut temp)?;
            results.extend(download(cpu, &output)?);
            Ok(results)
        });
    }
    for n in LENGTHS {
        sort("radix sort of u32", RadixSort::ascending(), random_words(n));
        sort("radix sort of f32", RadixSort::descending(), floats(n));
        sort("radix sort by some bits", RadixSort::ascending().by_bits(3..7), random_words(n));
        let keys = random_words(n);
        check("partition by key", n, |cpu| {
            let input = cpu.upload("keys", &keys)?;
            let (mut output, mut moved) =
                (cpu.zeroed("keys", keys.len())?, cpu.zeroed("values", keys.len())?);
            let mut starts = cpu.zeroed("starts", PartitionByKey::KEYS as usize)?;
            let mut temp = Temp::new(cpu, PartitionByKey.temp_bytes::<u32>(n))?;
            let to = (&mut output, &mut moved);
            PartitionByKey.run(cpu, (&input, &input), to, &mut starts, Length::Host(n), &mut temp)?;
            Ok([download(cpu, &output)?, download(cpu, &moved)?, download(cpu, &starts)?].concat())
        });
    }
}

#[test]
fn sorts_by_order() {
    fn sort<O: MergeSortable<()> + MergeSortable<u32>>(name: &str, keys: Vec<O::Key>) {
        let n = keys.len() as u32;
        check(name, n, |cpu| {
            let places: Vec<u32> = (0..n).collect();
            let (input, values) = (cpu.upload("keys", &keys)?, cpu.upload("values", &places)?);
            let (mut output, mut moved) =
                (cpu.zeroed("keys", keys.len())?, cpu.zeroed("values", keys.len())?);
            let sort = MergeSort::<O, u32>::default();
            let mut temp = Temp::new(cpu, sort.temp_bytes(n))?;
            let to = (&mut output, &mut moved);
            sort.run(cpu, (&input, &values), to, Length::Host(n), &mut temp)?;
            let mut results = [download(cpu, &output)?, download(cpu, &moved)?].concat();
            MergeSort::<O>::default().run(cpu, &input, &mut output, Length::Host(n), &mut temp)?;
            results.extend(download(cpu, &output)?);
            Ok(results)
        });
    }
    for n in LENGTHS {
        sort::<Ascending<u32>>("sort", random_words(n));
        sort::<Descending<f32>>("sort of floats", finite(n));
        // With many equal ones, which keep their order.
        sort::<Descending<u32>>("sort of few values", random_words(n).into_iter().map(|x| x % 5).collect());
        sort::<Ascending<u32>>("sort of what is in order", (0..n).collect());
        sort::<Descending<u32>>("sort of what is in reverse", (0..n).collect());
    }
}

#[test]
fn moves() {
    for n in LENGTHS {
        let values = random_words(n);
        let indices: Vec<u32> = values.iter().map(|x| x % (n + 5)).collect();
        check("moves", n, |cpu| {
            let (from, indices) = (cpu.upload("from", &values)?, cpu.upload("indices", &indices)?);
            let mut to = cpu.zeroed("to", values.len() + 3)?;
            CopyElements { from: 0, to: 3 }.run(cpu, &from, &mut to, Length::Host(n))?;
            let mut results = download(cpu, &to)?;
            Gather.run(cpu, &from, &indices, &mut to, Length::Host(n))?;
            results.extend(download(cpu, &to)?);
            Scatter.run(cpu, &from, &indices, &mut to, Length::Host(n))?;
            results.extend(download(cpu, &to)?);
            Fill { value: 7, to: 1 }.run(cpu, &mut to, Length::Host(n))?;
            results.extend(download(cpu, &to)?);
            let pixels = cpu.upload("pixels", &finite(3 * n))?;
            let mut luminances = cpu.zeroed("luminances", values.len())?;
            Luminance::<3>.run(cpu, &pixels, &mut luminances, Length::Host(n))?;
            results.extend(download(cpu, &luminances)?);
            Ok(results)
        });
    }
}

#[test]
fn transposes() {
    for [width, height] in SIZES {
        let matrix = random_words(width * height);
        let mut expected = matrix.clone();
        transpose::twin(&matrix, &mut expected, width as usize, height as usize);
        check("transpose", width * height, |cpu| {
            let from = cpu.upload("from", &matrix)?;
            let mut to = cpu.zeroed("to", matrix.len())?;
            Transpose { width, height }.run(cpu, &from, &mut to)?;
            assert!(cpu.download(&to)? == expected, "{width} × {height}");
            download(cpu, &to)
        });
    }
}

#[test]
fn convolutions() {
    for [width, height] in SIZES.map(|[width, height]| [width, height.min(2000)]) {
        for (border, channels, radii) in
            [(Border::Clamp, 1, [2, 3]), (Border::Mirror, 3, [0, 5]), (Border::Zero, 2, [4, 1])]
        {
            let convolution = Convolution { width, height, channels, radii, border };
            let (image, weights) = (finite(width * height * channels), finite(convolution.weights()));
            let mut expected = vec![0.0_f32; image.len()];
            let [from, to, by] = [Ptr::NULL; 3];
            let size = [width, height];
            let args =
                ConvolveArgs { image: from, convolved: to, weights: by, size, channels, radii, border };
            convolution::twin(&args, &image, &weights, &mut expected);
            check("convolution", width * height, |cpu| {
                let (image, weights) = (cpu.upload("image", &image)?, cpu.upload("weights", &weights)?);
                let mut convolved = cpu.zeroed("convolved", expected.len())?;
                convolution.run(cpu, &image, &weights, &mut convolved)?;
                let result = download(cpu, &convolved)?;
                assert!(result == bytemuck::cast_slice::<_, u8>(&expected), "{convolution:?}");
                Ok(result)
            });
        }
    }
}

#[test]
fn summed_area_tables() {
    fn table<T: Tabulated<CHANNELS>, const CHANNELS: u32>(pixels: impl Fn(u32) -> Vec<T::Pixel>) {
        for [width, height] in SIZES {
            let image = pixels(width * height * CHANNELS);
            let mut expected = vec![T::Entry::zeroed(); image.len()];
            let mut columns = vec![T::Sum::zeroed(); (width * CHANNELS) as usize];
            if width > 0 {
                let size = Size::<CHANNELS> { width: width * CHANNELS, height };
                sat::twin::<T, CHANNELS>(&image, size, &mut columns, &mut expected);
            }
            check("summed-area table", width * height, |cpu| {
                let area = SummedArea::<T, CHANNELS>::new(width, height);
                let (image, mut temp) = (cpu.upload("image", &image)?, Temp::new(cpu, area.temp_bytes())?);
                let mut table = cpu.zeroed("table", expected.len())?;
                area.run(cpu, &image, &mut table, &mut temp)?;
                let result = download(cpu, &table)?;
                assert!(result == bytemuck::cast_slice::<_, u8>(&expected), "{width} × {height}");
                Ok(result)
            });
        }
    }
    table::<Narrow, 1>(finite);
    table::<Narrow, 4>(finite);
    table::<Wide, 4>(finite);
    table::<Whole<u64>, 1>(longs);
}

#[test]
fn box_blurs() {
    for [width, height] in SIZES {
        let table: Vec<f64> = (0..width * height).map(|i| f64::from(i) * 1.25).collect();
        check("box blur", width * height, |cpu| {
            let table = cpu.upload("table", &table)?;
            let mut blurred = cpu.zeroed("blurred", (width * height) as usize)?;
            BoxBlur::<1> { width, height, radii: [7, 2] }.run(cpu, &table, &mut blurred)?;
            download(cpu, &blurred)
        });
    }
}

/// The comparison can fail: it does where a result depends on the number of threads.
#[test]
#[should_panic(expected = "name of 1 on 2 threads")]
fn a_difference_is_found() {
    check("name", 1, |cpu| Ok(cpu.parallelism().to_ne_bytes().to_vec()));
}
