//! Which extensions are known, and what becomes of the others.

use std::collections::BTreeSet;

use serde_json::Value;
use torrance_text::quoted;

use super::json::Document;

/// Support of an extension.
#[derive(Clone, Copy, PartialEq)]
enum Support {
    /// It is read, but for what warnings say where it is used, or changes nothing that is seen.
    Read,
    /// It is passed over where something else is there instead, which warnings say where it is used.
    Instead,
    /// It is left out, and what that means.
    LeftOut(&'static str),
}

const EXTENSIONS: &[(&str, Support)] = &[
    ("EXT_mesh_gpu_instancing", Support::Read),
    ("EXT_mesh_manifold", Support::Read),
    ("EXT_meshopt_compression", Support::Read),
    ("EXT_texture_avif", Support::Instead),
    ("EXT_texture_webp", Support::Read),
    ("KHR_animation_pointer", Support::Read),
    ("KHR_draco_mesh_compression", Support::Read),
    ("KHR_lights_punctual", Support::Read),
    ("KHR_materials_anisotropy", Support::Read),
    ("KHR_materials_clearcoat", Support::Read),
    ("KHR_materials_diffuse_transmission", Support::LeftOut("surfaces let no diffuse light pass")),
    ("KHR_materials_dispersion", Support::LeftOut("colours are refracted alike")),
    ("KHR_materials_emissive_strength", Support::Read),
    ("KHR_materials_ior", Support::Read),
    ("KHR_materials_iridescence", Support::Read),
    ("KHR_materials_pbrSpecularGlossiness", Support::Read),
    ("KHR_materials_sheen", Support::Read),
    ("KHR_materials_specular", Support::Read),
    ("KHR_materials_transmission", Support::Read),
    ("KHR_materials_unlit", Support::Read),
    ("KHR_materials_variants", Support::Read),
    ("KHR_materials_volume", Support::Read),
    ("KHR_mesh_quantization", Support::Read),
    ("KHR_meshopt_compression", Support::Read),
    ("KHR_node_visibility", Support::Read),
    ("KHR_texture_basisu", Support::Read),
    ("KHR_texture_transform", Support::Read),
    ("KHR_xmp_json_ld", Support::Read),
    ("MSFT_texture_dds", Support::Instead),
];

/// Reports extensions that are required and not supported, and warns of others that are used.
pub(super) fn check(document: Document<'_>) -> Option<()> {
    let node = document.node();
    let mut used = BTreeSet::new();
    for extension in node.list("extensionsUsed")? {
        used.insert(extension.string()?);
    }
    collect(document.root, &mut used);
    let mut missing = false;
    let support = |name: &str| EXTENSIONS.iter().find(|(n, _)| *n == name).map(|(_, support)| *support);
    for extension in node.list("extensionsRequired")? {
        let name = extension.string()?;
        used.remove(name);
        let why = match support(name) {
            Some(Support::Read) => continue,
            Some(Support::LeftOut(what)) => format!(": {what}"),
            Some(Support::Instead) => String::new(),
            None => document
                .log
                .suggestions
                .nearest(name, EXTENSIONS.iter().map(|(n, _)| *n))
                .map_or_else(String::new, |near| format!("; did you mean {near:?}?")),
        };
        missing = true;
        document.log.error(format!("requires the extension {}, which is not supported{why}", quoted(name)));
    }
    for name in used {
        let what = match support(name) {
            Some(Support::LeftOut(what)) => what,
            Some(_) => continue,
            None => "it is left out",
        };
        document.log.warn(format!("uses the extension {}, which is not supported: {what}", quoted(name)));
    }
    (!missing).then_some(())
}

/// The names of extensions that are used within a value, said or not. Values nest no deeper than the parser of JSON
/// lets them.
fn collect<'a>(value: &'a Value, used: &mut BTreeSet<&'a str>) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, used)),
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::Object(extensions) if key == "extensions" => {
                        used.extend(extensions.keys().map(String::as_str))
                    }
                    _ if key == "extras" => continue,
                    _ => {}
                }
                collect(value, used);
            }
        }
        _ => {}
    }
}
