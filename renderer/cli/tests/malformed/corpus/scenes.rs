//! Scene files: TOML, Mitsuba XML, glTF, and names of other files in them.

use super::*;

/// So many wrong names among as many others.
const WRONG: usize = 20_000;

pub(super) fn in_toml() -> Vec<Row> {
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
    let wrong: String = (0..WRONG)
        .map(|i| {
            let shape = "[[shapes]]\ntype = \"sphere\"\ncenter = [0, 0, 0]\nradius = 1\n";
            format!("{shape}material = \"one-more-like-it-{i}\"\n")
                + &format!("[materials.a-long-name-{i}]\ntype = \"diffuse\"\nreflectance = 0.5\n")
        })
        .collect();
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
        with("many wrong names among many", "unknown material", &wrong),
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

pub(super) fn in_xml() -> Vec<Row> {
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
    let numbered = |count: usize, piece: &str| -> String {
        (0..count).map(|i| piece.replace('#', &i.to_string())).collect()
    };
    let named = numbered(WRONG, "<bsdf type=\"diffuse\" id=\"a-long-name-#\"/>");
    let wrong = numbered(WRONG, "<shape type=\"sphere\"><ref id=\"one-more-like-it-#\"/></shape>");
    let defaults = numbered(WRONG, "<default name=\"a-long-name-#\" value=\"1\"/>");
    let unknown = numbered(
        WRONG,
        "<shape type=\"sphere\"><float name=\"radius\" value=\"$one-more-like-it-#\"/></shape>",
    );
    vec![
        scene("many attributes", "scene.xml:4:1: this element has more than 256 attributes", &format!("<shape type=\"sphere\"{}/>", numbered(40_000, " a#=\"1\""))),
        scene("many namespaces", "more than 64 namespaces", &format!("{}{}", numbered(3000, "<x xmlns:a#=\"b\">"), "</x>".repeat(3000))),
        scene("many properties of a shape", "scene.xml", &format!("<shape type=\"sphere\">{}</shape>", numbered(60_000, "<float name=\"a#\" value=\"1\"/>"))),
        scene("many parameters of a scene", "", &format!("{}<shape type=\"sphere\"/>", numbered(60_000, "<default name=\"a#\" value=\"1\"/>"))),
        scene("many wrong references among many ids", "nothing has the id", &(named + &wrong)),
        scene("many wrong parameters among many", "there is no parameter", &(defaults + &unknown)),
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

/// A document with values put where pointers say.
fn changed(whole: &Value, changes: &[(&str, Value)]) -> String {
    let mut document = whole.clone();
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        match document.pointer_mut(parent).expect("a parent") {
            Value::Array(array) => array[key.parse::<usize>().expect("an index")] = value.clone(),
            other => other[key] = value.clone(),
        }
    }
    document.to_string()
}

/// Variants, animations, skins and morph targets of glTF.
pub(super) fn in_poses() -> Vec<Row> {
    let (whole, binary) = posed();
    let with = |name: &str, says, changes: &[(&str, Value)]| {
        let document = changed(&whole, changes).into_bytes();
        row(
            name,
            says,
            vec![(POSED, document), ("a.bin", binary.clone()), ("a.png", image(ImageFormat::Png))],
        )
    };
    let channel = whole["animations"][0]["channels"][0].clone();
    let zeros = json!({ "componentType": 5126, "count": 3, "type": "VEC3" });
    let mut rows = vec![
        with("as it is", "", &[]),
        with("times that fall", "must grow", &[("/animations/0/samplers/0/input", json!(8))]),
        with("many channels of a node", "", &[("/animations/0/channels", json!(vec![channel; DEEP]))]),
        with("joints in a circle", "in the scene already", &[("/nodes/1/children", json!([0]))]),
        with("many joints", "the most of a file", &[("/skins/0/joints", json!(vec![0; 2_200_000]))]),
        with(
            "many targets of zeros",
            "the most of a file",
            &[
                ("/accessors/0", zeros),
                ("/meshes/0/primitives/0/targets", json!(vec![json!({ "POSITION": 0 }); DEEP])),
                ("/meshes/0/weights", json!(vec![1; DEEP])),
                ("/animations", json!([{ "channels": [], "samplers": [] }])),
            ],
        ),
    ];
    let posed_by_many = |name, part: &str, value: Value| {
        let mut nodes = vec![whole["nodes"][0].clone()];
        nodes[0]["children"] = (1..DEEP / 10).collect();
        nodes.resize(DEEP / 10, json!({ "mesh": 0, "weights": [] }));
        with(
            name,
            "the most of a file",
            &[(part, value), ("/nodes", nodes.into()), ("/skins/0/joints/1", json!(0))],
        )
    };
    let mapping = json!({ "variants": [1], "material": 0 });
    rows.extend([
        posed_by_many(
            "many targets at many nodes",
            "/meshes/0/primitives/0/targets",
            json!(vec![json!({}); DEEP]),
        ),
        posed_by_many(
            "many primitives at many nodes",
            "/meshes/0/primitives",
            json!(vec![json!({ "attributes": {} }); DEEP]),
        ),
        posed_by_many(
            "many mappings at many nodes",
            "/meshes/0/primitives/0/extensions/KHR_materials_variants/mappings",
            json!(vec![mapping; DEEP]),
        ),
    ]);
    let places = [
        "/skins/0/joints/0",
        "/skins/0/inverseBindMatrices",
        "/nodes/1/skin",
        "/meshes/0/primitives/0/attributes/JOINTS_0",
        "/meshes/0/primitives/0/targets/0/POSITION",
        "/animations/0/channels/0/sampler",
        "/animations/0/channels/0/target/node",
        "/animations/0/samplers/0/input",
        "/animations/0/samplers/0/output",
        "/meshes/0/primitives/0/extensions/KHR_materials_variants/mappings/0/material",
    ];
    for place in places {
        for number in [json!(1_u64 << 31), json!(u64::MAX), json!(-1), json!(1e300)] {
            rows.push(with(&format!("{place} is {number}"), POSED, &[(place, number)]));
        }
    }
    rows
}

pub(super) fn in_gltf() -> Vec<Row> {
    let (whole, binary) = gltf();
    let files = |document: String| {
        vec![("a.gltf", document.into_bytes()), ("a.bin", binary.clone()), ("a.png", image(ImageFormat::Png))]
    };
    let with = |name: &str, says, changes: &[(&str, Value)]| row(name, says, files(changed(&whole, changes)));
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
            &[
                ("/accessors/0", json!({ "componentType": 5126, "count": 10_000_000, "type": "VEC3" })),
                ("/meshes/0/primitives/0", json!({ "attributes": { "POSITION": 0 } })),
            ],
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
        with(
            "a mesh of many materials",
            "",
            &[
                ("/materials", json!(vec![json!({}); DEEP / 4])),
                (
                    "/meshes/0/primitives",
                    (0..DEEP / 4)
                        .map(|i| json!({ "attributes": { "POSITION": 0 }, "indices": 2, "material": i }))
                        .collect(),
                ),
            ],
        ),
        with(
            "many images that are not there",
            "a.gltf",
            &[
                ("/images", (0..DEEP / 4).map(|i| json!({ "uri": format!("{i}.png") })).collect()),
                ("/textures", (0..DEEP / 4).map(|i| json!({ "source": i })).collect()),
                (
                    "/materials",
                    (0..DEEP / 4)
                        .map(|i| json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": i } } }))
                        .collect(),
                ),
                (
                    "/meshes/0/primitives",
                    (0..DEEP / 4)
                        .map(|i| json!({ "attributes": { "POSITION": 0 }, "indices": 2, "material": i }))
                        .collect(),
                ),
            ],
        ),
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

/// Names that lead elsewhere, or nowhere.
pub(super) fn with_names() -> Vec<Row> {
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
