//! Materials whose lobes are compared, in groups.

use device::bsdf::microfacet::Distribution;
use device::bsdf::principled;
use device::material::{
    Color, ConductorMaterial, DielectricMaterial, DiffuseMaterial, Facets, GltfMaterial, PlasticMaterial,
    PrincipledMaterial, Scalar, Scattering, SheenMaterial, ThinDielectricMaterial, Tints,
};
use glam::{Vec2, Vec3};
use renderer::assemble::SceneData;
use torrance_scene::{Geometry, Masking, Material, MaterialKind};
use torrance_tests::assembled;
use torrance_tests::closed::{camera, description, shape};

/// A lobe, and materials that become it.
pub(super) struct Group {
    pub(super) name: &'static str,
    pub(super) kinds: Vec<MaterialKind>,
}

fn group<P: Copy>(name: &'static str, kind: fn(P) -> MaterialKind, parameters: &[P]) -> Group {
    Group { name, kinds: parameters.iter().copied().map(kind).collect() }
}

const COLOR: Vec3 = Vec3::new(0.9, 0.5, 0.1);
/// Copper.
const ETA: Vec3 = Vec3::new(0.2, 0.924, 1.102);
const K: Vec3 = Vec3::new(3.912, 2.452, 2.142);

/// Narrow and wide facets of both distributions, stretched and not; all parameters times `x`.
fn facets(x: f32) -> Vec<Facets> {
    let ggx = [(1e-4, 1e-4), (1e-3, 1e-3), (0.02, 0.02), (0.1, 0.4), (0.5, 0.5), (1.0, 0.01), (1.0, 1.0)];
    let beckmann = [(1e-3, 1e-3), (0.1, 0.1), (0.5, 0.2), (1.0, 1.0)];
    let of = |distribution| move |(a, b)| Facets::new(x * Vec2::new(a, b), distribution);
    let ggx = ggx.into_iter().map(of(Distribution::Ggx));
    ggx.chain(beckmann.into_iter().map(of(Distribution::Beckmann))).collect()
}

/// The material of glTF as plain metal, as a plain dielectric, with every extension by itself, and with all of them.
fn gltfs(x: f32) -> Vec<GltfMaterial> {
    let one = |value: f32| Scalar::new((x * value).min(1.0));
    let variants = |roughness: f32| {
        let metal = GltfMaterial {
            base_color: Color::new(x * COLOR),
            roughness: one(roughness),
            ..GltfMaterial::DEFAULT
        };
        let plain = GltfMaterial { metallic: Scalar::new(0.0), ..metal };
        let specular_color = Color::new(x * Vec3::new(0.4, 1.0, 1.6));
        let sheen_color = Color::new(x * Vec3::new(0.3, 0.6, 0.9));
        let (thickness, rotation) = (Scalar::new(x * 450.0), [0.8, 0.6]);
        let iridescent = |m| GltfMaterial { iridescence: one(0.8), iridescence_thickness: thickness, ..m };
        let everything = GltfMaterial {
            specular_color,
            sheen_color,
            metallic: one(0.3),
            specular: one(0.7),
            transmission: one(0.4),
            anisotropy: one(0.6),
            clearcoat: one(0.7),
            clearcoat_roughness: one(0.2),
            sheen_roughness: one(0.5),
            rotation,
            ior: 1.8 * x,
            ..iridescent(metal)
        };
        [
            metal,
            plain,
            GltfMaterial { ior: 2.2 * x, ..plain },
            GltfMaterial { specular: one(0.5), specular_color, ..plain },
            GltfMaterial { transmission: one(0.9), ..plain },
            GltfMaterial { anisotropy: one(0.7), rotation, ..metal },
            GltfMaterial { clearcoat: one(0.9), ..plain },
            GltfMaterial { clearcoat: one(0.5), clearcoat_roughness: one(0.4), ..metal },
            GltfMaterial { sheen_color, sheen_roughness: one(0.4), ..plain },
            iridescent(metal),
            iridescent(plain),
            everything,
        ]
    };
    [0.0, 0.1, 0.4, 0.7, 1.0].into_iter().flat_map(variants).collect()
}

/// Every lobe, from its smoothest to its roughest. `x` is 1, or close to it for materials that are not quite these.
pub(super) fn groups(x: f32) -> Vec<Group> {
    let one = |value: f32| Scalar::new((x * value).min(1.0));
    let diffuse = |roughness| DiffuseMaterial {
        roughness: Scalar::new(x * roughness),
        ..DiffuseMaterial::new(Color::new(x * COLOR))
    };
    let metal = |facets| ConductorMaterial::new(ETA, x * K, facets);
    let glass = |(facets, ior)| DielectricMaterial::new(x * ior, facets);
    let plastic = |(facets, nonlinear)| PlasticMaterial {
        reflectance: Color::new(x * COLOR),
        specular: Color::new(Vec3::ONE),
        facets,
        ior: 1.5 * x,
        nonlinear,
        coat: 0,
        internal_reflectance: PlasticMaterial::COMPUTED,
    };
    let sheen = |roughness: f32| SheenMaterial {
        color: Color::new(COLOR),
        roughness: Scalar::new(x * roughness),
        reserved: [0; 2],
    };
    let principled = |roughness: f32, [metallic, spec_trans, rest]: [f32; 3]| PrincipledMaterial {
        base_color: Color::new(x * COLOR),
        roughness: one(roughness),
        anisotropic: one(0.6 * rest),
        metallic: one(metallic),
        spec_tint: one(0.5 * rest),
        spec_trans: one(spec_trans),
        flatness: one(0.5 * rest),
        sheen: one(rest),
        sheen_tint: one(0.5 * rest),
        clearcoat: one(rest),
        clearcoat_gloss: one(0.7 * rest),
        eta: x * principled::eta_from_specular(0.5),
        masking: 0,
        reserved: [0; 2],
    };
    let tints = Tints { reflection: Color::new(x * COLOR), transmission: Color::new(COLOR * COLOR) };
    let rough: Vec<_> = facets(x);
    let metals = |scattering: Scattering| -> Vec<_> {
        rough.iter().map(|&f| metal(Facets { scattering: scattering as u32, ..f })).collect()
    };
    let glasses = |scattering: Scattering| -> Vec<_> {
        let scatter = |f: &Facets| Facets { scattering: scattering as u32, ..*f };
        rough.iter().flat_map(|f| [1.5, 1.0 / 1.33].map(|ior| glass((scatter(f), ior)))).collect()
    };
    let isotropic: Vec<_> = rough.iter().filter(|f| !f.is_anisotropic()).collect();
    let plastics: Vec<_> = isotropic.iter().flat_map(|&&f| [0, 1].map(|n| plastic((f, n)))).collect();
    let paints: Vec<_> = [0.0, 0.1, 0.3, 0.7, 1.0]
        .into_iter()
        .flat_map(|r| {
            [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.4, 1.0]].map(|w| principled(r, w))
        })
        .collect();
    use MaterialKind as Kind;
    vec![
        group("Diffuse", Kind::Diffuse, &[diffuse(0.0)]),
        group("OrenNayar", Kind::Diffuse, &[1e-3, 0.3, 1.0].map(diffuse)),
        group("Sheen", Kind::Sheen, &[0.07, 0.2, 0.5, 1.0].map(sheen)),
        group("Conductor", Kind::Conductor, &metals(Scattering::None)),
        group(
            "SmoothConductor",
            Kind::Conductor,
            &[metal(Facets::SMOOTH), metal(Facets::SMOOTH).tinted(tints)],
        ),
        group(
            "SmoothDielectric",
            Kind::Dielectric,
            &[1.5, 0.7].map(|ior| glass((Facets::SMOOTH, ior)).tinted(tints)),
        ),
        group("Dielectric", Kind::Dielectric, &glasses(Scattering::None)),
        group(
            "ThinDielectric",
            Kind::ThinDielectric,
            &[1.5, 2.4].map(|ior| ThinDielectricMaterial::new(x * ior)),
        ),
        group("SmoothPlastic", Kind::Plastic, &[0, 1].map(|n| plastic((Facets::SMOOTH, n)))),
        group("Plastic", Kind::Plastic, &plastics),
        group("Principled", Kind::Principled, &paints),
        group("CompensatedConductor", Kind::Conductor, &metals(Scattering::Compensated)),
        group("CompensatedDielectric", Kind::Dielectric, &glasses(Scattering::Compensated)),
        group("RandomWalkConductor", Kind::Conductor, &metals(Scattering::RandomWalk)),
        group("RandomWalkDielectric", Kind::Dielectric, &glasses(Scattering::RandomWalk)),
        group("Gltf", Kind::Gltf, &gltfs(x)),
    ]
}

/// A scene of these materials, in which nobody looks at anything.
pub(super) fn scene(groups: &[Group], masking: Masking) -> SceneData {
    let kinds = groups.iter().flat_map(|group| &group.kinds);
    let sphere = shape(Geometry::Sphere { center: Vec3::ZERO, radius: 0.1 }, 0.0);
    let mut scene = description(1, camera(Vec3::Z, Vec3::ZERO, Vec3::Y, 45.0), 0.0, vec![sphere]);
    scene.render.masking = masking;
    scene.materials = kinds.map(|kind| Material::new("", *kind)).collect();
    assembled(&scene)
}
