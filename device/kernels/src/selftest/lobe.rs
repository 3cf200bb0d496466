//! `device::material::probe`: values and speed of lobes. `tests/tests/machines/gpu_lobes.rs` launches these.

use cuda_std::kernel;
use cuda_std::thread::index_1d;
use device::material::probe::{Answer, Input, ask, draw};
use device::scene::SceneView;

/// Answers of the lobes to `n` inputs.
///
/// # Safety
/// `scene` is valid and has the materials; `inputs` and `answers` have `n` values.
#[kernel]
pub unsafe fn lobe_ask(scene: SceneView, n: u32, inputs: *const Input, answers: *mut Answer) {
    let i = index_1d() as usize;
    if i < n as usize {
        // SAFETY: the launch's promise.
        unsafe { answers.add(i).write(ask(&scene, &inputs.add(i).read())) }
    }
}

/// Draws `samples` directions of one material in every thread.
///
/// # Safety
/// `scene` is valid and has the material; `sums` has a value for every thread.
#[kernel]
pub unsafe fn lobe_draw(scene: SceneView, material: u32, samples: u32, sums: *mut [f32; 3]) {
    let i = index_1d();
    // SAFETY: the launch's promise.
    unsafe { sums.add(i as usize).write(draw(&scene, material, i, samples).to_array()) }
}
