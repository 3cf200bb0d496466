//! Occupancy: how many blocks of a kernel a multiprocessor holds, and which resource runs out first.
//!
//! The driver tells the number of blocks, but not the reason; the arithmetic is that of NVIDIA's occupancy calculator.

/// Threads of a warp.
const WARP: u32 = 32;
/// Registers are given to warps in pieces of so many.
const REGISTERS_AT_A_TIME: u32 = 256;
/// Each of so many parts of a multiprocessor has its own warps, and its share of the registers.
const PARTS: u32 = 4;

/// The resources of one multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multiprocessor {
    /// Threads that it holds at most.
    pub threads: u32,
    /// Blocks that it holds at most.
    pub blocks: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Bytes of shared memory, as large as it can be made.
    pub shared_bytes: u32,
    /// Bytes of shared memory that each block takes beside its own.
    pub reserved_bytes: u32,
    /// Shared memory is given to blocks in pieces of so many bytes.
    pub shared_at_a_time: u32,
}

/// The resources that a block of a kernel takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// Threads.
    pub threads: u32,
    /// Registers of each thread.
    pub registers: u32,
    /// Bytes of shared memory, those that a launch adds included.
    pub shared_bytes: u32,
}

impl Multiprocessor {
    /// That of a generation of GPUs by its compute capability, e.g. 90: as the CUDA programming guide lists them.
    pub fn of_generation(capability: u32) -> Option<Self> {
        let (threads, blocks, shared_kib) = match capability {
            75 => (1024, 16, 64),
            80 => (2048, 32, 164),
            86 => (1536, 16, 100),
            89 => (1536, 24, 100),
            90 | 100 => (2048, 32, 228),
            120 => (1536, 24, 100),
            _ => return None,
        };
        let reserved_bytes = if capability < 80 { 0 } else { 1 << 10 };
        let shared_at_a_time = Self::shared_at_a_time(capability);
        let shared_bytes = shared_kib << 10;
        Some(Self { threads, blocks, registers: 1 << 16, shared_bytes, reserved_bytes, shared_at_a_time })
    }

    /// In pieces of how many bytes a generation gives shared memory to blocks.
    pub(super) fn shared_at_a_time(capability: u32) -> u32 {
        if capability < 80 { 256 } else { 128 }
    }

    /// How many blocks it holds, and the name of the resource that runs out first, or of several if they run out
    /// together.
    pub fn hold(&self, block: Demand) -> (u32, Vec<&'static str>) {
        let warps = block.threads.div_ceil(WARP).max(1);
        let of_warp = (block.registers * WARP).next_multiple_of(REGISTERS_AT_A_TIME).max(REGISTERS_AT_A_TIME);
        let shared = (block.shared_bytes + self.reserved_bytes).next_multiple_of(self.shared_at_a_time);
        let by = [
            ("threads", self.threads / (warps * WARP)),
            ("blocks", self.blocks),
            ("registers", PARTS * (self.registers / PARTS / of_warp) / warps),
            ("shared memory", self.shared_bytes.checked_div(shared).unwrap_or(u32::MAX)),
        ];
        let least = by.iter().map(|(_, blocks)| *blocks).min().unwrap_or(0);
        (least, by.into_iter().filter(|(_, blocks)| *blocks == least).map(|(name, _)| name).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn occupancy(
        capability: u32,
        threads: u32,
        registers: u32,
        shared_bytes: u32,
    ) -> (u32, Vec<&'static str>) {
        let multiprocessor = Multiprocessor::of_generation(capability).unwrap();
        multiprocessor.hold(Demand { threads, registers, shared_bytes })
    }

    #[test]
    fn what_runs_out_first_is_the_limit() {
        // 64 warps of 32 × 32 registers are all of both.
        assert_eq!(occupancy(90, 256, 32, 0), (8, vec!["threads", "registers"]));
        assert_eq!(occupancy(90, 256, 24, 0), (8, vec!["threads"]));
        assert_eq!(occupancy(90, 32, 24, 0), (32, vec!["blocks"]));
        // 255 registers are given as 256: 8 warps of 8192 registers.
        assert_eq!(occupancy(90, 128, 255, 0), (2, vec!["registers"]));
        // 168 registers of 32 threads are 21 pieces, three warps in each quarter.
        assert_eq!(occupancy(90, 128, 168, 0), (3, vec!["registers"]));
        // 228 KiB hold four blocks of 56 KiB and one that is reserved for each.
        assert_eq!(occupancy(90, 256, 32, 56 << 10), (4, vec!["shared memory"]));
        assert_eq!(occupancy(90, 256, 32, (56 << 10) + 1), (3, vec!["shared memory"]));
        assert_eq!(occupancy(90, 1024, 65, 0), (0, vec!["registers"]), "none fits");
    }

    #[test]
    fn generations_differ() {
        assert_eq!(occupancy(75, 256, 64, 16 << 10), (4, vec!["threads", "registers", "shared memory"]));
        assert_eq!(occupancy(86, 256, 40, 0), (6, vec!["threads", "registers"]));
        assert_eq!(occupancy(86, 32, 16, 0), (16, vec!["blocks"]));
        assert_eq!(occupancy(120, 32, 16, 0), (24, vec!["blocks"]));
        assert_eq!(Multiprocessor::of_generation(30), None);
    }
}
