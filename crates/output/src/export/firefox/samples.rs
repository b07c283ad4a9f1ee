//! The samples table: stacks by time, with what each counts for and how long the thread ran since the one before.

use super::Source;
use super::off_cpu::Point;
use crate::export::circumstances::Unit;
use crate::export::json::JsonWriter;
use crate::export::{Export, Weight};
use readperf_profile::SampleRow;

impl Point {
    /// The point of a sample.
    pub(super) fn of(export: &Export<'_>, unit: Unit, row: &SampleRow, stack: Option<u32>) -> Point {
        // How long the thread ran since the sample before is what a clock counts.
        let clock_ns = (unit == Unit::Nanoseconds).then_some(row.period);
        Point { time_ns: row.time_ns, stack, weight: export.weight(row), clock_ns }
    }
}

/// Writes the table. `ran` tells how long the thread ran between two times, as far as its switches tell.
pub(super) fn write(
    export: &Export<'_>,
    source: &Source<'_>,
    points: &[Point],
    mut ran: Option<impl FnMut(u64, u64) -> Option<u64>>,
    json: &mut JsonWriter<'_>,
) {
    let unit = source.event.map_or(Unit::Count, |event| export.unit(event));
    json.list("stack", points.iter().map(|point| point.stack));
    json.key("timeDeltas").array(|json| {
        let mut before = source.origin_ns;
        for point in points {
            json.milliseconds(point.time_ns.saturating_sub(before));
            before = before.max(point.time_ns);
        }
    });
    if (export.profile.weight(), unit) == (Weight::Period, Unit::Nanoseconds) {
        json.key("weight").array(|json| points.iter().for_each(|point| json.milliseconds(point.weight)));
        json.field("weightType", "tracing-ms");
    } else {
        // Where every sample is one, nothing has to be said.
        let all_one =
            export.profile.weight() == Weight::Samples && points.iter().all(|point| point.weight == 1);
        match all_one {
            true => json.field("weight", None::<u32>),
            false => json.list("weight", points.iter().map(|point| point.weight)),
        }
        json.field("weightType", "samples");
    }
    if unit == Unit::Nanoseconds || ran.is_some() {
        json.key("threadCPUDelta").array(|json| {
            let mut before = source.origin_ns;
            for point in points {
                let told = ran.as_mut().and_then(|ran| ran(before, point.time_ns));
                json.value(told.or(point.clock_ns));
                before = before.max(point.time_ns);
            }
        });
    }
    json.field("length", points.len());
}
