//! Every format and number of channels, and damaged files.

use std::io::Cursor;

use half::f16;
use image::{
    DynamicImage, GrayImage, ImageBuffer, ImageFormat, Luma, LumaA, Rgb, Rgb32FImage, RgbImage, Rgba,
    Rgba32FImage, RgbaImage,
};
use torrance_image::film::develop::srgb_decode;

use super::*;
use crate::description::Format;
use crate::description::limits::MAX_RADIANCE;

const LINEAR: Meaning = Meaning { is_srgb: false, is_alpha: false, range: Range::Unit };
const SRGB: Meaning = Meaning { is_srgb: true, ..LINEAR };
const ALPHA: Meaning = Meaning { is_alpha: true, ..LINEAR };
const HEIGHT: Meaning = Meaning { range: Range::Height, ..LINEAR };
const RADIANCE: Meaning = Meaning { range: Range::Radiance, ..LINEAR };

fn encoded(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn load(bytes: &[u8], meaning: Meaning) -> Result<DecodedImage, ImageError> {
    parse(bytes, true, meaning)
}

fn image(bytes: &[u8], meaning: Meaning) -> Image {
    let read = load(bytes, meaning).unwrap();
    assert_eq!(read.warning, None);
    read.image
}

fn floats(image: &Image) -> Vec<f32> {
    let half = |x: u32| f16::from_bits(x as u16).to_f32();
    match image.format {
        Format::RgbF32 => image.texels.iter().map(|x| f32::from_bits(*x)).collect(),
        Format::RgbaF16 => {
            image.texels.chunks(2).flat_map(|w| [half(w[0]), half(w[0] >> 16), half(w[1])]).collect()
        }
        format => panic!("{format:?}"),
    }
}

#[test]
fn bytes_stay_bytes() {
    let png = encoded(RgbImage::from_fn(2, 3, |x, y| Rgb([x as u8, y as u8, 9])), ImageFormat::Png);
    let read = image(&png, SRGB);
    assert_eq!((read.width, read.height, read.format), (2, 3, Format::Srgb8));
    let expected: Vec<u32> = (0..6).map(|i| 0xff09_0000 | (i / 2) << 8 | (i % 2)).collect();
    assert_eq!(*read.texels, expected);
    assert_eq!(image(&png, LINEAR).format, Format::Rgba8);
    let grey = encoded(GrayImage::from_pixel(1, 1, Luma([7])), ImageFormat::Png);
    assert_eq!(*image(&grey, LINEAR).texels, [0xff07_0707]);
    let with_alpha = encoded(RgbaImage::from_pixel(1, 1, Rgba([1, 2, 3, 4])), ImageFormat::Png);
    assert_eq!(*image(&with_alpha, SRGB).texels, [0x0403_0201]);
    assert_eq!(*image(&with_alpha, ALPHA).texels, [0x0403_0201]);
    let grey: ImageBuffer<LumaA<u8>, _> = ImageBuffer::from_pixel(1, 1, LumaA([5, 6]));
    assert_eq!(*image(&encoded(grey, ImageFormat::Png), LINEAR).texels, [0x0605_0505]);
}

/// A PNG of 2 by 1 pixels with one bit each, into a palette whose second colour is half transparent.
#[test]
fn palettes_are_looked_up() {
    let png = png(&[
        (*b"IHDR", &[0, 0, 0, 2, 0, 0, 0, 1, 1, 3, 0, 0, 0]),
        (*b"PLTE", &[1, 2, 3, 250, 251, 252]),
        (*b"tRNS", &[255, 128]),
        // A stored block of two bytes, no filter and the bits 01, and its Adler-32.
        (*b"IDAT", &[0x78, 0x01, 1, 2, 0, 0xfd, 0xff, 0, 0x40, 0, 0x42, 0, 0x41]),
        (*b"IEND", &[]),
    ]);
    assert_eq!(*image(&png, SRGB).texels, [0xff03_0201, 0x80fc_fbfa]);
}

#[test]
fn what_is_finer_than_bytes_stays_so() {
    let values = [0_u16, 1, 300, 32768, 65534, 65535];
    let pixel = |x: u32, _| Rgb([values[x as usize], values[5 - x as usize], 0]);
    let png = encoded(DynamicImage::ImageRgb16(ImageBuffer::from_fn(6, 1, pixel)), ImageFormat::Png);
    for (meaning, decode) in [(LINEAR, (|x| x) as fn(f64) -> f64), (SRGB, srgb_decode)] {
        for (i, found) in floats(&image(&png, meaning)).chunks(3).enumerate() {
            let expected = [values[i], values[5 - i], 0].map(|x| decode(f64::from(x) / 65535.0));
            for (a, b) in found.iter().zip(expected) {
                assert!((f64::from(*a) - b).abs() < 1e-7, "{found:?}, not {expected:?}");
            }
        }
    }
    let grey: ImageBuffer<Luma<u16>, _> = ImageBuffer::from_pixel(1, 1, Luma([13107]));
    let grey = encoded(DynamicImage::ImageLuma16(grey), ImageFormat::Png);
    assert!(floats(&image(&grey, LINEAR)).iter().all(|x| (x - 0.2).abs() < 1e-7));
    let clear: ImageBuffer<Rgba<u16>, _> = ImageBuffer::from_pixel(1, 1, Rgba([9, 9, 9, 52428]));
    let clear = encoded(DynamicImage::ImageRgba16(clear), ImageFormat::Png);
    assert!(floats(&image(&clear, ALPHA)).iter().all(|x| (x - 0.8).abs() < 1e-7));
}

#[test]
fn floats_are_linear_whatever_is_said() {
    let pixels = |x: u32, y: u32| Rgb([0.25 * x as f32, 0.125 * y as f32, 0.75]);
    let expected: Vec<f32> = (0..6).flat_map(|i| pixels(i % 3, i / 3).0).collect();
    for format in [ImageFormat::OpenExr, ImageFormat::Hdr] {
        let bytes = encoded(Rgb32FImage::from_fn(3, 2, pixels), format);
        for meaning in [LINEAR, SRGB, HEIGHT] {
            let read = image(&bytes, meaning);
            assert_eq!((read.width, read.height), (3, 2));
            let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 0.004;
            assert!(floats(&read).iter().zip(&expected).all(near), "{:?} {format:?}", floats(&read));
        }
    }
    let clear = encoded(Rgba32FImage::from_pixel(1, 1, Rgba([0.1, 0.2, 0.3, 0.5])), ImageFormat::OpenExr);
    assert_eq!(floats(&image(&clear, ALPHA)), [0.5; 3]);
}

#[test]
fn jpegs_are_read() {
    let jpeg = encoded(RgbImage::from_pixel(16, 8, Rgb([200, 100, 50])), ImageFormat::Jpeg);
    let read = image(&jpeg, SRGB);
    assert_eq!((read.width, read.height, read.format), (16, 8, Format::Srgb8));
    let near = |t: &u32| t.to_le_bytes().iter().zip([200, 100, 50, 255]).all(|(a, b)| a.abs_diff(b) <= 3);
    assert!(read.texels.iter().all(near), "{:x?}", read.texels);
}

/// The library writes them without loss.
#[test]
fn webp_files_are_read() {
    let pixels = |x: u32, y: u32| Rgb([(x * 16) as u8, (y * 30) as u8, 7]);
    let [webp, png] =
        [ImageFormat::WebP, ImageFormat::Png].map(|format| encoded(RgbImage::from_fn(16, 8, pixels), format));
    assert_eq!(image(&webp, SRGB), image(&png, SRGB));
    assert_ne!(webp, png);
}

/// No texture moves; and the library fails at damaged animations.
#[test]
fn animated_webp_files_are_refused() {
    let still = encoded(RgbImage::new(1, 1), ImageFormat::WebP);
    let canvas = [&b"VP8X\x0a\0\0\0"[..], &[0b10, 0, 0, 0, 0, 0, 0, 0, 0, 0]].concat();
    let animation = [&b"ANIM\x06\0\0\0"[..], &[0; 6]].concat();
    let frame = [&[0; 12][..], &[100, 0, 0, 0], &still[12..]].concat();
    let frame = [&b"ANMF"[..], &(frame.len() as u32).to_le_bytes(), &frame].concat();
    let chunks = [&b"WEBP"[..], &canvas, &animation, &frame].concat();
    let file = [&b"RIFF"[..], &(chunks.len() as u32).to_le_bytes(), &chunks].concat();
    let message = load(&file, LINEAR).map(|_| ()).unwrap_err().to_string();
    assert!(message.starts_with("it is in the format animated WebP, which is not read; PNG, "), "{message}");
}

/// A canvas may be larger than any image in it. Of 2³² pixels no byte is allocated.
#[test]
fn webp_files_that_say_they_are_huge_are_refused() {
    let claims = |width: u32, height: u32| {
        let sizes = [width, height].map(|n| (n - 1).to_le_bytes());
        let canvas = [&[0; 4][..], &sizes[0][..3], &sizes[1][..3]].concat();
        let pixels = encoded(RgbImage::new(1, 1), ImageFormat::WebP);
        let chunks = [b"WEBPVP8X\x0a\0\0\0", &canvas[..], &pixels[12..]].concat();
        let file = [b"RIFF", &(chunks.len() as u32).to_le_bytes()[..], &chunks].concat();
        load(&file, LINEAR).map(|_| ()).unwrap_err().to_string()
    };
    for (width, height) in [(1 << 16, 1 << 16), (1 << 24, 255), (40_000, 1), (16_384, 16_384)] {
        let message = claims(width, height);
        assert!(message.starts_with("it has ") || message.starts_with("the WebP file "), "{message}");
    }
}

#[test]
fn numbers_out_of_range_are_brought_back_or_refused() {
    let exr = |r| encoded(Rgb32FImage::from_pixel(2, 1, Rgb([r, 0.5, 0.25])), ImageFormat::OpenExr);
    for (r, expected) in [(1.5, 1.0), (-0.5, 0.0)] {
        let read = load(&exr(r), LINEAR).unwrap();
        let message = "has pixels outside 0 to 1, which are brought there; the first is in column 0 of row 0";
        assert_eq!(read.warning.as_deref(), Some(message));
        assert_eq!(floats(&read.image), [expected, 0.5, 0.25, expected, 0.5, 0.25]);
        assert_eq!(floats(&image(&exr(r), HEIGHT))[0], r);
    }
    let refused = |r, meaning| load(&exr(r), meaning).map(|_| ()).unwrap_err().to_string();
    assert_eq!(refused(f32::NAN, LINEAR), "the pixel in column 0 of row 0 is not a number (NaN)");
    assert_eq!(refused(f32::INFINITY, HEIGHT), "the pixel in column 0 of row 0 is infinite");
    assert_eq!(refused(-1e10, HEIGHT), "the height in column 0 of row 0 is -1e10; the most is 1e9");
}

#[test]
fn alpha_has_to_be_there() {
    for (bytes, meaning) in [
        (encoded(RgbImage::new(1, 1), ImageFormat::Png), ALPHA),
        (encoded(Rgb32FImage::new(1, 1), ImageFormat::OpenExr), ALPHA),
    ] {
        assert_eq!(load(&bytes, meaning).map(|_| ()), Err(ImageError::NoAlpha));
    }
}

#[test]
fn light_may_be_bright_but_not_negative() {
    let exr = |r| encoded(Rgb32FImage::from_pixel(1, 1, Rgb([r, 0.5, 0.0])), ImageFormat::OpenExr);
    assert_eq!(floats(&image(&exr(4096.0), RADIANCE))[0], 4096.0);
    for (r, expected) in [(-2.0, 0.0), (2e9, MAX_RADIANCE)] {
        let read = load(&exr(r), RADIANCE).unwrap();
        let message =
            "has pixels outside 0 to 1000000000, which are brought there; the first is in column 0 of row 0";
        assert_eq!(read.warning.as_deref(), Some(message));
        assert_eq!(floats(&read.image)[0], expected);
    }
}

/// Halves hold what halves or eight bits with a common exponent held, and alpha; nothing is rounded to them.
#[test]
fn what_halves_hold_is_kept_as_halves() {
    let format = |x: f32| {
        image(&encoded(Rgb32FImage::from_pixel(1, 1, Rgb([x; 3])), ImageFormat::OpenExr), LINEAR).format
    };
    assert_eq!(
        (format(0.5), format(2.0_f32.powi(-24)), format(0.3)),
        (Format::RgbaF16, Format::RgbaF16, Format::RgbF32)
    );
    let hdr = encoded(Rgb32FImage::from_pixel(1, 1, Rgb([0.3, 0.01, 0.7])), ImageFormat::Hdr);
    assert_eq!(image(&hdr, LINEAR).format, Format::RgbaF16);
    let clear = encoded(Rgba32FImage::from_pixel(1, 1, Rgba([0.25, 0.5, 1.0, 0.125])), ImageFormat::OpenExr);
    assert_eq!(*image(&clear, LINEAR).texels, [0x3800_3400, 0x3000_3c00]);
}

/// TGA files of grey, of colours with and without alpha, and of equal pixels told once.
#[test]
fn tgas_are_read_by_their_name() {
    let read = |image: DynamicImage| image_of(&encoded(image, ImageFormat::Tga));
    fn image_of(bytes: &[u8]) -> Vec<u32> {
        image(bytes, SRGB).texels.to_vec()
    }
    assert_eq!(read(RgbImage::from_pixel(2, 1, Rgb([1, 2, 3])).into()), [0xff03_0201; 2]);
    assert_eq!(read(RgbaImage::from_pixel(1, 1, Rgba([1, 2, 3, 4])).into()), [0x0403_0201]);
    assert_eq!(read(GrayImage::from_pixel(1, 1, Luma([7])).into()), [0xff07_0707]);
    // Three pixels told as one, from the bottom; then two rows, the lower first.
    let header = |kind: u8, [w, h]: [u8; 2]| [0, 0, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, w, 0, h, 0, 24, 0];
    let equal = [header(10, [3, 1]).as_slice(), &[0x82, 3, 2, 1]].concat();
    assert_eq!(image_of(&equal), [0xff03_0201; 3]);
    let rows = [header(2, [1, 2]).as_slice(), &[3, 2, 1, 6, 5, 4]].concat();
    assert_eq!(image_of(&rows), [0xff06_0504, 0xff03_0201]);
    let refused = parse(&rows, false, SRGB).map(|_| ()).unwrap_err().to_string();
    assert!(refused.starts_with("it is no image that is read; PNG"), "{refused}");
    let mut huge = rows;
    (huge[13], huge[15]) = (0xff, 0xff);
    let refused = load(&huge, SRGB).map(|_| ()).unwrap_err().to_string();
    assert_eq!(refused, "it has 65281×65282 pixels; the most is 32767 along a side");
}

/// Portable maps of bytes and 16 bits, as text and not; with fewer levels, these are stretched.
#[test]
fn portable_maps_are_read() {
    let texels = |bytes: &[u8]| image(bytes, SRGB).texels.to_vec();
    assert_eq!(texels(b"P6 # a comment\n1 2\n255\n\x01\x02\x03\x04\x05\x06"), [0xff03_0201, 0xff06_0504]);
    assert_eq!(texels(b"P3\n2 1 255\n1 2 3\n4 5 6\n"), [0xff03_0201, 0xff06_0504]);
    assert_eq!(texels(b"P5 1 1 15\n\x05"), [0xff55_5555]);
    assert_eq!(texels(b"P4 3 1\n\xa0"), [0xff00_0000, 0xffff_ffff, 0xff00_0000]);
    let alpha = b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n\x01\x02\x03\x04";
    assert_eq!(*image(alpha, ALPHA).texels, [0x0403_0201]);
    let finer = floats(&image(b"P6 1 1 65535\n\x00\x00\x80\x00\xff\xff", LINEAR));
    assert!((finer[1] - 32768.0 / 65535.0).abs() < 1e-7 && finer[0] == 0.0 && finer[2] == 1.0);
}

/// The first row of a file is the lowest, unless its height is negative.
#[test]
fn bmps_are_read() {
    let bmp = |height: i32| {
        let head = [62_u32, 0, 54, 40, 1].map(u32::to_le_bytes).concat();
        let rest = [[1, 0, 24, 0], [0; 4], [8, 0, 0, 0], [0; 4], [0; 4], [0; 4], [0; 4]].concat();
        let rows = [3, 2, 1, 0, 6, 5, 4, 0];
        [b"BM".as_slice(), &head, &height.to_le_bytes(), &rest, &rows].concat()
    };
    assert_eq!(*image(&bmp(2), SRGB).texels, [0xff06_0504, 0xff03_0201]);
    assert_eq!(*image(&bmp(-2), SRGB).texels, [0xff03_0201, 0xff06_0504]);
}

/// As in Mitsuba 3.9.1: rows from the bottom, either byte order, values times the scale.
#[test]
fn portable_float_maps_are_read() {
    let pfm = |head: &str, values: &[f32]| {
        [head.as_bytes(), &values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>()].concat()
    };
    let colors = pfm("PF\n1 2\n-2.0\n", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(floats(&image(&colors, RADIANCE)), [8.0, 10.0, 12.0, 2.0, 4.0, 6.0]);
    let grey = [b"Pf 1 1 1\n".as_slice(), &0.25_f32.to_be_bytes()].concat();
    assert_eq!(floats(&image(&grey, SRGB)), [0.25; 3], "floats are linear");
    assert_eq!(load(&grey, ALPHA).map(|_| ()), Err(ImageError::NoAlpha));
    let message = |bytes: &[u8]| load(bytes, RADIANCE).map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        message(&pfm("Pf 1 1 -1\n", &[f32::NAN])),
        "the pixel in column 0 of row 0 is not a number (NaN)"
    );
    assert_eq!(message(b"Pf 40000 1 -1\n"), "it has 40000\u{d7}1 pixels; the most is 32767 along a side");
    assert_eq!(message(b"Pf 0 1 -1\n"), "it has 0\u{d7}1 pixels");
    let short = "the PFM file cannot be decoded: \"4 bytes of pixels instead of 8\"";
    assert_eq!(message(&pfm("Pf 2 1 -1\n", &[1.0])), short);
}

/// Pictures of any program; the first is as Mitsuba 3.9.1 writes them.
#[test]
fn radiance_pictures_may_name_other_programs() {
    let picture = |first: &str| {
        let head = format!("{first}\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n");
        [head.as_bytes(), b"\x80@ \x81 \x00\x80\x84"].concat()
    };
    for first in ["#?RGBE", "#?RADIANCE", "#?a b"] {
        let read = image(&picture(first), RADIANCE);
        assert_eq!(floats(&read), [1.0, 0.5, 0.25, 2.0, 0.0, 8.0], "{first}");
    }
    let message = |bytes: &[u8]| load(bytes, RADIANCE).map(|_| ()).unwrap_err().to_string();
    assert!(message(&picture(&format!("#?{}", "x".repeat(2000)))).contains("HDR file cannot be decoded"));
    assert_eq!(message(b"#?RGBE"), "the HDR file ends too early");
    let gif = parse(b"GIF89a\x01\0\x01\0\0\0\0", false, SRGB).map(|_| ()).unwrap_err().to_string();
    assert!(gif.starts_with("it is in the format Gif, which is not read; PNG, JPEG, "), "{gif}");
}

/// Wherever a file is cut off or changed, the answer is an image or an error, and no panic.
#[test]
fn damaged_files_do_no_harm() {
    let pixel = |x: u32, y: u32| Rgb([(x * 16) as u8, (y * 16) as u8, (x ^ y) as u8]);
    let bytes = RgbImage::from_fn(13, 11, pixel);
    let floats = Rgb32FImage::from_fn(13, 11, |x, y| Rgb(pixel(x, y).0.map(|x| f32::from(x) / 255.0)));
    let files = [
        encoded(bytes.clone(), ImageFormat::Png),
        encoded(bytes.clone(), ImageFormat::Jpeg),
        encoded(bytes.clone(), ImageFormat::WebP),
        encoded(bytes.clone(), ImageFormat::Tga),
        encoded(bytes.clone(), ImageFormat::Bmp),
        encoded(bytes, ImageFormat::Pnm),
        b"P3\n2 3 # x\n255\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n".to_vec(),
        [b"PF\n2 3\n-1\n".as_slice(), &[0; 72]].concat(),
        encoded(floats.clone(), ImageFormat::Hdr),
        encoded(floats, ImageFormat::OpenExr),
        KTX2[0].1.to_vec(),
        KTX2[1].1.to_vec(),
    ];
    let mut refused = 0;
    for file in &files {
        for length in 0..file.len() {
            refused += u32::from(load(&file[..length], LINEAR).is_err());
        }
        let mut state = 1_u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut changed = file.clone();
            // Headers are short and matter most.
            let range = if state & 1 == 0 { file.len().min(64) } else { file.len() };
            changed[(state >> 33) as usize % range] ^= 1 << (state >> 29 & 7);
            let _ = load(&changed, LINEAR);
        }
    }
    assert!(refused > 1000, "{refused}");
}

/// Both codings, with alpha, as Basis Universal 2.1 wrote them, against the texels that its transcoder finds in them.
#[test]
fn ktx2_files_of_basis_universal_are_read() {
    for (name, file, expected) in KTX2 {
        let read = image(file, SRGB);
        assert_eq!((read.width, read.height, read.format), (20, 13, Format::Srgb8), "{name}");
        let texels: Vec<u8> = read.texels.iter().flat_map(|texel| texel.to_le_bytes()).collect();
        assert!(texels == expected, "{name}");
    }
    // Negative control: the codings differ.
    assert!(KTX2[0].2 != KTX2[1].2);
}

const KTX2: [(&str, &[u8], &[u8]); 2] = [
    ("ETC1S", include_bytes!("tests/etc1s.ktx2"), include_bytes!("tests/etc1s.rgba")),
    ("UASTC", include_bytes!("tests/uastc-zstd.ktx2"), include_bytes!("tests/uastc-zstd.rgba")),
];

/// What a header says is refused before there is room for it.
#[test]
fn ktx2_files_that_say_they_are_huge_are_refused() {
    let with = |at: usize, words: &[u32]| {
        let mut file = KTX2[1].1.to_vec();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        file[at..at + bytes.len()].copy_from_slice(&bytes);
        load(&file, SRGB).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(with(20, &[40_000, 1]), "it has 40000×1 pixels; the most is 32767 along a side");
    assert!(with(20, &[u32::MAX; 2]).ends_with(" pixels; the most is 32767 along a side"));
    assert_eq!(
        with(20, &[16384, 16384]),
        "it has 268435456 pixels in 467 bytes; the most in a file of that size is 16777216"
    );
    let huge = "the KTX2 file cannot be decoded: \"its level is larger than its image\"";
    assert_eq!(with(96, &[0, 1 << 20]), huge);
    let several = "it is in the format KTX2 with several images, which is not read; PNG, ";
    for (at, words) in [(28, [2]), (32, [9]), (36, [6])] {
        assert!(with(at, &words).starts_with(several));
    }
    assert!(with(12, &[145]).starts_with("it is in the format KTX2 of the Vulkan format 145, which"));
}

/// A PNG file of chunks.
fn png(chunks: &[([u8; 4], &[u8])]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, data) in chunks {
        file.extend((data.len() as u32).to_be_bytes());
        let checked = [name.as_slice(), data].concat();
        file.extend(&checked);
        let crc = checked.iter().fold(u32::MAX, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
        });
        file.extend((!crc).to_be_bytes());
    }
    file
}

/// Sizes are refused by what the header says, before there is room for all pixels.
#[test]
fn images_that_say_they_are_huge_are_refused() {
    let claims = |width: u32, height: u32| {
        let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
        let header = [size.as_slice(), &[16, 6, 0, 0, 0]].concat();
        let chunks: [([u8; 4], &[u8]); 3] = [(*b"IHDR", &header), (*b"IDAT", &[0x78, 0x01]), (*b"IEND", &[])];
        load(&png(&chunks), LINEAR).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(claims(100_000, 1), "it has 100000×1 pixels; the most is 32767 along a side");
    assert_eq!(claims(30_000, 30_000), "it has 30000×30000 pixels; the most is 268435456 in all");
    assert_eq!(claims(0, 3), "the PNG file cannot be decoded: \"Invalid image dimensions\"");
    assert_eq!(claims(u32::MAX >> 1, u32::MAX >> 1), "the PNG file needs too much memory to be decoded");
    assert_eq!(
        claims(16384, 16384),
        "it has 268435456 pixels in 59 bytes; the most in a file of that size is 16777216"
    );
}
