//! The main job: functions by share, and the four tables of 2011.

use crate::input::Input;
use crate::out::{Output, create};
use crate::outcome::{Outcome, say};
use crate::progress::Progress;
use crate::symbol_options::SymbolOptions;
use anyhow::Context as _;
use clap::Args;
use readperf::Request;
use readperf::output::csv;
use readperf::output::overview::{self, Limits};
use readperf::symbols::Options;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

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

    #[command(flatten)]
    output: Output,
}

/// Runs the main job.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let Arguments { input, .. } = arguments;
    let recording = input.open()?;
    let tables =
        (!arguments.no_csv).then(|| Tables::new(arguments.csv_dir.clone().unwrap_or_default(), input));
    let mut overview_csv = match &tables {
        Some(tables) => Some(csv::overview::Overview::new(tables.create("overview.csv")?)?),
        None => None,
    };
    let mut progress = Progress::new("reading", !input.no_progress);
    let symbols = arguments.symbols.options(input)?;
    // The file of each function is shown, and no line.
    let symbols = Options { source_files: true, lines: false, inlines: false, ..symbols };
    let request = Request { symbols, statistics: true, ..Request::default() };
    let analysis = readperf::analyse_with(&recording, &request, |chunk| {
        progress.bytes(chunk.progress());
        let Some(table) = &mut overview_csv else { return Ok(()) };
        chunk.entries().iter().try_for_each(|entry| table.add(&entry.event)).map_err(anyhow::Error::from)
    })?;
    drop(progress);
    if let Some(table) = overview_csv {
        table.finish()?;
    }
    let (profile, session) = (&analysis.profile, &analysis.session);
    if let Some(tables) = &tables {
        csv::stat::write(tables.create("stat.csv")?, &analysis.statistics, &analysis.metadata.schema)?;
        csv::processes::write(tables.create("processes.csv")?, session)?;
        csv::results::write(tables.create("results.csv")?, profile, session)?;
    }
    let mut out = arguments.output.open(input)?;
    overview::write(&mut out, profile, session, Limits { percent: arguments.percent_limit })?;
    overview::write_missing(&mut out, profile, session, profile.missing_names(false))?;
    out.flush()?;
    if let Some(tables) = &tables {
        tables.tell();
    }
    let told = analysis.code_times.told().into_iter().chain(analysis.names_told);
    for told in told.filter(|_| !input.quiet) {
        say(&format!("{}: {told}", input.name()));
    }
    Ok(Outcome::of(input, analysis.issues))
}

/// The four tables, and where they go.
struct Tables<'i> {
    directory: PathBuf,
    input: &'i Input,
}

impl<'i> Tables<'i> {
    const NAMES: [&'static str; 4] = ["stat.csv", "overview.csv", "processes.csv", "results.csv"];

    fn new(directory: PathBuf, input: &'i Input) -> Self {
        Tables { directory, input }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn create(&self, name: &str) -> anyhow::Result<BufWriter<File>> {
        if self.directory != Path::new("") {
            std::fs::create_dir_all(&self.directory).with_context(|| self.directory.display().to_string())?;
        }
        let path = self.path(name);
        let hint = "--csv-dir DIR writes the tables elsewhere, --no-csv writes none";
        let file = create(&path, self.input).context(hint)?;
        Ok(BufWriter::with_capacity(1 << 16, file))
    }

    fn tell(&self) {
        let names = Self::NAMES.map(|name| self.path(name).display().to_string());
        say(&format!("wrote {}", names.join(", ")));
    }
}
