//! What paths leave behind where they scatter.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use primitives::Ptr;

use crate::arch::{read, write};
use crate::bvh::Arch;
use crate::function::{Count, Function};
use crate::light::tree::Facing;

/// A direction in which a path went on, and what it brought: 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Record {
    /// The point, metres.
    pub p: Vec3,
    /// The unit direction, as [`Facing`].
    pub direction: u32,
    /// 1 over the distance of what the path met there, 1/m.
    pub per_distance: f32,
    /// Luminance of what came along the direction and was scattered towards where the path came from, f L cos θ / pdf.
    pub contribution: f32,
    /// Solid-angle density with which the direction was drawn; negative if by a photon, of which it is not known how many come.
    pub pdf: f32,
    /// That with which the BSDF draws it.
    pub bsdf_pdf: f32,
}

impl Record {
    /// Of records that have brought nothing, one in so many is kept: they only count.
    pub const UNLIT: u32 = 16;

    /// Whether a photon has left it.
    #[inline(always)]
    pub(crate) fn is_photon(&self) -> bool {
        self.pdf < 0.0
    }

    /// The direction.
    #[inline(always)]
    pub fn direction(&self) -> Vec3 {
        Facing(self.direction).normal()
    }
}

/// Which records to keep of those that paths have left in their slots, and where.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct KeepArgs {
    /// Slots of the records that are kept, in their order.
    pub chosen: Ptr<u32>,
    /// Number of them.
    pub count: Ptr<u32>,
    /// Records in slots, and their keys.
    pub slots: Ptr<Record>,
    /// Keys of the slots.
    pub slot_keys: Ptr<u64>,
    /// Where they go, the first one to `first`.
    pub records: Ptr<Record>,
    /// Their keys.
    pub keys: Ptr<u64>,
    /// Their numbers.
    pub numbers: Ptr<u32>,
    /// Number of records that are there.
    pub first: u32,
    /// Most records.
    pub most: u32,
    /// Most that are chosen.
    pub most_chosen: u32,
}

impl Count for KeepArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.most_chosen
    }
}

/// The stage.
pub struct Keep;

impl Function for Keep {
    type Args = KeepArgs;

    /// Keeps one record, if there is room.
    ///
    /// # Safety
    /// The pointers in `args` are valid.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &KeepArgs) {
        // SAFETY: as the caller promised.
        unsafe {
            if i >= read(args.count.at(0)) || args.first + i >= args.most {
                return;
            }
            let (slot, place) = (read(args.chosen.at(i)), args.first + i);
            write(args.records.at(place), read(args.slots.at(slot)));
            write(args.keys.at(place), read(args.slot_keys.at(slot)));
            write(args.numbers.at(place), place);
        }
    }
}
