//! Materials and textures.

use glam::{Affine2, Vec2, Vec3};
use torrance_scene::{
    Channel, Color, Distribution, InvalidNormals, MaterialKind, NormalMapKind, Texture, Tints, Wrap,
};

use super::material;

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
