//! PLY files.

use glam::{Vec2, Vec3};
use torrance_scene::{MeshFile, Normals, Problem, TriangleMesh, TriangleOrigin, ply};

pub(super) fn read(bytes: &[u8], normals: Normals) -> Result<MeshFile, Problem> {
    ply::read("m.ply", bytes, bytes.len() as u64, normals, false)
}

fn mesh(bytes: &[u8]) -> TriangleMesh {
    read(bytes, Normals::File).map(|f| TriangleMesh::clone(&f.mesh)).unwrap_or_else(|e| panic!("{e}"))
}

/// A square with everything, and things that are passed over: a column of each type, an element, a list.
const HEADER: &str = "comment a square\nobj_info none\nelement material 2\nproperty uchar id\n\
    property list char double weights\nelement vertex 4\nproperty double x\nproperty float y\nproperty short z\n\
    property char a\nproperty ushort b\nproperty float nx\nproperty float ny\nproperty float nz\nproperty float s\n\
    property float t\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\n\
    element face 2\nproperty int flags\nproperty list ushort uint vertex_indices\nend_header\n";

const ROWS: &str = "7 2 0.5 0.25\n8 0\n\
    0 0 -3 -1 65535 0 0 1 0 0.25 255 0 188 9\n1 0 -3 -1 1 0 0 1 1 0.25 255 0 188 9\n\
    1 1.5 -3 -1 2 0 0 1 1 1 255 0 188 9\n0 1.5 -3 -1 3 0 0 2 0 1 255 0 188 9\n\
    -5 4 0 1 2 3\n6 3 3 1 0\n";

/// Types of the numbers of a row of `ROWS`, in order; the last repeats.
const TYPES: [&[&str]; 3] = [
    &["u8", "i8", "f64"],
    &["f64", "f32", "i16", "i8", "u16", "f32", "f32", "f32", "f32", "f32", "u8", "u8", "u8", "u8"],
    &["i32", "u16", "u32"],
];

fn bytes_of(number: &str, of: &str, big: bool) -> Vec<u8> {
    let mut bytes = match of {
        "u8" => vec![number.parse::<u8>().unwrap()],
        "i8" => number.parse::<i8>().unwrap().to_le_bytes().to_vec(),
        "i16" => number.parse::<i16>().unwrap().to_le_bytes().to_vec(),
        "u16" => number.parse::<u16>().unwrap().to_le_bytes().to_vec(),
        "i32" => number.parse::<i32>().unwrap().to_le_bytes().to_vec(),
        "u32" => number.parse::<u32>().unwrap().to_le_bytes().to_vec(),
        "f32" => number.parse::<f32>().unwrap().to_le_bytes().to_vec(),
        _ => number.parse::<f64>().unwrap().to_le_bytes().to_vec(),
    };
    if big {
        bytes.reverse();
    }
    bytes
}

/// The square in all encodings.
pub(super) fn squares() -> [Vec<u8>; 3] {
    let binary = |name: &str, big: bool| {
        let mut bytes = format!("ply\nformat {name} 1.0\n{HEADER}").into_bytes();
        for (i, row) in ROWS.lines().enumerate() {
            let types = TYPES[match i {
                0..2 => 0,
                2..6 => 1,
                _ => 2,
            }];
            for (k, number) in row.split(' ').enumerate() {
                bytes.extend(bytes_of(number, types[k.min(types.len() - 1)], big));
            }
        }
        bytes
    };
    [
        format!("ply\nformat ascii 1.0\n{HEADER}{ROWS}").into_bytes(),
        binary("binary_little_endian", false),
        binary("binary_big_endian", true),
    ]
}

#[test]
fn all_encodings_say_the_same() {
    let half = 0.502_886_5;
    let expected = TriangleMesh {
        positions: [[0.0, 0.0, -3.0], [1.0, 0.0, -3.0], [1.0, 1.5, -3.0], [0.0, 1.5, -3.0]]
            .map(Vec3::from)
            .into(),
        normals: vec![Vec3::Z; 4],
        uvs: [[0.0, 0.25], [1.0, 0.25], [1.0, 1.0], [0.0, 1.0]].map(Vec2::from).into(),
        colors: vec![Vec3::new(1.0, 0.0, half); 4],
        triangles: vec![[0, 1, 2], [0, 2, 3], [3, 1, 0]],
        source: None,
    };
    for bytes in squares() {
        let found = read(&bytes, Normals::File).unwrap();
        assert_eq!(found.warnings, []);
        assert_eq!(found.place, TriangleOrigin::Triangle);
        let mut found = TriangleMesh::clone(&found.mesh);
        assert!(found.colors.iter().all(|c| (c.z - half).abs() < 1e-5));
        found.colors.iter_mut().for_each(|c| c.z = half);
        assert_eq!(found, expected);
        assert_eq!(read(&bytes, Normals::Flat).unwrap().mesh.normals, []);
        let flipped = ply::read("m.ply", &*bytes, bytes.len() as u64, Normals::File, true).unwrap();
        assert_eq!(flipped.mesh.uvs[0], Vec2::new(0.0, 0.75));
    }
}

#[test]
fn what_is_written_is_read_again() {
    let awkward = [1.0 / 3.0, -0.0, 1e-40, f32::MIN_POSITIVE, 0.1, 1e9];
    let mut mesh = TriangleMesh {
        positions: awkward.map(|x| Vec3::new(x, 2.0 * x.min(1.0), -x)).into(),
        normals: vec![Vec3::Y; 6],
        uvs: awkward.map(|x| Vec2::new(x, -x)).into(),
        colors: awkward.map(|x| Vec3::splat(x.clamp(0.0, 1.0))).into(),
        triangles: vec![[0, 1, 2], [5, 4, 3], [0, 0, 0]],
        source: None,
    };
    for _ in 0..2 {
        let mut bytes = Vec::new();
        ply::write(&mesh, &mut bytes).unwrap();
        let found = self::mesh(&bytes);
        assert_eq!(found, mesh);
        assert!(found.positions[1].x.is_sign_negative());
        mesh = TriangleMesh { normals: vec![], uvs: vec![], colors: vec![], ..mesh };
    }
}

const ASCII: &str =
    "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n";
const POINTS: &str = "0 0 0\n1 0 0\n0 1 0\n1 1 0\n2 0 0\n";

#[test]
fn strips_turn_every_other_triangle() {
    let text = format!(
        "{ASCII}element tristrips 1\nproperty list int int vertex_indices\nend_header\n{POINTS}9 0 1 2 3 -1 1 4 3 3\n"
    );
    // Counter-clockwise all of them, seen from +z.
    assert_eq!(mesh(text.as_bytes()).triangles, [[0, 1, 2], [2, 1, 3], [1, 4, 3]]);
}

#[test]
fn lines_may_be_empty_and_end_as_on_windows() {
    let text = format!(
        "{ASCII}element face 1\nproperty list uchar int vertex_index\nend_header\n{POINTS}\n 3  0\t1 2 \n"
    );
    let expected = mesh(text.as_bytes());
    assert_eq!(mesh(text.replace('\n', "\r\n").as_bytes()), expected);
    assert_eq!(mesh(text.trim_end().as_bytes()), expected);
}

#[test]
fn suspicious_files_are_read_with_a_warning() {
    let head =
        format!("{ASCII}property float red\nproperty float green\nproperty float blue\nelement face 1\n");
    let points = POINTS.replace('\n', " 0 0.5 2\n");
    let text = format!(
        "{head}property list uchar int vertex_indices\nproperty list uchar float texcoord\nend_header\n{points}3 0 1 2 0\nmore\n"
    );
    let found = read(text.as_bytes(), Normals::File).unwrap();
    assert_eq!(found.mesh.colors[4], Vec3::new(0.0, 0.5, 1.0));
    let warnings = [
        "m.ply: the file goes on after its last element; what follows is left out",
        "m.ply: 5 vertex colours are outside 0 to 1, and clamped",
    ];
    assert_eq!(found.warnings.iter().map(Problem::to_string).collect::<Vec<_>>(), warnings);
}

/// Replaces `from` in a good file, and yields what is wrong then.
#[track_caller]
fn wrong(from: &str, to: &str) -> String {
    let good = format!(
        "{ASCII}property float nx\nproperty float ny\nproperty float nz\nproperty float u\nproperty float v\n\
                        element face 1\nproperty list uchar int vertex_indices\nend_header\n{}3 0 1 2\n",
        POINTS.replace('\n', " 0 0 1 0.5 0.5\n")
    );
    assert!(good.contains(from), "{from:?}");
    let text = good.replacen(from, to, 1);
    read(text.as_bytes(), Normals::File).map(|f| panic!("{text} is read: {f:?}")).unwrap_err().to_string()
}

#[test]
fn broken_texts_are_refused_with_their_lines() {
    let table = [
        ("ply\n", "PLY\n", "m.ply: not a PLY file: its first line is not \"ply\""),
        ("format ascii 1.0\n", "", "m.ply: the header has no \"format\""),
        ("ascii 1.0", "ascii 1.1", "m.ply:2:14: version \"1.1\" is not read; 1.0 is"),
        ("ascii 1.0", "ascii", "m.ply:2:1: write format, the encoding and 1.0"),
        ("format ascii", "format asci", "m.ply:2:8: unknown format \"asci\"; did you mean \"ascii\"?"),
        ("element vertex 5", "format ascii 1.0", "m.ply:3:1: the format is given twice"),
        ("element vertex 5\n", "", "m.ply:3:1: this property belongs to no element"),
        ("element vertex 5", "element vertex", "m.ply:3:1: write element, its name and the number of rows"),
        ("element vertex 5", "element vertex -5", "m.ply:3:16: \"-5\" is not a count"),
        ("element vertex 5", "element vertexes 5", "m.ply: the file has no element \"vertex\""),
        (
            "element vertex 5",
            "elements vertex 5",
            "m.ply:3:1: unknown keyword \"elements\"; did you mean \"element\"?",
        ),
        ("element face 1", "element vertex 1", "m.ply:12:9: there is an element \"vertex\" already"),
        ("element face 1", "element edge 1", "m.ply: the mesh is empty: there are no faces"),
        ("float x", "floaty x", "m.ply:4:10: unknown type \"floaty\"; did you mean \"float\"?"),
        (
            "float x",
            "x",
            "m.ply:4:1: write property, its type and name; or property list, two types and a name",
        ),
        ("float y", "float x", "m.ply:5:16: element \"vertex\" has a property \"x\" already"),
        ("float z", "float w", "m.ply: element \"vertex\" has no properties x, y and z"),
        ("float x", "list uchar float x", "m.ply: property \"x\" of element \"vertex\" is a list"),
        (
            "list uchar int vertex_indices",
            "list uchar float corners",
            "m.ply: element \"face\" has no list of indices, as \"vertex_indices\" is",
        ),
        (
            "end_header\n",
            "",
            "m.ply:14:1: unknown keyword \"0\"; a header has \"format\", \"comment\", \"obj_info\", \"element\" or \"property\" \
             (and 5 more of the kind)",
        ),
        (
            "element vertex 5",
            "element vertex 1000000000",
            "m.ply: the file is too short for what its header promises: 1000000000 rows of element \"vertex\" take at least 16000000000 bytes, and 109 are left",
        ),
        (
            "element face 1",
            "element face 18446744073709551615",
            "m.ply: the file is too short for what its header promises: 18446744073709551615 rows of element \"face\" take at least 36893488147419103230 bytes, and 29 are left",
        ),
        ("element face 1", "element face 2", "m.ply: the file ends too early: rows are missing"),
        ("element face 1", "element face 0", "m.ply: the mesh is empty: there are no faces"),
        ("1 0 0 0", "1 zero 0 0", "m.ply:16:3: \"zero\" is not a number"),
        ("1 0 0 0", "1 nan 0 0", "m.ply:16:3: a coordinate of this vertex is not a number (NaN)"),
        ("1 0 0 0", "1 -inf 0 0", "m.ply:16:3: a coordinate of this vertex is infinite"),
        ("1 0 0 0", "1 2e9 0 0", "m.ply:16:3: the coordinate of this vertex, 2e9, is beyond ±1e9"),
        (
            "1 0 0 0",
            "1 0 0",
            "m.ply:16:1: this line has too few numbers for the element's properties (and 1 more of the kind)",
        ),
        ("3 0 1 2", "3 0 1 5", "m.ply:20:7: the vertex index 5 is out of range; the file has 5, from 0"),
        ("3 0 1 2", "3 0 1 -1", "m.ply:20:7: the vertex index -1 is out of range; the file has 5, from 0"),
        ("3 0 1 2", "3 0 1 1.5", "m.ply:20:7: \"1.5\" is not a whole number"),
        ("3 0 1 2", "2 0 1", "m.ply:20:1: a face has at least three vertices, and this one has 2"),
        ("3 0 1 2", "4 0 1 2", "m.ply:20:1: this line has too few numbers for the element's properties"),
    ];
    for (from, to, expected) in table {
        assert_eq!(wrong(from, to), expected, "{from:?} → {to:?}");
    }
}

/// What a change of the good file costs, which has a second triangle here: warnings, and triangles that are left.
#[track_caller]
fn forgiven(changes: &[(&str, &str)]) -> (usize, Vec<String>) {
    let mut text = format!(
        "{ASCII}property float nx\nproperty float ny\nproperty float nz\nproperty float u\nproperty float v\n\
         element face 2\nproperty list uchar int vertex_indices\nend_header\n{}3 0 1 2\n3 0 2 3\n",
        POINTS.replace('\n', " 0 0 1 0.5 0.5\n")
    );
    for (from, to) in changes {
        assert!(text.contains(from), "{from:?}");
        text = text.replacen(from, to, 1);
    }
    let file = read(text.as_bytes(), Normals::File).unwrap_or_else(|e| panic!("{e}"));
    assert!(file.mesh.positions.iter().all(|p| p.is_finite()));
    assert!(file.mesh.normals.iter().all(|n| n.is_normalized()), "{:?}", file.mesh.normals);
    let warnings = file.warnings.iter().map(|w| w.to_string().split_off("m.ply".len())).collect();
    (file.mesh.triangles.len(), warnings)
}

#[test]
fn mistakes_that_leave_a_picture_are_forgiven() {
    let table = [
        (
            "1 0 0 0",
            "nan 0 0 0",
            1,
            ":16:1: a coordinate of this vertex is not a number (NaN); what has it is left out",
        ),
        (
            "2 0 0 0",
            "inf 0 0 0",
            2,
            ":19:1: a coordinate of this vertex is infinite; what has it is left out",
        ),
        (
            "0.5 0.5\n",
            "0.5 3e9\n",
            2,
            ":15:17: the texture coordinate of this vertex, 3e9, is beyond ±1e9; it is 0",
        ),
        (
            "0.5 0.5\n",
            "0.5 0.5 7\n",
            2,
            ":15:21: this line has more numbers than the element has properties; those at its end are left out",
        ),
        (
            "1 0 0 0 0 1",
            "1 0 0\n0 0 1",
            2,
            ":16:1: this line has too few numbers for the element's properties; they go on in the next",
        ),
        (
            "3 0 1 2",
            "3 0 1 5",
            1,
            ":20:7: the vertex index 5 is out of range; the file has 5, from 0; the face is left out",
        ),
        (
            "3 0 1 2",
            "2 0 1",
            1,
            ":20:1: a face has at least three vertices, and this one has 2; the face is left out",
        ),
        (
            "element face",
            "vendor x\nelement face",
            2,
            ":12:1: unknown keyword \"vendor\"; a header has \"format\", \
         \"comment\", \"obj_info\", \"element\" or \"property\"; the line is left out",
        ),
    ];
    for (from, to, triangles, warning) in table {
        assert_eq!(forgiven(&[(from, to)]), (triangles, vec![warning.to_owned()]), "{from:?} → {to:?}");
    }
    // Normals of faces, where there is none.
    let (triangles, warnings) = forgiven(&[("0 0 1 0.5", "0 0 NaN 0.5")]);
    assert_eq!(
        (triangles, &warnings[0][..]),
        (2, ":15:11: a coordinate of this vertex normal is not a number (NaN); that of the faces is used")
    );
    // Lists of all types, whatever they are called, and properties of others.
    assert_eq!(forgiven(&[("list uchar int", "list float int")]), (2, vec![]));
    assert_eq!(forgiven(&[("int vertex_indices", "double vertex_indices")]), (2, vec![]));
    assert_eq!(forgiven(&[("int vertex_indices", "ushort corners")]), (2, vec![]));
    let vendor = "property list uchar int vertex_indices\nproperty uchar vendor";
    let rows = [("3 0 1 2", "3 0 1 2 7"), ("3 0 2 3", "3 0 2 3 9")];
    assert_eq!(
        forgiven(&[&[("property list uchar int vertex_indices", vendor)], &rows[..]].concat()),
        (2, vec![])
    );
}

#[test]
fn lines_may_end_as_on_an_old_macintosh() {
    let text =
        format!("{ASCII}element face 1\nproperty list uchar int vertex_index\nend_header\n{POINTS}3 0 1 2\n");
    assert_eq!(mesh(text.replace('\n', "\r").as_bytes()), mesh(text.as_bytes()));
}

/// A square of two triangles, with what VCGlib writes of faces: texture coordinates of their corners, and colours.
const WEDGES: &str = "ply\nformat ascii 1.0\ncomment TextureFile a b.png\ncomment texturefile second.png\n\
    element vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 2\n\
    property list uchar int vertex_indices\nproperty list uchar float texcoord\nproperty int texnumber\n\
    property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\nend_header\n\
    0 0 0\n1 0 0\n1 1 0\n0 1 0\n\
    3 0 1 2 6 0 0 1 0 1 1 0 255 0 0 255\n3 0 2 3 6 0 0 0.5 0.25 0 1 1 0 255 0 255\n";

#[test]
fn faces_have_texture_coordinates_and_colours() {
    let found = mesh(WEDGES.as_bytes());
    // All corners differ from those of the other face in colour.
    assert_eq!(found.triangles, [[0, 1, 2], [4, 5, 3]]);
    assert_eq!(found.positions[4..], [Vec3::ZERO, Vec3::new(1.0, 1.0, 0.0)]);
    let (a, b, c) = (Vec2::ZERO, Vec2::X, Vec2::ONE);
    assert_eq!(found.uvs, [a, b, c, Vec2::Y, a, Vec2::new(0.5, 0.25)]);
    let (red, green) = (Vec3::X, Vec3::Y);
    assert_eq!(found.colors, [red, red, red, green, green, green]);
    // Faces that agree share their vertices.
    let same = WEDGES.replace("6 0 0 0.5 0.25 0 1 1 0 255 0", "6 0 0 1 1 0 1 0 255 0 0");
    let shared = mesh(same.as_bytes());
    assert_eq!((shared.positions.len(), shared.triangles), (4, vec![[0, 1, 2], [0, 2, 3]]));
    // What vertices say is finer.
    let finer = WEDGES
        .replace("float z\n", "float z\nproperty float s\nproperty float t\n")
        .replace("0 0 0\n1 0 0\n1 1 0\n0 1 0\n", "0 0 0 .1 0\n1 0 0 .2 0\n1 1 0 .3 0\n0 1 0 .4 0\n");
    assert_eq!(mesh(finer.as_bytes()).uvs[..4], [0.1, 0.2, 0.3, 0.4].map(|u| Vec2::new(u, 0.0)));
    // Lists that are too short give what they have.
    let short = WEDGES.replace("6 0 0 0.5 0.25 0 1 1", "2 0.5 0.5 1");
    assert_eq!(mesh(short.as_bytes()).uvs[3..], [Vec2::ZERO, Vec2::splat(0.5), Vec2::ZERO]);
}

#[test]
fn broken_bytes_are_refused_with_their_places() {
    let [_, little, big] = squares();
    let problem = |bytes: &[u8]| read(bytes, Normals::File).map(drop).unwrap_err().to_string();
    let head = little.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    // 20 bytes of materials, vertices of 41, faces of 4, 2 and the corners.
    let (x, y) = (head + 20 + 41, head + 20 + 41 + 8);
    let face = head + 20 + 4 * 41;
    let with = |at: usize, bytes: &[u8]| {
        let mut out = little.clone();
        out[at..at + bytes.len()].copy_from_slice(bytes);
        out
    };
    let forgiven = |bytes: &[u8]| {
        let file = read(bytes, Normals::File).unwrap();
        let warnings: Vec<_> = file.warnings.iter().map(Problem::to_string).collect();
        (file.mesh.triangles.clone(), file.mesh.positions.iter().all(|p| p.is_finite()), warnings)
    };
    // Two of three triangles have that vertex.
    let without = |at: usize, what: &str| {
        let warning =
            format!("m.ply: byte {at}: a coordinate of this vertex is {what}; what has it is left out");
        (vec![[0, 2, 3]], true, vec![warning])
    };
    assert_eq!(forgiven(&with(x, &f64::NAN.to_le_bytes())), without(x, "not a number (NaN)"));
    // Too large for f32.
    assert_eq!(forgiven(&with(x, &1e300_f64.to_le_bytes())), without(x, "infinite"));
    assert_eq!(forgiven(&with(y, &f32::INFINITY.to_le_bytes())), without(y, "infinite"));
    let index = face + 10;
    let warning = format!(
        "m.ply: byte {index}: the vertex index 4294967295 is out of range; the file has 4, from 0; the face is left out"
    );
    assert_eq!(forgiven(&with(index, &[255; 4])), (vec![[3, 1, 0]], true, vec![warning]));
    let negative = "a list cannot have the length -1";
    assert_eq!(problem(&with(head + 1, &[255])), format!("m.ply: byte {}: {negative}", head + 1));
    for bytes in [little, big] {
        for cut in 1..=12 {
            let bytes = &bytes[..bytes.len() - cut];
            let message = problem(bytes);
            assert!(message.starts_with("m.ply: the file ends too early, after byte "), "{message}");
        }
        let promises = problem(&bytes[..bytes.len() - 50]);
        assert!(
            promises.starts_with("m.ply: the file is too short for what its header promises: 2 rows"),
            "{promises}"
        );
    }
    let endless = [b"ply\n".as_slice(), &vec![b'x'; 2 << 20]].concat();
    assert_eq!(problem(&endless), "m.ply: the header is longer than 1048576 bytes");
    assert_eq!(
        problem(b"ply\nformat ascii 1.0\n"),
        "m.ply: the file ends within its header: there is no \"end_header\""
    );
    assert_eq!(problem(b""), "m.ply: not a PLY file: its first line is not \"ply\"");
}
