//! Where a thread is, and how the threads of a block wait for each other.

use core::arch::asm;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"]
    safe fn tid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.y"]
    safe fn tid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.z"]
    safe fn tid_z() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.x"]
    safe fn ctaid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.y"]
    safe fn ctaid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.z"]
    safe fn ctaid_z() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.x"]
    safe fn ntid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.y"]
    safe fn ntid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.z"]
    safe fn ntid_z() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.x"]
    safe fn nctaid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.y"]
    safe fn nctaid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.z"]
    safe fn nctaid_z() -> u32;

    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    fn barrier_sync(barrier: u32);
    #[link_name = "llvm.nvvm.barrier.cta.red.popc.aligned.all"]
    fn barrier_popc(barrier: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.barrier.cta.red.and.aligned.all"]
    fn barrier_and(barrier: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.barrier.cta.red.or.aligned.all"]
    fn barrier_or(barrier: u32, predicate: bool) -> bool;

    #[link_name = "llvm.nvvm.membar.cta"]
    safe fn membar_cta();
    #[link_name = "llvm.nvvm.membar.gl"]
    safe fn membar_gl();
    #[link_name = "llvm.nvvm.membar.sys"]
    safe fn membar_sys();
}

macro_rules! special_registers {
    ($($(#[$doc:meta])* $name:ident = $register:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name() -> u32 {
            $register()
        }
    )*};
}

special_registers! {
    /// This thread's x index in its block: `%tid.x`.
    thread_idx_x = tid_x;
    /// This thread's y index in its block: `%tid.y`.
    thread_idx_y = tid_y;
    /// This thread's z index in its block: `%tid.z`.
    thread_idx_z = tid_z;
    /// This block's x index in the grid: `%ctaid.x`.
    block_idx_x = ctaid_x;
    /// This block's y index in the grid: `%ctaid.y`.
    block_idx_y = ctaid_y;
    /// This block's z index in the grid: `%ctaid.z`.
    block_idx_z = ctaid_z;
    /// Threads of a block along x: `%ntid.x`.
    block_dim_x = ntid_x;
    /// Threads of a block along y: `%ntid.y`.
    block_dim_y = ntid_y;
    /// Threads of a block along z: `%ntid.z`.
    block_dim_z = ntid_z;
    /// Blocks of the grid along x: `%nctaid.x`.
    grid_dim_x = nctaid_x;
    /// Blocks of the grid along y: `%nctaid.y`.
    grid_dim_y = nctaid_y;
    /// Blocks of the grid along z: `%nctaid.z`.
    grid_dim_z = nctaid_z;
}

/// This thread's index in its block, (x, y, z): `%tid`.
#[inline(always)]
#[must_use]
pub fn thread_idx() -> (u32, u32, u32) {
    (thread_idx_x(), thread_idx_y(), thread_idx_z())
}

/// This block's index in the grid, (x, y, z): `%ctaid`.
#[inline(always)]
#[must_use]
pub fn block_idx() -> (u32, u32, u32) {
    (block_idx_x(), block_idx_y(), block_idx_z())
}

/// Threads of a block along (x, y, z): `%ntid`.
#[inline(always)]
#[must_use]
pub fn block_dim() -> (u32, u32, u32) {
    (block_dim_x(), block_dim_y(), block_dim_z())
}

/// Blocks of the grid along (x, y, z): `%nctaid`.
#[inline(always)]
#[must_use]
pub fn grid_dim() -> (u32, u32, u32) {
    (grid_dim_x(), grid_dim_y(), grid_dim_z())
}

/// This thread's index in a one-dimensional grid: `mad.lo.s32` of `%ctaid.x`, `%ntid.x`, `%tid.x`.
///
/// Wraps beyond 2³² threads.
#[inline(always)]
#[must_use]
pub fn index_1d() -> u32 {
    block_idx_x().wrapping_mul(block_dim_x()).wrapping_add(thread_idx_x())
}

/// This thread's (x, y) in a two-dimensional grid: one `mad.lo.s32` per axis.
#[inline(always)]
#[must_use]
pub fn index_2d() -> (u32, u32) {
    let y = block_idx_y().wrapping_mul(block_dim_y()).wrapping_add(thread_idx_y());
    (index_1d(), y)
}

/// This thread's (x, y, z) in a three-dimensional grid: one `mad.lo.s32` per axis.
#[inline(always)]
#[must_use]
pub fn index_3d() -> (u32, u32, u32) {
    let (x, y) = index_2d();
    (x, y, block_idx_z().wrapping_mul(block_dim_z()).wrapping_add(thread_idx_z()))
}

/// Threads of the grid along x: `mul.lo.s32` of `%nctaid.x`, `%ntid.x`. The step of a grid-stride loop.
#[inline(always)]
#[must_use]
pub fn grid_size_1d() -> u32 {
    grid_dim_x().wrapping_mul(block_dim_x())
}

/// This thread's index in its block, all axes flattened, x fastest.
#[inline(always)]
#[must_use]
pub fn flat_thread_idx() -> u32 {
    let plane = thread_idx_z().wrapping_mul(block_dim_y()).wrapping_add(thread_idx_y());
    plane.wrapping_mul(block_dim_x()).wrapping_add(thread_idx_x())
}

/// Waits until every thread of the block is here; their writes before it are then visible to all of
/// them: `barrier.sync.aligned 0`, also written `bar.sync 0`.
///
/// # Safety
/// Every thread of the block that has not exited must reach this same call: not inside a branch that only
/// some of them take.
#[inline(always)]
pub unsafe fn sync_threads() {
    // SAFETY: the caller's promise.
    unsafe { barrier_sync(0) }
}

/// [`sync_threads`], and the number of threads whose `predicate` is true: `bar.red.popc.u32`.
///
/// # Safety
/// As [`sync_threads`].
#[inline(always)]
pub unsafe fn sync_threads_count(predicate: bool) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { barrier_popc(0, predicate) }
}

/// [`sync_threads`], and whether every thread's `predicate` is true: `bar.red.and.pred`.
///
/// # Safety
/// As [`sync_threads`].
#[inline(always)]
pub unsafe fn sync_threads_and(predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { barrier_and(0, predicate) }
}

/// [`sync_threads`], and whether any thread's `predicate` is true: `bar.red.or.pred`.
///
/// # Safety
/// As [`sync_threads`].
#[inline(always)]
pub unsafe fn sync_threads_or(predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { barrier_or(0, predicate) }
}

/// This thread's earlier writes become visible to its block before its later ones: `membar.cta`.
#[inline(always)]
pub fn block_fence() {
    membar_cta();
}

/// This thread's earlier writes become visible to the device before its later ones: `membar.gl`.
#[inline(always)]
pub fn device_fence() {
    membar_gl();
}

/// This thread's earlier writes become visible to the device, other devices and the host before its
/// later ones: `membar.sys`.
#[inline(always)]
pub fn system_fence() {
    membar_sys();
}

/// Sleeps for between 0 and twice `nanoseconds`, at most a millisecond: `nanosleep.u32`.
///
/// Suspends the thread for about that long, for instance between two looks at memory that it polls.
#[inline(always)]
pub fn nanosleep(nanoseconds: u32) {
    // SAFETY: touches no memory. Not `nomem`, so that a polling loop reads again after it.
    unsafe { asm!("nanosleep.u32 {};", in(reg32) nanoseconds, options(nostack, preserves_flags)) }
}

/// Cycles of this multiprocessor, wrapping: `mov.u32 %clock`.
#[inline(always)]
#[must_use]
pub fn clock() -> u32 {
    let cycles: u32;
    // SAFETY: reads a counter. Not `nomem`: the reading stays between the accesses around it.
    unsafe { asm!("mov.u32 {}, %clock;", out(reg32) cycles, options(nostack, preserves_flags)) }
    cycles
}

/// Cycles of this multiprocessor: `mov.u64 %clock64`.
#[inline(always)]
#[must_use]
pub fn clock64() -> u64 {
    let cycles: u64;
    // SAFETY: as `clock`.
    unsafe { asm!("mov.u64 {}, %clock64;", out(reg64) cycles, options(nostack, preserves_flags)) }
    cycles
}

/// Nanoseconds of the device, the same on every multiprocessor: `mov.u64 %globaltimer`.
///
/// Its resolution is the driver's choice, often a microsecond.
#[inline(always)]
#[must_use]
pub fn global_timer() -> u64 {
    let nanoseconds: u64;
    // SAFETY: as `clock`.
    unsafe { asm!("mov.u64 {}, %globaltimer;", out(reg64) nanoseconds, options(nostack, preserves_flags)) }
    nanoseconds
}
