//! Which records to show: `--type`, `--event`, `--time`, `--offset`, `--limit`.

use crate::sample_options::unknown_event;
use crate::suggestion::hint;
use crate::time_range::{TimeRange, Times};
use clap::Args;
use perffile::wire::record::{RECORDS, kind};
use perffile::{Event, Recording, Schema};
use std::ops::Range;

/// The options.
#[derive(Args, Debug, Clone)]
pub(crate) struct FilterOptions {
    /// Only records of these types: names or numbers, as SAMPLE,MMAP2 or 9,10
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = record_type)]
    types: Vec<u32>,

    /// Only samples of these events, by name
    #[arg(long = "event", value_name = "NAME")]
    events: Vec<String>,

    /// Only records of this time: FROM,TO in seconds (12.5,13), in nanoseconds (12500000000ns,) or in percent of the time between
    /// first and last sample (10%-20%); either end may be left out. Records without a time are left out
    #[arg(long, value_name = "FROM,TO", value_parser = TimeRange::parse)]
    time: Option<TimeRange>,

    /// Only records that begin at these file offsets: FROM..TO, decimal or 0x…, TO not included; either may be left out. What was
    /// compressed is at the offset of its compressed record
    #[arg(long, value_name = "FROM..TO", value_parser = offset_range)]
    offset: Option<Range<u64>>,

    /// Stop after this many records
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

/// A filter for one recording.
#[derive(Debug)]
pub(crate) struct RecordFilter<'o> {
    options: &'o FilterOptions,
    times: Option<Times>,
    left: Option<u64>,
}

impl FilterOptions {
    /// The filter for a recording. Percentages of its time are worked out here, from its header or by reading it once.
    pub(crate) fn for_recording(&self, recording: &Recording) -> anyhow::Result<RecordFilter<'_>> {
        let times = self.time.as_ref().map(|range| range.times(recording)).transpose()?;
        Ok(RecordFilter { options: self, times, left: self.limit })
    }

    /// Says which of the wanted events a recording does not have, now that all of them are known.
    pub(crate) fn unknown_event(&self, schema: &Schema) -> Option<String> {
        unknown_event(&self.events, schema)
    }
}

impl RecordFilter<'_> {
    /// Whether to show a record; counts those it lets through.
    pub(crate) fn lets_through(&mut self, event: &Event<'_>) -> bool {
        if self.is_done() || !self.matches(event) {
            return false;
        }
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
        true
    }

    /// Whether nothing more will be shown.
    pub(crate) fn is_done(&self) -> bool {
        self.left == Some(0)
    }

    fn matches(&self, event: &Event<'_>) -> bool {
        let FilterOptions { types, events, offset, .. } = self.options;
        let number = event.head().kind;
        (types.is_empty() || types.contains(&number))
            && offset.as_ref().is_none_or(|range| range.contains(&event.offset()))
            && (events.is_empty() || number == kind::SAMPLE && is_one_of(event, events))
            && self.times.is_none_or(|times| event.time().is_some_and(|time| times.contains(time)))
    }
}

fn is_one_of(event: &Event<'_>, names: &[String]) -> bool {
    event.event().is_some_and(|event| names.contains(&event.name))
}

/// A record type by name, with or without `PERF_RECORD_`, in upper or lower case, or by number.
fn record_type(text: &str) -> Result<u32, String> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let upper = text.to_uppercase();
    let name = upper.strip_prefix("PERF_RECORD_").unwrap_or(&upper);
    if let Some(number) = name.strip_prefix("UNKNOWN_").and_then(|number| number.parse().ok()) {
        return Ok(number);
    }
    match RECORDS.iter().find(|kind| kind.name == name) {
        Some(kind) => Ok(kind.number),
        None => {
            Err(format!("no record type is called that{}", hint(name, RECORDS.iter().map(|kind| kind.name))))
        }
    }
}

fn offset_range(text: &str) -> Result<Range<u64>, String> {
    let (from, to) = text.split_once("..").ok_or("expected FROM..TO, as in 0x100..0x200")?;
    let range = offset(from, 0)?..offset(to, u64::MAX)?;
    if range.start >= range.end { Err("that range is empty".to_owned()) } else { Ok(range) }
}

fn offset(text: &str, default: u64) -> Result<u64, String> {
    let text = text.trim();
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        _ if text.is_empty() => return Ok(default),
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("{text} is no offset: expected a number, decimal or 0x…"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_by_name_and_number() {
        assert_eq!(record_type("sample"), Ok(9));
        assert_eq!(record_type("PERF_RECORD_MMAP2"), Ok(10));
        assert_eq!(record_type("unknown_300"), Ok(300));
        assert_eq!(record_type("32773"), Ok(32_773));
        assert_eq!(
            record_type("smaple").unwrap_err(),
            "no record type is called that (did you mean SAMPLE?)"
        );
        assert_eq!(record_type("zzzzzzzz").unwrap_err(), "no record type is called that");
    }

    #[test]
    fn offsets_in_hex_and_decimal() {
        assert_eq!(offset_range("0x10..32"), Ok(16..32));
        assert_eq!(offset_range("..0x20"), Ok(0..32));
        assert_eq!(offset_range("5.."), Ok(5..u64::MAX));
        for bad in ["5", "6..5", "x..9", "5..5", "-1.."] {
            assert!(offset_range(bad).is_err(), "{bad}");
        }
    }
}
