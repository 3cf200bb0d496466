//! Memory that this process may still have, as far as the system tells.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Memory available without swapping, bytes: the least of what the machine has, what the control groups of the process leave
/// (versions 1 and 2) and what its limit of address space leaves. `None` where the system tells nothing. It is what was so a
/// moment ago at most: to ask takes longer than to render a small image.
pub fn available_memory() -> Option<u128> {
    /// How long an answer holds.
    const MOMENT: Duration = Duration::from_millis(50);
    static LAST: Mutex<Option<(Instant, Option<u128>)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match *last {
        Some((when, bytes)) if when.elapsed() < MOMENT => bytes,
        _ => {
            let bytes = ask();
            *last = Some((Instant::now(), bytes));
            bytes
        }
    }
}

fn ask() -> Option<u128> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| parse_meminfo(&text));
    let groups =
        fs::read_to_string("/proc/self/cgroup").ok().and_then(|text| left_in_groups(&text, Path::new(ROOT)));
    [machine, groups, address_space()].into_iter().flatten().min()
}

/// Where control groups are mounted.
const ROOT: &str = "/sys/fs/cgroup";

/// `MemAvailable` of `/proc/meminfo`, bytes.
fn parse_meminfo(text: &str) -> Option<u128> {
    let rest = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(u128::from(kib) << 10)
}

/// A version of control groups: its files for the limit, for what is used, and the part of that which is cache.
struct Version {
    limit: &'static str,
    used: &'static str,
    cache: &'static str,
}

const VERSION_1: Version =
    Version { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", cache: "total_inactive_file" };
const VERSION_2: Version = Version { limit: "memory.max", used: "memory.current", cache: "inactive_file" };

/// The least that a control group of the process, or one around it, leaves. `groups` is the text of `/proc/self/cgroup`.
fn left_in_groups(groups: &str, root: &Path) -> Option<u128> {
    let left = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?.trim_start_matches('/'));
        let (version, mounts) = match controllers {
            "" => (VERSION_2, vec![root.to_owned(), root.join("unified")]),
            of if of.split(',').any(|name| name == "memory") => (VERSION_1, vec![root.join("memory")]),
            _ => return None,
        };
        // A container may see its own group as the root.
        let around = |mount: &PathBuf| {
            mount
                .join(group)
                .ancestors()
                .take_while(|folder| folder.starts_with(mount))
                .map(Path::to_owned)
                .collect::<Vec<_>>()
        };
        mounts.iter().flat_map(around).filter_map(|folder| left_in_group(&folder, &version)).min()
    };
    groups.lines().filter_map(left).min()
}

/// What a control group leaves, if it has a limit: files that are only cached make room.
fn left_in_group(folder: &Path, version: &Version) -> Option<u128> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let limit: u128 = read(version.limit)?.trim().parse().ok()?;
    let used: u128 = read(version.used)?.trim().parse().ok()?;
    let stat = read("memory.stat").unwrap_or_default();
    let cache =
        stat.lines().find_map(|line| line.strip_prefix(version.cache)?.trim().parse().ok()).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cache)))
}

/// What the limit of address space leaves (`ulimit -v`), if there is one.
#[cfg(target_os = "linux")]
fn address_space() -> Option<u128> {
    use rustix::param::page_size;
    use rustix::process::{Resource, getrlimit};
    let limit = getrlimit(Resource::As).current?;
    let pages: u128 = fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().next()?.parse().ok()?;
    Some(u128::from(limit).saturating_sub(pages * page_size() as u128))
}

#[cfg(not(target_os = "linux"))]
fn address_space() -> Option<u128> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read() {
        let text =
            "MemTotal:       65842236 kB\nMemFree:  9 kB\nMemAvailable:   60217552 kB\nBuffers: 1 kB\n";
        assert_eq!(parse_meminfo(text), Some(60_217_552 << 10));
        for text in ["", "MemTotal: 5 kB\n", "MemAvailable: kB\n", "MemAvailable: 5 MB\n"] {
            assert_eq!(parse_meminfo(text), None, "{text:?}");
        }
        // Since Linux 3.14.
        assert_eq!(available_memory().is_some(), cfg!(target_os = "linux"));
    }

    /// Writes the files of a group.
    fn group(folder: &Path, files: [(&str, &str); 3]) {
        fs::create_dir_all(folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
    }

    #[test]
    fn the_tightest_group_counts() {
        let root = tempfile::tempdir().unwrap();
        let v1 = |limit, used| {
            [
                ("memory.limit_in_bytes", limit),
                ("memory.usage_in_bytes", used),
                ("memory.stat", "cache 7\ntotal_inactive_file 50\n"),
            ]
        };
        group(&root.path().join("memory/a/b"), v1("9223372036854771712\n", "100\n"));
        group(&root.path().join("memory/a"), v1("1000\n", "300\n"));
        let left = |text| left_in_groups(text, root.path());
        assert_eq!(left("4:memory:/a/b\n3:cpu:/\n"), Some(1000 - (300 - 50)));
        assert_eq!(left("4:cpu,memory:/a\n"), Some(750));
        assert_eq!(left("4:memory:/elsewhere\n"), None, "no limit is there");
        let v2 = |limit, used| {
            [("memory.max", limit), ("memory.current", used), ("memory.stat", "inactive_file 20\n")]
        };
        group(&root.path().join("x/y"), v2("max\n", "10\n"));
        group(&root.path().join("x"), v2("500\n", "600\n"));
        assert_eq!(left("0::/x/y\n"), Some(0), "more is used than the limit, since it was set");
        assert_eq!(left("0::/x/y\n4:memory:/a/b\n"), Some(0));
        assert_eq!(left(""), None);
        assert_eq!(left("nonsense\n"), None);
    }
}
