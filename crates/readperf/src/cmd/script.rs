//! `readperf script`: a line a sample, as `perf script`.

use super::Cmd;
use crate::input::Input;
use crate::out::Output;
use crate::outcome::{Outcome, say, wrong_usage};
use crate::progress::Progress;
use crate::sample_options::SampleOptions;
use crate::source_lines::SourceLines;
use crate::suggestion::hint;
use crate::symbol_options::SymbolOptions;
use anstream::adapter::strip_bytes;
use clap::Args;
use perffile::wire::attr::SampleType;
use perffile::wire::record::kind;
use perffile::{Container, Metadata, Recording};
use rayon::prelude::*;
use readperf::output::info;
use readperf::output::script::{
    self, ChoiceError, Draft, Field, FieldChoice, Inlines, Known, NextLine, NextRecord, RecordLine,
    SampleLine, Times,
};
use readperf::profile::Names;
use readperf::symbols::{Files, Options};
use readperf::{Chunk, Instructions, Namer, PassOptions, Sample, State};
use std::io::Write;

/// Samples that a thread makes the lines of in one go.
const SHARE: usize = 256;

/// Bytes of lines that wait for names: the more, the fewer look-ups, each for more places.
const MOST_WAITING: usize = 32 << 20;

/// Drafts that are completed before what they have become is written.
const DRAFTS_AT_ONCE: usize = 32;

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

    /// Most entries of a call chain
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

    /// Show source files with their directories
    #[arg(long)]
    full_source_path: bool,

    /// Say before the lines what the recording tells of itself, as readperf info, behind a #
    #[arg(long, conflicts_with = "json")]
    header: bool,

    /// Say only that
    #[arg(long, conflicts_with = "json")]
    header_only: bool,

    #[command(flatten)]
    shown: ShownRecords,

    #[command(flatten)]
    samples: SampleOptions,

    #[command(flatten)]
    symbols: SymbolOptions,

    #[command(flatten)]
    output: Output,
}

/// Records that are shown besides samples.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "More records")]
struct ShownRecords {
    /// Threads that come, go, or get a name
    #[arg(long)]
    show_task_events: bool,

    /// Mappings
    #[arg(long)]
    show_mmap_events: bool,

    /// Context switches
    #[arg(long)]
    show_switch_events: bool,

    /// Losses
    #[arg(long)]
    show_lost_events: bool,

    /// Ends of rounds
    #[arg(long)]
    show_round_events: bool,

    /// Namespaces of threads
    #[arg(long)]
    show_namespace_events: bool,

    /// Cgroups
    #[arg(long)]
    show_cgroup_events: bool,

    /// Code that the kernel generates, and BPF programs
    #[arg(long)]
    show_bpf_events: bool,

    /// Changes of the kernel's code
    #[arg(long)]
    show_text_poke_events: bool,
}

impl ShownRecords {
    /// Types of these records.
    fn kinds(&self) -> Vec<u32> {
        let choices: [(bool, &[u32]); 9] = [
            (self.show_task_events, &[kind::COMM, kind::FORK, kind::EXIT]),
            (self.show_mmap_events, &[kind::MMAP, kind::MMAP2]),
            (self.show_switch_events, &[kind::SWITCH, kind::SWITCH_CPU_WIDE]),
            (self.show_lost_events, &[kind::LOST]),
            (self.show_round_events, &[kind::FINISHED_ROUND]),
            (self.show_namespace_events, &[kind::NAMESPACES]),
            (self.show_cgroup_events, &[kind::CGROUP]),
            (self.show_bpf_events, &[kind::KSYMBOL, kind::BPF_EVENT]),
            (self.show_text_poke_events, &[kind::TEXT_POKE]),
        ];
        choices.iter().filter(|(shown, _)| *shown).flat_map(|(_, kinds)| kinds.iter().copied()).collect()
    }
}

/// What has lines.
#[derive(Clone, Copy, Debug)]
enum Next<'s, 'e> {
    Sample(NextLine<'s, 'e>),
    Record(NextRecord<'s, 'e>),
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
        let recording = if self.json { self.input.open_for_program()? } else { self.input.open()? };
        if self.header_only {
            return self.only_header(&recording);
        }
        let options = self.options();
        let symbols = self.symbol_options(&options, &recording)?;
        let pass = self.pass_options(&options, &symbols, &recording)?;
        // Whoever writes into a pipe may be still at it, and somebody is looking.
        let at_once = self.json
            || pass.data_addresses
            || pass.branches
            || !options.stop_at.is_empty()
            || options.fields.any(Field::SourceCode)
            || recording.metadata().container == Container::Pipe;
        let mut run = Run {
            files: &Files::new(),
            namer: None,
            symbols,
            script: script::Script::new(options),
            names: Names::default(),
            instructions: None,
            sources: SourceLines::default(),
            pool: self.symbols.pool()?,
            json: self.json,
            at_once,
            drafts: Vec::new(),
            texts: Vec::new(),
            waiting: 0,
        };
        let mut out = self.output.open_bytes(&self.input)?;
        if self.header {
            // A pipe can be read only once: of that what is known by now.
            match recording.metadata().container {
                Container::Pipe => write_header(&mut out, recording.metadata())?,
                _ => write_header(&mut out, &recording.read_metadata()?)?,
            }
        }
        let mut progress = Progress::new("reading", !self.input.no_progress);
        let passed = readperf::pass(&recording, &pass, |state, chunk| {
            progress.bytes(chunk.progress());
            run.show(&mut out, state, chunk)
        })?;
        drop(progress);
        run.flush(&mut out, &passed.state)?;
        if let Some(message) = self.samples.unknown_event(&passed.metadata.schema) {
            wrong_usage(&message);
        }
        out.flush()?;
        if let Some(told) = passed.code_times.told().filter(|_| !self.input.quiet) {
            say(&format!("{}: {told}", self.input.name()));
        }
        Ok(Outcome {
            input: self.input.name(),
            issues: passed.issues,
            strict: self.input.strict,
            ..Outcome::default()
        })
    }
}

/// What a recording tells of itself, as comments.
fn write_header(out: &mut impl Write, metadata: &Metadata) -> anyhow::Result<()> {
    let mut text = Vec::new();
    info::write_text(&mut text, metadata)?;
    let text = strip_bytes(&text).into_vec();
    for line in text.strip_suffix(b"\n").unwrap_or(&text).split(|byte| *byte == b'\n') {
        out.write_all(if line.is_empty() { b"#" } else { b"# " })?;
        out.write_all(line)?;
        out.write_all(b"\n")?;
    }
    out.write_all(b"#\n")?;
    Ok(())
}

impl Script {
    fn only_header(&self, recording: &Recording) -> anyhow::Result<Outcome> {
        let metadata = recording.read_metadata()?;
        let mut out = self.output.open_bytes(&self.input)?;
        write_header(&mut out, &metadata)?;
        out.flush()?;
        Ok(Outcome {
            input: self.input.name(),
            issues: metadata.issues,
            strict: self.input.strict,
            ..Outcome::default()
        })
    }

    fn options(&self) -> script::Options {
        let mut fields = FieldChoice::default();
        for choice in &self.fields {
            if let Err(error) = fields.choose(choice) {
                wrong_usage(&describe(choice, &error));
            }
        }
        script::Options {
            fields,
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
        options: &script::Options,
        symbols: &Options,
        recording: &Recording,
    ) -> anyhow::Result<PassOptions> {
        let fields = &options.fields;
        // A recording in pipe mode tells its events on the way.
        let events = recording.metadata().schema.events();
        let recorded =
            |what| events.is_empty() || events.iter().any(|event| event.attr.sample_type.has(what));
        Ok(PassOptions {
            stacks: options.chains && fields.any(Field::Ip),
            filter: self.samples.filter(recording)?,
            data_addresses: fields.any(Field::Addr) && recorded(SampleType::ADDR),
            branches: [Field::Branches, Field::BranchSymbols, Field::BranchOffsets]
                .iter()
                .any(|how| fields.any(*how))
                && recorded(SampleType::BRANCH_STACK),
            unwind: options.chains.then(|| symbols.clone()),
            code_from: Some(symbols.clone()),
            max_frames: options.max_stack,
            threads_of: options.records.clone(),
            ..PassOptions::default()
        })
    }

    /// Debugging information is read only if something of it is shown.
    fn symbol_options(&self, options: &script::Options, recording: &Recording) -> anyhow::Result<Options> {
        let events = &recording.metadata().schema;
        let unwinds =
            || events.events().iter().any(|event| event.attr.sample_type.has(SampleType::STACK_USER));
        let inlines = options.chains
            && match options.inlines {
                Inlines::All => true,
                Inlines::Unwound => unwinds(),
                Inlines::None => false,
            };
        let lines = options.fields.any(Field::SourceLine)
            || options.fields.any(Field::SourceCode)
            || self.json && !self.no_inline;
        let inlines = inlines || self.json && !self.no_inline;
        Ok(Options { inlines, lines, ..self.symbols.options(&self.input)? })
    }
}

fn describe(choice: &str, error: &ChoiceError) -> String {
    match error {
        ChoiceError::UnknownField(name) => {
            let names: Vec<&str> = FieldChoice::names().collect();
            format!(
                "no field is called {name:?}{}; there are: {}",
                hint(name, names.iter().copied()),
                names.join(", ")
            )
        }
        ChoiceError::UnknownPrefix(name) => {
            let names: Vec<&str> = FieldChoice::prefixes().collect();
            format!("no kind of event is called {name:?}; there are: {}", names.join(", "))
        }
        ChoiceError::NotShown(name, why) => format!("the field {name} is not shown: {why}"),
        ChoiceError::Invalid { prefix, field } => format!("{prefix} events have no field {field}"),
        ChoiceError::Mixed => {
            format!("{choice}: +name and -name change the usual fields, plain names replace them: use one")
        }
    }
}

/// A run over a recording.
struct Run<'f> {
    files: &'f Files,
    namer: Option<Namer<'f>>,
    symbols: Options,
    script: script::Script,
    names: Names,
    instructions: Option<Instructions>,
    sources: SourceLines,
    pool: rayon::ThreadPool,
    json: bool,
    /// Whether names are wanted with each chunk: because what is shown besides places has some, or because someone waits.
    at_once: bool,
    /// Lines that wait for names.
    drafts: Vec<Draft>,
    /// Memory for finished lines.
    texts: Vec<Vec<u8>>,
    /// How much they hold, bytes.
    waiting: usize,
}

impl Run<'_> {
    /// Shows what is in a chunk.
    fn show(&mut self, out: &mut impl Write, state: &State, chunk: &Chunk<'_>) -> anyhow::Result<()> {
        if let Err(message) = self.script.learn(chunk.metadata()) {
            wrong_usage(&message);
        }
        if self.namer.is_none() {
            self.namer = Some(Namer::new(self.files, self.symbols.clone(), chunk.metadata()));
        }
        if self.at_once {
            self.learn_names(state);
        }
        self.learn_instructions(state, chunk);
        let State { session, addresses } = state;
        let known = Known { session, addresses, names: &self.names };
        self.script.learn_threads(&known);
        let mut lines = Vec::new();
        for entry in chunk.entries() {
            lines.extend(match chunk.sample(entry) {
                Some(sample) => {
                    let mut next = self.script.follow(line_of(&sample));
                    if let (true, Some(next)) = (self.script.shows_source(), &mut next) {
                        let tid = sample.moment.sample.tid().unwrap_or(u32::MAX);
                        if let Some((text, line)) = self.sources.next(&self.names, tid, sample.address) {
                            self.script.show_source(next, &text, line);
                        }
                    }
                    next.map(Next::Sample)
                }
                None if self.json => None,
                None => {
                    let record = RecordLine { event: &entry.event, comm: entry.comm };
                    self.script.follow_record(record).map(Next::Record)
                }
            });
        }
        let (script, json, schema) = (&self.script, self.json, &*chunk.metadata().schema);
        let draft = |lines: &[Next<'_, '_>]| {
            let mut draft = Draft::with_room(lines.len());
            for line in lines {
                match line {
                    // Writing to memory does not fail.
                    Next::Sample(sample) if json => {
                        let _ = script.write_json(draft.text_mut(), &known, schema, sample);
                    }
                    Next::Sample(sample) => script.write_sample(&mut draft, &known, sample),
                    Next::Record(record) => script.write_record(draft.text_mut(), record),
                }
            }
            draft
        };
        let drafts: Vec<Draft> = self.pool.install(|| lines.par_chunks(SHARE).map(draft).collect());
        self.script.forget_sources();
        self.waiting += drafts.iter().map(Draft::size).sum::<usize>();
        self.drafts.extend(drafts);
        if self.at_once || self.waiting > MOST_WAITING { self.flush(out, state) } else { Ok(()) }
    }

    /// Learns the instructions at the places of a chunk's samples, if they are shown.
    fn learn_instructions(&mut self, state: &State, chunk: &Chunk<'_>) {
        if !self.script.shows_instructions() {
            return;
        }
        let instructions = self.instructions.get_or_insert_with(|| Instructions::new(self.symbols.clone()));
        for place in chunk.samples().map(|sample| sample.address) {
            if let (false, Some(code)) = (self.script.has_instruction(place), state.addresses.get(place)) {
                self.script.learn_instruction(place, instructions.at(&state.session, code));
            }
        }
    }

    /// Writes the lines that wait.
    fn flush(&mut self, out: &mut impl Write, state: &State) -> anyhow::Result<()> {
        self.learn_names(state);
        let drafts = std::mem::take(&mut self.drafts);
        self.waiting = 0;
        let (script, texts) = (&self.script, &mut self.texts);
        // Not all at once: of the finished text no more is held than is written soon.
        for some in drafts.chunks(DRAFTS_AT_ONCE) {
            let pieces = some.chunks(some.len().div_ceil(self.pool.current_num_threads()).max(1));
            texts.resize_with(pieces.len().max(texts.len()), Vec::new);
            let work = pieces.zip(texts.iter_mut()).map(|(drafts, text)| {
                text.clear();
                (drafts, text)
            });
            let work: Vec<(&[Draft], &mut Vec<u8>)> = work.collect();
            let complete = |(drafts, text): (&[Draft], &mut Vec<u8>)| {
                drafts.iter().for_each(|draft| script.complete(draft, text));
            };
            self.pool.install(|| work.into_par_iter().for_each(complete));
            for text in &mut *texts {
                out.write_all(text)?;
                text.clear();
            }
        }
        Ok(())
    }

    /// Learns the names of all places met so far.
    fn learn_names(&mut self, state: &State) {
        let State { session, addresses } = state;
        if let Some(namer) = &mut self.namer
            && self.names.len() < addresses.len()
        {
            namer.learn(&mut self.names, addresses, session);
        }
        self.script.prepare(&Known { session, addresses, names: &self.names });
    }
}

fn line_of<'c, 'e>(sample: &Sample<'c, 'e>) -> SampleLine<'c, 'e> {
    let Sample { event, moment, shares, address, stack, data, branches } = *sample;
    SampleLine { event, moment, shares, address, stack, data, branches }
}
