//! Which parts of the crate may use which: a part uses those below it, and none above.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::source::{code, sources};

/// The parts, from the ground up. A part may use what is in lines before its own.
const LAYERS: &[&[&str]] = &[
    &["arch", "view"],
    &["features", "row"],
    &["color", "film", "filter", "math", "matte", "mis", "rng"],
    &["sampling", "special"],
    &["ray"],
    &["camera", "shape"],
    &["bvh"],
    &["function"],
    &["denoise"],
    &["bsdf"],
    &["material"],
    &["light"],
    &["guiding"],
    &["scene"],
    &["path"],
];

fn layer(part: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&part))
}

/// The part that a module is of: the file or folder at the root.
fn part_of(module: &str) -> &str {
    module.split("::").next().unwrap_or(module)
}

/// The parts of the crate that the source of a module names, by `crate::` or by as many `super::` as lead to the root, but not
/// in its comments.
fn uses(module: &str, source: &str) -> BTreeSet<String> {
    let code: String = code(source).split_whitespace().collect();
    let to_root = "super::".repeat(module.split("::").count());
    let code = code.replace(&to_root, "crate::");
    let mut parts = BTreeSet::new();
    for path in code.split("crate::").skip(1) {
        let mut depth = 0;
        let grouped = path.strip_prefix('{');
        let mut rest = grouped.unwrap_or(path);
        loop {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            if end > 0 {
                parts.insert(rest[..end].to_owned());
            }
            // On to the next of the group, past what is named of this one.
            let next = rest.char_indices().find(|(_, c)| {
                depth += match c {
                    '{' => 1,
                    '}' => -1,
                    _ => 0,
                };
                depth < 0 || depth == 0 && *c == ','
            });
            match next {
                Some((i, ',')) if grouped.is_some() => rest = &rest[i + 1..],
                _ => break,
            }
        }
    }
    parts
}

/// Uses of a part that is not below, and parts that are in no layer.
fn violations(sources: &[(String, String)]) -> Vec<String> {
    let mut arrows: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (module, source) in sources {
        arrows.entry(part_of(module)).or_default().extend(uses(module, source));
    }
    let mut found = Vec::new();
    for (part, used) in &arrows {
        let Some(own) = layer(part) else {
            found.push(format!("{part} is in no layer"));
            continue;
        };
        for used in used.iter().filter(|used| used != part) {
            match layer(used) {
                Some(other) if other < own => {}
                Some(_) => found.push(format!("{part} uses {used}, which is not below it")),
                None => found.push(format!("{part} uses {used}, which is in no layer")),
            }
        }
    }
    found
}

#[test]
fn no_part_uses_one_above_it() {
    let found: Vec<_> = sources().into_iter().filter(|(module, _)| module != "lib").collect();
    assert!(found.len() > 100, "{} sources", found.len());
    assert_eq!(violations(&found), [""; 0]);
    let known: BTreeSet<_> = found.iter().map(|(module, _)| part_of(module)).collect();
    assert_eq!(known, LAYERS.iter().flat_map(|layer| layer.iter().copied()).collect(), "layers of nothing");
}

#[test]
fn uses_are_found_in_all_forms() {
    let names_of = |module: &str, source: &str| uses(module, source).into_iter().collect::<Vec<_>>();
    let names = |source: &str| names_of("bsdf::gltf", source);
    assert_eq!(names("use crate::arch::{max, min};\nuse crate::ray::Ray;"), ["arch", "ray"]);
    assert_eq!(names("use crate::{arch::{max, min}, bvh, shape::Primitive};"), ["arch", "bvh", "shape"]);
    assert_eq!(names("use crate::{\n    arch, // and crate::path\n    bvh::Hit,\n};"), ["arch", "bvh"]);
    assert_eq!(names("fn f(x: crate::light::Light) { g::<{ crate::path::N }>(x) }"), ["light", "path"]);
    assert_eq!(names("//! See [`crate::path`].\nuse super::arch;"), [""; 0]);
    assert_eq!(names("use super::super::arch;"), ["arch"]);
    assert_eq!(names_of("bsdf", "use super::{ray, shape::Primitive};"), ["ray", "shape"]);
}

#[test]
fn arrows_up_are_found() {
    let source = |part: &str, text: &str| (part.to_owned(), text.to_owned());
    let sound = [source("bvh", "use crate::shape::Primitive;"), source("shape", "use crate::shape::sphere;")];
    assert_eq!(violations(&sound), [""; 0]);
    let up = [source("shape", "use crate::{arch::max, bvh::Hit};")];
    assert_eq!(violations(&up), ["shape uses bvh, which is not below it"]);
    let by_super = [source("shape::sphere", "use super::super::bvh::Hit;")];
    assert_eq!(violations(&by_super), ["shape uses bvh, which is not below it"]);
    let beside = [source("math", "use crate::color::luminance;")];
    assert_eq!(violations(&beside), ["math uses color, which is not below it"]);
    let unknown = [source("clouds", ""), source("path", "use crate::clouds::Cloud;")];
    assert_eq!(violations(&unknown), ["clouds is in no layer", "path uses clouds, which is in no layer"]);
}
