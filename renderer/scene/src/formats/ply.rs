//! PLY files as scenes of their own.

use std::sync::Arc;

use glam::{Affine3A, Vec3};

use crate::description::{
    Channel, Color, Description, DiffuseMaterial, Geometry, Material, MaterialKind, MeshSource, Normals,
    Shape, Texture,
};
use crate::files::mesh::{Placement, place, ply};
use crate::formats::model::model_scene;
use crate::input::{Error, Problem};

/// Default reflectance.
const GREY: Vec3 = Vec3::splat(0.8);

/// Reads a PLY file as a scene: the mesh, grey or in the colours of its vertices, with a camera and light of our own. Gives
/// the description and what looks suspicious.
///
/// # Errors
/// The file is wrong.
pub(crate) fn read_scene(file: &str, bytes: &[u8]) -> Result<(Description, Vec<Problem>), Error> {
    let read = ply::read(file, bytes, bytes.len() as u64, Normals::File, false)?;
    let (mut mesh, mut warnings) = (read.mesh, read.warnings);
    if let Some(mesh) = Arc::get_mut(&mut mesh) {
        mesh.source = Some(MeshSource {
            file: std::path::Path::new(file).into(),
            normals: Normals::File,
            flip_v: false,
        });
    }
    let mesh = match place(&mesh, &Affine3A::IDENTITY) {
        Placement::Whole(mesh) => mesh,
        Placement::Without { mesh, dropped, first } => {
            let place = read.place.describe(first);
            let message = format!("{dropped} triangles have no area and are left out; the first is {place}");
            warnings.push(Problem::of_file(file, message));
            mesh
        }
        Placement::Empty => return Err(Problem::of_file(file, "none of the triangles has an area").into()),
        Placement::TooFar => return Err(Problem::of_file(file, "the mesh reaches beyond 1e9 metres").into()),
    };
    let mut scene = model_scene();
    let mut reflectance = Color::new(GREY);
    if !mesh.colors.is_empty() {
        scene.textures.push(Texture::VertexColor { channel: Channel::Rgb });
        reflectance = Color { texture: 0, ..Color::new(Vec3::ONE) };
    }
    scene.materials.push(Material::new("default", MaterialKind::Diffuse(DiffuseMaterial::new(reflectance))));
    scene.shapes.push(Shape {
        name: "mesh".to_owned(),
        geometry: Geometry::Mesh(mesh),
        material: 0,
        emission: Color::new(Vec3::ZERO),
        emission_two_sided: false,
        flip_normals: false,
        world_from_object: Affine3A::IDENTITY,
    });
    scene.finish_model(file).map(|scene| (scene, warnings))
}
