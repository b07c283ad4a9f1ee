//! `readperf report`: histograms of samples, as text, JSON or CSV.

mod call_graph;
mod group;
mod mode;
mod plan;
mod sorting;

use super::Cmd;
use crate::input::Input;
use crate::out::Output;
use crate::outcome::{Outcome, say, wrong_usage};
use crate::pager::Pager;
use crate::progress::Progress;
use crate::sample_options::{NameOptions, SampleOptions, pattern};
use crate::symbol_options::SymbolOptions;
use call_graph::CallGraph;
use clap::{Args, ValueEnum};
use perffile::Metadata;
use plan::Plan;
use readperf::output::report as output;
use readperf::output::{info, overview};
use readperf::profile::profile::EventTotal;
use readperf::profile::view::column::NUMBERS;
use readperf::profile::view::facts::Facts;
use readperf::profile::view::graph::GraphOrder;
use readperf::profile::view::histogram::{Histogram, HistogramOptions, Histograms};
use readperf::profile::view::key::KEYS;
use readperf::profile::view::surroundings::Surroundings;
use readperf::{Analysis, PassOptions, Request};
use regex_lite::Regex;
use std::io::Write;

/// Shares below this, in percent, are shown as 0.00 %.
const SHOWN_AS_ZERO: f64 = 0.005;

/// What 100 % is, if samples are filtered by name.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Percentage {
    /// All samples
    #[default]
    Absolute,
    /// The samples that pass
    Relative,
}

/// Shows what samples add up to.
#[derive(Args, Debug)]
pub(crate) struct Report {
    #[command(flatten)]
    input: Input,

    /// What makes a row: keys, separated by commas; with + before them, besides the usual ones. The keys are listed below
    #[arg(short, long, value_name = "KEYS", long_help = keys_help())]
    sort: Option<String>,

    /// The columns, from left to right: keys and overhead, overhead_children, overhead_sys, overhead_us, overhead_guest_sys,
    /// overhead_guest_us, sample, period; with + before them, besides the usual ones
    #[arg(short = 'F', long, value_name = "COLUMNS")]
    fields: Option<String>,

    /// Sum up what functions call, too [default if stacks are recorded]
    #[arg(long, overrides_with = "no_children")]
    children: bool,

    /// Only count samples where they were taken
    #[arg(long, overrides_with = "children")]
    no_children: bool,

    /// Show the call graph of each row, by perf's words in any order: graph, fractal, flat or folded; caller (what it calls) or
    /// callee (who calls it); the least share of a branch in percent [0.5]; function, address or srcline; percent or period.
    /// none shows no graphs
    #[arg(short = 'g', long, value_name = "WORDS", num_args = 0..=1, default_missing_value = "graph")]
    call_graph: Option<String>,

    /// Show call graphs from callers to callees
    #[arg(short = 'G', long)]
    inverted: bool,

    /// Only this many places of a stack, from the innermost
    #[arg(long, value_name = "N")]
    max_stack: Option<usize>,

    /// Do not show inlined functions as levels of stacks
    #[arg(long, overrides_with = "inline")]
    no_inline: bool,

    /// Show inlined functions as levels of stacks [default]
    #[arg(long, overrides_with = "no_inline")]
    inline: bool,

    /// What the key parent looks for in stacks
    #[arg(short, long, value_name = "REGEX", default_value = "^sys_|^do_page_fault", value_parser = pattern)]
    parent: Regex,

    /// Steps of the key time: 100ms, 1s, 10us
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = quantum)]
    time_quantum: u64,

    /// Show fields of tracepoints as stored
    #[arg(long)]
    raw_trace: bool,

    /// Show memory accesses, weighted by their latency
    #[arg(long, conflicts_with = "branch_stack")]
    mem_mode: bool,

    /// Show branches, one sample each [default if branch stacks are recorded]
    #[arg(short, long, overrides_with = "no_branch_stack")]
    branch_stack: bool,

    /// Show where samples were taken, though branch stacks are recorded
    #[arg(long, overrides_with = "branch_stack")]
    no_branch_stack: bool,

    /// Sum up rows below this share, in percent [default: as text what would be shown as 0.00 %, else nothing]
    #[arg(long, value_name = "PERCENT")]
    percent_limit: Option<f64>,

    /// What 100 % is when --comm, --dso or --symbol let only some samples through
    #[arg(long, value_enum, default_value_t)]
    percentage: Percentage,

    /// Show the number of samples
    #[arg(short = 'n', long)]
    show_nr_samples: bool,

    /// Show the sum of periods
    #[arg(long)]
    show_total_period: bool,

    /// Show the events of a group side by side; all events if the recording has no groups
    #[arg(long)]
    group: bool,

    /// Show what the recording says of itself first
    #[arg(long)]
    header: bool,

    /// Use no pager
    #[arg(long)]
    no_pager: bool,

    /// Print JSON
    #[arg(long, conflicts_with_all = ["csv", "field_separator"])]
    json: bool,

    /// Print comma-separated values
    #[arg(long)]
    csv: bool,

    /// Print values with this character between them
    #[arg(short = 't', long, value_name = "CHARACTER", value_parser = separator)]
    field_separator: Option<u8>,

    #[command(flatten)]
    samples: SampleOptions,

    #[command(flatten)]
    names: NameOptions,

    #[command(flatten)]
    symbols: SymbolOptions,

    #[command(flatten)]
    output: Output,
}

fn keys_help() -> String {
    let mut text = "What makes a row: keys, separated by commas; with + before them, besides the usual ones \
                    (comm,dso,symbol; other ones for branches, memory accesses and tracepoints).\n"
        .to_owned();
    for key in KEYS {
        text.push_str(&format!("\n  {:<18} {}", key.name, key.help));
    }
    text.push_str(
        "\n  [EVENT.]FIELD[/raw] a field of a tracepoint\n  trace_fields       all of them\nNumbers:",
    );
    for (name, _, help) in NUMBERS {
        text.push_str(&format!("\n  {name:<18} {help}"));
    }
    text
}

/// A time with a unit, in ns.
fn quantum(text: &str) -> Result<u64, String> {
    let units = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    let parsed = units.iter().find_map(|(unit, ns)| {
        text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(*ns).filter(|ns| *ns > 0)
    });
    parsed.ok_or_else(|| format!("{text} is no time: expected a number and ns, us, ms or s"))
}

fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() => Ok(*byte),
        b"\\t" => Ok(b'\t'),
        _ => Err("expected one ASCII character".to_owned()),
    }
}

impl Cmd for Report {
    const NAME: &'static str = "report";
    const ABOUT: &'static str = "Show what samples add up to: functions by their share, or whatever else";
    const EXAMPLES: &'static str = "\
Examples:
  readperf report perf.data
  readperf report -g callee --percent-limit 1 perf.data     who calls what is hot
  readperf report --sort time,overhead,symbol --time-quantum 1s perf.data
  readperf report --sort dso,srcline --percent-limit 0.5 perf.data
  readperf report --json perf.data | jq '.events[0].rows[:5]'";

    fn run(&self) -> anyhow::Result<Outcome> {
        let (input, graph) = self.input_and_graph();
        let recording = if self.is_for_program() { input.open_for_program()? } else { input.open()? };
        let plan = self.plan(recording.metadata(), graph).unwrap_or_else(|message| wrong_usage(&message));
        let mut progress = Progress::new("reading", !input.no_progress);
        let mut filter = self.samples.filter(&recording)?;
        // Names do not change what 100 % is.
        let comms = std::mem::take(&mut filter.comms);
        let symbols = self.symbols.options(&input)?;
        let request = Request {
            symbols: readperf::symbols::Options {
                lines: plan.lines,
                inlines: plan.inlines,
                ..symbols.clone()
            },
            pass: PassOptions {
                stacks: plan.keep.stacks,
                filter,
                unwind: plan.keep.stacks.then_some(symbols),
                ..PassOptions::default()
            },
            keep: plan.keep,
            ..Request::default()
        };
        let mut surroundings = Surroundings::default();
        let mut analysis = readperf::analyse_detailed(&recording, &request, &plan.details, |chunk| {
            progress.bytes(chunk.progress());
            chunk.entries().iter().for_each(|entry| surroundings.see(&entry.event));
            Ok::<(), perffile::Error>(())
        })?;
        drop(progress);
        if let Some(message) = self.samples.unknown_event(&analysis.metadata.schema) {
            wrong_usage(&message);
        }
        if let Some(told) = analysis.stack_ends.told() {
            say(&format!("{}: {told}", input.name()));
        }
        surroundings.learn(&analysis.metadata);
        let all = analysis.profile.events().to_vec();
        analysis.profile.select_comms(&comms, &analysis.session);
        analysis.profile.select(&self.names.filter(), &analysis.session);
        let totals = match self.percentage {
            Percentage::Absolute => all,
            Percentage::Relative => analysis.profile.events().to_vec(),
        };
        self.show(&input, &plan, &analysis, &surroundings, &totals)?;
        Ok(Outcome {
            input: input.name(),
            issues: analysis.issues,
            strict: input.strict,
            ..Outcome::default()
        })
    }
}

impl Report {
    fn is_for_program(&self) -> bool {
        self.json || self.csv || self.field_separator.is_some()
    }

    /// The value of `--call-graph` may be left out: what is none is the file.
    fn input_and_graph(&self) -> (Input, Option<CallGraph>) {
        let Some(words) = &self.call_graph else {
            return (self.input.clone(), self.inverted.then(CallGraph::default));
        };
        match (CallGraph::parse(words), self.input.or_file(words)) {
            (Ok(graph), _) => (self.input.clone(), Some(graph)),
            (Err(_), Some(input)) if std::path::Path::new(words).exists() => {
                (input, Some(CallGraph::default()))
            }
            (Err(message), _) => wrong_usage(&message),
        }
    }

    fn show(
        &self,
        input: &Input,
        plan: &Plan,
        analysis: &Analysis,
        surroundings: &Surroundings,
        totals: &[EventTotal],
    ) -> anyhow::Result<()> {
        let Analysis { profile, session, metadata, .. } = analysis;
        let Plan { sorting, children, graph, .. } = plan;
        let percent_limit =
            self.percent_limit.unwrap_or(if self.is_for_program() { 0.0 } else { SHOWN_AS_ZERO });
        let options = HistogramOptions {
            keys: sorting.keys.clone(),
            children: *children,
            inline: !self.no_inline,
            graph: graph.map(|(_, options)| options),
            whole: totals.iter().map(|total| total.period).collect(),
            // Whether a row of a group is shown depends on all its events.
            percent_limit: if self.group { 0.0 } else { percent_limit },
        };
        let mut facts = Facts::new(profile, session, surroundings);
        facts.parent = Some(&self.parent);
        let order = graph.map(|(_, options)| options.order);
        facts.innermost_parent = order.map_or(!children, |order| order == GraphOrder::Callee);
        let mut histograms = Histograms::new(facts, &options);
        let mut shown: Vec<Histogram> =
            (0..profile.events().len()).filter_map(|event| histograms.of_event(event)).collect();
        if self.group {
            shown = group::side_by_side(shown, metadata);
            let whole: Vec<u64> = totals.iter().map(|total| total.period).collect();
            shown.iter_mut().for_each(|group| group.cut(percent_limit, &whole));
        }
        let frames = histograms.frames();
        let facts = histograms.facts;
        shown.iter_mut().for_each(|histogram| histogram.sort(&sorting.order, &facts));
        let report = output::Report {
            histograms: &shown,
            facts: &facts,
            keys: &sorting.keys,
            columns: &sorting.columns,
            totals,
            percent_limit,
            frames: &frames,
            graph: graph.map(|(graph, options)| graph.style(options.order)).unwrap_or_default(),
            width: self.width(),
        };
        self.write(input, &report, analysis)
    }

    /// Columns of the terminal, if text goes to one.
    fn width(&self) -> Option<usize> {
        let size = self.output.is_terminal().then(terminal_size::terminal_size).flatten();
        size.map(|(width, _)| usize::from(width.0))
    }

    fn write(&self, input: &Input, report: &output::Report<'_>, analysis: &Analysis) -> anyhow::Result<()> {
        if self.json {
            let mut out = self.output.open(input)?;
            output::write_json(&mut out, report, analysis.issues.iter())?;
            return Ok(out.flush()?);
        }
        if self.csv || self.field_separator.is_some() {
            let mut out = self.output.open_bytes(input)?;
            output::write_csv(&mut out, report, self.field_separator.unwrap_or(b','))?;
            return Ok(out.flush()?);
        }
        let pager = if self.no_pager { None } else { Pager::start(&self.output) };
        let mut out: Box<dyn Write> = match pager {
            Some(pager) => Box::new(pager),
            None => self.output.open(input)?,
        };
        if self.header {
            write_header(&mut out, &analysis.metadata)?;
        }
        output::write_text(&mut out, report)?;
        overview::write_missing(&mut out, &analysis.profile, &analysis.session)?;
        Ok(out.flush()?)
    }
}

/// What the recording says of itself, as comments.
fn write_header(out: &mut impl Write, metadata: &Metadata) -> anyhow::Result<()> {
    let mut text = Vec::new();
    info::write_text(&mut text, metadata)?;
    for line in String::from_utf8_lossy(&text).lines() {
        writeln!(out, "{}", format!("# {line}").trim_end())?;
    }
    Ok(writeln!(out)?)
}
