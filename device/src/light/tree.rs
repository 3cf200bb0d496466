//! A tree over the lights that have a place, which chooses among them by what each may bring to a point (Conty Estevez and Kulla
//! 2018, "Importance Sampling of Many Lights with Adaptive Tree Splitting"). Nodes have up to [`WIDTH`] children, so that few are
//! visited, one after the other, and children side by side.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use super::Lighting;
use super::guide::BELOW_ONE;
use crate::arch::{load, max, min, rsqrt, sqrt};
use crate::row::{Row, each_of_row, sum};

/// Most children of a node.
pub const WIDTH: usize = Row::LEN;

/// The children of a node, each a cluster of lights, or one alone: 528 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct LightNode {
    /// The centre of a box, and of a sphere, around a cluster, x, y and z, metres.
    pub center: [Row; 3],
    /// Half the size of the box, metres.
    pub half: [Row; 3],
    /// The sphere's radius, metres.
    pub radius: Row,
    /// The square of the radius of one of the spheres if each light had its own and they filled it, m².
    pub spacing2: Row,
    /// The sum of the largest radiant intensities of its lights; 0 where there is no child.
    pub intensity: Row,
    /// The unit axis of a cone that has the normals of its lights, x, y and z.
    pub axis: [Row; 3],
    /// The cosine of the cone's half-angle, θ_o.
    pub cos_o: Row,
    /// The sine of θ_o.
    pub sin_o: Row,
    /// The cosine of the largest angle from a normal under which one of its lights still shines, θ_e.
    pub cos_e: Row,
    /// The number of a node, or with [`LightNode::LEAF`] that of a light.
    pub child: [u32; WIDTH],
    /// The place of the node in its parent: [`WIDTH`] times its number, and which child. 0 for the root.
    pub place: u32,
    /// Nothing.
    pub reserved: [u32; 3],
}

const _: () = assert!(size_of::<LightNode>() == 528);

/// The light that was chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChosenLight {
    /// Its index.
    pub(crate) index: u32,
    /// A word that is random once more.
    pub(crate) word: u32,
    /// The probability of the choice; 0 if no light shines there.
    pub(crate) pmf: f32,
}

/// The side of a surface that light is looked for on, as a word: the shading normal on an octahedron (Cigolle et al. 2014, "A Survey of
/// Efficient Representations for Independent Unit Vectors"), 16 bits each way; 0 for both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Facing(pub u32);

impl Facing {
    /// Both sides.
    pub const ANY: Self = Self(0);

    /// The largest number of 16 bits, less one: 0 is kept for [`Facing::ANY`].
    const STEPS: f32 = 65_534.0;

    /// That of a unit normal.
    #[inline(always)]
    pub fn of_normal(n: Vec3) -> Self {
        let scale = 1.0 / (n.x.abs() + n.y.abs() + n.z.abs());
        let (x, y) = (n.x * scale, n.y * scale);
        let (x, y) = match n.z < 0.0 {
            true => ((1.0 - y.abs()).copysign(x), (1.0 - x.abs()).copysign(y)),
            false => (x, y),
        };
        let word = |x: f32| {
            let step = max(min(0.5 * x + 0.5, 1.0), 0.0) * Self::STEPS + 0.5;
            // SAFETY: it is from 0 to below 2¹⁶.
            1 + unsafe { step.to_int_unchecked::<u32>() }
        };
        Self(word(x) | word(y) << 16)
    }

    /// The normal, of about unit length; zero for [`Facing::ANY`].
    #[inline(always)]
    pub fn normal(self) -> Vec3 {
        if self == Self::ANY {
            return Vec3::ZERO;
        }
        let [x, y] =
            [self.0 & 0xffff, self.0 >> 16].map(|word| (word as f32 - 1.0) * (2.0 / Self::STEPS) - 1.0);
        let z = 1.0 - x.abs() - y.abs();
        let fold = max(-z, 0.0);
        let n = Vec3::new(x - fold.copysign(x), y - fold.copysign(y), z);
        n * (1.0 / sqrt(n.dot(n)))
    }
}

impl LightNode {
    /// The cosine from which on light comes from behind, to be on the safe side of rounding.
    const BEHIND: f32 = -0.01;

    /// Flag of [`LightNode::child`]: it is a light.
    pub const LEAF: u32 = 1 << 31;

    /// The least that a cosine counts: some lights do not fall off with it, and some surfaces do not.
    const LEAST_COS: f32 = 1.0 / 16.0;

    /// What the children may bring to a point `p`, on a side with a normal `n`, or none if that is zero, as in the paper, section 4, but for
    /// the distance. The mean
    /// of 1/d² over a row of lights of length 2r, seen from a distance h beside it, is arctan (r/h) / (rh), and that over a disk
    /// ln (1 + r²/h²) / r². Between the two is 1 / (h √(h² + r²)), and the distance from the box is taken for h, and at least that between lights.
    /// By the distance from the centre, the nearest of many lights would hardly ever be chosen.
    ///
    /// # Safety
    /// There is the node.
    #[inline(always)]
    unsafe fn importances(node: *const Self, p: Vec3, n: Vec3) -> [f32; WIDTH] {
        // SAFETY: as the caller promised.
        let of = |row: *const Row, k: usize| unsafe { Row::number(row, k) };
        let rows =
            |rows: *const [Row; 3], k: usize| [0, 1, 2].map(|c| of(rows.cast::<Row>().wrapping_add(c), k));
        // SAFETY: as the caller promised; these are addresses alone.
        let [radius, spacing2, intensity, cos_o, sin_o, cos_e] = unsafe {
            [
                &raw const (*node).radius,
                &raw const (*node).spacing2,
                &raw const (*node).intensity,
                &raw const (*node).cos_o,
                &raw const (*node).sin_o,
                &raw const (*node).cos_e,
            ]
        };
        // SAFETY: as the caller promised; these are addresses alone.
        let [center, half, axis] =
            unsafe { [&raw const (*node).center, &raw const (*node).half, &raw const (*node).axis] };
        let (n, without_side) = ([n.x, n.y, n.z], if n == Vec3::ZERO { 1.0 } else { 0.0 });
        let mut importances = [0.0; WIDTH];
        each_of_row!(k => {
            let [center, half, axis] = [center, half, axis].map(|row| rows(row, k));
            let [radius, cos_o, sin_o] = [radius, cos_o, sin_o].map(|row| of(row, k));
            let d = [p.x - center[0], p.y - center[1], p.z - center[2]];
            let per_d = rsqrt(max(dot(d, d), f32::MIN_POSITIVE));
            let cos_w = dot(axis, d) * per_d;
            let cos_i = without_side - dot(n, d) * per_d;
            // The angle under which the sphere is seen, θ_u; all directions from inside.
            let sin_u = min(radius * per_d, 1.0);
            let cos_u = sqrt(1.0 - sin_u * sin_u);
            // θ_o + θ_u, with a negative sine if it is more than π.
            let (cos_ou, sin_ou) = (cos_o * cos_u - sin_o * sin_u, sin_o * cos_u + cos_o * sin_u);
            let is_around = sin_u >= 1.0 || sin_ou < 0.0 || cos_w >= cos_ou;
            let cos = if is_around { 1.0 } else { cos_w * cos_ou + sine(cos_w) * sin_ou };
            let is_before = sin_u >= 1.0 || cos_i >= cos_u;
            let cos_i = if is_before { 1.0 } else { cos_i * cos_u + sine(cos_i) * sin_u };
            let is_seen = cos >= of(cos_e, k) && cos_i >= Self::BEHIND;
            let falloff = max(cos, Self::LEAST_COS) * max(cos_i, Self::LEAST_COS);
            let brought = if is_seen { of(intensity, k) * falloff } else { 0.0 };
            let beside = [0, 1, 2].map(|c| max(d[c].abs() - half[c], 0.0));
            let h2 = dot(beside, beside) + of(spacing2, k);
            importances[k] = brought * rsqrt(max(h2 * (h2 + radius * radius), f32::MIN_POSITIVE));
        });
        importances
    }
}

/// The sine of an angle from 0 to π.
#[inline(always)]
fn sine(cos: f32) -> f32 {
    sqrt(max(1.0 - cos * cos, 0.0))
}

#[inline(always)]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Chooses a light for a point, and the side that it is to shine on, by a random word, with others in `filler`.
///
/// # Safety
/// `scene` is valid and has a tree.
#[inline(always)]
pub(super) unsafe fn choose(
    scene: &Lighting,
    (p, facing): (Vec3, Facing),
    mut word: u32,
    mut filler: u32,
) -> ChosenLight {
    let n = facing.normal();
    let (mut pmf, mut number) = (1.0, 0_u32);
    loop {
        // SAFETY: as the caller promised: children that are nodes are some of the tree.
        let (node, importances) = unsafe {
            let node = scene.light_tree.add(number as usize);
            (node, LightNode::importances(node, p, n))
        };
        let all = sum(&importances);
        let at = word as f32 * (1.0 / 4_294_967_296.0) * all;
        let (mut chosen, mut before, mut own, mut end) = (0, 0.0, 0.0, 0.0);
        each_of_row!(k => {
            let is_reached = importances[k] > 0.0 && end <= at;
            chosen = if is_reached { k } else { chosen };
            before = if is_reached { end } else { before };
            own = if is_reached { importances[k] } else { own };
            end += importances[k];
        });
        let _ = end;
        if own == 0.0 {
            return ChosenLight { index: 0, word, pmf: 0.0 };
        }
        pmf *= own / all;
        let part = min(max((at - before) / own, 0.0), BELOW_ONE) * (1 << 24) as f32;
        // SAFETY: it is from 0 to below 2²⁴.
        word = unsafe { part.to_int_unchecked::<u32>() } << 8 | filler >> 24;
        filler = filler.rotate_left(8);
        // SAFETY: the node has the child.
        number = unsafe { load((&raw const (*node).child).cast::<u32>().add(chosen)) };
        if number & LightNode::LEAF != 0 {
            return ChosenLight { index: number & !LightNode::LEAF, word, pmf };
        }
    }
}

/// The probability with which [`choose`] chooses light number `index` for a point.
///
/// # Safety
/// As [`choose`]; the light is in the tree.
#[inline(always)]
pub(super) unsafe fn pmf(scene: &Lighting, index: u32, (p, facing): (Vec3, Facing)) -> f32 {
    let n = facing.normal();
    // SAFETY: as the caller promised.
    let mut place = unsafe { load(scene.light_places.add(index as usize)) };
    let mut pmf = 1.0;
    loop {
        let (number, child) = (place as usize / WIDTH, place as usize % WIDTH);
        // SAFETY: as the caller promised: places are in nodes of the tree.
        let (importances, parent) = unsafe {
            let node = scene.light_tree.add(number);
            (LightNode::importances(node, p, n), load(&raw const (*node).place))
        };
        let mut own = 0.0;
        each_of_row!(k => {
            own = if k == child { importances[k] } else { own };
        });
        if own == 0.0 {
            return 0.0;
        }
        pmf *= own / sum(&importances);
        if number == 0 {
            return pmf;
        }
        place = parent;
    }
}
