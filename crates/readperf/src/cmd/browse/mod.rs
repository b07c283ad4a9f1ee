//! `readperf browse`: the browser in the terminal.

mod host;

use super::Cmd;
use super::report::{Asked, Plan, RowOptions, SHOWN_AS_ZERO};
use crate::input::Input;
use crate::leaving;
use crate::outcome::{Outcome, say, wrong_usage};
use crate::profile_options::{ProfileOptions, Wanted};
use crate::source_files::SourceOptions;
use crate::stack_options::StackOptions;
use anyhow::Context as _;
use clap::Args;
use host::ProgramHost;
use perffile::{Issues, Recording};
use readperf::analysis::ListingRequest;
use readperf::explore::{Direction, Explorer, Opening, RowOptions as Rows, State, Step};
use readperf::output::report::CellStyle;
use readperf::profile::view::column::Column;
use readperf::profile::{SampleFilter, Selection};
use readperf::symbols::Files;
use readperf_browse::{App, Early, Look, Opened, run};
use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Looks into a recording in the terminal.
#[derive(Args, Debug)]
pub(crate) struct Browse {
    #[command(flatten)]
    input: Input,

    /// Show what has changed since this recording
    #[arg(long, value_name = "RECORDING")]
    base: Option<PathBuf>,

    #[command(flatten)]
    rows: RowOptions,

    /// Show the number of samples
    #[arg(short = 'n', long)]
    show_nr_samples: bool,

    /// Show the sum of periods
    #[arg(long)]
    show_total_period: bool,

    /// Show callers below rows, not what they call
    #[arg(long)]
    callers: bool,

    /// Show source files with their directories
    #[arg(long)]
    full_source_path: bool,

    #[command(flatten)]
    source: SourceOptions,

    #[command(flatten)]
    stacks: StackOptions,

    #[command(flatten)]
    profile: ProfileOptions,
}

/// What the thread that reads leaves behind: what was wrong, and what is to be said.
type Read = anyhow::Result<(Issues, Vec<String>)>;

impl Cmd for Browse {
    const NAME: &'static str = "browse";
    const ABOUT: &'static str = "Look into a recording in the terminal: rows, calls, code, flame graph, time";
    const EXAMPLES: &'static str = "\
? shows the keys. Options that choose samples or change stacks are the first steps; Esc takes them back.

Examples:
  readperf browse                              ./perf.data
  readperf browse --sort dso,symbol perf.data
  readperf browse --base before.data after.data
  perf record -g -o - -- make | readperf browse -";

    fn run(&self) -> anyhow::Result<Outcome> {
        if self.profile.output.file_name().is_some() {
            wrong_usage("browse shows a recording on the terminal: P prints what is seen to a file");
        }
        is_terminal()?;
        let mut input = self.input.clone();
        (input.quiet, input.reading.no_progress) = (true, true);
        let recording = input.open()?;
        let plan = self.plan(&recording);
        let steps = self.steps(&recording)?;
        let opening = self.opening(&input, &plan)?;
        let base = self.base.as_ref().map(|file| input.instead(file.clone()));
        let base = base.map(|input| Ok::<_, anyhow::Error>((input.open()?, input))).transpose()?;
        let color = self.profile.output.color_choice() != anstream::ColorChoice::Never;
        let columns = plan.sorting.columns.clone();
        let look = Look {
            name: input.name(),
            base: base.as_ref().map(|(_, input)| input.name()),
            columns,
            cells: CellStyle { full_paths: self.full_source_path },
            color,
        };
        let options = self.profile.symbols.options(&input)?;
        let files = Files::new();
        let (sender, opened) = channel();
        let read = thread::scope(|scope| {
            let options = &options;
            let (files, recording, opening, base) = (&files, &recording, &opening, base.as_ref());
            let reading = move || self.read(files, recording, opening, steps, base, &sender);
            let reader = thread::Builder::new().name("reading".to_owned()).spawn_scoped(scope, reading);
            let reader = reader.context("a thread to read with")?;
            leaving::with_terminal(readperf_browse::restore);
            let host = ProgramHost::new(&input, &self.source, &self.profile.symbols, options);
            let shown = run(&opened, &look.name.clone(), color, |explorer, size| {
                App::new(explorer, Box::new(host), look, size)
            });
            leaving::without_terminal();
            let shown = shown.context("the terminal")?;
            if !shown && !reader.is_finished() {
                // What is still read is of no use to anybody.
                leaving::at_once();
            }
            match reader.join() {
                Ok(read) => Ok::<Read, anyhow::Error>(read),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })?;
        let (issues, told) = read.with_context(|| input.name())?;
        told.iter().for_each(|told| say(&format!("{}: {told}", input.name())));
        Ok(Outcome::of(&self.input, issues))
    }
}

impl Browse {
    /// What rows are, by the events and the options.
    fn plan(&self, recording: &Recording) -> Plan {
        let asked = Asked {
            graph: None,
            inverted: false,
            hierarchy: false,
            is_for_program: false,
            lines: false,
            by_stack: true,
            numbers: &|children| self.numbers(children),
        };
        self.rows.plan(recording.metadata(), &asked).unwrap_or_else(|message| wrong_usage(&message))
    }

    /// The columns of numbers.
    fn numbers(&self, children: bool) -> Vec<Column> {
        let columns = [
            (children, Column::Children),
            (true, Column::Overhead),
            (self.show_nr_samples, Column::Samples),
            (self.show_total_period, Column::Period),
        ];
        columns.into_iter().filter(|(wanted, _)| *wanted).map(|(_, column)| column).collect()
    }

    /// What the options choose, as steps.
    fn steps(&self, recording: &Recording) -> anyhow::Result<Vec<Step>> {
        let samples = self.profile.samples.filter(recording)?;
        let selection = Selection { samples, ..self.profile.selection(&self.stacks) };
        let chosen = self.rows.filters.before(selection, recording)?;
        Ok(chosen.into_iter().flat_map(Step::of_selection).collect())
    }

    /// What is wanted of the recording.
    fn opening(&self, input: &Input, plan: &Plan) -> anyhow::Result<Opening> {
        let wanted = self.wanted(plan);
        let Plan { sorting, children, .. } = plan;
        let by_mode = sorting.columns.iter().chain(&sorting.order).any(|column| column.is_by_mode());
        Ok(Opening {
            request: self.profile.request(input, SampleFilter::default(), &wanted)?,
            details: wanted.details,
            rows: Rows {
                keys: sorting.keys.clone(),
                order: sorting.order.clone(),
                children: *children,
                inline: !self.rows.no_inline,
                by_mode,
                named: self.rows.filters.hide_unresolved,
                whole: self.rows.whole(),
                least_percent: self.rows.percent_limit.unwrap_or(SHOWN_AS_ZERO),
                threads: self.profile.symbols.thread_count(),
            },
            parent: Some(self.rows.filters.parent_pattern()),
            listings: ListingRequest::default(),
            early: true,
        })
    }

    fn wanted(&self, plan: &Plan) -> Wanted {
        let Plan { keep, lines, inlines, details, .. } = plan;
        Wanted {
            keep: *keep,
            lines: *lines,
            inlines: *inlines,
            details: details.clone(),
            ..Wanted::default()
        }
    }

    /// Reads the recording and what it is compared with; makes the first rows, so that they are there when the browser begins.
    fn read<'f>(
        &self,
        files: &'f Files,
        recording: &Recording,
        opening: &Opening,
        steps: Vec<Step>,
        base: Option<&(Recording, Input)>,
        sender: &Sender<Opened<Explorer<'f>>>,
    ) -> Read {
        let mut explorer = Explorer::open(files, recording, opening, |progress| {
            // Nobody listens any more where the user has gone.
            let _ = sender.send(Opened::Early(Early::of(&progress)));
        })?;
        if let Some((recording, input)) = base {
            let wanted = Wanted { details: opening.details.clone(), ..self.wanted(&self.plan(recording)) };
            let filter = SampleFilter::default();
            explorer.set_base(self.profile.read(input, recording, filter, &wanted, |_, _| ())?);
        }
        let calls = if self.callers { Direction::Callers } else { Direction::default() };
        explorer.go(State { steps, calls, ..explorer.state().clone() });
        explorer.rows();
        let analysis = explorer.analysis();
        let mut told = analysis.told();
        told.extend(self.profile.samples.missing(&analysis.metadata.schema));
        let read = (analysis.issues.clone(), told);
        let _ = sender.send(Opened::Ready(Box::new(explorer)));
        Ok(read)
    }
}

/// Whether there is a terminal to show something on, and to take keys from.
fn is_terminal() -> anyhow::Result<()> {
    let keys = io::stdin().is_terminal() || File::open("/dev/tty").is_ok();
    anyhow::ensure!(
        io::stdout().is_terminal() && keys,
        "browse needs a terminal; `readperf report` prints the same rows anywhere"
    );
    Ok(())
}
