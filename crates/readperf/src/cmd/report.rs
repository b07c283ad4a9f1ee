//! `readperf report`: functions by share, as text or JSON.

use super::Cmd;
use crate::input::Input;
use crate::out::Output;
use crate::outcome::{Outcome, wrong_usage};
use crate::progress::Progress;
use crate::sample_options::{NameOptions, SampleOptions};
use crate::symbol_options::SymbolOptions;
use clap::Args;
use readperf::output::overview::{self, Limits};
use readperf::output::report as output;
use readperf::{PassOptions, Request};

/// Shows functions by their own share.
#[derive(Args, Debug)]
pub(crate) struct Report {
    #[command(flatten)]
    input: Input,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Sum up functions below this share, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    percent_limit: f64,

    #[command(flatten)]
    samples: SampleOptions,

    #[command(flatten)]
    names: NameOptions,

    #[command(flatten)]
    symbols: SymbolOptions,

    #[command(flatten)]
    output: Output,
}

impl Cmd for Report {
    const NAME: &'static str = "report";
    const ABOUT: &'static str = "Show functions by their share of each event";
    const EXAMPLES: &'static str = "\
Examples:
  readperf report perf.data
  readperf report --json perf.data | jq '.events[0].rows[:5]'";

    fn run(&self) -> anyhow::Result<Outcome> {
        let recording = if self.json { self.input.open_for_program()? } else { self.input.open()? };
        let mut progress = Progress::new("reading", !self.input.no_progress);
        let pass = PassOptions { filter: self.samples.filter(&recording)?, ..PassOptions::default() };
        let request = Request { symbols: self.symbols.options(&self.input), pass, ..Request::default() };
        let mut analysis = readperf::analyse_with(&recording, &request, |chunk| {
            progress.bytes(chunk.progress());
            Ok::<(), perffile::Error>(())
        })?;
        drop(progress);
        if let Some(message) = self.samples.unknown_event(&analysis.metadata.schema) {
            wrong_usage(&message);
        }
        analysis.profile.select(&self.names.filter(), &analysis.session);
        let mut out = self.output.open(&self.input)?;
        if self.json {
            output::write_json(&mut out, &analysis.profile, &analysis.session)?;
        } else {
            let limits = Limits { percent: self.percent_limit };
            overview::write(&mut out, &analysis.profile, &analysis.session, limits)?;
            overview::write_missing(&mut out, &analysis.profile, &analysis.session)?;
        }
        out.flush()?;
        Ok(Outcome { input: self.input.name(), issues: analysis.issues, strict: self.input.strict })
    }
}
