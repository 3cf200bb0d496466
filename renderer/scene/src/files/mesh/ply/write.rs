//! Writing PLY files.

use std::io::{self, Write};

use glam::Vec3;

use crate::description::TriangleMesh;

/// Writes a mesh, little-endian, every number exactly: reading it again gives the same mesh, but for the length of normals
/// that are not unit vectors.
///
/// # Errors
/// Those of `out`.
pub fn write(mesh: &TriangleMesh, out: impl Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    writeln!(out, "ply\nformat binary_little_endian 1.0\nelement vertex {}", mesh.positions.len())?;
    let columns: [(&[&str], bool); 4] = [
        (&["x", "y", "z"], true),
        (&["nx", "ny", "nz"], !mesh.normals.is_empty()),
        (&["u", "v"], !mesh.uvs.is_empty()),
        (&["r", "g", "b"], !mesh.colors.is_empty()),
    ];
    for name in columns.iter().filter(|(_, there)| *there).flat_map(|(names, _)| *names) {
        writeln!(out, "property float {name}")?;
    }
    let faces = mesh.triangles.len();
    writeln!(out, "element face {faces}\nproperty list uchar uint vertex_indices\nend_header")?;
    for (i, position) in mesh.positions.iter().enumerate() {
        floats(&mut out, position.to_array())?;
        mesh.normals.get(i).map_or(Ok(()), |n| floats(&mut out, Vec3::to_array(n)))?;
        mesh.uvs.get(i).map_or(Ok(()), |uv| floats(&mut out, uv.to_array()))?;
        mesh.colors.get(i).map_or(Ok(()), |c| floats(&mut out, c.to_array()))?;
    }
    for triangle in &mesh.triangles {
        out.write_all(&[3])?;
        triangle.iter().try_for_each(|i| out.write_all(&i.to_le_bytes()))?;
    }
    out.flush()
}

fn floats<const N: usize>(out: &mut impl Write, numbers: [f32; N]) -> io::Result<()> {
    numbers.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
}
