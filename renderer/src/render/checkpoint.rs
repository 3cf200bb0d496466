//! Checkpoints: the films of a render that is not done, in a file, so that it can go on after whatever ended it.
//!
//! A file begins with [`MAGIC`], the length of its header and the header's digest, 8 bytes each; then come the header, in JSON, and the
//! pixels of the films that it lists, as they are in memory. It is written to a temporary file that then takes its place.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use device::film::{FilmPixel, FirstHitPixel, GroupPixel};
use device::matte::MattePixel;
use glam::DVec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use torrance_image::film::ranges::{fingerprint, parts};
use torrance_image::film::write::Destination;
use torrance_image::film::{Film, ImageEstimate, PIXELS_PER_TASK, Pixel};

use super::blocks::{Block, Blocks};
use super::films::{HostFilms, RawFilms, RawGroups, pixel, whole_films};
use super::first_hits::FirstHitSums;
use super::rounds::{Rounds, StoredRounds};
use super::work::Published;
use crate::assemble::digest;

/// The first bytes of a file, with the version of what follows.
const MAGIC: &[u8; 8] = b"torrCP2\n";
/// Bytes that are written at a time.
const PIECE: usize = 8 << 20;

/// The name of a number in identities that stands for all settings.
pub(super) const KEY: &str = "settings";

/// What tells renders apart of which samples can be mixed: names and values, as users may read them.
pub type Identity = BTreeMap<String, String>;

/// The identity of a render that a number alone tells apart.
pub(crate) fn identity_of_key(key: u64) -> Identity {
    [("key".to_owned(), format!("{key:016x}"))].into()
}

/// What a checkpoint is of.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Header {
    /// Width and height, pixels.
    pub(super) size: [u32; 2],
    /// The samples on the films.
    pub(super) done: Blocks,
    /// Their [`fingerprint`], added up launch by launch.
    pub(super) fingerprint: u64,
    /// Samples per pixel at the next look at the noise, if that ends the render.
    pub(super) next_look: Option<u32>,
    /// Of each half, the sample after the last one that it has or is to get, if there are rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ends: Vec<u32>,
    /// The rounds that blocks are of.
    #[serde(skip)]
    pub(super) rounds: Rounds,
    /// Seconds of rendering.
    pub(super) seconds: f64,
}

impl Header {
    fn mean_spp(&self) -> f64 {
        let [width, height] = self.size;
        self.done.paths() as f64 / f64::from(parts(width, height).max(1))
    }
}

/// The films of a render so far.
#[derive(Debug, Clone)]
pub(super) struct Checkpoint {
    pub(super) header: Header,
    pub(super) base: Arc<HostFilms>,
    pub(super) parts: Vec<Arc<Published>>,
}

impl Checkpoint {
    /// One film of each kind. Those that it was made of are `spent`, if nobody else has them.
    pub(super) fn into_films(self, [width, height]: [u32; 2], spent: &mut dyn FnMut(RawFilms)) -> HostFilms {
        let Self { base, parts, .. } = self;
        let mut films = Arc::unwrap_or_clone(base);
        for part in parts {
            match Arc::try_unwrap(part) {
                Ok(Published { folded, films: raw, .. }) => {
                    films.add_image(folded);
                    films.add(&raw, width, height);
                    spent(raw);
                }
                Err(shared) => {
                    films.add_image(shared.folded.clone());
                    films.add(&shared.films, width, height);
                }
            }
        }
        films
    }

    /// The image so far.
    pub(super) fn image(&self) -> Film {
        let [width, height] = self.header.size;
        let pixels = (0..width as usize * height as usize).into_par_iter().with_min_len(PIXELS_PER_TASK);
        Film { width, height, pixels: pixels.map(|i| self.pixel(i)).collect() }
    }

    /// The image so far, and its noise.
    pub(super) fn estimate(&self) -> ImageEstimate {
        ImageEstimate::of_pixels(self.header.size, |i| self.pixel(i))
    }

    /// The samples of a pixel so far.
    fn pixel(&self, i: usize) -> Pixel {
        let [width, height] = self.header.size;
        let mut samples = self.base.image.as_ref().map_or_else(Pixel::default, |film| film.pixels[i]);
        for part in &self.parts {
            part.folded.iter().for_each(|film| samples.merge(&film.pixels[i]));
            let layers = whole_films(&part.films.image, width as usize * height as usize);
            layers.for_each(|layer| samples.merge(&pixel(&layer[i])));
        }
        samples
    }

    /// Films of the host, and those of one machine that can go on with them to the last bit.
    fn into_parts(self) -> (HostFilms, Option<Arc<Published>>) {
        let size = self.header.size;
        match &self.parts[..] {
            [part] if part.layers == 1 && self.base.image.is_none() => {
                let image = part.folded.as_deref().cloned();
                (HostFilms { image, ..HostFilms::clone(&self.base) }, Some(Arc::clone(part)))
            }
            _ => (self.into_films(size, &mut drop), None),
        }
    }
}

/// A list of films in a file: a name, and the digest of the pixels.
type Films = Vec<(String, u64)>;

#[derive(Serialize, Deserialize)]
struct Stored {
    identity: Identity,
    #[serde(flatten)]
    header: Header,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rounds: Option<StoredRounds>,
    films: Films,
}

/// Names of films in files. Those of a machine begin with `open.`.
const IMAGE: &str = "image";
const EMISSION: &str = "emission";
const DIRECT: &str = "direct";
const FIRST_HITS: &str = "firstHits";
const MATTE: &str = "matte";
const LIGHT_GROUP: &str = "lightGroup";
const OPEN: &str = "open.";

/// Bytes that a film of this name has for each pixel.
fn bytes_per_pixel(name: &str) -> u64 {
    let bytes = match name.strip_prefix(OPEN) {
        None if name == FIRST_HITS => size_of::<FirstHitSums>(),
        None if name == LIGHT_GROUP => size_of::<DVec3>(),
        Some(LIGHT_GROUP) => size_of::<GroupPixel>(),
        Some(MATTE) => size_of::<MattePixel>(),
        None if name == MATTE => size_of::<MattePixel>(),
        None => size_of::<Pixel>(),
        Some(FIRST_HITS) => size_of::<FirstHitPixel>(),
        Some(_) => size_of::<FilmPixel>(),
    };
    bytes as u64
}

/// The films of a checkpoint as bytes, with their names.
fn sections<'a>(host: &'a HostFilms, open: Option<&'a RawFilms>) -> Vec<(String, &'a [u8])> {
    let mut all: Vec<(String, &[u8])> = Vec::new();
    let mut add = |prefix: &str, name: &str, bytes: &'a [u8]| all.push((format!("{prefix}{name}"), bytes));
    if let Some(film) = &host.image {
        add("", IMAGE, cast_slice(&film.pixels));
    }
    for (name, film) in [EMISSION, DIRECT].into_iter().zip(host.shorter.iter().flatten()) {
        add("", name, cast_slice(&film.pixels));
    }
    if let Some(hits) = &host.first_hits {
        add("", FIRST_HITS, cast_slice(hits));
    }
    for film in host.mattes.iter().flatten() {
        add("", MATTE, cast_slice(film));
    }
    for sums in host.light_groups.iter().flatten() {
        add("", LIGHT_GROUP, cast_slice(sums));
    }
    if let Some(RawFilms { image, shorter, first_hits, mattes, light_groups }) = open {
        add(OPEN, IMAGE, cast_slice(image));
        for (name, film) in [EMISSION, DIRECT].into_iter().zip(shorter.iter().flatten()) {
            add(OPEN, name, cast_slice(film));
        }
        if let Some(hits) = first_hits {
            add(OPEN, FIRST_HITS, cast_slice(hits));
        }
        for film in mattes.iter().flatten() {
            add(OPEN, MATTE, cast_slice(film));
        }
        for RawGroups { groups, pixels } in light_groups.iter().filter(|films| films.groups > 0) {
            let film = pixels.len() / groups;
            pixels.chunks(film.max(1)).for_each(|film| add(OPEN, LIGHT_GROUP, cast_slice(film)));
        }
    }
    all
}

/// Writes a checkpoint, unless that is cancelled: [`io::ErrorKind::Interrupted`]. That of another render stays: it may be under way,
/// to the same output.
fn write(
    path: &Path,
    identity: &Identity,
    checkpoint: Checkpoint,
    is_cancelled: &AtomicBool,
) -> io::Result<()> {
    if let Kept::Others(_) = Checkpoints::of(path, identity) {
        return Err(io::Error::other("it is the checkpoint of another render"));
    }
    let header = checkpoint.header.clone();
    let (host, open) = checkpoint.into_parts();
    let sections = sections(&host, open.as_deref().map(|part| &part.films));
    let films = sections.iter().map(|(name, bytes)| (name.clone(), digest(bytes))).collect();
    let rounds = header.rounds.stored();
    let stored = serde_json::to_vec(&Stored { identity: identity.clone(), header, rounds, films })?;
    let write = |file: &mut File| {
        file.write_all(MAGIC)?;
        file.write_all(&(stored.len() as u64).to_le_bytes())?;
        file.write_all(&digest(&stored).to_le_bytes())?;
        file.write_all(&stored)?;
        sections.iter().flat_map(|(_, bytes)| bytes.chunks(PIECE)).try_for_each(|piece| {
            if is_cancelled.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            file.write_all(piece)
        })
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Destination::check(path).map_err(|e| io::Error::other(e.reason))?.replace_with(write)
}

/// Why a checkpoint cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is no checkpoint, or not whole.
    #[error("it is no whole checkpoint: {0}")]
    Damaged(String),
    /// It is of another render: the values that differ.
    #[error("it is of another render: {}", .0.join("; "))]
    Other(Vec<String>),
}

fn damaged(reason: impl ToString) -> ResumeError {
    ResumeError::Damaged(reason.to_string())
}

/// A render that was not done, to go on with.
#[derive(Debug, Clone)]
pub struct Resumed {
    pub(super) header: Header,
    pub(super) host: HostFilms,
    /// Films of one machine, which may go on with them.
    pub(super) open: Option<RawFilms>,
}

impl Resumed {
    /// Reads the checkpoint of a render.
    ///
    /// # Errors
    /// There is none, it is not whole, or it is that of another render.
    pub fn read(path: &Path, identity: &Identity) -> Result<Self, ResumeError> {
        let mut file = File::open(path)?;
        let Stored { identity: found, mut header, rounds, films } = read_header(&mut file)?;
        let differing = differences(&found, identity);
        if !differing.is_empty() {
            return Err(ResumeError::Other(differing));
        }
        header.rounds = Rounds::read(rounds.as_ref(), header.size, header.done.iter())
            .ok_or_else(|| damaged("its rounds are not those of its samples"))?;
        let mut resumed = Self { header, host: HostFilms::default(), open: None };
        resumed.read_films(&mut file, &films)?;
        Ok(resumed)
    }

    /// An image that was complete, to be extended: its film, of samples from the first on, so many of each pixel.
    pub fn of_film(film: Film, samples: Range<u32>, seconds: f64) -> Self {
        let size = [film.width, film.height];
        let block = Block { samples, invocations: 0..parts(size[0], size[1]), round: 0 };
        let fingerprint = fingerprint(&block.samples, &block.invocations);
        let mut done = Blocks::default();
        done.insert(block);
        let header = Header { size, done, fingerprint, seconds, ..Header::default() };
        Self { header, host: HostFilms { image: Some(film), ..HostFilms::default() }, open: None }
    }

    /// Samples of each pixel on average.
    pub fn mean_spp(&self) -> f64 {
        self.header.mean_spp()
    }

    /// The sample after the last one of any pixel.
    pub fn end(&self) -> u32 {
        self.header.done.end().max(self.header.rounds.span().end)
    }

    /// The film of the image, if it is all that there is.
    pub fn into_film(self) -> Option<Film> {
        self.host.image.filter(|_| self.open.is_none())
    }

    /// Writes it to a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(self, path: &Path, identity: &Identity) -> io::Result<()> {
        let Self { header, host, .. } = self;
        let checkpoint = Checkpoint { header, base: Arc::new(host), parts: Vec::new() };
        write(path, identity, checkpoint, &AtomicBool::new(false))
    }

    /// The films; those of one machine apart, as if it had published them, if one `can_go_on` with them and they are there.
    pub(super) fn divided(self, can_go_on: bool) -> (Option<Published>, HostFilms) {
        let Self { header: Header { size: [width, height], done, fingerprint, .. }, mut host, open } = self;
        let Some(films) = open else { return (None, host) };
        if !can_go_on {
            host.add(&films, width, height);
            return (None, host);
        }
        let folded = host.image.take().map(Arc::new);
        (Some(Published { done, fingerprint, folded, films, layers: 1 }), host)
    }

    fn read_films(&mut self, file: &mut File, films: &Films) -> Result<(), ResumeError> {
        let [width, height] = self.header.size;
        let n = width as usize * height as usize;
        let film = |pixels: Vec<Pixel>| Film { width, height, pixels };
        let Self { host, open, .. } = self;
        let (mut shorter, mut open_shorter) = (Vec::new(), Vec::new());
        for (name, digest) in films {
            let digest = *digest;
            match name.strip_prefix(OPEN) {
                None if name == IMAGE => host.image = Some(film(read_pixels(file, n, digest)?)),
                None if name == LIGHT_GROUP => {
                    host.light_groups.get_or_insert_default().push(read_pixels(file, n, digest)?);
                }
                Some(LIGHT_GROUP) => {
                    let films = open.get_or_insert_default().light_groups.get_or_insert_default();
                    films.groups += 1;
                    films.pixels.extend(read_pixels::<GroupPixel>(file, n, digest)?);
                }
                None if name == MATTE => {
                    host.mattes.get_or_insert_default().push(read_pixels(file, n, digest)?);
                }
                Some(MATTE) => {
                    let open = open.get_or_insert_default();
                    open.mattes.get_or_insert_default().push(read_pixels(file, n, digest)?);
                }
                None if name == FIRST_HITS => host.first_hits = Some(read_pixels(file, n, digest)?),
                None if name == EMISSION || name == DIRECT => {
                    shorter.push(film(read_pixels(file, n, digest)?));
                }
                Some(IMAGE) => open.get_or_insert_default().image = read_pixels(file, n, digest)?,
                Some(FIRST_HITS) => {
                    open.get_or_insert_default().first_hits = Some(read_pixels(file, n, digest)?);
                }
                Some(EMISSION | DIRECT) => open_shorter.push(read_pixels(file, n, digest)?),
                _ => return Err(damaged(format_args!("it has a film called {name:?}"))),
            }
        }
        host.shorter = shorter.try_into().ok();
        if let Some(open) = open {
            open.shorter = open_shorter.try_into().ok();
        }
        if file.read(&mut [0])? > 0 {
            return Err(damaged("something follows"));
        }
        Ok(())
    }
}

/// The error of a file that may end too soon.
fn cut(e: io::Error) -> ResumeError {
    match e.kind() {
        io::ErrorKind::UnexpectedEof => damaged("it ends too soon"),
        _ => e.into(),
    }
}

fn read_header(file: &mut File) -> Result<Stored, ResumeError> {
    let mut words = [[0; 8]; 3];
    for word in &mut words {
        file.read_exact(word).map_err(cut)?;
    }
    let [magic, length, expected] = words;
    let length = u64::from_le_bytes(length);
    if magic != *MAGIC {
        return Err(damaged("it begins otherwise"));
    }
    if length > file.metadata()?.len() {
        return Err(damaged("it ends too soon"));
    }
    let mut bytes = vec![0; length as usize];
    file.read_exact(&mut bytes).map_err(cut)?;
    if digest(&bytes) != u64::from_le_bytes(expected) {
        return Err(damaged("its header is not what was written"));
    }
    serde_json::from_slice(&bytes).map_err(damaged)
}

fn read_pixels<P: Pod>(file: &mut File, n: usize, expected: u64) -> Result<Vec<P>, ResumeError> {
    let mut pixels = Vec::new();
    let no_room = |_| io::Error::from(io::ErrorKind::OutOfMemory);
    pixels.try_reserve_exact(n).map_err(no_room)?;
    pixels.resize(n, P::zeroed());
    file.read_exact(cast_slice_mut(&mut pixels)).map_err(cut)?;
    if digest(&pixels) == expected { Ok(pixels) } else { Err(damaged("a film is not what was written")) }
}

/// What differs, in words.
fn differences(found: &Identity, wanted: &Identity) -> Vec<String> {
    let names: BTreeSet<_> = found.keys().chain(wanted.keys()).collect();
    let mut differing: Vec<_> =
        names.into_iter().filter(|name| found.get(*name) != wanted.get(*name)).collect();
    if differing.len() > 1 {
        // A number that says nothing to people.
        differing.retain(|name| *name != KEY);
    }
    let value = |of: &Identity, name: &str| of.get(name).cloned().unwrap_or_else(|| "none".to_owned());
    let told = |name: &String| {
        let verb = if name.ends_with('s') { "are" } else { "is" };
        format!("its {name} {verb} {}, not {}", value(found, name), value(wanted, name))
    };
    differing.into_iter().map(told).collect()
}

/// Keeps the checkpoint of a render in a file, written by a thread of its own.
#[derive(Debug)]
pub struct Checkpoints {
    path: PathBuf,
    every: Duration,
    identity: Arc<Identity>,
    state: Mutex<Writer>,
    /// Whether nobody needs what is being written.
    is_cancelled: Arc<AtomicBool>,
    is_of_short_renders: bool,
}

/// What is kept where the checkpoint of a render would be.
#[derive(Debug, Clone, PartialEq)]
pub enum Kept {
    /// No whole checkpoint.
    Nothing,
    /// That of the render: samples of each pixel, on average.
    Ours(f64),
    /// That of another one: how it differs.
    Others(Vec<String>),
}

#[derive(Debug, Default)]
struct Writer {
    thread: Option<JoinHandle<io::Result<()>>>,
    /// The number of the last checkpoint.
    last: u32,
    failure: Option<String>,
}

impl Checkpoints {
    /// A checkpoint in a file, whose folder is made for it, after each such time.
    pub fn new(path: PathBuf, every: Duration, identity: Identity) -> Self {
        let (state, is_cancelled) = Default::default();
        let is_of_short_renders = false;
        Self { path, every, identity: Arc::new(identity), state, is_cancelled, is_of_short_renders }
    }

    /// Where the checkpoint of the render that writes `output` is.
    pub fn path_beside(output: &Path) -> PathBuf {
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(".checkpoint");
        output.with_file_name(name)
    }

    /// As these, of a render that keeps a checkpoint when it is stopped, however short it is.
    pub fn of_short_renders(self) -> Self {
        Self { is_of_short_renders: true, ..self }
    }

    /// What is in a file, which may be the checkpoint of a render.
    pub fn of(path: &Path, identity: &Identity) -> Kept {
        let whole = || {
            let mut file = File::open(path).ok()?;
            let Stored { identity: found, header, films, .. } = read_header(&mut file).ok()?;
            let pixels = header.size.map(u64::from).iter().product::<u64>();
            let bytes = films.iter().map(|(name, _)| pixels * bytes_per_pixel(name)).sum::<u64>();
            let end = file.stream_position().ok()?.checked_add(bytes)?;
            (file.metadata().ok()?.len() == end).then_some((found, header))
        };
        match whole() {
            None => Kept::Nothing,
            Some((found, header)) if found == *identity => Kept::Ours(header.mean_spp()),
            Some((found, _)) => Kept::Others(differences(&found, identity)),
        }
    }

    /// Removes a file if it is the checkpoint of a render, or one that is not whole.
    pub fn remove_of(path: &Path, identity: &Identity) {
        if !matches!(Self::of(path, identity), Kept::Others(_)) {
            Self::remove_any(path);
        }
    }

    /// Removes a file if it is a checkpoint, of whatever render, or the beginning of one.
    pub fn remove_any(path: &Path) {
        let mut beginning = Vec::new();
        let read =
            File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut beginning));
        if read.is_ok() && MAGIC.starts_with(&beginning) {
            let _ = std::fs::remove_file(path);
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ends what is being written. Why the last checkpoint could not be, if it could not.
    pub fn end(&self) -> Option<String> {
        self.is_cancelled.store(true, Ordering::Relaxed);
        let mut writer = self.lock();
        writer.wait();
        writer.failure.clone()
    }

    /// Removes the file, which nobody needs any more.
    pub fn remove(&self) {
        self.end();
        Self::remove_of(&self.path, &self.identity);
    }

    /// Whether a render that is stopped after so long leaves a checkpoint.
    pub(super) fn is_worth(&self, elapsed: Duration) -> bool {
        self.is_of_short_renders || elapsed >= self.every
    }

    pub(super) const fn every(&self) -> Duration {
        self.every
    }

    /// One cannot be written for a reason.
    pub(super) fn fail(&self, reason: &str) {
        self.lock().failure = Some(reason.to_owned());
    }

    /// Whether one is being written.
    pub(super) fn is_busy(&self) -> bool {
        self.lock().thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Writes the checkpoint of this number, if it is not written yet.
    pub(super) fn write(&self, number: u32, checkpoint: impl FnOnce() -> Checkpoint) {
        let mut writer = self.lock();
        if number > writer.last {
            writer.last = number;
            writer.wait();
            self.begin(&mut writer, checkpoint());
        }
    }

    /// Writes the last checkpoint, and waits for that.
    pub(super) fn write_last(&self, checkpoint: Checkpoint) {
        let mut writer = self.lock();
        writer.wait();
        self.begin(&mut writer, checkpoint);
        writer.wait();
    }

    fn lock(&self) -> MutexGuard<'_, Writer> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, writer: &mut Writer, checkpoint: Checkpoint) {
        let (path, identity) = (self.path.clone(), Arc::clone(&self.identity));
        let is_cancelled = Arc::clone(&self.is_cancelled);
        let write = move || write(&path, &identity, checkpoint, &is_cancelled);
        match Builder::new().name("checkpoint".into()).spawn(write) {
            Ok(thread) => writer.thread = Some(thread),
            Err(e) => writer.failure = Some(e.to_string()),
        }
    }
}

impl Writer {
    fn wait(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        let written = thread.join().unwrap_or_else(|_| Err(io::Error::other("it could not be put together")));
        match written {
            // Nobody needed it any more, which says nothing of the one before.
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            written => self.failure = written.err().map(|e| e.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the checkpoint of a render of some samples of each pixel.
    fn write_of(path: &Path, key: u64, spp: u32) -> io::Result<()> {
        Resumed::of_film(Film::new(8, 4), 0..spp, 0.0).write(path, &identity_of_key(key))
    }

    #[test]
    fn a_checkpoint_replaces_none_of_another_render() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        write_of(&path, 1, 3).unwrap();
        write_of(&path, 1, 4).unwrap();
        let error = write_of(&path, 2, 9).unwrap_err();
        assert_eq!(error.to_string(), "it is the checkpoint of another render");
        assert_eq!(Checkpoints::of(&path, &identity_of_key(1)), Kept::Ours(4.0));
        std::fs::write(&path, &std::fs::read(&path).unwrap()[..99]).unwrap();
        write_of(&path, 2, 9).unwrap();
        assert_eq!(Checkpoints::of(&path, &identity_of_key(2)), Kept::Ours(9.0), "it was not whole");
    }

    #[test]
    fn checkpoints_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        write_of(&path, 1, 3).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let is_removed_by = |remove: &dyn Fn(), bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            remove();
            !path.exists()
        };
        let [of_it, of_other] =
            [1, 2].map(|key| move |path: &Path| Checkpoints::remove_of(path, &identity_of_key(key)));
        for (bytes, by_it, by_other, by_any) in [
            (&whole[..], true, false, true),
            (&whole[..99], true, true, true),
            (&whole[..3], true, true, true),
            (b"", true, true, true),
            (b"to do", false, false, false),
            (b"somebody else's", false, false, false),
        ] {
            assert_eq!(is_removed_by(&|| of_it(&path), bytes), by_it, "{bytes:?}");
            assert_eq!(is_removed_by(&|| of_other(&path), bytes), by_other, "{bytes:?}");
            assert_eq!(is_removed_by(&|| Checkpoints::remove_any(&path), bytes), by_any, "{bytes:?}");
        }
    }
}
