//! Good scenes of every format, small, each with a file that is to be damaged.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use image::{DynamicImage, ImageFormat, Rgb32FImage, RgbImage};
use serde_json::json;

/// The files of a scene.
pub(crate) struct Seed {
    /// Format of the file that is to be damaged.
    pub(crate) format: &'static str,
    /// The file that is loaded.
    pub(crate) scene: &'static str,
    /// The file that is to be damaged, which may be the scene itself.
    pub(crate) file: &'static str,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
    /// Others.
    pub(crate) beside: Vec<(&'static str, Vec<u8>)>,
}

const START: &str = "[render]\nsize = [8, 8]\n[camera]\nposition = [0, 0, 4]\ntarget = [0, 0, 0]\nfov = 40\n\
    [environment]\nradiance = 1\n[materials.a]\ntype = \"diffuse\"\n";

/// A scene with what follows in the place of a colour, and of a shape.
pub(crate) fn toml(reflectance: &str, shape: &str) -> Vec<u8> {
    format!("{START}reflectance = {reflectance}\n[[shapes]]\nmaterial = \"a\"\n{shape}\n").into_bytes()
}

/// A scene of one mesh file.
pub(crate) fn toml_of_mesh(name: &str) -> Vec<u8> {
    toml("0.5", &format!("type = \"mesh\"\nfile = {name:?}"))
}

/// A scene of one image file.
pub(crate) fn toml_of_image(name: &str) -> Vec<u8> {
    toml(&format!("{{ file = {name:?} }}"), "type = \"sphere\"")
}

/// A scene of a file of transforms.
pub(crate) fn toml_of_transforms(name: &str) -> Vec<u8> {
    let instances = format!(
        "[[groups.g.shapes]]\ntype = \"box\"\nmaterial = \"a\"\n\
        [[instances]]\ngroup = \"g\"\ntransforms = {name:?}"
    );
    toml("0.5", &format!("type = \"sphere\"\n{instances}"))
}

/// A scene of Mitsuba with what follows in it.
pub(crate) fn xml(inner: &str) -> Vec<u8> {
    format!(
        "<scene version=\"3.0.0\">\n<sensor type=\"perspective\"><float name=\"fov\" value=\"40\"/>\
         <film type=\"hdrfilm\"><integer name=\"width\" value=\"8\"/><integer name=\"height\" value=\"8\"/></film>\
         </sensor>\n<emitter type=\"constant\"/>\n{inner}\n</scene>\n"
    )
    .into_bytes()
}

/// A scene of Mitsuba with a mesh file.
pub(crate) fn xml_of_mesh(plugin: &str, name: &str) -> Vec<u8> {
    xml(&format!("<shape type=\"{plugin}\"><string name=\"filename\" value=\"{name}\"/></shape>"))
}

/// A scene of Mitsuba with the file of a spectrum.
pub(crate) fn xml_of_spectrum(name: &str) -> Vec<u8> {
    xml(&format!(
        "<shape type=\"sphere\"><bsdf type=\"diffuse\"><spectrum name=\"reflectance\" filename=\"{name}\"/></bsdf></shape>"
    ))
}

pub(crate) const OBJ: &str = "# two faces\nmtllib a.mtl\nv 0 0 0\nv 1.5 0 -1e-3\nv 1 1 0\nv 0 1 0\nvt 0.5 0.5\nvn 0 0 1\n\
    usemtl b\nf 1/1/1 2/1/1 3/1/1 \\\n4/1/1\nf -1//-1 -2//-1 -3//-1\nf 1 2 3\n";

pub(crate) const MTL: &str = "newmtl b\nKd 0.5 0.25 1\nKs 0.5 0.5 0.5\nKe 1 2 3\nNs 100\nNi 1.5\nd 0.5\nillum 2\n\
    map_Kd -s 2 2 1 a.png\nnewmtl c\nPr 0.5\nPm 1\naniso 0.5\n";

pub(crate) const PLY: &str = "ply\nformat ascii 1.0\ncomment x\nelement vertex 4\nproperty float x\nproperty float y\n\
    property float z\nproperty uchar red\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n\
    0 0 0 255\n1 0 0 0\n1 1 0 7\n0 1 0 9\n4 0 1 2 3\n";

/// A square with what programs write of faces and images.
pub(crate) const TEXTURED_PLY: &str = "ply\nformat ascii 1.0\ncomment TextureFile a.png\ncomment TextureFile ./a.png\n\
    element vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 2\n\
    property list uchar int vertex_indices\nproperty list uchar float texcoord\nproperty int texnumber\n\
    property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n\
    3 0 1 2 6 0 0 1 0 1 1 0 255 0 0\n3 0 2 3 6 0 0 0.5 0.25 0 1 1 0 255 0\n";

/// Points with colours.
pub(crate) fn cloud() -> Vec<u8> {
    let mut out =
        b"ply\nformat binary_little_endian 1.0\nelement vertex 50\nproperty float x\nproperty float y\n\
        property double z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n"
            .to_vec();
    for i in 0..50_u8 {
        let (x, y) = (f32::from(i % 7), f32::from(i / 7));
        out.extend([x, y].iter().flat_map(|x| x.to_le_bytes()));
        out.extend(f64::from(i).sin().to_le_bytes());
        out.extend([i, 5 * i, 255 - i]);
    }
    out
}

/// A mesh with attributes of its faces.
const ATTRIBUTES: &str = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
    property float a_0\nelement face 2\nproperty list uchar int vertex_indices\nproperty float b_0\nproperty float b_1\n\
    property float b_2\nend_header\n0 0 0 1\n1 0 0 0\n1 1 0 0.5\n3 0 1 2 0.1 0.2 0.3\n3 2 1 0 0.4 0.5 0.6\n";

/// A scene of [`ATTRIBUTES`] in the light of pictures.
fn xml_of_slides() -> Vec<u8> {
    let picture = |name: &str| {
        format!(
            "<texture type=\"bitmap\" name=\"{name}\"><string name=\"filename\" value=\"a.png\"/></texture>"
        )
    };
    xml(&format!(
        "<shape type=\"ply\"><string name=\"filename\" value=\"a.ply\"/><bsdf type=\"diffuse\">\
         <texture type=\"mesh_attribute\" name=\"reflectance\"><string name=\"name\" value=\"face_b\"/></texture></bsdf>\
         <transform name=\"to_world\"><rotate y=\"2\" angle=\"$n\"/></transform></shape><default name=\"n\" value=\"20\"/>\n\
         <emitter type=\"projector\">{}<float name=\"fov\" value=\"40\"/></emitter><emitter type=\"Spot\">{}</emitter>",
        picture("irradiance"),
        picture("texture")
    ))
}

/// The file of [`PLY`] in binary.
fn binary_ply(little: bool) -> Vec<u8> {
    let end = PLY.find("end_header\n").expect("a header") + 11;
    let encoding = if little { "binary_little_endian" } else { "binary_big_endian" };
    let mut out = PLY[..end].replace("ascii", encoding).into_bytes();
    let word = |bits: u32| if little { bits.to_le_bytes() } else { bits.to_be_bytes() };
    for [x, y] in [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0_f32]] {
        out.extend([x, y, 0.0].iter().flat_map(|x| word(x.to_bits())));
        out.push(9);
    }
    out.push(4);
    out.extend((0..4).flat_map(word));
    out
}

/// A triangle as a `.gltf` file beside its buffer, and that buffer.
pub(crate) fn gltf() -> (serde_json::Value, Vec<u8>) {
    let floats = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0_f32];
    let mut bytes: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
    bytes.extend([0, 0, 1, 0, 2, 0, 1, 0]);
    bytes.extend([0.5_f32; 3].iter().flat_map(|x| x.to_le_bytes()));
    let document = json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "children": [1], "scale": [2, 2, 2] }, { "mesh": 0, "translation": [1, 0, 0] }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0, "TEXCOORD_0": 1 }, "indices": 2, "material": 0 }] }],
        "materials": [{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } }, "emissiveFactor": [1, 1, 1] }],
        "textures": [{ "source": 0 }],
        "images": [{ "uri": "a.png" }],
        "accessors": [
            {
                "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
                "sparse": {
                    "count": 1,
                    "indices": { "bufferView": 2, "byteOffset": 6, "componentType": 5123 },
                    "values": { "bufferView": 3 },
                },
            },
            { "bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC2" },
            { "bufferView": 2, "componentType": 5123, "count": 3, "type": "SCALAR" },
        ],
        "bufferViews": [
            { "buffer": 0, "byteLength": 36 },
            { "buffer": 0, "byteOffset": 36, "byteLength": 24 },
            { "buffer": 0, "byteOffset": 60, "byteLength": 8 },
            { "buffer": 0, "byteOffset": 68, "byteLength": 12 },
        ],
        "buffers": [{ "byteLength": bytes.len(), "uri": "a.bin" }],
    });
    (document, bytes)
}

/// A file of this name is loaded in its first variant and its first animation, half a second after its start.
pub(crate) const POSED: &str = "posed.gltf";

/// A triangle with a morph target, held by two joints, in an animation; and its buffer.
pub(crate) fn posed() -> (serde_json::Value, Vec<u8>) {
    let (mut document, mut bytes) = gltf();
    let mut accessors = document["accessors"].as_array().expect("accessors").clone();
    let mut views = document["bufferViews"].as_array().expect("views").clone();
    let mut add = |kind: &str, width: usize, numbers: &[f32]| {
        let offset = bytes.len();
        bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
        views.push(json!({ "buffer": 0, "byteOffset": offset, "byteLength": 4 * numbers.len() }));
        accessors.push(json!({
            "bufferView": views.len() - 1, "componentType": 5126, "count": numbers.len() / width, "type": kind,
        }));
        accessors.len() - 1
    };
    let weights = add("VEC4", 4, &[0.5, 0.25, 0.25, 0.0].repeat(3));
    let matrices =
        add("MAT4", 16, &[1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 2., 0., 1.].repeat(2));
    let times = add("SCALAR", 1, &[0.0, 1.0]);
    let turn = add("VEC4", 4, &[0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    let steps = add("VEC3", 3, &[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
    let curve = add("SCALAR", 1, &[0.0, 0.25, 1.0, 0.5, 1.0, 0.0]);
    let joints = add("VEC4", 4, &[f32::from_le_bytes([0, 1, 1, 0]); 3].repeat(4));
    accessors[joints]["componentType"] = json!(5121);
    (document["accessors"], document["bufferViews"]) = (json!(accessors), json!(views));
    document["buffers"][0]["byteLength"] = json!(bytes.len());
    let mesh = &mut document["meshes"][0];
    mesh["weights"] = json!([0.5]);
    mesh["primitives"][0]["targets"] = json!([{ "POSITION": 0 }]);
    mesh["primitives"][0]["attributes"]["JOINTS_0"] = json!(joints);
    mesh["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(weights);
    mesh["primitives"][0]["extensions"] =
        json!({ "KHR_materials_variants": { "mappings": [{ "variants": [0], "material": 0 }] } });
    document["extensions"] = json!({ "KHR_materials_variants": { "variants": [{ "name": "a" }] } });
    document["nodes"][1]["skin"] = json!(0);
    document["skins"] = json!([{ "joints": [0, 1], "inverseBindMatrices": matrices }]);
    let channel =
        |i: usize, node: usize, path: &str| json!({ "sampler": i, "target": { "node": node, "path": path } });
    document["animations"] = json!([{
        "channels": [channel(0, 0, "rotation"), channel(1, 1, "translation"), channel(2, 1, "weights")],
        "samplers": [
            { "input": times, "output": turn },
            { "input": times, "output": steps, "interpolation": "STEP" },
            { "input": times, "output": curve, "interpolation": "CUBICSPLINE" },
        ],
    }]);
    (document, bytes)
}

/// A `.glb` file of a document and its first buffer.
pub(crate) fn glb(document: &serde_json::Value, binary: &[u8]) -> Vec<u8> {
    let mut document = document.clone();
    document["buffers"][0].as_object_mut().expect("a buffer").remove("uri");
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((28 + text.len() as u32 + binary.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", text.as_slice()), (b"BIN\0", binary)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    file
}

/// A `.serialized` file of one mesh, of `vertices` vertices and the triangles that the data say.
pub(crate) fn serialized(vertices: u64, triangles: u64, data: &[u8]) -> Vec<u8> {
    let mut mesh = ZlibEncoder::new(vec![0x1c, 4, 4, 0], Compression::best());
    for part in [&0_u32.to_le_bytes()[..], b"name\0", &vertices.to_le_bytes(), &triangles.to_le_bytes(), data]
    {
        mesh.write_all(part).expect("room in memory");
    }
    let mut file = mesh.finish().expect("room in memory");
    file.extend(0_u64.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    file
}

fn serialized_triangle() -> Vec<u8> {
    let mut data: Vec<u8> =
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0_f32].iter().flat_map(|x| x.to_le_bytes()).collect();
    data.extend([0, 1, 2_u32].iter().flat_map(|i| i.to_le_bytes()));
    serialized(3, 1, &data)
}

/// A small image.
pub(crate) fn image(format: ImageFormat) -> Vec<u8> {
    let bytes = RgbImage::from_fn(8, 8, |x, y| image::Rgb([30 * x as u8, 20 * y as u8, 7]));
    let floats = Rgb32FImage::from_fn(8, 8, |x, y| image::Rgb([x as f32 / 8.0, y as f32 / 8.0, 0.1]));
    let picture: DynamicImage = match format {
        ImageFormat::Hdr | ImageFormat::OpenExr => floats.into(),
        _ => bytes.into(),
    };
    let mut out = Cursor::new(Vec::new());
    picture.write_to(&mut out, format).expect("an image");
    out.into_inner()
}

/// A portable float map: size and scale, and as many values.
pub(crate) fn pfm(head: &str, values: u16) -> Vec<u8> {
    let values = (0..values).flat_map(|i| (f32::from(i) / 256.0).to_le_bytes());
    format!("PF\n{head}\n").into_bytes().into_iter().chain(values).collect()
}

fn transforms() -> Vec<u8> {
    let rows = [2.0, 0.0, 0.0, 5.0, 0.0, 3.0, 0.5, 6.0, 0.0, 0.0, 4.0, 7.0_f32];
    rows.repeat(2).iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// One of every format.
pub(crate) fn seeds() -> Vec<Seed> {
    let png = || ("a.png", image(ImageFormat::Png));
    let of = |format, scene, file, bytes, beside| Seed { format, scene, file, bytes, beside };
    let alone = |format, name, bytes, beside| of(format, name, name, bytes, beside);
    let mesh = |format, file: &'static str, bytes| {
        of(format, "scene.toml", file, bytes, vec![("scene.toml", toml_of_mesh(file))])
    };
    let picture = |format, file: &'static str, kind| {
        of(format, "scene.toml", file, image(kind), vec![("scene.toml", toml_of_image(file))])
    };
    let (document, buffer) = gltf();
    let (moving, moving_buffer) = posed();
    let xml_scene = xml(
        "<default name=\"n\" value=\"0.5\"/><bsdf type=\"twosided\" id=\"b\"><bsdf type=\"diffuse\">\
         <texture type=\"bitmap\" name=\"reflectance\"><string name=\"filename\" value=\"a.png\"/></texture>\
         </bsdf></bsdf>\n<shape type=\"obj\"><string name=\"filename\" value=\"a.obj\"/><ref id=\"b\"/>\
         <transform name=\"to_world\"><scale value=\"$n\"/><rotate y=\"1\" angle=\"30\"/></transform></shape>\n\
         <shape type=\"sphere\"><emitter type=\"area\"><spectrum name=\"radiance\" value=\"400:1, 550.5:2, 700:1e-1\"/>\
         </emitter></shape><shape type=\"sphere\"><bsdf type=\"roughconductor\"><string name=\"material\" value=\"Au\"/>\
         <float name=\"alpha\" value=\"0.1\"/></bsdf></shape>",
    );
    let toml_scene = [
        &toml("{ file = \"a.png\", scale = 2 }", "type = \"mesh\"\nfile = \"a.obj\"\ntransform = [{ scale = 2 }]")[..],
        b"[materials.c]\ntype = \"blend\"\nmaterials = [\"a\", \"a\"]\nweight = 0.5\n[[shapes]]\ntype = \"sphere\"\n\
          material = \"c\"\nemission = [1, 2, 3]\n[[lights]]\ntype = \"point\"\nposition = [0, 2, 0]\nintensity = 1\n",
    ]
    .concat();
    let files = || vec![png(), ("a.obj", OBJ.into()), ("a.mtl", MTL.into())];
    vec![
        alone("toml", "scene.toml", toml_scene, files()),
        alone("xml", "scene.xml", xml_scene, files()),
        alone(
            "xml, slides and attributes",
            "scene.xml",
            xml_of_slides(),
            vec![png(), ("a.ply", ATTRIBUTES.into())],
        ),
        of(
            "ply, attributes",
            "scene.xml",
            "a.ply",
            ATTRIBUTES.into(),
            vec![("scene.xml", xml_of_slides()), png()],
        ),
        alone("obj", "a.obj", OBJ.into(), vec![png(), ("a.mtl", MTL.into())]),
        alone(
            "obj with colours",
            "a.obj",
            OBJ.replace("v 0 0 0\n", "v 0 0 0 1 0.5 0\n").into(),
            vec![png(), ("a.mtl", MTL.into())],
        ),
        of("mtl", "a.obj", "a.mtl", MTL.into(), vec![png(), ("a.obj", OBJ.into())]),
        alone("ply", "a.ply", PLY.into(), Vec::new()),
        alone("ply of points", "a.ply", cloud(), Vec::new()),
        alone("ply with images", "a.ply", TEXTURED_PLY.into(), vec![png()]),
        mesh("ply with faces' attributes", "a.ply", TEXTURED_PLY.into()),
        mesh("ply, little-endian", "a.ply", binary_ply(true)),
        mesh("ply, big-endian", "a.ply", binary_ply(false)),
        alone("gltf", "a.gltf", document.to_string().into(), vec![png(), ("a.bin", buffer.clone())]),
        alone("glb", "a.glb", glb(&document, &buffer), vec![png()]),
        of("gltf buffer", "a.gltf", "a.bin", buffer, vec![png(), ("a.gltf", document.to_string().into())]),
        alone("gltf, posed", POSED, moving.to_string().into(), vec![png(), ("a.bin", moving_buffer.clone())]),
        of(
            "gltf buffer, posed",
            POSED,
            "a.bin",
            moving_buffer,
            vec![png(), (POSED, moving.to_string().into())],
        ),
        of(
            "serialized",
            "scene.xml",
            "a.serialized",
            serialized_triangle(),
            vec![("scene.xml", xml_of_mesh("serialized", "a.serialized"))],
        ),
        picture("png", "a.png", ImageFormat::Png),
        picture("jpeg", "a.jpg", ImageFormat::Jpeg),
        picture("webp", "a.webp", ImageFormat::WebP),
        picture("exr", "a.exr", ImageFormat::OpenExr),
        picture("hdr", "a.hdr", ImageFormat::Hdr),
        picture("tga", "a.tga", ImageFormat::Tga),
        picture("bmp", "a.bmp", ImageFormat::Bmp),
        picture("pnm", "a.ppm", ImageFormat::Pnm),
        of("pfm", "scene.toml", "a.pfm", pfm("8 8 -1", 192), vec![("scene.toml", toml_of_image("a.pfm"))]),
        of(
            "spectrum",
            "scene.xml",
            "a.spd",
            b"# nm, value\n400 0.1\n500 0.25 # peak\n700.5 0.9\n".to_vec(),
            vec![("scene.xml", xml_of_spectrum("a.spd"))],
        ),
        of(
            "transforms",
            "scene.toml",
            "t.bin",
            transforms(),
            vec![("scene.toml", toml_of_transforms("t.bin"))],
        ),
        of(
            "transforms, text",
            "scene.toml",
            "t.csv",
            b"2,0,0,5, 0,3,0.5,6, 0,0,4,7\n1,0,0,0, 0,1,0,0, 0,0,1,0\n".to_vec(),
            vec![("scene.toml", toml_of_transforms("t.csv"))],
        ),
    ]
}
