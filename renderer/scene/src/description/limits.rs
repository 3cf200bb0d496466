//! Limits on sizes, brightness and lengths, and the reasons for them.
//!
//! Scenes may come from strangers. Beside images, loading one takes at most 64 MiB of memory and 256 bytes for each
//! byte of its files, a mesh file counted for every shape that has it. An image takes up to 48 bytes a texel while it
//! is decoded. The tests of malformed files hold loading to that.

use std::fmt;
use std::sync::LazyLock;

use glam::Vec3;
pub use torrance_system::available_memory;
use torrance_text::human_bytes;

/// Largest coordinate, metres. Traversal and area sampling form the squared length of cross products of edges:
/// four coordinates multiplied, which stays below the largest `f32` (3.4·10³⁸) up to here.
pub const MAX_COORDINATE: f32 = 1e9;

/// Shortest length of what has to be longer than 0, metres.
pub const MIN_LENGTH: f32 = 1.0 / MAX_COORDINATE;

/// Largest radiance, W·sr⁻¹·m⁻², fifty times that of the sun's disk; its square summed over every sample
/// of a pixel stays finite in `f32`.
pub const MAX_RADIANCE: f32 = 1e9;

/// Smallest alpha of a rough surface. Below, the lobe is narrower than `f32` directions can place it.
pub const MIN_ALPHA: f32 = 1e-4;

/// Largest index of refraction or extinction; no metal exceeds 100.
pub const MAX_IOR: f32 = 1000.0;

/// Most samples per pixel.
pub const MAX_SPP: u32 = 1 << 30;

/// Longest path.
pub const MAX_DEPTH: u32 = 1000;

/// Least radiance that indirect light may be clamped to.
pub const LEAST_CLAMP: f32 = 1e-6;

/// Largest one.
pub const MOST_CLAMP: f32 = 1e9;

/// Largest scene file; meshes are files of their own.
pub const MAX_SCENE_BYTES: u64 = 64 << 20;

/// Largest file of a spectrum, which has a million lines at most.
pub const MAX_SPECTRUM_BYTES: u64 = 64 << 20;

/// Largest mesh file: some fifty million triangles, several times as much in memory.
pub const MAX_MESH_BYTES: u64 = 4 << 30;

/// Largest image file of a texture.
pub const MAX_IMAGE_BYTES: u64 = 1 << 30;

/// Most textures inside one another.
pub const MAX_TEXTURE_LEVELS: usize = 8;

/// Most places of groups.
pub const MAX_INSTANCES: usize = 1 << 24;

/// Longest side of a texture, texels.
pub const MAX_IMAGE_SIDE: u32 = 32767;

/// Most texels of a texture: 16384 by 16384, which take 1 GiB as bytes and 3 GiB as floats.
pub const MAX_IMAGE_TEXELS: u64 = 1 << 28;

/// Most texels of a texture in a file of any size: 4096 by 4096, also if all are alike.
pub const MAX_BLANK_TEXELS: u64 = 1 << 24;

/// Most texels for each byte of the file, where there are more: JPEG files of photographs have some ten.
pub const MAX_TEXELS_PER_BYTE: u64 = 64;

/// Most bytes of a mesh that is compressed to almost nothing.
const MAX_BLANK_MESH_BYTES: u64 = 16 << 20;

/// Most bytes for each compressed one of a mesh, where there are more: meshes rarely shrink to a tenth.
const MAX_MESH_RATIO: u64 = 64;

/// Most bytes that `packed` compressed ones of a mesh may come to.
pub fn max_unpacked_mesh(packed: usize) -> u64 {
    (MAX_MESH_RATIO * packed as u64).clamp(MAX_BLANK_MESH_BYTES, MAX_MESH_BYTES)
}

/// Memory that one pixel takes: its sums as the back end keeps them (56 bytes), the same once more on its
/// way to the host, and the totals there (88 bytes).
pub const BYTES_PER_PIXEL: u128 = 56 + 56 + 88;

/// Memory that one pixel takes beside that where light is kept by how often it has scattered: two more films.
pub const BYTES_PER_PIXEL_OF_SHORTER: u128 = 2 * BYTES_PER_PIXEL;

/// Most memory that an image may take on any machine.
pub const MAX_FILM_BYTES: u128 = 64 << 30;

/// Why an image size cannot be rendered, in one line without a position in the scene file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// A side is 0.
    #[error("an image of {0}×{1} pixels is empty; both sides must be at least 1")]
    Empty(u64, u64),
    /// It is more than [`MAX_FILM_BYTES`].
    #[error("{0}; the limit is {limit}", limit = human_bytes(MAX_FILM_BYTES))]
    TooLarge(Film),
    /// It is more than the available memory, bytes.
    #[error("{0}; this machine has {available} available", available = human_bytes(*.1))]
    NoMemory(Film, u128),
}

impl From<SizeError> for String {
    fn from(error: SizeError) -> Self {
        error.to_string()
    }
}

/// The film of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Film {
    width: u64,
    height: u64,
    bytes_per_pixel: u128,
}

impl Film {
    fn bytes(&self) -> u128 {
        (u128::from(self.width) * u128::from(self.height)).saturating_mul(self.bytes_per_pixel)
    }
}

impl fmt::Display for Film {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { width, height, bytes_per_pixel } = self;
        let bytes = human_bytes(self.bytes());
        write!(
            f,
            "an image of {width}×{height} pixels would need {bytes} of memory ({bytes_per_pixel} bytes a pixel)"
        )
    }
}

/// Checks an image size before anything is allocated for it.
///
/// # Errors
/// [`SizeError`].
pub fn check_size(width: impl Into<u64>, height: impl Into<u64>) -> Result<(), SizeError> {
    let (width, height) = (width.into(), height.into());
    if width == 0 || height == 0 {
        return Err(SizeError::Empty(width, height));
    }
    let film = Film { width, height, bytes_per_pixel: BYTES_PER_PIXEL };
    if film.bytes() > MAX_FILM_BYTES { Err(SizeError::TooLarge(film)) } else { Ok(()) }
}

/// What a render takes beside its film: the program and a small scene, bytes.
const BYTES_OF_PROGRAM: u128 = 8 << 20;

/// What each of its threads takes: the paths that it follows side by side, and its stack, bytes.
const BYTES_PER_THREAD: u128 = 1 << 20;

/// Memory that the film of a render may take, bytes: what is available, less what the render takes beside it on all of this
/// machine's threads. `None` where the system tells nothing.
pub fn memory_for_film() -> Option<u128> {
    static THREADS: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    let threads = *THREADS as u128;
    Some(available_memory()?.saturating_sub(BYTES_OF_PROGRAM + threads * BYTES_PER_THREAD))
}

/// Checks that the film of an image that is to be rendered, of which a pixel takes `bytes_per_pixel`, fits in `available`
/// bytes of memory, or in any if that is unknown. Unlike that of [`check_size`], the answer depends on the machine: an
/// image size that is about to be overridden must not be asked about.
///
/// # Errors
/// [`SizeError`].
pub fn check_memory(
    width: u32,
    height: u32,
    bytes_per_pixel: u128,
    available: Option<u128>,
) -> Result<(), SizeError> {
    let film = Film { width: width.into(), height: height.into(), bytes_per_pixel };
    match available {
        Some(available) if film.bytes() > available => Err(SizeError::NoMemory(film, available)),
        _ => Ok(()),
    }
}

/// Whether a triangle, or parallelogram, of these edges has no area that `f32` can represent, so that
/// its normal is undefined.
pub fn is_degenerate(e1: Vec3, e2: Vec3) -> bool {
    let squared_area = e1.cross(e2).length_squared();
    !(squared_area >= f32::MIN_POSITIVE && squared_area.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(check_size(1u32, 1u32), Ok(()));
        assert_eq!(check_size(16384u32, 16384u32), Ok(()));
        assert!(check_size(0u32, 5u32).unwrap_err().to_string().contains("empty"));
        assert!(check_size(1_000_000u32, 1_000_000u32).unwrap_err().to_string().contains("181.9 TiB"));
        assert!(check_size(u64::MAX, u64::MAX).is_err());
    }

    #[test]
    fn films_fit_in_memory() {
        let available = 200 * 1000;
        assert_eq!(check_memory(20, 50, BYTES_PER_PIXEL, Some(available)), Ok(()));
        assert_eq!(check_memory(u32::MAX, u32::MAX, BYTES_PER_PIXEL, None), Ok(()));
        let message = "an image of 16384×16384 pixels would need 50 GiB of memory (200 bytes a pixel); \
                       this machine has 15.5 GiB available";
        assert_eq!(
            check_memory(16384, 16384, BYTES_PER_PIXEL, Some(31 << 29)).map_err(String::from),
            Err(message.into())
        );
        assert!(check_memory(20, 51, BYTES_PER_PIXEL, Some(available)).is_err());
    }

    #[test]
    fn largest_coordinates_keep_an_area() {
        let m = MAX_COORDINATE;
        let (a, b, c) = (Vec3::new(-m, -m, -m), Vec3::new(m, m, -m), Vec3::new(m, -m, m));
        assert!(!is_degenerate(b - a, c - a));
        assert!(is_degenerate(Vec3::X, Vec3::X * 2.0));
        assert!(is_degenerate(Vec3::X * 1e-10, Vec3::Y * 1e-10));
        assert!(is_degenerate(Vec3::NAN, Vec3::Y));
    }
}
