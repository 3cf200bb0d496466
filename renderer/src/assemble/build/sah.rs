//! Where to divide primitives: the surface-area heuristic over bins (Wald 2007, "On Fast Construction of SAH-Based
//! Bounding Volume Hierarchies").

use glam::Vec3A;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::node::Bvh2Node;

/// Most bins along an axis.
const BINS: usize = 16;

/// Levels after which halves by number take over, so that no geometry makes a chain: log₂ of the largest number of
/// primitives, and as many again.
pub(super) const MAX_LEVELS: u32 = 58;

/// The box around boxes, and that around their centres.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) bounds: Aabb,
    centers: Aabb,
    count: usize,
}

impl Extent {
    pub(super) fn empty() -> Self {
        Self { bounds: Aabb::empty(), centers: Aabb::empty(), count: 0 }
    }

    pub(super) fn of(boxes: impl Iterator<Item = Aabb>) -> Self {
        boxes.fold(Self::empty(), |all, b| Self {
            bounds: all.bounds.union(&b),
            centers: all.centers.union(&Aabb::from_point(b.center())),
            count: all.count + 1,
        })
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self {
            bounds: self.bounds.union(&other.bounds),
            centers: self.centers.union(&other.centers),
            count: self.count + other.count,
        }
    }
}

/// Which bin a centre falls into.
#[derive(Clone, Copy)]
pub(super) struct Grid {
    origin: Vec3A,
    bins_per_unit: Vec3A,
    bins: usize,
}

impl Grid {
    pub(super) fn new(extent: &Extent) -> Self {
        let bins = extent.count.clamp(4, BINS);
        let size = extent.centers.diagonal();
        // Below 1, so that the last centre falls into the last bin. All fall into the first along an axis without extent.
        let scale = Vec3A::splat(bins as f32 * (1.0 - 1e-6)) / size;
        let bins_per_unit = Vec3A::select(scale.is_finite_mask(), scale, Vec3A::ZERO);
        Self { origin: extent.centers.min, bins_per_unit, bins }
    }

    #[inline(always)]
    fn bins_of(&self, b: &Aabb) -> [usize; 3] {
        let at = (b.center() - self.origin) * self.bins_per_unit;
        at.to_array().map(|x| (x as usize).min(BINS - 1))
    }
}

/// What fell into the bins of each axis.
pub(super) struct Bins {
    boxes: [[Aabb; BINS]; 3],
    counts: [[u32; BINS]; 3],
}

impl Bins {
    pub(super) fn empty() -> Self {
        Self { boxes: [[Aabb::empty(); BINS]; 3], counts: [[0; BINS]; 3] }
    }

    pub(super) fn of(grid: &Grid, boxes: impl Iterator<Item = Aabb>) -> Self {
        let mut bins = Self::empty();
        for b in boxes {
            for (axis, bin) in grid.bins_of(&b).into_iter().enumerate() {
                bins.boxes[axis][bin] = bins.boxes[axis][bin].union(&b);
                bins.counts[axis][bin] += 1;
            }
        }
        bins
    }

    pub(super) fn union(mut self, other: &Self) -> Self {
        for axis in 0..3 {
            for bin in 0..BINS {
                let sum = &mut self.boxes[axis][bin];
                *sum = sum.union(&other.boxes[axis][bin]);
                self.counts[axis][bin] += other.counts[axis][bin];
            }
        }
        self
    }

    /// The plane with the least Σ area · count over its two sides; `None` if all are in one bin.
    pub(super) fn best(&self, grid: &Grid) -> Option<Split> {
        let mut best = (f32::INFINITY, None);
        for axis in 0..3 {
            let (boxes, counts) = (&self.boxes[axis], &self.counts[axis]);
            let mut right_costs = [0.0; BINS];
            let (mut right, mut count) = (Aabb::empty(), 0);
            for bin in (1..grid.bins).rev() {
                right = right.union(&boxes[bin]);
                count += counts[bin];
                right_costs[bin] = if count > 0 { right.half_area() * count as f32 } else { f32::INFINITY };
            }
            let (mut left, mut count) = (Aabb::empty(), 0);
            for bin in 1..grid.bins {
                left = left.union(&boxes[bin - 1]);
                count += counts[bin - 1];
                let cost = left.half_area() * count as f32 + right_costs[bin];
                if count > 0 && cost < best.0 {
                    best = (cost, Some(Split { grid: *grid, axis, bin }));
                }
            }
        }
        best.1
    }
}

/// A plane between bins.
#[derive(Clone, Copy)]
pub(super) struct Split {
    grid: Grid,
    axis: usize,
    bin: usize,
}

impl Split {
    #[inline(always)]
    pub(super) fn is_left(&self, b: &Aabb) -> bool {
        self.grid.bins_of(b)[self.axis] < self.bin
    }
}

/// Things with boxes, to be put into another order.
pub(super) trait Boxes {
    fn len(&self) -> usize;
    fn bounds(&self, i: usize) -> Aabb;
    fn swap(&mut self, i: usize, j: usize);

    /// Puts what is left of the plane first, and yields how many there are.
    fn partition(&mut self, split: &Split) -> usize {
        let (mut i, mut j) = (0, self.len());
        loop {
            while i < j && split.is_left(&self.bounds(i)) {
                i += 1;
            }
            while i < j && !split.is_left(&self.bounds(j - 1)) {
                j -= 1;
            }
            if i == j {
                return i;
            }
            j -= 1;
            self.swap(i, j);
            i += 1;
        }
    }
}

/// Some of the boxes, by their indices.
struct Order<'a> {
    order: &'a mut [u32],
    boxes: &'a [Aabb],
}

impl Boxes for Order<'_> {
    fn len(&self) -> usize {
        self.order.len()
    }

    #[inline(always)]
    fn bounds(&self, i: usize) -> Aabb {
        self.boxes[self.order[i] as usize]
    }

    fn swap(&mut self, i: usize, j: usize) {
        self.order.swap(i, j);
    }
}

/// A binary tree over boxes, one to a leaf. Levels above it count towards [`MAX_LEVELS`].
pub(super) fn build(boxes: &[Aabb], levels_above: u32) -> Bvh2 {
    let mut order: Vec<u32> = (0..boxes.len() as u32).collect();
    let mut nodes = Vec::with_capacity(2 * boxes.len());
    nodes.push(Bvh2Node::default());
    let mut work = vec![(0, 0..boxes.len(), levels_above)];
    while let Some((node, range, level)) = work.pop() {
        let mut part = Order { order: &mut order[range.clone()], boxes };
        let extent = Extent::of((0..part.len()).map(|i| part.bounds(i)));
        if part.len() == 1 {
            nodes[node] = Bvh2Node::new(extent.bounds, 1, range.start as u32);
            continue;
        }
        let split = (level < MAX_LEVELS && part.len() > 2)
            .then(|| Grid::new(&extent))
            .and_then(|grid| Bins::of(&grid, (0..part.len()).map(|i| part.bounds(i))).best(&grid));
        let middle = range.start + split.map_or(part.len() / 2, |split| part.partition(&split));
        let first = nodes.len();
        nodes[node] = Bvh2Node::new(extent.bounds, 0, first as u32);
        nodes.extend([Bvh2Node::default(); 2]);
        work.push((first, range.start..middle, level + 1));
        work.push((first + 1, middle..range.end, level + 1));
    }
    let mut bvh2 = Bvh2::zeroed(0);
    bvh2.nodes = nodes;
    bvh2.primitive_indices = order;
    bvh2
}
