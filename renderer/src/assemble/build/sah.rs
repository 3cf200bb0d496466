//! Where to divide primitives: the surface-area heuristic over bins (Wald 2007, "On Fast Construction of SAH-Based
//! Bounding Volume Hierarchies").

use glam::Vec3A;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::node::Bvh2Node;

/// Bins along an axis of many boxes.
pub(super) const BINS: usize = 16;

/// Levels after which halves by number take over, so that no geometry makes a chain: log₂ of the largest number of
/// primitives, and as many again.
pub(super) const MAX_LEVELS: u32 = 58;

/// The box around boxes, and that around their centres.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) bounds: Aabb,
    centers: Aabb,
    pub(super) count: usize,
}

impl Extent {
    pub(super) fn empty() -> Self {
        Self { bounds: Aabb::empty(), centers: Aabb::empty(), count: 0 }
    }

    pub(super) fn enclosing(boxes: impl Iterator<Item = Aabb>) -> Self {
        let mut extent = Self::empty();
        boxes.for_each(|b| extent.add(&b));
        extent
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self {
            bounds: self.bounds.union(&other.bounds),
            centers: self.centers.union(&other.centers),
            count: self.count + other.count,
        }
    }

    #[inline(always)]
    fn add(&mut self, b: &Aabb) {
        *self = self.union(Self { bounds: *b, centers: Aabb::from_point(b.center()), count: 1 });
    }
}

/// Which of `N` bins, a power of two, a centre falls into.
#[derive(Clone, Copy)]
pub(super) struct Grid<const N: usize> {
    origin: Vec3A,
    bins_per_unit: Vec3A,
}

impl<const N: usize> Grid<N> {
    pub(super) fn new(extent: &Extent) -> Self {
        let size = extent.centers.diagonal();
        // Below 1, so that the last centre falls into the last bin. All fall into the first along an axis without extent.
        let scale = Vec3A::splat(N as f32 * (1.0 - 1e-6)) / size;
        let bins_per_unit = Vec3A::select(scale.is_finite_mask(), scale, Vec3A::ZERO);
        Self { origin: extent.centers.min, bins_per_unit }
    }

    #[inline(always)]
    fn bins_of(&self, b: &Aabb) -> [usize; 3] {
        // Floats from here on have no fraction: the last bits are the number, rounded to the nearest.
        const WHOLE: f32 = 1.5 * (1 << 23) as f32;
        let at = (b.center() - self.origin) * self.bins_per_unit - 0.5 + WHOLE;
        at.to_array().map(|x| x.to_bits() as usize % N)
    }
}

/// Bounds and counts of the bins of each axis.
pub(super) struct Bins<const N: usize> {
    boxes: [[Aabb; N]; 3],
    counts: [[u32; N]; 3],
}

impl<const N: usize> Bins<N> {
    pub(super) fn empty() -> Self {
        Self { boxes: [[Aabb::empty(); N]; 3], counts: [[0; N]; 3] }
    }

    pub(super) fn fill(grid: &Grid<N>, boxes: impl Iterator<Item = Aabb>) -> Self {
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
            for bin in 0..N {
                let sum = &mut self.boxes[axis][bin];
                *sum = sum.union(&other.boxes[axis][bin]);
                self.counts[axis][bin] += other.counts[axis][bin];
            }
        }
        self
    }

    /// The plane with the least Σ area · count over its two sides; `None` if all are in one bin.
    pub(super) fn best(&self, grid: &Grid<N>) -> Option<Split<N>> {
        let mut best = (f32::INFINITY, None);
        for axis in 0..3 {
            let (boxes, counts) = (&self.boxes[axis], &self.counts[axis]);
            let mut right_costs = [0.0; N];
            let (mut right, mut count) = (Aabb::empty(), 0);
            for bin in (1..N).rev() {
                right = right.union(&boxes[bin]);
                count += counts[bin];
                right_costs[bin] = if count > 0 { right.half_area() * count as f32 } else { f32::INFINITY };
            }
            let (mut left, mut count) = (Aabb::empty(), 0);
            for bin in 1..N {
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
pub(super) struct Split<const N: usize> {
    grid: Grid<N>,
    axis: usize,
    bin: usize,
}

impl<const N: usize> Split<N> {
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

    /// Puts what is left of the plane first, and yields the extents of both sides.
    fn partition<const N: usize>(&mut self, split: &Split<N>) -> [Extent; 2] {
        let [mut left, mut right] = [Extent::empty(); 2];
        let (mut i, mut j) = (0, self.len());
        while i < j {
            let first = self.bounds(i);
            if split.is_left(&first) {
                left.add(&first);
                i += 1;
                continue;
            }
            right.add(&first);
            j -= 1;
            while i < j {
                let last = self.bounds(j);
                if split.is_left(&last) {
                    left.add(&last);
                    break;
                }
                right.add(&last);
                j -= 1;
            }
            if i < j {
                self.swap(i, j);
                i += 1;
            }
        }
        [left, right]
    }

    /// Puts the things into two halves by their number.
    fn halve(&mut self) -> [Extent; 2] {
        let middle = self.len() / 2;
        [0..middle, middle..self.len()].map(|half| Extent::enclosing(half.map(|i| self.bounds(i))))
    }

    /// Divides where it costs least, and yields the extents of both sides; `None` if all centres are in one place.
    fn divide<const N: usize>(&mut self, extent: &Extent) -> Option<[Extent; 2]> {
        let grid = Grid::<N>::new(extent);
        let bins = Bins::fill(&grid, (0..self.len()).map(|i| self.bounds(i)));
        bins.best(&grid).map(|split| self.partition(&split))
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
    let mut work = vec![(0, 0, Extent::enclosing(boxes.iter().copied()), levels_above)];
    while let Some((node, start, extent, level)) = work.pop() {
        if extent.count == 1 {
            nodes[node] = Bvh2Node::new(extent.bounds, 1, start as u32);
            continue;
        }
        let mut part = Order { order: &mut order[start..start + extent.count], boxes };
        let halves = match extent.count {
            _ if level >= MAX_LEVELS => None,
            2 => None,
            3..=4 => part.divide::<4>(&extent),
            5..=8 => part.divide::<8>(&extent),
            _ => part.divide::<BINS>(&extent),
        };
        let [left, right] = halves.unwrap_or_else(|| part.halve());
        let first = nodes.len();
        nodes[node] = Bvh2Node::new(extent.bounds, 0, first as u32);
        nodes.extend([Bvh2Node::default(); 2]);
        work.push((first, start, left, level + 1));
        work.push((first + 1, start + left.count, right, level + 1));
    }
    let mut bvh2 = Bvh2::zeroed(0);
    bvh2.nodes = nodes;
    bvh2.primitive_indices = order;
    bvh2
}
