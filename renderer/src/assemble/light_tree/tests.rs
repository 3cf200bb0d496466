//! What the tree chooses, against counts, and against what lights bring.

use std::fmt::Write as _;

use device::features::Full;
use device::light::select::{light_for, sample_light};
use device::light::tree::Facing;
use device::scene::SceneView;
use tier::Random;

use super::*;
use crate::assemble::{SceneData, assemble};
use crate::described;

/// So many lights of all kinds that have a place, in a box of this size, and some that have none.
fn scene(lights: usize, size: f64) -> SceneData {
    let mut random = Random(11);
    let mut text = r#"
        [render]
        lights = "tree"
        [camera]
        position = [0, 0, 4]
        target = [0, 0, 0]
        fov = 40
        [environment]
        radiance = 0.1
        [materials.grey]
        type = "diffuse"
        reflectance = 0.5
        [[lights]]
        name = "far"
        type = "directional"
        direction = [0, -1, 0]
        irradiance = 1
        "#
    .to_owned();
    for i in 0..lights {
        let mut at = || [0, 1, 2].map(|_| size * (random.uniform() - 0.5));
        let (place, way, strength) = (at(), at(), 0.1 + at()[0].abs());
        let shape = |what: &str| {
            let sides = if i % 8 == 3 { "both" } else { "front" };
            format!(
                "[[shapes]]\nname = \"l{i}\"\nmaterial = \"grey\"\nemission = {strength}\nemission_sides = \"{sides}\"\n{what}\n"
            )
        };
        let turn = format!(
            "transform = [{{ scale = {} }}, {{ rotate = {{ axis = \"x\", degrees = {} }} }}, {{ translate = {place:?} }}]",
            0.02 * size,
            40 * i % 360
        );
        let light = |what: &str| {
            format!("[[lights]]\nname = \"l{i}\"\nposition = {place:?}\nintensity = {strength}\n{what}\n")
        };
        text += &match i % 6 {
            0 => shape(&format!("type = \"quad\"\n{turn}")),
            1 => shape(&format!("type = \"sphere\"\ncenter = {place:?}\nradius = {}", 0.01 * size)),
            2 => shape(&format!("type = \"disk\"\n{turn}")),
            3 => shape(&format!("type = \"cylinder\"\n{turn}")),
            4 => light("type = \"point\""),
            _ => light(&format!("type = \"spot\"\ndirection = {way:?}\ninner = 10\nouter = {}", 20 + i % 60)),
        };
    }
    assemble(&described(&text)).unwrap_or_else(|e| panic!("{e}"))
}

/// As stages see its lights.
fn view(scene: &SceneData) -> SceneView {
    // SAFETY: it is made of pointers, which may be null, and numbers.
    let mut view: SceneView = unsafe { std::mem::zeroed() };
    let lights = &scene.lights;
    (view.lights, view.light_count) = (lights.all.as_ptr(), lights.all.len() as u32);
    (view.light_table, view.first_infinite) = (lights.table.as_ptr(), lights.first_infinite);
    (view.light_tree, view.light_places) = (lights.tree.nodes.as_ptr(), lights.tree.places.as_ptr());
    (view.tree_lights, view.tree_pmf) = (lights.tree.places.len() as u32, lights.tree_pmf);
    view
}

/// A point in a box of a size, or near it, and a side, or none.
fn somewhere(random: &mut Random, size: f64) -> (Vec3, Facing) {
    let mut vector = || Vec3::from_array([0, 1, 2].map(|_| 1.5 * (random.uniform() - 0.5) as f32));
    let (p, n) = (vector() * size as f32, vector());
    let facing = n.try_normalize().filter(|_| random.uniform() < 0.7);
    (p, facing.map_or(Facing::ANY, Facing::of_normal))
}

/// The probability with which each light is chosen there.
fn probabilities(scene: &SceneData, at: (Vec3, Facing)) -> Vec<f64> {
    let view = view(scene);
    let pmf = |(i, light): (u32, &device::light::Light)| {
        // SAFETY: the view is of these lights.
        f64::from(unsafe { light_for::<Full>(&view, *light, i, at) }.pmf)
    };
    (0..).zip(&scene.lights.all).map(pmf).collect()
}

/// What a child of a node may bring to a point, as [`LightNode`] says it, in `f64` and by angles; `None` if the point is on a border where
/// that jumps, on either side of which `f32` may be.
fn importance(node: &LightNode, k: usize, (p, facing): (Vec3, Facing)) -> Option<f64> {
    let row = |row: &device::row::Row| f64::from(row.0[k]);
    let [center, half, axis] = [&node.center, &node.half, &node.axis].map(|rows| rows.each_ref().map(row));
    let p = p.as_dvec3().to_array();
    let dot = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let to_light = [0, 1, 2].map(|c| center[c] - p[c]);
    let (distance, radius) = (dot(to_light, to_light).sqrt(), row(&node.radius));
    let angle = |a: [f64; 3], b: [f64; 3]| dot(a, b).clamp(-1.0, 1.0).acos();
    let way = to_light.map(|x| x / distance);
    let n = facing.normal().as_dvec3().to_array();
    let [theta_o, theta_e] = [&node.cos_o, &node.cos_e].map(|cos| row(cos).acos());
    let (theta, theta_i) = match distance > radius {
        true => {
            let theta_u = (radius / distance).asin();
            let theta_w = angle(axis, way.map(|x| -x));
            ((theta_w - theta_o - theta_u).max(0.0), (angle(n, way) - theta_u).max(0.0))
        }
        false => (0.0, 0.0),
    };
    let theta_i = if facing == Facing::ANY { 0.0 } else { theta_i };
    if row(&node.intensity) == 0.0 {
        return Some(0.0);
    }
    let jumps = [distance / radius - 1.0, theta.cos() - theta_e.cos(), theta_i.cos() + 0.01];
    if jumps.into_iter().any(|from_jump| from_jump.abs() < 1e-5) {
        return None;
    }
    if theta > theta_e || theta_i.cos() < -0.01 {
        return Some(0.0);
    }
    let beside = [0, 1, 2].map(|c| (to_light[c].abs() - half[c]).max(0.0));
    let h2 = dot(beside, beside) + row(&node.spacing2);
    let falloff = theta.cos().max(1.0 / 16.0) * theta_i.cos().max(1.0 / 16.0);
    Some(row(&node.intensity) * falloff / (h2 * (h2 + radius * radius)).sqrt())
}

/// Adds what a node brings to the probabilities of lights, if it is come to with a probability. Returns the part of that which ends in
/// nodes none of whose children shine there; `None` as [`importance`].
fn walk(tree: &LightTree, number: u32, at: (Vec3, Facing), p: f64, lights: &mut [f64]) -> Option<f64> {
    let node = &tree.nodes[number as usize];
    let all = (0..WIDTH).map(|k| importance(node, k, at)).collect::<Option<Vec<f64>>>()?;
    let sum: f64 = all.iter().sum();
    if sum == 0.0 {
        return Some(p);
    }
    let of_child = |(k, own): (usize, f64)| {
        let (p, child) = (p * own / sum, node.child[k]);
        match child & LightNode::LEAF {
            _ if own == 0.0 => Some(0.0),
            0 => walk(tree, child, at, p, lights),
            _ => {
                lights[(child & !LightNode::LEAF) as usize] = p;
                Some(0.0)
            }
        }
    };
    all.into_iter().enumerate().map(of_child).sum()
}

/// For 10⁵ points, against the formula in `f64`.
#[test]
fn all_probabilities_are_one() {
    let mut random = Random(3);
    for (lights, points) in [(1, 20_000), (7, 40_000), (9, 30_000), (60, 10_000), (400, 200)] {
        let scene = scene(lights, 10.0);
        let placed = scene.lights.tree.places.len();
        assert_eq!(placed + 2, scene.lights.all.len(), "all but those far away");
        let (tree_pmf, mut on_borders) = (f64::from(scene.lights.tree_pmf), 0);
        for _ in 0..points {
            let at = somewhere(&mut random, 10.0);
            let all = probabilities(&scene, at);
            let mut expected = vec![0.0; placed];
            let Some(lost) = walk(&scene.lights.tree, 0, at, 1.0, &mut expected) else {
                on_borders += 1;
                continue;
            };
            let sum = all.iter().sum::<f64>() + tree_pmf * lost;
            assert!((sum - 1.0).abs() < 1e-4, "{lights} lights, {at:?}: {sum}");
            for (i, (found, expected)) in all.iter().zip(&expected).enumerate() {
                let (off, most) = ((found - tree_pmf * expected).abs(), 1e-4 + 1e-3 * expected);
                assert!(off < most, "{i} of {lights} lights, {at:?}: {found}, {expected}");
            }
        }
        assert!(on_borders * 1000 < points, "{on_borders} of {points}");
    }
}

/// By a χ² test, normal for so many choices.
#[test]
fn lights_are_chosen_with_their_probabilities() {
    const N: u32 = 1 << 18;
    let scene = scene(120, 10.0);
    let view = view(&scene);
    let mut random = Random(5);
    let deviation = |counts: &[u32], expected: &[f64]| {
        let (mut chi2, mut dof, mut rest) = (0.0, -1.0, [0.0; 2]);
        for (count, p) in counts.iter().zip(expected) {
            let (count, expected) = (f64::from(*count), p * f64::from(N));
            rest = [rest[0] + count, rest[1] + expected];
            if rest[1] >= 10.0 {
                chi2 += (rest[0] - rest[1]).powi(2) / rest[1];
                (dof, rest) = (dof + 1.0, [0.0; 2]);
            }
        }
        (chi2 - dof) / (2.0_f64 * dof).sqrt()
    };
    for _ in 0..8 {
        let at = somewhere(&mut random, 10.0);
        let mut counts = vec![0_u32; scene.lights.all.len()];
        let (mut none, mut rest) = (0, [0_u32; 16]);
        for _ in 0..N {
            let [bits, filler] = [0, 1].map(|_| (random.next_u64() >> 32) as u32);
            // SAFETY: the view is of these lights.
            let (light, index, word) = unsafe { sample_light::<Full>(&view, at, bits, filler) };
            match light.le == Vec3::ZERO {
                true => none += 1,
                false => counts[index as usize] += 1,
            }
            rest[(word >> 28) as usize] += 1;
        }
        let all = probabilities(&scene, at);
        let missing = 1.0 - all.iter().sum::<f64>();
        assert!((f64::from(none) / f64::from(N) - missing).abs() < 0.01, "{none}, {missing}");
        let found = deviation(&counts, &all);
        assert!(found.abs() < 5.0, "{at:?}: {found}");
        // The word that is left is random once more.
        let found = deviation(&rest, &[1.0 / 16.0; 16]);
        assert!(found.abs() < 5.0, "{at:?}: {rest:?}");
        // Control: probabilities that are 5 % off for one half of the lights.
        let half = all.len() / 2;
        let wrong: Vec<f64> =
            (0..).zip(&all).map(|(i, p)| if i < half { p * 1.05 } else { p * 0.95 }).collect();
        let found = deviation(&counts, &wrong);
        assert!(found > 5.0, "{at:?}: {found}");
    }
}

/// What a light brings to a side is never out of reach.
#[test]
fn no_light_that_shines_is_left_out() {
    let (scene, mut random) = (scene(150, 10.0), Random(9));
    let view = view(&scene);
    let (mut shining, mut missed) = (0, String::new());
    for _ in 0..400 {
        let (p, facing) = somewhere(&mut random, 10.0);
        let all = probabilities(&scene, (p, facing));
        for (i, light) in (0..).zip(&scene.lights.all) {
            let bits = [0, 1, 2].map(|_| (random.next_u64() >> 32) as u32);
            // SAFETY: the view is of these lights.
            let Some(sample) = (unsafe { light.sample::<Full>(&view, i, p, bits) }) else { continue };
            let is_in_front = facing == Facing::ANY || sample.wi.dot(facing.normal()) > 1e-3;
            if sample.li.max_element() > 0.0 && is_in_front {
                shining += 1;
                if all[i as usize] == 0.0 {
                    let _ = writeln!(missed, "light {i} from {p}, {:?}", facing.normal());
                }
            }
        }
    }
    assert!(shining > 10_000 && missed.is_empty(), "{shining}\n{missed}");
}

/// What is near is chosen more often than by its power, and what is behind is not.
#[test]
fn near_lights_are_chosen() {
    let scene = scene(400, 10.0);
    let by_tree = |i: usize| {
        let p = scene.lights.all[i].a + Vec3::new(0.05, 0.02, 0.01);
        probabilities(&scene, (p, Facing::ANY))[i]
    };
    // Points, which are seen from everywhere.
    let points =
        (0..).zip(&scene.lights.all).filter(|(_, light)| light.kind_flags == device::light::Light::POINT);
    let gains: Vec<f64> = points.map(|(i, light)| by_tree(i) / f64::from(light.pmf)).collect();
    let mean = gains.iter().map(|gain| gain.ln()).sum::<f64>() / gains.len() as f64;
    assert!(gains.len() > 50 && mean.exp() > 20.0, "{}", mean.exp());
}

#[test]
fn octahedra_have_all_directions() {
    let mut random = Random(1);
    let axes = [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z];
    let others = (0..10_000)
        .filter_map(|_| Vec3::from_array([0, 1, 2].map(|_| random.uniform() as f32 - 0.5)).try_normalize());
    for n in axes.into_iter().chain(others) {
        let facing = Facing::of_normal(n);
        assert!(facing != Facing::ANY && facing.normal().distance(n) < 1e-4, "{n}: {}", facing.normal());
    }
}

/// A cone has both that it is of.
#[test]
fn cones_have_what_they_are_of() {
    let mut random = Random(2);
    let mut cone = || {
        let axis = Vec3::from_array([0, 1, 2].map(|_| random.uniform() as f32 - 0.5)).normalize();
        Cone { axis, theta_o: (random.uniform() * 2.5) as f32, theta_e: random.uniform() as f32 }
    };
    for _ in 0..10_000 {
        let (a, b) = (cone(), cone());
        let both = a.union(b);
        for one in [a, b] {
            let reach = both.axis.angle_between(one.axis) + one.theta_o;
            assert!(both.theta_o >= PI - 1e-3 || reach <= both.theta_o + 1e-3, "{a:?} and {b:?}: {both:?}");
            assert!(both.theta_e >= one.theta_e);
        }
    }
}

/// A quad of light.
fn small(center: Vec3, axis: Vec3) -> Cluster {
    let cone = Cone::of_normal(axis);
    Cluster {
        bounds: [center - Vec3::splat(0.01), center + Vec3::splat(0.01)],
        radius: 0.02,
        cone,
        intensity: 1.0,
        lights: 1,
    }
}

#[test]
fn a_tree_pays_among_scattered_lights_alone() {
    let mut random = Random(3);
    let mut at = || Vec3::from_array([0, 1, 2].map(|_| random.uniform() as f32 - 0.5));
    let scattered: Vec<_> = (0..2000).map(|_| small(20.0 * at(), at().normalize())).collect();
    // A lamp, and a light so far away that most places see the lamp from afar.
    let mut lamp: Vec<_> = (0..2000).map(|_| at().normalize()).map(|n| small(n, n)).collect();
    lamp.push(Cluster { intensity: 1e-3, ..small(Vec3::splat(100.0), Vec3::Y) });
    let one = vec![small(Vec3::ZERO, Vec3::Y)];
    for (lights, expected) in [(scattered, true), (lamp, false), (one, false), (Vec::new(), false)] {
        assert_eq!(pays(&lights, &vec![1.0; lights.len()]), expected, "{} lights", lights.len());
    }
}
