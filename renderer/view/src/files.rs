//! Files that change while they are looked at.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use crate::hub::Hub;

/// How often files are looked at. It is the same on all file systems, those of networks among them.
const EVERY: Duration = Duration::from_millis(250);

/// When a file was written last, and its size; `None` if it is not there.
type Stamp = Option<(SystemTime, u64)>;

fn stamp(path: &Path) -> Stamp {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Has the scene read again when files have changed, and stay as they are for a moment: editors write in parts.
pub(crate) fn watch(hub: &Arc<Hub>, files: impl IntoIterator<Item = PathBuf>) {
    let mut known: BTreeMap<_, _> = files.into_iter().map(|path| (path.clone(), stamp(&path))).collect();
    let mut is_changing = false;
    while !hub.is_over() {
        thread::sleep(EVERY);
        let mut has_changed = false;
        for (path, before) in &mut known {
            let now = stamp(path);
            has_changed |= std::mem::replace(before, now) != now;
        }
        if is_changing && !has_changed {
            hub.reload();
        }
        is_changing = has_changed;
    }
}
