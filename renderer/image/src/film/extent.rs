//! How much an image file holds, known before its pixels are read.

use std::path::Path;

use torrance_system::available_memory;
use torrance_text::human_bytes;

use super::format::Format;
use super::image::{self, ReadError};
use super::openexr;

/// The extent of an image: its pixels, and what its channels take in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// Bytes that all its channels have for each pixel: 12 for three floats.
    pub bytes_per_pixel: u64,
}

/// A task that needs more memory than there is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{task} needs {} of memory, and there are {} available", human_bytes(*needed), human_bytes(*available))]
pub struct TooLittleMemory {
    /// The task: the beginning of a sentence.
    task: &'static str,
    /// Memory that it needs, bytes.
    needed: u128,
    /// Memory available, bytes.
    available: u128,
}

impl Extent {
    /// The extent of a file, from its header.
    ///
    /// # Errors
    /// The header cannot be read.
    pub fn of(path: &Path) -> Result<Self, ReadError> {
        if Format::from_path(path)? == Format::Exr {
            return openexr::extent(image::open(path)?)
                .map_err(|reason| ReadError::Invalid { format: Format::Exr, reason });
        }
        let (width, height) = image::size(path)?;
        Ok(Self { width, height, bytes_per_pixel: 12 })
    }

    /// Checks that a task which needs so much for each pixel finds that much memory, as far as the system tells.
    ///
    /// # Errors
    /// There is less.
    pub fn check_memory(&self, task: &'static str, bytes_per_pixel: u64) -> Result<(), TooLittleMemory> {
        self.check(task, bytes_per_pixel, available_memory())
    }

    fn check(&self, task: &'static str, each: u64, available: Option<u128>) -> Result<(), TooLittleMemory> {
        let needed = u128::from(self.width) * u128::from(self.height) * u128::from(each);
        match available {
            Some(available) if needed > available => Err(TooLittleMemory { task, needed, available }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_numbers() {
        let extent = Extent { width: 1 << 10, height: 1 << 10, bytes_per_pixel: 28 };
        assert_eq!(extent.check("merging", 100, None), Ok(()), "nothing is known");
        assert_eq!(extent.check("merging", 100, Some(100 << 20)), Ok(()));
        let message = extent.check("merging", 100, Some((100 << 20) - 1)).unwrap_err().to_string();
        assert_eq!(message, "merging needs 100 MiB of memory, and there are 100 MiB available");
    }
}
