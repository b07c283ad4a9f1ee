//! `readperf edit`: a recording written again, changed.

mod anonymise;
mod build_ids;
mod destination;
mod jit;
pub(crate) mod options;

use super::Cmd;
use crate::input::Input;
use crate::outcome::{Outcome, say, wrong_usage};
use crate::progress::Progress;
use crate::sample_options::SampleOptions;
use anonymise::AnonymiseOptions;
use anyhow::Context as _;
use build_ids::Binaries;
use clap::{Args, ValueEnum};
use destination::{Destination, Kind};
use jit::Images;
use options::{Level, Part};
use perffile::write::{Compressed, CompressedRecords, Compression, Copied, Edit, Options, Writer, copy};
use perffile::{ByteOrder, Container, Issues, Ordering, Recording};
use readperf_edit::{Editor, Names, Plan, STRIPPED, Samples, Strip, Tally};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// Writes a recording again.
#[derive(Args, Debug)]
pub(crate) struct EditCommand {
    #[command(flatten)]
    input: Input,

    /// Where to write it; - is standard output, as a pipe stream
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// Write a pipe stream
    #[arg(long = "pipe", group = "kind", help_heading = "What is written")]
    to_pipe: bool,

    /// Write a file
    #[arg(long = "file", group = "kind", help_heading = "What is written")]
    to_file: bool,

    /// Write a directory, with a file for each CPU
    #[arg(long = "dir", group = "kind", help_heading = "What is written")]
    to_dir: bool,

    /// Compress the records with zstd at this level [default: 1]. Without it, what was compressed stays so, but for what becomes a
    /// pipe stream: perf does not read those compressed
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "1",
          help_heading = "What is written")]
    compress: Option<Level>,

    /// Do not compress
    #[arg(long, conflicts_with = "compress", help_heading = "What is written")]
    decompress: bool,

    /// Write all numbers in this byte order. What the recorded machine has written itself stays in its own: raw data, copies of
    /// stacks, AUX traces
    #[arg(long, value_enum, value_name = "ORDER", help_heading = "What is written")]
    byte_order: Option<Order>,

    /// Put the records in order of time
    #[arg(long, help_heading = "What is written")]
    sort: bool,

    /// Leave out what cannot be read, and make of a cut or unfinished recording a sound one
    #[arg(long, help_heading = "What is written")]
    repair: bool,

    /// Take these fields out of all samples
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',', help_heading = "What is written")]
    strip: Vec<Part>,

    /// Keep so many addresses of each call chain, the innermost
    #[arg(long, value_name = "N", help_heading = "What is written")]
    max_stack: Option<u32>,

    /// Add the build-ids of the files on this machine, of binaries that were recorded without and that samples or their callers are in: =all,
    /// of all that were mapped
    #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, require_equals = true,
          default_missing_value = "used", conflicts_with = "anonymise", help_heading = "What is written")]
    add_build_ids: Option<Binaries>,

    /// Make an ELF file with symbols, source lines and call frame information of each piece of code in the jitdump files of the recording, in
    /// this folder [default: OUT.jit], and put mappings of these files in the place of those of the dumps. Records are put in order of time;
    /// needs perf record -k mono
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, conflicts_with = "anonymise",
          help_heading = "What is written")]
    jit: Option<Option<PathBuf>>,

    #[command(flatten)]
    anonymise: AnonymiseOptions,

    #[command(flatten)]
    samples: SampleOptions,

    /// Only samples in these binaries, by name or path
    #[arg(
        short,
        long = "dso",
        alias = "dsos",
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Which samples"
    )]
    dsos: Vec<String>,

    /// Only every so many-th sample of each event; their periods are multiplied, so that they stand for the others, too
    #[arg(long, value_name = "N", help_heading = "Which samples")]
    every: Option<NonZeroU32>,

    /// Do not multiply periods
    #[arg(long, requires = "every", help_heading = "Which samples")]
    keep_period: bool,
}

/// A byte order.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Order {
    /// Least significant byte first: x86, Arm, RISC-V
    Little,
    /// Most significant byte first: s390x
    Big,
}

impl Cmd for EditCommand {
    const NAME: &'static str = "edit";
    const ABOUT: &'static str = "Write a recording again: as another kind, with fewer samples, repaired";
    const EXAMPLES: &'static str = "\
Examples:
  readperf edit perf.data -o small.data --compress=19
  readperf edit perf.data -o part.data --time 10%-20% --comm cc1plus
  readperf edit perf.data -o tenth.data --every 10 --strip stack,regs
  readperf edit killed.data -o sound.data --repair
  readperf edit perf.data.dir -o perf.data --file
  readperf edit perf.data -o public.data --anonymise
  readperf edit perf.data -o with-ids.data --add-build-ids
  readperf edit perf.data -o with-code.data --jit
  perf record -a -o - -- make | readperf edit - -o - --cpu 0-3 | readperf report -

What tells of processes, names and mappings stays, so that the samples that are left mean what they meant. With --comm and --dso, which read the
recording twice, that of processes goes that no sample left needs.";

    fn run(&self) -> anyhow::Result<Outcome> {
        let recording = self.input.open()?;
        let mut plan = self.plan(&recording)?;
        if let Some(which) = self.add_build_ids {
            plan.build_ids = build_ids::found(&self.input, &recording, which)?;
        }
        let mut images = None;
        if let Some(folder) = &self.jit {
            let (dumps, made) = jit::made(&recording, &self.output, folder.as_deref())?;
            (plan.dumps, images) = (dumps, Some(made));
        }
        let names = Names {
            comms: self.samples.comms().map(|name| name.as_bytes().into()).collect(),
            dsos: self.dsos.iter().map(|name| name.as_bytes().into()).collect(),
        };
        if recording.is_stream() && !names.is_open() {
            anyhow::bail!(
                "--comm and --dso read a recording twice, and a stream can be read only once: write it to a file first"
            );
        }
        let kind = self.kind(&recording);
        let destination = Destination::create(&self.output, kind, &self.input)?;
        let chosen = (!names.is_open()).then(|| names.choose(&recording)).transpose()?;
        let mut progress = Progress::new("writing", !self.input.reading.no_progress);
        let mut editor = Editor::new(&plan, chosen.as_ref(), |bytes| progress.bytes(bytes));
        let (copied, tally, told) = if self.anonymise.is_asked_for() {
            let mut anonymiser = self.anonymise.anonymiser(editor)?;
            let copied = self.write(&recording, &destination, &mut anonymiser)?;
            (copied, anonymiser.inner().tally(), Some(anonymise::told(&anonymiser)))
        } else {
            (self.write(&recording, &destination, &mut editor)?, editor.tally(), None)
        };
        drop(progress);
        // The memory of a kernel may hold anything.
        if told.is_none() {
            destination.add_kernel(&recording)?;
        }
        let outcome = self.conclude(&recording, destination, images, &copied, tally)?;
        told.iter().filter(|_| !outcome.is_refused()).for_each(|told| say(told));
        Ok(outcome)
    }
}

impl EditCommand {
    fn plan(&self, recording: &Recording) -> anyhow::Result<Plan> {
        let filter = self.samples.filter(recording)?;
        let mut strip = Strip { max_stack: self.max_stack, ..Strip::default() };
        if self.anonymise.is_asked_for() {
            strip = Strip { max_stack: self.max_stack, ..STRIPPED };
        }
        self.strip.iter().for_each(|part| part.take_out(&mut strip));
        Ok(Plan {
            samples: Samples {
                pids: filter.pids,
                tids: filter.tids,
                cpus: filter.cpus,
                times_ns: filter.times_ns,
                events: filter.events,
            },
            every: self.every.filter(|every| every.get() > 1),
            keep_period: self.keep_period,
            strip,
            repair: self.repair,
            ..Plan::default()
        })
    }

    /// What is written: what was asked for, else what was read; to standard output always a pipe stream.
    fn kind(&self, recording: &Recording) -> Kind {
        match (self.to_pipe, self.to_file, self.to_dir) {
            (true, ..) => Kind::Pipe,
            (_, true, _) => Kind::File,
            (.., true) => Kind::Directory,
            _ if self.output.as_os_str() == "-" => Kind::Pipe,
            _ => recording.metadata().container.into(),
        }
    }

    fn write(
        &self,
        recording: &Recording,
        destination: &Destination,
        edit: &mut impl Edit,
    ) -> anyhow::Result<Copied> {
        let order = match self.byte_order {
            Some(Order::Little) => ByteOrder::Little,
            Some(Order::Big) => ByteOrder::Big,
            None => recording.metadata().order,
        };
        let compression =
            self.compress.map(|Level(level)| Compression { level, records: CompressedRecords::default() });
        // perf cannot read a pipe stream that is compressed: of what was none it is made only if it was asked for.
        let becomes_pipe = destination.is_pipe() && recording.metadata().container != Container::Pipe;
        let anew = self.decompress || compression.is_some() || becomes_pipe;
        let compressed = if anew { Compressed::Anew } else { Compressed::Kept };
        let ordering = if self.sort || self.jit.is_some() { Ordering::Time } else { Ordering::File };
        let writer = Writer::to(destination.target(order)?, Options { order, compression });
        copy(recording, ordering, writer, compressed, edit).with_context(|| destination.name())
    }

    /// Puts the output in its place, and says what became of the records.
    fn conclude(
        &self,
        recording: &Recording,
        destination: Destination,
        images: Option<Images>,
        copied: &Copied,
        tally: Tally,
    ) -> anyhow::Result<Outcome> {
        // Names of events may be told on the way: only now all of them are known.
        if let Some(message) = self.samples.missing(&copied.schema) {
            wrong_usage(&message);
        }
        let mut issues = copied.left_out.clone();
        if self.repair {
            // That is what it is for: said, but no reason to warn whoever uses the output.
            copied.issues.iter().for_each(|issue| say(&format!("{}: {issue}", self.input.name())));
        } else {
            let mut all = copied.issues.clone();
            all.extend(&issues);
            issues = all;
        }
        let outcome = Outcome::of(&self.input, issues);
        if outcome.is_refused() {
            return Ok(outcome);
        }
        let name = destination.name();
        images.map(Images::publish).transpose()?;
        destination.publish()?;
        say(&summary(recording, &name, tally, &copied.left_out));
        Ok(outcome)
    }
}

/// One line that says what was kept and what was removed.
fn summary(recording: &Recording, name: &str, tally: Tally, left_out: &Issues) -> String {
    let Tally { samples, samples_gone, others, others_gone, unsound, mappings_added, mappings_replaced } =
        tally;
    let of = |kept: u64, gone: u64| match gone {
        0 => format!("all {kept}"),
        _ => format!("{kept} of {}", kept + gone),
    };
    let mut line =
        format!("{name}: {} samples, {} other records", of(samples, samples_gone), of(others, others_gone));
    if unsound > 0 {
        line.push_str(&format!("; records that contradict themselves were removed: {unsound}"));
    }
    if mappings_added > 0 {
        line.push_str(&format!(
            "; {mappings_added} mappings of generated code were added, {mappings_replaced} of dumps and their memory removed"
        ));
    }
    let lost: u64 = left_out.iter().map(|issue| issue.count).sum();
    if lost > 0 {
        line.push_str(&format!("; {lost} records or features could not be written"));
    }
    if recording.metadata().version == 1 {
        line.push_str("; version 1 has become version 2");
    }
    line
}
