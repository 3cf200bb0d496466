//! OBJ files with their libraries, and PLY files, as scenes of their own.

use device::features::Features;
use glam::{Vec2, Vec3};
use torrance_scene::{
    Channel, Color, Description, Error, Facets, Geometry, LoadedScene, Material, MaterialKind, NormalMapKind,
    Options, Overrides, Texture, TriangleMesh, Wrap, load, load_with, ply,
};

const OBJ: &str = "mtllib a b.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nvt 1 0.25\nvt 0 1\nf 1/1 2/2 3/3\n\
                   usemtl red stone\nf 1/1 2/2 4/3\nusemtl lamp\nf 2/2 3/3 4/1\nusemtl red stone\nf 1/1 3/3 4/2\n";

/// A folder with an image, a library and a model.
fn folder(mtl: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let pixels =
        ::image::RgbaImage::from_fn(2, 2, |x, y| ::image::Rgba([200, (100 * x) as u8, 7, (90 * y) as u8]));
    pixels.save(folder.path().join("a b.png")).unwrap();
    std::fs::write(folder.path().join("a b.mtl"), mtl).unwrap();
    std::fs::write(folder.path().join("m.obj"), OBJ).unwrap();
    folder
}

fn load_model(mtl: &str) -> Result<LoadedScene, Error> {
    load(&folder(mtl).path().join("m.obj"), &Overrides::default())
}

/// The material `lamp` of a library, and what it emits.
#[track_caller]
fn lamp(statements: &str) -> (Description, Material, Color) {
    let text = format!("newmtl red stone\nKd 1 0 0\nnewmtl lamp\n{statements}");
    let scene = load_model(&text).unwrap_or_else(|e| panic!("{}", e.report(false))).description;
    let shape = scene.shapes.iter().find(|s| s.name == "lamp").unwrap();
    let (material, emission) = (scene.materials[shape.material].clone(), shape.emission);
    (scene, material, emission)
}

#[test]
fn faces_are_shapes_by_their_materials() {
    let loaded = load_model("newmtl lamp\nKe 5 4 3\nKd 0.1 0.2 0.3\n").unwrap();
    let warnings: Vec<_> = loaded.warnings.iter().map(|w| w.to_string()).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].ends_with("m.obj:10:1: no library has a material \"red stone\"; it is grey"),
        "{warnings:?}"
    );
    let scene = loaded.description;
    let found: Vec<_> = scene.shapes.iter().map(|s| (s.name.as_str(), s.emission.value)).collect();
    assert_eq!(
        found,
        [("default", Vec3::ZERO), ("red stone", Vec3::ZERO), ("lamp", Vec3::new(5.0, 4.0, 3.0))]
    );
    let triangles = |i: usize| match &scene.shapes[i].geometry {
        Geometry::Mesh(mesh) => mesh.triangles.len(),
        _ => 0,
    };
    assert_eq!([triangles(0), triangles(1), triangles(2)], [1, 2, 1]);
    let Geometry::Mesh(mesh) = &scene.shapes[2].geometry else { panic!("not a mesh") };
    assert_eq!(mesh.positions, [Vec3::X, Vec3::Y, Vec3::Z]);
    // From the top.
    assert_eq!(mesh.uvs, [[1.0, 0.75], [0.0, 0.0], [0.0, 1.0]].map(Vec2::from));
    assert_eq!(scene.materials[2].kind, MaterialKind::diffuse(Vec3::new(0.1, 0.2, 0.3)));
    // It shines, and needs no other light.
    assert_eq!((scene.environment, scene.lights), (None, vec![]));
}

#[test]
fn models_without_a_library_are_grey_and_lit() {
    let folder = folder("");
    std::fs::remove_file(folder.path().join("a b.mtl")).unwrap();
    let loaded = load(&folder.path().join("m.obj"), &Overrides::default()).unwrap();
    let warnings: Vec<_> = loaded.warnings.iter().map(|w| w.to_string()).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0]
            .contains(": cannot read material library \"a b.mtl\": no such file; its materials are grey")
    );
    assert!(
        warnings[1]
            .ends_with(": no library has a material \"red stone\" (and 1 more of the kind); it is grey")
    );
    assert!(loaded.description.has_light());
    assert!(loaded.description.materials.iter().all(|m| m.kind == MaterialKind::diffuse(Vec3::splat(0.8))));
}

#[test]
fn illumination_models_choose_materials() {
    let kind = |statements: &str| lamp(statements).1.kind;
    let half = Vec3::splat(0.5);
    let classic = "Kd 0.5\nKs 0.5 0.5 0.5\nNs 198\nNi 1.3\nillum ";
    for model in [0, 1] {
        assert_eq!(kind(&format!("{classic}{model}")), MaterialKind::diffuse(half));
    }
    for model in ["2", "3", "10"] {
        let MaterialKind::Plastic(plastic) = kind(&format!("{classic}{model}")) else { panic!("{model}") };
        assert_eq!((plastic.reflectance.value, plastic.specular.value, plastic.ior), (half, half, 1.3));
        // √(2/200).
        assert!((plastic.facets.alpha[0].value - 0.1).abs() < 1e-6);
    }
    for model in [4, 6, 7, 9] {
        let MaterialKind::Dielectric(glass) = kind(&format!("{classic}{model}\nd 0.1")) else {
            panic!("{model}")
        };
        assert_eq!((glass.ior, glass.facets), (1.3, Facets::SMOOTH));
        assert!(lamp(&format!("{classic}{model}\nd 0.1")).1.opacity.is(1.0));
    }
    let MaterialKind::Gltf(mirror) = kind("Kd 0 0 0\nKs 0.9 0.8 0.7\nNs 1e9\nillum 3\n") else { panic!() };
    assert_eq!((mirror.metallic.value, mirror.base_color.value), (1.0, Vec3::new(0.9, 0.8, 0.7)));
    assert!(mirror.roughness.value <= 0.01);
}

#[test]
fn physically_based_statements_are_those_of_gltf() {
    let statements = "Kd 0.1 0.2 0.3\nPr 0.25\nPm 0.75\nPs 0.5\nPc 1\nPcr 0.125\naniso 0.5\nanisor 0.25\nNi 1.4\nTr 0.25\n";
    let (_, material, _) = lamp(statements);
    let MaterialKind::Gltf(m) = material.kind else { panic!("{material:?}") };
    assert_eq!(m.base_color.value, Vec3::new(0.1, 0.2, 0.3));
    assert_eq!(
        [m.roughness, m.metallic, m.clearcoat, m.clearcoat_roughness, m.anisotropy].map(|s| s.value),
        [0.25, 0.75, 1.0, 0.125, 0.5]
    );
    assert_eq!((m.sheen_color.value, m.ior, material.opacity.value), (Vec3::splat(0.5), 1.4, 0.75));
    // A quarter of a turn.
    assert!(m.rotation[0].abs() < 1e-6 && (m.rotation[1] - 1.0).abs() < 1e-6);
}

#[test]
fn textures_lie_as_their_options_say() {
    let statements = "Pr 0.5\nmap_Kd -s 2 3 1 -o 0.25 0.5 -clamp on a b.png\nmap_Pr -imfchan g a b.png\n\
                      map_d -imfchan m .\\a b.png\nmap_bump -bm 0.02 a b.png\nmap_Ke a b.png\n";
    let (scene, material, emission) = lamp(&format!("{statements}Ke 0 0 0\n"));
    assert_eq!(emission, Color::new(Vec3::ZERO));
    let MaterialKind::Gltf(m) = material.kind else { panic!("{material:?}") };
    let bitmap = |index: u32| match &scene.textures[index as usize] {
        Texture::Bitmap(bitmap) => bitmap,
        other => panic!("{other:?}"),
    };
    let color = bitmap(m.base_color.texture);
    assert_eq!((m.base_color.value, color.channel, color.wrap), (Vec3::ONE, Channel::Rgb, [Wrap::Clamp; 2]));
    // 2u + ¼; and of v from the bottom, 3v + ½: from the top 1 − (3(1 − v) + ½).
    let at = color.image_from_uv.transform_point2(Vec2::new(0.5, 0.25));
    assert!((at - Vec2::new(1.25, 1.0 - (3.0 * 0.75 + 0.5))).length() < 1e-6, "{at}");
    assert_eq!((m.roughness.value, bitmap(m.roughness.texture).channel), (0.5, Channel::G));
    assert_eq!(bitmap(material.opacity.texture).channel, Channel::A);
    let map = material.normal_map.unwrap();
    assert_eq!((map.kind, map.scale), (NormalMapKind::Bump, 0.02));
    // As a colour, as a number, as alpha, as heights.
    assert_eq!(scene.images.len(), 4);
    assert!(m.base_color.features().contains(Features::TEXTURES));
    assert_eq!(lamp("map_Ke a b.png\n").2.value, Vec3::ONE);
    assert_eq!(lamp("norm -bm 0.5 a b.png\n").1.normal_map.unwrap().kind, NormalMapKind::Up);
}

#[test]
fn suspicious_libraries_are_read_with_a_warning() {
    let of = |statements: &str| {
        let text = format!("newmtl red stone\nnewmtl lamp\n{statements}\n");
        let warnings = load_model(&text).unwrap_or_else(|e| panic!("{}", e.report(false))).warnings;
        warnings.into_iter().map(|w| w.to_string().rsplit_once('/').unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of("Kd 1\nKa 1 1 1\nillum 2\nd 1\nTr 0"), Vec::<String>::new());
    assert_eq!(of("d -halo 1"), ["a b.mtl:3:1: the option \"-halo\" of d is not supported, and left out"]);
    assert_eq!(
        of("Kd 1\nKd 0.5\nmap_Kd a b.png\nmap_Kd a b.png"),
        [
            "a b.mtl:4:1: material \"lamp\" has Kd already; the last counts",
            "a b.mtl:6:1: material \"lamp\" has map_Kd already; the last counts",
        ]
    );
    let options = "-mm 0 1 -t 0 0 0 -cc off -blendu on -blendv on -boost 0";
    assert_eq!(of(&format!("map_Kd {options} a b.png")), Vec::<String>::new());
    for option in ["-mm 0.5 1", "-mm 0 2", "-t 0 0.1", "-cc on", "-blendu off", "-texres 64", "-type sphere"]
    {
        let name = option.split(' ').next().unwrap();
        assert_eq!(
            of(&format!("map_Kd {option} a b.png\nbump {option} a b.png")),
            [format!("a b.mtl:3:1: the option \"{name}\" of map_Kd is not supported, and left out")]
        );
    }
    let highlights = |keys: &str| {
        format!(
            "a b.mtl: material \"lamp\" is physically based, so that its {keys} and those of others like it are left out"
        )
    };
    assert_eq!(of("Pr 0.5\nKs 0.5\nNs 9\nmap_Ks a b.png"), [highlights("Ks, map_Ks, Ns")]);
    assert_eq!(of("Pr 0.5\nKs 0 0 0\nNs 9"), Vec::<String>::new());
    assert_eq!(of("Ks 0.5\nNs 9\nmap_Ks a b.png"), Vec::<String>::new());
    assert_eq!(
        of("Tf 1 1 1\nTf 1 1 1\nPx 3"),
        [
            "a b.mtl:3:1: the statement \"Tf\" is not supported, and left out",
            "a b.mtl:5:1: the statement \"Px\" is not known, and left out",
        ]
    );
    assert_eq!(of("Ks 1 3 1"), ["a b.mtl:3:1: a surface reflects no more than 1; the colour is clamped"]);
    assert_eq!(of("newmtl lamp"), ["a b.mtl:3:1: material \"lamp\" is there already; the first counts"]);
    assert_eq!(
        of("Ke 1\nd 0.5"),
        ["a b.mtl: material \"lamp\" emits light, and is not transparent therefore"]
    );
}

#[test]
fn a_line_may_name_several_libraries() {
    let folder = folder("newmtl red stone\nKd 1 0 0\n");
    let obj = OBJ.replace("mtllib a b.mtl", "mtllib one.mtl two.mtl");
    std::fs::write(folder.path().join("m.obj"), obj).unwrap();
    std::fs::write(folder.path().join("one.mtl"), "newmtl red stone\nKd 0 1 0\n").unwrap();
    std::fs::write(folder.path().join("two.mtl"), "newmtl lamp\nKd 0 0 1\n").unwrap();
    let load_it = || load(&folder.path().join("m.obj"), &Overrides::default()).unwrap();
    let color = |scene: &Description, name: &str| {
        let material = scene.materials.iter().find(|m| m.name == name).unwrap();
        let MaterialKind::Diffuse(p) = material.kind else { panic!("{material:?}") };
        p.reflectance.value
    };
    let loaded = load_it();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    assert_eq!(color(&loaded.description, "red stone"), Vec3::Y);
    assert_eq!(color(&loaded.description, "lamp"), Vec3::Z);
    // There is an end to it, so that a line does not read files a million times.
    let obj = OBJ.replace("a b.mtl", &"one.mtl ".repeat(65));
    std::fs::write(folder.path().join("long.obj"), obj).unwrap();
    let long = load(&folder.path().join("long.obj"), &Overrides::default()).unwrap();
    assert!(long.warnings[0].message.starts_with("cannot read material library"), "{:?}", long.warnings);
    // A single file of that name comes first.
    std::fs::write(folder.path().join("one.mtl two.mtl"), "newmtl lamp\nKd 1 1 0\n").unwrap();
    assert_eq!(color(&load_it().description, "lamp"), Vec3::new(1.0, 1.0, 0.0));
}

#[test]
fn free_form_geometry_is_left_out_with_a_warning() {
    let folder = folder("newmtl red stone\nnewmtl lamp\n");
    let obj = format!("{OBJ}cstype bezier\ndeg 1 1\nsurf 0 1 0 1 1 2 3 4\nparm u 0 1\nparm v 0 1\nend\n");
    std::fs::write(folder.path().join("m.obj"), obj).unwrap();
    let warnings = load(&folder.path().join("m.obj"), &Overrides::default()).unwrap().warnings;
    let line = OBJ.lines().count() + 1;
    let message = format!(":{line}:1: free-form curves and surfaces are not supported, and left out");
    assert!(warnings.len() == 1 && warnings[0].to_string().ends_with(&message), "{warnings:?}");
}

/// Mistakes of others cost what they spoil and no more, and under `--strict` the whole.
#[test]
fn mistakes_in_libraries_are_forgiven() {
    const LEFT_OUT: &str = "the statement is left out";
    let table = [
        ("newmtl", "3:1: a material needs a name", "it is that of \"usemtl\" without a name"),
        ("Kd", "3:1: a colour has three numbers, and this one has 0", LEFT_OUT),
        ("Kd 1 0", "3:1: a colour has three numbers, and this one has 2", LEFT_OUT),
        ("Kd 1 x 0", "3:6: \"x\" is not a number", LEFT_OUT),
        ("Kd 1 nan 0", "3:6: \"nan\" is not finite", LEFT_OUT),
        ("Kd 1 -1 0", "3:6: -1 is below 0", "it is taken as 0"),
        ("Ke 1 2e9 0", "3:6: 2000000000 is not from 0 to 1000000000", "it is taken as 1000000000"),
        ("Kd spectral a.rfl", "3:4: \"spectral\" colours are not read; write red, green and blue", LEFT_OUT),
        ("Ns", "3:1: a number is missing", LEFT_OUT),
        ("Ns -1", "3:4: -1 is below 0", "it is taken as 0"),
        ("Ni 0", "3:4: 0 is not from 0.001 to 1000", LEFT_OUT),
        ("d 1.5", "3:3: 1.5 is not from 0 to 1", "it is taken as 1"),
        ("Tr -1", "3:4: -1 is not from 0 to 1", "it is taken as 0"),
        ("Pr inf", "3:4: \"inf\" is not finite", LEFT_OUT),
        ("illum 11", "3:7: 11 is not from 0 to 10", "it is taken as 10"),
        ("map_Kd", "3:1: map_Kd needs the name of an image", LEFT_OUT),
        ("map_Kd -s 1 1 1", "3:1: map_Kd needs the name of an image", LEFT_OUT),
        ("map_Kd -q a b.png", "3:8: unknown option \"-q\" of map_Kd", "it is left out"),
        ("map_Kd -o inf a b.png", "3:11: \"inf\" is not finite", LEFT_OUT),
        ("map_Kd -s 1e30 a b.png", "3:11: \"1e30\" is beyond ±1e9", LEFT_OUT),
    ];
    for (statement, message, remedy) in table {
        let folder = folder(&format!("newmtl red stone\nnewmtl lamp\n{statement}\n"));
        let load =
            |strict| load_with(&folder.path().join("m.obj"), &Options { strict, ..Options::default() });
        let loaded = load(false).unwrap();
        let warnings: Vec<_> = loaded.warnings.iter().map(|w| w.to_string()).collect();
        let expected = format!("a b.mtl:{message}; {remedy}");
        assert!(warnings.len() == 1 && warnings[0].ends_with(&expected), "{warnings:?}");
        let error = load(true).unwrap_err().to_string();
        assert_eq!(error.rsplit_once("a b.mtl:").map(|(_, rest)| rest), Some(message), "{error}");
    }
    let before = load_model("Kd 1 1 1\nKs 1\nnewmtl lamp\nnewmtl red stone\n").unwrap();
    assert_eq!(before.warnings.len(), 1);
    let expected = "a b.mtl:1:1: this belongs to no material; begin one with newmtl (and 1 more of the kind); the statement is left out";
    assert!(before.warnings[0].to_string().ends_with(expected), "{:?}", before.warnings);
}

#[test]
fn values_that_make_no_sense_are_the_usual_ones() {
    let (_, glass, _) = lamp("Ni 0\nillum 7");
    let MaterialKind::Dielectric(glass) = glass.kind else { panic!("{glass:?}") };
    assert_eq!(glass.ior, 1.5);
    assert_eq!(lamp("KD 0.25").1.kind, MaterialKind::diffuse(Vec3::splat(0.25)));
}

#[test]
fn materials_that_are_all_invisible_are_opaque() {
    let opacity = |mtl: &str| {
        let loaded = load_model(mtl).unwrap();
        let warning =
            "all materials are fully transparent; they are opaque, since some programs write Tr for d";
        let is_told = loaded.warnings.iter().any(|w| w.to_string().ends_with(warning));
        let of =
            |name: &str| loaded.description.materials.iter().find(|m| m.name == name).unwrap().opacity.value;
        (of("red stone"), of("lamp"), is_told)
    };
    assert_eq!(opacity("newmtl red stone\nTr 1\nnewmtl lamp\nTr 1.0\n"), (1.0, 1.0, true));
    // Some that can be seen tell what the statement means.
    assert_eq!(opacity("newmtl red stone\nTr 1\nnewmtl lamp\nTr 0\n"), (0.0, 1.0, false));
    assert_eq!(opacity("newmtl red stone\nTr 1\nnewmtl lamp\n"), (0.0, 1.0, false));
    // What is said twice is said by d.
    assert_eq!(opacity("newmtl red stone\nd 1\nTr 1\nnewmtl lamp\nTr 0.25\nd 0.5\n"), (1.0, 0.5, false));
}

#[test]
fn textures_that_cannot_be_read_leave_their_factors() {
    let of = |statements: &str| {
        let text = format!("newmtl red stone\nnewmtl lamp\n{statements}\n");
        let loaded = load_model(&text).unwrap();
        let shape = loaded.description.shapes.iter().find(|s| s.name == "lamp").unwrap();
        let material = loaded.description.materials[shape.material].clone();
        let warnings: Vec<_> = loaded.warnings.iter().map(|w| w.to_string()).collect();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        (material, shape.emission, warnings[0].clone())
    };
    let (material, _, warning) = of("Kd 0.5 0.25 0\nmap_Kd a c.png\nmap_d a c.png\nbump a c.png");
    assert_eq!(material.kind, MaterialKind::diffuse(Vec3::new(0.5, 0.25, 0.0)));
    assert_eq!((material.opacity.value, material.normal_map), (1.0, None));
    assert!(warning.contains("a b.mtl:4:1: cannot read image \"/"), "{warning}");
    assert!(
        warning.ends_with(
            "a c.png\": no such file; did you mean \"a b.png\"? (and 2 more of the kind); the material is without it"
        ),
        "{warning}"
    );
    // Grey without a colour, and dark where only the texture shone.
    assert_eq!(of("map_Kd a c.png").0.kind, MaterialKind::diffuse(Vec3::splat(0.8)));
    assert_eq!(of("Ke 1 1 1\nmap_Ke a c.png").1, Color::new(Vec3::ZERO));
    assert!(of("map_Kd ../a.png").2.contains("--allow-external"));
    // Not an image.
    assert!(of("map_Kd m.obj").2.contains("it is no image that is read; "));
    let folder = folder("newmtl red stone\nnewmtl lamp\nmap_Kd a c.png\n");
    let strict = Options { strict: true, ..Options::default() };
    let error = load_with(&folder.path().join("m.obj"), &strict).unwrap_err().to_string();
    assert!(error.contains("a b.mtl:3:1: cannot read image"), "{error}");
}

#[test]
fn images_are_found_by_names_that_other_systems_would_find() {
    for name in ["A B.PNG", "..\\A b.png", "C:\\Users\\me\\a b.png", "/home/me/a b.png", "\"A b.png\""] {
        let text = format!("newmtl red stone\nnewmtl lamp\nKd 0 0 0\nmap_Kd {name}\n");
        let loaded = load_model(&text).unwrap();
        assert_eq!(loaded.description.images.len(), 1, "{name}");
        let warnings: Vec<_> = loaded.warnings.iter().map(|w| w.to_string()).collect();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(
            warnings[0].contains("a b.mtl:4:1: there is no image ")
                && warnings[0].ends_with("a b.png\" is used"),
            "{warnings:?}"
        );
        // Black beside a texture is what programs write that do not multiply.
        let shape = loaded.description.shapes.iter().find(|s| s.name == "lamp").unwrap();
        let MaterialKind::Diffuse(diffuse) = loaded.description.materials[shape.material].kind else {
            panic!()
        };
        assert_eq!(diffuse.reflectance.value, Vec3::ONE);
    }
    let folder = folder("newmtl lamp\nnewmtl red stone\n");
    std::fs::write(folder.path().join("m.obj"), OBJ.replace("a b.mtl", ".\\A B.mtl")).unwrap();
    let loaded = load(&folder.path().join("m.obj"), &Overrides::default()).unwrap();
    assert_eq!(loaded.warnings.len(), 1);
    assert!(loaded.warnings[0].to_string().contains("m.obj:1:1: there is no material library"));
}

#[test]
fn names_may_have_any_characters() {
    let folder = folder("newmtl Material #1\nKd 1 0 0\nnewmtl #2 # two\nKd 0 1 0 # green\n");
    let obj = "mtllib a b.mtl # all\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl Material #1\nf 1 2 3 # one\nusemtl #2\nf 1 2 3\n";
    std::fs::write(folder.path().join("m.obj"), obj).unwrap();
    let loaded = load(&folder.path().join("m.obj"), &Overrides::default()).unwrap();
    assert_eq!(loaded.warnings, []);
    let found: Vec<_> = loaded.description.materials.iter().map(|m| (&*m.name, m.kind)).collect();
    let diffuse = MaterialKind::diffuse;
    assert_eq!(found, [("Material #1", diffuse(Vec3::X)), ("#2", diffuse(Vec3::Y))]);
}

#[test]
fn colours_of_vertices_multiply_those_of_materials() {
    let folder = folder("newmtl red stone\nKd 0.5 0.5 0.5\nnewmtl lamp\nmap_Kd a b.png\n");
    let obj = OBJ.replace("v 0 0 0\n", "v 0 0 0 1 0 0\n");
    std::fs::write(folder.path().join("m.obj"), obj).unwrap();
    let scene = load(&folder.path().join("m.obj"), &Overrides::default()).unwrap().description;
    let color = |name: &str| match &scene.materials.iter().find(|m| m.name == name).unwrap().kind {
        MaterialKind::Diffuse(diffuse) => {
            (diffuse.reflectance.value, &scene.textures[diffuse.reflectance.texture as usize])
        }
        other => panic!("{other:?}"),
    };
    let vertices = Texture::VertexColor { channel: Channel::Rgb };
    assert_eq!(color("default"), (Vec3::ONE, &vertices));
    assert_eq!(color("red stone"), (Vec3::splat(0.5), &vertices));
    let (value, Texture::Product([image, of_vertices])) = color("lamp") else { panic!() };
    assert_eq!((value, &scene.textures[of_vertices.texture as usize]), (Vec3::ONE, &vertices));
    assert!(matches!(scene.textures[image.texture as usize], Texture::Bitmap(_)));
    let Geometry::Mesh(mesh) = &scene.shapes[0].geometry else { panic!() };
    assert_eq!(mesh.colors, [Vec3::X, Vec3::ONE, Vec3::ONE]);
}

#[test]
fn ply_files_are_scenes_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.ply");
    for colors in [vec![], vec![Vec3::X; 3]] {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
        let mesh = TriangleMesh { positions, triangles: vec![[0, 1, 2]], colors, ..TriangleMesh::default() };
        ply::write(&mesh, std::fs::File::create(&path).unwrap()).unwrap();
        let scene = load(&path, &Overrides::default()).unwrap().description;
        let Geometry::Mesh(found) = &scene.shapes[0].geometry else { panic!("not a mesh") };
        assert_eq!(found.source.as_ref().map(|s| &*s.file), Some(path.as_path()));
        assert_eq!(TriangleMesh { source: None, ..TriangleMesh::clone(found) }, mesh);
        assert_eq!(scene.textures.len(), usize::from(!mesh.colors.is_empty()));
        assert!(scene.has_light());
    }
}

/// A square as VCGlib writes it, whose two faces have an image each.
const TEXTURED: &str = "ply\nformat ascii 1.0\ncomment TextureFile a b.png\ncomment TextureFile Second.PNG\n\
    element vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 2\n\
    property list uchar int vertex_indices\nproperty list uchar float texcoord\nproperty int texnumber\nend_header\n\
    0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2 6 0 0 1 0 1 1 0\n3 0 2 3 6 0 0 1 1 0 1 1\n";

fn ply_with_images(text: &str) -> LoadedScene {
    let folder = folder("");
    std::fs::copy(folder.path().join("a b.png"), folder.path().join("second.png")).unwrap();
    std::fs::write(folder.path().join("m.ply"), text).unwrap();
    load(&folder.path().join("m.ply"), &Overrides::default())
        .unwrap_or_else(|e| panic!("{}", e.report(false)))
}

#[test]
fn images_of_ply_files_are_textures() {
    let meshes = |scene: &Description| -> Vec<TriangleMesh> {
        let mesh = |shape: &torrance_scene::Shape| match &shape.geometry {
            Geometry::Mesh(mesh) => TriangleMesh::clone(mesh),
            _ => panic!(),
        };
        scene.shapes.iter().map(mesh).collect()
    };
    let loaded = ply_with_images(TEXTURED);
    let warnings: Vec<_> = loaded.warnings.iter().map(|w| w.to_string()).collect();
    assert!(
        warnings.len() == 1 && warnings[0].contains("m.ply: there is no image \"Second.PNG\"; \"/"),
        "{warnings:?}"
    );
    let found = meshes(&loaded.description);
    assert_eq!((found.len(), loaded.description.images.len()), (2, 2));
    // From the bottom in the file, and from the top here.
    assert_eq!(found[0].uvs, [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]].map(Vec2::from));
    assert_eq!(found[1].positions, [Vec3::ZERO, Vec3::new(1.0, 1.0, 0.0), Vec3::Y]);
    for shape in &loaded.description.shapes {
        let MaterialKind::Diffuse(diffuse) = loaded.description.materials[shape.material].kind else {
            panic!()
        };
        let Texture::Bitmap(_) = loaded.description.textures[diffuse.reflectance.texture as usize] else {
            panic!()
        };
    }
    // One image is that of all faces, and by vertices as well. The file can be named by another scene.
    let one = TEXTURED.replace("comment TextureFile Second.PNG\n", "").replace("1 1 0 1 1\n", "1 1 0 1 0\n");
    let loaded = ply_with_images(&one);
    let found = meshes(&loaded.description);
    assert_eq!((found.len(), loaded.warnings), (1, vec![]));
    assert!(found[0].source.as_ref().unwrap().flip_v);
    let by_vertices = "ply\nformat ascii 1.0\ncomment TextureFile a b.png\nelement vertex 3\nproperty float x\n\
        property float y\nproperty float z\nproperty float texture_u\nproperty float texture_v\nelement face 1\n\
        property list uchar int vertex_indices\nend_header\n0 0 0 0 0\n1 0 0 1 0\n1 1 0 1 1\n3 0 1 2\n";
    let loaded = ply_with_images(by_vertices);
    assert_eq!(meshes(&loaded.description)[0].uvs, [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]].map(Vec2::from));
    // Without its image the mesh is grey.
    let lost = ply_with_images(&by_vertices.replace("a b.png", "c.png"));
    assert_eq!(lost.description.materials[0].kind, MaterialKind::diffuse(Vec3::splat(0.8)));
    assert!(
        lost.warnings[0]
            .to_string()
            .ends_with("cannot read image \"c.png\": no such file; the mesh is without it")
    );
    // A face may have none.
    let some = ply_with_images(&TEXTURED.replace("1 1 0 1 1\n", "1 1 0 1 -1\n"));
    assert_eq!(some.description.shapes.len(), 2);
}

/// A cloud of points in a plane, side by side.
fn cloud(side: u32, color: impl Fn(u32) -> [u8; 3]) -> Vec<u8> {
    let mut bytes = format!(
        "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
         property uchar red\nproperty uchar green\nproperty uchar blue\nelement face 0\n\
         property list uchar int vertex_indices\nend_header\n",
        side * side
    )
    .into_bytes();
    for i in 0..side * side {
        let place = [(i % side) as f32 * 0.5, (i / side) as f32 * 0.5, 3.0];
        bytes.extend(place.iter().flat_map(|x: &f32| x.to_le_bytes()));
        bytes.extend(color(i));
    }
    bytes
}

fn load_cloud(bytes: &[u8], options: &Options) -> Description {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.ply"), bytes).unwrap();
    let loaded = load_with(&folder.path().join("m.ply"), options).unwrap();
    assert_eq!(loaded.warnings, []);
    loaded.description
}

fn radius(scene: &Description) -> f32 {
    match scene.groups[0].shapes[0].geometry {
        Geometry::Sphere { radius, .. } => radius,
        _ => panic!(),
    }
}

/// The points of a file without faces are spheres of their places and colours.
#[test]
fn points_are_spheres() {
    let color = |i: u32| if i == 7 { [255, 0, 0] } else { [0, 188, 0] };
    let scene = load_cloud(&cloud(20, color), &Options::default());
    assert_eq!((scene.shapes.len(), scene.groups.len(), scene.instances.len()), (0, 2, 400));
    let red = scene.groups.iter().position(|group| group.name == "#ff0000").unwrap();
    let MaterialKind::Diffuse(diffuse) = scene.materials[scene.groups[red].shapes[0].material].kind else {
        panic!()
    };
    assert_eq!(diffuse.reflectance.value, Vec3::X);
    let of_red: Vec<_> = scene.instances.iter().filter(|i| i.group as usize == red).collect();
    assert_eq!(of_red.len(), 1);
    assert_eq!(Vec3::from(of_red[0].world_from_group.translation), Vec3::new(3.5, 0.0, 3.0));
    let green = &scene.groups[1 - red];
    let MaterialKind::Diffuse(diffuse) = scene.materials[green.shapes[0].material].kind else { panic!() };
    // 188 of 255 is 0.50289 linear.
    assert!((diffuse.reflectance.value - Vec3::new(0.0, 0.502_886, 0.0)).length() < 1e-5);
    // In a lattice of ½, spheres of that radius meet in the middle of its squares: at ½/√2.
    let found = radius(&scene);
    assert!((0.25 * std::f32::consts::SQRT_2..0.51).contains(&found), "{found}");
    assert_eq!(
        radius(&load_cloud(&cloud(20, color), &Options { point_radius: Some(0.125), ..Options::default() })),
        0.125
    );
    assert!(scene.has_light());
}

/// More colours than are kept become others that are hardly to be told from them.
#[test]
fn colours_of_points_are_kept_or_near() {
    // 128² distinct ones, by bits that are far apart.
    let color = |i: u32| [(2 * (i % 128)) as u8, (2 * (i / 128)) as u8, (255 - (i % 256)) as u8];
    let scene = load_cloud(&cloud(128, color), &Options::default());
    assert!(scene.groups.len() <= 4096 && scene.groups.len() > 2000, "{}", scene.groups.len());
    let bytes = |name: &str| [1, 3, 5].map(|at| u8::from_str_radix(&name[at..at + 2], 16).unwrap());
    let worst = scene.instances.iter().map(|instance| {
        let place = instance.world_from_group.translation;
        let i = (2.0 * place.x) as u32 + 128 * (2.0 * place.y) as u32;
        let found = bytes(&scene.groups[instance.group as usize].name);
        (0..3).map(|c| color(i)[c].abs_diff(found[c])).max().unwrap()
    });
    let worst = worst.max().unwrap();
    assert!(worst > 0 && worst <= 6, "{worst}");
    // A few are themselves.
    let few = |i: u32| [(i % 64) as u8, (i / 64 % 64) as u8, 0];
    let scene = load_cloud(&cloud(64, few), &Options::default());
    assert_eq!(scene.groups.len(), 4096);
    for instance in &scene.instances {
        let place = instance.world_from_group.translation;
        let i = (2.0 * place.x) as u32 + 64 * (2.0 * place.y) as u32;
        assert_eq!(bytes(&scene.groups[instance.group as usize].name), few(i));
    }
}

#[test]
fn points_without_a_neighbour_have_a_radius() {
    let text = |rows: &str, count: usize| {
        format!(
            "ply\nformat ascii 1.0\nelement vertex {count}\nproperty float x\nproperty float y\nproperty float z\n\
             end_header\n{rows}"
        )
    };
    let one = load_cloud(text("1 2 3\n1 2 3\n", 2).as_bytes(), &Options::default());
    // At one place is one.
    assert_eq!((one.instances.len(), radius(&one), one.groups[0].name.as_str()), (1, 1.0, "points"));
    // Points that are none are left out.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.ply");
    std::fs::write(&path, text("0 0 0\nnan nan nan\n1 0 0\n", 3)).unwrap();
    let loaded = load(&path, &Overrides::default()).unwrap();
    assert_eq!((loaded.description.instances.len(), loaded.warnings.len()), (2, 1));
    assert!(loaded.warnings[0].message.starts_with("a coordinate of this vertex is not a number"));
    std::fs::write(&path, text("", 0)).unwrap();
    let error = load(&path, &Overrides::default()).unwrap_err().to_string();
    assert!(error.ends_with("m.ply: there are neither faces nor points"), "{error}");
    std::fs::write(&path, text("nan 0 0\n", 1)).unwrap();
    let error = load(&path, &Overrides::default()).unwrap_err().to_string();
    assert!(error.ends_with("a coordinate of this vertex is not a number (NaN)"), "{error}");
}

/// A tower along one axis is seen upright, and with its front in front.
#[test]
fn models_are_turned_upright() {
    let folder = tempfile::tempdir().unwrap();
    let tower = "v 0 0 0\nv 1 0 0\nv 0 0 9\nf 1 2 3\n";
    std::fs::write(folder.path().join("m.obj"), tower).unwrap();
    let top = |up: &str| {
        let options = Options { up: Some(up.parse().unwrap()), ..Options::default() };
        let scene = load_with(&folder.path().join("m.obj"), &options).unwrap().description;
        let bounds = scene.bounds();
        assert_eq!(scene.camera.target, bounds.center());
        scene.shapes[0].world_from_object.transform_point3(Vec3::new(0.0, 0.0, 9.0))
    };
    assert_eq!(top("y"), Vec3::new(0.0, 0.0, 9.0));
    assert_eq!(top("z"), Vec3::new(0.0, 9.0, 0.0));
    assert_eq!(top("-z"), Vec3::new(0.0, -9.0, 0.0));
    assert_eq!(top("-y"), Vec3::new(0.0, 0.0, -9.0));
    for up in ["x", "y", "z", "-x", "-y", "-z"] {
        let scene = load_with(
            &folder.path().join("m.obj"),
            &Options { up: Some(up.parse().unwrap()), ..Options::default() },
        );
        // A rotation: nothing is mirrored.
        assert_eq!(scene.unwrap().description.shapes[0].world_from_object.matrix3.determinant(), 1.0, "{up}");
    }
    assert!("w".parse::<torrance_scene::Up>().is_err());
    // Clouds are turned, too, and scenes that say which way is up are not.
    let z_up = || Options { up: Some("z".parse().unwrap()), ..Options::default() };
    let turned = load_cloud(&cloud(4, |_| [9; 3]), &z_up());
    assert_eq!(turned.bounds().center().y, 3.0);
    std::fs::write(folder.path().join("s.toml"), crate::BASE).unwrap();
    let error = load_with(&folder.path().join("s.toml"), &z_up()).unwrap_err().to_string();
    assert!(
        error.ends_with("s.toml: the scene says which way is up: only OBJ and PLY files leave that open")
    );
}

/// What is written of a model with mistakes is without them.
#[test]
fn scenes_of_forgiven_models_are_written_without_their_mistakes() {
    let folder = tempfile::tempdir().unwrap();
    let text = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
        element face 2\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n7 7 nan\n3 0 1 2\n3 0 1 3\n";
    std::fs::write(folder.path().join("m.ply"), text).unwrap();
    let scene = load(&folder.path().join("m.ply"), &Overrides::default()).unwrap().description;
    let out = folder.path().join("out.toml");
    let written = torrance_scene::write(&scene, &out, torrance_scene::Extent::Short);
    assert_eq!(written.assets.len(), 1);
    let read = torrance_scene::load_unfinished(&out, &written.text(), written.assets).unwrap();
    assert!(read.description.is_same_scene(&torrance_scene::canonical(&scene)));
}
