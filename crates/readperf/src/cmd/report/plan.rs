//! What is done with a recording, by its events and the options.

use super::RowOptions;
use super::call_graph::CallGraph;
use super::mode::{Mode, has_chains, has_memory};
use super::sorting::{Sorting, Wanted};
use perffile::Metadata;
use readperf::profile::view::column::Column;
use readperf::profile::view::graph::{GraphKey, GraphOptions};
use readperf::profile::view::surroundings::Surroundings;
use readperf::profile::{DetailField, DetailOptions, Keep};

/// What is done with a recording.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) sorting: Sorting,
    pub(crate) keep: Keep,
    pub(crate) details: DetailOptions,
    pub(crate) children: bool,
    pub(crate) graph: Option<(CallGraph, GraphOptions)>,
    pub(crate) lines: bool,
    pub(crate) inlines: bool,
    /// Whether addresses of code are shown, not only functions and lines.
    pub(crate) addresses: bool,
}

/// What is asked for besides the options of rows.
pub(crate) struct Asked<'a> {
    /// Call graphs.
    pub(crate) graph: Option<CallGraph>,
    /// Whether they go from callers to callees.
    pub(crate) inverted: bool,
    /// Whether rows are shown as a tree.
    pub(crate) hierarchy: bool,
    /// Whether the answer is for a program, which gets the same columns whatever the recording.
    pub(crate) is_for_program: bool,
    /// Whether source lines are needed in any case.
    pub(crate) lines: bool,
    /// Whether samples are chosen by their stacks.
    pub(crate) by_stack: bool,
    /// The columns of numbers, with or without sums over stacks.
    pub(crate) numbers: &'a dyn Fn(bool) -> Vec<Column>,
}

impl RowOptions {
    /// What to do.
    pub(crate) fn plan(&self, metadata: &Metadata, asked: &Asked<'_>) -> Result<Plan, String> {
        let mode = match (self.mem_mode, self.branch_stack, self.no_branch_stack) {
            (true, ..) if !has_memory(metadata) => {
                return Err(
                    "--mem-mode: no sample says what was accessed; perf mem record keeps that".to_owned()
                );
            }
            (true, ..) => Mode::Memory,
            (_, true, _) => Mode::Branches,
            (.., true) if Mode::of(metadata) == Mode::Branches => Mode::Code,
            // A program gets the same keys whatever the recording, unless it asks for others.
            _ if asked.is_for_program && self.sort.is_none() && self.fields.is_none() => Mode::Code,
            _ => Mode::of(metadata),
        };
        let children = match mode {
            // A recording in pipe mode tells its events on the way.
            Mode::Code | Mode::Trace => {
                let chains = metadata.schema.events().is_empty() || has_chains(metadata);
                !self.no_children && !asked.hierarchy && (chains || self.children)
            }
            Mode::Branches | Mode::Memory => false,
        };
        let sorting = Wanted {
            sort: self.sort.as_deref(),
            fields: self.fields.as_deref(),
            default: mode.default_keys(),
            numbers: (asked.numbers)(children),
            raw_trace: self.raw_trace,
            trace_fields: trace_fields(metadata),
            more: self.filters.parent.is_some().then_some("parent"),
        };
        let sorting = sorting.sorting()?;
        let code = matches!(mode, Mode::Code | Mode::Trace);
        let graph = asked
            .graph
            .filter(|_| code)
            .and_then(|graph| Some((graph, graph.options(children, asked.inverted)?)));
        let stacks = children || graph.is_some() || self.filters.exclude_other || asked.by_stack;
        let mut keep = Keep { stacks, cpus: self.filters.socket_filter.is_some(), ..Keep::default() };
        let by_line = graph.is_some_and(|(_, options)| options.key == GraphKey::SourceLine);
        let mut lines = asked.lines || by_line;
        let mut inlines = keep.stacks;
        let mut addresses = graph.is_some_and(|(_, options)| options.key == GraphKey::Address);
        let mut fields: Vec<DetailField> = Vec::new();
        for key in &sorting.keys {
            let needs = key.key.needs;
            keep.threads |= needs.threads;
            keep.cpus |= needs.cpus;
            keep.stacks |= needs.stacks;
            lines |= needs.lines;
            inlines |= needs.inlines;
            addresses |= needs.addresses;
            fields.extend(needs.details);
        }
        fields.sort_unstable();
        fields.dedup();
        let details = DetailOptions {
            fields,
            time_quantum_ns: self.time_quantum,
            weighing: mode.weighing(),
            max_stack: self.max_stack,
            whole_stacks: graph.is_none(),
        };
        inlines &= !self.no_inline;
        Ok(Plan { sorting, keep, details, children, graph, lines, inlines, addresses })
    }
}

/// Names of the fields of a recording's tracepoints.
fn trace_fields(metadata: &Metadata) -> Vec<String> {
    let mut surroundings = Surroundings::default();
    surroundings.learn(metadata);
    let mut names: Vec<String> = Vec::new();
    for (nr, _) in (0u32..).zip(metadata.schema.events()) {
        let tracepoint = surroundings.tracepoint(nr).and_then(|id| surroundings.catalog().tracepoint(id));
        let fields = tracepoint.iter().flat_map(|tracepoint| {
            tracepoint.format.own_fields().iter().chain(tracepoint.format.common_fields())
        });
        for field in fields {
            if !names.contains(&field.name) && !field.name.starts_with("common_") {
                names.push(field.name.clone());
            }
        }
    }
    names
}
