//! Structures of arrays: what is kept of every path, a column for each part, so that neighbouring threads read and write
//! neighbouring memory.

/// Name and element size of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Bytes of an element, to a multiple of which columns are aligned.
    pub bytes: usize,
}

/// Columns begin at multiples of so many bytes.
pub const ALIGNMENT: usize = 256;

/// Declares a row, and the columns that keep rows: `load(i)` reads one, `store(i, &row)` writes one. Single columns are
/// read and written through their names.
macro_rules! columns {
    (
        $(#[$columns_meta:meta])* $Columns:ident of
        $(#[$row_meta:meta])* $Row:ident { $($(#[$meta:meta])* $name:ident: $T:ty,)* }
    ) => {
        $(#[$row_meta])*
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct $Row { $($(#[$meta])* pub $name: $T,)* }

        $(#[$columns_meta])*
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct $Columns { $($(#[$meta])* pub $name: Ptr<$T>,)* }

        impl $Columns {
            /// The columns, in their order in memory.
            pub const COLUMNS: &'static [Column] =
                &[$(Column { name: stringify!($name), bytes: size_of::<$T>() }),*];

            /// Bytes of a row.
            pub const ROW_BYTES: usize = 0 $(+ size_of::<$T>())*;

            /// Where each column begins, in bytes, and where the last one ends, if they have `rows` rows.
            pub const fn offsets(rows: usize) -> [usize; Self::COLUMNS.len() + 1] {
                let mut offsets = [0; Self::COLUMNS.len() + 1];
                let mut k = 0;
                while k < Self::COLUMNS.len() {
                    let end = offsets[k] + rows * Self::COLUMNS[k].bytes;
                    offsets[k + 1] = end.next_multiple_of(ALIGNMENT);
                    k += 1;
                }
                offsets
            }

            /// Columns of `rows` rows from `start` on, which is aligned to [`ALIGNMENT`].
            pub fn new(start: Ptr<u8>, rows: usize) -> Self {
                let mut offsets = Self::offsets(rows).into_iter();
                let mut next = || start.bytes(offsets.next().unwrap_or(0));
                Self { $($name: next().cast()),* }
            }

            /// Reads row `i`.
            ///
            /// # Safety
            /// It is there, and nobody writes it meanwhile.
            #[inline(always)]
            pub unsafe fn load(&self, i: u32) -> $Row {
                // SAFETY: as the caller promised.
                unsafe { $Row { $($name: read(self.$name.at(i))),* } }
            }

            /// Writes row `i`.
            ///
            /// # Safety
            /// It is there, and nobody else uses it meanwhile.
            #[inline(always)]
            pub unsafe fn store(&self, i: u32, row: &$Row) {
                // SAFETY: as the caller promised.
                unsafe { $(write(self.$name.at(i), row.$name);)* }
            }
        }
    };
}
pub(super) use columns;
