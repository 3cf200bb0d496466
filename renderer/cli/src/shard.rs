//! `--samples` and `--shard`: a part of a render, for another machine or another day to take the rest.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::ops::Range;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use torrance_image::film::Format;
use torrance_image::film::write::Target;
use torrance_scene::limits::MAX_SPP;
use torrance_text::shell_word;

use super::Failure;
use super::device::MachineArgs;
use super::heatmap::HeatmapArgs;
use super::integrator::{IntegratorArgs, StageArgs};
use super::live::LiveArgs;
use super::render::ImageArgs;
use super::resume::ResumeArgs;

/// Which samples to take.
#[derive(Debug, clap::Args)]
pub(super) struct ShardArgs {
    /// Take samples A to B−1 of each pixel, and no others; `merge` puts parts together, and misses what --spp asks for
    #[arg(long, value_name = "A..B", value_parser = samples, conflicts_with_all = ["time", "shard"])]
    samples: Option<Samples>,

    /// Take part I of N of the samples, I from 1; env/N takes I from the environment of a job array (Slurm, Kubernetes, Open MPI,
    /// AWS Batch), and env takes N from there too. With --noise, each part goes as far as it takes for all of them to reach that together
    #[arg(long, value_name = "I/N", value_parser = shard, conflicts_with_all = ["time"])]
    shard: Option<ShardChoice>,
}

/// A range of samples. A type of its own, because clap knows what to do with no range.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Samples(Range<u32>);

/// Part `index` of `count`, counted from 0; what is absent is taken from the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ShardChoice {
    index: Option<u32>,
    count: Option<u32>,
}

/// The samples of a render.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Share {
    /// Those to take.
    pub(super) samples: Range<u32>,
    /// How many the whole render has, if this is a part of it and that is known.
    pub(super) whole: Option<u32>,
    /// Number of such parts.
    pub(super) parts: u32,
    /// The number of this one, from 1.
    pub(super) part: u32,
}

fn samples(text: &str) -> Result<Samples, String> {
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let range = text.split_once("..").and_then(|(a, b)| Some(number(a)?..number(b)?));
    let range = range.filter(|range| !range.is_empty() && range.end <= MAX_SPP);
    range.map(Samples).ok_or_else(|| format!("expected A..B with A < B, at most {MAX_SPP}, as in 64..128"))
}

fn shard(text: &str) -> Result<ShardChoice, String> {
    let wrong = || "expected I/N with I from 1 to N, as in 2/7, env/N or env".to_owned();
    let number =
        |text: &str| text.parse::<u32>().ok().filter(|n| (1..=MAX_SPP).contains(n)).ok_or_else(wrong);
    let (index, count) = match text.split_once('/') {
        Some((index, count)) => (index, Some(number(count)?)),
        None => (text, None),
    };
    if index == "env" {
        return Ok(ShardChoice { index: None, count });
    }
    let (index, count) = (number(index)?, count.ok_or_else(wrong)?);
    if index > count {
        return Err(wrong());
    }
    Ok(ShardChoice { index: Some(index - 1), count: Some(count) })
}

/// A system that numbers the jobs of an array, by the variables that it sets.
struct System {
    /// The number of the job.
    index: &'static str,
    /// That of the first one, if it is not 0.
    first: Option<&'static str>,
    /// How many there are.
    size: Option<&'static str>,
    /// The number of the last one.
    last: Option<&'static str>,
}

const SYSTEMS: [System; 4] = [
    System {
        index: "SLURM_ARRAY_TASK_ID",
        first: Some("SLURM_ARRAY_TASK_MIN"),
        size: None,
        last: Some("SLURM_ARRAY_TASK_MAX"),
    },
    System { index: "JOB_COMPLETION_INDEX", first: None, size: None, last: None },
    System { index: "OMPI_COMM_WORLD_RANK", first: None, size: Some("OMPI_COMM_WORLD_SIZE"), last: None },
    System {
        index: "AWS_BATCH_JOB_ARRAY_INDEX",
        first: None,
        size: Some("AWS_BATCH_JOB_ARRAY_SIZE"),
        last: None,
    },
];

/// Index and count of this job, as the environment tells them; `count` is what the user says.
fn from_environment(count: Option<u32>, said: &dyn Fn(&str) -> Option<String>) -> Result<(u32, u32), String> {
    let number = |name: &str| said(name)?.trim().parse::<u32>().ok();
    let Some((system, index)) = SYSTEMS.iter().find_map(|system| Some((system, number(system.index)?)))
    else {
        let names = SYSTEMS.map(|system| system.index).join(", ");
        return Err(format!("the environment tells no index: none of {names} is set"));
    };
    let System { index: name, first, size, last } = system;
    if let Some(count) = count {
        return match index < count {
            true => Ok((index, count)),
            false => Err(format!("{name} is {index}, and {count} parts are numbered 0 to {}", count - 1)),
        };
    }
    let number = |name: &Option<&str>| name.and_then(number);
    let first = number(first).unwrap_or(0);
    let count = number(size).or(number(last).map(|last| last.saturating_sub(first) + 1));
    let count = count.ok_or_else(|| format!("{name} tells no number of parts: say it, as in env/8"))?;
    if said("SLURM_ARRAY_TASK_COUNT").is_some_and(|n| n.trim() != count.to_string()) {
        return Err("the array leaves numbers out: say how many parts there are, as in env/8".to_owned());
    }
    match index.checked_sub(first).filter(|index| *index < count) {
        Some(index) => Ok((index, count)),
        None => Err(format!("{name} is {index}, which is not among {count} parts from {first} on")),
    }
}

impl ShardArgs {
    /// Whether a part is asked for.
    pub(super) fn is_part(&self) -> bool {
        self.samples.is_some() || self.shard.is_some()
    }

    /// Checks that a part goes to a file from which it can be merged.
    pub(super) fn check(&self, targets: &[Target]) -> Result<(), Failure> {
        if self.is_part() && !targets.iter().any(|target| target.format == Format::Exr) {
            return Err(Failure::input("parts of a render are merged from EXR files: add -o part.exr"));
        }
        Ok(())
    }

    /// The samples to take of a render of `spp`, which the user asked for, or else the scene.
    pub(super) fn share(&self, spp: u32, is_asked_for: bool) -> Result<Share, Failure> {
        if let Some(Samples(samples)) = &self.samples {
            let whole = if is_asked_for { spp } else { samples.end };
            if samples.end > whole {
                return Err(Failure::input(format_args!(
                    "--samples {}..{}: the whole render has {spp} samples per pixel, as --spp says",
                    samples.start, samples.end
                )));
            }
            return Ok(Share { samples: samples.clone(), whole: Some(whole), parts: 1, part: 1 });
        }
        let Some(ShardChoice { index, count }) = self.shard else {
            return Ok(Share { samples: 0..spp, whole: None, parts: 1, part: 1 });
        };
        let wrong = |reason| Failure::input(format_args!("--shard: {reason}"));
        let (index, count) = match (index, count) {
            (Some(index), Some(count)) => (index, count),
            _ => from_environment(count, &|name| std::env::var(name).ok()).map_err(wrong)?,
        };
        if count > spp {
            return Err(wrong(format!("{spp} samples per pixel make {spp} parts at most, not {count}")));
        }
        let border = |i: u32| (u64::from(spp) * u64::from(i) / u64::from(count)) as u32;
        let samples = border(index)..border(index + 1);
        Ok(Share { samples, whole: Some(spp), parts: count, part: index + 1 })
    }
}

/// Options of `render` that may differ between parts, beside those of whole groups.
const OF_ONE_PART: [&str; 5] = ["seed", "output", "force", "quiet", "json"];

/// The arguments that all parts of a render have in common, as shells read them. In whatever way they were given, they come in the
/// order in which the program has them, the scene first. What says where an image goes, or how it is computed and developed, is left out.
pub(super) fn common_arguments(program: &Command, given: &ArgMatches) -> String {
    let chosen = given.subcommand().and_then(|(name, given)| Some((program.find_subcommand(name)?, given)));
    let Some((command, given)) = chosen else { return String::new() };
    let mut of_one_part = of_one_part();
    // The noise of what a display shows depends on how it is shown.
    if given.get_raw("noise_of").is_some_and(|mut of| of.any(|of| of == "display")) {
        of_one_part.retain(|id| !["exposure", "white_balance", "tonemap"].contains(&&**id));
    }
    arguments((command, given), |id| !of_one_part.contains(id))
}

/// Those of the arguments of a command that were given and are wanted, as shells read them.
pub(super) fn arguments(
    (command, given): (&Command, &ArgMatches),
    is_wanted: impl Fn(&str) -> bool,
) -> String {
    let is_there = |argument: &&Arg| {
        let id = argument.get_id().as_str();
        given.value_source(id) == Some(ValueSource::CommandLine) && is_wanted(id)
    };
    let wanted = command.get_arguments().filter(is_there).flat_map(|argument| written(argument, given));
    wanted.map(|argument| shell_word(&argument)).collect::<Vec<_>>().join(" ")
}

/// The options that may differ between parts.
fn of_one_part() -> HashSet<String> {
    let groups = [
        ids::<ShardArgs>(),
        ids::<ResumeArgs>(),
        ids::<MachineArgs>(),
        ids::<IntegratorArgs>(),
        ids::<StageArgs>(),
        ids::<ImageArgs>(),
        ids::<LiveArgs>(),
        ids::<HeatmapArgs>(),
    ];
    groups.into_iter().flatten().chain(OF_ONE_PART.map(str::to_owned)).collect()
}

/// Of all options of a group, and of the groups in it.
fn ids<A: Args>() -> Vec<String> {
    let command = A::augment_args(Command::new(""));
    command.get_arguments().map(|argument| argument.get_id().to_string()).collect()
}

/// An argument as it may be written, as often as it was given.
fn written<'a>(argument: &'a Arg, given: &'a ArgMatches) -> impl Iterator<Item = String> {
    let delimiter = argument.get_value_delimiter().map(String::from).unwrap_or_default();
    let occurrences = given.get_raw_occurrences(argument.get_id().as_str()).into_iter().flatten();
    occurrences.map(move |values| {
        let value = values.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(&delimiter);
        match argument.get_long() {
            Some(name) if argument.get_action().takes_values() => format!("--{name}={value}"),
            Some(name) => format!("--{name}"),
            // A file that is not to be taken for an option.
            None if value.starts_with('-') => format!("./{value}"),
            None => value,
        }
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn part(samples: &str, shard: &str) -> ShardArgs {
        let samples = (!samples.is_empty()).then(|| super::samples(samples).unwrap());
        ShardArgs { samples, shard: (!shard.is_empty()).then(|| super::shard(shard).unwrap()) }
    }

    #[test]
    fn parts_are_all_of_it() {
        for (spp, count) in [(64, 1), (64, 7), (64, 64), (1000, 3), (MAX_SPP, 17)] {
            let shares = (1..=count).map(|i| part("", &format!("{i}/{count}")).share(spp, true).unwrap());
            let end = shares.fold(0, |from, share| {
                assert_eq!((share.samples.start, share.whole), (from, Some(spp)));
                assert!(share.samples.len().abs_diff((spp / count) as usize) <= 1, "{share:?}");
                share.samples.end
            });
            assert_eq!(end, spp);
        }
        assert_eq!(
            part("", "").share(64, false).unwrap(),
            Share { samples: 0..64, whole: None, parts: 1, part: 1 }
        );
        assert_eq!(
            part("5..9", "").share(64, false).unwrap(),
            Share { samples: 5..9, whole: Some(9), parts: 1, part: 1 }
        );
        assert_eq!(
            part("5..9", "").share(64, true).unwrap(),
            Share { samples: 5..9, whole: Some(64), parts: 1, part: 1 }
        );
        assert!(part("5..9", "").share(8, true).is_err());
        assert!(part("", "1/65").share(64, false).is_err());
        for bad in ["", "0/3", "4/3", "1", "1/0", "a/3", "env/0", "1/", "/3"] {
            assert!(shard(bad).is_err(), "{bad}");
        }
        for bad in ["", "5", "5..5", "6..5", "..5", "5..", "0..99999999999"] {
            assert!(samples(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn environments_tell_which_part() {
        let found = |count: Option<u32>, variables: &[(&str, &str)]| {
            let said = |name: &str| {
                let (_, value) = variables.iter().find(|(known, _)| *known == name)?;
                Some((*value).to_owned())
            };
            from_environment(count, &said)
        };
        let slurm = |id, min, max, count| {
            [
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_MIN", min),
                ("SLURM_ARRAY_TASK_MAX", max),
                ("SLURM_ARRAY_TASK_COUNT", count),
            ]
        };
        assert_eq!(found(None, &slurm("0", "0", "6", "7")), Ok((0, 7)));
        assert_eq!(found(None, &slurm("7", "1", "7", "7")), Ok((6, 7)));
        assert_eq!(found(Some(8), &slurm("5", "3", "5", "2")), Ok((5, 8)));
        assert_eq!(found(Some(8), &[("JOB_COMPLETION_INDEX", "7")]), Ok((7, 8)));
        assert_eq!(found(None, &[("OMPI_COMM_WORLD_RANK", "2"), ("OMPI_COMM_WORLD_SIZE", "4")]), Ok((2, 4)));
        let aws = [("AWS_BATCH_JOB_ARRAY_INDEX", "1"), ("AWS_BATCH_JOB_ARRAY_SIZE", "2")];
        assert_eq!(found(None, &aws), Ok((1, 2)));
        for (count, variables, message) in [
            (None, &[][..], "none of SLURM_ARRAY_TASK_ID, "),
            (None, &slurm("5", "3", "5", "2"), "leaves numbers out"),
            (None, &[("JOB_COMPLETION_INDEX", "7")], "as in env/8"),
            (Some(7), &[("JOB_COMPLETION_INDEX", "7")], "numbered 0 to 6"),
        ] {
            let error = found(count, variables).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    /// What parts have in common with one that is rendered with these arguments.
    fn common(arguments: &[&str]) -> String {
        let mut program = super::super::Cli::command();
        let given = program.try_get_matches_from_mut([&["torrance", "render"], arguments].concat());
        common_arguments(&program, &given.unwrap_or_else(|e| panic!("{arguments:?}: {e}")))
    }

    #[test]
    fn what_parts_have_in_common_is_told_alike_however_it_is_given() {
        for arguments in [
            "scene.toml -o a.exr --shard 1/7 --spp 64 --seed 3 --set a.b=2 --set c=3 --strict",
            "--strict --spp=64 --set=a.b=2 --set=c=3 --samples 0..4 scene.toml --output a.exr",
            "-qo a.exr --set a.b=2 --spp 64 --set c=3 --strict -- scene.toml",
            "scene.toml -qoa.exr --device=cuda:1 --device-memory 2GiB --threads 3 --strict --checkpoint off --resume --force \
             --json --set a.b=2 --set c=3 --integrator wavefront --pool 1000 --stage-times --no-sort --heatmap map.png --exposure 1 --exr half --spp 64",
        ] {
            let arguments: Vec<_> = arguments.split_whitespace().collect();
            assert_eq!(
                common(&arguments),
                "scene.toml --strict --set=a.b=2 --set=c=3 --spp=64",
                "{arguments:?}"
            );
        }
        let shown =
            ["s.toml", "-oa.exr", "--noise=2%", "--exposure=2", "--white-balance=3200", "--tonemap=agx"];
        for (of, expected) in [
            (
                "display",
                "s.toml --noise=2% --noise-of=display --exposure=2 --white-balance=3200 --tonemap=agx",
            ),
            ("pixels", "s.toml --noise=2% --noise-of=pixels"),
        ] {
            assert_eq!(common(&[&shown[..], &["--noise-of", of]].concat()), expected);
        }
        let others = common(&["scene.toml", "-oa.exr", "--set=c=3", "--set=a.b=2", "--spp=63"]);
        assert_eq!(others, "scene.toml --set=c=3 --set=a.b=2 --spp=63", "they are other ones");
    }

    #[test]
    fn what_parts_have_in_common_can_be_given_to_a_shell() {
        let given = ["-o=a.exr", "--aov", "N,Z", "-a", "x y;z", "--up", "-z", "--", "-my scene's.toml"];
        assert_eq!(common(&given), r"'./-my scene'\''s.toml' '--append=x y;z' --up=-z --aov=N,Z");
    }
}
