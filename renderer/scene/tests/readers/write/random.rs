//! Random scenes.

use std::sync::Arc;

use device::bsdf::microfacet::Masking;
use device::material::texture::{Channel, Format, NO_TEXTURE, Wrap};
use glam::{Affine2, Affine3A, DQuat, DVec3, Mat3, Quat, Vec2, Vec3};
use torrance_scene::{
    Bitmap, Blend, Camera, Caustics, Clip, Color, ConductorMaterial, Description, DielectricMaterial,
    DiffuseMaterial, Environment, Facets, FovAxis, Geometry, GltfMaterial, Group, HiddenNormals, Holes,
    Image, Instance, InvalidNormals, Lens, Material, MaterialKind, NormalMap, NormalMapKind, PixelFilter,
    PlasticMaterial, Portal, PrincipledMaterial, Projection, PunctualKind, PunctualLight, RenderSettings,
    Scalar, Shape, SheenMaterial, Slide, SpotFalloff, Studio, SunSky, TexelFilter, Texture,
    ThinDielectricMaterial, Tints, TriangleMesh, metals,
};

/// Random numbers, a few of them the ends of their ranges.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    fn below(&mut self, n: usize) -> usize {
        self.bits() as usize % n
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn is(&mut self) -> bool {
        self.bits() & 1 == 1
    }

    fn number(&mut self, low: f32, high: f32) -> f32 {
        match self.below(8) {
            0 => low,
            1 => high,
            _ => low + (high - low) * (self.bits() >> 8) as f32 / (1 << 24) as f32,
        }
    }

    fn vec3(&mut self, most: f32) -> Vec3 {
        Vec3::new(self.number(-most, most), self.number(-most, most), self.number(-most, most))
    }

    fn rgb(&mut self, high: f32) -> Vec3 {
        if self.is() {
            return Vec3::splat(self.number(0.0, high));
        }
        Vec3::new(self.number(0.0, high), self.number(0.0, high), self.number(0.0, high))
    }

    fn unit(&mut self) -> Vec3 {
        let v = self.vec3(1.0).as_dvec3();
        v.try_normalize().unwrap_or(DVec3::Z).as_vec3()
    }

    fn rotation(&mut self) -> Quat {
        let axis = self.unit().as_dvec3().normalize();
        DQuat::from_axis_angle(axis, f64::from(self.number(-3.0, 3.0))).as_quat()
    }

    /// A similarity, the identity among them.
    fn transform(&mut self) -> Affine3A {
        let scale = Affine3A::from_scale(Vec3::splat(self.number(0.25, 4.0)));
        let moved = Affine3A::from_translation(self.vec3(9.0));
        let turned = Affine3A::from_quat(self.rotation());
        match self.below(5) {
            0 => Affine3A::IDENTITY,
            1 => scale,
            2 => moved,
            3 => moved * scale,
            _ => moved * turned * scale,
        }
    }

    fn texture(&mut self, textures: usize) -> u32 {
        if textures > 0 && self.below(3) == 0 { self.below(textures) as u32 } else { NO_TEXTURE }
    }

    fn scalar(&mut self, low: f32, textures: usize) -> Scalar {
        Scalar { value: self.number(low, 1.0), texture: self.texture(textures) }
    }

    fn color(&mut self, textures: usize) -> Color {
        Color { value: self.rgb(1.0), texture: self.texture(textures) }
    }

    fn image(&mut self) -> Image {
        let (width, height) = (1 + self.below(5) as u32, 1 + self.below(4) as u32);
        let n = (width * height) as usize;
        let half = |x: f32| u32::from(half::f16::from_f32(x).to_bits());
        let (format, texels): (_, Vec<u32>) = match self.below(4) {
            0 => (Format::Srgb8, (0..n).map(|_| self.bits()).collect()),
            1 => (Format::Rgba8, (0..n).map(|_| self.bits()).collect()),
            // One that halves do not hold, so that it is read as floats.
            2 => (Format::RgbF32, (0..3 * n).map(|_| (self.number(0.0, 0.8) + 1e-7).to_bits()).collect()),
            _ => {
                let word = |r: &mut Self| half(r.number(0.0, 1.0)) | half(r.number(0.0, 1.0)) << 16;
                (Format::RgbaF16, (0..2 * n).map(|_| word(self)).collect())
            }
        };
        Image::new(width, height, format, texels.into())
    }

    fn texture_of(&mut self, images: usize, textures: usize) -> Texture {
        let uv = match self.below(3) {
            0 => Affine2::IDENTITY,
            1 => Affine2::from_scale(Vec2::new(self.number(-3.0, 3.0), self.number(0.5, 3.0))),
            _ => Affine2::from_scale_angle_translation(
                Vec2::splat(2.0),
                self.number(0.1, 3.0),
                Vec2::new(0.25, -7.5),
            ),
        };
        let channels = [Channel::R, Channel::G, Channel::B, Channel::Rgb];
        match self.below(5) {
            1 => {
                Texture::Checker { squares_from_uv: uv, colors: [self.color(textures), self.color(textures)] }
            }
            2 => Texture::Mix {
                colors: [self.color(textures), self.color(textures)],
                weight: self.scalar(0.0, textures),
            },
            3 => Texture::Product([self.color(textures), self.color(textures)]),
            4 => Texture::VertexColor { channel: self.pick(&channels) },
            _ => Texture::Bitmap(Bitmap {
                image: self.below(images),
                image_from_uv: uv,
                wrap: [self.pick(&[Wrap::Repeat, Wrap::Mirror]), self.pick(&[Wrap::Repeat, Wrap::Clamp])],
                channel: self.pick(&channels),
                filter: self.pick(&[TexelFilter::Nearest, TexelFilter::Linear, TexelFilter::Mipmap]),
            }),
        }
    }

    fn tints(&mut self, textures: usize) -> Tints {
        Tints { reflection: self.color(textures), transmission: self.color(textures) }
    }

    fn facets(&mut self, textures: usize, isotropic: bool) -> Facets {
        let mut facets = Facets::SMOOTH;
        facets.distribution = self.below(2) as u32;
        facets.scattering = 2 * self.below(2) as u32;
        facets.masking = Masking::Separable as u32;
        if self.below(4) > 0 {
            facets.is_roughness = self.below(2) as u32;
            let u = self.scalar(0.01, textures);
            let v = self.scalar(0.01, textures);
            facets.alpha = [u, if isotropic || self.is() { u } else { v }];
        }
        facets
    }

    fn kind(&mut self, textures: usize, materials: usize) -> MaterialKind {
        let scalar = |r: &mut Self| r.scalar(0.0, textures);
        match self.below(if materials == 0 { 8 } else { 9 }) {
            0 => MaterialKind::Diffuse(DiffuseMaterial {
                reflectance: self.color(textures),
                roughness: scalar(self),
                reserved: [0; 2],
            }),
            1 => {
                let metal = self.pick(&[0, 5, usize::MAX]);
                let (eta, k) = match metals::METALS.get(metal) {
                    Some(metal) => (metal.eta, metal.k),
                    None => (self.rgb(4.0) + 0.1, self.rgb(4.0)),
                };
                MaterialKind::Conductor(ConductorMaterial::new(eta, k, self.facets(textures, false)))
            }
            2 => {
                let glass = DielectricMaterial::new(self.number(0.1, 10.0), self.facets(textures, false));
                MaterialKind::Dielectric(glass.tinted(self.tints(textures)))
            }
            3 => MaterialKind::ThinDielectric(ThinDielectricMaterial::new(1.5).tinted(self.tints(textures))),
            4 => {
                let mut facets = self.facets(textures, true);
                facets.scattering = 0;
                MaterialKind::Plastic(PlasticMaterial {
                    reflectance: self.color(textures),
                    specular: self.color(textures),
                    facets,
                    ior: self.number(1.01, 10.0),
                    nonlinear: self.below(2) as u32,
                    coat: 3,
                    internal_reflectance: self.pick(&[PlasticMaterial::COMPUTED, 0.0, 0.625]),
                })
            }
            5 => MaterialKind::Sheen(SheenMaterial {
                color: self.color(textures),
                roughness: scalar(self),
                reserved: [0; 2],
            }),
            6 => MaterialKind::Principled(PrincipledMaterial {
                base_color: self.color(textures),
                roughness: scalar(self),
                anisotropic: scalar(self),
                metallic: scalar(self),
                spec_tint: scalar(self),
                spec_trans: scalar(self),
                flatness: scalar(self),
                sheen: scalar(self),
                sheen_tint: scalar(self),
                clearcoat: scalar(self),
                clearcoat_gloss: scalar(self),
                eta: self.number(0.1, 10.0),
                masking: 0,
                reserved: [0; 2],
            }),
            7 => {
                let (sin, cos) = self.number(-3.0, 3.0).sin_cos();
                MaterialKind::Gltf(GltfMaterial {
                    base_color: self.color(textures),
                    metallic: scalar(self),
                    transmission: scalar(self),
                    rotation: [cos, sin],
                    ior: self.number(1.0, 10.0),
                    iridescence_thickness: Scalar::new(self.number(0.0, 10_000.0)),
                    ..GltfMaterial::DEFAULT
                })
            }
            _ => MaterialKind::Blend(Blend {
                materials: [self.below(materials) as u32, self.below(materials) as u32],
                weight: scalar(self),
            }),
        }
    }

    /// A material that may refer to those before it.
    fn material(&mut self, textures: usize, materials: &[Material]) -> Material {
        // A few levels of blends are enough.
        let plain = materials.iter().take_while(|m| !matches!(m.kind, MaterialKind::Blend(_))).count();
        let mut material = Material::new(self.pick(&["a", "b.c", "", "(none)"]), self.kind(textures, plain));
        material.two_sided = self.is();
        if plain > 0 && self.below(4) == 0 {
            material.back = Some(self.below(plain));
        }
        material.holes_emit = self.is();
        if !matches!(material.kind, MaterialKind::Blend(_)) && textures > 0 && self.below(3) == 0 {
            use NormalMapKind::{Across, Against, Bump, Down, Up};
            let kinds = [Up, Down, Across, Against, Bump];
            let invalid = [InvalidNormals::Bend, InvalidNormals::Flip, InvalidNormals::Keep];
            material.normal_map = Some(NormalMap {
                texture: self.below(textures),
                kind: self.pick(&kinds),
                scale: self.number(-2.0, 2.0),
                invalid: self.pick(&invalid),
                hard_terminator: self.is(),
            });
        }
        material
    }

    fn mesh(&mut self) -> Arc<TriangleMesh> {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, self.number(0.0, 1.0))];
        let each =
            |r: &mut Self, there: bool| if there { (0..4).map(|_| r.unit()).collect() } else { Vec::new() };
        let (with_normals, with_colors) = (self.is(), self.is());
        Arc::new(TriangleMesh {
            positions,
            normals: each(self, with_normals),
            uvs: (0..4).map(|_| Vec2::new(self.number(-2.0, 2.0), self.number(0.0, 1.0))).collect(),
            colors: if with_colors { (0..4).map(|_| self.rgb(1.0)).collect() } else { Vec::new() },
            triangles: vec![[0, 1, 2], [1, 3, 2]],
            source: None,
        })
    }

    fn shape(&mut self, textures: usize, materials: usize, emits: bool) -> Shape {
        let geometry = match self.below(6) {
            0 => Geometry::Quad,
            1 => Geometry::Box,
            2 => Geometry::Disk,
            3 => Geometry::Sphere { center: self.vec3(2.0), radius: self.number(0.5, 2.0) },
            4 => Geometry::Cylinder {
                from: self.vec3(1.0),
                to: Vec3::new(0.5, 3.0, 0.25),
                radius: self.number(0.5, 2.0),
            },
            _ => Geometry::Mesh(self.mesh()),
        };
        let emission = Color { value: self.rgb(900.0) + 0.5, texture: self.texture(textures) };
        Shape {
            name: self.pick(&["", "floor", "shapes[1]", "tall box", "\"quoted\""]).to_owned(),
            geometry,
            material: self.below(materials),
            emission: if emits && self.is() { emission } else { Color::new(Vec3::ZERO) },
            emission_two_sided: self.is(),
            flip_normals: self.is(),
            world_from_object: self.transform(),
        }
    }

    fn projection(&mut self) -> Projection {
        let axes = [FovAxis::X, FovAxis::Y, FovAxis::Diagonal, FovAxis::Smaller, FovAxis::Larger];
        match self.below(4) {
            0 => Projection::Orthographic { size: self.number(0.1, 9.0), axis: self.pick(&axes) },
            1 => Projection::Equirectangular,
            n => Projection::Perspective {
                fov: self.number(1.0, 170.0),
                fov_axis: self.pick(&axes),
                principal_point: if self.is() {
                    Vec2::ZERO
                } else {
                    Vec2::new(0.125, self.number(-1.0, 1.0))
                },
                lens: (n == 2).then(|| Lens {
                    radius: self.number(0.01, 0.2),
                    focus_distance: self.number(1.0, 9.0),
                    blades: self.pick(&[0, 3, 6]),
                    rotation: self.number(-90.0, 90.0),
                }),
            },
        }
    }

    fn environment(&mut self, images: usize) -> Option<Environment> {
        match self.below(5) {
            0 => None,
            4 => Some(Environment::Studio(Studio {
                scale: self.rgb(5.0),
                world_from_studio: Mat3::from_quat(self.rotation()),
            })),
            1 => Some(Environment::Constant(self.rgb(3.0))),
            2 => Some(Environment::Image {
                image: self.below(images),
                scale: self.rgb(5.0),
                world_from_image: if self.is() { Mat3::IDENTITY } else { Mat3::from_quat(self.rotation()) },
            }),
            _ => Some(Environment::SunSky(SunSky {
                sun_direction: Vec3::new(0.6, 0.8, 0.0),
                turbidity: self.number(1.0, 10.0),
                ground_albedo: self.rgb(1.0),
                sky_scale: self.number(0.0, 2.0),
                sun_scale: 1.0,
                sun_diameter: self.number(0.1, 5.0),
                world_from_sky: Mat3::from_quat(self.rotation()),
            })),
        }
    }

    fn slide(&mut self, textures: usize, axis: Vec3) -> Slide {
        let texture = if textures > 0 && self.is() { self.below(textures) as u32 } else { NO_TEXTURE };
        Slide { texture, up: axis.any_orthonormal_vector() }
    }

    fn clip(&mut self) -> Clip {
        let near = self.pick(&[0.0, 0.25, 3.0]);
        Clip { near, far: self.pick(&[4.0, 1e4, 1e10]) }
    }

    fn light(&mut self, textures: usize) -> PunctualLight {
        let direction = self.unit();
        let slide = self.slide(textures, direction);
        let kind = match self.below(4) {
            0 => PunctualKind::Point { position: self.vec3(5.0), intensity: self.rgb(50.0) },
            1 => PunctualKind::Spot {
                position: self.vec3(5.0),
                direction,
                intensity: self.rgb(50.0),
                inner: self.number(0.0, 20.0),
                outer: self.number(21.0, 180.0),
                falloff: self.pick(&[SpotFalloff::Smooth, SpotFalloff::Linear]),
                slide: (slide.texture != NO_TEXTURE).then_some(slide),
            },
            2 => PunctualKind::Projector {
                position: self.vec3(5.0),
                direction,
                intensity: self.rgb(50.0),
                fov: self.number(1.0, 170.0),
                aspect: self.number(0.5, 2.0),
                slide,
            },
            _ => PunctualKind::Directional {
                direction: self.unit(),
                irradiance: self.rgb(50.0),
                diameter: self.number(0.0, 20.0),
            },
        };
        PunctualLight { name: self.pick(&["", "sun", "lights[2]"]).to_owned(), kind }
    }
}

/// A random scene with everything in it.
pub(super) fn random(seed: u64) -> Description {
    let r = &mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let images: Vec<_> = (0..3).map(|_| r.image()).collect();
    let mut textures = Vec::new();
    for i in 0..r.below(7) {
        let texture = r.texture_of(images.len(), i);
        textures.push(texture);
    }
    let mut materials = Vec::new();
    for _ in 0..1 + r.below(6) {
        let material = r.material(textures.len(), &materials);
        materials.push(material);
    }
    // Not of what others are made of.
    let parts: Vec<_> = materials.iter().flat_map(Material::references).collect();
    for (i, material) in materials.iter_mut().enumerate() {
        material.cull_backfaces = r.is() && !parts.contains(&i);
    }
    let mut shapes: Vec<_> =
        (0..1 + r.below(6)).map(|_| r.shape(textures.len(), materials.len(), true)).collect();
    shapes.push(Shape { geometry: Geometry::Mesh(r.mesh()), ..shapes[0].clone() });
    // Something has to shine.
    shapes[0].emission = Color::new(Vec3::ONE);
    let group = |r: &mut Random, name: &str| Group {
        name: name.to_owned(),
        shapes: (0..r.below(3)).map(|_| r.shape(textures.len(), materials.len(), false)).collect(),
    };
    let groups = vec![group(r, "tree"), group(r, "tree"), group(r, "a b")];
    let instance = |r: &mut Random, group: u32| Instance {
        group,
        world_from_group: r.transform() * Affine3A::from_scale(Vec3::new(1.0, 2.0, -0.5)),
    };
    let mut instances: Vec<_> = (0..r.below(5)).map(|_| instance(r, 1)).collect();
    instances.extend((0..r.below(40)).map(|_| instance(r, 2)));
    let filters = [
        PixelFilter::PIXEL,
        PixelFilter::Gaussian { radius: 2.0, sigma: 0.5 },
        PixelFilter::Gaussian { radius: r.number(0.5, 4.0), sigma: 0.25 },
        PixelFilter::Mitchell { radius: 2.0, b: r.number(0.0, 1.0), c: 1.0 / 3.0 },
        PixelFilter::BlackmanHarris { radius: 1.5 },
    ];
    Description {
        render: RenderSettings {
            width: 16 + r.below(99) as u32,
            spp: 1 + r.below(99) as u32,
            seed: r.bits(),
            rr_depth: r.pick(&[None, Some(0), Some(5)]),
            caustics: r.pick(&[Caustics::Paths, Caustics::Walks]),
            clamp_indirect: r.pick(&[None, Some(0.5), Some(30.0)]),
            masking: r.pick(&[Masking::Correlated, Masking::Separable]),
            hidden_normals: r.pick(&[HiddenNormals::Bend, HiddenNormals::Geometric, HiddenNormals::Keep]),
            holes: r.pick(&[Holes::Pass, Holes::Scatter]),
            hide_emitters: r.is(),
            sample_border: r.is(),
            filter: r.pick(&filters),
            ..RenderSettings::default()
        },
        camera: Camera {
            position: Vec3::new(0.5, r.number(-5.0, 5.0), 20.0),
            target: r.vec3(1.0),
            up: Vec3::new(0.0, 1.0, 0.125),
            mirrored: r.is(),
            projection: r.projection(),
            clip: r.clip(),
        },
        environment: r.environment(images.len()),
        portals: (0..r.below(3))
            .map(|_| Portal { corner: r.vec3(3.0), edges: [Vec3::X, Vec3::new(0.0, 2.5, -0.125)] })
            .collect(),
        lights: (0..r.below(4)).map(|_| r.light(textures.len())).collect(),
        images,
        texture_names: (0..textures.len())
            .filter(|i| i % 3 != 1)
            .map(|i| (i, format!("t{}", i % 4)))
            .collect(),
        textures,
        materials,
        shapes,
        groups,
        instances,
    }
}
