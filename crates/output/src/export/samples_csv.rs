//! Samples as a table of comma-separated values (RFC 4180), a row a sample, in order of time.
//!
//! `dso` and `symbol` are where the sample was taken; `stack` is as in folded stacks, the outermost level first. Then comes what
//! else may be recorded of a sample: addresses in hex, numbers, and of tracepoints their text and their fields as JSON. The
//! columns are always the same. What is not known or not recorded is empty. Control characters in names are escaped.

use crate::csv::CsvTable;
use crate::export::in_time::in_time;
use crate::export::labels::Labels;
use crate::export::recorded::{DETAILS, NUMBERS, Recorded, Told};
use crate::export::{Export, Flag, Format, Needs, Writing};
use crate::json;
use crate::text::printable;
use readperf_profile::{AddressId, SampleRow};
use readperf_session::CommId;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::fmt::{self, Display};
use std::io::{self, Write};

/// The format.
pub const FORMAT: Format = Format {
    name: "csv",
    extensions: &["csv"],
    help: "a row a sample, with its stack folded and what else was recorded of it: for data frames",
    binary: false,
    needs: Needs { threads: true, cpus: true, times: true, details: DETAILS, ..Needs::PLACES },
    one_event: false,
    pictures_time: false,
    no_place_for: &[Flag::Weight, Flag::Title, Flag::Drawing],
    difference: None,
    write: Writing::Profile(write),
};

/// The columns before and behind those of [`NUMBERS`].
const FIRST: [&str; 11] =
    ["event", "time_ns", "comm", "pid", "tid", "cpu", "period", "dso", "symbol", "stack", "ip"];
const LAST: [&str; 3] = ["text", "fields", "raw"];

/// Writes it.
///
/// # Errors
/// What the writer says.
pub fn write(export: &Export<'_>, out: &mut dyn Write) -> io::Result<()> {
    let columns = FIRST.into_iter().chain(NUMBERS.map(|(name, _)| name)).chain(LAST);
    let mut table = CsvTable::new(out, columns)?;
    let mut labels = Labels::new(export.options.annotate, |name, text| {
        text.extend(printable(name).chars().map(|c| if c == ';' { ':' } else { c }));
    });
    // Levels of addresses are the same for every event; threads are written here.
    let mut numbered = labels.take_in(export, usize::MAX, |_, _, _| {});
    labels.finish([&mut numbered]);
    let events: Vec<_> = export.profile.events().iter().map(|event| &*event.name).collect();
    let mut comms: FxHashMap<CommId, Box<str>> = FxHashMap::default();
    let mut places: Vec<AddressId> = Vec::new();
    let mut stack = String::new();
    let mut numbers = Numbers::default();
    let recorded = Recorded::new(*export);
    for row in in_time(export.profile) {
        places.clear();
        places.extend(export.places(&row));
        stack.clear();
        for level in places.iter().rev().flat_map(|place| numbered.levels.at(*place)) {
            if !stack.is_empty() {
                stack.push(';');
            }
            stack.push_str(labels.name(level.label));
        }
        let comm = comms.entry(row.comm).or_insert_with(|| export.comm(&row).into());
        let (dso, symbol) = (export.binary_name(row.address), symbol(export, &row));
        table.cell(events.get(row.event as usize).map_or("", |name| name))?;
        numbers.write(&mut table, (row.time_ns > 0).then_some(row.time_ns))?;
        table.cell(&**comm)?;
        let ids = export.ids(&row);
        numbers.write(&mut table, ids.map(|(pid, _)| pid))?;
        numbers.write(&mut table, ids.map(|(_, tid)| tid))?;
        numbers.write(&mut table, row.cpu)?;
        numbers.write(&mut table, Some(row.period))?;
        for name in [&*dso, &*symbol, &*stack] {
            table.cell(name)?;
        }
        for number in
            std::iter::once(recorded.ip(&row)).chain(NUMBERS.map(|(_, field)| recorded.number(&row, field)))
        {
            numbers.write(&mut table, number)?;
        }
        let payload = match recorded.payload(&row) {
            Some(Told::Tracepoint(text, fields)) => [text, json::line(&fields), String::new()],
            Some(Told::Bytes(bytes)) => [String::new(), String::new(), bytes],
            None => Default::default(),
        };
        table.row(payload)?;
    }
    table.finish()
}

/// The innermost function where a sample was taken, or the address there.
fn symbol<'x>(export: &Export<'x>, row: &SampleRow) -> Cow<'x, str> {
    let level = export.levels_at(row.address).next();
    let function = level.and_then(|level| export.profile.function(level.function));
    function.map_or(Cow::Borrowed(""), |function| function.label())
}

/// Numbers to fields, without asking for memory each time.
#[derive(Debug, Default)]
struct Numbers {
    text: String,
}

impl Numbers {
    /// Writes a number as the next field; nothing as an empty one.
    fn write<W: Write>(&mut self, table: &mut CsvTable<W>, number: Option<impl Display>) -> io::Result<()> {
        self.text.clear();
        if let Some(number) = number {
            // Writing to a string does not fail.
            let _ = fmt::Write::write_fmt(&mut self.text, format_args!("{number}"));
        }
        table.cell(&self.text)
    }
}
