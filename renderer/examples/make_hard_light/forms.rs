//! Shapes where they are wanted.

use glam::{Affine3A, Mat3, Quat, Vec3};

use super::mesh::Mesh;
use super::noise::Random;

/// What a shape is, and where.
pub(crate) enum Form {
    Sphere {
        center: Vec3,
        radius: f32,
    },
    Cylinder {
        from: Vec3,
        to: Vec3,
        radius: f32,
    },
    /// The square [-1, 1]² at z = 0, with its front towards +z, transformed.
    Quad(Affine3A),
    /// The unit disk there.
    Disk(Affine3A),
    /// The cube [-1, 1]³.
    Block(Affine3A),
    /// A file beside the scene, without `.ply`; flat where it has no normals.
    Mesh {
        file: String,
        flat: bool,
    },
}

pub(crate) fn ball(center: Vec3, radius: f32) -> Form {
    Form::Sphere { center, radius }
}

/// The side of a cylinder.
pub(crate) fn rod(from: Vec3, to: Vec3, radius: f32) -> Form {
    Form::Cylinder { from, to, radius }
}

/// A rectangle by its middle and half of its edges, with its front towards right × up.
pub(crate) fn quad(middle: Vec3, right: Vec3, up: Vec3) -> Form {
    Form::Quad(plane(middle, right, up))
}

/// A disk with its front towards `normal`.
pub(crate) fn disk(middle: Vec3, normal: Vec3, radius: f32) -> Form {
    let (right, up) = normal.normalize().any_orthonormal_pair();
    Form::Disk(plane(middle, right * radius, up * radius))
}

fn plane(middle: Vec3, right: Vec3, up: Vec3) -> Affine3A {
    Affine3A::from_mat3_translation(Mat3::from_cols(right, up, right.cross(up).normalize()), middle)
}

/// A box along the axes, by two corners.
pub(crate) fn block(low: Vec3, high: Vec3) -> Form {
    let half = (high - low) / 2.0;
    Form::Block(Affine3A::from_scale_rotation_translation(half, Quat::IDENTITY, low + half))
}

/// A box of a size that stands on a point and is turned around the vertical.
pub(crate) fn turned_block(foot: Vec3, size: Vec3, degrees: f32) -> Form {
    let turn = Quat::from_rotation_y(degrees.to_radians());
    Form::Block(Affine3A::from_scale_rotation_translation(size / 2.0, turn, foot + Vec3::Y * (size.y / 2.0)))
}

/// The inner sides of a box: floor, ceiling, and walls at the least and greatest x and z.
pub(crate) fn inside(low: Vec3, high: Vec3) -> [Form; 6] {
    let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
    let [x, y, z] = [Vec3::X * half.x, Vec3::Y * half.y, Vec3::Z * half.z];
    [
        quad(middle - y, z, x),
        quad(middle + y, x, z),
        quad(middle - x, y, z),
        quad(middle + x, z, y),
        quad(middle - z, x, y),
        quad(middle + z, y, x),
    ]
}

/// Adds a parallelogram by a corner and its edges, with its front towards right × up.
pub(crate) fn add_panel(mesh: &mut Mesh, corner: Vec3, right: Vec3, up: Vec3) {
    let first = mesh.positions.len() as u32;
    mesh.positions.extend([corner, corner + right, corner + right + up, corner + up]);
    mesh.triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
}

/// Tiles that fill the parallelogram of a corner and its edges, with joints of some width between them, each put at random
/// into one of several meshes, which come in different colours.
pub(crate) fn add_tiles(
    meshes: &mut [Mesh],
    random: &mut Random,
    [corner, right, up]: [Vec3; 3],
    [columns, rows]: [u32; 2],
    joint: f32,
) {
    let (across, along) = (right / columns as f32, up / rows as f32);
    let (gap_across, gap_along) = (right.normalize() * joint, up.normalize() * joint);
    let kinds = meshes.len();
    for row in 0..rows {
        for column in 0..columns {
            let at = corner + across * column as f32 + along * row as f32 + (gap_across + gap_along) / 2.0;
            let kind = (random.unit() * kinds as f32) as usize;
            add_panel(&mut meshes[kind], at, across - gap_across, along - gap_along);
        }
    }
}

/// Adds what another mesh has; both with normals, or both without.
pub(crate) fn add_mesh(mesh: &mut Mesh, other: &Mesh) {
    let first = mesh.positions.len() as u32;
    mesh.positions.extend(&other.positions);
    mesh.normals.extend(&other.normals);
    mesh.triangles.extend(other.triangles.iter().map(|t| t.map(|i| first + i)));
}

/// A surface of revolution at a place, through points of radius and height, with three pieces from each to the next.
pub(crate) fn turned(profile: &[[f32; 2]], foot: Vec3) -> Mesh {
    let mut mesh = Mesh::lathe(&super::mesh::smooth(profile, 3), 64);
    mesh.positions.iter_mut().for_each(|p| *p += foot);
    mesh.uvs.clear();
    mesh
}
