//! Paths from which a guide learns. They are not of the image, which so stays independent of what guides it.

use core::f32::consts::{FRAC_1_PI, PI};

use glam::Vec3;
use primitives::Ptr;

use super::manifold::Caustic;
use super::megakernel::generate;
use super::step::{Arrived, Scattered, Scatterer, Shaded, VisibleLight, arrive, scatter_lit, visibility};
use super::{PathSettings, PathState};
use crate::arch::{load, max, read, write};
use crate::bvh::{Arch, closest_hit};
use crate::color::luminance;
use crate::features::{Compiled, Guided};
use crate::function::{Count, Function};
use crate::guiding::{Record, Trial, Twin};
use crate::light::tree::Facing;
use crate::material::{Header, Material};
use crate::ray::Ray;
use crate::rng::pcg4d;
use crate::scene::SceneView;

/// Vertices of a path that leave records: the first ones.
pub const VERTICES: u32 = 8;

/// Which paths to take, and where they leave records: path `i` of `paths` in slots `i`, `i + paths`, and so on, [`VERTICES`] of them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LearnArgs {
    /// The scene.
    pub scene: SceneView,
    /// Settings of the transport.
    pub settings: PathSettings,
    /// Image width, pixels.
    pub width: u32,
    /// Image height, pixels.
    pub height: u32,
    /// Number of the first path.
    pub first: u32,
    /// Number of paths.
    pub paths: u32,
    /// Records, of which only the flagged ones are of any use.
    pub slots: Ptr<Record>,
    /// Their keys.
    pub keys: Ptr<u64>,
    /// Non-zero for a record that has brought something.
    pub flags: Ptr<u8>,
    /// While a path is under way: the luminance of its throughput before it scattered; of the record itself, what it had gathered when it
    /// went on is in the place of what it brings.
    pub throughputs: Ptr<f32>,
    /// What the paths have brought.
    pub trials: Ptr<Trial>,
}

impl Count for LearnArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.paths
    }
}

/// The stage.
pub struct Learn;

impl Function for Learn {
    type Args = LearnArgs;

    /// Follows one path and perhaps a photon, and leaves their records.
    ///
    /// # Safety
    /// The pointers in `args` are valid, and the machine is an `A`.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &LearnArgs) {
        let LearnArgs { scene, settings, width, height, .. } = args;
        let number = args.first + i;
        let pixel = pixel_of(number, settings.seed, [*width, *height]);
        // SAFETY: as the caller promised; the slots of the path are its own.
        unsafe {
            let mut state = generate::<Guided>(scene, settings, pixel, [*width, *height], number);
            let mut learner = Learner::new(args, i);
            // One loop for both: what a step does is long.
            loop {
                if learner.step::<A>(&mut state) {
                    continue;
                }
                if !learner.is_photon {
                    args.finish(i, learner.vertices, &state);
                    write(args.trials.at(i), learner.twin.end(luminance(state.l)));
                }
                if !learner.send_photon(&mut state) {
                    return;
                }
            }
        }
    }
}

/// Column and row of the pixel that path `number` is of, in an image of a size.
#[inline(always)]
pub fn pixel_of(number: u32, seed: u32, [width, height]: [u32; 2]) -> [u32; 2] {
    let [x, y, _, _] = pcg4d([number, seed, 0x6d1d_e000, 1]);
    [scaled(x, width), scaled(y, height)]
}

/// A word as a number below `n`.
#[inline(always)]
fn scaled(word: u32, n: u32) -> u32 {
    ((u64::from(word) * u64::from(n)) >> 32) as u32
}

impl LearnArgs {
    /// Slot of a vertex of path `i`.
    #[inline(always)]
    fn slot(&self, i: u32, vertex: u32) -> u32 {
        vertex * self.paths + i
    }

    /// Completes the records of a path that has ended.
    ///
    /// # Safety
    /// The pointers are valid, and the slots of the path its own.
    #[inline(always)]
    unsafe fn finish(&self, i: u32, vertices: u32, state: &PathState) {
        let mut vertex = 0;
        while vertex < VERTICES {
            let slot = self.slot(i, vertex);
            let mut is_kept = false;
            // SAFETY: as the caller promised.
            unsafe {
                if vertex < vertices {
                    let record = self.slots.at(slot);
                    let brought = luminance(state.l) - read(&raw const (*record).contribution);
                    let throughput = read(self.throughputs.at(slot));
                    let contribution = brought / max(throughput, f32::MIN_POSITIVE);
                    let is_lit = throughput > 0.0 && contribution > 0.0 && contribution < f32::MAX;
                    is_kept = is_lit || (self.first + i + vertex).is_multiple_of(Record::UNLIT);
                    write(&raw mut (*record).contribution, if is_lit { contribution } else { 0.0 });
                }
                self.flags.at(slot).write(u8::from(is_kept));
            }
            vertex += 1;
        }
    }
}

/// A path that leaves records where it scatters, and then perhaps a photon: a path from a light through what the first one has met of
/// smooth surfaces, to where paths could hardly know that such light comes from there (Jensen 1995, "Importance Driven Path Tracing using
/// the Photon Map"; Vorba et al. 2014, section 5). It tells of directions alone: how much light there is, the paths of later rounds find
/// out, which are guided there.
struct Learner<'a> {
    args: &'a LearnArgs,
    path: u32,
    /// Number of vertices so far that have left records.
    vertices: u32,
    /// Whether it is the photon.
    is_photon: bool,
    /// Whether the last record is to be told how far away is what it sees.
    is_asked: bool,
    /// How far the path has come since then, or the photon since it left the light, smooth surfaces apart.
    distance: f32,
    /// The path as it would be without a guide.
    twin: Twin,
    /// Number of smooth surfaces that it has met.
    smooth: u32,
    /// What to send.
    photon: Photon,
}

/// A photon to be sent.
#[derive(Clone, Copy)]
struct Photon {
    /// The point that it is sent to, on a smooth surface.
    target: Vec3,
    /// Unit direction from there to the light.
    to_light: Vec3,
    /// Distance of the light, infinity for one infinitely far away.
    distance: f32,
    /// Radiance.
    radiance: Vec3,
    /// Its rate: solid-angle density of the direction over the cosine there; 0 for none.
    rate: f32,
}

impl<'a> Learner<'a> {
    const fn new(args: &'a LearnArgs, path: u32) -> Self {
        let photon = Photon {
            target: Vec3::ZERO,
            to_light: Vec3::ZERO,
            distance: 0.0,
            radiance: Vec3::ZERO,
            rate: 0.0,
        };
        Self {
            args,
            path,
            vertices: 0,
            is_photon: false,
            is_asked: false,
            distance: 0.0,
            twin: Twin::NEW,
            smooth: 0,
            photon,
        }
    }

    /// Goes on to the next vertex. Returns whether the path goes on from there.
    ///
    /// # Safety
    /// As [`Learn::run`].
    #[inline(always)]
    unsafe fn step<A: Arch>(&mut self, state: &mut PathState) -> bool {
        let args = self.args;
        let LearnArgs { scene, settings, .. } = args;
        // SAFETY: as the caller promised; the slots of the path are its own.
        unsafe {
            let hit = closest_hit::<A, Guided>(scene, state.ray, f32::INFINITY);
            self.distance += if hit.is_hit() { hit.t } else { f32::INFINITY };
            let before = self.vertices;
            let (distance, was_asked) = (self.distance, self.is_asked);
            let (gathered, ratio) = (luminance(state.l), self.twin.ratio);
            self.is_asked = false;
            let shaded = arrive::<Guided, _>(scene, settings, state, &hit, &mut *self);
            if let Some(shadow) = shaded.shadow {
                state.l += shadow.ld * visibility::<A, Guided>(scene, &shadow);
            }
            self.twin.gather(luminance(state.l) - gathered, ratio);
            if was_asked {
                if shaded.alive && state.prev_pdf <= 0.0 && self.vertices == before {
                    self.is_asked = true;
                } else {
                    let record = args.slots.at(args.slot(self.path, before - 1));
                    write(&raw mut (*record).per_distance, 1.0 / max(distance, f32::MIN_POSITIVE));
                }
            }
            if self.vertices > before && !self.is_photon {
                (*args.slots.at(args.slot(self.path, before))).contribution = luminance(state.l);
                (self.is_asked, self.distance) = (true, 0.0);
            }
            shaded.alive
        }
    }

    /// Takes a smooth surface as what a photon is sent to, with a light that was drawn there: one of all that the path meets.
    #[inline(always)]
    fn aim(&mut self, state: &PathState, at: &Scatterer<'_>, light: &VisibleLight) {
        let [word, ..] = pcg4d([state.sample, state.depth, self.args.settings.seed, 0x07f0_7045]);
        let VisibleLight { sample, wi, .. } = light;
        let is_of_use = !sample.is_delta && sample.li != Vec3::ZERO && sample.pdf > 0.0 && wi.z != 0.0;
        self.smooth += 1;
        if !is_of_use || scaled(word, self.smooth) != 0 {
            return;
        }
        let distance = match sample.target {
            Some(target) => (target.p - at.p).length(),
            None => f32::INFINITY,
        };
        self.photon = Photon {
            target: at.p,
            to_light: sample.wi,
            distance,
            radiance: sample.li,
            rate: sample.pdf / wi.z.abs(),
        };
    }

    /// Makes the path that has ended the photon, if there is one to be sent and a slot for it.
    #[inline(always)]
    fn send_photon(&mut self, state: &mut PathState) -> bool {
        let Photon { target, to_light, distance, radiance, rate } = self.photon;
        let knows_bounds = self.args.scene.guide.bounds.scale > 0.0;
        if self.is_photon || rate <= 0.0 || self.vertices == VERTICES || !knows_bounds {
            return false;
        }
        (self.is_photon, self.is_asked, self.distance, self.smooth) = (true, false, 0.0, 0);
        let start = if distance < f32::INFINITY {
            distance * 0.9999
        } else {
            self.distance = f32::INFINITY;
            self.args.scene.guide.bounds.beyond()
        };
        *state = PathState {
            ray: Ray { o: target + start * to_light, d: -to_light },
            beta: radiance,
            l: Vec3::ZERO,
            prev_pdf: 0.0,
            eta_scale: 1.0,
            passed: 0.0,
            depth: 0,
            // As of a camera ray behind a hole, which sees what is far away.
            holes: 1,
            sample: state.sample ^ OF_PHOTON,
            ..*state
        };
        true
    }

    /// Leaves the record of a photon that has come to a surface which is not smooth.
    ///
    /// # Safety
    /// As [`Learn::run`]; `at` is where it is.
    #[inline(always)]
    unsafe fn land(&mut self, state: &PathState, at: &Scatterer<'_>) {
        let (rate, cos) = (self.photon.rate, max(at.wo.z, 0.0));
        let contribution = luminance(state.beta) / (PI * rate);
        if self.smooth == 0 || cos <= 0.0 || !(contribution > 0.0 && contribution < f32::MAX) {
            return;
        }
        let slot = self.args.slot(self.path, self.vertices);
        let record = Record {
            p: at.p,
            direction: Facing::of_normal(-state.ray.d).0,
            per_distance: 1.0 / max(self.distance, f32::MIN_POSITIVE),
            contribution,
            pdf: -rate * cos,
            bsdf_pdf: cos * FRAC_1_PI,
        };
        // SAFETY: as the caller promised; the slot is the path's own.
        unsafe {
            write(self.args.keys.at(slot), self.args.scene.guide.bounds.key(at.p, at.frame.z));
            write(self.args.slots.at(slot), record);
            self.args.flags.at(slot).write(1);
        }
        self.vertices += 1;
    }
}

/// Bit of a sample's number that makes it one of photons.
const OF_PHOTON: u32 = 1 << 30;

impl Arrived<'_> for &mut Learner<'_> {
    #[inline(always)]
    unsafe fn scatter<C: Compiled>(
        self,
        scene: &SceneView,
        settings: &PathSettings,
        state: &mut PathState,
        at: Scatterer<'_>,
    ) -> Shaded {
        let throughput = luminance(state.beta);
        let args = self.args;
        // SAFETY: as the caller promised; the slots of the path are its own.
        unsafe {
            let flags = Material::flags(at.material);
            let (spreads, is_smooth) = (flags & Header::SPREADS != 0, flags & Header::SMOOTH != 0);
            if self.is_photon {
                if spreads && self.smooth > 0 {
                    self.land(state, &at);
                }
                if !is_smooth || self.vertices == VERTICES {
                    return Shaded::END;
                }
            }
            let Scattered { light, visible, shaded, bsdf_pdf, of_bsdf } =
                scatter_lit::<C>(scene, settings, state, &at, Caustic::NONE);
            if self.is_photon {
                self.smooth += 1;
                return Shaded { shadow: None, alive: shaded.alive && state.prev_pdf <= 0.0 };
            }
            // Walks find the way from suns.
            let is_walked_to = is_smooth
                && settings.walks != 0
                && visible.sample.li != Vec3::ZERO
                && load(scene.lights.add(light as usize)).is_directional();
            if is_smooth && !is_walked_to {
                self.aim(state, &at, &visible);
            }
            let is_there = shaded.alive && state.prev_pdf > 0.0;
            self.twin.turn(state.prev_pdf, bsdf_pdf, of_bsdf);
            if spreads && self.vertices < VERTICES {
                let slot = args.slot(self.path, self.vertices);
                write(args.keys.at(slot), scene.guide.bounds.key(at.p, at.frame.z));
                let record = Record {
                    p: at.p,
                    direction: Facing::of_normal(state.ray.d).0,
                    per_distance: 0.0,
                    contribution: luminance(state.l),
                    pdf: max(state.prev_pdf, 0.0),
                    bsdf_pdf,
                };
                write(args.slots.at(slot), record);
                write(args.throughputs.at(slot), if is_there { throughput } else { 0.0 });
                self.vertices += 1;
            }
            shaded
        }
    }
}
