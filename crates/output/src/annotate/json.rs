//! Functions as code for programs: one object, a function a line.

use super::Annotation;
use crate::{heading, json};
use perffile::Issue;
use readperf_code::Flow;
use readperf_profile::view::listing::{Level, Listing, Numbers, Part};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// The listings as one JSON object, with what was wrong with the recording.
///
/// # Errors
/// What the writer says.
pub fn write_json<'i>(
    out: &mut impl Write,
    annotation: &Annotation<'_>,
    issues: impl IntoIterator<Item = &'i Issue>,
) -> io::Result<()> {
    let recorded = annotation.recorded;
    let events: Vec<Value> = annotation
        .profile
        .events()
        .iter()
        .map(|event| {
            let all = recorded.iter().find(|recorded| recorded.name == event.name).unwrap_or(event);
            Value::Object(heading::fields(event, all))
        })
        .collect();
    write!(out, "{{\n\"schema\": {},\n\"events\": {},\n\"functions\": [", json::SCHEMA, json::line(&events))?;
    for (nr, listing) in annotation.listings.iter().enumerate() {
        out.write_all(if nr > 0 { b",\n" } else { b"\n" })?;
        json::write(&mut *out, &function(annotation, listing))?;
    }
    let issues = json::line(&json::issues(issues));
    writeln!(out, "\n],\n\"functions_left_out\": {},\n\"issues\": {issues}\n}}", annotation.others)
}

fn function(annotation: &Annotation<'_>, listing: &Listing) -> Value {
    let lines: Vec<Value> = listing
        .lines
        .iter()
        .map(|line| {
            let file = listing.file_of(line);
            let text = file.and_then(|file| annotation.source_line(file, line.line));
            let text = text.map(|text| crate::text::decoded(text).into_owned());
            let mut object = Map::new();
            object.insert("file".into(), file.into());
            object.insert("line".into(), (line.line > 0).then_some(line.line).into());
            object.insert("text".into(), text.into());
            if let Some(name) = &line.inlined {
                object.insert("inlined".into(), (**name).into());
            }
            object.insert("events".into(), numbers(&line.numbers));
            Value::Object(object)
        })
        .collect();
    let files: Vec<Value> = listing
        .files
        .iter()
        .map(|file| match annotation.sources.files.get(&file.path) {
            Some(Ok(source)) => json!({"file": &*file.path, "found": source.path, "doubt": source.doubt}),
            Some(Err(reason)) => json!({"file": &*file.path, "found": null, "reason": reason}),
            None => json!({"file": &*file.path}),
        })
        .collect();
    let parts: Vec<Value> = listing.parts.iter().map(|piece| part(annotation, piece)).collect();
    json!({
        "symbol": annotation.function(listing),
        "inlined": listing.inlined,
        "events": numbers(&listing.numbers),
        "parts": parts,
        "lines": lines,
        "files": files,
    })
}

fn part(annotation: &Annotation<'_>, part: &Part) -> Value {
    let address = |address: u64| json::address(address.wrapping_add(part.bias));
    let instructions: Vec<Value> = part
        .instructions
        .iter()
        .map(|row| {
            let mut object = Map::new();
            object.insert("address".into(), address(row.code.address));
            object.insert("bytes".into(), json::hex(&row.code.bytes).into());
            object.insert("text".into(), row.code.text.to_string().into());
            if let Some(target) = row.code.flow.target() {
                let kind = if matches!(row.code.flow, Flow::Call { .. }) { "calls" } else { "jumps" };
                let name = row.code.target_name.as_deref();
                object.insert(
                    kind.into(),
                    json!({"address": address(target), "name": name, "index": row.jumps_to}),
                );
            }
            if let Some(data) = &row.code.data {
                let (name, offset) =
                    data.symbol.as_ref().map(|(name, offset)| (name.as_str(), *offset)).unzip();
                let data = json!({"address": address(data.address), "name": name, "offset": offset});
                object.insert("data".into(), data);
            }
            object.insert("lines".into(), levels(&row.levels));
            object.insert("events".into(), numbers(&row.numbers));
            Value::Object(object)
        })
        .collect();
    let strays: Vec<Value> = part
        .strays
        .iter()
        .map(|stray| {
            json!({"address": address(stray.address), "lines": levels(&stray.levels), "events": numbers(&stray.numbers)})
        })
        .collect();
    let blocks: Vec<Value> = part
        .blocks
        .iter()
        .map(|block| {
            json!({
                "first": block.first,
                "last": block.last,
                "runs": block.runs.runs,
                "cycles": block.cycles_of_run(),
                "ipc": block.instructions_per_cycle(),
                "branches": block.branch.taken,
                "mispredicted": (block.branch.told > 0).then_some(block.branch.mispredicted),
            })
        })
        .collect();
    json!({
        "symbol": annotation.symbol(part),
        "dso": annotation.binary_name(part),
        "dso_path": annotation.binary_path(part),
        "no_code": part.no_code,
        "events": numbers(&part.numbers),
        "instructions": instructions,
        "elsewhere": strays,
        "blocks": blocks,
    })
}

/// Indices of the lines of a place, the innermost inlined function first.
fn levels(levels: &[Level]) -> Value {
    levels.iter().map(|level| level.line.index()).collect()
}

/// What samples say, for each event.
fn numbers(numbers: &[Numbers]) -> Value {
    let one = |numbers: &Numbers| {
        json!({
            "self_samples": numbers.own.samples,
            "self_period": numbers.own.period,
            "total_samples": numbers.total.samples,
            "total_period": numbers.total.period,
        })
    };
    numbers.iter().map(one).collect()
}
