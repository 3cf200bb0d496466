//! Renders in parts, and renders that were killed: the image is that of one render that nobody disturbed.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use tier::Random;
use torrance_image::film::layers::{Layers, Samples};
use torrance_image::film::write::is_temporary;
use torrance_image::film::{read, read_layers};

use crate::program::{Folder, Outcome};

/// Two chunks of an image of so few pixels: parts that end where they do are the whole to the last bit.
const TINY: [&str; 3] = ["--size=64x32", "--max-depth=2", "--spp=16384"];
const CHUNK: u32 = 8192;

fn render(folder: &Folder, output: &str, options: &[&str]) -> Outcome {
    let outcome = folder.run(&[&["render", "scene.toml", "-q", "-o", output], options].concat());
    assert_eq!(outcome.code, Some(0), "{options:?}: {outcome:?}");
    outcome
}

fn layers(folder: &Folder, name: &str) -> Layers {
    read_layers(&folder.at(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The samples of the channels of the image, and of their standard errors.
fn image(layers: &Layers) -> Vec<f32> {
    let all = ["", "stderr", "samples"].map(|layer| layers.rgb(layer).expect("it has the layer"));
    all.into_iter().flatten().flatten().collect()
}

fn fingerprint(layers: &Layers) -> &str {
    &layers.attributes["samplesFingerprint"]
}

/// Largest difference of two images, relative to their values.
fn difference(a: &Layers, b: &Layers) -> f32 {
    let pairs = image(a).into_iter().zip(image(b));
    pairs.map(|(a, b)| (a - b).abs() / a.abs().max(b.abs()).max(1e-3)).fold(0.0, f32::max)
}

/// Renders parts in an order at random, and merges them in another.
fn merged(folder: &Folder, parts: &[String], options: &[&str], random: &mut Random) -> Layers {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    let mut shuffle = |order: &mut Vec<usize>| {
        for i in (1..order.len()).rev() {
            order.swap(i, (random.uniform() * (i + 1) as f64) as usize);
        }
    };
    shuffle(&mut order);
    for i in &order {
        render(folder, &format!("{i}.exr"), &[&[parts[*i].as_str()], options].concat());
    }
    shuffle(&mut order);
    let names: Vec<_> = order.iter().map(|i| format!("{i}.exr")).collect();
    let mut arguments = vec!["merge", "-q", "-o", "merged.exr"];
    arguments.extend(names.iter().map(String::as_str));
    let outcome = folder.run(&arguments);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    layers(folder, "merged.exr")
}

#[test]
fn parts_that_end_on_borders_are_the_whole_to_the_last_bit() {
    let folder = Folder::new();
    render(&folder, "whole.exr", &[&TINY[..], &["--aov=sums"]].concat());
    let whole = layers(&folder, "whole.exr");
    let (end, all) = (CHUNK.to_string(), (2 * CHUNK).to_string());
    let parts = [format!("--samples=0..{end}"), format!("--samples={end}..{all}")];
    let found = merged(&folder, &parts, &TINY, &mut Random(1));
    assert!(found == Layers { attributes: found.attributes.clone(), ..whole.clone() }, "every bit");
    assert_eq!(fingerprint(&found), fingerprint(&whole));
    assert_eq!(found.attributes["sampleRanges"], format!("seed 0: 0..{all}"));
    // Elsewhere only nearly so: the border matters.
    let parts = ["--samples=0..5000", "--samples=5000..16384"].map(str::to_owned);
    let found = merged(&folder, &parts, &TINY, &mut Random(2));
    assert!(difference(&found, &whole) < 1e-5 && found.film() != whole.film());
}

#[test]
fn parts_are_the_whole_in_any_order() {
    const OPTIONS: [&str; 1] = ["--spp=448"];
    let folder = Folder::new();
    render(&folder, "whole.exr", &OPTIONS);
    let whole = layers(&folder, "whole.exr");
    render(&folder, "one.exr", &[&OPTIONS[..], &["--shard=1/1"]].concat());
    let one = layers(&folder, "one.exr");
    assert!(image(&one) == image(&whole) && fingerprint(&one) == fingerprint(&whole));
    for n in [7, 64] {
        let parts: Vec<_> = (1..=n).map(|i| format!("--shard={i}/{n}")).collect();
        let found = merged(&folder, &parts, &OPTIONS, &mut Random(n));
        assert_eq!(fingerprint(&found), fingerprint(&whole), "{n}");
        let far = difference(&found, &whole);
        assert!(far < 1e-5, "{n}: {far}");
        // Control: without one of them, it is another image, and this is said.
        let rest: Vec<_> = (0..n).filter(|i| *i != 3).map(|i| format!("{i}.exr")).collect();
        let arguments: Vec<_> =
            ["merge", "-o", "less.exr"].into_iter().chain(rest.iter().map(String::as_str)).collect();
        let outcome = folder.run(&arguments);
        let (start, end) = (448 * 3 / n, 448 * 4 / n);
        let command = format!(
            "samples {start}..{end} are missing: torrance render scene.toml --spp=448 --seed 0 --samples {start}..{end} -o \
             samples-0-{start}-{end}.exr"
        );
        assert!(outcome.code == Some(0) && outcome.stderr.contains(&command), "{outcome:?}");
        let less = layers(&folder, "less.exr");
        assert!(difference(&less, &whole) > 1e-3 && fingerprint(&less) != fingerprint(&whole));
        // The command fills the gap.
        let filled = format!("--samples={start}..{end}");
        render(&folder, "gap.exr", &[&OPTIONS[..], &[&filled]].concat());
        let outcome = folder.run(&["merge", "-q", "less.exr", "gap.exr", "-o", "full.exr"]);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
        assert_eq!(fingerprint(&layers(&folder, "full.exr")), fingerprint(&whole));
    }
}

/// The commands that `merge` prints fill the gaps of several seeds, and replace nothing.
#[test]
fn printed_commands_fill_gaps_whatever_is_there() {
    let folder = Folder::new();
    fs::create_dir(folder.at("parts")).unwrap();
    let size = ["--size=20x12", "--size=20,12"];
    for (name, options) in [
        ("parts/samples-1-4-12.exr", [size[0], "--seed=1", "--samples=0..4"]),
        ("b.exr", [size[1], "--seed=1", "--samples=12..16"]),
        ("c.exr", [size[1], "--seed=2", "--samples=0..8"]),
    ] {
        render(&folder, name, &[&options[..], &["--spp=16", "--set=camera.fov=30"]].concat());
    }
    fs::write(folder.at("samples-2-8-16.exr"), "somebody else's").unwrap();
    let merge = ["merge", "parts/samples-1-4-12.exr", "b.exr", "c.exr", "-o", "m.exr"];
    let outcome = folder.run(&merge);
    let commands: Vec<_> = outcome.stderr.lines().filter_map(|line| line.split_once(": torrance ")).collect();
    let names: Vec<_> = commands.iter().filter_map(|(_, command)| command.rsplit(' ').next()).collect();
    assert_eq!(names, ["samples-1-4-12-2.exr", "samples-2-8-16-2.exr"], "{outcome:?}");
    for (_, command) in commands {
        let outcome = folder.run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(outcome.code, Some(0), "{command}: {outcome:?}");
    }
    let outcome = folder.run(&[&merge[..5], &["full.exr", "-q"], &[names[0], names[1]][..]].concat());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    assert_eq!(layers(&folder, "full.exr").attributes["sampleRanges"], "seed 1: 0..16; seed 2: 0..16");
}

/// Parts that go on until all of them reach a noise may have any number of samples, and are missed even so.
#[test]
fn missing_parts_of_a_noise_are_told() {
    let folder = Folder::new();
    let options = ["--size=20x12", "--noise=20%"];
    for (name, shard) in [("b.exr", "--shard=2/3"), ("a.exr", "--shard=1/3")] {
        render(&folder, name, &[&options[..], &[shard]].concat());
    }
    let outcome = folder.run(&["merge", "a.exr", "b.exr", "-o", "m.exr", "--json"]);
    let (_, command) = outcome.stderr.split_once("part 3 of 3 is missing: torrance ").expect("a warning");
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((&json["missing_parts"], &json["gaps"]), (&json!(["seed 0: 3..4"]), &json!([])));
    let command = command.lines().next().unwrap();
    let outcome = folder.run(&["merge", "a.exr", "-o", "m1.exr"]);
    let several = "parts 2 to 3 of 3 are missing: torrance render scene.toml --noise=20% --size=20x12 --seed 0 --shard I/3 \
                   -o part-0-I-3.exr, for each I from 2 to 3";
    assert!(outcome.stderr.contains(several), "{outcome:?}");
    assert_eq!(command, "render scene.toml --noise=20% --size=20x12 --seed 0 --shard 3/3 -o part-0-3-3.exr");
    assert_eq!(folder.run(&command.split(' ').collect::<Vec<_>>()).code, Some(0));
    let outcome = folder.run(&["merge", "m.exr", "part-0-3-3.exr", "-o", "all.exr", "-q"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    assert_eq!(layers(&folder, "all.exr").attributes["noiseParts"], "seed 0: 1..4");
}

#[test]
fn samples_count_once() {
    let folder = Folder::new();
    for (name, samples) in [("a", "0..8"), ("b", "4..12"), ("c", "8..16")] {
        render(&folder, &format!("{name}.exr"), &["--samples", samples]);
    }
    render(&folder, "other.exr", &["--samples", "8..16", "--max-depth", "3"]);
    for (second, message) in [
        ("b.exr", "both have samples 4..8 of seed 0: they would count twice"),
        ("other.exr", "of another scene, or size or depth of paths"),
    ] {
        let outcome = folder.run(&["merge", "a.exr", second, "-o", "m.exr"]);
        assert!(outcome.code == Some(2) && outcome.stderr.contains(message), "{outcome:?}");
    }
    // A file that lies about what it has.
    let mut lying = layers(&folder, "c.exr");
    lying.attributes.insert("sampleRanges".into(), "seed 0: 8..17".into());
    let bytes = torrance_image::film::encode::encode_at_once(lying).unwrap();
    fs::write(folder.at("c.exr"), bytes).unwrap();
    let outcome = folder.run(&["merge", "a.exr", "c.exr", "-o", "m.exr"]);
    assert!(outcome.stderr.contains("\"c.exr\": its samples are not those that it says"), "{outcome:?}");
}

#[test]
fn finished_images_are_extended() {
    let folder = Folder::new();
    for (layers_wanted, most) in [("--aov=sums", 2e-6_f32), ("--aov=stderr", 2e-5)] {
        render(&folder, "whole.exr", &["--spp=64"]);
        render(&folder, "more.exr", &["--spp=16", layers_wanted]);
        let outcome =
            folder.run(&["render", "scene.toml", "-o", "more.exr", "--spp=64", "--resume", layers_wanted]);
        assert!(
            outcome.stderr.contains("extending \"more.exr\": 16 samples of each pixel are there"),
            "{outcome:?}"
        );
        let (whole, more) = (layers(&folder, "whole.exr"), layers(&folder, "more.exr"));
        assert!(difference(&whole, &more) < most, "{}", difference(&whole, &more));
        assert_eq!(fingerprint(&whole), fingerprint(&more));
        let before = fs::read(folder.at("more.exr")).unwrap();
        let again = ["render", "scene.toml", "-o", "more.exr", "--spp=64", "--resume", "--json"];
        let outcome = folder.run(&again);
        assert!(
            outcome.code == Some(0) && outcome.stderr.contains("all of its samples already"),
            "{outcome:?}"
        );
        let summary: Value = serde_json::from_str(&outcome.stdout).expect("JSON on stdout");
        assert_eq!((&summary["spp"], &summary["paths"]), (&64.into(), &0.into()), "{summary}");
        assert_eq!(summary["device"], more.attributes["device"].as_str());
        assert!(summary["outputs"].as_array().is_some_and(Vec::is_empty), "{summary}");
        assert!(fs::read(folder.at("more.exr")).unwrap() == before);
    }
    for (options, message) in [
        (&["--seed=1"][..], "has samples 0..64 of seed 0"),
        (&["--max-depth=2"], "its longest path is 4, not 2"),
        (&["--size=24x17"], "it has 24x16 pixels, not 24x17"),
        (&["--aov=N"], "layers but stderr, samples and sums cannot be extended"),
    ] {
        let arguments =
            [&["render", "scene.toml", "-o", "more.exr", "--spp=99", "--resume"], options].concat();
        let outcome = folder.run(&arguments);
        assert!(outcome.code == Some(2) && outcome.stderr.contains(message), "{outcome:?}");
    }
    render(&folder, "more.exr", &["--spp=8", "--seed=1", "--max-depth=2", "--resume", "--force"]);
    assert_eq!(layers(&folder, "more.exr").attributes["sampleRanges"], "seed 1: 0..8");
}

#[test]
fn a_complete_image_is_rewritten_only_if_it_is_to_be_another_file() {
    let folder = Folder::new();
    let resume = |output: &str, options: &[&str], message: &str| {
        let outcome = folder.run(&[&["render", "scene.toml", "--resume", "-o", output], options].concat());
        assert!(outcome.stderr.contains(message), "{options:?}: {outcome:?}");
    };
    let is_half = |name: &str| {
        let is_half = |samples: &Samples| matches!(samples, Samples::Half(_));
        layers(&folder, name).channel("R").map(|channel| is_half(&channel.samples))
    };
    let layers_of_its_own = ["--aov=N,Z,shape,uv"];
    render(&folder, "a.exr", &layers_of_its_own);
    resume("a.exr", &layers_of_its_own, "has all of its samples already");
    resume("a.exr", &["--aov=N,Ng"], "leave --aov and --denoise out, or begin anew without --resume");
    resume(
        "a.exr",
        &["--aov=N", "--exr=half"],
        "leave --aov and --denoise out, or begin anew without --resume",
    );
    let lost = "\"a.exr\": it has layers that would be lost: N, Z, shape, uv; --force drops them";
    resume("a.exr", &["--exr=half"], lost);
    resume("a.exr", &["--spp=16"], lost);
    resume("a.exr", &["--exr=half", "--force"], "rewriting \"a.exr\": 8 samples");
    assert_eq!(is_half("a.exr"), Some(true));
    resume("a.exr", &["--exr=half"], "has all of its samples already");
    resume("a.exr", &[], "add --exr half, or leave --resume out");
    assert_eq!(is_half("a.exr"), Some(true));
    // Sums are what the means were rounded from.
    render(&folder, "b.exr", &["--aov=sums"]);
    let before = image(&layers(&folder, "b.exr"));
    resume("b.exr", &["--aov=sums", "--exr=half"], "rewriting \"b.exr\"");
    assert!(is_half("b.exr") == Some(true) && image(&layers(&folder, "b.exr")) != before);
    resume("b.exr", &["--aov=sums"], "rewriting \"b.exr\"");
    assert!(is_half("b.exr") == Some(false) && image(&layers(&folder, "b.exr")) == before);
    // Without layers from which a film could be made.
    render(&folder, "c.exr", &["--aov=none"]);
    resume("c.exr", &["--spp=16"], "it has no layers \"stderr\" and \"samples\"; --force begins anew");
    resume("c.exr", &["--spp=16", "--force"], "16 spp in ");
    let times = "nothing was traced, so that there are no times of stages";
    resume("c.exr", &["--spp=16", "--integrator=wavefront", "--stage-plot=times.svg"], times);
}

/// Whatever is there already: images that are older, of fewer samples, or none.
#[test]
fn other_outputs_are_made_of_a_complete_image() {
    let [fresh, folder] = [(); 2].map(|()| Folder::new());
    let wanted = ["--spp=16", "--aov=N", "-o=a.png", "-o=b.exr", "-o=a.pfm"];
    render(&fresh, "a.exr", &wanted);
    render(&folder, "a.exr", &wanted[..2]);
    render(&folder, "b.exr", &["--spp=8", "--aov=N"]);
    render(&folder, "a.png", &["--spp=2", "--seed=7"]);
    let before = fs::read(folder.at("a.exr")).unwrap();
    let resume = [&["render", "scene.toml", "--resume", "--json", "-o=a.exr"], &wanted[..]].concat();
    let outcome = folder.run(&resume);
    assert!(outcome.stderr.contains("\"a.exr\" has all of its samples already"), "{outcome:?}");
    let summary: Value = serde_json::from_str(&outcome.stdout).expect("JSON on stdout");
    let outputs: Vec<_> =
        summary["outputs"].as_array().unwrap().iter().filter_map(|file| file["path"].as_str()).collect();
    assert_eq!((outputs, &summary["paths"]), (vec!["a.png", "b.exr", "a.pfm"], &0.into()));
    assert!(fs::read(folder.at("a.exr")).unwrap() == before);
    for name in ["a.png", "a.pfm"] {
        assert!(contents(&folder, name) == contents(&fresh, name), "{name}");
    }
    assert!(layers(&folder, "b.exr") == layers(&folder, "a.exr"));
}

#[test]
fn of_several_images_the_one_with_most_samples_goes_on_and_none_is_lost() {
    let folder = Folder::new();
    let resume = |options: &[&str]| {
        let arguments = ["render", "scene.toml", "--resume", "-o=a.exr", "-o=b.exr"];
        folder.run(&[&arguments[..], options].concat())
    };
    let refuses = |options: &[&str], message: &str| {
        let outcome = resume(options);
        assert!(outcome.code == Some(2) && outcome.stderr.contains(message), "{message}: {outcome:?}");
    };
    render(&folder, "a.exr", &["--spp=8", "--aov=Z"]);
    render(&folder, "b.exr", &["--spp=16"]);
    refuses(&["--spp=12"], "\"b.exr\": it has samples up to 16, and 12 are asked for");
    refuses(&["--spp=16"], "\"a.exr\": it has layers that would be lost: Z; --force drops them");
    refuses(&["--spp=32"], "\"a.exr\": it has layers that would be lost: Z; --force drops them");
    render(&folder, "a.exr", &["--spp=8"]);
    let outcome = resume(&["--spp=32"]);
    assert!(outcome.stderr.contains("extending \"b.exr\": 16 samples of each pixel"), "{outcome:?}");
    assert!(layers(&folder, "a.exr").channels == layers(&folder, "b.exr").channels);
    let mut partial = layers(&folder, "a.exr");
    partial.attributes.insert("sampleRanges".into(), "seed 0: 0..40".into());
    partial.attributes.insert("partialSamples".into(), "seed 0: 32..40".into());
    fs::write(folder.at("a.exr"), torrance_image::film::encode::encode_at_once(partial).unwrap()).unwrap();
    let message =
        "\"a.exr\": it has other samples than \"b.exr\", which would be lost: seed 0: 0..40; --force drops";
    refuses(&["--spp=32"], message);
    refuses(&["--spp=64"], message);
    assert_eq!(resume(&["--spp=64", "--force"]).code, Some(0));
    assert_eq!(layers(&folder, "a.exr").attributes["sampleRanges"], "seed 0: 0..64");
}

#[test]
fn a_damaged_checkpoint_hides_no_image() {
    let folder = Folder::new();
    for (broken, samples, message) in [
        (&b""[..], "--spp=8", "has all of its samples already"),
        (b"torrCP2\n and no more", "--spp=8", "has all of its samples already"),
        (b"torr", "--spp=16", "extending \"a.exr\": 8 samples"),
    ] {
        render(&folder, "a.exr", &["--spp=8"]);
        fs::write(folder.at("a.exr.checkpoint"), broken).unwrap();
        let outcome = folder.run(&["render", "scene.toml", "-o=a.exr", "--resume", samples]);
        assert!(outcome.code == Some(0) && outcome.stderr.contains(message), "{outcome:?}");
        assert_eq!(outcome.stderr.matches("it is no whole checkpoint, and is left aside: ").count(), 1);
        assert_eq!(finished(&folder), ["a.exr"]);
    }
}

/// A command that is killed again and again until it is done.
struct Victim {
    arguments: Vec<&'static str>,
    /// Where it keeps what it has.
    kept: &'static str,
    outputs: &'static [&'static str],
}

/// Numbers of kills, and of seconds that they lost: between the last write of what is kept, and the kill.
#[derive(Default)]
struct Losses {
    kills: u32,
    lost: Vec<f64>,
}

impl Losses {
    fn tell(&self, name: &str) {
        let most = self.lost.iter().copied().fold(0.0, f64::max);
        let mean = self.lost.iter().sum::<f64>() / self.lost.len().max(1) as f64;
        println!("{name}: {} kills, lost {mean:.2} s on average, {most:.2} s at most", self.kills);
    }
}

/// The newest file at a path or in it, and its age.
fn age(path: &Path) -> Option<f64> {
    let files = match path.is_dir() {
        true => fs::read_dir(path).ok()?.filter_map(Result::ok).map(|entry| entry.path()).collect(),
        false => vec![path.to_owned()],
    };
    let is_kept = |file: &PathBuf| file.extension().is_some_and(|extension| extension != "tmp");
    let ages = files.into_iter().filter(is_kept).filter_map(|file| {
        let written = file.metadata().ok()?.modified().ok()?;
        Some(SystemTime::now().duration_since(written).ok()?.as_secs_f64())
    });
    ages.reduce(f64::min)
}

/// Samples, of all pixels, in a checkpoint that is a file of its own, and whole; none elsewhere.
fn taken(path: &Path) -> u64 {
    let Ok(bytes) = fs::read(path) else { return 0 };
    let length = u64::from_le_bytes(bytes[8..16].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[24..24 + length]).expect("its header is whole");
    let range = |range: &Value| range["end"].as_u64().unwrap() - range["start"].as_u64().unwrap();
    let blocks = header["done"].as_array().unwrap().iter();
    blocks.map(|block| range(&block["samples"]) * range(&block["invocations"])).sum()
}

/// Kills a command at random instants, so many times, and then lets it end. Whatever is in its outputs is whole each time.
fn kill_and_resume(folder: &Folder, victim: &Victim, kills: u32, random: &mut Random) -> Losses {
    let (mut losses, mut kept) = (Losses::default(), 0);
    while losses.kills < kills {
        let mut program = folder.program(&victim.arguments);
        let mut child = program.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        let end = Instant::now() + Duration::from_secs_f64(0.1 + 0.9 * random.uniform());
        while Instant::now() < end && child.try_wait().expect("a status").is_none() {
            sleep(Duration::from_millis(2));
        }
        if let Some(status) = child.try_wait().expect("a status") {
            assert_eq!(status.code(), Some(0), "{:?}", victim.arguments);
            return losses;
        }
        losses.lost.extend(age(&folder.at(victim.kept)));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        losses.kills += 1;
        let taken = taken(&folder.at(victim.kept));
        // A render that is done has removed its checkpoint, and may be killed before it ends.
        let is_done = |name: &&str| folder.at(name).exists();
        let is_kept = taken >= kept || (taken == 0 && victim.outputs.iter().all(is_done));
        assert!(is_kept, "{taken} samples are kept, where there were {kept}: {:?}", folder.names());
        kept = taken;
        for output in victim.outputs.iter().map(|name| folder.at(name)).filter(|path| path.exists()) {
            let is_whole = match output.extension().and_then(|extension| extension.to_str()) {
                Some("json") => serde_json::from_slice::<Value>(&fs::read(&output).unwrap()).is_ok(),
                _ => read(&output).is_ok(),
            };
            assert!(is_whole, "{output:?} is broken");
        }
    }
    let outcome = folder.run(&victim.arguments);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    losses
}

/// What is in a result that does not depend on when it was made.
fn contents(folder: &Folder, name: &str) -> Vec<u8> {
    if name.ends_with(".json") {
        let mut json: Value = serde_json::from_slice(&fs::read(folder.at(name)).unwrap()).unwrap();
        json.as_object_mut().unwrap().remove("seconds");
        // A run that finds all images kept starts no machine, and so knows its name only.
        let device = json.as_object_mut().unwrap().remove("device").unwrap();
        assert!(device.as_str().unwrap().starts_with("CPU"), "{device}");
        for case in json["cases"].as_array_mut().unwrap() {
            case.as_object_mut().unwrap().remove("seconds");
        }
        return json.to_string().into_bytes();
    }
    if name.ends_with(".exr") {
        let layers = layers(folder, name);
        return [fingerprint(&layers).as_bytes(), bytemuck::cast_slice(&image(&layers))].concat();
    }
    fs::read(folder.at(name)).unwrap()
}

const SUITE: &str = "[[case]]\nname = \"a\"\nscene = \"scene.toml\"\nsize = [96, 64]\nspp = 1500\nmax_spp = 6000\n\
                     resolve = \"0.001%\"\nreference = \"a.exr\"\n[[case]]\nname = \"b\"\nscene = \"scene.toml\"\n\
                     size = [96, 64]\nspp = 4000\nmax_depth = 1\nreference = \"a.exr\"\nexpect = \"different\"\n";

/// Seconds between checkpoints.
const PERIOD: f64 = 0.15;

/// Commands that take some seconds, and keep what they have several times a second.
fn victims() -> [Victim; 3] {
    const OFTEN: &str = "--checkpoint=0.15";
    assert_eq!(OFTEN, format!("--checkpoint={PERIOD}"));
    let render = ["render", "scene.toml", "-o", "out.exr", "-o", "out.png", "--size=200x150", "--spp=700"];
    let sweep = [
        "sweep",
        "scene.toml",
        "--param=camera.fov=30:50:4",
        "-o",
        "sheet.png",
        "--size=96x64",
        "--spp=1500",
    ];
    let regress = ["regress", "suite.toml", "--device=cpu", "--json=out.json", "--resume"];
    [
        Victim {
            arguments: [&render[..], &["--resume", OFTEN]].concat(),
            kept: "out.exr.checkpoint",
            outputs: &["out.exr", "out.png"],
        },
        Victim {
            arguments: [&sweep[..], &[OFTEN]].concat(),
            kept: "sheet.png.parts",
            outputs: &["sheet.png"],
        },
        Victim {
            arguments: [&regress[..], &[OFTEN]].concat(),
            kept: "suite.toml.parts",
            outputs: &["out.json"],
        },
    ]
}

#[test]
fn what_is_killed_goes_on_to_the_same_result() {
    let mut random = Random(7);
    for victim in victims() {
        let folder = Folder::new();
        render(&folder, "a.exr", &["--size=96x64", "--spp=2000", "--seed=9"]);
        fs::write(folder.at("suite.toml"), SUITE).unwrap();
        let undisturbed = folder.run(&victim.arguments);
        assert_eq!(undisturbed.code, Some(0), "{undisturbed:?}");
        let expected: Vec<_> = victim.outputs.iter().map(|name| contents(&folder, name)).collect();
        let mut all = Losses::default();
        let wanted = tier::choose(4, 70);
        while all.kills < wanted {
            victim.outputs.iter().for_each(|name| drop(fs::remove_file(folder.at(name))));
            let losses = kill_and_resume(&folder, &victim, wanted - all.kills, &mut random);
            for (name, expected) in victim.outputs.iter().zip(&expected) {
                let found = contents(&folder, name);
                let text =
                    |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(9999)]).into_owned();
                let differs = || format!("{}, not {}", text(&found), text(expected));
                assert!(found == *expected, "{name} after {} kills: {}", losses.kills, differs());
            }
            assert!(!folder.at(victim.kept).exists(), "{:?}", folder.names());
            all.kills += losses.kills.max(1);
            all.lost.extend(losses.lost);
        }
        all.tell(victim.arguments[0]);
        // The period, and what a busy machine may take on top of it.
        assert!(all.lost.iter().all(|lost| *lost < PERIOD + 3.0), "{:?}", all.lost);
    }
}

/// Begins a render to an image and kills it when there is a checkpoint, unless it ends before.
fn kill_with_checkpoint(folder: &Folder, image: &str, options: &[&str]) {
    let arguments = ["render", "scene.toml", "-q", "-o", image, "--checkpoint=0.1"];
    let mut child = folder.program(&[&arguments[..], options].concat()).spawn().expect("it starts");
    let begin = Instant::now();
    let checkpoint = folder.at(&format!("{image}.checkpoint"));
    while !checkpoint.exists() && child.try_wait().expect("a status").is_none() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no checkpoint");
        sleep(Duration::from_millis(5));
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
}

fn killed_with_checkpoint(folder: &Folder) {
    kill_with_checkpoint(folder, "a.png", &["--size=200x150", "--spp=100000"]);
}

/// Kills a render to `a.exr`, and goes on with `again`, which comes to what it comes to where nothing was there before.
fn goes_on(options: &[&str], outputs: &[&str], again: &[&str]) {
    let options = [&["--size=200x150", "--spp=600"], options].concat();
    let again = [&["render", "scene.toml", "--resume"], &options[..], again].concat();
    let [alone, killed] = [(); 2].map(|()| Folder::new());
    // On one thread, there is time for a checkpoint.
    kill_with_checkpoint(&killed, "a.exr", &[&options[..], outputs, &["--threads=1"]].concat());
    assert_eq!(finished(&killed), ["a.exr.checkpoint"], "{again:?}");
    for (folder, message) in [(&alone, "there is nothing to resume"), (&killed, "going on with \"a.exr.")] {
        let outcome = folder.run(&again);
        assert!(outcome.code == Some(0) && outcome.stderr.contains(message), "{again:?}: {outcome:?}");
    }
    assert_eq!(finished(&killed), finished(&alone));
    let [expected, found] = [&alone, &killed].map(|folder| layers(folder, "a.exr"));
    assert!(found.channels == expected.channels && found.channels.len() > 6, "{again:?}: every bit");
    for name in ["sampleRanges", "samplesFingerprint", "wholeSpp", "arguments"] {
        assert_eq!(found.attributes.get(name), expected.attributes.get(name), "{name}");
    }
    if finished(&alone).contains(&"a.png".to_owned()) {
        assert!(contents(&killed, "a.png") == contents(&alone, "a.png"));
    }
}

#[test]
fn killed_renders_of_every_kind_go_on_to_the_same_images() {
    goes_on(&[], &["-o=a.png"], &["-o=a.exr", "-o=a.png"]);
    goes_on(&[], &["-o=a.png"], &["-o=a.png", "-o=a.exr"]);
    goes_on(&["--aov=N,Z,shape,direct"], &[], &["-o=a.exr"]);
    goes_on(&["--shard=2/2"], &[], &["-o=a.exr"]);
    goes_on(&[], &[], &["-o=a.exr", "--checkpoint=off"]);
    goes_on(&["--noise=1%", "--aov=stderr,samples,sums"], &[], &["-o=a.exr"]);
}

#[test]
fn without_checkpoints_the_last_one_stays_until_the_image_is_there() {
    let folder = Folder::new();
    kill_with_checkpoint(&folder, "a.exr", &["--size=200x150", "--spp=100000"]);
    let before = fs::read(folder.at("a.exr.checkpoint")).unwrap();
    let arguments = ["render", "scene.toml", "-o", "a.exr", "--size=200x150", "--resume"];
    for (option, is_kept) in [("--checkpoint=off", true), ("--checkpoint=0.1", false)] {
        let endless = [&arguments[..], &["--spp=1000000", option]].concat();
        let mut child = folder.program(&endless).stderr(Stdio::null()).spawn().expect("it starts");
        sleep(Duration::from_secs(1));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        let now = fs::read(folder.at("a.exr.checkpoint")).unwrap();
        assert_eq!(now == before, is_kept, "{option}");
    }
}

#[test]
fn a_checkpoint_is_neither_ignored_nor_taken_for_another_renders() {
    let folder = Folder::new();
    killed_with_checkpoint(&folder);
    let options = ["--size=200x150", "--spp=2"];
    let run =
        |more: &[&str]| folder.run(&[&["render", "scene.toml", "-o", "a.png"], &options[..], more].concat());
    let outcome = run(&[]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("--resume goes on with them, and --force begins anew"), "{outcome:?}");
    // Nor is that of another render lost.
    for options in [&["--seed=5"][..], &["--resume", "--seed=5"]] {
        let outcome = run(options);
        assert!(outcome.code == Some(2) && outcome.stderr.contains("its seed is 0, not 5"), "{outcome:?}");
    }
    let outcome = run(&["--resume"]);
    let message = "samples up to ";
    assert!(
        outcome.code == Some(2) && outcome.stderr.contains(message),
        "more than are asked for: {outcome:?}"
    );
    assert!(folder.at("a.png.checkpoint").exists());
    for options in
        [&["--seed=5", "--force"][..], &["--seed=5", "--force", "--resume"], &["--force", "--checkpoint=off"]]
    {
        killed_with_checkpoint(&folder);
        let outcome = run(options);
        assert_eq!((outcome.code, outcome.stderr.contains("warning")), (Some(0), false), "{outcome:?}");
        assert_eq!(finished(&folder), ["a.png"], "{options:?}");
    }

    killed_with_checkpoint(&folder);
    let bytes = fs::read(folder.at("a.png.checkpoint")).unwrap();
    let mut flipped = bytes.clone();
    flipped[bytes.len() - 7] ^= 1;
    for (broken, message) in [
        (&bytes[..bytes.len() - 1], "it ends too soon"),
        (&bytes[..11], "it ends too soon"),
        (&flipped, "a film is not what was written"),
        (&[&bytes[..], b"x"].concat(), "something follows"),
    ] {
        fs::write(folder.at("a.png.checkpoint"), broken).unwrap();
        let outcome = run(&["--resume"]);
        let says = format!("it is no whole checkpoint, and is left aside: {message}\n");
        assert!(outcome.code == Some(0) && outcome.stderr.contains(&says), "{outcome:?}");
        assert_eq!(finished(&folder), ["a.png"]);
    }
    let other = b"no checkpoint, but longer than the beginning of one";
    fs::write(folder.at("a.png.checkpoint"), other).unwrap();
    let outcome = run(&["--resume"]);
    assert!(outcome.code == Some(0) && outcome.stderr.contains("it begins otherwise"), "{outcome:?}");
    assert!(fs::read(folder.at("a.png.checkpoint")).unwrap() == other, "somebody else's");
}

/// The names of finished files: what was being written when a program was killed is removed later.
fn finished(folder: &Folder) -> Vec<String> {
    folder.names().into_iter().filter(|name| !is_temporary(name)).collect()
}

/// Images that lack samples of some pixels, and too many samples, are not taken for what is asked for.
#[test]
fn images_that_are_not_what_is_asked_for_are_not_gone_on_with() {
    let folder = Folder::new();
    let run = |options: &[&str]| folder.run(&[&["render", "scene.toml"], options].concat());
    render(&folder, "a.exr", &["--spp=16"]);
    let outcome = run(&["-o", "a.exr", "-o", "a.png", "--spp=8", "--resume"]);
    let message = "\"a.exr\": it has samples up to 16, and 8 are asked for";
    assert!(outcome.code == Some(2) && outcome.stderr.contains(message), "{outcome:?}");
    let mut partial = layers(&folder, "a.exr");
    partial.attributes.insert("partialSamples".into(), "seed 0: 12..16".into());
    let bytes = torrance_image::film::encode::encode_at_once(partial).unwrap();
    fs::write(folder.at("a.exr"), bytes).unwrap();
    let outcome = run(&["-o", "a.exr", "--spp=32", "--resume"]);
    let message =
        "\"a.exr\": some of its pixels lack samples, and there is no checkpoint; --force begins anew";
    assert!(outcome.code == Some(2) && outcome.stderr.contains(message), "{outcome:?}");
    let outcome = run(&["-o", "a.exr", "--spp=32", "--resume", "--force"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

/// A render that stops at a noise, killed and resumed: all pixels have the samples of the one that nobody disturbed.
#[test]
fn noise_ends_a_resumed_render_where_it_ends_one_alone() {
    let folder = Folder::new();
    let options = ["--size=200x150", "--noise=0.12%", "--noise-of=image"];
    render(&folder, "alone.exr", &options);
    kill_with_checkpoint(&folder, "a.exr", &options);
    render(&folder, "a.exr", &[&options[..], &["--resume"]].concat());
    let [alone, resumed] = ["alone.exr", "a.exr"].map(|name| layers(&folder, name));
    assert_eq!(alone.attributes["sampleRanges"], resumed.attributes["sampleRanges"]);
    assert!(image(&alone) == image(&resumed), "every bit");
}

/// A disk that is full for a checkpoint, and not for the image.
#[test]
fn a_render_whose_checkpoint_cannot_be_written_goes_on() {
    let folder = Folder::new();
    let arguments =
        ["render", "scene.toml", "-o", "a.png", "--size=200x150", "--spp=300", "--checkpoint=0.1"];
    // Blocks of 512 bytes.
    let outcome = Outcome::from(folder.limited("-f 500", &arguments).output().unwrap());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(
        outcome.stderr.contains("warning: \"a.png.checkpoint\": the checkpoint cannot be written: "),
        "{outcome:?}"
    );
    assert_eq!(folder.names(), ["a.png"]);
}
