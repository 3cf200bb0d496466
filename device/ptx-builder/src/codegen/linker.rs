//! Linker that rustc calls: this same program under the name `llvm-bitcode-linker`.
//!
//! It only joins the bitcode into one module, as text, headed by the names of the kernels. The rest is done
//! by the builder, where a failure can be reported properly.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::error::{Error, Result, capture};

/// The name under which this program links.
pub const NAME: &str = "llvm-bitcode-linker";

/// The environment variable that names the `llvm-link` to use.
pub const LLVM_LINK: &str = "TORRANCE_PTX_LLVM_LINK";

/// The environment variable that names the file for the module.
pub const MODULE: &str = "TORRANCE_PTX_MODULE";

const HEADER: &str = "; kernel: ";

/// The arguments of rustc's command line that matter here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Arguments {
    inputs: Vec<PathBuf>,
    output: PathBuf,
    kernels: Vec<String>,
}

fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Arguments> {
    let mut parsed = Arguments::default();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        let mut value = || {
            let missing = || Error::Rejected(format!("{NAME}: {text} needs a value"));
            arguments.next().ok_or_else(missing)
        };
        match text.as_ref() {
            "-o" => parsed.output = value()?.into(),
            "--export-symbol" => parsed.kernels.push(value()?.to_string_lossy().into_owned()),
            "--target" | "--target-cpu" | "--target-feature" | "-L" => drop(value()?),
            // Optimisation level and debug information: decided by the builder.
            _ if text.starts_with('-') => {}
            _ => parsed.inputs.push(argument.into()),
        }
    }
    parsed.kernels.sort();
    Ok(parsed)
}

/// Runs as the linker.
pub fn link(arguments: impl IntoIterator<Item = OsString>) -> Result<()> {
    let Arguments { inputs, output, kernels } = parse(arguments)?;
    let variable = |name| env::var_os(name).ok_or_else(|| Error::Rejected(format!("{name} is not set")));
    // After the first input (the whole program), take only what it needs. An rlib also holds metadata.
    let options = ["-S", "--only-needed", "--ignore-non-bitcode"];
    capture(Command::new(variable(LLVM_LINK)?).args(options).args(inputs).arg("-o").arg(&output))?;
    let module = fs::read_to_string(&output).map_err(Error::io("read", &output))?;
    let header: String = kernels.iter().map(|name| format!("{HEADER}{name}\n")).collect();
    let path = PathBuf::from(variable(MODULE)?);
    fs::write(&path, header + &module).map_err(Error::io("write", &path))
}

/// Splits what [`link`] wrote into the names of the kernels and the module.
pub fn split_header(text: &str) -> Result<(Vec<String>, &str)> {
    let (mut kernels, mut rest) = (Vec::new(), text);
    while let Some((name, below)) = rest.strip_prefix(HEADER).and_then(|line| line.split_once('\n')) {
        kernels.push(name.to_owned());
        rest = below;
    }
    if kernels.is_empty() {
        return Err(Error::Rejected("the kernels crate exports no kernel".into()));
    }
    Ok((kernels, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rustc_command_line() {
        let line = "--export-symbol shade --export-symbol extend k.rcgu.o libcompiler_builtins.rlib -L raw-dylibs \
            --target nvptx64-nvidia-cuda --target-cpu sm_75 --target-feature=+ptx70 -L lib -o out.ptx -O3 --debug";
        let parsed = parse(line.split_whitespace().map(OsString::from)).unwrap();
        let inputs = vec!["k.rcgu.o".into(), "libcompiler_builtins.rlib".into()];
        let kernels = vec!["extend".into(), "shade".into()];
        assert_eq!(parsed, Arguments { inputs, output: "out.ptx".into(), kernels });
    }

    #[test]
    fn a_missing_value_is_an_error() {
        assert!(parse([OsString::from("-o")]).is_err());
    }

    #[test]
    fn header_and_module() {
        let text = "; kernel: a\n; kernel: b\n; ModuleID = 'x'\n";
        assert_eq!(split_header(text).unwrap(), (vec!["a".into(), "b".into()], "; ModuleID = 'x'\n"));
        assert!(split_header("; ModuleID = 'x'\n").is_err());
    }
}
