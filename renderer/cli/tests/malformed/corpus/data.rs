//! Files that scenes name: meshes, images, spectra and transforms.

use std::io::Read;

use super::*;

pub(super) fn in_meshes() -> Vec<Row> {
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
    let many = |text: &dyn Fn(usize) -> String| (0..DEEP).map(text).collect::<String>();
    let mut rows = vec![
        obj(
            "many libraries that are not there",
            "",
            OBJ.to_owned() + &many(&|i| format!("mtllib {i}.mtl\n")),
        ),
        obj("many mistakes", "", OBJ.to_owned() + &many(&|i| format!("f {i}00 x\nv nan {i}\nvt\n"))),
        mtl(
            "many images that are not there",
            MTL.to_owned() + &many(&|i| format!("newmtl m{i}\nmap_Kd A{i}.png\nmap_d c:\\\\b{i}\n")),
        ),
        mtl("many statements before a material", many(&|i| format!("statement{i} 1\n")) + MTL),
        mtl(
            "many numbers out of range",
            MTL.to_owned() + &many(&|i| format!("Ns -{i}\nd 1{i}\nKd -1 {i} 0\n")),
        ),
        ply(
            "many images".into(),
            "",
            TEXTURED_PLY.replace(
                "element vertex",
                &((0..20_000).map(|i| format!("comment TextureFile {i}.png\n")).collect::<String>()
                    + "element vertex"),
            ),
        ),
        ply(
            "many points at a place".into(),
            "",
            format!(
                "ply\nformat ascii 1.0\nelement vertex {DEEP}\nproperty uchar x\nproperty uchar y\nproperty uchar z\n\
                 property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n{}",
                "1 2 3 4 5 6\n".repeat(DEEP)
            ),
        ),
        ply(
            "points of all colours".into(),
            "",
            format!(
                "ply\nformat ascii 1.0\nelement vertex {DEEP}\nproperty int x\nproperty uchar y\nproperty uchar z\n\
                 property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n{}",
                many(&|i| format!("{i} 0 0 {} {} {}\n", i % 256, i / 256 % 256, i / 3 % 256))
            ),
        ),
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

pub(super) fn in_serialized() -> Vec<Row> {
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
    let mut out = ZlibEncoder::new(Vec::new(), Compression::best());
    std::io::copy(&mut std::io::repeat(0).take(count as u64), &mut out).expect("room in memory");
    out.finish().expect("room in memory")
}

pub(super) fn in_images() -> Vec<Row> {
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
    let large_profile = [b"x\0\0".as_slice(), &zeros(256 << 20)].concat();
    let attributes: String = (0..10_001).map(|i| format!("a{i}\0int\0\u{4}\0\0\0\0\0\0\0")).collect();
    // Behind the magic number and the version.
    let many_attributes = [&exr[..8], attributes.as_bytes(), &exr[8..]].concat();
    let mut rows = vec![
        file("16384 × 16384 zeros".into(), "a.png", "png", blank_png(16384, &[])),
        file("4096 × 4096 zeros".into(), "", "png", blank_png(4096, &[])),
        file("a profile of zeros".into(), "", "png", blank_png(8, &[(b"iCCP", profile.clone())])),
        file("a text of zeros".into(), "", "png", blank_png(8, &[(b"zTXt", profile)])),
        // Of no kind that may take as much memory as an image of any size.
        file("a profile of 256 MiB".into(), "", "dat", blank_png(8, &[(b"iCCP", large_profile)])),
        file("many attributes".into(), "its headers have more than 10000 attributes", "exr", many_attributes),
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

pub(super) fn in_spectra() -> Vec<Row> {
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

pub(super) fn in_transforms() -> Vec<Row> {
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
