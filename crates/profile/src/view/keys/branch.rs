//! Keys of a branch of a branch stack.

use super::{code, data};
use crate::detail::DetailField as Field;
use crate::profile::SampleRow;
use crate::value::Value;
use crate::view::facts::{Facts, Place};
use perffile::wire::branch::BranchFlags;

fn at(
    facts: &mut Facts<'_>,
    row: &SampleRow,
    field: Field,
    of: fn(&mut Facts<'_>, &Place) -> Value,
) -> Value {
    let place = data::place(facts, row, field).and_then(|address| facts.taken_at(address));
    place.map_or(Value::Unknown, |place| of(facts, &place))
}

fn flags(facts: &Facts<'_>, row: &SampleRow) -> BranchFlags {
    match facts.profile.details.value(row.detail, Field::BranchFlags) {
        Value::Number(bits) => BranchFlags(bits),
        _ => BranchFlags(0),
    }
}

pub(in crate::view) fn dso_from(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    at(facts, row, Field::BranchFrom, code::dso)
}

pub(in crate::view) fn dso_to(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    at(facts, row, Field::BranchTo, code::dso)
}

pub(in crate::view) fn symbol_from(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    at(facts, row, Field::BranchFrom, code::symbol)
}

pub(in crate::view) fn symbol_to(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    at(facts, row, Field::BranchTo, code::symbol)
}

pub(in crate::view) fn addr_from(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    at(facts, row, Field::BranchFrom, code::symoff)
}

pub(in crate::view) fn addr_to(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    at(facts, row, Field::BranchTo, code::symoff)
}

pub(in crate::view) fn srcline_from(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    at(facts, row, Field::BranchFrom, code::srcline)
}

pub(in crate::view) fn srcline_to(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    at(facts, row, Field::BranchTo, code::srcline)
}

pub(in crate::view) fn mispredict(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    let flags = flags(facts, row);
    // As perf: what was not predicted was mispredicted, unless the hardware tells neither.
    let text: &[u8] = match (flags.predicted(), flags.mispredicted()) {
        (true, _) => b"N",
        (false, true) => b"Y",
        (false, false) => return Value::Unknown,
    };
    facts.say(text)
}

pub(in crate::view) fn in_tx(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    let text: &[u8] = if flags(facts, row).in_tx() { b"T" } else { b"." };
    facts.say(text)
}

pub(in crate::view) fn abort(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    let text: &[u8] = if flags(facts, row).abort() { b"A" } else { b"." };
    facts.say(text)
}

pub(in crate::view) fn cycles(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    match flags(facts, row).cycles() {
        0 => Value::Unknown,
        cycles => Value::Number(cycles),
    }
}
