//! PLY files as scenes of their own.

use glam::{Affine3A, Vec3};

use crate::description::{
    Channel, Color, Description, DiffuseMaterial, Material, MaterialKind, Normals, Texture,
};
use crate::files::mesh::{MeshFile, Placement, place, ply};
use crate::formats::model::{model_scene, shape};
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
    let MeshFile { mesh, place: origin, mut warnings } =
        read.with_source(file.as_ref(), Normals::File, false);
    let mesh = match place(&mesh, &Affine3A::IDENTITY) {
        Placement::Whole(mesh) => mesh,
        Placement::Without { mesh, dropped, first } => {
            let place = origin.describe(first);
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
    scene.shapes.push(shape("mesh", mesh, 0, Color::new(Vec3::ZERO)));
    scene.finish_model(file).map(|scene| (scene, warnings))
}
