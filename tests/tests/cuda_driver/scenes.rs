//! Scenes that do not fit into the memory of a GPU. The stages run on the CPU, in the memory of the fake driver, which is the
//! host's: what they make of it has to be the image of a GPU that has room for everything.

use std::path::Path;
use std::sync::Mutex;

use cpu::InstructionSet;
use renderer::assemble::{SceneData, assemble};
use renderer::render::{Budget, Control, Integrator, Options, Paths, Rendered, Shortage, When};
use renderer::sweep::{Scene, render_all};
use renderer::{DeviceChoice, Machine, MachineError};

use super::fake::Fake;

const SCENE: &str = r#"
    [render]
    size = [24, 16]
    spp = 4
    [camera]
    position = [0.3, 0.5, 1.4]
    target = [0, 0.15, 0]
    fov = 40
    [environment]
    file = "textures/sky.hdr"
    [materials.boards]
    type = "diffuse"
    reflectance = { file = "textures/planks.png" }
    [materials.red]
    type = "diffuse"
    reflectance = [0.7, 0.1, 0.1]
    [[shapes]]
    type = "mesh"
    file = "models/vase.ply"
    material = "boards"
    [[shapes]]
    type = "quad"
    material = "boards"
    transform = [{ scale = 4 }, { rotate = { axis = "x", degrees = -90 } }]
    [[groups.block.shapes]]
    type = "box"
    material = "red"
    transform = [{ scale = 0.1 }]
    [[instances]]
    group = "block"
    transform = [{ translate = [0.4, 0.1, 0] }]
    [[instances]]
    group = "block"
    transform = [{ translate = [-0.4, 0.1, 0.2] }]
"#;

/// The scene, with something else in the place of a part of it.
fn scene_with(from: &str, to: &str) -> SceneData {
    assert!(SCENE.contains(from), "{from}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes");
    let files = torrance_scene::Files::new(folder, false);
    let loaded = torrance_scene::load_bytes("scene.toml", SCENE.replacen(from, to, 1).as_bytes(), &files);
    assemble(&loaded.unwrap_or_else(|e| panic!("{e}")).description).unwrap()
}

/// A render on the fake GPU, and how it was for memory.
struct Outcome {
    rendered: Result<Rendered, MachineError>,
    allocations: i32,
    most_used: usize,
}

impl Outcome {
    /// A render with at most so much memory, of which the n-th allocation is refused, and all after it if that `goes_on`.
    fn new(
        fake: &Fake,
        scene: &SceneData,
        integrator: Integrator,
        memory: Option<u64>,
        (nth, goes_on): (i32, bool),
    ) -> Self {
        fake.refuse(nth, goes_on);
        let rendered = render(scene, integrator, memory);
        assert_eq!(fake.ask::<i32>("fake_left"), 0, "all is freed: {nth}, {goes_on}, {memory:?}");
        Self { rendered, allocations: fake.ask("fake_calls"), most_used: fake.ask("fake_most_used") }
    }

    fn shortage(&self) -> Shortage {
        self.rendered.as_ref().unwrap().progress.shortage
    }

    /// Whether it has the same image, to the last bit.
    fn is_like(&self, other: &Self) -> bool {
        let film =
            |outcome: &Self| outcome.rendered.as_ref().map(|rendered| rendered.film.pixels.clone()).ok();
        film(self).is_some() && film(self) == film(other)
    }

    /// Whether it ended for want of memory, and says so.
    fn is_refused(&self) -> bool {
        self.rendered.as_ref().is_err_and(|e| {
            let text = e.to_string();
            text.contains("allocating ") && text.contains("out of memory: ")
        })
    }
}

fn render(scene: &SceneData, integrator: Integrator, memory: Option<u64>) -> Result<Rendered, MachineError> {
    let mut device = DeviceChoice::Cuda(0).find().unwrap();
    device.memory = memory;
    let mut machine = device.start(None)?;
    let options = Options { integrator, ..Options::default() };
    let rendered = machine.render(scene, Budget::of_samples(4), options, &mut |_| Control::Continue);
    rendered.map_err(|e| machine.failed(e))
}

pub(super) fn run() -> String {
    let fake = Fake::start();
    let scene = scene_with("", "");
    let whole = Outcome::new(&fake, &scene, Integrator::Megakernel, None, (0, false));
    assert_eq!(whole.shortage().note("cuda:0"), None, "what fits stays");
    resembles_the_cpu(&scene, &whole);
    limits(&fake, &scene, &whole);
    refusals(&fake, &scene, &whole);
    wavefronts(&fake, &scene);
    sweeps(&fake);
    format!("{} allocations, {} bytes", whole.allocations, whole.most_used)
}

/// The image is that of a CPU, but for the order of sums.
fn resembles_the_cpu(scene: &SceneData, whole: &Outcome) {
    let mut cpu = Machine::cpu_with(Some(1), InstructionSet::Portable).unwrap();
    let rendered =
        cpu.render(scene, Budget::of_samples(4), Options::default(), &mut |_| Control::Continue).unwrap();
    let film = &whole.rendered.as_ref().unwrap().film;
    let mut colors = Vec::new();
    for (a, b) in rendered.film.pixels.iter().zip(&film.pixels) {
        for (a, b) in a.mean().into_iter().zip(b.mean()) {
            assert!((a - b).abs() <= 1e-4 * a.abs(), "{a} and {b}");
            colors.push(a.to_bits());
        }
    }
    colors.sort_unstable();
    colors.dedup();
    assert!(colors.len() > 300, "there is something to be seen: {}", colors.len());
}

/// Whatever the limit, it is kept, the image is the same, and what is on the host is told, in its order.
fn limits(fake: &Fake, scene: &SceneData, whole: &Outcome) {
    let all = whole.most_used as u64;
    let mut last = Shortage { textures: u64::MAX, ..Shortage::default() };
    for tenths in (0..=10).rev() {
        let limit = (all * tenths / 10).max(1 << 13);
        let limited = Outcome::new(fake, scene, Integrator::Megakernel, Some(limit), (0, false));
        let short = limited.shortage();
        println!("{limit} of {all} bytes: {} taken, {:?}", limited.most_used, short.note("cuda:0"));
        assert!(limited.is_like(whole), "{short:?}");
        assert!(limited.most_used as u64 <= limit, "{} of {limit}", limited.most_used);
        assert_eq!(short.note("cuda:0").is_some(), tenths < 10, "{short:?}");
        assert!(short.trees == 0 || short.shading > 0, "{short:?}");
        assert!(short.shading == 0 || short.textures > 0, "{short:?}");
        assert!(short.shading >= last.shading && short.trees >= last.trees, "{short:?} after {last:?}");
        last = short;
    }
    assert!(last.trees > 0 && last.films > 0, "{last:?}");
}

/// Whatever allocation is refused, alone or with all after it, the image is the same, or there is an error that says so.
fn refusals(fake: &Fake, scene: &SceneData, whole: &Outcome) {
    for goes_on in [false, true] {
        let mut survived = 0;
        for nth in 1..=whole.allocations {
            let outcome = Outcome::new(fake, scene, Integrator::Megakernel, None, (nth, goes_on));
            assert!(outcome.is_like(whole) || outcome.is_refused(), "{nth}: {:?}", outcome.rendered.err());
            survived += i32::from(outcome.rendered.is_ok());
        }
        // Only the memory that layouts are compared in has to be the GPU's.
        assert_eq!(survived, whole.allocations - 1, "{goes_on}");
    }
}

/// A wavefront takes less memory where there is less, and the megakernel stands in if it may.
fn wavefronts(fake: &Fake, scene: &SceneData) {
    // The fake driver has none of the kernels that take rays into an order.
    let paths = Paths { order_rays: When::Never, ..Paths::new(1 << 13) };
    let (chosen, fastest) = (Integrator::Wavefront(paths), Integrator::Fastest(paths));
    let mut large = scene.clone();
    (large.width, large.height) = (64, 48);
    let whole = Outcome::new(fake, &large, chosen, None, (0, false));
    assert_eq!(whole.shortage().note("cuda:0"), None);
    let limit = |bytes| Some(whole.most_used as u64 - bytes);
    let shrunk = Outcome::new(fake, &large, chosen, limit(1 << 20), (0, false)).shortage();
    assert!(matches!(shrunk.pool, Some([1024..8192, 8192])) && shrunk.textures == 0, "{shrunk:?}");
    // The megakernel stands in, rather than that the scene makes room.
    let alone = Outcome::new(fake, &large, Integrator::Megakernel, None, (0, false));
    let limit = Some(alone.most_used as u64);
    let fallen_back = Outcome::new(fake, &large, fastest, limit, (0, false));
    let expected = "memory: cuda:0 has no room for the wavefront's paths, so the megakernel traces them all";
    assert_eq!(fallen_back.shortage().note("cuda:0").unwrap(), expected);
    assert!(fallen_back.is_like(&alone));
    // The wavefront alone cannot do without paths, and they without memory.
    let without = Outcome::new(fake, &large, chosen, limit, (0, false));
    assert!(without.shortage().textures > 0 && without.shortage().pool.is_some(), "{:?}", without.shortage());
    for integrator in [chosen, fastest] {
        for goes_on in [false, true] {
            for nth in (1..=whole.allocations).filter(|nth| tier::takes(*nth as usize, 4)) {
                let outcome = Outcome::new(fake, &large, integrator, None, (nth, goes_on));
                assert!(
                    outcome.rendered.is_ok() || outcome.is_refused(),
                    "{nth}: {:?}",
                    outcome.rendered.err()
                );
            }
        }
    }
}

/// Scenes one after another, on machines that keep what two have in common: whatever the limit, the images are those of the
/// scenes alone. Two machines of one GPU do not drive each other to the memory of the host.
fn sweeps(fake: &Fake) {
    let variants = [
        ("", ""),
        ("[0.7, 0.1, 0.1]", "[0.1, 0.6, 0.1]"),
        ("vase.ply", "bowl.ply"),
        ("[0.4, 0.1, 0]", "[0.5, 0.1, 0]"),
    ];
    let scenes = variants.map(|(from, to)| scene_with(from, to));
    let alone =
        [0, 1, 2, 3].map(|i| Outcome::new(fake, &scenes[i], Integrator::Megakernel, None, (0, false)));
    assert!(!alone[0].is_like(&alone[1]) && !alone[0].is_like(&alone[2]) && !alone[0].is_like(&alone[3]));
    let all = alone.iter().map(|outcome| outcome.most_used as u64).max().unwrap_or(0);
    for (limit, is_short) in
        [(None, false), (Some(2 * all), false), (Some(all), false), (Some(all / 2), true), (Some(8192), true)]
    {
        fake.refuse(0, false);
        let mut device = DeviceChoice::Cuda(0).find().unwrap();
        device.memory = limit;
        let mut machines = [device.clone().start(None).unwrap(), device.start(None).unwrap()];
        let budget = Budget::of_samples(4);
        let budgeted = scenes.each_ref().map(|data| Scene { data, budget, checkpoint: None });
        let rendered = Mutex::new(Vec::new());
        let take = |i, one| rendered.lock().unwrap().push((i, one));
        let failures =
            render_all(&mut machines, &budgeted, Options::default(), &|_, _| Control::Continue, &take);
        assert!(failures.survived.is_empty() && failures.fatal.is_none(), "{failures:?}");
        drop(machines);
        assert_eq!(fake.ask::<i32>("fake_left"), 0);
        let most_used: usize = fake.ask("fake_most_used");
        assert!(limit.is_none_or(|limit| most_used as u64 <= limit), "{most_used} of {limit:?}");
        let rendered: Vec<(usize, Rendered)> = rendered.into_inner().unwrap();
        assert_eq!(rendered.len(), scenes.len());
        for (i, one) in rendered {
            assert_eq!(one.progress.shortage.note("cuda:0").is_some(), is_short, "{limit:?}, {i}");
            assert!(
                alone[i].is_like(&Outcome { rendered: Ok(one), allocations: 0, most_used: 0 }),
                "{limit:?}, {i}"
            );
        }
    }
}
