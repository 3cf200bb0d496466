//! Messages for broken files: the first problem of each.

use super::{around, load_text, references};

/// Scenes with a place for what is broken, and what is said.
#[rustfmt::skip]
const ROWS: &[(&str, &str)] = &[
    (r#""#, r#"s.xml:1:1: not valid XML: the document does not have a root node"#),
    (r#"!not xml"#, r#"s.xml:1:1: not valid XML: unknown token"#),
    (r#"<scene version="3.0.0">"#, r#"s.xml:1:1: not valid XML: the root node was opened but never closed"#),
    (r#"<scene/>"#, r#"s.xml:1:1: <scene> has no "version"; add version="3.0.0" if the scene is for Mitsuba 3"#),
    (r#"<scene version="3"/>"#, r#"s.xml:1:17: version "3" is not of the form "3.0.0""#),
    (r#"<scene version="3.0.0"/>"#, r#"s.xml:1:1: the scene has no sensor, so that there is no image to make"#),
    (r#"!<bsdf version="3.0.0" type="diffuse"/><x/>"#, r#"s.xml:1:39: not valid XML: unknown token"#),
    (r#"!<foo version="3.0.0"/>"#, r#"s.xml:1:1: the root is <foo>, and should be <scene>"#),
    (r#"!<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><scene version="3.0.0"/>"#, r#"s.xml:1:1: not valid XML: XML with DTD detected"#),
    (r#"<shap type="sphere"/>"#, r#"s.xml:2:1: unknown element <shap>; did you mean <shape>?"#),
    (r#"<shape/>"#, r#"s.xml:2:1: <shape> has no "type", which would say what kind it is"#),
    (r#"<shape type="spere"/>"#, r#"s.xml:2:14: unknown shape "spere"; did you mean "sphere"?"#),
    (r#"<shape type="sdfgrid"/>"#, r#"s.xml:2:14: shape "sdfgrid" is not supported"#),
    (r#"<shape type="sphere" foo="1"/>"#, r#"s.xml:2:22: <shape> has no attribute "foo"; it has "type", "id" or "name""#),
    (r#"<shape type="sphere"><float name="radus" value="2"/></shape>"#, r#"s.xml:2:22: shape "sphere" has no "radus"; did you mean "radius"?"#),
    (r#"<shape type="sphere"><float name="radius" value="big"/></shape>"#, r#"s.xml:2:50: "big" is not a finite number"#),
    (r#"<shape type="sphere"><float name="radius" value="-1"/></shape>"#, r#"s.xml:2:22: "radius" of shape "sphere" must be between 0.000000001 and 1000000000"#),
    (r#"<shape type="sphere"><float name="radius"/></shape>"#, r#"s.xml:2:22: <float> has no "value""#),
    (r#"<shape type="sphere"><float value="1"/></shape>"#, r#"s.xml:2:22: <float> has no "name""#),
    (r#"<shape type="sphere"><rgb name="radius" value="1 2 3"/></shape>"#, r#"s.xml:2:22: "radius" of shape "sphere" is a colour, and should be a number"#),
    (r#"<shape type="sphere"><float name="radius" value="1"/><float name="radius" value="2"/></shape>"#, r#"s.xml:2:54: "radius" is given twice"#),
    (r#"<shape type="sphere"><point name="center" x="1" y="2"/></shape>"#, r#"s.xml:2:22: <point> has no "z""#),
    (r#"<shape type="sphere"><point name="center" value="1 2"/></shape>"#, r#"s.xml:2:50: "1 2" is not one number or three"#),
    (r#"<shape type="sphere"><boolean name="flip_normals" value="yes"/></shape>"#, r#"s.xml:2:58: "yes" is not "true" or "false""#),
    (r#"<shape type="sphere"><integer name="radius" value="1.5"/></shape>"#, r#"s.xml:2:52: "1.5" is not a whole number"#),
    (r#"<shape type="sphere"><transform name="to_world"><scal value="2"/></transform></shape>"#, r#"s.xml:2:49: <scal> is no step of a <transform>; did you mean <scale>?"#),
    (r#"<shape type="sphere"><transform name="to_world"><scale value="0"/></transform></shape>"#, r#"s.xml:2:22: "to_world" of shape "sphere" scales by less than 1e-9"#),
    (r#"<shape type="sphere"><transform name="to_world"><rotate angle="3"/></transform></shape>"#, r#"s.xml:2:49: the axis of a rotation has no direction"#),
    (r#"<shape type="sphere"><transform name="to_world"><matrix value="1 2 3"/></transform></shape>"#, r#"s.xml:2:64: a matrix has 16 numbers, or 9: row by row; these are 3"#),
    (r#"<shape type="sphere"><transform name="to_world"><lookat origin="0 0 0" target="0 0 0"/></transform></shape>"#, r#"s.xml:2:49: "origin" and "target" are the same point"#),
    (r#"<shape type="sphere"><translate x="1"/></shape>"#, r#"s.xml:2:22: <translate> belongs into a <transform>"#),
    (r#"<shape type="sphere"><animation name="to_world"/></shape>"#, r#"s.xml:2:22: <animation> is not supported: things do not move"#),
    (r#"<shape type="sphere"><ref id="whit"/><bsdf type="diffuse" id="white"/></shape>"#, r#"s.xml:2:22: nothing has the id "whit"; did you mean "white"?"#),
    (r#"<shape type="sphere"><bsdf type="difuse"/></shape>"#, r#"s.xml:2:34: unknown bsdf "difuse"; did you mean "diffuse"?"#),
    (r#"<shape type="sphere"><bsdf type="hair"/></shape>"#, r#"s.xml:2:34: bsdf "hair" is not supported"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><rgb name="reflectanc" value="1"/></bsdf></shape>"#, r#"s.xml:2:43: bsdf "diffuse" has no "reflectanc"; did you mean "reflectance"?"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><rgb name="reflectance" value="1.5"/></bsdf></shape>"#, r#"s.xml:2:43: "reflectance" of bsdf "diffuse" must be between 0 and 1 in every channel"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><rgb name="reflectance" value="1 2"/></bsdf></shape>"#, r#"s.xml:2:74: "1 2" is not one number or three: red, green and blue"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" value="400:1, 500"/></bsdf></shape>"#, r#"s.xml:2:79: "500" is no "wavelength:value", as in "400:0.1, 700:0.9""#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" value="400:1, 500:x"/></bsdf></shape>"#, r#"s.xml:2:79: "x" is not a finite number"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" value="400:1, 500:nan"/></bsdf></shape>"#, r#"s.xml:2:79: "nan" is not a finite number"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" value="400:1"/></bsdf></shape>"#, r#"s.xml:2:79: a spectrum has at least two wavelengths, as in "400:0.1, 700:0.9""#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" value="500:1, 400:1"/></bsdf></shape>"#, r#"s.xml:2:79: the wavelength 400 follows 500; wavelengths have to increase"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" value="400:1, 500:-1"/></bsdf></shape>"#, r#"s.xml:2:79: -1, at the wavelength 500, must be between 0 and 1e30"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" value="x"/></bsdf></shape>"#, r#"s.xml:2:79: "x" is not a finite number"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" value="1.5"/></bsdf></shape>"#, r#"s.xml:2:43: "reflectance" of bsdf "diffuse" must be between 0 and 1 in every channel"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance"/></bsdf></shape>"#, r#"s.xml:2:43: <spectrum> has no "value""#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" filename="no.spd"/></bsdf></shape>"#, r#"s.xml:2:82: cannot read spectrum "FOLDER/no.spd": no such file"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" filename="../no.spd"/></bsdf></shape>"#, r#"s.xml:2:82: cannot read spectrum "../no.spd": it is not in the folder of the scene; --allow-external lets scenes read other files"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" filename="textured"/></bsdf></shape>"#, r#"s.xml:2:82: cannot read spectrum "FOLDER/textured": it is a directory"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" filename="x.spd" value="1"/></bsdf></shape>"#, r#"s.xml:2:89: "value" is given by "filename" already; keep one of them"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" type="blackbody"><float name="temperature" value="5000"/></spectrum></bsdf></shape>"#, r#"s.xml:2:43: a blackbody is light, and cannot be what something else is like"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" type="blackbody"/></bsdf></shape>"#, r#"s.xml:2:43: texture "blackbody" has no "temperature""#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" type="irregular"><string name="wavelengths" value="400"/><string name="values" value="1 1"/></spectrum></bsdf></shape>"#, r#"s.xml:2:129: "values" of texture "irregular" has 2 numbers, and "wavelengths" has 1"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" type="irregular"><string name="wavelengths" value="400 x"/><string name="values" value="1 1"/></spectrum></bsdf></shape>"#, r#"s.xml:2:89: "x" is not a finite number"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" type="regular"><float name="wavelength_min" value="700"/><float name="wavelength_max" value="400"/><string name="values" value="1 1"/></spectrum></bsdf></shape>"#, r#"s.xml:2:43: "wavelength_min" has to be less than "wavelength_max""#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" type="regular"><float name="wavelength_min" value="400"/><float name="wavelength_max" value="700"/><string name="values" value="1"/></spectrum></bsdf></shape>"#, r#"s.xml:2:171: a spectrum has at least two wavelengths, as in "400:0.1, 700:0.9""#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><spectrum name="reflectance" type="regular"><string name="values" value="1 1"/></spectrum></bsdf></shape>"#, r#"s.xml:2:43: texture "regular" has no "wavelength_min""#),
    (r#"<shape type="sphere"><bsdf type="conductor"><spectrum name="eta" value="400:1001, 700:1001"/></bsdf></shape>"#, r#"s.xml:2:45: "eta" of bsdf "conductor" must be between 0 and 1e3 in every channel"#),
    (r#"<shape type="sphere"><bsdf type="conductor"><texture name="k" type="checkerboard"/></bsdf></shape>"#, r#"s.xml:2:45: "k" of bsdf "conductor" has a texture; that is not supported here"#),
    (r#"<shape type="sphere"><emitter type="area"><spectrum name="radiance" value="400:1e10, 700:1e10"/></emitter></shape>"#, r#"s.xml:2:43: "radiance" of emitter "area" must be between 0 and 1e9 in every channel"#),
    (r#"<shape type="sphere"><emitter type="area"><spectrum name="radiance" type="irregular"><string name="wavelengths" value="400 700"/><string name="values" value="1e10 1e10"/></spectrum></emitter></shape>"#, r#"s.xml:2:43: texture "irregular" is more than 1e9"#),
    (r#"<shape type="sphere"><emitter type="area"><spectrum name="radiance" type="blackbody"><float name="temperature" value="0"/></spectrum></emitter></shape>"#, r#"s.xml:2:86: "temperature" of texture "blackbody" must be between 1 and 1000000"#),
    (r#"<shape type="sphere"><bsdf type="dielectric"><spectrum name="int_ior" value="400:1.5, 700:1.4"/></bsdf></shape>"#, r#"s.xml:2:46: "int_ior" of bsdf "dielectric" is a spectrum, and should be a number"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><texture name="reflectance" type="bitmap"/></bsdf></shape>"#, r#"s.xml:2:43: texture "bitmap" has no "filename""#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><texture name="reflectance" type="bitmap"><string name="filename" value="no.png"/></texture></bsdf></shape>"#, r#"s.xml:2:85: cannot read image "FOLDER/no.png": no such file"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><texture name="reflectance" type="bitmap"><string name="filename" value="../no.png"/></texture></bsdf></shape>"#, r#"s.xml:2:85: cannot read image "../no.png": it is not in the folder of the scene; --allow-external lets scenes read other files"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><texture name="reflectance" type="bitmp"/></bsdf></shape>"#, r#"s.xml:2:77: unknown texture "bitmp"; did you mean "bitmap"?"#),
    (r#"<shape type="sphere"><bsdf type="twosided"><bsdf type="dielectric"/></bsdf></shape>"#, r#"s.xml:2:44: bsdf "dielectric" lets light pass, and cannot be in a twosided"#),
    (r#"<shape type="sphere"><bsdf type="diffuse"><texture name="reflectance" type="mesh_attribute"><string name="name" value="color"/></texture></bsdf></shape>"#, r#"s.xml:2:93: the name of the mesh attribute "color" has to start with "vertex_" or "face_""#),
    (r#"<shape type="sphere"><bsdf type="principled"><float name="specular" value="9"/></bsdf></shape>"#, r#"s.xml:2:46: "specular" of bsdf "principled" must be between 0 and 8.36"#),
    (r#"<shape type="sphere"><bsdf type="twosided"/></shape>"#, r#"s.xml:2:22: a twosided has no bsdf in it"#),
    (r#"<shape type="sphere"><bsdf type="blendbsdf"><bsdf type="diffuse"/></bsdf></shape>"#, r#"s.xml:2:22: bsdf "blendbsdf" has no "weight""#),
    (r#"<shape type="sphere"><bsdf type="conductor"><string name="material" value="Gold"/></bsdf></shape>"#, r#"s.xml:2:45: unknown conductor "Gold"; it is "a-C", "Ag", "Al", "AlAs", "Au", "Be", "Cr", "CsI", "Cu", "Cu_palik", "Cu2O", "CuO", "d-C", "Hg" and 23 more"#),
    (r#"<shape type="sphere"><bsdf type="conductor"><string name="material" value="Au"/><rgb name="eta" value="1"/></bsdf></shape>"#, r#"s.xml:2:81: "eta" of bsdf "conductor" is given by "material" already; keep one of them"#),
    (r#"<shape type="sphere"><bsdf type="dielectric"><string name="int_ior" value="watr"/></bsdf></shape>"#, r#"s.xml:2:46: unknown dielectric "watr"; did you mean "water"?"#),
    (r#"<shape type="sphere"><bsdf type="roughconductor"><float name="alpha_u" value="0.1"/></bsdf></shape>"#, r#"s.xml:2:50: "alpha_u" of bsdf "roughconductor" is given alone; "alpha_u" and "alpha_v" belong together"#),
    (r#"<shape type="sphere"><bsdf type="roughconductor"><string name="distribution" value="phong"/></bsdf></shape>"#, r#"s.xml:2:50: unknown distribution "phong"; it is "beckmann" or "ggx""#),
    (r#"<shape type="sphere"><bsdf type="conductor"><rgb name="specular_reflectance" value="1.5"/></bsdf></shape>"#, r#"s.xml:2:45: "specular_reflectance" of bsdf "conductor" must be between 0 and 1 in every channel"#),
    (r#"<shape type="sphere"><bsdf type="normalmap"><bsdf type="diffuse"/></bsdf></shape>"#, r#"s.xml:2:22: bsdf "normalmap" has no "normalmap""#),
    (r#"<shape type="sphere"><emitter type="point"/></shape>"#, r#"s.xml:2:37: unknown emitter "point"; those that are read are "area""#),
    (r#"<shape type="sphere"><medium type="homogeneous" name="interior"/></shape>"#, r#"s.xml:2:22: participating media are not supported"#),
    (r#"<emitter type="constant"/>"#, r#"s.xml:2:1: the scene has more than one environment"#),
    (r#"<emitter type="timed_sunsky"/>"#, r#"s.xml:2:16: emitter "timed_sunsky" is not supported"#),
    (r#"<shape type="obj"/>"#, r#"s.xml:2:1: shape "obj" has no "filename""#),
    (r#"<shape type="obj"><string name="filename" value="a.ply"/></shape>"#, r#"s.xml:2:19: mesh file "FOLDER/a.ply" is not a .obj file"#),
    (r#"<shape type="ply"><string name="filename" value="no.ply"/></shape>"#, r#"s.xml:2:19: cannot read mesh file "FOLDER/no.ply": no such file"#),
    (r#"<shape type="instance"/>"#, r#"s.xml:2:1: an instance refers to no shapegroup"#),
    (r#"<shape type="cylinder"><transform name="to_world"><scale x="2"/></transform></shape>"#, r#"s.xml:2:1: "to_world" would make the cylinder elliptic or slanted; scale it alike across its axis"#),
    (r#"<shape type="shapegroup" id="g"><shape type="sphere"><emitter type="area"/></shape></shape><shape type="instance"><ref id="g"/></shape>"#, r#"s.xml:2:33: shape "sphere" emits light, which shapes in groups cannot"#),
    (r#"<default name="a" value="1"/><shape type="sphere"><float name="radius" value="$b"/></shape>"#, r#"s.xml:2:79: there is no parameter "b"; the scene has "a"; -D NAME=VALUE sets one"#),
    (r#"<include filename="no.xml"/>"#, r#"s.xml:2:20: cannot read "FOLDER/no.xml": no such file"#),
    (r#"<include filename="../../secret.xml"/>"#, r#"s.xml:2:20: cannot read "FOLDER/../../secret.xml": it is not in the folder of the scene; --allow-external lets scenes read other files"#),
    (r#"<alias id="a" as="b"/>"#, r#"s.xml:2:12: nothing has the id "a" (an alias follows what it names)"#),
    (r#"<path value="no"/>"#, r#"s.xml:2:14: there is no folder "no""#),
    (r#"<shape type="sphere" id="a"/><shape type="cube" id="a"/>"#, r#"s.xml:2:53: the id "a" is taken, on line 2 of s.xml"#),
    (r#"<shape type="sphere"><x:bsdf xmlns:x="u" type="diffuse"/></shape>"#, r#"s.xml:2:22: unknown element <x:bsdf>; did you mean <bsdf>?"#),
    (r#"<integrator type="ptracer"/>"#, r#"s.xml:2:19: integrator "ptracer" is not supported"#),
    (r#"<integrator type="path"><integer name="max_dept" value="3"/></integrator>"#, r#"s.xml:2:25: integrator "path" has no "max_dept"; did you mean "max_depth"?"#),
    (r#"<integrator type="path"><integer name="max_depth" value="0"/></integrator>"#, r#"s.xml:2:25: "max_depth" of integrator "path" is 0, and the image would be black"#),
    (r#"<scene version="3.0.0"><sensor type="equirectangular"/></scene>"#, r#"s.xml:1:38: sensor "equirectangular" is not supported"#),
    (r#"<scene version="3.0.0"><sensor type="perspective"><float name="fov" value="40"/><string name="focal_length" value="50mm"/></sensor></scene>"#, r#"s.xml:1:81: "focal_length" of sensor "perspective" is given by "fov" already; keep one of them"#),
    (r#"<scene version="3.0.0"><sensor type="perspective"><transform name="to_world"><scale value="2"/></transform></sensor></scene>"#, r#"s.xml:1:24: "to_world" of a camera has to be a rotation, a reflection or a translation"#),
    (r#"<scene version="3.0.0"><sensor type="perspective"><film type="hdrfilm"><rfilter type="lanczos"/></film></sensor></scene>"#, r#"s.xml:1:87: rfilter "lanczos" is not supported"#),
];

/// Scenes with something broken, and all that is said.
#[rustfmt::skip]
const ALONE: &[(&str, &[&str])] = &[
    (r#"<scene version="3.0.0"><sensor type="perspective"><float name="fov" value="40"/><transform name="to_world"/><film type="hdrfilm"><rfilter type="lanczos"><integer name="lobes" value="3"/></rfilter></film></sensor><emitter type="constant"/><shape type="sphere"/></scene>"#,
        &[r#"s.xml:1:145: rfilter "lanczos" is not supported"#]),
    (r#"<shape type="sphere"><emitter type="area"><spectrum type="blackbod" name="radiance"><float name="temperature" value="5000"/></spectrum></emitter></shape>"#,
        &[r#"s.xml:2:59: unknown texture "blackbod"; did you mean "blackbody"?"#]),
    (r#"<shape type="sphere"><bsdf type="principled"><float name="spec_trans" value="2"/><float name="eta" value="2"/></bsdf></shape>"#,
        &[r#"s.xml:2:46: "spec_trans" of bsdf "principled" must be between 0 and 1"#]),
    (r#"<shape type="obj"><string name="filenam" value="a.obj"/><float name="radius" value="2"/></shape>"#,
        &[r#"s.xml:2:1: shape "obj" has no "filename""#, r#"s.xml:2:19: shape "obj" has no "filenam"; did you mean "filename"?"#]),
    (r#"<shape type="sphere" xmlns:x="u"><float name="radius" x:value="1"/></shape>"#,
        &[r#"s.xml:2:55: <float> has no attribute "x:value"; did you mean "value"?"#]),
    (r#"<shape type="sphere"><emitter type="area"><texture type="d65" name="radiance"><rgb name="color" value="1"/><texture type="checkerboard"/></texture></emitter></shape>"#,
        &[r#"s.xml:2:108: "color" is given already; keep one of them"#]),
    (r#"<shape type="sphere"><emitter type="area"><texture type="d65" name="radiance"><rgb name="color" value="9e8"/><float name="scale" value="9e8"/></texture></emitter></shape>"#,
        &[r#"s.xml:2:43: "scale" makes this brighter than 1e9"#]),
    (r#"<bsdf type="twosided" id="a"><ref id="a"/></bsdf><shape type="sphere"><ref id="a"/></shape>"#,
        &[r#"s.xml:2:30: bsdf "a" is made of itself"#]),
    (r#"<bsdf type="mask" id="a"><ref id="b"/></bsdf><alias id="a" as="c"/><bsdf type="twosided" id="b"><ref id="c"/></bsdf><shape type="sphere"><ref id="b"/></shape>"#,
        &[r#"s.xml:2:97: bsdf "a" is made of itself"#]),
    // What may be in a file that cannot be read is not missed.
    (r#"<scene version="3.0.0"><include filename="no.xml"/><alias id="a" as="b"/><shape type="sphere"><ref id="a"/><float name="radius" value="$r"/></shape></scene>"#,
        &[r#"s.xml:1:43: cannot read "FOLDER/no.xml": no such file"#]),
    (r#"<texture type="uniform" id="a"><ref name="value" id="a"/></texture><shape type="sphere"/>"#,
        &[r#"s.xml:2:32: texture "a" is made of itself"#]),
    (r#"<shape type="merge" id="a"><ref id="a"/><ref id="a"/></shape>"#,
        &[r#"s.xml:2:28: shape "a" is made of itself"#, r#"s.xml:2:41: shape "a" is made of itself"#]),
];

#[test]
fn what_is_right_is_not_called_wrong() {
    for (inner, expected) in ALONE {
        let text =
            if inner.starts_with("<scene") { (*inner).to_owned() } else { around(&format!("\n{inner}")) };
        let error = load_text(&text).map(|_| ()).expect_err(inner);
        let folder = references().display().to_string();
        let found: Vec<_> = error.problems.iter().map(|p| p.to_string().replace(&folder, "FOLDER")).collect();
        assert_eq!(found, *expected, "{inner}");
    }
}

#[test]
fn problems_are_named_with_their_places() {
    for (inner, expected) in ROWS {
        let text = if inner.starts_with("<scene") || inner.is_empty() || inner.starts_with('!') {
            inner.trim_start_matches('!').to_owned()
        } else {
            around(&format!("\n{inner}"))
        };
        let error = load_text(&text).map(|_| ()).expect_err(inner);
        let found = error.problems[0].to_string().replace(&references().display().to_string(), "FOLDER");
        assert_eq!(found, *expected, "{inner}");
    }
}

#[test]
fn references_within_one_another_do_not_multiply() {
    let inner = |i| {
        let references = format!("<ref id=\"m{}\"/>", i + 1).repeat(10);
        format!("<shape type=\"merge\" id=\"m{i}\">{references}</shape>")
    };
    for last in ["<bsdf type=\"diffuse\"/>", "<bsdf type=\"null\"/>"] {
        let all: String = (0..14).map(inner).collect();
        let text = around(&format!("{all}<shape type=\"sphere\" id=\"m14\">{last}</shape>"));
        let error = load_text(&text).map(|_| ()).expect_err(last);
        let found =
            error.problems.iter().any(|p| p.to_string().contains("referred to more than 65536 times"));
        assert!(found, "{error}");
    }
}

/// An error that ends the reading of an object leaves other properties unread; they must not be reported as missing.
#[test]
fn what_is_there_is_not_said_to_be_missing() {
    for inner in [
        "<emitter type=\"spot\"><rgb name=\"intensity\" value=\"1\"/><texture name=\"texture\" type=\"checkerboard\"/></emitter>",
        "<emitter type=\"sunsky\"><vector name=\"sun_direction\" value=\"0, 0, 0\"/><float name=\"turbidity\" value=\"3\"/></emitter>",
        "<shape type=\"sphere\"><bsdf type=\"principled\"><float name=\"spec_trans\" value=\"3\"/>\
         <float name=\"metallic\" value=\"0.5\"/></bsdf></shape>",
        "<shape type=\"sphere\"><bsdf type=\"roughplastic\"><float name=\"alpha_u\" value=\"0.2\"/>\
         <float name=\"alpha\" value=\"0.2\"/></bsdf></shape>",
    ] {
        let text = around(inner).replace("<emitter type=\"constant\"/>", "");
        let error = load_text(&text).map(|_| ()).expect_err(inner);
        let problems: Vec<_> = error.problems.iter().map(ToString::to_string).collect();
        assert!(problems.len() == 1 && !problems[0].contains(" has no \""), "{problems:?}");
    }
    let film = "<scene version=\"3.0.0\"><sensor type=\"perspective\"><float name=\"fov\" value=\"40\"/><film type=\"hdrfilm\">\
                <rfilter type=\"lanczos\"/></film></sensor></scene>";
    assert_eq!(load_text(film).map(|_| ()).unwrap_err().problems.len(), 1);
}
