//! `readperf report`: histograms of samples, as text, JSON or CSV.

mod arguments;
mod call_graph;
mod from_perf;
mod group;
mod look;
mod mode;
mod plan;
mod rows;
mod sorting;

use super::Cmd;
use crate::from_perf::FromPerf;
use crate::header::write_header;
use crate::held_places::HeldPlaces;
use crate::input::Input;
use crate::out::{NameWidth, Out};
use crate::outcome::{Outcome, wrong_usage};
use crate::pager::Pager;
use crate::profile_options::{ProfileOptions, Wanted};
use crate::stack_options::StackOptions;
use arguments::separator;
use call_graph::CallGraph;
use clap::Args;
use from_perf::OfReport;
use look::Look;
#[cfg(feature = "view")]
pub(crate) use mode::has_chains;
use perffile::Metadata;
pub(crate) use plan::{Asked, Plan};
use readperf::output::overview;
use readperf::output::report::{self as output, CellStyle};
use readperf::profile::view::facts::Facts;
use readperf::profile::view::graph::GraphOrder;
use readperf::profile::view::histogram::{Histogram, HistogramOptions, Histograms};
use readperf::profile::view::missing::Missing;
use readperf::profile::view::surroundings::Surroundings;
use readperf::profile::{NameFilter, Profile, Selection};
use readperf::session::Session;
use readperf::{Analysis, Chunk, name_kernel_addresses};
pub(crate) use rows::RowOptions;
use std::io::{self, Write};

/// Shares below this, in percent, are shown as 0.00 %.
pub(super) const SHOWN_AS_ZERO: f64 = 0.005;

/// Shows what samples add up to.
#[derive(Args, Debug)]
pub(crate) struct Report {
    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    rows: RowOptions,

    /// Show the call graph of each row, by perf's words in any order: graph, fractal, flat or folded; caller (what it calls) or
    /// callee (who calls it); the least share of a branch in percent [0.5]; function, address or srcline; percent, period or
    /// count (of samples). none shows no graphs
    #[arg(short = 'g', long, value_name = "WORDS", num_args = 0..=1, default_missing_value = "graph")]
    call_graph: Option<String>,

    /// Show no call graphs
    #[arg(long, conflicts_with_all = ["call_graph", "inverted"], hide = true)]
    no_call_graph: bool,

    /// Show call graphs from callers to callees
    #[arg(short = 'G', long)]
    inverted: bool,

    /// Show rows by their keys as a tree: the first key, in it the second, and so on
    #[arg(long, conflicts_with_all = ["fields", "group", "children"])]
    hierarchy: bool,

    #[command(flatten)]
    look: Look,

    #[command(flatten)]
    name_width: NameWidth,

    #[command(flatten)]
    held: HeldPlaces,

    #[command(flatten)]
    stacks: StackOptions,

    #[command(flatten)]
    profile: ProfileOptions,

    #[command(flatten)]
    foreign: FromPerf<OfReport>,
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
        self.foreign.check();
        let (mut input, graph) = self.input_and_graph();
        if self.hierarchy && graph.is_some_and(CallGraph::is_wanted) {
            wrong_usage("the rows of --hierarchy have no call graphs: leave out -g and -G, or give -g none");
        }
        input.quiet = self.look.quiet;
        input.reading.no_progress |= self.look.quiet;
        let recording = if self.look.is_for_program() { input.open_for_program()? } else { input.open()? };
        let plan = self.plan(recording.metadata(), graph).unwrap_or_else(|message| wrong_usage(&message));
        let filter = self.profile.samples.filter(&recording)?;
        let wanted = Wanted {
            keep: plan.keep,
            lines: plan.lines,
            inlines: plan.inlines,
            details: plan.details.clone(),
            most_places: (!plan.addresses).then(|| self.held.most()),
            ..Wanted::default()
        };
        let mut surroundings = Surroundings::default();
        let see = |_: &_, chunk: &Chunk<'_>| {
            chunk.entries().iter().for_each(|entry| surroundings.see(&entry.event));
        };
        let mut analysis = self.profile.read(&input, &recording, filter, &wanted, see)?;
        surroundings.learn(&analysis.metadata);
        self.name_payloads(&input, &analysis, &mut surroundings)?;
        let Analysis { profile, session, .. } = &mut analysis;
        self.select(profile, session, &surroundings);
        let out = self.show(&input, &plan, &analysis, &surroundings)?;
        Outcome { quiet: self.look.quiet, ..Outcome::of(&input, analysis.issues) }.publishing(out.complete()?)
    }
}

impl Report {
    /// What to do.
    fn plan(&self, metadata: &Metadata, graph: Option<CallGraph>) -> Result<Plan, String> {
        self.rows.plan(
            metadata,
            &Asked {
                graph,
                inverted: self.inverted,
                hierarchy: self.hierarchy,
                is_for_program: self.look.is_for_program(),
                // The JSON tells the source file of each function.
                lines: self.look.json,
                by_stack: self.profile.names.needs_stacks() || self.stacks.needs_stacks(),
                numbers: &|children| self.look.numbers(children),
            },
        )
    }

    /// Learns the kernel functions that the texts of tracepoints show.
    fn name_payloads(
        &self,
        input: &Input,
        analysis: &Analysis,
        surroundings: &mut Surroundings,
    ) -> anyhow::Result<()> {
        let asked = surroundings.symbol_addresses(&analysis.profile);
        if !asked.is_empty() {
            let options = self.profile.symbols.options(input)?;
            let learn = |address, name: Option<(&str, u64)>| surroundings.learn_symbol(address, name);
            name_kernel_addresses(&asked, &analysis.session, &analysis.metadata, &options, learn);
        }
        Ok(())
    }

    /// Takes away what is not chosen, now that names are known.
    fn select(&self, profile: &mut Profile, session: &Session, surroundings: &Surroundings) {
        if let Some(socket) = self.rows.filters.socket_filter {
            profile.select_cpus(|cpu| surroundings.socket(cpu) == Some(socket));
        }
        if self.rows.filters.exclude_other {
            profile.select(
                &NameFilter { focus: vec![self.rows.filters.parent_pattern()], ..NameFilter::default() },
                session,
            );
        }
        let selection = self.profile.selection(&self.stacks);
        let names = NameFilter { named: self.rows.filters.hide_unresolved, ..selection.names };
        profile.choose(&Selection { names, ..selection }, session);
    }

    /// The value of `--call-graph` may be left out: what is none is the file.
    fn input_and_graph(&self) -> (Input, Option<CallGraph>) {
        let Some(words) = &self.call_graph else {
            let wanted = self.inverted || self.look.stdio && !self.no_call_graph && !self.hierarchy;
            return (self.input.clone(), wanted.then(CallGraph::default));
        };
        match (CallGraph::parse(words), self.input.or_file(words)) {
            (Ok(graph), _) => (self.input.clone(), Some(graph)),
            (Err(_), Some(input)) if words == "-" || std::path::Path::new(words).exists() => {
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
    ) -> anyhow::Result<Out> {
        let Analysis { profile, session, metadata, .. } = analysis;
        let whole = self.rows.whole();
        let totals = whole.totals(profile);
        let Plan { sorting, children, graph, .. } = plan;
        let percent_limit =
            self.rows.percent_limit.unwrap_or(if self.look.is_for_program() { 0.0 } else { SHOWN_AS_ZERO });
        let options = HistogramOptions {
            keys: sorting.keys.clone(),
            children: *children,
            inline: !self.rows.no_inline,
            by_mode: sorting.columns.iter().chain(&sorting.order).any(|column| column.is_by_mode()),
            graph: graph.map(|(_, options)| options),
            whole: totals.iter().map(|total| total.period).collect(),
            // Whether a row of a group is shown depends on all its events; in a tree, a branch is more than a row.
            percent_limit: if self.look.group || self.hierarchy { 0.0 } else { percent_limit },
            threads: self.profile.symbols.thread_count(),
        };
        let mut facts = Facts::new(profile, session, surroundings);
        let parent = self.rows.filters.parent_pattern();
        facts.parent = Some(&parent);
        let order = graph.map(|(_, options)| options.order);
        facts.innermost_parent = order.map_or(!children, |order| order == GraphOrder::Callee);
        let histograms = || {
            let mut histograms = Histograms::new(facts, &options);
            let events = 0..profile.events().len();
            let shown: Vec<Histogram> = events.filter_map(|event| histograms.of_event(event)).collect();
            (histograms, shown)
        };
        let stacks = *children || graph.is_some();
        let missing = || match self.look.is_for_program() {
            true => Vec::new(),
            false => profile.missing_names(stacks),
        };
        // Both only read the profile.
        let pool = self.profile.symbols.pool()?;
        let ((histograms, mut shown), missing) = pool.install(|| rayon::join(histograms, missing));
        if self.look.group {
            shown = group::side_by_side(shown, metadata);
            let whole: Vec<u64> = totals.iter().map(|total| total.period).collect();
            shown.iter_mut().for_each(|group| group.cut(percent_limit, &whole));
        }
        let Histograms { facts, values, .. } = &histograms;
        let lead = self.look.group_sort_idx;
        shown.iter_mut().for_each(|histogram| histogram.sort(&sorting.order, lead, facts, values));
        if self.rows.filters.hide_unresolved {
            shown.iter_mut().for_each(|histogram| histogram.retain_named(facts, values));
        }
        let report = output::Report {
            histograms: &shown,
            facts: &histograms.facts,
            values: &histograms.values,
            frames: histograms.frames(),
            keys: &sorting.keys,
            columns: &sorting.columns,
            recorded: profile.recorded(),
            whole,
            percent_limit,
            graph: graph.map(|(graph, options)| graph.style(options.order)).unwrap_or_default(),
            cells: CellStyle { full_paths: self.look.full_source_path },
            width: self.name_width.columns(&self.profile.output),
            widths: self.look.widths(),
            hierarchy: self.hierarchy,
        };
        self.write(input, &report, analysis, missing)
    }

    fn write(
        &self,
        input: &Input,
        report: &output::Report<'_>,
        analysis: &Analysis,
        missing: Vec<Missing>,
    ) -> anyhow::Result<Out> {
        if self.look.json {
            let mut out = self.profile.output.open_bytes(&[input])?;
            output::write_json(&mut out, report, analysis.issues.iter())?;
            return Ok(out);
        }
        if self.look.csv || self.look.field_separator.is_some() {
            let mut out = self.profile.output.open_bytes(&[input])?;
            output::write_csv(&mut out, report, self.look.field_separator.unwrap_or(b','))?;
            return Ok(out);
        }
        let pager = if self.look.no_pager { None } else { Pager::start(&self.profile.output) };
        let mut out = match pager {
            Some(pager) => Out::paged(pager),
            None => self.profile.output.open(&[input])?,
        };
        if self.look.header || self.look.header_only {
            write_header(&mut out, &analysis.metadata)?;
        }
        if self.look.header_only {
            return Ok(out);
        }
        output::write_text(&mut out, report)?;
        if report.histograms.is_empty() {
            self.write_why_empty(&mut out)?;
        }
        overview::write_missing(&mut out, &analysis.profile, &analysis.session, missing)?;
        Ok(out)
    }

    /// Says what may have kept all samples out.
    fn write_why_empty(&self, out: &mut impl Write) -> io::Result<()> {
        let given = self.profile.samples.given().chain(self.profile.names.given()).chain(self.stacks.given());
        let given: Vec<&str> = given.collect();
        if !given.is_empty() {
            let by_name = self.profile.names.given().chain(self.stacks.given()).next().is_some();
            let see = match by_name {
                true => "`readperf report` without it shows which names there are",
                false => "`readperf stats` and `readperf info` tell what is recorded",
            };
            writeln!(out, "  nothing passes {}; {see}", given.join(" and "))?;
        }
        if self.rows.branch_stack {
            writeln!(out, "  -b shows samples with branches: they are recorded by `perf record -b`")?;
        }
        Ok(())
    }
}
