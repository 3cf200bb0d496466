//! The meaning of scene files, and the robustness of the loader.

mod idle;
mod keys;
mod textures;

use glam::{Affine3A, Vec2, Vec3};
use torrance_scene::{
    Color, ConductorMaterial, DiffuseMaterial, Direct, Distribution, Environment, Facets, FovAxis, Geometry,
    Masking, MaterialKind, Overrides, Projection, RenderSettings, Sampler, input, metals,
};

use crate::{BASE, loaded, scene};

/// Applies a transform, written in TOML, to points and directions.
fn transform(steps: &str) -> Affine3A {
    let text = format!("{BASE}[[shapes]]\ntype = \"quad\"\nmaterial = \"white\"\ntransform = {steps}");
    scene(&text).shapes[1].world_from_object
}

#[track_caller]
fn assert_near(a: Vec3, b: [f32; 3]) {
    assert!((a - Vec3::from(b)).length() < 1e-5, "{a} is not {b:?}");
}

#[test]
fn defaults_are_filled_in() {
    let d = scene(BASE);
    assert_eq!(d.render, RenderSettings::default());
    assert_eq!(d.camera.up, Vec3::Y);
    assert!(matches!(d.camera.projection, Projection::Perspective { fov_axis: FovAxis::Y, .. }));
    assert_eq!(d.environment, None);
    assert!(d.materials[0].two_sided);
    let shape = &d.shapes[0];
    assert_eq!(shape.name, "shapes[0]");
    assert_eq!(shape.geometry, Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    assert_eq!(shape.world_from_object, Affine3A::IDENTITY);
    assert!(!shape.emission_two_sided && !shape.flip_normals);
}

#[test]
fn everything_can_be_said() {
    let d = scene(
        r##"
        camera = { position = [1, 2, 3], target = [0, 0, 0], up = [0, 0, 1], fov = 90, fov_axis = "x" }
        environment = { radiance = [1, 2, 3] }
        [render]
        width = 64
        height = 0x20
        spp = 1_000
        max_depth = 3
        rr = false
        sampler = "independent"
        direct = "nee"
        seed = 4294967295
        masking = "separable"
        [materials]
        a = { type = "diffuse", reflectance = "#ff0080", two_sided = false }
        b = { type = "conductor", eta = 0, k = [1, 1.5, 2e0], roughness = 0.5 }
        "c d" = { type = "conductor", eta = 0.2, k = 3, alpha = 0.16 }
        [[shapes]]
        type = "box"
        name = "the box"
        material = "c d"
        emission = [4, 5, 6]
        emission_sides = "both"
        flip_normals = true
        "##,
    );
    let expected = RenderSettings {
        width: 64,
        height: 32,
        spp: 1000,
        seed: u32::MAX,
        max_depth: 3,
        rr_depth: None,
        sampler: Sampler::Independent,
        direct: Direct::Nee,
        masking: Masking::Separable,
        ..RenderSettings::default()
    };
    assert_eq!(d.render, expected);
    assert_eq!(d.camera.up, Vec3::Z);
    assert!(matches!(d.camera.projection, Projection::Perspective { fov: 90.0, fov_axis: FovAxis::X, .. }));
    assert_eq!(d.environment, Some(Environment::Constant(Vec3::new(1.0, 2.0, 3.0))));
    assert!(!d.materials[0].two_sided);
    let MaterialKind::Diffuse(DiffuseMaterial { reflectance, .. }) = d.materials[0].kind else {
        panic!("not diffuse")
    };
    assert_near(reflectance.value, [1.0, 0.0, 0.215_860_5]);
    let k = Vec3::new(1.0, 1.5, 2.0);
    assert_eq!(
        d.materials[1].kind,
        MaterialKind::Conductor(ConductorMaterial::new(
            Vec3::ZERO,
            k,
            Facets::new(Vec2::splat(0.25), Distribution::Ggx)
        ))
    );
    let shape = &d.shapes[0];
    assert_eq!((shape.material, shape.name.as_str()), (2, "the box"));
    assert_eq!(shape.emission, Color::new(Vec3::new(4.0, 5.0, 6.0)));
    assert!(shape.emission_two_sided && shape.flip_normals);
}

#[test]
fn metals_go_by_their_names() {
    for name in ["gold", "Au"] {
        let d = scene(&format!("{BASE}[materials.coin]\ntype = \"conductor\"\nmetal = {name:?}\nalpha = 0"));
        let metal = metals::METALS.iter().find(|m| m.names.contains(&"gold")).expect("there is gold");
        let MaterialKind::Conductor(p) = d.materials[1].kind else { panic!("not a conductor") };
        assert_eq!(p.index(), (metal.eta, metal.k), "{name}");
    }
}

#[test]
fn roulette_is_off_on_or_numbered() {
    for (text, expected) in [("false", None), ("true", Some(5)), ("0", Some(0)), ("9", Some(9))] {
        let d = scene(&format!("{BASE}[render]\nrr = {text}"));
        assert_eq!(d.render.rr_depth, expected, "{text}");
    }
}

#[test]
fn clamping_is_off_or_a_radiance() {
    for (text, expected) in [("\"off\"", None), ("2", Some(2.0)), ("0.25", Some(0.25))] {
        let d = scene(&format!("{BASE}[render]\nclamp_indirect = {text}"));
        assert_eq!(d.render.clamp_indirect, expected, "{text}");
    }
}

#[test]
fn the_command_line_comes_last() {
    let mut render = RenderSettings::default();
    Overrides::default().apply(&mut render);
    assert_eq!(render, RenderSettings::default());
    let overrides = Overrides {
        size: Some((3, 4)),
        rr_depth: Some(None),
        sampler: Some(Sampler::Independent),
        ..Default::default()
    };
    overrides.apply(&mut render);
    assert_eq!((render.width, render.height, render.rr_depth), (3, 4, None));
    assert_eq!((render.sampler, render.spp), (Sampler::Independent, 64));
}

#[test]
fn transform_steps_apply_in_the_order_written() {
    let t = transform(
        "[{ scale = [1, 2, 3] }, { translate = [10, 0, 0] }, { rotate = { axis = \"z\", degrees = 90 } }]",
    );
    // (1, 1, 1) → (1, 2, 3) → (11, 2, 3) → (-2, 11, 3), exactly.
    assert_eq!(t.transform_point3(Vec3::ONE), Vec3::new(-2.0, 11.0, 3.0));
    let reversed = transform(
        "[{ rotate = { axis = \"z\", degrees = 90 } }, { translate = [10, 0, 0] }, { scale = [1, 2, 3] }]",
    );
    assert_eq!(reversed.transform_point3(Vec3::ONE), Vec3::new(9.0, 2.0, 3.0));
    assert_eq!(transform("{ scale = 2 }").transform_point3(Vec3::ONE), Vec3::splat(2.0));
}

#[test]
fn rotations_turn_the_way_of_the_right_hand() {
    let rotated = |axis: &str, degrees: f32, v: Vec3| {
        transform(&format!("[{{ rotate = {{ axis = {axis}, degrees = {degrees} }} }}]")).transform_vector3(v)
    };
    assert_eq!(rotated("\"x\"", 90.0, Vec3::Y), Vec3::Z);
    assert_eq!(rotated("\"y\"", 90.0, Vec3::Z), Vec3::X);
    assert_eq!(rotated("\"z\"", -90.0, Vec3::X), Vec3::NEG_Y);
    assert_eq!(rotated("\"z\"", 540.0, Vec3::X), Vec3::NEG_X);
    assert_near(rotated("[1, 1, 1]", 120.0, Vec3::X), [0.0, 1.0, 0.0]);
    assert_near(rotated("[0, 0, 7]", 30.0, Vec3::X), [0.866_025_4, 0.5, 0.0]);
}

#[test]
fn look_at_turns_z_to_the_target() {
    let t =
        transform("[{ scale = [4.5, 0.9, 1] }, { look_at = { origin = [0, 6, 5], target = [0, 0.8, 0] } }]");
    assert_near(t.transform_point3(Vec3::ZERO), [0.0, 6.0, 5.0]);
    let length = 5.2f32.hypot(5.0);
    assert_near(t.transform_vector3(Vec3::Z), [0.0, -5.2 / length, -5.0 / length]);
    assert_near(t.transform_vector3(Vec3::X), [-4.5, 0.0, 0.0]);
    assert_near(t.transform_vector3(Vec3::Y), [0.0, 0.9 * 5.0 / length, -0.9 * 5.2 / length]);
    assert!(t.matrix3.determinant() > 0.0);
}

#[test]
fn matrices_are_written_row_by_row() {
    let t = transform("[{ matrix = [[0, -1, 0, 5], [1, 0, 0, 6], [0, 0, 1, 7], [0, 0, 0, 1]] }]");
    assert_eq!(t.transform_point3(Vec3::X), Vec3::new(5.0, 7.0, 7.0));
    assert_eq!(t.transform_vector3(Vec3::Y), Vec3::NEG_X);
}

#[test]
fn lights_need_no_material() {
    let d = scene(&format!(
        "{BASE}[[shapes]]\ntype = \"quad\"\nemission = 2\n[[shapes]]\ntype = \"quad\"\nemission = 3"
    ));
    let black = MaterialKind::diffuse(Vec3::ZERO);
    assert_eq!((d.shapes[1].material, d.shapes[2].material, d.materials.len()), (1, 1, 2));
    assert_eq!(d.materials[1].kind, black);
}

#[test]
fn the_smallest_radius_that_the_message_names_works() {
    // The radius that the message names is one that works.
    for (center, radius) in [("1e8", "95.37"), ("-0.1", "0.00000009537"), ("9e8", "858.4")] {
        let sphere = |r: &str| loaded(&format!("{BASE}center = [0, {center}, 1e-4]\nradius = {r}"));
        let message = sphere("2e-9").unwrap_err().to_string();
        assert!(message.ends_with(&format!("its radius must be at least {radius}")), "{message}");
        assert!(sphere(radius).is_ok(), "{radius}");
    }
}

#[test]
fn spheres_may_be_turned_mirrored_and_scaled_evenly() {
    let sphere = |steps: &str| loaded(&format!("{BASE}transform = [{steps}]"));
    assert!(
        sphere("{ scale = -2 }, { rotate = { axis = [1, 2, 3], degrees = 33 } }, { scale = [1, -1, 1] }")
            .is_ok()
    );
    assert!(sphere("{ scale = [1, 1, 1.001] }").is_err());
    assert!(sphere("{ matrix = [[1, 0.01, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]] }").is_err());
}

#[test]
fn everything_wrong_is_reported_in_order() {
    let text = BASE.replace("fov = 40", "fov = 0").replace("0.8", "1.5").replace("\"sphere\"", "\"cone\"");
    let error = loaded(&text).unwrap_err();
    let lines: Vec<_> = error.problems.iter().map(|p| p.place.unwrap().0).collect();
    assert_eq!(lines, [5, 8, 10], "{error}");
}

/// In time that grows with the file, not with its square, on one line as on many.
#[test]
fn thousands_of_errors_are_reported_soon() {
    const N: usize = 60_000;
    let many = "[[shapes]]\ntype = \"cone\"\n".repeat(N);
    let one_line = format!("shapes = [{}]", "{ type = \"cone\" }, ".repeat(N));
    for (text, second) in [(many, (4, 8)), (one_line, (1, 39))] {
        let start = std::time::Instant::now();
        let error = loaded(&text).unwrap_err();
        let report = error.report(false);
        assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
        assert_eq!(error.problems.len(), input::MOST_PROBLEMS);
        assert_eq!(error.problems[2].place, Some(second));
        assert!(report.ends_with("\nat least 10000 errors, the first 20 shown\n"), "{report}");
    }
}

#[test]
fn reports_begin_with_one_plain_line_and_show_the_place() {
    let error = loaded(&BASE.replace("0.8", "'é→' # note")).unwrap_err();
    let report = error.report(false);
    let mut lines = report.lines();
    assert_eq!(
        lines.next(),
        Some(
            "error: scene.toml:8:15: \"reflectance\" must be a colour: [r, g, b], a number for grey, or \"#rrggbb\", \
             not the string \"é→\""
        )
    );
    assert!(lines.next().unwrap().contains("scene.toml:8:15"), "{report}");
    assert!(report.contains("8 │ reflectance = 'é→'"), "{report}");
    assert!(!report.contains('\u{1b}'));
    assert!(error.report(true).contains('\u{1b}'), "colour on demand");
    assert!(
        error.report(true).starts_with("error: scene.toml:8:15: "),
        "the first line is plain in any case"
    );
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    for text in ["\u{1b}[31mx = 1", "x = \"\u{7}\u{85}\"", "# \u{9b}31m\nx = 1\n"] {
        let error = loaded(text).unwrap_err();
        assert!(!error.report(false).contains(['\u{1b}', '\u{7}', '\u{85}', '\u{9b}']), "{text:?}");
    }
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    assert!(loaded(&format!("\u{feff}{BASE}")).is_ok());
    assert!(loaded(&BASE.replace('\n', "\r\n")).is_ok());
}
