//! Animated PNG files, which browsers play and other programs show the first frame of.

use std::time::Duration;

use image::RgbImage;
use png::{BitDepth, ColorType, Encoder, SrgbRenderingIntent};

use crate::DrawError;

/// The frames one after the other, each for `delay` (whole milliseconds, at most 65 s), again and again.
///
/// # Errors
/// There are no frames, they differ in size, or the encoder refuses them.
pub fn png(frames: &[RgbImage], delay: Duration) -> Result<Vec<u8>, DrawError> {
    let first = frames.first().ok_or(DrawError::NoFrames)?;
    let (width, height) = first.dimensions();
    if let Some((w, h)) = frames.iter().map(RgbImage::dimensions).find(|size| *size != (width, height)) {
        return Err(DrawError::FramesDiffer([width, height], [w, h]));
    }
    let milliseconds = u16::try_from(delay.as_millis()).map_err(|_| DrawError::TooSlow(delay.as_millis()))?;
    let frames_count = u32::try_from(frames.len()).map_err(DrawError::refused)?;
    encode(frames, [width, height], frames_count, milliseconds).map_err(DrawError::refused)
}

fn encode(
    frames: &[RgbImage],
    [width, height]: [u32; 2],
    count: u32,
    milliseconds: u16,
) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_source_srgb(SrgbRenderingIntent::Perceptual);
    encoder.set_animated(count, 0)?;
    encoder.set_frame_delay(milliseconds, 1000)?;
    let mut writer = encoder.write_header()?;
    for frame in frames {
        writer.write_image_data(frame)?;
    }
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_decoded_as_they_were() {
        let frame = |k: u8| RgbImage::from_fn(13, 7, |x, y| image::Rgb([x as u8 * 19, y as u8 * 36, k * 50]));
        for n in [1, 5] {
            let frames: Vec<_> = (0..n).map(frame).collect();
            let bytes = png(&frames, Duration::from_millis(1250)).unwrap();
            let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
            let info = reader.info();
            assert_eq!(info.srgb, Some(SrgbRenderingIntent::Perceptual));
            let control = info.animation_control.unwrap();
            assert_eq!((control.num_frames, control.num_plays), (n.into(), 0), "for ever");
            for frame in &frames {
                let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
                reader.next_frame(&mut pixels).unwrap();
                assert_eq!(&pixels, frame.as_raw());
                let control = reader.info().frame_control.unwrap();
                assert_eq!((control.delay_num, control.delay_den), (1250, 1000));
            }
            // What knows no animations sees the first frame.
            let still = image::load_from_memory(&bytes).unwrap().into_rgb8();
            assert_eq!(still, frames[0]);
        }
    }

    #[test]
    fn what_is_no_animation_is_refused() {
        let second = Duration::from_secs(1);
        assert_eq!(png(&[], second).unwrap_err().to_string(), "an animation has at least one frame");
        let frames = [RgbImage::new(2, 3), RgbImage::new(2, 3), RgbImage::new(3, 2)];
        let error = png(&frames, second).unwrap_err().to_string();
        assert_eq!(error, "frames of an animation have one size, not 2 × 3 and 3 × 2");
        let error = png(&frames[..2], 66 * second).unwrap_err().to_string();
        assert_eq!(error, "a frame lasts at most 65535 ms, not 66000");
    }
}
