//! Arrays that go to a GPU and images that stay there, on the fake driver: its memory is the host's, so that what others would
//! read on a GPU can be looked at.

use std::slice;

use renderer::assemble::{SceneData, Swatches, assemble};
use renderer::bsdf::{SampleColumns, Subject};
use renderer::render::{Budget, Control, Options, Rendered, Request, Resumed};
use renderer::{DeviceChoice, DeviceImage, Machine, Resident};
use torrance_scene::{Masking, StandaloneMaterial, material_from_text};

use super::fake::Fake;

pub(super) fn run() -> String {
    let fake = Fake::start();
    laboratories();
    images(&fake);
    assert_eq!(fake.ask::<i32>("fake_left"), 0, "all is freed");
    "arrays are evaluated and images kept".to_owned()
}

fn subject(text: &str) -> Subject {
    let StandaloneMaterial { material, images, textures } = material_from_text("test", text).unwrap();
    Subject::new(material, Masking::Correlated, Swatches::new(&images, &textures).unwrap())
}

/// Unit vectors above the surface, and below it where that is said.
fn directions(n: usize, below: bool) -> Vec<[f32; 3]> {
    let one = |i: usize| {
        let (z, turn) = ((i % 997) as f32 / 997.0 + 5e-4, i as f32);
        let (sin, z) = ((1.0 - z * z).sqrt(), if below && i.is_multiple_of(3) { -z } else { z });
        [sin * turn.cos(), sin * turn.sin(), z]
    };
    (0..n).map(one).collect()
}

/// Everything that a machine says of a material.
fn answers(
    machine: &mut Machine,
    subject: &Subject,
    one: bool,
    n: usize,
) -> (Vec<[f32; 3]>, Vec<f32>, SampleColumns) {
    let (wo, wi) = (directions(if one { 1 } else { n }, false), directions(n, true));
    let u: Vec<_> = (0..n).map(|i| [0.3, 0.7, 0.1].map(|x: f32| (x * i as f32).fract())).collect();
    let (mut f, mut pdf, mut samples) = (vec![[0.0; 3]; n], vec![0.0; n], SampleColumns::new(n));
    let mut laboratory = machine.laboratory(subject).unwrap();
    laboratory.eval(&wo, &wi, &mut f).unwrap();
    laboratory.pdf(&wo, &wi, &mut pdf).unwrap();
    laboratory.sample(&wo, &u, samples.room()).unwrap();
    (f, pdf, samples)
}

/// The copies to and from a GPU keep the order of what they copy, in one chunk and in several.
fn laboratories() {
    let mut gpu = Machine::cuda(0).unwrap();
    let mut cpu = Machine::cpu_with(None, cpu::InstructionSet::Portable).unwrap();
    let copper = "type = 'conductor', metal = 'Cu', roughness = 0.5";
    let plastic = "type = 'plastic', reflectance = [0.1, 0.3, 0.7], roughness = 0.3";
    for (text, n) in [(copper, 0), (copper, 1), (copper, (1 << 20) + 77), (plastic, 1000)] {
        let subject = subject(text);
        for one in [true, false] {
            let [found, expected] = [&mut gpu, &mut cpu].map(|machine| answers(machine, &subject, one, n));
            assert!(found == expected, "{text}, {n}, {one}");
        }
    }
    let [found, control] = [copper, "type = 'conductor', metal = 'Cu', roughness = 0.501"]
        .map(|text| answers(&mut gpu, &subject(text), false, 1000));
    assert!(found != control, "the control");
}

fn scene(size: [u32; 2], seed: u32) -> SceneData {
    let [width, height] = size;
    let text = format!(
        "render = {{ size = [{width}, {height}], seed = {seed} }}
         camera = {{ position = [0.3, 1, 4], target = [0, 0, 0], fov = 40 }}
         environment = {{ radiance = [0.3, 0.5, 0.9] }}
         [materials.paint]
         type = 'diffuse'
         reflectance = [0.7, 0.4, 0.1]
         [[shapes]]
         type = 'sphere'
         material = 'paint'
         [[shapes]]
         type = 'sphere'
         center = [1.2, 1.5, 0]
         radius = 0.4
         emission = 5"
    );
    let files = torrance_scene::Files::new("", false);
    assemble(&torrance_scene::load_bytes("scene.toml", text.as_bytes(), &files).unwrap().description).unwrap()
}

/// Largest difference of an image in memory to the means of a film, in units of `f32` in the last place.
fn ulps(image: &DeviceImage, rendered: &Rendered) -> f64 {
    // SAFETY: the fake driver's memory is the host's; the image has so many floats, and lives.
    let floats = unsafe { slice::from_raw_parts(image.address() as *const f32, image.bytes() / 4) };
    torrance_tests::ulps(floats, rendered)
}

/// Images on the GPU are those of the films, whatever was rendered before, and live as long as somebody holds them.
fn images(fake: &Fake) {
    let go_on = &mut |_: &_| Control::Continue;
    let request = |spp| Request::new(Budget::of_samples(spp), Options::default());
    let mut resident = Resident::new(DeviceChoice::Cuda(0).find().unwrap().start(None).unwrap());
    assert!(resident.image().unwrap().is_none());
    let first = resident.render(&scene([24, 16], 0), request(7), go_on).unwrap();
    let image = resident.image().unwrap().unwrap();
    assert_eq!((image.size(), image.bytes(), image.device()), ([24, 16], 24 * 16 * 12, 0));
    assert!(ulps(&image, &first) <= 0.5001, "{}", ulps(&image, &first));
    // Films of small images have layers.
    let second = resident.render(&scene([5, 3], 1), request(64), go_on).unwrap();
    let small = resident.image().unwrap().unwrap();
    assert!(ulps(&small, &second) <= 0.5001, "{}", ulps(&small, &second));
    // The one before is what it was, and no other one is taken for it.
    assert!(ulps(&image, &first) <= 0.5001);
    let other = resident.render(&scene([24, 16], 2), request(7), go_on).unwrap();
    assert!(ulps(&image, &other) > 1e3, "the control");
    resumed(&mut resident);
    drop((resident, small));
    assert_eq!(fake.ask::<i32>("fake_left"), 1, "the image outlives its machine");
    assert!(ulps(&image, &first) <= 0.5001);
}

/// What the host knows of an earlier render, and the GPU's films do not, is in the image.
fn resumed(resident: &mut Resident) {
    let go_on = &mut |_: &_| Control::Continue;
    let scene = scene([24, 16], 3);
    let request = |spp| Request::new(Budget::of_samples(spp), Options::default());
    let begun = resident.render(&scene, request(5), go_on).unwrap();
    let resumed = Some(Resumed::of_film(begun.film, 0..5, 1.0));
    let all = resident.render(&scene, Request { resumed, ..request(12) }, go_on).unwrap();
    assert_eq!(all.film.pixels[0].count, 12);
    let image = resident.image().unwrap().unwrap();
    assert!(ulps(&image, &all) <= 0.5001, "{}", ulps(&image, &all));
}
