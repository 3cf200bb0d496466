//! Images of an independent renderer (Mitsuba 3), matched within the noise of both.

use std::sync::Arc;

use glam::{Affine2, Mat3, Vec2, Vec3};
use torrance_scene::{
    Clip, Description, Format, Geometry, InvalidNormals, Masking, MaterialKind, NormalMapKind, PunctualKind,
    Shape, TexelFilter, Texture,
};
use torrance_tests::compare::{Difference, Reference, compare};
use torrance_tests::tampered::{self, Mistake};
use torrance_tests::{Machine, assembled, machines, reference_scene, references};

const SPP: u32 = 1024;

fn difference(machine: Machine, scene: &Description, folder: &str, image: &str, spp: u32) -> Difference {
    let film = machine.render(&assembled(scene), spp);
    assert_eq!(film.rejected(), 0, "samples that are not finite");
    let difference = compare(&film, &Reference::read(&references().join(folder), image), true);
    println!("{folder}/{image} on {machine:?}, {spp} spp: {difference:?}");
    difference
}

/// Asserts agreement on GPUs, and in the deep tier on the CPU, of which the fast tier renders the same scenes as cases of
/// `tests/references/suite.toml`.
fn agrees(folder: &str, image: &str, masking: Masking) {
    let mut scene = reference_scene(folder);
    scene.render.masking = masking;
    for machine in machines().into_iter().filter(|machine| *machine != Machine::Cpu || tier::is_deep()) {
        let difference = difference(machine, &scene, folder, image, SPP);
        assert!(difference.agrees(), "{folder}/{image} on {machine:?}: {difference:?}");
    }
}

#[test]
fn cornell_diffuse() {
    agrees("cornell-diffuse", "reference", Masking::Correlated);
}

#[test]
fn cornell_ggx_separable() {
    agrees("cornell-ggx", "reference", Masking::Separable);
}

#[test]
fn cornell_ggx_correlated() {
    agrees("cornell-ggx", "reference_correlated", Masking::Correlated);
}

#[test]
fn roughness_row_separable() {
    agrees("roughness-row", "reference", Masking::Separable);
}

#[test]
fn roughness_row_correlated() {
    agrees("roughness-row", "reference_correlated", Masking::Correlated);
}

#[test]
fn furnace_separable() {
    agrees("furnace-conductor", "reference", Masking::Separable);
}

#[test]
fn furnace_correlated() {
    agrees("furnace-conductor", "reference_correlated", Masking::Correlated);
}

#[test]
fn glass_smooth() {
    agrees("glass-smooth", "reference", Masking::Separable);
}

#[test]
fn glass_rough() {
    agrees("glass-rough", "reference", Masking::Separable);
}

#[test]
fn anisotropic_separable() {
    agrees("anisotropic", "reference", Masking::Separable);
}

#[test]
fn anisotropic_correlated() {
    agrees("anisotropic", "reference_correlated", Masking::Correlated);
}

#[test]
fn plastic() {
    agrees("plastic", "reference", Masking::Separable);
}

#[test]
fn principled_sweep() {
    agrees("principled-sweep", "reference", Masking::Separable);
}

#[test]
fn textured() {
    agrees("textured", "reference", Masking::Separable);
}

#[test]
fn normalmap() {
    agrees("normalmap", "reference", Masking::Separable);
}

#[test]
fn slides() {
    agrees("slides", "reference", Masking::Separable);
}

#[test]
fn silhouette() {
    agrees("silhouette", "reference", Masking::Separable);
}

/// Asserts that a scene with a change is told from its reference.
fn rejects(folder: &str, what: &str, spp: u32, change: impl FnOnce(&mut Description)) {
    let mut scene = reference_scene(folder);
    change(&mut scene);
    let difference = difference(Machine::Cpu, &scene, folder, "reference", spp);
    assert!(!difference.agrees(), "{folder}, {what}: {difference:?} passes");
}

#[test]
fn control_rejects_textures_that_are_not_as_they_should_be() {
    let upside_down = Affine2::from_cols(Vec2::X, -Vec2::Y, Vec2::Y);
    rejects("textured", "upside down", 64, |scene| {
        scene
            .textures
            .iter_mut()
            .filter_map(Texture::bitmap_mut)
            .for_each(|t| t.image_from_uv = upside_down * t.image_from_uv);
    });
    rejects("textured", "in a mirror", 64, |scene| {
        scene
            .textures
            .iter_mut()
            .filter_map(Texture::bitmap_mut)
            .for_each(|t| t.image_from_uv.matrix2.x_axis.x *= -1.0);
    });
    rejects("textured", "sRGB taken for linear", 64, |scene| {
        scene.images.iter_mut().for_each(|i| i.format = Format::Rgba8);
    });
    rejects("textured", "linear taken for sRGB", 64, |scene| {
        scene.images.iter_mut().for_each(|i| i.format = Format::Srgb8);
    });
    rejects("textured", "off by half a texel", tier::choose(64, 256), |scene| {
        scene
            .textures
            .iter_mut()
            .filter_map(Texture::bitmap_mut)
            .for_each(|t| t.image_from_uv.translation += 0.5 / 128.0);
    });
}

#[test]
fn control_rejects_what_mitsuba_does_not_mean() {
    rejects("slides", "slides upside down", 64, |scene| {
        for light in &mut scene.lights {
            match &mut light.kind {
                PunctualKind::Spot { slide: Some(slide), .. } | PunctualKind::Projector { slide, .. } => {
                    slide.up = -slide.up;
                }
                _ => {}
            }
        }
    });
    rejects("slides", "an axis brought to unit length", 256, |scene| {
        let is_box = |shape: &&mut Shape| matches!(shape.geometry, Geometry::Box);
        let cube = scene.shapes.iter_mut().find(is_box).expect("a cube");
        let axis = Vec3::new(0.0, 1.0, 1.0).normalize();
        cube.world_from_object.matrix3 = (Mat3::from_axis_angle(axis, 25.0_f32.to_radians())
            * Mat3::from_diagonal(Vec3::splat(0.45)))
        .into();
    });
    rejects("slides", "a wall that is seen", 64, |scene| scene.camera.clip = Clip::DEFAULT);
    rejects("slides", "faces without attributes", 64, |scene| {
        for shape in &mut scene.shapes {
            if let Geometry::Mesh(mesh) = &mut shape.geometry {
                Arc::make_mut(mesh).colors.clear();
            }
        }
    });
    rejects("silhouette", "normals that are turned to the viewer", 1024, |scene| {
        let maps = scene.materials.iter_mut().filter_map(|m| m.normal_map.as_mut());
        maps.for_each(|map| map.invalid = InvalidNormals::Flip);
    });
}

#[test]
fn control_rejects_texels_that_are_not_interpolated() {
    rejects("textured", "nearest", tier::choose(128, 512), |scene| {
        scene
            .textures
            .iter_mut()
            .filter_map(Texture::bitmap_mut)
            .for_each(|t| t.filter = TexelFilter::Nearest)
    });
}

#[test]
fn control_rejects_normal_maps_with_another_green() {
    for kind in [NormalMapKind::Up, NormalMapKind::Down] {
        rejects("normalmap", "green", 512, |scene| {
            scene.materials.iter_mut().filter_map(|m| m.normal_map.as_mut()).for_each(|map| map.kind = kind);
        });
    }
}

#[test]
fn control_rejects_normal_maps_that_are_weaker_by_5_percent() {
    rejects("normalmap", "strength", 256, |scene| {
        scene.materials.iter_mut().filter_map(|m| m.normal_map.as_mut()).for_each(|map| map.scale = 0.95);
    });
}

#[test]
fn control_rejects_alphas_swapped_and_meshes_without_uvs() {
    let scene = reference_scene("anisotropic");
    let mut swapped = scene.clone();
    for material in &mut swapped.materials {
        if let Some(facets) = material.kind.facets_mut() {
            facets.alpha.swap(0, 1);
        }
    }
    let mut without_uvs = scene;
    for shape in &mut without_uvs.shapes {
        if let Geometry::Mesh(mesh) = &mut shape.geometry {
            Arc::make_mut(mesh).uvs.clear();
        }
    }
    for scene in [swapped, without_uvs] {
        let difference = difference(Machine::Cpu, &scene, "anisotropic", "reference", 64);
        assert!(!difference.agrees(), "{difference:?} passes");
    }
}

#[test]
fn control_rejects_an_index_of_refraction_off_by_5_percent() {
    for folder in ["glass-smooth", "glass-rough"] {
        let mut scene = reference_scene(folder);
        for material in &mut scene.materials {
            if let MaterialKind::Dielectric(glass) = &mut material.kind {
                glass.ior *= 1.05;
            }
        }
        let difference = difference(Machine::Cpu, &scene, folder, "reference", tier::choose(128, 256));
        assert!(!difference.agrees(), "{folder}: {difference:?} passes");
    }
}

fn change_alpha(scene: &mut Description, factor: f32) {
    for material in &mut scene.materials {
        if let Some(facets) = material.kind.facets_mut() {
            facets.alpha.iter_mut().for_each(|a| a.value *= factor);
        }
    }
}

#[test]
fn control_rejects_roughness_off_by_5_percent() {
    for folder in ["cornell-ggx", "roughness-row"] {
        let mut scene = reference_scene(folder);
        scene.render.masking = Masking::Correlated;
        change_alpha(&mut scene, 1.05);
        let difference = difference(Machine::Cpu, &scene, folder, "reference_correlated", 256);
        assert!(!difference.agrees(), "{folder}: {difference:?} passes");
    }
}

#[test]
fn control_rejects_frost_rougher_by_10_percent() {
    let mut scene = reference_scene("glass-rough");
    for material in &mut scene.materials {
        if let Some(facets) = material.kind.facets_mut() {
            facets.alpha.iter_mut().for_each(|a| a.value *= 1.1);
        }
    }
    let difference = difference(Machine::Cpu, &scene, "glass-rough", "reference", tier::choose(128, 512));
    assert!(!difference.agrees(), "{difference:?} passes");
}

#[test]
fn control_rejects_separable_masking() {
    let mut scene = reference_scene("furnace-conductor");
    scene.render.masking = Masking::Separable;
    let difference = difference(Machine::Cpu, &scene, "furnace-conductor", "reference_correlated", 64);
    assert!(!difference.agrees(), "{difference:?} passes");
}

/// Asserts that a render with a mistake is told from the reference.
fn rejected(mistake: Mistake) {
    let scene = assembled(&reference_scene("cornell-diffuse"));
    let reference = Reference::read(&references().join("cornell-diffuse"), "reference");
    let difference = compare(&tampered::render(&scene, tier::choose(24, 64), mistake), &reference, true);
    println!("{mistake:?}: {difference:?}");
    assert!(!difference.agrees(), "{mistake:?}: {difference:?} passes");
}

#[test]
fn tampering_with_nothing_changes_nothing() {
    let scene = assembled(&reference_scene("cornell-ggx"));
    assert_eq!(tampered::render(&scene, 4, Mistake::None), Machine::Cpu.render(&scene, 4));
}

#[test]
fn control_rejects_missing_cosine() {
    rejected(Mistake::NoCosineInDirectLight);
}

#[test]
fn control_rejects_pdf_off_by_2_percent() {
    rejected(Mistake::BsdfPdf(1.02));
    rejected(Mistake::BsdfPdf(0.98));
}
