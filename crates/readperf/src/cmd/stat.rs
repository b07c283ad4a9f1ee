//! `readperf stat`: the table of a perf stat recording.

use super::Cmd;
use crate::input::Input;
use crate::out::{Out, Output};
use crate::outcome::Outcome;
use crate::progress::Progress;
use clap::{Args, ValueEnum};
use perffile::Ordering;
use readperf_output::stat as output;
use readperf_profile::counters::{Counters, Mode};

/// What a row is about.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum By {
    /// An event
    Total,
    /// An event on a CPU
    Cpu,
    /// An event in a thread
    Thread,
}

/// Shows what perf stat counted.
#[derive(Args, Debug)]
pub(crate) struct Stat {
    #[command(flatten)]
    input: Input,

    /// What a row is about [default: as recorded]
    #[arg(long, value_enum)]
    by: Option<By>,

    /// One table for the whole run instead of one per interval
    #[arg(long)]
    sum: bool,

    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Print CSV
    #[arg(long)]
    csv: bool,

    #[command(flatten)]
    output: Output,
}

impl Cmd for Stat {
    const NAME: &'static str = "stat";
    const ABOUT: &'static str = "Show the counts of a recording made by perf stat record";
    const EXAMPLES: &'static str = "\
Examples:
  perf stat record -e task-clock,page-faults -- make
  readperf stat perf.data
  readperf stat --by cpu --csv perf.data > counts.csv
  perf stat record -o - -- make | readperf stat -";

    fn run(&self) -> anyhow::Result<Outcome> {
        let recording = if self.json { self.input.open_for_program()? } else { self.input.open()? };
        let mut progress = Progress::new("counting", !self.input.reading.no_progress);
        let mut counters = Counters::new();
        let mut batches = recording.batches(Ordering::File)?;
        while let Some(batch) = batches.next() {
            batch.iter().for_each(|event| counters.add(&event));
            progress.bytes(batches.progress());
        }
        drop(progress);
        counters.finish();
        let metadata = batches.metadata();
        if !counters.is_stat(&metadata.features) {
            anyhow::bail!(
                "{}: not a recording of perf stat: it has no counts. `perf stat record` makes one; `readperf stats` tells \
                 what is in this one",
                self.input.name()
            );
        }
        let mut issues = batches.issues().clone();
        issues.extend(&counters.issues);
        let out = self.write(&counters, metadata, &issues)?;
        Outcome::of(&self.input, issues).publishing(out.complete()?)
    }
}

impl Stat {
    fn write(
        &self,
        counters: &Counters,
        metadata: &perffile::Metadata,
        issues: &perffile::Issues,
    ) -> anyhow::Result<Out> {
        let mode = match self.by {
            Some(By::Total) => Mode::Total,
            Some(By::Cpu) => Mode::Cpu,
            Some(By::Thread) => Mode::Thread,
            None => counters.mode(&metadata.features),
        };
        let sum = (self.sum && !counters.rounds.is_empty()).then(|| [counters.sum()]);
        let rounds = sum.as_ref().map_or(counters.rounds.as_slice(), |sum| sum.as_slice());
        let view = output::View { counters, rounds, mode, schema: &metadata.schema };
        let mut out = self.output.open(&[&self.input])?;
        if self.json {
            output::write_json(&mut out, &view, &issues.iter().collect::<Vec<_>>())?;
        } else if self.csv {
            output::write_csv(&mut out, &view)?;
        } else {
            output::write_text(&mut out, &view)?;
        }
        Ok(out)
    }
}
