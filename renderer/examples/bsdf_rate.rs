//! How many pairs of directions a machine evaluates a material for, and draws, in a second: from array to array, and on a GPU by
//! the kernel alone.
//!
//! ```sh
//! cargo run --release -p renderer --example bsdf_rate -- cuda 'type = "conductor", metal = "gold", roughness = 0.5'
//! ```
//!
//! Arguments: `cpu` or `cuda`, then materials; some of every cost if there are none.

use std::error::Error;
use std::time::Instant;

use device::rng::{pcg4d, uniform};
use device::sampling::sample_cosine_hemisphere;
use glam::Vec2;
use renderer::assemble::Swatches;
use renderer::bsdf::{SampleColumns, Subject};
use renderer::{DeviceChoice, Machine};
use torrance_scene::{Masking, StandaloneMaterial, material_from_text};

/// Pairs in a call.
const PAIRS: usize = 10_000_000;
/// Calls of which the fastest counts.
const CALLS: usize = 5;

const MATERIALS: [&str; 5] = [
    "type = 'diffuse', reflectance = 0.5",
    "type = 'conductor', metal = 'gold', roughness = 0.5",
    "type = 'dielectric', ior = 1.5, roughness = 0.5",
    "type = 'principled', base_color = [0.8, 0.4, 0.1], metallic = 0.3, roughness = 0.5, clearcoat = 0.5",
    "type = 'gltf', base_color = [0.8, 0.4, 0.1], metallic = 0.3, roughness = 0.5, clearcoat = 0.5",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let device = match arguments.next().as_deref() {
        Some("cuda") => DeviceChoice::Cuda(0),
        Some("cpu") | None => DeviceChoice::Cpu,
        Some(other) => return Err(format!("{other}: cpu or cuda").into()),
    };
    let mut machine = device.find()?.start(None)?;
    println!("{}, {PAIRS} pairs, G/s from array to array (by the kernel alone)", machine.name());
    let texts: Vec<_> = arguments.collect();
    let texts = if texts.is_empty() { MATERIALS.map(str::to_owned).to_vec() } else { texts };
    let arrays = Arrays::new();
    for text in texts {
        let StandaloneMaterial { material, images, textures } = material_from_text("MATERIAL", &text)?;
        let subject = Subject::new(material, Masking::Correlated, Swatches::new(&images, &textures)?);
        let [evaluated, drawn] = arrays.rates(&mut machine, &subject)?;
        println!("{text}\n  eval {evaluated}, sample {drawn}");
    }
    Ok(())
}

/// What goes in.
struct Arrays {
    wo: Vec<[f32; 3]>,
    wi: Vec<[f32; 3]>,
    u: Vec<[f32; 3]>,
}

impl Arrays {
    fn new() -> Self {
        let random = |i: usize, stream: u32| pcg4d([i as u32, stream, 0, 0]).map(uniform);
        let direction = |i, stream| {
            let [a, b, ..] = random(i, stream);
            sample_cosine_hemisphere(Vec2::new(a, b)).to_array()
        };
        let of = |stream| (0..PAIRS).map(|i| direction(i, stream)).collect();
        let u = |i| {
            let [a, b, c, _] = random(i, 2);
            [a, b, c]
        };
        Self { wo: of(0), wi: of(1), u: (0..PAIRS).map(u).collect() }
    }

    /// Of evaluations and of samples, in words.
    fn rates(&self, machine: &mut Machine, subject: &Subject) -> Result<[String; 2], Box<dyn Error>> {
        let mut f = vec![[0.0; 3]; PAIRS];
        let mut samples = SampleColumns::new(PAIRS);
        let evaluated = rate(machine, "bsdf_eval", |machine| {
            machine.laboratory(subject)?.eval(&self.wo, &self.wi, &mut f)
        })?;
        let drawn = rate(machine, "bsdf_sample", |machine| {
            machine.laboratory(subject)?.sample(&self.wo, &self.u, samples.room())
        })?;
        Ok([evaluated, drawn])
    }
}

/// The rate of the fastest of some calls, and of the kernel in it.
fn rate<E>(
    machine: &mut Machine,
    kernel: &str,
    mut call: impl FnMut(&mut Machine) -> Result<(), E>,
) -> Result<String, E> {
    let (mut least, mut least_of_kernel) = (f64::INFINITY, f64::INFINITY);
    call(machine)?;
    for _ in 0..CALLS {
        let before = seconds_of(machine, kernel);
        let start = Instant::now();
        call(machine)?;
        least = least.min(start.elapsed().as_secs_f64());
        least_of_kernel = least_of_kernel.min(seconds_of(machine, kernel) - before);
    }
    let rate = |seconds: f64| format!("{:.3}", 1e-9 * PAIRS as f64 / seconds);
    let by_kernel = if machine.is_gpu() { format!(" ({})", rate(least_of_kernel)) } else { String::new() };
    Ok(rate(least) + &by_kernel)
}

/// Seconds that a GPU has spent in a kernel, from the first call on.
fn seconds_of(machine: &mut Machine, kernel: &str) -> f64 {
    let Machine::Cuda(cuda) = machine else { return 0.0 };
    cuda.set_profiling(true);
    cuda.profile().get(kernel).map_or(0.0, |time| time.total.as_secs_f64())
}
