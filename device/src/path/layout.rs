//! Structures on which host and GPU must agree, and the stage that says how a machine lays them out.

use super::stage::{Count, Function};
use super::trace::{
    CameraRaysArgs, ClosestArgs, Direction, Hits, NextRaysArgs, OcclusionArgs, Origin, PrimitiveHit, Rays,
};
use super::wavefront::{Counters, Pair, Pool, Slot};
use super::{
    DrawArgs, EvaluateArgs, FirstHitArgs, GatherArgs, Item, LearnArgs, LightGroupArgs, MatteArgs, MeanArgs,
    MegakernelArgs, PathSettings, PathState, ScatterArgs, Specimen, WavefrontArgs,
};
use crate::bsdf::plastic::Coat;
use crate::bvh::{Arch, Geometry, Hit, Instance, Node, WideNode};
use crate::camera::Camera;
use crate::denoise::{
    AverageArgs, BlendArgs, ChooseArgs, DifferenceArgs, DistanceArgs, Grid, JudgeArgs, LimitArgs, MirrorArgs,
    RegressArgs, SpreadArgs, Strip,
};
use crate::film::{FilmPixel, FirstHitPixel, GroupPixel, Sum};
use crate::filter::{FilterEdge, FilterPart, FilterView};
use crate::guiding::key::Bounds;
use crate::guiding::{
    FitArgs, Guide, GuideNode, KeepArgs, Mixture, Record, Span, SplitArgs, TreeView, Trial,
};
use crate::light::{
    EmissiveSurface, Environment, GuideEntry, Light, LightNode, Lighting, Portal, SkyTexel, Slide, Table,
};
use crate::material::probe::{Answer, Input};
use crate::material::program::Combination;
use crate::material::texture::Texture;
use crate::material::{
    Blend, Color, ConductorMaterial, DielectricMaterial, DiffuseMaterial, Facets, GltfMaterial, Header,
    Material, PlasticMaterial, PrincipledMaterial, Scalar, SheenMaterial, Surfaces, ThinDielectricMaterial,
    Tints,
};
use crate::matte::MattePixel;
use crate::ray::{Cone, Ray};
use crate::row::Row;
use crate::scene::SceneView;
use crate::shape::Primitive;
use crate::shape::triangle::{TriangleColors, TriangleNormals, TriangleUvs};

/// Makes the list of structures: of each its size, and where the fields named begin.
macro_rules! layout {
    ($($Struct:ident $({ $($field:ident),* })?;)*) => {
        /// Structures that host and GPU both read or write: name, size, and where some of the fields begin, bytes.
        pub const STRUCTURES: &[(&str, &[u32])] = &[$((
            stringify!($Struct),
            &[size_of::<$Struct>() as u32, $($(core::mem::offset_of!($Struct, $field) as u32,)*)?],
        )),*];
    };
}

// All that is `repr(C)` is here: a test says so.
layout! {
    // The scene.
    SceneView { filter, holes, camera };
    Lighting { lights, light_count };
    Surfaces { normals, materials };
    Geometry { kept, instances_root };
    FilterView;
    Camera;
    Node { meta };
    WideNode { meta };
    Primitive { normals };
    Instance { root };
    TriangleNormals { dp_du };
    TriangleUvs;
    TriangleColors;
    FilterPart;
    FilterEdge;
    // Materials.
    Material;
    Header { opacity };
    Scalar;
    Color;
    Tints;
    Facets;
    DiffuseMaterial;
    ConductorMaterial;
    DielectricMaterial;
    ThinDielectricMaterial;
    PlasticMaterial;
    SheenMaterial;
    PrincipledMaterial;
    GltfMaterial;
    Blend;
    Coat;
    Texture;
    Combination;
    Input;
    Answer;
    // Lights.
    Light { le };
    GuideEntry;
    LightNode { child };
    Row;
    EmissiveSurface;
    Slide;
    Environment;
    SkyTexel;
    Portal;
    Table;
    // Guides.
    Guide { mixtures };
    GuideNode;
    Mixture { pivot };
    Bounds;
    Record { contribution };
    Trial;
    Span;
    TreeView;
    KeepArgs { first };
    SplitArgs { level };
    FitArgs { most_regions };
    LearnArgs { first, trials };
    // Films.
    FilmPixel;
    FirstHitPixel;
    Sum;
    GroupPixel;
    MattePixel;
    // Arguments of stages, and what they point to.
    PathSettings;
    MegakernelArgs { film, settings, samples };
    FirstHitArgs { uvs };
    LightGroupArgs { group_of, groups };
    MatteArgs { films, ends };
    GatherArgs { pixels };
    MeanArgs { pixels };
    ScatterArgs { film };
    Item;
    Specimen { count };
    EvaluateArgs { pdf };
    DrawArgs { flags };
    WavefrontArgs { queue, curve };
    Pool;
    Slot;
    Pair;
    Counters;
    CameraRaysArgs { rays };
    NextRaysArgs { from, count };
    ClosestArgs { count };
    OcclusionArgs { count };
    Grid;
    Strip { radius };
    MirrorArgs { count };
    LimitArgs { limited };
    SpreadArgs { known, radius };
    DifferenceArgs { differences };
    DistanceArgs { patch };
    AverageArgs { sums };
    RegressArgs { ridge };
    JudgeArgs { error };
    ChooseArgs { candidates };
    BlendArgs { count };
    PathState;
    Ray;
    Cone;
    Hit;
    Rays;
    Hits;
    Origin;
    Direction;
    PrimitiveHit;
    ProbeArgs;
}

const WORDS: usize = {
    let (mut words, mut i) = (0, 0);
    while i < STRUCTURES.len() {
        words += STRUCTURES[i].1.len();
        i += 1;
    }
    words
};

/// Sizes and offsets on which host and GPU must agree, computed by whoever compiles this: [`STRUCTURES`] without names.
pub const LAYOUT: [u32; WORDS] = {
    let mut layout = [0; WORDS];
    let (mut words, mut i) = (0, 0);
    while i < STRUCTURES.len() {
        let numbers = STRUCTURES[i].1;
        layout.split_at_mut(words).1.split_at_mut(numbers.len()).0.copy_from_slice(numbers);
        words += numbers.len();
        i += 1;
    }
    layout
};

/// Arguments of the probe.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ProbeArgs {
    /// Room for [`LAYOUT`]`.len()` words.
    pub out: *mut u32,
}

// SAFETY: every invocation writes only its own word.
unsafe impl Send for ProbeArgs {}
// SAFETY: as above.
unsafe impl Sync for ProbeArgs {}

impl Count for ProbeArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        LAYOUT.len() as u32
    }
}

/// The stage that tells [`LAYOUT`], a word an invocation.
pub struct Probe;

impl Function for Probe {
    type Args = ProbeArgs;

    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &ProbeArgs) {
        static WORDS: [u32; LAYOUT.len()] = LAYOUT;
        if let Some(word) = WORDS.get(i as usize) {
            // SAFETY: there is room for all of it.
            unsafe { args.out.add(i as usize).write(*word) };
        }
    }
}
