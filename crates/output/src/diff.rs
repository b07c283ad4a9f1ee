//! `readperf diff`: what changed, as text, CSV and JSON.

use crate::csv::CsvTable;
use crate::heading::Whole;
use crate::json;
use crate::table::{ColumnKind, Table, TableColumn};
use crate::text::{grouped, shown};
use anstyle::{AnsiColor, Style};
use readperf_profile::diff::{Comparison, DiffKey, DiffRow, EventDiff, Normalize, Presence, Spread};
use readperf_profile::matching::{MatchedBy, Pair};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// How the comparison is shown.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// The keys of the rows.
    pub keys: Vec<DiffKey>,
    /// What the values are.
    pub normalize: Normalize,
    /// By what rows are ordered.
    pub order: DiffOrder,
    /// Weights of the old and the new value in the weighted difference.
    pub weights: (f64, f64),
    /// From which probability on a change is taken for chance.
    pub level: f64,
    /// Rows that change by less than this percentage of the total are left out of the text.
    pub least: f64,
    /// Whether only some samples count.
    pub some_chosen: bool,
    /// Columns of the terminal, if it is one: longer names are cut.
    pub width: Option<usize>,
}

/// By what rows are ordered, the greatest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiffOrder {
    /// The change.
    #[default]
    Delta,
    /// New by old.
    Ratio,
    /// The weighted difference.
    Weighted,
}

/// The name of a key, in heads of columns and in JSON.
pub fn key_name(key: DiffKey) -> &'static str {
    match key {
        DiffKey::Comm => "comm",
        DiffKey::Dso => "dso",
        DiffKey::Function => "symbol",
        DiffKey::SourceLine => "srcline",
    }
}

fn unit(normalize: Normalize) -> &'static str {
    match normalize {
        Normalize::Total => "percent of period",
        Normalize::Samples => "percent of samples",
        Normalize::Time => "period per second",
        Normalize::Nothing => "period",
    }
}

fn presence(presence: Presence) -> &'static str {
    match presence {
        Presence::Both => "",
        Presence::New => "new",
        Presence::Gone => "gone",
    }
}

impl DiffOptions {
    fn ordered<'d>(&self, diff: &'d EventDiff) -> Vec<&'d DiffRow> {
        let mut rows: Vec<&DiffRow> = diff.rows.iter().collect();
        let value = |row: &DiffRow| match self.order {
            DiffOrder::Delta => row.delta().abs(),
            DiffOrder::Ratio => row.ratio(),
            DiffOrder::Weighted => row.weighted(self.weights),
        };
        // All that is new has the same ratio: the most of it comes first.
        let change = |a: &DiffRow, b: &DiffRow| b.delta().abs().total_cmp(&a.delta().abs());
        rows.sort_by(|a, b| {
            value(b).total_cmp(&value(a)).then_with(|| change(a, b)).then_with(|| a.key.cmp(&b.key))
        });
        rows
    }

    fn is_chance(&self, row: &DiffRow) -> bool {
        row.p.is_none_or(|p| p >= self.level)
    }

    /// A value, and how far the recordings of its side lie apart.
    fn spread(&self, value: Spread) -> String {
        match value.deviation > 0.0 {
            true => format!("{} ± {}", self.number(value.mean), self.number(value.deviation)),
            false => self.number(value.mean),
        }
    }

    /// A difference of values.
    fn signed(&self, value: f64) -> String {
        let sign = if value < 0.0 { "" } else { "+" };
        format!("{sign}{}", self.number(value))
    }

    fn number(&self, value: f64) -> String {
        match self.normalize {
            Normalize::Total | Normalize::Samples => format!("{value:.2} %"),
            Normalize::Time | Normalize::Nothing => format!("{value:.0}"),
        }
    }
}

/// Writes the comparison as text: one section an event.
///
/// # Errors
/// What the writer says.
pub fn write(out: &mut impl Write, diff: &Comparison, options: &DiffOptions) -> io::Result<()> {
    if diff.events.is_empty() {
        return writeln!(out, "no samples");
    }
    for (nr, event) in diff.events.iter().enumerate() {
        if nr > 0 {
            writeln!(out)?;
        }
        section(out, event, diff, options)?;
    }
    if !diff.spread_known() {
        writeln!(out, "\n{SPREAD_UNKNOWN}")?;
    }
    Ok(())
}

/// What the column of chances means then.
const SPREAD_UNKNOWN: &str = "chance: one recording a side does not tell how much runs differ. ? marks changes beyond what the numbers of \
                              samples explain;\nelsewhere chance is at least what is shown. Record several runs a side (--base).";

/// What is compared, and how much there is of it.
fn head(diff: &EventDiff, recordings: (usize, usize), options: &DiffOptions) -> String {
    let (base, new) = diff.periods;
    let of = if options.some_chosen { " of the samples chosen" } else { "" };
    let mut text = format!("{}: {}{of}", shown(&diff.event), unit(options.normalize));
    let rate = if options.normalize == Normalize::Time { " per second" } else { "" };
    let side = |period: f64, samples: u64, recordings: usize| {
        let noun = if samples == 1 { "sample" } else { "samples" };
        let many = if recordings > 1 { format!(" in {recordings} recordings") } else { String::new() };
        let mean = if recordings > 1 { " on average" } else { "" };
        format!("{}{rate}{mean} ({} {noun}{many})", whole(period), grouped(samples))
    };
    let before = side(base, diff.samples.0, recordings.0);
    let after = side(new, diff.samples.1, recordings.1);
    text.push_str(&format!(", in all {before} before, {after} after"));
    if base > 0.0 {
        text.push_str(&format!(", {:+.2} %", (new - base) * 100.0 / base));
    }
    if let Some(side) = only_side(diff.presence()) {
        text.push_str(&format!("; this event is only in the {side} recordings"));
    }
    text
}

/// The only side that something is on; nothing of what is on both.
pub fn only_side(presence: Presence) -> Option<&'static str> {
    match presence {
        Presence::Both => None,
        Presence::New => Some("new"),
        Presence::Gone => Some("old"),
    }
}

/// A number without its fraction, with its digits in groups.
fn whole(number: f64) -> String {
    let text = format!("{number:.0}");
    text.parse().map_or(text, grouped)
}

fn section(
    out: &mut impl Write,
    diff: &EventDiff,
    whole: &Comparison,
    options: &DiffOptions,
) -> io::Result<()> {
    writeln!(out, "{}", head(diff, whole.recordings, options))?;
    let all = options.ordered(diff);
    let shown: Vec<&DiffRow> =
        all.iter().filter(|row| diff.percent_of_base(row.delta()).abs() >= options.least).copied().collect();
    let mut table = columns(options);
    let lines: Vec<Vec<String>> = shown.iter().map(|row| cells(row, whole.spread_known(), options)).collect();
    lines.iter().for_each(|line| table.fit(line));
    table.head(out)?;
    for (line, row) in lines.iter().zip(&shown) {
        table.row(out, line, style(row, options))?;
    }
    let left = all.len() - shown.len();
    if left > 0 {
        let rows = if left == 1 { "row that changes" } else { "rows that change" };
        writeln!(out, "… and {left} {rows} by less than {} % of the total", options.least)?;
    }
    Ok(())
}

/// The columns: numbers, then the keys.
fn columns(options: &DiffOptions) -> Table {
    let mut heads = ["before", "after", "change", "ratio", "chance", ""].to_vec();
    if options.order == DiffOrder::Weighted {
        heads.insert(WEIGHTED, "weighted");
    }
    let numbers = heads.into_iter().map(|head| TableColumn::new(head, ColumnKind::Number, None));
    let keys = options.keys.iter().map(|key| {
        let kind = match key {
            DiffKey::Function => ColumnKind::Name,
            DiffKey::SourceLine => ColumnKind::File,
            DiffKey::Comm | DiffKey::Dso => ColumnKind::Text,
        };
        TableColumn::new(key_name(*key), kind, None)
    });
    Table::new(numbers.chain(keys).collect(), options.width)
}

/// Where the weighted difference stands among the cells, if it is shown: after the change.
const WEIGHTED: usize = 3;

fn cells(row: &DiffRow, spread_known: bool, options: &DiffOptions) -> Vec<String> {
    let ratio = match row.presence {
        Presence::Both => format!("{:.2}", row.ratio()),
        Presence::New | Presence::Gone => String::new(),
    };
    let chance = match row.p {
        Some(p) if spread_known => format!("{p:.3}"),
        Some(p) if options.is_chance(row) => format!("≥ {p:.3}"),
        _ => "?".to_owned(),
    };
    let mut cells = vec![
        options.spread(row.base),
        options.spread(row.new),
        options.signed(row.delta()),
        ratio,
        chance,
        presence(row.presence).to_owned(),
    ];
    if options.order == DiffOrder::Weighted {
        cells.insert(WEIGHTED, options.signed(row.weighted(options.weights)));
    }
    cells.extend(row.key.iter().map(|key| shown(key).into_owned()));
    cells
}

/// Red what grew, green what shrank, plain what may be chance.
fn style(row: &DiffRow, options: &DiffOptions) -> Style {
    if options.is_chance(row) {
        return Style::new();
    }
    if row.delta() > 0.0 { AnsiColor::Red.on_default() } else { AnsiColor::Green.on_default() }
}

/// Writes the comparison as comma-separated values, a row for each row of each event.
///
/// # Errors
/// What the writer says.
pub fn write_csv(out: impl Write, diff: &Comparison, options: &DiffOptions) -> io::Result<()> {
    let mut columns = vec!["event"];
    columns.extend(options.keys.iter().map(|key| key_name(*key)));
    columns.extend(["base", "base_deviation", "new", "new_deviation", "delta", "ratio", "weighted"]);
    columns.extend(["p", "base_samples", "new_samples", "presence", "p_at_least"]);
    let mut table = CsvTable::new(out, &columns)?;
    let number = |p: Option<f64>| p.map_or_else(String::new, |p| format!("{p:.6}"));
    for event in &diff.events {
        for row in options.ordered(event) {
            let mut record = vec![event.event.clone()];
            record.extend(row.key.iter().cloned());
            let numbers = [
                row.base.mean,
                row.base.deviation,
                row.new.mean,
                row.new.deviation,
                row.delta(),
                row.ratio(),
                row.weighted(options.weights),
            ];
            record.extend(
                numbers.map(|number| if number.is_finite() { format!("{number:.6}") } else { String::new() }),
            );
            record.push(number(row.p.filter(|_| diff.spread_known())));
            record.extend([row.samples.0, row.samples.1].map(|count| count.to_string()));
            record.push(presence(row.presence).to_owned());
            record.push(number(row.p));
            table.row(&record)?;
        }
    }
    table.finish()
}

/// Writes the comparison as one JSON object.
///
/// # Errors
/// What the writer says.
pub fn write_json(out: &mut impl Write, diff: &Comparison, options: &DiffOptions) -> io::Result<()> {
    let row = |row: &&DiffRow| {
        let keys = options.keys.iter().zip(&row.key);
        let mut object: Map<String, Value> =
            keys.map(|(key, value)| (key_name(*key).to_owned(), value.as_str().into())).collect();
        // What JSON has no number for is null.
        let numbers = [
            ("base", row.base.mean),
            ("base_deviation", row.base.deviation),
            ("new", row.new.mean),
            ("new_deviation", row.new.deviation),
            ("delta", row.delta()),
            ("ratio", row.ratio()),
            ("weighted", row.weighted(options.weights)),
        ];
        object.extend(numbers.map(|(name, number)| (name.to_owned(), number.into())));
        object.insert("p".into(), row.p.filter(|_| diff.spread_known()).into());
        object.insert("p_at_least".into(), row.p.into());
        let is_chance = options.is_chance(row);
        // Where it is not known how much runs differ, only that nothing has changed can be said.
        object.insert("significant".into(), (diff.spread_known() || is_chance).then_some(!is_chance).into());
        object.insert("base_samples".into(), row.samples.0.into());
        object.insert("new_samples".into(), row.samples.1.into());
        object.insert(
            "presence".into(),
            match row.presence {
                Presence::Both => "both".into(),
                one => presence(one).into(),
            },
        );
        Value::Object(object)
    };
    let event = |diff: &EventDiff| {
        json!({
            "name": diff.event,
            "base_total": diff.total.0.mean,
            "new_total": diff.total.1.mean,
            "base_period": diff.periods.0,
            "new_period": diff.periods.1,
            "base_samples": diff.samples.0,
            "new_samples": diff.samples.1,
            "rows": options.ordered(diff).iter().map(row).collect::<Vec<Value>>(),
        })
    };
    let pair = |pair: &Pair| {
        let (what, by) = match pair.by {
            MatchedBy::Functions(_) => ("binary", "functions"),
            MatchedBy::Program => ("command", "binaries"),
            MatchedBy::Rest => ("command", "rest"),
            MatchedBy::Modifiers => ("event", "modifiers"),
        };
        json!({ "what": what, "base": pair.base, "new": pair.new, "by": by })
    };
    let document = json!({
        "schema": json::SCHEMA,
        "unit": unit(options.normalize),
        "percent_of": if options.some_chosen { Whole::Chosen } else { Whole::Recorded }.name(),
        "keys": options.keys.iter().map(|key| key_name(*key)).collect::<Vec<_>>(),
        "level": options.level,
        "base_recordings": diff.recordings.0,
        "new_recordings": diff.recordings.1,
        "matched": diff.matching.pairs.iter().map(pair).collect::<Vec<Value>>(),
        "events": diff.events.iter().map(event).collect::<Vec<Value>>(),
    });
    json::write_pretty(&mut *out, &document)?;
    writeln!(out)
}
