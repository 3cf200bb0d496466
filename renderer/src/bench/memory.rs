//! Checks that benchmarks fit into memory.

use torrance_gpu::backend::Error;
use torrance_scene::limits::available_memory;
use torrance_text::human_bytes;

use super::TimedBackend;

/// Reason why something was not measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MeasureError {
    /// So many elements do not fit into memory, or are more than the primitive takes. Why, in words.
    TooLarge(String),
    /// The back end failed.
    Failed(Error),
    /// It was stopped.
    Stopped,
}

impl From<Error> for MeasureError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl MeasureError {
    /// The error of a back end that was `doing` this.
    pub fn into_error(self, doing: String) -> Error {
        match self {
            Self::TooLarge(reason) => Error { doing, reason },
            Self::Failed(Error { doing: part, reason }) => {
                Error { doing: format!("{doing}: {part}"), reason }
            }
            Self::Stopped => Error { doing, reason: "it was told to end".to_owned() },
        }
    }
}

/// Bytes of the host's memory that may be filled: the rest is for what others do meanwhile.
pub(super) fn free_on_host() -> Option<u64> {
    available_memory().map(|bytes| u64::try_from(bytes - bytes / 16).unwrap_or(u64::MAX))
}

/// Calls `allocate` for `bytes` bytes of the machine's memory, if there are so many.
pub(super) fn allocated<B: TimedBackend, T>(
    backend: &mut B,
    bytes: usize,
    allocate: impl FnOnce(&mut B) -> Result<T, Error>,
) -> Result<T, MeasureError> {
    enough(bytes as u128, backend.free_bytes())?;
    allocate(backend).map_err(|refusal| match backend.synchronize() {
        // A machine that works refuses for want of memory alone.
        Ok(()) => MeasureError::TooLarge(refusal.to_string()),
        Err(failure) => MeasureError::Failed(failure),
    })
}

/// An empty vector of the host's with room for `len` elements. A system may promise memory that it does not have, so it
/// is asked what is free, too.
pub(super) fn vector<T>(len: u32) -> Result<Vec<T>, MeasureError> {
    let bytes = u128::from(len) * size_of::<T>() as u128;
    enough(bytes, free_on_host())?;
    let mut vector = Vec::new();
    match vector.try_reserve_exact(len as usize) {
        Ok(()) => Ok(vector),
        Err(_) => Err(MeasureError::TooLarge(format!("the system refuses {} of memory", human_bytes(bytes)))),
    }
}

fn enough(bytes: u128, free: Option<u64>) -> Result<(), MeasureError> {
    match free {
        Some(free) if u128::from(free) < bytes => {
            let [bytes, free] = [bytes, free.into()].map(human_bytes);
            Err(MeasureError::TooLarge(format!("{bytes} more of memory are needed, and {free} are free")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use torrance_gpu::backend::Backend;
    use torrance_gpu::backend::cpu::Cpu;

    const TOO_MANY: usize = 1 << 50;

    #[test]
    fn what_does_not_fit_is_told_from_what_fails() {
        assert_eq!(enough(10, Some(10)), Ok(()));
        assert_eq!(enough(10, None), Ok(()));
        let reason = "8 GiB more of memory are needed, and 1.5 GiB are free".to_owned();
        assert_eq!(enough(8 << 30, Some(3 << 29)), Err(MeasureError::TooLarge(reason)));

        assert!(matches!(vector::<[u8; 1 << 30]>(1 << 30), Err(MeasureError::TooLarge(_))));
        assert!(vector::<u32>(1000).unwrap().capacity() >= 1000);

        let mut cpu = Cpu::new(Some(1)).unwrap();
        // As if it were not known what is free.
        let refused = allocated(&mut cpu, 0, |b| b.zeroed::<u8>("results", TOO_MANY)).err().unwrap();
        assert!(matches!(refused, MeasureError::TooLarge(reason) if reason.contains("results")));
        let asked = allocated(&mut cpu, TOO_MANY, |_| Ok(())).unwrap_err();
        assert!(matches!(asked, MeasureError::TooLarge(_)) == free_on_host().is_some());
    }
}
