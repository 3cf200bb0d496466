//! Stages of the wavefront against single rays.

use device::bsdf::Basic;
use device::bvh::Hit;
use device::features::Compiled;
use device::path::stage::{Stage, stages};
use device::path::trace::{
    self, ClosestArgs, CoherentArgs, Direction, Hits, OcclusionArgs, Origin, PrimitiveHit,
};
use device::ray::Ray;
use renderer::assemble::SceneData;
use renderer::render::Uploaded;
use torrance_gpu::backend::Buffer;
use torrance_gpu::backend::cpu::{Cpu, InstructionSet};
use torrance_gpu::backend::cuda::Cuda;
use torrance_gpu::primitives::Primitives;
use torrance_scene::Geometry;
use torrance_tests::{Machine, machines};

use super::{Rays, rays, scene, soup, soup_mesh, soup_of_all, tracers, with_view};

/// Guard value beyond the results of a stage.
const GUARD: PrimitiveHit = PrimitiveHit { t: -7.0, prim: 7, b: [7.0; 2] };

/// Traces rays by the stages that only trace, with nothing written beyond the results: what each meets, if `P` traces it,
/// what, if `C` does, and whether it meets anything.
fn by_stages<B: Primitives, P, C, S>(backend: &mut B, scene: &SceneData, rays: &Rays) -> [Found; 2]
where
    P: Stage<Args = CoherentArgs>,
    C: Stage<Args = ClosestArgs>,
    S: Stage<Args = OcclusionArgs>,
{
    const GUARDS: usize = 40;
    backend.specialize(scene.features);
    let columns = |rays: &Rays| -> (Vec<_>, Vec<_>) {
        rays.iter()
            .map(|&(ray, t_max)| (Origin { o: ray.o, t_max }, Direction { d: ray.d, index: 0 }))
            .unzip()
    };
    let (origins, directions) = columns(rays);
    let origins = backend.upload("origins", &origins).unwrap();
    let directions = backend.upload("directions", &directions).unwrap();
    let occluded = backend.upload("occlusion", &vec![7_u32; rays.len() + GUARDS]).unwrap();
    let uploaded = Uploaded::new(backend, scene).unwrap();
    let (view, count) = (uploaded.view(scene), rays.len() as u32);
    let rays = trace::Rays { origins: origins.ptr(), directions: directions.ptr() };
    let n = count as usize;
    // SAFETY: the buffer has room for the results, and lives until these have been read.
    unsafe {
        backend.launch::<S>(OcclusionArgs { scene: view, rays, results: occluded.ptr(), count }).unwrap();
    }
    let occluded = backend.download(&occluded).unwrap();
    assert!(occluded[n..].iter().all(|word| *word == 7), "written past the rays");
    assert!(occluded[..n].iter().all(|word| *word <= 1));
    let occluded: Vec<_> = occluded[..n].iter().map(|word| *word == 1).collect();
    [true, false].map(|coherent| {
        let met = backend.upload("hits", &vec![GUARD; n + GUARDS]).unwrap();
        let instances = backend.upload("instances", &vec![7_u32; n + GUARDS]).unwrap();
        let results = Hits { met: met.ptr(), instances: instances.ptr() };
        let args = ClosestArgs { scene: view, rays, results, count };
        // SAFETY: as above.
        unsafe {
            match coherent {
                true => backend.launch::<P>(CoherentArgs(args)).unwrap(),
                false => backend.launch::<C>(args).unwrap(),
            }
        }
        let (met, instances) = (backend.download(&met).unwrap(), backend.download(&instances).unwrap());
        assert!(met[n..].iter().all(|met| *met == GUARD), "hits are written past the rays");
        assert!(instances[n..].iter().all(|word| *word == 7), "written past the rays");
        let hit =
            |(&PrimitiveHit { t, prim, b }, &instance): (&PrimitiveHit, &u32)| Hit { t, prim, b, instance };
        (met[..n].iter().zip(&instances).map(hit).collect(), occluded.clone())
    })
}

/// [`by_stages`], by those that know all scenes.
fn by_full_stages<B: Primitives>(backend: &mut B, scene: &SceneData, rays: &Rays) -> [Found; 2] {
    by_stages::<_, stages::trace_coherent, stages::trace_closest, stages::trace_shadow>(backend, scene, rays)
}

/// A stage's nearest hits, and whether rays hit anything.
type Found = (Vec<Hit>, Vec<bool>);

/// Whether hits are those that single rays have on a CPU, but for distances that a GPU rounds otherwise, and for at most
/// one ray in 2000 that rounding sends past another edge.
fn are_the_hits(
    scene: &SceneData,
    rays: &Rays,
    (hits, occluded): &(Vec<Hit>, Vec<bool>),
    is_gpu: bool,
) -> bool {
    let mut expected = Vec::new();
    with_view(scene, |view| expected = (tracers()[0].nearest)(view, rays));
    let source = |hit: &Hit| hit.is_hit().then(|| (scene.geometry.sources[hit.prim as usize], hit.instance));
    let near = |a: f32, b: f32| a == b || (a - b).abs() <= 1e-4 * b.abs();
    let is_same = |(a, b): (&Hit, &Hit)| match is_gpu {
        false => source(a) == source(b) && a.t == b.t && a.b == b.b,
        true => source(a) == source(b) && near(a.t, b.t),
    };
    let others = expected.iter().zip(hits).filter(|pair| !is_same(*pair)).count();
    let unlike = expected.iter().zip(occluded).filter(|(hit, occluded)| hit.is_hit() != **occluded).count();
    let most = if is_gpu { rays.len() / 2000 } else { 0 };
    if others + unlike > 0 {
        println!("{others} other hits and {unlike} other occlusions of {} rays", rays.len());
    }
    others <= most && unlike <= most
}

/// Runs `test` with what each machine's stages trace of a scene, those that know all scenes and if possible those that
/// know only simple ones.
fn by_all_stages(scene: &SceneData, rays: &Rays, test: impl Fn(Found, bool)) {
    for isa in [InstructionSet::Portable, InstructionSet::Avx2, InstructionSet::Avx512] {
        by_stages_of(&mut Cpu::with_instruction_set(Some(2), isa).unwrap(), scene, rays, |found| {
            test(found, false)
        });
    }
    if machines().contains(&Machine::Cuda) {
        by_stages_of(&mut Cuda::new(0).unwrap(), scene, rays, |found| test(found, true));
    }
}

fn by_stages_of<B: Primitives>(backend: &mut B, scene: &SceneData, rays: &Rays, test: impl Fn(Found)) {
    by_full_stages(backend, scene, rays).into_iter().for_each(&test);
    if Basic::FEATURES.contains(scene.features) {
        by_stages::<_, stages::trace_coherent_basic, stages::trace_closest_basic, stages::trace_shadow_basic>(
            backend, scene, rays,
        )
        .into_iter()
        .for_each(&test);
    }
}

fn with_ends(rays: impl Iterator<Item = Ray>) -> Vec<(Ray, f32)> {
    rays.enumerate().map(|(i, ray)| (ray, if i % 3 == 0 { 0.7 } else { f32::INFINITY })).collect()
}

#[test]
fn stages_meet_what_single_rays_meet() {
    let ends = with_ends(rays());
    for scene in [soup(2000, 50), soup_of_all(100), scene(Vec::new())] {
        by_all_stages(&scene, &ends, |found, is_gpu| {
            assert!(are_the_hits(&scene, &ends, &found, is_gpu), "GPU: {is_gpu}");
        });
    }
}

/// All numbers of rays up to some warps, and around what a warp of a GPU takes at once.
#[test]
fn stages_trace_every_ray_of_any_number() {
    let scene = soup(300, 5);
    let all = with_ends(rays());
    for n in (1..70).chain([255, 256, 257, 511, 513, 1023, 4097]) {
        let rays = &all[..n];
        by_all_stages(&scene, rays, |found, is_gpu| {
            assert!(are_the_hits(&scene, rays, &found, is_gpu), "{n} rays, GPU: {is_gpu}");
        });
    }
}

/// Of triangles in the same place the last is met, whatever the order in which a machine tests them.
#[test]
fn stages_meet_the_last_of_those_in_one_place() {
    let mesh = soup_mesh(5000);
    let rays = with_ends(rays());
    let scene = scene((0..3).map(|_| Geometry::Mesh(mesh.clone().into())).collect());
    by_all_stages(&scene, &rays, |found, is_gpu| {
        let of_the_last = |hit: &Hit| !hit.is_hit() || scene.geometry.sources[hit.prim as usize] >= 10_000;
        assert!(found.0.iter().all(of_the_last), "GPU: {is_gpu}");
        assert!(are_the_hits(&scene, &rays, &found, is_gpu), "GPU: {is_gpu}");
    });
}

#[test]
fn control_one_hit_of_another_primitive_is_found() {
    let (scene, rays) = (soup(300, 5), with_ends(rays().take(1000)));
    let mut cpu = Cpu::new(Some(1)).unwrap();
    let [_, mut found] = by_full_stages(&mut cpu, &scene, &rays);
    assert!(are_the_hits(&scene, &rays, &found, true));
    let hit = found.0.iter_mut().find(|hit| hit.is_hit()).unwrap();
    hit.prim = (hit.prim + 1) % scene.geometry.prims.len() as u32;
    assert!(!are_the_hits(&scene, &rays, &found, true));
}
