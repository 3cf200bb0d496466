//! Every symbol that `cust` may reference is defined.

use std::path::Path;
use std::process::Command;

use torrance_gpu::backend::cuda::driver;

/// Identifiers in Rust source that look like functions of the driver.
fn identifiers(source: &str) -> impl Iterator<Item = &str> {
    source.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| {
        word.strip_prefix("cu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    })
}

/// Functions that `declarations` has and `sources` mention, but `known` lacks.
fn missing<'a>(sources: &'a str, declarations: &str, known: &[&str]) -> Vec<&'a str> {
    let declared: Vec<_> = declarations.split("pub fn ").filter_map(|rest| rest.split('(').next()).collect();
    let mut found: Vec<_> =
        identifiers(sources).filter(|name| declared.contains(name) && !known.contains(name)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The sources of a dependency, all in one.
fn sources(metadata: &str, package: &str) -> Option<String> {
    fn collect(folder: &Path, into: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if entry.is_dir() {
                collect(&entry, into);
            } else if entry.extension().is_some_and(|e| e == "rs") {
                into.push_str(&std::fs::read_to_string(&entry).unwrap());
            }
        }
    }
    let start = metadata.find(&format!("/{package}/Cargo.toml"))?;
    let folder = metadata[..start].rsplit('"').next()?;
    let mut text = String::new();
    collect(&Path::new(folder).join(package).join("src"), &mut text);
    Some(text)
}

#[test]
fn every_symbol_that_cust_can_reference_is_defined() {
    // The sources of other platforms' dependencies need not be here.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", &platform])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|p| p.exists()).unwrap())
        .output();
    let Ok(output) = output else {
        println!("skipped: there is no cargo here to tell where the sources of cust are");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata = String::from_utf8_lossy(&output.stdout);
    let cust = sources(&metadata, "cust-0.3.2").expect("cust 0.3.2 is what the list was made for");
    let declarations = sources(&metadata, "cust_raw-0.11.3").expect("and cust_raw 0.11.3");
    assert_eq!(missing(&cust, &declarations, driver::SYMBOLS), Vec::<&str>::new());
    let mentioned = missing(&cust, &declarations, &[]);
    println!(
        "cust can reference {} functions; the driver module defines {}",
        mentioned.len(),
        driver::SYMBOLS.len()
    );

    // It can fail: without one function of the list, and with one more in the sources.
    assert!(mentioned.len() > 90, "{mentioned:?}");
    let (removed, rest) = driver::SYMBOLS.split_last().unwrap();
    assert_eq!(missing(&cust, &declarations, rest), [*removed]);
    let more = format!("{cust} cuda::cuMemAllocPitch_v2(");
    assert_eq!(missing(&more, &declarations, driver::SYMBOLS), ["cuMemAllocPitch_v2"]);

    // What the back end itself adds has to be a function of the driver too.
    for name in driver::SYMBOLS {
        assert!(declarations.contains(&format!("pub fn {name}(")), "{name}");
    }
}
