//! `readperf check`: is this recording sound?

use super::Cmd;
use crate::input::Input;
use crate::out::Output;
use crate::outcome::{Outcome, say_only_counts};
use crate::progress::Progress;
use crate::symbol_options::SymbolOptions;
use clap::Args;
use perffile::{Metadata, Recording};
use perffile::wire::feature::bit;
use readperf_output::check as output;
use readperf::symbols::Options;
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
        let options = (!self.no_names).then(|| self.symbols.options(&self.input)).transpose()?;
        let recording = if self.json { self.input.open_for_program()? } else { self.input.open()? };
        let mut progress = Progress::new("checking", !self.input.no_progress);
        let written_ago = self.input.path().and_then(|path| written_ago(&path));
        let verdict = judge(&recording, written_ago, options.as_ref(), |done| progress.bytes(done))?;
        drop(progress);
        let mut out = self.output.open(&[&self.input])?;
        if self.json {
            output::write_json(&mut out, &verdict)?;
        } else {
            output::write_text(&mut out, &verdict, width())?;
        }
        if verdict.samples == 0 && recording.metadata().features.has(bit::STAT) {
            say_only_counts(&self.input);
        }
        Outcome::of(&self.input, verdict.issues).publishing(out.complete()?)
    }
}

/// Checks a recording, and with `options` whether names can be found. `watch` is told how far that is, in bytes.
pub(crate) fn judge(
    recording: &Recording,
    written_ago: Option<Duration>,
    options: Option<&Options>,
    watch: impl FnMut((u64, u64)),
) -> perffile::Result<Verdict> {
    let none = Options::default();
    let of_names = options.unwrap_or(&none);
    let lookup = |binaries: &[(&Binary, u64)], session: &Session, metadata: &Metadata| {
        readperf::missing_names(binaries, session, metadata, of_names)
    };
    let dumps = |session: &Session, metadata: &Metadata| readperf::unused_dumps(session, metadata, of_names);
    let surroundings = CheckSurroundings {
        written_ago,
        names: options.is_some().then_some(&lookup),
        dumps: options.is_some().then_some(&dumps),
    };
    Fold::run(recording, &surroundings, watch)
}

/// How long ago the recording was written last: one that is written still looks like one whose recorder was killed. Of a
/// directory it is the youngest of its files.
pub(crate) fn written_ago(path: &Path) -> Option<Duration> {
    let modified = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    let files = std::fs::read_dir(path).into_iter().flatten().flatten();
    let youngest = files.filter_map(|file| modified(&file.path())).chain(modified(path)).max()?;
    // A time to come tells nothing.
    youngest.elapsed().ok()
}

/// Columns of the terminal, where the shell tells them.
fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.unwrap_or(output::WIDTH)
}
