//! A scene, and the files that say the same of it to torrance and to Mitsuba.

use std::f32::consts::PI;

use glam::{Affine3A, Vec3, vec3};

use super::forms::{Form, disk};
use super::mesh::Mesh;

/// Half of the angle that the sun is wide, degrees.
const SUN: f32 = 0.27;
/// How far away the disk is that is Mitsuba's sun, metres: over a few metres its direction does not change.
const FAR: f32 = 1e5;

pub(crate) struct Scene {
    pub(crate) name: &'static str,
    /// What the file begins with, in lines of comments.
    pub(crate) about: &'static str,
    pub(crate) max_depth: u32,
    pub(crate) camera: Camera,
    /// Radiance from all around.
    pub(crate) sky: Vec3,
    pub(crate) sun: Option<Sun>,
    materials: Vec<(&'static str, Material)>,
    shapes: Vec<(Form, Surface)>,
    meshes: Vec<(String, Mesh)>,
}

pub(crate) struct Camera {
    pub(crate) position: Vec3,
    pub(crate) target: Vec3,
    /// Across the width, degrees.
    pub(crate) fov: f32,
}

pub(crate) struct Sun {
    /// Along which light travels.
    pub(crate) direction: Vec3,
    /// Of a surface across it.
    pub(crate) irradiance: Vec3,
}

/// Rough surfaces are of GGX with this alpha, smooth ones have 0.
pub(crate) enum Material {
    Diffuse(Vec3),
    Plastic { color: Vec3, alpha: f32 },
    Metal { eta: Vec3, k: Vec3, alpha: f32 },
    Glass { ior: f32, alpha: f32 },
}

enum Surface {
    Of(&'static str),
    /// Radiance; reflects nothing.
    Light(Vec3),
}

pub(crate) const fn steel(alpha: f32) -> Material {
    Material::Metal { eta: vec3(2.76, 2.54, 2.23), k: vec3(3.87, 3.38, 3.04), alpha }
}

pub(crate) const fn copper(alpha: f32) -> Material {
    Material::Metal { eta: vec3(0.2, 0.924, 1.102), k: vec3(3.912, 2.452, 2.142), alpha }
}

pub(crate) const fn gold(alpha: f32) -> Material {
    Material::Metal { eta: vec3(0.143, 0.375, 1.442), k: vec3(3.983, 2.386, 1.603), alpha }
}

impl Scene {
    /// A scene of nothing yet.
    pub(crate) fn new(name: &'static str, about: &'static str, max_depth: u32, camera: Camera) -> Self {
        let (sky, sun) = (Vec3::ZERO, None);
        let (materials, shapes, meshes) = Default::default();
        Self { name, about, max_depth, camera, sky, sun, materials, shapes, meshes }
    }

    pub(crate) fn material(&mut self, name: &'static str, material: Material) {
        self.materials.push((name, material));
    }

    pub(crate) fn diffuse(&mut self, name: &'static str, r: f32, g: f32, b: f32) {
        self.material(name, Material::Diffuse(vec3(r, g, b)));
    }

    pub(crate) fn put(&mut self, material: &'static str, form: Form) {
        self.shapes.push((form, Surface::Of(material)));
    }

    pub(crate) fn put_all(&mut self, material: &'static str, forms: impl IntoIterator<Item = Form>) {
        forms.into_iter().for_each(|form| self.put(material, form));
    }

    /// Adds a shape that shines.
    pub(crate) fn light(&mut self, radiance: Vec3, form: Form) {
        self.shapes.push((form, Surface::Light(radiance)));
    }

    /// Adds a mesh, in a file of its own.
    pub(crate) fn put_mesh(&mut self, material: &'static str, name: &str, mesh: Mesh) {
        let form = self.file(name, mesh);
        self.put(material, form);
    }

    /// A mesh in a file of its own, to be added.
    pub(crate) fn file(&mut self, name: &str, mesh: Mesh) -> Form {
        let file = format!("{}-{name}", self.name);
        let flat = mesh.normals.is_empty();
        self.meshes.push((file.clone(), mesh));
        Form::Mesh { file, flat }
    }

    /// All files, by their names.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = vec![
            (format!("{}.toml", self.name), self.toml().into_bytes()),
            (format!("{}.xml", self.name), self.xml().into_bytes()),
        ];
        let meshes = self.meshes.iter();
        files.extend(meshes.map(|(name, mesh)| (format!("{name}.ply"), mesh.ply_of("make_hard_light"))));
        files
    }

    fn toml(&self) -> String {
        let mut out = String::new();
        self.about.lines().for_each(|line| out += &format!("# {line}\n"));
        let Camera { position, target, fov } = &self.camera;
        out += &format!(
            r#"
# Masking and normals are as in Mitsuba.
[render]
size = [480, 270]
max_depth = {}
masking = "separable"
hidden_normals = "keep"

[camera]
position = [{}]
target = [{}]
fov = {}
fov_axis = "x"
"#,
            self.max_depth,
            list(*position),
            list(*target),
            number(*fov)
        );
        if self.sky != Vec3::ZERO {
            out += &format!("\n[environment]\nradiance = [{}]\n", list(self.sky));
        }
        if let Some(sun) = &self.sun {
            let [direction, irradiance, diameter] =
                [list(sun.direction.normalize()), list(sun.irradiance), number(2.0 * SUN)];
            out += "\n[[lights]]\ntype = \"directional\"\n";
            out +=
                &format!("direction = [{direction}]\nirradiance = [{irradiance}]\ndiameter = {diameter}\n");
        }
        for (name, material) in &self.materials {
            out += &format!("\n[materials.{name}]\n{}\n", material.toml());
        }
        for (form, surface) in &self.shapes {
            out += &format!("\n[[shapes]]\n{}\n", form.toml());
            out += &match surface {
                Surface::Of(material) => format!("material = \"{material}\"\n"),
                Surface::Light(radiance) => format!("emission = [{}]\n", list(*radiance)),
            };
        }
        out
    }

    fn xml(&self) -> String {
        let Camera { position, target, fov } = &self.camera;
        let about = self.about.replace('\n', "\n     ");
        let mut out = format!(
            r#"<!-- {about} -->
<scene version="3.0.0">
    <default name="spp" value="64"/>
    <integrator type="path">
        <integer name="max_depth" value="{}"/>
        <integer name="rr_depth" value="5"/>
    </integrator>
    <sensor type="perspective">
        <string name="fov_axis" value="x"/>
        <float name="fov" value="{}"/>
        <float name="far_clip" value="1e6"/>
        <transform name="to_world">
            <lookat origin="{}" target="{}" up="0, 1, 0"/>
        </transform>
        <sampler type="independent">
            <integer name="sample_count" value="$spp"/>
        </sampler>
        <film type="hdrfilm">
            <integer name="width" value="480"/>
            <integer name="height" value="270"/>
            <string name="pixel_format" value="rgb"/>
            <string name="component_format" value="float32"/>
            <rfilter type="box"/>
        </film>
    </sensor>
"#,
            self.max_depth,
            number(*fov),
            list(*position),
            list(*target)
        );
        if self.sky != Vec3::ZERO {
            out += &format!("    <emitter type=\"constant\">{}</emitter>\n", rgb("radiance", self.sky));
        }
        for (name, material) in &self.materials {
            out += &format!("    {}\n", material.xml(name));
        }
        if let Some(sun) = &self.sun {
            let angle = SUN.to_radians();
            let middle = sun.direction.normalize() * -FAR;
            let radiance = sun.irradiance / (PI * angle.sin().powi(2));
            let light = (disk(middle, sun.direction, FAR * angle.tan()), Surface::Light(radiance));
            out += &shape_xml(&light);
        }
        self.shapes.iter().for_each(|shape| out += &shape_xml(shape));
        out += "</scene>\n";
        out
    }
}

impl Material {
    fn toml(&self) -> String {
        let alpha = |alpha: f32| format!("alpha = {}", number(alpha));
        match *self {
            Self::Diffuse(color) => format!("type = \"diffuse\"\nreflectance = [{}]", list(color)),
            Self::Plastic { color, alpha: a } => {
                format!("type = \"plastic\"\nreflectance = [{}]\n{}", list(color), alpha(a))
            }
            Self::Metal { eta, k, alpha: a } => {
                format!("type = \"conductor\"\neta = [{}]\nk = [{}]\n{}", list(eta), list(k), alpha(a))
            }
            Self::Glass { ior, alpha: a } => {
                format!("type = \"dielectric\"\nior = {}\n{}", number(ior), alpha(a))
            }
        }
    }

    fn xml(&self, name: &str) -> String {
        let (kind, alpha, values) = match *self {
            Self::Diffuse(color) => ("diffuse", 0.0, rgb("reflectance", color)),
            Self::Plastic { color, alpha } => {
                ("plastic", alpha, rgb("diffuse_reflectance", color) + &iors(1.5))
            }
            Self::Metal { eta, k, alpha } => ("conductor", alpha, rgb("eta", eta) + &rgb("k", k)),
            Self::Glass { ior, alpha } => ("dielectric", alpha, iors(ior)),
        };
        let id = format!("id=\"{name}\"");
        // Glass has two sides of its own, and an id; the others get both.
        let is_glass = kind == "dielectric";
        let own_id = if is_glass { format!(" {id}") } else { String::new() };
        let bsdf = if alpha > 0.0 {
            let facets = r#"<string name="distribution" value="ggx"/>"#;
            format!("<bsdf type=\"rough{kind}\"{own_id}>{values}{facets}{}</bsdf>", float("alpha", alpha))
        } else {
            format!("<bsdf type=\"{kind}\"{own_id}>{values}</bsdf>")
        };
        if is_glass { bsdf } else { format!("<bsdf type=\"twosided\" {id}>{bsdf}</bsdf>") }
    }
}

impl Form {
    fn toml(&self) -> String {
        let placed = |name: &str, place: &Affine3A| {
            let rows = matrix(place).map(|row| format!("[{}]", row.map(number).join(", ")));
            format!("type = \"{name}\"\ntransform = {{ matrix = [{}] }}", rows.join(", "))
        };
        match self {
            Self::Sphere { center, radius } => {
                format!("type = \"sphere\"\ncenter = [{}]\nradius = {}", list(*center), number(*radius))
            }
            Self::Cylinder { from, to, radius } => {
                let (from, to) = (list(*from), list(*to));
                format!("type = \"cylinder\"\nfrom = [{from}]\nto = [{to}]\nradius = {}", number(*radius))
            }
            Self::Quad(place) => placed("quad", place),
            Self::Disk(place) => placed("disk", place),
            Self::Block(place) => placed("box", place),
            Self::Mesh { file, .. } => format!("type = \"mesh\"\nfile = \"{file}.ply\""),
        }
    }

    /// The plugin and its values.
    fn xml(&self) -> (&'static str, String) {
        let point = |name: &str, p: Vec3| format!("<point name=\"{name}\" value=\"{}\"/>", list(p));
        let placed = |place: &Affine3A| {
            let rows = matrix(place).map(|row| row.map(number).join(" "));
            format!("<transform name=\"to_world\"><matrix value=\"{}\"/></transform>", rows.join("  "))
        };
        match self {
            Self::Sphere { center, radius } => {
                ("sphere", point("center", *center) + &float("radius", *radius))
            }
            Self::Cylinder { from, to, radius } => {
                ("cylinder", point("p0", *from) + &point("p1", *to) + &float("radius", *radius))
            }
            Self::Quad(place) => ("rectangle", placed(place)),
            Self::Disk(place) => ("disk", placed(place)),
            Self::Block(place) => ("cube", placed(place)),
            Self::Mesh { file, flat } => {
                // Else Mitsuba makes normals, and emits by them.
                let flat = if *flat { "<boolean name=\"face_normals\" value=\"true\"/>" } else { "" };
                ("ply", format!("<string name=\"filename\" value=\"{file}.ply\"/>{flat}"))
            }
        }
    }
}

fn shape_xml((form, surface): &(Form, Surface)) -> String {
    let (kind, values) = form.xml();
    let surface = match surface {
        Surface::Of(material) => format!("<ref id=\"{material}\"/>"),
        Surface::Light(radiance) => {
            let black = rgb("reflectance", Vec3::ZERO);
            let radiance = rgb("radiance", *radiance);
            format!("<bsdf type=\"diffuse\">{black}</bsdf><emitter type=\"area\">{radiance}</emitter>")
        }
    };
    format!("    <shape type=\"{kind}\">{values}{surface}</shape>\n")
}

fn iors(ior: f32) -> String {
    float("int_ior", ior) + &float("ext_ior", 1.0)
}

fn float(name: &str, value: f32) -> String {
    format!("<float name=\"{name}\" value=\"{}\"/>", number(value))
}

fn rgb(name: &str, color: Vec3) -> String {
    format!("<rgb name=\"{name}\" value=\"{}\"/>", list(color))
}

/// Its rows.
fn matrix(place: &Affine3A) -> [[f32; 4]; 4] {
    glam::Mat4::from(*place).transpose().to_cols_array_2d()
}

fn list(v: Vec3) -> String {
    v.to_array().map(number).join(", ")
}

/// With five decimals at most.
fn number(x: f32) -> String {
    let text = format!("{x:.5}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}
