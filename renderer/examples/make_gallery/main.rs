//! Writes what the scenes of the gallery are made of, but for the knot, into the folder of scenes:
//!
//! ```sh
//! cargo run --release --example make_gallery scenes
//! ```
//!
//! Everything follows from the numbers here; nothing is drawn from a clock or a random device.

mod chess;
mod images;
mod lamps;
mod mesh;
mod noise;
mod plants;
mod preview;

use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "scenes".into());
    for (name, bytes) in assets() {
        let path = Path::new(&folder).join(name);
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        println!("{:7} bytes  {}", bytes.len(), path.display());
        std::fs::write(path, bytes)?;
    }
    Ok(())
}

/// All files, by their names in the folder of scenes.
pub(crate) fn assets() -> Vec<(&'static str, Vec<u8>)> {
    let meadow = plants::meadow();
    let [warm, cold, red] = lamps::lamps();
    let bricks = images::bricks();
    vec![
        ("models/hills.ply", plants::hills().ply()),
        ("models/spruce.ply", plants::spruce().ply()),
        ("models/birch.ply", plants::birch().ply()),
        ("models/grass.ply", plants::grass().ply()),
        ("models/poppy.ply", plants::flower([206, 38, 16], 6, 0.055).ply()),
        ("models/daisy.ply", plants::flower([238, 236, 226], 11, 0.04).ply()),
        ("models/spruces.f32", meadow.spruces),
        ("models/birches.f32", meadow.birches),
        ("models/grass.f32", meadow.grass),
        ("models/flowers.f32", meadow.flowers),
        ("models/warm-lamps.csv", warm),
        ("models/cold-lamps.csv", cold),
        ("models/red-lamps.csv", red),
        ("models/vase.ply", mesh::Mesh::lathe(&mesh::smooth(VASE, 3), 48).ply()),
        ("models/bowl.ply", mesh::Mesh::lathe(&mesh::smooth(BOWL, 3), 48).ply()),
        ("models/preview-shell.ply", preview::shell().ply()),
        ("models/preview-base.ply", preview::base().ply()),
        ("models/preview-ground.ply", preview::backdrop().ply()),
        ("models/preview-scale.ply", preview::scale().ply()),
        ("textures/bricks.png", bricks.colors),
        ("textures/bricks-normals.png", bricks.normals),
        ("textures/bricks-roughness.png", bricks.roughness),
        ("textures/planks.png", images::planks()),
        ("textures/ripples.png", images::ripples()),
        ("textures/peel.png", images::peel()),
        ("textures/sky.hdr", images::sky()),
        ("chess.glb", chess::glb()),
    ]
}

/// Radius and height along a vase, metres: its outside up to the rim, then its inside.
const VASE: &[[f32; 2]] = &[
    [0.0, 0.0],
    [0.055, 0.0],
    [0.062, 0.01],
    [0.085, 0.06],
    [0.112, 0.13],
    [0.108, 0.2],
    [0.07, 0.26],
    [0.042, 0.3],
    [0.04, 0.33],
    [0.058, 0.365],
    [0.055, 0.366],
    [0.036, 0.33],
    [0.036, 0.29],
    [0.02, 0.2],
];

/// The same of a bowl.
const BOWL: &[[f32; 2]] = &[
    [0.0, 0.0],
    [0.06, 0.0],
    [0.065, 0.012],
    [0.075, 0.02],
    [0.13, 0.045],
    [0.175, 0.09],
    [0.19, 0.135],
    [0.184, 0.137],
    [0.168, 0.093],
    [0.125, 0.052],
    [0.06, 0.03],
    [0.0, 0.027],
];
