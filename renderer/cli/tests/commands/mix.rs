//! `torrance mix`, and the light groups that it takes.

use torrance_image::film::{read, read_layers};

use crate::program::Folder;

/// A floor under a lamp and a spark, of powers.
fn scene([lamp, spark]: [f32; 2]) -> String {
    format!(
        r#"
        [render]
        size = [24, 16]
        spp = 16
        [camera]
        position = [0, 2, 4]
        target = [0, 0, 0]
        fov = 45
        [materials.grey]
        type = "diffuse"
        reflectance = 0.6
        [[shapes]]
        name = "floor"
        type = "quad"
        material = "grey"
        transform = [{{ scale = 3 }}, {{ rotate = {{ axis = "x", degrees = -90 }} }}]
        [[shapes]]
        name = "lamp"
        type = "sphere"
        center = [-0.5, 0.8, 0]
        radius = 0.2
        material = "grey"
        emission = {lamp:?}
        [[lights]]
        name = "spark"
        type = "point"
        position = [0.6, 0.5, 0.2]
        intensity = {spark:?}
        "#
    )
}

/// A folder with an image of the scene, with its light groups.
fn rendered() -> Folder {
    let folder = Folder::new();
    std::fs::write(folder.at("lit.toml"), scene([4.0, 0.5])).unwrap();
    run(&folder, &["render", "lit.toml", "-o", "lit.exr", "--aov", "light:*,Z", "--device=cpu"]);
    folder
}

fn run(folder: &Folder, arguments: &[&str]) {
    let outcome = folder.run(arguments);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn a_mix_is_the_render_of_those_powers() {
    let folder = rendered();
    std::fs::write(folder.at("twice.toml"), scene([8.0, 1.0])).unwrap();
    run(&folder, &["render", "twice.toml", "-o", "twice.pfm", "--device=cpu"]);
    run(
        &folder,
        &["mix", "lit.exr", "-o", "mixed.exr", "-o", "mixed.png", "--gain", "lamp=2", "--stops", "spark=+1"],
    );
    let (mixed, twice) = (read(&folder.at("mixed.exr")).unwrap(), read(&folder.at("twice.pfm")).unwrap());
    for (a, b) in mixed.pixels.iter().flatten().zip(twice.pixels.iter().flatten()) {
        assert!((a - b).abs() <= 2e-6 * b.abs(), "{a}, not {b}");
    }
    let layers = read_layers(&folder.at("mixed.exr")).unwrap();
    let names: Vec<_> = layers.channels.iter().map(|channel| channel.name.as_str()).collect();
    assert_eq!(
        names.join(" "),
        "B G R Z light.lamp.B light.lamp.G light.lamp.R light.spark.B light.spark.G light.spark.R samples stderr.B stderr.G \
         stderr.R"
    );
    assert_eq!(layers.attributes["mix"], "lamp=2,2,2 spark=2,2,2");
    assert!(folder.at("mixed.png").is_file());
}

#[test]
fn what_is_no_longer_true_is_left_out() {
    let folder = rendered();
    let outcome = folder.run(&["mix", "lit.exr", "-o", "mixed.exr", "--gain", "lamp=0,0.5,1"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(
        outcome.stderr.contains("left out, as not true of the mixed image: samples, stderr"),
        "{outcome:?}"
    );
    let layers = read_layers(&folder.at("mixed.exr")).unwrap();
    assert!(layers.channel("stderr.R").is_none() && layers.channel("Z").is_some());
    assert_eq!(layers.rgb("light.lamp").unwrap()[0][0], 0.0);
}

#[test]
fn parts_of_a_render_have_groups_that_are_merged() {
    let folder = rendered();
    for part in ["1/2", "2/2"] {
        let (shard, file) = (format!("--shard={part}"), format!("part{}.exr", &part[..1]));
        run(&folder, &["render", "lit.toml", "-o", &file, "--aov", "light:*", "--device=cpu", &shard]);
    }
    run(&folder, &["merge", "part1.exr", "part2.exr", "-o", "merged.exr"]);
    let [merged, whole] = ["merged.exr", "lit.exr"].map(|name| read_layers(&folder.at(name)).unwrap());
    for light in ["light.lamp", "light.spark"] {
        let [merged, whole] = [&merged, &whole].map(|layers| layers.rgb(light).unwrap());
        for (a, b) in merged.iter().flatten().zip(whole.iter().flatten()) {
            assert!((a - b).abs() <= 2e-6 * b.abs().max(1e-3), "{light}: {a}, not {b}");
        }
    }
}

#[test]
fn mistakes_are_told_and_nothing_is_written() {
    let folder = rendered();
    for (arguments, message) in [
        (
            &["lit.exr", "--gain", "lmap=2"][..],
            "error: \"lit.exr\": it has no light group \"lmap\"; did you mean \"lamp\"?",
        ),
        (&["lit.exr", "--gain", "lamp"], "expected GROUP=FACTOR with a factor from 0 to 1e6, or three"),
        (&["lit.exr", "--gain", "lamp=-1"], "expected GROUP=FACTOR with a factor from 0 to 1e6, or three"),
        (&["lit.exr", "--gain", "lamp=1,2"], "expected GROUP=FACTOR with a factor from 0 to 1e6, or three"),
        (&["lit.exr", "--stops", "lamp=99"], "expected GROUP=STOPS with stops from -20 to 20"),
        (
            &["lit.exr", "--gain", "lamp=2", "--stops", "lamp=1"],
            "error: the light group \"lamp\" has two gains",
        ),
        (&["scene.pfm", "--gain", "lamp=2"], "error: \"scene.pfm\": "),
    ] {
        let outcome = folder.run(&[&["mix"], arguments, &["-o", "mixed.exr"]].concat());
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.contains(message), "{arguments:?}: {outcome:?}");
        assert!(!folder.at("mixed.exr").exists());
    }
    for (layers, message) in [
        ("light:lmap", "light:lmap: the scene has no such light; did you mean \"lamp\"?"),
        (
            "light:lamp,light:la*",
            "light:la*: its lights are all in other groups; leave it out, or the others",
        ),
    ] {
        let outcome = folder.run(&["render", "lit.toml", "-o", "other.exr", "--aov", layers, "--device=cpu"]);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.contains(&format!("lit.toml: --aov: {message}")), "{outcome:?}");
    }
}

#[test]
fn groups_have_names() {
    let folder = rendered();
    for (choices, expected) in [
        ("light:**", ["lamp", "spark"]),
        ("light:l*,light:rest", ["l", "rest"]),
        ("light:?amp,light:*", ["amp", "spark"]),
        ("light:????,light:rest", ["any", "rest"]),
    ] {
        run(&folder, &["render", "lit.toml", "-o", "a.exr", "--spp=1", "--aov", choices, "--device=cpu"]);
        let layers = read_layers(&folder.at("a.exr")).unwrap();
        let reds = layers.channels.iter().filter_map(|channel| channel.name.strip_suffix(".R"));
        let groups: Vec<_> = reds.filter_map(|name| name.strip_prefix("light.")).collect();
        assert_eq!(groups, expected, "{choices}");
    }
}

/// Neither is a mix a render that could be merged with others or extended, nor are its halves those of other powers.
#[test]
fn a_mix_is_no_render() {
    let folder = Folder::new();
    std::fs::write(folder.at("lit.toml"), scene([4.0, 0.5])).unwrap();
    let render = |name: &str, seed: &str| {
        let aovs = "--aov=light:*,cryptomatte,halves,albedo,N,stderr,samples";
        run(&folder, &["render", "lit.toml", "-o", name, aovs, seed, "--device=cpu"]);
    };
    render("a.exr", "--seed=1");
    render("b.exr", "--seed=2");
    let halves = |name: &str| read_layers(&folder.at(name)).unwrap().rgb("halves");
    run(&folder, &["mix", "a.exr", "-o", "all.exr", "--gain", "lamp=2", "--gain", "spark=2"]);
    let pairs = || halves("a.exr").unwrap().into_iter().zip(halves("all.exr").unwrap());
    assert!(pairs().all(|(a, b)| a.map(|x| 2.0 * x) == b) && pairs().any(|(a, _)| a[0] > 0.0));
    run(&folder, &["mix", "a.exr", "-o", "one.exr", "--gain", "lamp=2"]);
    assert_eq!(halves("one.exr"), None);
    run(&folder, &["defocus", "a.exr", "-o", "blurred.exr", "--radius=2"]);
    assert_eq!(halves("blurred.exr"), None);
    let arguments = ["render", "lit.toml", "--resume", "--spp=32", "--seed=1", "--device=cpu"];
    for name in ["all.exr", "one.exr", "blurred.exr"] {
        let outcome = folder.run(&["merge", name, "b.exr", "-o", "merged.exr"]);
        assert_eq!(outcome.code, Some(2), "{name}: {outcome:?}");
        let outcome = folder.run(&[&arguments[..], &["-o", name]].concat());
        assert_eq!(outcome.code, Some(2), "{name}: {outcome:?}");
    }
    for command in
        [&["mix", "a.exr", "--gain=lamp=2"][..], &["merge", "a.exr", "b.exr"], &["denoise", "a.exr"]]
    {
        let outcome = folder.run(&[command, &["-o", "rounded.exr", "--exr-compression=pxr24"]].concat());
        assert_eq!(outcome.code, Some(2), "{command:?}: {outcome:?}");
        assert!(outcome.stderr.contains("rounds floats, and so the ids of a Cryptomatte"), "{outcome:?}");
    }
}
