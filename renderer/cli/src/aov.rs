//! `--aov`: what EXR files hold beside the image.

use std::collections::BTreeSet;

use renderer::render::aov::{self, Aov, AovPlan};
use renderer::render::light_groups::LightChoice;
use torrance_image::film::Format;
use torrance_image::film::write::Target;
use torrance_text::{hint, quoted};

use super::Failure;

/// The value of the option. A type of its own, because clap takes `Vec` for a repeated option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choices(Vec<Choice>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Choice {
    One(Aov),
    /// What some lights bring.
    Lights(LightChoice),
    /// All kinds of Cryptomatte.
    Mattes,
    All,
    None,
}

/// Parses `albedo,N`, `light:lamp`, `all` or `none`.
pub(super) fn choices(text: &str) -> Result<Choices, String> {
    text.split(',').map(|name| choice(name.trim())).collect::<Result<_, _>>().map(Choices)
}

fn choice(name: &str) -> Result<Choice, String> {
    /// Names of layers in other programs.
    const SYNONYMS: [(&str, &str); 10] = [
        ("depth", "Z"),
        ("normal", "N"),
        ("normals", "N"),
        ("position", "P"),
        ("variance", "stderr"),
        ("id", "shape"),
        ("spp", "samples"),
        ("cryptoobject", "crypto_object"),
        ("cryptomaterial", "crypto_material"),
        ("cryptoasset", "crypto_asset"),
    ];
    match name.to_lowercase().as_str() {
        "all" => return Ok(Choice::All),
        "cryptomatte" => return Ok(Choice::Mattes),
        "none" => return Ok(Choice::None),
        _ => {}
    }
    if let Some(lights) = LightChoice::of_layer(name) {
        return Ok(Choice::Lights(lights));
    }
    if let Some((_, aov)) = Aov::ALL.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Ok(Choice::One(aov));
    }
    if let Some((_, known)) = SYNONYMS.into_iter().find(|(other, _)| other.eq_ignore_ascii_case(name)) {
        return Err(format!("{} is called {} here", quoted(name), quoted(known)));
    }
    let names = Aov::ALL.into_iter().map(|(name, _)| name).chain(["cryptomatte", "light:NAME", "all"]);
    Err(format!("unknown layer {}{}", quoted(name), hint(name, "there are", names)))
}

/// Layers of a file, with the option given any number of times: the default ones, and those asked for, also of lights.
fn chosen(options: &[Choices]) -> (BTreeSet<Aov>, BTreeSet<LightChoice>) {
    let (mut chosen, mut lights) = (BTreeSet::from(aov::DEFAULT), BTreeSet::new());
    for choice in options.iter().flat_map(|o| &o.0) {
        match choice {
            Choice::One(aov) => drop(chosen.insert(*aov)),
            Choice::Lights(light) => drop(lights.insert(light.clone())),
            Choice::Mattes => {
                chosen.extend(Aov::ALL.map(|(_, aov)| aov).into_iter().filter(|aov| aov.matte().is_some()));
            }
            Choice::All => {
                // Those are for programs that go on with the image.
                let is_to_be_seen = |aov: &Aov| !matches!(aov, Aov::Sums | Aov::Halves);
                chosen.extend(Aov::ALL.map(|(_, aov)| aov).into_iter().filter(is_to_be_seen));
            }
            Choice::None => {
                chosen.clear();
                lights.clear();
            }
        }
    }
    (chosen, lights)
}

/// The layers that `options` ask for. None where no EXR file is written; asking for them then is a mistake.
pub(super) fn plan(options: &[Choices], targets: &[Target]) -> Result<AovPlan, Failure> {
    if targets.iter().any(|t| t.format == Format::Exr) {
        let (aovs, lights) = chosen(options);
        return Ok(AovPlan::new(aovs).with_lights(lights));
    }
    if options.is_empty() {
        return Ok(AovPlan::default());
    }
    Err(Failure::input("--aov: only EXR files hold layers, and none is written; add -o image.exr"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_chosen_by_name() {
        let chosen = |options: &[&str]| {
            let options: Result<Vec<_>, _> = options.iter().map(|o| choices(o)).collect();
            options.map(|o| chosen(&o).0.into_iter().collect::<Vec<_>>())
        };
        use Aov::{Albedo, N, Samples, Stderr};
        assert_eq!(chosen(&[]), Ok(vec![Stderr, Samples]));
        assert_eq!(chosen(&["n, albedo"]), Ok(vec![Stderr, Samples, Albedo, N]));
        assert_eq!(chosen(&["none"]), Ok(vec![]));
        assert_eq!(chosen(&["N,none", "Albedo"]), Ok(vec![Albedo]));
        assert_eq!(chosen(&["all"]).map(|all| all.len()), Ok(Aov::ALL.len() - 2), "all but sums and halves");
        for (text, message) in [
            ("albeod", "unknown layer \"albeod\"; did you mean \"albedo\"?"),
            ("N,depth", "\"depth\" is called \"Z\" here"),
            ("", "unknown layer \"\"; there are \"stderr\", \"samples\", "),
            ("all,", "unknown layer \"\""),
            ("lights:sun", "unknown layer \"lights:sun\""),
        ] {
            let found = chosen(&[text]).unwrap_err();
            assert!(found.starts_with(message), "{text}: {found}");
        }
    }
}
