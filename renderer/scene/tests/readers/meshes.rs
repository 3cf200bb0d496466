//! OBJ files.

use glam::{Vec2, Vec3};
use torrance_scene::{Files, Geometry, MeshFile, Normals, Problem, TriangleOrigin, load_bytes, obj};

use crate::BASE;

fn read(text: &str, normals: Normals) -> MeshFile {
    obj::read("m.obj", text.as_bytes(), normals, false).unwrap_or_else(|e| panic!("{e:?}"))
}

/// The problems as `Error` prints them, one a line.
fn problems(text: &[u8]) -> String {
    obj::read("m.obj", text, Normals::File, false).unwrap_err().to_string()
}

const CORNERS: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

#[test]
fn reads_polygons_groups_and_all_kinds_of_corners() {
    let text = format!(
        "# caf\\u{{e9}}\nmtllib none.mtl\n{CORNERS}vt 0 0\nvn 0 0 2\no first\nusemtl x\ns off\nf 1/1/1 2/1/1 3//1 4//1\n\
         g second\nv 2 0 0 0.5 0.5 0.5\nf -1//-1 3//1 2/1/1 # comment\nl 1 2\np 1\n"
    );
    let obj = read(&text, Normals::File);
    assert_eq!(obj.mesh.triangles, [[0, 1, 2], [0, 2, 3], [4, 2, 1]]);
    assert_eq!(obj.mesh.positions[4], Vec3::new(2.0, 0.0, 0.0));
    assert_eq!(obj.mesh.normals, [Vec3::Z; 5]);
    assert_eq!(obj.place, TriangleOrigin::Lines(vec![12, 12, 15]));
    let warning = "m.obj:12:1: this face has no texture coordinates and others do; they are (0, 0) where there are none";
    assert_eq!(obj.warnings.iter().map(Problem::to_string).collect::<Vec<_>>(), [warning]);
    assert_eq!(read(&text, Normals::Flat).mesh.normals, []);
}

#[test]
fn lines_may_go_on_and_faces_come_before_their_vertices() {
    let obj = read("f 1 2 \\\n3\nv 0 0 \\\r\n0\nv 1 0 0\nv 0 1 0", Normals::File);
    assert_eq!(obj.mesh.triangles, [[0, 1, 2]]);
    assert_eq!(obj.mesh.positions, [Vec3::ZERO, Vec3::X, Vec3::Y]);
}

#[test]
fn one_position_with_two_normals_is_two_vertices() {
    let obj =
        read(&format!("{CORNERS}vn 0 0 1\nvn 0 1 0\nf 1//1 2//1 3//1\nf 1//2 3//2 4//2"), Normals::File);
    assert_eq!(obj.mesh.positions.len(), 6);
    assert_eq!(obj.mesh.triangles, [[0, 1, 2], [3, 4, 5]]);
}

#[test]
fn texture_coordinates_are_those_of_their_corners() {
    let uvs = "vt 0 0\nvt 1 0.25 0.5\nvt 0.5 1\n";
    // The second face meets the first in two positions, of which one has other texture coordinates there.
    let obj = read(&format!("{CORNERS}{uvs}f 1/1 2/2 3/3\nf 1/1 3/-2 4/3"), Normals::File);
    assert_eq!(obj.mesh.triangles, [[0, 1, 2], [0, 3, 4]]);
    assert_eq!(obj.mesh.positions[2], obj.mesh.positions[3]);
    // From the top.
    let expected = [[0.0, 1.0], [1.0, 0.75], [0.5, 0.0], [1.0, 0.75], [0.5, 0.0]];
    assert_eq!(obj.mesh.uvs, expected.map(Vec2::from));
    assert_eq!((&obj.mesh.normals, obj.warnings), (&vec![], vec![]));
    let all = read(&format!("{CORNERS}{uvs}vn 0 0 1\nf 1/3/1 2/2/1 3/1/1"), Normals::File).mesh;
    assert_eq!(all.uvs, [[0.5, 0.0], [1.0, 0.75], [0.0, 1.0]].map(Vec2::from));
    assert_eq!(all.normals, [Vec3::Z; 3]);
}

#[test]
fn texture_coordinates_without_a_corner_are_none() {
    let obj = read(&format!("{CORNERS}vt 0 0\nvt 1 0\nf 1 2 3"), Normals::File);
    assert_eq!((&obj.mesh.uvs, obj.warnings), (&vec![], vec![]));
}

#[test]
fn corners_without_texture_coordinates_have_zero() {
    let obj = read(&format!("{CORNERS}vt 1 0\nvt 1 1\nf 1/1 2/2 3/1\nf 1 3 4"), Normals::File);
    assert_eq!(obj.mesh.triangles, [[0, 1, 2], [3, 4, 5]]);
    assert_eq!(obj.mesh.uvs, [Vec2::ONE, Vec2::X, Vec2::ONE, Vec2::ZERO, Vec2::ZERO, Vec2::ZERO]);
    let warning =
        "m.obj:8:1: this face has no texture coordinates and others do; they are (0, 0) where there are none";
    assert_eq!(obj.warnings.iter().map(Problem::to_string).collect::<Vec<_>>(), [warning]);
}

#[test]
fn smooth_normals_weigh_by_angle_and_join_vertices_at_one_place() {
    // A cube's corner: two triangles of one face and one of each other, the first with vertices of its own.
    let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv -0 0 -0\nv 0 0 1\nv 1 0 0\nv 0 1 0\n\
                f 1 2 3\nf 1 3 4\nf 5 6 7\nf 5 8 6";
    let obj = read(text, Normals::Smooth);
    let expected = Vec3::ONE.normalize();
    for vertex in [0, 4] {
        let n = obj.mesh.normals[vertex];
        assert!((n - expected).length() < 1e-6, "{n}");
    }
}

#[test]
fn zero_normals_come_from_the_faces() {
    let obj = read(&format!("{CORNERS}vn 0 0 0\nvn 0 0 1e-30\nf 1//1 2//2 3//2"), Normals::File);
    assert_eq!(obj.mesh.normals, [Vec3::Z; 3]);
    let warning = "m.obj: 1 vertex normal has zero length; the normals of the faces there are used instead";
    assert_eq!(obj.warnings[0].to_string(), warning);
}

#[test]
fn partial_normals_are_left_out() {
    let obj = read(&format!("{CORNERS}vn 0 0 1\nf 1//1 2//1 3//1\nf 1 3 4"), Normals::File);
    assert_eq!(obj.mesh.normals, []);
    let warning = "m.obj:7:1: this face has no vertex normals and others do; all are left out";
    assert_eq!(obj.warnings[0].to_string(), warning);
}

#[test]
fn every_fault_has_its_line() {
    let text =
        b"v 0 0 nan\nv 1 0\nv a 0 0\nv inf 0 0\nv 0 -2e9 0\nf 1 2\nf 1 2 0\nf 1 2 6\nf 1 2 -6\nf 1 2 3/1";
    let expected = "\
m.obj:1:7: a coordinate of this vertex is not a number (NaN)
m.obj:2:1: a vertex has three coordinates, and this one has 2
m.obj:3:3: \"a\" is not a number
m.obj:4:3: a coordinate of this vertex is infinite
m.obj:5:5: the coordinate \"-2e9\" is beyond ±1e9
m.obj:6:1: a face has at least three vertices, and this one has 2
m.obj:7:7: the vertex index is 0; they begin at 1
m.obj:8:7: the vertex index 6 is out of range; the file has 5
m.obj:9:7: the vertex index -6 is out of range; up to here the file has 5
m.obj:10:7: the texture coordinate index 1 is out of range; the file has 0";
    assert_eq!(problems(text), expected);
    assert_eq!(problems(b""), "m.obj:1:1: the mesh is empty: there are no faces");
    assert_eq!(
        problems(b"vt 0 nan\nvt a 0\nvt inf 0\nvt 0 2e9\nf 1 1 1"),
        "\
m.obj:1:6: a coordinate of this texture vertex is not a number (NaN)
m.obj:2:4: \"a\" is not a number
m.obj:3:4: a coordinate of this texture vertex is infinite
m.obj:4:6: the coordinate \"2e9\" is beyond ±1e9
m.obj:5:3: the vertex index 1 is out of range; the file has 0"
    );
    assert_eq!(
        problems(b"f 99999999999999999999 1 1"),
        "m.obj:1:3: \"99999999999999999999\" is not an index"
    );
    assert_eq!(problems(b"f -9223372036854775808 1 1").lines().count(), 1);
}

/// A file with a good triangle at its end, and the warnings of what is before.
#[track_caller]
fn forgiven(before: &str, warnings: &[&str]) -> MeshFile {
    let file = read(&format!("{before}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\n"), Normals::File);
    let found: Vec<_> = file.warnings.iter().map(Problem::to_string).collect();
    let expected: Vec<_> = warnings.iter().map(|warning| format!("m.obj:{warning}")).collect();
    assert_eq!(found, expected, "{before:?}");
    assert!(file.warnings.iter().all(|warning| warning.remedy.is_some()), "{before:?}");
    file
}

#[test]
fn mistakes_that_leave_a_picture_are_forgiven() {
    // Nothing but the good triangle is left of these.
    let alone = |before: &str, warnings: &[&str]| {
        let mesh = forgiven(before, warnings).mesh;
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (3, 1), "{before:?}");
    };
    alone("", &[]);
    alone("unknown 1 2\ncall a.obj\n?!", &[]);
    alone(
        "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3",
        &["1:3: a coordinate of this vertex is not a number (NaN); faces that have it are left out"],
    );
    // What no face has hurts no face; forward indices are known, too.
    alone(
        "f 1 2 3\nv 1 0 0\nv inf inf inf\nv 2e9 0 0\nv 2e9 0 0",
        &[
            "3:3: a coordinate of this vertex is infinite; faces that have it are left out",
            "4:3: the coordinate \"2e9\" is beyond ±1e9 (and 1 more of the kind); faces that have it are left out",
        ],
    );
    alone(
        "v 0 0 0\nf 1 1\nf 1\nf",
        &[
            "2:1: a face has at least three vertices, and this one has 2 (and 2 more of the kind); the face is left out",
        ],
    );
    alone(
        "v 0 0 0\nf 1 1 9",
        &["2:7: the vertex index 9 is out of range; the file has 4; the face is left out"],
    );
    alone("v 0 0 0\nf 1 1 x", &["2:7: \"x\" is not an index; the face is left out"]);
    // Faces stay without what they name and the file has not.
    let corners = "v 0 0 0\nv 1 0 0\nv 1 1 0\n";
    let file = forgiven(
        &format!("{corners}f 1/1/1 2/2/2 3/3/3"),
        &[
            "4:3: the texture coordinate index 1 is out of range; the file has 0 (and 2 more of the kind); the corner has none",
            "4:3: the normal index 1 is out of range; the file has 0 (and 2 more of the kind); the corner has none",
        ],
    );
    assert_eq!((file.mesh.triangles.len(), &file.mesh.normals, &file.mesh.uvs), (2, &vec![], &vec![]));
    let file = forgiven(
        &format!("{corners}f 1 2/x 3//\u{fffd}/"),
        &[
            "4:5: \"x\" is not an index; the corner has none",
            "4:9: \"3//\u{fffd}/\" is not a face vertex; write v, v/vt, v//vn or v/vt/vn; what follows v/vt/vn is left out",
            "4:9: \"\u{fffd}\" is not an index; the corner has none",
        ],
    );
    assert_eq!(file.mesh.triangles.len(), 2);
    let bad = "vt nan 0\nvn 0 nan 0\nvt 0.25\nvt\n";
    let text = format!("{corners}{bad}f 1/1/1 2/2/1 3/3/1");
    let found = read(&text, Normals::File);
    assert_eq!(found.mesh.uvs, [[0.0, 1.0], [0.25, 1.0], [0.0, 1.0]].map(Vec2::from));
    assert_eq!(found.mesh.normals, [Vec3::Z; 3]);
    let warnings: Vec<_> = found.warnings.iter().map(Problem::to_string).collect();
    assert_eq!(
        warnings,
        [
            "m.obj:4:4: a coordinate of this texture vertex is not a number (NaN); it is (0, 0)",
            "m.obj:5:6: a coordinate of this vertex normal is not a number (NaN); that of the faces is used",
            "m.obj:7:1: a texture vertex has at least one coordinate, and this one has 0; it is (0, 0)",
            "m.obj: 3 vertex normals have zero length; the normals of the faces there are used instead",
        ]
    );
}

#[test]
fn lines_end_and_begin_as_programs_write_them() {
    let text = format!("# of C:\\models\\\n{CORNERS}f 1 2 3\n");
    let expected = read(&text, Normals::File);
    assert_eq!(expected.mesh.triangles, [[0, 1, 2]]);
    for other in [text.replace('\n', "\r\n"), text.replace('\n', "\r"), format!("\u{feff}{text}")] {
        assert_eq!(read(&other, Normals::File).mesh, expected.mesh, "{other:?}");
    }
    // Windows-1252.
    let latin = [b"# caf\xe9\no caf\xe9\n".as_slice(), text.as_bytes()].concat();
    assert_eq!(obj::read("m.obj", &latin, Normals::File, false).unwrap().mesh, expected.mesh);
}

/// IEC 61966-2-1: the encoded value 0.5 is 0.21404 linear.
#[test]
fn colours_follow_positions_encoded_as_srgb() {
    let colors = |text: &str| read(text, Normals::File);
    let file = colors("v 0 0 0 1 0 0.5\nv 1 0 0 0 1 0.5 1\nv 0 1 0\nf 1 2 3");
    let half = 0.214_041;
    let expected = [[1.0, 0.0, half], [0.0, 1.0, half], [1.0; 3]].map(Vec3::from);
    assert!(file.mesh.colors.iter().zip(expected).all(|(a, b)| (*a - b).length() < 1e-5), "{:?}", file.mesh);
    assert_eq!((file.mesh.colors.len(), file.warnings), (3, vec![]));
    // Bytes, as some programs write them; a fourth number is no colour.
    let file = colors("v 0 0 0 255 0 127.5\nv 1 0 0 0 255 127.5\nv 0 1 0 255 255 255\nf 1 2 3");
    assert!(file.mesh.colors.iter().zip(expected).all(|(a, b)| (*a - b).length() < 1e-5), "{:?}", file.mesh);
    let warning =
        "m.obj: colours of vertices go from 0 to 1, and here to 255; they are taken for parts of 255";
    assert_eq!(file.warnings.iter().map(Problem::to_string).collect::<Vec<_>>(), [warning]);
    assert_eq!(colors("v 0 0 0 1\nv 1 0 0 1\nv 0 1 0 0.5\nf 1 2 3").mesh.colors, []);
}

#[test]
fn degenerate_triangles_are_dropped_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = format!("{CORNERS}f 1 2 3\nf 1 1 2\nf 1 3 4\nf 2 2 2\n");
    std::fs::write(folder.path().join("m.obj"), mesh).unwrap();
    let load = |extra: &str| {
        let text =
            format!("{BASE}[[shapes]]\ntype = \"mesh\"\nfile = \"m.obj\"\nmaterial = \"white\"\n{extra}");
        load_bytes("s.toml", text.as_bytes(), &Files::new(folder.path(), false))
    };
    let loaded = load("").unwrap();
    let Geometry::Mesh(mesh) = &loaded.description.shapes[1].geometry else { panic!("no mesh") };
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    let warning = "s.toml:15:8: 2 of 4 triangles of \"m.obj\" have no area and are left out; the first is on line 6 there";
    assert_eq!(loaded.warnings.iter().map(Problem::to_string).collect::<Vec<_>>(), [warning]);
    let tiny = load("transform = { scale = 1e-8 }").unwrap();
    assert_eq!(tiny.warnings.len(), 1, "smaller than one would want, but there");
    std::fs::write(folder.path().join("m.obj"), "v 0 0 0\nv 0.01 0 0\nv 0 0.01 0\nf 1 2 3\nf 1 3 2").unwrap();
    assert!(load("").is_ok());
    let error = load("transform = { scale = 1e-8 }").unwrap_err();
    assert_eq!(
        error.to_string(),
        "s.toml:15:8: mesh file \"m.obj\" holds 2 triangles, none of which has an area"
    );
    // Two triangles of which one vanishes where single precision is coarse, or where squares underflow.
    let large_and_small = "v 0 0 0\nv 0.01 0 0\nv 0 0.01 0\nv 5e4 0 0\nv 0 5e4 0\nf 1 2 3\nf 1 4 5";
    std::fs::write(folder.path().join("m.obj"), large_and_small).unwrap();
    for steps in ["translate = [9e8, 9e8, 9e8]", "scale = 1e-8"] {
        let loaded = load(&format!("transform = {{ {steps} }}")).unwrap();
        let warning = "s.toml:15:8: 1 of 2 triangles of \"m.obj\" has no area and is left out; the first is on line 6 there";
        assert_eq!(loaded.warnings.iter().map(Problem::to_string).collect::<Vec<_>>(), [warning]);
    }
    std::fs::write(folder.path().join("m.obj"), "v 0 0 0\nv 5 0 0\nv 0 5 0\nf 1 2 3").unwrap();
    let error = load("transform = { scale = 1e9 }").unwrap_err();
    let expected = "s.toml:17:13: shapes[1] reaches beyond 1e9 metres, where single precision fails";
    assert_eq!(error.to_string(), expected);
}

#[cfg(unix)]
#[test]
fn files_without_end_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("/dev/zero", at("zero.obj")).unwrap();
    // Sparse: it takes no space.
    std::fs::File::create(at("long.obj")).unwrap().set_len((4 << 30) + 1).unwrap();
    for (file, why) in [("zero.obj", "it is not a regular file"), ("long.obj", "it is larger than 4 GiB")] {
        let text = format!("{BASE}[[shapes]]\ntype = \"mesh\"\nfile = \"{file}\"\nmaterial = \"white\"");
        let error = load_bytes("s.toml", text.as_bytes(), &Files::new(folder.path(), true)).unwrap_err();
        let path = at(file).display().to_string();
        assert_eq!(error.to_string(), format!("s.toml:15:8: cannot read mesh file \"{path}\": {why}"));
    }
}
