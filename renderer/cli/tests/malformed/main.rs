//! Files from strangers: whatever is in them, loading ends soon, takes little memory, and says what is wrong with which
//! file. Nothing panics.
//!
//! A program of its own, since it counts all the memory that is allocated. The limits, for all files of a scene together,
//! are those of [`limits_of`].

mod corpus;
#[path = "../commands/damaged/mod.rs"]
mod damaged;
mod harness;
mod mutation;
mod random;
mod seeds;

use std::path::Path;
use std::time::Duration;

use corpus::Row;
use harness::{Limits, Outcome, alone, load, within};
use mutation::systematic;
use random::mutated;
use seeds::{Seed, seeds};
use tier::Random;

/// Limits on loading files of so many bytes: two seconds, 64 MiB and 256 bytes a byte. Images in addition may have
/// 4096 by 4096 texels whatever the size of the file: 48 bytes each while they are decoded.
fn limits_of(bytes: usize, has_image: bool) -> Limits {
    let image = if has_image { 48 << 24 } else { 0 };
    Limits { memory: (64 << 20) + 256 * bytes + image, time: Duration::from_secs(2) }
}

fn is_image(name: &str) -> bool {
    [".png", ".jpg", ".exr", ".hdr", ".tga", ".bmp", ".ppm", ".pfm"].iter().any(|end| name.ends_with(end))
}

/// Writes the files of a row, loads the first, and looks at what comes of it.
fn check(row: &Row) -> Result<bool, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, bytes) in &row.files {
        std::fs::write(folder.path().join(name), bytes).expect("room for a file");
    }
    if let Some(prepare) = row.prepare {
        prepare(folder.path());
    }
    let bytes = row.files.iter().map(|(_, bytes)| bytes.len()).sum();
    let limits = limits_of(bytes, row.files.iter().any(|(name, _)| is_image(name)));
    let (scene, allow_external) = (folder.path().join(&row.files[0].0), row.allow_external);
    // What is forgiven is loaded, and has to be survived as well.
    let forgiving = scene.clone();
    within(limits, move || load(&forgiving, allow_external, false))?;
    match within(limits, move || load(&scene, allow_external, true))? {
        Outcome::Loaded if row.says.is_empty() => Ok(true),
        Outcome::Loaded => Err("is loaded".to_owned()),
        Outcome::Refused(report) => check_report(&report, folder.path(), row).map(|()| false),
    }
}

/// A report names a file of the row and says what it should, in a length that can be read and without anything that
/// terminals obey.
fn check_report(report: &str, folder: &Path, row: &Row) -> Result<(), String> {
    let shown: String = report.chars().take(1000).collect();
    let start = format!("error: {}/", folder.display());
    if !report.starts_with(&start) && !report.starts_with("error: the ") {
        return Err(format!("is refused without the name of a file: {shown}"));
    }
    if !report.contains(row.says) {
        return Err(format!("is refused, and not because of {:?}: {shown}", row.says));
    }
    if report.chars().any(|c| c.is_control() && c != '\n') || report.contains('\u{202e}') {
        return Err(format!("is refused in words that terminals obey: {shown:?}"));
    }
    if report.len() > 32 << 10 {
        return Err(format!("is refused in {} bytes: {shown}", report.len()));
    }
    Ok(())
}

#[test]
fn what_is_wrong_is_refused_within_limits() {
    let _alone = alone();
    let mut rows = corpus::rows();
    let written = rows.len();
    rows.extend(seeds().iter().flat_map(systematic));
    let mut failures = Vec::new();
    let mut loaded = 0;
    for row in &rows {
        match check(row) {
            Ok(is_loaded) => loaded += usize::from(is_loaded),
            Err(why) => failures.push(format!("{} {why}", row.name)),
        }
    }
    println!("{written} written and {} made by damage; {loaded} are loaded", rows.len() - written);
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), rows.len(), failures.join("\n"));
    assert!(
        written >= 200 && rows.len() >= 400 && loaded < rows.len() / 2,
        "{written}, {}, {loaded}",
        rows.len()
    );
}

/// Seeds are good, so that what is wrong with a damaged one is the damage.
#[test]
fn seeds_are_loaded() {
    let _alone = alone();
    for seed in seeds() {
        let row = row_of(&seed, seed.bytes.clone(), "as it was");
        assert_eq!(check(&row), Ok(true), "{}", seed.format);
    }
}

/// The row of a seed whose file is `bytes`.
fn row_of(seed: &Seed, bytes: Vec<u8>, how: &str) -> Row {
    let mut files: Vec<_> =
        seed.beside.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.clone())).collect();
    files.push((seed.file.to_owned(), bytes));
    let scene = files.iter().position(|(name, _)| name == seed.scene).expect("the scene is among its files");
    files.swap(0, scene);
    Row { name: format!("{}, {how}", seed.format), files, says: "", allow_external: false, prepare: None }
}

#[test]
fn random_damage_is_survived() {
    let _alone = alone();
    let each: usize = tier::choose(40, 300);
    let mut random = Random(1);
    for seed in seeds() {
        let mut loaded = 0;
        for i in 0..each {
            let row = row_of(&seed, mutated(&seed.bytes, &mut random), &format!("random damage {i}"));
            match check(&row) {
                Ok(is_loaded) => loaded += usize::from(is_loaded),
                Err(why) => panic!("{} {why}\n{:?}", row.name, String::from_utf8_lossy(&row.files[0].1)),
            }
        }
        // Some of both, or the damage reaches nothing.
        println!("{}: {loaded} of {each} are loaded", seed.format);
        assert!(
            (tier::choose(0, 1)..each).contains(&loaded),
            "{}: {loaded} of {each} are loaded",
            seed.format
        );
    }
}

/// The watchdog catches loaders that panic, hang, take too much, or say nothing.
#[test]
fn bad_loaders_are_caught() {
    let _alone = alone();
    let limits = Limits { memory: 1 << 20, time: Duration::from_millis(600) };
    let panics = within(limits, || panic!("on purpose")).unwrap_err();
    assert_eq!(panics, "panics: on purpose");
    let sleeps = |milliseconds| {
        within(limits, move || {
            std::thread::sleep(Duration::from_millis(milliseconds));
            Outcome::Loaded
        })
    };
    assert!(sleeps(10_000).unwrap_err().contains("has not ended"));
    assert!(sleeps(900).is_err());
    let greedy = |bytes: usize| {
        within(limits, move || {
            std::hint::black_box(vec![0_u8; bytes]);
            Outcome::Loaded
        })
    };
    assert!(greedy(2 << 20).unwrap_err().contains("bytes of memory"));
    assert_eq!(greedy(1 << 19), Ok(Outcome::Loaded));
    let grows = within(limits, || {
        let mut all = Vec::new();
        (0..1 << 18).for_each(|i| all.push(f64::from(i)));
        std::hint::black_box(all);
        Outcome::Loaded
    });
    assert!(grows.unwrap_err().contains("bytes of memory"));
    let folder = Path::new("/f");
    let row = row_of(&seeds()[0], Vec::new(), "");
    let row = Row { says: "colour", ..row };
    let said = |report: &str| check_report(report, folder, &row);
    assert_eq!(said("error: /f/scene.toml: no colour"), Ok(()));
    assert!(said("error: no colour").is_err());
    assert!(said("error: /f/scene.toml: no light").is_err());
    assert!(said("error: /f/scene.toml: no colour\u{1b}[31m").is_err());
    assert!(said(&format!("error: /f/scene.toml: no colour{}", "!".repeat(1 << 20))).is_err());
}
