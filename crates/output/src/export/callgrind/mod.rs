//! Callgrind's format, version 1, for KCachegrind and callgrind_annotate: what each instruction of each function cost, with its
//! line, and which function called which from where. Every event with samples is a column of costs.
//!
//! Inlined functions are functions that are called. Every stack stands on a function for its thread's name, so that all
//! functions have a caller. A sample counts once for a call, and its cost is that of the outermost call of a function:
//! calls of functions that are running already cost nothing. So the costs of all calls of a function add up to its total,
//! also where it calls itself. `calls=` counts samples, as nobody counted calls.

mod code;
mod costs;

use crate::export::{Export, Flag, Format, Needs, Writing};
use crate::text::printable;
use code::{Code, Function};
use costs::{Costs, add};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The format.
pub const FORMAT: Format = Format {
    name: "callgrind",
    extensions: &["callgrind", "callgrind.out"],
    help: "callgrind's format: KCachegrind (calls, lines, machine code), callgrind_annotate",
    binary: false,
    needs: Needs { lines: true, linked_addresses: true, ..Needs::PLACES },
    one_event: false,
    pictures_time: false,
    no_place_for: &[Flag::WithCpu, Flag::Annotate, Flag::Drawing],
    difference: None,
    write: Writing::Profile(write),
};

/// Writes it.
///
/// # Errors
/// What the writer says.
pub fn write(export: &Export<'_>, out: &mut dyn Write) -> io::Result<()> {
    let events = export.shown_events();
    let mut code = Code::of(export);
    let mut costs = Costs::new(events.len().max(1));
    for (column, event) in events.iter().enumerate() {
        for row in export.profile.rows_of(*event) {
            costs.add_row(export, &mut code, column, &row);
        }
    }
    code.freeze();
    costs.freeze();
    let mut total = vec![0; costs.columns()];
    costs.own().for_each(|(_, own)| add(&mut total, own));
    let total = numbers(&total);
    write_head(export, &events, &total, out)?;
    Body::new(&code, &costs).write(out)?;
    writeln!(out, "\ntotals: {total}")
}

fn write_head(export: &Export<'_>, events: &[usize], total: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# callgrind format\nversion: 1\ncreator: readperf {}", env!("CARGO_PKG_VERSION"))?;
    let command = export.command_line().unwrap_or_else(|| "perf.data".to_owned());
    writeln!(out, "cmd: {}", printable(&command))?;
    for (name, fact) in export.facts() {
        writeln!(out, "desc: {name}: {}", printable(&fact))?;
    }
    writeln!(out, "positions: instr line\nevents: {}\nsummary: {total}", columns(export, events).join(" "))
}

/// The names of the events as single words, each once.
fn columns(export: &Export<'_>, events: &[usize]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut names: Vec<String> = Vec::new();
    for event in events {
        let breaks = |c: char| c.is_whitespace() || c == ',';
        let word: String =
            printable(export.event_name(*event)).chars().map(|c| if breaks(c) { '_' } else { c }).collect();
        let word = if word.is_empty() { "event".to_owned() } else { word };
        let mut name = word.clone();
        for number in 2.. {
            if seen.insert(name.clone()) {
                break;
            }
            name = format!("{word}-{number}");
        }
        names.push(name);
    }
    if names.is_empty() {
        names.push("samples".to_owned());
    }
    names
}

/// Costs as in a line.
fn numbers(costs: &[u64]) -> String {
    let mut text = String::new();
    for (nr, cost) in costs.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = write!(text, "{}{cost}", if nr == 0 { "" } else { " " });
    }
    text
}

/// What is to be told of a function, in the order of the file: by file, line and address; its own costs before its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    function: u32,
    /// Whether the file is another than the function's.
    elsewhere: bool,
    /// Its rank.
    file: u32,
    line: u32,
    address: u64,
    /// Rank and number of the function that is called.
    callee: Option<(u32, u32)>,
    place: u32,
}

/// The functions with their costs and calls. Names are written once, then they are numbers.
struct Body<'b> {
    code: &'b Code,
    costs: &'b Costs,
    functions: Vec<u32>,
    /// What has been named: functions, files, objects.
    named: [Vec<bool>; 3],
}

/// Tables of names: functions, files, objects.
#[derive(Clone, Copy, Debug)]
enum Table {
    Functions,
    Files,
    Objects,
}

impl<'b> Body<'b> {
    fn new(code: &'b Code, costs: &'b Costs) -> Self {
        let functions = code.ranks();
        Body { code, costs, functions, named: Default::default() }
    }

    fn entries(&self) -> Vec<Entry> {
        let files = self.code.file_ranks();
        let rank = |ranks: &[u32], number: u32| ranks.get(number as usize).copied().unwrap_or(u32::MAX);
        let entry = |place: u32, callee: Option<u32>| {
            let at = self.code.place(place);
            Entry {
                function: rank(&self.functions, at.function),
                elsewhere: at.file != self.code.function(at.function).file,
                file: rank(&files, at.file),
                line: at.line,
                address: at.address,
                callee: callee.map(|callee| (rank(&self.functions, callee), callee)),
                place,
            }
        };
        let own = self.costs.own().filter(|(_, cost)| cost.iter().any(|cost| *cost > 0));
        let mut entries: Vec<Entry> = own.map(|(place, _)| entry(place, None)).collect();
        entries.extend(self.costs.calls().map(|(place, callee)| entry(place, Some(callee))));
        entries.sort_unstable();
        entries
    }

    fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut last: Option<u32> = None;
        let mut file = u32::MAX;
        for entry in self.entries() {
            let place = self.code.place(entry.place);
            let Function { object, file: home, .. } = self.code.function(place.function);
            if last != Some(place.function) {
                writeln!(out)?;
                self.name(out, "ob", Table::Objects, object)?;
                self.name(out, "fl", Table::Files, home)?;
                self.name(out, "fn", Table::Functions, place.function)?;
                (last, file) = (Some(place.function), home);
            }
            if file != place.file {
                self.name(out, if entry.elsewhere { "fi" } else { "fe" }, Table::Files, place.file)?;
                file = place.file;
            }
            let cost = match entry.callee {
                None => self.costs.own_at(entry.place),
                Some((_, callee)) => {
                    let called = self.code.function(callee);
                    self.name(out, "cob", Table::Objects, called.object)?;
                    self.name(out, "cfi", Table::Files, called.file)?;
                    self.name(out, "cfn", Table::Functions, callee)?;
                    let (count, cost) = self.costs.call(entry.place, callee);
                    // The line that the function begins in is not known.
                    writeln!(out, "calls={count} {:#x} 0", self.code.start(callee))?;
                    cost
                }
            };
            writeln!(out, "{:#x} {} {}", place.address, place.line, numbers(cost))?;
        }
        Ok(())
    }

    /// A line that tells where we are. A number stands for one function, not only for one name: KCachegrind wants it so.
    fn name(&mut self, out: &mut dyn Write, key: &str, table: Table, number: u32) -> io::Result<()> {
        let (named, text, id) = match table {
            Table::Functions => {
                let rank = self.functions.get(number as usize).copied().unwrap_or(number);
                (0, self.code.names.get(self.code.function(number).name), rank)
            }
            Table::Files => (1, self.code.files.get(number), number),
            Table::Objects => (2, self.code.objects.get(number), number),
        };
        let id = u64::from(id) + 1;
        let Some(named) = self.named.get_mut(named) else { return Ok(()) };
        if named.len() <= number as usize {
            named.resize(number as usize + 1, false);
        }
        match named.get_mut(number as usize) {
            Some(named) if !*named => {
                *named = true;
                writeln!(out, "{key}=({id}) {text}")
            }
            _ => writeln!(out, "{key}=({id})"),
        }
    }
}
