//! OpenEXR: any channels, with metadata on how the image was rendered.

use std::collections::BTreeMap;
use std::io::{BufRead, Cursor, Seek};

use exr::image::pixel_vec::PixelVec;
use exr::meta::MetaData;
use exr::meta::attribute::{AttributeValue, Chromaticities, Text};
use exr::meta::header::{Header, ImageAttributes};
use exr::prelude::{
    AnyChannel, AnyChannels, Blocks, Compression, Encoding, FlatSamples, Image as ExrImage, IntegerBounds,
    Layer, LayerAttributes, LineOrder, ReadChannels, ReadLayers, ReadSpecificChannel, Vec2, WritableImage,
    read as exr_read,
};

use super::encode::{EncodeError, Exr, ExrCompression};
use super::exr_header;
use super::extent::Extent;
use super::image::{DecodeError, Image, check_pixels};
use super::layers::{Channel, Layers, Samples};

/// The name of the part that is the image itself, where parts have names.
const BEAUTY: &str = "rgba";

/// The OpenEXR attribute for the program that wrote a file.
const SOFTWARE: &str = "software";

/// The bytes of an EXR file. Its colours are Rec. 709's.
pub(super) fn encode(mut layers: Layers, how: Exr) -> Result<Vec<u8>, EncodeError> {
    let size = Vec2(layers.width as usize, layers.height as usize);
    let mut attributes = layer_attributes(&layers);
    let channels = std::mem::take(&mut layers.channels);
    let mut image_attributes = ImageAttributes::new(IntegerBounds::from_dimensions(size));
    image_attributes.chromaticities = Some(Chromaticities {
        red: Vec2(0.64, 0.33),
        green: Vec2(0.30, 0.60),
        blue: Vec2(0.15, 0.06),
        white: Vec2(0.3127, 0.3290),
    });
    let parts = if how.is_multipart { parts(channels) } else { vec![(String::new(), channels)] };
    let has_names = parts.len() > 1;
    let parts = parts.into_iter().map(|(name, channels)| {
        let channels = channels.into_iter().map(|channel| any_channel(&name, channel)).collect();
        // What is told of the image is told once, in the first part.
        let mut attributes = std::mem::take(&mut attributes);
        if has_names {
            attributes.layer_name = Some(text(if name.is_empty() { BEAUTY } else { &name }));
        }
        Layer::new(size, attributes, encoding(how.compression), AnyChannels::sort(channels))
    });
    let file = ExrImage::from_layers(image_attributes, parts.collect::<Vec<_>>());
    let mut bytes = Cursor::new(Vec::new());
    file.write().to_buffered(&mut bytes).map_err(EncodeError::refused)?;
    Ok(bytes.into_inner())
}

const fn encoding(compression: ExrCompression) -> Encoding {
    let compression = match compression {
        ExrCompression::None => Compression::Uncompressed,
        ExrCompression::Rle => Compression::RLE,
        ExrCompression::Zips => Compression::ZIP1,
        ExrCompression::Zip => Compression::ZIP16,
        ExrCompression::Piz => Compression::PIZ,
        ExrCompression::Pxr24 => Compression::PXR24,
        ExrCompression::B44 => Compression::B44,
        ExrCompression::B44a => Compression::B44A,
    };
    Encoding { compression, blocks: Blocks::ScanLines, line_order: LineOrder::Increasing }
}

/// Channels by their layers, of which the image itself is first and has no name.
fn parts(channels: Vec<Channel>) -> Vec<(String, Vec<Channel>)> {
    let mut parts = vec![(String::new(), Vec::new())];
    for channel in channels {
        let layer = channel.name.rsplit_once('.').map_or("", |(layer, _)| layer);
        match parts.iter_mut().find(|(name, _)| name == layer) {
            Some((_, channels)) => channels.push(channel),
            None => parts.push((layer.to_owned(), vec![channel])),
        }
    }
    parts.retain(|(_, channels)| !channels.is_empty());
    parts
}

/// A channel of a part: its name without the part's.
fn any_channel(part: &str, channel: Channel) -> AnyChannel<FlatSamples> {
    let name = channel.name.strip_prefix(part).map_or(&*channel.name, |name| name.trim_start_matches('.'));
    let samples = match channel.samples {
        Samples::Half(x) => FlatSamples::F16(x),
        Samples::Float(x) => FlatSamples::F32(x),
        Samples::Uint(x) => FlatSamples::U32(x),
    };
    AnyChannel::new(text(name), samples)
}

/// Strings of EXR files are UTF-8. `Text::from` panics on what is not Latin-1, and `Text`'s `Display` shows it.
fn text(s: &str) -> Text {
    Text::from_slice_unchecked(s.as_bytes())
}

fn string(text: &Text) -> String {
    String::from_utf8_lossy(text.as_slice()).into_owned()
}

fn layer_attributes(layers: &Layers) -> LayerAttributes {
    let software = layers.attributes.get(SOFTWARE);
    let others = layers.attributes.iter().filter(|(name, _)| *name != SOFTWARE);
    LayerAttributes {
        software_name: software.map(|s| text(s)),
        other: others.map(|(name, value)| (text(name), AttributeValue::Text(text(value)))).collect(),
        ..LayerAttributes::default()
    }
}

/// The headers of a file of a supported kind. Leaves the file at its start.
fn headers(file: &mut (impl BufRead + Seek)) -> Result<MetaData, DecodeError> {
    exr_header::check(file)?;
    let meta = MetaData::read_from_buffered(&mut *file, false)?;
    if meta.requirements.has_deep_data || meta.headers.iter().any(|h| h.deep) {
        return Err(refused("it has deep data, many samples a pixel, which is not supported"));
    }
    for header in &meta.headers {
        check_pixels(header.layer_size.x() as u64, header.layer_size.y() as u64)?;
        // The decoder would take such a channel's samples for those of other pixels.
        if let Some(channel) = header.channels.list.iter().find(|c| c.sampling != Vec2(1, 1)) {
            let (Vec2(x, y), name) = (channel.sampling, &channel.name);
            let reason = format!("is subsampled, {x} x {y} pixels a sample, which is not supported");
            return Err(refused(format!("channel {name} {reason}")));
        }
    }
    file.rewind()?;
    Ok(meta)
}

fn first_size(meta: &MetaData) -> Result<Vec2<usize>, DecodeError> {
    meta.headers.first().map(|h| h.layer_size).ok_or_else(|| refused("it has no layers"))
}

fn refused(reason: impl Into<String>) -> DecodeError {
    DecodeError::Contents(reason.into())
}

/// The texts among the attributes of the first layer.
pub(super) fn texts(mut file: impl BufRead + Seek) -> Option<BTreeMap<String, String>> {
    let meta = headers(&mut file).ok()?;
    let LayerAttributes { software_name, other, .. } = &meta.headers.first()?.own_attributes;
    let others = other.iter().filter_map(|(name, value)| match value {
        AttributeValue::Text(value) => Some((string(name), string(value))),
        _ => None,
    });
    let software = software_name.iter().map(|name| (SOFTWARE.to_owned(), string(name)));
    Some(software.chain(others).collect())
}

/// Width and height of the first layer, and what the channels of all layers take for each of its pixels.
pub(super) fn extent(mut file: impl BufRead + Seek) -> Result<Extent, DecodeError> {
    extent_of(&headers(&mut file)?)
}

fn extent_of(meta: &MetaData) -> Result<Extent, DecodeError> {
    let size = first_size(meta)?;
    let of = |header: &Header| header.layer_size.area() * header.channels.bytes_per_pixel;
    let bytes: usize = meta.headers.iter().map(of).sum();
    Ok(Extent {
        width: size.x() as u32,
        height: size.y() as u32,
        bytes_per_pixel: bytes.div_ceil(size.area().max(1)) as u64,
    })
}

/// Reads channels R, G and B of the first layer that has them, whatever the order and type of the channels.
pub(super) fn decode(mut file: impl BufRead + Seek) -> Result<Image, DecodeError> {
    headers(&mut file)?;
    let image = exr_read()
        .no_deep_data()
        .largest_resolution_level()
        .specific_channels()
        .required("R")
        .required("G")
        .required("B")
        .collect_pixels(
            |size, _| PixelVec::new(size, vec![[0.0_f32; 3]; size.area()]),
            |storage: &mut PixelVec<[f32; 3]>, at, (r, g, b): (f32, f32, f32)| {
                storage.set_pixel(at, [r, g, b]);
            },
        )
        .first_valid_layer()
        .all_attributes()
        .from_buffered(file)?;
    let PixelVec { resolution, pixels } = image.layer_data.channel_data.pixels;
    Ok(Image { width: resolution.x() as u32, height: resolution.y() as u32, pixels })
}

/// Reads all channels of all layers. A layer's name is prefixed to the names of its channels, unless it is `rgba`; of channels with
/// equal names the first is kept.
pub(super) fn decode_layers(mut file: impl BufRead + Seek) -> Result<Layers, DecodeError> {
    let meta = headers(&mut file)?;
    let size = first_size(&meta)?;
    let mut channels = 0;
    for header in &meta.headers {
        if header.layer_size != size {
            return Err(refused("its layers differ in size"));
        }
        channels += header.channels.list.len() as u64;
    }
    // As many bytes as an image of the largest size may have, shared by all channels.
    let (width, height) = (size.x() as u64, size.y() as u64);
    check_pixels(width, height.saturating_mul(channels.div_ceil(3).max(1)))
        .map_err(|_| refused(format!("{width} by {height} pixels with {channels} channels")))?;
    // As they are decoded, and once more as they are kept.
    let extent = extent_of(&meta)?;
    extent
        .check_memory("reading its channels", 2 * extent.bytes_per_pixel)
        .map_err(|error| refused(error.to_string()))?;
    let image = exr_read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .all_layers()
        .all_attributes()
        .from_buffered(file)?;
    let mut layers = Layers { width: size.x() as u32, height: size.y() as u32, ..Layers::default() };
    for layer in image.layer_data {
        let prefix = layer.attributes.layer_name.as_ref().map(string).filter(|name| name != BEAUTY);
        let prefix = prefix.unwrap_or_default();
        for channel in layer.channel_data.list {
            let name = string(&channel.name);
            let name = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
            if layers.channel(&name).is_some() {
                continue;
            }
            let samples = match channel.sample_data {
                FlatSamples::F16(x) => Samples::Half(x),
                FlatSamples::F32(x) => Samples::Float(x),
                FlatSamples::U32(x) => Samples::Uint(x),
            };
            layers.channels.push(Channel { name, samples });
        }
        if let Some(software) = &layer.attributes.software_name {
            layers.attributes.entry(SOFTWARE.into()).or_insert(string(software));
        }
        let said = layer.attributes.other.iter().chain(&image.attributes.other);
        for (name, value) in said {
            let value = match value {
                AttributeValue::Text(t) => string(t),
                AttributeValue::F64(x) => x.to_string(),
                AttributeValue::F32(x) => x.to_string(),
                AttributeValue::I32(x) => x.to_string(),
                _ => continue,
            };
            layers.attributes.entry(string(name)).or_insert(value);
        }
    }
    Ok(layers)
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::*;

    fn layers() -> Layers {
        let mut layers = Layers::new(3, 2);
        layers.push_floats("", ["R", "G", "B"], &[[1.0, 2.0, 3.0], [1e30, -0.5, 1e-30]].repeat(3));
        layers.push("samples", Samples::Uint(vec![0, 1, u32::MAX, 1 << 24 | 1, 5, 6]));
        layers.push("albedo.R", Samples::Half((0..6).map(|i| f16::from_f32(i as f32)).collect()));
        layers.push(
            "a layer with a very long name, in a language: 台所.X",
            Samples::Float(vec![f32::INFINITY; 6]),
        );
        for (name, value) in [("software", "torrance 0"), ("scene", "Küche-台所.toml"), ("seed", "")] {
            layers.attributes.insert(name.into(), value.into());
        }
        layers
    }

    #[test]
    fn layers_keep_names_types_bits_and_attributes() {
        let compressions = [
            ExrCompression::None,
            ExrCompression::Rle,
            ExrCompression::Zips,
            ExrCompression::Zip,
            ExrCompression::Piz,
        ];
        for (compression, is_multipart) in compressions.into_iter().flat_map(|c| [(c, false), (c, true)]) {
            let how = Exr { compression, is_multipart, ..Exr::default() };
            let mut read = decode_layers(Cursor::new(encode(layers(), how).unwrap())).unwrap();
            let mut expected = layers();
            read.channels.sort_by(|a, b| a.name.cmp(&b.name));
            expected.channels.sort_by(|a, b| a.name.cmp(&b.name));
            assert_eq!(read, expected);
            let image = decode(Cursor::new(encode(layers(), how).unwrap())).unwrap();
            assert_eq!(Some(image), layers().image());
        }
    }

    #[test]
    fn half_floats_are_for_colors() {
        let mut layers = layers();
        layers.push("stderr.R", Samples::Float(vec![0.1; 6]));
        assert_eq!(layers.round_colors_to_half(), 3, "1e30 is clamped");
        let is_half = |name| matches!(layers.channel(name).unwrap().samples, Samples::Half(_));
        assert!(is_half("R") && is_half("albedo.R"));
        assert!(!is_half("stderr.R") && !is_half("samples"));
        assert_eq!(layers.rgb("").unwrap()[1], [65504.0, -0.5, 0.0]);
    }

    /// Cut off anywhere, or with any byte changed, a file is read or refused, without a panic.
    #[test]
    fn damaged_files_are_refused() {
        let bytes = encode(layers(), Exr::default()).unwrap();
        for end in 0..bytes.len() {
            assert!(decode_layers(Cursor::new(&bytes[..end])).is_err(), "{end} of {} bytes", bytes.len());
        }
        let mut refused = 0;
        for i in 0..bytes.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[i] ^= change;
                refused += usize::from(decode_layers(Cursor::new(&damaged)).is_err());
            }
        }
        assert!(refused > bytes.len() / 4, "{refused} of {}", 3 * bytes.len());
    }

    #[test]
    fn channels_that_are_coarser_than_the_image_are_refused() {
        let mut layers = Layers::new(2, 2);
        layers.push("RY", Samples::Float(vec![0.5; 4]));
        let mut bytes = encode(layers, Exr::default()).unwrap();
        assert!(decode_layers(Cursor::new(&bytes)).is_ok());
        // Behind the name come four bytes of type and four of linearity, then the steps in x and in y.
        let steps = bytes.windows(3).position(|w| w == b"RY\0").unwrap() + 3 + 8;
        (bytes[steps], bytes[steps + 4]) = (2, 2);
        let message = decode_layers(Cursor::new(&bytes)).unwrap_err().to_string();
        assert!(message.contains("channel RY is subsampled, 2 x 2 pixels a sample"), "{message}");
    }
}
