//! pprof: `profile.proto`, gzipped, for `pprof` and the many viewers that read its files.
//!
//! Every event has two values in each sample: how many samples, and the sum of their periods. Samples with the same stack
//! of the same thread under the same name are one.

mod message;
mod places;

use crate::export::packed::Packed;
use crate::export::protobuf::FieldWriter;
use crate::export::strings::Strings;
use crate::export::{Export, Flag, Format, Needs, Weight, Writing};
use crate::text::printable;
use message::{Label, Sample, ValueType, field};
use perffile::wire::attr::AttrFlags;
use places::Places;
use readperf_profile::{RowSlice, SampleRow};
use std::borrow::Cow;
use std::io::{self, BufWriter, IntoInnerError, Write};

/// The format.
pub const FORMAT: Format = Format {
    name: "pprof",
    extensions: &["pb.gz", "pprof", "pb"],
    help: "profile.proto, gzipped, or plain if the file is called .pb: pprof, and viewers that read its files",
    binary: true,
    needs: Needs { threads: true, lines: true, ..Needs::PLACES },
    one_event: false,
    pictures_time: false,
    no_place_for: &[Flag::Annotate, Flag::Drawing],
    difference: None,
    write: Writing::Profile(write),
};

/// Bytes gathered before they are compressed.
const BUFFER: usize = 1 << 16;

/// Writes it.
///
/// # Errors
/// What the writer says.
pub fn write(export: &Export<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut strings = Strings::default();
    // The format wants the empty text first.
    strings.number("");
    let packed = Packed::new(out, export.options.plain);
    // The encoder prepares a whole buffer for each write, and messages are small.
    let mut fields = FieldWriter::new(BufWriter::with_capacity(BUFFER, packed));
    let events = export.shown_events();
    write_types(export, &events, &mut strings, &mut fields)?;
    let mut places = Places::new(*export);
    write_samples(export, &events, &mut places, &mut strings, &mut fields)?;
    places.program_first();
    places.mappings.iter().try_for_each(|mapping| fields.message(field::MAPPING, mapping))?;
    write_circumstances(export, &mut strings, &mut fields)?;
    strings.iter().try_for_each(|text| fields.text(field::STRING_TABLE, text))?;
    fields.into_inner().into_inner().map_err(IntoInnerError::into_error)?.finish()
}

fn write_types<W: Write>(
    export: &Export<'_>,
    events: &[usize],
    strings: &mut Strings,
    fields: &mut FieldWriter<W>,
) -> io::Result<()> {
    let mut value = |kind: &str, unit: &str| ValueType {
        kind: strings.number(kind).into(),
        unit: strings.number(unit).into(),
    };
    let mut shown = None;
    for event in events {
        let name = printable(export.event_name(*event));
        let samples = if events.len() == 1 { "samples".to_owned() } else { format!("{name}_samples") };
        let types = [value(&samples, "count"), value(&name, export.unit(*event).name())];
        types.iter().try_for_each(|kind| fields.message(field::SAMPLE_TYPE, kind))?;
        if export.event() == Some(*event) || shown.is_none() {
            shown = Some((*event, types));
        }
    }
    let Some((event, [samples, period])) = shown else { return Ok(()) };
    fields.message(field::PERIOD_TYPE, &period)?;
    fields.number(field::PERIOD, fixed_period(export, event))?;
    let default = match export.profile.weight() {
        Weight::Period => period.kind,
        Weight::Samples => samples.kind,
    };
    fields.number(field::DEFAULT_SAMPLE_TYPE, default.cast_unsigned())
}

/// How many events lie between two samples, if that was fixed: an event sampled so many times a second has no such number.
fn fixed_period(export: &Export<'_>, event: usize) -> u64 {
    let description = export.metadata.schema.event(event);
    let fixed = description.filter(|description| !description.attr.flags.has(AttrFlags::freq));
    fixed.map_or(0, |description| description.attr.default_period())
}

fn write_samples<W: Write>(
    export: &Export<'_>,
    events: &[usize],
    places: &mut Places<'_>,
    strings: &mut Strings,
    fields: &mut FieldWriter<W>,
) -> io::Result<()> {
    let mut rest: Vec<RowSlice<'_>> = events.iter().map(|event| export.profile.rows_of(*event)).collect();
    let mut sample = Sample::default();
    // The rows of each event are sorted by what is kept of them: those that agree meet at the front.
    while let Some(key) = rest.iter().filter_map(|rows| rows.first()).map(key).min() {
        sample.values.clear();
        let mut first = None;
        let mut count: u64 = 0;
        for rows in &mut rest {
            let (mut samples, mut period) = (0, 0);
            while let Some(row) = rows.first().filter(|row| self::key(*row) == key) {
                samples = saturating(samples, row.samples);
                period = saturating(period, row.period);
                count = count.saturating_add(row.samples);
                first.get_or_insert(row);
                *rows = rows.split_at(1).1;
            }
            sample.values.extend([samples, period]);
        }
        let Some(row) = first else { break };
        sample.locations.clear();
        sample.locations.extend(export.places(&row).map(|place| places.location(place, strings)));
        places.count(&sample.locations, count);
        sample.labels.clear();
        labels(export, &row, strings, &mut sample.labels);
        // Fields come in any order: what is new is written at once, and need not be held.
        for location in places.locations.drain(..) {
            fields.message(field::LOCATION, &location)?;
        }
        for function in places.functions.drain(..) {
            fields.message(field::FUNCTION, &function)?;
        }
        fields.message(field::SAMPLE, &sample)?;
    }
    Ok(())
}

/// All that is kept of a row but its event and weights.
fn key(row: SampleRow) -> SampleRow {
    SampleRow { event: 0, samples: 0, period: 0, ..row }
}

fn saturating(sum: i64, more: u64) -> i64 {
    sum.saturating_add(i64::try_from(more).unwrap_or(i64::MAX))
}

fn labels(export: &Export<'_>, row: &SampleRow, strings: &mut Strings, labels: &mut Vec<Label>) {
    let comm = strings.number(&as_graphviz_reads(&printable(&export.comm(row))));
    labels.push(Label { key: strings.number("comm").into(), text: comm.into(), ..Label::default() });
    // As numbers: pprof draws a box for every text under every function. A 0 without a unit is nothing to it.
    let mut number = |key: &str, number: i64| {
        let key = strings.number(key).into();
        labels.push(Label { key, number, unit: key, ..Label::default() });
    };
    if let Some((pid, tid)) = export.ids(row) {
        number("pid", pid.into());
        number("tid", tid.into());
    }
    if let Some(cpu) = row.cpu {
        number("cpu", cpu.into());
    }
}

/// A label or a path that would break pprof's pictures, which hand these to graphviz as they are, is written as graphviz reads
/// it: one with a quotation mark in it, or with a backslash at its end. Others stay as they are.
fn as_graphviz_reads(label: &str) -> Cow<'_, str> {
    match label.contains('"') || label.ends_with('\\') {
        true => label.replace('\\', "\\\\").replace('"', "\\\"").into(),
        false => label.into(),
    }
}

/// When and where it was recorded.
fn write_circumstances<W: Write>(
    export: &Export<'_>,
    strings: &mut Strings,
    fields: &mut FieldWriter<W>,
) -> io::Result<()> {
    if let Some((first, last)) = export.profile.times_ns() {
        if let Some(day) = export.time_of_day(first) {
            fields.number(field::TIME_NANOS, day)?;
        }
        fields.number(field::DURATION_NANOS, last.saturating_sub(first))?;
    }
    export.facts().iter().try_for_each(|(name, fact)| {
        let comment = strings.number(&printable(&format!("{name}: {fact}")));
        fields.number(field::COMMENT, comment.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_labels_that_break_pictures_are_written_otherwise() {
        for (label, written) in [
            ("work", "work"),
            ("C:\\dir", "C:\\dir"),
            ("a \"b\"", "a \\\"b\\\""),
            ("a\\\"", "a\\\\\\\""),
            ("end\\", "end\\\\"),
            ("", ""),
        ] {
            assert_eq!(as_graphviz_reads(label), written);
        }
    }
}
