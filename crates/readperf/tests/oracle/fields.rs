//! Fields of `dump --json` against perf's own words about the same records: `perf report -D` and `perf script`.

use super::tool;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What perf shows for a sample that records no data source.
const NO_DATA_SOURCE: u64 = 0x508_0021;

pub(crate) fn dump(recording: &Path, types: &str) -> Vec<Value> {
    let arguments = ["dump", "--json", "--sorted", "--type", types, recording.to_str().unwrap()];
    tool::answer(&arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|_| panic!("{text:?} is hex"))
}

/// An address or number of our JSON.
pub(crate) fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str().map(hex))
}

/// The text of one record: its line, and the lines behind it.
pub(crate) struct Said<'t> {
    pub(crate) offset: u64,
    pub(crate) line: &'t str,
    details: Vec<&'t str>,
}

impl Said<'_> {
    /// Its time, ns, which stands before the offset.
    pub(crate) fn time(&self) -> Option<u64> {
        self.line.split_once(" [")?.0.split_whitespace().rev().nth(1)?.parse().ok()
    }

    pub(crate) fn is_sample(&self) -> bool {
        self.line.contains("]: PERF_RECORD_SAMPLE(")
    }
}

/// The records in perf's dump: `[CPU] TIME OFFSET [SIZE]: PERF_RECORD_…`.
pub(crate) fn records(text: &str) -> Vec<Said<'_>> {
    let mut records: Vec<Said<'_>> = Vec::new();
    for line in text.lines() {
        if let Some((head, _)) = line.split_once("]: PERF_RECORD_") {
            let offset = head.split_whitespace().rev().nth(1).unwrap();
            records.push(Said { offset: hex(offset), line, details: Vec::new() });
        } else if line.contains(": event: ") {
            // The head of the next one's hex dump.
            records.push(Said { offset: u64::MAX, line: "", details: Vec::new() });
        } else if let Some(last) = records.last_mut() {
            last.details.push(line.trim_start());
        }
    }
    records.retain(|record| record.offset != u64::MAX);
    records
}

/// What was compared, by name of field.
#[derive(Default)]
pub(crate) struct Tally(pub(crate) BTreeMap<&'static str, usize>);

impl Tally {
    pub(crate) fn same(&mut self, field: &'static str, at: &str, perf: Option<u64>, ours: Option<u64>) {
        assert_eq!(ours, perf, "{field} of {at}");
        *self.0.entry(field).or_default() += 1;
    }

    pub(crate) fn of(&self, field: &str) -> usize {
        self.0.get(field).copied().unwrap_or(0)
    }
}

pub(crate) fn after<'t>(line: &'t str, mark: &str) -> Option<&'t str> {
    line.split_once(mark).map(|(_, rest)| rest.split_whitespace().next().unwrap_or_default())
}

/// `N/A`, `4K`, `2M`.
pub(crate) fn page_size(text: &str) -> u64 {
    match text.strip_suffix('K') {
        Some(kib) => kib.parse::<u64>().unwrap() << 10,
        None => text.strip_suffix('M').map_or(0, |mib| mib.parse::<u64>().unwrap() << 20),
    }
}

/// The line of a sample: `[CPU] TIME OFFSET [SIZE]: PERF_RECORD_SAMPLE(IP, MISC): PID/TID: IP period: PERIOD addr: ADDR`.
pub(crate) fn compare_line(said: &Said<'_>, ours: &Value, at: &str, tally: &mut Tally) {
    let (head, rest) = said.line.split_once(" [").unwrap();
    let mut head = head.split_whitespace().rev().skip(1);
    tally.same("time", at, head.next().and_then(|time| time.parse().ok()), number(&ours["time"]));
    if let (Some(cpu), false) = (head.next(), ours["cpu"].is_null()) {
        tally.same("cpu", at, cpu.parse().ok(), number(&ours["cpu"]));
    }
    tally.same("size", at, rest.split(']').next().map(hex), number(&ours["size"]));
    let misc = after(rest, "(IP, ").map(|misc| hex(misc.trim_end_matches("):")));
    tally.same("misc", at, misc, number(&ours["misc"]));
    let ids = after(rest, "): ").map(|ids| ids.trim_end_matches(':'));
    let (pid, tid) = ids.and_then(|ids| ids.split_once('/')).unwrap();
    // -1 is that of no process.
    let id = |text: &str| text.parse::<i32>().ok().map(|id| u64::from(id.cast_unsigned()));
    tally.same("pid", at, id(pid), number(&ours["pid"]));
    tally.same("tid", at, id(tid), number(&ours["tid"]));
    let ip = rest.split_once(" period: ").and_then(|(front, _)| front.rsplit(' ').next()).map(hex);
    tally.same("ip", at, ip, number(&ours["ip"]));
    let period = after(rest, " period: ").and_then(|period| period.parse().ok());
    tally.same("period", at, period, number(&ours["period"]));
}

pub(crate) fn compare_sample(said: &Said<'_>, ours: &Value, at: &str, tally: &mut Tally) {
    if let (Some(addr), false) = (after(said.line, "addr: "), ours["addr"].is_null()) {
        tally.same("addr", at, Some(hex(addr)), number(&ours["addr"]));
    }
    let mut registers = "";
    let mut chain = Vec::new();
    let mut read = 0;
    for line in &said.details {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["...", kind @ ("user" | "intr"), "regs:", "mask", mask, "ABI", abi] => {
                registers = if kind == "user" { "regs_user" } else { "regs_intr" };
                let count = hex(mask).count_ones() as usize;
                assert_eq!(ours[registers]["regs"].as_array().unwrap().len(), count, "{registers} of {at}");
                let abi = if abi == "64-bit" { 2 } else { 1 };
                tally.same("abi", at, Some(abi), number(&ours[registers]["abi"]));
            }
            ["....", name, value] if value.starts_with("0x") => {
                let value_ours = number(&ours[registers]["regs_words"][name]);
                assert!(value_ours.is_some(), "{registers} has no {name} at {at}");
                tally.same("register", at, Some(hex(value)), value_ours);
            }
            ["...", "weight:", weight] => {
                let parts = &ours["weight_struct_words"]["var1"];
                let weight_ours = number(&ours["weight"]).or_else(|| number(parts));
                tally.same(
                    "weight",
                    at,
                    weight.split(',').next().and_then(|weight| weight.parse().ok()),
                    weight_ours,
                );
            }
            [".", "data_src:", source] if ours["data_src"].is_null() => {
                assert_eq!(hex(source), NO_DATA_SOURCE)
            }
            [".", "data_src:", source] => {
                tally.same("data_src", at, Some(hex(source)), number(&ours["data_src"]))
            }
            ["..", "phys_addr:", address] => {
                tally.same("phys_addr", at, Some(hex(address)), number(&ours["phys_addr"]));
            }
            ["..", "data", "page", "size:", size] => {
                tally.same("data_page_size", at, Some(page_size(size)), number(&ours["data_page_size"]));
            }
            ["..", "code", "page", "size:", size] => {
                tally.same("code_page_size", at, Some(page_size(size)), number(&ours["code_page_size"]));
            }
            ["...", "ustack:", "size", size, ..] => {
                let valid = size.trim_end_matches(',').parse().ok();
                tally.same("stack", at, valid, number(&ours["stack_user"]["dyn_size"]));
            }
            ["....", "group", "nr", count] => {
                tally.same("read", at, count.parse().ok(), number(&ours["read"]["nr"]));
            }
            [".....", "id", id, "value", value, "lost", lost] => {
                let own = &ours["read"]["values"][read];
                tally.same("read", at, Some(hex(id.trim_end_matches(','))), number(&own["id"]));
                tally.same("read", at, Some(hex(value.trim_end_matches(','))), number(&own["value"]));
                tally.same("read", at, lost.parse().ok(), number(&own["lost"]));
                read += 1;
            }
            [".....", nr, entry] if nr.ends_with(':') => chain.push(hex(entry)),
            _ => {}
        }
    }
    if read > 0 {
        assert_eq!(ours["read"]["values"].as_array().unwrap().len(), read, "values read of {at}");
    }
    if !chain.is_empty() {
        let ours: Vec<u64> =
            ours["callchain"].as_array().unwrap().iter().map(|entry| number(entry).unwrap()).collect();
        assert_eq!(ours, chain, "callchain of {at}");
        *tally.0.entry("callchain").or_default() += 1;
    }
}

/// `TIME: SYSTEM:EVENT: TEXT`, what stands before it passed over.
pub(crate) fn traces(text: &str) -> Vec<(&str, &str)> {
    text.lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let name = words.windows(2).find(|pair| is_time(pair[0]) && pair[1].ends_with(':'))?[1];
            let (_, text) = line.split_once(name)?;
            Some((name.strip_suffix(':')?, text.trim()))
        })
        .filter(|(name, _)| name.contains(':'))
        .collect()
}

pub(crate) fn is_time(word: &str) -> bool {
    word.strip_suffix(':').is_some_and(|time| time.contains('.') && time.parse::<f64>().is_ok())
}

/// Word by word. Names of the kernel's functions (`%ps`) are not in the recording: perf takes those of the running kernel,
/// we show the address.
fn same_text(ours: &str, perf: &str) -> bool {
    let mut words = ours.split_whitespace().zip(perf.split_whitespace());
    ours.split_whitespace().count() == perf.split_whitespace().count()
        && words.all(|(ours, perf)| {
            let value = |word: &str| word.rsplit(['=', '(']).next().unwrap_or_default().to_owned();
            let (address, name) = (value(ours), value(perf));
            ours == perf
                || address.starts_with("0xffff")
                    && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && ours.strip_suffix(&address) == perf.strip_suffix(&name)
        })
}

pub(crate) fn compare_traces(ours: &[Value], text: &str, what: &str) -> usize {
    let ours: Vec<&Value> = ours.iter().filter(|record| record["text"].is_string()).collect();
    let theirs = traces(text);
    assert!(ours.len() >= theirs.len(), "{what}: {} texts, perf has {}", ours.len(), theirs.len());
    for (record, (event, text)) in ours.iter().zip(&theirs) {
        let at = format!("{what}, {}", record["offset"]);
        assert_eq!(record["event"].as_str(), Some(*event), "{at}");
        assert!(same_text(record["text"].as_str().unwrap(), text), "{at}:\n{}\n{text}", record["text"]);
        assert!(record["fields"].as_object().is_some_and(|fields| !fields.is_empty()), "{at}");
    }
    theirs.len()
}
