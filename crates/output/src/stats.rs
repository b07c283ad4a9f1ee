//! `readperf stats`: what a recording consists of.

use crate::text::{binary_size, grouped, seconds, shown};
use crate::{json, stat};
use perffile::{Issue, Schema};
use readperf_profile::statistics::Statistics;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The statistics as one JSON object.
///
/// # Errors
/// What the writer says.
pub fn write_json(
    out: &mut impl Write,
    stats: &Statistics,
    schema: &Schema,
    issues: &[&Issue],
) -> io::Result<()> {
    let records: Vec<Value> = stats
        .records()
        .map(|(number, count)| {
            json!({ "type": schema.dialect().record_name(number), "number": number, "count": count.count, "bytes": count.bytes })
        })
        .collect();
    let events: Vec<Value> = stats
        .events(schema)
        .map(|(name, count)| json!({ "name": name, "samples": count.samples, "period": count.period }))
        .collect();
    let mut document = json!({
        "schema": json::SCHEMA,
        "records": records,
        "events": events,
        "samples": stats.samples(),
        "unattributed_samples": stats.unattributed,
        "first_time_ns": stats.times_ns.map(|times| times.0),
        "last_time_ns": stats.times_ns.map(|times| times.1),
        "lost_records": stats.lost_records,
        "lost_samples": stats.lost_samples,
        "issues": json::issues(issues.iter().copied()),
    });
    if let (Some(counts), Value::Object(object)) = (stat::totals_json(&stats.counters, schema), &mut document)
    {
        object.insert("counts".into(), counts);
    }
    json::write_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// The statistics as text.
///
/// # Errors
/// What the writer says.
pub fn write_text(out: &mut impl Write, stats: &Statistics, schema: &Schema) -> io::Result<()> {
    writeln!(out, "{:<24} {:>14} {:>14}", "record", "count", "size")?;
    let (mut count_sum, mut bytes_sum) = (0, 0);
    for (number, count) in stats.records() {
        let name = format!("{} ({number})", schema.dialect().record_name(number));
        writeln!(out, "{name:<24} {:>14} {:>14}", grouped(count.count), binary_size(count.bytes))?;
        count_sum += count.count;
        bytes_sum += count.bytes;
    }
    writeln!(out, "{:<24} {:>14} {:>14}", "all", grouped(count_sum), binary_size(bytes_sum))?;
    writeln!(out, "\n{:<32} {:>14} {:>22}", "event", "samples", "period")?;
    for (name, count) in stats.events(schema) {
        writeln!(out, "{:<32} {:>14} {:>22}", shown(name), grouped(count.samples), grouped(count.period))?;
    }
    stat::write_totals(out, &stats.counters, schema)?;
    writeln!(out)?;
    if stats.unattributed > 0 {
        writeln!(out, "samples of no known event  {}", grouped(stats.unattributed))?;
    }
    if let Some((first, last)) = stats.times_ns {
        let span = seconds(last.saturating_sub(first));
        writeln!(out, "first and last sample  {} s, {} s: {span} s apart", seconds(first), seconds(last))?;
    }
    writeln!(out, "lost records  {}", grouped(stats.lost_records))?;
    writeln!(out, "lost samples  {}", grouped(stats.lost_samples))
}
