//! Audit of a PTX file: its kernels, whether they can panic, and whether it contains anything forbidden.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};

/// Functions the CUDA driver itself provides.
const DRIVER: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// Findings in a PTX file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// For each kernel, where it can panic: the name of what it calls, and from how many places. A plain trap is
    /// called `trap`.
    pub panics: BTreeMap<String, BTreeMap<String, u32>>,
    /// Formatting functions: nothing on a GPU can use their text, and they are large.
    pub formatting: Vec<String>,
    /// Functions without a body that nobody provides: the driver would refuse to load the file.
    pub unresolved: Vec<String>,
}

/// One `.entry` or `.func`.
#[derive(Debug, Default)]
struct Function {
    entry: bool,
    external: bool,
    diverges: bool,
    /// Words of the body, with repetitions: instructions, labels, and the functions that are called.
    words: Vec<String>,
}

impl Audit {
    /// Reads PTX.
    pub fn new(ptx: &str) -> Self {
        let functions = functions(ptx);
        let mut audit = Self::default();
        for (name, function) in &functions {
            let readable = demangle(name);
            if function.entry {
                audit.panics.insert(name.clone(), panics(name, &functions));
            } else if function.external && !DRIVER.contains(&name.as_str()) {
                audit.unresolved.push(readable);
            } else if readable.contains("core::fmt::") {
                audit.formatting.push(readable);
            }
        }
        audit
    }

    /// The kernels' names.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.panics.keys().map(String::as_str)
    }

    /// From how many places a kernel can panic.
    pub fn panic_count(&self, kernel: &str) -> u32 {
        self.panics.get(kernel).map_or(0, |calls| calls.values().sum())
    }

    /// An error if the file cannot load, or, in a product, has formatting code.
    pub fn verdict(&self, file: &str, product: bool) -> Result<()> {
        let list = |names: &[String]| names.iter().map(|name| format!("\n    {name}")).collect::<String>();
        if !self.unresolved.is_empty() {
            let names = list(&self.unresolved);
            return Err(Error::Rejected(format!(
                "{file} calls functions that do not exist on a GPU:{names}"
            )));
        }
        if product && !self.formatting.is_empty() {
            let callers: Vec<_> = self.panics.iter().filter(|(_, calls)| !calls.is_empty()).collect();
            let callers: Vec<_> = callers.into_iter().map(|(kernel, _)| kernel.clone()).collect();
            let (names, callers) = (list(&self.formatting), list(&callers));
            return Err(Error::Rejected(format!(
                "{file} carries formatting code:{names}\n  kernels that can panic:{callers}"
            )));
        }
        Ok(())
    }

    /// A line for each kernel that can panic.
    pub fn panic_report(&self) -> String {
        let mut text = String::new();
        for (kernel, calls) in self.panics.iter().filter(|(_, calls)| !calls.is_empty()) {
            let calls: Vec<_> = calls.iter().map(|(name, count)| format!("{count} × {name}")).collect();
            text += &format!("  {kernel} can panic: {}\n", calls.join(", "));
        }
        text
    }
}

fn demangle(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

/// Calls of functions that do not return, and traps, in a kernel and all it calls.
fn panics(kernel: &str, functions: &BTreeMap<String, Function>) -> BTreeMap<String, u32> {
    let mut calls = BTreeMap::new();
    let (mut pending, mut seen) = (vec![kernel], BTreeSet::from([kernel]));
    while let Some(function) = pending.pop().and_then(|name| functions.get(name)) {
        for word in &function.words {
            if word == "trap" {
                *calls.entry(word.clone()).or_default() += 1;
            } else if let Some((name, callee)) = functions.get_key_value(word) {
                if callee.diverges {
                    *calls.entry(demangle(name)).or_default() += 1;
                } else if seen.insert(name) {
                    pending.push(name);
                }
            }
        }
    }
    calls
}

/// The functions of a file, as LLVM writes them: headers begin in column 0, bodies are in braces of their own.
fn functions(ptx: &str) -> BTreeMap<String, Function> {
    let mut found: BTreeMap<String, Function> = BTreeMap::new();
    let mut header = String::new();
    let mut depth = 0_usize;
    let mut current = None;
    for line in ptx.lines().map(|line| line.split("//").next().unwrap_or_default()) {
        if depth == 0 && (line.contains(".entry") || line.contains(".func")) {
            header.clear();
        }
        let opens = line.matches('{').count();
        if depth == 0 {
            header += line;
            header.push(' ');
            if (opens > 0 || line.contains(';')) && declares(&header) {
                let (name, function) = parse_header(&header);
                merge(&mut found, &name, function);
                current = Some(name);
                header.clear();
            }
        } else if let Some(function) = current.as_ref().and_then(|name| found.get_mut(name)) {
            let separators = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '%'));
            function.words.extend(line.split(separators).filter(|word| !word.is_empty()).map(str::to_owned));
        }
        depth = (depth + opens).saturating_sub(line.matches('}').count());
    }
    found
}

fn declares(header: &str) -> bool {
    header.contains(".entry") || header.contains(".func")
}

/// `.func (.param .b32 r) name(…) .noreturn`: a name may be declared before it is defined.
fn merge(found: &mut BTreeMap<String, Function>, name: &str, new: Function) {
    let known = found.entry(name.to_owned()).or_default();
    known.entry |= new.entry;
    known.external |= new.external;
    known.diverges |= new.diverges;
}

fn parse_header(header: &str) -> (String, Function) {
    let (before, after) =
        header.split_once(".entry").or_else(|| header.split_once(".func")).unwrap_or_default();
    let after = after.trim_start();
    let after =
        if after.starts_with('(') { after.split_once(')').map_or("", |(_, rest)| rest) } else { after };
    let name: String = after
        .trim_start()
        .chars()
        .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '%'))
        .collect();
    let function = Function {
        entry: header.contains(".entry"),
        external: before.contains(".extern"),
        diverges: after.contains(".noreturn"),
        words: Vec::new(),
    };
    (name, function)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = r"
.version 7.0
.func _RNvNtCsanIojcP8aaR_4core9panicking18panic_bounds_check
()
.noreturn;
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0
)
;
.visible .entry quiet(
	.param .u32 quiet_param_0
)
{
	.reg .b32 	%r<4>;
	ret; // call.uni _RNvNtCsanIojcP8aaR_4core9panicking18panic_bounds_check
}
.visible .entry loud()
{
	{ // callseq 0, 0
	call.uni _RNvNtCsanIojcP8aaR_4core9panicking18panic_bounds_check, ();
	} // callseq 0
	call.uni (retval0), helper, ();
	trap;
}
.func  (.param .b32 func_retval0) helper()
{
	call.uni _RNvNtCsanIojcP8aaR_4core9panicking18panic_bounds_check, ();
	ret;
}
.func _RNvNtCsanIojcP8aaR_4core9panicking18panic_bounds_check()
.noreturn
{
	trap; exit;
}
";

    #[test]
    fn panics_are_counted_through_calls() {
        let audit = Audit::new(PTX);
        assert_eq!(audit.kernels().collect::<Vec<_>>(), ["loud", "quiet"]);
        assert_eq!(audit.panic_count("quiet"), 0);
        assert_eq!(audit.panic_count("loud"), 3);
        assert_eq!(audit.panics["loud"]["core::panicking::panic_bounds_check"], 2);
        assert_eq!(audit.verdict("x.ptx", true).map_err(|error| error.to_string()), Ok(()));
    }

    #[test]
    fn a_function_nobody_provides_is_refused() {
        let audit = Audit::new(&PTX.replace("vprintf", "sinf"));
        assert!(audit.verdict("x.ptx", false).unwrap_err().to_string().contains("sinf"));
    }

    #[test]
    fn formatting_is_refused_in_the_product_only() {
        let text = PTX.replace("helper", "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE");
        let audit = Audit::new(&text);
        assert_eq!(audit.formatting, ["core::fmt::Formatter::pad"]);
        assert!(audit.verdict("x.ptx", false).is_ok());
        let message = audit.verdict("x.ptx", true).unwrap_err().to_string();
        assert!(message.contains("core::fmt::Formatter::pad") && message.contains("loud"), "{message}");
    }
}
