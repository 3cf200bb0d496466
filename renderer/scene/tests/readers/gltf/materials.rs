//! Materials and textures.

use std::io::Cursor;
use std::path::Path;

use device::material::texture::NO_TEXTURE;
use glam::{Affine2, Vec2, Vec3};
use image::{ImageFormat, Rgba, RgbaImage};
use serde_json::{Value, json};
use torrance_scene::{
    Backfaces, Bitmap, Channel, Color, Description, Extent, Format, GltfMaterial, MaterialKind,
    NormalMapKind, Options, Scalar, TexelFilter, Texture, Wrap, load_with, write,
};

use super::{changed, described, mesh, read_json, uri, warnings, with};

/// A PNG of two by one texels.
fn png() -> String {
    let mut file = Cursor::new(Vec::new());
    let image =
        RgbaImage::from_fn(2, 1, |x, _| Rgba(if x == 0 { [255, 128, 0, 51] } else { [10, 20, 30, 255] }));
    image.write_to(&mut file, ImageFormat::Png).unwrap();
    uri(file.get_ref()).replace("application/octet-stream", "image/png")
}

/// The changes that give the material a texture, 0, and `more`.
fn textured<'a>(sampler: &Value, more: &[(&'a str, Value)]) -> Vec<(&'a str, Value)> {
    let mut changes = vec![
        ("/images", json!([{ "uri": png() }])),
        ("/samplers", json!([sampler])),
        ("/textures", json!([{ "source": 0, "sampler": 0 }])),
    ];
    changes.extend(more.iter().cloned());
    changes
}

fn gltf(description: &Description) -> GltfMaterial {
    match description.materials[0].kind {
        MaterialKind::Gltf(parameters) => parameters,
        other => panic!("{other:?}"),
    }
}

fn gltf_with(extensions: Value) -> GltfMaterial {
    gltf(&changed(&[("/materials/0/extensions", extensions)]))
}

#[test]
fn the_default_is_that_of_the_specification() {
    assert_eq!(gltf_with(json!({})), GltfMaterial::DEFAULT);
}

#[test]
fn metallic_roughness() {
    let pbr =
        json!({ "baseColorFactor": [0.1, 0.2, 0.3, 0.5], "metallicFactor": 0.25, "roughnessFactor": 0.75 });
    let description = changed(&[("/materials/0/pbrMetallicRoughness", pbr)]);
    let expected = GltfMaterial {
        base_color: Color::new(Vec3::new(0.1, 0.2, 0.3)),
        metallic: Scalar::new(0.25),
        roughness: Scalar::new(0.75),
        ..GltfMaterial::DEFAULT
    };
    assert_eq!(gltf(&description), expected);
    // Alpha counts for nothing if nothing is said of it.
    assert!(description.materials[0].opacity.is(1.0));
}

#[test]
fn extensions_set_their_parameters() {
    let found = gltf_with(json!({
        "KHR_materials_ior": { "ior": 1.7 },
        "KHR_materials_specular": { "specularFactor": 0.5, "specularColorFactor": [1, 2, 3] },
        "KHR_materials_anisotropy": { "anisotropyStrength": 0.25, "anisotropyRotation": 0.5 },
        "KHR_materials_clearcoat": { "clearcoatFactor": 0.125, "clearcoatRoughnessFactor": 0.25 },
        "KHR_materials_sheen": { "sheenColorFactor": [0.1, 0.2, 0.3], "sheenRoughnessFactor": 0.75 },
        "KHR_materials_iridescence":
            { "iridescenceFactor": 0.5, "iridescenceIor": 1.4, "iridescenceThicknessMaximum": 250 },
        "KHR_materials_transmission": { "transmissionFactor": 0.5 },
    }));
    let expected = GltfMaterial {
        ior: 1.7,
        specular: Scalar::new(0.5),
        specular_color: Color::new(Vec3::new(1.0, 2.0, 3.0)),
        anisotropy: Scalar::new(0.25),
        rotation: [0.5_f32.cos(), 0.5_f32.sin()],
        clearcoat: Scalar::new(0.125),
        clearcoat_roughness: Scalar::new(0.25),
        sheen_color: Color::new(Vec3::new(0.1, 0.2, 0.3)),
        sheen_roughness: Scalar::new(0.75),
        iridescence: Scalar::new(0.5),
        iridescence_ior: 1.4,
        iridescence_thickness: Scalar::new(250.0),
        transmission: Scalar::new(0.5),
        ..GltfMaterial::DEFAULT
    };
    assert_eq!(found, expected);
}

/// Reflectance straight on, by the formula of the specification.
fn f0(gltf: &GltfMaterial) -> Vec3 {
    let r = (gltf.ior - 1.0) / (gltf.ior + 1.0);
    r * r * gltf.specular_color.value
}

#[test]
fn specular_glossiness_and_an_index_of_zero_reflect_their_specular_colour() {
    let older = json!({ "KHR_materials_pbrSpecularGlossiness":
        { "diffuseFactor": [0.5, 0.5, 0.5, 1], "specularFactor": [0.9, 0.1, 0.2], "glossinessFactor": 0.25 } });
    let older = gltf_with(older);
    assert!((f0(&older) - Vec3::new(0.9, 0.1, 0.2)).length() < 1e-6);
    assert_eq!((older.metallic, older.roughness), (Scalar::new(0.0), Scalar::new(0.75)));
    let zero = json!({ "KHR_materials_ior": { "ior": 0 }, "KHR_materials_specular": { "specularColorFactor": [0.3, 0.2, 0.1] } });
    assert!((f0(&gltf_with(zero)) - Vec3::new(0.3, 0.2, 0.1)).length() < 1e-6);
}

#[test]
fn emission_is_factor_times_strength() {
    let changes = [
        ("/materials/0/emissiveFactor", json!([1, 0.5, 0])),
        ("/materials/0/extensions", json!({ "KHR_materials_emissive_strength": { "emissiveStrength": 8 } })),
        ("/materials/0/doubleSided", json!(true)),
    ];
    let description = changed(&changes);
    assert_eq!(description.shapes[0].emission, Color::new(Vec3::new(8.0, 4.0, 0.0)));
    assert!(description.shapes[0].emission_two_sided);
    assert!(description.lights.is_empty());
}

/// The default is one-sided; glass that light leaves through the back has to have one.
#[test]
fn backs_are_culled_if_that_is_wanted_and_the_file_says_so() {
    let glass = json!({
        "KHR_materials_transmission": { "transmissionFactor": 1 },
        "KHR_materials_volume": { "thicknessFactor": 1 },
    });
    let smooth = json!({ "metallicFactor": 0, "roughnessFactor": 0 });
    let document = with(&[
        ("/materials/-", json!({ "name": "one-sided" })),
        ("/materials/-", json!({ "name": "double-sided", "doubleSided": true })),
        ("/materials/-", json!({ "name": "glass", "pbrMetallicRoughness": smooth, "extensions": glass })),
        ("/extensionsUsed", json!(["KHR_materials_transmission", "KHR_materials_volume"])),
    ]);
    let mut document = document;
    let first = document["materials"].as_array().unwrap().len() - 3;
    let primitive = document["meshes"][0]["primitives"][0].clone();
    let primitives = [Some(first), Some(first + 1), Some(first + 2), None].map(|material| {
        let mut primitive = primitive.clone();
        primitive["material"] = json!(material);
        if material.is_none() {
            primitive.as_object_mut().unwrap().remove("material");
        }
        primitive
    });
    document["meshes"][0]["primitives"] = json!(primitives);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.gltf");
    std::fs::write(&file, document.to_string()).unwrap();
    let culled = |backfaces| {
        let loaded = load_with(&file, &Options { backfaces, ..Options::default() }).unwrap();
        let culled = loaded.description.materials.into_iter().filter(|material| material.cull_backfaces);
        culled.map(|material| material.name).collect::<Vec<_>>()
    };
    assert_eq!(culled(Backfaces::Cull), ["one-sided", "(default)"]);
    assert_eq!(culled(Backfaces::Keep), Vec::<String>::new());
}

#[test]
fn unlit_materials_shine_in_their_base_colour() {
    let unlit = [
        ("/materials/0/extensions", json!({ "KHR_materials_unlit": {} })),
        ("/materials/0/pbrMetallicRoughness", json!({ "baseColorFactor": [0.1, 0.2, 0.3, 1] })),
    ];
    let description = changed(&unlit);
    assert_eq!(description.shapes[0].emission, Color::new(Vec3::new(0.1, 0.2, 0.3)));
    assert_eq!(description.materials[0].kind, MaterialKind::diffuse(Vec3::ZERO));
}

#[test]
fn textures_have_their_channels_samplers_and_transforms() {
    let sampler = json!({ "wrapS": 33071, "wrapT": 33648, "magFilter": 9728 });
    let transform =
        json!({ "KHR_texture_transform": { "offset": [0.25, 0.5], "rotation": 0.5, "scale": [2, 3] } });
    let pbr = json!({
        "baseColorTexture": { "index": 0, "extensions": transform },
        "metallicRoughnessTexture": { "index": 0 },
    });
    let description = changed(&textured(&sampler, &[("/materials/0/pbrMetallicRoughness", pbr)]));
    let found = gltf(&description);
    let bitmap = |index: u32| match &description.textures[index as usize] {
        Texture::Bitmap(bitmap) => bitmap,
        other => panic!("{other:?}"),
    };
    let base = bitmap(found.base_color.texture);
    assert_eq!(
        (base.wrap, base.filter, base.channel),
        ([Wrap::Clamp, Wrap::Mirror], TexelFilter::Nearest, Channel::Rgb)
    );
    // T · R · S of the extension, of which the rotation is counter-clockwise where v points down.
    let (sin, cos) = 0.5_f32.sin_cos();
    let expected = |uv: Vec2| {
        let s = uv * Vec2::new(2.0, 3.0);
        Vec2::new(cos * s.x + sin * s.y + 0.25, cos * s.y - sin * s.x + 0.5)
    };
    for uv in [Vec2::ZERO, Vec2::X, Vec2::Y] {
        assert!((base.image_from_uv.transform_point2(uv) - expected(uv)).length() < 1e-6);
    }
    let (metal, rough) = (bitmap(found.metallic.texture), bitmap(found.roughness.texture));
    assert_eq!(
        (metal.channel, rough.channel, metal.image_from_uv),
        (Channel::B, Channel::G, Affine2::IDENTITY)
    );
    let formats = [base.image, metal.image].map(|image| description.images[image].format);
    assert_eq!(formats, [Format::Srgb8, Format::Rgba8]);
    assert_eq!(*description.images[metal.image].texels, [0x3300_80ff, 0xff1e_140a]);
}

#[test]
fn normal_maps_are_linear_with_green_upwards() {
    let map = json!({ "index": 0, "scale": 0.5 });
    let description = changed(&textured(&json!({}), &[("/materials/0/normalTexture", map)]));
    let map = description.materials[0].normal_map.unwrap();
    assert_eq!((map.kind, map.scale), (NormalMapKind::Up, 0.5));
    assert_eq!(description.textures[map.texture], Texture::Bitmap(Bitmap::new(0)));
    assert_eq!(description.images[0].format, Format::Rgba8);
}

#[test]
fn masks_are_where_alpha_reaches_the_cutoff() {
    let pbr = json!({ "baseColorTexture": { "index": 0 }, "baseColorFactor": [1, 1, 1, 0.5] });
    let more = [
        ("/materials/0/pbrMetallicRoughness", pbr),
        ("/materials/0/alphaMode", json!("MASK")),
        ("/materials/0/alphaCutoff", json!(0.3)),
    ];
    let opacity_of = |sampler: Value| {
        let description = changed(&textured(&sampler, &more));
        let opacity = description.materials[0].opacity;
        let Texture::Bitmap(bitmap) = &description.textures[opacity.texture as usize] else { panic!() };
        assert_eq!((bitmap.filter, opacity.value), (TexelFilter::Nearest, 1.0));
        let image = &description.images[bitmap.image];
        image.texels.iter().take(image.width as usize).map(|t| t & 1).collect::<Vec<_>>()
    };
    // Alpha is 0.1 and 0.5.
    assert_eq!(opacity_of(json!({ "magFilter": 9728 })), [0, 1]);
    // Between the middles of the two, 0.3 is reached in the middle; and again across the edge.
    assert_eq!(opacity_of(json!({ "wrapS": 33071 })), [0, 0, 0, 0, 1, 1, 1, 1]);
    assert_eq!(opacity_of(json!({ "wrapS": 10497 })), [0, 0, 0, 0, 1, 1, 1, 1]);
    // Without a texture, all or nothing.
    let factor = json!({ "baseColorFactor": [1, 1, 1, 0.2] });
    let description = changed(&[("/materials/0/pbrMetallicRoughness", factor), more[1].clone()]);
    assert!(description.materials[0].opacity.is(0.0));
}

#[test]
fn blends_let_through_what_alpha_leaves() {
    let pbr = json!({ "baseColorTexture": { "index": 0 }, "baseColorFactor": [1, 1, 1, 0.5] });
    let more = [("/materials/0/pbrMetallicRoughness", pbr), ("/materials/0/alphaMode", json!("BLEND"))];
    let description = changed(&textured(&json!({}), &more));
    let opacity = description.materials[0].opacity;
    let Texture::Bitmap(bitmap) = &description.textures[opacity.texture as usize] else { panic!() };
    assert_eq!((opacity.value, bitmap.channel), (0.5, Channel::A));
}

#[test]
fn colours_of_vertices_multiply_the_base_colour() {
    let primitive = json!({ "attributes": { "POSITION": 0, "TEXCOORD_0": 2, "COLOR_0": 3 }, "indices": 1, "material": 0 });
    let plain = changed(&[("/meshes/0/primitives/0", primitive.clone())]);
    assert_eq!(mesh(&plain.shapes[0]).colors, [Vec3::X, Vec3::Y, Vec3::Z * 0.2]);
    let base = gltf(&plain).base_color;
    assert_eq!(plain.textures[base.texture as usize], Texture::VertexColor { channel: Channel::Rgb });
    let pbr = json!({ "baseColorTexture": { "index": 0 }, "baseColorFactor": [0.5, 1, 1, 1] });
    let more = [("/meshes/0/primitives/0", primitive), ("/materials/0/pbrMetallicRoughness", pbr)];
    let both = changed(&textured(&json!({}), &more));
    let base = gltf(&both).base_color;
    assert_eq!(base.value, Vec3::new(0.5, 1.0, 1.0));
    let Texture::Product(factors) = both.textures[base.texture as usize] else {
        panic!("{:?}", both.textures)
    };
    assert_eq!(factors.map(|factor| factor.value), [Vec3::ONE; 2]);
    assert_eq!(both.textures[factors[1].texture as usize], Texture::VertexColor { channel: Channel::Rgb });
}

#[test]
fn films_are_as_thick_as_their_texture_says() {
    let film = json!({ "KHR_materials_iridescence": {
        "iridescenceThicknessTexture": { "index": 0 }, "iridescenceThicknessMinimum": 100, "iridescenceThicknessMaximum": 400,
    } });
    let description = changed(&textured(&json!({}), &[("/materials/0/extensions", film)]));
    let thickness = gltf(&description).iridescence_thickness;
    assert_eq!(thickness.value, 400.0);
    let Texture::Mix { colors, weight } = description.textures[thickness.texture as usize] else { panic!() };
    assert_eq!((colors[0].value, colors[1].value, weight.value), (Vec3::splat(0.25), Vec3::ONE, 1.0));
    let Texture::Bitmap(bitmap) = &description.textures[weight.texture as usize] else { panic!() };
    assert_eq!(bitmap.channel, Channel::G);
}

#[test]
fn glass_with_a_thickness_is_solid_and_other_glass_thin() {
    let glass = |thickness: f32, base: f32| {
        let extensions = json!({
            "KHR_materials_transmission": { "transmissionFactor": 1 },
            "KHR_materials_volume": { "thicknessFactor": thickness },
            "KHR_materials_ior": { "ior": 1.4 },
        });
        let pbr = json!({ "metallicFactor": 0, "roughnessFactor": 0.5, "baseColorFactor": [base, 1, 1, 1] });
        with(&[("/materials/0/extensions", extensions), ("/materials/0/pbrMetallicRoughness", pbr)])
    };
    let MaterialKind::Dielectric(solid) = described(&glass(1.0, 1.0)).materials[0].kind else { panic!() };
    assert_eq!((solid.ior, solid.facets.alpha[0]), (1.4, Scalar::new(0.25)));
    assert_eq!(gltf(&described(&glass(0.0, 1.0))).transmission, Scalar::new(1.0));
    let (coloured, warnings) = read_json(&glass(1.0, 0.5)).unwrap();
    assert_eq!(gltf(&coloured).transmission, Scalar::new(1.0));
    assert!(warnings[0].contains("it is thin instead"), "{warnings:?}");
}

#[test]
fn one_set_of_texture_coordinates_counts() {
    let second = json!({ "attributes": { "POSITION": 0, "TEXCOORD_0": 2, "TEXCOORD_1": 2 }, "material": 0 });
    let pbr = json!({ "baseColorTexture": { "index": 0, "texCoord": 1 } });
    let more = [("/meshes/0/primitives/0", second), ("/materials/0/pbrMetallicRoughness", pbr.clone())];
    assert_eq!(mesh(&changed(&textured(&json!({}), &more)).shapes[0]).uvs.len(), 3);
    let both = textured(
        &json!({}),
        &[more[0].clone(), more[1].clone(), ("/materials/0/emissiveTexture", json!({ "index": 0 }))],
    );
    let expected = "m.gltf: materials[0] has textures by several sets of texture coordinates, and one is supported: \
                    materials[0].emissiveTexture by TEXCOORD_1 all the same";
    assert_eq!(warnings(&both), [expected]);
    let missing = textured(&json!({}), &[("/materials/0/pbrMetallicRoughness", pbr)]);
    let expected = "m.gltf: meshes[0].primitives[0] has no TEXCOORD_1, by which its material places textures; all is (0, 0)";
    assert_eq!(warnings(&missing), [expected]);
}

#[test]
fn what_of_materials_is_not_supported_is_said() {
    for (change, expected) in [
        (
            (
                "/materials/0/extensions",
                json!({ "KHR_materials_clearcoat": { "clearcoatNormalTexture": { "index": 0 } } }),
            ),
            "materials[0].extensions.KHR_materials_clearcoat.clearcoatNormalTexture is not supported: coats follow the \
             normals of what they cover",
        ),
        (
            ("/textures/0", json!({ "source": 0, "extensions": { "EXT_texture_avif": { "source": 0 } } })),
            "textures[0] has an image by EXT_texture_avif, which is not supported; its \"source\" is used",
        ),
        (
            (
                "/materials/0/extensions",
                json!({ "KHR_materials_anisotropy":
                { "anisotropyStrength": 1, "anisotropyTexture": { "index": 0 } } }),
            ),
            "materials[0].extensions.KHR_materials_anisotropy has an \"anisotropyTexture\" of directions, which is not \
             supported; its strength is used",
        ),
        (
            ("/materials/0/pbrMetallicRoughness/roughnessFactor", json!(1.5)),
            "materials[0].pbrMetallicRoughness.roughnessFactor is 1.5, outside 0 to 1; it is taken as 1",
        ),
    ] {
        let pbr = json!({ "baseColorTexture": { "index": 0 } });
        let more = [("/materials/0/pbrMetallicRoughness", pbr), change];
        assert_eq!(warnings(&textured(&json!({}), &more)), [format!("m.gltf: {expected}")]);
    }
}

#[test]
fn textures_of_what_is_zero_are_not_read() {
    let pbr =
        json!({ "metallicFactor": 0, "roughnessFactor": 1, "metallicRoughnessTexture": { "index": 0 } });
    let description = changed(&textured(&json!({}), &[("/materials/0/pbrMetallicRoughness", pbr)]));
    assert_eq!(gltf(&description).metallic.texture, NO_TEXTURE);
    assert_ne!(gltf(&description).roughness.texture, NO_TEXTURE);
}

/// A texture may have an image for readers of WebP and one for others.
#[test]
fn the_webp_image_of_a_texture_is_preferred() {
    let of = |color: [u8; 3], format| {
        let mut bytes = Cursor::new(Vec::new());
        image::RgbImage::from_pixel(2, 1, image::Rgb(color)).write_to(&mut bytes, format).unwrap();
        json!({ "uri": uri(bytes.get_ref()) })
    };
    let images = [of([1, 2, 3], ImageFormat::Png), of([9, 8, 7], ImageFormat::WebP)];
    let texture = |other: Value| {
        let description = changed(&[
            ("/images", json!(images)),
            ("/textures", json!([{ "source": 0, "extensions": other }])),
            ("/materials/0/pbrMetallicRoughness", json!({ "baseColorTexture": { "index": 0 } })),
        ]);
        description.images[0].texels[0].to_le_bytes()
    };
    assert_eq!(texture(json!({ "EXT_texture_webp": { "source": 1 } })), [9, 8, 7, 255]);
    assert_eq!(texture(json!({})), [1, 2, 3, 255], "the control: the other image");
}

/// What is seen from both sides, but emits nothing, is written without a key that has no effect.
#[test]
fn written_scenes_warn_of_nothing_themselves() {
    for (emission, sides) in [([0.0; 3], false), ([1.0; 3], true)] {
        let description = changed(&[
            ("/materials/0/doubleSided", json!(true)),
            ("/materials/0/emissiveFactor", json!(emission)),
        ]);
        let text = write(&description, Path::new("scene.toml"), Extent::Short).text();
        assert_eq!(text.contains("emission_sides"), sides, "{text}");
    }
}
