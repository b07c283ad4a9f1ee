//! `readperf info`: what a recording says of itself.

use super::Cmd;
use crate::input::Input;
use crate::out::Output;
use crate::outcome::Outcome;
use clap::Args;
use readperf_output::info as output;

/// Shows header, events and features.
#[derive(Args, Debug)]
pub(crate) struct Info {
    #[command(flatten)]
    input: Input,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    output: Output,
}

impl Cmd for Info {
    const NAME: &'static str = "info";
    const ABOUT: &'static str = "Show header, events and every feature section";
    const EXAMPLES: &'static str = "\
Examples:
  readperf info perf.data
  readperf info --json perf.data | jq '.features.hostname'";

    fn run(&self) -> anyhow::Result<Outcome> {
        let recording = if self.json { self.input.open_for_program()? } else { self.input.open()? };
        let metadata = recording.read_metadata()?;
        let mut out = self.output.open(&[&self.input])?;
        if self.json {
            output::write_json(&mut out, &metadata)?;
        } else {
            output::write_text(&mut out, &metadata)?;
        }
        Outcome::of(&self.input, metadata.issues).publishing(out.complete()?)
    }
}
