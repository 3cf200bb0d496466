//! KTX 2 files of Basis Universal: ETC1S, UASTC and what else its transcoder reads.

use basisu::{DecodeFlags, TargetFormat, Transcoder};
use half::f16;
use image::{DynamicImage, Rgba32FImage, RgbaImage};
use torrance_system::caught;

use super::ImageError;
use super::decode::{check_ratio, check_size, undecodable};

const IDENTIFIER: &[u8] = b"\xABKTX 20\xBB\r\n\x1A\n";

const NAME: &str = "KTX2";

/// Supercompression by Zstandard.
const ZSTANDARD: u32 = 2;

/// Vulkan's formats of ASTC, which Basis Universal reads as well.
const ASTC_FIRST: u32 = 157;
const ASTC_LAST: u32 = 184;

/// Whether bytes are a KTX 2 file.
pub(super) fn is_ktx2(bytes: &[u8]) -> bool {
    bytes.starts_with(IDENTIFIER)
}

/// What the header says (KTX 2.0, section 3), as far as it is needed before anything is decoded.
struct Header {
    /// 0 for most textures of Basis Universal.
    vulkan_format: u32,
    width: u32,
    height: u32,
    depth: u32,
    layers: u32,
    faces: u32,
    supercompression: u32,
    /// Bytes of the largest image before supercompression.
    uncompressed: u64,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        Some(Self {
            vulkan_format: word(12)?,
            width: word(20)?,
            height: word(24)?,
            depth: word(28)?,
            layers: word(32)?,
            faces: word(36)?,
            supercompression: word(44)?,
            // The third number of the first entry of the index of levels.
            uncompressed: long(96)?,
        })
    }
}

/// Decodes the largest image of a file.
pub(super) fn decode(bytes: &[u8]) -> Result<DynamicImage, ImageError> {
    let header = Header::read(bytes).ok_or_else(|| ImageError::Broken(NAME, "ends too early".to_owned()))?;
    let Header { width, height, .. } = header;
    if header.depth > 0 || header.layers > 1 || header.faces != 1 {
        return Err(ImageError::Format("KTX2 with several images".to_owned()));
    }
    let texels = u64::from(width) * u64::from(height);
    check_size(width, height, texels.saturating_mul(4))?;
    check_ratio(texels, bytes.len())?;
    // Blocks, of 16 bytes for 4×4 texels or more, may reach beyond the edges.
    let most = u64::from(width.next_multiple_of(12)) * u64::from(height.next_multiple_of(12));
    let may_be_basis = matches!(header.vulkan_format, 0 | ASTC_FIRST..=ASTC_LAST);
    if may_be_basis && header.supercompression == ZSTANDARD && header.uncompressed > most {
        return Err(undecodable(NAME, "its level is larger than its image"));
    }
    let damaged = undecodable(NAME, "its texels are damaged");
    caught(|| transcode(bytes, &header)).unwrap_or(Err(damaged))
}

/// The largest image of a file, whose size is allowed. The transcoder does not stand all damage.
fn transcode(bytes: &[u8], header: &Header) -> Result<DynamicImage, ImageError> {
    let Header { width, height, .. } = *header;
    let transcoder = Transcoder::new(bytes).map_err(|_| match header.vulkan_format {
        0 | ASTC_FIRST..=ASTC_LAST => undecodable(NAME, "it is no texture of Basis Universal, or damaged"),
        format => ImageError::Format(format!("KTX2 of the Vulkan format {format}")),
    })?;
    let is_hdr = !transcoder.supports(TargetFormat::Rgba32);
    let target = if is_hdr { TargetFormat::RgbaHalf } else { TargetFormat::Rgba32 };
    let texels = transcoder
        .transcode(0, target, DecodeFlags::NONE)
        .map_err(|_| undecodable(NAME, "its texels are damaged"))?;
    let image = if is_hdr {
        let floats = texels.as_chunks::<2>().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32());
        Rgba32FImage::from_raw(width, height, floats.collect()).map(Into::into)
    } else {
        RgbaImage::from_raw(width, height, texels).map(Into::into)
    };
    image.ok_or_else(|| undecodable(NAME, "texels are missing"))
}
