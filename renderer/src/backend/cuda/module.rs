//! The kernels: PTX, what it says of itself, and what the driver makes of it.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ffi::{CString, c_char, c_uint, c_void};
use std::io::Read;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use cust::sys::{CUfunction, CUjit_option, CUmodule};
use device::bsdf::Features;
use flate2::read::GzDecoder;

use super::driver::{Version, call};
use super::gpu::DeviceInfo;
use super::spills::Spills;
use super::words;

/// Bytes that the driver may write to a log.
const LOG_BYTES: usize = 16 << 10;

macro_rules! embedded {
    ($($(#[$doc:meta])* $name:ident = $file:literal;)*) => { $(
        $(#[$doc])*
        pub fn $name() -> &'static str {
            const PACKED: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../device/", $file));
            static PTX: OnceLock<String> = OnceLock::new();
            PTX.get_or_init(|| unpacked(PACKED))
        }
    )* };
}
embedded! {
    /// The kernels of the stages, as `cargo ptx` built them.
    ptx = "kernels.ptx.gz";
    /// The kernels of the primitives, as `cargo ptx` built them.
    primitives_ptx = "primitives.ptx.gz";
}

/// The text of a PTX file as it is in the repository. What is no such file is no text.
pub fn unpacked(packed: &[u8]) -> String {
    let mut ptx = String::new();
    match GzDecoder::new(packed).read_to_string(&mut ptx) {
        Ok(_) => ptx,
        Err(_) => String::new(),
    }
}

/// What the text of a PTX module says of it. Reading it needs no GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ptx {
    /// Version of the PTX language: major, minor.
    pub version: (u32, u32),
    /// Compute capability that it was compiled for, e.g. 75.
    pub target: u32,
    /// Its kernels, in their order.
    pub entries: Vec<Entry>,
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
    /// What is not as in PTX.
    pub fn parse(text: &str) -> Result<Self, String> {
        let directive = |name: &str| {
            let line = text.lines().map(str::trim_start).find(|l| l.starts_with(name));
            line.and_then(|l| l[name.len()..].split_whitespace().next())
                .ok_or_else(|| format!("the kernels are not PTX: there is no line {name}"))
        };
        let version = directive(".version")?;
        let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
        let number = |s: &str| s.parse().map_err(|_| format!("{s:?} is not a version of PTX"));
        let target = directive(".target")?.trim_end_matches(',');
        let digits: String = target.chars().filter(char::is_ascii_digit).collect();
        Ok(Self {
            version: (number(major)?, number(minor)?),
            target: digits.parse().map_err(|_| format!("{target:?} is not a target of PTX"))?,
            entries: text
                .match_indices(".entry ")
                .filter(|(at, _)| !text[..*at].lines().next_back().unwrap_or("").contains("//"))
                .map(|(at, key)| Entry::parse(&text[at + key.len()..]))
                .collect::<Option<_>>()
                .ok_or("a kernel's header cannot be read")?,
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

/// Where the kernels and functions of a module are in its text, which is long, and read once.
#[derive(Debug)]
struct Outline {
    /// All of the text, in its order: where, and the name of a kernel or a function.
    items: Vec<(Range<usize>, Option<String>)>,
    functions: HashSet<String>,
}

impl Outline {
    fn of(text: &str) -> Self {
        let (mut items, mut functions, mut read) = (Vec::new(), HashSet::new(), 0);
        for item in self::items(text) {
            let name = item.name.map(str::to_owned);
            if item.is_function {
                functions.extend(name.clone());
            }
            items.push((read..read + item.text.len(), name));
            read += item.text.len();
        }
        Self { items, functions }
    }

    /// The module `text` with none of its kernels but `name`, and the functions that it calls. What it does not have to
    /// compile, the driver does not take time for.
    fn only(&self, text: &str, name: &str) -> String {
        let (mut wanted, mut next) = (vec![name], 0);
        while let Some(caller) = wanted.get(next).copied() {
            next += 1;
            for (body, _) in self.items.iter().filter(|(_, name)| name.as_deref() == Some(caller)) {
                let words =
                    text[body.clone()].split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
                for word in words {
                    if self.functions.contains(word) && !wanted.contains(&word) {
                        wanted.push(word);
                    }
                }
            }
        }
        let is_wanted = |name: &Option<String>| name.as_deref().is_none_or(|name| wanted.contains(&name));
        let kept = self.items.iter().filter(|(_, name)| is_wanted(name));
        kept.map(|(at, _)| &text[at.clone()]).collect()
    }
}

/// `text` for scenes that ask for no other `features`: see `features_of_the_scene` in `device/src/arch/nvptx.rs`.
fn specialized(text: &str, features: Features) -> String {
    const ANY: &str = "0xffffffff; // features of the scene";
    text.replace(ANY, &ANY.replace("0xffffffff", &format!("{:#010x}", features.bits())))
}

/// A kernel, a function, or the text between two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Item<'a> {
    text: &'a str,
    /// The name of a kernel or a function.
    name: Option<&'a str>,
    is_function: bool,
}

/// What a module is made of, in its order.
fn items(text: &str) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut rest = text;
    while let Some((before, item, after)) = split_item(rest) {
        items.push(Item { text: before, name: None, is_function: false });
        items.push(item);
        rest = after;
    }
    items.push(Item { text: rest, name: None, is_function: false });
    items
}

/// What stands before the first kernel or function, that, and what follows it.
fn split_item(text: &str) -> Option<(&str, Item<'_>, &str)> {
    let is_code = |at: usize| !text[..at].rsplit('\n').next().unwrap_or("").contains("//");
    let begins = |at: usize, word: &str| text[at..].starts_with(word);
    let is_keyword = |at: usize| (begins(at, ".entry ") || begins(at, ".func ")) && is_code(at);
    // One pass over the text for both words: there are hundreds of kernels, and it is long.
    let keyword = text.match_indices('.').map(|(at, _)| at).find(|at| is_keyword(*at))?;
    let is_function = begins(keyword, ".func ");
    let start = text[..keyword].rfind('\n').map_or(0, |newline| newline + 1);
    let mut depth = 0;
    for (at, mark) in text[keyword..].match_indices(['{', '}', ';']) {
        depth += match mark {
            "{" => 1,
            "}" => -1,
            _ => 0,
        };
        if depth == 0 {
            let end = keyword + at + 1;
            let item = Item { text: &text[start..end], name: item_name(&text[keyword..end]), is_function };
            return Some((&text[..start], item, &text[end..]));
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

/// How much of a PTX module the driver compiles at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compile {
    /// All of it when it is loaded.
    Whole,
    /// Each kernel when it is wanted. They share no memory then.
    EachKernel,
}

/// A PTX module for one GPU, and what the driver has compiled of it.
#[derive(Debug)]
pub(super) struct Module {
    text: String,
    /// Of the text, once a kernel alone has been wanted.
    outline: OnceCell<Outline>,
    pub(super) ptx: Ptx,
    driver: Version,
    compile: Compile,
    /// How long the driver took so far, its cache of earlier results included.
    pub(super) jit_time: Duration,
    pieces: Vec<Piece>,
    /// What scenes ask for, and no more.
    pub(super) features: Features,
    kernels: Vec<Loaded>,
    /// Whether the compiler is asked to say what it made of kernels.
    verbose: bool,
    /// Whether to pass by the driver's cache.
    anew: bool,
}

/// A kernel that has been compiled.
#[derive(Debug)]
struct Loaded {
    name: String,
    /// For which features; `None` if it does not depend on them.
    features: Option<Features>,
    kernel: Kernel,
    /// What the compiler said that it spilled.
    spills: Option<Spills>,
}

/// A module of the driver.
#[derive(Debug)]
struct Piece(CUmodule);

/// A kernel that can be launched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel {
    pub(super) function: CUfunction,
    /// Bytes of its one argument.
    pub(super) arg_bytes: usize,
}

impl Module {
    /// Loads `text` into the current context, which must be the one of the GPU that `gpu` describes.
    pub(super) fn load(text: &str, gpu: &DeviceInfo, compile: Compile) -> Result<Self, String> {
        let ptx = Ptx::parse(text)?;
        let (major, minor) = gpu.capability;
        if major * 10 + minor < ptx.target {
            return Err(format!(
                "{} has compute capability {major}.{minor}, the kernels need {}.{} or newer",
                gpu.name,
                ptx.target / 10,
                ptx.target % 10
            ));
        }
        let mut module = Self {
            text: text.to_owned(),
            outline: OnceCell::new(),
            ptx,
            driver: gpu.driver,
            compile,
            jit_time: Duration::ZERO,
            pieces: Vec::new(),
            features: Features::ALL,
            kernels: Vec::new(),
            verbose: false,
            anew: false,
        };
        if compile == Compile::Whole {
            module.compile(text)?;
        }
        Ok(module)
    }

    /// Has the driver compile `text`, in the current context. Also gives what it says, if that is wanted.
    fn compile(&mut self, text: &str) -> Result<(CUmodule, String), String> {
        // The driver looks in its cache for the same text.
        let mark = if self.anew { format!("// {:?}\n", SystemTime::now()) } else { String::new() };
        let image = CString::new(mark + text).map_err(|_| "the kernels contain a zero byte".to_owned())?;
        let [mut errors, mut remarks] = [vec![0_u8; LOG_BYTES], vec![0_u8; LOG_BYTES]];
        // Numbers are passed in the pointers themselves here, alone in the whole interface.
        let number = std::ptr::without_provenance_mut::<c_void>;
        let mut options = vec![
            (CUjit_option::CU_JIT_ERROR_LOG_BUFFER, errors.as_mut_ptr().cast()),
            (CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, number(LOG_BYTES)),
        ];
        if self.verbose {
            options.extend([
                (CUjit_option::CU_JIT_INFO_LOG_BUFFER, remarks.as_mut_ptr().cast()),
                (CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, number(LOG_BYTES)),
                (CUjit_option::CU_JIT_LOG_VERBOSE, number(1)),
            ]);
        }
        let (mut names, mut values): (Vec<_>, Vec<_>) = options.into_iter().unzip();
        let mut raw = std::ptr::null_mut();
        let start = Instant::now();
        // SAFETY: the image ends in a zero byte; there are as many values as names, and the logs are as long as said.
        // All of them outlive the call.
        let code = unsafe {
            call::cuModuleLoadDataEx(
                &raw mut raw,
                image.as_ptr().cast(),
                names.len() as c_uint,
                names.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        self.jit_time += start.elapsed();
        if code == words::SUCCESS {
            self.pieces.push(Piece(raw));
            return Ok((raw, text_of(&remarks)));
        }
        Err(rejection(code, &self.ptx, self.driver, text_of(&errors).trim()))
    }

    /// The kernel called `name`, and what the compiler spilled, if it says. It says nothing of what the driver has in its
    /// cache; with `anew`, the kernel is compiled though it is there.
    pub(super) fn described(&mut self, name: &str, anew: bool) -> Result<(Kernel, Option<Spills>), String> {
        self.kernels.retain(|l| l.name != name);
        self.verbose = true;
        self.anew = anew;
        let kernel = self.kernel(name);
        self.anew = false;
        let spills = self.kernels.last().and_then(|l| l.spills);
        Ok((kernel?, spills))
    }

    /// The kernel called `name`.
    pub(super) fn kernel(&mut self, name: &str) -> Result<Kernel, String> {
        let features = self.features;
        let is_it = |l: &&Loaded| l.name == name && l.features.is_none_or(|of| of == features);
        if let Some(loaded) = self.kernels.iter().find(is_it) {
            return Ok(loaded.kernel);
        }
        let Some(entry) = self.ptx.entries.iter().find(|e| e.name == name) else {
            return Err("it is not among the kernels: `cargo ptx` builds them anew".to_owned());
        };
        let [arg_bytes] = entry.params[..] else {
            return Err(format!("it takes {} arguments instead of one struct", entry.params.len()));
        };
        let ((raw, log), features) = match (self.compile, self.pieces.first()) {
            (Compile::Whole, Some(whole)) => ((whole.0, String::new()), None),
            _ => {
                let outline = self.outline.get_or_init(|| Outline::of(&self.text));
                let any = outline.only(&self.text, name);
                let special = specialized(&any, features);
                (self.compile(&special)?, (special != any).then_some(features))
            }
        };
        let c_name = CString::new(name).map_err(|_| "its name contains a zero byte".to_owned())?;
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is loaded, the name ends in a zero byte, and both pointers outlive the call.
        let code =
            unsafe { call::cuModuleGetFunction(&raw mut function, raw, c_name.as_ptr() as *const c_char) };
        if code != words::SUCCESS {
            return Err(words::of(code));
        }
        let kernel = Kernel { function, arg_bytes };
        let spills = Spills::read(&log, name);
        self.kernels.push(Loaded { name: name.to_owned(), features, kernel, spills });
        Ok(kernel)
    }
}

// SAFETY: the driver's handles may be used from every thread whose current context is theirs, and the fields
// are reached through `&mut` alone.
unsafe impl Send for Module {}

impl Drop for Piece {
    fn drop(&mut self) {
        // SAFETY: loaded by `compile`, unloaded once. Should the wrong context be current, or the right one be
        // lost, the call returns an error and does nothing.
        unsafe { call::cuModuleUnload(self.0) };
    }
}

/// What the driver wrote to a log.
fn text_of(log: &[u8]) -> String {
    String::from_utf8_lossy(log.split(|b| *b == 0).next().unwrap_or(&[])).into_owned()
}

/// Why the driver did not take the kernels.
fn rejection(code: i32, ptx: &Ptx, driver: Version, log: &str) -> String {
    let mut reason = words::of(code);
    if let Some(needed) = ptx.needs_cuda().filter(|needed| *needed > driver) {
        let (major, minor) = ptx.version;
        reason = format!(
            "the NVIDIA driver is too old for the kernels: they are written in PTX {major}.{minor}, which \
             needs CUDA {needed}, and it supports CUDA {driver}"
        );
    }
    if !log.is_empty() {
        reason = format!("{reason}\n{log}");
    }
    reason
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
    fn kernels_come_with_what_they_call() {
        let text = ".version 7.0\n.target sm_75\n// .globl a\n.func (.param .b32 r) used\n(\n.param .b32 p\n)\n;\n.func unused\n()\n{ ret; }\n\
                    .func (.param .b32 r) used\n(\n.param .b32 p\n)\n{ call inner, (x); }\n.func inner() { { ret; } }\n\
                    .visible .entry a() { call (r), used, (p); }\n.visible .entry b() { ret; }\n";
        let a = Outline::of(text).only(text, "a");
        assert_eq!(a.matches(" used\n").count(), 2, "declared and defined");
        assert!(a.contains(".func inner()") && !a.contains("unused") && !a.contains("entry b"));
        let b = Outline::of(text).only(text, "b");
        assert!(!b.contains(".func") && b.contains("entry b() { ret; }") && b.starts_with(".version"));
    }

    #[test]
    fn kernels_come_alone() {
        let whole = Ptx::parse(TEXT).unwrap();
        for entry in &whole.entries {
            let alone = Ptx::parse(&Outline::of(TEXT).only(TEXT, &entry.name)).unwrap();
            assert_eq!((alone.version, alone.target), (whole.version, whole.target));
            assert_eq!(alone.entries, std::slice::from_ref(entry));
        }
        assert!(Outline::of(TEXT).only(TEXT, "shade").contains(".minnctapersm 4\n{\n\tret;\n}"));
        assert_eq!(Ptx::parse(&Outline::of(TEXT).only(TEXT, "other")).unwrap().entries, []);
    }

    #[test]
    fn kernels_are_specialized_where_they_see_features() {
        let outline = Outline::of(ptx());
        let of = |name, features| specialized(&outline.only(ptx(), name), features);
        for (name, sees) in [("megakernel", true), ("first_hit", true), ("megakernel_basic", false)] {
            let [all, some] = [Features::ALL, Features::TEXTURES].map(|features| of(name, features));
            assert_eq!(all, outline.only(ptx(), name));
            assert_eq!(some != all, sees, "{name}");
            assert_eq!(some.contains("0x80000000; // features"), sees, "{name}");
            assert!(!some.contains("0xffffffff; // features"));
        }
    }

    #[test]
    fn what_is_not_ptx_is_said() {
        assert!(Ptx::parse("").unwrap_err().contains(".version"));
        assert!(Ptx::parse(".version 7.8").unwrap_err().contains(".target"));
        assert!(Ptx::parse(".version x\n.target sm_75").unwrap_err().contains("\"x\""));
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

    #[test]
    fn a_driver_that_is_too_old_is_named() {
        let ptx = Ptx { version: (8, 7), target: 75, entries: Vec::new() };
        let old = rejection(222, &ptx, Version { major: 12, minor: 2 }, "");
        assert!(old.contains("PTX 8.7") && old.contains("CUDA 12.8") && old.contains("CUDA 12.2"), "{old}");
        let new = rejection(218, &ptx, Version { major: 13, minor: 0 }, "ptxas: line 3: oops");
        assert!(!new.contains("too old") && new.contains("rejected") && new.ends_with("oops"), "{new}");
    }
}
