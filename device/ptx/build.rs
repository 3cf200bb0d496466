//! Joins the files of each module, and compresses it.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, thread};

use flate2::{Compression, GzBuilder};

/// Where the modules are, in this package.
const MODULES: &str = "modules";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed={MODULES}");
    match pack_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}\n  `cargo ptx` builds it anew");
            ExitCode::FAILURE
        }
    }
}

fn pack_all() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?);
    let heads = ptx_text::heads(Path::new(MODULES))?;
    thread::scope(|scope| {
        let packing: Vec<_> = heads.iter().map(|head| scope.spawn(|| pack(head, &folder))).collect();
        for one in packing {
            one.join().map_err(|_| "a thread stopped")?.map_err(|error| error.to_string())?;
        }
        Ok(())
    })
}

/// The same PTX always makes the same bytes.
fn pack(head: &Path, folder: &Path) -> Result<(), Box<dyn Error + Send + Sync>> {
    let ptx = ptx_text::read(head)?;
    let name = head.file_stem().unwrap_or_default().to_string_lossy();
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::default());
    packed.write_all(ptx.as_bytes())?;
    fs::write(folder.join(format!("{name}.ptx.gz")), packed.finish()?)?;
    Ok(())
}
