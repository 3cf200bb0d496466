//! Parses `--param PATH=VALUES`: a parameter of the scene, and the values that it takes.
//!
//! | VALUES | |
//! |---|---|
//! | `a:b:n` | `n` numbers from `a` to `b`, both included, at equal distances; also arrays and colours |
//! | `log(a:b:n)` | the same, by equal factors |
//! | `a,b,c` | these values; a range can be among them |
//! | `@FILE` | the values in a file, one a line; `#` begins a comment |
//! | `*` | all that there are: words, or false and true |

use std::collections::HashSet;
use std::path::Path;

use torrance_scene::input::file::{read_bounded, text_of};
use torrance_scene::{PathError, path_and_value};
use torrance_text::{quoted, quoted_path};

use super::SweepError;
use super::label::label_of_path;
use super::range::{Numbers, range};
use super::scan::{find, split};

/// Most variants that a sweep has.
pub const MOST_VARIANTS: usize = 10_000;
/// Longest file of values, bytes.
const LONGEST_FILE: u64 = 16 << 20;

/// A parameter and the values that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// Path of the parameter in the scene, as [`torrance_scene::SceneValues`] names it.
    pub path: String,
    /// A short name for it, other than those of the other axes.
    pub label: String,
    /// Its values, in TOML or words without their quotes: at least one, none twice.
    pub values: Vec<String>,
}

/// The form of `--param`, for messages.
const EXPECTED: &str = "expected PATH=VALUES, as in materials.ball.roughness=0:1:9";

/// Reads all parameters and their values. `all_values` gives the values that `*` stands for at a path.
///
/// # Errors
/// If one of them is invalid, or there are too many variants.
pub fn parse(
    specs: &[String],
    all_values: &dyn Fn(&str) -> Result<Vec<String>, PathError>,
) -> Result<Vec<Axis>, SweepError> {
    let mut axes = Vec::<Axis>::new();
    for spec in specs {
        let named = |error| SweepError(format!("--param {}: {error}", quoted(spec)));
        let axis = axis(spec, all_values).map_err(named)?;
        if axes.iter().any(|other| other.path == axis.path) {
            return Err(named(SweepError(format!(
                "{} has its values already, from another --param",
                quoted(&axis.path)
            ))));
        }
        axes.push(axis);
    }
    check_variants(&axes)?;
    let paths: Vec<_> = axes.iter().map(|axis| axis.path.clone()).collect();
    axes.iter_mut().for_each(|axis| axis.label = label_of_path(&axis.path, &paths));
    Ok(axes)
}

fn check_variants(axes: &[Axis]) -> Result<(), SweepError> {
    let counts = || axes.iter().map(|axis| axis.values.len());
    let variants = counts().fold(1, usize::saturating_mul);
    if variants <= MOST_VARIANTS {
        return Ok(());
    }
    let product = counts().map(|n| n.to_string()).collect::<Vec<_>>().join(" × ");
    let most = format!("a sweep has {MOST_VARIANTS} variants at most");
    Err(SweepError(format!("--param: {product} values are too many; {most}")))
}

fn axis(spec: &str, all_values: &dyn Fn(&str) -> Result<Vec<String>, PathError>) -> Result<Axis, SweepError> {
    let fault = |reason: &str| SweepError(format!("{reason}{EXPECTED}"));
    let (path, values) = path_and_value(spec).ok_or_else(|| fault(""))?;
    if path.is_empty() {
        return Err(fault("there is no path before the =; "));
    }
    if values.is_empty() {
        return Err(fault("there are no values after the =; "));
    }
    let texts = match values.strip_prefix('@') {
        Some(file) => values_of_file(Path::new(file))?,
        None if values == "*" => all_values(path)?,
        None => listed(values)?,
    };
    let mut seen = HashSet::new();
    if let Some(twice) = texts.iter().find(|text| !seen.insert(meaning(text))) {
        return Err(SweepError(format!("the value {twice} is there twice")));
    }
    Ok(Axis { path: path.to_owned(), label: path.to_owned(), values: texts })
}

/// A canonical text, the same for equal values: words may have quotes, and colours capital letters.
fn meaning(text: &str) -> String {
    let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    // A number in quotes is no number.
    let word = inside.filter(|word| is_color(word) || Numbers::parse(word).is_none()).unwrap_or(text);
    if is_color(word) { word.to_lowercase() } else { word.to_owned() }
}

fn is_color(text: &str) -> bool {
    text.starts_with('#') && Numbers::parse(text).is_some()
}

/// The values between commas, ranges written out.
fn listed(text: &str) -> Result<Vec<String>, SweepError> {
    let items = split(text, ',')?;
    let mut values = Vec::new();
    for (item, index) in items.iter().map(|item| item.trim()).zip(1..) {
        if item.is_empty() {
            return Err(SweepError(format!("value {index} of {} is empty", quoted(text))));
        }
        values.extend(range(item)?.unwrap_or_else(|| vec![value(item)]));
    }
    Ok(values)
}

/// A value as it is later given to the scene: numbers in their shortest form, so that equal ones are found.
fn value(text: &str) -> String {
    match Numbers::parse(text) {
        Some(numbers) if !text.contains('#') => numbers.text(),
        _ => text.to_owned(),
    }
}

fn values_of_file(path: &Path) -> Result<Vec<String>, SweepError> {
    let file = quoted_path(path);
    let unreadable = |reason: String| SweepError(format!("cannot read {file}: {reason}"));
    let bytes = read_bounded(path, LONGEST_FILE).map_err(|e| unreadable(e.to_string()))?;
    let text = text_of("", &bytes).map_err(|_| unreadable("it is not text in UTF-8".to_owned()))?;
    let mut values = Vec::new();
    // Whatever lines end with.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    for (text, line) in text.lines().map(without_comment).zip(1..) {
        if !text.is_empty() {
            split(text, ',').map_err(|error| SweepError(format!("{file}, line {line}: {error}")))?;
            values.push(value(text));
        }
    }
    if values.is_empty() {
        return Err(SweepError(format!("{file} has no values: one a line is expected")));
    }
    Ok(values)
}

/// The line up to a `#` that does not begin a colour.
fn without_comment(line: &str) -> &str {
    let line = line.trim();
    let is_color = line.starts_with('#') && line.split_whitespace().next().and_then(Numbers::parse).is_some();
    let start = usize::from(is_color);
    find(&line[start..], |c| c == '#').map_or(line, |comment| line[..start + comment].trim_end())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A scene in which everything is a masking.
    fn all_values(path: &str) -> Result<Vec<String>, PathError> {
        if path == "camera.fov" {
            let reason = "\"camera.fov\" is a number, of which there are too many for *";
            return Err(PathError::Value(reason.into()));
        }
        Ok(["correlated", "separable"].map(str::to_owned).to_vec())
    }

    fn parse(specs: &[&str]) -> Result<Vec<Axis>, String> {
        let specs: Vec<_> = specs.iter().map(|spec| (*spec).to_owned()).collect();
        super::parse(&specs, &all_values).map_err(|e| e.to_string())
    }

    fn texts(spec: &str) -> Vec<String> {
        let axes = parse(&[spec]).unwrap();
        axes[0].values.clone()
    }

    #[test]
    fn values_are_ranges_lists_and_all_there_are() {
        for (spec, values) in [
            ("m.ball.roughness=0:1:3", &["0", "0.5", "1"][..]),
            ("m.ball.roughness = 0.50, 7., 1e-1", &["0.5", "7", "0.1"]),
            ("m.ball.roughness=0,log(0.01:1:3)", &["0", "0.01", "0.1", "1"]),
            ("m.ball.scattering=none,random_walk", &["none", "random_walk"]),
            ("m.ball.color=[1,0.50,0],\"#ff8000\",#ff8001", &["[1, 0.5, 0]", "\"#ff8000\"", "#ff8001"]),
            ("render.masking=*", &["correlated", "separable"]),
            ("render.seed=4294967295", &["4294967295"]),
            // Names, of which capitals are another's.
            ("shapes.a.material=\"#A\",\"#a\"", &["\"#A\"", "\"#a\""]),
            (
                "m.ball={ type = \"conductor\", k = 1 },{ type = \"diffuse\" }",
                &["{ type = \"conductor\", k = 1 }", "{ type = \"diffuse\" }"],
            ),
            ("shapes.\"a=b\".file=\"x:1,y.ply\"", &["\"x:1,y.ply\""]),
        ] {
            assert_eq!(texts(spec), values, "{spec}");
        }
        assert_eq!(parse(&["shapes.\"a=b\".file = x"]).unwrap()[0].path, "shapes.\"a=b\".file");
        assert_eq!(parse(&[]), Ok(Vec::new()));
    }

    #[test]
    fn axes_have_names_of_their_own() {
        let axes =
            parse(&["materials.a.roughness=0,1", "materials.b.roughness=0,1", "camera.fov=30,40"]).unwrap();
        let labels: Vec<_> = axes.iter().map(|axis| axis.label.as_str()).collect();
        assert_eq!(labels, ["a.roughness", "b.roughness", "fov"]);
    }

    #[test]
    fn files_have_a_value_a_line() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let text = "\u{feff}# colours\n#ff8000 # orange\n\"#00ff00\"\r\n\n  [1, 0.50]  # array\n'a # b' # word\n0.50#half\n";
        file.write_all(text.as_bytes()).unwrap();
        let spec = format!("p=@{}", file.path().display());
        assert_eq!(texts(&spec), ["#ff8000", "\"#00ff00\"", "[1, 0.5]", "'a # b'", "0.5"]);
        for (more, message) in
            [("0.5\n", "the value 0.5 is there twice"), ("[1,\n", ", line 9: \"[1,\" lacks the closing ]")]
        {
            file.write_all(more.as_bytes()).unwrap();
            let error = parse(&[&spec]).unwrap_err();
            assert!(error.ends_with(message), "{error}");
        }
        let empty = tempfile::NamedTempFile::new().unwrap();
        let error = parse(&[&format!("p=@{}", empty.path().display())]).unwrap_err();
        assert!(error.ends_with("has no values: one a line is expected"), "{error}");
        let error = parse(&["p=@no/such/file"]).unwrap_err();
        assert_eq!(
            error,
            r#"--param "p=@no/such/file": cannot read "no/such/file": there is no folder "no/such""#
        );
        let mut binary = tempfile::NamedTempFile::new().unwrap();
        binary.write_all(b"\xff\xfe").unwrap();
        let error = parse(&[&format!("p=@{}", binary.path().display())]).unwrap_err();
        assert!(error.ends_with("it is not text in UTF-8"), "{error}");
    }

    #[test]
    fn messages_say_what_was_expected() {
        const FORM: &str = "expected PATH=VALUES, as in materials.ball.roughness=0:1:9";
        const RANGE: &str = "is not a range: a:b:n has the first value, the last and how many";
        const COUNT: &str = "is not how many: a whole number from 2 to 10000";
        const END: &str =
            "is not a number: a range goes between numbers, arrays of numbers or colours \"#rrggbb\"";
        for (spec, message) in [
            ("", FORM.to_owned()),
            ("roughness", FORM.into()),
            ("\"roughness=0\"", FORM.into()),
            ("=0:1:9", format!("there is no path before the =; {FORM}")),
            ("r= ", format!("there are no values after the =; {FORM}")),
            ("r=0:1", format!("\"0:1\" {RANGE}")),
            ("r=0:1:2:3", format!("\"0:1:2:3\" {RANGE}")),
            (
                "r=log(0.1:1)",
                "\"log(0.1:1)\" is not a range: log(a:b:n) has the first value, the last and how many".into(),
            ),
            (
                "r=log(1)",
                "\"log(1)\" is not a range: log(a:b:n) has the first value, the last and how many".into(),
            ),
            ("r=0:1:1", format!("\"1\" in \"0:1:1\" {COUNT}")),
            ("r=0:1:10001", format!("\"10001\" in \"0:1:10001\" {COUNT}")),
            ("r=0:1:2.5", format!("\"2.5\" in \"0:1:2.5\" {COUNT}")),
            ("r=0:1:-3", format!("\"-3\" in \"0:1:-3\" {COUNT}")),
            ("r=0:x:3", format!("\"x\" in \"0:x:3\" {END}")),
            ("r=0:inf:3", format!("\"inf\" in \"0:inf:3\" {END}")),
            ("r=[0,a]:[1,1]:3", format!("\"[0,a]\" in \"[0,a]:[1,1]:3\" {END}")),
            ("r=:1:3", format!("\"\" in \":1:3\" {END}")),
            (
                "r=[0, 0]:[1, 1, 1]:3",
                "the ends of \"[0, 0]:[1, 1, 1]:3\" have 2 and 3 numbers; they need equally many".into(),
            ),
            ("r=0:[1]:3", "one end of \"0:[1]:3\" is a number and the other an array".into()),
            (
                "r=log(0:1:3)",
                "\"log(0:1:3)\" goes by equal factors, so both ends must be above 0, not 0".into(),
            ),
            (
                "r=log(1:-1:3)",
                "\"log(1:-1:3)\" goes by equal factors, so both ends must be above 0, not -1".into(),
            ),
            ("r=0.1,,0.2", "value 2 of \"0.1,,0.2\" is empty".into()),
            ("r=0.1,", "value 2 of \"0.1,\" is empty".into()),
            ("r=0.5,0.50", "the value 0.5 is there twice".into()),
            ("r=1:1:3", "the value 1 is there twice".into()),
            ("r=0,0:1:3", "the value 0 is there twice".into()),
            ("r=[0,1", "\"[0,1\" lacks the closing ]".into()),
            ("r=0:1:3)", "\"0:1:3)\" has a \")\" too many".into()),
            ("r=\"none", "\"\\\"none\" lacks the closing \"".into()),
            ("camera.fov=*", "\"camera.fov\" is a number, of which there are too many for *".into()),
        ] {
            let whole = format!("--param {}: {message}", quoted(spec));
            assert_eq!(parse(&[spec]), Err(whole), "{spec}");
        }
        assert_eq!(
            parse(&["r=0:1:3", "s=0", "r=2"]),
            Err("--param \"r=2\": \"r\" has its values already, from another --param".into())
        );
        assert_eq!(
            parse(&["r=0:1:101", "s=0:1:100"]),
            Err("--param: 101 × 100 values are too many; a sweep has 10000 variants at most".into())
        );
    }
}
