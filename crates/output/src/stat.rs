//! `readperf stat`: the counts of a perf stat recording as a table, as JSON, as CSV.

use crate::csv::CsvTable;
use crate::json;
use crate::text::{grouped, seconds, shown, width};
use perffile::{Issue, Schema};
use readperf_profile::counters::{CounterPlace, CounterRow, Counters, Metric, Mode, Round, RoundKind};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// What is shown: the rounds as they are, or their sum, by what the rows are told apart.
#[derive(Debug)]
pub struct View<'c> {
    /// The counts.
    pub counters: &'c Counters,
    /// The rounds to show.
    pub rounds: &'c [Round],
    /// What a row is about.
    pub mode: Mode,
    /// The events.
    pub schema: &'c Schema,
}

impl View<'_> {
    fn rows<'v>(&'v self, round: &Round) -> impl Iterator<Item = CounterRow> + use<'v> {
        self.counters.rows(round, self.mode, self.schema).into_iter()
    }

    fn name(&self, row: &CounterRow) -> &str {
        self.schema.event(row.event).map_or("", |event| &event.name)
    }

    fn unit(&self, row: &CounterRow) -> &str {
        self.schema.event(row.event).and_then(|event| event.unit.as_deref()).unwrap_or("")
    }

    /// Whether the rounds have to be told apart.
    fn has_times(&self) -> bool {
        self.counters.interval_ms > 0 && self.rounds.iter().any(|round| round.kind != RoundKind::Final)
    }

    /// Name of the place as perf prints it: `CPU0`, `bash-4711`.
    fn place(&self, place: CounterPlace) -> String {
        match place {
            CounterPlace::All => String::new(),
            CounterPlace::Cpu(Some(cpu)) => format!("CPU{cpu}"),
            CounterPlace::Cpu(None) => "any".to_owned(),
            CounterPlace::Thread(index) => {
                let thread = usize::try_from(index).ok().and_then(|index| self.counters.threads.get(index));
                match thread.map(|thread| (thread.comm.as_str(), thread.tid)) {
                    Some(("", Some(tid))) => tid.to_string(),
                    Some((comm, Some(tid))) => format!("{comm}-{tid}"),
                    Some((comm, None)) if !comm.is_empty() => comm.to_owned(),
                    _ => format!("thread {index}"),
                }
            }
        }
    }

    fn place_title(&self) -> &'static str {
        match self.mode {
            Mode::Total => "",
            Mode::Cpu | Mode::Topology(_) => "cpu",
            Mode::Thread => "thread",
        }
    }

    /// A value as perf shows it: with decimals where it has been scaled.
    fn value(&self, row: &CounterRow) -> String {
        let is_scaled =
            self.schema.event(row.event).and_then(|event| event.scale).is_some_and(|scale| scale != 1.0);
        match (row.value(self.schema), row.count) {
            (Some(value), _) if is_scaled => two_decimals(value),
            (_, Some(count)) => grouped(count),
            _ => "<not counted>".to_owned(),
        }
    }
}

/// `1,234.50`; very large values as they are.
fn two_decimals(value: f64) -> String {
    let text = format!("{value:.2}");
    let parts = text.split_once('.').and_then(|(whole, rest)| Some((whole.parse::<u64>().ok()?, rest)));
    parts.map_or(text.clone(), |(whole, rest)| format!("{}.{rest}", grouped(whole)))
}

/// The counts as text.
///
/// # Errors
/// What the writer says.
pub fn write_text(out: &mut impl Write, view: &View<'_>) -> io::Result<()> {
    // Twice over the rows, so that none has to be kept: names may be long and rows many.
    let lines = || {
        let rows = view
            .rounds
            .iter()
            .flat_map(|round| view.rows(round).map(move |row| Line::new(view, round, &row)));
        std::iter::once(Line::titles(view)).chain(rows)
    };
    let (widths, count) = Line::widths(lines());
    lines().try_for_each(|line| line.write(out, widths))?;
    if count == 1 {
        writeln!(out, "(nothing was counted)")?;
    }
    let elapsed = view.counters.elapsed_ns();
    if elapsed > 0 {
        writeln!(out, "\nelapsed  {} s", seconds(elapsed))?;
    }
    Ok(())
}

/// What was counted in the whole run, as `readperf stats` shows it; nothing if the recording has no counts.
///
/// # Errors
/// What the writer says.
pub fn write_totals(out: &mut impl Write, counters: &Counters, schema: &Schema) -> io::Result<()> {
    let sum = [counters.sum()];
    let view = View { counters, rounds: &sum, mode: Mode::Total, schema };
    if counters.values > 0 {
        writeln!(out, "\n{:<32} {:>14} unit", "event", "count")?;
    }
    for row in sum.iter().flat_map(|round| view.rows(round)) {
        let line =
            format!("{:<32} {:>14} {}", shown(view.name(&row)), view.value(&row), shown(view.unit(&row)));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// The sums of all counters as JSON.
pub fn totals_json(counters: &Counters, schema: &Schema) -> Option<Value> {
    let sum = [counters.sum()];
    let view = View { counters, rounds: &sum, mode: Mode::Total, schema };
    let rows = sum.iter().flat_map(|round| view.rows(round)).map(|row| row_json(&view, &row)).collect();
    (counters.values > 0).then_some(Value::Array(rows))
}

/// Cells up to this width make their column as wide.
const WIDEST: usize = 100;

/// A line of the table: time, place, value, unit, event, remark.
struct Line([String; 6]);

impl Line {
    fn titles(view: &View<'_>) -> Line {
        let time = if view.has_times() { "time" } else { "" };
        Line([time, view.place_title(), "count", "unit", "event", ""].map(str::to_owned))
    }

    fn new(view: &View<'_>, round: &Round, row: &CounterRow) -> Line {
        let time = match round.kind {
            _ if !view.has_times() => String::new(),
            RoundKind::Rest => "rest".to_owned(),
            _ => seconds(round.time_ns),
        };
        let part = row.running_percent().filter(|_| row.reading.running_ns < row.reading.enabled_ns);
        let part = part.map(|percent| format!("({percent:.2}%)"));
        let remark: Vec<String> = row.metric.map(metric_text).into_iter().chain(part).collect();
        Line([
            time,
            shown(&view.place(row.place)).into_owned(),
            view.value(row),
            shown(view.unit(row)).into_owned(),
            shown(view.name(row)).into_owned(),
            remark.join("  "),
        ])
    }

    /// The widest cell of each column, and the number of lines.
    fn widths(lines: impl Iterator<Item = Line>) -> ([usize; 6], usize) {
        lines.fold(([0; 6], 0), |(mut widths, count), line| {
            for (most, cell) in widths.iter_mut().zip(&line.0) {
                // A longer one pushes the rest of its line.
                *most = Some(width(cell)).filter(|width| *width <= WIDEST).unwrap_or(0).max(*most);
            }
            (widths, count + 1)
        })
    }

    fn write(&self, out: &mut impl Write, widths: [usize; 6]) -> io::Result<()> {
        let Line([time, place, value, unit, event, remark]) = self;
        let [time_width, place_width, value_width, unit_width, event_width, _] = widths;
        let mut text = String::new();
        if time_width > 0 {
            text.push_str(&format!("{time:>time_width$}  "));
        }
        if place_width > 0 {
            text.push_str(&format!("{place:<place_width$}  "));
        }
        text.push_str(&format!(
            "{value:>value_width$}  {unit:<unit_width$}  {event:<event_width$}  {remark}"
        ));
        writeln!(out, "{}", text.trim_end())
    }
}

/// `# 1.234 CPUs utilized`, `# 91.689 K/sec`.
fn metric_text(metric: Metric) -> String {
    let value = metric.value();
    match metric {
        Metric::PerSecond(_) => {
            const UNITS: [(f64, &str); 3] = [(1e9, "G"), (1e6, "M"), (1e3, "K")];
            let (by, unit) = UNITS.into_iter().find(|(by, _)| value >= *by).unwrap_or((1.0, ""));
            format!("# {:.3} {unit}/sec", value / by)
        }
        Metric::PercentOfBranches(_) | Metric::PercentOfCacheReferences(_) => {
            format!("# {value:.2}{}", metric.unit())
        }
        Metric::InstructionsPerCycle(_) => format!("# {value:.2} {}", metric.unit()),
        Metric::CpusUtilized(_) | Metric::Gigahertz(_) => format!("# {value:.3} {}", metric.unit()),
    }
}

/// The counts as one JSON object.
///
/// # Errors
/// What the writer says.
pub fn write_json(out: &mut impl Write, view: &View<'_>, issues: &[&Issue]) -> io::Result<()> {
    let by = match view.mode {
        Mode::Total => "total",
        Mode::Thread => "thread",
        Mode::Cpu | Mode::Topology(_) => "cpu",
    };
    let interval = (view.counters.interval_ms > 0).then_some(view.counters.interval_ms);
    // Row by row, one a line: the document as a whole is never in memory.
    write!(
        out,
        "{{\"schema\":{},\"by\":{},\"interval_ms\":{},\"elapsed_ns\":{},\"rounds\":[",
        json::SCHEMA,
        json!(by),
        json!(interval),
        view.counters.elapsed_ns()
    )?;
    for (nr, round) in view.rounds.iter().enumerate() {
        let comma = if nr > 0 { "," } else { "" };
        let Round { time_ns, length_ns, .. } = round;
        let kind = json!(kind_name(round.kind));
        write!(out, "{comma}\n{{\"kind\":{kind},\"time_ns\":{time_ns},\"length_ns\":{length_ns},\"rows\":[")?;
        for (nr, row) in view.rows(round).enumerate() {
            out.write_all(if nr > 0 { b",\n" } else { b"\n" })?;
            json::write(&mut *out, &row_json(view, &row))?;
        }
        out.write_all(b"]}")?;
    }
    writeln!(out, "],\n\"issues\":{}}}", json::line(&json::issues(issues.iter().copied())))
}

fn kind_name(kind: RoundKind) -> &'static str {
    match kind {
        RoundKind::Interval => "interval",
        RoundKind::Final => "final",
        RoundKind::Rest => "rest",
    }
}

fn row_json(view: &View<'_>, row: &CounterRow) -> Value {
    let mut object = Map::new();
    object.insert("event".into(), view.name(row).into());
    match row.place {
        CounterPlace::All => {}
        CounterPlace::Cpu(cpu) => {
            object.insert("cpu".into(), cpu.into());
        }
        CounterPlace::Thread(index) => {
            let thread = usize::try_from(index).ok().and_then(|index| view.counters.threads.get(index));
            object.insert("thread".into(), index.into());
            object.insert("tid".into(), thread.and_then(|thread| thread.tid).into());
            object.insert("comm".into(), thread.map(|thread| thread.comm.as_str()).into());
        }
    }
    object.insert("value".into(), row.value(view.schema).into());
    object.insert("unit".into(), view.unit(row).into());
    object.insert("count".into(), row.count.into());
    object.insert("raw_count".into(), row.reading.count.into());
    object.insert("enabled_ns".into(), row.reading.enabled_ns.into());
    object.insert("running_ns".into(), row.reading.running_ns.into());
    object.insert("running_percent".into(), row.running_percent().into());
    if let Some(metric) = row.metric {
        object.insert("metric".into(), json!({ "value": metric.value(), "unit": metric.unit() }));
    }
    Value::Object(object)
}

/// Columns of the CSV form.
const COLUMNS: [&str; 14] = [
    "time_ns",
    "kind",
    "cpu",
    "tid",
    "comm",
    "value",
    "unit",
    "event",
    "raw_count",
    "enabled_ns",
    "running_ns",
    "running_percent",
    "metric",
    "metric_unit",
];

/// The counts as CSV, with a header; cells that do not apply and values that were not counted are empty.
///
/// # Errors
/// What the writer says.
pub fn write_csv(out: &mut impl Write, view: &View<'_>) -> io::Result<()> {
    let mut table = CsvTable::new(out, COLUMNS)?;
    for round in view.rounds {
        for row in view.rows(round) {
            table.row(csv_row(view, round, &row))?;
        }
    }
    table.finish()
}

fn csv_row(view: &View<'_>, round: &Round, row: &CounterRow) -> [String; 14] {
    let cell = |value: Option<String>| value.unwrap_or_default();
    let thread = match row.place {
        CounterPlace::Thread(index) => {
            usize::try_from(index).ok().and_then(|index| view.counters.threads.get(index))
        }
        _ => None,
    };
    let cpu = if let CounterPlace::Cpu(cpu) = row.place { cpu } else { None };
    [
        round.time_ns.to_string(),
        kind_name(round.kind).to_owned(),
        cell(cpu.map(|cpu| cpu.to_string())),
        cell(thread.and_then(|thread| thread.tid).map(|tid| tid.to_string())),
        cell(thread.map(|thread| thread.comm.clone())),
        cell(row.value(view.schema).map(|value| value.to_string())),
        view.unit(row).to_owned(),
        view.name(row).to_owned(),
        row.reading.count.to_string(),
        row.reading.enabled_ns.to_string(),
        row.reading.running_ns.to_string(),
        cell(row.running_percent().map(|percent| format!("{percent:.2}"))),
        cell(row.metric.map(|metric| format!("{:.6}", metric.value()))),
        cell(row.metric.map(|metric| metric.unit().to_owned())),
    ]
}
