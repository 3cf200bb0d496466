//! Files that are wrong on purpose, each in its own way.

use std::io::Write;
use std::path::Path;

use flate2::{Compression, write::ZlibEncoder};
use image::ImageFormat;
use serde_json::{Value, json};

use super::seeds::{
    MTL, OBJ, PLY, glb, gltf, image, pfm, serialized, toml, toml_of_image, toml_of_mesh, toml_of_transforms,
    xml, xml_of_mesh, xml_of_spectrum,
};

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

fn in_toml() -> Vec<Row> {
    let scene = |name, says, text: String| row(name, says, vec![("scene.toml", text.into_bytes())]);
    let with = |name, says, more: &str| {
        let text = [&toml("\"a\"", "type = \"sphere\"")[..], more.as_bytes()].concat();
        row(name, says, vec![("scene.toml", text)])
    };
    let blend = |name: &str, of: &str| {
        format!("[materials.{name}]\ntype = \"blend\"\nmaterials = [\"{of}\", \"{of}\"]\nweight = 0.5\n")
    };
    let mix = |name: &str, of: &str| {
        format!("[textures.{name}]\ntype = \"mix\"\na = \"{of}\"\nb = \"{of}\"\nweight = 0.5\n")
    };
    let doubling: String = (0..60).map(|i| mix(&format!("t{i}"), &format!("t{}", i + 1))).collect();
    let blends: String = (0..60).map(|i| blend(&format!("m{i}"), &format!("m{}", i + 1))).collect();
    vec![
        scene("arrays in arrays", "scene.toml", format!("a = {}", "[".repeat(DEEP))),
        scene(
            "closed arrays in arrays",
            "scene.toml",
            format!("a = {}{}", "[".repeat(DEEP), "]".repeat(DEEP)),
        ),
        scene("tables in tables", "scene.toml", format!("a = {}", "{a=".repeat(DEEP))),
        scene("a long dotted key", "scene.toml", format!("{}a = 1", "a.".repeat(DEEP))),
        scene("a long header", "scene.toml", format!("[{}a]", "a.".repeat(DEEP))),
        scene("many keys", "scene.toml", (0..DEEP).map(|i| format!("k{i} = 1\n")).collect()),
        scene("the same key again and again", "scene.toml", "a = 1\n".repeat(DEEP)),
        scene("many empty shapes", "scene.toml", "[[shapes]]\n".repeat(DEEP)),
        scene("a long string", "scene.toml", format!("[camera]\nposition = \"{}\"", "x".repeat(1 << 20))),
        scene("a string without an end", "scene.toml", format!("a = \"{}", "x".repeat(1 << 20))),
        scene("a key of one megabyte", "scene.toml", format!("{} = 1", "x".repeat(1 << 20))),
        scene("zeros", "scene.toml", "\0".repeat(1000)),
        scene("nothing", "scene.toml", String::new()),
        row("no UTF-8", "UTF-8", vec![("scene.toml", vec![0xff; 1000])]),
        scene(
            "a film of all memory",
            "memory",
            "[render]\nsize = [4294967295, 4294967295]\n".to_owned()
                + str::from_utf8(&toml("0.5", "type = \"sphere\""))
                    .expect("text")
                    .split_once("[camera]")
                    .map_or("", |(_, rest)| rest),
        ),
        with("a texture of itself", "scene.toml", &mix("a", "a")),
        with("textures in a circle", "scene.toml", &(mix("a", "b") + &mix("b", "a"))),
        with("textures that double", "scene.toml", &doubling.replace("t0]", "a]")),
        with("a material of itself", "scene.toml", &blend("z", "z")),
        with("materials in a circle", "scene.toml", &(blend("y", "z") + &blend("z", "y"))),
        with("materials that double", "scene.toml", &blends),
        with("an instance of nothing", "unknown group", "[[instances]]\ngroup = \"a\"\n"),
        with("a group without shapes", "scene.toml", "[groups.a]\n[[instances]]\ngroup = \"a\"\n"),
    ]
}

fn in_xml() -> Vec<Row> {
    let scene = |name, says, inner: &str| row(name, says, vec![("scene.xml", xml(inner))]);
    let many = |piece: &str| piece.repeat(DEEP);
    let doubling: String =
        (0..60).map(|i| format!("<default name=\"p{}\" value=\"$p{i}$p{i}\"/>", i + 1)).collect();
    let entities: String = (1..30).map(|i| format!("<!ENTITY e{i} \"&e{};&e{};\">", i - 1, i - 1)).collect();
    let aliases: String = (0..1000).map(|i| format!("<alias id=\"a{i}\" as=\"a{}\"/>", i + 1)).collect();
    let materials: String = (0..60)
        .map(|i| format!(
            "<bsdf type=\"blendbsdf\" id=\"m{i}\"><float name=\"weight\" value=\"0.5\"/><ref id=\"m{0}\"/><ref id=\"m{0}\"/></bsdf>",
            i + 1
        ))
        .collect();
    vec![
        scene("elements in elements", "scene.xml", &many("<bsdf type=\"twosided\">")),
        scene("closed elements in elements", "levels deep", &(many("<bsdf type=\"mask\">") + &many("</bsdf>"))),
        scene("many unknown elements", "scene.xml", &many("<x/>")),
        scene("a tag without an end", "scene.xml", &format!("<shape type=\"{}", "x".repeat(1 << 20))),
        scene("a long attribute", "scene.xml", &format!("<shape type=\"{}\"/>", "x".repeat(1 << 20))),
        scene("a material of itself", "scene.xml", "<bsdf type=\"twosided\" id=\"a\"><ref id=\"a\"/></bsdf><shape type=\"sphere\"><ref id=\"a\"/></shape>"),
        scene("materials in a circle", "scene.xml", "<bsdf type=\"twosided\" id=\"a\"><ref id=\"b\"/></bsdf><bsdf type=\"twosided\" id=\"b\"><ref id=\"a\"/></bsdf><shape type=\"sphere\"><ref id=\"a\"/></shape>"),
        scene("materials that double", "scene.xml", &format!("{materials}<bsdf type=\"diffuse\" id=\"m60\"/><shape type=\"sphere\"><ref id=\"m0\"/></shape>")),
        scene("a group with itself in it", "scene.xml", "<shape type=\"shapegroup\" id=\"g\"><shape type=\"instance\"><ref id=\"g\"/></shape></shape><shape type=\"instance\"><ref id=\"g\"/></shape>"),
        scene("an alias of itself", "scene.xml", "<alias id=\"a\" as=\"a\"/><shape type=\"sphere\"><ref id=\"a\"/></shape>"),
        scene("many aliases", "", &format!("<bsdf type=\"diffuse\" id=\"a0\"/>{aliases}<shape type=\"sphere\"><ref id=\"a1000\"/></shape>")),
        scene("a parameter of itself", "scene.xml", "<default name=\"a\" value=\"$a\"/><shape type=\"sphere\"><float name=\"radius\" value=\"$a\"/></shape>"),
        scene("parameters that double", "scene.xml", &format!("<default name=\"p0\" value=\"1\"/>{doubling}<shape type=\"sphere\"><float name=\"radius\" value=\"$p60\"/></shape>")),
        scene("a parameter used very often", "scene.xml", &format!("<default name=\"p\" value=\"{}\"/>{}", "1".repeat(10_000), "<shape type=\"$p$p$p$p\"/>".repeat(1000))),
        scene("a file that includes itself", "scene.xml", "<include filename=\"scene.xml\"/>"),
        scene("a file that includes itself twice", "scene.xml", "<include filename=\"scene.xml\"/><include filename=\"./scene.xml\"/>"),
        scene("a folder is included", "scene.xml", "<include filename=\".\"/>"),
        row("files that include one another", "scene.xml", vec![
            ("scene.xml", xml("<include filename=\"b.xml\"/>")),
            ("b.xml", b"<scene version=\"3.0.0\"><include filename=\"scene.xml\"/></scene>".to_vec()),
        ]),
        row("entities that double", "DTD", vec![("scene.xml", format!(
            "<!DOCTYPE a [<!ENTITY e0 \"x\">{entities}]><scene version=\"3.0.0\">&e29;</scene>"
        ).into_bytes())]),
        scene("huge numbers", "scene.xml", "<shape type=\"sphere\"><float name=\"radius\" value=\"1e999\"/></shape>"),
        scene("a huge film", "memory", "<sensor type=\"perspective\"><film type=\"hdrfilm\"><integer name=\"width\" value=\"2147483647\"/><integer name=\"height\" value=\"2147483647\"/></film></sensor>").replaced(
            "<sensor type=\"perspective\"><float name=\"fov\" value=\"40\"/><film type=\"hdrfilm\"><integer name=\"width\" value=\"8\"/><integer name=\"height\" value=\"8\"/></film></sensor>",
            "",
        ),
        scene("an image of many colours", "", &format!("<shape type=\"sphere\"><bsdf type=\"diffuse\"><rgb name=\"reflectance\" value=\"{}\"/></bsdf></shape>", "1 ".repeat(DEEP))),
        scene("a matrix of many numbers", "scene.xml", &format!("<shape type=\"sphere\"><transform name=\"to_world\"><matrix value=\"{}\"/></transform></shape>", "1 ".repeat(DEEP))),
        scene("many steps", "", &format!("<shape type=\"sphere\"><transform name=\"to_world\">{}</transform></shape>", "<scale value=\"2\"/>".repeat(DEEP))),
    ]
}

impl Row {
    /// The row with another text in its scene.
    fn replaced(mut self, text: &str, with: &str) -> Self {
        let scene = &mut self.files[0].1;
        *scene = String::from_utf8_lossy(scene).replace(text, with).into_bytes();
        self
    }
}

fn in_gltf() -> Vec<Row> {
    let (whole, binary) = gltf();
    let files = |document: String| {
        vec![("a.gltf", document.into_bytes()), ("a.bin", binary.clone()), ("a.png", image(ImageFormat::Png))]
    };
    let with = |name: &str, says, changes: &[(&str, Value)]| {
        let mut document = whole.clone();
        for (pointer, value) in changes {
            let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
            match document.pointer_mut(parent).expect("a parent") {
                Value::Array(array) => array[key.parse::<usize>().expect("an index")] = value.clone(),
                other => other[key] = value.clone(),
            }
        }
        row(name, says, files(document.to_string()))
    };
    let chain = |n: usize| -> Value {
        (0..n).map(|i| json!({ "children": [i + 1] })).chain([json!({ "mesh": 0 })]).collect()
    };
    let text = |name, document: String| row(name, "a.gltf", files(document));
    let mut rows = vec![
        text("JSON in JSON", "[".repeat(DEEP)),
        text("objects in objects", "{\"a\":".repeat(DEEP)),
        text(
            "an extra in an extra",
            format!(
                "{{\"asset\":{{\"version\":\"2.0\",\"extras\":{}1{}}}}}",
                "[".repeat(DEEP),
                "]".repeat(DEEP)
            ),
        ),
        with("nodes in a circle", "in the scene already", &[("/nodes/1/children", json!([0]))]),
        with("a node of itself", "in the scene already", &[("/nodes/0/children", json!([0]))]),
        with("a chain of nodes", "", &[("/nodes", chain(DEEP))]),
        with("nodes without parents", "a.gltf", &[("/scenes/0/nodes", json!([7]))]),
        with(
            "many zeros",
            "the most of a file",
            &[("/accessors/0", json!({ "componentType": 5126, "count": 10_000_000, "type": "VEC3" }))],
        ),
        with(
            "a mesh in many places",
            "",
            &[
                ("/nodes", (0..DEEP).map(|_| json!({ "mesh": 0 })).collect()),
                ("/scenes/0/nodes", (0..DEEP).collect()),
            ],
        ),
        with("a file as its own buffer", "", &[("/buffers/0/uri", json!("a.gltf"))]),
        with("a file as its own image", "a.gltf", &[("/images/0/uri", json!("a.gltf"))]),
        with("a folder as a buffer", "a.gltf", &[("/buffers/0/uri", json!("."))]),
        with("a folder as an image", "a.gltf", &[("/images/0/uri", json!("."))]),
        with("a buffer from elsewhere", "--allow-external", &[("/buffers/0/uri", json!("../secret"))]),
        with("a buffer by its path", "--allow-external", &[("/buffers/0/uri", json!("/etc/passwd"))]),
        with("an encoded way out", "--allow-external", &[("/buffers/0/uri", json!("%2e%2e/secret"))]),
        with("a buffer from the network", "a.gltf", &[("/buffers/0/uri", json!("http://localhost/a.bin"))]),
        with("base64 that is none", "a.gltf", &[("/buffers/0/uri", json!("data:;base64,####"))]),
        with("a texture of itself", "a.gltf", &[("/textures/0/source", json!(1))]),
        {
            let zeros = json!({ "componentType": 5126, "count": 30_000, "type": "VEC3" });
            let primitive = json!({ "attributes": { "POSITION": 0 } });
            with(
                "a mesh of one accessor again and again",
                "the most of a file",
                &[("/meshes/0/primitives", json!(vec![primitive; 2000])), ("/accessors/0", zeros)],
            )
        },
    ];
    let places = [
        "/accessors/0/count",
        "/accessors/0/byteOffset",
        "/accessors/0/bufferView",
        "/accessors/0/sparse/count",
        "/accessors/0/sparse/indices/byteOffset",
        "/accessors/0/sparse/values/byteOffset",
        "/bufferViews/0/byteLength",
        "/bufferViews/0/byteOffset",
        "/bufferViews/0/byteStride",
        "/buffers/0/byteLength",
        "/nodes/1/mesh",
        "/meshes/0/primitives/0/indices",
        "/meshes/0/primitives/0/mode",
        "/materials/0/pbrMetallicRoughness/baseColorTexture/index",
    ];
    for place in places {
        for number in [json!(1_u64 << 31), json!(1_u64 << 63), json!(u64::MAX), json!(-1), json!(1e300)] {
            rows.push(with(&format!("{place} is {number}"), "a.gltf", &[(place, number)]));
        }
    }
    let whole_glb = glb(&whole, &binary);
    for at in [4, 8, 12, 16] {
        for word in [0, 1 << 31, u32::MAX] {
            let mut file = whole_glb.clone();
            file[at..at + 4].copy_from_slice(&u32::to_le_bytes(word));
            rows.push(row(format!("word {at} of a .glb is {word}"), "a.glb", vec![("a.glb", file)]));
        }
    }
    rows
}

fn in_meshes() -> Vec<Row> {
    let ply = |name: String, says, text: String| row(name, says, vec![("a.ply", text.into_bytes())]);
    let obj = |name: &str, says, text: String| {
        row(
            name,
            says,
            vec![("a.obj", text.into_bytes()), ("a.mtl", MTL.into()), ("a.png", image(ImageFormat::Png))],
        )
    };
    let mtl =
        |name: &str, text: String| row(name, "", vec![("a.obj", OBJ.into()), ("a.mtl", text.into_bytes())]);
    let mut rows = vec![
        ply(
            "a header without an end".into(),
            "a.ply",
            "ply\nformat ascii 1.0\n".to_owned() + &"comment x\n".repeat(DEEP),
        ),
        ply(
            "a line without an end".into(),
            "a.ply",
            "ply\nformat ascii 1.0\ncomment ".to_owned() + &"x".repeat(2 << 20),
        ),
        ply(
            "many properties".into(),
            "",
            PLY.replace(
                "property float z\n",
                &format!(
                    "property float z\n{}",
                    (0..DEEP / 4).map(|i| format!("property float p{i}\n")).collect::<String>()
                ),
            ),
        ),
        ply(
            "many elements".into(),
            "",
            PLY.replace(
                "end_header",
                &format!(
                    "{}end_header",
                    (0..DEEP / 4).map(|i| format!("element e{i} 0\n")).collect::<String>()
                ),
            ),
        ),
        ply(
            "elements of nothing".into(),
            "",
            PLY.replace("element face", "element x 4294967295\nelement face"),
        ),
        ply(
            "elements of nothing at all".into(),
            "",
            PLY.replace("element face", "element x 18446744073709551615\nelement face"),
        ),
        obj("a face of a million corners", "", format!("{OBJ}f{}\n", " 1 2 3 4".repeat(250_000))),
        obj("lines that go on", "", OBJ.to_owned() + &"\\\n".repeat(DEEP)),
        obj("a file as its own library", "", OBJ.replace("a.mtl", "a.obj")),
        obj("a folder as a library", "", OBJ.replace("a.mtl", ".")),
        obj("a library from elsewhere", "", OBJ.replace("a.mtl", "../a.mtl")),
        obj(
            "many materials",
            "",
            OBJ.to_owned() + &(0..DEEP).map(|i| format!("usemtl m{i}\nf 1 2 3\n")).collect::<String>(),
        ),
        obj(
            "many groups",
            "",
            OBJ.to_owned() + &(0..DEEP).map(|i| format!("g g{i}\no o{i}\n")).collect::<String>(),
        ),
        obj("nothing", "a.obj", String::new()),
        obj("no faces", "a.obj", "v 0 0 0\n".repeat(DEEP)),
        obj("a long word", "a.obj", format!("v {} 0 0\n", "1".repeat(1 << 20))),
        mtl("an image of itself", MTL.replace("a.png", "a.mtl")),
        mtl("a folder as an image", MTL.replace("a.png", ".")),
        mtl("an image from elsewhere", MTL.replace("a.png", "../a.png")),
        mtl("an image by its path", MTL.replace("a.png", "/etc/passwd")),
        mtl("options without numbers", MTL.replace("-s 2 2 1 a.png", "-s -o -t")),
        mtl("options without end", MTL.replace("-s 2 2 1", &"-s 1 ".repeat(DEEP))),
        mtl(
            "many materials of a library",
            MTL.to_owned() + &(0..DEEP).map(|i| format!("newmtl m{i}\n")).collect::<String>(),
        ),
        mtl("the same material", MTL.repeat(1000)),
        mtl("no materials", String::new()),
    ];
    for number in ["2147483648", "9223372036854775808", "18446744073709551616", "-9", "1e9", "nan", "x"] {
        let count = |of: &str| PLY.replace(&format!("element {of}"), &format!("element {of} {number} "));
        rows.push(ply(format!("\"{number}\" vertices"), "a.ply", count("vertex")));
        rows.push(ply(format!("\"{number}\" faces"), "a.ply", count("face")));
        rows.push(ply(
            format!("an index {number}"),
            "a.ply",
            PLY.replace("4 0 1 2 3", &format!("4 0 1 2 {number}")),
        ));
        rows.push(ply(
            format!("{number} corners"),
            "a.ply",
            PLY.replace("4 0 1 2 3", &format!("{number} 0 1 2")),
        ));
        for (kind, face) in
            [("vertex", format!("f 1 2 {number}/1")), ("texture vertex", format!("f 1/1 2/1 3/{number}"))]
        {
            let says = "a.obj";
            rows.push(obj(&format!("a corner with {kind} {number:?}"), says, format!("{OBJ}{face}\n")));
        }
    }
    rows
}

fn in_serialized() -> Vec<Row> {
    let file = |name: String, says, bytes| {
        row(
            name,
            says,
            vec![("scene.xml", xml_of_mesh("serialized", "a.serialized")), ("a.serialized", bytes)],
        )
    };
    let bomb = |vertices: u64| serialized(vertices, 1, &vec![0; 12 * vertices as usize + 12]);
    let mut rows = vec![
        file("zeros that fill memory".into(), "the most in a file of that size", bomb(4 << 20)),
        file("an endless name".into(), "a.serialized", {
            let mut mesh = ZlibEncoder::new(vec![0x1c, 4, 4, 0], Compression::best());
            mesh.write_all(&[b'x'; 1 << 22]).expect("room in memory");
            let mut file = mesh.finish().expect("room in memory");
            file.extend([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
            file
        }),
        file("zeros".into(), "a.serialized", vec![0; 1000]),
        file("nothing".into(), "a.serialized", Vec::new()),
    ];
    for count in [1 << 24, 1 << 31, 1 << 32, 1 << 63, u64::MAX, 0] {
        rows.push(file(format!("{count} vertices"), "a.serialized", serialized(count, 1, &[0; 48])));
        rows.push(file(format!("{count} triangles"), "a.serialized", serialized(3, count, &[0; 48])));
    }
    let good = serialized(3, 1, &[0; 48]);
    for word in [0_u32, 2, 1 << 31, u32::MAX] {
        let mut bytes = good.clone();
        let end = bytes.len() - 4;
        bytes[end..].copy_from_slice(&word.to_le_bytes());
        rows.push(file(format!("{word} meshes"), "a.serialized", bytes));
    }
    for offset in [4, 1 << 31, u64::MAX] {
        let mut bytes = good.clone();
        let end = bytes.len() - 12;
        bytes[end..end + 8].copy_from_slice(&offset.to_le_bytes());
        rows.push(file(format!("a mesh at {offset}"), "a.serialized", bytes));
    }
    rows
}

/// A PNG file of zeros, one bit a pixel.
fn blank_png(side: u32, more: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |kind: &[u8; 4], data: &[u8]| {
        file.extend((data.len() as u32).to_be_bytes());
        let mut crc = flate2::Crc::new();
        crc.update(kind);
        crc.update(data);
        file.extend(kind);
        file.extend(data);
        file.extend(crc.sum().to_be_bytes());
    };
    chunk(b"IHDR", &[&side.to_be_bytes()[..], &side.to_be_bytes(), &[1, 0, 0, 0, 0]].concat());
    more.iter().for_each(|(kind, data)| chunk(kind, data));
    chunk(b"IDAT", &zeros(side as usize * (1 + side.div_ceil(8) as usize)));
    chunk(b"IEND", &[]);
    file
}

/// Zeros, compressed.
fn zeros(count: usize) -> Vec<u8> {
    let mut out = ZlibEncoder::new(Vec::new(), Compression::fast());
    out.write_all(&vec![0; count]).expect("room in memory");
    out.finish().expect("room in memory")
}

fn in_images() -> Vec<Row> {
    let file = |name: String, says, kind: &str, bytes| {
        let image = format!("a.{kind}");
        row(name, says, vec![("scene.toml", toml_of_image(&image)), (&image, bytes)])
    };
    let exr = image(ImageFormat::OpenExr);
    let window = |which: &str, window: [i32; 4]| {
        let mut bytes = exr.clone();
        let key = format!("{which}\0box2i\0");
        let at =
            bytes.windows(key.len()).position(|w| w == key.as_bytes()).expect("a window") + key.len() + 4;
        bytes[at..at + 16].copy_from_slice(&window.map(i32::to_le_bytes).concat());
        bytes
    };
    let hdr = |size: &str| format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n{size}\n\x02\x02").into_bytes();
    let tga = |side: u16| {
        let mut bytes = image(ImageFormat::Tga);
        bytes[12..14].copy_from_slice(&side.to_le_bytes());
        bytes[14..16].copy_from_slice(&side.to_le_bytes());
        bytes
    };
    let jpeg = |side: u16| {
        let mut bytes = image(ImageFormat::Jpeg);
        let at = bytes.windows(2).position(|w| w == [0xff, 0xc0]).expect("a frame") + 5;
        bytes[at..at + 2].copy_from_slice(&side.to_be_bytes());
        bytes[at + 2..at + 4].copy_from_slice(&side.to_be_bytes());
        bytes
    };
    let profile = [b"x\0\0".as_slice(), &zeros(64 << 20)].concat();
    let mut rows = vec![
        file("16384 × 16384 zeros".into(), "a.png", "png", blank_png(16384, &[])),
        file("4096 × 4096 zeros".into(), "", "png", blank_png(4096, &[])),
        file("a profile of zeros".into(), "", "png", blank_png(8, &[(b"iCCP", profile.clone())])),
        file("a text of zeros".into(), "", "png", blank_png(8, &[(b"zTXt", profile)])),
        file("a BMP file".into(), "a.png", "png", b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0".to_vec()),
    ];
    for side in [0, 32768, 1 << 31, u32::MAX] {
        rows.push(file(
            format!("a PNG of side {side}"),
            "a.png",
            "png",
            crate::damaged::png_that_claims(side, side),
        ));
    }
    let (least, most) = (i32::MIN, i32::MAX);
    for of in [
        [0, 0, most, most],
        [least, least, most, most],
        [least, least, least, least],
        [5, 5, 0, 0],
        [0, 0, 16383, 16383],
        [0, 0, 0, most],
    ] {
        rows.push(file(format!("a data window {of:?}"), "a.exr", "exr", window("dataWindow", of)));
        rows.push(file(format!("a display window {of:?}"), "", "exr", window("displayWindow", of)));
    }
    for size in [
        "-Y 1000000 +X 1000000",
        "-Y 4294967295 +X 4294967295",
        "-Y 16384 +X 16384",
        "-Y -1 +X 5",
        "-Y 0 +X 0",
        "+X 8 -Y 8",
        "-Y 99999999999999999999 +X 1",
    ] {
        rows.push(file(format!("an HDR file of {size}"), "a.hdr", "hdr", hdr(size)));
    }
    for side in [0, 16384, 32768, 65535] {
        rows.push(file(format!("a TGA file of side {side}"), "a.tga", "tga", tga(side)));
        rows.push(file(format!("a JPEG file of side {side}"), "a.jpg", "jpg", jpeg(side)));
    }
    let bmp = |side: i32| {
        let mut bytes = image(ImageFormat::Bmp);
        bytes[18..22].copy_from_slice(&side.to_le_bytes());
        bytes[22..26].copy_from_slice(&side.to_le_bytes());
        bytes
    };
    for side in [0, 16384, 32768, i32::MAX, -1, i32::MIN] {
        rows.push(file(format!("a BMP file of side {side}"), "a.bmp", "bmp", bmp(side)));
    }
    for head in [
        "P6 0 0 255",
        "P6 16384 16384 255",
        "P6 4294967295 4294967295 255",
        "P6 99999999999999999999 1 255",
        "P6 8 8 0",
        "P6 8 8 65536",
        "P6 8 8 -1",
        "P6 8 8 255 #",
        "P3 8 8 255\n1 2 three",
        "P3 4096 4096 255\n1",
        "P4 32768 1",
        "P1 2 2 0 1 2 0",
        "P7\nWIDTH 8\nWIDTH 8\nENDHDR",
        "P7\nWIDTH 8\nHEIGHT 8\nDEPTH 4294967295\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR",
        "P7\nENDHDR",
    ] {
        rows.push(file(format!("a PNM file of {head:?}"), "a.ppm", "ppm", format!("{head}\n").into_bytes()));
    }
    for (head, values) in [
        ("0 8 -1", 192),
        ("16384 16384 -1", 192),
        ("4294967295 4294967295 -1", 0),
        ("-1 8 -1", 192),
        ("8 8 0", 192),
        ("8 8 nan", 192),
        ("8 8 1e999", 192),
        ("8 8", 0),
        ("8 8 -1", 191),
        ("8 8 -1", 193),
        ("8 8 -1e39", 192),
    ] {
        let name = format!("a PFM file of {head:?} and {values} values");
        rows.push(file(name, "a.pfm", "pfm", pfm(head, values)));
    }
    rows
}

fn in_spectra() -> Vec<Row> {
    let file = |name: &str, says, bytes: Vec<u8>| {
        row(name, says, vec![("scene.xml", xml_of_spectrum("a.spd")), ("a.spd", bytes)])
    };
    let many: String = (0..1_000_001).map(|i| format!("{i} 1\n")).collect();
    vec![
        file("nothing", "a.spd", Vec::new()),
        file("zeros", "a.spd", vec![0; 1 << 16]),
        file("a line without an end", "a.spd", b"4".repeat(1 << 20)),
        file("not UTF-8", "a.spd", b"400 \xff\n".to_vec()),
        file("a wavelength alone", "a.spd", b"400 1\n500\n".to_vec()),
        file("wavelengths that decrease", "a.spd", b"500 1\n400 1\n".to_vec()),
        file("not a number", "a.spd", b"400 nan\n500 1\n".to_vec()),
        file("too large a number", "a.spd", b"400 1e999\n500 1\n".to_vec()),
        file("a negative value", "a.spd", b"400 -1\n500 1\n".to_vec()),
        file("more than a million lines", "a.spd", many.into_bytes()),
        file("the largest wavelengths", "", b"-1e308 1\n1e308 1\n".to_vec()),
        file("the largest values", "", b"400 1e30\n500 1e30\n".to_vec()),
        file("a million comments", "a.spd", b"#\n".repeat(1_000_000)),
    ]
}

fn in_transforms() -> Vec<Row> {
    let file = |name: &str, kind: &str, bytes: Vec<u8>| {
        let transforms = format!("t.{kind}");
        row(name, "transforms", vec![("scene.toml", toml_of_transforms(&transforms)), (&transforms, bytes)])
    };
    let number = |x: f32| x.to_le_bytes().repeat(12);
    vec![
        file("a byte too few", "bin", vec![0; 47]),
        file("zeros", "bin", vec![0; 48]),
        file("not numbers", "bin", number(f32::NAN)),
        file("infinities", "bin", number(f32::INFINITY)),
        file("huge numbers", "bin", number(f32::MAX)),
        file("tiny numbers", "bin", number(f32::from_bits(1))),
        file("a line without an end", "csv", b"1,".repeat(DEEP)),
        file("no numbers", "csv", b"a,b,c,d,e,f,g,h,i,j,k,l\n".to_vec()),
        file(
            "numbers without end",
            "csv",
            [b"1".repeat(1 << 20), b",0,0,0,0,1,0,0,0,0,1,0".to_vec()].concat(),
        ),
        file("no text", "csv", vec![0xff; 100]),
        file("empty lines", "csv", b"\n".repeat(DEEP)),
    ]
}

/// Names that lead elsewhere, or nowhere.
fn with_names() -> Vec<Row> {
    let long = "x".repeat(100_000);
    let names = [
        "",
        ".",
        "..",
        "/",
        "/etc/passwd",
        "../secret.obj",
        "a/../../secret.obj",
        "scene.toml",
        "nul\0byte.obj",
        "new\nline.obj",
        "esc\u{1b}[31m.obj",
        "\u{202e}jbo.obj",
        "a.obj/",
        "a.obj/b.obj",
        "CON",
        "~/a.obj",
        "$HOME/a.obj",
        "file:///etc/passwd",
        "http://localhost/a.obj",
        "no.ply",
        "no.png",
        "no.exr",
        &long,
    ];
    let mut rows = Vec::new();
    for name in names {
        // As JSON writes it, a TOML string can be written as well.
        let quoted = serde_json::to_string(name).expect("text").replace('\u{202e}', "\\u202e");
        let written = |scene: Vec<u8>| {
            let placeholder = "\"PLACE\"".to_owned();
            String::from_utf8(scene).expect("text").replace(&placeholder, &quoted).into_bytes()
        };
        let shown: String = name.escape_debug().take(30).collect();
        for (what, scene) in [
            ("mesh", toml_of_mesh("PLACE")),
            ("image", toml_of_image("PLACE")),
            ("transforms", toml_of_transforms("PLACE")),
        ] {
            rows.push(row(
                format!("{what} \"{shown}\""),
                "scene.toml",
                vec![("scene.toml", written(scene)), ("a.obj", OBJ.replace("mtllib a.mtl", "").into())],
            ));
        }
        let attribute = name.replace('\0', "&#0;").replace('\n', "&#10;").replace('\u{1b}', "&#27;");
        rows.push(row(
            format!("mesh \"{shown}\" of XML"),
            "scene.xml",
            vec![("scene.xml", xml_of_mesh("obj", &attribute)), ("a.obj", OBJ.into())],
        ));
    }
    rows
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
