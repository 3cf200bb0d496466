//! Outputs and values that are refused.

use super::*;

#[test]
fn bad_outputs_are_refused_before_rendering() {
    let folder = Folder::new();
    fs::create_dir(folder.at("folder.png")).unwrap();
    fs::write(folder.at("file"), "").unwrap();
    let output =
        |path, message| refused(&folder, &["render", "scene.toml", "--spp", ENDLESS, "-o", path], message);
    output("none/a.png", "output \"none/a.png\": directory \"none\" does not exist; create it first");
    output("file/a.png", "\"file\" is not a directory");
    output("folder.png", "output \"folder.png\": is a directory");
    output("new.png/", "output \"new.png/\": names a folder, since it ends in a slash; a file is expected");
    output("a.pgn", "unknown file extension .pgn; did you mean .png?");
    output("a", "the file name needs an extension: .png, .exr, .hdr, .pfm, .jpg, .webp or .jxl");
    #[cfg(target_os = "linux")]
    output("/proc/a.png", "output \"/proc/a.png\": cannot create files in \"/proc\"");
    let twice = ["render", "scene.toml", "--spp", ENDLESS, "-o", "a.png", "-o", "./a.png"];
    refused(&folder, &twice, "output \"./a.png\": given twice");
}

/// A render must not replace a file that it is made of, by whatever name.
#[test]
fn what_the_scene_reads_is_not_replaced() {
    let folder = Folder::new();
    succeeded(&folder, "sky.exr");
    fs::create_dir(folder.at("maps")).unwrap();
    succeeded(&folder, "maps/wood.png");
    let scene = fs::read_to_string(folder.at("scene.toml")).unwrap();
    let scene = scene.replace("radiance = [0.3, 0.2, 0.1]", "file = \"sky.exr\"");
    let scene = scene.replace("[0.5, 0.5, 0.5]", "{ file = \"maps/../maps/wood.png\" }");
    fs::write(folder.at("new.toml"), scene).unwrap();
    let before = ["sky.exr", "maps/wood.png"].map(|name| fs::read(folder.at(name)).unwrap());
    let output = |path| {
        let arguments = ["render", "new.toml", "--spp", ENDLESS, "-o", "a.png", "-o", path];
        refused(&folder, &arguments, &format!("output \"{path}\": is a file that the scene reads"));
    };
    output("sky.exr");
    output("maps/wood.png");
    output("./maps/../maps/wood.png");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("maps/wood.png", folder.at("link.png")).unwrap();
        output("link.png");
    }
    assert_eq!(before, ["sky.exr", "maps/wood.png"].map(|name| fs::read(folder.at(name)).unwrap()));
    // Files beside them are another matter.
    let outcome = folder.run(&["render", "new.toml", "-o", "maps/sky.exr"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

fn succeeded(folder: &Folder, output: &str) {
    let outcome = folder.run(&["render", "scene.toml", "-o", output]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn bad_values_are_refused_with_what_was_expected() {
    let folder = Folder::new();
    let option = |name, value, message| {
        refused(&folder, &["render", "scene.toml", "-o", "a.png", name, value], message)
    };
    option(
        "--size",
        "640",
        "invalid value '640' for '--size <WxH>': expected WIDTHxHEIGHT in pixels, as in 1280x720",
    );
    option("--size", "0x5", "an image of 0×5 pixels is empty");
    option("--size", "1000000x1000000", "would need");
    option("--spp", "0", "invalid value '0' for '--spp <N>': expected a whole number from 1 to ");
    option("--time", "soon", "expected a time, as in 30s, 2m, 1.5h, or 45 for seconds");
    option("--time", "0", "a time must be longer than 0");
    option("--checkpoint", "0", "a time must be longer than 0, or off");
    option("--device", "gpu", "expected auto, cpu, cuda, cuda:N, or several devices");
    for value in ["2", "-1", "0GiB", "2 gigs"] {
        option(
            "--device-memory",
            value,
            "expected a size with its unit, from 1MB to 1000TB, as in 800MiB or 2GiB",
        );
    }
    option("--threads", "0", "expected a whole number from 1 to 1024");
    for value in ["0", "-1", "4mi", "65Mi", "many"] {
        option(
            "--pool",
            value,
            "expected a number of paths from 1 to 67108864, as in 1000000, 512Ki or 2^20",
        );
    }
    option("--max-depth", "0", "expected a whole number from 1 to ");
    option("--rr-depth", "no", "expected a whole number from 0 to 1000, or off");
    option(
        "--exposure",
        "nan",
        "expected stops from -100 to 100, as in 1.5 or -2; auto; or a camera's exposure",
    );
    option("--tonemap", "filmic", "invalid value 'filmic' for '--tonemap <NAME>'");
    option("--sampler", "halton", "invalid value 'halton' for '--sampler <NAME>'");
    option("--direct", "bdpt", "invalid value 'bdpt' for '--direct <NAME>'");
    option("--masking", "uncorrelated", "invalid value 'uncorrelated' for '--masking <NAME>'");
    option("--bit-depth", "12", "invalid value '12' for '--bit-depth <BITS>'");
    option("--exr", "double", "invalid value 'double' for '--exr <TYPE>'");
    option("--sp", "5", "unexpected argument '--sp' found");
    refused(&folder, &["render", "scene.toml"], "the following required arguments were not provided");
    refused(&folder, &["rendr"], "unrecognized subcommand 'rendr'");
    refused(&folder, &["render", "no.toml", "-o", "a.png"], "no.toml");
}

/// The program, about to be run by a shell after `script`.
#[cfg(unix)]
fn after(folder: &Folder, script: &str, arguments: &[&str]) -> Outcome {
    let program = folder.program(arguments);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{script} exec \"$@\""), "sh"]).arg(program.get_program());
    let output = shell.args(arguments).current_dir(folder.path()).env("TORRANCE_LIBCUDA", "").output();
    output.expect("sh starts").into()
}

/// The folder that a program was started in may go.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_was_deleted_is_named_as_such() {
    let folder = Folder::new();
    let scene = folder.at("scene.toml").display().to_string();
    for path in ["a.png", "sub/a.png"] {
        let script = "mkdir gone && cd gone && rmdir ../gone &&";
        let outcome = after(&folder, script, &["render", &scene, "--spp", ENDLESS, "-o", path]);
        let message = "the current folder has been deleted; change to another\n";
        assert_eq!(outcome.stderr, format!("error: output \"{path}\": {message}"), "{outcome:?}");
        assert_eq!(outcome.code, Some(2));
    }
}

/// Nobody writes into the pipe: the program says so, and does not wait for ever.
#[cfg(unix)]
#[test]
fn pipes_that_nothing_writes_into_are_not_waited_for() {
    let folder = Folder::new();
    let made = Command::new("mkfifo").arg(folder.at("pipe")).status();
    assert!(made.expect("mkfifo starts").success());
    let sweep = ["sweep", "scene.toml", "-o", "sheet.png", "--param", "camera.fov=@pipe"];
    let reason = "cannot read \"pipe\": it is a pipe, and nothing has begun to write into it in 5 s";
    refused(&folder, &sweep, &format!("--param \"camera.fov=@pipe\": {reason}"));
    // What another program prints is read.
    let outcome = after(&folder, "printf '30\\n40\\n' > pipe &", &sweep);
    assert!(outcome.stderr.contains("2 variants in "), "{outcome:?}");
}

/// The header of an image is read before its pixels, as a pipe cannot be.
#[cfg(unix)]
#[test]
fn pipes_are_no_images() {
    let folder = Folder::new();
    let made = folder.run(&["render", "scene.toml", "-o", "a.exr", "--spp", "2"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let pipe = Command::new("mkfifo").arg(folder.at("pipe.exr")).status();
    assert!(pipe.expect("mkfifo starts").success());
    for arguments in [
        &["compare", "pipe.exr", "a.exr"][..],
        &["compare", "a.exr", "pipe.exr"],
        &["merge", "pipe.exr", "a.exr", "-o", "b.exr"],
        &["defocus", "pipe.exr", "--radius", "2", "-o", "b.exr"],
    ] {
        let outcome = folder.run(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:?}");
        assert!(outcome.stderr.contains("it is not a regular file"), "{outcome:?}");
    }
}

/// A variable of the environment is no reason to start more threads than a machine can.
#[test]
fn a_variable_with_too_many_threads_is_limited() {
    let folder = Folder::new();
    let mut program = folder.program(&["render", "scene.toml", "--device", "cpu", "-o", "a.png"]);
    let outcome: Outcome =
        program.env("RAYON_NUM_THREADS", "100000").output().expect("the program starts").into();
    let warning = "warning: RAYON_NUM_THREADS is 100000; 1024 threads are the most, and are used\n";
    assert!(outcome.stderr.starts_with(warning), "{outcome:?}");
    assert!(outcome.stderr.contains("CPU, 1024 threads"), "{outcome:?}");
    assert_eq!(outcome.code, Some(0));
    let arguments = ["render", "scene.toml", "--threads", "1025", "-o", "b.png"];
    let outcome = folder.run(&arguments);
    assert!(outcome.stderr.contains("expected a whole number from 1 to 1024"), "{outcome:?}");
}
