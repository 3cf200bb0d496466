//! The text of PTX modules: its headers, and the parts that one kernel needs.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::driver::Version;

/// Text that is not PTX.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PtxError {
    /// A directive is missing.
    #[error("the kernels are not PTX: there is no line {0}")]
    NoDirective(&'static str),
    /// The version of the language is no number.
    #[error("{0:?} is not a version of PTX")]
    Version(String),
    /// The target has no number.
    #[error("{0:?} is not a target of PTX")]
    Target(String),
    /// A kernel's header has another form.
    #[error("a kernel's header cannot be read")]
    Header,
}

/// The headers of a PTX module. Reading them needs no GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ptx {
    /// Version of the PTX language: major, minor.
    pub version: (u32, u32),
    /// Compute capability that it was compiled for, e.g. 75.
    pub target: u32,
    /// Its kernels, in their order.
    pub entries: Vec<Entry>,
}

/// The value of `key` in the comments at the head of a module, where `cargo ptx` writes `// key: value`: a hash of the
/// `sources`, and the `toolchain`.
pub fn stamp<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut comments = text.lines().map_while(|line| line.strip_prefix("// "));
    comments.find_map(|comment| comment.strip_prefix(key)?.strip_prefix(':')).map(str::trim)
}

/// A kernel of a PTX module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name that launches use.
    pub name: String,
    /// Bytes of each parameter.
    pub params: Vec<usize>,
    /// Threads that a block may have at most, where the kernel says.
    pub max_block: Option<u32>,
}

impl Ptx {
    /// Reads the headers of a module.
    ///
    /// # Errors
    /// The text is not PTX; says where.
    pub fn parse(text: &str) -> Result<Self, PtxError> {
        let directive = |name: &'static str| {
            let line = text.lines().map(str::trim_start).find(|l| l.starts_with(name));
            line.and_then(|l| l[name.len()..].split_whitespace().next()).ok_or(PtxError::NoDirective(name))
        };
        let version = directive(".version")?;
        let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
        let number = |s: &str| s.parse().map_err(|_| PtxError::Version(s.to_owned()));
        let target = directive(".target")?.trim_end_matches(',');
        let digits: String = target.chars().filter(char::is_ascii_digit).collect();
        Ok(Self {
            version: (number(major)?, number(minor)?),
            target: digits.parse().map_err(|_| PtxError::Target(target.to_owned()))?,
            entries: text
                .match_indices(".entry ")
                .filter(|(at, _)| !text[..*at].lines().next_back().unwrap_or("").contains("//"))
                .map(|(at, key)| Entry::parse(&text[at + key.len()..]))
                .collect::<Option<_>>()
                .ok_or(PtxError::Header)?,
        })
    }

    /// The oldest CUDA whose drivers know this version of PTX, if it is one that this program knows.
    pub fn needs_cuda(&self) -> Option<Version> {
        let (major, minor) = match self.version {
            (6, minor @ 0..=2) => (9, minor),
            (6, minor @ 3..=5) => (10, minor - 3),
            (7, minor @ 0..=8) => (11, minor),
            (8, minor @ 0..=5) => (12, minor),
            (8, minor @ 6..=8) => (12, minor + 1),
            (9, minor @ 0..=1) => (13, minor),
            _ => return None,
        };
        Some(Version { major, minor })
    }
}

impl Entry {
    /// Reads `name(parameters) directives {`.
    fn parse(text: &str) -> Option<Self> {
        let header: String = text[..text.find('{')?]
            .lines()
            .map(|line| line.split("//").next().unwrap_or(""))
            .collect::<Vec<_>>()
            .join(" ");
        let (name, rest) = header.split_once('(')?;
        let (params, directives) = rest.split_once(')')?;
        let params = params.split(',').map(str::trim).filter(|p| !p.is_empty());
        Some(Self {
            name: name.trim().to_owned(),
            params: params.map(param_bytes).collect::<Option<_>>()?,
            max_block: [".maxntid", ".reqntid"].into_iter().find_map(|d| block_size(directives, d)),
        })
    }
}

/// The places of kernels, functions and variables in the text of a module, which is long, and read once.
#[derive(Debug)]
pub(super) struct Outline {
    /// The whole text, in order: a range of it, and the name of what it is, if it has one.
    items: Vec<(Range<usize>, Option<String>)>,
    /// Names of functions and variables.
    used: HashSet<String>,
}

impl Outline {
    pub(super) fn new(text: &str) -> Self {
        let (mut items, mut used, mut read) = (Vec::new(), HashSet::new(), 0);
        while let Some(item) = find_item(&text[read..]) {
            let Item { range, name, is_used } = item;
            let (begin, end) = (read + range.start, read + range.end);
            items.extend([(read..begin, None), (begin..end, name.map(str::to_owned))]);
            used.extend(name.filter(|_| is_used).map(str::to_owned));
            read = end;
        }
        items.push((read..text.len(), None));
        Self { items, used }
    }

    /// The module `text` with none of its kernels but `name`, and the functions and variables that it uses: the driver takes no
    /// time for the rest.
    pub(super) fn only(&self, text: &str, name: &str) -> String {
        self.edited(text, name, &|_| None)
    }

    /// As [`Outline::only`], but of each kernel and function, `edit` is asked for another body, which may use less.
    pub(super) fn edited(&self, text: &str, name: &str, edit: &dyn Fn(&str) -> Option<String>) -> String {
        let (mut wanted, mut next) = (vec![name], 0);
        let mut kept: BTreeMap<usize, Cow<'_, str>> = BTreeMap::new();
        while let Some(user) = wanted.get(next).copied() {
            next += 1;
            let items = self.items.iter().enumerate();
            for (number, (at, _)) in items.filter(|(_, (_, name))| name.as_deref() == Some(user)) {
                let item = with_body(&text[at.clone()], edit);
                for word in item.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')) {
                    if let Some(word) = self.used.get(word)
                        && !wanted.contains(&word.as_str())
                    {
                        wanted.push(word);
                    }
                }
                kept.insert(number, item);
            }
        }
        let item = |(number, (at, name)): (usize, &(Range<usize>, Option<String>))| match name {
            None => Some(Cow::Borrowed(&text[at.clone()])),
            Some(_) => kept.remove(&number),
        };
        self.items.iter().enumerate().filter_map(item).collect()
    }
}

/// A kernel or a function with the body that `edit` makes of its own, if it does, or whatever else it is.
fn with_body<'a>(item: &'a str, edit: &dyn Fn(&str) -> Option<String>) -> Cow<'a, str> {
    let body = item.find("{\n").zip(item.rfind('}')).filter(|_| !item.starts_with(VARIABLE));
    let edited = body.and_then(|(begin, end)| {
        let body = begin + 2..end;
        Some([&item[..body.start], &edit(&item[body])?, &item[end..]].concat())
    });
    edited.map_or(Cow::Borrowed(item), Cow::Owned)
}

/// What variables of modules begin with.
const VARIABLE: &str = ".global ";

/// A kernel, a function or a variable.
struct Item<'a> {
    range: Range<usize>,
    name: Option<&'a str>,
    /// Whether it is no kernel, and kernels may use it.
    is_used: bool,
}

/// The first kernel, function or variable of a text.
fn find_item(text: &str) -> Option<Item<'_>> {
    let start_of_line = |at: usize| text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let is_code = |at: usize| !text[start_of_line(at)..at].contains("//");
    let begins = |at: usize, word: &str| text[at..].starts_with(word);
    let is_variable = |at: usize| begins(at, VARIABLE) && start_of_line(at) == at;
    let is_keyword =
        |at: usize| (begins(at, ".entry ") || begins(at, ".func ") || is_variable(at)) && is_code(at);
    // One pass over the text for all words: there are hundreds of kernels, and it is long.
    let keyword = text.match_indices('.').map(|(at, _)| at).find(|at| is_keyword(*at))?;
    if is_variable(keyword) {
        let end = keyword + text[keyword..].find(';')? + 1;
        let name = text[keyword..end].split(['[', '=', ';']).next()?.split_whitespace().next_back();
        return Some(Item { range: keyword..end, name, is_used: true });
    }
    let mut depth = 0;
    for (at, mark) in text[keyword..].match_indices(['{', '}', ';']) {
        depth += match mark {
            "{" => 1,
            "}" => -1,
            _ => 0,
        };
        if depth == 0 {
            let (range, name) = (start_of_line(keyword)..keyword + at + 1, item_name(&text[keyword..]));
            return Some(Item { range, name, is_used: begins(keyword, ".func ") });
        }
    }
    None
}

/// The name in `.entry name(…)`, `.func name(…)`, or `.func (what it returns) name(…)`.
fn item_name(text: &str) -> Option<&str> {
    let after = text.split_once(' ')?.1.trim_start();
    let after = match after.strip_prefix('(') {
        Some(returned) => returned.split_once(')')?.1,
        None => after,
    };
    after.split(|c: char| c == '(' || c.is_whitespace()).find(|word| !word.is_empty())
}

/// Bytes of a parameter such as `.param .align 8 .b8 name[48]` or `.param .u64 .ptr .global name`.
fn param_bytes(text: &str) -> Option<usize> {
    let bits = text.split_whitespace().find_map(|word| {
        let digits =
            word.strip_prefix([".b", ".u", ".s", ".f"].into_iter().find(|p| word.starts_with(p))?)?;
        digits.parse::<usize>().ok()
    })?;
    let count = match text.split_once('[') {
        Some((_, rest)) => rest.split_once(']')?.0.trim().parse().ok()?,
        None => 1,
    };
    Some(bits / 8 * count)
}

/// Product of the sizes in `.maxntid 8, 8, 1`.
fn block_size(directives: &str, name: &str) -> Option<u32> {
    let sizes = directives.split_once(name)?.1.split('.').next()?;
    sizes.split(',').map(|n| n.trim().parse::<u32>().ok()).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
//
// Generated by LLVM NVPTX Back-End, with .entry nothing
//
.version 7.8
.target sm_75, debug
.address_size 64
	// .globl	shade
.visible .entry shade(
	.param .align 8 .b8 shade_param_0[48]
)
.maxntid 128, 1, 1
.minnctapersm 4
{
	ret;
}
.visible .entry two(.param .u64 .ptr .global .align 4 a, .param .f32 b) { ret; }
.entry none() // @none
{ ret; }
";

    #[test]
    fn headers() {
        let ptx = Ptx::parse(TEXT).unwrap();
        assert_eq!((ptx.version, ptx.target), ((7, 8), 75));
        let entry = |name: &str, params: &[usize], max_block| Entry {
            name: name.to_owned(),
            params: params.to_owned(),
            max_block,
        };
        let expected =
            [entry("shade", &[48], Some(128)), entry("two", &[8, 4], None), entry("none", &[], None)];
        assert_eq!(ptx.entries, expected);
    }

    #[test]
    fn stamps_are_at_the_head() {
        let text = "// first: a b\n// second: c\n.version 7.8\n// third: d\n";
        assert_eq!(["first", "second", "third"].map(|key| stamp(text, key)), [Some("a b"), Some("c"), None]);
    }

    #[test]
    fn kernels_come_with_what_they_call() {
        let text = ".version 7.0\n.target sm_75\n// .globl a\n.func (.param .b32 r) used\n(\n.param .b32 p\n)\n;\n.func unused\n()\n{ ret; }\n\
                    .func (.param .b32 r) used\n(\n.param .b32 p\n)\n{ call inner, (x); }\n.func inner() { { ret; } }\n\
                    .visible .entry a() { call (r), used, (p); }\n.visible .entry b() { ret; }\n";
        let a = Outline::new(text).only(text, "a");
        assert_eq!(a.matches(" used\n").count(), 2, "declared and defined");
        assert!(a.contains(".func inner()") && !a.contains("unused") && !a.contains("entry b"));
        let b = Outline::new(text).only(text, "b");
        assert!(!b.contains(".func") && b.contains("entry b() { ret; }") && b.starts_with(".version"));
    }

    #[test]
    fn kernels_come_alone() {
        let whole = Ptx::parse(TEXT).unwrap();
        for entry in &whole.entries {
            let alone = Ptx::parse(&Outline::new(TEXT).only(TEXT, &entry.name)).unwrap();
            assert_eq!((alone.version, alone.target), (whole.version, whole.target));
            assert_eq!(alone.entries, std::slice::from_ref(entry));
        }
        assert!(Outline::new(TEXT).only(TEXT, "shade").contains(".minnctapersm 4\n{\n\tret;\n}"));
        assert_eq!(Ptx::parse(&Outline::new(TEXT).only(TEXT, "other")).unwrap().entries, []);
    }

    #[test]
    fn what_is_not_ptx_is_said() {
        assert_eq!(Ptx::parse(""), Err(PtxError::NoDirective(".version")));
        assert_eq!(Ptx::parse(".version 7.8"), Err(PtxError::NoDirective(".target")));
        assert_eq!(Ptx::parse(".version x\n.target sm_75"), Err(PtxError::Version("x".into())));
        assert!(Ptx::parse(".version 7.8\n.target sm_75\n.entry half(").is_err());
    }

    #[test]
    fn versions_of_ptx_and_cuda() {
        let needs =
            |version| Ptx { version, target: 75, entries: Vec::new() }.needs_cuda().map(|v| v.to_string());
        assert_eq!(needs((6, 3)).as_deref(), Some("10.0"));
        assert_eq!(needs((7, 4)).as_deref(), Some("11.4"));
        assert_eq!(needs((8, 5)).as_deref(), Some("12.5"));
        assert_eq!(needs((8, 7)).as_deref(), Some("12.8"));
        assert_eq!(needs((9, 0)).as_deref(), Some("13.0"));
        assert_eq!(needs((42, 0)), None);
    }
}
