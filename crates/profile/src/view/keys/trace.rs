//! Keys of a tracepoint: its text, and its fields.

use crate::detail::DetailField;
use crate::profile::SampleRow;
use crate::value::Value;
use crate::view::facts::Facts;
use crate::view::key::TraceField;
use perffile::tracepoint::FieldValue;

/// The payload of a sample.
fn payload<'f>(facts: &Facts<'f>, row: &SampleRow) -> &'f [u8] {
    let details = &facts.profile.details;
    details.bytes(details.value(row.detail, DetailField::Raw))
}

fn write_text(facts: &Facts<'_>, row: &SampleRow) -> Option<Vec<u8>> {
    let id = facts.surroundings.tracepoint(row.event)?;
    let mut text = Vec::new();
    let surroundings = facts.surroundings;
    surroundings.catalog().write_text(id, payload(facts, row), surroundings.symbols(), &mut text)?;
    Some(text)
}

pub(in crate::view) fn text(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    match write_text(facts, row) {
        Some(text) => facts.say(&text),
        None => Value::Unknown,
    }
}

pub(in crate::view) fn field(facts: &mut Facts<'_>, row: &SampleRow, wanted: &TraceField) -> Value {
    find(facts, row, wanted).map_or(Value::Unknown, |text| facts.say(&text))
}

/// As the text of the tracepoint shows it (`name=value`), or as it is stored.
fn find(facts: &Facts<'_>, row: &SampleRow, wanted: &TraceField) -> Option<Vec<u8>> {
    let surroundings = facts.surroundings;
    let payload = payload(facts, row);
    let tracepoint = surroundings.catalog().of_payload(surroundings.tracepoint(row.event)?, payload)?;
    if let Some(event) = &wanted.event
        && !is_event(surroundings.event(row.event)?, row.event, event)
    {
        return None;
    }
    let field = tracepoint.format.field(&wanted.field)?;
    // Texts have blanks in them: what is stored is the whole.
    let is_text = matches!(field.value(payload, tracepoint.format.abi), FieldValue::Str(_));
    if !wanted.raw
        && !is_text
        && let Some(text) = write_text(facts, row)
        && let Some(shown) = shown(&text, wanted.field.as_bytes())
    {
        return Some(shown.to_vec());
    }
    let mut stored = Vec::new();
    tracepoint.format.write_field(field, payload, &mut stored);
    Some(stored)
}

/// By a part of the name, or by number from 1.
fn is_event(name: &str, index: u32, wanted: &str) -> bool {
    match wanted.strip_prefix('%').map(str::parse::<u32>) {
        Some(Ok(number)) => number.checked_sub(1) == Some(index),
        _ => name.contains(wanted),
    }
}

/// The value behind `name=` in a text of words.
fn shown<'t>(text: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    text.split(|byte| *byte == b' ').find_map(|word| word.strip_prefix(name)?.strip_prefix(b"="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_the_text() {
        let text = b"prev_comm=a b prev_pid=7 ==> next_comm=c";
        assert_eq!(shown(text, b"prev_pid"), Some(&b"7"[..]));
        assert_eq!(shown(text, b"pid"), None);
        assert_eq!(shown(text, b"next_comm"), Some(&b"c"[..]));
    }

    #[test]
    fn events_by_part_of_the_name_or_by_number() {
        assert!(is_event("sched:sched_switch", 0, "switch"));
        assert!(is_event("sched:sched_switch", 0, "%1"));
        assert!(!is_event("sched:sched_switch", 0, "%2"));
        assert!(!is_event("sched:sched_switch", 0, "wakeup"));
    }
}
