//! Shapes, materials, textures and emitters.

use glam::{Affine2, Vec2, Vec3};

use super::*;

#[test]
fn defaults_of_materials_are_mitsubas() {
    let near = |a: f32, b: f32| (a - b).abs() < 2e-6;
    let (_, diffuse) = material("<bsdf type=\"diffuse\"/>");
    assert_eq!(diffuse.kind, MaterialKind::diffuse(Vec3::splat(0.5)));
    assert!(!diffuse.two_sided);
    // The shape's own, without and with an emitter.
    assert_eq!(material("").1.kind, diffuse.kind);
    assert_eq!(material("<emitter type=\"area\"/>").1.kind, MaterialKind::diffuse(Vec3::ZERO));
    let MaterialKind::Conductor(mirror) = material("<bsdf type=\"conductor\"/>").1.kind else { panic!() };
    assert_eq!(mirror.index(), (Vec3::ZERO, Vec3::ONE));
    assert!(mirror.facets.is_smooth());
    let MaterialKind::Conductor(rough) = material("<bsdf type=\"roughconductor\"/>").1.kind else { panic!() };
    assert_eq!(rough.facets.distribution(), Distribution::Beckmann);
    assert!(rough.facets.alpha.iter().all(|a| a.is(0.1)));
    let MaterialKind::Dielectric(glass) = material("<bsdf type=\"dielectric\"/>").1.kind else { panic!() };
    assert!(near(glass.ior, 1.504_183_3));
    let MaterialKind::ThinDielectric(pane) = material("<bsdf type=\"thindielectric\"/>").1.kind else {
        panic!()
    };
    assert!(near(pane.ior, 1.504_183_3));
    let MaterialKind::Plastic(plastic) = material("<bsdf type=\"plastic\"/>").1.kind else { panic!() };
    assert!(near(plastic.ior, 1.489_587_3) && plastic.facets.is_smooth() && plastic.nonlinear == 0);
    assert_eq!(plastic.reflectance, Color::new(Vec3::splat(0.5)));
    let MaterialKind::Principled(p) = material("<bsdf type=\"principled\"/>").1.kind else { panic!() };
    assert!(near(p.eta, 1.5) && p.roughness.is(0.5) && p.metallic.is(0.0));
}

#[test]
fn refraction_goes_by_name() {
    let gold = "<bsdf type=\"roughconductor\"><string name=\"material\" value=\"Au\"/></bsdf>";
    let MaterialKind::Conductor(gold) = material(gold).1.kind else { panic!() };
    assert_eq!(gold.index(), (Vec3::new(0.143036, 0.375307, 1.44205), Vec3::new(3.983, 2.38556, 1.60336)));
    let diamond = "<bsdf type=\"dielectric\"><string name=\"int_ior\" value=\"Diamond\"/>\
                   <string name=\"ext_ior\" value=\"water\"/></bsdf>";
    let MaterialKind::Dielectric(diamond) = material(diamond).1.kind else { panic!() };
    assert_eq!(diamond.ior, 2.419 / 1.333);
}

#[test]
fn factors_of_what_is_specular_are_tints() {
    let reflects = "<rgb name=\"specular_reflectance\" value=\"0.5\"/>";
    let passes = "<rgb name=\"specular_transmittance\" value=\"0.1 0.2 0.3\"/>";
    let reflection = Color::new(Vec3::splat(0.5));
    let both = Tints { reflection, transmission: Color::new(Vec3::new(0.1, 0.2, 0.3)) };
    for (xml, expected) in [
        (format!("<bsdf type=\"roughconductor\">{reflects}</bsdf>"), Tints { reflection, ..Tints::NONE }),
        (format!("<bsdf type=\"dielectric\">{reflects}{passes}</bsdf>"), both),
        (format!("<bsdf type=\"roughdielectric\">{reflects}{passes}</bsdf>"), both),
        (format!("<bsdf type=\"thindielectric\">{reflects}{passes}</bsdf>"), both),
        ("<bsdf type=\"dielectric\"/>".to_owned(), Tints::NONE),
    ] {
        let tints = match material(&xml).1.kind {
            MaterialKind::Conductor(p) => p.tints,
            MaterialKind::Dielectric(p) => p.tints,
            MaterialKind::ThinDielectric(p) => p.tints,
            other => panic!("{other:?}"),
        };
        assert_eq!(tints, expected, "{xml}");
    }
}

#[test]
fn lamps_may_be_nothing_but_light() {
    let lamp = "<emitter type=\"area\"/>";
    let of = |inner: &str| {
        let material = material(inner).1;
        (material.opacity.value, material.holes_emit)
    };
    assert_eq!(of(&format!("{lamp}<bsdf type=\"null\"/>")), (0.0, true));
    assert_eq!(of(&format!("{lamp}<bsdf type=\"mask\"><bsdf type=\"diffuse\"/></bsdf>")), (0.5, true));
    assert_eq!(of(lamp), (1.0, false));
    assert_eq!(of("<bsdf type=\"null\"/>"), (0.0, false));
}

#[test]
fn what_is_around_becomes_a_part() {
    let diffuse = "<bsdf type=\"diffuse\"/>";
    assert!(material(&format!("<bsdf type=\"twosided\">{diffuse}</bsdf>")).1.two_sided);
    let (d, both) = material(&format!("<bsdf type=\"twosided\">{diffuse}<bsdf type=\"conductor\"/></bsdf>"));
    let back = &d.materials[both.back.unwrap()];
    assert!(matches!(back.kind, MaterialKind::Conductor(_)) && back.two_sided);
    let mask = format!("<bsdf type=\"mask\"><bsdf type=\"twosided\">{diffuse}</bsdf></bsdf>");
    let mask = material(&mask).1;
    assert!(mask.opacity.is(0.5) && mask.two_sided);
    let blend = "<bsdf type=\"twosided\"><bsdf type=\"blendbsdf\"><float name=\"weight\" value=\"0.25\"/>\
                 <bsdf type=\"diffuse\"/><bsdf type=\"plastic\"/></bsdf></bsdf>";
    let (d, blend) = material(blend);
    let MaterialKind::Blend(parts) = blend.kind else { panic!() };
    let [first, second] = parts.materials.map(|i| &d.materials[i as usize]);
    assert!(parts.weight.is(0.25) && first.two_sided && second.two_sided);
    assert!(matches!((first.kind, second.kind), (MaterialKind::Diffuse(_), MaterialKind::Plastic(_))));
    // A mixture with nothing is a mask.
    let holes = "<bsdf type=\"blendbsdf\"><float name=\"weight\" value=\"0.25\"/>\
                 <bsdf type=\"diffuse\"/><bsdf type=\"null\"/></bsdf>";
    assert!(material(holes).1.opacity.is(0.75));
}

#[test]
fn maps_keep_to_their_side() {
    let map = |inner: &str| {
        format!(
            "<bsdf type=\"normalmap\"><texture type=\"bitmap\" name=\"normalmap\"><boolean name=\"raw\" value=\"true\"/>\
             <string name=\"filename\" value=\"normalmap/normal.png\"/></texture>\
             <boolean name=\"flip_invalid_normals\" value=\"false\"/>{inner}</bsdf>"
        )
    };
    let diffuse = "<bsdf type=\"diffuse\"/>";
    let (_, mapped) = material(&map(diffuse));
    let found = mapped.normal_map.unwrap();
    assert_eq!(
        (found.kind, found.invalid, found.hard_terminator),
        (NormalMapKind::Across, InvalidNormals::Keep, false)
    );
    assert!(!mapped.two_sided && mapped.back.is_none());
    // Around both sides, what stands out in front is hollow from behind; within, it stands out on both.
    let (_, around) = material(&map(&format!("<bsdf type=\"twosided\">{diffuse}</bsdf>")));
    assert!(around.two_sided && around.back.is_none() && around.normal_map == mapped.normal_map);
    let (d, within) = material(&format!("<bsdf type=\"twosided\">{}</bsdf>", map(diffuse)));
    let back = &d.materials[within.back.unwrap()];
    assert_eq!(back.normal_map.unwrap().kind, NormalMapKind::Against);
}

/// As in the scenes of Mitsuba's own tests: the normal that there is without a map, or another that is the same everywhere.
#[test]
fn normals_may_be_a_plain_colour() {
    let color = Color::new(Vec3::new(0.5, 0.25, 1.0));
    for normal in [
        "<rgb name=\"normalmap\" value=\"0.5, 0.25, 1\"/>",
        "<spectrum name=\"normalmap\" type=\"srgb\"><rgb name=\"color\" value=\"0.5, 0.25, 1\"/></spectrum>",
    ] {
        let (d, mapped) =
            material(&format!("<bsdf type=\"normalmap\">{normal}<bsdf type=\"diffuse\"/></bsdf>"));
        let map = mapped.normal_map.unwrap();
        let Texture::Checker { colors, .. } = d.textures[map.texture] else { panic!() };
        assert_eq!(colors, [color; 2]);
    }
}

#[test]
fn textures_are_mitsubas() {
    let checker = "<bsdf type=\"diffuse\"><texture type=\"checkerboard\" name=\"reflectance\">\
                   <transform name=\"to_uv\"><scale x=\"3\"/><translate x=\"0.5\"/></transform></texture></bsdf>";
    let (d, _) = material(checker);
    let [Texture::Checker { squares_from_uv, colors }] = d.textures.as_slice() else { panic!() };
    let expected = Affine2::from_scale_angle_translation(Vec2::new(6.0, 2.0), 0.0, Vec2::new(1.0, 0.0));
    assert_eq!(*squares_from_uv, expected);
    assert_eq!(*colors, [0.4, 0.2].map(|x| Color::new(Vec3::splat(x))));
    // A number of an image of colours is its luminance.
    let alpha = "<bsdf type=\"roughconductor\"><texture type=\"bitmap\" name=\"alpha\">\
                 <string name=\"filename\" value=\"textured/albedo.png\"/>\
                 <boolean name=\"raw\" value=\"true\"/><string name=\"wrap_mode\" value=\"mirror\"/></texture></bsdf>";
    let (d, _) = material(alpha);
    let [Texture::Bitmap(bitmap)] = d.textures.as_slice() else { panic!() };
    assert_eq!((bitmap.wrap, bitmap.channel), ([Wrap::Mirror; 2], Channel::R));
    let (color, grey) = (&d.images[0], &d.images[bitmap.image]);
    let [r, g, b, _] = color.texels[7].to_le_bytes().map(|x| f32::from(x) / 255.0);
    let luminance = 0.212671 * r + 0.715160 * g + 0.072169 * b;
    assert!(r != g && (f32::from_bits(grey.texels[21]) - luminance).abs() < 1e-6);
}

/// As `eval_1` of Mitsuba 3.9.1's textures: the squares of a checkerboard change places, at every level, and colours count
/// by their mean.
#[test]
fn numbers_of_textures_are_mitsubas() {
    let mask = |opacity: &str| {
        let (d, m) = material(&format!("<bsdf type=\"mask\">{opacity}<bsdf type=\"diffuse\"/></bsdf>"));
        (m.opacity, d.textures)
    };
    let rgb = |name: &str| format!("<rgb name=\"{name}\" value=\"0.9, 0.3, 0\"/>");
    let near = |a: f32, b: f32| (a - b).abs() < 1e-6;
    for plain in [
        rgb("opacity"),
        format!("<spectrum name=\"opacity\" type=\"srgb\">{}</spectrum>", rgb("color")),
        format!("<texture name=\"opacity\" type=\"d65\">{}</texture>", rgb("color")),
    ] {
        assert!(near(mask(&plain).0.value, 0.4), "{plain}");
    }
    assert!(
        mask("<spectrum name=\"opacity\" type=\"uniform\"><float name=\"value\" value=\"0.25\"/></spectrum>")
            .0
            .is(0.25)
    );
    let inner =
        "<texture type=\"checkerboard\" name=\"color1\"><float name=\"color0\" value=\"0.7\"/></texture>";
    let checker = format!(
        "<texture type=\"checkerboard\" name=\"opacity\">{}{inner}\
         <transform name=\"to_uv\"><scale x=\"3\"/></transform></texture>",
        rgb("color0")
    );
    let (opacity, textures) = mask(&checker);
    let colors = |i: u32| {
        let Texture::Checker { squares_from_uv, colors } = textures[i as usize] else { panic!() };
        (squares_from_uv.matrix2.x_axis.x, colors)
    };
    let (scale, [first, second]) = colors(opacity.texture);
    assert_eq!((scale, first.value), (6.0, Vec3::ONE));
    assert!(near(second.value.x, 0.4));
    assert_eq!(colors(first.texture), (2.0, [0.2, 0.7].map(|x| Color::new(Vec3::splat(x)))));
    // Control: colours stay where they are.
    let diffuse = format!("<bsdf type=\"diffuse\">{}</bsdf>", checker.replace("opacity", "reflectance"));
    let textures = material(&diffuse).0.textures;
    let Some(Texture::Checker { colors, .. }) = textures.last() else { panic!() };
    assert_eq!(colors[0], Color::new(Vec3::new(0.9, 0.3, 0.0)));
}

/// Mitsuba 3.9.1 takes any; its add-on for Blender writes 1.001 at least.
#[test]
fn specular_may_be_more_than_one() {
    let eta = |specular: &str| {
        let xml = format!("<bsdf type=\"principled\"><float name=\"specular\" value=\"{specular}\"/></bsdf>");
        let MaterialKind::Principled(p) = material(&xml).1.kind else { panic!() };
        p.eta
    };
    // 0.08 · specular is the reflectance at normal incidence.
    for (specular, f0) in [("1", 0.08), ("1.001", 0.08008), ("5", 0.4), ("8.36", 0.6688)] {
        let eta = eta(specular);
        assert!((((eta - 1.0) / (eta + 1.0)).powi(2) - f0).abs() < 1e-6 && eta < 10.0, "{specular}: {eta}");
    }
}

/// With a mesh that Mitsuba 3.9.1's `Mesh.write_ply` wrote, as text. Shapes without such colours it refuses.
#[test]
fn vertex_colours_are_there_or_missed() {
    let folder = tempfile::tempdir().unwrap();
    let ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
               property float color_0\nproperty float color_1\nproperty float color_2\nelement face 1\n\
               property list uchar int vertex_indices\nend_header\n\
               0 0 0 0.1 0.2 0.3\n1 0 0 0.4 0.5 0.6\n0 1 0 0.7 0.8 0.9\n3 0 1 2\n";
    std::fs::write(folder.path().join("colors.ply"), ply).unwrap();
    std::fs::write(folder.path().join("plain.ply"), ply.replace("color_", "weight_")).unwrap();
    let load = |shape: &str, bsdf: &str| {
        let text = around(&format!("\n<shape type={shape}<bsdf type=\"diffuse\">{bsdf}</bsdf></shape>"));
        let (d, warnings) = load_in(folder.path(), &text, &[]).unwrap();
        (d, warnings.iter().map(Problem::to_string).collect::<Vec<_>>())
    };
    let attribute = "<texture type=\"mesh_attribute\" name=\"reflectance\"><string name=\"name\" value=\"vertex_color\"/></texture>";
    let mesh = |name: &str| format!("\"ply\"><string name=\"filename\" value=\"{name}.ply\"/>");
    let (d, warnings) = load(&mesh("colors"), attribute);
    let Geometry::Mesh(found) = &d.shapes[0].geometry else { panic!() };
    assert_eq!((found.colors[2], warnings.len()), (Vec3::new(0.7, 0.8, 0.9), 0));
    let missed = |plugin: &str| {
        [format!("s.xml:2:1: shape \"{plugin}\" has no vertex colours for its textures; they are white")]
    };
    assert_eq!(load(&mesh("plain"), attribute).1, missed("ply"));
    assert_eq!(load("\"sphere\">", attribute).1, missed("sphere"));
    assert_eq!(load(&mesh("plain"), "").1, [""; 0], "control: nobody asks");
}

#[test]
fn reflections_turn_what_follows_its_winding() {
    let shape = |inner: &str, scale: &str| {
        let d = scene(&format!(
            "<shape {inner}<transform name=\"to_world\"><scale {scale}/></transform></shape>"
        ));
        d.shapes[0].clone()
    };
    let knot = "type=\"ply\"><string name=\"filename\" value=\"instanced/knot.ply\"/>";
    let flat = format!("{knot}<boolean name=\"face_normals\" value=\"true\"/>");
    let flipped = "type=\"sphere\"><boolean name=\"flip_normals\" value=\"true\"/>";
    // As normals of hits on the same shapes in Mitsuba 3.9.1.
    for (inner, mirrored) in [
        ("type=\"rectangle\">", false),
        ("type=\"cube\">", false),
        ("type=\"disk\">", false),
        ("type=\"sphere\">", true),
        (flat.as_str(), true),
    ] {
        assert!(!shape(inner, "value=\"2\"").flip_normals, "{inner}");
        assert_eq!(shape(inner, "x=\"-1\"").flip_normals, mirrored, "{inner}");
    }
    assert!(shape(flipped, "value=\"2\"").flip_normals && !shape(flipped, "x=\"-1\"").flip_normals);
}

/// Light leaves to the side of the normals in the file, whichever way its triangles turn.
#[test]
fn lights_shine_where_their_normals_point() {
    let folder = tempfile::tempdir().unwrap();
    for (z, turned) in [(1, false), (-1, true)] {
        let ply = format!(
            "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
             property float nx\nproperty float ny\nproperty float nz\nelement face 1\n\
             property list uchar int vertex_indices\nend_header\n\
             0 0 0 0 0 {z}\n1 0 0 0 0 {z}\n0 1 0 0 0 {z}\n3 0 1 2\n"
        );
        std::fs::write(folder.path().join("t.ply"), ply).unwrap();
        let triangle = |inner: &str| {
            let text = around(&format!(
                "<shape type=\"ply\"><string name=\"filename\" value=\"t.ply\"/>{inner}</shape>"
            ));
            let (d, _) = load_in(folder.path(), &text, &[]).unwrap();
            let Geometry::Mesh(mesh) = &d.shapes[0].geometry else { panic!() };
            mesh.triangles[0]
        };
        let expected = if turned { [0, 2, 1] } else { [0, 1, 2] };
        assert_eq!(triangle("<emitter type=\"area\"/>"), expected);
        assert_eq!(triangle(""), [0, 1, 2], "control: what does not shine stays as it is");
    }
}

#[test]
fn cylinders_may_be_long() {
    let text = "<shape type=\"cylinder\"><float name=\"radius\" value=\"0.5\"/><transform name=\"to_world\">\
                <scale x=\"2\" y=\"2\" z=\"6\"/><rotate x=\"1\" angle=\"90\"/><translate x=\"1\"/></transform></shape>";
    let shape = &scene(text).shapes[0];
    let Geometry::Cylinder { from, to, radius } = shape.geometry else { panic!() };
    let world = |p| shape.world_from_object.transform_point3(p);
    assert!((world(from) - Vec3::X).length() < 1e-6);
    assert!((world(to) - Vec3::new(1.0, -6.0, 0.0)).length() < 1e-6);
    let scale = shape.world_from_object.matrix3.determinant().cbrt();
    assert!((radius * scale - 1.0).abs() < 1e-6);
}

#[test]
fn emitters_are_mitsubas() {
    let text = "<emitter type=\"point\"><point name=\"position\" x=\"1\" y=\"2\" z=\"3\"/></emitter>\
                <emitter type=\"spot\"><transform name=\"to_world\"><lookat origin=\"0, 5, 0\" target=\"0, 0, 0\" up=\"1, 0, 0\"/></transform></emitter>\
                <emitter type=\"directional\"><vector name=\"direction\" x=\"0\" y=\"-2\" z=\"0\"/><rgb name=\"irradiance\" value=\"1 2 3\"/></emitter>\
                <shape type=\"sphere\"/>";
    let d = scene(text);
    assert_eq!(d.environment, Some(Environment::Constant(Vec3::ONE)));
    let kinds: Vec<_> = d.lights.iter().map(|light| light.kind).collect();
    assert_eq!(kinds[0], PunctualKind::Point { position: Vec3::new(1.0, 2.0, 3.0), intensity: Vec3::ONE });
    let PunctualKind::Spot { position, direction, inner, outer, falloff, .. } = kinds[1] else { panic!() };
    assert_eq!((position, inner, outer, falloff), (Vec3::Y * 5.0, 15.0, 20.0, SpotFalloff::Linear));
    assert!((direction + Vec3::Y).length() < 1e-6);
    let irradiance = Vec3::new(1.0, 2.0, 3.0);
    assert_eq!(kinds[2], PunctualKind::Directional { direction: Vec3::NEG_Y, irradiance, diameter: 0.0 });
}

/// As Mitsuba 3.9.1's `d65` evaluates: the colour times the scale, but a texture as it is.
#[test]
fn daylight_may_be_coloured() {
    let light = |inner: &str| {
        let text = around(&format!(
            "<shape type=\"sphere\"><emitter type=\"area\"><spectrum type=\"d65\" name=\"radiance\">\
             {inner}<float name=\"scale\" value=\"3\"/></spectrum></emitter></shape>"
        ));
        let (d, warnings) = load_text(&text).unwrap();
        (d.shapes[0].emission, d.textures.len(), warnings.len())
    };
    let color = "<rgb name=\"color\" value=\"0.5 2 1\"/>";
    assert_eq!(light(""), (Color::new(Vec3::splat(3.0)), 0, 0));
    assert_eq!(light(color), (Color::new(Vec3::new(1.5, 6.0, 3.0)), 0, 0));
    let plain = format!("<texture type=\"srgb\">{color}</texture>");
    assert_eq!(light(&plain), (Color::new(Vec3::new(0.5, 2.0, 1.0)), 0, 1));
    let checker = "<texture type=\"checkerboard\"/>";
    assert_eq!(light(checker), (Color { value: Vec3::ONE, texture: 0 }, 1, 1));
}

/// The first column of Mitsuba's image is −z and a quarter of the way is +x; our middle one is −z.
#[test]
fn environments_turn_by_half() {
    let text = "<scene version=\"3.0.0\"><sensor type=\"perspective\"/><shape type=\"sphere\"/><emitter type=\"envmap\">\
                <string name=\"filename\" value=\"envmap-sun/sky.exr\"/><float name=\"scale\" value=\"2\"/></emitter></scene>";
    let d = load_text(text).unwrap().0;
    let Some(Environment::Image { scale, world_from_image, .. }) = d.environment else { panic!() };
    assert_eq!(scale, Vec3::splat(2.0));
    // Our columns at ½ and ¾.
    assert!((world_from_image * Vec3::NEG_Z - Vec3::Z).length() < 1e-6);
    assert!((world_from_image * Vec3::X - Vec3::NEG_X).length() < 1e-6);
    assert!((world_from_image * Vec3::Y - Vec3::Y).length() < 1e-6);
}

/// `sun_direction` is one in the world, whatever turns the sky: looked up in Mitsuba 3.9.1, it is where the sun is.
#[test]
fn skies_turn_around_their_sun() {
    for (scale, turn) in [("1", "0"), ("1", "50"), ("2", "-130")] {
        let text = format!(
            "<scene version=\"3.0.0\"><sensor type=\"perspective\"/><shape type=\"sphere\"/><emitter type=\"sunsky\">\
             <vector name=\"sun_direction\" value=\"0.6, -0.5, 1\"/><transform name=\"to_world\"><scale value=\"{scale}\"/>\
             <rotate x=\"1\" angle=\"30\"/><rotate z=\"1\" angle=\"{turn}\"/></transform></emitter></scene>"
        );
        let Some(Environment::SunSky(sky)) = load_text(&text).unwrap().0.environment else { panic!() };
        let sun = sky.world_from_sky * sky.sun_direction;
        assert!((sun - Vec3::new(0.6, -0.5, 1.0).normalize()).length() < 1e-6, "{turn}: {sun}");
        // The zenith, +z, goes where the transform takes it.
        let (sin, cos) = turn.parse::<f32>().unwrap().to_radians().sin_cos();
        let zenith = Vec3::new(0.5 * sin, -0.5 * cos, 0.75_f32.sqrt());
        assert!((sky.world_from_sky * Vec3::Y - zenith).length() < 1e-6, "{turn}");
    }
}

#[test]
fn groups_are_read_once() {
    let d = scene(
        "<shape type=\"instance\"><ref id=\"g\"/></shape><shape type=\"shapegroup\" id=\"g\"><shape type=\"sphere\"/></shape>\
         <shape type=\"instance\"><ref id=\"g\"/><transform name=\"to_world\"><translate x=\"3\"/></transform></shape>",
    );
    assert_eq!((d.shapes.len(), d.groups.len(), d.instances.len()), (0, 1, 2));
    assert_eq!(d.instances[1].world_from_group.translation, Vec3::new(3.0, 0.0, 0.0).into());
}

/// Mitsuba 3.9.1 makes the same image with and without it.
#[test]
fn groups_stay_where_their_instances_are() {
    let group = |inner: &str| {
        around(&format!(
            "\n<shape type=\"shapegroup\" id=\"g\">{inner}<shape type=\"sphere\"/></shape>\
             <shape type=\"instance\"><ref id=\"g\"/></shape>"
        ))
    };
    let moved = "<transform name=\"to_world\"><translate x=\"1\"/></transform>";
    let [(plain, _), (moved, warnings)] = ["", moved].map(|inner| load_text(&group(inner)).unwrap());
    assert_eq!((&moved.groups, &moved.instances), (&plain.groups, &plain.instances));
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert_eq!(
        warning.to_string(),
        "s.xml:2:33: \"to_world\" of shape \"shapegroup\" is passed over: what is in a group is where its instances are"
    );
}

/// As if they were written there; an empty id is none.
#[test]
fn emitters_go_by_name() {
    let d = scene(
        "<emitter type=\"area\" id=\"e\"><rgb name=\"radiance\" value=\"1 2 3\"/></emitter>\
         <shape type=\"sphere\" id=\"\"><ref id=\"e\"/></shape><shape type=\"cube\" id=\"\"/>",
    );
    let found: Vec<_> = d.shapes.iter().map(|shape| shape.emission.value).collect();
    assert_eq!(found, [Vec3::new(1.0, 2.0, 3.0), Vec3::ZERO]);
    assert_eq!(d.shapes[1].name, "shape on line 1");
    let error = load_text(&around("<shape type=\"sphere\" id=\"\"><ref id=\"\"/></shape>")).unwrap_err();
    assert!(error.to_string().contains("nothing has the id \"\""), "{error}");
}

#[test]
fn files_parameters_and_names() {
    let folder = tempfile::tempdir().unwrap();
    let sub = folder.path().join("sub");
    std::fs::create_dir(&sub).unwrap();
    std::fs::write(sub.join("m.serialized"), serialized::tests::example()).unwrap();
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
        let (d, _) = load_in(folder.path(), &text, &defines).unwrap();
        let material = &d.materials[d.shapes[0].material];
        assert_eq!(material.kind, MaterialKind::diffuse(Vec3::new(red, 0.0, 0.0)));
        assert_eq!(material.name, "red");
        let Geometry::Mesh(mesh) = &d.shapes[0].geometry else { panic!() };
        // Normals that are not in the file follow from the faces, each vertex for itself.
        assert!((mesh.normals[3] - Vec3::new(0.408_248, -0.408_248, 0.816_497)).length() < 1e-5);
        assert!((mesh.normals[0] - Vec3::new(0.227, -0.227, 0.947)).length() < 1e-3);
    }
    let error = load_in(folder.path(), &text, &[("q".to_owned(), "1".to_owned())]).unwrap_err();
    assert_eq!(error.to_string(), "s.xml:1:1: the scene has no parameter \"q\"; it has \"file\" or \"r\"");
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
        let (d, _) = load_in(folder.path(), &text, &[]).unwrap();
        assert_eq!(d.materials[0].kind, MaterialKind::diffuse(Vec3::new(red, 0.0, 0.0)));
    }
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
