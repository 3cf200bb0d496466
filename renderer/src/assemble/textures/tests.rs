use std::sync::Arc;

use device::material::normal::{Parameterization, perturbed};
use device::material::texture::lookup;
use device::material::{At, Header};
use device::scene::SceneView;
use device::shape::triangle::{TriangleColors, TriangleUvs};
use glam::{DVec2, DVec3, Mat2, Vec2};

use super::*;

/// Numbers in [0, 1) by chance (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn f32(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    fn below(&mut self, n: usize) -> usize {
        (self.f32() * n as f32) as usize
    }

    fn vec3(&mut self) -> Vec3 {
        Vec3::new(self.f32(), self.f32(), self.f32())
    }

    fn affine(&mut self) -> Affine2 {
        let mut two = || Vec2::new(4.0 * self.f32() - 2.0, 4.0 * self.f32() - 2.0);
        let matrix2 = Mat2::from_cols(two(), two());
        Affine2 { matrix2, translation: two() }
    }

    /// A factor, and a texture of those before or none.
    fn color(&mut self, before: usize) -> Color {
        let texture = if before == 0 || self.below(5) == 0 { NO_TEXTURE } else { self.below(before) as u32 };
        Color { value: self.vec3(), texture }
    }
}

fn image(width: u32, height: u32, texels: &[Vec3]) -> Image {
    let words = texels.iter().flat_map(|t| t.to_array().map(f32::to_bits)).collect();
    Image::new(width, height, Format::RgbF32, words)
}

/// Textures made of those before them, and an image of 3 by 2 texels.
fn random_textures(random: &mut Random, filter: TexelFilter) -> (Image, Vec<Texture>) {
    let texels: Vec<_> = (0..6).map(|_| random.vec3()).collect();
    let mut textures = Vec::new();
    for i in 0..8 {
        textures.push(match random.below(if i < 3 { 2 } else { 6 }) {
            0 => Texture::Bitmap(Bitmap { image_from_uv: random.affine(), filter, ..Bitmap::new(0) }),
            1 => Texture::VertexColor { channel: [Channel::Rgb, Channel::G][random.below(2)] },
            2 => Texture::Checker {
                squares_from_uv: random.affine(),
                colors: [random.color(i), random.color(i)],
            },
            3 | 4 => {
                let Color { value, texture } = random.color(i);
                let weight = Scalar { value: value.x, texture };
                Texture::Mix { colors: [random.color(i), random.color(i)], weight }
            }
            _ => Texture::Product([random.color(i), random.color(i)]),
        });
        if texture_steps(&textures).is_err() {
            textures[i] = Texture::VertexColor { channel: Channel::Rgb };
        }
    }
    (image(3, 2, &texels), textures)
}

const CORNERS: [Vec3; 3] = [Vec3::new(0.1, 0.9, 0.4), Vec3::new(0.8, 0.2, 0.6), Vec3::new(0.5, 0.7, 0.0)];
const UVS: [Vec2; 3] = [Vec2::new(0.1, 0.0), Vec2::new(1.1, 0.3), Vec2::new(0.2, 0.8)];

/// Has `look` look at a scene of the textures and one triangle.
fn with<T>(image: &Image, textures: &[Texture], look: impl FnOnce(&SceneView) -> T) -> T {
    let (records, texels) = records(std::slice::from_ref(image), textures).unwrap();
    let (colors, uvs) = (TriangleColors::new(CORNERS), TriangleUvs::new(UVS));
    // SAFETY: it is made of pointers, which may be null, and numbers.
    let mut scene: SceneView = unsafe { std::mem::zeroed() };
    (scene.textures, scene.texels) = (records.as_ptr(), texels.as_ptr());
    (scene.colors, scene.uvs) = (&raw const colors, &raw const uvs);
    look(&scene)
}

fn at(scene: &SceneView, b: [f32; 2]) -> At<'_> {
    let uv = TriangleUvs::new(UVS).at(b);
    At { triangle: 0, b, ..At::new(scene, uv) }
}

/// The texture as its description says, in f64; `None` next to an edge, where rounding decides.
fn expected(image: &Image, textures: &[Texture], index: usize, uv: DVec2, b: [f64; 2]) -> Option<DVec3> {
    let place = |m: &Affine2| {
        let p = m.matrix2.as_dmat2() * uv + m.translation.as_dvec2();
        let near = |x: f64| (x - x.round()).abs() < 1e-4;
        (!near(p.x) && !near(p.y)).then_some(p)
    };
    let of = |color: &Color| {
        let texture = color.texture as usize;
        let factor = color.value.as_dvec3();
        if color.texture == NO_TEXTURE {
            return Some(factor);
        }
        Some(factor * expected(image, textures, texture, uv, b)?)
    };
    Some(match &textures[index] {
        Texture::Bitmap(bitmap) => {
            let size = DVec2::new(3.0, 2.0);
            let m = Affine2::from_scale(size.as_vec2()) * bitmap.image_from_uv;
            let p = place(&m)?.floor().rem_euclid(size);
            let i = 3 * (3.0 * p.y + p.x) as usize;
            DVec3::from_array([0, 1, 2].map(|c| f32::from_bits(image.texels[i + c]).into()))
        }
        Texture::VertexColor { channel } => {
            let [c0, c1, c2] = CORNERS.map(|c| c.as_dvec3());
            let c = (1.0 - b[0] - b[1]) * c0 + b[0] * c1 + b[1] * c2;
            if *channel == Channel::G { DVec3::splat(c.y) } else { c }
        }
        Texture::Checker { squares_from_uv, colors } => {
            let p = place(squares_from_uv)?.floor();
            let odd = (p.x + p.y).rem_euclid(2.0) == 1.0;
            let [c0, c1] = [of(&colors[0])?, of(&colors[1])?];
            if odd { c1 } else { c0 }
        }
        Texture::Mix { colors, weight } => {
            let Scalar { value, texture } = *weight;
            let weight = of(&Color { value: Vec3::splat(value), texture })?.x;
            (1.0 - weight) * of(&colors[0])? + weight * of(&colors[1])?
        }
        Texture::Product(colors) => of(&colors[0])? * of(&colors[1])?,
    })
}

/// Largest difference between lookups and expected values after a change to the textures.
fn error(change: impl Fn(&mut Vec<Texture>)) -> f64 {
    let (mut random, mut worst) = (Random(1), 0.0_f64);
    for _ in 0..300 {
        let (image, textures) = random_textures(&mut random, TexelFilter::Nearest);
        let mut changed = textures.clone();
        change(&mut changed);
        with(&image, &textures, |scene| {
            for _ in 0..40 {
                let b = [random.f32(), random.f32()].map(|x| 0.5 * x);
                let at = at(scene, b);
                for index in 0..textures.len() {
                    let uv = at.uv.as_dvec2();
                    let Some(expected) = expected(&image, &changed, index, uv, b.map(f64::from)) else {
                        continue;
                    };
                    // SAFETY: the scene has the texture.
                    let found = unsafe { lookup(&at, index as u32) };
                    worst = worst.max((found.as_dvec3() - expected).length());
                }
            }
        });
    }
    worst
}

#[test]
fn programs_compute_what_descriptions_say() {
    let found = error(|_| {});
    assert!(found < 1e-5, "{found:e}");
}

#[test]
fn control_other_descriptions_are_rejected() {
    let changed = |change: fn(&mut Texture)| error(|textures| textures.iter_mut().for_each(change));
    let swapped = changed(|t| {
        if let Texture::Checker { colors, .. } = t {
            colors.swap(0, 1);
        }
    });
    let weighed = changed(|t| {
        if let Texture::Mix { weight, .. } = t {
            weight.value *= 1.01;
        }
    });
    let ordered = changed(|t| {
        if let Texture::Mix { colors, .. } = t {
            colors.swap(0, 1);
        }
    });
    let channel = changed(|t| {
        if let Texture::VertexColor { channel } = t {
            *channel = Channel::R;
        }
    });
    for found in [swapped, weighed, ordered, channel] {
        assert!(found > 1e-3, "{found:e}");
    }
}

/// Bump maps made of others have the slopes that differences of their heights have.
#[test]
fn slopes_of_programs_are_those_of_their_heights() {
    let mut random = Random(2);
    let (mut compared, mut steepest) = (0, 0.0_f32);
    for _ in 0..200 {
        let (image, textures) = random_textures(&mut random, TexelFilter::Linear);
        with(&image, &textures, |scene| {
            let index = textures.len() as u32 - 1;
            let b = [random.f32(), random.f32()].map(|x| 0.4 * x + 0.05);
            // SAFETY: the scene has the texture.
            let height = |b: [f32; 2]| unsafe { lookup(&at(scene, b), index) }.x;
            let (h, e) = (height(b), 2e-3);
            let ahead = [height([b[0] + e, b[1]]), height([b[0], b[1] + e])];
            let behind = [height([b[0] - e, b[1]]), height([b[0], b[1] - e])];
            let bends = |k: usize| (ahead[k] + behind[k] - 2.0 * h).abs() > 1e-3 * e;
            if bends(0) || bends(1) {
                return; // An edge of squares or texels is near, or its curvature counts.
            }
            // Along the barycentric coordinates u and v grow as along the edges of the triangle.
            let along = Mat2::from_cols(UVS[1] - UVS[0], UVS[2] - UVS[0]).transpose().inverse();
            let slope = along * Vec2::new(ahead[0] - behind[0], ahead[1] - behind[1]) / (2.0 * e);
            let header = Header { flags: Header::BUMP, normal_map: index, ..Header::PLAIN };
            let by = Parameterization { dp_du: Vec3::X, dp_dv: Vec3::Y };
            // SAFETY: as above.
            let n = unsafe { perturbed(&at(scene, b), &header, Vec3::Z, &by) };
            let found = -Vec2::new(n.x, n.y) / n.z;
            assert!((found - slope).length() < 5e-3 * (1.0 + slope.length()), "{found}, not {slope}");
            (compared, steepest) = (compared + 1, steepest.max(slope.length()));
        });
    }
    assert!(compared > 50 && steepest > 0.5, "{compared} compared, the steepest {steepest}");
}

/// Values of Mitsuba 3.9.1's `checkerboard` with the `to_uv` of half of these squares: 1 where it has its `color1`.
#[test]
fn squares_are_those_of_another_renderer() {
    const ROWS: [u32; 16] = [
        0x924d, 0x2492, 0xc924, 0xb649, 0x924d, 0x2492, 0xc924, 0xb649, 0x924d, 0x2492, 0xc924, 0xb649,
        0x924d, 0x2492, 0xc924, 0xb649,
    ];
    let [a, b, c] = [[2.0, 0.5, 0.3], [-0.7, 1.5, -0.2], [0.0; 3]];
    let to_uv = Affine2::from_cols_array(&[a[0], b[0], a[1], b[1], a[2], b[2]]);
    let colors = [Color::new(Vec3::splat(c[0])), Color::new(Vec3::ONE)];
    let wrong = |scale: f32| {
        let squares_from_uv = Affine2::from_scale(Vec2::splat(scale)) * to_uv;
        let textures = [Texture::Checker { squares_from_uv, colors }];
        let place = |i: usize| (i as f32 + 0.37) / 4.0 - 2.0;
        with(&image(1, 1, &[Vec3::ONE]), &textures, |scene| {
            let found = |i: usize, j: usize| {
                let at = At::new(scene, Vec2::new(place(i), place(j)));
                // SAFETY: the scene has the texture.
                unsafe { lookup(&at, 0) }.x
            };
            let bit = |i: usize, j: usize| (ROWS[j] >> (15 - i) & 1) as f32;
            (0..256).filter(|k| found(k % 16, k / 16) != bit(k % 16, k / 16)).count()
        })
    };
    assert_eq!(wrong(2.0), 0);
    assert!(wrong(1.0) > 50, "control: squares of another size");
}

#[test]
fn textures_that_are_made_of_themselves_or_too_many_are_refused() {
    let product = |a: u32, b: u32| {
        let of = |texture| Color { value: Vec3::ONE, texture };
        Texture::Product([of(a), of(b)])
    };
    let refused = |textures: &[Texture]| records(&[], textures).map(|_| ()).unwrap_err();
    assert_eq!(refused(&[product(1, NO_TEXTURE), product(0, 1)]), Error::TextureTooComplex(0));
    let doubling: Vec<_> = (0..40)
        .map(|i| if i == 0 { Texture::VertexColor { channel: Channel::Rgb } } else { product(i - 1, i - 1) })
        .collect();
    assert_eq!(refused(&doubling), Error::TextureTooComplex(8));
    assert_eq!(
        records(&[], &doubling[..8]).unwrap().0.len(),
        8 + (2..=8).map(|k| (1 << k) - 1).sum::<usize>()
    );
}

/// Every smaller version has the mean of the image, and each texel the mean of the area that it covers.
#[test]
fn smaller_versions_have_the_mean_of_the_image() {
    let mut random = Random(3);
    for size in [[8, 8], [5, 3], [7, 1], [1, 1], [33, 20], [1, 6]] {
        let texels: Vec<_> = (0..size[0] * size[1]).map(|_| random.vec3()).collect();
        let image = image(size[0], size[1], &texels);
        let mut words = Vec::new();
        let count = push_smaller(&image, &mut words);
        let mean = |texels: &[Vec3]| texels.iter().map(|t| t.as_dvec3()).sum::<DVec3>() / texels.len() as f64;
        let all: Vec<Vec3> =
            words.chunks(3).map(|w| Vec3::from_array([0, 1, 2].map(|c| f32::from_bits(w[c])))).collect();
        let (mut start, mut side) = (0, size);
        for _ in 0..count {
            side = side.map(smaller_side);
            let version = &all[start..start + (side[0] * side[1]) as usize];
            assert!((mean(version) - mean(&texels)).length() < 1e-6, "{size:?} at {side:?}");
            start += version.len();
        }
        assert_eq!((start, side), (all.len(), [1, 1]));
        let at_most = if size.contains(&1) { texels.len() } else { texels.len() / 2 };
        assert!(all.len() <= at_most, "{size:?}: {} more", all.len());
    }
    let ramp: Vec<_> = (0..5).map(|i| Vec3::splat(i as f32)).collect();
    let mut words = Vec::new();
    push_smaller(&image(5, 1, &ramp), &mut words);
    // (0 + 1 + 2/2)/2.5 and (2/2 + 3 + 4)/2.5.
    assert_eq!([words[0], words[3], words[6]].map(f32::from_bits), [0.8, 3.2, 2.0]);
}

/// Black and white bytes of sRGB are half as bright together, not half as large.
#[test]
fn smaller_versions_are_means_of_light() {
    let image = Image::new(2, 1, Format::Srgb8, Arc::from([0xff00_0000, 0x00ff_ffff]));
    let mut words = Vec::new();
    assert_eq!(push_smaller(&image, &mut words), 1);
    // Alpha is as it is: (255 + 0)/2.
    assert_eq!(words, [0x80bc_bcbc]);
}
