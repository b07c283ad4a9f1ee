//! A row of a report as a JSON object, written as it is gone through: with its call graph, a row may be large.

use super::Report;
use super::cell::{self, JsonCell};
use super::chains::Chains;
use readperf_profile::Value;
use readperf_profile::view::graph::{self, Graph, GraphNode};
use readperf_profile::view::hierarchy::HierarchyRow;
use readperf_profile::view::histogram::{HistogramRow, Numbers};
use readperf_profile::view::key::KeyUse;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// What a row has besides its keys.
const FIELDS: [&str; 9] = [
    "dso_path",
    "source_file",
    "self_period",
    "total_period",
    "samples",
    "group",
    "callchains",
    "callchains_left_out",
    "rows",
];

/// The names of the keys' fields.
#[derive(Debug)]
pub(super) struct KeyNames(Vec<String>);

impl KeyNames {
    /// A field of a tracepoint whose name every row has for something else is a `record_<name>`, as in `dump --json`.
    pub(super) fn new(keys: &[KeyUse]) -> KeyNames {
        let name = |key: &KeyUse| match key.name() {
            name if FIELDS.contains(&name.as_str()) => format!("record_{name}"),
            name => name,
        };
        KeyNames(keys.iter().map(name).collect())
    }
}

/// A row.
pub(super) struct Row<'r> {
    pub(super) report: &'r Report<'r>,
    pub(super) names: &'r KeyNames,
    pub(super) row: &'r HistogramRow,
    pub(super) graph: &'r Graph,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Row { report, names, row, graph: Graph { frames, left_out } } = *self;
        let mut object = serializer.serialize_map(None)?;
        let values = report.values.values(row.key);
        for ((key, name), value) in report.keys.iter().zip(&names.0).zip(values) {
            key_fields(&mut object, report, (key, name), value, row.numbers.samples)?;
        }
        numbers(&mut object, &row.numbers)?;
        if !row.others.is_empty() {
            object.serialize_entry("group", &Others(&row.others))?;
        }
        if !frames.is_empty() {
            object.serialize_entry("callchains", &Callchains { report, graph: frames })?;
        }
        if left_out.count > 0 {
            object.serialize_entry("callchains_left_out", &LeftOut(left_out))?;
        }
        object.end()
    }
}

/// What a key says, and what else is told with it.
fn key_fields<M: SerializeMap>(
    object: &mut M,
    report: &Report<'_>,
    (key, name): (&KeyUse, &str),
    value: Value,
    samples: u64,
) -> Result<(), M::Error> {
    let facts = report.facts;
    object.serialize_entry(name, &cell::json(facts, value, samples))?;
    match key.key.name {
        "dso" => object.serialize_entry("dso_path", &JsonCell::text(cell::path(facts, value))),
        "symbol" => object.serialize_entry("source_file", &JsonCell::text(cell::source_file(facts, value))),
        _ => Ok(()),
    }
}

/// Branches of a tree: each has its own key, and in `rows` the branches in it.
pub(super) struct Branches<'r> {
    pub(super) report: &'r Report<'r>,
    pub(super) names: &'r KeyNames,
    pub(super) branches: &'r [HierarchyRow],
}

impl Serialize for Branches<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(first) = self.branches.first() else { return serializer.collect_seq([(); 0]) };
        let siblings = self.branches.chunk_by(|_, next| next.level > first.level);
        serializer.collect_seq(siblings.map(|branches| Branches { branches, ..*self }.with_rows()))
    }
}

impl<'r> Branches<'r> {
    /// The first branch, the others in it.
    pub(super) fn with_rows(self) -> BranchRow<'r> {
        BranchRow(self)
    }
}

/// A branch, and those in it.
pub(super) struct BranchRow<'r>(Branches<'r>);

impl Serialize for BranchRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Branches { report, names, branches } = self.0;
        let mut object = serializer.serialize_map(None)?;
        let Some((branch, rows)) = branches.split_first() else { return object.end() };
        if let (Some(key), Some(name)) = (report.keys.get(branch.level), names.0.get(branch.level)) {
            key_fields(&mut object, report, (key, name), branch.value, branch.numbers.samples)?;
        }
        numbers(&mut object, &branch.numbers)?;
        if !rows.is_empty() {
            object.serialize_entry("rows", &Branches { branches: rows, report, names })?;
        }
        object.end()
    }
}

fn numbers<M: SerializeMap>(object: &mut M, numbers: &Numbers) -> Result<(), M::Error> {
    object.serialize_entry("self_period", &numbers.self_period)?;
    object.serialize_entry("total_period", &numbers.total_period)?;
    object.serialize_entry("samples", &numbers.samples)
}

/// The numbers of the other events of a group.
struct Others<'r>(&'r [Numbers]);

impl Serialize for Others<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(OfEvent))
    }
}

struct OfEvent<'r>(&'r Numbers);

impl Serialize for OfEvent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(3))?;
        numbers(&mut object, self.0)?;
        object.end()
    }
}

/// The chains of a call graph.
struct Callchains<'r> {
    report: &'r Report<'r>,
    graph: &'r [GraphNode],
}

impl Serialize for Callchains<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let chains = Chains::new(self.graph);
        let report = self.report;
        serializer.collect_seq(chains.iter().map(|(end, frames)| Callchain { report, end, frames }))
    }
}

/// How much ended in a chain, and its frames in the order of the graph.
struct Callchain<'r> {
    report: &'r Report<'r>,
    end: &'r GraphNode,
    frames: Vec<&'r GraphNode>,
}

impl Serialize for Callchain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(3))?;
        object.serialize_entry("period", &self.end.own)?;
        object.serialize_entry("samples", &self.end.own_samples)?;
        object.serialize_entry("frames", &Frames { report: self.report, frames: &self.frames })?;
        object.end()
    }
}

struct Frames<'r> {
    report: &'r Report<'r>,
    frames: &'r [&'r GraphNode],
}

impl Serialize for Frames<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = |node: &&GraphNode| self.report.text(self.report.frames.says(node.frame), 0);
        serializer.collect_seq(self.frames.iter().map(name))
    }
}

/// What a call graph leaves out.
struct LeftOut<'r>(&'r graph::Branches);

impl Serialize for LeftOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let graph::Branches { count, period, samples } = self.0;
        let mut object = serializer.serialize_map(Some(3))?;
        object.serialize_entry("branches", count)?;
        object.serialize_entry("period", period)?;
        object.serialize_entry("samples", samples)?;
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readperf_profile::view::key::{TRACE_FIELD, TraceField};

    #[test]
    fn fields_of_tracepoints_take_no_name_that_rows_have() {
        let field = |field: &str| TraceField { field: field.to_owned(), ..TraceField::default() };
        let keys = ["prev_pid", "samples", "group"];
        let keys = keys.map(|name| KeyUse { key: TRACE_FIELD, field: field(name) });
        assert_eq!(KeyNames::new(&keys).0, ["prev_pid", "record_samples", "record_group"]);
    }
}
