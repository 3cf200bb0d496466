//! `torrance schema`: what scene files may say, for editors.

use crate::ExitCode;
use torrance_scene as scene;

use super::{Failure, print, print_json};

const EXAMPLES: &str = "\
Examples:
  torrance schema > torrance.schema.json

Editors with Taplo or Tombi then complete and check a scene whose first line is
  #:schema torrance.schema.json
";

/// Print what scene files may say, as JSON Schema, for editors to complete and check them
#[derive(Debug, clap::Args)]
#[command(after_help = super::EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{}", super::EXIT_CODES))]
pub(super) struct Args {
    /// Print it as a page to read instead, Markdown
    #[arg(long)]
    markdown: bool,
}

/// Prints the schema, or the page.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    match args.markdown {
        true => print(scene::reference_page())?,
        false => print_json(&scene::json_schema())?,
    }
    Ok(ExitCode::SUCCESS)
}
