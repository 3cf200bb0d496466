//! Learning what guides paths, before a render begins.

use std::time::{Duration, Instant};

use device::guiding::key::{Bounds, DIGITS, KEY_BITS};
use device::guiding::{
    FitArgs, Guide as GuideView, GuideNode, KeepArgs, Mixture, Record, Span, SplitArgs, TreeView, Trial,
};
use device::path::stage::stages;
use device::path::{LearnArgs, VERTICES};
use device::scene::SceneView;
use glam::Vec3;
use primitives::Ptr;
use torrance_gpu::backend::{Buffer, Error};
use torrance_gpu::primitives::{Length, Primitives, RadixSort, Select, Temp};
use torrance_scene::Guiding;
use torrance_scene::limits::MAX_SPP;

use crate::assemble::SceneData;
use worth::Worth;

/// Most paths of a launch.
const PATHS: u32 = 1 << 18;

/// Paths that tell where there is anything to learn.
const PILOT: u32 = 1 << 12;

/// The number of the first path: far from those of the image's samples.
const FIRST: u32 = 1 << 31;

/// Of the paths of the image, as many are learnt from beforehand: one in so many.
const PART: u64 = 8;

/// Rounds in which they are, and rounds of which the first ones are to show whether it pays.
const ROUNDS: u32 = 6;
const ROUNDS_WITH_TRIAL: u32 = 9;

/// Fewest and most paths that are learnt from.
const LESSONS: [u64; 2] = [1 << 16, 1 << 22];

/// A region with as many records is divided.
const MANY: u32 = 1024;

/// One with fewer is left to its parent.
const FEW: u32 = 128;

/// To see whether guiding pays, as many paths are learnt from at most, unless it seems to: one in so many of those of the image, on a GPU
/// and on a CPU.
const PART_OF_TRIALS: [u64; 2] = [128, 512];

/// Fewest paths of an image for which it is worth a trial, on a GPU and on a CPU.
const LEAST_TO_TRY: [u64; 2] = [1 << 25, 1 << 23];

/// How many times as much variance makes up for what guided paths take more, on a GPU and on a CPU.
const LEAST_GAIN: [f64; 2] = [2.2, 3.7];

/// Samples per pixel that a render is taken to have if it ends by something else.
const SPP_OF_OPEN_RENDERS: u32 = 256;

/// What guides paths, in the memory of a back end.
pub(super) struct Guide<B: Primitives> {
    nodes: B::Buf<GuideNode>,
    mixtures: B::Buf<Mixture>,
    bounds: Bounds,
    /// Records that it was made of.
    records: u32,
    /// Number of its regions.
    regions: u32,
}

/// What came of learning.
pub(super) struct Learnt<B: Primitives> {
    pub(super) lesson: Lesson,
    /// What guides the paths of the image, if anything is to.
    pub(super) guide: Option<Guide<B>>,
}

/// What learning took, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Lesson {
    /// Paths.
    pub paths: u64,
    /// Records of the last round.
    pub records: u32,
    /// Regions of the guide.
    pub regions: u32,
    /// Time.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub time: Duration,
    /// How many times as much variance the image is expected to have without a guide, as the last round was guided.
    pub gain: f64,
    /// Whether the paths of the image are guided.
    pub is_used: bool,
}

fn seconds<S: serde::Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

impl<B: Primitives> Guide<B> {
    /// The guide as stages see it, valid as long as `self` is.
    pub(super) fn view(&self) -> GuideView {
        GuideView { nodes: self.nodes.ptr(), mixtures: self.mixtures.ptr(), bounds: self.bounds }
    }
}

/// Paths of an image of so many samples per pixel.
fn paths_of_image(scene: &SceneData, spp: u32) -> u64 {
    let spp = if spp == MAX_SPP { SPP_OF_OPEN_RENDERS } else { spp };
    u64::from(scene.width) * u64::from(scene.height) * u64::from(spp)
}

/// The number for a kind of machine.
const fn of_machine<B: Primitives, T: Copy>([gpu, cpu]: [T; 2]) -> T {
    if B::FOLDS_FILMS { cpu } else { gpu }
}

/// Whether there is anything to learn, or to try, for an image of so many samples per pixel.
pub(super) fn is_wanted<B: Primitives>(scene: &SceneData, spp: u32) -> bool {
    match scene.guiding.guiding {
        Guiding::On => true,
        Guiding::Auto => paths_of_image(scene, spp) >= of_machine::<B, _>(LEAST_TO_TRY),
        Guiding::Off => false,
    }
}

/// Bytes that a path takes while it leaves records.
const BYTES_OF_PATH: u64 = {
    let slot = size_of::<Record>() + size_of::<u64>() + size_of::<u8>() + size_of::<f32>() + size_of::<u32>();
    VERTICES as u64 * slot as u64 + size_of::<Trial>() as u64
};

/// Bytes that a record takes: itself, its key and number before and after they are sorted, and what sorting takes beside; and its part of
/// the tree and the mixtures.
fn bytes_of_record() -> u64 {
    const MOST: u32 = 1 << 20;
    let own = size_of::<Record>() + 2 * (size_of::<u64>() + size_of::<u32>());
    let sort = sort().pairs_temp_bytes::<u32>(MOST) as u64 / u64::from(MOST) + 1;
    let regions = u64::from(SplitArgs::most_regions(MOST, MANY, FEW));
    let region = (size_of::<Mixture>() + size_of::<Span>()) as u64;
    let node = (size_of::<GuideNode>() + size_of::<Span>()) as u64;
    own as u64 + sort + (regions * region + nodes_of(MOST) as u64 * node) / u64::from(MOST) + 1
}

/// The sort of records by their keys.
fn sort() -> RadixSort<u64> {
    RadixSort::ascending().by_bits(0..KEY_BITS)
}

/// Memory in which a guide is learnt.
struct School<'a, B: Primitives> {
    backend: &'a mut B,
    scene: &'a SceneData,
    view: SceneView,
    slots: B::Buf<Record>,
    slot_keys: B::Buf<u64>,
    flags: B::Buf<u8>,
    throughputs: B::Buf<f32>,
    trials: B::Buf<Trial>,
    chosen: B::Buf<u32>,
    count: B::Buf<u32>,
    level_counts: B::Buf<u32>,
    region_count: B::Buf<u32>,
    temp: Temp<B>,
    desk: Desk<B>,
    /// Most records of a round.
    most: u32,
    /// Most paths of a launch.
    paths: u32,
    /// Number of the next path.
    next: u32,
}

/// Memory for the records of a round, as much as it may have.
struct Desk<B: Primitives> {
    records: B::Buf<Record>,
    keys: [B::Buf<u64>; 2],
    numbers: [B::Buf<u32>; 2],
    spans: B::Buf<Span>,
    regions: B::Buf<Span>,
    temp: Temp<B>,
    /// Most records.
    most: u32,
}

impl<B: Primitives> Desk<B> {
    fn new(backend: &mut B, most: u32) -> Result<Self, Error> {
        let all = most as usize;
        let regions = SplitArgs::most_regions(most, MANY, FEW) as usize;
        Ok(Self {
            records: backend.zeroed(LABEL, all)?,
            keys: [backend.zeroed(LABEL, all)?, backend.zeroed(LABEL, all)?],
            numbers: [backend.zeroed(LABEL, all)?, backend.zeroed(LABEL, all)?],
            spans: backend.zeroed(LABEL, nodes_of(most))?,
            regions: backend.zeroed(LABEL, regions)?,
            temp: Temp::new(backend, sort().pairs_temp_bytes::<u32>(most))?,
            most,
        })
    }
}

/// Makes ready what [`learn`] launches.
pub(super) fn prepare<B: Primitives>(backend: &mut B) -> Result<(), Error> {
    backend.prepare::<stages::guide_keep>()?;
    backend.prepare::<stages::guide_split>()?;
    backend.prepare::<stages::guide_fit>()?;
    backend.prepare::<stages::guide_learn>()
}

/// Learns what guides the paths of a scene, in rounds of which each has twice as many paths as the one before. `ends` is told which part
/// of them has been taken, and says whether to give up, for `None`. The image is to have so many samples per pixel. Of the time that there
/// is, if it is limited, rounds begin in the first tenth alone.
pub(super) fn learn<B: Primitives>(
    backend: &mut B,
    scene: &SceneData,
    view: SceneView,
    (spp, time): (u32, Option<Duration>),
    ends: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<Learnt<B>>, Error> {
    let begin = Instant::now();
    let all = paths_of_image(scene, spp);
    let paths = (all / PART).clamp(LESSONS[0], LESSONS[1]) as u32;
    let (is_trial, least_gain) = (scene.guiding.guiding == Guiding::Auto, of_machine::<B, _>(LEAST_GAIN));
    let mut school = School::new(backend, scene, view, paths)?;
    school.find_bounds()?;
    let mut guide = school.guide(0)?;
    let (mut taken, mut gain) = (0, 1.0);
    let rounds = if is_trial { ROUNDS_WITH_TRIAL } else { ROUNDS };
    for round in 0..rounds {
        let paths_of_round = (paths >> rounds) << round;
        let is_too_much = u64::from(taken + paths_of_round) > all / of_machine::<B, _>(PART_OF_TRIALS);
        let is_over = time.is_some_and(|time| 10 * begin.elapsed() > time);
        if is_over || is_trial && is_too_much && gain < least_gain {
            break;
        }
        let Some((records, worth)) = school
            .round(paths_of_round, guide.view(), &mut |taken| ends(f64::from(taken) / f64::from(paths)))?
        else {
            return Ok(None);
        };
        gain = worth.gain();
        guide = school.guide(records)?;
        taken = school.next - FIRST - PILOT;
    }
    let Guide { records, regions, .. } = guide;
    let is_used = !is_trial || gain >= least_gain;
    let lesson = Lesson { paths: taken.into(), records, regions, time: begin.elapsed(), gain, is_used };
    Ok(Some(Learnt { lesson, guide: is_used.then_some(guide) }))
}

impl<'a, B: Primitives> School<'a, B> {
    fn new(backend: &'a mut B, scene: &'a SceneData, view: SceneView, lessons: u32) -> Result<Self, Error> {
        let memory = scene.guiding.memory;
        let fill = (backend.parallelism() * 8).next_power_of_two() as u64;
        let paths = fill.min(memory / 4 / BYTES_OF_PATH).clamp(PILOT.into(), PATHS.into()) as u32;
        let left = memory.saturating_sub(BYTES_OF_PATH * u64::from(paths));
        let most =
            (left / bytes_of_record()).clamp(FEW.into(), u64::from(lessons) * u64::from(VERTICES)) as u32;
        let slots = (paths * VERTICES) as usize;
        Ok(Self {
            slots: backend.zeroed(LABEL, slots)?,
            slot_keys: backend.zeroed(LABEL, slots)?,
            flags: backend.zeroed(LABEL, slots)?,
            throughputs: backend.zeroed(LABEL, slots)?,
            trials: backend.zeroed(LABEL, paths as usize)?,
            chosen: backend.zeroed(LABEL, slots)?,
            count: backend.zeroed(LABEL, 1)?,
            level_counts: backend.zeroed(LABEL, DIGITS as usize)?,
            region_count: backend.zeroed(LABEL, 1)?,
            temp: Temp::new(backend, Select::compact().temp_bytes(paths * VERTICES))?,
            desk: Desk::new(backend, 0)?,
            backend,
            scene,
            view,
            most,
            paths,
            next: FIRST,
        })
    }

    /// How much memory it takes, bytes, the guide that it makes apart.
    #[cfg(test)]
    fn bytes(&self) -> u64 {
        fn of<B: torrance_gpu::backend::Backend, T: bytemuck::Pod + Send + Sync>(
            buffer: &B::Buf<T>,
        ) -> usize {
            buffer.len() * size_of::<T>()
        }
        let bytes = of::<B, _>(&self.slots)
            + of::<B, _>(&self.slot_keys)
            + of::<B, _>(&self.flags)
            + of::<B, _>(&self.throughputs)
            + of::<B, _>(&self.trials)
            + of::<B, _>(&self.chosen)
            + self.temp.bytes()
            + of::<B, _>(&self.desk.records)
            + self.desk.keys.iter().map(of::<B, _>).sum::<usize>()
            + self.desk.numbers.iter().map(of::<B, _>).sum::<usize>()
            + of::<B, _>(&self.desk.spans)
            + of::<B, _>(&self.desk.regions)
            + self.desk.temp.bytes();
        bytes as u64
    }

    /// Follows the next paths, whose records are in the slots afterwards.
    fn follow(&mut self, paths: u32, guide: GuideView) -> Result<(), Error> {
        let args = LearnArgs {
            scene: SceneView { guide, ..self.view },
            settings: self.scene.settings.for_learning(),
            width: self.scene.width,
            height: self.scene.height,
            first: self.next,
            paths,
            slots: Ptr::new(self.slots.ptr()),
            keys: Ptr::new(self.slot_keys.ptr()),
            flags: Ptr::new(self.flags.ptr()),
            throughputs: Ptr::new(self.throughputs.ptr()),
            trials: Ptr::new(self.trials.ptr()),
        };
        self.next += paths;
        // SAFETY: the buffers have the room, and live until the back end has been waited for.
        unsafe { self.backend.launch::<stages::guide_learn>(args) }
    }

    /// Finds where paths scatter, but for the few that do so far away.
    fn find_bounds(&mut self) -> Result<(), Error> {
        self.follow(PILOT, GuideView::NONE)?;
        let count = (PILOT * VERTICES) as usize;
        let (mut flags, mut slots) = (vec![0; count], vec![Record::default(); count]);
        self.backend.read(&self.flags, &mut flags)?;
        self.backend.read(&self.slots, &mut slots)?;
        let places = || slots.iter().zip(&flags).filter(|(_, flag)| **flag != 0).map(|(record, _)| record.p);
        let mut ends = [Vec3::ZERO, Vec3::ONE];
        for axis in 0..3 {
            let mut all: Vec<f32> = places().map(|p| p[axis]).collect();
            if all.is_empty() {
                break;
            }
            all.sort_by(f32::total_cmp);
            let few = all.len() / 500;
            let (low, high) = (all[few], all[all.len() - 1 - few]);
            let beyond = 0.05 * (high - low);
            (ends[0][axis], ends[1][axis]) = (low - beyond, high + beyond);
        }
        self.view.guide.bounds = Bounds::around(ends[0], ends[1]);
        Ok(())
    }

    /// A round of so many paths; returns the number of their records, and what the paths were worth. `ends` is told how many paths of all rounds have been taken.
    fn round(
        &mut self,
        paths: u32,
        guide: GuideView,
        ends: &mut dyn FnMut(u32) -> bool,
    ) -> Result<Option<(u32, Worth)>, Error> {
        self.make_room(u64::from(paths) * u64::from(VERTICES))?;
        let (mut left, mut first) = (paths, 0);
        let mut worth = Worth::new([self.scene.width, self.scene.height], self.scene.settings.seed);
        while left > 0 && first < self.desk.most {
            let paths = left.min(self.paths);
            left -= paths;
            self.follow(paths, guide)?;
            let slots = paths * VERTICES;
            let Self { backend, flags, chosen, count, temp, .. } = self;
            Select::compact().indices(*backend, flags, chosen, count, Length::Host(slots), temp)?;
            let args = KeepArgs {
                chosen: Ptr::new(self.chosen.ptr()),
                count: Ptr::new(self.count.ptr()),
                slots: Ptr::new(self.slots.ptr()),
                slot_keys: Ptr::new(self.slot_keys.ptr()),
                records: Ptr::new(self.desk.records.ptr()),
                keys: Ptr::new(self.desk.keys[0].ptr()),
                numbers: Ptr::new(self.desk.numbers[0].ptr()),
                first,
                most: self.desk.most,
                most_chosen: slots,
            };
            // SAFETY: the buffers have the room, and live until the back end has been waited for.
            unsafe { self.backend.launch::<stages::guide_keep>(args)? };
            let mut count = [0];
            self.backend.read(&self.count, &mut count)?;
            first = first.saturating_add(count[0]).min(self.desk.most);
            let mut trials = vec![Trial::default(); paths as usize];
            self.backend.read(&self.trials, &mut trials)?;
            worth.add(self.next - paths, &trials);
            if ends(self.next - FIRST - PILOT) {
                return Ok(None);
            }
        }
        Ok(Some((first, worth)))
    }

    /// Makes room for so many records, or the most that there may be. Those of the round before are no longer of use.
    fn make_room(&mut self, records: u64) -> Result<(), Error> {
        let wanted = records.min(self.most.into()) as u32;
        if self.desk.most < wanted {
            // Freed first, for both may be more than there is.
            self.desk = Desk::new(self.backend, 0)?;
            self.desk = Desk::new(self.backend, wanted)?;
        }
        Ok(())
    }

    /// A guide by the records of a round.
    fn guide(&mut self, records: u32) -> Result<Guide<B>, Error> {
        let mut nodes = self.backend.zeroed(LABEL, nodes_of(records))?;
        self.backend.write(&[GuideNode { child: [GuideNode::NOTHING; 8] }], &mut nodes)?;
        let most_regions = SplitArgs::most_regions(records, MANY, FEW);
        let mixtures = self.backend.zeroed(LABEL, most_regions as usize)?;
        let bounds = self.view.guide.bounds;
        let mut guide = Guide { nodes, mixtures, bounds, records, regions: 0 };
        if records == 0 {
            return Ok(guide);
        }
        let Self { backend, desk, .. } = self;
        let Desk { keys: [keys, sorted_keys], numbers: [numbers, sorted], temp, .. } = desk;
        let length = Length::Host(records);
        sort().run_pairs(*backend, (keys, numbers), (sorted_keys, sorted), length, temp)?;
        backend.write(&[Span { first: 0, end: records }], &mut desk.spans)?;
        let mut counts = [0; DIGITS as usize];
        counts[0] = 1;
        backend.write(&counts, &mut self.level_counts)?;
        backend.write(&[0], &mut self.region_count)?;
        let tree = TreeView {
            nodes: Ptr::new(guide.nodes.ptr()),
            spans: Ptr::new(desk.spans.ptr()),
            level_counts: Ptr::new(self.level_counts.ptr()),
            regions: Ptr::new(desk.regions.ptr()),
            region_count: Ptr::new(self.region_count.ptr()),
        };
        for level in 0..DIGITS {
            let most_nodes = SplitArgs::most_nodes(records, MANY);
            let keys = Ptr::new(desk.keys[1].ptr());
            let args = SplitArgs { tree, keys, level, most_nodes, many: MANY, few: FEW };
            // SAFETY: the buffers have the room, and live until the back end has been waited for.
            unsafe { self.backend.launch::<stages::guide_split>(args)? };
        }
        let mut regions = [0];
        self.backend.read(&self.region_count, &mut regions)?;
        let args = FitArgs {
            records: Ptr::new(desk.records.ptr()),
            numbers: Ptr::new(desk.numbers[1].ptr()),
            regions: Ptr::new(desk.regions.ptr()),
            region_count: Ptr::new(self.region_count.ptr()),
            mixtures: Ptr::new(guide.mixtures.ptr()),
            most_regions: regions[0],
        };
        // SAFETY: as above.
        unsafe { self.backend.launch::<stages::guide_fit>(args)? };
        self.backend.synchronize()?;
        guide.regions = regions[0];
        Ok(guide)
    }
}

/// Most nodes of a tree over so many records.
fn nodes_of(records: u32) -> usize {
    (DIGITS * SplitArgs::most_nodes(records, MANY)) as usize
}

/// The label of the memory of guides.
const LABEL: &str = "guiding";

mod worth;

#[cfg(test)]
mod tests;
