//! Every structure whose layout is fixed is among those that host and GPU compare.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::source::{code, sources};
use device::path::layout::STRUCTURES;

/// Structures whose layout is fixed for other reasons: they are never in the memory of a GPU.
const OF_CPUS_ALONE: [&str; 2] = ["HitColumns", "RayColumns"];

/// Structures that a source file declares.
#[derive(Default)]
struct Declared {
    /// Names of those whose layout is fixed.
    structures: BTreeSet<String>,
    /// Other names of types, with the types.
    aliases: BTreeMap<String, String>,
}

fn name(text: &str) -> String {
    text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

impl Declared {
    fn read(&mut self, source: &str) {
        let code = code(source);
        for item in code.split("#[repr(C").skip(1) {
            let (_, declaration) = item.split_once(")]").expect("attributes end");
            let (head, rest) = declaration.split_once("struct ").unwrap_or_default();
            // Those that a macro makes have other names.
            if !head.contains([';', '{']) && !name(rest).is_empty() {
                self.structures.insert(name(rest));
            }
        }
        // Columns are structures by a macro: `columns! { Columns of Row { .. } }`.
        for columns in code.split("columns! {").skip(1) {
            let (columns, row) = columns.split_once(" of ").expect("columns of rows");
            self.structures.extend([name(columns), name(row)]);
        }
        for alias in code.split("pub type ").skip(1) {
            if let Some((alias, of)) = alias.split_once('=') {
                self.aliases.insert(name(alias), name(of));
            }
        }
    }

    /// Structures that are not among those listed.
    fn missing(&self, listed: &[&str]) -> Vec<&str> {
        let own = |listed: &&str| self.aliases.get(*listed).map_or(*listed, String::as_str).to_owned();
        let listed: BTreeSet<_> = listed.iter().map(own).collect();
        self.structures.iter().filter(|name| !listed.contains(*name)).map(String::as_str).collect()
    }
}

#[test]
fn every_structure_of_fixed_layout_is_compared() {
    let mut declared = Declared::default();
    for (_, source) in sources() {
        declared.read(&source);
    }
    assert!(declared.structures.len() > 60, "{:?}", declared.structures);
    let listed: Vec<_> = STRUCTURES.iter().map(|(name, _)| *name).collect();
    assert_eq!(declared.missing(&listed), OF_CPUS_ALONE);
    let without = |name: &str| listed.iter().copied().filter(|n| *n != name).collect::<Vec<_>>();
    for name in ["SkyTexel", "FilterEdge", "TriangleNormals", "Pool", "MegakernelArgs"] {
        assert_eq!(declared.missing(&without(name)).len(), 3, "control: without {name}");
    }
}

#[test]
fn structures_are_found() {
    let mut declared = Declared::default();
    declared.read("#[derive(Clone)]\n#[repr(C, align(16))]\npub struct A {\n    pub x: f32,\n}\n#[repr(u32)]\nenum E { X }");
    declared.read("// #[repr(C)] struct Comment;\n#[repr(C)]\npub struct B<T>(T);\npub type OfB = B<f32>;");
    declared
        .read("columns! {\n    /// Doc.\n    Many of\n    /// Doc.\n    One {\n        x: f32,\n    }\n}");
    declared.read("#[repr(C)]\n        pub struct $Row { x: f32 }\nstruct Other;");
    assert_eq!(declared.structures.iter().collect::<Vec<_>>(), ["A", "B", "Many", "One"]);
    assert_eq!(declared.missing(&["A", "OfB", "Many"]), ["One"]);
}
