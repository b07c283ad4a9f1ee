//! The main job: functions by share, and the four tables of 2011.

use crate::input::Input;
use crate::out::Output;
use crate::outcome::Outcome;
use clap::Args;
use std::path::PathBuf;

/// What the main job takes.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: Input,

    /// Write the CSV files to this directory instead of the current one
    #[arg(long, value_name = "DIR")]
    csv_dir: Option<PathBuf>,

    /// Write no CSV files
    #[arg(long, conflicts_with = "csv_dir")]
    no_csv: bool,

    #[command(flatten)]
    output: Output,
}

/// Runs the main job.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let _ = (&arguments.csv_dir, arguments.no_csv, arguments.output.open()?);
    Ok(Outcome { input: arguments.input.name(), ..Outcome::default() })
}
