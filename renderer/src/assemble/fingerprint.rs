//! A number that tells scenes apart.

use std::slice::from_ref;

use bytemuck::{NoUninit, bytes_of, cast_slice};
use device::bvh::Instance;
use device::features::Features;
use device::light::Light;
use device::path::PathSettings;
use device::shape::Primitive;
use device::shape::triangle::{TriangleColors, TriangleNormals, TriangleUvs};
use rayon::prelude::*;
use torrance_scene::{Clip, Guiding, HiddenNormals, Holes};

use super::SceneData;

impl SceneData {
    /// A hash of everything that determines the expectation of the image: geometry, materials, textures, lights,
    /// camera, size and the longest path, but not how samples are drawn. FNV-1a with 64 bits: it tells scenes apart
    /// that differ by accident, not by design.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fnv1a(self.geometry.hash);
        hash.add(&self.materials);
        hash.add(&self.coats);
        hash.add(&self.pictures.swatches.textures);
        hash.add_digest(self.pictures.swatches.digest);
        hash.add(&self.lights.all);
        hash.add(&self.filter.parts);
        hash.add(&self.filter.edges);
        hash.add(&self.lights.emissive);
        if let Some(environment) = &self.pictures.environment {
            hash.add(&environment.record.image_from_world);
            hash.add(&[environment.record.width]);
            hash.add_digest(environment.digest);
        }
        hash.add(bytes_of(&self.camera));
        hash.add(&[self.width, self.height, self.settings.max_depth]);
        // What most scenes are without changes the number only where it is.
        if !self.geometry.instances.is_empty() {
            hash.add_instances(&self.geometry.instances);
        }
        if self.hidden_normals != HiddenNormals::default() {
            hash.add(&[self.hidden_normals as u32]);
        }
        if self.holes != Holes::default() && self.features.contains(Features::CUTOUTS) {
            hash.add(&[self.holes as u32]);
        }
        // What paths never find of a light without size, walks do.
        let has_size = |light: &Light| light.kind_flags & 0xff != Light::DIRECTIONAL || light.b.x > 0.0;
        if self.settings.walks != 0 && !self.lights.all.iter().all(has_size) {
            hash.add(b"walks");
        }
        if self.clip != Clip::DEFAULT {
            hash.add(&[self.clip.near, self.clip.far]);
        }
        if !self.lights.slides.is_empty() {
            hash.add(&self.lights.slides);
        }
        if self.hides_emitters {
            hash.add(&[u32::MAX]);
        }
        hash.0
    }

    /// A hash of everything that determines the image: as `fingerprint`, which is the scene's, and how samples are drawn, how
    /// many of a pixel, and what else is said.
    pub fn key_of_render(&self, fingerprint: u64, spp: u32, else_said: &str) -> u64 {
        let mut hash = Fnv1a(fingerprint);
        let PathSettings { max_depth, rr_depth, direct, sampler, seed, clamp_indirect, walks, .. } =
            self.settings;
        hash.add(&[max_depth, rr_depth, direct, sampler, seed, spp]);
        hash.add(&[self.hidden_normals as u32, self.holes as u32, self.hides_emitters.into()]);
        hash.add(self.pictures.environment.as_ref().map_or(&[], |environment| &environment.portals[..]));
        if !self.lights.tree.nodes.is_empty() {
            hash.add(&self.lights.tree.nodes);
        }
        if clamp_indirect < f32::INFINITY {
            hash.add(&[clamp_indirect.to_bits()]);
        }
        if walks != 0 {
            hash.add(b"walks");
        }
        if self.guiding.guiding != Guiding::Off {
            hash.add(&[self.guiding.guiding as u64, self.guiding.memory]);
        }
        hash.add(else_said.as_bytes());
        hash.0
    }
}

/// Where the fingerprint of a scene begins: its primitives, in its own order (that of the leaves is the hierarchy's), and
/// what belongs to their corners. It is kept, since it takes time for large scenes.
pub(super) fn of_geometry<'a>(
    prims: impl Iterator<Item = &'a Primitive>,
    normals: &[TriangleNormals],
    uvs: &[TriangleUvs],
    colors: &[TriangleColors],
) -> u64 {
    let mut hash = Fnv1a::default();
    prims.for_each(|prim| hash.add(from_ref(prim)));
    hash.add(normals);
    hash.add(uvs);
    hash.add(colors);
    hash.0
}

/// A hash of texels, or 0 of none, which is kept beside them: scenes that share them need not go through them again. Pieces are hashed side
/// by side, each by words, which multiplying by an odd number tells apart.
pub(crate) fn digest<T: NoUninit>(texels: &[T]) -> u64 {
    /// Bytes of a piece.
    const PIECE: usize = 1 << 20;
    /// 2⁶⁴ divided by the golden ratio, whose multiples are spread evenly (Knuth, The Art of Computer Programming, 6.4).
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    if texels.is_empty() {
        return 0;
    }
    let piece = |bytes: &[u8]| {
        let words = bytes.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        });
        words.fold(bytes.len() as u64, |hash, word| (hash.rotate_left(5) ^ word).wrapping_mul(FACTOR))
    };
    let pieces: Vec<u64> = cast_slice::<T, u8>(texels).par_chunks(PIECE).map(piece).collect();
    let mut hash = Fnv1a::default();
    hash.add(&pieces);
    hash.0
}

/// Fowler, Noll & Vo's hash, variant 1a (RFC 9923), over bytes.
struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    /// Adds how many elements there are, and their bytes.
    fn add<T: NoUninit>(&mut self, data: &[T]) {
        self.add_bytes(&(data.len() as u64).to_le_bytes());
        self.add_bytes(cast_slice(data));
    }

    /// Adds the [`digest`] of texels, of which there may be none.
    fn add_digest(&mut self, digest: u64) {
        self.add(if digest == 0 { &[] } else { from_ref(&digest) });
    }

    /// Adds instances in the order of the scene: where they are, and of which group.
    fn add_instances(&mut self, instances: &[Instance]) {
        let mut order: Vec<&Instance> = instances.iter().collect();
        order.sort_unstable_by_key(|instance| instance.source);
        for instance in order {
            self.add(&[instance.object_from_world]);
            self.add(&[instance.group]);
        }
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        const PRIME: u64 = 0x0000_0100_0000_01b3;
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::assemble;
    use crate::described;

    const SCENE: &str = r#"
        [render]
        size = [8, 8]
        spp = 4
        [camera]
        position = [0, 0, 4]
        target = [0, 0, 0]
        fov = 40
        [environment]
        radiance = 1
        [materials.grey]
        type = "diffuse"
        reflectance = 0.5
        [[shapes]]
        type = "sphere"
        material = "grey"
        [[shapes]]
        type = "box"
        material = "grey"
    "#;

    fn fingerprint(scene: &str) -> u64 {
        assemble(&described(scene)).unwrap().fingerprint()
    }

    #[test]
    fn renders_that_differ_have_keys_of_their_own() {
        let holes = SCENE.replacen("reflectance = 0.5", "reflectance = 0.5\nopacity = 0.5", 1);
        let key = |settings: &str, spp: u32, said: &str| {
            let scene = holes.replacen("spp = 4", &format!("spp = 4\n{settings}"), 1);
            let scene = assemble(&described(&scene)).unwrap();
            scene.key_of_render(scene.fingerprint(), spp, said)
        };
        let settings = [
            "",
            "hidden_normals = \"keep\"",
            "holes = \"scatter\"",
            "hidden_normals = \"keep\"\nholes = \"scatter\"",
            "seed = 1",
            "max_depth = 3",
            "sampler = \"independent\"",
            "direct = \"bsdf\"",
        ];
        let mut keys: Vec<_> = settings.iter().map(|settings| key(settings, 4, "")).collect();
        keys.extend([key("", 5, ""), key("", 4, "gpu")]);
        assert_eq!(keys[0], key("", 4, ""), "the same");
        for (i, a) in keys.iter().enumerate() {
            assert!(keys[..i].iter().all(|b| a != b), "{i}: {keys:x?}");
        }
    }

    /// Slow work is done once for all variants: texels are not hashed again.
    #[test]
    fn the_fingerprint_of_textures_is_kept_with_them() {
        let texture = "[textures.paint]\ntype = \"bitmap\"\nfile = \"paint.png\"\n[materials.grey]";
        let folder = tempfile::tempdir().unwrap();
        let painted = |color: u8| {
            let paint = image::RgbImage::from_fn(9, 5, |x, y| image::Rgb([x as u8, y as u8, color]));
            paint.save(folder.path().join("paint.png")).unwrap();
            let text = SCENE.replacen("[materials.grey]", texture, 1);
            let text = text.replacen("reflectance = 0.5", "reflectance = { texture = \"paint\" }", 1);
            std::fs::write(folder.path().join("scene.toml"), text).unwrap();
            let loaded = torrance_scene::load(&folder.path().join("scene.toml"), &Default::default());
            assemble(&loaded.unwrap().description).unwrap()
        };
        let mut scene = painted(7);
        let fingerprint = scene.fingerprint();
        assert_eq!(painted(7).fingerprint(), fingerprint);
        assert_ne!(painted(8).fingerprint(), fingerprint);
        scene.drop_geometry();
        assert!(scene.pictures.swatches.texels.is_empty());
        assert_eq!(scene.fingerprint(), fingerprint);
    }

    #[test]
    fn digests_tell_texels_apart() {
        let texels: Vec<u32> = (0..600_000).collect();
        let whole = digest(&texels);
        let mut others = vec![digest(&texels[1..]), digest(&texels[..texels.len() - 1])];
        for i in [0, 1, 262_143, 262_144, texels.len() - 1] {
            let mut other = texels.clone();
            other[i] ^= 1 << 31;
            others.push(digest(&other));
        }
        let mut swapped = texels.clone();
        swapped.swap(10, 12);
        others.push(digest(&swapped));
        others.push(whole);
        others.sort_unstable();
        others.dedup();
        assert_eq!(others.len(), 9);
        assert_ne!(digest::<u32>(&[]), digest::<u32>(&[0]));
    }

    /// The vectors of the RFC's authors.
    #[test]
    fn fnv_1a_has_its_known_values() {
        for (text, expected) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            let mut hash = Fnv1a::default();
            hash.add_bytes(text.as_bytes());
            assert_eq!(hash.0, expected, "{text}");
        }
    }

    #[test]
    fn it_changes_with_the_expectation_and_only_with_that() {
        let original = fingerprint(SCENE);
        for (from, to) in [
            ("spp = 4", "spp = 5"),
            ("spp = 4", "seed = 3"),
            ("spp = 4", "sampler = \"independent\"\ndirect = \"bsdf\"\nrr = 2"),
            ("type = \"box\"", "# a comment\ntype = \"box\""),
        ] {
            assert_eq!(fingerprint(&SCENE.replace(from, to)), original, "{to}");
        }
        for (from, to) in [
            ("spp = 4", "max_depth = 3"),
            ("8, 8", "8, 9"),
            ("reflectance = 0.5", "reflectance = 0.5001"),
            ("radiance = 1", "radiance = 1.01"),
            ("type = \"box\"", "type = \"quad\""),
            ("fov = 40", "fov = 41"),
            ("type = \"sphere\"", "type = \"sphere\"\nradius = 1.01"),
        ] {
            assert_ne!(fingerprint(&SCENE.replace(from, to)), original, "{to}");
        }
    }
}
