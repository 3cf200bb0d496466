//! Feature sets that kernels are compiled for. A scene's materials rarely use more than a few lobes, and on a GPU every lobe
//! that could occur costs registers and compile time: so the same code is compiled for several sets of features.

use crate::arch::{drawing_of_the_scene, features_of_the_scene};

/// A set of lobes and other features that scenes may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// What depends on the kernel.
    of_some: u32,
    /// What is [`Features::OF_ANY_KERNEL`]. A word of its own: compilers of GPUs see through 32 bits better than through 64.
    of_any: u32,
}

/// Most lobes.
const LOBES: u32 = 17;

impl Features {
    /// Nothing.
    pub const NONE: Self = Self::of_words(0, 0);
    /// Parameters from textures.
    pub const TEXTURES: Self = Self::of_words(1 << 31, 0);
    /// Normal and bump maps.
    pub const NORMAL_MAPS: Self = Self::of_words(1 << 30, 0);
    /// Materials that are blends of others, or differ on the two sides.
    pub const BLENDS: Self = Self::of_words(1 << 29, 0);
    /// Materials with holes.
    pub const CUTOUTS: Self = Self::of_words(1 << 28, 0);
    /// Instances of groups of shapes.
    pub const INSTANCES: Self = Self::of_words(1 << 27, 0);
    /// Lights that are not triangles, spheres or a constant environment, or that vary over their surface.
    pub const LIGHTS: Self = Self::of_words(1 << 26, 0);
    /// Shapes that are neither triangles nor spheres.
    pub const SHAPES: Self = Self::of_words(1 << 25, 0);
    /// Factors on reflected and transmitted light.
    pub const TINTS: Self = Self::of_words(1 << 24, 0);
    /// Lights that the camera does not see.
    pub const HIDDEN_LIGHTS: Self = Self::of_words(1 << 23, 0);
    /// Microfacets with Beckmann's statistics, which take functions of their own.
    pub const BECKMANN: Self = Self::of_words(1 << 22, 0);
    /// Interpolated normals that are bent where they would turn reflections into the surface.
    pub const BENT_NORMALS: Self = Self::of_words(1 << 21, 0);
    /// Lights that shine through pictures.
    pub const SLIDES: Self = Self::of_words(1 << 20, 0);
    /// A camera that does not see what is near or far away.
    pub const CLIPPING: Self = Self::of_words(1 << 19, 0);
    /// Directions that are drawn by what a guide has learnt: for kernels of their own, [`Guided`].
    pub const GUIDING: Self = Self::of_words(1 << 18, 0);
    /// The sampler [`crate::rng::SamplerKind::BlueNoise`].
    pub const BLUE_NOISE: Self = Self::of_words(0, 1 << 0);
    /// The tree that chooses lights.
    pub const LIGHT_TREE: Self = Self::of_words(0, 1 << 1);
    /// Indirect light that is clamped.
    pub const CLAMPING: Self = Self::of_words(0, 1 << 2);
    /// Caustics that are found by manifold walks; only in kernels that also guide paths.
    pub const WALKS: Self = Self::of_words(0, 1 << 3);
    /// Textures that are mipmapped.
    pub const MIPMAPS: Self = Self::of_words(0, 1 << 4);
    /// Textures that are made of others.
    pub const PROGRAMS: Self = Self::of_words(0, 1 << 5);
    /// What all kernels know, but on a GPU only where it is asked for.
    pub const OF_ANY_KERNEL: Self = Self::of_words(0, u32::MAX);
    /// Features that a material can require when it is shaded: lobes, tints, bent normals, normal maps and blends.
    pub const OF_MATERIAL: Self = Self::of_words((1 << LOBES) - 1, 0)
        .and(Self::BECKMANN)
        .and(Self::BENT_NORMALS)
        .and(Self::TINTS)
        .and(Self::NORMAL_MAPS)
        .and(Self::BLENDS);
    /// Everything.
    pub const ALL: Self = Self::of_words(u32::MAX, u32::MAX);

    /// The lobe with a number.
    pub(crate) const fn lobe(index: u32) -> Self {
        assert!(index < LOBES);
        Self::of_words(1 << index, 0)
    }

    /// The union.
    pub const fn and(self, other: Self) -> Self {
        Self::of_words(self.of_some | other.of_some, self.of_any | other.of_any)
    }

    /// Intersection of both sets.
    pub const fn common(self, other: Self) -> Self {
        Self::of_words(self.of_some & other.of_some, self.of_any & other.of_any)
    }

    /// This set without the features in `other`.
    pub const fn without(self, other: Self) -> Self {
        Self::of_words(self.of_some & !other.of_some, self.of_any & !other.of_any)
    }

    /// `self` where a condition holds, nothing elsewhere.
    pub const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }

    /// Whether all of `other` is in the set.
    #[inline(always)]
    pub const fn contains(self, other: Self) -> bool {
        self.of_some & other.of_some == other.of_some && self.of_any & other.of_any == other.of_any
    }

    /// Whether the sets have anything in common.
    #[inline(always)]
    pub const fn intersects(self, other: Self) -> bool {
        self.of_some & other.of_some | self.of_any & other.of_any != 0
    }

    /// Whether any of `some`, which are [`Self::OF_ANY_KERNEL`], may be asked for.
    #[inline(always)]
    pub(crate) fn may_be_asked_for(some: Self) -> bool {
        Self::of_words(0, drawing_of_the_scene()).intersects(some)
    }

    /// Whether the scene may need any of the set.
    #[inline(always)]
    fn may_be_needed(self) -> bool {
        Self::of_words(features_of_the_scene(), drawing_of_the_scene()).intersects(self)
    }

    /// The set of two words: of what depends on the kernel, and of what is [`Self::OF_ANY_KERNEL`].
    #[inline(always)]
    const fn of_words(of_some: u32, of_any: u32) -> Self {
        Self { of_some, of_any }
    }

    /// The words of the set: of what depends on the kernel, and of what is [`Self::OF_ANY_KERNEL`].
    pub const fn words(self) -> [u32; 2] {
        [self.of_some, self.of_any]
    }
}

/// Features that code is compiled for, as a type.
pub trait Compiled: 'static {
    /// The set.
    const FEATURES: Features;

    /// Whether any of `some` is in the set and may be needed by the scene.
    #[inline(always)]
    fn sees(some: Features) -> bool {
        Self::FEATURES.intersects(some)
    }
}

/// All features but [`Features::GUIDING`]; on a GPU, only those that the scene needs.
pub struct Full;

impl Compiled for Full {
    const FEATURES: Features = Features::ALL.without(Features::GUIDING);

    #[inline(always)]
    fn sees(some: Features) -> bool {
        some.common(Self::FEATURES).may_be_needed()
    }
}

/// All features; on a GPU, only those that the scene needs.
pub struct Guided;

impl Compiled for Guided {
    const FEATURES: Features = Features::ALL;

    #[inline(always)]
    fn sees(some: Features) -> bool {
        some.may_be_needed()
    }
}
