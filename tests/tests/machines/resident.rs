//! Images that stay on a GPU, read there as another library would.

use cust::memory::{CopyDestination, DevicePointer, DeviceSlice};
use renderer::assemble::SceneData;
use renderer::render::{Budget, Control, Integrator, Options, Paths, Progress, Rendered, Request, Resumed};
use renderer::{DeviceImage, Resident};
use torrance_tests::{assembled, machines, reference_scene, ulps};

/// A scene of the references, at a size.
fn scene(name: &str, [width, height]: [u32; 2]) -> SceneData {
    let mut description = reference_scene(name);
    (description.render.width, description.render.height) = (width, height);
    assembled(&description)
}

fn render(resident: &mut Resident, scene: &SceneData, request: Request<'_>) -> Rendered {
    resident.render(scene, request, &mut |_: &Progress| Control::Continue).expect("rendering succeeds")
}

/// Copies an image by its address, in the context that is current.
fn read(image: &DeviceImage) -> Vec<f32> {
    let mut floats = vec![0.0_f32; image.bytes() / 4];
    let address = DevicePointer::from_raw(image.address());
    // SAFETY: the image has so many floats, lives, and nothing writes it.
    let there = unsafe { DeviceSlice::from_raw_parts(address, floats.len()) };
    there.copy_to(&mut floats).expect("the image is there");
    floats
}

/// Whatever was rendered before, by either integrator, in one film or in layers, and of a render that goes on; the control is
/// another render's.
#[test]
fn images_on_the_machine_are_those_of_the_films() {
    let wavefront = Integrator::Wavefront(Paths::new(1 << 16));
    for machine in machines() {
        let is_gpu = machine == torrance_tests::Machine::Cuda;
        let mut resident = Resident::new(machine.start());
        let mut last: Option<Vec<f32>> = None;
        for (name, size, integrator) in [
            ("cornell-diffuse", [96, 64], Integrator::Megakernel),
            ("cornell-diffuse", [96, 64], wavefront),
            ("cornell-diffuse", [7, 5], Integrator::Megakernel),
            ("cornell-ggx", [7, 5], Integrator::Megakernel),
        ] {
            let options = Options { integrator, ..Options::default() };
            let scene = scene(name, size);
            let rendered = render(&mut resident, &scene, Request::new(Budget::of_samples(33), options));
            let Some(image) = resident.image().expect("there is memory") else {
                assert!(!is_gpu);
                continue;
            };
            assert_eq!((image.size(), image.bytes()), (size, (size[0] * size[1] * 12) as usize));
            let floats = read(&image);
            let off = ulps(&floats, &rendered);
            println!("{}, {name}, {size:?}: {off:.4} ulp", resident.name());
            assert!(off <= 0.5001, "{off}");
            if let Some(last) = last.filter(|last| last.len() == floats.len() && name == "cornell-ggx") {
                assert!(ulps(&last, &rendered) > 1e3, "the control");
            }
            last = Some(floats);
        }
        goes_on(&mut resident);
    }
}

fn goes_on(resident: &mut Resident) {
    let scene = scene("cornell-diffuse", [48, 32]);
    let request = |spp| Request::new(Budget::of_samples(spp), Options::default());
    let begun = render(resident, &scene, request(5));
    let resumed = Some(Resumed::of_film(begun.film, 0..5, 1.0));
    let all = render(resident, &scene, Request { resumed, ..request(12) });
    if let Some(image) = resident.image().expect("there is memory") {
        assert!(ulps(&read(&image), &all) <= 0.5001);
    }
}
