//! What a pixel shows: the ids of what its camera rays meet, and how many of them meet each.

use bytemuck::{Pod, Zeroable};

/// Most ids that a pixel tells apart.
pub const MOST_IDS: usize = 16;

/// Numbers of the camera rays of a pixel that meet something, by its id, 132 bytes.
///
/// As long as a pixel has no more than [`MOST_IDS`] ids, the numbers depend neither on the order of the samples nor on how they were
/// put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct MattePixel {
    ids: [u32; MOST_IDS],
    /// Samples of each id; 0 where there is no id.
    counts: [u32; MOST_IDS],
    /// Samples of ids for which there was no room.
    others: u32,
}

impl MattePixel {
    /// Adds samples of an id.
    ///
    /// Where there is no room, they take the place of the id with the fewest samples, if that has no more: what shows much keeps its
    /// place among many that show little. Of several, it is one that has long been there.
    #[inline(always)]
    pub fn add(&mut self, id: u32, count: u32) {
        if count == 0 {
            return;
        }
        let mut fewest = 0;
        for step in 0..MOST_IDS {
            // Begins elsewhere each time that something was left out. The mask tells the compiler that it is in range.
            let slot = (self.others as usize + step) & (MOST_IDS - 1);
            if step == 0 || self.counts[slot] < self.counts[fewest] {
                fewest = slot;
            }
            if self.counts[slot] != 0 && self.ids[slot] == id {
                self.counts[slot] += count;
                return;
            }
        }
        if count < self.counts[fewest] {
            self.others += count;
            return;
        }
        self.others += self.counts[fewest];
        (self.ids[fewest], self.counts[fewest]) = (id, count);
    }

    /// Adds the samples of another.
    pub fn merge(&mut self, other: &Self) {
        other.ids().for_each(|(id, count)| self.add(id, count));
        self.others += other.others;
    }

    /// The ids, each with the number of its samples.
    pub fn ids(&self) -> impl Iterator<Item = (u32, u32)> {
        self.ids.into_iter().zip(self.counts).filter(|(_, count)| *count > 0)
    }

    /// Number of all samples.
    pub fn samples(&self) -> u64 {
        u64::from(self.others) + self.counts.iter().map(|count| u64::from(*count)).sum::<u64>()
    }
}
