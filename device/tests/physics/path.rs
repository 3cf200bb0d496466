//! The stages: what host and GPU agree on, and which samples the megakernel takes.

use bytemuck::Zeroable;
use device::bvh::{Portable, TreeNode};
use device::camera::Camera;
use device::features::Full;
use device::film::FilmPixel;
use device::light::{GuideEntry, Light};
use device::path::layout::{LAYOUT, ProbeArgs, STRUCTURES};
use device::path::stage::{LAUNCHES, Stage, stages};
use device::path::{MegakernelArgs, PathSettings, generate};
use device::rng::{Dim, Sampler, SamplerKind};
use glam::{Vec2, Vec3};

use crate::common::empty_scene;

/// Sizes as the documentation of the types gives them, or as their fields add up to on a machine of 64 bits.
#[test]
fn sizes_of_what_host_and_gpu_share_are_known() {
    let words = |name: &str| STRUCTURES.iter().find(|(n, _)| *n == name).expect("it is listed").1;
    let size = |name: &str| words(name)[0];
    let documented = [
        ("Node", 80),
        ("Primitive", 48),
        ("Instance", 64),
        ("Material", 256),
        ("Header", 48),
        ("Texture", 48),
        ("Coat", 64),
        ("Combination", 48),
        ("TriangleNormals", 48),
        ("TriangleUvs", 32),
        ("TriangleColors", 48),
        ("Light", 64),
        ("GuideEntry", 8),
        ("SkyTexel", 16),
        ("EmissiveSurface", 16),
        ("Camera", 112),
        ("FilmPixel", 56),
        ("FilterPart", 16),
        ("FilterEdge", 8),
    ];
    for (name, bytes) in documented {
        assert_eq!(size(name), bytes, "{name}");
    }
    let by_field = |sizes: &[usize]| sizes.iter().sum::<usize>() as u32;
    let (scene, settings, args) = (size("SceneView"), size("PathSettings"), size("MegakernelArgs"));
    assert_eq!(settings, by_field(&[4; 12]), "PathSettings");
    assert_eq!(scene % 8, 0, "SceneView holds pointers");
    let fields = scene + 2 * 8 + 4 * 2 + settings + 4 * 7;
    assert_eq!(args, fields.next_multiple_of(16), "MegakernelArgs has no hole but at its end");
    assert_eq!(words("MegakernelArgs")[1], scene, "the film follows the scene");
    assert_eq!(size("FirstHitPixel"), by_field(&[24; 5]) + by_field(&[4; 3]), "FirstHitPixel");
    assert_eq!(
        words("FirstHitArgs"),
        [(args + 8).next_multiple_of(16), args],
        "the arguments, then texture coordinates"
    );
    assert_eq!(size("GroupPixel"), by_field(&[24, 12]), "GroupPixel");
    assert_eq!(
        words("LightGroupArgs"),
        [(args + 8 + 4).next_multiple_of(16), args, args + 8],
        "the arguments, then the groups of lights and their number"
    );
    assert_eq!(size("MattePixel"), by_field(&[4; 33]), "MattePixel");
    assert_eq!(
        words("MatteArgs"),
        [(args + 3 * 8 + 3 * 8 + 2 * 4).next_multiple_of(16), args, args + 3 * 8],
        "the arguments, then films, tables and their sizes"
    );
    let with = |before: u32, fields: u32| (before + fields).next_multiple_of(16);
    assert_eq!(size("CameraRaysArgs"), with(args, 3 * 8));
    assert_eq!(size("NextRaysArgs"), with(args, 7 * 8 + 2 * 4));
    assert_eq!(size("ClosestArgs"), with(scene, 4 * 8 + 4));
    assert_eq!(size("OcclusionArgs"), with(scene, 3 * 8 + 4));
    let [wavefront, _, curve] = words("WavefrontArgs") else { panic!("other words of WavefrontArgs") };
    assert_eq!(*wavefront, with(*curve, 8), "the curve comes last");
    assert_eq!(size("Counters"), 4 * 4 + 2 * 8);
}

#[test]
fn the_probe_tells_the_layout() {
    let mut probed = [0; LAYOUT.len()];
    let args = ProbeArgs { out: probed.as_mut_ptr() };
    assert_eq!(stages::probe::count(&args), LAYOUT.len() as u32);
    // SAFETY: there is room for all words, and any machine is portable.
    unsafe { stages::probe::run_range::<Portable>(0..LAYOUT.len() as u32, &args) };
    assert_eq!(probed, LAYOUT);
    let words: Vec<_> = STRUCTURES.iter().flat_map(|(_, words)| *words).copied().collect();
    assert_eq!(LAYOUT[..], words);
}

#[test]
fn every_stage_has_a_name_and_whole_warps() {
    let names: Vec<_> = LAUNCHES.iter().map(|l| l.stage).collect();
    assert!(names.contains(&stages::megakernel::NAME) && names.contains(&stages::probe::NAME));
    assert!(LAUNCHES.iter().all(|l| l.block % 32 == 0 && (32..=1024).contains(&l.block)));
    assert!(
        LAUNCHES.iter().all(|l| l.blocks > 0 && l.block * l.blocks <= 1024),
        "what a multiprocessor holds"
    );
}

/// A camera 1 m before the origin that looks along −z.
fn camera(size: [u32; 2]) -> Camera {
    Camera::perspective(Vec3::Z, [Vec3::X, Vec3::Y, -Vec3::Z], Vec2::new(0.5, 0.25), size)
}

/// Renders nothing but sky of radiance 1, `samples` a pixel from `first` on, in `parts` launches, but for the first `skip` invocations of each. Yields the film, and
/// the guard pixels after it.
fn render(
    size: [u32; 2],
    layers: u32,
    [first, samples]: [u32; 2],
    parts: u32,
    skip: u32,
) -> (Vec<FilmPixel>, Vec<FilmPixel>) {
    const GUARDS: usize = 64;
    let [width, height] = size;
    let mut film = vec![FilmPixel::default(); (layers * width * height) as usize + GUARDS];
    let root = TreeNode::zeroed();
    let sky = Light { kind_flags: Light::ENVIRONMENT, le: Vec3::ONE, pmf: 1.0, ..Light::zeroed() };
    let table = [GuideEntry { first: 0, guide: 0 }; 2];
    let mut scene = empty_scene();
    (scene.nodes, scene.camera) = (&raw const root, camera(size));
    (scene.lights, scene.light_table, scene.light_count) = (&raw const sky, table.as_ptr(), 1);
    let settings = PathSettings {
        max_depth: 4,
        rr_depth: 2,
        direct: 0,
        sampler: 0,
        seed: 1,
        width: 1,
        clamp_indirect: f32::INFINITY,
        walks: 0,
        smooth: [0.0; 4],
    };
    let total = layers * MegakernelArgs::invocations_per_layer(width, height);
    for part in 0..parts {
        let first_invocation = total * part / parts;
        let args = MegakernelArgs {
            scene,
            film: film.as_mut_ptr(),
            items: std::ptr::null(),
            item_count: 0,
            spread: 0,
            settings,
            width,
            height,
            layers,
            first_sample: first,
            samples,
            first_invocation,
            invocations: total * (part + 1) / parts - first_invocation,
        };
        for i in skip..stages::megakernel::count(&args) {
            // SAFETY: the film has room, the root has no children, and any machine is portable.
            unsafe { stages::megakernel::run::<Portable>(i, &args) };
        }
    }
    let guards = film.split_off(film.len() - GUARDS);
    (film, guards)
}

#[test]
fn every_pixel_takes_every_sample_once() {
    for size in [[1, 1], [8, 4], [9, 4], [8, 5], [7, 3], [33, 17], [1, 100], [100, 1]] {
        for (layers, samples, parts) in [(1, 1, 1), (1, 5, 3), (3, 7, 2), (4, 2, 5)] {
            let (film, guards) = render(size, layers, [10, samples], parts, 0);
            let pixels = (size[0] * size[1]) as usize;
            for pixel in 0..pixels {
                let layer = |l: u32| film[pixel + pixels * l as usize];
                let taken: u32 = (0..layers).map(|l| layer(l).count).sum();
                assert_eq!(taken, samples, "{size:?}, {layers} layers, pixel {pixel}");
                for l in 0..layers {
                    let each = (samples + layers - 1 - l) / layers;
                    assert_eq!((layer(l).count, layer(l).rejected), (each, 0), "layer {l}");
                    assert_eq!(layer(l).sum, Vec3::splat(each as f32), "nothing but sky is seen");
                }
            }
            assert!(guards.iter().all(|g| *g == FilmPixel::default()), "{size:?}: written past the film");
        }
    }
}

#[test]
fn control_leaving_out_an_invocation_leaves_out_samples() {
    let size = [9, 5];
    assert_eq!(MegakernelArgs::invocations_per_layer(9, 5), 4 * 32);
    let taken = |skip| render(size, 1, [0, 4], 1, skip).0.iter().map(|p| p.count).sum::<u32>();
    assert_eq!(taken(0), 9 * 5 * 4);
    assert_eq!(taken(1), (9 * 5 - 1) * 4);
}

/// Camera rays pass through their pixel, all over it.
#[test]
fn camera_paths_start_in_their_pixel() {
    let (size, settings) = (
        [40, 20],
        PathSettings {
            max_depth: 4,
            rr_depth: 2,
            direct: 0,
            sampler: 0,
            seed: 5,
            width: 40,
            clamp_indirect: f32::INFINITY,
            walks: 0,
            smooth: [0.0; 4],
        },
    );
    let mut scene = empty_scene();
    scene.camera = camera(size);
    let mut quadrants = [0; 4];
    for i in 0..800 {
        for sample in 0..16 {
            let [x, y] = [i % 40, i / 40];
            // SAFETY: nothing is read of the scene but its camera.
            let state = unsafe { generate::<Full>(&scene, &settings, [x, y], size, sample) };
            assert_eq!((state.pixel, state.sample, state.depth, state.prev_pdf), (i, sample, 0, 0.0));
            assert_eq!((state.ray.o, state.beta, state.l), (Vec3::Z, Vec3::ONE, Vec3::ZERO));
            // Where the ray meets z = 0, at which the image is 1 m by ½ m.
            let p = state.ray.o - state.ray.d / state.ray.d.z;
            let [u, v] = [(p.x + 0.5) * 40.0 - x as f32, (0.25 - p.y) * 40.0 - y as f32];
            assert!((-1e-4..1.0001).contains(&u) && (-1e-4..1.0001).contains(&v), "pixel {x}, {y}: {u} {v}");
            let film = Sampler { kind: SamplerKind::Independent, seed: 5, pixel: i, width: 40, sample }
                .draw(Dim::Film, 0);
            assert!((u - film[0]).abs() < 1e-4 && (v - film[1]).abs() < 1e-4);
            quadrants[usize::from(u > 0.5) + 2 * usize::from(v > 0.5)] += 1;
        }
    }
    assert!(quadrants.iter().all(|&n| (n - 3200_i32).abs() < 250), "{quadrants:?}");
}
