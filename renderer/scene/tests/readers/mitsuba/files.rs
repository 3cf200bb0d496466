//! Included files, parameters, names, and warnings of what nothing uses.

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use glam::Vec3;
use torrance_scene::{Description, Error, Geometry, MaterialKind, Options, Problem, load_with};

use super::{around, load_in, load_text};

/// As [`load_in`], with values for parameters.
fn load_with_defines(folder: &Path, text: &str, defines: &[(String, String)]) -> Result<Description, Error> {
    let path = folder.join("s.xml");
    std::fs::write(&path, text).unwrap();
    let options = Options { defines: defines.to_vec(), ..Options::default() };
    load_with(&path, &options).map(|loaded| loaded.description)
}

/// A `.serialized` file of two meshes: a quadrilateral in single precision, and in double with its last corner raised.
fn serialized() -> Vec<u8> {
    const SINGLE: u32 = 0x1000;
    const DOUBLE: u32 = 0x2000;
    let (mut file, mut offsets) = (Vec::new(), Vec::new());
    for (precision, height) in [(SINGLE, 0.0), (DOUBLE, 1.0_f64)] {
        let mut mesh = precision.to_le_bytes().to_vec();
        mesh.extend(b"name\0");
        mesh.extend([4_u64, 2].iter().flat_map(|count| count.to_le_bytes()));
        for x in [-1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0, 1.0, 0.0, -1.0, 1.0, height] {
            match precision {
                SINGLE => mesh.extend((x as f32).to_le_bytes()),
                _ => mesh.extend(x.to_le_bytes()),
            }
        }
        mesh.extend([0_u32, 1, 2, 0, 2, 3].iter().flat_map(|i| i.to_le_bytes()));
        offsets.extend((file.len() as u64).to_le_bytes());
        // The format's number and its version.
        file.extend([0x041c_u16, 4].iter().flat_map(|x| x.to_le_bytes()));
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&mesh).unwrap();
        file.extend(encoder.finish().unwrap());
    }
    file.extend(offsets);
    file.extend(2_u32.to_le_bytes());
    file
}

#[test]
fn files_parameters_and_names() {
    let folder = tempfile::tempdir().unwrap();
    let sub = folder.path().join("sub");
    std::fs::create_dir(&sub).unwrap();
    std::fs::write(sub.join("m.serialized"), serialized()).unwrap();
    std::fs::write(
        sub.join("part.xml"),
        "<scene version=\"0.5.0\"><default name=\"r\" value=\"0.9\"/>\
         <bsdf type=\"diffuse\" id=\"red\"><rgb name=\"diffuseReflectance\" value=\"$r, 0, 0\"/></bsdf></scene>",
    )
    .unwrap();
    let text = around(
        "<default name=\"file\" value=\"part\"/><path value=\"sub\"/><include filename=\"sub/$file.xml\"/>\
         <alias id=\"red\" as=\"rouge\"/><shape type=\"serialized\"><string name=\"filename\" value=\"m.serialized\"/>\
         <integer name=\"shape_index\" value=\"1\"/><ref id=\"rouge\"/></shape>",
    );
    for (defines, red) in [(vec![], 0.9), (vec![("r".to_owned(), "0.25".to_owned())], 0.25)] {
        let d = load_with_defines(folder.path(), &text, &defines).unwrap();
        let material = &d.materials[d.shapes[0].material];
        assert_eq!(material.kind, MaterialKind::diffuse(Vec3::new(red, 0.0, 0.0)));
        assert_eq!(material.name, "red");
        let Geometry::Mesh(mesh) = &d.shapes[0].geometry else { panic!() };
        // Normals that are not in the file follow from the faces, each vertex for itself.
        assert!((mesh.normals[3] - Vec3::new(0.408_248, -0.408_248, 0.816_497)).length() < 1e-5);
        assert!((mesh.normals[0] - Vec3::new(0.227, -0.227, 0.947)).length() < 1e-3);
    }
    let error = load_with_defines(folder.path(), &text, &[("q".to_owned(), "1".to_owned())]).unwrap_err();
    let message = error.to_string().replace(&format!("{}/", folder.path().display()), "");
    assert_eq!(message, "s.xml:1:1: the scene has no parameter \"q\"; it has \"file\" or \"r\"");
}

/// Looked for by Mitsuba 3.9.1 beside the file that includes it, then beside those that include that one.
#[test]
fn includes_are_found_near_those_that_name_them() {
    let file = |inner: &str| format!("<scene version=\"3.0.0\">{inner}</scene>");
    let include = |name: &str| file(&format!("<include filename=\"{name}\"/>"));
    let leaf = |red: &str| {
        file(&format!(
            "<bsdf type=\"diffuse\" id=\"m\"><rgb name=\"reflectance\" value=\"{red} 0 0\"/></bsdf>"
        ))
    };
    for (files, red) in [
        (vec![("sub/a.xml", include("b.xml")), ("sub/b.xml", leaf("0.1")), ("b.xml", leaf("0.2"))], 0.1),
        (vec![("sub/a.xml", include("sub/b.xml")), ("sub/b.xml", leaf("0.3"))], 0.3),
        (
            vec![
                ("sub/a.xml", include("deep/b.xml")),
                ("sub/deep/b.xml", include("c.xml")),
                ("sub/c.xml", leaf("0.4")),
            ],
            0.4,
        ),
        (
            vec![
                ("sub/a.xml", file("<path value=\"q\"/><include filename=\"b.xml\"/>")),
                ("q/b.xml", leaf("0.5")),
            ],
            0.5,
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let text = around("<include filename=\"sub/a.xml\"/><shape type=\"sphere\"><ref id=\"m\"/></shape>");
        let (d, _) = load_in(folder.path(), &text).unwrap();
        assert_eq!(d.materials[0].kind, MaterialKind::diffuse(Vec3::new(red, 0.0, 0.0)));
    }
}

/// In Mitsuba 3.9.1 what `-a` appends comes after what `path` says, and before the folder of the scene.
#[test]
fn users_say_where_else_files_are() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let leaf = |red: &str| {
        format!(
            "<scene version=\"3.0.0\"><bsdf type=\"diffuse\" id=\"m\"><rgb name=\"reflectance\" value=\"{red} 0 0\"/>\
             </bsdf></scene>"
        )
    };
    for (name, red) in [("scenes/own", "0.1"), ("a", "0.2"), ("b", "0.3")] {
        std::fs::create_dir_all(at(name)).unwrap();
        std::fs::write(at(name).join("m.xml"), leaf(red)).unwrap();
        std::fs::write(at(name).join("m.serialized"), serialized()).unwrap();
    }
    let text = |path: &str| {
        around(&format!(
            "{path}<include filename=\"m.xml\"/><shape type=\"serialized\"><string name=\"filename\" value=\"m.serialized\"/>\
             <ref id=\"m\"/></shape>"
        ))
    };
    let load = |path: &str, search: &[&str]| {
        let scene = at("scenes/s.xml");
        std::fs::write(&scene, text(path)).unwrap();
        let search = search.iter().map(|name| at(name)).collect();
        load_with(&scene, &Options { search, ..Options::default() }).map(|loaded| {
            let Geometry::Mesh(_) = loaded.description.shapes[0].geometry else { panic!() };
            (loaded.description.materials[0].kind, loaded.files)
        })
    };
    let red = |red: f32| MaterialKind::diffuse(Vec3::new(red, 0.0, 0.0));
    let (found, files) = load("", &["b", "a"]).unwrap();
    assert_eq!(found, red(0.3));
    assert!(files.contains(&at("b/m.serialized").canonicalize().unwrap()), "{files:?}");
    assert_eq!(load("", &["a", "b"]).unwrap().0, red(0.2));
    assert_eq!(load("<path value=\"own\"/>", &["a"]).unwrap().0, red(0.1));
    let message = |search: &[&str]| {
        let message = load("", search).unwrap_err().problems[0].to_string();
        message.replace(&format!("{}/", folder.path().display()), "")
    };
    assert_eq!(
        message(&[]),
        "scenes/s.xml:1:135: cannot read \"scenes/m.xml\": no such file",
        "control: nobody says it"
    );
    assert_eq!(message(&["c"]), "scenes/s.xml: there is no folder \"c\" to look for files in");
    let other = Options { search: vec![at("a")], ..Options::default() };
    let message = load_with(&at("scenes/s.toml"), &other).unwrap_err().to_string();
    assert_eq!(
        message.replace(&format!("{}/", folder.path().display()), ""),
        "scenes/s.toml: there is no search path to append \"a\" to: only Mitsuba scenes have one"
    );
}

/// The warnings of a scene with `inner`.
fn warnings(inner: &str) -> Vec<String> {
    let (_, warnings) = load_text(&around(&format!("\n{inner}"))).unwrap_or_else(|e| panic!("{inner}: {e}"));
    warnings.iter().map(Problem::to_string).collect()
}

/// Mitsuba 3.9.1 passes over it without a word.
#[test]
fn text_between_elements_means_nothing() {
    let found = warnings("<shape type=\"sphere\"/>some text");
    assert_eq!(found, ["s.xml:2:23: text between elements means nothing"]);
}

#[test]
fn what_nothing_uses_is_said() {
    let sphere = "<shape type=\"sphere\"><ref id=\"used\"/></shape><bsdf type=\"mask\" id=\"used\"><bsdf type=\"diffuse\"/></bsdf>\
                  <shape type=\"shapegroup\" id=\"g\"><shape type=\"cube\"><bsdf type=\"null\"/></shape><shape type=\"disk\"/></shape>\
                  <shape type=\"instance\"><ref id=\"g\"/></shape>";
    assert_eq!(warnings(sphere), [""; 0]);
    for (unused, expected) in [
        (
            "<bsdf type=\"foo\" id=\"u\"/>",
            &[
                "s.xml:2:1: bsdf \"u\" is used by nothing, and was not read",
                "s.xml:2:13: unknown bsdf \"foo\"; those that are read are \"diffuse\", \"roughconductor\", \"conductor\", \
                 \"roughdielectric\", \"dielectric\", \"thindielectric\", \"plastic\", \"roughplastic\", \"principled\", \
                 \"twosided\", \"mask\", \"blendbsdf\", \"bumpmap\", \"normalmap\" and 1 more",
            ][..],
        ),
        (
            "<bsdf type=\"diffuse\" id=\"u\"><rgb name=\"reflectanc\" value=\"1\"/></bsdf>",
            &["s.xml:2:1: bsdf \"u\" is used by nothing, and was not read"],
        ),
        (
            "<texture type=\"bitmap\"><string name=\"filename\" value=\"no.png\"/></texture>",
            &["s.xml:2:1: texture \"bitmap\" is used by nothing, and was not read"],
        ),
        (
            "<shape type=\"shapegroup\" id=\"u\"><shape type=\"disk\"/><shape type=\"sdfgrid\"/></shape>",
            &[
                "s.xml:2:1: shape \"u\" is used by nothing, and was not read",
                "s.xml:2:66: shape \"sdfgrid\" is not supported",
            ],
        ),
        ("<emitter type=\"area\"/>", &["s.xml:2:1: emitter \"area\" is used by nothing, and was not read"]),
        ("<film type=\"hdrfilm\"/>", &["s.xml:2:1: film \"hdrfilm\" is used by nothing, and was not read"]),
    ] {
        assert_eq!(warnings(&format!("{unused}{sphere}")), expected);
    }
}

/// Mitsuba 3.9.1 refuses the first, and the others where file names are case-sensitive.
#[test]
fn what_is_meant_is_clear() {
    let text = "<scene version=\"3.0.0\"><sensor type=\"Perspective\"><sampler type=\"independent\">\n\
                <integer name=\"sample_count\" value=\"$spp\"/></sampler><film type=\"hdrFilm\"><integer name=\"width\" value=\"$spp\"/>\
                </film></sensor><default name=\"spp\" value=\"256\"/><emitter type=\"CONSTANT\"/><shape type=\"Sphere\" id=\"\\$5\"/>\
                </scene>";
    let (d, warnings) = load_text(text).unwrap();
    assert_eq!((d.render.spp, d.render.width, d.shapes[0].name.as_str()), (256, 256, "$5"));
    assert_eq!(
        warnings.iter().map(Problem::to_string).collect::<Vec<_>>(),
        ["s.xml:2:37: parameter \"spp\" is used before its <default>, which Mitsuba refuses"]
    );
    let error = load_text(&text.replace("<default name=\"spp\" value=\"256\"/>", "")).unwrap_err();
    assert_eq!(error.problems[0].message, "there is no parameter \"spp\"; -D NAME=VALUE sets one");
    let spelt = around("<shape type=\"Spheer\"/>");
    assert_eq!(
        load_text(&spelt).unwrap_err().problems[0].message,
        "unknown shape \"Spheer\"; did you mean \"sphere\"?"
    );
}
