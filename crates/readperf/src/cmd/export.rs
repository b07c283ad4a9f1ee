//! `readperf export`: the profile in the form of another tool.

use super::Cmd;
use crate::input::Input;
use crate::out::Output;
use crate::outcome::{Outcome, wrong_usage};
use crate::progress::Progress;
use crate::sample_options::{NameOptions, SampleOptions};
use crate::suggestion::hint;
use crate::symbol_options::SymbolOptions;
use clap::{Args, ValueEnum};
use readperf::output::export::{self, Export, ExportOptions, FORMATS, Format};
use readperf::profile::{CallerAddress, Keep};
use readperf::{Analysis, PassOptions, Request};

/// What a sample counts for.
#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum Weight {
    /// Its period
    #[default]
    Period,
    /// One
    Samples,
}

/// Writes the profile in the form of another tool.
#[derive(Args, Debug)]
pub(crate) struct ExportCommand {
    #[command(flatten)]
    input: Input,

    /// The format; without it, what the name of the output file ends with says
    #[arg(short, long, value_name = "FORMAT", value_parser = format, long_help = formats_help())]
    format: Option<&'static Format>,

    /// What a sample counts for
    #[arg(long, value_enum, default_value_t)]
    weight: Weight,

    /// Tell processes apart by their ids
    #[arg(long)]
    with_pid: bool,

    /// Tell threads apart by their ids
    #[arg(long)]
    with_tid: bool,

    /// Tell CPUs apart
    #[arg(long)]
    with_cpu: bool,

    /// Mark frames of the kernel with _[k], inlined ones with _[i], those of generated code with _[j]
    #[arg(long)]
    annotate: bool,

    /// A title for people
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Do not show inlined functions as frames
    #[arg(long)]
    no_inline: bool,

    #[command(flatten)]
    samples: SampleOptions,

    #[command(flatten)]
    names: NameOptions,

    #[command(flatten)]
    symbols: SymbolOptions,

    #[command(flatten)]
    output: Output,
}

fn format(name: &str) -> Result<&'static Format, String> {
    let names = || FORMATS.iter().map(|format| format.name);
    export::by_name(name).ok_or_else(|| {
        let known: Vec<&str> = names().collect();
        format!("no format is called that{}; there are {}", hint(name, names()), known.join(", "))
    })
}

fn formats_help() -> String {
    let line = |format: &Format| format!("\n  {:<12} {}", format.name, format.help);
    let lines: String = FORMATS.iter().map(line).collect();
    format!("The format; without it, what the name of the output file ends with says:{lines}")
}

impl Cmd for ExportCommand {
    const NAME: &'static str = "export";
    const ABOUT: &'static str = "Write the profile in the form of another tool";
    const EXAMPLES: &'static str = "\
Examples:
  readperf export --format folded perf.data > stacks.folded
  readperf export perf.data -o stacks.folded";

    fn run(&self) -> anyhow::Result<Outcome> {
        let format = self.chosen_format();
        if format.binary && self.output.is_terminal() {
            wrong_usage(&format!(
                "{} is binary: it goes to a file (-o FILE) or a pipe, not to a terminal",
                format.name
            ));
        }
        let recording = self.input.open()?;
        let mut progress = Progress::new("reading", !self.input.no_progress);
        let request = Request {
            symbols: readperf::symbols::Options {
                lines: format.needs.lines,
                inlines: format.needs.lines && !self.no_inline,
                ..self.symbols.options(&self.input)
            },
            pass: PassOptions {
                stacks: true,
                callers: CallerAddress::Call,
                filter: self.samples.filter(&recording)?,
            },
            keep: Keep {
                stacks: true,
                threads: format.needs.threads || self.with_pid || self.with_tid,
                cpus: format.needs.cpus || self.with_cpu,
                times: format.needs.times,
            },
            statistics: false,
            marks: format.needs.marks,
        };
        let mut analysis = readperf::analyse_with(&recording, &request, |chunk| {
            progress.bytes(chunk.progress());
            Ok::<(), perffile::Error>(())
        })?;
        drop(progress);
        if let Some(message) = self.samples.unknown_event(&analysis.metadata.schema) {
            wrong_usage(&message);
        }
        analysis.profile.select(&self.names.filter(), &analysis.session);
        let mut out = self.output.open_bytes(&self.input)?;
        self.write(format, &analysis, &mut out)?;
        out.flush()?;
        Ok(Outcome { input: self.input.name(), issues: analysis.issues, strict: self.input.strict })
    }
}

impl ExportCommand {
    /// The format that was named, or that the output's name stands for.
    fn chosen_format(&self) -> &'static Format {
        let by_file = || self.output.file_name().and_then(|name| export::by_file_name(&name));
        self.format.or_else(by_file).unwrap_or_else(|| {
            let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            wrong_usage(&format!("which format? --format is one of {}", known.join(", ")))
        })
    }

    fn write(
        &self,
        format: &Format,
        analysis: &Analysis,
        out: &mut dyn std::io::Write,
    ) -> anyhow::Result<()> {
        let options = ExportOptions {
            weight: match self.weight {
                Weight::Period => export::Weight::Period,
                Weight::Samples => export::Weight::Samples,
            },
            with_pid: self.with_pid,
            with_tid: self.with_tid,
            with_cpu: self.with_cpu,
            annotate: self.annotate,
            event: None,
            title: self.title.clone(),
        };
        let Analysis { profile, session, metadata, marks, .. } = analysis;
        (format.write)(&Export { profile, session, metadata, marks, options: &options }, out)?;
        Ok(())
    }
}
