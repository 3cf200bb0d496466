//! Cryptomatte: mattes of all that has a name, in layers from which compositing programs pull them by name.
//!
//! Friedman & Jones 2015, "Fully Automatic ID Mattes with Support for Motion Blur and Transparency"; Psyop, "Cryptomatte
//! Specification", version 1.2.0. A pixel has *ranks*, pairs of an id and the part of the pixel that it covers, the largest first.
//! Two ranks are in each of the layers `KIND00`, `KIND01`, …. Ids are 32-bit hashes of names, as floats; 0 is nothing.

use std::collections::BTreeMap;

use super::layers::{Layers, Samples};

/// Ranks that a pixel has, unless it is told otherwise: those that the specification suggests.
pub const RANKS: usize = 6;

/// The channels of a layer, in pairs of an id and its coverage.
const CHANNELS: [&str; 4] = ["R", "G", "B", "A"];

/// What all attributes of Cryptomattes begin with.
const PREFIX: &str = "cryptomatte/";

/// The end of the name of the attribute that maps names to ids.
const MANIFEST: &str = "/manifest";

/// Most bytes of a manifest. Longer ones are left out, as the specification allows, since readers bound the size of headers.
const MOST_MANIFEST: usize = 4 << 20;

/// Parts of a pixel by the bits of the ids that cover them.
pub type Coverage = Vec<(u32, f64)>;

/// Names, with the bits of their ids.
pub type Manifest = BTreeMap<String, u32>;

/// The bits of the id of a name.
pub fn id(name: &str) -> u32 {
    let hash = murmur3(name.as_bytes());
    // As floats, none of them is infinite, NaN, or so small that programs take it for 0.
    let exponent = (hash >> 23 & 0xff).clamp(1, 254);
    hash & !(0xff << 23) | exponent << 23
}

/// MurmurHash3_x86_32 with seed 0 (Appleby 2011).
fn murmur3(bytes: &[u8]) -> u32 {
    let scrambled = |word: u32| word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let (words, tail) = bytes.as_chunks::<4>();
    let mut hash = words.iter().fold(0_u32, |hash, word| {
        let mixed = (hash ^ scrambled(u32::from_le_bytes(*word))).rotate_left(13);
        mixed.wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    let rest = tail.iter().rev().fold(0, |rest, byte| rest << 8 | u32::from(*byte));
    hash ^= scrambled(rest) ^ bytes.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// Whether a layer holds ranks, by its name.
pub(super) fn is_of_ranks(layer: &str) -> bool {
    let name = layer.rsplit('.').next().unwrap_or(layer);
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    name.contains("Crypto") && digits == 2
}

/// The attribute of a kind, such as `cryptomatte/3ae39a5/name`.
fn attribute(kind: &str, what: &str) -> String {
    let key = format!("{:08x}", murmur3(kind.as_bytes()));
    format!("{PREFIX}{}/{what}", &key[..7])
}

/// The kinds of Cryptomatte that the attributes of a file tell of.
pub fn kinds(attributes: &BTreeMap<String, String>) -> Vec<String> {
    let of_kind = |(name, kind): (&String, &String)| {
        (name.starts_with(PREFIX) && name.ends_with("/name")).then(|| kind.clone())
    };
    attributes.iter().filter_map(of_kind).collect()
}

/// The names of a kind that the attributes of a file know.
pub(super) fn manifest(attributes: &BTreeMap<String, String>, kind: &str) -> Manifest {
    let key = attributes.iter().find(|(name, told)| name.starts_with(PREFIX) && *told == kind);
    let key = key.and_then(|(name, _)| name.strip_suffix("/name"));
    let told = key.and_then(|key| attributes.get(&format!("{key}{MANIFEST}")));
    let names = told.and_then(|told| serde_json::from_str::<BTreeMap<String, String>>(told).ok());
    let bits = |(name, hex): (String, String)| Some((name, u32::from_str_radix(&hex, 16).ok()?));
    names.into_iter().flatten().filter_map(bits).collect()
}

/// Removes all Cryptomattes.
pub fn remove(layers: &mut Layers) {
    let kinds = kinds(&layers.attributes);
    let is_of_kind = |name: &str| kinds.iter().any(|kind| is_rank_of(kind, name));
    layers.channels.retain(|channel| !is_of_kind(&channel.name));
    layers.attributes.retain(|name, _| !name.starts_with(PREFIX));
}

/// Whether a channel holds ranks of a kind.
pub(super) fn is_rank_of(kind: &str, channel: &str) -> bool {
    let level = channel.strip_prefix(kind).and_then(|rest| rest.split_once('.'));
    level.is_some_and(|(level, _)| level.len() == 2 && level.bytes().all(|c| c.is_ascii_digit()))
}

/// Combines the manifests of two images of one scene, if an attribute of this name is one.
pub(super) fn combined(attribute: &str, a: &str, b: &str) -> Option<String> {
    if !(attribute.starts_with(PREFIX) && attribute.ends_with(MANIFEST)) {
        return None;
    }
    let [mut a, b] = [a, b].map(serde_json::from_str::<BTreeMap<String, String>>);
    a.as_mut().ok()?.extend(b.ok()?);
    serde_json::to_string(&a.ok()?).ok()
}

impl Layers {
    /// Adds a Cryptomatte of a kind, such as `CryptoObject`, with so many ranks, of what covers each pixel. Names that are in none of
    /// the ranks are left out of the manifest.
    ///
    /// # Panics
    /// If there is not exactly one coverage per pixel.
    pub fn push_cryptomatte(&mut self, kind: &str, ranks: usize, pixels: &[Coverage], manifest: &Manifest) {
        let ranked: Vec<Coverage> = pixels.iter().map(|pixel| ranked(pixel, ranks)).collect();
        for rank in 0..ranks {
            let of = |part: fn((u32, f64)) -> f32| {
                let samples = ranked.iter().map(|pixel| pixel.get(rank).map_or(0.0, |pair| part(*pair)));
                Samples::Float(samples.collect())
            };
            let channel = |i: usize| format!("{kind}{:02}.{}", rank / 2, CHANNELS[rank % 2 * 2 + i]);
            self.push(channel(0), of(|(id, _)| f32::from_bits(id)));
            self.push(channel(1), of(|(_, coverage)| coverage as f32));
        }
        let mut seen: Vec<u32> = ranked.iter().flatten().map(|(id, _)| *id).collect();
        seen.sort_unstable();
        seen.dedup();
        let names = manifest.iter().filter(|(_, id)| seen.binary_search(id).is_ok());
        let names: serde_json::Map<_, _> =
            names.map(|(name, id)| (name.clone(), format!("{id:08x}").into())).collect();
        let manifest = Some(serde_json::Value::from(names).to_string());
        for (what, value) in [
            ("name", Some(kind.to_owned())),
            ("hash", Some("MurmurHash3_32".to_owned())),
            ("conversion", Some("uint32_to_float32".to_owned())),
            ("manifest", manifest.filter(|names| names.len() <= MOST_MANIFEST)),
        ] {
            self.attributes.extend(value.map(|value| (attribute(kind, what), value)));
        }
    }

    /// What covers each pixel by a Cryptomatte of a kind; nothing if there is none.
    pub fn cryptomatte(&self, kind: &str) -> Vec<Coverage> {
        let mut pixels = vec![Coverage::new(); self.pixels()];
        for level in 0..100 {
            let channels = CHANNELS.map(|c| self.channel(&format!("{kind}{level:02}.{c}")));
            for pair in channels.chunks(2) {
                let [Some(ids), Some(coverage)] = pair else { return pixels };
                for (i, pixel) in pixels.iter_mut().enumerate() {
                    let covered = coverage.samples.get_f64(i);
                    if covered != 0.0 {
                        pixel.push((ids.samples.get(i).to_bits(), covered));
                    }
                }
            }
        }
        pixels
    }

    /// The number of ranks of a Cryptomatte of a kind.
    pub fn ranks(&self, kind: &str) -> usize {
        self.channels.iter().filter(|channel| is_rank_of(kind, &channel.name)).count() / 2
    }
}

/// The ids that cover most, the first one most; names of one id are one.
fn ranked(pixel: &Coverage, ranks: usize) -> Coverage {
    let mut by_id = pixel.clone();
    by_id.sort_unstable_by_key(|(id, _)| *id);
    by_id.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0.0 };
        is_same
    });
    // Stable: ids that cover as much stay in their order.
    by_id.sort_by(|a, b| b.1.total_cmp(&a.1));
    by_id.truncate(ranks);
    by_id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_others() {
        // Of smhasher's and of mmh3's tests, and of the specification's example of a manifest.
        for (name, hash) in [
            ("", 0),
            ("foo", 0xf6a5_c420),
            ("hello", 0x248b_fa47),
            ("hello, world", 0x149b_bb7f),
            ("The quick brown fox jumps over the lazy dog", 0x2e4f_f723),
        ] {
            assert_eq!(murmur3(name.as_bytes()), hash, "{name}");
        }
        for (name, id_bits) in [("bunny", 0x1385_1a76), ("default", 0x42c9_679f)] {
            assert_eq!(id(name), id_bits, "{name}");
        }
        assert_eq!(attribute("CryptoObject", "hash"), "cryptomatte/3ae39a5/hash");
    }

    #[test]
    fn ids_are_ordinary_floats() {
        // Hashes whose exponent is that of infinity, or of numbers below the smallest normal one, are rare: 1 in 128.
        let mut clamped = 0;
        for i in 0..20_000 {
            let name = format!("leaf {i}");
            assert!(f32::from_bits(id(&name)).is_normal(), "{name}");
            clamped += u32::from(id(&name) != murmur3(name.as_bytes()));
        }
        assert!((100..220).contains(&clamped), "{clamped} of 20000");
    }

    #[test]
    fn ranks_are_sorted_and_can_be_read() {
        let mut layers = Layers::new(2, 1);
        let names: Manifest = ["a", "b", "c", "d"].map(|name| (name.to_owned(), id(name))).into();
        let pixels = [
            vec![(id("a"), 0.125), (0, 0.25), (id("b"), 0.5), (id("a"), 0.125)],
            vec![(id("c"), 0.75), (id("a"), 0.125), (id("b"), 0.125)],
        ];
        layers.push_cryptomatte("CryptoObject", 2, &pixels, &names);
        let found = layers.cryptomatte("CryptoObject");
        assert_eq!(found[0], [(id("b"), 0.5), (0, 0.25)], "as much is seen of nothing as of a");
        assert_eq!(found[1][0], (id("c"), 0.75));
        assert_eq!(layers.channels.len(), 4);
        assert_eq!(layers.ranks("CryptoObject"), 2);
        let manifest = &layers.attributes["cryptomatte/3ae39a5/manifest"];
        assert!(manifest.contains("\"c\"") && !manifest.contains("\"d\""), "{manifest}");
        assert!(
            layers.channels.iter().all(|channel| !channel.is_color()),
            "ids are never rounded to half floats"
        );
        remove(&mut layers);
        assert_eq!(layers, Layers::new(2, 1));
    }
}
