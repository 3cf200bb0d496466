//! Results for people, for spreadsheets, and for programs.

use std::fmt;

use renderer::bench::{End, PrimitiveTiming, Results, Skipped, Times};
use serde::Serialize;

/// Measurements, and the machine they were taken on.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) machine: String,
    pub(super) is_cpu: bool,
    /// The title of the baseline.
    pub(super) baseline: Option<String>,
    pub(super) results: Results,
}

/// The object that `--json` prints. Fields are added, never renamed.
#[derive(Debug, Serialize)]
pub(super) struct Json<'a> {
    version: &'static str,
    device: &'a str,
    /// Whether these are the kernels' twins for a CPU.
    twins: bool,
    baseline: Option<&'a str>,
    interrupted: bool,
    results: Vec<Row>,
    skipped: Vec<SkippedRow>,
    /// The error that ended it.
    error: Option<String>,
}

/// A benchmark that does not fit.
#[derive(Debug, Serialize)]
struct SkippedRow {
    /// Null if it is all of that length.
    primitive: Option<&'static str>,
    length: u32,
    reason: String,
}

/// A result. Its fields are also the columns of `--csv`.
#[derive(Debug, Serialize)]
struct Row {
    primitive: &'static str,
    length: u32,
    /// Least time of a call.
    seconds: f64,
    /// Median time of a call.
    median_seconds: f64,
    /// That it must at least read and write.
    bytes: f64,
    gb_per_s: f64,
    gelements_per_s: f64,
    /// Bandwidth of a copy of the same length.
    copy_gb_per_s: f64,
    /// `gb_per_s` as a part of that.
    of_copy: f64,
    baseline_seconds: Option<f64>,
    baseline_median_seconds: Option<f64>,
    /// How many times as fast as the baseline it is.
    of_baseline: Option<f64>,
}

impl From<&PrimitiveTiming> for Row {
    fn from(m: &PrimitiveTiming) -> Self {
        let Times { least, median } = m.times;
        Self {
            primitive: m.name,
            length: m.n,
            seconds: least,
            median_seconds: median,
            bytes: m.bytes,
            gb_per_s: m.bandwidth() * 1e-9,
            gelements_per_s: m.throughput() * 1e-9,
            copy_gb_per_s: 8e-9 * f64::from(m.n) / m.copy.least,
            of_copy: m.of_copy(),
            baseline_seconds: m.baseline.map(|b| b.least),
            baseline_median_seconds: m.baseline.map(|b| b.median),
            of_baseline: m.of_baseline(),
        }
    }
}

impl Report {
    pub(super) fn json(&self) -> Json<'_> {
        let skipped = |s: &Skipped| SkippedRow { primitive: s.name, length: s.n, reason: s.reason.clone() };
        Json {
            version: env!("CARGO_PKG_VERSION"),
            device: &self.machine,
            twins: self.is_cpu,
            baseline: self.baseline.as_deref(),
            interrupted: self.results.end == End::Stopped,
            results: self.results.measured.iter().map(Row::from).collect(),
            skipped: self.results.skipped.iter().map(skipped).collect(),
            error: if let End::Failed(error) = &self.results.end { Some(error.to_string()) } else { None },
        }
    }

    /// A line of names, and one for each result.
    pub(super) fn csv(&self) -> String {
        let mut text =
            "primitive,length,seconds,median_seconds,bytes,gb_per_s,gelements_per_s,copy_gb_per_s,of_copy,\
                        baseline_seconds,baseline_median_seconds,of_baseline\n"
                .to_owned();
        for row in self.results.measured.iter().map(Row::from) {
            let or_empty = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.6e}"));
            let Row { primitive, length, seconds, median_seconds, bytes, .. } = row;
            text += &format!(
                "{primitive},{length},{seconds:.6e},{median_seconds:.6e},{bytes},{:.6},{:.6},{:.6},{:.6},{},{},{}\n",
                row.gb_per_s,
                row.gelements_per_s,
                row.copy_gb_per_s,
                row.of_copy,
                or_empty(row.baseline_seconds),
                or_empty(row.baseline_median_seconds),
                or_empty(row.of_baseline),
            );
        }
        text
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beside = self.baseline.as_ref().map_or(String::new(), |b| format!("; beside {b}"));
        let what = if self.is_cpu { ": twins of the kernels, on all threads" } else { "" };
        writeln!(f, "{}{what}{beside}", self.machine)?;
        write!(f, "{:<24}{:>11}{:>12}{:>12}", "primitive", "length", "time", "median")?;
        write!(f, "{:>10}{:>10}{:>9}", "GB/s", "Gelem/s", "of copy")?;
        writeln!(f, "{}", if self.baseline.is_some() { "    baseline      ratio" } else { "" })?;
        for m in &self.results.measured {
            let Times { least, median } = m.times;
            write!(f, "{:<24}{:>11}{:>12}{:>12}", m.name, m.n, milliseconds(least), milliseconds(median))?;
            let [bandwidth, throughput] = [m.bandwidth(), m.throughput()].map(|x| digits(x * 1e-9));
            write!(f, "{bandwidth:>10}{throughput:>10}{:>8.1}%", 100.0 * m.of_copy())?;
            match (m.baseline, m.of_baseline()) {
                (Some(b), Some(ratio)) => writeln!(f, "{:>12}{ratio:>10.3}x", milliseconds(b.least))?,
                _ => writeln!(f)?,
            }
        }
        match self.results.end {
            End::Stopped => writeln!(f, "interrupted: there is more to measure"),
            End::Complete | End::Failed(_) => Ok(()),
        }
    }
}

fn milliseconds(seconds: f64) -> String {
    format!("{} ms", digits(seconds * 1e3))
}

/// Four digits of a positive number.
fn digits(x: f64) -> String {
    let decimals = (3 - x.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{x:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use renderer::bench::Family;
    use torrance_gpu::backend::Error;

    fn report() -> Report {
        ended(End::Complete)
    }

    fn ended(end: End) -> Report {
        let times = |least| Times { least, median: 1.25 * least };
        let measured = |name, baseline| PrimitiveTiming {
            name,
            family: Family::Scans,
            n: 2_000_000,
            bytes: 16e6,
            times: times(8e-6),
            copy: times(4e-6),
            baseline,
        };
        let measured = vec![measured("one", Some(times(1e-5))), measured("two", None)];
        let skipped = vec![Skipped { name: None, n: 7, reason: "there is no room".to_owned() }];
        Report {
            machine: "a machine".to_owned(),
            is_cpu: false,
            baseline: Some("another library".to_owned()),
            results: Results { measured, skipped, end },
        }
    }

    #[test]
    fn people_see_rows() {
        let text = report().to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "a machine; beside another library");
        let words = |i: usize| lines[i].split_whitespace().collect::<Vec<_>>();
        let one =
            ["one", "2000000", "0.008000", "ms", "0.01000", "ms", "2000", "250.0", "50.0%", "0.01000", "ms"];
        assert_eq!(words(2), [&one[..], &["1.250x"]].concat());
        assert_eq!(words(3)[1..], one[1..9]);
        assert_eq!(lines.len(), 4);
        let ends: Vec<_> = lines[1..3].iter().map(|l| l.chars().count()).collect();
        assert_eq!(ends[0], ends[1], "columns end where their names do:\n{text}");
        let interrupted = ended(End::Stopped).to_string();
        assert!(interrupted.ends_with("\ninterrupted: there is more to measure\n"));
    }

    #[test]
    fn spreadsheets_get_as_many_values_as_names() {
        let csv = report().csv();
        let lines: Vec<Vec<_>> = csv.lines().map(|l| l.split(',').collect()).collect();
        assert!(lines.iter().all(|l| l.len() == 12), "{csv}");
        assert_eq!(lines[1][..4], ["one", "2000000", "8.000000e-6", "1.000000e-5"]);
        assert_eq!(lines[1][9..], ["1.000000e-5", "1.250000e-5", "1.250000e0"]);
        assert_eq!(lines[2][9..], ["", "", ""]);
    }

    #[test]
    fn the_columns_are_the_fields_of_json() {
        let json = serde_json::to_value(report().json()).unwrap();
        let fields: Vec<_> = json["results"][0].as_object().unwrap().keys().map(String::as_str).collect();
        let csv = report().csv();
        let mut columns: Vec<_> = csv.lines().next().unwrap().split(',').collect();
        columns.sort_unstable();
        let mut sorted = fields.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, columns);
        assert_eq!(json["results"][1]["of_baseline"], serde_json::Value::Null);
    }

    #[test]
    fn programs_learn_what_is_missing() {
        let json = |end| serde_json::to_value(ended(end).json()).unwrap();
        let complete = json(End::Complete);
        let left = serde_json::json!([{ "primitive": null, "length": 7, "reason": "there is no room" }]);
        assert_eq!((&complete["skipped"], &complete["error"]), (&left, &serde_json::Value::Null));
        let error = Error { doing: "waiting".to_owned(), reason: "it is gone".to_owned() };
        let failed = json(End::Failed(error));
        assert_eq!(
            (&failed["error"], &failed["interrupted"]),
            (&"waiting: it is gone".into(), &false.into())
        );
        assert_eq!(failed["results"], complete["results"]);
        assert_eq!(json(End::Stopped)["interrupted"], true);
    }

    #[test]
    fn numbers_have_four_digits() {
        for (x, text) in [(0.0008123, "0.000812"), (0.08123, "0.08123"), (9.9996, "10.000"), (4218.3, "4218")]
        {
            assert_eq!(digits(x), text);
        }
    }
}
