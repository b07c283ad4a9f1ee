//! `readperf merge`: several recordings made one.

use super::Cmd;
use super::edit::options::Level;
use crate::input::{Input, Reading};
use crate::out::{create, publish};
use crate::outcome::{Outcome, say};
use crate::progress::Progress;
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use perffile::write::{CompressedRecords, Compression, FileTarget, Options, Writer};
use perffile::{Issues, Recording};
use readperf_edit::merge::{Choices, Merge, Merged, Pids, Source, Survey};
use std::path::PathBuf;

/// Makes several recordings one.
#[derive(Args, Debug)]
pub(crate) struct MergeCommand {
    /// The recordings: files, directories, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// The file to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// Whether the same pid is the same process. Kept apart, pids of the second recording get 10,000,000 added, those of the third
    /// 20,000,000, and so on
    #[arg(long, value_enum, value_name = "HOW", default_value_t, help_heading = "What is the same")]
    pids: SamePids,

    /// Whether events that were opened alike are one. Kept apart, those of the second recording are called EVENT#2
    #[arg(long, value_enum, value_name = "HOW", default_value_t, help_heading = "What is the same")]
    events: SameEvents,

    /// Leave times as they are, also where CLOCK_DATA tells that clocks differ
    #[arg(long, help_heading = "What is the same")]
    keep_times: bool,

    /// Compress the records with zstd at this level [default: 1]
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    compress: Option<Level>,

    #[command(flatten)]
    reading: Reading,
}

/// Whether the same pid is the same process.
#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum SamePids {
    /// If the recordings are of one boot of one machine, as far as host name, place of the kernel and clock tell
    #[default]
    Auto,
    /// It is
    Join,
    /// It is not
    Apart,
}

/// Whether events that were opened alike are one.
#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum SameEvents {
    /// They are
    #[default]
    Join,
    /// They are not
    Apart,
}

impl Cmd for MergeCommand {
    const NAME: &'static str = "merge";
    const ABOUT: &'static str = "Make several recordings one";
    const EXAMPLES: &'static str = "\
Examples:
  readperf merge one.data two.data -o both.data
  readperf merge parts/*.data -o whole.data
  readperf merge client.data server.data -o both.data --pids apart --compress
  ssh HOST perf record -a -o - sleep 10 | readperf merge here.data - -o both.data

Records are in order of time. Where CLOCK_DATA tells what time of day it was (perf record -k CLOCK_MONOTONIC), clocks are aligned by it. What two
recordings tell alike is there once. The kernel is where it is in the first recording that has samples in it; those of another boot are
moved there if its build is the same, and refused if not. What the header says is that of the first where they differ, which is said. Each recording is
read twice: one that arrives as a stream is kept in a temporary file meanwhile.";

    fn run(&self) -> anyhow::Result<Outcome> {
        let inputs: Vec<Input> =
            self.files.iter().map(|file| Input::of(file.clone(), &self.reading)).collect();
        let output = create(&self.output, &inputs.iter().collect::<Vec<_>>())?;
        let mut opened: Vec<(String, Recording)> = Vec::new();
        for input in &inputs {
            opened.push((input.name(), input.open()?.spooled().with_context(|| input.name())?));
        }
        let order = opened.first().map(|(_, recording)| recording.metadata().order).unwrap_or_default();
        let mut surveys = Vec::new();
        for (name, recording) in &opened {
            let mut progress = Progress::new("reading", !self.reading.no_progress);
            let survey = Survey::of(recording, order, |bytes| progress.bytes(bytes));
            surveys.push(survey.with_context(|| name.clone())?);
        }
        let sources = opened.iter().zip(&surveys);
        let sources = sources.map(|((name, recording), survey)| Source { name, recording, survey }).collect();
        let merge = Merge::plan(sources, self.choices())?;
        let name = output.path().display().to_string();
        let file = output.writer().with_context(|| name.clone())?;
        let compression =
            self.compress.map(|Level(level)| Compression { level, records: CompressedRecords::default() });
        let options = Options { order, compression };
        let mut progress = Progress::new("writing", !self.reading.no_progress);
        let writer = Writer::to(FileTarget::new(file, order), options);
        let merged = merge.write(writer, |bytes| progress.bytes(bytes)).with_context(|| name.clone())?;
        drop(progress);
        let outcome = self.outcome(&name, &opened, &surveys, &merged);
        if !outcome.is_refused() {
            publish([output])?;
            merge.notes().iter().for_each(|note| say(note));
            tell(&name, &opened, &surveys, &merged);
        }
        Ok(outcome)
    }
}

impl MergeCommand {
    fn choices(&self) -> Choices {
        Choices {
            pids: match self.pids {
                SamePids::Auto => Pids::ByEvidence,
                SamePids::Join => Pids::Joined,
                SamePids::Apart => Pids::Apart,
            },
            events_apart: matches!(self.events, SameEvents::Apart),
            keep_times: self.keep_times,
        }
    }

    /// What was wrong with each of the recordings, and what has no place in the merged one.
    fn outcome(
        &self,
        output: &str,
        opened: &[(String, Recording)],
        surveys: &[Survey],
        merged: &Merged,
    ) -> Outcome {
        let of = |((name, _), survey): (&(String, Recording), &Survey)| {
            let mut issues: Issues = survey.metadata().issues.clone();
            issues.extend(survey.left_out());
            (name.clone(), issues)
        };
        Outcome {
            input: output.to_owned(),
            issues: merged.left_out.clone(),
            others: opened.iter().zip(surveys).map(of).collect(),
            strict: self.reading.strict,
            ..Outcome::default()
        }
    }
}

/// Says what was kept, and what is left out on purpose.
fn tell(output: &str, opened: &[(String, Recording)], surveys: &[Survey], merged: &Merged) {
    let (mut samples, mut others, mut alike) = (0, 0, 0);
    for (((name, recording), survey), tally) in opened.iter().zip(surveys).zip(&merged.tallies) {
        samples += tally.samples;
        others += tally.others;
        alike += tally.told_alike;
        let missing = [
            (
                survey.traces(),
                "records of AUX traces are left out: those of several recordings cannot be one",
            ),
            (
                tally.of_other_kernel,
                "records of its kernel are left out: no sample is in it, and another one is in its place",
            ),
            (u64::from(recording.kcore_dir().is_some()), "copy of the kernel's memory is left out"),
        ];
        for (count, what) in missing.iter().filter(|(count, _)| *count > 0) {
            say(&format!("{name}: {count} {what}"));
        }
    }
    let told =
        if alike > 0 { format!("; {alike} that others tell alike are there once") } else { String::new() };
    let recordings = if opened.len() == 1 { "recording" } else { "recordings" };
    let many = opened.len();
    say(&format!("{output}: {samples} samples, {others} other records of {many} {recordings}{told}"));
}
