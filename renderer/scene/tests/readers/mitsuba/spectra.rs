//! Spectra by wavelength, and their colours.

use std::fs;
use std::path::Path;

use glam::{DMat3, DVec3, Vec3};
use torrance_scene::{Description, Environment, Error, MaterialKind, Problem, Texture};

use super::{load_in, scene};

/// Lists, and what Mitsuba 3.9.1 makes of each in `scalar_rgb`: `reflectance.value` of a `diffuse`, `eta.value` of a
/// `conductor`, and `radiance.value` of a `constant`.
#[rustfmt::skip]
const LISTS: [(&str, [[f64; 3]; 3]); 27] = [
    ("400:0.1, 500:0.2, 600:0.7, 700:0.9", [[0.856_079, 0.404_085, 0.112_402], [0.856_079, 0.404_085, 0.112_402], [0.98816, 0.387_351, 0.095_602_1]]),
    ("400:0.1 700:0.9", [[0.742_853, 0.48114, 0.208_325], [0.742_853, 0.48114, 0.208_325], [0.872_215, 0.458_728, 0.181_301]]),
    ("360:1, 830:1", [[0.998_985, 0.998_874, 0.998_802], [0.998_985, 0.998_874, 0.998_802], [1.20488, 0.948_228, 0.909_267]]),
    ("300:0.5,900:0.5", [[0.499_493, 0.499_437, 0.499_401], [0.499_493, 0.499_437, 0.499_401], [0.602_442, 0.474_114, 0.454_633]]),
    ("400:0.3, 700:0.3", [[0.298_603, 0.299_927, 0.298_473], [0.298_603, 0.299_927, 0.298_473], [0.359_908, 0.284_856, 0.271_033]]),
    ("380:0.05 450:0.1 460:0.35 480:0.35 520:0.12 780:0.04", [[0.048_886_5, 0.138_822, 0.214_983], [0.048_886_5, 0.138_822, 0.214_983], [0.071_575_4, 0.130_837, 0.188_455]]),
    ("400:0.04,450:0.05,500:0.4,550:0.45,600:0.1,650:0.06,700:0.05", [[0.003_637_79, 0.420_427, 0.094_839_6], [0.003_637_79, 0.420_427, 0.094_839_6], [0.034_579_2, 0.399_804, 0.080_844_8]]),
    ("400:0.04,560:0.05,600:0.5,620:0.65,700:0.7", [[0.681_133, 0.068_285_9, 0.027_333_7], [0.681_133, 0.068_285_9, 0.027_333_7], [0.778_602, 0.063_867_2, 0.021_754_8]]),
    ("360:0,440.5:0.8,441:0,830:0", [[0.029_737_3, 0.0, 0.214_484], [0.029_737_3, 0.0, 0.214_484], [0.031_482_6, 0.0, 0.226_003]]),
    ("500:0.9, 600:0.9", [[0.188_823, 0.921_297, 0.0], [0.188_823, 0.921_297, 0.0], [0.245_759, 0.889_121, 0.0]]),
    ("530:1, 531:1", [[0.0, 0.013_988_7, 0.0], [0.0, 0.013_988_7, 0.0], [0.0, 0.012_881_1, 0.0]]),
    ("589:0.5,589.59:1,590:0.25", [[0.013_526_8, 0.002_815_73, 0.0], [0.013_526_8, 0.002_815_73, 0.0], [0.015_029_2, 0.003_128_32, 0.0]]),
    ("640:1, 680:1", [[0.156_606, 0.0, 0.0], [0.156_606, 0.0, 0.0], [0.191_014, 0.0, 0.0]]),
    ("420:1, 460:1", [[0.063_373_5, 0.0, 0.648_943], [0.063_373_5, 0.0, 0.648_943], [0.061_918_9, 0.0, 0.610_035]]),
    ("100:0.2, 400:0.6, 1500:0.1", [[0.489_302, 0.534_404, 0.580_697], [0.489_302, 0.534_404, 0.580_697], [0.594_094, 0.507_004, 0.529_999]]),
    ("200:0.9, 300:0.9, 361:0.8", [[6.06256e-7, 0.0, 3.48569e-6], [6.06256e-7, 0.0, 3.48569e-6], [1.27953e-6, 0.0, 7.35665e-6]]),
    ("829:0.5, 2000:0.9", [[1.40249e-8, 0.0, 0.0], [1.40249e-8, 0.0, 0.0], [2.30736e-8, 0.0, 0.0]]),
    ("-400:1,700:1", [[0.995_991, 0.999_199, 0.998_822], [0.995_991, 0.999_199, 0.998_822], [1.20067, 0.948_686, 0.909_295]]),
    ("400:2, 700:3", [[1.0, 1.0, 1.0], [2.79483, 2.47597, 2.12586], [3.33969, 2.35376, 1.92058]]),
    ("400:1.28 450:1.30 500:1.21 550:1.03 600:0.24 650:0.21 700:0.214", [[0.004_742_91, 0.995_377, 1.0], [0.004_742_91, 0.995_377, 1.32857], [0.093_473_9, 0.939_939, 1.21487]]),
    ("400:2.2,500:2.6,600:3.1,700:4.4", [[1.0, 1.0, 1.0], [3.46706, 2.79766, 2.34309], [4.13218, 2.65691, 2.11447]]),
    ("360:1e-6,830:2e-6", [[1.59928e-6, 1.3878e-6, 1.17057e-6], [1.59928e-6, 1.3878e-6, 1.17057e-6], [1.91043e-6, 1.31888e-6, 1.05911e-6]]),
    ("400:1e6, 500:3e6, 700:2e6", [[1.0, 1.0, 1.0], [2.20639e6, 2.88082e6, 1.98981e6], [2.71135e6, 2.73873e6, 1.77094e6]]),
    ("555:0,556:1000,557:0", [[1.0, 1.0, 0.0], [1.6665, 13.0396, 0.0], [1.62384, 12.7029, 0.0]]),
    ("400:0.5 400.001:0.9 700:0.9", [[0.895_808, 0.899_781, 0.895_418], [0.895_808, 0.899_781, 0.895_418], [1.07972, 0.854_568, 0.813_099]]),
    ("100:0.5, 300:0.5", [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    ("360:0,830:0", [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
];

/// A property that is a list.
fn spectrum(name: &str, list: &str) -> String {
    format!("<spectrum name=\"{name}\" value=\"{list}\"/>")
}

/// A scene with a sphere and an environment.
fn read_in(folder: &Path, bsdf: &str, radiance: &str) -> Result<(Description, Vec<Problem>), Error> {
    let text = format!(
        "<scene version=\"3.0.0\"><sensor type=\"perspective\"><float name=\"fov\" value=\"40\"/></sensor>\
         <emitter type=\"constant\">{radiance}</emitter><shape type=\"sphere\">{bsdf}</shape></scene>"
    );
    load_in(folder, &text)
}

fn reflectance_in(folder: &Path, property: &str) -> Vec3 {
    let (d, _) = read_in(folder, &format!("<bsdf type=\"diffuse\">{property}</bsdf>"), "").unwrap();
    let MaterialKind::Diffuse(diffuse) = d.materials[0].kind else { panic!() };
    diffuse.reflectance.value
}

fn reflectance(property: &str) -> Vec3 {
    reflectance_in(Path::new("."), property)
}

fn radiance(property: &str) -> Vec3 {
    let (d, _) = read_in(Path::new("."), "", property).unwrap();
    let Some(Environment::Constant(radiance)) = d.environment else { panic!() };
    radiance
}

fn eta(property: &str) -> Vec3 {
    let (d, _) = read_in(Path::new("."), &format!("<bsdf type=\"conductor\">{property}</bsdf>"), "").unwrap();
    let MaterialKind::Conductor(conductor) = d.materials[0].kind else { panic!() };
    conductor.index().0
}

/// Largest difference of channels, relative to the largest channel.
fn off(found: Vec3, expected: [f64; 3]) -> f64 {
    let expected = DVec3::from(expected);
    (found.as_dvec3() - expected).abs().max_element() / expected.max_element().max(1e-12)
}

#[test]
fn lists_have_the_colours_that_mitsuba_gives_them() {
    for (list, expected) in LISTS {
        let found = [
            reflectance(&spectrum("reflectance", list)),
            if expected[1][0] < 1e3 {
                eta(&spectrum("eta", list))
            } else {
                DVec3::from(expected[1]).as_vec3()
            },
            radiance(&spectrum("radiance", list)),
        ];
        for (found, expected) in found.into_iter().zip(expected) {
            assert!(off(found, expected) < 1e-4, "{list}: {found}, not {expected:?}");
        }
    }
}

/// Control: each column is rejected where another should be, so that neither daylight nor bounds can be mixed up.
#[test]
fn control_light_is_not_what_reflects_it() {
    for (column, found) in [(0, radiance as fn(&str) -> Vec3), (2, reflectance)] {
        let name = if column == 0 { "radiance" } else { "reflectance" };
        let differ = |(list, expected): &&(&str, [[f64; 3]; 3])| {
            expected[0] != [0.0; 3] && off(found(&spectrum(name, list)), expected[column]) > 1e-2
        };
        let count = LISTS.iter().filter(differ).count();
        assert_eq!(count, LISTS.len() - 2, "{name}");
    }
    let more = "400:2, 700:3";
    assert!(off(eta(&spectrum("eta", more)), [1.0; 3]) > 1.0, "an index of refraction may be more than 1");
}

/// A list that is the same everywhere is what one number is, but for what is lost at the ends of Mitsuba's sum.
#[test]
fn constant_lists_are_nearly_constants() {
    for value in [0.25, 0.9] {
        let (one, list) = (value.to_string(), format!("100:{value}, 1000:{value}"));
        for (name, read) in [("reflectance", reflectance as fn(&str) -> Vec3), ("radiance", radiance)] {
            let (one, list) = (read(&spectrum(name, &one)), read(&spectrum(name, &list)));
            assert!(off(list, one.as_dvec3().to_array()) < 1.3e-3, "{name}: {list}, not {one}");
        }
        let part = format!("500:{value}, 1000:{value}");
        let (part, one) = (reflectance(&spectrum("reflectance", &part)), DVec3::splat(value));
        assert!(off(part, one.to_array()) > 0.1, "control: a part of them is not");
    }
}

/// `radiance.value` of Mitsuba 3.9.1's `constant` with `<spectrum value="2"/>`, and `reflectance` of its `diffuse`.
#[test]
fn light_of_equal_energy_is_reddish() {
    assert!(off(radiance(&spectrum("radiance", " 2 ")), [2.409_59, 1.896_58, 1.817_83]) < 1e-5);
    assert_eq!(reflectance(&spectrum("reflectance", "0.5")), Vec3::splat(0.5));
}

fn plugin(kind: &str, name: &str, properties: &[(&str, &str, &str)]) -> String {
    let properties: String = properties
        .iter()
        .map(|(tag, name, value)| format!("<{tag} name=\"{name}\" value=\"{value}\"/>"))
        .collect();
    format!("<spectrum type=\"{kind}\" name=\"{name}\">{properties}</spectrum>")
}

const VALUES: (&str, &str, &str) = ("string", "values", "0.1, 0.2 0.7,0.9");

#[test]
fn plugins_are_what_lists_are() {
    let regular = |name| {
        plugin(
            "regular",
            name,
            &[("float", "wavelength_min", "400"), ("integer", "wavelength_max", "700"), VALUES],
        )
    };
    let irregular =
        |name| plugin("irregular", name, &[("string", "wavelengths", "400 500,600, 700"), VALUES]);
    let list = |name| spectrum(name, LISTS[0].0);
    for (name, read) in
        [("reflectance", reflectance as fn(&str) -> Vec3), ("radiance", radiance), ("eta", eta)]
    {
        let [regular, irregular, list] = [regular(name), irregular(name), list(name)].map(|s| read(&s));
        assert!(off(regular, list.as_dvec3().to_array()) < 1e-6 && irregular == list, "{name}");
    }
    let moved = plugin("irregular", "eta", &[("string", "wavelengths", "400 550,600, 700"), VALUES]);
    assert!(off(eta(&moved), LISTS[0].1[1]) > 0.01, "control");
}

/// Within a texture of light a list filters daylight, as in Mitsuba 3.9.1, where one number is that.
#[test]
fn lists_in_textures_of_light_filter_daylight() {
    let texture = format!(
        "<texture type=\"checkerboard\" name=\"radiance\">{}{}</texture>",
        spectrum("color0", LISTS[0].0),
        spectrum("color1", "2")
    );
    let d = scene(&format!("<shape type=\"sphere\"><emitter type=\"area\">{texture}</emitter></shape>"));
    let [Texture::Checker { colors, .. }] = d.textures.as_slice() else { panic!() };
    assert!(off(colors[0].value, LISTS[0].1[0]) < 1e-4 && colors[1].value == Vec3::splat(2.0));
}

fn blackbody(temperature: f64) -> Vec3 {
    let temperature = temperature.to_string();
    radiance(&plugin("blackbody", "radiance", &[("float", "temperature", &temperature)]))
}

/// Against the spectra that Mitsuba 3.9.1 has in `scalar_spectral`, looked up every 0.01 nm and summed with its observer.
/// Its variants of three channels have none.
#[test]
fn black_bodies_are_as_bright_as_in_spectral_variants() {
    for (temperature, expected) in [
        (2856.0, [499.719, 223.783, 63.2584]),
        (5000.0, [15278.3, 12094.7, 9602.14]),
        (6504.0, [44058.8, 41554.0, 43762.0]),
        (15000.0, [384_414.0, 485_974.0, 835_336.0]),
    ] {
        let found = blackbody(temperature);
        assert!(off(found, expected) < 1.2e-3, "{temperature} K: {found}, not {expected:?}");
    }
    let some = [
        ("float", "temperature", "4000"),
        ("float", "wavelength_min", "450"),
        ("float", "wavelength_max", "650"),
    ];
    let some = radiance(&plugin("blackbody", "radiance", &some));
    assert!(off(some, [4289.12, 3372.76, 887.840]) < 3e-3, "{some}");
}

/// Where black bodies are in the chromaticity diagram: Kim et al. 2002, "Design of advanced color temperature control
/// system for HDTV applications", a polynomial; and illuminant A of CIE 15:2018.
#[test]
fn black_bodies_have_the_colours_that_are_published() {
    // Of ITU-R BT.709, as Mitsuba rounds it.
    let rgb_from_xyz = DMat3::from_cols(
        DVec3::new(3.240_479, -0.969_256, 0.055_648),
        DVec3::new(-1.537_15, 1.875_991, -0.204_043),
        DVec3::new(-0.498_535, 0.041_556, 1.057_311),
    );
    let chromaticity = |rgb: Vec3| {
        let xyz = rgb_from_xyz.inverse() * rgb.as_dvec3();
        (xyz / xyz.element_sum()).truncate()
    };
    let polynomial = |c: [f64; 4], x: f64| c.into_iter().fold(0.0, |sum, c| sum * x + c);
    let published = |temperature: f64| {
        let t = 1e3 / temperature;
        let (x, y) = match temperature <= 4000.0 {
            true => (
                [-0.266_123_9, -0.234_358_9, 0.877_695_6, 0.179_91],
                [-0.954_947_6, -1.374_185_93, 2.091_370_15, -0.167_488_67],
            ),
            false => (
                [-3.025_846_9, 2.107_037_9, 0.222_634_7, 0.240_39],
                [3.081_758, -5.873_386_7, 3.751_129_97, -0.370_014_83],
            ),
        };
        let x = polynomial(x, t);
        glam::DVec2::new(x, polynomial(y, x))
    };
    for temperature in [2500.0, 3000.0, 4000.0, 5000.0, 6500.0, 10000.0, 15000.0, 25000.0] {
        let off = |expected: f64| (chromaticity(blackbody(temperature)) - published(expected)).length();
        assert!(off(temperature) < 6e-4, "{temperature} K: {}", off(temperature));
        assert!(off(1.05 * temperature) > 1e-3, "control: {temperature} K");
    }
    let a = chromaticity(blackbody(2855.54));
    assert!((a - glam::DVec2::new(0.447_58, 0.407_45)).length() < 5e-5, "{a}");
}

#[test]
fn files_are_lists() {
    let folder = tempfile::tempdir().unwrap();
    let read = |text: &str| {
        fs::write(folder.path().join("x.spd"), text).unwrap();
        let bsdf = "<bsdf type=\"diffuse\"><spectrum name=\"reflectance\" filename=\"x.spd\"/></bsdf>";
        read_in(folder.path(), bsdf, "").map(|(d, warnings)| {
            let MaterialKind::Diffuse(diffuse) = d.materials[0].kind else { panic!() };
            (diffuse.reflectance.value, warnings)
        })
    };
    let expected = reflectance(&spectrum("reflectance", LISTS[0].0));
    for text in [
        "# nm and value\n400 0.1\n500 0.2\n600 0.7\n700 0.9",
        "\u{feff}  400\t0.1\r\n\r\n 500 0.2 # peak\r\n600 0.7\r\n  # end\n7e2 .9\r\n",
    ] {
        assert_eq!(read(text).unwrap(), (expected, Vec::new()), "{text}");
    }
    let shown = folder.path().join("x.spd").display().to_string();
    let (color, warnings) = read("400 0.1\n500 0.2 3 4\n600 0.7 5\n700 0.9\n").unwrap();
    let messages: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    let excess = format!("{shown}:2:1: what follows the first two numbers of a line is passed over");
    assert_eq!((color, messages), (expected, vec![excess]));
    for (text, expected) in [
        ("400 0.1\n500 x\n", ":2:1: \"x\" is not a finite number"),
        ("400 0.1\n\n500\n", ":3:1: a wavelength without a value; a line has both, as in \"400 0.1\""),
        ("400 0.1\n400 0.1\n", ":2:1: the wavelength 400 follows 400; wavelengths have to increase"),
        ("400 0.1\n500 -0.1\n", ":2:1: -0.1, at the wavelength 500, must be between 0 and 1e30"),
        ("400 0.1 # one", ":1:14: a spectrum has at least two wavelengths, as in \"400:0.1, 700:0.9\""),
        ("", ":1:1: a spectrum has at least two wavelengths, as in \"400:0.1, 700:0.9\""),
    ] {
        let error = read(text).map(|_| ()).unwrap_err();
        assert_eq!(error.problems[0].to_string(), format!("{shown}{expected}"), "{text:?}");
        assert_eq!(error.problems.len(), 1, "{error}");
    }
    fs::write(folder.path().join("x.spd"), b"400 \xff").unwrap();
    let bsdf = "<bsdf type=\"diffuse\"><spectrum name=\"reflectance\" filename=\"x.spd\"/></bsdf>";
    let error = read_in(folder.path(), bsdf, "").map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("x.spd:1:5: not UTF-8"), "{error}");
}

/// A file is read and its errors are reported once, however often it is referred to.
#[test]
fn files_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.spd"), "400 1").unwrap();
    let property = |name: &str| format!("<spectrum name=\"{name}\" filename=\"x.spd\"/>");
    let bsdf = format!("<bsdf type=\"conductor\">{}{}</bsdf>", property("eta"), property("k"));
    let error = read_in(folder.path(), &bsdf, &property("radiance")).map(|_| ()).unwrap_err();
    assert_eq!(error.problems.len(), 1, "{error}");
}

#[test]
fn a_million_wavelengths_are_enough() {
    let list = |count: u32| {
        let list: Vec<_> = (0..count).map(|i| format!("{}:0.5", f64::from(i + 300_000) * 1e-3)).collect();
        read_in(
            Path::new("."),
            &format!("<bsdf type=\"diffuse\">{}</bsdf>", spectrum("reflectance", &list.join(","))),
            "",
        )
    };
    assert!(list(1_000_000).is_ok());
    let error = list(1_000_001).map(|_| ()).unwrap_err();
    assert!(error.to_string().ends_with("a spectrum has at most 1000000 wavelengths"), "{error}");
}

/// Warnings that Mitsuba gives as well, and others that it does not give.
#[test]
fn colours_that_cannot_be_are_told() {
    let warnings = |bsdf: &str, property: &str, emitter: &str| {
        let (_, warnings) =
            read_in(Path::new("."), &format!("<bsdf type=\"{bsdf}\">{property}</bsdf>"), emitter).unwrap();
        warnings.into_iter().map(|p| p.message).collect::<Vec<_>>()
    };
    let saturated = spectrum("reflectance", "500:0.9, 600:0.9");
    assert_eq!(
        warnings("diffuse", &saturated, ""),
        [
            "\"reflectance\" of bsdf \"diffuse\" has the colour 0.1888 0.9213 -0.0766 in linear sRGB; all channels are brought to between 0 and 1"
        ]
    );
    assert_eq!(
        warnings("diffuse", "", &spectrum("radiance", "640:1, 680:1")),
        [
            "\"radiance\" of emitter \"constant\" has the colour 0.1910 -0.0188 -0.0015 in linear sRGB; what is negative becomes 0"
        ]
    );
    let unseen =
        "is black: it has nothing at the wavelengths that are looked at, every 0.47 nm from 360 nm to 830 nm";
    // Micrometres, and a line between two of those wavelengths.
    for list in ["0.4:0.5, 0.7:0.5", "500.01:0.9, 500.02:0.9"] {
        let found = warnings("diffuse", &spectrum("reflectance", list), "");
        assert_eq!(found, [format!("\"reflectance\" of bsdf \"diffuse\" {unseen}")]);
    }
    let cold =
        plugin("blackbody", "radiance", &[("float", "temperature", "2"), ("float", "wavelength_max", "0.5")]);
    assert_eq!(warnings("diffuse", "", &cold), [format!("texture \"blackbody\" {unseen}")]);
    assert!(warnings("diffuse", &spectrum("reflectance", "360:0,830:0"), "").is_empty());
}
