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
