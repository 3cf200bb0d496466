//! What the file of an image says of its samples, so that parts of one render can be put together.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;
use std::ops::Range;

use super::interrupted::SPP;
use super::ranges::{FINGERPRINT, SAMPLE_RANGES, SampleRanges, SeedRanges, fingerprint, parts};

/// The attribute for samples that some pixels have and others have not, within those of [`SAMPLE_RANGES`].
pub const PARTIAL_SAMPLES: &str = "partialSamples";

/// The attribute of EXR files for the noise that was to be reached, where that is why some pixels have more samples than others, or
/// where parts were to reach it together.
pub const NOISE_GOAL: &str = "noiseGoal";

/// Between several of these noises.
const AND: &str = "; ";

/// The attributes by which an image is known as a render that can be gone on with, beside its seed.
pub const OF_RENDER: [&str; 8] = [
    "sceneHash",
    SPP,
    SAMPLE_RANGES,
    PARTIAL_SAMPLES,
    NOISE_GOAL,
    NOISE_PARTS,
    WHOLE_NOISE_PARTS,
    FINGERPRINT,
];

/// The attribute for the number of samples per pixel of the whole render of which an image is a part.
pub const WHOLE_SPP: &str = "wholeSpp";

/// The attribute for the parts that an image has of a render of which each part goes on until all together reach a noise. They are
/// counted from 1.
pub const NOISE_PARTS: &str = "noiseParts";

/// The attribute for the number of those parts that the whole render has.
pub const WHOLE_NOISE_PARTS: &str = "wholeNoiseParts";

/// The attribute for the arguments that rendered a part, without those that say which part, of which seed, and where it goes.
pub const ARGUMENTS: &str = "arguments";

/// The samples of an image.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shard {
    /// The samples of each seed.
    pub ranges: SeedRanges,
    /// Those of them that some pixels lack.
    pub partial: SeedRanges,
    /// The noise for which they lack them, or at which its parts ended, which is that of the whole render; `None` if the render was
    /// interrupted.
    pub noise_goal: Option<String>,
    /// Samples per pixel of the whole render, if this is a part of one.
    pub whole: Option<u32>,
    /// The parts that it has, from 1, of each seed, if each goes on until all together reach a noise.
    pub noise_parts: SeedRanges,
    /// Number of such parts of the whole render.
    pub whole_noise_parts: Option<u32>,
    /// [`fingerprint`] of the samples, added up as they were taken.
    pub fingerprint: Option<u64>,
    /// Arguments that rendered it, but for those that say which part it is, and of which seed.
    pub arguments: Option<String>,
}

impl Shard {
    /// What the attributes of a file say; nothing if they do not say which samples there are.
    ///
    /// # Errors
    /// One of them cannot be read: a sentence.
    pub fn read(attributes: &BTreeMap<String, String>) -> Result<Option<Self>, String> {
        let said = |key: &str| attributes.get(key);
        let ranges = |key: &str| -> Result<Option<SeedRanges>, String> {
            said(key).map(|text| text.parse().map_err(|e| format!("attribute {key:?}: {e}"))).transpose()
        };
        let number = |key: &str| said(key)?.parse::<u32>().ok();
        let ranges_of_file = match ranges(SAMPLE_RANGES)? {
            Some(ranges) => ranges,
            // Files that do not say have the first samples of one seed.
            None => match (number("seed"), number(SPP)) {
                (Some(seed), Some(spp)) => SeedRanges::of(seed, once(0..spp)),
                _ => return Ok(None),
            },
        };
        let noise_parts = ranges(NOISE_PARTS)?.unwrap_or_default();
        let hex = |text: &String| u64::from_str_radix(text, 16).ok();
        Ok(Some(Self {
            ranges: ranges_of_file,
            partial: ranges(PARTIAL_SAMPLES)?.unwrap_or_default(),
            noise_goal: said(NOISE_GOAL).cloned(),
            whole: number(WHOLE_SPP),
            whole_noise_parts: number(WHOLE_NOISE_PARTS).filter(|_| !noise_parts.0.is_empty()),
            noise_parts,
            fingerprint: said(FINGERPRINT).and_then(hex),
            arguments: said(ARGUMENTS).cloned(),
        }))
    }

    /// The attributes that say it.
    pub fn attributes(&self) -> Vec<(String, String)> {
        let is_partial = !self.partial.0.is_empty();
        let partial = is_partial.then(|| self.partial.to_string());
        let all = [
            (SAMPLE_RANGES, Some(self.ranges.to_string())),
            (PARTIAL_SAMPLES, partial),
            (NOISE_GOAL, self.noise_goal.clone().filter(|_| is_partial || !self.noise_parts.0.is_empty())),
            (WHOLE_SPP, self.whole.map(|spp| spp.to_string())),
            (NOISE_PARTS, (!self.noise_parts.0.is_empty()).then(|| self.noise_parts.to_string())),
            (WHOLE_NOISE_PARTS, self.whole_noise_parts.map(|parts| parts.to_string())),
            (FINGERPRINT, self.fingerprint.map(|sum| format!("{sum:016x}"))),
            (ARGUMENTS, self.arguments.clone()),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
    }

    /// Whether the samples are those that the image says, as far as it can be known.
    pub fn is_what_it_says(&self, width: u32, height: u32) -> bool {
        // What some pixels lack cannot be added up.
        let (Some(found), true) = (self.fingerprint, self.partial.0.is_empty()) else { return true };
        let all = self.ranges.0.values().flat_map(SampleRanges::iter);
        let sum = all.map(|samples| fingerprint(&samples, &(0..parts(width, height))));
        found == sum.fold(0, u64::wrapping_add)
    }

    /// Whether some pixels lack samples because a render was interrupted.
    pub fn is_interrupted(&self) -> bool {
        !self.partial.0.is_empty() && self.noise_goal.is_none()
    }

    /// The noises to which its parts went that were to reach one together, if they are several.
    pub fn differing_goals(&self) -> Option<&str> {
        let goals = self.noise_goal.as_deref().filter(|goals| goals.contains(AND));
        goals.filter(|_| !self.noise_parts.0.is_empty())
    }

    /// Whether every pixel has all samples that any pixel of another image of the same render has.
    pub fn includes(&self, other: &Self) -> bool {
        self.ranges.include(&other.ranges) && self.partial.overlap(&other.ranges).is_none()
    }

    /// Adds the samples of another part of the same render. The arguments of either render the rest; those of the larger whole
    /// allow all of its samples.
    pub fn merge(&mut self, other: &Self) {
        self.ranges.merge(&other.ranges);
        self.noise_goal = match self.is_interrupted() || other.is_interrupted() {
            true => None,
            false => {
                let goals = [self.noise_goal.take(), other.noise_goal.clone()].into_iter().flatten();
                let apart = goals.flat_map(|goals| goals.split(AND).map(str::to_owned).collect::<Vec<_>>());
                let all: Vec<_> = apart.collect::<BTreeSet<_>>().into_iter().collect();
                (!all.is_empty()).then(|| all.join(AND))
            }
        };
        self.partial.merge(&other.partial);
        self.fingerprint = self.fingerprint.zip(other.fingerprint).map(|(a, b)| a.wrapping_add(b));
        if self.arguments.is_none() || (other.arguments.is_some() && other.whole > self.whole) {
            self.arguments.clone_from(&other.arguments);
        }
        self.whole = self.whole.max(other.whole);
        // Parts of one division; of several, nobody knows what is missing.
        self.whole_noise_parts =
            match [&*self, other].map(|shard| (shard.whole_noise_parts, &shard.noise_parts)) {
                [(parts, _), (None, none)] | [(None, none), (parts, _)] if none.0.is_empty() => parts,
                [(parts, _), (others, _)] => parts.filter(|parts| others == Some(*parts)),
            };
        self.noise_parts.merge(&other.noise_parts);
    }

    /// The samples of the whole render that are missing, of each seed.
    pub fn gaps(&self) -> Vec<(u32, Range<u32>)> {
        self.whole.map(|spp| self.ranges.gaps(0..spp)).unwrap_or_default()
    }

    /// The parts of the whole render that are missing, of each seed, if each goes on until all together reach a noise.
    pub fn missing_noise_parts(&self) -> Vec<(u32, Range<u32>)> {
        self.whole_noise_parts
            .map(|parts| self.noise_parts.gaps(1..parts.saturating_add(1)))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(samples: Range<u32>) -> Shard {
        let fingerprint = Some(fingerprint(&samples, &(0..parts(20, 10))));
        let arguments = Some("scene.toml --spp 100".to_owned());
        Shard {
            ranges: SeedRanges::of(3, once(samples)),
            whole: Some(100),
            fingerprint,
            arguments,
            ..Shard::default()
        }
    }

    #[test]
    fn attributes_say_all_of_it() {
        let partial = Shard { partial: SeedRanges::of(3, once(4..8)), ..shard(0..8) };
        for shard in [shard(7..9), partial] {
            let attributes = shard.attributes().into_iter().collect();
            assert_eq!(Shard::read(&attributes), Ok(Some(shard)));
        }
        let said = |pairs: &[(&str, &str)]| {
            Shard::read(&pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
        };
        assert_eq!(
            said(&[("seed", "5"), ("spp", "16")]).unwrap().unwrap().ranges.to_string(),
            "seed 5: 0..16"
        );
        assert_eq!(said(&[("seed", "5, 6"), ("spp", "16")]), Ok(None));
        assert!(
            said(&[("sampleRanges", "0..4")]).unwrap_err().contains("\"sampleRanges\": ranges of samples")
        );
    }

    #[test]
    fn images_include_those_of_fewer_samples() {
        let of = |ranges: &str, partial: &str| {
            let parse = |text: &str| text.parse().unwrap_or_default();
            Shard { ranges: parse(ranges), partial: parse(partial), ..Shard::default() }
        };
        let image = of("seed 3: 0..12, 20..30; seed 4: 0..8", "seed 3: 10..12");
        for (other, expected) in [
            (of("seed 3: 0..10", ""), true),
            (of("seed 3: 2..10, 25..30; seed 4: 0..8", "seed 3: 8..10"), true),
            (of("seed 3: 0..11", ""), false),
            (of("seed 3: 0..11", "seed 3: 10..11"), false),
            (of("seed 3: 8..21", ""), false),
            (of("seed 5: 0..1", ""), false),
        ] {
            assert_eq!(image.includes(&other), expected, "{other:?}");
        }
    }

    #[test]
    fn parts_add_up() {
        let mut all = shard(0..10);
        all.merge(&shard(10..30));
        assert!(all.is_what_it_says(20, 10) && !all.is_what_it_says(20, 13));
        assert_eq!(all.gaps(), [(3, 30..100)]);
        all.merge(&shard(50..100));
        assert_eq!(
            (all.gaps(), all.ranges.to_string()),
            (vec![(3, 30..50)], "seed 3: 0..30, 50..100".into())
        );
        assert_eq!(all.arguments, shard(0..1).arguments);
        // Controls: a sample twice, and one too few.
        for wrong in [29..50, 31..50] {
            let mut all = all.clone();
            all.merge(&Shard { ranges: SeedRanges::of(3, once(30..50)), ..shard(wrong) });
            assert!(!all.is_what_it_says(20, 10));
        }
        all.merge(&Shard { arguments: None, fingerprint: None, ..shard(30..50) });
        assert_eq!((all.gaps(), all.fingerprint), (vec![], None));
    }

    #[test]
    fn parts_for_a_noise_are_counted() {
        let part = |i: u32, of: u32| Shard {
            noise_parts: SeedRanges::of(3, once(i..i + 1)),
            whole_noise_parts: Some(of),
            whole: None,
            ..shard(100 * i..100 * i + 5)
        };
        let mut all = part(2, 5);
        all.merge(&part(4, 5));
        assert_eq!(Shard::read(&all.attributes().into_iter().collect()), Ok(Some(all.clone())));
        assert_eq!((all.missing_noise_parts(), all.gaps()), (vec![(3, 1..2), (3, 3..4), (3, 5..6)], vec![]));
        let mut others = all.clone();
        others.merge(&part(3, 4));
        assert_eq!(others.missing_noise_parts(), [], "of several divisions, nobody knows");
        others.merge(&part(1, 5));
        assert_eq!(others.missing_noise_parts(), [], "nor later");
        // What was never divided lacks nothing.
        let whole = Shard { ranges: SeedRanges::of(4, once(0..9)), ..Shard::default() };
        for [mut one, other] in [[&whole, &all], [&all, &whole]].map(|pair| pair.map(Shard::clone)) {
            one.merge(&other);
            assert_eq!(one.missing_noise_parts(), all.missing_noise_parts());
        }
        [1, 3, 5].iter().for_each(|i| all.merge(&part(*i, 5)));
        assert_eq!(all.missing_noise_parts(), []);
    }

    #[test]
    fn goals_are_told_once_each() {
        let part = |goal: Option<&str>, is_partial: bool| Shard {
            noise_goal: goal.map(str::to_owned),
            partial: SeedRanges(is_partial.then(|| (3, once(4..8).collect())).into_iter().collect()),
            ..shard(0..8)
        };
        for ([a, b], expected) in [
            ([part(Some("2%"), true), part(Some("2%"), true)], Some("2%")),
            ([part(Some("2%"), true), part(Some("1%"), true)], Some("1%; 2%")),
            ([part(Some("1%; 2%"), true), part(Some("1%"), true)], Some("1%; 2%")),
            ([part(None, false), part(Some("1%"), true)], Some("1%")),
            ([part(Some("1%"), true), part(None, false)], Some("1%")),
            ([part(None, true), part(Some("1%"), true)], None),
        ] {
            let mut all = a.clone();
            all.merge(&b);
            assert_eq!(all.noise_goal.as_deref(), expected, "{a:?} and {b:?}");
            // Renders to different noises may well be merged, if they are not to reach one together.
            assert_eq!(all.differing_goals(), None);
            all.noise_parts = SeedRanges::of(3, once(1..3));
            assert_eq!(all.differing_goals().is_some(), expected == Some("1%; 2%"));
        }
    }

    #[test]
    fn arguments_of_one_part_are_those_of_all() {
        let part = |arguments: Option<&str>, whole| Shard {
            arguments: arguments.map(str::to_owned),
            whole: Some(whole),
            ..Shard::default()
        };
        for (parts, expected) in [
            ([part(Some("a --size=8x8"), 9), part(Some("a --size=8,8"), 9)], "a --size=8x8"),
            ([part(Some("a"), 9), part(None, 10)], "a"),
            ([part(None, 10), part(Some("a"), 9)], "a"),
            ([part(Some("a --spp=9"), 9), part(Some("a --spp=10"), 10)], "a --spp=10"),
        ] {
            let [mut all, other] = parts;
            all.merge(&other);
            assert_eq!(all.arguments.as_deref(), Some(expected), "{other:?}");
        }
    }
}
