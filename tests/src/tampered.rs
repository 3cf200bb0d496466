//! Renders with a deliberate mistake, for tests to prove that they would notice one.

use device::bvh::{Hit, Portable, closest_hit};
use device::features::Full;
use device::film::FilmPixel;
use device::path::generate;
use device::path::step::{Shaded, shade, visibility};
use device::ray::Ray;
use device::shape::triangle;
use glam::Vec3;
use renderer::assemble::SceneData;
use renderer::render::Uploaded;
use torrance_gpu::backend::cpu::{Cpu, InstructionSet};
use torrance_image::film::Film;

/// A mistake in the physics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mistake {
    /// None: what [`render`] yields must then be right.
    None,
    /// Direct light without the cosine of the receiver.
    NoCosineInDirectLight,
    /// Direct light without the cosine of the receiver on a share of the surfaces, in patches of a size.
    NoCosineOn {
        /// The share, in [0, 1].
        share: f32,
        /// Side of the patches.
        patch: f32,
    },
    /// The BSDF's density is this many times what it should be, wherever it is used.
    BsdfPdf(f32),
}

/// Renders on the host with a mistake, by the same parts that [`device::path::step::step`] is made of.
pub fn render(scene: &SceneData, spp: u32, mistake: Mistake) -> Film {
    let mut cpu = Cpu::with_instruction_set(Some(1), InstructionSet::Portable).expect("threads start");
    let uploaded = Uploaded::new(&mut cpu, scene).expect("the scene fits");
    let view = uploaded.view(scene);
    let n = scene.width * scene.height;
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let mut film = vec![FilmPixel::default(); n as usize];
    std::thread::scope(|scope| {
        let rows = n.div_ceil(threads) as usize;
        for (part, pixels) in film.chunks_mut(rows).enumerate() {
            scope.spawn(move || {
                for (i, pixel) in pixels.iter_mut().enumerate() {
                    let i = (part * rows + i) as u32;
                    for sample in 0..spp {
                        let position = [i % scene.width, i / scene.width];
                        // SAFETY: the view is of an uploaded scene that is still there.
                        let state = unsafe {
                            generate::<Full>(
                                &view,
                                &scene.settings,
                                position,
                                [scene.width, scene.height],
                                sample,
                            )
                        };
                        pixel.add(state.weight * path(scene, &view, state, mistake));
                    }
                }
            });
        }
    });
    renderer::render::film_of_layers(scene.width, scene.height, &film)
}

fn path(
    scene: &SceneData,
    view: &device::scene::SceneView,
    mut state: device::path::PathState,
    mistake: Mistake,
) -> Vec3 {
    loop {
        // SAFETY: the view is of an uploaded scene that is still there, and any machine is portable.
        let (hit, before, mut shaded) = unsafe {
            let hit = closest_hit::<Portable, Full>(view, state.ray, f32::INFINITY);
            let before = state;
            (hit, before, shade::<Portable, Full>(view, &scene.settings, &mut state, &hit))
        };
        match mistake {
            Mistake::None => {}
            Mistake::NoCosineInDirectLight => lose_cosine(scene, &before.ray, &hit, &mut shaded),
            Mistake::NoCosineOn { share, patch } => {
                if is_in_patch(before.ray.at(hit.t) / patch, share) {
                    lose_cosine(scene, &before.ray, &hit, &mut shaded);
                }
            }
            Mistake::BsdfPdf(factor) => {
                if state.depth > before.depth {
                    state.beta /= factor;
                    state.prev_pdf *= factor;
                }
            }
        }
        if let Some(shadow) = shaded.shadow {
            // SAFETY: as above.
            state.l += shadow.ld * unsafe { visibility::<Portable, Full>(view, &shadow) };
        }
        if !shaded.alive {
            return state.l;
        }
    }
}

/// Takes the cosine of the receiver out of the direct light at a hit.
fn lose_cosine(scene: &SceneData, ray: &Ray, hit: &Hit, shaded: &mut Shaded) {
    if let Some(shadow) = &mut shaded.shadow {
        let prim = &scene.geometry.prims[hit.prim as usize];
        let n = match prim.is_sphere() {
            true => ray.at(hit.t) - prim.a,
            false => triangle::area_normal([prim.a, prim.b, prim.c]),
        };
        shadow.ld /= n.normalize().dot(shadow.ray.d).abs().max(1e-3);
    }
}

/// Whether a point, in units of patches, is in one of those that a hash picks.
fn is_in_patch(p: Vec3, share: f32) -> bool {
    let [x, y, z] = p.floor().to_array().map(|x| x as i32 as u32);
    let hash = device::rng::pcg4d([x, y, z, 0])[0];
    hash as f32 / u32::MAX as f32 <= share
}
