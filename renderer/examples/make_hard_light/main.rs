//! Writes scenes whose light is hard to find, each for torrance and for Mitsuba 3, with the meshes that both read:
//!
//! ```sh
//! cargo run --release -p renderer --example make_hard_light -- target/hard-light
//! ```
//!
//! A number after the folder says how many lights the city has, 10 000 by default. Everything follows from the numbers
//! here; nothing is drawn from a clock or a random device.

mod ball;
mod city;
mod door;
mod forms;
mod glow;
mod kitchen;
#[path = "../make_gallery/mesh.rs"]
#[allow(dead_code, reason = "the gallery's meshes have colours, too")]
mod mesh;
#[path = "../make_gallery/noise.rs"]
#[allow(dead_code, reason = "the gallery has textures of noise")]
mod noise;
mod pool;
mod scene;

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "target/hard-light".into());
    let lights = arguments.next().map_or(Ok(10_000), |n| n.parse())?;
    std::fs::create_dir_all(&folder)?;
    let scenes =
        [city::city(lights), door::door(), pool::pool(), kitchen::kitchen(), glow::glow(), ball::ball()];
    for (name, bytes) in scenes.iter().flat_map(scene::Scene::files) {
        let path = Path::new(&folder).join(name);
        println!("{:8} bytes  {}", bytes.len(), path.display());
        std::fs::write(path, bytes)?;
    }
    Ok(())
}
