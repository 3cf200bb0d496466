//! Stages of the wavefront on two back ends, each from the same data: what they make of it, column by column.

use std::collections::BTreeMap;
use std::fmt;

use renderer::assemble::SceneData;
use renderer::render::{Dump, DumpedColumn, Paths, Replay, Step};
use torrance_gpu::primitives::Primitives;

/// How far the rows of a column may be apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// The column.
    pub column: &'static str,
    /// Type of each word of a row: `f` for a float, `u` for a word that must be equal.
    pub words: &'static str,
    /// How far two floats may be apart, as a part of the larger one.
    pub relative: f32,
    /// How far they may be apart however small they are.
    pub absolute: f32,
    /// Which part of the rows that a stage writes may be further apart: rounding sends a path another way.
    pub outliers: f64,
}

impl Tolerance {
    /// No bit may differ.
    pub const fn exact(column: &'static str, words: &'static str) -> Self {
        Self { column, words, relative: 0.0, absolute: 0.0, outliers: 0.0 }
    }

    /// How far two rows are apart: 1 is as far as they may be.
    fn distance(&self, a: &[u8], b: &[u8]) -> f32 {
        if a == b {
            return 0.0;
        }
        // Flags have no words.
        if a.len() < 4 {
            return f32::INFINITY;
        }
        let word = |x: &[u8]| u32::from_ne_bytes(x.try_into().expect("four bytes"));
        let pairs = a.chunks_exact(4).zip(b.chunks_exact(4)).map(|(a, b)| (word(a), word(b)));
        let far = |((a, b), kind)| match kind {
            _ if a == b => 0.0,
            'f' => self.distance_of_floats(f32::from_bits(a), f32::from_bits(b)),
            _ => f32::INFINITY,
        };
        pairs.zip(self.words.chars()).map(far).fold(0.0, f32::max)
    }

    /// The words of a row, or its flag.
    fn values(&self, row: &[u8]) -> Vec<f64> {
        let value = |(word, kind): (&[u8], char)| match word.try_into().map(u32::from_ne_bytes) {
            Ok(bits) if kind == 'f' => f32::from_bits(bits).into(),
            Ok(bits) => bits.into(),
            Err(_) => word[0].into(),
        };
        row.chunks(4).zip(self.words.chars()).map(value).collect()
    }

    fn distance_of_floats(&self, a: f32, b: f32) -> f32 {
        let allowed = self.absolute + self.relative * a.abs().max(b.abs());
        // 0 and −0 differ by no more than others.
        match (a - b).abs() / allowed {
            distance if distance.is_nan() => f32::INFINITY,
            distance => distance,
        }
    }
}

/// Differences in a column after one part of the pass, over all rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// How far rows may be apart.
    pub tolerance: Tolerance,
    /// Rows that the part has changed, on either back end.
    pub changed: u64,
    /// Those that are too far apart.
    pub off: u64,
    /// How far the others are apart at most, 1 at most.
    pub distance: f32,
    /// The first one that is too far apart.
    pub first: Option<Outlier>,
}

/// A row that two back ends do not agree on.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlier {
    /// The round.
    pub round: u32,
    /// The row.
    pub row: usize,
    /// Expected and actual values.
    pub values: [Vec<f64>; 2],
}

impl Finding {
    /// Whether more rows are too far apart than may be.
    pub fn is_miss(&self) -> bool {
        self.off as f64 > self.tolerance.outliers * self.changed as f64
    }

    fn add(&mut self, round: u32, [before, expected, found]: [&DumpedColumn; 3]) {
        let bytes = expected.bytes;
        assert!(bytes < 4 || bytes == 4 * self.tolerance.words.len(), "{}: {bytes} bytes", expected.name);
        let rows = |column: &DumpedColumn| column.data.len() / bytes;
        assert_eq!([rows(before), rows(found)], [rows(expected); 2], "{}", expected.name);
        for i in 0..rows(expected) {
            let [before, expected, found] =
                [before, expected, found].map(|column| &column.data[i * bytes..][..bytes]);
            if before == expected && before == found {
                continue;
            }
            self.changed += 1;
            let distance = self.tolerance.distance(expected, found);
            if distance > 1.0 {
                self.off += 1;
                let values = || [expected, found].map(|row| self.tolerance.values(row));
                self.first.get_or_insert_with(|| Outlier { round, row: i, values: values() });
            } else {
                self.distance = self.distance.max(distance);
            }
        }
    }
}

/// Differences in the columns that the parts of a pass write.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// By part and column.
    pub findings: BTreeMap<(Step, &'static str), Finding>,
    /// Rounds that had paths.
    pub rounds: u32,
}

impl Report {
    /// Parts and columns of which too many rows are too far apart.
    pub fn misses(&self) -> Vec<(Step, &'static str)> {
        self.findings.iter().filter(|(_, finding)| finding.is_miss()).map(|(key, _)| *key).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<11}{:<17}{:>9}{:>7}{:>10}{:>11}",
            "part", "column", "changed", "off", "allowed", "distance"
        )?;
        for ((part, column), finding) in &self.findings {
            let Finding { tolerance, changed, off, distance, first } = finding;
            let allowed = tolerance.outliers * *changed as f64;
            write!(f, "{:<11}{column:<17}{changed:>9}{off:>7}{allowed:>10.1}{distance:>11.4}", part.name())?;
            match first {
                Some(Outlier { round, row, values: [expected, found] }) if finding.is_miss() => {
                    writeln!(f, "  first in round {round}, row {row}: {expected:?}, {found:?}")?
                }
                _ => writeln!(f)?,
            }
        }
        Ok(())
    }
}

/// Traces all paths of a pass on `expected`; runs each part of each round also on `found`, from the same data, and compares
/// what both made of it. Columns without a tolerance are left out. `tamper` may change what `found` made, and is told what
/// was there before.
///
/// # Panics
/// If a back end fails.
pub fn replay<A: Primitives, B: Primitives>(
    (expected, scene): (&mut A, &SceneData),
    (found, its_scene): (&mut B, &SceneData),
    (paths, samples): (Paths, u32),
    tolerances: &[Tolerance],
    mut tamper: impl FnMut(Step, &Dump, &mut Dump),
) -> Report {
    let mut report = Report::default();
    let mut left = Replay::new(expected, scene, paths, samples).expect("it begins");
    let mut right = Replay::new(found, its_scene, paths, samples).expect("it begins");
    let mut before = left.dump(expected).expect("it is dumped");
    let mut of_round = left.steps();
    of_round.retain(|part| *part != Step::Accumulate);
    let mut step = |part, round, before: &mut Dump| {
        // SAFETY: parts run in their order; what is restored was dumped there, of a scene with the same numbers.
        unsafe {
            right.restore(found, before).expect("it is restored");
            left.run(expected, part, round).expect("it runs");
            right.run(found, part, round).expect("it runs");
        }
        let after = left.dump(expected).expect("it is dumped");
        let mut its = right.dump(found).expect("it is dumped");
        tamper(part, before, &mut its);
        for tolerance in tolerances {
            let columns = [&*before, &after, &its].map(|dump| dump.column(tolerance.column));
            let [Some(old), Some(new), Some(its)] = columns else { continue };
            report
                .findings
                .entry((part, tolerance.column))
                .or_insert(Finding { tolerance: *tolerance, changed: 0, off: 0, distance: 0.0, first: None })
                .add(round, [old, new, its]);
        }
        *before = after;
    };
    let mut round = 0;
    loop {
        for part in &of_round {
            step(*part, round, &mut before);
        }
        if before.live() == 0 {
            break;
        }
        round += 1;
    }
    step(Step::Accumulate, round, &mut before);
    // What a part leaves alone says nothing.
    report.findings.retain(|_, finding| finding.changed > 0);
    report.rounds = round;
    report
}
