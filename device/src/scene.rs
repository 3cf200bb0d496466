//! The scene as the stages see it.

use bytemuck::{Pod, Zeroable};

use crate::bsdf::plastic::Coat;
use crate::bvh::{Instance, Node};
use crate::camera::Camera;
use crate::filter::{FilterEdge, FilterPart};
use crate::light::{AliasEntry, EmissiveSurface, Environment, Light, Portal, SkyTexel};
use crate::material::Material;
use crate::material::texture::Texture;
use crate::shape::Primitive;
use crate::shape::triangle::{TriangleColors, TriangleNormals, TriangleUvs};

/// A scene in the memory of a back end: plain pointers, passed to stages by value. The host has validated all
/// of it: every index is in range and every number finite.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SceneView {
    /// The trees of the hierarchy; the root of that of the world is node 0.
    pub nodes: *const Node,
    /// Primitives in the order of the leaves, those of the world first and then those of groups; one may occur more than
    /// once. There are at least [`SceneView::MIN_PRIMS`], the last of which may mean nothing.
    pub prims: *const Primitive,
    /// Which primitive of the scene each of them is, the same for all occurrences of one.
    pub sources: *const u32,
    /// Instances of groups in the order of the leaves.
    pub instances: *const Instance,
    /// Vertex normals and tangents of the triangles that have them.
    pub normals: *const TriangleNormals,
    /// Texture coordinates at the vertices of the triangles that have `normals`; null if no material asks for them.
    pub uvs: *const TriangleUvs,
    /// Colours at the vertices of the same triangles; null if no texture asks for them.
    pub colors: *const TriangleColors,
    /// Materials.
    pub materials: *const Material,
    /// Coats of the plastics.
    pub coats: *const Coat,
    /// Textures; null if there are none.
    pub textures: *const Texture,
    /// The texels of all textures.
    pub texels: *const u32,
    /// Lights.
    pub lights: *const Light,
    /// The distribution that chooses among the lights.
    pub light_table: *const AliasEntry,
    /// The surfaces of lights whose emission varies, by the index of the light; null if there are none.
    pub emissive: *const EmissiveSurface,
    /// The environment, if it is an image.
    pub environment: *const Environment,
    /// Texels of the environment: radiance, W·sr⁻¹·m⁻², and its luminance.
    pub sky: *const SkyTexel,
    /// The portals of the environment.
    pub portals: *const Portal,
    /// Entries of the tables of the environment and the portals.
    pub tables: *const u64,
    /// Number of lights.
    pub light_count: u32,
    /// Index of the first light that is infinitely far and that rays which leave the scene see: all from there on are.
    pub first_infinite: u32,
    /// Whether any material has holes, and what they do: [`SceneView::NO_HOLES`] and so on.
    pub holes: u32,
    /// Non-zero if shading normals that face away from the viewer shade all the same, and decide which side is seen.
    pub keeps_hidden_normals: u32,
    /// Non-zero if the camera does not see lights.
    pub hides_emitters: u32,
    /// Root of the tree of the instances, or 0 if there are none.
    pub instances_root: u32,
    /// Non-zero if any texture is looked up by how much of it a ray sees.
    pub has_mipmaps: u32,
    /// Unused.
    pub unused: u32,
    /// The pixel filter; null if it is the pixel itself.
    pub filter: *const FilterPart,
    /// What of the filter lies beyond the edge of the image, by the pixels between.
    pub filter_edges: *const FilterEdge,
    /// Number of its parts.
    pub filter_parts: u32,
    /// Number of distances at which anything does; 0 if samples may lie beyond the image.
    pub filter_edge_count: u32,
    /// Where the same view lies in the memory of a GPU that sees it: see [`SceneView::shared`].
    pub this: *const Self,
    /// The camera.
    pub camera: Camera,
}

impl SceneView {
    /// The view for functions that are not inlined. Arguments of a kernel have no address: a function that takes one by
    /// reference would make every thread copy them to its own memory first.
    #[inline(always)]
    pub const fn shared(&self) -> &Self {
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: the host put it there, and nothing writes it while stages run.
        return unsafe { &*self.this };
        #[cfg(not(target_arch = "nvptx64"))]
        self
    }

    /// No material has holes.
    pub const NO_HOLES: u32 = 0;
    /// Paths and light pass holes as if nothing were there.
    pub const HOLES_PASS: u32 = 1;
    /// Passing a hole counts as scattering: by the longest path, and for light without extent, which paths cannot find.
    pub const HOLES_SCATTER: u32 = 2;
    /// Primitives at [`SceneView::prims`] that may be read at least, even if the scene has fewer: machines test as many
    /// at once.
    pub const MIN_PRIMS: usize = 8;
}

/// A view as a back end keeps it in its memory.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct KeptView(pub SceneView);

const _: () = assert!(size_of::<SceneView>() == 21 * 8 + 10 * 4 + size_of::<Camera>());

// SAFETY: pointers, numbers, and a camera, which is plain data; none is without a meaning for being zero.
unsafe impl Zeroable for KeptView {}
// SAFETY: as above. There is no padding, as the size tells, and a pointer that any bits may be is followed in `unsafe`.
unsafe impl Pod for KeptView {}

// SAFETY: stages only read through these pointers, and nothing writes what they point to.
unsafe impl Send for SceneView {}
// SAFETY: as above.
unsafe impl Sync for SceneView {}
