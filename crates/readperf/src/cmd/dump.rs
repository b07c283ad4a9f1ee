//! `readperf dump`: every record, every field.

use super::Cmd;
use crate::input::Input;
use crate::out::Output;
use crate::outcome::{Outcome, wrong_usage};
use crate::progress::Progress;
use crate::record_filter::FilterOptions;
use clap::Args;
use perffile::{Container, Ordering, Recording};
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
    filter: FilterOptions,

    #[command(flatten)]
    output: Output,
}

impl Cmd for Dump {
    const NAME: &'static str = "dump";
    const ABOUT: &'static str = "Show every record with its offset and all its fields";
    const EXAMPLES: &'static str = "\
Examples:
  readperf dump perf.data | less
  readperf dump --type sample,lost --time 10%-20% perf.data
  readperf dump --event sched:sched_switch --limit 5 perf.data
  readperf dump --offset 0x1000..0x2000 perf.data
  readperf dump --json --sorted perf.data | jq 'select(.type == \"SAMPLE\") | .ip'";

    fn run(&self) -> anyhow::Result<Outcome> {
        let recording = if self.json { self.input.open_for_program()? } else { self.input.open()? };
        let ordering = if self.sorted { Ordering::Time } else { Ordering::File };
        let mut filter = self.filter.for_recording(&recording)?;
        self.check_events(&recording)?;
        let mut out = self.output.open(&[&self.input])?;
        let mut dumper = Dumper::default();
        let mut batches = recording.batches(ordering)?;
        let mut progress = Progress::new("dumping", !self.input.reading.no_progress);
        while !filter.is_done()
            && let Some(batch) = batches.next()
        {
            dumper.learn(batches.metadata());
            progress.bytes(batches.progress());
            for event in batch.iter() {
                dumper.meet(&event);
                if !filter.lets_through(&event) {
                    continue;
                }
                if self.json {
                    dumper.write_json(&mut out, &event)?;
                } else {
                    dumper.write_text(&mut out, &event)?;
                }
            }
        }
        drop(progress);
        let mut all = batches.issues().clone();
        all.extend(dumper.issues());
        if !filter.is_done()
            && let Some(message) = self.filter.unknown_event(&batches.metadata().schema)
        {
            wrong_usage(&message);
        }
        Outcome::of(&self.input, all).publishing(out.complete()?)
    }
}

impl Dump {
    /// Ends the program if the recording has no event of a wanted name. A name may be told on the way; a stream, which can be
    /// read only once, is asked at its end.
    fn check_events(&self, recording: &Recording) -> anyhow::Result<()> {
        let metadata = recording.metadata();
        if metadata.container == Container::Pipe || self.filter.unknown_event(&metadata.schema).is_none() {
            return Ok(());
        }
        if let Some(message) = self.filter.unknown_event(&recording.read_metadata()?.schema) {
            wrong_usage(&message);
        }
        Ok(())
    }
}
