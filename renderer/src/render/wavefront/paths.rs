//! Settings of the wavefront: how many paths are under way together, and how they are ordered.

use device::path::wavefront::Pool;
use primitives::Quad;

/// Whether to do what pays in some scenes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum When {
    /// Where it pays
    #[default]
    Auto,
    /// In all scenes
    Always,
    /// In none
    Never,
}

impl When {
    pub(super) const fn or(self, pays: bool) -> bool {
        match self {
            Self::Auto => pays,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Number of paths under way together, and how they are compacted and ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paths {
    /// Number of slots.
    pub pool: u32,
    /// Whether paths are ordered by the family of the material that they have met before they are shaded, where a scene has
    /// several. They are not if their queue is not read.
    pub sort: bool,
    /// When rays are ordered by where they begin and which way they go, before they are traced. They are not if queues are not
    /// read.
    pub order_rays: When,
    /// Whether stages read the queues of paths and of shadow rays. If not, they go over all slots in their order, and skip
    /// those without; which slots are free is still found by culling.
    pub compact: bool,
    /// Whether paths begin as soon as a quarter of the slots is free, so that the pool stays nearly full. If not, when all
    /// paths have ended.
    pub regenerate: bool,
}

impl Paths {
    /// Paths with all that makes them fast.
    pub const fn new(pool: u32) -> Self {
        Self { pool, sort: true, order_rays: When::Auto, compact: true, regenerate: true }
    }

    /// Slots of the pool on a GPU: `docs/wavefront.md` has the rates with others.
    pub const ON_GPU: u32 = 1 << 23;

    /// Slots of the pool on a CPU: few, so that paths stay in the caches.
    pub const ON_CPU: u32 = 1 << 15;

    /// The most slots that a pool may have.
    pub const MOST: u32 = 1 << 26;

    /// Bytes of memory for each slot of the pool.
    pub const BYTES_PER_SLOT: usize = Pool::ROW_BYTES + 2 * size_of::<u8>() + 2 * size_of::<u32>();

    /// Bytes more for each where paths are sorted, and again where rays are ordered: keys and a queue.
    pub const BYTES_PER_ORDER: usize = 3 * size_of::<u32>();

    /// Bytes of memory for each path of a pass, whether or not it is under way.
    pub const BYTES_PER_PATH: usize = size_of::<Quad<f32>>();
}

// As docs/wavefront.md and the README say.
const _: () = assert!(Paths::BYTES_PER_SLOT == 154 && Paths::BYTES_PER_ORDER == 12);
