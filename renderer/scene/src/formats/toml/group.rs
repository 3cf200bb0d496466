//! `[groups]` and `[[instances]]`.

use std::path::Path;

use glam::{Affine3A, DAffine3, Vec3};
use torrance_text::quoted_path;

use super::keys;
use super::names::{Names, tables};
use super::shape::{self, Resources, TOO_FAR};
use super::text::short_key;
use super::transform::{similarity_scale, transform, unusable};
use super::unused;
use crate::description::limits::{MAX_COORDINATE, MAX_INSTANCES};
use crate::description::{Group, Instance, Shape, drop_empty_groups};
use crate::files::{FileError, Files};
use crate::input::{Field, Section};

/// Groups, and the places where they are.
#[derive(Default)]
pub(super) struct Instancing {
    pub(super) groups: Vec<Group>,
    pub(super) instances: Vec<Instance>,
    /// Copies of what emits.
    pub(super) lights: Vec<Shape>,
}

/// Most copies of shapes that emit.
const MAX_LIGHTS: usize = 1 << 20;
/// Largest file of transforms as text, bytes.
const MAX_TEXT: u64 = 1 << 30;

/// Groups as they are read.
#[derive(Default)]
struct Groups {
    names: Names,
    /// The shapes of each; nothing if something is wrong with them.
    shapes: Vec<Option<Vec<Shape>>>,
    /// Largest coordinates of these.
    reaches: Vec<Vec3>,
}

/// Reads `[groups]` and `[[instances]]`.
pub(super) fn instanced(
    top: &Section<'_>,
    resources: &mut Resources<'_>,
    files: &Files,
) -> Option<Instancing> {
    let mut groups = Groups::default();
    if let Some(section) = top.get("groups").and_then(|f| f.table("[groups]")) {
        let entries = section.entries();
        groups.names = Names::new(entries.iter().map(|(name, _)| *name));
        groups.shapes = entries.iter().map(|(name, field)| group(name, field, resources)).collect();
        groups.reaches = groups.shapes.iter().map(|shapes| reach(shapes.iter().flatten())).collect();
    }
    let instances = places(top, &groups, files)?;
    let mut places_of = vec![Vec::new(); groups.shapes.len()];
    for instance in &instances {
        places_of[instance.group as usize].push(instance.world_from_group);
    }
    let placed = groups.names.iter().zip(&places_of).filter(|(_, places)| !places.is_empty());
    unused::warn_of_others(top, "groups", &placed.map(|(name, _)| name).collect());
    let mut found = Instancing { instances, ..Instancing::default() };
    for ((name, shapes), places) in groups.names.iter().zip(groups.shapes).zip(places_of) {
        let (emitting, shapes): (Vec<_>, Vec<_>) = shapes?.into_iter().partition(Shape::emits);
        found.groups.push(Group { name: name.to_owned(), shapes });
        copy_lights(top, &emitting, &places, &mut found.lights)?;
    }
    drop_empty_groups(&mut found.groups, &mut found.instances);
    Some(found)
}

/// Largest coordinates of shapes.
fn reach<'a>(shapes: impl Iterator<Item = &'a Shape>) -> Vec3 {
    let corners = shapes.map(Shape::bounds).flat_map(|bounds| [bounds.lo, bounds.hi]);
    corners.fold(Vec3::ZERO, |most, p| most.max(p.abs()))
}

/// The shapes of a group.
fn group(name: &str, field: &Field<'_>, resources: &mut Resources<'_>) -> Option<Vec<Shape>> {
    let section = field.table(format!("group {}", field.name))?;
    section.reject_unknown_keys(&keys::GROUP.known(None));
    let place = format!("groups.{}.shapes", short_key(name));
    let shapes = section.require("shapes", &format!("[[{place}]]"))?;
    Some(shape::list(&shapes, &place, "the group has no shapes", resources))
}

/// Adds a copy of each shape for each place.
fn copy_lights(
    top: &Section<'_>,
    shapes: &[Shape],
    places: &[Affine3A],
    lights: &mut Vec<Shape>,
) -> Option<()> {
    for (n, world_from_group) in places.iter().enumerate() {
        for shape in shapes {
            let world_from_object = *world_from_group * shape.world_from_object;
            let round = shape.geometry.is_round();
            let exact = world_from_group.matrix3.as_dmat3();
            let problem = match round && similarity_scale(&DAffine3::from_mat3(exact)).is_none() {
                true => {
                    Some("emits and is round, which an instance of its group would not leave it".to_owned())
                }
                false if lights.len() == MAX_LIGHTS => {
                    Some(format!("emits, and there are more than {MAX_LIGHTS} copies of such shapes"))
                }
                false => None,
            };
            if let Some(problem) = problem {
                let place = top.get("instances").map_or(0..0, |f| f.span());
                top.src.error(place, format!("{} {problem}", shape.name));
                return None;
            }
            let name = format!("{} #{n}", shape.name);
            lights.push(Shape { name, world_from_object, ..shape.clone() });
        }
    }
    Some(())
}

/// Reads `[[instances]]`.
fn places(top: &Section<'_>, groups: &Groups, files: &Files) -> Option<Vec<Instance>> {
    let Some(field) = top.get("instances") else { return Some(Vec::new()) };
    let (mut all, mut is_right) = (Vec::new(), true);
    for section in tables(&field, "instances") {
        let found = section.as_ref().and_then(|section| place(section, groups, files));
        let (Some(section), Some(found), true) = (section, found, is_right) else {
            is_right = false;
            continue;
        };
        if all.len() + found.len() > MAX_INSTANCES {
            section.src.error(section.span, format!("the scene has more than {MAX_INSTANCES} instances"));
            return None;
        }
        all.extend(found);
    }
    is_right.then_some(all)
}

/// One of `[[instances]]`, which may be many.
fn place(section: &Section<'_>, groups: &Groups, files: &Files) -> Option<Vec<Instance>> {
    section.reject_unknown_keys(&keys::INSTANCE.known(None));
    let without = |name| format!("; define it with [[groups.{name}.shapes]]");
    let group = section.require("group", "group = \"tree\"");
    let group = group.and_then(|field| groups.names.find(&field, "group", without));
    let transforms = section.reject_both(["transform", "transforms"], "transforms").and_then(|()| {
        match section.get("transforms") {
            Some(many) => read_many(&many, files),
            None => section
                .get("transform")
                .map_or(Some(DAffine3::IDENTITY), |f| transform(&f))
                .map(|one| vec![one.as_affine3a()]),
        }
    });
    let (group, transforms) = (group?, transforms?);
    check_reach(section, groups.reaches[group], &transforms)?;
    let instance = |world_from_group| Instance { group: group as u32, world_from_group };
    Some(transforms.into_iter().map(instance).collect())
}

/// Reports instances that reach farther than single precision.
fn check_reach(section: &Section<'_>, most: Vec3, transforms: &[Affine3A]) -> Option<()> {
    let reach = |t: &Affine3A| {
        let m = glam::Mat3::from(t.matrix3);
        let moved = m.x_axis.abs() * most.x + m.y_axis.abs() * most.y + m.z_axis.abs() * most.z;
        (moved + Vec3::from(t.translation).abs()).max_element()
    };
    // NaN is not below the limit.
    match transforms.iter().all(|t| reach(t) <= MAX_COORDINATE) {
        true => Some(()),
        false => {
            section.src.error(section.span.clone(), format!("{} {TOO_FAR}", section.name));
            None
        }
    }
}

/// Reads a file of transforms.
fn read_many(field: &Field<'_>, files: &Files) -> Option<Vec<Affine3A>> {
    let name = field.string()?;
    let read = files.resolve(name).map_err(TransformsError::from).and_then(|path| {
        let is_text = Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
        let bytes = files.bytes(&path, if is_text { MAX_TEXT } else { 48 * MAX_INSTANCES as u64 })?;
        if is_text { from_csv(&bytes) } else { from_floats(&bytes) }
    });
    match read {
        Ok(transforms) => Some(transforms),
        Err(reason) => {
            let shown = quoted_path(files.folder().join(name));
            field.src.error(field.span(), format!("cannot read transforms {shown}: {reason}"));
            None
        }
    }
}

/// Why a file gives no transforms, to follow "cannot read transforms …:".
#[derive(Debug, PartialEq, thiserror::Error)]
enum TransformsError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{0}")]
    Contents(String),
}

/// Twelve little-endian floats each: the first three rows of a matrix.
fn from_floats(bytes: &[u8]) -> Result<Vec<Affine3A>, TransformsError> {
    let (all, rest) = bytes.as_chunks::<48>();
    if !rest.is_empty() || all.is_empty() {
        let message = format!("it has {} bytes, which are not transforms of 48 bytes each", bytes.len());
        return Err(TransformsError::Contents(message));
    }
    if all.len() > MAX_INSTANCES {
        let message = format!("it has {} transforms; the most is {MAX_INSTANCES}", all.len());
        return Err(TransformsError::Contents(message));
    }
    let one = |(i, bytes): (usize, &[u8; 48])| {
        let (numbers, _) = bytes.as_chunks::<4>();
        let transform = checked(std::array::from_fn(|i| f32::from_le_bytes(numbers[i])));
        transform.map_err(|why| TransformsError::Contents(format!("transform {i} {why}")))
    };
    all.iter().enumerate().map(one).collect()
}

/// Twelve numbers a line.
fn from_csv(bytes: &[u8]) -> Result<Vec<Affine3A>, TransformsError> {
    let wrong = |message: &str| TransformsError::Contents(message.to_owned());
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is not text in UTF-8"))?;
    let mut transforms = Vec::new();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line_error = |why: &str| wrong(&format!("line {} {why}", i + 1));
        let mut numbers = [0.0; 12];
        let mut parts = line.split(',');
        for number in &mut numbers {
            let part = parts.next().and_then(|part| part.trim().parse().ok());
            *number = part.ok_or_else(|| line_error("has no twelve numbers between commas"))?;
        }
        if parts.next().is_some() {
            return Err(line_error("has more than twelve numbers"));
        }
        transforms.push(checked(numbers).map_err(line_error)?);
        if transforms.len() > MAX_INSTANCES {
            return Err(wrong(&format!("it has more than {MAX_INSTANCES} transforms")));
        }
    }
    if transforms.is_empty() { Err(wrong("it is empty")) } else { Ok(transforms) }
}

/// The transform of twelve numbers, row by row, or why there is none.
fn checked(m: [f32; 12]) -> Result<Affine3A, &'static str> {
    if m.iter().any(|x| !x.is_finite()) {
        return Err("has numbers that are not finite");
    }
    let column = |c: usize| Vec3::new(m[c], m[4 + c], m[8 + c]);
    let t = Affine3A::from_cols(column(0).into(), column(1).into(), column(2).into(), column(3).into());
    unusable(&t.as_daffine3()).map_or(Ok(t), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_from_files() {
        let rows = [2.0, 0.0, 0.0, 5.0, 0.0, 3.0, 0.5, 6.0, 0.0, 0.0, 4.0, 7.0_f32];
        let bytes: Vec<u8> = rows.iter().flat_map(|x| x.to_le_bytes()).collect();
        let expected = Affine3A::from_cols(
            Vec3::new(2.0, 0.0, 0.0).into(),
            Vec3::new(0.0, 3.0, 0.0).into(),
            Vec3::new(0.0, 0.5, 4.0).into(),
            Vec3::new(5.0, 6.0, 7.0).into(),
        );
        assert_eq!(from_floats(&bytes), Ok(vec![expected]));
        assert_eq!(from_floats(&[bytes.clone(), bytes.clone()].concat()), Ok(vec![expected; 2]));
        let csv = "2,0,0,5, 0,3,0.5,6, 0,0,4,7\n\n";
        assert_eq!(from_csv(csv.as_bytes()), Ok(vec![expected]));
        assert!(from_floats(&bytes[1..]).unwrap_err().to_string().contains("47 bytes"));
        assert!(from_floats(&[]).is_err());
        let mut flat = bytes.clone();
        flat[..4].fill(0);
        assert!(from_floats(&flat).unwrap_err().to_string().starts_with("transform 0 scales by less"));
        flat[..4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(from_floats(&flat).unwrap_err().to_string().contains("not finite"));
        for (text, why) in
            [("", "empty"), ("1,2", "line 1 has no twelve"), ("0,0,0,0,0,0,0,0,0,0,0,0", "line 1 scales")]
        {
            assert!(from_csv(text.as_bytes()).unwrap_err().to_string().contains(why), "{text}");
        }
        assert!(
            from_csv(format!("{csv}{},1", csv.trim()).as_bytes())
                .unwrap_err()
                .to_string()
                .starts_with("line 3 has more")
        );
    }
}
