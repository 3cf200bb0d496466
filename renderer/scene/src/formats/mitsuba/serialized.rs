//! `.serialized` files: the meshes of Mitsuba's older exporters, compressed, several in a file.
//!
//! The format (Mitsuba 0.6 documentation, "serialized"): for each mesh the number 0x041C and the version, 16 bits each,
//! and a zlib stream; at the end of the file the offset of each mesh, 64 bits (32 before version 4), and their number, 32
//! bits. Everything is little-endian.

use std::io::{BufReader, ErrorKind, Read, Take};

use flate2::read::ZlibDecoder;
use glam::{Vec2, Vec3};
use torrance_text::human_bytes;

use crate::description::TriangleMesh;
use crate::description::limits::{MAX_COORDINATE, available_memory, max_unpacked_mesh};

const MAGIC: u16 = 0x041c;
const HAS_NORMALS: u32 = 1;
const HAS_UVS: u32 = 1 << 1;
const HAS_COLORS: u32 = 1 << 3;
const IS_DOUBLE: u32 = 1 << 13;
/// Longest name of a mesh, bytes.
const LONGEST_NAME: usize = 1 << 16;

/// Why a file gives no mesh, to follow "cannot read mesh file …:".
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct SerializedError(String);

fn wrong(message: impl Into<String>) -> SerializedError {
    SerializedError(message.into())
}

/// Reads mesh `index` of a file. Normals are as they are there.
///
/// # Errors
/// There is no such mesh.
pub(super) fn read(bytes: &[u8], index: usize) -> Result<TriangleMesh, SerializedError> {
    let stream = stream(bytes, index)?;
    let version = u16::from_le_bytes([stream[2], stream[3]]);
    let most = max_unpacked_mesh(stream.len());
    let data = BufReader::new(ZlibDecoder::new(&stream[4..])).take(most);
    Reader { data }.mesh(version)
}

/// The header and the compressed data of a mesh.
fn stream(bytes: &[u8], index: usize) -> Result<&[u8], SerializedError> {
    let short = || wrong("the file ends too early");
    let header = bytes.get(..4).ok_or_else(short)?;
    let word = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    if word(0) != MAGIC {
        return Err(wrong("it is no .serialized file: it should begin with 1c 04"));
    }
    let version = word(2);
    let width = match version {
        3 => 4,
        4 => 8,
        other => return Err(wrong(format!("it is of version {other}; versions 3 and 4 are read"))),
    };
    let end = bytes.len().checked_sub(4).ok_or_else(short)?;
    let count = u32::from_le_bytes([bytes[end], bytes[end + 1], bytes[end + 2], bytes[end + 3]]) as usize;
    let table = count.checked_mul(width).and_then(|size| end.checked_sub(size)).ok_or_else(short)?;
    if index >= count {
        return Err(wrong(format!("it has {count} meshes; there is no number {index}, counted from 0")));
    }
    let offset = |i: usize| -> usize {
        let mut word = [0; 8];
        word[..width].copy_from_slice(&bytes[table + i * width..table + (i + 1) * width]);
        usize::try_from(u64::from_le_bytes(word)).unwrap_or(usize::MAX)
    };
    let after = if index + 1 < count { offset(index + 1).min(table) } else { table };
    match bytes.get(offset(index)..after) {
        Some(stream) if stream.len() >= 4 && stream[..4] == header[..4] => Ok(stream),
        _ => Err(wrong(format!("there is no mesh where the file says that number {index} is"))),
    }
}

/// Reads uncompressed data.
struct Reader<R> {
    data: Take<R>,
}

impl<R: Read> Reader<R> {
    fn mesh(&mut self, version: u16) -> Result<TriangleMesh, SerializedError> {
        let flags = u32::from_le_bytes(self.array()?);
        if version >= 4 {
            let mut left = LONGEST_NAME;
            while self.array::<1>()? != [0] {
                left = left.checked_sub(1).ok_or_else(|| wrong("the name of a mesh is too long"))?;
            }
        }
        let (vertices, triangles) = (u64::from_le_bytes(self.array()?), u64::from_le_bytes(self.array()?));
        let number = if flags & IS_DOUBLE != 0 { 8 } else { 4 };
        let per_vertex = 3 + [(HAS_NORMALS, 3), (HAS_UVS, 2), (HAS_COLORS, 3)]
            .iter()
            .map(|(flag, n)| if flags & flag != 0 { *n } else { 0 })
            .sum::<u128>();
        let needed = u128::from(vertices) * per_vertex * number + u128::from(triangles) * 12;
        let most = u128::from(self.data.limit());
        let most = available_memory().map_or(most, |bytes| bytes.min(most));
        if needed > most || vertices > u32::MAX.into() {
            let [needed, most] = [needed, most].map(human_bytes);
            let size = format!("it has {vertices} vertices and {triangles} triangles, which take {needed}");
            return Err(wrong(format!("{size}; the most in a file of that size is {most}")));
        }
        let with = |flag| if flags & flag == 0 { 0 } else { vertices };
        let positions = self.vectors(vertices, flags, "position", Vec3::from_array)?;
        let normals = self.vectors(with(HAS_NORMALS), flags, "normal", Vec3::from_array)?;
        let uvs = self.vectors(with(HAS_UVS), flags, "texture coordinate", Vec2::from_array)?;
        // Mitsuba 3 does not read them.
        self.vectors(with(HAS_COLORS), flags, "colour", Vec3::from_array)?;
        let triangles = self.triangles(triangles, vertices)?;
        Ok(TriangleMesh { positions, normals, uvs, triangles, ..TriangleMesh::default() })
    }

    /// Vectors of `N` numbers, finite and not absurd.
    fn vectors<const N: usize, T>(
        &mut self,
        count: u64,
        flags: u32,
        what: &'static str,
        vector: impl Fn([f32; N]) -> T,
    ) -> Result<Vec<T>, SerializedError> {
        // Memory follows what is read, so that what the file says of its size costs nothing.
        let mut out = Vec::new();
        for i in 0..count {
            let mut numbers = [0.0; N];
            for x in &mut numbers {
                *x = match flags & IS_DOUBLE {
                    0 => f32::from_le_bytes(self.array()?),
                    _ => f64::from_le_bytes(self.array()?) as f32,
                };
                if x.is_nan() || x.abs() > MAX_COORDINATE {
                    let message =
                        format!("{what} {i} has the number {x}, which is beyond {MAX_COORDINATE:e}");
                    return Err(wrong(message));
                }
            }
            out.push(vector(numbers));
        }
        Ok(out)
    }

    fn triangles(&mut self, count: u64, vertices: u64) -> Result<Vec<[u32; 3]>, SerializedError> {
        let mut out = Vec::new();
        for i in 0..count {
            let mut triangle = [0; 3];
            for index in &mut triangle {
                *index = u32::from_le_bytes(self.array()?);
                if u64::from(*index) >= vertices {
                    let message = format!("triangle {i} has vertex {index}; there are {vertices}, from 0");
                    return Err(wrong(message));
                }
            }
            out.push(triangle);
        }
        Ok(out)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SerializedError> {
        let mut out = [0; N];
        match self.data.read_exact(&mut out) {
            Ok(()) => Ok(out),
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => {
                Err(wrong("the data of the mesh ends too early"))
            }
            Err(_) => Err(wrong("the data of the mesh cannot be decompressed")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use std::io::Write;

    /// A mesh of a quadrilateral with normals and texture coordinates, uncompressed.
    fn mesh(version: u16, flags: u32) -> Vec<u8> {
        let mut out = flags.to_le_bytes().to_vec();
        if version == 4 {
            out.extend(b"name\0");
        }
        out.extend(4_u64.to_le_bytes());
        out.extend(2_u64.to_le_bytes());
        let corners = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 1.0]];
        let mut numbers: Vec<f64> = corners.iter().flatten().copied().collect();
        if flags & HAS_NORMALS != 0 {
            numbers.extend([0.0, 0.0, 2.0].repeat(4));
        }
        if flags & HAS_UVS != 0 {
            numbers.extend([0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0]);
        }
        if flags & HAS_COLORS != 0 {
            numbers.extend([0.5; 12]);
        }
        for x in numbers {
            match flags & IS_DOUBLE {
                0 => out.extend((x as f32).to_le_bytes()),
                _ => out.extend(x.to_le_bytes()),
            }
        }
        out.extend([0_u32, 1, 2, 0, 2, 3].iter().flat_map(|i| i.to_le_bytes()));
        out
    }

    /// A file of compressed meshes.
    fn file(version: u16, meshes: &[Vec<u8>]) -> Vec<u8> {
        let (mut out, mut offsets) = (Vec::new(), Vec::new());
        for mesh in meshes {
            let offset = out.len() as u64;
            offsets.extend_from_slice(&offset.to_le_bytes()[..if version == 4 { 8 } else { 4 }]);
            out.extend([MAGIC, version].iter().flat_map(|x| x.to_le_bytes()));
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(mesh).unwrap();
            out.extend(encoder.finish().unwrap());
        }
        out.extend(offsets);
        out.extend((meshes.len() as u32).to_le_bytes());
        out
    }

    /// A good file of two meshes.
    fn example() -> Vec<u8> {
        file(4, &[mesh(4, HAS_NORMALS | HAS_UVS), mesh(4, IS_DOUBLE)])
    }

    #[test]
    fn meshes_are_read() {
        for version in [3, 4] {
            let all = HAS_NORMALS | HAS_UVS | HAS_COLORS;
            let kinds = [0, HAS_NORMALS | HAS_UVS, all, all | IS_DOUBLE];
            let file = file(version, &kinds.map(|flags| mesh(version, flags)));
            for (i, flags) in kinds.into_iter().enumerate() {
                let mesh = read(&file, i).unwrap();
                assert_eq!(mesh.positions[3], Vec3::new(-1.0, 1.0, 1.0));
                assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
                assert_eq!(mesh.normals.len(), if flags & HAS_NORMALS != 0 { 4 } else { 0 });
                assert_eq!(mesh.uvs.get(2).copied(), (flags & HAS_UVS != 0).then_some(Vec2::ONE));
            }
            let message = read(&file, 4).unwrap_err().to_string();
            assert_eq!(message, "it has 4 meshes; there is no number 4, counted from 0");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let good = example();
        let mut version = good.clone();
        version[2] = 5;
        let mut moved = good.clone();
        let table = moved.len() - 20;
        moved[table] = 1;
        let mut cut = mesh(4, 0);
        cut.truncate(40);
        let mut far = mesh(4, 0);
        far[4 + 5 + 16..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
        let mut index = mesh(4, 0);
        let end = index.len();
        index[end - 4..].copy_from_slice(&4_u32.to_le_bytes());
        let mut bomb = mesh(4, 0);
        bomb[4 + 5..][..8].copy_from_slice(&(1_u64 << 40).to_le_bytes());
        let mut garbled = good.clone();
        garbled[5..30].fill(0xff);
        for (bytes, message) in [
            (&b""[..], "the file ends too early"),
            (&good[1..], "it is no .serialized file: it should begin with 1c 04"),
            (&version, "it is of version 5; versions 3 and 4 are read"),
            (&good[..good.len() - 4], "it has 0 meshes; there is no number 0, counted from 0"),
            (&moved, "there is no mesh where the file says that number 0 is"),
            (&file(4, &[cut]), "the data of the mesh ends too early"),
            (&file(4, &[far]), "position 0 has the number NaN, which is beyond 1e9"),
            (&file(4, &[index]), "triangle 1 has vertex 4; there are 4, from 0"),
            (
                &file(4, &[bomb]),
                "it has 1099511627776 vertices and 2 triangles, which take 12 TiB; the most in a file of that size is 16 MiB",
            ),
            (&garbled, "the data of the mesh cannot be decompressed"),
        ] {
            assert_eq!(read(bytes, 0).unwrap_err().to_string(), message);
        }
    }
}
