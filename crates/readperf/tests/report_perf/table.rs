//! Tables of both programs as sums by label.

use super::oracle::names;
use std::collections::BTreeMap;

/// What one label adds up to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    /// Share with everything it calls, percent, as printed; 0 in tables without.
    pub(crate) total: f64,
    pub(crate) period: u64,
    pub(crate) samples: u64,
}

/// Rows with the same label are added up: perf has several rows for what it tells apart but prints alike.
pub(crate) type Table = BTreeMap<Vec<String>, Sum>;

/// An address that stands for a name: perf prints that of where the sample was taken as the binary has it, and that of a
/// caller as it ran.
fn label(text: &str) -> String {
    let text = text.trim();
    let text = text.split_once("] ").filter(|(mark, _)| mark.len() == 2).map_or(text, |(_, name)| name);
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_address = digits.len() >= 8 && digits.chars().all(|c| c.is_ascii_hexdigit());
    // perf writes numbers of CPUs with zeros in front.
    if let Ok(number) = text.parse::<u32>() {
        return number.to_string();
    }
    // perf cuts times to microseconds.
    if text.contains('.') && text.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return text.trim_end_matches('0').to_owned();
    }
    // perf has no names at all for some entries of linkage tables.
    if is_address || names::is_linkage(text) { "?".to_owned() } else { text.to_owned() }
}

/// perf's table for `-F overhead_children,period,sample,KEYS -t '|'`, or the same without the first.
pub(crate) fn of_perf(text: &str, children: bool) -> Table {
    let mut table = Table::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let mut cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let total = if children { cells.remove(0).trim_end_matches('%').parse().unwrap() } else { 0.0 };
        let number = |cell: &str| cell.parse::<u64>().unwrap_or_else(|_| panic!("a number in {line:?}"));
        let sum = Sum { total, period: number(cells[0]), samples: number(cells[1]) };
        add(&mut table, cells[2..].iter().map(|cell| label(cell)).collect(), sum);
    }
    table
}

/// The table of `readperf report --csv`, of one event.
pub(crate) fn of_readperf(text: &str, keys: usize) -> Table {
    let mut table = Table::new();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    for record in reader.records() {
        let record = record.unwrap();
        let cell = |nr: usize| record.get(nr).unwrap();
        let numbers = 1 + keys;
        let sum = Sum {
            total: cell(numbers + 1).parse().unwrap(),
            period: cell(numbers + 2).parse().unwrap(),
            samples: cell(numbers + 4).parse().unwrap(),
        };
        add(&mut table, (1..=keys).map(|nr| label(cell(nr))).collect(), sum);
    }
    table
}

fn add(table: &mut Table, label: Vec<String>, sum: Sum) {
    let entry = table.entry(label).or_default();
    entry.total += sum.total;
    entry.period += sum.period;
    entry.samples += sum.samples;
}

/// The labels whose own sums differ, in words.
pub(crate) fn differences(perf: &Table, mine: &Table) -> Vec<String> {
    let keys: std::collections::BTreeSet<&Vec<String>> = perf.keys().chain(mine.keys()).collect();
    let own =
        |table: &Table, key: &Vec<String>| table.get(key).map_or((0, 0), |sum| (sum.period, sum.samples));
    keys.into_iter()
        .filter(|key| own(perf, key) != own(mine, key))
        .map(|key| format!("{key:?}: perf {:?}, readperf {:?}", own(perf, key), own(mine, key)))
        .collect()
}

#[test]
fn both_tables_are_read() {
    let perf = of_perf("# x\n 12.50%|100|2|work |[.] f\n 0.00%|0|0|work|[k] 0x00007f0011223344\n", true);
    assert_eq!(perf[&vec!["work".to_owned(), "f".to_owned()]], Sum { total: 12.5, period: 100, samples: 2 });
    assert!(perf.contains_key(&vec!["work".to_owned(), "?".to_owned()]));
    let text = "event,comm,symbol,self_percent,total_percent,self_period,total_period,samples\nx,work,f,1.0,12.5,100,200,2\n";
    let mine = of_readperf(text, 2);
    assert_eq!(mine.values().next(), perf.get(&vec!["work".to_owned(), "f".to_owned()]));
    assert_eq!(differences(&perf, &mine), [""; 0], "a row without samples of its own is none");
}
