//! The arguments that say which scene to read, and how.

use std::path::PathBuf;

use super::failure::Failure;
use super::notes::Notes;
use super::terminal::color;
use crate::scene::{self, Loaded, Options, Overrides, Severity};

/// A scene file, and how it is read.
#[derive(Debug, clap::Args)]
pub(super) struct SceneArgs {
    /// Scene file
    #[arg(value_name = "SCENE")]
    pub(super) path: PathBuf,

    /// Let the scene read files that are not in its folder
    #[arg(long)]
    allow_external: bool,

    /// Set a parameter of a Mitsuba scene, which writes it as $NAME
    #[arg(long, short = 'D', value_name = "NAME=VALUE", value_parser = define)]
    define: Vec<(String, String)>,
}

fn define(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

impl SceneArgs {
    /// Reads the scene, and tells what is suspicious about it.
    pub(super) fn load(&self, overrides: Overrides, notes: &mut Notes) -> Result<Loaded, Failure> {
        let options =
            Options { overrides, allow_external: self.allow_external, defines: self.define.clone() };
        let loaded =
            scene::load_with(&self.path, &options).map_err(|e| Failure::input_report(e.report(color())))?;
        for problem in &loaded.warnings {
            notes.warn_with(problem.to_string(), &problem.report(Severity::Warning, color()));
        }
        Ok(loaded)
    }
}
