//! Integrator, sensor, film, filter and sampler.

use glam::{DAffine3, DVec3, Vec2};

use super::clip::ClipPlanes;
use super::direct::DirectSamples;
use super::tree::Class;
use super::view::{PropertyView, View};
use crate::description::affine::{are_alike, are_alike_within};
use crate::description::limits::{MAX_COORDINATE, MAX_DEPTH, MAX_SPP, check_size};
use crate::description::{
    Camera, Clip, FovAxis, HiddenNormals, Holes, Lens, Masking, PixelFilter, Projection, RenderSettings,
    Sampler,
};

/// A film: the image, and what part of it there is.
struct Film {
    /// Sides of the whole image, pixels.
    size: [u32; 2],
    /// First column and row of what is rendered.
    crop_offset: [u32; 2],
    /// Its sides.
    crop: [u32; 2],
    filter: PixelFilter,
    sample_border: bool,
}

impl Film {
    /// Mitsuba's default.
    const WHOLE: Self = Self {
        size: [768, 576],
        crop_offset: [0; 2],
        crop: [768, 576],
        filter: GAUSSIAN,
        sample_border: false,
    };

    const fn aspect(&self) -> f64 {
        self.size[0] as f64 / self.size[1] as f64
    }
}

/// How a scene is to be rendered.
pub(super) struct Settings<'a> {
    pub(super) render: RenderSettings,
    pub(super) camera: Camera,
    pub(super) clip: ClipPlanes<'a>,
    pub(super) samples: DirectSamples<'a>,
}

/// Reads what integrator and sensor say of how a scene is to be rendered.
pub(super) fn read<'a>(scene: &View<'a>) -> Option<Settings<'a>> {
    let paths = paths(scene);
    let sensors = scene.children(Class::Sensor);
    let Some(sensor) = sensors.first() else {
        return scene.error("the scene has no sensor, so that there is no image to make");
    };
    if let Some(second) = sensors.get(1) {
        let message = "there is more than one sensor; the first makes the image";
        scene.sources.warn(&second.property.place, message);
    }
    let sensor = sensor.object()?;
    sensor.plugin()?;
    let film = film(&sensor);
    let sampler = sampler(&sensor);
    // What is wrong with a camera does not hang on the film.
    let clip = ClipPlanes::read(&sensor);
    let camera =
        camera(&sensor, film.as_ref().unwrap_or(&Film::WHOLE), clip.as_ref().map_or(1e4, ClipPlanes::far));
    let camera = sensor.finish(camera, &[Class::Film, Class::Sampler]);
    let (film, (sampler, spp, seed), (paths, samples)) = (film?, sampler?, paths?);
    let [width, height] = film.crop;
    let Film { filter, sample_border, .. } = film;
    let (masking, hidden_normals) = (Masking::Separable, HiddenNormals::Keep);
    let settings = RenderSettings { masking, hidden_normals, filter, sample_border, ..paths };
    let render = RenderSettings { width, height, spp, seed, sampler, ..settings };
    Some(Settings { render, camera: camera?, clip: clip?, samples })
}

/// The settings of the integrator, however deep that is in others.
fn paths<'a>(scene: &View<'a>) -> Option<(RenderSettings, DirectSamples<'a>)> {
    let Some(mut given) = scene.child(Class::Integrator)? else {
        let paths = RenderSettings { max_depth: MAX_DEPTH, holes: Holes::Scatter, ..Default::default() };
        return Some((paths, DirectSamples::ONE));
    };
    for _ in 0..8 {
        let view = given.object()?;
        if !matches!(view.plugin()?, "aov" | "moment") {
            return integrator(&view);
        }
        let why = "files of more than colour are made by other options of the command line";
        view.warn_of(&["aovs"], why);
        let inner = view.child(Class::Integrator);
        given = view.finish(inner, &[Class::Integrator])?.or_else(|| view.fail("has no integrator in it"))?;
    }
    given.error("integrators are nested more than 8 levels deep")
}

fn integrator<'a>(view: &View<'a>) -> Option<(RenderSettings, DirectSamples<'a>)> {
    // How work is cut to pieces, and how long it may take, is decided elsewhere.
    view.ignore(&["samples_per_pass", "block_size", "timeout"]);
    let hide_emitters = view.boolean("hide_emitters", false);
    let mut samples = Some(DirectSamples::ONE);
    let segments = match view.object.plugin.as_str() {
        "direct" => {
            samples = DirectSamples::read(view);
            Some((2, None, Holes::Scatter))
        }
        plugin => {
            let holes = if plugin == "path" { Holes::Scatter } else { Holes::Pass };
            if holes == Holes::Pass {
                let message = format!("{} becomes \"path\": there are no media", view.describe());
                view.sources.warn(&view.object.plugin_place, message);
            }
            let max_depth = match view.integer("max_depth", -1, (-1, i64::MAX)) {
                Some(0) => return view.get("max_depth")?.fail("is 0, and the image would be black"),
                Some(-1) => Some(MAX_DEPTH),
                Some(depth) => Some(depth.min(MAX_DEPTH.into()) as u32),
                None => None,
            };
            let rr_depth = view.integer("rr_depth", 5, (1, i64::MAX));
            max_depth.zip(rr_depth).map(|(max, rr)| (max, (rr < i64::from(max)).then_some(rr as u32), holes))
        }
    };
    let paths = segments.zip(hide_emitters).map(|((max_depth, rr_depth, holes), hide_emitters)| {
        RenderSettings { max_depth, rr_depth, holes, hide_emitters, ..Default::default() }
    });
    view.finish(paths.zip(samples), &[])
}

/// The sampler, samples per pixel, and seed.
fn sampler(sensor: &View<'_>) -> Option<(Sampler, u32, u32)> {
    let Some(given) = sensor.child(Class::Sampler)? else { return Some((Sampler::Independent, 4, 0)) };
    let view = given.object()?;
    let plugin = view.plugin()?;
    let spp = view.integer("sample_count", 4, (1, MAX_SPP.into()));
    let seed = view.integer("seed", 0, (0, u32::MAX.into()));
    if matches!(plugin, "stratified" | "multijitter" | "orthogonal") {
        view.ignore(&["jitter"]);
    }
    if plugin == "orthogonal" {
        view.ignore(&["strength"]);
    }
    let spp = view.finish(spp, &[]);
    // Those that spread their points have a counterpart that does so as well.
    let kind = if plugin == "independent" { Sampler::Independent } else { Sampler::Sobol };
    Some((kind, spp? as u32, seed? as u32))
}

fn film(sensor: &View<'_>) -> Option<Film> {
    let Some(given) = sensor.child(Class::Film)? else { return Some(Film::WHOLE) };
    let view = given.object()?;
    view.plugin()?;
    view.finish(hdrfilm(&view), &[Class::Filter])
}

fn hdrfilm(view: &View<'_>) -> Option<Film> {
    // How images are kept in files is not up to the scene here.
    view.ignore(&["pixel_format", "component_format", "file_format", "compensate", "banner"]);
    let side = |name, default, (low, high)| view.integer(name, default, (low, high)).map(|x| x as u32);
    let sides = (1, i64::from(i32::MAX));
    let (width, height) = (side("width", 768, sides), side("height", 576, sides));
    let filter = view.child(Class::Filter).and_then(|f| f.map_or(Some(GAUSSIAN), |given| filter(&given)));
    let (width, height) = (width?, height?);
    let within = |name, default, size: u32| side(name, i64::from(default), (0, size.into()));
    let sample_border = view.boolean("sample_border", false);
    let (x, y) = (within("crop_offset_x", 0, width - 1), within("crop_offset_y", 0, height - 1));
    let (crop_width, crop_height) =
        (within("crop_width", width, width), within("crop_height", height, height));
    let film = Film {
        size: [width, height],
        crop_offset: [x?, y?],
        crop: [crop_width?, crop_height?],
        filter: filter?,
        // The pixel itself reaches nowhere else.
        sample_border: sample_border? || filter? == PixelFilter::PIXEL,
    };
    if (0..2).any(|i| film.crop_offset[i] + film.crop[i] > film.size[i]) {
        return view.error("the crop reaches beyond the film");
    }
    view.sources.value(&view.object.place, check_size(film.crop[0], film.crop[1]).map(|()| film))
}

/// Mitsuba's default filter.
const GAUSSIAN: PixelFilter = PixelFilter::Gaussian { radius: 2.0, sigma: 0.5 };

fn filter(given: &PropertyView<'_>) -> Option<PixelFilter> {
    const THIRD: f64 = 1.0 / 3.0;
    let view = given.object()?;
    let radii = (1e-3, 64.0);
    let filter = match view.plugin()? {
        "box" => Some(PixelFilter::PIXEL),
        "tent" => view.number_in("radius", 1.0, radii).map(|radius| PixelFilter::Tent { radius }),
        "gaussian" => {
            let sigma = view.number_in("stddev", 0.5, (1e-3, 16.0));
            sigma.map(|sigma| PixelFilter::Gaussian { radius: 4.0 * sigma, sigma })
        }
        "mitchell" => {
            let (b, c) = (view.number_in("B", THIRD, (0.0, 1.0)), view.number_in("C", THIRD, (0.0, 1.0)));
            b.zip(c).map(|(b, c)| PixelFilter::Mitchell { radius: 2.0, b, c })
        }
        // Catmull & Rom's spline is a member of Mitchell & Netravali's family.
        _ => Some(PixelFilter::Mitchell { radius: 2.0, b: 0.0, c: 0.5 }),
    };
    view.finish(filter, &[])
}

/// A camera. Mitsuba's looks along +z, with +y up and +x to the left.
fn camera(view: &View<'_>, film: &Film, far: f64) -> Option<Camera> {
    // Of all sensors, Mitsuba focuses those with a lens only.
    view.ignore(&["shutter_open", "shutter_close", "focus_distance"]);
    let to_world = view.transform("to_world");
    let projection = match view.object.plugin == "orthographic" {
        true => None,
        false => Some(perspective(view, film, far)?),
    };
    let to_world = to_world?;
    let m = to_world.matrix3;
    let (x, y, z) = (m.x_axis, m.y_axis, m.z_axis);
    let scale = x.length();
    // Mitsuba's own tolerance.
    let is_rigid = are_alike_within(1e-3, [x, y, z]) && (scale - 1.0).abs() < 1e-3;
    let (projection, to_world) = match projection {
        Some(projection) if is_rigid => (projection, to_world),
        Some(_) => {
            return view
                .error("\"to_world\" of a camera has to be a rotation, a reflection or a translation");
        }
        None if are_alike([x, y, z.normalize() * scale]) => orthographic(film, &to_world),
        None => {
            return view.error("\"to_world\" stretches the image more along one side than along the other");
        }
    };
    let position = to_world.translation;
    let forward = z.normalize() * position.abs().max_element().max(1.0);
    Some(Camera {
        position: position.as_vec3(),
        target: (position + forward).as_vec3(),
        up: y.normalize().as_vec3(),
        mirrored: m.determinant() < 0.0,
        projection,
        clip: Clip::DEFAULT,
    })
}

/// A pinhole or thin lens. Of a crop, that which sees no more than that.
fn perspective(view: &View<'_>, film: &Film, far: f64) -> Option<Projection> {
    let (fov, axis) = fov(view)?;
    let lens = match view.object.plugin == "thinlens" {
        true => {
            let most = f64::from(MAX_COORDINATE);
            let radius = view.require("aperture_radius").and_then(|g| g.number_in(0.0, most));
            let focus_distance = view.number_in("focus_distance", far, (1e-6, most));
            let (radius, focus_distance) = (radius?, focus_distance?);
            (radius > 0.0).then_some(Lens { radius, focus_distance, blades: 0, rotation: 0.0 })
        }
        false => None,
    };
    let offset = |name| match view.object.plugin.as_str() {
        "perspective" => view.number_in(name, 0.0, (-1e3, 1e3)),
        _ => Some(0.0),
    };
    let (x, y) = (offset("principal_point_offset_x"), offset("principal_point_offset_y"));
    // Mitsuba moves the image, and we what is in it.
    let principal_point = -Vec2::new(x?, y?);
    if film.crop == film.size {
        return Some(Projection::Perspective { fov, fov_axis: axis, principal_point, lens });
    }
    let half_width = half_width((fov, axis), film.aspect());
    let [[w, h], [cw, ch]] = [film.size, film.crop].map(|s| s.map(f64::from));
    let half_width = half_width * cw / w;
    let [shift_x, shift_y] = crop_shift(film);
    let principal_point = Vec2::new(
        ((f64::from(principal_point.x) - shift_x) * w / cw) as f32,
        ((f64::from(principal_point.y) - shift_y) * h / ch) as f32,
    );
    let fov = (2.0 * half_width.atan()).to_degrees() as f32;
    Some(Projection::Perspective { fov, fov_axis: FovAxis::X, principal_point, lens })
}

/// Half the width of the image at distance 1, which is `aspect` times as wide as high.
pub(super) fn half_width((fov, axis): (f32, FovAxis), aspect: f64) -> f64 {
    let tan = (0.5 * f64::from(fov).to_radians()).tan();
    match axis {
        FovAxis::X => tan,
        FovAxis::Y => tan * aspect,
        FovAxis::Diagonal => tan * aspect / (1.0 + aspect * aspect).sqrt(),
        FovAxis::Smaller => tan * aspect.max(1.0),
        FovAxis::Larger => tan * aspect.min(1.0),
    }
}

/// How far the middle of the crop is to the right of and below that of the image, as parts of its width and height.
fn crop_shift(film: &Film) -> [f64; 2] {
    [0, 1].map(|i| {
        let middle = f64::from(film.crop_offset[i]) + 0.5 * f64::from(film.crop[i]);
        middle / f64::from(film.size[i]) - 0.5
    })
}

/// The field of view, degrees, and its axis; by default that of a 50 mm lens on 35 mm film.
pub(super) fn fov(view: &View<'_>) -> Option<(f32, FovAxis)> {
    const AXES: [(&str, FovAxis); 5] = [
        ("x", FovAxis::X),
        ("y", FovAxis::Y),
        ("diagonal", FovAxis::Diagonal),
        ("smaller", FovAxis::Smaller),
        ("larger", FovAxis::Larger),
    ];
    if let Some(fov) = view.get("fov") {
        let degrees = fov.number_in(1e-3, 180.0 - 1e-3);
        let axis = view.choice("fov_axis", FovAxis::X, &AXES);
        if let Some(length) = view.get("focal_length") {
            return length.fail("is given by \"fov\" already; keep one of them");
        }
        return degrees.zip(axis);
    }
    let millimetres = match view.get("focal_length") {
        None => 50.0,
        Some(given) => {
            let text = given.text()?;
            let number = text.trim().trim_end_matches("mm").trim().parse().ok();
            match number.filter(|x: &f64| (1e-3..1e6).contains(x)) {
                Some(number) => number,
                None => return given.fail("is not a length above 0 such as \"50mm\""),
            }
        }
    };
    let diagonal = 36.0_f64.hypot(24.0);
    let fov = 2.0 * (diagonal / (2.0 * millimetres)).atan();
    Some((fov.to_degrees() as f32, FovAxis::Diagonal))
}

/// The image is 2 wide before `to_world` scales it. A crop is a smaller image elsewhere.
fn orthographic(film: &Film, to_world: &DAffine3) -> (Projection, DAffine3) {
    let m = to_world.matrix3;
    let part = f64::from(film.crop[0]) / f64::from(film.size[0]);
    let size = (2.0 * m.x_axis.length() * part) as f32;
    let [right, below] = crop_shift(film);
    let shift = DVec3::new(-2.0 * right, -2.0 * below / film.aspect(), 0.0);
    let moved = DAffine3 { translation: to_world.transform_point3(shift), ..*to_world };
    (Projection::Orthographic { size, axis: FovAxis::X }, moved)
}
