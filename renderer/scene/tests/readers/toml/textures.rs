//! Which textures are allowed in which places.

use crate::loaded;

/// The error message of a scene in which one or two textures are given for parameters.
fn problems(named: &str, material: &str, emission: &str) -> Vec<String> {
    let text = format!(
        "[camera]\nposition = [0, 0, 4]\ntarget = [0, 0, 0]\nfov = 40\n{named}\n[[shapes]]\ntype = \"quad\"\n\
         material = {{ {material} }}\nemission = {emission}\n"
    );
    loaded(&text).err().map_or(Vec::new(), |e| e.problems.iter().map(|p| p.to_string()).collect())
}

#[track_caller]
fn refused(named: &str, material: &str, emission: &str, message: &str) {
    let problems = problems(named, material, emission);
    assert!(problems.len() == 1 && problems[0].contains(message), "{message}: {problems:#?}");
}

#[track_caller]
fn fine(named: &str, material: &str, emission: &str) {
    assert_eq!(problems(named, material, emission), Vec::<String>::new());
}

const UNIT: &str = r#"{ type = "checker", colors = [0.2, 0.5] }"#;

/// Whatever is read, an albedo stays below 1: ranges are those of parameters.
#[test]
fn parameters_have_their_ranges() {
    for (material, key) in [
        (r#"type = "diffuse", reflectance = T"#, "reflectance"),
        (r#"type = "diffuse", reflectance = 0.5, roughness = T"#, "roughness"),
        (r#"type = "diffuse", reflectance = 0.5, opacity = T"#, "opacity"),
        (r#"type = "diffuse", reflectance = 0.5, normal_map = T"#, "normal_map"),
        (r#"type = "conductor", metal = "gold", alpha = [0.2, T]"#, "alpha"),
        (r#"type = "plastic", reflectance = 0.5, specular = T"#, "specular"),
        (r#"type = "principled", base_color = T"#, "base_color"),
        (r#"type = "principled", metallic = T"#, "metallic"),
        (r#"type = "gltf", base_color = T"#, "base_color"),
        (r#"type = "gltf", transmission = T"#, "transmission"),
        (r#"type = "sheen", color = T"#, "color"),
    ] {
        fine("", &material.replace('T', UNIT), "1");
        for range in ["radiance", "height"] {
            let one = format!(r#"{{ type = "checker", colors = [0.2, 0.5], range = "{range}" }}"#);
            let why = format!(r#""{key}" takes textures of range "unit", and this one has "{range}""#);
            refused("", &material.replace('T', &one), "1", &why);
            let named = format!("[textures]\nt = {one}");
            let why =
                format!(r#""{key}" takes textures of range "unit", and "t" has "{range}"; define another"#);
            refused(&named, &material.replace('T', r#"{ texture = "t" }"#), "1", &why);
        }
    }
}

#[test]
fn light_is_bright_and_heights_are_any() {
    let grey = r#"type = "diffuse", reflectance = 0.5"#;
    let with = |range: &str| format!(r#"{{ type = "checker", colors = [0.2, 0.5], range = "{range}" }}"#);
    fine("", grey, &with("unit"));
    fine("", grey, &with("radiance"));
    fine("", grey, r#"{ type = "checker", colors = [3, 5] }"#);
    refused("", grey, &with("height"), r#""emission" takes textures of range "radiance", and this one has"#);
    for range in ["unit", "radiance", "height"] {
        fine("", &format!("{grey}, bump_map = {}", with(range)), "1");
    }
}

/// Whatever a texture is made of counts, in tables and by name.
#[test]
fn ranges_are_those_of_whole_trees() {
    let mix = |inner: &str| {
        format!(
            r#"type = "diffuse", reflectance = {{ type = "mix", weight = 0.5, colors = [0.1, {inner}] }}"#
        )
    };
    let bright = r#"{ type = "checker", colors = [3, 5], range = "radiance" }"#;
    fine("", &mix(UNIT), "1");
    refused("", &mix(bright), "1", r#""colors" takes textures of range "unit", and this one has "radiance""#);
    let bright = "[textures.t]\ntype = \"checker\"\ncolors = [3, 5]\nrange = \"radiance\"\n";
    refused(bright, &mix("\"t\""), "1", r#""colors" takes textures of range "unit", and "t" has "radiance""#);
    let product =
        |range: &str| format!("{bright}[textures.p]\ntype = \"product\"\nfactors = [\"t\", 0.5]\n{range}\n");
    let grey = r#"type = "diffuse", reflectance = 0.5"#;
    fine(&product("range = \"radiance\""), grey, "\"p\"");
    refused(&product(""), grey, "\"p\"", r#""factors" takes textures of range "unit", and "t" has"#);
    // One texture for both is refused where it may not be.
    fine(bright, grey, "\"t\"");
    let both = r#"type = "diffuse", reflectance = "t""#;
    refused(bright, both, "\"t\"", r#""reflectance" takes textures of range "unit""#);
    let weight = r#"type = "diffuse", reflectance = { type = "mix", colors = [0, 1], weight = "t" }"#;
    refused(bright, weight, "1", r#""weight" takes textures of range "unit""#);
}

/// Who names a texture for a lamp is told how.
#[test]
fn bright_colors_need_a_range() {
    let named = "[textures.t]\ntype = \"checker\"\ncolors = [3, 5]\n";
    let grey = r#"type = "diffuse", reflectance = 0.5"#;
    refused(named, grey, "\"t\"", "with range = \"radiance\"");
    // Where that would not help, it is not said.
    let albedo = r#"type = "diffuse", reflectance = { type = "checker", colors = [3, 0] }"#;
    refused("", albedo, "1", "\"colors\" must be between 0 and 1, not 3");
}

/// The keys of a texture must not stand beside a reference to it by name.
#[test]
fn keys_beside_a_name_are_explained() {
    let named = "[textures]\nt = { type = \"checker\", colors = [0.2, 0.5] }\n";
    let beside = |keys: &str| format!(r#"type = "diffuse", reflectance = {{ texture = "t", {keys} }}"#);
    fine(named, &beside("factor = 0.5"), "1");
    let repeats =
        "\"scale\" is how often a texture repeats, which is said where it is defined; \"factor\" is";
    refused(named, &beside("scale = 2"), "1", repeats);
    refused(
        named,
        &beside("rotate = 2"),
        "1",
        "\"rotate\" is said where the texture is defined, not beside its",
    );
    refused(named, &beside("type = \"bitmap\""), "1", "\"type\" is said where the texture is defined");
    refused(named, &beside("frobnicate = 2"), "1", "unknown key \"frobnicate\"");
    let bump =
        r#"type = "diffuse", reflectance = 0.5, bump_map = { texture = "t", strength = 0.1, scale = 2 }"#;
    refused(named, bump, "1", "\"scale\" is said where the texture is defined");
}
