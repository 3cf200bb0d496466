//! PTX modules, and the kernels that the driver has compiled of them.

use std::cell::OnceCell;
use std::ffi::{CString, c_uint, c_void};
use std::io::Read;
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime};

use cust::sys::{CUfunction, CUjit_option, CUmodule};
use device::features::Features;
use flate2::read::GzDecoder;

use super::code::{self, Code};
use super::driver::{Version, call};
use super::gpu::DeviceInfo;
use super::ptx::{Outline, Ptx, PtxError};
use super::spills::Spills;

/// Bytes that the driver may write to a log.
const LOG_BYTES: usize = 16 << 10;

/// Kernels that are kept for sets of features: for all families of materials that a scene may have, 256, and for its other
/// stages. Those of a scene are launched in turns, so that fewer would be compiled again and again.
const MOST_SPECIALIZED: usize = 320;

/// The kernels of the stages, as `cargo ptx` built them.
pub fn ptx() -> &'static str {
    static PTX: LazyLock<String> = LazyLock::new(|| unpacked(::ptx::KERNELS));
    &PTX
}

/// The kernels of the primitives, as `cargo ptx` built them.
pub fn primitives_ptx() -> &'static str {
    static PTX: LazyLock<String> = LazyLock::new(|| unpacked(::ptx::PRIMITIVES));
    &PTX
}

/// The text of a PTX file as it is in the repository; empty if it is no such file.
pub fn unpacked(packed: &[u8]) -> String {
    let mut ptx = String::new();
    let read = GzDecoder::new(packed).read_to_string(&mut ptx);
    read.map_or_else(|_| String::new(), |_| ptx)
}

/// Constants in kernels in place of which the features of scenes are written, and what kernels with them depend on: see
/// `features_of_the_scene` and `drawing_of_the_scene` in `device/src/arch/nvptx.rs`.
const CONSTANTS: [(&str, Features); 2] = [
    ("0xffffffff; // features of the scene", Features::ALL.without(Features::OF_ANY_KERNEL)),
    ("0xffffffff; // drawing of the scene", Features::OF_ANY_KERNEL),
];

/// The features that `text` depends on.
fn depends_on(text: &str) -> Features {
    let of = |(constant, features): &(&str, Features)| features.when(text.contains(constant));
    CONSTANTS.iter().map(of).fold(Features::NONE, Features::and)
}

/// `text` for scenes that ask for no other `features`.
fn specialized(text: &str, features: Features) -> String {
    CONSTANTS.iter().zip(features.words()).fold(text.to_owned(), |text, ((any, _), word)| {
        text.replace(any, &any.replace("0xffffffff", &format!("{word:#010x}")))
    })
}

/// `text` of one kernel for scenes that ask for no other `features`, without what none of them comes to.
fn special(text: &str, name: &str, features: Features) -> String {
    if depends_on(text) == Features::NONE {
        return text.to_owned();
    }
    let text = specialized(text, features);
    let pruned = Outline::new(&text).pruned(&text);
    Outline::new(&pruned).only(&pruned, name)
}

/// Reason why kernels cannot be loaded, or one of them cannot be launched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ModuleError {
    #[error(transparent)]
    Ptx(#[from] PtxError),
    #[error(
        "{name} has compute capability {}.{}, the kernels need {}.{} or newer",
        .capability.0, .capability.1, .target / 10, .target % 10
    )]
    OldGpu { name: String, capability: (u32, u32), target: u32 },
    #[error("the kernels contain a zero byte")]
    ZeroByte,
    #[error("its name contains a zero byte")]
    ZeroByteInName,
    #[error("it is not among the kernels: `cargo ptx` builds them anew")]
    NoSuchKernel,
    #[error("it takes {0} arguments instead of one struct")]
    ArgumentCount(usize),
    /// The driver's reason.
    #[error("{0}")]
    Driver(String),
}

impl ModuleError {
    pub(super) fn driver(code: Code) -> Self {
        Self::Driver(code::describe(code))
    }
}

/// How much of a PTX module the driver compiles at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compile {
    /// The whole module when it is loaded.
    Whole,
    /// Each kernel when it is wanted. They share no memory then.
    EachKernel,
}

/// A PTX module for one GPU, and the kernels that the driver has compiled of it.
#[derive(Debug)]
pub(super) struct Module {
    text: String,
    /// Outline of the text, once a kernel alone has been wanted.
    outline: OnceCell<Outline>,
    pub(super) ptx: Ptx,
    driver: Version,
    /// How long the driver took so far, its cache of earlier results included.
    pub(super) jit_time: Duration,
    /// All kernels in one, with [`Compile::Whole`].
    whole: Option<Piece>,
    /// All features that scenes ask for.
    pub(super) features: Features,
    kernels: Vec<CompiledKernel>,
    /// Counts uses of kernels.
    uses: u64,
    /// Whether the compiler is asked for a log of resources.
    verbose: bool,
    /// Whether to pass by the driver's cache.
    anew: bool,
}

/// A kernel that has been compiled.
#[derive(Debug)]
struct CompiledKernel {
    name: String,
    /// Features that it depends on.
    depends_on: Features,
    /// For which of those.
    features: Features,
    kernel: Kernel,
    /// Registers that the compiler reported as spilled.
    spills: Option<Spills>,
    /// When it was last wanted, by [`Module::uses`].
    last_use: u64,
    /// The module of the driver that it is in; `None` if that is [`Module::whole`].
    _piece: Option<Piece>,
}

/// A module of the driver, unloaded on drop.
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
    pub(super) fn load(text: &str, gpu: &DeviceInfo, compile: Compile) -> Result<Self, ModuleError> {
        let ptx = Ptx::parse(text)?;
        gpu.check(&ptx)?;
        let mut module = Self {
            text: text.to_owned(),
            outline: OnceCell::new(),
            ptx,
            driver: gpu.driver,
            jit_time: Duration::ZERO,
            whole: None,
            features: Features::ALL,
            kernels: Vec::new(),
            uses: 0,
            verbose: false,
            anew: false,
        };
        if compile == Compile::Whole {
            module.whole = Some(module.compile(text)?.0);
        }
        Ok(module)
    }

    /// Has the driver compile `text`, in the current context. Also returns its log, which is empty unless it is wanted.
    fn compile(&mut self, text: &str) -> Result<(Piece, String), ModuleError> {
        // The driver looks in its cache for the same text.
        let mark = if self.anew { format!("// {:?}\n", SystemTime::now()) } else { String::new() };
        let image = CString::new(mark + text).map_err(|_| ModuleError::ZeroByte)?;
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
        if code == code::SUCCESS {
            return Ok((Piece(raw), text_of(&remarks)));
        }
        Err(ModuleError::Driver(rejection(code, &self.ptx, self.driver, text_of(&errors).trim())))
    }

    /// The kernel called `name`, and its spills if the compiler reports them. It reports nothing of kernels that the driver
    /// has in its cache; with `anew`, the kernel is compiled though it is there.
    pub(super) fn described(
        &mut self,
        name: &str,
        anew: bool,
    ) -> Result<(Kernel, Option<Spills>), ModuleError> {
        self.unload(|l| l.name == name);
        self.verbose = true;
        self.anew = anew;
        let kernel = self.kernel(name);
        self.anew = false;
        let spills = self.kernels.last().and_then(|l| l.spills);
        Ok((kernel?, spills))
    }

    /// The kernel called `name`.
    pub(super) fn kernel(&mut self, name: &str) -> Result<Kernel, ModuleError> {
        let features = self.features;
        self.uses += 1;
        let is_it = |l: &&mut CompiledKernel| l.name == name && l.features == features.common(l.depends_on);
        if let Some(loaded) = self.kernels.iter_mut().find(is_it) {
            loaded.last_use = self.uses;
            return Ok(loaded.kernel);
        }
        let Some(entry) = self.ptx.entries.iter().find(|e| e.name == name) else {
            return Err(ModuleError::NoSuchKernel);
        };
        let [arg_bytes] = entry.params[..] else {
            return Err(ModuleError::ArgumentCount(entry.params.len()));
        };
        let (module, piece, log, depends_on) = match &self.whole {
            Some(Piece(whole)) => (*whole, None, String::new(), Features::NONE),
            None => {
                let outline = self.outline.get_or_init(|| Outline::new(&self.text));
                let any = outline.only(&self.text, name);
                let depends_on = depends_on(&any);
                let (piece, log) = self.compile(&special(&any, name, features))?;
                (piece.0, Some(piece), log, depends_on)
            }
        };
        let kernel = Kernel { function: function(module, name)?, arg_bytes };
        if depends_on != Features::NONE {
            self.make_room();
        }
        let spills = Spills::read(&log, name);
        let last_use = self.uses;
        self.kernels.push(CompiledKernel {
            name: name.to_owned(),
            depends_on,
            features: features.common(depends_on),
            kernel,
            spills,
            last_use,
            _piece: piece,
        });
        Ok(kernel)
    }

    /// Unloads the kernel for a set of features that has not been wanted for the longest time, if there are many.
    fn make_room(&mut self) {
        let special = || self.kernels.iter().filter(|l| l.depends_on != Features::NONE);
        if special().count() >= MOST_SPECIALIZED
            && let Some(oldest) = special().map(|l| l.last_use).min()
        {
            self.unload(|l| l.last_use == oldest);
        }
    }

    /// Unloads kernels, once none of them runs any more.
    fn unload(&mut self, which: impl Fn(&CompiledKernel) -> bool) {
        if !self.kernels.iter().any(&which) {
            return;
        }
        // SAFETY: the function takes nothing. An error of a kernel is reported by whoever waits for that kernel.
        unsafe { call::cuCtxSynchronize() };
        self.kernels.retain(|l| !which(l));
    }
}

/// The function called `name` of a module that is loaded in the current context.
fn function(module: CUmodule, name: &str) -> Result<CUfunction, ModuleError> {
    let name = CString::new(name).map_err(|_| ModuleError::ZeroByteInName)?;
    let mut function = std::ptr::null_mut();
    // SAFETY: the module is loaded, the name ends in a zero byte, and both pointers outlive the call.
    code::check(unsafe { call::cuModuleGetFunction(&raw mut function, module, name.as_ptr()) })
        .map_err(ModuleError::driver)?;
    Ok(function)
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

/// The text that the driver wrote to a log.
fn text_of(log: &[u8]) -> String {
    String::from_utf8_lossy(log.split(|b| *b == 0).next().unwrap_or(&[])).into_owned()
}

/// Says why the driver rejected the kernels.
fn rejection(code: Code, ptx: &Ptx, driver: Version, log: &str) -> String {
    let mut reason = code::describe(code);
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
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn kernels_are_specialized_where_they_see_features() {
        let outline = Outline::new(ptx());
        for (name, expected) in [
            ("megakernel", Features::ALL),
            ("first_hit", Features::ALL),
            ("megakernel_basic", Features::OF_ANY_KERNEL),
            ("compact", Features::NONE),
        ] {
            let text = outline.only(ptx(), name);
            assert_eq!(depends_on(&text), expected, "{name}");
            let [all, some] =
                [Features::ALL, Features::TEXTURES].map(|features| specialized(&text, features));
            assert_eq!(all, text);
            assert_eq!(some != all, expected != Features::NONE, "{name}");
            assert_eq!(some.contains("0x80000000; // features"), expected == Features::ALL, "{name}");
            assert!(!some.contains("0xffffffff; // features") && !some.contains("0xffffffff; // drawing"));
        }
    }

    /// The labels that a text has, and those that it speaks of elsewhere.
    fn labels(text: &str) -> (HashSet<&str>, HashSet<&str>) {
        let place = |line: &str| line.starts_with('$') && line.contains(':');
        let (places, other): (Vec<_>, Vec<_>) = text.lines().partition(|line| place(line));
        let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$');
        let used = other.into_iter().flat_map(|line| line.split(word)).filter(|word| word.starts_with("$L"));
        (places.into_iter().filter_map(|place| place.split(':').next()).collect(), used.collect())
    }

    #[test]
    fn what_scenes_do_not_have_is_not_compiled_for_them() {
        let outline = Outline::new(ptx());
        let some = Features::TEXTURES.and(Features::DELTA);
        for name in ["megakernel", "shade", "first_hit", "light_groups", "megakernel_guided"] {
            let any = outline.only(ptx(), name);
            let [all, some, none] =
                [Features::ALL, some, Features::NONE].map(|features| special(&any, name, features));
            assert!(
                none.len() * 4 < any.len() && none.len() < some.len() && some.len() < all.len(),
                "{name}"
            );
            for text in [all, some, none] {
                assert_eq!(text.matches(".entry ").count(), 1, "{name}");
                assert_eq!(text.matches('{').count(), text.matches('}').count(), "{name}");
                let (places, used) = labels(&text);
                assert!(
                    used.iter().all(|label| places.contains(label)),
                    "{name}: {:?}",
                    used.difference(&places)
                );
                let called =
                    text.lines().filter_map(|line| line.strip_prefix("call.uni ")?.rsplit_once(", ("));
                for (called, _) in called {
                    let function = called.rsplit(' ').next().unwrap_or(called);
                    assert!(text.matches(function).count() > 2, "{name}: {function} is not defined");
                }
            }
        }
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
