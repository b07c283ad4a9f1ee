//! The main job: functions by share, and the four tables of 2011.

mod tables;

use crate::input::Input;
use crate::out::{NameWidth, Output};
use crate::outcome::{Outcome, say, say_only_counts, unless_reader_left};
use crate::progress::Progress;
use crate::symbol_options::SymbolOptions;
use clap::Args;
use readperf::output::overview::{self, OverviewLimits};
use readperf::symbols::Options;
use readperf::{PassOptions, Request};
use std::path::PathBuf;
use tables::Tables;

/// What the main job takes.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: Input,

    /// Write the CSV files to this directory instead of the current one
    #[arg(long, value_name = "DIR")]
    csv_dir: Option<PathBuf>,

    /// Write no CSV files
    #[arg(long, conflicts_with = "csv_dir")]
    no_csv: bool,

    /// Sum up functions below this share, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    percent_limit: f64,

    #[command(flatten)]
    symbols: SymbolOptions,

    /// Show every function; otherwise about a hundred, and the others summed up in one row. The files always have all
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    name_width: NameWidth,

    #[command(flatten)]
    output: Output,
}

/// Rows that the overview has: as many as one looks through. The files have all.
const ROWS: usize = 100;

/// Runs the main job.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let Arguments { input, .. } = arguments;
    let recording = input.open()?;
    let directory = arguments.csv_dir.clone().unwrap_or_default();
    let mut tables = (!arguments.no_csv).then(|| Tables::begin(directory, input));
    let mut progress = Progress::new("reading", !input.reading.no_progress);
    let symbols = arguments.symbols.options(input)?;
    // The file of each function is shown, and no line.
    let symbols = Options { source_files: true, lines: false, inlines: false, ..symbols };
    let pass = PassOptions { shows_samples: tables.is_some(), ..PassOptions::default() };
    let request = Request { symbols, pass, statistics: true, ..Request::default() };
    let analysis = readperf::analyse_with(&recording, &request, |_, chunk| {
        progress.bytes(chunk.progress());
        if let Some(tables) = &mut tables {
            chunk.entries().iter().for_each(|entry| tables.add(&entry.event));
        }
        Ok::<(), perffile::Error>(())
    })?;
    drop(progress);
    if analysis.only_counts {
        say_only_counts(input);
    }
    if let Some(tables) = &mut tables {
        tables.finish(&analysis);
    }
    let (profile, session) = (&analysis.profile, &analysis.session);
    let mut out = arguments.output.open(&[input])?;
    let write = || {
        overview::write(&mut out, profile, session, arguments.limits())?;
        overview::write_missing(&mut out, profile, session, profile.missing_names(false))?;
        out.complete()
    };
    // Whoever has read enough of the text may want the tables all the same.
    let file = write().or_else(unless_reader_left)?;
    let told = analysis.told();
    let outcome = Outcome::of(input, analysis.issues).publishing(file)?;
    let failed = tables.is_some_and(|tables| tables.publish(&outcome));
    for told in told.iter().filter(|_| !input.quiet) {
        say(&format!("{}: {told}", input.name()));
    }
    Ok(Outcome { failed, ..outcome })
}

impl Arguments {
    fn limits(&self) -> OverviewLimits {
        OverviewLimits {
            percent: self.percent_limit,
            rows: (!self.all).then_some(ROWS),
            width: self.name_width.columns(&self.output),
        }
    }
}
