//! Launch bounds of kernels, which rustc cannot express: with them, ptxas limits the registers per thread so that the given
//! number of blocks fits on a multiprocessor.

use device::path::stage::{LAUNCHES, Launch};
use primitives::KERNELS;

/// `ptx`, without indentation, with the bounds of all kernels whose launches are known.
pub fn place(ptx: &str) -> String {
    place_of(ptx, &[LAUNCHES, KERNELS].concat())
}

/// `ptx`, with the bounds of those `launches` whose kernels it has.
fn place_of(ptx: &str, launches: &[Launch]) -> String {
    let mut out = String::with_capacity(ptx.len() + 64 * launches.len());
    let mut current: Option<&Launch> = None;
    for line in ptx.lines() {
        if let Some((_, rest)) = line.split_once(".entry ") {
            let name = rest.split('(').next().unwrap_or_default().trim();
            current = launches.iter().find(|l| l.stage == name);
        }
        if line.starts_with('{')
            && let Some(Launch { block, blocks, .. }) = current.take()
        {
            out += &format!(".maxntid {block}, 1, 1\n.minnctapersm {blocks}\n");
        }
        out += line;
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_get_their_own_bounds() {
        let kernel = |name: &str, bounds: &str| {
            format!(".visible .entry {name}(\n.param .b32 p\n)\n{bounds}{{\nret;\n}}\n")
        };
        let module = |a, b| {
            [kernel("a", a), ".func f()\n{\nret;\n}\n".to_owned(), kernel("b", b), kernel("ab", "")].concat()
        };
        let launches = [("b", 64, 3), ("a", 128, 2)];
        let launches = launches.map(|(stage, block, blocks)| Launch { stage, block, blocks, shared: 0 });
        let ptx = module("", "");
        let bounded = module(".maxntid 128, 1, 1\n.minnctapersm 2\n", ".maxntid 64, 1, 1\n.minnctapersm 3\n");
        assert_eq!(place_of(&ptx, &launches), bounded);
        assert_eq!(place_of(&ptx, &[]), ptx);
    }
}
