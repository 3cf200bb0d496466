//! Families: the paths of a bundle that have come to one material. Loops over columns answer all their queries, and the compiler
//! makes vector instructions of these; each path gets the answer that it would get alone.

use core::any::TypeId;
use core::marker::PhantomData;
use core::ops::Range;

use glam::{Vec2, Vec3};

use super::columns::{Columned, LANES, columned, each_block};
use super::guided::{Guides, has_guide};
use super::landing::{Grounds, Landed, LandedHits, land_all};
use super::rows::{ROWS, four, put_rows, take_rows};
use super::sky::Skylights;
use super::spot::{Lights, Spot, Spots};
use super::step::{
    Scatterer, ShadowRay, VisibleLight, common_light_drawn, direct_light, light_from, scatter,
};
use super::{PathSettings, PathState};
use crate::arch::load;
use crate::bsdf::{BsdfSample, Listed, Lit, Query, Response, Tint, Visitor};
use crate::features::{Compiled, Features};
use crate::light::environment::Sample;
use crate::light::select::{FEW, has_tree, sample_by_power, sample_few, sample_light};
use crate::light::{Environment, Light, LightSample, Lighting};
use crate::material::{At, Header, Material, Parameters, ParametersVisitor, Surfaces};
use crate::ray::{Cone, Ray};
use crate::rng::{Dim, Sampler, SamplerKind};
use crate::scene::SceneView;

columned! {
    /// Responses to lights.
    Lits of Lit { f: Vec3, pdf: f32 }
}
columned! {
    /// Sampled directions.
    Samples of BsdfSample { wi: Vec3, pdf: f32, weight: Vec3, eta: f32 }
}

/// Responses.
#[repr(align(64))]
pub(super) struct Responses<const N: usize> {
    pub(super) lit: Lits<N>,
    pub(super) sample: Samples<N>,
    pub(super) has_sample: [u32; N],
}

impl Columned for Response {
    type Column<const N: usize> = Responses<N>;

    #[inline(always)]
    fn zeroed<const N: usize>() -> Responses<N> {
        Responses { lit: Lit::zeroed(), sample: BsdfSample::zeroed(), has_sample: [0; N] }
    }

    #[inline(always)]
    fn get<const N: usize>(column: &Responses<N>, i: usize) -> Self {
        let sample = BsdfSample::get(&column.sample, i);
        Self { lit: Lit::get(&column.lit, i), sample: (column.has_sample[i] != 0).then_some(sample) }
    }

    #[inline(always)]
    fn set<const N: usize>(self, column: &mut Responses<N>, i: usize) {
        // Written in any case: a store on a condition would take a mask.
        let (has_sample, sample) = match self.sample {
            Some(sample) => (true, sample),
            None => (false, BsdfSample::NONE),
        };
        self.lit.set(&mut column.lit, i);
        sample.set(&mut column.sample, i);
        has_sample.set(&mut column.has_sample, i);
    }
}

columned! {
    /// Rays.
    rows RaysOf of Ray { o: Vec3, d: Vec3 }
}
columned! {
    /// Cones.
    rows Cones of Cone { width: f32, spread: f32 }
}
columned! {
    /// States of paths.
    rows States of PathState {
        ray: Ray,
        cone: Cone,
        weight: f32,
        beta: Vec3,
        l: Vec3,
        prev_pdf: f32,
        facing: u32,
        eta_scale: f32,
        passed: f32,
        depth: u32,
        holes: u32,
        pixel: u32,
        sample: u32,
    }
}
columned! {
    /// Shadow rays.
    ShadowRays of ShadowRay { ray: Ray, t_max: f32, ld: Vec3, holes: u32 }
}

columned! {
    /// Lights of the scene.
    rows SceneLights of Light {
        a: Vec3, kind_flags: u32, b: Vec3, pmf: f32, c: Vec3, area: f32, le: Vec3, extent: f32,
    }
}
columned! {
    /// Lights that are drawn.
    DrawnLights of
    /// A light that is drawn.
    struct Drawn { light: Light, index: u32 }
}

/// Average length of the rows that families form as their paths come, from which on sorting no longer pays.
const LONG_ROW: usize = 2 * LANES;

/// Slots that paths are sorted into by their families.
const SLOTS: usize = 256;

/// Orders paths by their families, so that each family is in one row, but for collisions of slots. Leaves them in their order, and
/// returns true, if they form few long rows as they are.
#[inline(always)]
fn sort<const N: usize>(families: &[u32], order: &mut [u16; N]) -> bool {
    let rows = 1 + families.windows(2).filter(|pair| pair[0] != pair[1]).count();
    if rows == 1 || rows * LONG_ROW <= families.len() {
        for (i, place) in order[..families.len()].iter_mut().enumerate() {
            *place = i as u16;
        }
        return true;
    }
    let slot = |family: u32| family as usize % SLOTS;
    let mut starts = [0u16; SLOTS];
    for &family in families {
        starts[slot(family)] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        (*start, sum) = (sum, sum + *start);
    }
    for (i, &family) in families.iter().enumerate() {
        let start = &mut starts[slot(family)];
        order[*start as usize] = i as u16;
        *start += 1;
    }
    false
}

/// Up to `N` paths that scatter, less what loops over columns reach beyond the last.
#[repr(align(64))]
pub(super) struct Families<const N: usize> {
    len: usize,
    /// Number of those that have landed.
    landed: usize,
    paths: [u16; N],
    families: [u32; N],
    /// Those that have landed, from the first on, and whether they are seen.
    hits: LandedHits<N>,
    grounds: Grounds<N>,
    is_seen: [u32; N],
    /// Where they scatter, and their states.
    spots: Spots<N>,
    states: States<N>,
    /// Random words for the choice of a light.
    light_bits: [[u32; N]; 4],
    /// Uniforms for the next direction, and for Russian roulette.
    u: [[f32; N]; 4],
    drawn: DrawnLights<N>,
    lights: Lights<N>,
    /// Whether a light is still to be found.
    seeks_light: [u32; N],
    skylights: Skylights<N>,
    guides: Guides<N>,
    responses: Responses<N>,
    shadow_rays: ShadowRays<N>,
    has_shadow_ray: [u32; N],
    alive: [u32; N],
    /// The paths as [`sort`] orders them, and their queries and answers in this order.
    order: [u16; N],
    queries: Queries<N>,
    answers: Responses<N>,
}

columned! {
    /// Queries.
    Queries of Query { wo: Vec3, light: Vec3, uc: f32, u: Vec2 }
}

/// The family of those at a side of a material.
#[inline(always)]
fn family(material: u32, front: bool) -> u32 {
    2 * material + u32::from(front)
}

impl<const N: usize> Families<N> {
    /// Number of paths.
    #[inline(always)]
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Removes all paths.
    #[inline(always)]
    pub(super) const fn clear(&mut self) {
        (self.len, self.landed) = (0, 0);
    }

    /// Adds path number `path`, which has landed; there is room, and none but such paths are there.
    #[inline(always)]
    pub(super) fn land(&mut self, path: u16, landed: &Landed) {
        let i = self.len;
        self.paths[i] = path;
        self.hits.set(i, landed);
        self.len += 1;
    }

    /// Finds where the paths that have landed scatter, and removes those that do not.
    ///
    /// # Safety
    /// They have landed on the scene, which is valid and asks for no features but those of `C`; `states` are those of all
    /// paths, by their numbers, and can be read.
    #[inline(always)]
    pub(super) unsafe fn rise<C: Compiled>(
        &mut self,
        scene: &SceneView,
        settings: &PathSettings,
        states: *const PathState,
    ) {
        // SAFETY: as the caller promised.
        unsafe { self.read_states(states, 0) };
        let Self { hits, states, grounds, spots, is_seen, .. } = self;
        // SAFETY: as the caller promised.
        unsafe { land_all::<C, N>(scene, settings, (hits, states), grounds, spots, is_seen, self.len) };
        let mut i = 0;
        while i < self.len {
            if self.is_seen[i] == 0 {
                self.len -= 1;
                self.paths[i] = self.paths[self.len];
                self.is_seen[i] = self.is_seen[self.len];
                Spot::get(&self.spots, self.len).set(&mut self.spots, i);
                PathState::get(&self.states, self.len).set(&mut self.states, i);
                continue;
            }
            self.families[i] = family(self.spots.material[i], self.spots.front[i] != 0);
            i += 1;
        }
        self.landed = self.len;
    }

    /// Reads the states of the paths from place `first` on.
    ///
    /// # Safety
    /// `states` are those of all paths, by their numbers, and can be read.
    #[inline(always)]
    unsafe fn read_states(&mut self, states: *const PathState, first: usize) {
        for i in (first..self.len).step_by(ROWS) {
            let rows = four(i, self.len).map(|i| states.wrapping_add(self.paths[i].into()));
            // SAFETY: as the caller promised.
            unsafe { put_rows(rows, &mut self.states, i) };
        }
    }

    /// Writes the states of all paths. Of those that have come to their end, only what they have gathered matters, which is as it was.
    ///
    /// # Safety
    /// As [`Families::scatter`].
    #[inline(always)]
    unsafe fn write_states(&self, states: *mut PathState) {
        // SAFETY: all fields are numbers, of which zeros are valid.
        let mut nobody: PathState = unsafe { core::mem::zeroed() };
        for i in (0..self.len).step_by(ROWS) {
            let rows = [0, 1, 2, 3].map(|k| match i + k < self.len {
                true => states.wrapping_add(self.paths[i + k].into()),
                false => &raw mut nobody,
            });
            // SAFETY: as the caller promised.
            unsafe { take_rows(&self.states, i, rows) };
        }
    }

    /// Adds path number `path`, which has come to `at`; there is room.
    ///
    /// # Safety
    /// `at` is of the scene, which is valid.
    #[inline(always)]
    pub(super) unsafe fn add(&mut self, scene: &Surfaces, path: u16, at: &Scatterer<'_>) {
        let i = self.len;
        // SAFETY: as the caller promised.
        let spot = unsafe { Spot::new(at, scene) };
        self.paths[i] = path;
        self.families[i] = family(spot.material, spot.front);
        spot.set(&mut self.spots, i);
        self.len += 1;
    }

    /// Scatters all paths, and writes their next rays to `states`; [`Families::get`] tells the rest.
    ///
    /// # Safety
    /// `scene` is valid, asks for no features but those of `C`, and is that of all paths; `sky` is its [`super::sky::image`], if
    /// it has one; `states` are those of all paths, by their numbers, which can be read and written.
    #[inline(always)]
    pub(super) unsafe fn scatter<C: Compiled>(
        &mut self,
        scene: &SceneView,
        settings: &PathSettings,
        sky: Option<&Environment>,
        states: *mut PathState,
    ) {
        // SAFETY: as the caller promised.
        unsafe {
            self.read_states(states, self.landed);
            self.draw(settings);
            self.find_lights::<C>(scene, settings, sky);
            if has_guide::<C>(scene) {
                self.guides.draw::<C>(scene, &self.spots, &mut self.states, &mut self.u, self.len);
            }
            self.ask_all::<C>(scene);
            if has_guide::<C>(scene) {
                self.ask_drawn::<C>(scene);
                self.guides.mix(scene, &self.spots, &self.lights.wi, &mut self.responses, self.len);
            }
            self.go_on::<C>(scene, settings);
            self.write_states(states);
        }
    }

    /// Path `i`: its number, its shadow ray, and whether it goes on.
    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> (u16, Option<ShadowRay>, bool) {
        let shadow_ray = (self.has_shadow_ray[i] != 0).then(|| ShadowRay::get(&self.shadow_rays, i));
        (self.paths[i], shadow_ray, self.alive[i] != 0)
    }

    /// Draws the random numbers of all paths.
    #[inline(always)]
    fn draw(&mut self, settings: &PathSettings) {
        let (states, bits, u, len) = (&self.states, &mut self.light_bits, &mut self.u, self.len);
        // The kind is a constant in each loop.
        match settings.sampler(0, 0).kind {
            SamplerKind::Independent => draw_all(SamplerKind::Independent, settings, states, bits, u, len),
            SamplerKind::Sobol => draw_all(SamplerKind::Sobol, settings, states, bits, u, len),
            SamplerKind::BlueNoise => draw_all(SamplerKind::BlueNoise, settings, states, bits, u, len),
        }
    }

    /// Draws points on lights.
    ///
    /// # Safety
    /// As [`Families::scatter`].
    #[inline(always)]
    unsafe fn find_lights<C: Compiled>(
        &mut self,
        scene: &SceneView,
        settings: &PathSettings,
        sky: Option<&Environment>,
    ) {
        let Self { spots, light_bits, drawn, lights, seeks_light, .. } = self;
        let len = self.len;
        if !settings.samples_lights(scene) {
            each_block!(N, 0..len, |i| { VisibleLight::NONE.set(lights, i) });
            return;
        }
        if has_tree::<C>(scene) {
            let [bits, _, _, filler] = light_bits;
            for i in 0..len {
                // SAFETY: as the caller promised; there is a light.
                let (light, index, word) = unsafe {
                    let at = Spot::get(spots, i).scatterer(scene);
                    sample_light::<C>(scene, (at.p, at.facing()), bits[i], filler[i])
                };
                bits[i] = word;
                Drawn { light, index }.set(drawn, i);
            }
        } else {
            // SAFETY: as the caller promised; there is a light.
            unsafe { choose_all(scene, light_bits, &mut drawn.index, len) };
            for i in (0..len).step_by(ROWS) {
                let rows = four(i, len).map(|i| scene.lights.wrapping_add(drawn.index[i] as usize));
                // SAFETY: the lights are some of the scene.
                unsafe { put_rows(rows, &mut drawn.light, i) };
            }
        }
        find_all::<C, N>(scene, (spots, light_bits, drawn), lights, seeks_light, len);
        if !C::sees(Features::LIGHTS) {
            return;
        }
        for i in 0..len {
            if self.seeks_light[i] != 0 {
                let bits = [0, 1, 2].map(|word| self.light_bits[word][i]);
                if sky.is_some() && self.drawn.light.kind_flags[i] == Light::IMAGE {
                    self.skylights.ask(i as u16, [bits[0], bits[1]]);
                    continue;
                }
                let at = Spot::get(&self.spots, i).scatterer(scene);
                let Drawn { light, index } = Drawn::get(&self.drawn, i);
                // SAFETY: as the caller promised; the light is one of the scene.
                unsafe { light_from::<C>(scene, &at, &light, index, bits) }.set(&mut self.lights, i);
            }
        }
        if let Some(sky) = sky {
            // SAFETY: as the caller promised.
            unsafe { self.find_skylights::<C>(scene, sky) };
        }
    }

    /// Draws points of the sky for those who have asked for them.
    ///
    /// # Safety
    /// As [`Families::scatter`].
    #[inline(always)]
    unsafe fn find_skylights<C: Compiled>(&mut self, scene: &SceneView, sky: &Environment) {
        // SAFETY: as the caller promised.
        unsafe { self.skylights.draw(scene, sky) };
        for k in 0..self.skylights.len {
            let i = self.skylights.lanes[k] as usize;
            // SAFETY: as the caller promised.
            let Sample { wi, li, pdf } = unsafe { self.skylights.get(scene, sky, k) };
            let pdf = self.drawn.light.pmf[i] * pdf;
            let at = Spot::get(&self.spots, i).scatterer(scene);
            let light = at.lit_by::<C>(LightSample { wi, target: None, li, pdf, is_delta: false });
            light.set(&mut self.lights, i);
        }
        self.skylights.len = 0;
    }

    /// Answers the queries, those of a row of one family together.
    ///
    /// # Safety
    /// As [`Families::scatter`].
    #[inline(always)]
    unsafe fn ask_all<C: Compiled>(&mut self, scene: &SceneView) {
        let in_order = sort(&self.families[..self.len], &mut self.order);
        self.put_queries(in_order);
        // SAFETY: as the caller promised.
        unsafe { self.ask_in_order::<C>(scene, self.len) };
        self.take_answers(in_order);
    }

    /// Answers the first `len` queries in the order of [`sort`].
    ///
    /// # Safety
    /// As [`Families::scatter`].
    #[inline(always)]
    unsafe fn ask_in_order<C: Compiled>(&mut self, scene: &SceneView, len: usize) {
        let mut first = 0;
        while first < len {
            let family = self.family(first);
            let mut end = first + 1;
            while end < len && self.family(end) == family {
                end += 1;
            }
            // SAFETY: as the caller promised.
            unsafe { self.ask_family::<C>(scene, first..end) };
            first = end;
        }
    }

    /// Takes the responses to directions that a guide has drawn for samples.
    ///
    /// # Safety
    /// As [`Families::scatter`].
    #[inline(always)]
    unsafe fn ask_drawn<C: Compiled>(&mut self, scene: &SceneView) {
        let mut drawn = 0;
        for j in 0..self.len {
            let i = self.order[j];
            if let Some(light) = self.guides.drawn(i.into()) {
                self.order[drawn] = i;
                let wo = Vec3::get(&self.spots.wo, i.into());
                let [x, y, uc, _] = self.u.map(|u| u[usize::from(i)]);
                Query { wo, light, uc, u: Vec2::new(x, y) }.set(&mut self.queries, drawn);
                drawn += 1;
            }
        }
        // SAFETY: as the caller promised.
        unsafe { self.ask_in_order::<C>(scene, drawn) };
        for j in 0..drawn {
            self.guides.answer(self.order[j].into(), Lit::get(&self.answers.lit, j));
        }
    }

    /// Puts the queries of all paths into the order of [`sort`], which may be that of the paths.
    #[inline(always)]
    fn put_queries(&mut self, in_order: bool) {
        let Self { spots, lights, u, order, queries, len, .. } = self;
        let query = |i: usize| {
            let (wo, light) = (Vec3::get(&spots.wo, i), Vec3::get(&lights.wi, i));
            Query { wo, light, uc: u[2][i], u: Vec2::new(u[0][i], u[1][i]) }
        };
        if in_order {
            each_block!(N, 0..*len, |i| { query(i).set(queries, i) });
            return;
        }
        for (j, &i) in order[..*len].iter().enumerate() {
            query(i.into()).set(queries, j);
        }
    }

    /// Takes the answers out of the order of [`sort`], which may be that of the paths.
    #[inline(always)]
    fn take_answers(&mut self, in_order: bool) {
        let Self { order, answers, responses, len, .. } = self;
        if in_order {
            each_block!(N, 0..*len, |i| { Response::get(answers, i).set(responses, i) });
            return;
        }
        for (j, &i) in order[..*len].iter().enumerate() {
            Response::get(answers, j).set(responses, i.into());
        }
    }

    /// Family of path `j` in the order of [`sort`].
    #[inline(always)]
    fn family(&self, j: usize) -> u32 {
        self.families[self.order[j] as usize]
    }

    /// Answers the queries of a range, which are of one family.
    ///
    /// # Safety
    /// As [`Families::scatter`].
    #[inline(always)]
    unsafe fn ask_family<C: Compiled>(&mut self, scene: &SceneView, range: Range<usize>) {
        /// Fewer are asked one by one.
        const FEWEST: usize = 3;
        // SAFETY: as the caller promised.
        unsafe {
            if range.len() < FEWEST || !self.ask_together::<C>(scene, range.clone()) {
                self.ask_one_by_one::<C>(scene, range);
            }
        }
    }

    /// Asks the lobes of a family all queries of a range, if they can answer them together. What is beyond the range, up to a
    /// block, is asked too, and is to be asked again of the right lobe.
    ///
    /// # Safety
    /// As [`Families::scatter`]; those in the range are of one family.
    #[inline(always)]
    unsafe fn ask_together<C: Compiled>(&mut self, scene: &SceneView, range: Range<usize>) -> bool {
        let first = self.order[range.start] as usize;
        let Scatterer { material, kind, at, .. } = Spot::get(&self.spots, first).scatterer(scene);
        let places = Places { scene, spots: &self.spots, order: &self.order };
        let (queries, answers) = (&self.queries, &mut self.answers);
        // SAFETY: as the caller promised.
        unsafe {
            let is_uniform = load(material.cast::<Header>()).has(Header::UNIFORM);
            let ask = Ask::<C, N> { range, queries, answers, at, is_uniform, places, compiled: PhantomData };
            Material::show::<C, _>(material, kind, ask).unwrap_or(false)
        }
    }

    /// # Safety
    /// As [`Families::scatter`].
    #[inline(always)]
    unsafe fn ask_one_by_one<C: Compiled>(&mut self, scene: &SceneView, range: Range<usize>) {
        for j in range {
            let at = Spot::get(&self.spots, self.order[j] as usize).scatterer(scene);
            let Query { light, uc, u, .. } = Query::get(&self.queries, j);
            // SAFETY: as the caller promised.
            let response = unsafe { at.response::<C>(light, uc, u) };
            response.set(&mut self.answers, j);
        }
    }

    /// Prepares direct light, and takes the next directions.
    #[inline(always)]
    fn go_on<C: Compiled>(&mut self, scene: &SceneView, settings: &PathSettings) {
        let Self { spots, states, lights, responses, shadow_rays, has_shadow_ray, alive, .. } = self;
        let mut ends = Ends { shadow_rays, has_shadow_ray, alive };
        go_on_all::<C, N>(
            scene,
            settings,
            (spots, lights, responses, &self.u[3], &self.guides.survival),
            states,
            &mut ends,
            self.len,
        );
    }
}

/// Chooses the lights of `len` paths by the first of four random words, which becomes random once more.
///
/// # Safety
/// `scene` is valid and has a light.
#[inline(always)]
unsafe fn choose_all<const N: usize>(
    scene: &Lighting,
    [bits, _, _, filler]: &mut [[u32; N]; 4],
    lights: &mut [u32; N],
    len: usize,
) {
    if scene.light_count > FEW {
        for i in 0..len {
            // SAFETY: as the caller promised.
            (lights[i], bits[i]) = unsafe { sample_by_power(scene, scene.light_count, bits[i], filler[i]) };
        }
        return;
    }
    let (bits, filler) = (bits.as_chunks_mut::<LANES>().0, filler.as_chunks::<LANES>().0);
    for ((lights, bits), filler) in
        lights.as_chunks_mut().0.iter_mut().zip(bits).zip(filler).take(len.div_ceil(LANES))
    {
        // SAFETY: as the caller promised.
        *lights = unsafe { sample_few(scene, bits, filler) };
    }
}

/// The loop over the lights of `len` paths, those that are drawn the most. A function, as [`draw_all`].
#[inline(always)]
fn find_all<C: Compiled, const N: usize>(
    scene: &SceneView,
    (spots, bits, drawn): (&Spots<N>, &[[u32; N]; 4], &DrawnLights<N>),
    lights: &mut Lights<N>,
    seeks_light: &mut [u32; N],
    len: usize,
) {
    each_block!(N, 0..len, |i| {
        let at = Spot::get(spots, i).scatterer(scene);
        let Drawn { light, index } = Drawn::get(drawn, i);
        let (sample, wi, o, found) = common_light_drawn::<C>(&at, &light, index, [bits[0][i], bits[1][i]]);
        lights.set(i, sample, wi, o);
        (!found).set(seeks_light, i);
    });
}

/// Draws the random numbers of `len` paths. A function, for what its arguments promise: that what is written is nowhere else.
#[inline(always)]
fn draw_all<const N: usize>(
    kind: SamplerKind,
    &PathSettings { seed, width, .. }: &PathSettings,
    states: &States<N>,
    light_bits: &mut [[u32; N]; 4],
    u: &mut [[f32; N]; 4],
    len: usize,
) {
    each_block!(N, 0..len, |j| {
        let sampler = Sampler { kind, seed, pixel: states.pixel[j], width, sample: states.sample[j] };
        let x = sampler.draw(Dim::Bsdf, states.depth[j]);
        u[0][j] = x[0];
        u[1][j] = x[1];
        u[2][j] = x[2];
        u[3][j] = x[3];
    });
    each_block!(N, 0..len, |j| {
        let sampler = Sampler { kind, seed, pixel: states.pixel[j], width, sample: states.sample[j] };
        let bits = sampler.draw_bits(Dim::Light, states.depth[j]);
        light_bits[0][j] = bits[0];
        light_bits[1][j] = bits[1];
        light_bits[2][j] = bits[2];
        light_bits[3][j] = bits[3];
    });
}

/// What becomes of paths.
struct Ends<'a, const N: usize> {
    shadow_rays: &'a mut ShadowRays<N>,
    has_shadow_ray: &'a mut [u32; N],
    alive: &'a mut [u32; N],
}

/// The loop over all paths. A function, as [`draw_all`].
#[inline(always)]
fn go_on_all<C: Compiled, const N: usize>(
    scene: &SceneView,
    settings: &PathSettings,
    (spots, lights, responses, u_rr, survival): (&Spots<N>, &Lights<N>, &Responses<N>, &[f32; N], &[f32; N]),
    states: &mut States<N>,
    ends: &mut Ends<'_, N>,
    len: usize,
) {
    each_block!(N, 0..len, |j| {
        let at = Spot::get(spots, j).scatterer(scene);
        let light = VisibleLight::get(lights, j);
        let mut state = PathState::get(states, j);
        let lit = Lit::get(&responses.lit, j);
        let (has, shadow_ray) = match direct_light::<C>(scene, settings, &state, &at, &light, lit) {
            Some(ray) => (true, ray),
            None => (false, ShadowRay { ray: state.ray, t_max: 0.0, ld: Vec3::ZERO, holes: 0 }),
        };
        shadow_ray.set(ends.shadow_rays, j);
        has.set(ends.has_shadow_ray, j);
        let sample = BsdfSample::get(&responses.sample, j);
        let goes_on = scatter::<C>(settings, &mut state, &at, &sample, [u_rr[j], survival[j]]);
        (goes_on && responses.has_sample[j] != 0).set(ends.alive, j);
        state.set(states, j);
    });
}

/// Where materials are asked, in the order of families.
struct Places<'a, const N: usize> {
    scene: &'a SceneView,
    spots: &'a Spots<N>,
    order: &'a [u16; N],
}

impl<const N: usize> Places<'_, N> {
    /// Place `j`.
    #[inline(always)]
    fn at(&self, j: usize) -> At<'_> {
        Spot::get(self.spots, self.order[j] as usize).scatterer(self.scene).at
    }
}

/// Asks a material all the queries of a range.
struct Ask<'a, C, const N: usize> {
    range: Range<usize>,
    queries: &'a Queries<N>,
    answers: &'a mut Responses<N>,
    /// The first place.
    at: At<'a>,
    /// Whether the lobe is the same at all of them.
    is_uniform: bool,
    places: Places<'a, N>,
    compiled: PhantomData<C>,
}

impl<C: Compiled, const N: usize> ParametersVisitor for Ask<'_, C, N> {
    /// Whether they are answered.
    type Output = bool;

    #[inline(always)]
    fn visit<P: Parameters>(self, parameters: &P) -> bool {
        let Self { range, queries, answers, at, is_uniform, places, .. } = self;
        if !C::sees(Features::TEXTURES) || is_uniform {
            let tint = parameters.tint::<C>(&at);
            let one = One::<C, N> { range, queries, answers, tint, compiled: PhantomData };
            return parameters.with_lobe::<C, _>(&at, one);
        }
        let many = Many::<P, C, N> { parameters, range, queries, answers, places, compiled: PhantomData };
        parameters.with_lobe::<C, _>(&at, many)
    }
}

/// Asks one lobe all the queries of a range.
struct One<'a, C, const N: usize> {
    range: Range<usize>,
    queries: &'a Queries<N>,
    answers: &'a mut Responses<N>,
    /// The tint of the lobe.
    tint: Tint,
    compiled: PhantomData<C>,
}

impl<C: Compiled, const N: usize> Visitor for One<'_, C, N> {
    /// Whether they are answered.
    type Output = bool;

    #[inline(always)]
    fn visit<L: Listed>(self, lobe: L) -> bool {
        if !C::sees(L::FEATURE) || !lobe.is_vectorizable() {
            return false;
        }
        answer_all::<L, C, N>(lobe.vectorizable(), self.queries, self.answers, &self.tint, self.range);
        true
    }
}

/// Asks each lobe of a material its query, where all are of one type.
struct Many<'a, P, C, const N: usize> {
    parameters: &'a P,
    range: Range<usize>,
    queries: &'a Queries<N>,
    answers: &'a mut Responses<N>,
    places: Places<'a, N>,
    compiled: PhantomData<C>,
}

impl<P: Parameters, C: Compiled, const N: usize> Visitor for Many<'_, P, C, N> {
    /// Whether they are answered.
    type Output = bool;

    #[inline(always)]
    fn visit<L: Listed>(self, lobe: L) -> bool {
        if !C::sees(L::FEATURE) || !lobe.is_vectorizable() {
            return false;
        }
        let Self { parameters, range, queries, answers, places, .. } = self;
        let mut lobes = [lobe; LANES];
        let mut tints = [Tint::NONE; LANES];
        for first in range.clone().step_by(LANES) {
            for j in first..range.end.min(first + LANES) {
                let at = places.at(j);
                let Some(lobe) = parameters.with_lobe::<C, _>(&at, Same::<L>(PhantomData)) else {
                    return false;
                };
                lobes[j - first] = lobe;
                tints[j - first] = parameters.tint::<C>(&at);
            }
            answer_each::<L, C, N>(&lobes, queries, answers, &tints, first);
        }
        true
    }
}

/// Takes a lobe that is a vectorizable `L`.
struct Same<L>(PhantomData<L>);

impl<L: Listed> Visitor for Same<L> {
    type Output = Option<L>;

    #[inline(always)]
    fn visit<M: Listed>(self, lobe: M) -> Option<L> {
        if TypeId::of::<M>() != TypeId::of::<L>() || !lobe.is_vectorizable() {
            return None;
        }
        // SAFETY: both are the same type.
        Some(unsafe { *(&raw const lobe).cast::<L>() })
    }
}

/// The loop over a block of queries, from `first` on, each of a lobe of its own. A function, as [`draw_all`].
#[inline(always)]
fn answer_each<L: Listed, C: Compiled, const N: usize>(
    lobes: &[L; LANES],
    queries: &Queries<N>,
    answers: &mut Responses<N>,
    tints: &[Tint; LANES],
    first: usize,
) {
    // Not of a sum, which might overflow: the compiler would check every place.
    assert!(first <= N - LANES);
    for k in 0..LANES {
        answer::<L, C, N>(&lobes[k].vectorizable(), queries, answers, &tints[k], first + k);
    }
}

/// Answers query `j`.
#[inline(always)]
fn answer<L: Listed, C: Compiled, const N: usize>(
    lobe: &L,
    queries: &Queries<N>,
    answers: &mut Responses<N>,
    tint: &Tint,
    j: usize,
) {
    let Query { wo, light, uc, u } = Query::get(queries, j);
    let (f, pdf) = if L::DELTA { (Vec3::ZERO, 0.0) } else { lobe.eval_pdf(wo, light) };
    // Whole at once: what an option does not hold would be kept from one query to the next.
    let (has_sample, sample) = match lobe.sample(wo, uc, u) {
        Some(sample) => (true, sample),
        None => (false, BsdfSample::NONE),
    };
    let (f, weight) = if C::sees(Features::TINTS) {
        (f * tint.factor(wo, light), sample.weight * tint.factor(wo, sample.wi))
    } else {
        (f, sample.weight)
    };
    Lit { f, pdf }.set(&mut answers.lit, j);
    BsdfSample { weight, ..sample }.set(&mut answers.sample, j);
    has_sample.set(&mut answers.has_sample, j);
}

/// The loop over the queries of a lobe. A function, as [`draw_all`].
#[inline(always)]
fn answer_all<L: Listed, C: Compiled, const N: usize>(
    lobe: L,
    queries: &Queries<N>,
    answers: &mut Responses<N>,
    tint: &Tint,
    range: Range<usize>,
) {
    each_block!(N, range, |j| {
        answer::<L, C, N>(&lobe, queries, answers, tint, j);
    });
}

/// Room for `width` paths.
pub(super) const fn room(width: usize) -> usize {
    width + LANES
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts families; returns whether they stay, and how many rows they form in the end.
    fn sorted(families: &[u32]) -> (bool, usize) {
        let mut order = [u16::MAX; 512];
        let stays = sort(families, &mut order);
        let order = &order[..families.len()];
        let mut seen = [false; 512];
        for &i in order {
            assert!(!core::mem::replace(&mut seen[usize::from(i)], true), "{i} comes twice");
        }
        assert!(!stays || order.is_sorted());
        let changes =
            order.windows(2).filter(|pair| families[pair[0] as usize] != families[pair[1] as usize]);
        (stays, if families.is_empty() { 0 } else { 1 + changes.count() })
    }

    #[test]
    fn families_in_long_rows_stay_and_others_are_sorted() {
        let long: [u32; 80] = core::array::from_fn(|i| 7 - i as u32 / 40);
        assert_eq!(sorted(&long), (true, 2));
        let mixed: [u32; 80] = core::array::from_fn(|i| i as u32 % 2);
        assert_eq!(sorted(&mixed), (false, 2));
        // Three rows of at least 32 need 96 places.
        let three: [u32; 96] = core::array::from_fn(|i| [5, 3, 5][i / 32]);
        assert_eq!(sorted(&three), (true, 3));
        assert_eq!(sorted(&three[..95]), (false, 2));
        for len in [0, 1, 31, 32, 33] {
            assert_eq!(sorted(&[4; 33][..len]), (true, usize::from(len > 0)));
        }
    }
}
