//! The program's kernels as text, and what of it a scene needs.

use std::borrow::Cow;
use std::io::Read;
use std::sync::{Arc, LazyLock, OnceLock};
use std::thread;

use device::features::Features;
use flate2::read::GzDecoder;

use super::prune;
use super::ptx::{Outline, Ptx, PtxError};

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

/// The text of a module, and what was read of it.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) text: Cow<'static, str>,
    pub(super) ptx: Ptx,
    /// Outline of the text, once a kernel alone has been wanted.
    outline: OnceLock<Outline>,
}

impl Source {
    pub(super) fn new(text: Cow<'static, str>) -> Result<Self, PtxError> {
        Ok(Self { ptx: Ptx::parse(&text)?, text, outline: OnceLock::new() })
    }

    /// The kernels of the stages.
    pub(super) fn of_stages() -> Result<Arc<Self>, PtxError> {
        static SOURCE: LazyLock<Result<Arc<Source>, PtxError>> =
            LazyLock::new(|| Source::new(ptx().into()).map(Arc::new));
        SOURCE.clone()
    }

    /// The kernels of the primitives.
    pub(super) fn of_primitives() -> Result<Arc<Self>, PtxError> {
        static SOURCE: LazyLock<Result<Arc<Source>, PtxError>> =
            LazyLock::new(|| Source::new(primitives_ptx().into()).map(Arc::new));
        SOURCE.clone()
    }

    fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| Outline::new(&self.text))
    }

    /// The features that a kernel depends on.
    pub(super) fn depends_on(&self, name: &str) -> Features {
        depends_on(&self.outline().only(&self.text, name))
    }

    /// A kernel for scenes that ask for no other `features`, without what none of them comes to.
    pub(super) fn special(&self, name: &str, features: Features) -> String {
        let edit = |body: &str| {
            (depends_on(body) != Features::NONE).then(|| prune::pruned(&specialized(body, features)))
        };
        self.outline().edited(&self.text, name, &edit)
    }
}

/// The text of a stage's kernel for scenes that ask for no other `features`, or of a primitive's, as the driver gets it; `None` if there
/// is no such kernel.
pub fn kernel_text(name: &str, features: Features) -> Option<String> {
    [Source::of_stages, Source::of_primitives].into_iter().find_map(|source| {
        let source = source().ok()?;
        let is_there = source.ptx.entries.iter().any(|entry| entry.name == name);
        is_there.then(|| source.special(name, features))
    })
}

/// Names of the primitives' kernels.
pub fn primitive_names() -> impl Iterator<Item = &'static str> {
    primitives::KERNELS.iter().map(|kernel| kernel.stage)
}

/// Begins to unpack and to read the program's kernels on other threads, while the driver starts.
pub(super) fn read_ahead() {
    for source in [Source::of_stages, Source::of_primitives] {
        // Where no thread can be had, that is done when it is wanted.
        let _ = thread::Builder::new().spawn(move || {
            if let Ok(source) = source() {
                source.outline();
            }
        });
    }
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
        let (source, outline) = (Source::of_stages().unwrap(), Outline::new(ptx()));
        let some = Features::TEXTURES.and(Features::DELTA);
        for name in ["megakernel", "shade", "first_hit", "light_groups", "megakernel_guided"] {
            let any = outline.only(ptx(), name);
            let [all, some, none] =
                [Features::ALL, some, Features::NONE].map(|features| source.special(name, features));
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
}
