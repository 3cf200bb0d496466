//! Translucent circles, one over the other, drawn by the GPU as a sequential program would, bit for bit:
//!
//! ```sh
//! cargo run --release --example circles -- snowsingle -o snow.png
//! cargo run --release --example circles -- --all
//! ```

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use clap::{Parser, ValueEnum};
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};
use primitives::Ptr;
use rayon::prelude::*;
use torrance_gpu::backend::cuda::Cuda;
use torrance_gpu::backend::{Backend, Buffer, Error};
use torrance_image::film::write::Destination;

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../../device/kernels/src/examples/circles.rs"]
pub(crate) mod kernel;
pub(crate) mod scenes;

use kernel::{BIN_BLOCK, Circle, CirclesArgs, DRAW_BLOCK, TILE};
use scenes::{Name, Scene};

/// Translucent circles in their order, on the GPU if there is one
#[derive(Debug, Parser)]
#[command(after_help = common::EXIT_CODES)]
pub(crate) struct Options {
    /// Scene to draw
    #[arg(value_enum, default_value = "rgb")]
    pub(crate) scene: Name,
    /// Draw all scenes
    #[arg(long, conflicts_with_all = ["scene", "output"])]
    pub(crate) all: bool,
    /// Pixels across
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    pub(crate) width: u32,
    /// Pixels down
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    pub(crate) height: u32,
    /// Write the image to this file, .png
    #[arg(short, long, value_name = "FILE", value_parser = png)]
    pub(crate) output: Option<Destination>,
}

/// Rows that a core draws at a time.
const BAND: u32 = 16;

// SAFETY: floats in a row, without gaps, for which every pattern of bits is a value.
unsafe impl Zeroable for Circle {}
// SAFETY: as above.
unsafe impl Pod for Circle {}

/// An image: red, green, blue, 1, row by row.
pub(crate) type Image = Vec<[f32; 4]>;

fn main() -> ExitCode {
    common::end(run(&Options::parse()))
}

impl Scene {
    pub(crate) fn args(&self, &Options { width, height, .. }: &Options) -> CirclesArgs {
        let (count, background) = (self.circles.len() as u32, self.background);
        let (circles, bins, image) = (Ptr::NULL, Ptr::NULL, Ptr::NULL);
        CirclesArgs { circles, bins, image, count, width, height, background }
    }

    /// The image as the twin draws it, in bands of rows by all cores; and how often a circle changed a pixel.
    pub(crate) fn on_cpu(&self, options: &Options) -> (Image, u64) {
        let all = self.args(options);
        let mut image = vec![[0.0; 4]; all.width as usize * all.height as usize];
        let bands = image.par_chunks_mut((BAND * all.width) as usize).enumerate();
        let painted = bands.map(|(band, rows)| {
            let top = band as u32 * BAND;
            // The address that the image would have if its rows before the band were there too.
            let image = Ptr::new(rows.as_mut_ptr().wrapping_sub((top * all.width) as usize));
            let circles = Ptr::new(self.circles.as_ptr().cast_mut());
            let args = CirclesArgs { circles, image, ..all };
            // SAFETY: the rows are this call's, and circles are only read.
            unsafe { kernel::twin(&args, top, (top + BAND).min(all.height)) }
        });
        let painted = painted.sum();
        (image, painted)
    }

    /// The image, and how long the GPU took for it.
    fn on_gpu(&self, options: &Options, gpu: &mut Cuda) -> Result<(Image, Duration), Error> {
        let all = self.args(options);
        let circles = gpu.upload("circles", &self.circles)?;
        let bins = gpu.zeroed::<u64>("bins", all.bins() as usize * all.words() as usize)?;
        let image = gpu.zeroed::<[f32; 4]>("image", all.width as usize * all.height as usize)?;
        let (circles, bins, pixels) = (Ptr::new(circles.ptr()), Ptr::new(bins.ptr()), Ptr::new(image.ptr()));
        let args = CirclesArgs { circles, bins, image: pixels, ..all };
        let jobs = all.words() * all.bins().div_ceil(32);
        let tiles = all.width.div_ceil(TILE) * all.height.div_ceil(TILE);
        let took = common::best(gpu, |gpu| {
            // SAFETY: the kernels take these arguments and grids, and the buffers have the room.
            unsafe {
                gpu.launch_kernel("circles_bin", BIN_BLOCK, jobs * 32, args)?;
                gpu.launch_blocks("circles_draw", (tiles, DRAW_BLOCK, 0), args)
            }
        })?;
        Ok((gpu.download(&image)?, took))
    }

    /// The colour of a pixel, in `f64`. None if a circle's edge is so near that rounding decides.
    pub(crate) fn exact(&self, x: u32, y: u32) -> Option<[f64; 3]> {
        let mut color = self.background.map(f64::from);
        for circle in &self.circles {
            let [cx, cy, radius] = [circle.x, circle.y, circle.radius].map(f64::from);
            let d2 = (f64::from(x) + 0.5 - cx).powi(2) + (f64::from(y) + 0.5 - cy).powi(2);
            let inside = 1.0 - d2 / (radius * radius);
            if inside.abs() < 1e-4 && circle.softness < 1.0 {
                return None;
            }
            if inside >= 0.0 {
                let falloff = 1.0 - f64::from(circle.softness) * (1.0 - inside);
                let opacity = f64::from(circle.opacity) * falloff * falloff;
                for (under, over) in color.iter_mut().zip(circle.color) {
                    *under += opacity * (f64::from(over) - *under);
                }
            }
        }
        Some(color)
    }

    /// Whether some pixels are what they are in `f64`, but for rounding.
    pub(crate) fn is_right(&self, &Options { width, height, .. }: &Options, image: &Image) -> bool {
        let some = (0..256_u64).map(|i| (i * 0x9e37_79b9 % u64::from(width * height)) as u32);
        let mut asked = some.filter_map(|at| Some((at, self.exact(at % width, at / width)?)));
        asked.all(|(at, exact)| {
            let near = |(found, exact): (&f32, f64)| (f64::from(*found) - exact).abs() < 1e-5;
            image[at as usize].iter().zip(exact).all(near)
        })
    }
}

/// Whether two images are the same bits.
pub(crate) fn identical(a: &Image, b: &Image) -> bool {
    bytemuck::cast_slice::<_, u32>(a) == bytemuck::cast_slice::<_, u32>(b)
}

/// A PNG file that can be written.
fn png(path: &str) -> Result<Destination, String> {
    match Path::new(path).extension() {
        Some(extension) if extension.eq_ignore_ascii_case("png") => {
            Destination::check(Path::new(path)).map_err(|error| error.to_string())
        }
        _ => Err("expected a file .png".to_owned()),
    }
}

fn write(to: &Destination, &Options { width, height, .. }: &Options, image: &Image) -> Result<(), String> {
    let bytes: Vec<_> =
        image.iter().flat_map(|[r, g, b, _]| [r, g, b].map(|c| (c * 255.0 + 0.5) as u8)).collect();
    let mut file = Vec::new();
    PngEncoder::new(&mut file)
        .write_image(&bytes, width, height, ExtendedColorType::Rgb8)
        .map_err(|error| error.to_string())
        .and_then(|()| to.replace(&file).map_err(|error| error.to_string()))
        .map_err(|error| format!("writing {}: {error}", to.path.display()))
}

/// Whether every image was right.
pub(crate) fn run(options: &Options) -> Result<bool, String> {
    let mut gpu = common::gpu().map_err(|error| error.to_string())?;
    if let Some(gpu) = &gpu {
        println!("{}", gpu.name());
    }
    println!("{} × {} pixels, {} CPU threads\n", options.width, options.height, rayon::current_num_threads());
    let [changes, rate] = ["pixels changed", "Gpixels/s"];
    println!("{:12} {:>8} {changes:>14} {:>9} {:>9} {rate:>9}", "scene", "circles", "CPU, ms", "GPU, ms");
    let scenes = if options.all { Name::value_variants() } else { &[options.scene] };
    let mut right = true;
    for name in scenes {
        let scene = Scene::new(*name, options.width, options.height);
        let ((image, painted), took) = common::on_cpu(|| scene.on_cpu(options));
        let label = name.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        print!("{label:12} {:8} {painted:14} {:9.2}", scene.circles.len(), common::ms(took));
        let sampled = scene.is_right(options, &image);
        right &= sampled;
        let verdict = if let Some(gpu) = &mut gpu {
            let (found, took) = scene.on_gpu(options, gpu).map_err(|error| error.to_string())?;
            print!(" {:9.4} {:9.1}", common::ms(took), common::giga(painted as f64, took));
            right &= identical(&found, &image);
            if identical(&found, &image) { "identical" } else { "DIFFERENT" }
        } else {
            ""
        };
        println!("  {verdict}{}", if sampled { "" } else { "  WRONG" });
        if let Some(path) = &options.output {
            write(path, options, &image)?;
        }
    }
    println!();
    Ok(common::verdict("Images", right))
}
