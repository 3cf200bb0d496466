//! Texture coordinates of spheres and triangles, and their derivatives.

use std::f64::consts::{PI, TAU};

use device::features::Full;
use device::material::texture::{Channel, Filter, Format, Texture, Wrap};
use device::material::{At, Color};
use device::sampling::Frame;
use device::shape::triangle::TriangleUvs;
use device::shape::{Kind, Primitive, sphere};
use glam::{Vec2, Vec3};

use crate::common::vector::{DVec3, wide};
use crate::common::{Random, empty_scene, polar, turn};

/// A sphere at the end of a rotation or a reflection of it: the axes of its object space in the world, and itself.
fn turned_sphere(random: &mut Random) -> ([DVec3; 3], Primitive) {
    let z = random.direction();
    let (s, c) = random.within(0.0, TAU).sin_cos();
    let any = z.any_orthonormal();
    let x = c * any + s * z.cross(any);
    let sign = if random.f64() < 0.5 { 1.0 } else { -1.0 };
    let y = sign * z.cross(x);
    let axis = z.to_f32();
    let frame = Frame::from_z(axis);
    let seam = turn(x.dot(wide(frame.x)), x.dot(wide(frame.y)));
    let prim = Primitive {
        a: Vec3::ZERO,
        material_flags: Kind::Sphere.flag(),
        b: Vec3::new(random.within(0.1, 10.0) as f32, sign as f32, seam as f32),
        light: Primitive::NO_LIGHT,
        c: axis,
        normals: Primitive::FLAT,
    };
    ([x, y, z], prim)
}

/// The normal at the azimuth and the angle to the axis that (u, v) stand for.
fn normal_at([x, y, z]: [DVec3; 3], u: f64, v: f64) -> DVec3 {
    let p = polar((PI * v).cos(), TAU * u);
    p.x * x + p.y * y + p.z * z
}

/// Largest error of (u, v), as a distance along the sphere over its radius.
fn sphere_error(uv: impl Fn(&Primitive, Vec3) -> Vec2) -> f64 {
    let (mut random, mut worst) = (Random::new(2), 0.0_f64);
    for i in 0..100_000 {
        let (axes, prim) = turned_sphere(&mut random);
        let v = if i % 3 == 0 { random.power_of_ten(-6.0, 0.0) } else { random.f64() };
        let n = normal_at(axes, random.f64(), v);
        let found = uv(&prim, n.to_f32());
        assert!((0.0..=1.0).contains(&found.x) && (0.0..=1.0).contains(&found.y), "{found}");
        worst = worst.max((normal_at(axes, found.x.into(), found.y.into()) - n).length());
    }
    worst
}

#[test]
fn texture_coordinates_of_spheres_lead_back_to_the_point() {
    let worst = sphere_error(sphere::uv);
    println!("off by {worst:e}");
    assert!(worst < 2e-6, "off by {worst}");
}

#[test]
fn control_other_texture_coordinates_are_rejected() {
    let with = |change: fn(&mut Primitive)| {
        sphere_error(move |prim, n| {
            let mut prim = *prim;
            change(&mut prim);
            sphere::uv(&prim, n)
        })
    };
    assert!(with(|p| p.b.z = (p.b.z + 1e-5) % 1.0) > 1e-5);
    assert!(with(|p| p.b.y = 1.0) > 1.0, "mirrored ones run the other way");
    assert!(sphere_error(|p, n| Vec2::new(sphere::uv(p, n).x, 1.0 - sphere::uv(p, n).y)) > 1.0);
}

/// Largest error of (∂p/∂u, ∂p/∂v) against finite differences, relative to the radius.
fn derivatives_error(derivatives: impl Fn(&Primitive, Vec3) -> (Vec3, Vec3)) -> f64 {
    let (mut random, mut worst) = (Random::new(3), 0.0_f64);
    for _ in 0..100_000 {
        let (axes, prim) = turned_sphere(&mut random);
        let (u, v) = (random.f64(), random.within(0.001, 0.999));
        let n = normal_at(axes, u, v);
        let (du, dv) = derivatives(&prim, n.to_f32());
        let (r, h) = (f64::from(prim.b.x), 1e-5);
        let by_u = (normal_at(axes, u + h, v) - normal_at(axes, u - h, v)) / (2.0 * h);
        let by_v = (normal_at(axes, u, v + h) - normal_at(axes, u, v - h)) / (2.0 * h);
        // Close to the poles the direction of ∂p/∂v is as uncertain as n is.
        let sin_theta = by_u.length() / TAU;
        worst = worst.max((wide(du) / r - by_u).length());
        worst = worst.max((wide(dv) / r - by_v).length() * sin_theta);
    }
    worst
}

#[test]
fn derivatives_of_spheres_are_finite_differences() {
    let worst = derivatives_error(sphere::derivatives);
    println!("off by {worst:e}");
    assert!(worst < 3e-6, "off by {worst}");
    let poles = [Vec3::Z, -Vec3::Z].map(|n| {
        let b = Vec3::new(2.0, 1.0, 0.0);
        let prim = Primitive { b, c: Vec3::Z, ..turned_sphere(&mut Random::new(4)).1 };
        sphere::derivatives(&prim, n)
    });
    assert_eq!(poles, [(Vec3::ZERO, Vec3::ZERO); 2]);
}

#[test]
fn control_other_derivatives_are_rejected() {
    assert!(
        derivatives_error(|p, n| {
            let (u, v) = sphere::derivatives(p, n);
            (u, -v)
        }) > 1.0
    );
    assert!(
        derivatives_error(|p, n| {
            let (u, v) = sphere::derivatives(p, n);
            (0.5 * u, v)
        }) > 1.0
    );
    assert!(
        derivatives_error(|p, n| {
            let (u, v) = sphere::derivatives(p, n);
            (p.b.y * u, v)
        }) > 1.0
    );
}

/// A step in (u, v) along the derivatives leads to the point whose interpolated coordinates are that far on.
#[test]
fn derivatives_of_triangles_invert_their_texture_coordinates() {
    let mut random = Random::new(5);
    for _ in 0..10_000 {
        let vertices = [(); 3].map(|()| random.in_cube().to_f32());
        let uvs = [(); 3].map(|()| random.vec2());
        let triangle = TriangleUvs::new(uvs);
        let (du, dv) = triangle.derivatives(vertices);
        let [e1, e2] = [1, 2].map(|i| uvs[i] - uvs[0]);
        if e1.perp_dot(e2).abs() < 0.05 {
            continue;
        }
        for i in [1, 2] {
            let d = uvs[i] - uvs[0];
            let found = vertices[0] + d.x * du + d.y * dv;
            assert!((found - vertices[i]).length() < 1e-4, "{found}, not {}", vertices[i]);
        }
        let b = [0.2, 0.5];
        let expected = 0.3 * uvs[0] + 0.2 * uvs[1] + 0.5 * uvs[2];
        assert!((triangle.at(b) - expected).length() < 1e-6);
    }
    let flat = TriangleUvs::new([Vec2::ONE; 3]).derivatives([Vec3::X, Vec3::Y, Vec3::Z]);
    assert_eq!(flat, (Vec3::ZERO, Vec3::ZERO));
}

/// An image of four versions, each of which is grey as its number: lookups find, between two of them, the number of halvings
/// after which a texel is as large as the footprint, by area.
#[test]
fn versions_are_looked_up_by_footprint() {
    let words: Vec<u32> = [(0.0_f32, 16 * 8), (1.0, 8 * 4), (2.0, 4 * 2), (3.0, 2)]
        .into_iter()
        .flat_map(|(grey, texels)| vec![grey.to_bits(); 3 * texels])
        .collect();
    let texture = |filter, smaller| Texture {
        image_from_uv: [[0.5, 0.0, 0.3], [0.0, -3.0, 0.1]],
        first: 0,
        width: 16,
        height: 8,
        kind: Texture::kind([Wrap::Repeat; 2], Format::RgbF32, Channel::Rgb),
        op: Texture::image_op(filter, smaller),
        reserved: 0,
    };
    let look = |texture: Texture, footprint: f32| {
        let mut scene = empty_scene();
        (scene.textures, scene.texels) = (&raw const texture, words.as_ptr());
        let at = At { footprint, ..At::new(&scene, Vec2::new(0.4, 0.9)) };
        f64::from(Color { value: Vec3::ONE, texture: 0 }.at::<Full>(&at).x)
    };
    // Texels for one unit of u and v.
    let density = (0.5 * 16.0 * 3.0 * 8.0_f64).sqrt();
    for footprint in [0.0, 0.001, 0.05, 0.1, 0.15, 0.2, 0.27, 0.5, 0.53, 0.6, 1.0, 1e9, f32::INFINITY] {
        let expected = (f64::from(footprint) * density).log2().clamp(0.0, 3.0);
        let found = look(texture(Filter::Mipmap, 3), footprint);
        assert!((found - expected).abs() < 1e-4, "{footprint}: {found}, not {expected}");
        assert_eq!(look(texture(Filter::Linear, 0), footprint), 0.0);
    }
    assert_eq!(look(texture(Filter::Mipmap, 1), 1e9), 1.0, "the last that there is");
    assert_eq!(look(texture(Filter::Mipmap, 3), f32::NAN), 0.0);
    assert!(
        (look(texture(Filter::Mipmap, 3), 0.2) - (0.2 * 16.0_f64).log2()).abs() > 0.1,
        "control: another density"
    );
}
