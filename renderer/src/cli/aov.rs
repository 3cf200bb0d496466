//! `--aov`: what EXR files hold beside the image.

use std::collections::BTreeSet;

use device::shape::triangle::TriangleUvs;

use super::failure::Failure;
use crate::assemble::{self, SceneData};
use crate::film::aov::{self, Aov, Names};
use crate::film::write::Target;
use crate::film::{Format, Layers};
use crate::render::{Options, Rendered};
use crate::scene::limits::{
    BYTES_PER_PIXEL, BYTES_PER_PIXEL_OF_FIRST_HITS, BYTES_PER_PIXEL_OF_SHORTER, available_memory,
    check_memory_of,
};
use crate::scene::{Description, hint, quoted};

/// The value of the option. A type of its own, because clap takes `Vec` for a repeated option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choices(Vec<Choice>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    One(Aov),
    All,
    None,
}

/// Parses `albedo,N`, `all` or `none`.
pub(super) fn choices(text: &str) -> Result<Choices, String> {
    text.split(',').map(|name| choice(name.trim())).collect::<Result<_, _>>().map(Choices)
}

fn choice(name: &str) -> Result<Choice, String> {
    /// What other programs call them.
    const SYNONYMS: [(&str, &str); 7] = [
        ("depth", "Z"),
        ("normal", "N"),
        ("normals", "N"),
        ("position", "P"),
        ("variance", "stderr"),
        ("id", "shape"),
        ("spp", "samples"),
    ];
    match name.to_lowercase().as_str() {
        "all" => return Ok(Choice::All),
        "none" => return Ok(Choice::None),
        _ => {}
    }
    if let Some((_, aov)) = Aov::ALL.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Ok(Choice::One(aov));
    }
    if let Some((_, known)) = SYNONYMS.into_iter().find(|(other, _)| other.eq_ignore_ascii_case(name)) {
        return Err(format!("{} is called {} here", quoted(name), quoted(known)));
    }
    let names = Aov::ALL.into_iter().map(|(name, _)| name).chain(["all"]);
    Err(format!("unknown layer {}{}", quoted(name), hint(name, "there are", names)))
}

/// What the option asks for, given however often: the layers that files get anyway, and more.
fn chosen(options: &[Choices]) -> BTreeSet<Aov> {
    let mut chosen = BTreeSet::from(aov::DEFAULT);
    for choice in options.iter().flat_map(|o| &o.0) {
        match choice {
            Choice::One(aov) => drop(chosen.insert(*aov)),
            Choice::All => chosen.extend(Aov::ALL.map(|(_, aov)| aov)),
            Choice::None => chosen.clear(),
        }
    }
    chosen
}

/// The layers to write, and what making them takes.
#[derive(Debug, Default)]
pub(super) struct Plan {
    aovs: BTreeSet<Aov>,
    names: Names,
    uvs: Vec<TriangleUvs>,
}

impl Plan {
    /// What `options` ask for. Nothing where no EXR file is written; asking for it then is a mistake.
    pub(super) fn new(options: &[Choices], targets: &[Target]) -> Result<Self, Failure> {
        if targets.iter().any(|t| t.format == Format::Exr) {
            return Ok(Self { aovs: chosen(options), ..Self::default() });
        }
        if options.is_empty() {
            return Ok(Self::default());
        }
        Err(Failure::input("--aov: only EXR files hold layers, and none is written; add -o image.exr"))
    }

    /// Keeps what is needed of the scene. The error is a sentence about the memory that there is not.
    pub(super) fn describe(&mut self, description: &Description) -> Result<(), String> {
        let Options { shorter, first_hits, .. } = self.options();
        let bytes = BYTES_PER_PIXEL
            + if shorter { BYTES_PER_PIXEL_OF_SHORTER } else { 0 }
            + if first_hits.is_some() { BYTES_PER_PIXEL_OF_FIRST_HITS } else { 0 };
        check_memory_of(description.render.width, description.render.height, bytes, available_memory())?;
        self.names = Names::from(description);
        if self.aovs.contains(&Aov::Uv) {
            self.uvs = assemble::texture_coordinates(description);
        }
        Ok(())
    }

    /// What to render beside the image.
    pub(super) fn options(&self) -> Options<'_> {
        let of_first_hit = self.aovs.iter().any(|aov| aov.is_of_first_hit());
        Options {
            shorter: self.aovs.iter().any(|aov| aov.is_split_light()),
            first_hits: of_first_hit.then_some(self.uvs.as_slice()),
            ..Options::default()
        }
    }

    /// The image and its layers.
    pub(super) fn layers(&self, rendered: &Rendered, scene: &SceneData) -> Layers {
        aov::layers(rendered, scene, &self.names, &self.aovs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_chosen_by_name() {
        let chosen = |options: &[&str]| {
            let options: Result<Vec<_>, _> = options.iter().map(|o| choices(o)).collect();
            options.map(|o| chosen(&o).into_iter().collect::<Vec<_>>())
        };
        use Aov::{Albedo, N, Samples, Stderr};
        assert_eq!(chosen(&[]), Ok(vec![Stderr, Samples]));
        assert_eq!(chosen(&["n, albedo"]), Ok(vec![Stderr, Samples, Albedo, N]));
        assert_eq!(chosen(&["none"]), Ok(vec![]));
        assert_eq!(chosen(&["N,none", "Albedo"]), Ok(vec![Albedo]));
        assert_eq!(chosen(&["all"]).map(|all| all.len()), Ok(Aov::ALL.len()));
        for (text, message) in [
            ("albeod", "unknown layer \"albeod\"; did you mean \"albedo\"?"),
            ("N,depth", "\"depth\" is called \"Z\" here"),
            ("", "unknown layer \"\"; there are \"stderr\", \"samples\", "),
            ("all,", "unknown layer \"\""),
        ] {
            let found = chosen(&[text]).unwrap_err();
            assert!(found.starts_with(message), "{text}: {found}");
        }
    }
}
