//! Register spills, from the log of the driver's compiler.

/// Bytes of registers that a thread of a kernel moves to local memory and back, for want of registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spills {
    /// Bytes that its instructions store.
    pub stores: u32,
    /// Bytes that its instructions load.
    pub loads: u32,
}

impl Spills {
    /// Reads them from the compiler's log, if it says anything of the kernel called `name`.
    pub(super) fn read(log: &str, name: &str) -> Option<Self> {
        let mut lines = log.lines();
        lines.find(|line| {
            line.split_once("Function properties for")
                .is_some_and(|(_, rest)| rest.trim().trim_matches('\'') == name)
        })?;
        let line = lines.next()?;
        let bytes = |what: &str| {
            let before = line.split_once(what)?.0.trim_end().strip_suffix("bytes")?;
            before.split_whitespace().next_back()?.parse().ok()
        };
        Some(Self { stores: bytes("spill stores")?, loads: bytes("spill loads")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spills_are_those_of_the_kernel() {
        let log = "\
ptxas info    : Compiling entry function 'shade' for 'sm_90'
ptxas info    : Function properties for helper
ptxas         .     8 bytes stack frame, 1 bytes spill stores, 2 bytes spill loads
ptxas info    : Function properties for shade
ptxas         .     584 bytes stack frame, 548 bytes spill stores, 484 bytes spill loads
ptxas info    : Used 96 registers
";
        assert_eq!(Spills::read(log, "shade"), Some(Spills { stores: 548, loads: 484 }));
        assert_eq!(Spills::read(log, "helper"), Some(Spills { stores: 1, loads: 2 }));
        assert_eq!(Spills::read(log, "other"), None);
        assert_eq!(Spills::read("", "shade"), None);
    }
}
