//! OpenEXR files as other programs may write them.

use std::fs;
use std::path::PathBuf;

use exr::prelude::{
    AnyChannel, AnyChannels, Encoding, FlatSamples, Image, Layer, LayerAttributes, Text, WritableImage, f16,
};

use super::estimate::{ImageEstimate, Rounding};
use super::{Layers, read, read_layers, size};

const SIZE: (usize, usize) = (5, 3);

/// A channel whose samples count up from `first`.
fn channel(name: &str, first: f32) -> AnyChannel<FlatSamples> {
    AnyChannel::new(name, FlatSamples::F32((0..15).map(|i| first + i as f32).collect()))
}

fn layer(name: Option<&str>, channels: Vec<AnyChannel<FlatSamples>>) -> Layer<AnyChannels<FlatSamples>> {
    let attributes = LayerAttributes { layer_name: name.map(Text::from), ..LayerAttributes::default() };
    Layer::new(SIZE, attributes, Encoding::UNCOMPRESSED, AnyChannels::sort(channels.into()))
}

/// A file in a folder that goes when it is dropped.
struct File {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl File {
    fn with_layer(layer: Layer<AnyChannels<FlatSamples>>) -> Self {
        let file = Self::new();
        Image::from_layer(layer).write().to_file(&file.path).unwrap();
        file
    }

    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { path: folder.path().join("x.exr"), _folder: folder }
    }

    /// Overwrites what comes so many bytes after the only place where `before` is.
    fn patch(&self, before: &[u8], skip: usize, with: &[u8]) {
        let mut bytes = fs::read(&self.path).unwrap();
        let at = bytes.windows(before.len()).position(|w| w == before).unwrap() + before.len() + skip;
        bytes[at..at + with.len()].copy_from_slice(with);
        fs::write(&self.path, bytes).unwrap();
    }

    fn layers(&self) -> Layers {
        read_layers(&self.path).unwrap()
    }

    #[track_caller]
    fn message(&self) -> String {
        read_layers(&self.path).unwrap_err().to_string()
    }
}

#[test]
fn grey_files_are_grey() {
    let file = File::with_layer(layer(None, vec![channel("Y", 10.0)]));
    let measured = ImageEstimate::read(&file.path).unwrap();
    assert_eq!((measured.image.width, measured.image.height), (5, 3));
    assert_eq!(measured.image.pixels[7], [17.0; 3]);
    assert_eq!((measured.noise, size(&file.path).unwrap()), (None, (5, 3)));
}

#[test]
fn alpha_and_other_channels_do_not_matter() {
    let names = ["A", "B", "G", "R", "Z", "id"];
    let channels = names.into_iter().enumerate().map(|(i, name)| channel(name, 100.0 * i as f32));
    let file = File::with_layer(layer(None, channels.collect()));
    assert_eq!(ImageEstimate::read(&file.path).unwrap().image.pixels[2], [302.0, 202.0, 102.0]);
    assert_eq!(read(&file.path).unwrap(), ImageEstimate::read(&file.path).unwrap().image);
}

#[test]
fn what_is_missing_is_named_with_what_there_is() {
    let file =
        File::with_layer(layer(None, vec![channel("R", 0.0), channel("G", 0.0), channel("albedo.R", 0.0)]));
    let message = ImageEstimate::read(&file.path).unwrap_err().to_string();
    assert!(
        message.ends_with("neither channels R, G and B nor Y, but \"G\", \"R\", \"albedo.R\""),
        "{message}"
    );
}

#[test]
fn parts_have_the_names_of_their_layers() {
    let rgb =
        |first: f32| vec![channel("R", first), channel("G", first + 100.0), channel("B", first + 200.0)];
    let parts = vec![layer(Some("rgba"), rgb(0.0)), layer(Some("stderr"), rgb(1000.0))];
    let attributes = Image::from_layer(parts[0].clone()).attributes;
    let file = File::new();
    Image::from_layers(attributes, parts).write().to_file(&file.path).unwrap();
    let layers = file.layers();
    assert_eq!(layers.rgb("stderr").unwrap()[1], [1001.0, 1101.0, 1201.0]);
    assert_eq!(layers.rgb("").unwrap()[1], [1.0, 101.0, 201.0], "the image itself");
}

#[test]
fn standard_errors_that_are_none() {
    let with = |value: f32| {
        let stderr = |name: &str| AnyChannel::new(name, FlatSamples::F32(vec![value; 15]));
        let rgb = ["R", "G", "B"].map(|name| channel(name, 1.0));
        let errors = ["stderr.R", "stderr.G", "stderr.B"].map(stderr);
        let file = File::with_layer(layer(None, rgb.into_iter().chain(errors).collect()));
        ImageEstimate::read(&file.path).map(|m| m.noise.unwrap().stderr[3])
    };
    assert_eq!(with(0.25).unwrap(), [0.25; 3]);
    assert_eq!(with(f32::NAN).unwrap(), [f32::INFINITY; 3], "nothing is known");
    assert_eq!(with(f32::INFINITY).unwrap(), [f32::INFINITY; 3]);
    assert!(with(-0.25).unwrap_err().to_string().ends_with("negative: -0.25 in pixel 0, counted row by row"));
    // Two of three channels are no layer.
    let some = ["R", "G", "B", "stderr.R", "stderr.G"].map(|name| channel(name, 1.0));
    assert_eq!(ImageEstimate::read(&File::with_layer(layer(None, some.into())).path).unwrap().noise, None);
}

#[test]
fn one_channel_in_halves_is_enough_to_be_rounded() {
    let half = AnyChannel::new("G", FlatSamples::F16((0..15).map(|i| f16::from_f32(i as f32)).collect()));
    let ids = AnyChannel::new("id", FlatSamples::U32((0..15).collect()));
    let file = File::with_layer(layer(None, vec![channel("R", 0.0), half, channel("B", 0.0), ids]));
    let measured = ImageEstimate::read(&file.path).unwrap();
    assert_eq!((measured.rounding, measured.image.pixels[4]), (Rounding::Half, [4.0; 3]));
    assert_eq!(file.layers().rgb("id").unwrap()[4], [4.0; 3]);
    let float = File::with_layer(layer(None, ["R", "G", "B"].map(|name| channel(name, 0.0)).into()));
    assert_eq!(ImageEstimate::read(&float.path).unwrap().rounding, Rounding::Float);
}

/// Not supported, and said so: chroma at half the resolution, samples at many depths, a size of nothing.
#[test]
fn what_is_not_read_is_refused() {
    let plain = || File::with_layer(layer(None, vec![channel("Y", 0.0)]));
    let subsampled = plain();
    // Of a channel: its type, whether it is linear with three bytes of padding, then the sampling along x and y.
    subsampled.patch(b"Y\0", 8, &[2, 0, 0, 0, 2, 0, 0, 0]);
    let message = "channel Y is subsampled, 2 x 2 pixels a sample, which is not supported";
    assert!(subsampled.message().ends_with(message), "{}", subsampled.message());
    assert!(read(&subsampled.path).is_err() && size(&subsampled.path).is_err());

    let deep = plain();
    // A bit of the version says so.
    deep.patch(b"\x76\x2f\x31\x01", 1, &[0x08]);
    assert!(deep.message().contains("it has deep data"), "{}", deep.message());

    let window = plain();
    let coordinates = [0_i32, 0, i32::MAX, i32::MAX].map(i32::to_le_bytes).concat();
    window.patch(b"dataWindow\0box2i\0", 4, &coordinates);
    assert!(size(&window.path).is_err() && read_layers(&window.path).is_err());
}

/// Damaged files of every format: each is read or refused, and none ends the program.
#[test]
fn damage_is_refused_or_does_no_harm() {
    use super::encode::{Provenance, Settings, encode};
    use super::format::Format;
    let pixels = (0..12 * 9).map(|i| [i as f32, 0.5, 1.0 / (i + 1) as f32]).collect();
    let image = super::Image { width: 12, height: 9, pixels };
    let folder = tempfile::tempdir().unwrap();
    let mut random = 1_u32;
    let mut below = |n: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as usize % n
    };
    let mut read_all_the_same = 0;
    for format in Format::ALL {
        let path = folder.path().join(format!("x.{}", format.extension()));
        let whole = encode(&image, format, &Settings::default(), &Provenance::default()).unwrap().bytes;
        for _ in 0..100 {
            let mut bytes = whole.clone();
            for _ in 0..=below(4) {
                let at = below(bytes.len());
                bytes[at] = below(256) as u8;
            }
            if below(4) == 0 {
                bytes.truncate(below(whole.len()));
            }
            fs::write(&path, bytes).unwrap();
            let size = size(&path);
            // What claims to be large takes long to be refused.
            if size.as_ref().is_ok_and(|(w, h)| w * h > 1_000_000) {
                continue;
            }
            if let Ok(read) = read_layers(&path) {
                assert_eq!(size.unwrap(), (read.width, read.height));
                assert!(read.channels.iter().all(|c| c.samples.len() == (read.width * read.height) as usize));
                read_all_the_same += 1;
            }
        }
    }
    assert!((1..700).contains(&read_all_the_same), "{read_all_the_same} of 700");
}
