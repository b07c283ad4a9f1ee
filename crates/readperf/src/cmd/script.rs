//! `readperf script`: a line a sample, as `perf script`.

use super::Cmd;
use crate::input::Input;
use crate::out::Output;
use crate::outcome::{Outcome, wrong_usage};
use crate::progress::Progress;
use crate::sample_options::SampleOptions;
use crate::suggestion::hint;
use crate::symbol_options::SymbolOptions;
use clap::Args;
use perffile::Recording;
use perffile::wire::attr::SampleType;
use rayon::prelude::*;
use readperf::output::script::{
    self, ChoiceError, Field, FieldChoice, Inlines, Known, NextLine, SampleLine, Times,
};
use readperf::profile::Names;
use readperf::symbols::{Files, Options};
use readperf::{Chunk, Namer, PassOptions, State};
use std::io::Write;

/// Samples that a thread makes the lines of in one go.
const SHARE: usize = 256;

/// Shows a line for each sample.
#[derive(Args, Debug)]
pub(crate) struct Script {
    #[command(flatten)]
    input: Input,

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

    /// Show inlined functions in all call chains [default: as perf, in those that are unwound from a copy of the stack]
    #[arg(long)]
    inline: bool,

    /// Show no inlined functions
    #[arg(long, conflicts_with = "inline")]
    no_inline: bool,

    /// Show source files with their directories
    #[arg(long)]
    full_source_path: bool,

    #[command(flatten)]
    samples: SampleOptions,

    #[command(flatten)]
    symbols: SymbolOptions,

    #[command(flatten)]
    output: Output,
}

impl Cmd for Script {
    const NAME: &'static str = "script";
    const ABOUT: &'static str = "Show a line for each sample, as perf script";
    const EXAMPLES: &'static str = "\
Examples:
  readperf script perf.data | less
  readperf script -F comm,tid,time,ip,sym perf.data
  readperf script -F +srcline,-period --time 10%-20% perf.data
  readperf script perf.data | stackcollapse-perf.pl | flamegraph.pl > out.svg";

    fn run(&self) -> anyhow::Result<Outcome> {
        let recording = self.input.open()?;
        let options = self.options();
        let symbols = self.symbol_options(&options, &recording)?;
        let pass = self.pass_options(&options, &symbols, &recording)?;
        let mut run = Run {
            files: &Files::new(),
            namer: None,
            symbols,
            script: script::Script::new(options),
            names: Names::default(),
            pool: self.symbols.pool()?,
        };
        let mut out = self.output.open_bytes(&self.input)?;
        let mut progress = Progress::new("reading", !self.input.no_progress);
        let passed = readperf::pass(&recording, &pass, |state, chunk| {
            progress.bytes(chunk.progress());
            run.show(&mut out, state, chunk)
        })?;
        drop(progress);
        if let Some(message) = self.samples.unknown_event(&passed.metadata.schema) {
            wrong_usage(&message);
        }
        out.flush()?;
        Ok(Outcome {
            input: self.input.name(),
            issues: passed.issues,
            strict: self.input.strict,
            ..Outcome::default()
        })
    }
}

impl Script {
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
            inlines: match (self.inline, self.no_inline) {
                (true, _) => Inlines::All,
                (_, true) => Inlines::None,
                _ => Inlines::Unwound,
            },
            full_source_path: self.full_source_path,
        }
    }

    fn pass_options(
        &self,
        options: &script::Options,
        symbols: &Options,
        recording: &Recording,
    ) -> anyhow::Result<PassOptions> {
        let fields = &options.fields;
        Ok(PassOptions {
            stacks: options.chains && fields.any(Field::Ip),
            filter: self.samples.filter(recording)?,
            data_addresses: fields.any(Field::Addr),
            branches: [Field::Branches, Field::BranchSymbols, Field::BranchOffsets]
                .iter()
                .any(|how| fields.any(*how)),
            unwind: options.chains.then(|| symbols.clone()),
            max_frames: options.max_stack,
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
        let lines = options.fields.any(Field::SourceLine);
        Ok(Options { inlines, lines: lines || inlines, ..self.symbols.options(&self.input)? })
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
    pool: rayon::ThreadPool,
}

impl Run<'_> {
    /// Shows the samples of a chunk.
    fn show(&mut self, out: &mut impl Write, state: &State, chunk: &Chunk<'_>) -> anyhow::Result<()> {
        if let Err(message) = self.script.learn(chunk.metadata()) {
            wrong_usage(&message);
        }
        let namer =
            self.namer.get_or_insert_with(|| Namer::new(self.files, self.symbols.clone(), chunk.metadata()));
        if self.names.len() < state.addresses.len() {
            namer.learn(&mut self.names, &state.addresses, &state.session);
        }
        let State { session, addresses } = state;
        let known = Known { session, addresses, names: &self.names };
        self.script.prepare(&known);
        let mut lines = Vec::new();
        for sample in chunk.samples() {
            lines.extend(self.script.follow(SampleLine {
                event: sample.event,
                moment: sample.moment,
                shares: sample.shares,
                address: sample.address,
                stack: sample.stack,
                data: sample.data,
                branches: sample.branches,
            }));
        }
        let script = &self.script;
        let texts: Vec<Vec<u8>> = self.pool.install(|| {
            let shares = lines.par_chunks(SHARE);
            let text = |lines: &[NextLine<'_, '_>]| {
                let mut text = Vec::new();
                for line in lines {
                    script.write_sample(&mut text, &known, line);
                }
                text
            };
            shares.map(text).collect()
        });
        for text in texts {
            out.write_all(&text)?;
        }
        Ok(())
    }
}
