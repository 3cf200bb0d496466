//! `printf` from a kernel, for debugging.
//!
//! The driver formats the text and writes it to the process's standard output when the host next
//! synchronises. The buffer is small, and the order of threads is not kept. A kernel that prints uses
//! local memory and is slow: take it out again.

use core::ffi::CStr;
#[cfg(target_arch = "nvptx64")]
use core::ffi::c_char;

/// Type of argument that a conversion takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conversion {
    /// `%d`, `%i`, `%c`: an `i32`.
    Int,
    /// `%u`, `%x`, `%X`, `%o`: a `u32`.
    Unsigned,
    /// `%lld`, `%lli`: an `i64`.
    Long,
    /// `%llu`, `%llx`, `%llX`, `%llo`: a `u64`.
    UnsignedLong,
    /// `%f`, `%e`, `%g`, `%a` and their capitals: an `f32` or `f64`.
    Float,
    /// `%p`: a pointer.
    Pointer,
}

/// The conversion at or after `at`, and where to go on; `None` at the end of the format.
const fn next_conversion(format: &[u8], mut at: usize) -> Option<(Conversion, usize)> {
    while at < format.len() {
        if format[at] != b'%' {
            at += 1;
        } else if at + 1 < format.len() && format[at + 1] == b'%' {
            at += 2;
        } else {
            return Some(conversion(format, at + 1));
        }
    }
    None
}

/// The conversion whose `%` is just before `at`: flags, width, precision, `ll`, letter.
const fn conversion(format: &[u8], mut at: usize) -> (Conversion, usize) {
    while at < format.len() && matches!(format[at], b'-' | b'+' | b' ' | b'#' | b'.' | b'0'..=b'9') {
        at += 1;
    }
    let long = at + 1 < format.len() && format[at] == b'l' && format[at + 1] == b'l';
    if long {
        at += 2;
    }
    assert!(at < format.len(), "the format ends inside a conversion");
    let conversion = match (format[at], long) {
        (b'd' | b'i', true) => Conversion::Long,
        (b'u' | b'x' | b'X' | b'o', true) => Conversion::UnsignedLong,
        (b'd' | b'i' | b'c', false) => Conversion::Int,
        (b'u' | b'x' | b'X' | b'o', false) => Conversion::Unsigned,
        (b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A', false) => Conversion::Float,
        (b'p', false) => Conversion::Pointer,
        _ => panic!("unknown conversion: d i c u x X o, ll before an integer's, f e g a, p are known"),
    };
    (conversion, at + 1)
}

/// Number of conversions in a format. Panics, at compile time, on one that is not known.
#[doc(hidden)]
#[must_use]
pub const fn count(format: &str) -> usize {
    let (mut n, mut at) = (0, 0);
    while let Some((_, next)) = next_conversion(format.as_bytes(), at) {
        n += 1;
        at = next;
    }
    n
}

/// Argument type of the `index`th conversion of a format, as the number of its variant.
#[doc(hidden)]
#[must_use]
pub const fn kind(format: &str, index: usize) -> u8 {
    let (mut n, mut at) = (0, 0);
    while let Some((conversion, next)) = next_conversion(format.as_bytes(), at) {
        if n == index {
            return conversion as u8;
        }
        n += 1;
        at = next;
    }
    panic!("more values than conversions in the format")
}

/// The format as C wants it, given with a zero byte at its end.
#[doc(hidden)]
#[must_use]
pub const fn terminated(format: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(format.as_bytes()) {
        Ok(format) => format,
        Err(_) => panic!("the format contains a zero byte"),
    }
}

/// A value that the conversion numbered `KIND` prints.
#[diagnostic::on_unimplemented(message = "`{Self}` does not match its conversion in the format")]
pub trait Print<const KIND: u8>: Copy {
    /// The type that C's default promotions make of it.
    type Promoted: Copy;
    /// Promotes.
    fn promote(self) -> Self::Promoted;
}

macro_rules! print {
    ($($ty:ty => $promoted:ty, $kind:ident;)*) => {$(
        impl Print<{ Conversion::$kind as u8 }> for $ty {
            type Promoted = $promoted;
            #[inline(always)]
            fn promote(self) -> $promoted {
                self.into()
            }
        }
    )*};
}

print! {
    i32 => i32, Int;
    u32 => u32, Unsigned;
    i64 => i64, Long;
    u64 => u64, UnsignedLong;
    f32 => f64, Float;
    f64 => f64, Float;
}

impl<T> Print<{ Conversion::Pointer as u8 }> for *const T {
    type Promoted = Self;
    #[inline(always)]
    fn promote(self) -> Self {
        self
    }
}

impl<T> Print<{ Conversion::Pointer as u8 }> for *mut T {
    type Promoted = Self;
    #[inline(always)]
    fn promote(self) -> Self {
        self
    }
}

/// `N` values as `vprintf` wants them: one after the other, each aligned to its size.
#[doc(hidden)]
pub struct Arguments<const N: usize> {
    words: [u64; N],
    bytes: usize,
}

impl<const N: usize> Arguments<N> {
    /// No values yet.
    #[inline(always)]
    #[must_use]
    #[expect(clippy::new_without_default, reason = "only the macro makes these")]
    pub const fn new() -> Self {
        Self { words: [0; N], bytes: 0 }
    }

    /// Appends a value for the conversion numbered `KIND`.
    #[inline(always)]
    pub fn push<T: Print<KIND>, const KIND: u8>(&mut self, value: T) {
        let size = size_of::<T::Promoted>();
        let at = self.bytes.next_multiple_of(size);
        assert!(at + size <= size_of::<[u64; N]>());
        // SAFETY: inside `words` and aligned, both just checked.
        unsafe { self.words.as_mut_ptr().byte_add(at).cast::<T::Promoted>().write(value.promote()) };
        self.bytes = at + size;
    }

    /// The packed values.
    #[inline(always)]
    #[must_use]
    pub const fn as_ptr(&self) -> *const u64 {
        self.words.as_ptr()
    }
}

/// Calls `vprintf`, which the driver provides. Returns the number of values printed, or a negative number.
#[doc(hidden)]
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub fn vprintf<const N: usize>(format: &'static CStr, arguments: &Arguments<N>) -> i32 {
    unsafe extern "C" {
        #[link_name = "vprintf"]
        fn driver_vprintf(format: *const c_char, arguments: *const u64) -> i32;
    }
    // SAFETY: the macro has checked number and types of the values against the format.
    unsafe { driver_vprintf(format.as_ptr(), arguments.as_ptr()) }
}

/// Nothing prints on the host: kernels run there in tests.
#[doc(hidden)]
#[cfg(not(target_arch = "nvptx64"))]
pub fn vprintf<const N: usize>(_: &'static CStr, _: &Arguments<N>) -> i32 {
    N as i32
}

/// Prints from a kernel as C's `printf`: `call vprintf`. For debugging.
///
/// The format is a literal; number and types of the values are checked against it at compile time. See
/// [`Conversion`] for what there is. Returns the number of values, negative when something failed.
///
/// ```
/// cuda_std::cuda_print!("lane %u: %d%% of %g\n", 3u32, -4, 0.5f32);
/// ```
/// A value of another type does not compile:
/// ```compile_fail,E0277
/// cuda_std::cuda_print!("lane %u: %d%% of %g\n", 3u32, -4, 5u32);
/// ```
/// Nor does a missing value:
/// ```compile_fail,E0080
/// cuda_std::cuda_print!("lane %u: %d%% of %g\n", 3u32, -4);
/// ```
#[macro_export]
macro_rules! cuda_print {
    (@push $arguments:ident $format:literal, $index:expr;) => {};
    (@push $arguments:ident $format:literal, $index:expr; $value:expr $(, $rest:expr)*) => {
        $arguments.push::<_, { $crate::print::kind($format, $index) }>($value);
        $crate::cuda_print!(@push $arguments $format, $index + 1; $($rest),*);
    };
    (@one $value:expr) => { () };
    ($format:literal $(, $value:expr)* $(,)?) => {{
        const COUNT: usize = <[()]>::len(&[$($crate::cuda_print!(@one $value)),*]);
        const { assert!($crate::print::count($format) == COUNT, "fewer values than conversions in the format") };
        const FORMAT: &::core::ffi::CStr = $crate::print::terminated(concat!($format, "\0"));
        #[allow(unused_mut, reason = "a format without values pushes none")]
        let mut arguments = $crate::print::Arguments::<COUNT>::new();
        $crate::cuda_print!(@push arguments $format, 0; $($value),*);
        $crate::print::vprintf(FORMAT, &arguments)
    }};
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn formats_are_understood() {
        use Conversion::*;
        let cases: [(&str, &[Conversion]); 8] = [
            ("", &[]),
            ("100%%\n", &[]),
            ("%d %i %c", &[Int, Int, Int]),
            ("%5u|%-8x|%#X|%o", &[Unsigned; 4]),
            ("%lld %llu %016llx", &[Long, UnsignedLong, UnsignedLong]),
            ("%f %.3e %+8.2g %a", &[Float; 4]),
            ("%p", &[Pointer]),
            ("%%%d%%", &[Int]),
        ];
        for (format, conversions) in cases {
            assert_eq!(count(format), conversions.len(), "{format}");
            for (i, &conversion) in conversions.iter().enumerate() {
                assert_eq!(kind(format, i), conversion as u8, "{format} {i}");
            }
        }
    }

    #[test]
    fn formats_that_vprintf_would_misread_are_refused() {
        for format in ["%s", "%n", "%ld", "%hd", "%*d", "%", "%ll", "%llf", "%-"] {
            assert!(std::panic::catch_unwind(|| count(format)).is_err(), "{format}");
        }
        assert!(std::panic::catch_unwind(|| kind("%d", 1)).is_err());
    }

    /// C's layout: 4-byte values 4 bytes apart, 8-byte values at multiples of 8.
    #[test]
    fn values_are_packed_as_c_does() {
        let mut arguments = Arguments::<4>::new();
        arguments.push::<_, { kind("%d", 0) }>(-2);
        arguments.push::<_, { kind("%f", 0) }>(0.5f32);
        arguments.push::<_, { kind("%u", 0) }>(7u32);
        arguments.push::<_, { kind("%x", 0) }>(9u32);
        let words = arguments.words;
        assert_eq!(words[0] as u32, -2i32 as u32);
        assert_eq!(f64::from_bits(words[1]), 0.5);
        assert_eq!((words[2] as u32, (words[2] >> 32) as u32), (7, 9));
        assert_eq!(arguments.bytes, 24);
    }

    #[test]
    fn the_macro_counts() {
        assert_eq!(cuda_print!("nothing\n"), 0);
        assert_eq!(cuda_print!("%d %llu %g\n", 1, 2u64, 3.0f64,), 3);
    }
}
