//! Files that are wrong on purpose, each in its own way.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use image::ImageFormat;
use serde_json::{Value, json};

use super::seeds::{
    MTL, OBJ, PLY, POSED, TEXTURED_PLY, glb, gltf, image, pfm, posed, serialized, toml, toml_of_image,
    toml_of_mesh, toml_of_transforms, xml, xml_of_mesh, xml_of_spectrum,
};

mod data;
mod scenes;

use data::{in_images, in_meshes, in_serialized, in_spectra, in_transforms};
use scenes::{in_gltf, in_poses, in_toml, in_xml, with_names};

/// A scene with something wrong.
pub(crate) struct Row {
    pub(crate) name: String,
    /// The first is loaded.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// Expected text of the report; loading may succeed as well if it is empty.
    pub(crate) says: &'static str,
    pub(crate) allow_external: bool,
    /// Makes what is no regular file.
    pub(crate) prepare: Option<fn(&Path)>,
}

const DEEP: usize = 100_000;

fn row(name: impl Into<String>, says: &'static str, files: Vec<(&str, Vec<u8>)>) -> Row {
    let files = files.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
    Row { name: name.into(), files, says, allow_external: false, prepare: None }
}

/// All rows.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = in_toml();
    for more in [
        in_xml(),
        in_gltf(),
        in_poses(),
        in_meshes(),
        in_serialized(),
        in_images(),
        in_spectra(),
        in_transforms(),
        with_names(),
    ] {
        rows.extend(more);
    }
    #[cfg(unix)]
    rows.extend(unix::rows());
    rows
}

impl Row {
    /// The row with another text in its scene.
    fn replaced(mut self, text: &str, with: &str) -> Self {
        let scene = &mut self.files[0].1;
        *scene = String::from_utf8_lossy(scene).replace(text, with).into_bytes();
        self
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    fn pipes(folder: &Path) {
        for name in NAMES {
            let made = Command::new("mkfifo").arg(folder.join(name)).status().expect("mkfifo runs");
            assert!(made.success());
        }
    }

    fn devices(folder: &Path) {
        for name in NAMES {
            symlink("/dev/zero", folder.join(name)).expect("a link");
        }
    }

    fn links_out(folder: &Path) {
        for name in NAMES {
            symlink("/etc/passwd", folder.join(name)).expect("a link");
        }
    }

    fn links_in_a_circle(folder: &Path) {
        for name in NAMES {
            symlink(name, folder.join(name)).expect("a link");
        }
    }

    const NAMES: [&str; 16] = [
        "x.obj",
        "x.ply",
        "x.serialized",
        "x.png",
        "x.exr",
        "x.tga",
        "x.bin",
        "x.csv",
        "x.xml",
        "x.mtl",
        "x.glb",
        "x.hdr",
        "x.bmp",
        "x.ppm",
        "x.pfm",
        "x.spd",
    ];

    pub(super) fn rows() -> Vec<Row> {
        let (mut document, _) = gltf();
        document["buffers"][0]["uri"] = json!("x.bin");
        let of_buffer = document.to_string().into_bytes();
        type Kind = (&'static str, fn(&Path), bool);
        let kinds: [Kind; 4] = [
            ("a pipe", pipes, false),
            ("a device", devices, true),
            ("a link out", links_out, false),
            ("a link to itself", links_in_a_circle, false),
        ];
        let mut rows = Vec::new();
        for (kind, prepare, allow_external) in kinds {
            let mut add = |what: &str, says, file: &str, bytes| {
                let mut row = row(format!("{kind} as {what}"), says, vec![(file, bytes)]);
                (row.prepare, row.allow_external) = (Some(prepare), allow_external);
                rows.push(row);
            };
            for name in ["x.obj", "x.ply"] {
                add(name, "scene.toml", "scene.toml", toml_of_mesh(name));
            }
            for name in ["x.png", "x.exr", "x.tga", "x.hdr", "x.bmp", "x.ppm", "x.pfm"] {
                add(name, "scene.toml", "scene.toml", toml_of_image(name));
            }
            for name in ["x.bin", "x.csv"] {
                add(name, "scene.toml", "scene.toml", toml_of_transforms(name));
            }
            add("x.serialized", "scene.xml", "scene.xml", xml_of_mesh("serialized", "x.serialized"));
            add("x.spd", "scene.xml", "scene.xml", xml_of_spectrum("x.spd"));
            add("x.xml", "scene.xml", "scene.xml", xml("<include filename=\"x.xml\"/>"));
            // What a library lacks is grey.
            add("x.mtl", "", "a.obj", OBJ.replace("a.mtl", "x.mtl").into());
            add("a buffer", "a.gltf", "a.gltf", of_buffer.clone());
        }
        rows
    }
}
