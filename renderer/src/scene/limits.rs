//! How large, small, bright or long things may be, and why.

use glam::Vec3;

/// Largest coordinate, metres. Traversal and area sampling form the squared length of cross products of edges:
/// four coordinates multiplied, which stays below the largest `f32` (3.4·10³⁸) up to here.
pub const MAX_COORDINATE: f32 = 1e9;

/// Largest radiance, W·sr⁻¹·m⁻², fifty times that of the sun's disk; its square summed over every sample
/// of a pixel stays finite in `f32`.
pub const MAX_RADIANCE: f32 = 1e9;

/// Smallest GGX alpha of a conductor. Below, the lobe is narrower than `f32` directions can place it.
pub const MIN_ALPHA: f32 = 1e-4;

/// Largest index of refraction or extinction; no metal exceeds 100.
pub const MAX_IOR: f32 = 1000.0;

/// Most samples per pixel.
pub const MAX_SPP: u32 = 1 << 30;

/// Longest path.
pub const MAX_DEPTH: u32 = 1000;

/// Largest scene file; meshes are files of their own.
pub const MAX_SCENE_BYTES: u64 = 64 << 20;

/// Memory that one pixel takes: its sums as the back end keeps them (56 bytes), the same once more on its
/// way to the host, and the totals there (64 bytes).
pub const BYTES_PER_PIXEL: u128 = 56 + 56 + 64;

/// Most memory that an image may take.
pub const MAX_FILM_BYTES: u128 = 64 << 30;

/// Checks an image size before anything is allocated for it. The error is one line without a place.
pub fn check_size(width: impl Into<u64>, height: impl Into<u64>) -> Result<(), String> {
    let (width, height) = (width.into(), height.into());
    if width == 0 || height == 0 {
        return Err(format!("an image of {width}×{height} pixels is empty; both sides must be at least 1"));
    }
    let bytes = (u128::from(width) * u128::from(height)).saturating_mul(BYTES_PER_PIXEL);
    if bytes > MAX_FILM_BYTES {
        return Err(format!(
            "an image of {width}×{height} pixels would need {} of memory ({BYTES_PER_PIXEL} bytes a pixel); \
             the limit is {}",
            human_bytes(bytes),
            human_bytes(MAX_FILM_BYTES),
        ));
    }
    Ok(())
}

/// Bytes in the largest binary unit that leaves at least 1: `1.6 TiB`.
pub fn human_bytes(bytes: u128) -> String {
    const UNITS: [&str; 7] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB"];
    let mut value = bytes as f64;
    if value < 1024.0 {
        return format!("{bytes} bytes");
    }
    let mut unit = "";
    for u in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = u;
    }
    let text = format!("{value:.1}");
    format!("{} {unit}", text.strip_suffix(".0").unwrap_or(&text))
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
        assert!(check_size(0u32, 5u32).unwrap_err().contains("empty"));
        assert!(check_size(1_000_000u32, 1_000_000u32).unwrap_err().contains("160.1 TiB"));
        assert!(check_size(u64::MAX, u64::MAX).is_err());
    }

    #[test]
    fn bytes() {
        assert_eq!(human_bytes(5), "5 bytes");
        assert_eq!(human_bytes(64 << 30), "64 GiB");
        assert_eq!(human_bytes(1536), "1.5 KiB");
        assert_eq!(human_bytes(1 << 80), "1024 ZiB");
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
