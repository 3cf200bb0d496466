//! Files that change while they are looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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

/// The files of a scene, which may be others when it is read again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watched(Arc<Mutex<BTreeMap<PathBuf, Stamp>>>);

impl Watched {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Stamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on it is these. What is known of one that was among them stays.
    pub(crate) fn set(&self, files: &BTreeSet<PathBuf>) {
        let mut known = self.lock();
        known.retain(|path, _| files.contains(path));
        for path in files {
            known.entry(path.clone()).or_insert_with(|| stamp(path));
        }
    }

    /// And their folders, with those in them, in which what is missing may come to be.
    pub(crate) fn add_folders(&self) {
        let mut known = self.lock();
        let folders: BTreeSet<_> =
            known.keys().filter_map(|path| path.parent().map(Path::to_owned)).collect();
        let within = folders.iter().flat_map(std::fs::read_dir).flatten().flatten().map(|entry| entry.path());
        let within: BTreeSet<_> = within.filter(|path| path.is_dir()).collect();
        for path in folders.into_iter().chain(within) {
            known.entry(path.clone()).or_insert_with(|| stamp(&path));
        }
    }

    /// Whether one is not as it was.
    fn have_changed(&self) -> bool {
        let mut has_changed = false;
        for (path, before) in self.lock().iter_mut() {
            let now = stamp(path);
            has_changed |= std::mem::replace(before, now) != now;
        }
        has_changed
    }
}

/// Has the scene read again when files have changed, and stay as they are for a moment: editors write in parts.
pub(crate) fn watch(hub: &Hub, files: &Watched) {
    let mut is_changing = false;
    while !hub.is_over() {
        thread::sleep(EVERY);
        let has_changed = files.have_changed();
        if is_changing && !has_changed {
            hub.reload();
        }
        is_changing = has_changed;
    }
}
