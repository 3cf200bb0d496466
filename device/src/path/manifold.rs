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

use super::guided::{self, may_guide};
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

/// The part of a step that is tried if it leads no nearer to the target as a whole.
const SHORTENED: f32 = 0.25;

/// The part of the distance to the target that is left after a good step: after others, derivatives are computed anew.
const GOOD: f32 = 0.7;

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

/// The part of walks that begin where a guide says, if one is asked.
const GUIDED: f32 = 0.5;

/// Longest step of a walk, radians.
const LONGEST_STEP: f32 = 0.6;

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

    /// What reaches a scatterer: nothing, if its normals disagree on the side.
    #[inline(always)]
    pub(super) fn at<C: Compiled>(self, at: &Scatterer<'_>) -> Self {
        match at.origin::<C>(self.wi, at.frame.to_local(self.wi)) {
            Some(_) => self,
            None => Self::NONE,
        }
    }
}

/// Looks for light by way of smooth surfaces, until all walks are at their end.
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
        let Some(search) = Search::at::<C>(scene, settings, state, at) else { return Caustic::NONE };
        let (scene, settings, state) = (scene.shared(), *settings, *state);
        let found = outlined(move || {
            let mut search = search;
            while search.goes_on::<A>(scene, &settings, &state) {}
            search.caustic()
        });
        found.at::<C>(at)
    }
}

/// A search for light by way of smooth surfaces, from one place: walks, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Search {
    from: Place,
    /// Index of the light.
    light: u32,
    /// Irradiance of it over the probability with which it was drawn.
    irradiance: Vec3,
    walk: Walk,
    /// What the first walk has found.
    found: Found,
    /// Number of walks since then.
    walks: u32,
}

/// Where walks begin.
#[derive(Clone, Copy)]
struct Place {
    p: Vec3,
    /// As [`Scatterer::offset`].
    offset: Vec3,
    /// Unit shading normal.
    normal: Vec3,
    /// Whether light may come from either side.
    is_open: bool,
    /// What has been learnt of where light comes from, if it is [`asked`](PathSettings::asks_guide).
    guide: guided::Guided,
}

impl Search {
    /// None.
    pub(super) const NONE: Self = {
        let (p, offset, normal) = (Vec3::ZERO, Vec3::ZERO, Vec3::Z);
        let from = Place { p, offset, normal, is_open: false, guide: guided::Guided::NONE };
        let (walk, found) = (Walk::towards(Vec3::Z), Found::NONE);
        Self { from, light: 0, irradiance: Vec3::ZERO, walk, found, walks: 0 }
    };

    /// One from where a path is; `None` if there is nothing to be looked for.
    ///
    /// # Safety
    /// `scene` is valid, and `at` is of it and is where the path is.
    #[inline(always)]
    pub(super) unsafe fn at<C: Compiled>(
        scene: &SceneView,
        settings: &PathSettings,
        state: &PathState,
        at: &Scatterer<'_>,
    ) -> Option<Self> {
        // SAFETY: as the caller promised.
        unsafe {
            if !may_walk::<C>(settings)
                || scene.light_count == 0
                || state.depth + 2 >= settings.max_depth
                || !Material::spreads(at.material)
            {
                return None;
            }
            let (light, target) = target(scene, words(settings, state, u32::MAX))?;
            let guide = match settings.asks_guide() {
                true => guided::Guided::at::<C>(scene, at),
                false => guided::Guided::NONE,
            };
            let from = Place { p: at.p, offset: at.offset, normal: at.frame.z, is_open: at.transmits, guide };
            let mut search = Self {
                from,
                light,
                irradiance: target.li * (1.0 / target.pdf),
                walk: Walk::towards(target.wi),
                found: Found::NONE,
                walks: 0,
            };
            search.walk.begin(from.seed(settings, state, 0));
            Some(search)
        }
    }

    /// Looks where a direction leads. Returns whether the search goes on.
    ///
    /// # Safety
    /// The arguments are those of [`Search::at`], and the machine is an `A`.
    #[inline(always)]
    pub(super) unsafe fn goes_on<A: Arch>(
        &mut self,
        scene: &SceneView,
        settings: &PathSettings,
        state: &PathState,
    ) -> bool {
        // SAFETY: as the caller promised.
        let look =
            unsafe { self.from.look::<A>(scene, settings, state, self.walk.aim(), self.walk.wanted()) };
        match self.walk.go_on(&look, &self.found) {
            Progress::Under => return true,
            Progress::Lost if self.found.surfaces == 0 => return false,
            Progress::Lost => {}
            Progress::Arrived(found) => self.found = found,
            Progress::Again => return false,
        }
        if self.walks == MOST_WALKS {
            return false;
        }
        self.walks += 1;
        // SAFETY: as the caller promised.
        self.walk.begin(unsafe { self.from.seed(settings, state, self.walks) });
        true
    }

    /// Makes it one that has found nothing.
    #[inline(always)]
    pub(super) const fn forget(&mut self) {
        self.found.surfaces = 0;
    }

    /// What has been found, when the search is over.
    #[inline(always)]
    pub(super) fn caustic(&self) -> Caustic {
        let Self { light, irradiance, found, walks, .. } = *self;
        if found.surfaces == 0 {
            return Caustic::NONE;
        }
        let brought = found.weight * irradiance * (found.per_det * walks as f32);
        Caustic { wi: found.d, brought, light }
    }
}

/// Random words.
#[inline(always)]
fn words(settings: &PathSettings, state: &PathState, number: u32) -> [u32; 4] {
    let PathState { pixel, sample, depth, .. } = *state;
    pcg4d([pixel, sample, depth << 16 ^ settings.seed.rotate_left(13) ^ OF_WALKS, number])
}

/// Draws a light and a direction of it: one of those that are infinitely far, and no larger than a disk.
///
/// # Safety
/// `scene` is valid.
#[inline(always)]
unsafe fn target(scene: &SceneView, [a, b, c, d]: [u32; 4]) -> Option<(u32, LightSample)> {
    // SAFETY: as the caller promised; the index drawn is in range.
    unsafe {
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

impl Place {
    /// A direction in which a walk begins: by chance, the same for all walks of a path, and any that light may come from. Mostly, it is
    /// drawn by what has been learnt (Fan et al. 2023, "Manifold Path Guiding for Importance Sampling Specular Chains").
    ///
    /// # Safety
    /// The scene that the place is of is valid.
    #[inline(always)]
    unsafe fn seed(&self, settings: &PathSettings, state: &PathState, number: u32) -> Vec3 {
        let [a, b, c, d] = words(settings, state, number);
        let u = Vec2::new(uniform(a), uniform(b));
        let [x, y, z, radius] = settings.smooth;
        if self.guide.knows_ways() && uniform(d) < GUIDED {
            // SAFETY: as the caller promised.
            return unsafe { self.guide.direction(self.p, u) };
        }
        let to = Vec3::new(x, y, z) - self.p;
        let (distance2, radius2) = (to.dot(to), radius * radius);
        if radius > 0.0 && distance2 > 1.01 * radius2 && c >> 31 != 0 {
            let sin2 = radius2 / distance2;
            let one_minus_cos = sin2 / (1.0 + sqrt(1.0 - sin2));
            return Frame::from_z(to.normalize()).to_world(sample_uniform_cone(one_minus_cos, u));
        }
        match self.is_open {
            true => sample_uniform_sphere(u),
            false => Frame::from_z(self.normal).to_world(sample_cosine_hemisphere(u)),
        }
    }

    /// Follows the direction `d` over smooth surfaces: as many as there are, or no more than `surfaces`.
    ///
    /// # Safety
    /// As [`Search::goes_on`].
    #[inline(always)]
    unsafe fn look<A: Arch>(
        &self,
        scene: &SceneView,
        settings: &PathSettings,
        from: &PathState,
        d: Vec3,
        surfaces: u32,
    ) -> Look {
        let side = 1.0_f32.copysign(self.offset.dot(d));
        let mut ray = Ray { o: self.p + side * self.offset, d };
        let mut look = Look { surfaces: 0, d, weight: Vec3::ONE, is_free: false };
        let mut state = *from;
        state.holes = 0;
        let most = (settings.max_depth - from.depth - 2).min(MOST_SURFACES);
        // SAFETY: as the caller promised.
        unsafe {
            loop {
                if look.surfaces == surfaces && surfaces > 0 {
                    break;
                }
                let hit = closest_hit::<A, Guided>(scene, ray, f32::INFINITY);
                if !hit.is_hit() {
                    look.is_free = true;
                    break;
                }
                if look.surfaces == most {
                    break;
                }
                let surface = surface_at::<Guided>(scene, &ray, &hit);
                state.ray = ray;
                state.depth += 1;
                // What comes through holes, paths find.
                if is_hole::<Guided>(scene, settings, &state, &surface) {
                    break;
                }
                let Some(at) = scatterer::<Guided>(scene, settings, &state, &surface) else {
                    break;
                };
                if Material::flags(at.material) & Header::SMOOTH == 0 {
                    break;
                }
                let PathState { pixel, sample, depth, .. } = state;
                let [a, b, c, _] = pcg4d([pixel, sample, depth, settings.seed ^ OF_SURFACES]);
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
}

/// The end of a walk.
#[derive(Clone, Copy)]
struct Found {
    /// Number of smooth surfaces on the way; 0 if nothing has been found.
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
}

/// At so much of the distance, directions are the same even if derivatives say otherwise, which are rounded as well.
const CLOSE: f32 = 0.2;

/// What a walk does next with where its query leads.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    /// It is where the walk begins.
    Begin,
    /// It is where the walk may go.
    Step,
    /// It is beside where the walk is, along one axis or the other, for derivatives.
    Beside(Axis),
    /// It is on the other side.
    Opposite(Axis),
    /// It is the end of the walk, and whether anything is in the way matters.
    End,
}

/// An axis of the plane in which a walk goes on.
#[derive(Clone, Copy, PartialEq)]
enum Axis {
    X,
    Y,
}

/// A walk under way.
#[derive(Clone, Copy)]
struct Walk {
    /// The direction that it is to lead to.
    target: Vec3,
    /// The direction where it is.
    here: Vec3,
    /// How far what that leads to is from the target, in the plane across the latter.
    rest: Vec2,
    /// Number of surfaces of the walk.
    surfaces: u32,
    /// What is known of the derivatives of `rest`, by the axes of the plane across `here`.
    derivatives: [Vec2; 2],
    /// Whether they are of `here`, and not only of where the walk has been.
    is_exact: bool,
    /// Whether there is one on the first side, where the query is on the other.
    has_first: bool,
    /// Distance of directions for derivatives.
    apart: f32,
    /// From `here` to what is looked at next, in the plane across `here`.
    aside: Vec2,
    /// Whether the step has been made shorter.
    is_shortened: bool,
    /// Number of looks that are left.
    left: u32,
    phase: Phase,
    /// The direction that is followed.
    query: Vec3,
}

/// What has become of a walk.
enum Progress {
    /// It goes on.
    Under,
    /// It leads nowhere, or elsewhere than the first one.
    Lost,
    /// It is the first one, and has come to its end.
    Arrived(Found),
    /// It has come to the end of the first one.
    Again,
}

impl Walk {
    const fn towards(target: Vec3) -> Self {
        Self {
            target,
            here: Vec3::ZERO,
            rest: Vec2::ZERO,
            surfaces: 0,
            derivatives: [Vec2::ZERO; 2],
            is_exact: false,
            has_first: false,
            apart: 0.0,
            aside: Vec2::ZERO,
            is_shortened: false,
            left: 0,
            phase: Phase::Begin,
            query: Vec3::ZERO,
        }
    }

    /// Begins in the direction `d`.
    #[inline(always)]
    fn begin(&mut self, d: Vec3) {
        (self.phase, self.here, self.aside, self.left) = (Phase::Begin, d, Vec2::ZERO, MOST_LOOKS);
    }

    /// The number of surfaces that the query is to be followed over; 0 for all that there are.
    #[inline(always)]
    fn wanted(&self) -> u32 {
        match self.phase {
            Phase::Begin | Phase::End => 0,
            _ => self.surfaces,
        }
    }

    /// Takes in where the query led, and asks anew. If something has been `found`, the walk is to come there again.
    #[inline(always)]
    fn go_on(&mut self, look: &Look, found: &Found) -> Progress {
        if self.left == 0 {
            return Progress::Lost;
        }
        self.left -= 1;
        let rest = (look.surfaces > 0).then(|| self.rest_of(look.d));
        match self.phase {
            Phase::Begin => match rest {
                Some(rest) if found.surfaces == 0 || look.surfaces == found.surfaces => {
                    (self.rest, self.surfaces) = (rest, look.surfaces);
                    self.look_around()
                }
                _ => Progress::Lost,
            },
            Phase::Step => match rest {
                Some(rest) if rest.dot(rest) < self.rest.dot(self.rest) => self.go(rest, found),
                _ => self.shorten(),
            },
            Phase::Beside(axis) => self.derive(axis, rest, found),
            Phase::Opposite(axis) => self.derive_from_both(axis, rest, found),
            Phase::End => match look.surfaces == self.surfaces && look.is_free {
                true => self.arrived(look.weight),
                false => Progress::Lost,
            },
        }
    }

    /// How far a direction is from the target: an angle, in the plane across the target, that grows up to the opposite.
    #[inline(always)]
    fn rest_of(&self, d: Vec3) -> Vec2 {
        let Frame { x, y, z } = Frame::from_z(self.target);
        let across = Vec2::new(d.dot(x), d.dot(y));
        if d.dot(z) > 0.0 {
            return across;
        }
        let length = sqrt(across.dot(across));
        across * ((2.0 - length) / max(length, 1e-6))
    }

    /// Whether the walk has come to its end.
    #[inline(always)]
    fn is_near(&self) -> bool {
        self.rest.dot(self.rest) <= NEAR * NEAR
    }

    /// Asks for a direction beside where the walk is, at a distance in the plane across that.
    #[inline(always)]
    const fn ask(&mut self, phase: Phase, aside: Vec2) -> Progress {
        (self.phase, self.aside) = (phase, aside);
        Progress::Under
    }

    /// The direction to be followed next. Computed here alone, not wherever it is asked for.
    #[inline(always)]
    fn aim(&mut self) -> Vec3 {
        self.query = Frame::from_z(self.here).to_world(self.aside.extend(1.0)).normalize();
        self.query
    }

    /// Asks for the derivatives where the walk is.
    #[inline(always)]
    fn look_around(&mut self) -> Progress {
        self.apart = if self.is_near() {
            LEAST_APART
        } else {
            min(max(0.3 * sqrt(self.rest.dot(self.rest)), LEAST_APART), MOST_APART)
        };
        self.ask(Phase::Beside(Axis::X), Vec2::new(self.apart, 0.0))
    }

    /// The derivative along an axis. No index, which the compiler would check.
    #[inline(always)]
    const fn derivative(&mut self, axis: Axis) -> &mut Vec2 {
        match axis {
            Axis::X => &mut self.derivatives[0],
            Axis::Y => &mut self.derivatives[1],
        }
    }

    /// Asks for the other side.
    #[inline(always)]
    fn look_opposite(&mut self, axis: Axis, has_first: bool) -> Progress {
        self.has_first = has_first;
        let aside = match axis {
            Axis::X => Vec2::new(-self.apart, 0.0),
            Axis::Y => Vec2::new(0.0, -self.apart),
        };
        self.ask(Phase::Opposite(axis), aside)
    }

    /// Takes in the derivative to one side. Behind an edge it is that to the other; at the end of the first walk, it is from both.
    #[inline(always)]
    fn derive(&mut self, axis: Axis, rest: Option<Vec2>, found: &Found) -> Progress {
        let Some(rest) = rest else { return self.look_opposite(axis, false) };
        *self.derivative(axis) = (rest - self.rest) * (1.0 / self.apart);
        match found.surfaces == 0 && self.is_near() {
            true => self.look_opposite(axis, true),
            false => self.derived(axis, found),
        }
    }

    /// Takes in the derivative to the other side.
    #[inline(always)]
    fn derive_from_both(&mut self, axis: Axis, rest: Option<Vec2>, found: &Found) -> Progress {
        match rest {
            Some(rest) => {
                let (other, has_first) = ((rest - self.rest) * (-1.0 / self.apart), self.has_first);
                let derivative = self.derivative(axis);
                *derivative = if has_first { from_both(*derivative, other) } else { other };
            }
            None if self.has_first => {}
            None => return Progress::Lost,
        }
        self.derived(axis, found)
    }

    /// Goes on when the derivative along an axis is known.
    #[inline(always)]
    fn derived(&mut self, axis: Axis, found: &Found) -> Progress {
        if axis == Axis::X {
            return self.ask(Phase::Beside(Axis::Y), Vec2::new(0.0, self.apart));
        }
        self.is_exact = true;
        if !self.is_near() {
            return self.newton();
        }
        if found.surfaces == 0 {
            return self.ask(Phase::End, Vec2::ZERO);
        }
        // Near a fold, where light is brightest, two directions that are close lead to the same one, and one of them is mirrored.
        match self.is_mirrored() == found.is_mirrored {
            true => Progress::Again,
            false => Progress::Lost,
        }
    }

    /// Whether directions that are led to are mirrored.
    #[inline(always)]
    fn is_mirrored(&self) -> bool {
        let [a, b] = self.derivatives;
        a.perp_dot(b) < 0.0
    }

    /// A step of Newton's method.
    #[inline(always)]
    fn newton(&mut self) -> Progress {
        let ([a, b], rest) = (self.derivatives, self.rest);
        let step = Vec2::new(b.perp_dot(rest), rest.perp_dot(a)) * (1.0 / a.perp_dot(b));
        let length2 = step.dot(step);
        if !length2.is_finite() {
            return Progress::Lost;
        }
        let length = sqrt(length2);
        self.is_shortened = false;
        self.ask(Phase::Step, if length > LONGEST_STEP { step * (LONGEST_STEP / length) } else { step })
    }

    /// After a step that leads no nearer.
    #[inline(always)]
    fn shorten(&mut self) -> Progress {
        if !self.is_exact {
            return self.look_around();
        }
        if self.is_shortened {
            return Progress::Lost;
        }
        self.is_shortened = true;
        self.ask(Phase::Step, SHORTENED * self.aside)
    }

    /// Goes where the query led.
    #[inline(always)]
    fn go(&mut self, rest: Vec2, found: &Found) -> Progress {
        let is_good = rest.dot(rest) < GOOD * GOOD * self.rest.dot(self.rest);
        self.follow(rest);
        if !self.is_near() {
            return if is_good { self.newton() } else { self.look_around() };
        }
        // What is still to be found out of the end is more of the first walk, which must not be given up more often than others.
        self.left = MOST_LOOKS;
        if found.surfaces > 0 {
            let apart = self.here - found.d;
            let (apart2, near2) = (apart.dot(apart), found.near * found.near);
            if apart2 > near2 {
                return Progress::Lost;
            }
            if apart2 <= CLOSE * CLOSE * near2 {
                return Progress::Again;
            }
        }
        self.look_around()
    }

    /// Moves, and changes the derivatives as little as explains what has become of the rest (Broyden 1965, "A Class of Methods for
    /// Solving Nonlinear Simultaneous Equations", eq. 4.5).
    #[inline(always)]
    fn follow(&mut self, rest: Vec2) {
        let (old, new) = (Frame::from_z(self.here), Frame::from_z(self.query));
        let in_old = |v: Vec3| Vec2::new(v.dot(old.x), v.dot(old.y));
        let moved = in_old(self.query - self.here);
        let [a, b] = self.derivatives;
        let along = |v: Vec2| v.x * a + v.y * b;
        let unexplained = (rest - self.rest - along(moved)) * (1.0 / moved.dot(moved));
        let derivative = |v: Vec2| along(v) + unexplained * moved.dot(v);
        self.derivatives = [derivative(in_old(new.x)), derivative(in_old(new.y))];
        (self.here, self.rest, self.is_exact) = (self.query, rest, false);
    }

    /// The end of the first walk, with a factor on radiance.
    #[inline(always)]
    fn arrived(&self, weight: Vec3) -> Progress {
        let [a, b] = self.derivatives;
        let per_det = 1.0 / a.perp_dot(b).abs();
        if !per_det.is_finite() {
            return Progress::Lost;
        }
        // The norm of the inverse.
        let longest = sqrt(a.dot(a) + b.dot(b)) * per_det;
        let near = min(4.0 * NEAR * (1.0 + longest), MOST_NEAR);
        let (surfaces, is_mirrored) = (self.surfaces, self.is_mirrored());
        Progress::Arrived(Found { surfaces, d: self.here, weight, per_det, is_mirrored, near })
    }
}

/// The derivative, from those to both sides. Where they differ much there is an edge in between, across which it is too large.
#[inline(always)]
fn from_both(a: Vec2, b: Vec2) -> Vec2 {
    let (a2, b2) = (a.dot(a), b.dot(b));
    let apart = a - b;
    if apart.dot(apart) < 0.1 * min(a2, b2) {
        return 0.5 * (a + b);
    }
    if a2 < b2 { a } else { b }
}

/// Apart from other random numbers.
const OF_SURFACES: u32 = 0x5ac3_0f11;
const OF_WALKS: u32 = 0x3a1f_c0de;
