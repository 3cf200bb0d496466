//! Integrators, sensors, films and filters.

use glam::{Vec2, Vec3};
use torrance_scene::{
    Camera, Clip, Description, Direct, FovAxis, HiddenNormals, Holes, Lens, Masking, PixelFilter, Problem,
    Projection, PunctualKind, RenderSettings, Sampler,
};

use super::{load_text, scene};

/// A scene with a sensor.
fn with_sensor(sensor: &str) -> Description {
    let text = format!(
        "<scene version=\"3.0.0\">{sensor}<emitter type=\"constant\"/><shape type=\"sphere\"/></scene>"
    );
    load_text(&text).unwrap_or_else(|e| panic!("{sensor}: {e}")).0
}

const FILM: &str =
    "<film type=\"hdrfilm\"><integer name=\"width\" value=\"200\"/><integer name=\"height\" value=\"100\"/>";

/// Where a point of the image of 200 by 100 pixels looks, before the camera is put anywhere: x to the right and y up, at
/// distance 1 in front of it.
fn slope(camera: &Camera, [x, y]: [f32; 2], [width, height]: [f32; 2]) -> Vec2 {
    let Projection::Perspective { fov, fov_axis, principal_point, .. } = camera.projection else {
        panic!("{camera:?}")
    };
    let tan = (0.5 * fov).to_radians().tan();
    let aspect = width / height;
    let half_width = match fov_axis {
        FovAxis::X => tan,
        FovAxis::Y => tan * aspect,
        FovAxis::Diagonal => tan * aspect / (1.0 + aspect * aspect).sqrt(),
        FovAxis::Smaller => tan * aspect.max(1.0),
        FovAxis::Larger => tan * aspect.min(1.0),
    };
    let place = Vec2::new(x - 0.5, y - 0.5) - principal_point;
    place * Vec2::new(2.0 * half_width, -2.0 * half_width / aspect)
}

/// Directions of rays that Mitsuba 3.9.1's sensors sample in the middle of the image, at its left and at its top, by
/// their slopes; its +x is to the left.
#[test]
fn perspectives_are_mitsubas() {
    let cases: [(&str, &str, [[f32; 3]; 3]); 7] = [
        (
            "<float name=\"fov\" value=\"60\"/>",
            "",
            [[0.0, 0.0, 1.0], [0.5, 0.0, 0.866_025], [0.0, 0.277_35, 0.960_769]],
        ),
        (
            "<float name=\"fov\" value=\"60\"/><float name=\"principal_point_offset_x\" value=\"0.1\"/>\
             <float name=\"principal_point_offset_y\" value=\"0.2\"/>",
            "",
            [
                [-0.113_961, -0.113_961, 0.986_928],
                [0.417_029, -0.104_257, 0.902_894],
                [-0.113_047, 0.169_57, 0.979_013],
            ],
        ),
        ("", "", [[0.0, 0.0, 1.0], [0.360_906, 0.0, 0.932_602], [0.0, 0.189_971, 0.981_79]]),
        (
            "<string name=\"focal_length\" value=\"35mm\"/>",
            "",
            [[0.0, 0.0, 1.0], [0.483_826, 0.0, 0.875_164], [0.0, 0.266_429, 0.963_855]],
        ),
        (
            "<float name=\"fov\" value=\"60\"/><string name=\"fov_axis\" value=\"diagonal\"/>",
            "",
            [[0.0, 0.0, 1.0], [0.458_831, 0.0, 0.888_523], [0.0, 0.25, 0.968_246]],
        ),
        (
            "<float name=\"fov\" value=\"60\"/><string name=\"fov_axis\" value=\"smaller\"/>",
            "",
            [[0.0, 0.0, 1.0], [0.755_929, 0.0, 0.654_654], [0.0, 0.5, 0.866_025]],
        ),
        (
            "<float name=\"fov\" value=\"60\"/>",
            "<integer name=\"crop_width\" value=\"50\"/><integer name=\"crop_height\" value=\"50\"/>\
             <integer name=\"crop_offset_x\" value=\"10\"/><integer name=\"crop_offset_y\" value=\"20\"/>",
            [
                [0.351_223, 0.027_017, 0.935_902],
                [0.460_933, 0.025_607, 0.887_065],
                [0.346_821, 0.160_071, 0.924_171],
            ],
        ),
    ];
    for (sensor, film, rays) in cases {
        let d = with_sensor(&format!("<sensor type=\"perspective\">{sensor}{FILM}{film}</film></sensor>"));
        let size = [d.render.width as f32, d.render.height as f32];
        assert_eq!(size, if film.is_empty() { [200.0, 100.0] } else { [50.0; 2] });
        assert!(d.camera.target.z > 0.0 && d.camera.up == Vec3::Y && !d.camera.mirrored);
        for (at, [x, y, z]) in [[0.5, 0.5], [0.0, 0.5], [0.5, 0.0]].into_iter().zip(rays) {
            let found = slope(&d.camera, at, size);
            let expected = Vec2::new(-x, y) / z;
            assert!((found - expected).length() < 1e-4, "{sensor}{film}: {found}, not {expected}");
        }
    }
}

#[test]
fn cameras_turn_and_turn_over() {
    let view = |transform: &str| {
        let sensor = format!(
            "<sensor type=\"perspective\"><transform name=\"to_world\">{transform}</transform></sensor>"
        );
        with_sensor(&sensor).camera
    };
    let camera = view("<lookat origin=\"1, 2, 3\" target=\"4, 6, 3\" up=\"0, 1, 0\"/>");
    let forward = (camera.target - camera.position).normalize();
    assert!((forward - Vec3::new(0.6, 0.8, 0.0)).length() < 1e-6 && !camera.mirrored);
    assert_eq!(camera.position, Vec3::new(1.0, 2.0, 3.0));
    assert!(camera.up.dot(forward).abs() < 1e-6 && camera.up.y > 0.0);
    assert!(view("<scale x=\"-1\"/>").mirrored);
}

#[test]
fn orthographic_cameras_measure_their_scale() {
    let crop = "<integer name=\"crop_width\" value=\"50\"/><integer name=\"crop_height\" value=\"50\"/>\
                <integer name=\"crop_offset_x\" value=\"10\"/><integer name=\"crop_offset_y\" value=\"20\"/>";
    let view = |film: &str| {
        let scale = "<transform name=\"to_world\"><scale value=\"3\"/></transform>";
        with_sensor(&format!("<sensor type=\"orthographic\">{scale}{FILM}{film}</film></sensor>")).camera
    };
    let whole = view("");
    assert_eq!(whole.projection, Projection::Orthographic { size: 6.0, axis: FovAxis::X });
    assert_eq!(whole.position, Vec3::ZERO);
    // Mitsuba 3.9.1, without the scale: the middle is at (0.65, 0.05), and the left at 0.9.
    let part = view(crop);
    assert_eq!(part.projection, Projection::Orthographic { size: 1.5, axis: FovAxis::X });
    assert!((part.position - 3.0 * Vec3::new(0.65, 0.05, 0.0)).length() < 1e-6);
}

#[test]
fn lenses_and_defaults_are_mitsubas() {
    let thin = "<sensor type=\"thinlens\"><float name=\"fov\" value=\"30\"/>\
                <float name=\"aperture_radius\" value=\"0.1\"/></sensor>";
    let Projection::Perspective { lens: Some(lens), .. } = with_sensor(thin).camera.projection else {
        panic!()
    };
    assert_eq!(lens, Lens { radius: 0.1, focus_distance: 1e4, blades: 0, rotation: 0.0 });
    let d = with_sensor("<sensor type=\"perspective\"/>");
    let expected = RenderSettings {
        width: 768,
        height: 576,
        spp: 4,
        seed: 0,
        max_depth: 1000,
        rr_depth: Some(5),
        sampler: Sampler::Independent,
        masking: Masking::Separable,
        hidden_normals: HiddenNormals::Keep,
        holes: Holes::Scatter,
        filter: PixelFilter::Gaussian { radius: 2.0, sigma: 0.5 },
        sample_border: false,
        ..RenderSettings::default()
    };
    assert_eq!(d.render, expected);
    let border = format!("{FILM}<boolean name=\"sample_border\" value=\"true\"/></film>");
    assert!(with_sensor(&format!("<sensor type=\"perspective\">{border}</sensor>")).render.sample_border);
}

#[test]
fn integrators_and_filters() {
    for (xml, expected) in [
        ("<integrator type=\"path\"/>", (1000, Some(5))),
        ("<integrator type=\"path\"><integer name=\"max_depth\" value=\"3\"/></integrator>", (3, None)),
        (
            "<integrator type=\"path\"><integer name=\"max_depth\" value=\"9\"/><integer name=\"rr_depth\" value=\"2\"/></integrator>",
            (9, Some(2)),
        ),
        ("<integrator type=\"direct\"/>", (2, None)),
    ] {
        let render = scene(&format!("{xml}<shape type=\"sphere\"/>")).render;
        assert_eq!((render.max_depth, render.rr_depth), expected, "{xml}");
        assert!(!render.hide_emitters);
    }
    for plugin in ["path", "direct"] {
        let hides = "<boolean name=\"hide_emitters\" value=\"true\"/>";
        let xml = format!("<integrator type=\"{plugin}\">{hides}</integrator><shape type=\"sphere\"/>");
        assert!(scene(&xml).render.hide_emitters);
    }
    let third = 1.0 / 3.0;
    for (xml, expected) in [
        ("<rfilter type=\"box\"/>", PixelFilter::PIXEL),
        ("<rfilter type=\"tent\"/>", PixelFilter::Tent { radius: 1.0 }),
        (
            "<rfilter type=\"gaussian\"><float name=\"stddev\" value=\"0.25\"/></rfilter>",
            PixelFilter::Gaussian { radius: 1.0, sigma: 0.25 },
        ),
        ("<rfilter type=\"mitchell\"/>", PixelFilter::Mitchell { radius: 2.0, b: third, c: third }),
        ("<rfilter type=\"catmullrom\"/>", PixelFilter::Mitchell { radius: 2.0, b: 0.0, c: 0.5 }),
    ] {
        let d = with_sensor(&format!("<sensor type=\"perspective\">{FILM}{xml}</film></sensor>"));
        assert_eq!(d.render.filter, expected, "{xml}");
    }
}

#[test]
fn what_is_passed_over_is_said() {
    let text = "<scene version=\"3.0.0\"><integrator type=\"volpath\"/>\n\
                <sensor type=\"perspective\"><float name=\"far_clip\" value=\"0.5\"/></sensor>\n\
                <sensor type=\"perspective\"/><emitter type=\"constant\"/><shape type=\"sphere\"/></scene>";
    let warnings: Vec<_> = load_text(text).unwrap().1.iter().map(Problem::to_string).collect();
    assert_eq!(
        warnings,
        [
            "s.xml:1:42: integrator \"volpath\" becomes \"path\": there are no media",
            "s.xml:2:28: what is farther than 0.5 is not seen by sensor \"perspective\", as in Mitsuba: its \"near_clip\" \
             and \"far_clip\"",
            "s.xml:3:1: there is more than one sensor; the first makes the image",
        ]
    );
}

/// As Mitsuba 3.9.1, which accepts it of all of them, and focuses those with a lens.
#[test]
fn cameras_without_a_lens_have_no_focus() {
    let focus = "<float name=\"focus_distance\" value=\"3\"/>";
    for sensor in ["perspective", "orthographic"] {
        let camera = |inner: &str| {
            with_sensor(&format!("<sensor type=\"{sensor}\">{inner}</sensor>")).camera.projection
        };
        assert_eq!(camera(focus), camera(""));
    }
    let radius = "<float name=\"aperture_radius\" value=\"0.1\"/>";
    let thin = with_sensor(&format!("<sensor type=\"thinlens\">{radius}{focus}</sensor>"));
    let Projection::Perspective { lens: Some(lens), .. } = thin.camera.projection else { panic!() };
    assert_eq!(lens.focus_distance, 3.0);
}

/// Said once, and only of what there is: a camera within a room is not near its walls.
#[test]
fn what_is_cut_off_is_said() {
    let warnings = |sensor: &str, [near, far]: [f32; 2], shape: &str| {
        let text = format!(
            "<scene version=\"3.0.0\"><sensor type=\"{sensor}\"><float name=\"near_clip\" value=\"{near}\"/>\
             <float name=\"far_clip\" value=\"{far}\"/><transform name=\"to_world\"><lookat origin=\"0, 0, 4\" \
             target=\"0, 0, 0\" up=\"0, 1, 0\"/></transform></sensor><emitter type=\"constant\"/>{shape}</scene>"
        );
        let (d, warnings) = load_text(&text).unwrap();
        (d.camera.clip, warnings.into_iter().map(|w| w.message).collect::<Vec<_>>())
    };
    let at = |shape: &str, transform: &str| {
        format!("<shape type=\"{shape}\"><transform name=\"to_world\">{transform}</transform></shape>")
    };
    let turned = "<scale value=\"5\"/><rotate value=\"0.707106781, 0.707106781, 0\" angle=\"40\"/>";
    let sphere = "<shape type=\"sphere\"/>";
    let group = format!(
        "<shape type=\"shapegroup\" id=\"g\">{sphere}</shape><shape type=\"instance\"><ref id=\"g\"/>\
         <transform name=\"to_world\"><translate z=\"-3\"/></transform></shape>"
    );
    let knot = "<shape type=\"ply\"><string name=\"filename\" value=\"instanced/knot.ply\"/>\
                <transform name=\"to_world\"><translate z=\"4\"/></transform></shape>";
    let (near, far, both) = ([true, false], [false, true], [true, true]);
    let whole = [false, false];
    for (sensor, clip, shape, expected) in [
        ("perspective", [0.1, 100.0], sphere, whole),
        ("perspective", [2.9, 5.1], sphere, whole),
        ("perspective", [3.1, 5.1], sphere, near),
        ("perspective", [2.9, 4.9], sphere, far),
        ("perspective", [3.1, 4.9], sphere, both),
        ("perspective", [0.1, 100.0], &at("sphere", "<scale value=\"5\"/>"), whole),
        ("perspective", [1.1, 100.0], &at("sphere", "<scale value=\"5\"/>"), near),
        ("perspective", [1.9, 100.0], &at("cube", turned), whole),
        ("perspective", [2.0, 100.0], &at("cube", turned), near),
        ("perspective", [0.1, 100.0], &at("rectangle", turned), whole),
        ("perspective", [0.01, 100.0], knot, whole),
        ("perspective", [1.0, 100.0], knot, near),
        ("perspective", [0.1, 7.9], &group, far),
        ("perspective", [5.9, 8.1], &group, whole),
        ("perspective", [6.1, 8.1], &group, near),
        ("orthographic", [2.9, 5.1], &at("sphere", "<translate x=\"9\"/>"), whole),
        ("orthographic", [3.1, 5.1], &at("sphere", "<translate x=\"9\"/>"), near),
    ] {
        let (found, warnings) = warnings(sensor, clip, shape);
        let [near, far] = clip;
        let what = match expected {
            [true, true] => format!("nearer than {near} or farther than {far}"),
            [true, false] => format!("nearer than {near}"),
            [false, true] => format!("farther than {far}"),
            [false, false] => String::new(),
        };
        let message = format!(
            "what is {what} is not seen by sensor \"{sensor}\", as in Mitsuba: its \"near_clip\" and \"far_clip\""
        );
        let said = if expected == whole { Vec::new() } else { vec![message] };
        assert_eq!(warnings, said, "{sensor} {clip:?} {shape}");
        assert_eq!(
            [found.near, found.far],
            [
                if expected[0] { near } else { Clip::DEFAULT.near },
                if expected[1] { far } else { Clip::DEFAULT.far },
            ]
        );
    }
}

fn strength(kind: &PunctualKind) -> f32 {
    match kind {
        PunctualKind::Point { intensity, .. }
        | PunctualKind::Spot { intensity, .. }
        | PunctualKind::Projector { intensity, .. } => intensity.x,
        PunctualKind::Directional { irradiance, .. } => irradiance.x,
    }
}

/// Means of Mitsuba 3.9.1's `direct`, of a point light and of an area light: it adds the samples of the former.
#[test]
fn direct_counts_points_by_its_samples() {
    let load = |samples: &str| {
        let text = format!(
            "<scene version=\"3.0.0\"><integrator type=\"direct\">\n{samples}</integrator><sensor type=\"perspective\"/>\
             <emitter type=\"point\"/><emitter type=\"spot\"/><emitter type=\"directional\"/><shape type=\"sphere\">\
             <emitter type=\"area\"/></shape></scene>"
        );
        load_text(&text).map(|(d, warnings)| {
            let strengths: Vec<_> = d.lights.iter().map(|light| strength(&light.kind)).collect();
            let warnings: Vec<_> = warnings.iter().map(Problem::to_string).collect();
            (strengths, d.shapes[0].emission.value.x, d.render.direct, warnings)
        })
    };
    let integer = |name: &str, value: u32| format!("<integer name=\"{name}\" value=\"{value}\"/>");
    let (emitter, bsdf) = (|n| integer("emitter_samples", n), |n| integer("bsdf_samples", n));
    let brighter = "makes lights that are points 4 times as bright, as in Mitsuba";
    for (samples, strength, direct, expected) in [
        (String::new(), 1.0, Direct::Mis, vec![]),
        (emitter(1) + &bsdf(3), 1.0, Direct::Mis, vec![]),
        (
            emitter(4),
            4.0,
            Direct::Mis,
            vec![format!("s.xml:2:1: \"emitter_samples\" of integrator \"direct\" {brighter}")],
        ),
        (
            integer("shading_samples", 4),
            4.0,
            Direct::Mis,
            vec![format!("s.xml:2:1: \"shading_samples\" of integrator \"direct\" {brighter}")],
        ),
        (emitter(0), 1.0, Direct::Bsdf, vec![]),
        (
            bsdf(0),
            1.0,
            Direct::Mis,
            vec![
                "s.xml:2:1: \"bsdf_samples\" of integrator \"direct\" is passed over: without samples of bsdfs, mirrors \
                 would show no lights"
                    .to_owned(),
            ],
        ),
    ] {
        assert_eq!(load(&samples).unwrap(), (vec![strength; 3], 1.0, direct, expected), "{samples}");
    }
    for (samples, expected) in [
        (
            emitter(0) + &bsdf(0),
            "s.xml:1:24: integrator \"direct\" has samples neither of lights nor of bsdfs",
        ),
        (
            integer("shading_samples", 2) + &bsdf(2),
            "s.xml:2:1: \"shading_samples\" of integrator \"direct\" is given by the samples of lights and of bsdfs already; \
             keep one of them",
        ),
    ] {
        assert_eq!(load(&samples).unwrap_err().to_string(), expected);
    }
}
