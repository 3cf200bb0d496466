//! Materials of fronts and backs.

use glam::{Vec2, Vec3};
use torrance_scene::{
    Color, DiffuseMaterial, Distribution, Facets, Geometry, Masking, Material, MaterialKind, PlasticMaterial,
    PrincipledMaterial, Scalar, SheenMaterial,
};
use torrance_tests::closed::{closed_surface, for_each_estimator, is_everywhere, is_within};
use torrance_tests::compare::{Reference, compare};
use torrance_tests::{Machine, assembled};

use super::{blend, diffuse, is_black, is_rejected, metal, pane};

#[test]
fn backs() {
    // A blend of which one part has a back, and a back that is a blend.
    let mut part = diffuse(0.2);
    part.back = Some(4);
    let mut whole = diffuse(0.6);
    whole.back = Some(0);
    let materials = vec![blend([1, 2], Scalar::new(0.25)), part, diffuse(0.9), whole, diffuse(0.5)];
    let blended = 0.75 * 0.2 + 0.25 * 0.9;
    for (material, front, expected) in [
        (0, true, blended),
        (0, false, 0.75 * 0.5 + 0.25 * 0.9),
        (1, true, 0.2),
        (1, false, 0.5),
        (3, true, 0.6),
        // What is on a back shows its own front there.
        (3, false, blended),
    ] {
        for flip_normals in [false, true] {
            let mut scene = pane(materials.clone(), front != flip_normals);
            (scene.shapes[0].material, scene.shapes[0].flip_normals) = (material, flip_normals);
            for_each_estimator(&scene, |name, scene| {
                let name = format!("material {material}, front {front}, flipped {flip_normals}, {name}");
                is_within(0.01, &name, scene, 512, &|_| expected);
            });
        }
    }
    let mut wrong = pane(materials, false);
    wrong.shapes[0].material = 3;
    is_rejected("the other side", &wrong, 1024, &|_| 0.6);
}

/// Inside of a closed surface, which has a material of its own there or is black.
#[test]
fn backs_of_a_closed_surface() {
    let mut scene = closed_surface(Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 });
    scene.shapes[0].flip_normals = false;
    scene.shapes[0].emission_two_sided = true;
    scene.materials = vec![Material { back: Some(1), two_sided: false, ..diffuse(0.9) }, diffuse(0.5)];
    is_everywhere("the back of a closed sphere", &scene, 2048, &|_| 1.0);
    scene.materials[0].back = None;
    is_everywhere("a black back", &scene, 64, &|_| 0.5);
}

/// A material of every kind that light does not pass.
fn opaque() -> Vec<Material> {
    let facets = Facets::new(Vec2::splat(0.3), Distribution::Ggx);
    let principled = PrincipledMaterial {
        base_color: Color::new(Vec3::new(0.7, 0.5, 0.2)),
        roughness: Scalar::new(0.5),
        anisotropic: Scalar::new(0.0),
        metallic: Scalar::new(0.3),
        spec_tint: Scalar::new(0.2),
        spec_trans: Scalar::new(0.0),
        flatness: Scalar::new(0.4),
        sheen: Scalar::new(0.5),
        sheen_tint: Scalar::new(0.5),
        clearcoat: Scalar::new(0.8),
        clearcoat_gloss: Scalar::new(0.7),
        eta: 1.5,
        masking: Masking::Correlated as u32,
        reserved: [0; 2],
    };
    let plastic = |facets| {
        MaterialKind::Plastic(PlasticMaterial {
            reflectance: Color::new(Vec3::new(0.1, 0.4, 0.6)),
            specular: Color::new(Vec3::ONE),
            facets,
            ior: 1.5,
            nonlinear: 1,
            coat: 0,
            internal_reflectance: PlasticMaterial::COMPUTED,
        })
    };
    let reflectance = Color::new(Vec3::splat(0.6));
    let clay = DiffuseMaterial { reflectance, roughness: Scalar::new(0.8), reserved: [0; 2] };
    let cloth =
        SheenMaterial { color: Color::new(Vec3::splat(0.9)), roughness: Scalar::new(0.4), reserved: [0; 2] };
    vec![
        diffuse(0.5),
        Material::new("clay", MaterialKind::Diffuse(clay)),
        metal(0.3),
        metal(0.0),
        Material::new("smooth plastic", plastic(Facets::SMOOTH)),
        Material::new("rough plastic", plastic(facets)),
        Material::new("cloth", MaterialKind::Sheen(cloth)),
        Material::new("principled", MaterialKind::Principled(principled)),
    ]
}

/// Seen straight on, the two sides of a square look alike, or the back is black.
#[test]
fn sides() {
    for material in opaque() {
        let seen = |two_sided, front| {
            let mut scene = pane(vec![Material { two_sided, ..material.clone() }], front);
            scene.render.seed += u32::from(!front);
            Machine::Cpu.render(&assembled(&scene), 1024)
        };
        let front = seen(true, true);
        assert_eq!(front, seen(false, true), "{}", material.name);
        assert!(front.pixels.iter().all(|p| p.mean()[1] > 0.0), "{}", material.name);
        let difference = compare(&seen(true, false), &Reference::film(&front), false);
        assert!(difference.agrees(), "{}: {difference:?}", material.name);
        assert!(is_black(&pane(vec![Material { two_sided: false, ..material.clone() }], false)));
    }
}

#[test]
fn control_sides_rejects_another_material() {
    let seen = |material, seed| {
        let mut scene = pane(vec![material], true);
        scene.render.seed = seed;
        Machine::Cpu.render(&assembled(&scene), 1024)
    };
    let front = seen(opaque().pop().unwrap(), 1);
    let mut wrong = opaque().pop().unwrap();
    let MaterialKind::Principled(PrincipledMaterial { metallic, .. }) = &mut wrong.kind else {
        unreachable!()
    };
    metallic.value = 0.4;
    let difference = compare(&seen(wrong, 2), &Reference::film(&front), false);
    assert!(!difference.agrees(), "{difference:?}");
}
