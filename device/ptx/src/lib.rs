//! The kernels that `cargo ptx` compiles for GPUs.
//!
//! **In** goes `modules/`, text that git stores well (see the crate `ptx-text`); **out** come whole modules of PTX,
//! compressed by gzip. Each begins with comments that say by what it was built, and a hash of its sources. A program carries
//! those that it names, and no others.
//!
//! ```
//! use std::io::Read;
//!
//! let mut text = String::new();
//! flate2::read::GzDecoder::new(ptx::KERNELS).read_to_string(&mut text)?;
//! assert!(text.contains(".visible .entry megakernel("));
//! # Ok::<(), std::io::Error>(())
//! ```

macro_rules! modules {
    ($($(#[$doc:meta])* $name:ident = $file:literal;)*) => { $(
        $(#[$doc])*
        pub static $name: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".ptx.gz"));
    )* };
}
modules! {
    /// The stages of a renderer.
    KERNELS = "kernels";
    /// The primitives: scan, sort and their like.
    PRIMITIVES = "primitives";
    /// The examples' kernels.
    EXAMPLES = "examples";
    /// Kernels that only tests launch.
    SELFTEST = "selftest";
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::path::Path;

    use flate2::read::GzDecoder;

    #[test]
    fn what_is_embedded_is_what_the_files_say() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("modules");
        let named = [
            ("examples", super::EXAMPLES),
            ("kernels", super::KERNELS),
            ("primitives", super::PRIMITIVES),
            ("selftest", super::SELFTEST),
        ];
        let heads = ptx_text::heads(&folder).unwrap();
        assert_eq!(heads, named.map(|(name, _)| folder.join(name).with_extension(ptx_text::EXTENSION)));
        for (head, (name, packed)) in heads.iter().zip(named) {
            let mut text = String::new();
            GzDecoder::new(packed).read_to_string(&mut text).unwrap();
            assert!(text == ptx_text::read(head).unwrap(), "{name}");
            assert!(text.starts_with("// ") && text.contains("\n// sources: "), "{name}");
        }
    }
}
