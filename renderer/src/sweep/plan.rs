//! The plan of a sweep, decided before anything is rendered.

use std::borrow::Cow;
use std::time::Duration;

use super::verdict::Pairs;
use super::{Grid, StoredVariant, Variant, VariantStore};
use crate::render::NoiseGoal;
use torrance_image::compare::Region;
use torrance_image::compare::comparison::{crop, crop_image};
use torrance_image::film::encode::Settings;
use torrance_image::film::{Format, Image, ImageEstimate};
use torrance_plot::chart::ThemeName;

/// Variants to render, and how to show them.
pub struct Plan {
    /// The scene's file, without its folder.
    pub scene: String,
    /// The file of the scene that variants are compared with, likewise.
    pub against: Option<String>,
    /// Arrangement of the variants.
    pub grid: Grid,
    /// The variants of the grid, and then, if there is one, those of the scene that they are compared with.
    pub variants: Vec<Variant>,
    /// The pairs to compare.
    pub pairs: Option<Pairs>,
    /// Store of rendered variants, until all are rendered.
    pub store: VariantStore,
    /// Time after which variants under way are kept in the store, and again; not at all if `None`.
    pub checkpoint: Option<Duration>,
    /// Most time for a variant.
    pub time: Option<Duration>,
    /// The noise at which a variant is done.
    pub noise: Option<NoiseGoal>,
    /// The name of what denoises the images that are shown, if anything does.
    pub denoiser: Option<&'static str>,
    /// Encoding of images.
    pub images: Settings,
    /// Style of the sheets.
    pub style: SheetStyle,
}

/// Layout and labels of contact sheets.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetStyle {
    /// The title; empty for none.
    pub title: String,
    /// The part of the images that is shown and measured; all if `None`.
    pub crop: Option<Region>,
    /// Pixels between images.
    pub gap: u32,
    /// Colours around them.
    pub theme: ThemeName,
}

/// Formats of the images of variants.
pub(super) const FORMATS: [Format; 2] = [Format::Exr, Format::Png];

impl Plan {
    /// The keys of the renders of all variants, on a GPU or on a CPU.
    pub fn keys(&self, is_gpu: bool) -> Vec<u64> {
        let kind = if is_gpu { "gpu" } else { "cpu" };
        let denoised = self.denoiser.map_or(String::new(), |name| format!(" denoised by {name}"));
        let said = format!("{kind} {} {:?} {:?}{denoised}", env!("CARGO_PKG_VERSION"), self.time, self.noise);
        let key =
            |variant: &Variant| variant.scene.key_of_render(variant.fingerprint, variant.settings.spp, &said);
        self.variants.iter().map(key).collect()
    }

    /// Name of a variant.
    pub fn name(&self, i: usize) -> String {
        let n = self.grid.variants();
        let of = if i < n { "" } else { "against: " };
        format!("{of}{}", self.grid.name(i % n))
    }

    /// The names of the files of a variant's images.
    pub fn file_names(&self, i: usize) -> [String; 2] {
        FORMATS.map(|format| self.file_name(i, format))
    }

    /// The name of the file of a variant's image.
    pub(super) fn file_name(&self, i: usize, format: Format) -> String {
        /// Bytes: with what is before and behind, a name that file systems take.
        const LONGEST: usize = 120;
        let n = self.grid.variants();
        let digits = n.to_string().len();
        let name = self.grid.name(i % n).replace(" = ", "=").replace(", ", "_");
        let is_kept = |c: char| c.is_alphanumeric() || "=.-+".contains(c);
        let mut name: String = name.chars().map(|c| if is_kept(c) { c } else { '_' }).collect();
        name.truncate((0..=LONGEST).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0));
        let of = if i < n { "" } else { "against_" };
        format!("{of}{:0digits$}_{name}.{}", i % n + 1, format.extension())
    }

    /// Titles of the scene and of the other one.
    pub(super) fn scene_titles(&self) -> [String; 2] {
        [self.scene.clone(), self.title_against(&self.scene)]
    }

    /// The title of sheets of the other scene, where `own` is that of sheets of the scene.
    pub(super) fn title_against(&self, own: &str) -> String {
        let name = self.against.clone().unwrap_or_default();
        if own == name { format!("against {name}") } else { name }
    }

    /// The part of an image that is shown.
    pub(super) fn cropped<'a>(&self, measured: &'a ImageEstimate) -> Cow<'a, ImageEstimate> {
        match self.style.crop {
            Some(region) => Cow::Owned(crop(measured, region)),
            None => Cow::Borrowed(measured),
        }
    }

    /// What is shown of a variant: its image without noise, if there is one.
    pub(super) fn shown<'a>(&self, variant: &'a StoredVariant) -> Cow<'a, Image> {
        let image = variant.clean.as_ref().map_or(&variant.measured.image, |clean| &clean.image);
        match self.style.crop {
            Some(region) => Cow::Owned(crop_image(image, region)),
            None => Cow::Borrowed(image),
        }
    }
}
