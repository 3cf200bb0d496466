//! The hierarchy of many primitives: complete, tight enough to be right, not deep, and the same whatever the threads.

use device::bsdf::Basic;
use device::bvh::{Portable, STACK_SIZE, closest_hit};
use device::ray::{Ray, TraversalRay};
use device::rng::{pcg4d, uniform};
use device::shape;
use glam::{Vec3, Vec3A};
use torrance_gpu::backend::cpu::Cpu;

use super::*;
use crate::assemble::assemble;
use crate::described;
use crate::render::Uploaded;

fn random(i: u32, j: u32) -> Vec3 {
    let [x, y, z, _] = pcg4d([i, j, 6, 2]).map(uniform);
    2.0 * Vec3::new(x, y, z) - 1.0
}

fn triangle(a: Vec3, b: Vec3, c: Vec3) -> Primitive {
    let (light, normals) = (Primitive::NO_LIGHT, Primitive::FLAT);
    Primitive { a, b, c, material_flags: 0, light, normals }
}

/// Triangles of all sizes, few of them as large as all together.
fn soup(count: u32) -> Vec<Primitive> {
    let of = |i: u32| {
        let size = if i.is_multiple_of(4001) { 1.0 } else { 0.3 * 2.0_f32.powf(-8.0 * random(i, 0).x.abs()) };
        let corner = random(i, 1);
        triangle(corner, corner + size * random(i, 2), corner + size * random(i, 3))
    };
    (0..count).map(of).collect()
}

/// The box of a child, as rays see it.
fn child_box(node: &Node, slot: usize) -> Aabb {
    let plane = |axis: usize, side: usize| {
        let byte = (node.planes[2 * axis + side][slot / 4] >> (8 * (slot % 4))) & 0xff;
        node.p[axis] + f32::from_bits(node.e_imask().0[axis] << 23) * byte as f32
    };
    let corner = |side| Vec3A::new(plane(0, side), plane(1, side), plane(2, side));
    Aabb::new(corner(0), corner(1))
}

/// Number of levels. Every primitive is in one leaf, whose boxes and all around it reach over its middle, and all of it if
/// it was not cut.
fn check(bvh: &Bvh, is_cut: impl Fn(u32) -> bool) -> usize {
    let mut found = vec![0; bvh.prims.len()];
    let mut deepest = 0;
    let everything = Aabb::new(Vec3A::NEG_INFINITY, Vec3A::INFINITY);
    let mut work = vec![(0, vec![everything])];
    while let Some((node, around)) = work.pop() {
        deepest = deepest.max(around.len());
        let node = &bvh.nodes[node];
        let (mut inner, imask) = (node.child_base as usize, node.e_imask().1);
        for slot in 0..8 {
            let meta = (node.meta[slot / 4] >> (8 * (slot % 4))) & 0xff;
            if meta == 0 {
                continue;
            }
            let mut boxes = around.clone();
            boxes.push(child_box(node, slot));
            if imask & (1 << slot) != 0 {
                assert_eq!(meta, 0x20 | (24 + slot as u32));
                work.push((inner, boxes));
                inner += 1;
                continue;
            }
            for i in 0..(meta >> 5).count_ones() {
                let i = (node.prim_base + (meta & 0x1f) + i) as usize;
                found[i] += 1;
                let prim = aabb(&bvh.prims[i]);
                for b in boxes.iter().filter(|_| !is_cut(bvh.sources[i])) {
                    let beyond = (b.min - prim.min).max(prim.max - b.max).max_element();
                    assert!(beyond <= 1e-6, "{prim:?} is not in {b:?}");
                }
            }
        }
    }
    assert!(found.iter().all(|n| *n == 1));
    deepest
}

#[test]
fn everything_is_in_the_tree_once() {
    let prims = soup(40_000);
    let pieces = cut(&prims);
    assert!(!pieces.is_empty());
    let is_cut = |i: u32| pieces.iter().any(|p| p.source == i);
    let bvh = build(prims.clone());
    assert_eq!(bvh.prims.len(), bvh.sources.len());
    assert!(bvh.prims.iter().zip(&bvh.sources).all(|(prim, source)| *prim == prims[*source as usize]));
    let mut sources = bvh.sources.clone();
    sources.sort_unstable();
    let extra = sources.len() - prims.len();
    sources.dedup();
    assert!(sources.into_iter().eq(0..40_000));
    assert!(extra > 0 && extra < 5000, "{extra}");
    assert!(check(&bvh, is_cut) < 12);
}

#[test]
fn threads_change_nothing() {
    let of = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| build(soup(30_000)))
    };
    let (one, many) = (of(1), of(5));
    assert!(one.nodes == many.nodes && one.sources == many.sources);
}

#[test]
fn geometry_without_extent_makes_no_chain() {
    let point = triangle(Vec3::ONE, Vec3::ONE, Vec3::ONE);
    // A box of no size, boxes around one centre, and centres that halve their distance again and again.
    let concentric = |i: u32| triangle(Vec3::splat(-(i as f32)), Vec3::ZERO, Vec3::splat(i as f32));
    let halving = |i: u32| {
        let a = Vec3::new(0.5_f32.powi(i as i32 % 120), 0.0, 0.0);
        triangle(a, a + 1e-3 * Vec3::Y * a.x, a + 1e-3 * Vec3::Z * a.x)
    };
    for prims in
        [vec![point; 20_000], (1..20_000).map(concentric).collect(), (0..20_000).map(halving).collect()]
    {
        let bvh = build(prims);
        let deepest = check(&bvh, |_| true);
        assert!(deepest < STACK_SIZE, "{deepest}");
    }
}

#[test]
fn rays_find_what_brute_force_finds() {
    const SCENE: &str = "[camera]\nposition = [0, 0, 4]\ntarget = [0, 0, 0]\nfov = 40\n[environment]\nradiance = 1\n\
        [materials.a]\ntype = \"diffuse\"\nreflectance = 0.5\n[[shapes]]\ntype = \"sphere\"\nmaterial = \"a\"\n";
    let mut scene = assemble(&described(SCENE)).unwrap();
    let prims = soup(30_000);
    let bvh = build(prims.clone());
    let geometry = &mut scene.geometry;
    (geometry.nodes, geometry.prims, geometry.sources) =
        (bvh.nodes.into(), bvh.prims.into(), bvh.sources.into());
    let uploaded = Uploaded::new(&mut Cpu::new(Some(1)).unwrap(), &scene).unwrap();
    let view = uploaded.view(&scene);
    let mut hits = 0;
    for i in 0..1000 {
        let ray = Ray { o: 1.5 * random(i, 10), d: random(i, 11).normalize() };
        let traversal = TraversalRay::new(ray);
        let expected = prims
            .iter()
            .filter_map(|p| shape::intersect::<device::features::Full>(p, &traversal, f32::INFINITY));
        let expected = expected.map(|(t, _)| t).min_by(f32::total_cmp);
        // SAFETY: the view is of an uploaded scene, and every machine is portable.
        let found = unsafe { closest_hit::<Portable, Basic>(&view, ray, f32::INFINITY) };
        assert_eq!(found.is_hit().then_some(found.t), expected, "{ray:?}");
        hits += u32::from(found.is_hit());
    }
    assert!(hits > 300, "{hits}");
    // Negative control: a tree that is wrong in a single box misses something.
    scene.geometry.nodes[0].planes[1] = [0; 2];
    let uploaded = Uploaded::new(&mut Cpu::new(Some(1)).unwrap(), &scene).unwrap();
    let view = uploaded.view(&scene);
    let wrong = (0..1000).filter(|&i| {
        let ray = Ray { o: 1.5 * random(i, 10), d: random(i, 11).normalize() };
        // SAFETY: as above.
        unsafe { closest_hit::<Portable, Basic>(&view, ray, f32::INFINITY) }.is_hit()
    });
    assert!((wrong.count() as u32) < hits);
}
