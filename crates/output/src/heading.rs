//! What stands over a table of an event: how much of it is there, and what shares are of.

use crate::overview::share;
use crate::text::{counted, grouped, shown};
pub use readperf_profile::Whole;
use readperf_profile::profile::EventTotal;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// The samples of an event in words, with its name.
pub fn samples(chosen: &EventTotal, recorded: &EventTotal) -> String {
    format!("{}: {}", shown(&chosen.name), amounts(chosen, recorded))
}

/// How many samples, of how many if some were not chosen.
pub fn amounts(chosen: &EventTotal, recorded: &EventTotal) -> String {
    let period = grouped(chosen.period);
    if is_all(chosen, recorded) {
        return format!("{}, period {period}", counted(chosen.samples, "sample"));
    }
    let (number, all) = (grouped(chosen.samples), counted(recorded.samples, "sample"));
    let (all_period, share) = (grouped(recorded.period), share(chosen.period, recorded.period));
    format!("{number} of {all}, period {period} of {all_period} ({share:.2} %)")
}

/// Says what shares are of, if that is a question.
///
/// # Errors
/// What the writer says.
pub fn write_whole(
    out: &mut (impl Write + ?Sized),
    chosen: &EventTotal,
    recorded: &EventTotal,
    whole: Whole,
) -> io::Result<()> {
    if is_all(chosen, recorded) {
        return Ok(());
    }
    match whole {
        Whole::Chosen => writeln!(out, "shares are of the {} chosen", counted(chosen.samples, "sample")),
        Whole::Recorded => writeln!(out, "shares are of all {}", counted(recorded.samples, "sample")),
    }
}

fn is_all(chosen: &EventTotal, recorded: &EventTotal) -> bool {
    (chosen.samples, chosen.period) == (recorded.samples, recorded.period)
}

/// The samples of an event for a program: those chosen, and all that are recorded.
pub fn fields(chosen: &EventTotal, recorded: &EventTotal) -> Map<String, Value> {
    let sums = |total: &EventTotal| json!({"samples": total.samples, "period": total.period});
    let mut fields = Map::new();
    fields.insert("name".into(), chosen.name.as_str().into());
    fields.insert("samples".into(), chosen.samples.into());
    fields.insert("period".into(), chosen.period.into());
    fields.insert("recorded".into(), sums(recorded));
    fields
}
