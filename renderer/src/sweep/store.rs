//! The variants of a sweep that are rendered, kept until all are: one that is interrupted goes on where it was.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fmt, io};

use rayon::prelude::*;
use torrance_image::film::encode::{EncodeError, encode_at_once};
use torrance_image::film::rescue::rescue_folder;
use torrance_image::film::write::{Destination, is_temporary};
use torrance_image::film::{Format, ImageEstimate, Layers, PIXEL_FILTER, read_layers};

use torrance_text::quoted_path;

use crate::denoise::Denoised;
use crate::render::RenderRecord;

/// A variant that is rendered.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredVariant {
    /// Its image and the noise of that.
    pub measured: ImageEstimate,
    /// Its image without noise, if that is wanted.
    pub clean: Option<Denoised>,
    /// Time and samples of its render.
    pub record: RenderRecord,
}

impl StoredVariant {
    /// The layers of its file.
    pub(super) fn layers(&self) -> Layers {
        let layers = Layers::from(&self.measured);
        match &self.clean {
            Some(clean) => clean.added_to(layers),
            None => layers,
        }
    }
}

/// A folder of rendered variants, 28 bytes a pixel each, 40 if they are denoised, under the keys of their renders
/// ([`crate::assemble::SceneData::key_of_render`]).
#[derive(Debug)]
pub struct VariantStore {
    folder: PathBuf,
    /// Another folder, made when this one cannot be written.
    elsewhere: OnceLock<Option<PathBuf>>,
}

/// A variant that could not be kept in the folder.
#[derive(Debug, thiserror::Error)]
pub struct KeepError {
    folder: PathBuf,
    reason: io::Error,
    /// The folder in which it is kept instead.
    elsewhere: Option<PathBuf>,
}

impl fmt::Display for KeepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { folder, reason, elsewhere } = self;
        let folder = quoted_path(folder);
        write!(f, "{folder}: variants cannot be kept to go on with: {reason}")?;
        match elsewhere {
            Some(other) => {
                write!(f, "; they are in {}, and will be found when they are in {folder}", quoted_path(other))
            }
            None => Ok(()),
        }
    }
}

/// Keeps other sweeps from the store while it lives. The folder goes with it if it is empty.
#[derive(Debug)]
pub struct Lock {
    folder: PathBuf,
    /// `None` where folders cannot be locked, as with Windows and some network file systems.
    _file: Option<File>,
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// Whether what is at a path is what was opened there.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |metadata: &std::fs::Metadata| (metadata.dev(), metadata.ino());
    matches!((file.metadata(), std::fs::metadata(path)), (Ok(a), Ok(b)) if place(&a) == place(&b))
}

/// Open files cannot be removed here.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Attributes of the files.
const KEY: &str = "sweepKey";
const SECONDS: &str = "renderTime";
const PATHS: &str = "paths";
const SPP: &str = "spp";
const MEAN_SPP: &str = "meanSpp";
const REJECTED: &str = "rejectedSamples";

impl VariantStore {
    /// That of the sweep that writes `output`: a folder beside it.
    pub fn beside(output: &Path) -> Self {
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(".parts");
        Self { folder: output.with_file_name(name), elsewhere: OnceLock::new() }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the folder, and keeps other sweeps from it.
    ///
    /// # Errors
    /// Another sweep uses the folder, or it cannot be created.
    pub fn lock(&self) -> io::Result<Lock> {
        loop {
            std::fs::create_dir_all(&self.folder)?;
            let file = File::open(&self.folder).ok();
            if let Some(Err(TryLockError::WouldBlock)) = file.as_ref().map(File::try_lock) {
                return Err(io::Error::other("another sweep to the same file is under way"));
            }
            // Another one may have ended and removed it in between.
            if file.as_ref().is_none_or(|file| is_at(file, &self.folder)) {
                return Ok(Lock { folder: self.folder.clone(), _file: file });
            }
        }
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.folder).into_iter().flatten().next().is_none()
    }

    fn path(&self, key: u64) -> PathBuf {
        self.folder.join(file_name(key))
    }

    /// Where a variant is kept that is not done yet.
    pub(super) fn checkpoint(&self, key: u64) -> PathBuf {
        self.folder.join(format!("{key:016x}.checkpoint"))
    }

    /// The variant with a key, if there is one that can be read.
    pub fn find(&self, key: u64) -> Option<StoredVariant> {
        let layers = read_layers(&self.path(key)).ok()?;
        let said = |name: &str| layers.attributes.get(name);
        if *said(KEY)? != format!("{key:016x}") {
            return None;
        }
        let record = RenderRecord {
            seconds: said(SECONDS)?.parse().ok()?,
            paths: said(PATHS)?.parse().ok()?,
            spp: said(SPP)?.parse().ok()?,
            mean_spp: said(MEAN_SPP)?.parse().ok()?,
            rejected: said(REJECTED)?.parse().ok()?,
        };
        let measured = ImageEstimate::from_layer(&layers, "", Format::Exr).ok()?;
        let clean = Denoised::of(&layers);
        measured.noise.is_some().then_some(StoredVariant { measured, clean, record })
    }

    /// Keeps a variant under a key: whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written in the folder; the error tells whether it could elsewhere.
    pub fn keep(&self, key: u64, variant: &StoredVariant) -> Result<(), KeepError> {
        let bytes = encode(key, variant);
        let kept = bytes.as_ref().map_err(ToString::to_string).map_err(io::Error::other);
        let kept = kept.and_then(|bytes| write(&self.path(key), bytes));
        kept.map_err(|reason| {
            let other = self.elsewhere.get_or_init(|| rescue_folder(&self.folder).ok());
            let place = other.as_ref().zip(bytes.ok());
            let elsewhere = place.and_then(|(other, bytes)| {
                write(&other.join(file_name(key)), &bytes).ok().map(|()| other.clone())
            });
            KeepError { folder: self.folder.clone(), reason, elsewhere }
        })
    }
    /// Removes the variants with these keys. What cannot be removed stays.
    pub fn remove(&self, keys: &[u64]) {
        keys.par_iter().for_each(|key| drop(std::fs::remove_file(self.path(*key))));
        // What a sweep was writing when it was killed.
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if is_temporary(&entry.file_name().to_string_lossy()) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// The name of a variant's file.
fn file_name(key: u64) -> String {
    format!("{key:016x}.exr")
}

/// A variant's file.
fn encode(key: u64, variant: &StoredVariant) -> Result<Vec<u8>, EncodeError> {
    let StoredVariant { record, .. } = variant;
    let attributes = [
        (KEY, format!("{key:016x}")),
        (SECONDS, record.seconds.to_string()),
        (PATHS, record.paths.to_string()),
        (SPP, record.spp.to_string()),
        (MEAN_SPP, record.mean_spp.to_string()),
        (REJECTED, record.rejected.to_string()),
        (PIXEL_FILTER, "box".to_owned()),
    ];
    encode_at_once(variant.layers().saying(attributes.map(|(name, value)| (name.to_owned(), value))))
}

/// Writes a file whole or not at all, in a folder that is made if it is not there, from any thread.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let destination = Destination::check(path).map_err(|e| io::Error::other(e.reason))?;
    destination.replace(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use torrance_image::film::{Film, Image, Pixel, Wide};

    #[test]
    fn variants_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let store = VariantStore::beside(&folder.path().join("sheet.png"));
        let pixel = |i: u32| Pixel {
            sum: [f64::from(i) * 0.1, 0.7, 1e-3].map(Wide::from),
            sum_sq: [f64::from(i), 1.0, 1e-5].map(Wide::from),
            count: u64::from(i) + 1,
            rejected: 0,
        };
        let film = Film { width: 3, height: 2, pixels: (0..6).map(pixel).collect() };
        let record = RenderRecord { seconds: 0.1, paths: 1 << 40, spp: 7, mean_spp: 8.5, rejected: 2 };
        let lock = store.lock().unwrap();
        assert!(store.is_empty() && store.lock().is_err());
        assert_eq!(store.find(5), None);
        let measured = ImageEstimate::from(&film);
        let image = Image { pixels: vec![[0.25, 1e-3, 7.0]; 6], ..measured.image.clone() };
        for clean in [None, Some(Denoised { image, by: "a denoiser".to_owned() })] {
            let variant = StoredVariant { measured: measured.clone(), clean, record };
            store.keep(5, &variant).unwrap();
            assert_eq!(store.find(5), Some(variant));
        }
        assert_eq!(store.find(6), None);
        std::fs::copy(store.path(5), store.path(6)).unwrap();
        assert_eq!(store.find(6), None, "another's");
        let bytes = std::fs::read(store.path(5)).unwrap();
        std::fs::write(store.path(5), &bytes[..bytes.len() / 2]).unwrap();
        assert_eq!(store.find(5), None, "half of one");
        store.remove(&[6]);
        assert!(!store.is_empty());
        store.remove(&[5, 6]);
        assert!(store.is_empty());
        drop(lock);
        assert!(!store.folder().exists());
    }
}
