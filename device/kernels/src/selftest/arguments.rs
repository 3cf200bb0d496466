//! `#[kernel]`: arguments of every kind arrive.

use cuda_std::kernel;

/// A struct by value, with padding and a pointer in it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Record {
    byte: u8,
    word: u32,
    long: u64,
    float: f32,
    array: [u16; 3],
    out: *mut u64,
}

/// Writes each argument, widened, to `record.out[0..10]`.
///
/// # Safety
/// `record.out` has room for 10 values; one thread runs.
#[kernel]
pub unsafe fn kernel_arguments(byte: u8, long: i64, record: Record, float: f32, mut word: u32) {
    word += 1;
    let [a, b, c] = record.array.map(u64::from);
    let values = [
        byte.into(),
        long.cast_unsigned(),
        record.byte.into(),
        record.word.into(),
        record.long,
        record.float.to_bits().into(),
        a << 32 | b << 16 | c,
        float.to_bits().into(),
        word.into(),
        size_of::<Record>() as u64,
    ];
    // SAFETY: the launch's promise.
    unsafe { super::write(record.out, 0, values) }
}
