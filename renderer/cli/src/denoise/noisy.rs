//! Images to be denoised.

use std::path::Path;

use torrance_image::film::image::is_finite;
use torrance_image::film::{Extent, Layers, read_layers};

use super::super::{Notes, count};
use super::{BYTES, DENOISER};

/// An image to be denoised.
pub(super) struct Noisy {
    pub(super) file: Layers,
    /// Without the pixels that are missing.
    pub(super) color: Vec<[f32; 3]>,
    /// Pixels that are NaN or infinite, which are black here.
    pub(super) missing: usize,
    pub(super) albedo: Option<Vec<[f32; 3]>>,
    pub(super) normal: Option<Vec<[f32; 3]>>,
}

impl Noisy {
    /// Reads an image. The error is the end of a sentence about the file.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let extent = Extent::of(path).map_err(|e| e.to_string())?;
        extent.check_memory("denoising it", BYTES + extent.bytes_per_pixel).map_err(|e| e.to_string())?;
        let file = read_layers(path).map_err(|e| e.to_string())?;
        match file.rgb("") {
            Some(_) => Ok(Self::new(file)),
            None => Err(file.no_image()),
        }
    }

    /// Of layers that have an image.
    pub(super) fn new(file: Layers) -> Self {
        let mut color = file.rgb("").unwrap_or_default();
        let missing = color.iter().filter(|pixel| !is_finite(pixel)).count();
        color.iter_mut().filter(|pixel| !is_finite(pixel)).for_each(|pixel| *pixel = [0.0; 3]);
        let feature = |layer| {
            let values: Vec<_> = file.rgb(layer)?;
            Some(values.into_iter().map(|v| if is_finite(&v) { v } else { [0.0; 3] }).collect())
        };
        let (albedo, normal) = (feature("albedo"), feature("N"));
        Self { color, missing, albedo, normal, file }
    }

    pub(super) fn warn(&self, name: &str, notes: &mut Notes) {
        if self.missing > 0 {
            let pixels = count(self.missing as u64, "pixel");
            notes.warn(format!("\"{name}\": {pixels} NaN or infinite, taken as black"));
        }
        if self.file.attributes.contains_key(DENOISER) {
            notes.warn(format!("\"{name}\": has a denoised image already, which is replaced"));
        }
        if self.albedo.is_none() {
            notes.warn(format!(
                "\"{name}\": without a layer of albedo, detail is lost; torrance render --aov albedo,N writes one"
            ));
        }
    }

    /// Which features there are, as the end of a sentence.
    pub(super) fn features(&self) -> &'static str {
        match (&self.albedo, &self.normal) {
            (None, _) => "",
            (Some(_), None) => ", by albedo",
            (Some(_), Some(_)) => ", by albedo and normals",
        }
    }
}
