//! `readperf dump`: every record, every field.

use super::Cmd;
use crate::input::Input;
use crate::out::Output;
use crate::outcome::Outcome;
use clap::Args;
use perffile::Ordering;
use readperf_output::dump::Dumper;

/// Shows every record with all its fields.
#[derive(Args, Debug)]
pub(crate) struct Dump {
    #[command(flatten)]
    input: Input,

    /// Print one JSON object a line
    #[arg(long)]
    json: bool,

    /// In order of time, as perf delivers them
    #[arg(long)]
    sorted: bool,

    /// In order of the file (default)
    #[arg(long, conflicts_with = "sorted")]
    raw: bool,

    #[command(flatten)]
    output: Output,
}

impl Cmd for Dump {
    const NAME: &'static str = "dump";
    const ABOUT: &'static str = "Show every record with its offset and all its fields";
    const EXAMPLES: &'static str = "\
Examples:
  readperf dump perf.data | less
  readperf dump --json --sorted perf.data | jq 'select(.type == \"SAMPLE\") | .ip'";

    fn run(&self) -> anyhow::Result<Outcome> {
        let recording = self.input.open()?;
        let ordering = if self.sorted { Ordering::Time } else { Ordering::File };
        let mut out = self.output.open()?;
        let mut dumper = Dumper::default();
        let mut batches = recording.batches(ordering)?;
        while let Some(batch) = batches.next() {
            dumper.learn(batches.metadata());
            for event in batch.iter() {
                dumper.meet(&event);
                if self.json {
                    dumper.write_json(&mut out, &event)?;
                } else {
                    dumper.write_text(&mut out, &event)?;
                }
            }
        }
        out.flush()?;
        let mut all = batches.issues().clone();
        all.extend(dumper.issues());
        Ok(Outcome { input: self.input.name(), issues: all, strict: self.input.strict })
    }
}
