//! How EXR files are written, as options say.

use torrance_image::film::encode::{Exr, ExrCompression, ExrDepth};
use torrance_image::film::write::Target;
use torrance_image::film::{Format, Layers};

use super::{Failure, Notes, values};

/// How EXR files are written.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct ExrArgs {
    /// Type of an EXR channel. Half rounds to 11 bits, which may exceed the noise of a long render
    #[arg(id = "exr", long, value_name = "TYPE", default_value = "float", value_parser = values::choice(values::EXR_DEPTHS))]
    pub(super) depth: ExrDepth,

    /// How the pixels of EXR files are compressed
    #[arg(
        id = "exr-compression",
        long,
        value_name = "NAME",
        default_value = "zip",
        value_parser = values::choice(values::EXR_COMPRESSIONS)
    )]
    compression: ExrCompression,

    /// Make each layer of an EXR file a part of its own, which compositing programs load alone
    #[arg(id = "exr-multipart", long)]
    is_multipart: bool,
}

impl From<ExrArgs> for Exr {
    fn from(ExrArgs { depth, compression, is_multipart }: ExrArgs) -> Self {
        Self { depth, compression, is_multipart }
    }
}

impl ExrArgs {
    /// Checks that the ids of a Cryptomatte stay what they are.
    pub(super) fn check_ids(self) -> Result<(), Failure> {
        match self.compression {
            ExrCompression::Pxr24 => Err(Failure::input(
                "--exr-compression pxr24 rounds floats, and so the ids of a Cryptomatte; write another, such as zip",
            )),
            _ => Ok(()),
        }
    }

    /// As [`ExrArgs::check_ids`], if there are any among these layers.
    pub(super) fn check_ids_of(self, layers: &Layers) -> Result<(), Failure> {
        match layers.attributes.keys().any(|name| name.starts_with("cryptomatte/")) {
            true => self.check_ids(),
            false => Ok(()),
        }
    }

    /// Warns of options that have no effect on the outputs.
    pub(super) fn warn_of_ignored(self, targets: &[Target], notes: &mut Notes) {
        if targets.iter().any(|target| target.format == Format::Exr) {
            return;
        }
        let (how, usual) = (Exr::from(self), Exr::default());
        for (option, is_given) in [
            ("--exr", how.depth != usual.depth),
            ("--exr-compression", how.compression != usual.compression),
            ("--exr-multipart", how.is_multipart),
        ] {
            if is_given {
                notes.warn(format!("{option} changes EXR only, and none is written"));
            }
        }
    }
}
