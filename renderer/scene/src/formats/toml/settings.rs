//! `[render]`.

use super::keys;
use crate::description::limits::{MAX_DEPTH, MAX_SPP, check_size};
use crate::description::{
    Direct, HiddenNormals, Holes, Masking, Overrides, PixelFilter, RenderSettings, Sampler,
};
use crate::input::{Field, Section, Source};

/// Samplers by the names they have in scene files and on the command line.
pub const SAMPLERS: &[(&str, Sampler)] = &[("sobol", Sampler::Sobol), ("independent", Sampler::Independent)];
/// Estimators of direct light by name.
pub const DIRECT: &[(&str, Direct)] = &[("mis", Direct::Mis), ("nee", Direct::Nee), ("bsdf", Direct::Bsdf)];
/// Masking–shadowing functions by name.
pub const MASKINGS: &[(&str, Masking)] =
    &[("correlated", Masking::Correlated), ("separable", Masking::Separable)];
/// Shading normals where those of meshes are hidden, by name.
pub(crate) const HIDDEN_NORMALS: &[(&str, HiddenNormals)] =
    &[("geometric", HiddenNormals::Geometric), ("keep", HiddenNormals::Keep)];
/// Effects of holes, by name.
pub(crate) const HOLES: &[(&str, Holes)] = &[("pass", Holes::Pass), ("scatter", Holes::Scatter)];
/// Pixel filters by name, with their default parameters.
pub(crate) const FILTERS: &[(&str, PixelFilter)] = &[
    ("box", PixelFilter::PIXEL),
    ("tent", PixelFilter::Tent { radius: 1.0 }),
    ("gaussian", PixelFilter::Gaussian { radius: 2.0, sigma: 0.5 }),
    ("mitchell", PixelFilter::Mitchell { radius: 2.0, b: 1.0 / 3.0, c: 1.0 / 3.0 }),
    ("blackman_harris", PixelFilter::BlackmanHarris { radius: 1.5 }),
];

/// Reads `[render]`, which may be missing.
pub(super) fn render(src: &Source<'_>, section: Option<Section<'_>>) -> Option<RenderSettings> {
    let defaults = RenderSettings::default();
    let Some(section) = section else {
        return Some(defaults);
    };
    section.reject_unknown_keys(&keys::RENDER.known(None));
    fn or<'a, T>(field: Option<Field<'a>>, default: T, read: impl Fn(Field<'a>) -> Option<T>) -> Option<T> {
        field.map_or(Some(default), read)
    }
    let (width, height) = size(src, &section, &defaults).unzip();
    let spp = or(section.get("spp"), defaults.spp, |f| f.integer(1..=MAX_SPP));
    let seed = or(section.get("seed"), defaults.seed, |f| f.integer(0..=u32::MAX));
    let max_depth = or(section.get("max_depth"), defaults.max_depth, |f| f.integer(1..=MAX_DEPTH));
    let rr_depth = or(section.get("rr"), defaults.rr_depth, |f| rr(&f, defaults.rr_depth));
    let sampler = or(section.get("sampler"), defaults.sampler, |f| f.choice(SAMPLERS));
    let direct = or(section.get("direct"), defaults.direct, |f| f.choice(DIRECT));
    let masking = or(section.get("masking"), defaults.masking, |f| f.choice(MASKINGS));
    let hidden_normals =
        or(section.get("hidden_normals"), defaults.hidden_normals, |f| f.choice(HIDDEN_NORMALS));
    let holes = or(section.get("holes"), defaults.holes, |f| f.choice(HOLES));
    let hide_emitters = or(section.get("hide_emitters"), defaults.hide_emitters, |f| f.boolean());
    let filter = or(section.get("filter"), defaults.filter, |f| filter(&f));
    let sample_border = or(section.get("sample_border"), defaults.sample_border, |f| f.boolean());
    Some(RenderSettings {
        width: width?,
        height: height?,
        spp: spp?,
        seed: seed?,
        max_depth: max_depth?,
        rr_depth: rr_depth?,
        sampler: sampler?,
        direct: direct?,
        masking: masking?,
        hidden_normals: hidden_normals?,
        holes: holes?,
        hide_emitters: hide_emitters?,
        filter: filter?,
        sample_border: sample_border?,
    })
}

/// Overrides of `[render]` by a section with the same keys, but for samples and seed.
pub fn overrides(section: &Section<'_>) -> Option<Overrides> {
    fn read<'a, T>(
        section: &Section<'a>,
        key: &str,
        read: impl Fn(Field<'a>) -> Option<T>,
    ) -> Option<Option<T>> {
        section.get(key).map_or(Some(None), |f| read(f).map(Some))
    }
    let defaults = RenderSettings::default();
    let side = |x: u64| u32::try_from(x).ok();
    let size = read(section, "size", |f| {
        let (width, height) = sides(&f)?;
        match check_size(width, height) {
            Ok(()) => side(width).zip(side(height)),
            Err(message) => {
                f.src.error(f.span(), message);
                None
            }
        }
    });
    let max_depth = read(section, "max_depth", |f| f.integer(1..=MAX_DEPTH));
    let rr_depth = read(section, "rr", |f| rr(&f, defaults.rr_depth));
    let sampler = read(section, "sampler", |f| f.choice(SAMPLERS));
    let direct = read(section, "direct", |f| f.choice(DIRECT));
    let masking = read(section, "masking", |f| f.choice(MASKINGS));
    Some(Overrides {
        size: size?,
        spp: None,
        seed: None,
        max_depth: max_depth?,
        rr_depth: rr_depth?,
        sampler: sampler?,
        direct: direct?,
        masking: masking?,
    })
}

/// `size = [width, height]`, unchecked.
fn sides(size: &Field<'_>) -> Option<(u64, u64)> {
    let sides = size.numbers(2, "width and height, for example [640, 480]")?;
    let (width, height) = (sides[0].natural(), sides[1].natural());
    Some((width?, height?))
}

/// `rr = false`, or the number of bounces that are safe from it; `true` is the default number.
fn rr(field: &Field<'_>, default: Option<u32>) -> Option<Option<u32>> {
    match field.as_bool() {
        Some(true) => Some(default),
        Some(false) => Some(None),
        None if field.is_number() => field.integer(0..=MAX_DEPTH).map(Some),
        None => field.wrong_type("false or a number of bounces"),
    }
}

/// The image size, from `size` or from `width` and `height`.
fn size(src: &Source<'_>, section: &Section<'_>, defaults: &RenderSettings) -> Option<(u32, u32)> {
    let (width_field, height_field) = (section.get("width"), section.get("height"));
    let (width, height, place) = match section.get("size") {
        Some(size) => {
            if let Some(both) = width_field.or(height_field) {
                src.error(
                    both.key_span,
                    format!("{} is given by \"size\" already; keep one of them", both.name),
                );
                return None;
            }
            let (width, height) = sides(&size)?;
            (width, height, size.span())
        }
        None => {
            let place =
                width_field.as_ref().or(height_field.as_ref()).map_or(section.span.clone(), Field::span);
            let side = |f: Option<Field<'_>>, default: u32| f.map_or(Some(default.into()), |f| f.natural());
            let (width, height) = (side(width_field, defaults.width), side(height_field, defaults.height));
            (width?, height?, place)
        }
    };
    match check_size(width, height) {
        Ok(()) => Some((u32::try_from(width).ok()?, u32::try_from(height).ok()?)),
        Err(message) => {
            src.error(place, message);
            None
        }
    }
}

/// The name of a filter, or a table that says more.
fn filter(field: &Field<'_>) -> Option<PixelFilter> {
    if !field.is_table() {
        if field.as_str().is_none() {
            return field
                .wrong_type("the name of a filter, or a table such as { type = \"gaussian\", radius = 2 }");
        }
        return field.choice(FILTERS);
    }
    let section = field.table("\"filter\"")?;
    let kind = section.require("type", "type = \"gaussian\"")?.choice(FILTERS)?;
    let name = section.get("type")?.string()?;
    section.reject_unknown_keys(&keys::FILTER.known(keys::FILTER.type_named(name)));
    let number = |key: &str, default: f32, (low, high): (f32, f32)| {
        section.get(key).map_or(Some(default), |f| f.number_in(low, high))
    };
    let radius = |default: f32| number("radius", default, (0.1, keys::MAX_FILTER));
    Some(match kind {
        PixelFilter::Box { radius: default } => PixelFilter::Box { radius: radius(default)? },
        PixelFilter::Tent { radius: default } => PixelFilter::Tent { radius: radius(default)? },
        PixelFilter::Gaussian { radius: default, sigma } => {
            let (radius, sigma) = (radius(default), number("sigma", sigma, (0.05, keys::MAX_FILTER)));
            PixelFilter::Gaussian { radius: radius?, sigma: sigma? }
        }
        PixelFilter::Mitchell { radius: default, b, c } => {
            let (radius, b, c) = (radius(default), number("b", b, (0.0, 1.0)), number("c", c, (0.0, 1.0)));
            PixelFilter::Mitchell { radius: radius?, b: b?, c: c? }
        }
        PixelFilter::BlackmanHarris { radius: default } => {
            PixelFilter::BlackmanHarris { radius: radius(default)? }
        }
    })
}
