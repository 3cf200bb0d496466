//! The image that `torrance defocus` blurs, and the camera in its metadata.

use std::path::Path;

use renderer::defocus::Lens;
use renderer::denoise::{DENOISER, HALVES, LAYER as DENOISED};
use renderer::render::aov::{FOCUS_DISTANCE, FOV, LENS_RADIUS, PROJECTION};
use torrance_image::film::cryptomatte;
use torrance_image::film::encode::SOFTWARE;
use torrance_image::film::estimate::PIXEL_FILTER;
use torrance_image::film::layers::{LIGHT, SAMPLES, STDERR, SUMS};
use torrance_image::film::shards::OF_RENDER;
use torrance_image::film::{Extent, Format, Image, Layers, read_layers};

use super::defocus::LensArgs;
use super::{Failure, Notes};

/// Memory that blurring takes besides the channels of the file, bytes a pixel: tables of sums of two layers.
const BYTES: u64 = 180;

/// An image to be blurred.
pub(super) struct Sharp {
    pub(super) image: Image,
    /// The lens, and a depth for every pixel; nothing if blur is even.
    pub(super) focus: Option<(Lens, Vec<f32>)>,
    /// All else that the file holds.
    others: Layers,
}

impl Sharp {
    /// Reads an image, and what `lens` asks for.
    pub(super) fn read(path: &Path, lens: Option<&LensArgs>, notes: &mut Notes) -> Result<Self, Failure> {
        let name = format!("\"{}\"", path.display());
        let wrong = |reason: String| Failure::input(format_args!("{name}: {reason}"));
        // What the command lacks is told before files are read.
        let wanted = lens.map(wanted).transpose()?;
        if lens.is_some() && Format::from_path(path).is_ok_and(|f| f != Format::Exr) {
            return Err(wrong("only EXR files hold depths; --radius blurs evenly without".into()));
        }
        let extent = Extent::of(path).map_err(|e| wrong(e.to_string()))?;
        extent
            .check_memory("blurring it", BYTES + extent.bytes_per_pixel)
            .map_err(|e| wrong(e.to_string()))?;
        let others = read_layers(path).map_err(|e| wrong(e.to_string()))?;
        let image = others.image().ok_or_else(|| wrong(others.no_image()))?;
        let focus = lens.zip(wanted).map(|(args, wanted)| focus(args, wanted, &others));
        let focus = focus.transpose().map_err(wrong)?;
        if others.attributes.contains_key(LENS_RADIUS) {
            notes.warn(format!("{name}: a lens has blurred it already"));
        }
        Ok(Self { image, focus, others })
    }

    /// The blurred image, with the layers that are still true.
    pub(super) fn layers_of(&self, image: &Image) -> Layers {
        const UNTRUE: [&str; 8] = [STDERR, SAMPLES, SUMS, HALVES, DENOISED, "emission", "direct", "indirect"];
        let mut layers = Layers::from(image);
        let mut others = self.others.clone();
        cryptomatte::remove(&mut others);
        for channel in &others.channels {
            let layer = channel.name.rsplit_once('.').map_or(&*channel.name, |(layer, _)| layer);
            if layers.channel(&channel.name).is_none()
                && !UNTRUE.contains(&layer.split('.').next().unwrap_or(layer))
                && !layer.starts_with(LIGHT)
                && layer != "Y"
            {
                layers.channels.push(channel.clone());
            }
        }
        layers.attributes = others.attributes;
        // Its pixels are no longer independent of each other.
        layers.attributes.remove(PIXEL_FILTER);
        // It is no render any more that could be extended or merged, and whatever denoised the image is gone.
        OF_RENDER.iter().chain([&DENOISER]).for_each(|name| drop(layers.attributes.remove(*name)));
        layers.attributes.insert("software".into(), SOFTWARE.into());
        if let Some((lens, _)) = self.focus {
            layers.attributes.insert(LENS_RADIUS.into(), lens.radius.to_string());
            layers.attributes.insert(FOCUS_DISTANCE.into(), lens.focus_distance.to_string());
        }
        layers
    }
}

/// Where the lens is focused.
enum Focus {
    Distance(f32),
    Pixel(u32, u32),
}

/// The radius of the lens and its focus, if the command says both.
fn wanted(args: &LensArgs) -> Result<(f32, Focus), Failure> {
    let radius = args.lens_radius.ok_or_else(|| {
        Failure::input(
            "say how large the lens is, --lens-radius 0.05 (metres), or --radius 8 for even blur (pixels)",
        )
    })?;
    match (args.focus_distance, args.focus_at) {
        (Some(distance), _) => Ok((radius, Focus::Distance(distance))),
        (None, Some((x, y))) => Ok((radius, Focus::Pixel(x, y))),
        (None, None) => Err(Failure::input(
            "say what is in focus, --focus-distance 3.5 (metres) or --focus-at 320,180 (a pixel)",
        )),
    }
}

/// The lens and the depths. The error is a sentence about the file.
fn focus(args: &LensArgs, (radius, focus): (f32, Focus), file: &Layers) -> Result<(Lens, Vec<f32>), String> {
    if let Some(projection) = file.attributes.get(PROJECTION).filter(|p| *p != "perspective") {
        return Err(format!("its camera is {projection}, and has no lens; --radius blurs evenly"));
    }
    let name = args.depth.as_deref().unwrap_or("Z");
    let channel = file.channel(name).ok_or_else(|| {
        let names: Vec<_> = file.channels.iter().map(|c| c.name.as_str()).collect();
        let hint = torrance_text::hint(name, "it has", names);
        format!("it has no channel {name:?} of depths{hint}; torrance render --aov Z writes one")
    })?;
    let depths = channel.samples.floats();
    let focus_distance = match focus {
        Focus::Distance(distance) => distance,
        Focus::Pixel(x, y) if x >= file.width || y >= file.height => {
            return Err(format!(
                "--focus-at: it has {}x{} pixels, and none at {x},{y}",
                file.width, file.height
            ));
        }
        Focus::Pixel(x, y) => match depths[y as usize * file.width as usize + x as usize] {
            z if z > 0.0 => z,
            z => return Err(format!("--focus-at: the depth at {x},{y} is {z}")),
        },
    };
    // As wide as a scene's may be, and not so narrow that circles have no size.
    let said = || file.attributes.get(FOV)?.parse().ok().filter(|fov| (1e-4..180.0).contains(fov));
    let fov =
        args.fov.or_else(said).ok_or("it does not say its field of view; add --fov, vertical, in degrees")?;
    Ok((Lens { radius, focus_distance, fov }, depths))
}
