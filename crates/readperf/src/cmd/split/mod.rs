//! `readperf split`: a recording in parts.

mod names;

use super::Cmd;
use super::edit::options::Level;
use crate::input::Input;
use crate::out::Out;
use crate::outcome::{Outcome, say};
use crate::progress::Progress;
use crate::time_range::{TimeRanges, length_ns};
use anyhow::Context as _;
use clap::{ArgGroup, Args, ValueEnum};
use names::names;
use perffile::write::{CompressedRecords, Compression, FileTarget, Options, Writer};
use perffile::{Metadata, Recording};
use readperf_edit::split::{Division, Key, Outside, Survey, Written};
use readperf_files::WholeFolder;
use std::fs::File;
use std::io::Write as _;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Writes a recording in parts.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("division").required(true).args(["every", "times", "size", "by"])))]
pub(crate) struct SplitCommand {
    #[command(flatten)]
    input: Input,

    /// The folder for the parts, which must not be there yet: part-0001.data and so on, or pid-PID.data, cpu-CPU.data, event-NAME.data;
    /// rest.data has the samples that do not say which part they belong to
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    /// A part for each so long a time from the first sample on: 10s, 500ms, 2m. Where there is no sample there is no part, and its
    /// number is left out
    #[arg(long, value_name = "TIME", value_parser = length_ns, help_heading = "How it is divided")]
    every: Option<NonZeroU64>,

    /// A part for each of these times, as FROM,TO or FROM-TO in seconds or percent: 0%-50%,50%-100%. May be given more than once
    #[arg(long = "time", value_name = "FROM,TO", value_parser = TimeRanges::parse, help_heading = "How it is divided")]
    times: Vec<TimeRanges>,

    /// A part for about so many bytes of records, before they are compressed: 500k, 100M, 1G. What tells of processes that ran before comes
    /// on top
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "How it is divided")]
    size: Option<NonZeroU64>,

    /// A part for each of these
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "How it is divided")]
    by: Option<By>,

    /// Most parts to write
    #[arg(long, value_name = "N", default_value_t = 10_000, help_heading = "How it is divided")]
    max_parts: usize,

    /// Compress the parts with zstd at this level [default: 1]. Without it, they are compressed if the recording is
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    compress: Option<Level>,

    /// Do not compress
    #[arg(long, conflicts_with = "compress")]
    decompress: bool,
}

/// What there is a part for.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum By {
    /// Each process
    Process,
    /// Each event
    Event,
    /// Each CPU
    Cpu,
}

impl Cmd for SplitCommand {
    const NAME: &'static str = "split";
    const ABOUT: &'static str = "Write a recording in parts: by time, size, process, event or CPU";
    const EXAMPLES: &'static str = "\
Examples:
  readperf split perf.data -o parts --every 10s
  readperf split perf.data -o halves --time 0%-50%,50%-100%
  readperf split perf.data -o parts --size 100M --compress
  readperf split perf.data -o processes --by process
  perf record -a -o - -- make | readperf split - -o cpus --by cpu

Each part is a file with its samples in order of time, and with what these need: names, mappings, and where they came from, also from before
the part begins. What was lost is in the part of its time, CPU or event, else in the first. The recording is read twice: one that arrives as a
stream is kept in a temporary file meanwhile.";

    fn run(&self) -> anyhow::Result<Outcome> {
        let recording = self.input.open()?.spooled().with_context(|| self.input.name())?;
        let division = self.division(&recording)?;
        let name = self.output.display().to_string();
        // Before all the work: there may be something of that name.
        let folder = WholeFolder::create(&self.output).with_context(|| name.clone())?;
        let mut progress = Progress::new("reading", !self.input.reading.no_progress);
        let survey = Survey::of(&recording, division, |bytes| progress.bytes(bytes))?;
        let parts = survey.keys().len();
        if parts > self.max_parts {
            anyhow::bail!("that would be {parts} parts: --max-parts {parts} allows as many");
        }
        let names = names(&survey);
        let options = self.options(survey.metadata());
        let mut progress = Progress::new("writing", !self.input.reading.no_progress);
        let open = |number: usize| -> anyhow::Result<Writer<FileTarget<File>>> {
            let name = names.get(number).map_or("rest.data", String::as_str);
            let file = File::create_new(folder.path().join(name)).with_context(|| name.to_owned())?;
            Ok(Writer::file(file, options))
        };
        let written = survey.write(&recording, open, |bytes| progress.bytes(bytes));
        let written = written.with_context(|| name.clone())?;
        drop(progress);
        let mut issues = survey.metadata().issues.clone();
        issues.extend(survey.left_out());
        let outcome = Outcome::of(&self.input, issues);
        if !outcome.is_refused() {
            folder.publish().with_context(|| name.clone())?;
            self.tell(&survey, &names, &written)?;
        }
        Ok(outcome)
    }
}

impl SplitCommand {
    fn division(&self, recording: &Recording) -> anyhow::Result<Division> {
        Ok(match (self.every, self.size, self.by) {
            (Some(every), ..) => Division::Every(every),
            (_, Some(size), _) => Division::Bytes(size),
            (.., Some(By::Process)) => Division::Process,
            (.., Some(By::Event)) => Division::Event,
            (.., Some(By::Cpu)) => Division::Cpu,
            _ => Division::Times(self.ranges(recording)?),
        })
    }

    /// The times that were given.
    fn ranges(&self, recording: &Recording) -> anyhow::Result<Vec<RangeInclusive<u64>>> {
        let ranges = self.times.iter().flat_map(TimeRanges::iter);
        let ranges: Vec<_> =
            ranges.map(|range| Ok(range.times(recording)?.range())).collect::<anyhow::Result<_>>()?;
        let mut sorted = ranges.clone();
        sorted.sort_unstable_by_key(|range| *range.start());
        for (range, next) in sorted.iter().zip(sorted.iter().skip(1)) {
            if next.start() <= range.end() {
                anyhow::bail!(
                    "two of the times overlap at {} ns: a sample can be in one part only",
                    next.start()
                );
            }
        }
        Ok(ranges)
    }

    /// How the parts are written: in the byte order of the recording, and compressed if that is and nothing else was asked for.
    fn options(&self, from: &Metadata) -> Options {
        let told = from.features.compression().map(|told| told.level.cast_signed());
        let was = if from.compressed { told.or(Some(1)) } else { None };
        let level = self.compress.map(|Level(level)| level).or(was.filter(|_| !self.decompress));
        let compression = level.map(|level| Compression { level, records: CompressedRecords::default() });
        Options { order: from.order, compression }
    }

    /// Says what was written: a line a part on standard output, and on stderr what is in none of them.
    fn tell(&self, survey: &Survey, names: &[String], written: &[Written]) -> anyhow::Result<()> {
        let mut out = Out::standard();
        for (name, Written { samples, others, .. }) in names.iter().zip(written) {
            let path = self.output.join(name);
            let path = readperf_output::text::printable(&path.display().to_string()).into_owned();
            writeln!(out, "{path}: {samples} samples, {others} other records")?;
        }
        out.flush()?;
        let name = self.input.name();
        let Outside { samples, marks } = survey.outside();
        let missing = [
            (samples, "samples are in none of the times that were given"),
            (marks, "records of losses, switches and the like are in none of the times that were given"),
            (survey.traces(), "records of AUX traces are in no part: they cannot be divided"),
            (u64::from(survey.metadata().kcore_dir.is_some()), "copy of the kernel's memory is in no part"),
        ];
        for (count, what) in missing.iter().filter(|(count, _)| *count > 0) {
            say(&format!("{name}: {count} {what}"));
        }
        if survey.keys() == [Key::Rest] {
            say(&format!("{name}: no sample says which part it belongs to: all is in one"));
        }
        Ok(())
    }
}

/// A number of bytes: `500k`, `100M`, `1G`; units are powers of 1024.
fn bytes(text: &str) -> Result<NonZeroU64, String> {
    let lower = text.trim().to_lowercase();
    let units = [("k", 10), ("m", 20), ("g", 30), ("t", 40)];
    let plain = lower.trim_end_matches("ib").trim_end_matches('b');
    let (number, shift) = units
        .iter()
        .find_map(|(unit, shift)| Some((plain.strip_suffix(unit)?, *shift)))
        .unwrap_or((plain, 0));
    let size = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    size.and_then(NonZeroU64::new)
        .ok_or_else(|| format!("{text} is no size: expected 500k, 100M, 1G or bytes"))
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_have_units() {
        let size = |text| bytes(text).map(std::num::NonZeroU64::get);
        assert_eq!((size("512"), size("512B")), (Ok(512), Ok(512)));
        assert_eq!((size("3k"), size("3KiB"), size("3kb")), (Ok(3072), Ok(3072), Ok(3072)));
        assert_eq!((size("100M"), size("2g")), (Ok(100 << 20), Ok(2 << 30)));
        for bad in ["", "0", "M", "-1", "1.5M", "1x", "99999999999999T"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
