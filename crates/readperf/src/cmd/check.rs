//! `readperf check`: is this recording sound?

use super::Cmd;
use crate::input::Input;
use crate::out::{Output, told_columns};
use crate::outcome::{Outcome, say_only_counts};
use crate::progress::Progress;
use crate::symbol_options::SymbolOptions;
use clap::Args;
use perffile::wire::feature::bit;
use perffile::{Metadata, Recording};
use readperf_output::check as output;
use readperf_profile::check::{Check as Fold, CheckSurroundings, Verdict};
use readperf_session::{Binary, Session};
use std::path::Path;
use std::time::Duration;

/// Says what is wrong with a recording and what to do about it.
#[derive(Args, Debug)]
pub(crate) struct Check {
    #[command(flatten)]
    input: Input,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Do not look whether the names of the binaries, and what runtimes dumped of generated code, can be found on this machine
    #[arg(long)]
    no_names: bool,

    #[command(flatten)]
    symbols: SymbolOptions,

    #[command(flatten)]
    output: Output,
}

impl Cmd for Check {
    const NAME: &'static str = "check";
    const ABOUT: &'static str = "Say what is wrong with a recording and what to do about it";
    const EXAMPLES: &'static str = "\
Severities, worst first:
  damage  something in the recording could not be read
  loss    it can be read, but what it should hold was not recorded, or is misleading
  advice  nothing is lost, but recorded differently it would tell more
  note    worth knowing

A recording is sound if there is neither damage nor loss.
Exit status: 0 sound, or readable with losses; 1 failed, or damaged with --strict; 2 wrong usage; 3 damaged.

Examples:
  readperf check perf.data
  readperf check --json perf.data | jq '.findings[] | select(.severity == \"loss\")'";

    fn run(&self) -> anyhow::Result<Outcome> {
        let recording = if self.json { self.input.open_for_program()? } else { self.input.open()? };
        let verdict = verdict(&self.input, &recording, &self.symbols, !self.no_names)?;
        let mut out = self.output.open(&[&self.input])?;
        if self.json {
            output::write_json(&mut out, &verdict)?;
        } else {
            output::write_text(&mut out, &verdict, told_columns().unwrap_or(output::WIDTH))?;
        }
        if verdict.samples == 0 && recording.metadata().features.has(bit::STAT) {
            say_only_counts(&self.input);
        }
        Outcome::of(&self.input, verdict.issues).publishing(out.complete()?)
    }
}

/// What is said of a recording; `names`: whether it is looked for names.
fn verdict(
    input: &Input,
    recording: &Recording,
    symbols: &SymbolOptions,
    names: bool,
) -> anyhow::Result<Verdict> {
    let options = symbols.options(input)?;
    let lookup = |binaries: &[(&Binary, u64)], session: &Session, metadata: &Metadata| {
        readperf::missing_names(binaries, session, metadata, &options)
    };
    let dumps = |session: &Session, metadata: &Metadata| readperf::unused_dumps(session, metadata, &options);
    let surroundings = CheckSurroundings {
        written_ago: input.path().and_then(|path| written_ago(&path)),
        names: names.then_some(&lookup),
        dumps: names.then_some(&dumps),
    };
    let mut progress = Progress::new("checking", !input.reading.no_progress);
    Ok(Fold::run(recording, &surroundings, |done| progress.bytes(done))?)
}

/// The same as text.
#[cfg(any(feature = "browse", feature = "view"))]
pub(super) fn text(input: &Input, symbols: &SymbolOptions) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    output::write_text(&mut text, &verdict(input, &input.open()?, symbols, true)?, output::WIDTH)?;
    Ok(text)
}

/// How long ago the recording was written last: one that is written still looks like one whose recorder was killed. Of a
/// directory it is the youngest of its files.
fn written_ago(path: &Path) -> Option<Duration> {
    let modified = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    let files = std::fs::read_dir(path).into_iter().flatten().flatten();
    let youngest = files.filter_map(|file| modified(&file.path())).chain(modified(path)).max()?;
    // A time to come tells nothing.
    youngest.elapsed().ok()
}
