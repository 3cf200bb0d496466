//! Every lobe on the GPU against the same code on the CPU, input by input, and how fast the GPU draws from it.
//!
//! Both are asked the same, to the last bit; what they answer differs as the GPU fuses products with sums, takes square
//! roots, quotients, sines and powers to an ulp or two, and denormals for zero. How much that is depends on how badly an
//! input is conditioned: at grazing angles half vectors cancel, and a narrow peak makes much of little. So the measure of
//! a difference is [`Slack`], by how much the CPU's answers to the next inputs differ, and plain relative differences
//! are printed beside it. Random walks go elsewhere altogether where rounding flips one of their decisions: of them the
//! means over all inputs are compared.

mod materials;
mod walks;

use std::f64::consts::TAU;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use device::material::probe::{Answer, Input, ask, draw};
use device::rng::{pcg4d, uniform};
use device::scene::SceneView;
use glam::{Vec2, Vec3};
use renderer::assemble::SceneData;
use renderer::render::Uploaded;
use torrance_gpu::backend::cpu::Cpu;
use torrance_gpu::backend::cuda::Cuda;
use torrance_scene::Masking;

use crate::selftest_gpu::{Arg, Gpu, arg};

use materials::{Group, groups, scene};
use walks::{Walks, walks};

/// Inputs of every lobe where there is a GPU, and where the CPU is compared with itself.
const INPUTS: [usize; 2] = [1_000_000, 30_000];

/// One input in so many has uniforms at the ends of their range. There decisions hang by an ulp: answers have to be
/// finite, no more.
const ADVERSARIAL: usize = 16;

/// Most excess of a difference over its slack, but for one in 10⁴ inputs.
const MOST_EXCESS: f64 = 100.0;

/// Most inputs of which another direction may be drawn, as a part of all.
const MOST_OTHERWISE: f64 = 1e-4;

/// Most standard errors by which means over walks may differ.
const MOST_ERRORS: f64 = 5.0;

fn random(i: usize, what: u32) -> [f32; 4] {
    pcg4d([i as u32, what, 23, 5]).map(uniform)
}

fn direction(cos: f64, turn: f32) -> Vec3 {
    let (sin, (s, c)) = ((1.0 - cos * cos).max(0.0).sqrt(), (TAU * f64::from(turn)).sin_cos());
    Vec3::new((sin * c) as f32, (sin * s) as f32, cos as f32)
}

const fn is_adversarial(i: usize) -> bool {
    i.is_multiple_of(ADVERSARIAL)
}

/// The `i`-th input of the materials `first` .. `first + count`. Every fourth direction to the viewer is grazing; half
/// of the other directions are some that the lobe draws.
fn input(view: &SceneView, i: usize, first: usize, count: usize) -> Input {
    let ([a, b, c, d], [e, f, g, h]) = (random(i, 0), random(i, 1));
    let cos = if d < 0.25 { 10.0_f64.powf(-3.0 * f64::from(a)) } else { f64::from(1.0 - a) };
    let mut input = Input {
        wo: direction(cos, b),
        uc: c,
        wi: direction(f64::from(2.0 * e - 1.0), f),
        material: (first + i / 2 % count) as u32,
        u: Vec2::new(g, h),
        front: u32::from(i % 8 < 5),
        reserved: 0,
    };
    if i % 2 == 1 {
        // SAFETY: the view is of an uploaded scene with these materials.
        let answer = unsafe { ask(view, &input) };
        input.wi = if answer.eta > 0.0 { answer.wi } else { input.wi };
        let [c, g, h, _] = random(i, 2);
        (input.uc, input.u) = (c, Vec2::new(g, h));
    }
    if is_adversarial(i) {
        let ulp = f32::EPSILON / 2.0;
        let ends = [0.0, ulp, 0.25, 0.5 - ulp, 0.5, 0.75, 1.0 - 2.0 * ulp, 1.0 - ulp];
        let end = |x: f32| ends[(x * 8.0) as usize];
        (input.uc, input.u) = (end(c), Vec2::new(end(g), end(h)));
    }
    input
}

/// Calls `f` for all of 0 .. n, on all cores.
fn parallel<T: Send + Default + Clone>(n: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut all = vec![T::default(); n];
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let size = n.div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        for (t, part) in all.chunks_mut(size).enumerate() {
            let f = &f;
            scope.spawn(move || {
                for (i, value) in part.iter_mut().enumerate() {
                    *value = f(t * size + i);
                }
            });
        }
    });
    all
}

/// The CPU's answer.
fn answer(view: &SceneView, input: &Input) -> Option<Answer> {
    // SAFETY: views are of uploaded scenes, and inputs name their materials.
    Some(unsafe { ask(view, input) })
}

/// Inputs whose answers tell how well an input is conditioned.
const NEIGHBOURS: u32 = 8;

/// An input next to another: components of directions off by at most `ulps`, for even `k` of their own and for odd `k`
/// of 1, and uniforms by the least step there is.
fn neighbour(input: &Input, i: usize, k: u32, ulps: f32) -> Input {
    let ulp = f32::EPSILON;
    let off = |axis: u32| 2.0 * uniform(pcg4d([i as u32, axis, k, 9])[0]) - 1.0;
    let size = |x: f32| if k.is_multiple_of(2) { x.abs() } else { 1.0 };
    let near = |x: f32, axis| x + ulps * ulp * size(x) * off(axis);
    let moved = |w: Vec3, axis| Vec3::new(near(w.x, axis), near(w.y, axis + 1), near(w.z, axis + 2));
    let step = |x: f32, axis| (x + 0.5 * ulp * off(axis).signum()).clamp(0.0, 1.0 - 0.5 * ulp);
    Input {
        wo: moved(input.wo, 0),
        wi: moved(input.wi, 3),
        uc: step(input.uc, 6),
        u: Vec2::new(step(input.u.x, 7), step(input.u.y, 8)),
        ..*input
    }
}

/// Columns of answers that are compared.
const COLUMNS: [&str; 5] = ["f", "pdf", "wi", "its pdf", "weight"];

/// Differences of the columns, with how large they are themselves.
fn differences(a: &Answer, b: &Answer) -> [f64; 5] {
    let of = |a: Vec3, b: Vec3| f64::from((a - b).abs().max_element());
    [
        of(a.f, b.f),
        f64::from((a.pdf - b.pdf).abs()),
        f64::from((a.wi - b.wi).length()),
        f64::from((a.sample_pdf - b.sample_pdf).abs()),
        of(a.weight, b.weight),
    ]
}

/// Scales of relative differences: at least a thousandth.
fn sizes(a: &Answer) -> [f64; 5] {
    let [f, pdf, sample_pdf, weight] = [a.f.max_element(), a.pdf, a.sample_pdf, a.weight.max_element()];
    [f, pdf, 1.0, sample_pdf, weight].map(|x| f64::from(x).max(1e-3))
}

/// Whether two answers are about the same way to go on: drawn or not, on the same side, and not elsewhere altogether.
fn same_way(a: &Answer, b: &Answer, slack: f64) -> bool {
    let away = f64::from((a.wi - b.wi).length());
    a.eta.max(b.eta) == 0.0
        || ((a.eta / b.eta - 1.0).abs() < 1e-5 && a.wi.z * b.wi.z > 0.0 && away < 1e-3 + MOST_EXCESS * slack)
}

/// Columns that can be compared: f and pdf are, of answers that go different ways.
const fn comparable(same_way: bool) -> usize {
    if same_way { 5 } else { 2 }
}

/// By how much answers may differ.
#[derive(Clone, Copy, Default)]
struct Slack {
    /// Of the columns: how far the answers to neighbours are away, and a few ulps.
    columns: [f64; 5],
    /// Whether neighbours go another way.
    undecided: bool,
}

impl Slack {
    fn new(view: &SceneView, i: usize, input: &Input, own: &Answer) -> Self {
        let mut columns = sizes(own).map(|size| 4.0 * f64::from(f32::EPSILON) * size);
        let mut undecided = false;
        for k in 0..NEIGHBOURS {
            let Some(other) = answer(view, &neighbour(input, i, k, 2.0)) else { continue };
            let same = same_way(own, &other, 0.0);
            undecided |= !same;
            let differences = differences(own, &other);
            for (column, difference) in columns.iter_mut().zip(differences).take(comparable(same)) {
                *column = column.max(difference);
            }
        }
        Self { columns, undecided }
    }
}

/// How the answers of two machines differ.
struct Comparison {
    /// By column: the largest relative difference, that of all but one in 10⁴, and the excess of all but one in 10⁴.
    columns: [[f64; 3]; 5],
    /// Parts of the inputs with which one machine goes another way, and where neighbours would not.
    otherwise: [f64; 2],
    /// Inputs to which an answer is no finite number.
    infinite: usize,
}

impl Comparison {
    fn is_rejected(&self) -> bool {
        self.infinite > 0
            || self.otherwise[0] > MOST_OTHERWISE
            || self.columns.iter().any(|column| column[2].is_nan() || column[2] > MOST_EXCESS)
    }

    fn line(&self, name: &str) -> String {
        let columns = COLUMNS.iter().zip(&self.columns).map(|(column, [most, nearly, excess])| {
            format!("{column} {most:.0e}, {nearly:.0e} ({excess:.1})")
        });
        let columns: Vec<_> = columns.collect();
        format!(
            "{name:21} {}; otherwise {:.0e}, unexplained {:.0e}; not finite {}",
            columns.join("; "),
            self.otherwise[0],
            self.otherwise[1],
            self.infinite
        )
    }
}

fn is_finite(a: &Answer) -> bool {
    bytemuck::cast_slice::<_, f32>(std::slice::from_ref(a)).iter().all(|x| x.is_finite())
}

/// The value that all but one in 10⁴ do not exceed; NaN if any is.
fn nearly_all(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.last() {
        None => 0.0,
        Some(last) if last.is_nan() => f64::NAN,
        _ => values[values.len() - 1 - values.len() / 10_000],
    }
}

fn compare(cpu: &[Answer], slack: &[Slack], other: &[Answer]) -> Comparison {
    let mut relative: [Vec<f64>; 5] = Default::default();
    let mut excess = relative.clone();
    let (mut infinite, mut otherwise, mut counted) = (0, [0usize; 2], 0usize);
    for (i, ((a, slack), b)) in cpu.iter().zip(slack).zip(other).enumerate() {
        infinite += usize::from(!is_finite(a) || !is_finite(b));
        if is_adversarial(i) {
            continue;
        }
        counted += 1;
        let same = same_way(a, b, slack.columns[2]);
        otherwise[0] += usize::from(!same);
        otherwise[1] += usize::from(!same && !slack.undecided);
        let (d, sizes) = (differences(a, b), sizes(a));
        for c in 0..comparable(same && a.eta > 0.0) {
            relative[c].push(d[c] / sizes[c]);
            excess[c].push(d[c] / slack.columns[c]);
        }
    }
    let mut columns = [[0.0; 3]; 5];
    for (column, (relative, excess)) in columns.iter_mut().zip(relative.into_iter().zip(excess)) {
        let most = relative.iter().copied().fold(0.0, f64::max);
        *column = [most, nearly_all(relative), nearly_all(excess)];
    }
    Comparison { columns, otherwise: otherwise.map(|n| n as f64 / counted as f64), infinite }
}

/// Lock of the GPU, so that no other test runs on it during a measurement.
static ALONE: Mutex<()> = Mutex::new(());

/// A scene in the memory of a machine.
struct On<B: torrance_gpu::backend::Backend> {
    view: SceneView,
    _uploaded: Uploaded<B>,
}

fn on_host(scene: &SceneData) -> On<Cpu> {
    let uploaded = Uploaded::new(&mut Cpu::new(Some(1)).expect("threads start"), scene).expect("it fits");
    On { view: uploaded.view(scene), _uploaded: uploaded }
}

/// A GPU with the scene and the test kernels.
struct Rig {
    gpu: Gpu,
    on: On<Cuda>,
    // After what is in its memory.
    _cuda: Cuda,
}

impl Rig {
    fn open(scene: &SceneData) -> Option<Self> {
        let gpu = Gpu::open()?;
        let mut cuda = Cuda::new(0).expect("the device opens");
        let uploaded = Uploaded::new(&mut cuda, scene).expect("it fits");
        Some(Self { gpu, on: On { view: uploaded.view(scene), _uploaded: uploaded }, _cuda: cuda })
    }

    fn scene(&self) -> Arg {
        /// Arrays of any length are no plain data to `bytemuck`, which knows some lengths.
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        struct Words([u64; size_of::<SceneView>() / 8]);
        // SAFETY: they are numbers without gaps.
        unsafe impl bytemuck::Zeroable for Words {}
        // SAFETY: as above.
        unsafe impl bytemuck::Pod for Words {}
        // SAFETY: it is made of pointers and numbers, without gaps, and as large.
        arg(unsafe { std::mem::transmute::<SceneView, Words>(self.on.view) })
    }

    fn ask(&self, inputs: &[Input]) -> Vec<Answer> {
        let buffer = self.gpu.upload::<u32>(bytemuck::cast_slice(inputs));
        let answers = self.gpu.zeros::<u32>(inputs.len() * (size_of::<Answer>() / 4));
        let args = [self.scene(), arg(inputs.len() as u32), buffer.arg(), answers.arg()];
        let blocks = inputs.len().div_ceil(128) as u32;
        self.gpu.launch_1d("lobe_ask", blocks, 128, &args).expect("the kernel runs");
        bytemuck::cast_slice(&self.gpu.download(&answers).expect("answers arrive")).to_vec()
    }

    /// Draws directions in so many threads; the sums, and seconds.
    fn draw(&self, material: u32, threads: u32, samples: u32) -> (Vec<f32>, f64) {
        let sums = self.gpu.zeros::<f32>(3 * threads as usize);
        let args = [self.scene(), arg(material), arg(samples), sums.arg()];
        let start = Instant::now();
        self.gpu.launch_1d("lobe_draw", threads / 128, 128, &args).expect("the kernel runs");
        let took = start.elapsed().as_secs_f64();
        (self.gpu.download(&sums).expect("sums arrive"), took)
    }
}

/// Calls `f` with the name, the first material and the number of materials of every lobe.
fn for_each_group(groups: &[Group], mut f: impl FnMut(&str, usize, usize)) {
    let mut first = 0;
    for group in groups {
        f(group.name, first, group.kinds.len());
        first += group.kinds.len();
    }
}

/// Whether another machine's answers differ by more than they may; whether they do so even if nothing is looked at
/// but, of walks, the means; and a line that says by how much.
fn judged(
    name: &str,
    inputs: &[Input],
    cpu: &[Answer],
    slack: &[Slack],
    other: &[Answer],
) -> ([bool; 2], String) {
    let pointwise = compare(cpu, slack, other);
    if walks(name) {
        let found = Walks::new(inputs, cpu, other, pointwise);
        return ([found.is_rejected(), found.differ()], found.line(name));
    }
    ([pointwise.is_rejected(); 2], pointwise.line(name))
}

/// Compares all lobes; where there is no GPU, the CPU with itself on neighbours of the inputs, which differ by about as
/// much. As a control the same with materials that differ by a thousandth or, of panes that do no more than choose and
/// of walks, by a tenth.
fn all_lobes_agree(masking: Masking) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let ours = groups(1.0);
    let data = scene(&ours, masking);
    let host = on_host(&data);
    let rig = Rig::open(&data);
    let others = [1.001, 1.1].map(|x| scene(&groups(x), masking));
    let others = others.each_ref().map(on_host);
    let n = INPUTS[usize::from(rig.is_none())];
    println!(
        "{masking:?}, {n} inputs of every lobe: largest relative difference, of 99.99 %, (excess over slack)"
    );
    let mut rejected = Vec::new();
    for_each_group(&ours, |name, first, count| {
        let inputs = parallel(n, |i| Some(input(&host.view, i, first, count)));
        let inputs: Vec<Input> = inputs.into_iter().flatten().collect();
        let on = |view: &SceneView| -> Vec<Answer> {
            parallel(n, |i| answer(view, &inputs[i])).into_iter().flatten().collect()
        };
        let cpu = on(&host.view);
        let slack = parallel(n, |i| Slack::new(&host.view, i, &inputs[i], &cpu[i]));
        let other = rig.as_ref().map_or_else(
            || {
                let near = parallel(n, |i| answer(&host.view, &neighbour(&inputs[i], i, 99, 1.0)));
                near.into_iter().flatten().collect()
            },
            |rig| rig.ask(&inputs),
        );
        let ([is_rejected, _], line) = judged(name, &inputs, &cpu, &slack, &other);
        println!("{line}");
        if is_rejected {
            rejected.push(name.to_owned());
        }
        let control = &others[usize::from(name == "ThinDielectric" || walks(name))];
        let ([_, differs], line) = judged(name, &inputs, &cpu, &slack, &on(&control.view));
        if rig.is_some() {
            println!("- control {line}");
        }
        assert!(differs, "the control: {line}");
    });
    assert!(rejected.is_empty(), "{rejected:?}");
}

#[test]
fn lobes_say_the_same_on_gpu_and_cpu() {
    all_lobes_agree(Masking::Correlated);
}

#[test]
fn lobes_with_separable_masking_say_the_same_on_gpu_and_cpu() {
    all_lobes_agree(Masking::Separable);
}

/// Prints what a sample costs, of the material of every lobe that is slowest and of the one that is fastest, and checks
/// that what was timed is what the CPU computes.
#[test]
fn samples_per_second_of_every_lobe() {
    let samples: u32 = tier::choose(32, 256);
    const THREADS: u32 = 1 << 18;
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let ours = groups(1.0);
    let data = scene(&ours, Masking::Correlated);
    let host = on_host(&data);
    let rig = Rig::open(&data);
    for_each_group(&ours, |name, first, count| {
        let mut rates = Vec::new();
        for material in (first..first + count).map(|i| i as u32) {
            // SAFETY: the view is of an uploaded scene with this material.
            let on_host = |i: usize| unsafe { draw(&host.view, material, i as u32, samples) };
            let expected = parallel(256, on_host);
            let is_something = |sum: &Vec3| *sum != Vec3::ZERO;
            assert!(
                expected.iter().all(|sum| sum.is_finite()) && expected.iter().any(is_something),
                "{name}"
            );
            let Some(rig) = &rig else { continue };
            let (sums, _) = rig.draw(material, THREADS, samples);
            assert!(sums.iter().all(|x| x.is_finite()), "{name}");
            let seconds =
                (0..3).map(|_| rig.draw(material, THREADS, samples).1).fold(f64::INFINITY, f64::min);
            rates.push(f64::from(THREADS) * f64::from(samples) / seconds);
            let error = |i: usize| {
                let found = Vec3::from_slice(&sums[3 * i..]);
                f64::from(
                    (found - expected[i]).abs().max_element() / expected[i].abs().max_element().max(1e-3),
                )
            };
            let mut errors: Vec<f64> = (0..expected.len()).map(error).collect();
            errors.sort_by(f64::total_cmp);
            // A sum in which one sample goes another way is off, as is one of densities of the narrowest peaks.
            let median = errors[errors.len() / 2];
            assert!(median < 1e-2, "{name}, material {material}: {median:e}");
        }
        rates.sort_by(f64::total_cmp);
        if let (Some(slowest), Some(fastest)) = (rates.first(), rates.last()) {
            println!("{name:21} {:6.2} to {:6.2} G samples/s", 1e-9 * slowest, 1e-9 * fastest);
        }
    });
}

/// Every lobe is among those compared.
#[test]
fn no_lobe_is_forgotten() {
    let names: Vec<_> = groups(1.0).iter().map(|group| group.name).collect();
    let mut all = device::bsdf::Bsdf::NAMES.to_vec();
    all.retain(|name| !names.contains(name));
    assert!(all.is_empty(), "not compared: {all:?}");
    // And materials are what their group says: no lobe but the group's can come of them.
    for group in groups(1.0) {
        let at = device::bsdf::Bsdf::NAMES.iter().position(|name| *name == group.name).expect("a lobe");
        assert!(group.kinds.iter().all(|kind| kind.features().words()[0] >> at & 1 == 1), "{}", group.name);
    }
}
