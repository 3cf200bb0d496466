//! Shapes, groups and emitters.

use glam::Vec3;
use torrance_scene::{Color, Environment, Geometry, Problem, PunctualKind, SpotFalloff};

use super::{around, load_in, load_text, scene};

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
        let (d, warnings) = load_in(folder.path(), &text).unwrap();
        (d, warnings.iter().map(Problem::to_string).collect::<Vec<_>>())
    };
    let attribute = "<texture type=\"mesh_attribute\" name=\"reflectance\"><string name=\"name\" value=\"vertex_color\"/></texture>";
    let mesh = |name: &str| format!("\"ply\"><string name=\"filename\" value=\"{name}.ply\"/>");
    let (d, warnings) = load(&mesh("colors"), attribute);
    let Geometry::Mesh(found) = &d.shapes[0].geometry else { panic!() };
    assert_eq!((found.colors[2], warnings.len()), (Vec3::new(0.7, 0.8, 0.9), 0));
    let missed = |plugin: &str| {
        [format!(
            "s.xml:2:1: shape \"{plugin}\" has no attribute \"vertex_color\" for its textures; they are white"
        )]
    };
    assert_eq!(load(&mesh("plain"), attribute).1, missed("ply"));
    assert_eq!(load("\"sphere\">", attribute).1, missed("sphere"));
    assert_eq!(load(&mesh("plain"), "").1, [""; 0], "control: nobody asks");
}

/// With a mesh that Mitsuba 3.9.1's `Mesh.write_ply` wrote, as text, but for the names that only other programs write. An
/// image of such attributes is compared with Mitsuba's in `tests/references/slides`.
#[test]
fn attributes_of_vertices_and_faces_have_mitsubas_names() {
    let folder = tempfile::tempdir().unwrap();
    let ply = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
               property float color_0\nproperty float color_1\nproperty float color_2\nproperty float alpha_0\n\
               property float tint_r\nproperty float tint_g\nproperty float tint_b\nelement face 2\n\
               property list uchar int vertex_indices\nproperty uchar red\nproperty uchar green\n\
               property uchar blue\nproperty float weight_0\nproperty float two_0\nproperty float two_1\nend_header\n\
               0 0 0 0.1 0.2 0.3 0.5 1 0 0\n1 0 0 0.4 0.5 0.6 0.25 0 1 0\n1 1 0 0.7 0.8 0.9 0.75 0 0 1\n\
               0 1 0 0 0 0 1 1 1 1\n3 0 1 2 255 0 255 0.5 1 1\n3 0 2 3 0 255 0 1.5 1 1\n";
    std::fs::write(folder.path().join("m.ply"), ply).unwrap();
    let load = |name: &str| {
        let text = around(&format!(
            "<shape type=\"ply\"><string name=\"filename\" value=\"m.ply\"/><bsdf type=\"diffuse\">\
             <texture type=\"mesh_attribute\" name=\"reflectance\"><string name=\"name\" value=\"{name}\"/>\
             </texture></bsdf></shape>"
        ));
        let (d, warnings) = load_in(folder.path(), &text).unwrap();
        let Geometry::Mesh(mesh) = &d.shapes[0].geometry else { panic!() };
        let corners = mesh.triangles.iter().flatten().map(|i| *i as usize);
        let colors: Vec<_> = corners.filter_map(|i| mesh.colors.get(i).map(|c| c.to_array())).collect();
        (colors, mesh.positions.len(), warnings.iter().map(|w| w.message.clone()).collect::<Vec<_>>())
    };
    let grey = |x: f32| [x; 3];
    let (colors, vertices, warnings) = load("vertex_alpha");
    assert_eq!((colors, vertices), ([0.5, 0.25, 0.75, 0.5, 0.75, 1.0].map(grey).to_vec(), 4));
    assert_eq!(warnings, [""; 0]);
    let [red, green, blue, white] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0; 3]];
    assert_eq!(load("vertex_tint_color").0, [red, green, blue, red, blue, white]);
    let (colors, vertices, warnings) = load("face_color");
    let magenta = [1.0, 0.0, 1.0];
    assert_eq!((colors, vertices), (vec![magenta, magenta, magenta, green, green, green], 6));
    assert_eq!(warnings, [""; 0]);
    let (colors, _, warnings) = load("face_weight");
    assert_eq!(colors, [0.5, 0.5, 0.5, 1.0, 1.0, 1.0].map(grey));
    assert_eq!(warnings, ["1 values of \"face_weight\" are outside 0 to 1, and clamped"]);
    for missing in ["face_two", "face_tint_color", "vertex_weight", "vertex_tint"] {
        let (colors, _, warnings) = load(missing);
        let expected =
            format!("shape \"ply\" has no attribute \"{missing}\" for its textures; they are white");
        assert_eq!((colors.len(), warnings), (0, vec![expected]));
    }
}

/// Matrices of `ScalarTransform4f.rotate` of Mitsuba 3.9.1.
#[test]
fn axes_of_rotations_stretch() {
    let load = |axis: &str| {
        let text = around(&format!(
            "\n<shape type=\"disk\"><transform name=\"to_world\"><rotate {axis} angle=\"15\"/></transform></shape>"
        ));
        let (d, warnings) = load_text(&text).unwrap();
        (d.shapes[0].world_from_object.matrix3, warnings.iter().map(Problem::to_string).collect::<Vec<_>>())
    };
    let (found, warnings) = load("y=\"1\" z=\"1\"");
    let expected =
        [[0.965_926, 0.258_819, -0.258_819], [-0.258_819, 1.0, 0.034_074], [0.258_819, 0.034_074, 1.0]];
    for (column, expected) in [found.x_axis, found.y_axis, found.z_axis].into_iter().zip(expected) {
        assert!((Vec3::from(column) - Vec3::from(expected)).length() < 1e-5, "{column} {expected:?}");
    }
    assert_eq!(
        warnings,
        [
            "s.xml:2:47: the axis of this rotation has the length 1.4142, so that it stretches as well, as in Mitsuba"
        ]
    );
    let (found, warnings) = load("value=\"0.6, 0, 0.8\"");
    assert!((found.determinant() - 1.0).abs() < 1e-6 && warnings.is_empty(), "control");
}

#[test]
fn warnings_of_many_rotations_are_one() {
    let rotate = "<rotate x=\"2\" angle=\"15\"/>".repeat(3);
    let text =
        around(&format!("<shape type=\"disk\"><transform name=\"to_world\">{rotate}</transform></shape>"));
    let (_, warnings) = load_text(&text).unwrap();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].message.ends_with("as in Mitsuba; there are 2 more like it"),
        "{}",
        warnings[0].message
    );
}

/// The radius that Mitsuba 3.9.1 gives such a sphere.
#[test]
fn stretched_spheres_stay_round() {
    let text = around(
        "\n<shape type=\"sphere\"><point name=\"center\" x=\"1\" y=\"0\" z=\"0\"/><transform name=\"to_world\">\
         <rotate x=\"1\" y=\"1\" angle=\"30\"/></transform></shape>",
    );
    let (d, warnings) = load_text(&text).unwrap();
    let t = d.shapes[0].world_from_object;
    for d in [Vec3::X, Vec3::Y, Vec3::Z] {
        assert!((t.transform_vector3(d).length() - 1.12603).abs() < 1e-5);
    }
    assert!((t.transform_point3(Vec3::X) - Vec3::new(1.0, 0.133_975, -0.5)).length() < 1e-5);
    assert_eq!(warnings.len(), 2);
    assert_eq!(
        warnings[0].message,
        "\"to_world\" stretches the sphere, which is scaled by 1.1260 alike, as in Mitsuba"
    );
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
            let (d, _) = load_in(folder.path(), &text).unwrap();
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

/// As in Mitsuba 3.9.1, with whose image `tests/references/slides` is compared.
#[test]
fn lights_shine_through_pictures() {
    let bitmap = |name: &str| {
        format!(
            "<texture type=\"bitmap\" name=\"{name}\"><string name=\"filename\" value=\"slides/slide.png\"/></texture>"
        )
    };
    let at = "<transform name=\"to_world\"><scale value=\"2\"/>\
              <lookat origin=\"0, 0, 3\" target=\"0, 0, 0\" up=\"0, 1, 0\"/></transform>";
    let text = format!(
        "<emitter type=\"projector\">{at}{}<float name=\"scale\" value=\"3\"/><float name=\"fov\" value=\"60\"/>\
         <string name=\"fov_axis\" value=\"y\"/></emitter><emitter type=\"projector\"/>\
         <emitter type=\"spot\">{at}{}<rgb name=\"intensity\" value=\"5\"/></emitter><shape type=\"sphere\"/>",
        bitmap("irradiance"),
        bitmap("texture")
    );
    let d = scene(&text);
    let PunctualKind::Projector { position, direction, intensity, fov, aspect, slide } = d.lights[0].kind
    else {
        panic!("{:?}", d.lights[0])
    };
    assert_eq!((position, direction, slide.up), (Vec3::new(0.0, 0.0, 3.0), Vec3::NEG_Z, Vec3::Y));
    assert!((intensity - 6.0 * std::f32::consts::PI).length() < 1e-5);
    // The image is 6 by 4 texels.
    assert!((aspect - 1.5).abs() < 1e-6);
    assert!(((0.5 * fov).to_radians().tan() - 1.5 * 30.0_f32.to_radians().tan()).abs() < 1e-5);
    let PunctualKind::Projector { aspect, slide: white, .. } = d.lights[1].kind else { panic!() };
    assert_eq!((aspect, white.texture), (1.0, device::material::texture::NO_TEXTURE));
    let PunctualKind::Spot { intensity, slide: Some(slide), .. } = d.lights[2].kind else { panic!() };
    assert_eq!((intensity, slide.up), (Vec3::splat(5.0), Vec3::NEG_Y));
    assert_eq!(d.textures.len(), 2);
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
