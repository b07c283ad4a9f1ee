//! A report as JSON: one object, a row a line.

use super::json_row::{Branches, KeyNames, Row};
use super::{Report, hierarchy};
use crate::{heading, json};
use perffile::Issue;
use readperf_profile::profile::EventTotal;
use readperf_profile::view::hierarchy::Hierarchy;
use readperf_profile::view::histogram::{Histogram, LeftOut};
use serde_json::Value as Json;
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
    let hierarchy = report.hierarchy.then(|| hierarchy::tree(report, histogram));
    let left_out = hierarchy.as_ref().map_or(histogram.left_out, |hierarchy| hierarchy.left_out);
    if left_out.rows > 0 {
        let LeftOut { rows, self_period } = left_out;
        let left_out = serde_json::json!({"rows": rows, "self_period": self_period});
        write!(out, ", \"left_out\": {left_out}")?;
    }
    write!(out, ", \"rows\": [")?;
    let names = KeyNames::new(report.keys);
    if let Some(Hierarchy { branches, .. }) = &hierarchy {
        let outermost = branches.chunk_by(|_, next| next.level > 0);
        for (nr, branches) in outermost.enumerate() {
            out.write_all(if nr > 0 { b",\n" } else { b"\n" })?;
            json::write(&mut *out, &Branches { report, names: &names, branches }.with_rows())?;
        }
        return write!(out, "\n]}}");
    }
    for (nr, row) in histogram.rows.iter().enumerate() {
        out.write_all(if nr > 0 { b",\n" } else { b"\n" })?;
        let graph = histogram.graph(row).unwrap_or_default();
        json::write(&mut *out, &Row { report, names: &names, row, graph: &graph })?;
    }
    write!(out, "\n]}}")
}
