//! What a suite has rendered, kept until its run has ended, so that one that is killed can go on.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use torrance_image::film::Film;
use torrance_image::film::write::is_temporary;

use crate::render::{Checkpoints, Resumed, identity_of_key};

/// A folder of films, one for each case, and of checkpoints of those that are being rendered.
#[derive(Debug)]
pub struct Kept {
    folder: PathBuf,
    every: Duration,
    begin: Instant,
    resumes: bool,
    /// Files of the cases of this run, whether it reads or writes them or not.
    files: Mutex<BTreeSet<PathBuf>>,
}

impl Kept {
    /// That of a suite: a folder beside it, made when its run has taken so long. Films of an earlier run count only if that
    /// `resumes`.
    pub fn beside(suite: &Path, every: Duration, resumes: bool) -> Self {
        let mut name = suite.file_name().unwrap_or_default().to_owned();
        name.push(".parts");
        let (folder, files) = (suite.with_file_name(name), Mutex::default());
        Self { folder, every, begin: Instant::now(), resumes, files }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, key: u64, extension: &str) -> PathBuf {
        let path = self.folder.join(format!("{key:016x}.{extension}"));
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
        path
    }

    /// The film of a case, and its samples per pixel, that an earlier run has kept under a key.
    pub(super) fn find(&self, key: u64) -> Option<(Film, u32)> {
        let path = self.path(key, "film");
        if !self.resumes {
            return None;
        }
        let resumed = Resumed::read(&path, &identity_of_key(key)).ok()?;
        let spp = resumed.mean_spp().round() as u32;
        Some((resumed.into_film()?, spp))
    }

    /// Keeps the film of a case under a key, if the run has taken long enough for that to be worth it.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn keep(&self, key: u64, film: &Film, spp: u32) -> io::Result<()> {
        if self.begin.elapsed() < self.every {
            return Ok(());
        }
        Resumed::of_film(film.clone(), 0..spp, 0.0).write(&self.path(key, "film"), &identity_of_key(key))
    }

    /// Where a render under way is kept, which has a key of its own, and an earlier run of it.
    pub(super) fn checkpoint(&self, key: u64) -> (Checkpoints, Option<Resumed>) {
        let path = self.path(key, "checkpoint");
        let resumed = if self.resumes { Resumed::read(&path, &identity_of_key(key)).ok() } else { None };
        (Checkpoints::new(path, self.every, identity_of_key(key)), resumed)
    }

    /// Removes what is of the cases of this run, as it has come to its end; and the folder, if nothing else is in it.
    pub fn remove(&self) {
        for file in self.files.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = std::fs::remove_file(file);
        }
        // What a run was writing when it was killed.
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if is_temporary(&entry.file_name().to_string_lossy()) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        let _ = std::fs::remove_dir(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use torrance_image::film::Pixel;

    #[test]
    fn films_come_back_to_runs_that_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let suite = folder.path().join("suite.toml");
        let mut film = Film::new(3, 2);
        film.pixels[4] = Pixel::of_moments(8, [0.1, 0.7, 3.0], [0.01; 3]);
        let kept = Kept::beside(&suite, Duration::from_secs(3600), true);
        kept.keep(5, &film, 8).unwrap();
        assert!(!kept.folder().exists(), "too soon");
        let kept = Kept::beside(&suite, Duration::ZERO, true);
        kept.keep(5, &film, 8).unwrap();
        assert_eq!(kept.find(5), Some((film, 8)));
        assert_eq!(kept.find(6), None);
        std::fs::copy(kept.path(5, "film"), kept.path(6, "film")).unwrap();
        assert_eq!(kept.find(6), None, "another's");
        assert_eq!(Kept::beside(&suite, Duration::ZERO, false).find(5), None);
        kept.remove();
        assert!(!kept.folder().exists());
    }

    #[test]
    fn a_run_that_ends_removes_what_an_earlier_one_kept_of_its_cases() {
        let folder = tempfile::tempdir().unwrap();
        let suite = folder.path().join("suite.toml");
        let earlier = Kept::beside(&suite, Duration::ZERO, true);
        [5, 6].into_iter().for_each(|key| earlier.keep(key, &Film::new(3, 2), 8).unwrap());
        for key in [5, 6] {
            assert!(earlier.folder().exists(), "the other case may be gone on with");
            let later = Kept::beside(&suite, Duration::from_secs(3600), false);
            assert_eq!(later.find(key), None);
            later.remove();
        }
        assert!(!earlier.folder().exists());
    }
}
