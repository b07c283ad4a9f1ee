//! `readperf stats`: records by type, samples and periods by event.

use super::Cmd;
use crate::input::Input;
use crate::out::Output;
use crate::outcome::{Outcome, say_only_counts};
use crate::progress::Progress;
use clap::Args;
use perffile::{Issues, Metadata, Ordering, Recording};
use readperf_output::stats as output;
use readperf_profile::statistics::Statistics;

/// Counts what a recording consists of.
#[derive(Args, Debug)]
pub(crate) struct Stats {
    #[command(flatten)]
    input: Input,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    output: Output,
}

impl Cmd for Stats {
    const NAME: &'static str = "stats";
    const ABOUT: &'static str = "Count records by type, samples and periods by event, losses";
    const EXAMPLES: &'static str = "\
Examples:
  readperf stats perf.data
  readperf stats --json perf.data | jq '.events'
  perf record -o - -- make | readperf stats -";

    fn run(&self) -> anyhow::Result<Outcome> {
        let recording = if self.json { self.input.open_for_program()? } else { self.input.open()? };
        let mut progress = Progress::new("counting", !self.input.reading.no_progress);
        let Counted { stats, metadata, issues } = count(&recording, |done| progress.bytes(done))?;
        drop(progress);
        let schema = &metadata.schema;
        let mut out = self.output.open(&[&self.input])?;
        if self.json {
            output::write_json(&mut out, &stats, schema, &issues.iter().collect::<Vec<_>>())?;
        } else {
            output::write_text(&mut out, &stats, schema)?;
        }
        if stats.samples() == 0 && stats.counters.is_stat(&metadata.features) {
            say_only_counts(&self.input);
        }
        Outcome::of(&self.input, issues).publishing(out.complete()?)
    }
}

/// What a recording consists of.
pub(crate) struct Counted {
    pub(crate) stats: Statistics,
    pub(crate) metadata: Metadata,
    pub(crate) issues: Issues,
}

/// Counts all records. `watch` is told how far that is, in bytes.
pub(crate) fn count(recording: &Recording, mut watch: impl FnMut((u64, u64))) -> perffile::Result<Counted> {
    let mut stats = Statistics::default();
    let mut batches = recording.batches(Ordering::File)?;
    while let Some(batch) = batches.next() {
        stats.add_batch(&batch);
        watch(batches.progress());
    }
    stats.counters.finish();
    let mut issues = batches.issues().clone();
    issues.extend(&stats.issues);
    issues.extend(&stats.counters.issues);
    Ok(Counted { stats, metadata: batches.metadata().clone(), issues })
}
