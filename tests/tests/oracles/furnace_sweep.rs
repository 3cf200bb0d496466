//! Sweeps of `scenes/furnace.toml` over roughness, as `torrance sweep` makes them, against quadrature: how much of the
//! light that arrives a conductor that reflects everything gives back.

use renderer::sweep::preset::PRESETS;
use renderer::sweep::{Grid, spec};
use torrance_scene::{Description, Options, SceneValues};
use torrance_tests::oracle::{self, G2};
use torrance_tests::{Machine, assembled, references};

/// Pixels and samples of each: so many that quadrature with the other masking is far off.
const SET: [(&str, &str); 3] =
    [("render.size", "[4, 4]"), ("render.spp", "16384"), ("render.sampler", "independent")];
/// The cosine that all pixels see.
const COSINE: f64 = 0.8;
/// How many standard errors a mean may be off. Some eighty are compared: with other samples, 4 would be too few by chance
/// once in two hundred runs.
const SIGMAS: f64 = 5.0;
/// Error of the quadrature, below 10⁻⁶, and of sums of f32.
const NUMERICAL: f64 = 1e-5;
/// Error of the tables of compensated lobes, as in `device/tests/physics/multiple_scattering`.
const TABLES: f64 = 5e-3;

/// A conductor in the furnace, and what it gave back.
#[derive(Debug)]
struct Variant {
    roughness: f64,
    scattering: String,
    masking: String,
    mean: f64,
    stderr: f64,
}

impl Variant {
    /// Expected albedo, and the model's own error.
    fn expected(&self) -> (f64, f64) {
        match self.scattering.as_str() {
            "none" => (self.single(self.masking()), 0.0),
            "compensated" => (1.0, TABLES),
            "random_walk" => (1.0, 0.0),
            other => panic!("{other}"),
        }
    }

    fn masking(&self) -> G2 {
        match self.masking.as_str() {
            "correlated" => G2::Correlated,
            "separable" => G2::Separable,
            other => panic!("{other}"),
        }
    }

    /// Albedo of single scattering.
    fn single(&self, g2: G2) -> f64 {
        oracle::ggx_albedo(COSINE, self.roughness.powi(2), g2)
    }

    /// Whether its mean is what is expected, as far as noise and a model's own error can tell.
    fn is(&self, (expected, error): (f64, f64)) -> bool {
        (self.mean - expected).abs() < SIGMAS * self.stderr + NUMERICAL + error
    }
}

fn furnace() -> SceneValues {
    let path = references().join("../../scenes/furnace.toml");
    let mut scene = SceneValues::open(&path, &Options::default()).expect("the scene loads");
    for (path, value) in SET {
        scene.set(path, value).expect("the scene has it");
    }
    scene
}

/// Mean and standard error of all pixels.
fn rendered(description: &Description) -> (f64, f64) {
    let film = Machine::Cpu.render(&assembled(description), description.render.spp);
    assert_eq!(film.rejected(), 0);
    let n = film.pixels.len() as f64;
    let mean = film.pixels.iter().map(|pixel| pixel.mean()[0]).sum::<f64>() / n;
    let variance = film.pixels.iter().map(|pixel| pixel.stderr()[0].powi(2)).sum::<f64>();
    (mean, variance.sqrt() / n)
}

/// Renders a sweep of a scene, and prints what it shows.
fn swept(scene: &SceneValues, params: &[String]) -> Vec<Variant> {
    let axes = spec::parse(params, &|path| scene.choices(path)).expect("the parameters are right");
    let grid = Grid::new(axes, None).expect("the arrangement is right");
    let variant = |i: usize| {
        let mut scene = scene.clone();
        for (path, value) in grid.settings(i) {
            scene.set(path, value).expect("the value is right");
        }
        let said = |path: &str| scene.get(path).expect("the scene says it").trim_matches('"').to_owned();
        let (mean, stderr) = rendered(&scene.load().expect("the variant is right").description);
        let roughness = said("materials.ball.roughness").parse().expect("a number");
        let (scattering, masking) = (said("materials.ball.scattering"), said("render.masking"));
        Variant { roughness, scattering, masking, mean, stderr }
    };
    let variants: Vec<_> = (0..grid.variants()).map(variant).collect();
    for v in &variants {
        let (expected, _) = v.expected();
        let off = (v.mean - expected) / v.stderr.max(1e-9);
        println!(
            "roughness {:<5} {:>11} {:>10}: {:.5} ± {:.5}, expected {expected:.5}: off by {off:+.2} standard errors",
            v.roughness, v.scattering, v.masking, v.mean, v.stderr
        );
    }
    variants
}

fn preset(name: &str) -> Vec<Variant> {
    let mut scene = furnace();
    let preset = PRESETS.iter().find(|preset| preset.name == name).expect("there is such a preset");
    let applied = preset.apply(&mut scene, None).expect("it suits the scene");
    assert_eq!(applied.replaced, None, "the conductor stays the one that reflects everything");
    swept(&scene, &applied.params)
}

/// The variants that scatter or are masked so, which are along a curve of at least five points up to roughness 1.
fn curve(variants: &[Variant], is_on: impl Fn(&Variant) -> bool) -> Vec<&Variant> {
    let on: Vec<_> = variants.iter().filter(|variant| is_on(variant)).collect();
    assert!(on.len() >= 5 && on.is_sorted_by(|a, b| a.roughness < b.roughness), "{on:?}");
    assert_eq!(on[on.len() - 1].roughness, 1.0);
    on
}

fn is_right(variants: &[Variant]) {
    for variant in variants {
        assert!(variant.is(variant.expected()), "{variant:?}, not {:?}", variant.expected());
    }
}

#[test]
fn the_preset_of_scattering_agrees_with_quadrature() {
    let variants = preset("multiscatter");
    is_right(&variants);
    for scattering in ["none", "compensated", "random_walk"] {
        let rough = *curve(&variants, |v| v.scattering == scattering).last().expect("it is not empty");
        // Control: at roughness 1, two thirds of the light meet several facets.
        let other = if scattering == "none" { (1.0, TABLES) } else { (rough.single(G2::Correlated), 0.0) };
        assert!(!rough.is(other), "{rough:?}");
    }
}

#[test]
fn the_preset_of_masking_agrees_with_quadrature() {
    let variants = preset("masking");
    is_right(&variants);
    for (masking, other) in [("separable", G2::Correlated), ("correlated", G2::Separable)] {
        for variant in curve(&variants, |v| v.masking == masking) {
            // Control: the other masking, and facets whose α is the roughness itself.
            let rough = variant.roughness > 0.75;
            assert!(!rough || !variant.is((variant.single(other), 0.0)), "{variant:?}");
            let (alpha, g2) = (variant.roughness, variant.masking());
            let is_within = (0.3..0.9).contains(&alpha);
            assert!(!is_within || !variant.is((oracle::ggx_albedo(COSINE, alpha, g2), 0.0)), "{variant:?}");
        }
    }
}

#[test]
fn nearly_smooth_to_rough_agrees_with_quadrature() {
    let params = [
        "materials.ball.roughness=0.05,0.1:0.9:5",
        "materials.ball.scattering=none,compensated,random_walk",
        "render.masking=separable,correlated",
    ];
    let variants = swept(&furnace(), &params.map(str::to_owned));
    assert_eq!(variants.len(), 36);
    is_right(&variants);
    // Masking is height-correlated where light meets several facets, whatever the scene says.
    let (separable, correlated) = variants.split_at(18);
    for (a, b) in separable.iter().zip(correlated) {
        assert_eq!((a.roughness, &a.scattering), (b.roughness, &b.scattering));
        let is_same = a.mean.to_bits() == b.mean.to_bits();
        assert!(is_same || a.scattering == "none", "{a:?} {b:?}");
    }
}
