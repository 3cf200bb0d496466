//! Learning what guides paths, before a render begins.

use std::time::{Duration, Instant};

use device::guiding::key::{Bounds, DIGITS, KEY_BITS};
use device::guiding::{
    FitArgs, Guide as GuideView, GuideNode, KeepArgs, Mixture, Record, Span, SplitArgs, TreeView,
};
use device::path::stage::stages;
use device::path::{Draft, LearnArgs, PathValue, VERTICES};
use device::scene::SceneView;
use glam::Vec3;
use primitives::Ptr;
use torrance_gpu::backend::{Buffer, Error};
use torrance_gpu::primitives::{Length, Primitives, RadixSort, Select, Temp};

use crate::assemble::SceneData;

/// Paths of a launch, at most.
const PATHS: u32 = 1 << 16;

/// Paths that tell where there is anything to learn.
const PILOT: u32 = 1 << 12;

/// The number of the first path: far from those of the image's samples.
const FIRST: u32 = 1 << 31;

/// A region with as many records is divided.
#[expect(non_snake_case)]
fn MANY() -> u32 { std::env::var("MANY").map_or(2048, |s| s.parse().unwrap()) }

/// One with fewer is left to its parent.
#[expect(non_snake_case)]
fn FEW() -> u32 { MANY() / 8 }

/// What guides paths, in the memory of a back end.
pub(super) struct Guide<B: Primitives> {
    nodes: B::Buf<GuideNode>,
    mixtures: B::Buf<Mixture>,
    bounds: Bounds,
    /// What learning it took.
    pub(super) lesson: Lesson,
}

/// What learning took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lesson {
    /// Paths.
    pub paths: u64,
    /// Records of the last round.
    pub records: u32,
    /// Regions of the guide.
    pub regions: u32,
    /// Time.
    pub time: Duration,
}

impl<B: Primitives> Guide<B> {
    /// The guide as stages see it, valid as long as `self` is.
    pub(super) fn view(&self) -> GuideView {
        GuideView { nodes: self.nodes.ptr(), mixtures: self.mixtures.ptr(), bounds: self.bounds }
    }
}

/// Memory in which a guide is learnt.
struct School<'a, B: Primitives> {
    backend: &'a mut B,
    scene: &'a SceneData,
    view: SceneView,
    slots: B::Buf<Record>,
    slot_keys: B::Buf<u64>,
    flags: B::Buf<u8>,
    drafts: B::Buf<Draft>,
    values: B::Buf<PathValue>,
    chosen: B::Buf<u32>,
    count: B::Buf<u32>,
    records: B::Buf<Record>,
    keys: [B::Buf<u64>; 2],
    numbers: [B::Buf<u32>; 2],
    spans: B::Buf<Span>,
    level_counts: B::Buf<u32>,
    regions: B::Buf<Span>,
    region_count: B::Buf<u32>,
    temp: Temp<B>,
    /// Most records.
    most: u32,
    /// Number of the next path.
    next: u32,
}

/// Learns what guides the paths of a scene from about so many paths, in rounds of which each has twice as many as the one before.
pub(super) fn learn<B: Primitives>(
    backend: &mut B,
    scene: &SceneData,
    view: SceneView,
    paths: u32,
    most: u32,
) -> Result<Guide<B>, Error> {
    let begin = Instant::now();
    let mut school = School::new(backend, scene, view, most)?;
    school.find_bounds()?;
    let mut guide: Option<Guide<B>> = None;
    let mut round = FIRST_ROUND.min(paths.max(2) / 2);
    let mut taken = 0;
    while taken < paths {
        let records = school.round(round, guide.as_ref())?;
        taken += round;
        let learnt = school.guide(records)?;
        if std::env::var_os("TORRANCE_GUIDING").is_some() {
            eprintln!("round of {round}: {records} records, {} regions, {:?}", learnt.lesson.regions, begin.elapsed());
        }
        guide = Some(learnt);
        round *= 2;
    }
    let mut guide = match guide {
        Some(guide) => guide,
        None => school.guide(0)?,
    };
    guide.lesson = Lesson { paths: taken.into(), time: begin.elapsed(), ..guide.lesson };
    Ok(guide)
}

/// Paths of the first round.
const FIRST_ROUND: u32 = 1 << 14;

impl<'a, B: Primitives> School<'a, B> {
    fn new(backend: &'a mut B, scene: &'a SceneData, view: SceneView, most: u32) -> Result<Self, Error> {
        let slots = (PATHS * VERTICES) as usize;
        let all = most as usize;
        let nodes = nodes_of(most);
        let sort = RadixSort::<u64>::ascending().by_bits(0..KEY_BITS);
        let temp = sort
            .pairs_temp_bytes::<u32>(most)
            .max(Select::compact().temp_bytes(PATHS * VERTICES));
        Ok(Self {
            slots: backend.zeroed(LABEL, slots)?,
            slot_keys: backend.zeroed(LABEL, slots)?,
            flags: backend.zeroed(LABEL, slots)?,
            drafts: backend.zeroed(LABEL, slots)?,
            values: backend.zeroed(LABEL, PATHS as usize)?,
            chosen: backend.zeroed(LABEL, slots)?,
            count: backend.zeroed(LABEL, 1)?,
            records: backend.zeroed(LABEL, all)?,
            keys: [backend.zeroed(LABEL, all)?, backend.zeroed(LABEL, all)?],
            numbers: [backend.zeroed(LABEL, all)?, backend.zeroed(LABEL, all)?],
            spans: backend.zeroed(LABEL, nodes)?,
            level_counts: backend.zeroed(LABEL, DIGITS as usize)?,
            regions: backend.zeroed(LABEL, SplitArgs::most_regions(most, MANY(), FEW()) as usize)?,
            region_count: backend.zeroed(LABEL, 1)?,
            temp: Temp::new(backend, temp)?,
            backend,
            scene,
            view,
            most,
            next: FIRST,
        })
    }

    /// Follows the next paths, whose records are in the slots afterwards.
    fn follow(&mut self, paths: u32, guide: GuideView) -> Result<(), Error> {
        let args = LearnArgs {
            scene: SceneView { guide, ..self.view },
            settings: self.scene.settings,
            width: self.scene.width,
            height: self.scene.height,
            first: self.next,
            paths,
            slots: Ptr::new(self.slots.ptr()),
            keys: Ptr::new(self.slot_keys.ptr()),
            flags: Ptr::new(self.flags.ptr()),
            drafts: Ptr::new(self.drafts.ptr()),
            values: Ptr::new(self.values.ptr()),
        };
        self.next += paths;
        // SAFETY: the buffers have the room, and live until the back end has been waited for.
        unsafe { self.backend.launch::<stages::guide_learn>(args) }
    }

    /// Finds where paths scatter, but for the few that do so far away.
    fn find_bounds(&mut self) -> Result<(), Error> {
        self.follow(PILOT, GuideView::NONE)?;
        self.backend.synchronize()?;
        let flags = self.backend.download(&self.flags)?;
        let mut slots = vec![Record::default(); (PILOT * VERTICES) as usize];
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

    /// A round of so many paths; returns the number of their records.
    fn round(&mut self, paths: u32, guide: Option<&Guide<B>>) -> Result<u32, Error> {
        let view = guide.map_or(GuideView { bounds: self.view.guide.bounds, ..GuideView::NONE }, Guide::view);
        let (mut left, mut first) = (paths, 0);
        while left > 0 && first < self.most {
            let paths = left.min(PATHS);
            left -= paths;
            self.follow(paths, view)?;
            let slots = paths * VERTICES;
            if std::env::var_os("DUMP").is_some() && left == 0 {
                let values = self.backend.download(&self.values)?;
                let all = self.backend.download(&self.slots)?;
                let drafts = self.backend.download(&self.drafts)?;
                let mut order: Vec<usize> = (0..paths as usize).collect();
                order.sort_by(|a, b| values[*b].value.total_cmp(&values[*a].value));
                let mean = values[..paths as usize].iter().map(|v| f64::from(v.value)).sum::<f64>() / f64::from(paths);
                eprintln!("mean {mean:.4}");
                for &i in &order[..8] {
                    let pixel = values[i].pixel;
                    eprintln!("path {:.3} pixel {},{}", f64::from(values[i].value) / mean, pixel % self.scene.width, pixel / self.scene.width);
                    for v in 0..VERTICES as usize {
                        let k = v * paths as usize + i;
                        let (r, d) = (all[k], drafts[k]);
                        if d.beta.max_element() <= 0.0 || (v > 0 && d.l == Vec3::ZERO && r.contribution == 0.0) { break; }
                        eprintln!("   {:7.3?} beta {:.3} pdf {:.3} bsdf {:.3} X {:.4} l {:.4} d {:.2}", r.p.to_array(), d.beta.max_element(), r.pdf, r.bsdf_pdf, r.contribution, d.l.max_element(), 1.0 / r.per_distance);
                    }
                }
            }
            let Self { backend, flags, chosen, count, temp, .. } = self;
            Select::compact().indices(*backend, flags, chosen, count, Length::Host(slots), temp)?;
            let args = KeepArgs {
                chosen: Ptr::new(self.chosen.ptr()),
                count: Ptr::new(self.count.ptr()),
                slots: Ptr::new(self.slots.ptr()),
                slot_keys: Ptr::new(self.slot_keys.ptr()),
                records: Ptr::new(self.records.ptr()),
                keys: Ptr::new(self.keys[0].ptr()),
                numbers: Ptr::new(self.numbers[0].ptr()),
                first,
                most: self.most,
                most_chosen: slots,
            };
            // SAFETY: the buffers have the room, and live until the back end has been waited for.
            unsafe { self.backend.launch::<stages::guide_keep>(args)? };
            let mut count = [0];
            self.backend.read(&self.count, &mut count)?;
            first = first.saturating_add(count[0]).min(self.most);
        }
        Ok(first)
    }

    /// A guide by the records of a round.
    fn guide(&mut self, records: u32) -> Result<Guide<B>, Error> {
        let mut nodes = self.backend.zeroed(LABEL, nodes_of(records))?;
        self.backend.write(&[GuideNode { child: [GuideNode::NOTHING; 8] }], &mut nodes)?;
        let most_regions = SplitArgs::most_regions(records, MANY(), FEW());
        let mixtures = self.backend.zeroed(LABEL, most_regions as usize)?;
        let bounds = self.view.guide.bounds;
        let mut guide = Guide { nodes, mixtures, bounds, lesson: Lesson { records, ..Lesson::default() } };
        if records == 0 {
            return Ok(guide);
        }
        let Self { backend, keys: [keys, sorted_keys], numbers: [numbers, sorted], temp, .. } = self;
        let sort = RadixSort::<u64>::ascending().by_bits(0..KEY_BITS);
        let length = Length::Host(records);
        sort.run_pairs(*backend, (keys, numbers), (sorted_keys, sorted), length, temp)?;
        backend.write(&[Span { first: 0, end: records }], &mut self.spans)?;
        let mut counts = [0; DIGITS as usize];
        counts[0] = 1;
        backend.write(&counts, &mut self.level_counts)?;
        backend.write(&[0], &mut self.region_count)?;
        let tree = TreeView {
            nodes: Ptr::new(guide.nodes.ptr()),
            spans: Ptr::new(self.spans.ptr()),
            level_counts: Ptr::new(self.level_counts.ptr()),
            regions: Ptr::new(self.regions.ptr()),
            region_count: Ptr::new(self.region_count.ptr()),
        };
        for level in 0..DIGITS {
            let most_nodes = SplitArgs::most_nodes(records, MANY());
            let keys = Ptr::new(self.keys[1].ptr());
            let args = SplitArgs { tree, keys, level, most_nodes, many: MANY(), few: FEW() };
            // SAFETY: the buffers have the room, and live until the back end has been waited for.
            unsafe { self.backend.launch::<stages::guide_split>(args)? };
        }
        let mut regions = [0];
        self.backend.read(&self.region_count, &mut regions)?;
        let args = FitArgs {
            records: Ptr::new(self.records.ptr()),
            numbers: Ptr::new(self.numbers[1].ptr()),
            regions: Ptr::new(self.regions.ptr()),
            region_count: Ptr::new(self.region_count.ptr()),
            mixtures: Ptr::new(guide.mixtures.ptr()),
            most_regions: regions[0],
            tune: tune(),
        };
        // SAFETY: as above.
        unsafe { self.backend.launch::<stages::guide_fit>(args)? };
        self.backend.synchronize()?;
        guide.lesson.regions = regions[0];
        Ok(guide)
    }
}

fn tune() -> [f32; 5] {
    let mut tune = [0.1, 0.2, 10.0, 8.0, 1.0 / 32.0];
    if let Ok(text) = std::env::var("TUNE") {
        for (at, word) in tune.iter_mut().zip(text.split(',')) {
            *at = word.parse().unwrap();
        }
    }
    tune
}

/// Most nodes of a tree over so many records.
fn nodes_of(records: u32) -> usize {
    (DIGITS * SplitArgs::most_nodes(records, MANY())) as usize
}

/// The label of the memory of guides.
const LABEL: &str = "guiding";
