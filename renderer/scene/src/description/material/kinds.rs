//! Kinds of material.

use device::bsdf::microfacet::Masking;
use device::features::Features;
use device::material::{Header, Material as DeviceMaterial, Parameters};
use glam::Vec3;

use super::parameters::{Parameter, ParameterList};
use super::{
    Blend, Color, ConductorMaterial, DielectricMaterial, DiffuseMaterial, Facets, GltfMaterial,
    PlasticMaterial, PrincipledMaterial, Scalar, SheenMaterial, ThinDielectricMaterial,
};
use crate::description::key::{Default, Key, Type};

/// Makes the kinds of material, each with its parameters, its name in scene files, and a sentence on it.
macro_rules! material_kinds {
    ($($(#[$meta:meta])* $name:ident($Parameters:ty) = $word:literal, $about:literal;)*) => {
        /// How a material scatters light: the parameters as the device has them.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum MaterialKind { $($(#[$meta])* $name($Parameters)),* }

        /// The kinds as scene files have them.
        pub(crate) static TYPES: &[Type] =
            &[$(Type { names: &[$word], about: $about, keys: <$Parameters>::KEYS }),*];

        impl MaterialKind {
            /// The record of the device.
            pub fn record(&self, header: Header) -> DeviceMaterial {
                match self { $(Self::$name(parameters) => DeviceMaterial::new(header, parameters)),* }
            }

            /// The features that its lobes need of a kernel.
            pub fn features(&self) -> Features {
                match self { $(Self::$name(parameters) => parameters.features()),* }
            }

            /// Whether light passes from both sides.
            fn is_transmissive(&self) -> bool {
                match self { $(Self::$name(parameters) => parameters.is_transmissive()),* }
            }

            /// Whether the direction along the surface matters.
            pub fn is_anisotropic(&self) -> bool {
                match self { $(Self::$name(parameters) => parameters.is_anisotropic()),* }
            }

            /// The microfacets, where there are any.
            pub fn facets_mut(&mut self) -> Option<&mut Facets> {
                match self { $(Self::$name(parameters) => ParameterList::facets(parameters)),* }
            }

            /// Its name in scene files.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$name(_) => $word),* }
            }

            /// The kind of a name in scene files, with all defaults.
            pub(crate) fn named(name: &str) -> Option<Self> {
                match name { $($word => Some(Self::$name(ParameterList::initial())),)* _ => None }
            }

            /// The parameters, each with the keys that give it.
            pub(crate) fn parameters(&mut self) -> Vec<(&'static [Key], Parameter<'_>)> {
                match self { $(Self::$name(parameters) => ParameterList::parameters(parameters)),* }
            }

            /// The same kind, with all defaults.
            pub(crate) fn initial(&self) -> Self {
                match self { $(Self::$name(_) => Self::$name(ParameterList::initial())),* }
            }
        }
    };
}

material_kinds! {
    /// Diffuse reflection.
    Diffuse(DiffuseMaterial) = "diffuse", "Paint, paper, clay.";
    /// A conductor, such as a metal.
    Conductor(ConductorMaterial) = "conductor", "A metal.";
    /// A dielectric, such as glass or water, that fills what lies behind the surface.
    Dielectric(DielectricMaterial) = "dielectric", "Glass or water that fills what lies behind the surface.";
    /// A thin smooth pane of a dielectric.
    ThinDielectric(ThinDielectricMaterial) = "thin_dielectric", "A smooth pane with air on both sides.";
    /// A dielectric coat over a diffuse base.
    Plastic(PlasticMaterial) = "plastic", "A clear coat over a diffuse base that lets no light pass.";
    /// The sheen of cloth.
    Sheen(SheenMaterial) = "sheen",
        "Upright fibres of cloth on black. For their shimmer on something else, blend them with it.";
    /// The principled model.
    Principled(PrincipledMaterial) = "principled",
        "Anything between plastic, metal and glass, by Burley's numbers made for artists, as Mitsuba defines them. \
         It is not careful about energy: white paint may send back more light than arrives.";
    /// The material of glTF.
    Gltf(GltfMaterial) = "gltf",
        "The metallic-roughness material of glTF 2.0 with its extensions, in layers none of which sends back more \
         light than arrives. What emits is the shape: its `emission` is glTF's `emissiveFactor` times \
         `emissiveStrength`.";
    /// A mixture of two others.
    Blend(Blend) = "blend",
        "A mixture of two materials, which may be blends themselves, up to seven levels deep. It has the sides and \
         maps of its parts; holes are those of the material that the shape has.";
}

impl MaterialKind {
    /// Diffuse reflection of one colour.
    pub fn diffuse(reflectance: Vec3) -> Self {
        Self::Diffuse(DiffuseMaterial::new(Color::new(reflectance)))
    }

    /// Calls `f` with the index of every texture that a parameter has, or [`device::material::texture::NO_TEXTURE`].
    pub(super) fn for_each_texture(&mut self, f: &mut impl FnMut(&mut u32)) {
        self.parameters().into_iter().for_each(|(_, parameter)| parameter.for_each_texture(f));
    }

    /// The numbers that add something to the material where they are not 0, by name: those that are 0 unless said
    /// otherwise, but for refinements of others.
    pub fn strengths(&self) -> Vec<(&'static str, Scalar)> {
        let mut kind = *self;
        let parameters = kind.parameters().into_iter();
        let strength = |(keys, parameter): (&'static [Key], Parameter<'_>)| match (keys, parameter) {
            (
                [Key { default: Default::Number(0.0), depends_on: "", name, .. }],
                Parameter::Scalar(scalar),
            ) => Some((*name, *scalar)),
            _ => None,
        };
        parameters.filter_map(strength).collect()
    }

    /// Whether light passes from both sides, or others say what the sides are.
    pub(crate) fn has_no_sides(&self) -> bool {
        self.is_transmissive() || matches!(self, Self::Blend(_))
    }

    /// Whether light passes into what the surface encloses, as into glass.
    pub(super) fn is_solid(&self) -> bool {
        match self {
            Self::Dielectric(_) => true,
            Self::Principled(p) => p.is_transmissive(),
            _ => false,
        }
    }

    /// The roughness of kinds whose facets it is a parameter of in all directions.
    pub fn roughness_mut(&mut self) -> Option<&mut Scalar> {
        match self {
            Self::Principled(p) => Some(&mut p.roughness),
            Self::Gltf(p) => Some(&mut p.roughness),
            _ => None,
        }
    }

    /// Says how masking and shadowing combine, where there are microfacets.
    pub fn set_masking(&mut self, masking: Masking) {
        match self {
            Self::Principled(p) => p.masking = masking as u32,
            Self::Gltf(p) => p.masking = masking as u32,
            _ => {}
        }
        if let Some(facets) = self.facets_mut() {
            facets.masking = masking as u32;
        }
    }
}
