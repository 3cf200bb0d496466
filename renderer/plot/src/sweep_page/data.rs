//! The data of the variants for the page's scripts, as JSON.

use serde_json::{Value, json};

use super::levels::Pixels;
use super::{Page, Variant};
use crate::web;

/// Everything but the pixels.
pub(super) fn json(page: &Page<'_>, pixels: &Pixels, thumbnails: &[Option<String>]) -> String {
    let variant = |(variant, thumbnail): (&Variant, &Option<String>)| {
        // Numbers that are not finite become null.
        let Variant { name, statistics } = variant;
        json!({ "name": name, "statistics": statistics, "thumbnail": thumbnail })
    };
    let baseline = |i| page.baseline.get(i).copied().unwrap_or(Some(0));
    web::json(json!({
        "axes": page.axes.iter().map(|a| json!({ "name": a.name, "labels": a.labels })).collect::<Vec<_>>(),
        "columns": page.columns,
        "variants": page.variants.iter().zip(thumbnails).map(variant).collect::<Vec<_>>(),
        "baseline": (0..page.axes.len()).map(baseline).collect::<Vec<_>>(),
        "exposure": page.develop.exposure,
        "tonemap": page.develop.tonemap.name(),
        "whiteBalance": page.develop.white_balance.matrix(),
        "pixels": pixels_json(pixels),
    }))
}

/// Storage of the pixels; null without any.
fn pixels_json(pixels: &Pixels) -> Value {
    let (Some(grid), Some(part)) = (pixels.grid, pixels.parts.iter().flatten().next()) else {
        return Value::Null;
    };
    json!({
        "size": grid.size,
        "stored": grid.reduced_size(),
        "reduction": grid.reduction,
        "isExact": pixels.detail == web::Detail::Exact,
        "part": { "bits": part.bits, "channels": part.channels },
    })
}
