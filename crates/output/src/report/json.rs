//! A report as JSON: one object, a row a line.

use super::{Report, cell, graph};
use crate::{heading, json};
use perffile::Issue;
use readperf_profile::profile::EventTotal;
use readperf_profile::view::graph::{Graph, GraphNode};
use readperf_profile::view::histogram::{Histogram, HistogramRow, LeftOut, Numbers};
use serde_json::{Map, Value as Json};
use std::io::{self, Write};

/// The histograms as one JSON object, with what was wrong with the recording.
///
/// # Errors
/// What the writer says.
pub fn write_json<'i>(
    out: &mut impl Write,
    report: &Report<'_>,
    issues: impl IntoIterator<Item = &'i Issue>,
) -> io::Result<()> {
    let sort: Vec<Json> = report.keys.iter().map(|key| key.name().into()).collect();
    write!(out, "{{\n\"schema\": {},\n\"sort\": {},\n\"events\": [", json::SCHEMA, json::line(&sort))?;
    for (nr, histogram) in report.histograms.iter().enumerate() {
        out.write_all(if nr > 0 { b",\n" } else { b"\n" })?;
        write_event(out, report, histogram)?;
    }
    writeln!(out, "\n],\n\"issues\": {}\n}}", json::line(&json::issues(issues)))
}

fn write_event(out: &mut impl Write, report: &Report<'_>, histogram: &Histogram) -> io::Result<()> {
    let total = &histogram.total;
    let fields = |total: &EventTotal| Json::Object(heading::fields(total, report.recorded(total)));
    let mut object = heading::fields(total, report.recorded(total));
    object.insert("percent_of".into(), report.whole.name().into());
    if !histogram.others.is_empty() {
        object.insert("group".into(), histogram.others.iter().map(fields).collect());
    }
    // The rows come last, each as soon as it is made.
    let object = json::line(&object);
    write!(out, "{}", object.trim_end_matches('}'))?;
    if histogram.left_out.rows > 0 {
        let LeftOut { rows, self_period } = histogram.left_out;
        let left_out = serde_json::json!({"rows": rows, "self_period": self_period});
        write!(out, ", \"left_out\": {left_out}")?;
    }
    write!(out, ", \"rows\": [")?;
    for (nr, row) in histogram.rows.iter().enumerate() {
        out.write_all(if nr > 0 { b",\n" } else { b"\n" })?;
        json::write(&mut *out, &self::row(report, row, histogram.graph(row)))?;
    }
    write!(out, "\n]}}")
}

fn row(report: &Report<'_>, row: &HistogramRow, graph: Option<&Graph>) -> Json {
    let mut object = Map::new();
    let samples = row.numbers.samples;
    for (key, value) in report.keys.iter().zip(report.values.values(row.key)) {
        object.insert(key.name(), cell::json(report.facts, value, samples));
        match key.key.name {
            "dso" => {
                object.insert("dso_path".into(), cell::path(report.facts, value).into());
            }
            "symbol" => {
                object.insert("source_file".into(), cell::source_file(report.facts, value).into());
            }
            _ => {}
        }
    }
    let numbers = |object: &mut Map<String, Json>, numbers: &Numbers| {
        object.insert("self_period".into(), numbers.self_period.into());
        object.insert("total_period".into(), numbers.total_period.into());
        object.insert("samples".into(), numbers.samples.into());
    };
    numbers(&mut object, &row.numbers);
    if !row.others.is_empty() {
        let others = row.others.iter().map(|other| {
            let mut object = Map::new();
            numbers(&mut object, other);
            Json::Object(object)
        });
        object.insert("group".into(), Json::Array(others.collect()));
    }
    let Some(Graph { frames, left_out }) = graph else { return Json::Object(object) };
    if !frames.is_empty() {
        object.insert("callchains".into(), chains(report, frames));
    }
    if left_out.count > 0 {
        let left_out = serde_json::json!({
            "branches": left_out.count, "period": left_out.period, "samples": left_out.samples
        });
        object.insert("callchains_left_out".into(), left_out);
    }
    Json::Object(object)
}

/// The chains of a call graph: how much ended there, and its frames in the order of the graph.
fn chains(report: &Report<'_>, graph: &[GraphNode]) -> Json {
    let frame = |frame: u32| {
        let value = report.frames.get(frame as usize).copied().unwrap_or_default();
        Json::from(report.text(value, 0))
    };
    let chain = |chain: Vec<GraphNode>| {
        let (period, samples) = chain.last().map_or((0, 0), |node| (node.own, node.own_samples));
        let frames: Vec<Json> = chain.iter().map(|node| frame(node.frame)).collect();
        serde_json::json!({"period": period, "samples": samples, "frames": frames})
    };
    graph::chains(graph).into_iter().map(chain).collect()
}
