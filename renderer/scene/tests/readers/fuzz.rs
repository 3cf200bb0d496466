//! Thousands of broken files: each loads or is refused, and none brings the loader down.

use tier::Random;
use torrance_scene::{
    Blend, Description, DielectricMaterial, DiffuseMaterial, Facets, Files, Geometry, GltfMaterial,
    MaterialKind, Normals, PlasticMaterial, PrincipledMaterial, Severity, SheenMaterial,
    ThinDielectricMaterial, TriangleMesh, TriangleOrigin, check_size, limits, load_bytes, obj,
};

use crate::ply;

const SCENES: [&str; 3] = [
    include_str!("../../../../scenes/cornell.toml"),
    include_str!("../../../../scenes/roughness-row.toml"),
    include_str!("../../../../scenes/knot.toml"),
];

const OBJ: &str = "# two faces\no name\nmtllib a.mtl\nv 0 0 0\nv 1.5 0 -1e-3\nv 1 1 0\nv 0 1 0\nvt 0.5 0.5\nvn 0 0 1\n\
                   usemtl b\nf 1/1/1 2/1/1 3/1/1 \\\n4/1/1\nf -1//-1 -2//-1 -3//-1\nf 1 2 3\n";

/// Pieces that parsers trip over.
const PIECES: [&str; 30] = [
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "1e999",
    "-0.0",
    "1e-320",
    "99999999999999999999",
    "0x",
    "\"",
    "'''",
    "[",
    "]]",
    "{",
    "}",
    "=",
    "\n",
    "\r",
    "\\",
    "#",
    ".",
    "\u{0}",
    "\u{1b}",
    "é",
    "\u{10ffff}",
    "/",
    "//",
    "true",
    "1979-05-27",
];

/// Breaks `bytes` in one to four places.
fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(out.len());
        let end = (at + random.below(24)).min(out.len());
        match random.below(7) {
            0 if !out.is_empty() => out[at] ^= 1 << random.below(8),
            1 => drop(out.drain(at..end)),
            2 => out.truncate(at),
            3 => {
                let copy = out[at..end].to_vec();
                let to = random.below(out.len());
                out.splice(to..to, copy);
            }
            4 => out.insert(at, random.next_u64() as u8),
            _ => {
                let piece = PIECES[random.below(PIECES.len())];
                // In place of what is there half the time.
                out.splice(at..if random.below(2) == 0 { at } else { end }, piece.bytes());
            }
        }
    }
    out
}

fn are_facets(facets: Facets) -> bool {
    facets.is_smooth() || facets.alpha.iter().all(|a| (limits::MIN_ALPHA..=1.0).contains(&a.value))
}

/// Invariants of every description that loads.
fn check(d: &Description) {
    assert!(check_size(d.render.width, d.render.height).is_ok());
    assert!(d.render.spp > 0 && d.render.max_depth > 0);
    assert!(d.camera.position != d.camera.target);
    assert!(!d.shapes.is_empty());
    for material in &d.materials {
        match material.kind {
            MaterialKind::Diffuse(DiffuseMaterial { reflectance, .. }) => {
                assert!(reflectance.value.min_element() >= 0.0 && reflectance.value.max_element() <= 1.0);
            }
            MaterialKind::Conductor(metal) => {
                let (eta, k) = metal.index();
                assert!(eta.is_finite() && k.is_finite() && are_facets(metal.facets));
            }
            MaterialKind::Dielectric(DielectricMaterial { facets, ior, .. }) => {
                assert!(ior > 0.0 && are_facets(facets));
            }
            MaterialKind::ThinDielectric(ThinDielectricMaterial { ior, .. }) => assert!(ior > 0.0),
            MaterialKind::Plastic(PlasticMaterial { facets, ior, .. }) => {
                assert!(ior > 1.0 && are_facets(facets))
            }
            MaterialKind::Sheen(SheenMaterial { roughness, .. }) => assert!(roughness.value <= 1.0),
            MaterialKind::Principled(PrincipledMaterial { eta, .. }) => assert!(eta > 0.0),
            MaterialKind::Gltf(GltfMaterial { ior, .. }) => assert!(ior >= 1.0),
            MaterialKind::Blend(Blend { materials, .. }) => {
                assert!(materials.iter().all(|i| (*i as usize) < d.materials.len()));
            }
        }
    }
    for shape in &d.shapes {
        assert!(shape.material < d.materials.len());
        assert!(shape.world_from_object.is_finite() && shape.world_from_object.matrix3.determinant() != 0.0);
        assert!(shape.emission.value.is_finite() && shape.emission.value.min_element() >= 0.0);
        if let Geometry::Mesh(mesh) = &shape.geometry {
            check_mesh(mesh);
        }
    }
}

fn check_mesh(mesh: &TriangleMesh) {
    assert!(!mesh.triangles.is_empty());
    assert!(mesh.triangles.iter().flatten().all(|i| (*i as usize) < mesh.positions.len()));
    assert!(mesh.positions.iter().all(|p| p.abs().max_element() <= limits::MAX_COORDINATE));
    assert!(mesh.normals.is_empty() || mesh.normals.len() == mesh.positions.len());
    assert!(mesh.normals.iter().all(|n| n.is_normalized()), "{:?}", mesh.normals);
}

/// A report must be writable, and begin as promised.
fn check_report(report: &str, file: &str) {
    assert!(report.starts_with(&format!("error: {file}")), "{report}");
    assert!(!report.contains('\u{1b}'));
}

#[test]
fn broken_scenes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("models")).unwrap();
    std::fs::write(folder.path().join("models/knot.obj"), OBJ).unwrap();
    let mut random = Random(1);
    let (mut good, mut bad) = (0, 0);
    for i in 0..6000 {
        let bytes = mutated(SCENES[i % SCENES.len()].as_bytes(), &mut random);
        match load_bytes("scene.toml", &bytes, &Files::new(folder.path(), false)) {
            Ok(loaded) => {
                good += 1;
                check(&loaded.description);
            }
            Err(error) => {
                bad += 1;
                assert!(!error.problems.is_empty());
                check_report(&error.report(false), "");
            }
        }
    }
    // Both must happen, or the test tests nothing.
    assert!(good > 100 && bad > 1000, "{good} loaded, {bad} did not");
}

#[test]
fn broken_meshes() {
    let mut random = Random(2);
    let (mut good, mut bad) = (0, 0);
    for i in 0..20_000 {
        let bytes = mutated(OBJ.as_bytes(), &mut random);
        let normals = [Normals::File, Normals::Smooth, Normals::Flat][i % 3];
        match obj::read("m.obj", &bytes, normals, false) {
            Ok(obj) => {
                good += 1;
                check_mesh(&obj.mesh);
                let TriangleOrigin::Lines(lines) = obj.place else { panic!("an OBJ file has lines") };
                assert_eq!(obj.mesh.triangles.len(), lines.len());
            }
            Err(error) => {
                bad += 1;
                check_report(&error.report(false), "m.obj");
            }
        }
    }
    assert!(good > 1000 && bad > 1000, "{good} loaded, {bad} did not");
}

#[test]
fn broken_ply_files() {
    let mut random = Random(3);
    let (mut good, mut bad) = (0, 0);
    let squares = ply::squares();
    for i in 0..20_000 {
        let square = &squares[i % 3];
        // The header in half of the files, and rows in the others: most mutations of a header are fatal.
        let end = square.windows(11).position(|w| w == b"end_header\n").unwrap_or(0) + 11;
        let (head, rows) = square.split_at(end);
        let bytes = match i % 2 {
            0 => [mutated(head, &mut random), rows.to_vec()].concat(),
            _ => [head.to_vec(), mutated(rows, &mut random)].concat(),
        };
        let normals = [Normals::File, Normals::Smooth, Normals::Flat][i / 3 % 3];
        match ply::read(&bytes, normals) {
            Ok(file) => {
                good += 1;
                check_mesh(&file.mesh);
                let TriangleMesh { positions, triangles, .. } = &*file.mesh;
                // At least three bytes a vertex, and two an index.
                assert!(positions.capacity() <= bytes.len() && triangles.capacity() <= bytes.len());
            }
            Err(problem) => {
                bad += 1;
                check_report(&problem.report(Severity::Error, false), "m.ply");
            }
        }
    }
    assert!(good > 500 && bad > 1000, "{good} loaded, {bad} did not");
}

#[test]
fn broken_libraries() {
    const MTL: &str = "# all\nnewmtl b\nKa 1 1 1\nKd 0.5 0.25 1\nKs 0.5\nKe 1 2 3\nNs 100\nNi 1.5\nd 0.5\nillum 2\n\
        newmtl c d\nTr 0\nPr 0.5\nPm 1\nPs 0.1\nPc 0.1\nPcr 0.2\naniso 0.5\nanisor 0.25\n";
    let folder = tempfile::tempdir().unwrap();
    let files = Files::new(folder.path(), false);
    let model = OBJ.replace("usemtl b\n", "usemtl b\nf 1 2 3\nusemtl c d\n");
    let mut random = Random(4);
    let (mut good, mut bad) = (0, 0);
    for i in 0..6000 {
        let [mtl, model] = [MTL, &model].map(str::as_bytes);
        let (mtl, model) = match i % 4 {
            0 => (mtl.to_vec(), mutated(model, &mut random)),
            _ => (mutated(mtl, &mut random), model.to_vec()),
        };
        std::fs::write(folder.path().join("a.mtl"), mtl).unwrap();
        match load_bytes("m.obj", &model, &files) {
            Ok(loaded) => {
                good += 1;
                check(&loaded.description);
            }
            Err(error) => {
                bad += 1;
                check_report(&error.report(false), "");
            }
        }
    }
    assert!(good > 1000 && bad > 500, "{good} loaded, {bad} did not");
}
