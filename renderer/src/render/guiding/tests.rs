//! Images of guided paths against those of paths that are not.

use device::film::FilmPixel;
use device::path::{MegakernelArgs, SampleArgs};
use torrance_gpu::backend::cpu::Cpu;
use torrance_gpu::backend::{Backend, Buffer};

use super::super::{Uploaded, no_samples};
use super::*;
use crate::assemble::assemble;
use crate::described;

/// A room with a lamp behind a screen, whose light comes by way of walls, and a glossy floor.
const ROOM: &str = r#"
    [render]
    size = [16, 12]
    guiding = "on"
    [camera]
    position = [0, 1, 1.9]
    target = [0, 0.6, 0]
    fov = 60
    [materials.white]
    type = "diffuse"
    reflectance = 0.7
    [materials.steel]
    type = "conductor"
    metal = "steel"
    roughness = 0.4
    [[shapes]]
    type = "box"
    material = "white"
    transform = [{ scale = [2, 1, 2] }, { translate = [0, 1, 0] }]
    [[shapes]]
    type = "box"
    material = "steel"
    transform = [{ scale = [1.9, 0.01, 1.9] }]
    [[shapes]]
    type = "box"
    material = "white"
    transform = [{ scale = [0.02, 0.8, 1] }, { translate = [1.2, 0.8, -0.9] }]
    [[shapes]]
    type = "sphere"
    material = "white"
    center = [1.6, 0.6, -1.2]
    radius = 0.1
    emission = 60
"#;

/// A glass ball in the sun, and the floor below.
const BALL: &str = include_str!("ball.toml");

/// Samples per pixel of renders that are learnt for, and of long ones.
const SPP: u32 = 4096;
const LONG: u32 = 100_000;

/// What guides, or misguides, a render.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Nothing,
    Guide,
    /// One that claims other densities than it draws by.
    Liar,
}

/// The film of a scene.
fn film(scene: &str, threads: usize, by: By, samples: u32) -> Vec<FilmPixel> {
    let scene = assemble(&described(scene)).unwrap();
    let mut cpu = Cpu::new(Some(threads)).unwrap();
    let uploaded = Uploaded::new(&mut cpu, &scene).unwrap();
    let view = uploaded.view(&scene);
    let learnt = learn(&mut cpu, &scene, view, (SPP, None), &mut |_| false).unwrap().unwrap();
    assert!(learnt.lesson.regions > 10, "{:?}", learnt.lesson);
    let mut guide = learnt.guide.unwrap();
    if by == By::Liar {
        let mut mixtures = cpu.download(&guide.mixtures).unwrap();
        for peak in mixtures.iter_mut().flat_map(|mixture| &mut mixture.peak.0) {
            *peak *= 1.25;
        }
        cpu.write(&mixtures, &mut guide.mixtures).unwrap();
    }
    let view = SceneView { guide: if by == By::Nothing { GuideView::NONE } else { guide.view() }, ..view };
    let film = cpu.zeroed("film", (scene.width * scene.height) as usize).unwrap();
    let invocations = MegakernelArgs::invocations_per_layer(scene.width, scene.height);
    let args = SampleArgs { samples, invocations, ..no_samples(&scene, view, film.ptr()) };
    // SAFETY: film, scene and guide are there.
    unsafe { cpu.launch::<stages::megakernel_guided>(args).unwrap() };
    cpu.download(&film).unwrap()
}

/// The variance of the mean of a pixel.
fn variance(pixel: &FilmPixel) -> f64 {
    assert_eq!(pixel.rejected, 0);
    let n = f64::from(pixel.count);
    (f64::from(pixel.sum_sq.y) / n - (f64::from(pixel.sum.y) / n).powi(2)) / (n - 1.0)
}

/// Mean of the image, and its standard error.
fn mean(film: &[FilmPixel]) -> [f64; 2] {
    let mean: f64 = film.iter().map(|pixel| f64::from(pixel.sum.y) / f64::from(pixel.count)).sum();
    let variance: f64 = film.iter().map(variance).sum();
    [mean / film.len() as f64, variance.sqrt() / film.len() as f64]
}

/// The mean variance of all pixels but the noisiest, in which there may be light that nothing has been learnt of.
fn noise(film: &[FilmPixel]) -> f64 {
    let mut variances: Vec<_> = film.iter().map(variance).collect();
    variances.sort_by(f64::total_cmp);
    let most = &variances[..variances.len() * 49 / 50];
    most.iter().sum::<f64>() / most.len() as f64
}

/// The number of standard errors between two images.
fn apart(a: &[FilmPixel], b: &[FilmPixel]) -> f64 {
    let ([a, da], [b, db]) = (mean(a), mean(b));
    (a - b).abs() / da.hypot(db)
}

#[test]
fn guided_paths_make_the_same_image_with_less_noise() {
    let alone = film(ROOM, 2, By::Nothing, tier::choose(4096, 32_768));
    let guided = film(ROOM, 2, By::Guide, tier::choose(1024, 8192));
    assert!(apart(&alone, &guided) < 3.5, "{:?}, and guided {:?}", mean(&alone), mean(&guided));
    let [[_, alone_error], [_, guided_error]] = [mean(&alone), mean(&guided)];
    let ratio = (alone_error / guided_error).powi(2) * 4.0;
    assert!(ratio > 1.5, "variance is {ratio} times less");
    let lied_to = film(ROOM, 2, By::Liar, 1024);
    let difference = apart(&alone, &lied_to);
    assert!(difference > 7.0, "control: {difference}");
}

#[test]
fn light_of_the_sun_is_found_through_glass() {
    let alone = film(BALL, 2, By::Nothing, tier::choose(1 << 14, 1 << 18));
    let guided = film(BALL, 2, By::Guide, tier::choose(1 << 11, 1 << 14));
    assert!(apart(&alone, &guided) < 3.5, "{:?}, and guided {:?}", mean(&alone), mean(&guided));
    let ratio = tier::choose(8.0, 16.0) * noise(&alone) / noise(&guided);
    assert!(ratio > 5.0, "variance is {ratio} times less");
}

/// Where smooth surfaces are is not known of instances.
#[test]
fn walks_begin_where_a_guide_says() {
    let scene = BALL
        .replace("guiding", "caustics = \"walks\"\nguiding")
        .replace(
            "position = [0.5, 3, 3]\ntarget = [0.5, 0, -0.3]",
            "position = [0.2, 1.2, 1.2]\ntarget = [0.2, 0, -0.1]",
        )
        .replace("radiance = 0.1", "radiance = 0")
        .replace("diameter = 2", "diameter = 0.5")
        .replace("[[shapes]]\ntype = \"sphere\"", "[[groups.ball.shapes]]\ntype = \"sphere\"")
        .replace("center = [0, 1, 0]\nradius = 0.8", "center = [0, 0.3, 0]\nradius = 0.1")
        + "\n[[instances]]\ngroup = \"ball\"\n";
    let [alone, guided] = [By::Nothing, By::Guide].map(|by| film(&scene, 2, by, tier::choose(512, 8192)));
    assert!(apart(&alone, &guided) < 3.5, "{:?}, and guided {:?}", mean(&alone), mean(&guided));
    let ratio = noise(&alone) / noise(&guided);
    assert!(ratio > 3.0, "variance is {ratio} times less");
}

/// What guiding is worth, and whether it is used by itself, in long renders of a scene.
fn trial(scene: &str) -> (f64, bool) {
    let long = scene.replace("\"on\"", "\"auto\"");
    let scene = assemble(&described(&long)).unwrap();
    assert!(is_wanted::<Cpu>(&scene, LONG) && !is_wanted::<Cpu>(&scene, 100));
    let mut cpu = Cpu::new(Some(2)).unwrap();
    let uploaded = Uploaded::new(&mut cpu, &scene).unwrap();
    let learnt =
        learn(&mut cpu, &scene, uploaded.view(&scene), (LONG, None), &mut |_| false).unwrap().unwrap();
    assert_eq!(learnt.guide.is_some(), learnt.lesson.is_used);
    (learnt.lesson.gain, learnt.lesson.is_used)
}

#[test]
fn guiding_is_used_where_it_pays() {
    let (gain, is_used) = trial(BALL);
    assert!(gain > 10.0 && is_used, "{gain}");
    let plain = BALL.replace("\"dielectric\"\nior = 1.5", "\"diffuse\"\nreflectance = 0.5");
    let (gain, is_used) = trial(&plain);
    assert!(gain < 2.0 && !is_used, "{gain}");
}

#[test]
fn guides_are_the_same_whatever_the_number_of_threads() {
    let [one, three, again] = [1, 3, 3].map(|threads| film(ROOM, threads, By::Guide, 16));
    assert!(one == three && three == again);
    assert!(one != film(ROOM, 1, By::Nothing, 16));
}

#[test]
fn little_memory_teaches_all_the_same() {
    let mut scene = assemble(&described(ROOM)).unwrap();
    let mut cpu = Cpu::new(Some(2)).unwrap();
    let uploaded = Uploaded::new(&mut cpu, &scene).unwrap();
    let view = uploaded.view(&scene);
    let mut regions = |memory| {
        scene.guiding.memory = memory;
        let mut school = School::new(&mut cpu, &scene, view, 1 << 16).unwrap();
        school.make_room(u64::MAX).unwrap();
        let bytes = school.bytes();
        assert!(bytes <= memory, "{bytes} bytes of {memory}");
        learn(&mut cpu, &scene, view, (SPP, None), &mut |_| false).unwrap().unwrap().lesson.regions
    };
    let [little, much] = [16 << 20, 256 << 20].map(&mut regions);
    assert!(0 < little && little <= much, "{little}, {much}");
}

#[test]
fn learning_can_be_given_up() {
    let scene = assemble(&described(ROOM)).unwrap();
    let mut cpu = Cpu::new(Some(2)).unwrap();
    let uploaded = Uploaded::new(&mut cpu, &scene).unwrap();
    let view = uploaded.view(&scene);
    let mut told = Vec::new();
    let guide = learn(&mut cpu, &scene, view, (SPP, None), &mut |learnt| {
        told.push(learnt);
        learnt > 0.1
    });
    assert!(guide.unwrap().is_none());
    assert!(told.is_sorted() && told.iter().filter(|learnt| **learnt > 0.1).count() == 1, "{told:?}");
    let whole = learn(&mut cpu, &scene, view, (SPP, None), &mut |learnt| {
        told.push(learnt);
        false
    });
    assert!(whole.unwrap().is_some());
    assert!((0.9..=1.0).contains(told.last().unwrap()), "{told:?}");
}
