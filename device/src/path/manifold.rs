//! Light of small and of infinitely small lights by way of smooth surfaces: caustics.
//!
//! A ray from a point meets smooth surfaces, each of which sends it on in one direction. Directions that lead to a light in this way are
//! found by Newton's method, from one that is drawn: walks on the manifold of paths that surfaces
//! allow (Jakob and Marschner 2012, "Manifold Exploration"; Hanika et al. 2015, "Manifold Next Event Estimation"). Which of several
//! such directions is found is chance as well, of a probability that nobody knows; 1 over it is estimated without bias by the number of
//! walks until the same is found again (Zeltner et al. 2020, "Specular Manifold Sampling for Rendering High-Frequency Caustics and
//! Glints", section 4.2). Here, walks change the first direction alone, and where it leads is found by tracing it: so they may be of
//! any shape, with interpolated normals and maps, and of any number.

use glam::{Vec2, Vec3};

use super::guided::may_guide;
use super::step::{Scatterer, is_hole, scatterer, surface_at};
use super::{PathSettings, PathState};
use crate::arch::{load, max, min, outlined, sqrt};
use crate::bvh::{Arch, closest_hit};
use crate::features::{Compiled, Features, Guided};
use crate::light::select::{has_tree, sample_by_power};
use crate::light::{Light, LightSample};
use crate::material::{Header, Material};
use crate::ray::Ray;
use crate::rng::{pcg4d, uniform};
use crate::sampling::{Frame, sample_cosine_hemisphere, sample_uniform_cone, sample_uniform_sphere};
use crate::scene::SceneView;

/// Most smooth surfaces on the way to a light.
pub(super) const MOST_SURFACES: u32 = 4;

/// Most times that a walk looks where a direction leads.
const MOST_LOOKS: u32 = 40;

/// Most walks until a direction is found again: only so that nothing goes on for ever.
const MOST_WALKS: u32 = 1 << 14;

/// How near the end of a walk is to the direction of the light, radians.
const NEAR: f32 = 1e-5;

/// Directions that are farther apart are never the same, radians.
const MOST_NEAR: f32 = 1e-3;

/// Distance of the directions from which derivatives are computed, radians.
const LEAST_APART: f32 = 1e-4;

/// As [`LEAST_APART`], while the walk is far from its end.
const MOST_APART: f32 = 0.003;

/// Longest step of a walk, radians.
const LONGEST_STEP: f32 = 0.3;

/// Whether walks are made.
#[inline(always)]
pub(super) fn may_walk<C: Compiled>(settings: &PathSettings) -> bool {
    may_guide::<C>()
        && C::sees(Features::WALKS)
        && Features::may_be_asked_for(Features::WALKS)
        && settings.walks != 0
}

/// [`PathState::prev_pdf`] after a delta lobe: 0, or as a negative number how many smooth surfaces the path has met one after the other
/// since it scattered where walks began. What comes through holes, they do not find.
#[inline(always)]
pub(super) fn next_of_chain(state: &PathState) -> f32 {
    let PathState { prev_pdf, holes, .. } = *state;
    if prev_pdf == 0.0 || holes > 0 { 0.0 } else { min(prev_pdf, 0.0) - 1.0 }
}

/// Whether walks find what a path finds of a light that is infinitely far.
#[inline(always)]
pub(super) fn is_found_by_walks(state: &PathState, light: &Light) -> bool {
    let PathState { prev_pdf, holes, .. } = *state;
    light.is_directional() && prev_pdf < 0.0 && prev_pdf >= -(MOST_SURFACES as f32) && holes == 0
}

/// Lobes of smooth surfaces, and what else their materials need.
struct Smooth;

impl Compiled for Smooth {
    const FEATURES: Features = Features::DELTA
        .and(Features::MIRROR_COAT)
        .and(Features::TEXTURES)
        .and(Features::NORMAL_MAPS)
        .and(Features::BLENDS)
        .and(Features::INSTANCES)
        .and(Features::SHAPES)
        .and(Features::TINTS)
        .and(Features::BENT_NORMALS);

    #[inline(always)]
    fn sees(some: Features) -> bool {
        Guided::sees(some.common(Self::FEATURES))
    }
}

/// Light that has been found.
#[derive(Clone, Copy)]
pub(super) struct Caustic {
    /// Unit direction; zero for none.
    pub(super) wi: Vec3,
    /// Irradiance across it, over the probability with which it was found.
    pub(super) brought: Vec3,
    /// Index of the light.
    pub(super) light: u32,
}

impl Caustic {
    /// None.
    pub(super) const NONE: Self = Self { wi: Vec3::ZERO, brought: Vec3::ZERO, light: 0 };
}

/// Looks for light by way of smooth surfaces.
///
/// # Safety
/// `scene` is valid, `at` is of it and is where the path is, and the machine is an `A`.
#[inline(always)]
pub(super) unsafe fn caustic<A: Arch, C: Compiled>(
    scene: &SceneView,
    settings: &PathSettings,
    state: &PathState,
    at: &Scatterer<'_>,
) -> Caustic {
    // SAFETY: as the caller promised.
    unsafe {
        if !may_walk::<C>(settings)
            || scene.light_count == 0
            || state.depth + 2 >= settings.max_depth
            || !Material::spreads(at.material)
        {
            return Caustic::NONE;
        }
        let from = Place { p: at.p, offset: at.offset, frame: at.frame, is_open: at.transmits };
        let (scene, settings, state) = (scene.shared(), *settings, *state);
        let found = outlined(move || Walker { scene, settings: &settings, state, from }.find::<A>());
        match at.origin::<C>(found.wi, at.frame.to_local(found.wi)) {
            Some(_) => found,
            None => Caustic::NONE,
        }
    }
}

/// Where walks begin.
#[derive(Clone, Copy)]
struct Place {
    p: Vec3,
    /// As [`Scatterer::offset`].
    offset: Vec3,
    frame: Frame,
    /// Whether light may come from either side.
    is_open: bool,
}

/// What looks for light from a place.
struct Walker<'a> {
    scene: &'a SceneView,
    settings: &'a PathSettings,
    state: PathState,
    from: Place,
}

/// Where a direction leads.
#[derive(Clone, Copy)]
struct Look {
    /// Number of smooth surfaces on the way; 0 if there are none, or fewer than are wanted.
    surfaces: u32,
    /// Unit direction behind them.
    d: Vec3,
    /// Factor on radiance.
    weight: Vec3,
    /// Whether nothing else is in the way.
    is_free: bool,
}

/// What a walk does next with where its query leads.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    /// It is where the walk begins.
    Begin,
    /// It is where the walk may go.
    Step,
    /// It is beside where the walk is, along one axis or the other, for derivatives.
    Beside(usize),
    /// It is on the other side, when the walk has come to its end.
    Opposite(usize),
    /// It is the end of the walk, and whether anything is in the way matters.
    End,
}

impl Walker<'_> {
    /// Random words for the walk `number`.
    #[inline(always)]
    fn words(&self, number: u32) -> [u32; 4] {
        let PathState { pixel, sample, depth, .. } = self.state;
        pcg4d([pixel, sample, depth << 16 ^ self.settings.seed.rotate_left(13) ^ OF_WALKS, number])
    }

    /// A direction in which a walk begins: by chance, the same for all walks of a path, and any that light may come from.
    #[inline(always)]
    fn begin(&self, number: u32) -> Vec3 {
        let [a, b, c, _] = self.words(number);
        let u = Vec2::new(uniform(a), uniform(b));
        let Place { p, frame, is_open, .. } = self.from;
        let [x, y, z, radius] = self.settings.smooth;
        let to = Vec3::new(x, y, z) - p;
        let (distance2, radius2) = (to.dot(to), radius * radius);
        if radius > 0.0 && distance2 > 1.01 * radius2 && c >> 31 != 0 {
            let sin2 = radius2 / distance2;
            let one_minus_cos = sin2 / (1.0 + sqrt(1.0 - sin2));
            return Frame::from_z(normalized(to)).to_world(sample_uniform_cone(one_minus_cos, u));
        }
        if is_open { sample_uniform_sphere(u) } else { frame.to_world(sample_cosine_hemisphere(u)) }
    }

    /// Follows the direction `d` over smooth surfaces: as many as there are, or no more than `surfaces`.
    ///
    /// # Safety
    /// As [`caustic`].
    #[inline(always)]
    unsafe fn look<A: Arch>(&self, d: Vec3, surfaces: u32) -> Look {
        let Place { p, offset, .. } = self.from;
        let side = 1.0_f32.copysign(offset.dot(d));
        let mut ray = Ray { o: p + side * offset, d };
        let mut look = Look { surfaces: 0, d, weight: Vec3::ONE, is_free: false };
        let mut state = self.state;
        state.holes = 0;
        let most = (self.settings.max_depth - self.state.depth - 2).min(MOST_SURFACES);
        // SAFETY: as the caller promised.
        unsafe {
            loop {
                if look.surfaces == surfaces && surfaces > 0 {
                    break;
                }
                let hit = closest_hit::<A, Guided>(self.scene, ray, f32::INFINITY);
                if !hit.is_hit() {
                    look.is_free = true;
                    break;
                }
                if look.surfaces == most {
                    break;
                }
                let surface = surface_at::<Guided>(self.scene, &ray, &hit);
                state.ray = ray;
                state.depth += 1;
                // What comes through holes, paths find.
                if is_hole::<Guided>(self.scene, self.settings, &state, &surface) {
                    break;
                }
                let Some(at) = scatterer::<Guided>(self.scene, self.settings, &state, &surface) else {
                    break;
                };
                if Material::flags(at.material) & Header::SMOOTH == 0 {
                    break;
                }
                let PathState { pixel, sample, depth, .. } = state;
                let [a, b, c, _] = pcg4d([pixel, sample, depth, self.settings.seed ^ OF_SURFACES]);
                let response =
                    at.response::<Smooth>(Vec3::ZERO, uniform(a), Vec2::new(uniform(b), uniform(c)));
                let Some(sample) = response.sample else { break };
                if sample.pdf > 0.0 {
                    break;
                }
                let wi = at.frame.to_world(sample.wi);
                let Some(o) = at.origin::<Guided>(wi, sample.wi) else { break };
                look.weight *= sample.weight * at.terminator.shadowing::<Guided>(wi);
                look.d = wi;
                look.surfaces += 1;
                ray = Ray { o, d: wi };
            }
        }
        if surfaces > 0 && look.surfaces != surfaces {
            look.surfaces = 0;
        }
        look
    }

    /// Draws a light and a direction of it: one of those that are infinitely far, and no larger than a disk.
    ///
    /// # Safety
    /// As [`caustic`].
    #[inline(always)]
    unsafe fn target(&self) -> Option<(u32, LightSample)> {
        let [a, b, c, d] = self.words(u32::MAX);
        // SAFETY: as the caller promised; the index drawn is in range.
        unsafe {
            let scene = self.scene;
            let of_tree = if has_tree::<Guided>(scene) { scene.tree_lights } else { 0 };
            // The first choice is the tree, of lights that have a place.
            let first = u32::from(of_tree > 0);
            let (choice, _) = sample_by_power(scene, scene.light_count - of_tree + first, a, d);
            if choice < first {
                return None;
            }
            let index = of_tree + choice - first;
            let light = load(scene.lights.add(index as usize));
            light.is_directional().then(|| {
                let u = Vec2::new(uniform(b), uniform(c));
                (index, light.sample_directional(u))
            })
        }
    }

    /// Light by way of smooth surfaces, if a walk finds any.
    ///
    /// # Safety
    /// As [`caustic`].
    #[inline(always)]
    unsafe fn find<A: Arch>(&self) -> Caustic {
        // SAFETY: as the caller promised.
        let Some((light, target)) = (unsafe { self.target() }) else { return Caustic::NONE };
        let mut walk = Walk::towards(target.wi);
        let mut found = Found::NONE;
        let mut walks = 0;
        walk.begin(self.begin(0));
        // One loop, and one place where a direction is followed: what that does is long.
        loop {
            // SAFETY: as the caller promised.
            let look = unsafe { self.look::<A>(walk.query, walk.wanted) };
            let end = match walk.go_on(&look, found.surfaces == 0) {
                Progress::Under => continue,
                Progress::Lost => Found::NONE,
                Progress::Arrived(end) => end,
            };
            if found.surfaces == 0 {
                if end.surfaces == 0 {
                    return Caustic::NONE;
                }
                found = end;
            } else if end.is_same_as(&found) || walks >= MOST_WALKS {
                break;
            }
            walks += 1;
            walk.begin(self.begin(walks));
        }
        let brought = found.weight * target.li * (found.per_det * walks as f32 / target.pdf);
        Caustic { wi: found.d, brought, light }
    }
}

/// The end of a walk.
#[derive(Clone, Copy)]
struct Found {
    /// Number of smooth surfaces on the way; 0 if the walk has not come to an end.
    surfaces: u32,
    /// Unit direction.
    d: Vec3,
    /// Factor on radiance.
    weight: Vec3,
    /// Solid angle of directions here over that of those that they lead to.
    per_det: f32,
    /// Whether these are mirrored.
    is_mirrored: bool,
    /// Directions closer than that are the same.
    near: f32,
}

impl Found {
    const NONE: Self =
        Self { surfaces: 0, d: Vec3::ZERO, weight: Vec3::ZERO, per_det: 0.0, is_mirrored: false, near: 0.0 };

    /// Near a fold, where light is brightest, two that are close lead to the same direction, one of them mirrored.
    #[inline(always)]
    fn is_same_as(&self, other: &Self) -> bool {
        let apart = self.d - other.d;
        let near = if self.is_mirrored == other.is_mirrored { other.near } else { CLOSE * other.near };
        self.surfaces == other.surfaces && apart.dot(apart) <= near * near
    }
}

/// At so much of the distance, directions are the same even if derivatives say otherwise, which are rounded as well.
const CLOSE: f32 = 0.2;

/// A walk under way.
struct Walk {
    /// What it is to come to: its z axis.
    target: Frame,
    /// Where it is, with the plane in which it goes on.
    here: Frame,
    /// How far what it leads to is from the target, in the plane across that.
    rest: Vec2,
    /// Number of surfaces of the walk; 0 before it has begun.
    surfaces: u32,
    /// What has been found out of the derivatives of `rest`, by columns.
    columns: [Vec2; 2],
    /// The next step, in that plane.
    step: Vec2,
    /// Distance of directions for derivatives.
    apart: f32,
    /// That of the query, on one side or the other.
    aside: f32,
    /// Factor on radiance.
    weight: Vec3,
    /// As [`Found::is_mirrored`].
    is_mirrored: bool,
    /// Number of looks that are left.
    left: u32,
    phase: Phase,
    /// The direction to be followed next.
    query: Vec3,
    /// The number of surfaces that it is to be followed over; 0 for all that there are.
    wanted: u32,
}

/// What has become of a walk.
enum Progress {
    /// It goes on.
    Under,
    /// It leads nowhere.
    Lost,
    /// It has come to its end.
    Arrived(Found),
}

impl Walk {
    #[inline(always)]
    fn towards(target: Vec3) -> Self {
        Self {
            target: Frame::from_z(target),
            here: Frame::from_z(target),
            rest: Vec2::ZERO,
            surfaces: 0,
            columns: [Vec2::ZERO; 2],
            step: Vec2::ZERO,
            apart: 0.0,
            aside: 0.0,
            weight: Vec3::ZERO,
            is_mirrored: false,
            left: 0,
            phase: Phase::Begin,
            query: Vec3::ZERO,
            wanted: 0,
        }
    }

    #[inline(always)]
    fn begin(&mut self, d: Vec3) {
        (self.phase, self.query, self.wanted, self.left) = (Phase::Begin, d, 0, MOST_LOOKS);
    }

    /// How far a direction is from the target: an angle, in the plane across the target, that grows up to the opposite.
    #[inline(always)]
    fn rest_of(&self, d: Vec3) -> Vec2 {
        let across = Vec2::new(d.dot(self.target.x), d.dot(self.target.y));
        if d.dot(self.target.z) > 0.0 {
            return across;
        }
        let length = sqrt(across.dot(across));
        across * ((2.0 - length) / max(length, 1e-6))
    }

    /// Looks beside where the walk is.
    #[inline(always)]
    fn look_beside(&mut self, phase: Phase, axis: usize, distance: f32) {
        let along = if axis == 0 { self.here.x } else { self.here.y };
        (self.phase, self.aside) = (phase, distance);
        self.query = normalized(self.here.z + distance * along);
    }

    /// The derivative along one axis or the other. No index, which the compiler would check.
    #[inline(always)]
    const fn column(&mut self, axis: usize) -> &mut Vec2 {
        if axis == 0 { &mut self.columns[0] } else { &mut self.columns[1] }
    }

    /// Goes where the query led.
    #[inline(always)]
    fn settle(&mut self, look: &Look, rest: Vec2) {
        (self.here, self.rest, self.weight) = (Frame::from_z(self.query), rest, look.weight);
    }

    /// Takes in where the query led, and asks anew. With `is_first`, what is needed of the end is found out as well.
    #[inline(always)]
    fn go_on(&mut self, look: &Look, is_first: bool) -> Progress {
        if self.left == 0 {
            return Progress::Lost;
        }
        self.left -= 1;
        let is_there = look.surfaces > 0;
        let rest = self.rest_of(look.d);
        match self.phase {
            Phase::Begin => {
                if !is_there {
                    return Progress::Lost;
                }
                (self.surfaces, self.wanted) = (look.surfaces, look.surfaces);
                self.settle(look, rest);
            }
            Phase::Step => {
                if !is_there || rest.dot(rest) >= self.rest.dot(self.rest) {
                    self.step *= 0.5;
                    if self.step.dot(self.step) < NEAR * NEAR {
                        return Progress::Lost;
                    }
                    self.query = normalized(self.here.to_world(self.step.extend(1.0)));
                    return Progress::Under;
                }
                self.settle(look, rest);
            }
            Phase::Beside(axis) => {
                if !is_there && self.aside > 0.0 {
                    // Behind an edge: on the other side, then.
                    self.look_beside(Phase::Beside(axis), axis, -self.apart);
                    return Progress::Under;
                }
                if !is_there {
                    return Progress::Lost;
                }
                *self.column(axis) = (rest - self.rest) * (1.0 / self.aside);
                if axis == 0 {
                    self.look_beside(Phase::Beside(1), 1, self.apart);
                    return Progress::Under;
                }
                if self.is_near() {
                    self.is_mirrored = self.columns[0].perp_dot(self.columns[1]) < 0.0;
                    if !is_first {
                        let Self { surfaces, is_mirrored, .. } = *self;
                        return Progress::Arrived(Found {
                            surfaces,
                            d: self.here.z,
                            is_mirrored,
                            ..Found::NONE
                        });
                    }
                    self.look_beside(Phase::Opposite(0), 0, -self.apart);
                    return Progress::Under;
                }
                let step = self.newton();
                let length2 = step.dot(step);
                if !length2.is_finite() {
                    return Progress::Lost;
                }
                let length = sqrt(length2);
                self.step = if length > LONGEST_STEP { step * (LONGEST_STEP / length) } else { step };
                self.phase = Phase::Step;
                self.query = normalized(self.here.to_world(self.step.extend(1.0)));
                return Progress::Under;
            }
            Phase::Opposite(axis) => {
                if is_there {
                    let column = (rest - self.rest) * (1.0 / self.aside);
                    let other = self.column(axis);
                    *other = derivative(*other, column);
                }
                if axis == 0 {
                    self.look_beside(Phase::Opposite(1), 1, -self.apart);
                    return Progress::Under;
                }
                (self.phase, self.query, self.wanted) = (Phase::End, self.here.z, 0);
                return Progress::Under;
            }
            Phase::End => {
                let is_free = look.surfaces == self.surfaces && look.is_free;
                return if is_free { self.arrived() } else { Progress::Lost };
            }
        }
        self.apart = if self.is_near() {
            LEAST_APART
        } else {
            min(max(0.3 * sqrt(self.rest.dot(self.rest)), LEAST_APART), MOST_APART)
        };
        self.look_beside(Phase::Beside(0), 0, self.apart);
        Progress::Under
    }

    /// Whether the walk has come to its end.
    #[inline(always)]
    fn is_near(&self) -> bool {
        self.rest.dot(self.rest) <= NEAR * NEAR
    }

    /// The step of Newton's method.
    #[inline(always)]
    fn newton(&self) -> Vec2 {
        let [a, b] = self.columns;
        let det = a.perp_dot(b);
        Vec2::new(b.perp_dot(self.rest), self.rest.perp_dot(a)) * (1.0 / det)
    }

    #[inline(always)]
    fn arrived(&self) -> Progress {
        let [a, b] = self.columns;
        let per_det = 1.0 / a.perp_dot(b).abs();
        if !per_det.is_finite() {
            return Progress::Lost;
        }
        // The norm of the inverse.
        let longest = sqrt(a.dot(a) + b.dot(b)) * per_det;
        let near = min(4.0 * NEAR * (1.0 + longest), MOST_NEAR);
        let Self { surfaces, weight, is_mirrored, .. } = *self;
        Progress::Arrived(Found { surfaces, d: self.here.z, weight, per_det, is_mirrored, near })
    }
}

/// The derivative, from those to both sides. Where they differ much there is an edge in between, across which it is too large.
#[inline(always)]
fn derivative(a: Vec2, b: Vec2) -> Vec2 {
    let (a2, b2) = (a.dot(a), b.dot(b));
    let apart = a - b;
    if apart.dot(apart) < 0.1 * min(a2, b2) {
        return 0.5 * (a + b);
    }
    if a2 < b2 { a } else { b }
}

#[inline(always)]
fn normalized(v: Vec3) -> Vec3 {
    v * (1.0 / sqrt(v.dot(v)))
}

/// Apart from other random numbers.
const OF_SURFACES: u32 = 0x5ac3_0f11;
const OF_WALKS: u32 = 0x3a1f_c0de;
