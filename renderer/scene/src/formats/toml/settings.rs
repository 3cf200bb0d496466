//! `[render]`.

use std::ops::Range;

use toml::Value;

use super::keys::{self, Key};
use super::text;
use super::values::{ByName, KeyValue, Named, ValueReader, Visitor};
use crate::description::limits::{LEAST_CLAMP, MAX_DEPTH, MOST_CLAMP, check_size};
use crate::description::{
    Caustics, Direct, Guiding, HiddenNormals, Holes, LightSelection, Masking, Overrides, PixelFilter,
    RenderSettings, Sampler,
};
use crate::input::{Field, Section, Source};

impl Named for Sampler {
    const NAMES: ByName<Self> =
        &[("sobol", Self::Sobol), ("blue_noise", Self::BlueNoise), ("independent", Self::Independent)];
}
impl Named for Direct {
    const NAMES: ByName<Self> = &[("mis", Self::Mis), ("nee", Self::Nee), ("bsdf", Self::Bsdf)];
}
impl Named for LightSelection {
    const NAMES: ByName<Self> = &[("auto", Self::Auto), ("tree", Self::Tree), ("power", Self::Power)];
}
impl Named for Guiding {
    const NAMES: ByName<Self> = &[("auto", Self::Auto), ("on", Self::On), ("off", Self::Off)];
}
impl Named for Caustics {
    const NAMES: ByName<Self> = &[("paths", Self::Paths), ("walks", Self::Walks)];
}
impl Named for Masking {
    const NAMES: ByName<Self> = &[("correlated", Self::Correlated), ("separable", Self::Separable)];
}
impl Named for HiddenNormals {
    const NAMES: ByName<Self> = &[("bend", Self::Bend), ("geometric", Self::Geometric), ("keep", Self::Keep)];
}
impl Named for Holes {
    const NAMES: ByName<Self> = &[("pass", Self::Pass), ("scatter", Self::Scatter)];
}
/// With their default parameters.
impl Named for PixelFilter {
    const NAMES: ByName<Self> = &[
        ("box", Self::PIXEL),
        ("tent", Self::Tent { radius: 1.0 }),
        ("gaussian", Self::Gaussian { radius: 2.0, sigma: 0.5 }),
        ("mitchell", Self::Mitchell { radius: 2.0, b: 1.0 / 3.0, c: 1.0 / 3.0 }),
        ("blackman_harris", Self::BlackmanHarris { radius: 1.5 }),
    ];
}

/// The settings that follow the size of the image and precede the filter.
pub(crate) fn visit_sampling(visitor: &mut impl Visitor, render: &mut RenderSettings) {
    visitor.visit("spp", &mut render.spp);
    visitor.visit("max_depth", &mut render.max_depth);
    visitor.visit("rr", &mut render.rr_depth);
    visitor.visit("sampler", &mut render.sampler);
    visitor.visit("direct", &mut render.direct);
    visitor.visit("lights", &mut render.lights);
    visitor.visit("guiding", &mut render.guiding);
    visitor.visit("guiding_memory", &mut render.guiding_memory);
    visitor.visit("caustics", &mut render.caustics);
    visitor.visit("clamp_indirect", &mut render.clamp_indirect);
    visitor.visit("masking", &mut render.masking);
    visitor.visit("seed", &mut render.seed);
}

/// The settings that follow the filter.
pub(crate) fn visit_visibility(visitor: &mut impl Visitor, render: &mut RenderSettings) {
    visitor.visit("sample_border", &mut render.sample_border);
    visitor.visit("hidden_normals", &mut render.hidden_normals);
    visitor.visit("holes", &mut render.holes);
    visitor.visit("hide_emitters", &mut render.hide_emitters);
}

/// The numbers of a filter.
pub(crate) fn visit_filter(visitor: &mut impl Visitor, filter: &mut PixelFilter) {
    match filter {
        PixelFilter::Box { radius }
        | PixelFilter::Tent { radius }
        | PixelFilter::BlackmanHarris { radius } => visitor.visit("radius", radius),
        PixelFilter::Gaussian { radius, sigma } => {
            visitor.visit("radius", radius);
            visitor.visit("sigma", sigma);
        }
        PixelFilter::Mitchell { radius, b, c } => {
            visitor.visit("radius", radius);
            visitor.visit("b", b);
            visitor.visit("c", c);
        }
    }
}

/// Reads `[render]`, which may be missing.
pub(super) fn render(section: Option<Section<'_>>) -> Option<RenderSettings> {
    let mut render = RenderSettings::default();
    let Some(section) = section else {
        return Some(render);
    };
    section.reject_unknown_keys(&keys::RENDER.known(None));
    let mut reader = ValueReader::new(&section, &keys::RENDER, None);
    let size = size(&section, &render);
    visit_sampling(&mut reader, &mut render);
    let filter = section.get("filter").map_or(Some(render.filter), |f| filter(&f));
    visit_visibility(&mut reader, &mut render);
    ((render.width, render.height), render.filter) = (size?, filter?);
    reader.is_right.then_some(render)
}

/// Overrides of `[render]` by a section with the same keys, but for samples and seed.
pub fn overrides(section: &Section<'_>) -> Option<Overrides> {
    let mut reader = ValueReader::new(section, &keys::RENDER, None);
    let size = section.get("size").map_or(Some(None), |field| {
        let (width, height) = sides(&field)?;
        checked(width, height, field.src, field.span()).map(Some)
    });
    let overrides = Overrides {
        size: size.flatten(),
        spp: None,
        seed: None,
        max_depth: reader.given("max_depth"),
        rr_depth: reader.given("rr"),
        sampler: reader.given("sampler"),
        direct: reader.given("direct"),
        lights: reader.given("lights"),
        guiding: reader.given("guiding"),
        guiding_memory: reader.given("guiding_memory"),
        caustics: reader.given("caustics"),
        clamp_indirect: reader.given("clamp_indirect"),
        masking: reader.given("masking"),
    };
    (size.is_some() && reader.is_right).then_some(overrides)
}

/// An image size at a place of the file.
fn checked(width: u64, height: u64, src: &Source<'_>, place: Range<usize>) -> Option<(u32, u32)> {
    let side = |x: u64| u32::try_from(x).ok();
    match check_size(width, height) {
        Ok(()) => side(width).zip(side(height)),
        Err(message) => {
            src.error(place, message);
            None
        }
    }
}

/// `size = [width, height]`, unchecked.
fn sides(size: &Field<'_>) -> Option<(u64, u64)> {
    let sides = size.numbers("width and height, for example [640, 480]")?;
    let [width, height] = sides.map(|side| side.natural());
    Some((width?, height?))
}

/// `false`, or the number of bounces that are safe from Russian roulette; `true` is the default number.
impl KeyValue for Option<u32> {
    fn read(field: &Field<'_>, _: &Key) -> Option<Self> {
        match field.as_bool() {
            Some(true) => Some(RenderSettings::default().rr_depth),
            Some(false) => Some(None),
            None if field.is_number() => field.integer(0..=MAX_DEPTH).map(Some),
            None => field.wrong_type("false or a number of bounces"),
        }
    }

    fn written(&self, _: &Key) -> Value {
        self.map_or(Value::Boolean(false), |bounces| Value::Integer(bounces.into()))
    }
}

/// A radiance, or `"off"`.
impl KeyValue for Option<f32> {
    fn read(field: &Field<'_>, _: &Key) -> Option<Self> {
        if field.is_number() {
            field.number_in(LEAST_CLAMP, MOST_CLAMP).map(Some)
        } else if field.as_str().is_some() {
            field.choice(&[(OFF, None)])
        } else {
            field.wrong_type("a radiance or \"off\"")
        }
    }

    fn written(&self, _: &Key) -> Value {
        self.map_or(Value::String(OFF.to_owned()), text::number)
    }
}

/// What stands for no radiance.
const OFF: &str = "off";

/// The image size, from `size` or from `width` and `height`.
fn size(section: &Section<'_>, defaults: &RenderSettings) -> Option<(u32, u32)> {
    section.reject_beside("size", &["width", "height"])?;
    if let Some(size) = section.get("size") {
        let (width, height) = sides(&size)?;
        return checked(width, height, section.src, size.span());
    }
    let (width, height) = (section.get("width"), section.get("height"));
    let place = width.as_ref().or(height.as_ref()).map_or(section.span.clone(), Field::span);
    let side = |f: Option<Field<'_>>, default: u32| f.map_or(Some(default.into()), |f| f.natural());
    let (width, height) = (side(width, defaults.width), side(height, defaults.height));
    checked(width?, height?, section.src, place)
}

/// The name of a filter, or a table that says more.
fn filter(field: &Field<'_>) -> Option<PixelFilter> {
    if !field.is_table() {
        if field.as_str().is_none() {
            return field
                .wrong_type("the name of a filter, or a table such as { type = \"gaussian\", radius = 2 }");
        }
        return field.choice(PixelFilter::NAMES);
    }
    let section = field.table("\"filter\"")?;
    let kind = section.require("type", "type = \"gaussian\"")?;
    let mut filter = kind.choice(PixelFilter::NAMES)?;
    let kind = keys::FILTER.type_named(kind.string()?);
    section.reject_unknown_keys(&keys::FILTER.known(kind));
    let mut reader = ValueReader::new(&section, &keys::FILTER, kind);
    visit_filter(&mut reader, &mut filter);
    reader.is_right.then_some(filter)
}
