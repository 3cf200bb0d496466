//! The faces of a PLY file: their corners, and what VCGlib writes beside them.

use glam::{Vec2, Vec3};

use super::header::{Element, Kind, Property, Type};
use super::values::{Fault, Values};
use super::{Column, Rows, index_list, pass_over_property};
use crate::description::TriangleMesh;
use crate::description::limits::MAX_COORDINATE;

/// What triangles have that vertices have not. Lists are as long as that of the triangles, or empty.
#[derive(Debug, Default)]
pub(super) struct FaceAttributes {
    /// Texture coordinates of the corners.
    uvs: Vec<[Vec2; 3]>,
    /// Linear colours.
    colors: Vec<Vec3>,
    /// Index of the texture.
    textures: Vec<u32>,
}

/// What a property of a face is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Corners,
    Uvs,
    Texture,
    /// Red, green or blue.
    Color(usize),
    Other,
}

/// A row of the element.
#[derive(Debug, Default)]
struct Face {
    corners: Vec<u32>,
    /// Whether it has an area to be seen.
    is_right: bool,
    /// u and v by turns.
    uvs: Vec<f32>,
    color: [f32; 3],
    texture: u32,
}

impl Face {
    /// Texture coordinates of a corner.
    fn uv(&self, corner: usize) -> Vec2 {
        // There may be none, or those of some corners.
        let uv = self.uvs.get(2 * corner..2 * corner + 2);
        uv.map_or(Vec2::ZERO, Vec2::from_slice)
    }
}

impl FaceAttributes {
    /// Adds those of the triangles `1..` to `1 + i` of a face, as far as faces have them.
    fn add(&mut self, face: &Face, roles: &[Role]) {
        let triangles = face.corners.len() - 2;
        if roles.contains(&Role::Uvs) {
            let fan = (0..triangles).map(|i| [0, i + 1, i + 2].map(|corner| face.uv(corner)));
            self.uvs.extend(fan);
        }
        if roles.contains(&Role::Color(0)) {
            self.colors.extend(std::iter::repeat_n(Vec3::from(face.color), triangles));
        }
        if roles.contains(&Role::Texture) {
            self.textures.extend(std::iter::repeat_n(face.texture, triangles));
        }
    }

    /// Gives vertices what the triangles have, where there are several vertices for one as triangles differ. Yields the
    /// textures of triangles.
    pub(super) fn hand_out(mut self, mesh: &mut TriangleMesh) -> Vec<u32> {
        let count = mesh.triangles.len();
        // Triangles of strips have none, and then the others cannot be told apart.
        self.uvs.truncate(if self.uvs.len() == count { count } else { 0 });
        self.colors.truncate(if self.colors.len() == count { count } else { 0 });
        self.textures.truncate(if self.textures.len() == count { count } else { 0 });
        if self.uvs.is_empty() && self.colors.is_empty() {
            return self.textures;
        }
        let vertices = mesh.positions.len();
        if !self.uvs.is_empty() {
            mesh.uvs = vec![Vec2::ZERO; vertices];
        }
        if !self.colors.is_empty() {
            mesh.colors = vec![Vec3::ONE; vertices];
        }
        // Of each vertex the one that was made of it last: neighbours in the file mostly agree.
        let mut last: Vec<Option<u32>> = vec![None; vertices];
        for i in 0..count {
            for k in 0..3 {
                let (uv, color) = (self.uvs.get(i).map(|uvs| uvs[k]), self.colors.get(i).copied());
                let vertex = mesh.triangles[i][k] as usize;
                let agrees = |at: &u32| {
                    let at = *at as usize;
                    uv.is_none_or(|uv| uv == mesh.uvs[at]) && color.is_none_or(|c| c == mesh.colors[at])
                };
                let index = match last[vertex].filter(agrees) {
                    Some(index) => index,
                    None => split(mesh, vertex, last[vertex].is_some(), uv, color),
                };
                last[vertex] = Some(index);
                mesh.triangles[i][k] = index;
            }
        }
        self.textures
    }
}

/// A vertex with attributes of its own: itself, if it has none yet, or else another one in its place.
fn split(
    mesh: &mut TriangleMesh,
    vertex: usize,
    is_taken: bool,
    uv: Option<Vec2>,
    color: Option<Vec3>,
) -> u32 {
    let index = if is_taken { mesh.positions.len() } else { vertex };
    if is_taken {
        mesh.positions.push(mesh.positions[vertex]);
        mesh.normals.extend(mesh.normals.get(vertex).copied());
        mesh.uvs.extend(mesh.uvs.get(vertex).copied());
        mesh.colors.extend(mesh.colors.get(vertex).copied());
    }
    uv.into_iter().for_each(|uv| mesh.uvs[index] = uv);
    color.into_iter().for_each(|color| mesh.colors[index] = color);
    index as u32
}

impl Rows<'_> {
    pub(super) fn read_faces(&mut self, element: &Element, values: &mut impl Values) -> Result<(), Fault> {
        let roles = self.roles(element)?;
        self.mesh.triangles.reserve_exact(element.count as usize);
        self.faces = self.faces.map(|faces| faces + element.count);
        let mut face = Face::default();
        for _ in 0..element.count {
            values.begin_row()?;
            for (property, role) in element.properties.iter().zip(&roles) {
                self.read_property(&mut face, property, *role, values)?;
            }
            values.end_row()?;
            if !face.is_right {
                self.faces = None;
                continue;
            }
            let fan = face.corners[1..].windows(2).map(|pair| [face.corners[0], pair[0], pair[1]]);
            self.mesh.triangles.extend(fan);
            self.face_attributes.add(&face, &roles);
        }
        Ok(())
    }

    /// What the properties of faces are; of vertices' attributes those of vertices count, which are finer.
    fn roles(&self, element: &Element) -> Result<Vec<Role>, Fault> {
        let mut roles = vec![Role::Other; element.properties.len()];
        roles[index_list(self.file, element)?] = Role::Corners;
        let [_, _, has_uvs, has_colors] = self.has;
        let mut set = |at: Option<usize>, role: Role, is_list: bool| {
            let of = |at: &usize| matches!(element.properties[*at].kind, Kind::List { .. }) == is_list;
            if let Some(at) = at.filter(of).filter(|at| roles[*at] == Role::Other) {
                roles[at] = role;
            }
        };
        if !has_uvs {
            set(element.find("texcoord"), Role::Uvs, true);
        }
        set(element.find("texnumber"), Role::Texture, false);
        // Mitsuba's, by other names, are attributes that its scenes ask for.
        let colors = ["red", "green", "blue"].map(|name| element.find(name));
        if !has_colors && colors.iter().all(Option::is_some) {
            colors.into_iter().enumerate().for_each(|(i, at)| set(at, Role::Color(i), false));
        }
        Ok(roles)
    }

    #[inline(always)]
    fn read_property(
        &mut self,
        face: &mut Face,
        property: &Property,
        role: Role,
        values: &mut impl Values,
    ) -> Result<(), Fault> {
        match (role, property.kind) {
            (Role::Corners, Kind::List { count, item }) => self.corners(face, count, item, values),
            (Role::Uvs, Kind::List { count, item }) => {
                face.uvs.clear();
                for _ in 0..values.integer(count)? {
                    let x = values.float(item)?;
                    let x = if x.abs() <= MAX_COORDINATE {
                        x
                    } else {
                        self.out_of_range(x, Column::U, MAX_COORDINATE, values)
                    };
                    face.uvs.push(x);
                }
                Ok(())
            }
            (Role::Texture, Kind::Scalar(of)) => {
                face.texture = u32::try_from(values.integer(of)?).unwrap_or(u32::MAX);
                Ok(())
            }
            (Role::Color(i), Kind::Scalar(of)) => {
                let x = self.value([Column::Red, Column::Green, Column::Blue][i], of, values)?;
                face.color[i] = x.clamp(0.0, 1.0);
                Ok(())
            }
            _ => pass_over_property(property, values),
        }
    }

    #[inline(always)]
    fn corners(
        &mut self,
        face: &mut Face,
        count: Type,
        item: Type,
        values: &mut impl Values,
    ) -> Result<(), Fault> {
        const REMEDY: &str = "the face is left out";
        face.corners.clear();
        let corners = values.integer(count)?;
        face.is_right = corners >= 3;
        if !face.is_right {
            let message = format!("a face has at least three vertices, and this one has {corners}");
            self.mistakes.add("corners", REMEDY, || *values.fault(message));
        }
        for _ in 0..corners {
            match self.index(item, values, REMEDY)? {
                Some(index) => face.corners.push(index),
                None => face.is_right = false,
            }
        }
        Ok(())
    }
}
