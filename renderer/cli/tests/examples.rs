//! The examples: their sequential twins against closed forms and whole numbers, their checks against deliberate mistakes,
//! and, where there is a GPU, their kernels against the twins.

#![expect(clippy::duplicate_mod, reason = "each example is a program of its own")]

use clap::{CommandFactory, Parser};

macro_rules! examples {
    ($($name:ident = $path:literal),*) => { $(
        #[path = $path]
        #[expect(dead_code, reason = "its main function parses the command line")]
        mod $name;
    )* };
}
examples!(
    circles = "../../gpu/examples/circles/main.rs",
    matmul = "../../gpu/examples/matmul.rs",
    reduction_ladder = "../../gpu/examples/reduction_ladder.rs",
    saxpy = "../../gpu/examples/saxpy.rs",
    stencil = "../../gpu/examples/stencil.rs"
);

/// `torrance info` shows kernels as they are launched here.
#[test]
fn threads_of_blocks_are_those_that_the_program_shows() {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_torrance"));
    let outcome = program.args(["info", "--kernels=sm_90", "--json"]).output().unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&outcome.stdout).unwrap();
    let kernels = shown["tables"][0]["kernels"].as_array().unwrap();
    let threads = |prefix: &str| -> Vec<_> {
        let named = |k: &&serde_json::Value| k["name"].as_str().unwrap().starts_with(prefix);
        kernels.iter().filter(named).map(|k| k["block"].as_u64().unwrap()).collect()
    };
    assert_eq!(threads("circles_bin"), [u64::from(circles::kernel::BIN_BLOCK)]);
    assert_eq!(threads("circles_draw"), [u64::from(circles::kernel::DRAW_BLOCK)]);
    assert_eq!(threads("heat_"), [u64::from(stencil::kernel::BLOCK); 3]);
    assert_eq!(threads("matmul_"), [u64::from(matmul::kernel::THREADS); 3]);
    assert_eq!(threads("saxpy"), [u64::from(saxpy::BLOCK); 2]);
    assert_eq!(threads("sum_"), [u64::from(reduction_ladder::kernel::BLOCK); 7]);
}

/// The value of options, as on the command line.
fn options<O: Parser>(words: &str) -> O {
    O::try_parse_from(["example"].into_iter().chain(words.split_whitespace())).unwrap()
}

#[test]
fn command_lines_are_consistent_and_have_help() {
    for command in [
        circles::Options::command(),
        matmul::Options::command(),
        reduction_ladder::Options::command(),
        saxpy::Options::command(),
        stencil::Options::command(),
    ] {
        command.clone().debug_assert();
        let help = command.clone().render_help().to_string();
        assert!(help.contains("Exit codes:"), "{help}");
        let stopped = command.try_get_matches_from(["example", "--help"]).unwrap_err();
        assert_eq!(stopped.kind(), clap::error::ErrorKind::DisplayHelp);
    }
    assert!(saxpy::Options::try_parse_from(["saxpy", "-n", "-1"]).is_err());
    assert!(circles::Options::try_parse_from(["circles", "rgb", "--all"]).is_err());
    assert!(circles::Options::try_parse_from(["circles", "--width", "0"]).is_err());
}

#[test]
fn exit_codes_tell_what_was_found() {
    let code = |found: Result<bool, &str>| saxpy::common::code(found);
    assert_eq!([Ok(true), Ok(false), Err("no memory")].map(code), [0, 1, 2]);
}

/// Runs another test of this program, in a process of its own with such a driver. What it says if it fails.
fn fails_with_driver(test: &str, library: &str) -> Option<String> {
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    let outcome = again.args(["--exact", test]).env("TORRANCE_LIBCUDA", library).output().unwrap();
    let said = String::from_utf8_lossy(&outcome.stdout).into_owned();
    assert!(said.contains("running 1 test"), "{said}");
    (!outcome.status.success()).then_some(said)
}

#[test]
fn a_gpu_that_fails_is_told_from_none() {
    for test in [
        "saxpy_is_right_for_any_length",
        "matmul_is_right_for_any_size",
        "heat_spreads_as_its_closed_form_says",
        "sums_are_right_for_any_length",
        "images::every_scene_is_right_at_any_size",
    ] {
        assert_eq!(fails_with_driver(test, ""), None);
        let failure = fails_with_driver(test, "/nonexistent.so").unwrap();
        assert!(failure.contains("names /nonexistent.so, which was not found"), "{failure}");
    }
}

#[test]
fn saxpy_is_right_for_any_length() {
    for n in [0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 100_003] {
        assert_eq!(saxpy::run(&options(&format!("-n {n} -a 999"))), Ok(true), "{n}");
    }
    let right: Vec<f32> = (0..2000).map(|i| (3 * (i % 1009) + i % 31) as f32).collect();
    assert_eq!(saxpy::mistake(3, &right), None);
    assert_eq!(saxpy::mistake(4, &right), Some(1));
    let mut wrong = right;
    wrong[1999] += 1.0;
    assert_eq!(saxpy::mistake(3, &wrong), Some(1999));
}

#[test]
fn matmul_is_right_for_any_size() {
    let sizes = [
        (0, 3, 5),
        (3, 0, 5),
        (3, 5, 0),
        (1, 1, 1),
        (16, 16, 16),
        (17, 15, 33),
        (128, 8, 128),
        (129, 9, 127),
        (300, 37, 201),
        (64, 500, 4),
    ];
    for (m, k, n) in sizes {
        assert_eq!(matmul::run(&options(&format!("-m {m} -k {k} -n {n}"))), Ok(true), "{m} {k} {n}");
    }
}

#[test]
fn matmul_finds_a_wrong_element() {
    let options: matmul::Options = options("-m 21 -k 13 -n 34");
    let (mut a, mut b) = (matmul::matrix(21, 13, 1), matmul::matrix(13, 34, 2));
    let mut c = vec![0.0; 21 * 34];
    matmul::product(&options, &mut a, &mut b, &mut c);
    // By the definition, in whole numbers.
    for (at, found) in c.iter().enumerate() {
        let (i, j) = (at / 34, at % 34);
        let sum: i64 = (0..13).map(|l| a[i * 13 + l] as i64 * b[l * 34 + j] as i64).sum();
        assert_eq!(*found as i64, sum, "row {i}, column {j}");
    }
    assert!(matmul::is_product(&options, [&a, &b, &c]));
    for at in [0, 333, 713] {
        c[at] += 1.0;
        assert!(!matmul::is_product(&options, [&a, &b, &c]), "element {at}");
        c[at] -= 1.0;
    }
}

#[test]
fn heat_spreads_as_its_closed_form_says() {
    for (width, height) in [(1, 1), (1, 50), (50, 1), (63, 17), (56, 56), (57, 113), (200, 150)] {
        let words = format!("--width {width} --height {height} --rounds 5");
        assert_eq!(stencil::run(&options(&words)), Ok(true), "{words}");
    }
}

#[test]
fn heat_finds_wrong_borders_and_steps() {
    let options: stencil::Options = options("--width 40 --height 30");
    let start: Vec<f32> = stencil::plate(&options, 0).into_iter().map(|t| t as f32).collect();
    let right = stencil::by_twin(&options, start.clone(), 8);
    assert!(stencil::error(&right, &stencil::plate(&options, 8)) <= stencil::tolerance(8));
    assert!(stencil::error(&right, &stencil::plate(&options, 9)) > stencil::tolerance(9));
    // A border that is always what it was.
    let mut wrong = right;
    wrong[..40].copy_from_slice(&start[..40]);
    assert!(stencil::error(&wrong, &stencil::plate(&options, 8)) > stencil::tolerance(8));
}

#[test]
fn sums_are_right_for_any_length() {
    for n in
        [0, 1, 2, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 65_535, 65_537, (1 << 20) + 1]
    {
        assert_eq!(reduction_ladder::run(&options(&format!("-n {n}"))), Ok(true), "{n}");
    }
    let mut numbers = reduction_ladder::numbers(1000);
    assert_eq!(reduction_ladder::sum(&mut numbers), 499_500);
    assert_eq!(reduction_ladder::closed_form(1000), 499_500);
    numbers[17] = numbers[18];
    assert_ne!(reduction_ladder::sum(&mut numbers), reduction_ladder::closed_form(1000));
}

mod images {
    use super::circles::kernel::{Circle, TILE, twin};
    use super::circles::scenes::{Name, Scene};
    use super::circles::*;
    use super::options;
    use clap::{Parser, ValueEnum};
    use primitives::Ptr;

    #[test]
    fn every_scene_is_right_at_any_size() {
        assert_eq!(run(&options("--all --width 200 --height 150")), Ok(true));
        for (width, height) in [(1, 1), (16, 16), (17, 129), (128, 128), (300, 5)] {
            let words = format!("rand10k --width {width} --height {height}");
            assert_eq!(run(&options(&words)), Ok(true), "{words}");
        }
    }

    #[test]
    fn images_are_written_where_that_is_possible() {
        let folder = tempfile::tempdir().unwrap();
        let parsed = |file: &str| {
            let path = folder.path().join(file);
            Options::try_parse_from([
                "circles",
                "--width",
                "9",
                "--height",
                "5",
                "-o",
                path.to_str().unwrap(),
            ])
        };
        for (file, reason) in [
            ("a.bmp", "expected a file .png"),
            ("a", "expected a file .png"),
            ("nowhere/a.png", "does not exist; create it first"),
        ] {
            let refused = parsed(file).unwrap_err().to_string();
            assert!(refused.contains(reason), "{refused}");
        }
        assert_eq!(run(&parsed("a.PNG").unwrap()), Ok(true));
        let (image, _) = Scene::new(Name::Rgb, 9, 5).on_cpu(&options("--width 9 --height 5"));
        let read = image::open(folder.path().join("a.PNG")).unwrap().into_rgb8();
        assert_eq!(read.dimensions(), (9, 5));
        for (found, [r, g, b, _]) in read.pixels().zip(image) {
            assert_eq!(found.0, [r, g, b].map(|c| (c * 255.0).round() as u8));
        }
    }

    #[test]
    fn bands_of_rows_are_the_rows_of_the_whole() {
        let options: Options = options("snowsingle --width 90 --height 75");
        let scene = Scene::new(Name::Snowsingle, 90, 75);
        let mut whole: Image = vec![[0.0; 4]; 90 * 75];
        let image = Ptr::new(whole.as_mut_ptr());
        let circles = Ptr::new(scene.circles.as_ptr().cast_mut());
        let args = kernel::CirclesArgs { circles, image, ..scene.args(&options) };
        // SAFETY: there are that many circles and that many pixels.
        let painted = unsafe { twin(&args, 0, 75) };
        assert!(painted > 10_000);
        assert_eq!(scene.on_cpu(&options), (whole, painted));
    }

    #[test]
    fn order_and_each_circle_matter() {
        for name in Name::value_variants() {
            let options: Options = options("--width 64 --height 64");
            let mut scene = Scene::new(*name, 64, 64);
            let (image, _) = scene.on_cpu(&options);
            assert!(identical(&image, &image.clone()) && scene.is_right(&options, &image), "{name:?}");
            let mut off = image.clone();
            off.iter_mut().for_each(|pixel| pixel[2] += 1e-4);
            assert!(!scene.is_right(&options, &off), "{name:?}");
            scene.circles.reverse();
            assert!(!identical(&image, &scene.on_cpu(&options).0), "{name:?}");
            scene.circles.reverse();
            scene.circles.pop();
            assert!(!identical(&image, &scene.on_cpu(&options).0), "{name:?}");
        }
    }

    /// Squares that are said to be free of a circle are, and few are said not to be that are.
    #[test]
    fn squares_are_asked_conservatively_and_tightly() {
        const SIDE: u32 = 96;
        let options: Options = options("--width 96 --height 96");
        let (mut asked, mut needless) = (0, 0);
        for circle in Scene::new(Name::Rand10k, SIDE, SIDE).circles.into_iter().take(2000) {
            let circles = vec![Circle { opacity: 1.0, color: [0.0; 3], ..circle }];
            let (image, _) = Scene { circles, background: [1.0; 3] }.on_cpu(&options);
            for (left, top) in
                (0..SIDE / TILE).flat_map(|i| (0..SIDE / TILE).map(move |j| (i * TILE, j * TILE)))
            {
                let mut rows =
                    (top..top + TILE).map(|y| &image[(y * SIDE + left) as usize..][..TILE as usize]);
                let is_painted = rows.any(|row| row.iter().any(|pixel| pixel[0] != 1.0));
                let touches = circle.touches(left, top, TILE);
                assert!(touches || !is_painted, "{circle:?} at {left}, {top}");
                asked += u32::from(touches);
                needless += u32::from(touches && !is_painted);
            }
        }
        assert!(asked > 2000 && needless * 20 < asked, "{needless} of {asked}");
    }
}
