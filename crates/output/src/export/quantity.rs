//! Weights as people read them: of clocks as times, of other events as so many of them.

use crate::export::circumstances::{Unit, tells_period};
use crate::export::{Export, Weight};
use crate::text::{counted, grouped};
use crate::xml::push_shown;

/// What a sum of periods is a sum of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Quantity {
    /// Nanoseconds.
    Time,
    /// What the event counts: `cycles`.
    Events(String),
    /// It is not known what one of it is.
    #[default]
    Period,
}

impl Quantity {
    /// That of an event.
    pub fn of(export: &Export<'_>, event: usize) -> Quantity {
        if export.unit(event) == Unit::Nanoseconds {
            return Quantity::Time;
        }
        let described = export.metadata.schema.event(event);
        let counts = described.is_some_and(|event| tells_period(&event.attr));
        let mut name = String::new();
        push_shown(&mut name, without_modifiers(export.event_name(event)));
        if counts && !name.is_empty() { Quantity::Events(name) } else { Quantity::Period }
    }

    /// So much of it, in words.
    pub fn told(&self, period: u64) -> String {
        match self {
            Quantity::Time => duration(period),
            Quantity::Events(name) => format!("{} {name}", grouped(period)),
            Quantity::Period => format!("period {}", grouped(period)),
        }
    }

    /// A weight of either sort in words.
    pub fn told_as(&self, weight: Weight, value: u64) -> String {
        match weight {
            Weight::Period => self.told(value),
            Weight::Samples => samples(value),
        }
    }
}

/// So many samples, in words.
pub fn samples(count: u64) -> String {
    counted(count, "sample")
}

/// A time in words: to a thousandth of the unit that it is at least one of, seconds at most.
pub fn duration(ns: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "µs")];
    let Some((unit, name)) = UNITS.into_iter().find(|(unit, _)| ns >= *unit) else {
        return format!("{ns} ns");
    };
    let step = unit / 1000;
    let thousandths = ns / step + u64::from(ns % step * 2 >= step);
    format!("{}.{:03} {name}", grouped(thousandths / 1000), thousandths % 1000)
}

/// An event's name without the modifiers behind it: `cycles:u` counts cycles. Of a tracepoint, `sched:sched_switch`, the colon is
/// part of the name.
fn without_modifiers(name: &str) -> &str {
    match name.rsplit_once(':') {
        Some((event, modifiers)) if modifiers.chars().all(|c| "ukhGHIpPSDWeb".contains(c)) => event,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The script of flame graphs is held to the same table (`tests/browser`).
    #[test]
    fn texts_are_those_of_the_table() {
        let table: serde_json::Value = serde_json::from_str(include_str!("flamegraph/texts.json")).unwrap();
        for (rows, told) in [("durations", duration as fn(u64) -> String), ("samples", samples)] {
            let rows = table[rows].as_array().unwrap();
            assert!(!rows.is_empty());
            for row in rows {
                assert_eq!(told(row[0].as_u64().unwrap()), row[1].as_str().unwrap());
            }
        }
    }

    #[test]
    fn modifiers_are_no_part_of_what_is_counted() {
        for (name, counted) in [
            ("cycles:u", "cycles"),
            ("cycles:ukhpppP", "cycles"),
            ("sched:sched_switch", "sched:sched_switch"),
            ("page-faults", "page-faults"),
            ("cpu/event=0x3c,umask=0x1/u", "cpu/event=0x3c,umask=0x1/u"),
        ] {
            assert_eq!(without_modifiers(name), counted);
        }
    }
}
