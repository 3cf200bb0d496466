//! Buffer views compressed by meshoptimizer: `EXT_meshopt_compression` and `KHR_meshopt_compression`.

use bytemuck::{NoUninit, cast_slice, pod_collect_to_vec};
use meshopt::encoding::{
    decode_filter_color, decode_filter_exp, decode_filter_oct, decode_filter_quat, decode_index_buffer,
    decode_index_sequence, decode_vertex_buffer,
};
use torrance_text::{human_bytes, quoted};

use super::json::Node;
use crate::description::limits::max_unpacked_mesh;

/// The extensions, the newer first: it adds a version of the coding of attributes and a filter of colours.
pub(super) const EXTENSIONS: [&str; 2] = ["KHR_meshopt_compression", "EXT_meshopt_compression"];

/// What stands for a buffer view in it.
pub(super) const STREAM: &[&str] =
    &["buffer", "byteOffset", "byteLength", "byteStride", "count", "mode", "filter"];

/// How elements are coded.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Attributes,
    Triangles,
    Indices,
}

/// How the numbers of elements are to be changed after they are decoded.
#[derive(Clone, Copy, PartialEq)]
enum Filter {
    None,
    /// Unit vectors by their places on an octahedron.
    Octahedral,
    /// Quaternions by their three smaller components.
    Quaternion,
    /// Floats by 24 bits and 8 of an exponent.
    Exponential,
    /// Colours as luma and two chromas, YCoCg.
    Color,
}

/// Elements that are compressed.
#[derive(Clone, Copy)]
struct Stream {
    mode: Mode,
    filter: Filter,
    /// Bytes of an element.
    stride: usize,
    count: usize,
}

/// The bytes that `packed` stands for.
pub(super) fn decode(node: &Node<'_>, packed: &[u8]) -> Option<Vec<u8>> {
    let stream = Stream::read(node, packed.len())?;
    stream.decode(packed).or_else(|| node.fail("is damaged: its bytes cannot be decoded"))
}

impl Stream {
    /// The stream that `node` tells of, which has so many bytes.
    fn read(node: &Node<'_>, packed: usize) -> Option<Self> {
        let mode = mode(&node.require("mode")?)?;
        let filter = node.get_or("filter", Filter::None, |n| filter(&n))?;
        let stride = node.require("byteStride")?.whole()?;
        check_shape(node, mode, filter, stride)?;
        let counted = node.require("count")?;
        let count = counted.whole()?;
        let most = max_unpacked_mesh(packed);
        if count.saturating_mul(stride) > most {
            let (most, packed) = (human_bytes(most.into()), human_bytes(packed as u128));
            return counted.fail(format!(
                "is {count}: elements of {stride} bytes come to more than {most}, the most for {packed} compressed"
            ));
        }
        if mode == Mode::Triangles && !count.is_multiple_of(3) {
            return counted.fail(format!("is {count}; triangles have a multiple of 3"));
        }
        Some(Self { mode, filter, stride: stride as usize, count: count as usize })
    }

    fn decode(self, packed: &[u8]) -> Option<Vec<u8>> {
        let Self { mode, filter, stride, count } = self;
        let decoded = match mode {
            Mode::Attributes => vertices(packed, count, stride),
            Mode::Triangles if stride == 2 => of_indices(decode_index_buffer::<u16>(packed, count)),
            Mode::Triangles => of_indices(decode_index_buffer::<u32>(packed, count)),
            Mode::Indices if stride == 2 => of_indices(decode_index_sequence::<u16>(packed, count)),
            Mode::Indices => of_indices(decode_index_sequence::<u32>(packed, count)),
        };
        decoded.map(|decoded| filtered(decoded, filter, stride))
    }
}

fn mode(node: &Node<'_>) -> Option<Mode> {
    match node.string()? {
        "ATTRIBUTES" => Some(Mode::Attributes),
        "TRIANGLES" => Some(Mode::Triangles),
        "INDICES" => Some(Mode::Indices),
        other => node.fail(format!("is {}; modes are ATTRIBUTES, TRIANGLES and INDICES", quoted(other))),
    }
}

fn filter(node: &Node<'_>) -> Option<Filter> {
    match node.string()? {
        "NONE" => Some(Filter::None),
        "OCTAHEDRAL" => Some(Filter::Octahedral),
        "QUATERNION" => Some(Filter::Quaternion),
        "EXPONENTIAL" => Some(Filter::Exponential),
        "COLOR" => Some(Filter::Color),
        other => node.fail(format!(
            "is {}; filters are NONE, OCTAHEDRAL, QUATERNION, EXPONENTIAL and COLOR",
            quoted(other)
        )),
    }
}

/// Checks that elements of `stride` bytes go with a mode and a filter.
fn check_shape(node: &Node<'_>, mode: Mode, filter: Filter, stride: u64) -> Option<()> {
    let (fits, expected) = match (mode, filter) {
        (Mode::Attributes, Filter::None | Filter::Exponential) => {
            (stride.is_multiple_of(4) && (4..=256).contains(&stride), "a multiple of 4 up to 256")
        }
        (Mode::Attributes, Filter::Octahedral | Filter::Color) => (matches!(stride, 4 | 8), "4 or 8"),
        (Mode::Attributes, Filter::Quaternion) => (stride == 8, "8"),
        (_, Filter::None) => (matches!(stride, 2 | 4), "2 or 4"),
        _ => return node.fail("has a filter, which only ATTRIBUTES may have"),
    };
    if fits { Some(()) } else { node.fail(format!("has a byteStride of {stride}; it must be {expected}")) }
}

fn of_indices<T: NoUninit>(decoded: meshopt::Result<Vec<T>>) -> Option<Vec<u8>> {
    decoded.ok().map(|indices| cast_slice(&indices).to_vec())
}

/// An element of so many bytes; the decoder learns the number from the type.
#[derive(Clone)]
struct Vertex<const STRIDE: usize>([u8; STRIDE]);

impl<const STRIDE: usize> Default for Vertex<STRIDE> {
    fn default() -> Self {
        Self([0; STRIDE])
    }
}

fn vertices(packed: &[u8], count: usize, stride: usize) -> Option<Vec<u8>> {
    fn of<const STRIDE: usize>(packed: &[u8], count: usize) -> Option<Vec<u8>> {
        let decoded = decode_vertex_buffer::<Vertex<STRIDE>>(packed, count).ok()?;
        Some(decoded.into_iter().flat_map(|vertex| vertex.0).collect())
    }
    macro_rules! by_stride {
        ($($words:literal)*) => {
            match stride / 4 { $($words => of::<{ 4 * $words }>(packed, count),)* _ => None }
        };
    }
    by_stride!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
        33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64)
}

fn filtered(bytes: Vec<u8>, filter: Filter, stride: usize) -> Vec<u8> {
    /// Filters a copy of the bytes that lies as numbers do.
    fn with<T: bytemuck::Pod>(bytes: &[u8], apply: impl FnOnce(&mut [T])) -> Vec<u8> {
        let mut elements = pod_collect_to_vec::<u8, T>(bytes);
        apply(&mut elements);
        cast_slice(&elements).to_vec()
    }
    match filter {
        Filter::None => bytes,
        Filter::Octahedral if stride == 4 => with::<[i8; 4]>(&bytes, decode_filter_oct),
        Filter::Octahedral => with::<[i16; 4]>(&bytes, decode_filter_oct),
        Filter::Quaternion => with::<[i16; 4]>(&bytes, decode_filter_quat),
        Filter::Exponential => with::<[u32; 1]>(&bytes, decode_filter_exp),
        Filter::Color if stride == 4 => with::<[u8; 4]>(&bytes, decode_filter_color),
        Filter::Color => with::<[u16; 4]>(&bytes, decode_filter_color),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
    }

    /// Every mode, filter and version of the coding, as meshoptimizer 1.3 wrote and read them: the mode, the filter, the bytes
    /// of an element, what is compressed, and what it stands for.
    fn streams() -> impl Iterator<Item = (Stream, Vec<u8>, Vec<u8>)> {
        include_str!("meshopt.txt").lines().map(|line| {
            let [mode, filter, stride, packed, decoded] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!()
            };
            let mode = match mode {
                "ATTRIBUTES" => Mode::Attributes,
                "TRIANGLES" => Mode::Triangles,
                _ => Mode::Indices,
            };
            let filter = match filter {
                "OCTAHEDRAL" => Filter::Octahedral,
                "QUATERNION" => Filter::Quaternion,
                "EXPONENTIAL" => Filter::Exponential,
                "COLOR" => Filter::Color,
                _ => Filter::None,
            };
            let (stride, decoded) = (stride.parse().unwrap(), bytes(decoded));
            (Stream { mode, filter, stride, count: decoded.len() / stride }, bytes(packed), decoded)
        })
    }

    #[test]
    fn all_that_meshoptimizer_writes_is_read() {
        assert_eq!(streams().count(), 16);
        for (stream, packed, expected) in streams() {
            let found = stream.decode(&packed).unwrap();
            // Vector units round the last bit of what filters find otherwise.
            let far = found.iter().zip(&expected).any(|(a, b)| a.abs_diff(*b) > 1 && a.abs_diff(*b) < 255);
            assert!(found.len() == expected.len() && !far, "{found:?}, not {expected:?}");
            // Negative controls: another filter, and damage.
            if stream.filter != Filter::None {
                assert_ne!(Stream { filter: Filter::None, ..stream }.decode(&packed).unwrap(), expected);
            }
            assert!(stream.decode(&packed[..packed.len() / 2]).is_none());
            assert!(stream.decode(&[]).is_none());
        }
    }
}
