//! The records as `readperf dump` shows them: a window of them by number, the next ones that match, and one with its bytes.

use super::functions::search_pattern;
use super::{Answers, written};
use crate::query::Query;
use perffile::wire::feature::bit;
use perffile::wire::record::kind;
use perffile::{ErrorKind, Event, Ordering, RecordIndex, Recording, Run};
use readperf_output::dump::{Dumper, head, hex_dump};
use readperf_output::text::{seconds, without_long_middle};
use readperf_profile::counters::Counters;
use regex::Regex;
use serde_json::{Map, Value as Json, json};
use std::cell::OnceCell;
use std::time::{Duration, Instant};

/// Most records of an answer.
const MOST: usize = 500;
/// So long a search goes on before it tells how far it is.
const PATIENCE: Duration = Duration::from_millis(60);
/// Parts of a record of simpleperf come one after the other.
const PARTS: u64 = 4096;
/// A record may be long; the beginning of what it says tells which it is.
const SAYING: usize = 240;

/// The records of a recording, and where they lie, once that was asked for.
pub(crate) struct Records<'r> {
    recording: &'r Recording,
    index: OnceCell<Result<RecordIndex, String>>,
    counters: OnceCell<Option<Counters>>,
}

impl<'r> Records<'r> {
    pub(crate) fn new(recording: &'r Recording) -> Self {
        Records { recording, index: OnceCell::new(), counters: OnceCell::new() }
    }

    fn index(&self) -> Result<&RecordIndex, String> {
        let made = self.index.get_or_init(|| {
            RecordIndex::of(self.recording).map_err(|error| match error.kind() {
                ErrorKind::Consumed => {
                    "The recording came as a stream and is gone: its records are shown only of a file."
                        .to_owned()
                }
                _ => error.to_string(),
            })
        });
        made.as_ref().map_err(String::clone)
    }
}

impl Records<'_> {
    /// What `perf stat` counted, if it made the recording, and that can be read again.
    pub(super) fn counters(&self) -> Option<&Counters> {
        let counters = self.counters.get_or_init(|| {
            let features = &self.recording.metadata().features;
            if self.recording.is_stream() || !features.has(bit::STAT) {
                return None;
            }
            let mut counters = Counters::new();
            let batches = self.recording.batches(Ordering::File).ok()?;
            batches.for_each(|batch| batch.iter().for_each(|event| counters.add(&event)));
            counters.finish();
            Some(counters)
        });
        counters.as_ref()
    }
}

/// Which records are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    All,
    /// Those of a type.
    Type(u32),
    /// Those that cannot be decoded, or before which bytes are no record.
    Damaged,
}

impl Kind {
    fn of(query: &Query) -> Result<Kind, String> {
        Ok(match query.get("kind") {
            "" => Kind::All,
            "damaged" => Kind::Damaged,
            _ => query.number("kind")?.map_or(Kind::All, Kind::Type),
        })
    }

    /// How many records of a run there are, where that is known without looking at them.
    fn count(self, run: &Run) -> u64 {
        match self {
            Kind::Type(number) => run.count_of(number),
            Kind::All | Kind::Damaged => run.numbers().end - run.numbers().start,
        }
    }

    fn is_of(self, event: &Event<'_>) -> bool {
        match self {
            Kind::Type(number) => event.head().kind == number,
            Kind::All | Kind::Damaged => true,
        }
    }
}

/// Records by their places among those of a type: `count` from `at` on, or from what `goto` says.
pub(super) fn window(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let index = match answers.records.index() {
        Ok(index) => index,
        Err(why) => return written(&json!({"why": why})),
    };
    let kind = Kind::of(query)?;
    let at = match query.get("goto") {
        "" => query.number("at")?.unwrap_or(0),
        to => place_of(index, kind, number_of(index, to, answers.origin_ns)?),
    };
    let count = query.number("count")?.unwrap_or(50).min(MOST);
    let mut dumper = dumper(index);
    let rows: Vec<Json> =
        from_place(index, kind, at).take(count).map(|event| row(index, &mut dumper, &event)).collect();
    let types = index.types().into_iter().map(|(number, count)| {
        json!({"number": number, "name": index.metadata().schema.dialect().record_name(number), "count": count})
    });
    let stray = index.runs().iter().filter(|run| run.stray_bytes() > 0);
    let issues: Vec<String> = index.metadata().issues.iter().map(ToString::to_string).collect();
    written(&json!({
        "all": index.len(), "count": index.runs().iter().map(|run| kind.count(run)).sum::<u64>(), "at": at, "rows": rows,
        "types": types.collect::<Vec<_>>(), "stray_places": stray.clone().count(),
        "stray_bytes": stray.map(Run::stray_bytes).sum::<u64>(), "issues": issues,
    }))
}

/// The next records from a number on that match a text or are damaged. A search that takes long says where to go on.
pub(super) fn find(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let index = answers.records.index()?;
    let kind = Kind::of(query)?;
    let pattern =
        Some(query.get("search")).filter(|text| !text.is_empty()).map(search_pattern).transpose()?;
    let count = query.number("count")?.unwrap_or(100).min(MOST);
    let mut dumper = dumper(index);
    let (mut rows, mut next, started) = (Vec::new(), None, Instant::now());
    for event in index.from(query.number("after")?.unwrap_or(0)) {
        if rows.len() >= count || started.elapsed() > PATIENCE {
            next = Some(event.index());
            break;
        }
        if kind.is_of(&event) && matches(index, &mut dumper, &event, kind, pattern.as_ref()) {
            rows.push(row(index, &mut dumper, &event));
        }
    }
    written(&json!({"rows": rows, "next": next}))
}

/// One record: its fields as text, and its bytes.
pub(super) fn one(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let index = answers.records.index()?;
    let number: u64 = query.number("number")?.unwrap_or(0);
    let mut dumper = dumper(index);
    let Some(event) = index.from(number).next().filter(|event| event.index() == number) else {
        return Err(format!("number={number}: there are {} records", index.len()));
    };
    if event.head().kind == kind::SPLIT_END {
        // It is shown with what it is the last part of.
        index
            .from(number.saturating_sub(PARTS))
            .take_while(|part| part.index() < number)
            .for_each(|part| dumper.meet(&part));
    }
    dumper.meet(&event);
    let text = text_of(&mut dumper, &event);
    let mut object = match row(index, &mut dumper, &event) {
        Json::Object(object) => object,
        _ => Map::new(),
    };
    let stray = stray_before(index, &event);
    object.insert("text".into(), text.into());
    object.insert("hex".into(), hex_dump(event.raw()).into());
    object.insert("behind".into(), event.payload().len().into());
    object.insert("before".into(), hex_dump(stray.map_or(&[], |run| run.stray())).into());
    written(&Json::Object(object))
}

fn dumper(index: &RecordIndex) -> Dumper {
    let mut dumper = Dumper::default();
    dumper.learn(index.metadata());
    dumper
}

fn text_of(dumper: &mut Dumper, event: &Event<'_>) -> String {
    let mut out = Vec::new();
    // A vector takes everything.
    let _ = dumper.write_text(&mut out, event);
    String::from_utf8(out).unwrap_or_default()
}

/// The run that begins with a record, if bytes before it are no record.
fn stray_before<'i>(index: &'i RecordIndex, event: &Event<'_>) -> Option<&'i Run> {
    let at = index.runs().partition_point(|run| run.numbers().end <= event.index());
    let run = index.runs().get(at)?;
    (run.numbers().start == event.index() && run.stray_bytes() > 0).then_some(run)
}

/// A record in a list: what `dump --json` says before its fields, and these in a line.
fn row(index: &RecordIndex, dumper: &mut Dumper, event: &Event<'_>) -> Json {
    let mut object = head(event);
    let text = text_of(dumper, event);
    let fields = text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut says = String::new();
    for field in fields {
        if says.len() > SAYING {
            says.push_str(", …");
            break;
        }
        if !says.is_empty() {
            says.push_str(", ");
        }
        says.push_str(&without_long_middle(&field));
    }
    object.insert("says".into(), says.into());
    if let Some(time) = event.time() {
        // Numbers of the page are not wide enough for nanoseconds.
        object.insert("seconds".into(), seconds(time).into());
    }
    if let Some(run) = stray_before(index, event) {
        object.insert("stray".into(), run.stray_bytes().into());
    }
    if let Err(error) = event.record() {
        object.insert("error".into(), error.to_string().into());
    }
    Json::Object(object)
}

fn matches(
    index: &RecordIndex,
    dumper: &mut Dumper,
    event: &Event<'_>,
    kind: Kind,
    pattern: Option<&Regex>,
) -> bool {
    (kind != Kind::Damaged || stray_before(index, event).is_some() || event.record().is_err())
        && pattern.is_none_or(|pattern| pattern.is_match(&text_of(dumper, event)))
}

/// The records of a kind from a place among them on.
fn from_place(index: &RecordIndex, kind: Kind, at: u64) -> impl Iterator<Item = Event<'_>> {
    let mut before = 0;
    let runs = index.runs();
    let first = runs.iter().position(|run| {
        let behind = before + kind.count(run);
        let is_it = behind > at;
        before = if is_it { before } else { behind };
        is_it
    });
    let runs = runs.get(first.unwrap_or(runs.len())..).unwrap_or_default();
    let skipped = usize::try_from(at.saturating_sub(before)).unwrap_or(usize::MAX);
    runs.iter().flat_map(Run::events).filter(move |event| kind.is_of(event)).skip(skipped)
}

/// How many records of a kind come before a number.
fn place_of(index: &RecordIndex, kind: Kind, number: u64) -> u64 {
    let runs = index.runs();
    let at = runs.partition_point(|run| run.numbers().end <= number);
    let before: u64 = runs.iter().take(at).map(|run| kind.count(run)).sum();
    let here = runs.get(at).into_iter().flat_map(Run::events);
    before + here.take_while(|event| event.index() < number).filter(|event| kind.is_of(event)).count() as u64
}

/// The number of the record that a text leads to: `123` or `#123`, `0x1f00` (offset in the file), `12.5` (seconds of the recording's
/// clock), `+1.5` (seconds since the first sample).
fn number_of(index: &RecordIndex, to: &str, origin_ns: u64) -> Result<u64, String> {
    let wrong = || {
        format!(
            "{to}: no number of a record (123), offset (0x1f00), or time in seconds (12.5; +1.5 since the first sample)"
        )
    };
    let to = to.trim().trim_end_matches('s');
    let last = index.len().saturating_sub(1);
    let number = |event: Option<Event<'_>>| event.map_or(last, |event| event.index());
    if let Some(hex) = to.strip_prefix("0x").or_else(|| to.strip_prefix("0X")) {
        return Ok(number(index.at_offset(u64::from_str_radix(hex, 16).map_err(|_| wrong())?)));
    }
    if let Some(since) = to.strip_prefix('+') {
        return Ok(number(index.at_time(origin_ns.saturating_add(nanoseconds(since).ok_or_else(wrong)?))));
    }
    if to.contains('.') {
        return Ok(number(index.at_time(nanoseconds(to).ok_or_else(wrong)?)));
    }
    to.trim_start_matches('#').parse::<u64>().map(|number| number.min(last)).map_err(|_| wrong())
}

/// Seconds with up to nine digits behind the point, as ns.
fn nanoseconds(seconds: &str) -> Option<u64> {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty()
        || !is_digits(whole)
        || !is_digits(fraction)
        || fraction.len() > 9
    {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    whole.checked_mul(1_000_000_000)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact() {
        for (text, ns) in [
            ("1.5", 1_500_000_000),
            ("0.000000001", 1),
            ("12", 12_000_000_000),
            (".25", 250_000_000),
            ("7.", 7_000_000_000),
        ] {
            assert_eq!(nanoseconds(text), Some(ns), "{text}");
        }
        for wrong in ["", ".", "x", "1.x", "-1", "1.0000000001", "99999999999999"] {
            assert_eq!(nanoseconds(wrong), None, "{wrong}");
        }
    }
}
