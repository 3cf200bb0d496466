//! OpenEXR: channels R, G and B, with a record of how the image was made.

use std::io::{BufRead, Cursor, Seek};

use exr::image::pixel_vec::PixelVec;
use exr::meta::MetaData;
use exr::meta::attribute::{AttributeValue, Chromaticities, Text};
use exr::prelude::{
    Blocks, Compression, Encoding, FlatSamples, GetPixel, Image as ExrImage, IntoSample, Layer,
    LayerAttributes, LineOrder, ReadChannels, ReadLayers, ReadSpecificChannel, SpecificChannels, Vec2,
    WritableImage, f16, read as exr_read,
};

use super::encode::{ExrDepth, Provenance};
use super::image::{Image, check_pixels};
use super::layers::{Channel, Layers, Samples};

/// Scan lines in ZIP blocks of 16: what other tools write, lossless and small.
const ENCODING: Encoding = Encoding {
    compression: Compression::ZIP16,
    blocks: Blocks::ScanLines,
    line_order: LineOrder::Increasing,
};

/// The bytes of an EXR file.
pub(super) fn encode(image: &Image, depth: ExrDepth, about: &Provenance) -> Result<Vec<u8>, String> {
    let at = |p: Vec2<usize>| image.pixels[p.y() * image.width as usize + p.x()];
    match depth {
        ExrDepth::Float => write(image, about, |p| at(p).into()),
        ExrDepth::Half => write(image, about, |p| at(p).map(to_half).into()),
    }
}

/// The nearest half; finite values stay finite.
pub(super) fn to_half(x: f32) -> f16 {
    if x.is_finite() {
        f16::from_f32(x.clamp(f16::MIN.to_f32(), f16::MAX.to_f32()))
    } else {
        f16::from_f32(x)
    }
}

fn write<S: IntoSample>(
    image: &Image,
    about: &Provenance,
    pixels: impl GetPixel<Pixel = (S, S, S)>,
) -> Result<Vec<u8>, String> {
    let size = (image.width as usize, image.height as usize);
    let layer = Layer::new(size, attributes(about), ENCODING, SpecificChannels::rgb(pixels));
    let mut file = ExrImage::from_layer(layer);
    file.attributes.chromaticities = Some(Chromaticities {
        red: Vec2(0.64, 0.33),
        green: Vec2(0.30, 0.60),
        blue: Vec2(0.15, 0.06),
        white: Vec2(0.3127, 0.3290),
    });
    let mut bytes = Cursor::new(Vec::new());
    file.write().to_buffered(&mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes.into_inner())
}

fn attributes(about: &Provenance) -> LayerAttributes {
    // Not `Text::from`, which panics on what is not Latin-1. EXR strings are UTF-8.
    let text = |s: &str| Text::from_slice_unchecked(s.as_bytes());
    let mut a = LayerAttributes { software_name: Some(text(&about.software)), ..LayerAttributes::default() };
    a.other = [
        ("scene", AttributeValue::Text(text(&about.scene))),
        ("device", AttributeValue::Text(text(&about.device))),
        ("spp", AttributeValue::Text(text(&about.spp.to_string()))),
        ("seed", AttributeValue::Text(text(&about.seed.to_string()))),
        ("renderTime", AttributeValue::F64(about.seconds)),
    ]
    .map(|(name, value)| (text(name), value))
    .into();
    a
}

/// Reads channels R, G and B of the first layer that has them, whatever the order and type of the channels.
pub(super) fn decode(mut file: impl BufRead + Seek) -> Result<Image, String> {
    let meta = MetaData::read_from_buffered(&mut file, false).map_err(|e| e.to_string())?;
    for header in &meta.headers {
        check_pixels(header.layer_size.x() as u64, header.layer_size.y() as u64)?;
    }
    file.rewind().map_err(|e| e.to_string())?;
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
        .from_buffered(file)
        .map_err(|e| e.to_string())?;
    let PixelVec { resolution, pixels } = image.layer_data.channel_data.pixels;
    Ok(Image { width: resolution.x() as u32, height: resolution.y() as u32, pixels })
}

/// Reads all channels of all layers. A layer's name goes before the names of its channels; names that are there
/// already are not read again.
pub(super) fn decode_layers(mut file: impl BufRead + Seek) -> Result<Layers, String> {
    let meta = MetaData::read_from_buffered(&mut file, false).map_err(|e| e.to_string())?;
    let size = meta.headers.first().map(|h| h.layer_size).ok_or("it has no layers")?;
    let mut channels = 0;
    for header in &meta.headers {
        if header.layer_size != size {
            return Err("its layers differ in size".into());
        }
        channels += header.channels.list.len() as u64;
    }
    // As many bytes as an image of the largest size may have, shared by all channels.
    check_pixels(size.x() as u64, (size.y() as u64).saturating_mul(channels.div_ceil(3)))?;
    file.rewind().map_err(|e| e.to_string())?;
    let image = exr_read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .all_layers()
        .all_attributes()
        .from_buffered(file)
        .map_err(|e| e.to_string())?;
    let mut layers = Layers { width: size.x() as u32, height: size.y() as u32, ..Layers::default() };
    for layer in image.layer_data {
        let prefix = layer.attributes.layer_name.as_ref().map(|n| n.to_string()).unwrap_or_default();
        for channel in layer.channel_data.list {
            let name = channel.name.to_string();
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
        let said = layer.attributes.other.iter().chain(&image.attributes.other);
        for (name, value) in said {
            let text = match value {
                AttributeValue::Text(t) => t.to_string(),
                AttributeValue::F64(x) => x.to_string(),
                AttributeValue::F32(x) => x.to_string(),
                AttributeValue::I32(x) => x.to_string(),
                _ => continue,
            };
            layers.attributes.entry(name.to_string()).or_insert(text);
        }
    }
    Ok(layers)
}
