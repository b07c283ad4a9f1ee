//! `readperf script`: a line a sample, as `perf script`.

mod destination;
mod fields;
mod finisher;
mod from_perf;
mod lines;
mod naming;
mod records;

use super::Cmd;
use crate::from_perf::FromPerf;
use crate::header::write_header;
use crate::input::Input;
use crate::outcome::{Outcome, say, say_only_counts, wrong_usage};
use crate::profile_options::ProfileOptions;
use crate::progress::Progress;
use crate::source_lines::SourceLines;
use clap::Args;
use destination::Destination;
use finisher::{Finisher, Writer};
use from_perf::OfScript;
use lines::{How, Lines};
use perffile::wire::attr::SampleType;
use perffile::{Container, Recording};
use readperf::output::script::{self, Inlines, ScriptField, Times};
use readperf::profile::CallerAddress;
use readperf::symbols::{Files, Options};
use readperf::{OnlyCounts, PassOptions, Passed};
use readperf_pack::Unpacked;
use records::ShownRecords;
use std::thread;

/// Places that are held at a time, with their names and lines: about 110 bytes each. There are more only in recordings of gigabytes, and in
/// tests.
const MOST_PLACES: usize = if cfg!(debug_assertions) { 1 << 8 } else { 1 << 22 };

/// Fields that need to know where branches are.
const BRANCHES: [ScriptField; 5] = [
    ScriptField::Branches,
    ScriptField::BranchSymbols,
    ScriptField::BranchOffsets,
    ScriptField::BranchCode,
    ScriptField::BranchCodeLengths,
];

/// Shows a line for each sample.
#[derive(Args, Debug)]
pub(crate) struct Script {
    #[command(flatten)]
    input: Input,

    /// Print one JSON object a line
    #[arg(long, conflicts_with_all = ["fields", "ns", "reltime", "deltatime"])]
    json: bool,

    /// The fields of a line: names, or +name and -name to change the usual ones; hw:, sw:, trace: or raw: before them says for
    /// which kind of event. May be given more than once
    #[arg(short = 'F', long = "fields", value_name = "FIELDS", allow_hyphen_values = true)]
    fields: Vec<String>,

    /// Times to the nanosecond
    #[arg(long)]
    ns: bool,

    /// Times since the first line
    #[arg(long)]
    reltime: bool,

    /// Times since the line before
    #[arg(long, conflicts_with = "reltime")]
    deltatime: bool,

    /// Show only where samples were taken, without call chains
    #[arg(short = 'G', long)]
    hide_call_graph: bool,

    /// At most this many entries of a call chain
    #[arg(long, value_name = "N", default_value_t = script::MAX_STACK)]
    max_stack: usize,

    /// Show call chains only up to the first of these functions
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    stop_bt: Vec<String>,

    /// Show inlined functions in all call chains [default: as perf, in those that are unwound from a copy of the stack]
    #[arg(long)]
    inline: bool,

    /// Show no inlined functions
    #[arg(long, conflicts_with = "inline")]
    no_inline: bool,

    /// For brstackinsn: show the code before the sample and before this many branches
    #[arg(long, value_name = "N")]
    max_blocks: Option<usize>,

    /// Show source files with their directories
    #[arg(long)]
    full_source_path: bool,

    /// Begin with what the recording says of itself, as readperf info tells it, in lines that begin with #
    #[arg(long, conflicts_with = "json")]
    header: bool,

    /// Show only what the recording says of itself
    #[arg(long, conflicts_with = "json")]
    header_only: bool,

    #[command(flatten)]
    shown: ShownRecords,

    /// Write the lines of each event to a file of its own beside the recording, FILE.EVENT.dump
    #[arg(long, conflicts_with_all = ["json", "output"])]
    per_event_dump: bool,

    #[command(flatten)]
    profile: ProfileOptions,

    #[command(flatten)]
    foreign: FromPerf<OfScript>,
}

impl Cmd for Script {
    const NAME: &'static str = "script";
    const ABOUT: &'static str = "Show a line for each sample, as perf script";
    const EXAMPLES: &'static str = "\
Examples:
  readperf script perf.data | less
  readperf script -F comm,tid,time,ip,sym perf.data
  readperf script -F +srcline,-period --time 10%-20% perf.data
  readperf script --json perf.data | jq -r '.frames[0].symbol' | sort | uniq -c
  readperf script perf.data | stackcollapse-perf.pl | flamegraph.pl > out.svg";

    fn run(&self) -> anyhow::Result<Outcome> {
        self.foreign.check();
        let recording = if self.json { self.input.open_for_program()? } else { self.input.open()? };
        if self.header_only {
            return self.only_header(&recording);
        }
        let options = self.options();
        let symbols = self.symbol_options(&options, &recording)?;
        let pass = self.pass_options(&options, &symbols, &recording)?;
        let filter = self.profile.names.filter();
        // Whoever writes into a pipe may be still at it, and somebody is looking.
        let at_once = self.json
            || !filter.is_open()
            || pass.data_addresses
            || pass.branches
            || recording.metadata().container == Container::Pipe;
        let how =
            How { json: self.json, at_once, filter, max_blocks: self.max_blocks.filter(|most| *most > 0) };
        let (files, pool) = (Files::new(), self.profile.symbols.pool()?);
        let sources = SourceLines::new(self.input.unpacked()?.map(Unpacked::sources));
        let lines = Lines::new(&files, symbols.clone(), script::Script::new(options), sources, how);
        let mut out = Destination::new(
            self.profile.output.open_bytes(&[&self.input])?,
            &self.input,
            self.per_event_dump,
        );
        if self.header {
            // A pipe can be read only once: of that what is known by now.
            match recording.metadata().container {
                Container::Pipe => write_header(&mut out.main(), recording.metadata())?,
                _ => write_header(&mut out.main(), &recording.read_metadata()?)?,
            }
        }
        // Lines that do not wait for names are written where they are made.
        let is_beside = !at_once && !self.per_event_dump && pool.current_num_threads() > 1;
        let mut only_counts = OnlyCounts::default();
        let (mut passed, names_told, mut out) = thread::scope(|scope| {
            let writer = Writer::new(&pool, out);
            let finisher = if is_beside { Finisher::beside(scope, writer) } else { Finisher::Here(writer) };
            self.show_lines(&recording, &pass, lines, finisher, &mut only_counts)
        })?;
        if let Some(message) = self.profile.samples.missing(&passed.metadata.schema) {
            wrong_usage(&message);
        }
        if only_counts.is_so(&passed.metadata) {
            say_only_counts(&self.input);
        }
        out.learn(&passed.metadata.schema)?;
        readperf::add_losses(&mut passed.issues, &symbols);
        let outcome = Outcome::of(&self.input, passed.issues).publishing(out.complete()?)?;
        let told =
            passed.stack_ends.told_of_dumps().into_iter().chain(passed.code_times.told()).chain(names_told);
        for told in told.filter(|_| !self.input.quiet) {
            say(&format!("{}: {told}", self.input.name()));
        }
        Ok(outcome)
    }
}

impl Script {
    /// Shows the lines of a recording. What is left of the pass, where names come from that must be said, and where lines went.
    fn show_lines<'f, 'i>(
        &self,
        recording: &Recording,
        pass: &PassOptions,
        mut lines: Lines<'f>,
        mut finisher: Finisher<'_, 'f, 'i>,
        only_counts: &mut OnlyCounts,
    ) -> anyhow::Result<(Passed, Option<String>, Destination<'i>)> {
        let mut progress = Progress::new("reading", !self.input.reading.no_progress);
        let unmapped_apart = lines.shows_places_alone(recording.metadata());
        let pass = &PassOptions {
            unmapped_apart,
            places_may_come_later: unmapped_apart && !self.per_event_dump,
            is_concurrent: matches!(finisher, Finisher::Beside(_)),
            ..pass.clone()
        };
        let mut passed = readperf::pass_seeing(recording, pass, &mut lines, |state, chunk, lines| {
            progress.bytes(chunk.progress());
            only_counts.see(chunk);
            lines.show(&mut finisher, state, chunk)
        })?;
        drop(progress);
        let (names_told, out) = lines.end(finisher, &mut passed.state)?;
        Ok((passed, names_told, out))
    }

    fn only_header(&self, recording: &Recording) -> anyhow::Result<Outcome> {
        let metadata = recording.read_metadata()?;
        let mut out = self.profile.output.open_bytes(&[&self.input])?;
        write_header(&mut out, &metadata)?;
        Outcome::of(&self.input, metadata.issues).publishing(out.complete()?)
    }

    fn options(&self) -> script::ScriptOptions {
        script::ScriptOptions {
            fields: fields::choose(&self.fields),
            nanoseconds: self.ns,
            times: match (self.reltime, self.deltatime) {
                (true, _) => Times::SinceFirst,
                (_, true) => Times::SinceLast,
                _ => Times::Recorded,
            },
            chains: !self.hide_call_graph,
            max_stack: self.max_stack,
            stop_at: self.stop_bt.clone(),
            inlines: match (self.inline, self.no_inline) {
                (true, _) => Inlines::All,
                (_, true) => Inlines::None,
                _ => Inlines::Unwound,
            },
            full_source_path: self.full_source_path,
            records: self.shown.kinds(),
        }
    }

    fn pass_options(
        &self,
        options: &script::ScriptOptions,
        symbols: &Options,
        recording: &Recording,
    ) -> anyhow::Result<PassOptions> {
        let fields = &options.fields;
        // A recording in pipe mode tells its events on the way.
        let events = recording.metadata().schema.events();
        let recorded =
            |what| events.is_empty() || events.iter().any(|event| event.attr.sample_type.has(what));
        Ok(PassOptions {
            stacks: options.chains && fields.any(ScriptField::Ip) || self.profile.names.needs_stacks(),
            filter: self.profile.samples.filter(recording)?,
            data_addresses: fields.any(ScriptField::Addr) && recorded(SampleType::ADDR),
            branches: BRANCHES.iter().any(|how| fields.any(*how)) && recorded(SampleType::BRANCH_STACK),
            unwind: options.chains.then(|| symbols.clone()),
            code_from: Some(symbols.clone()),
            max_frames: options.max_stack,
            statistics: false,
            shows_samples: true,
            threads_of: options.records.clone(),
            is_concurrent: false,
            places_may_come_later: false,
            without_places: false,
            unmapped_apart: false,
            places_of_binaries: false,
            // What is shown of a thread's last line goes by the number of its file.
            most_places: (!fields.any(ScriptField::SourceCode)).then_some(MOST_PLACES),
            // Plain text is perf's, which looks callers up at the return address. What is inlined is found at the call.
            callers: if self.json || options.inlines == Inlines::All {
                CallerAddress::Call
            } else {
                CallerAddress::Return
            },
        })
    }

    /// Debugging information is read only if something of it is shown.
    fn symbol_options(
        &self,
        options: &script::ScriptOptions,
        recording: &Recording,
    ) -> anyhow::Result<Options> {
        let events = &recording.metadata().schema;
        let unwinds =
            || events.events().iter().any(|event| event.attr.sample_type.has(SampleType::STACK_USER));
        let inlines = options.chains
            && match options.inlines {
                Inlines::All => true,
                Inlines::Unwound => unwinds(),
                Inlines::None => false,
            };
        let lines = options.fields.any(ScriptField::SourceLine)
            || options.fields.any(ScriptField::SourceCode)
            || self.json && !self.no_inline;
        let inlines = inlines || self.json && !self.no_inline;
        Ok(Options { inlines, lines, source_files: false, ..self.profile.symbols.options(&self.input)? })
    }
}
