//! Functions, as `report --sort dso,symbol` has them.

use super::{Answers, names, with_measure};
use crate::query::Query;
use readperf_explore::{Change, Explorer, Rows};
use readperf_output::names::UNKNOWN;
use readperf_output::text::shown;
use readperf_profile::diff::Presence;
use readperf_profile::view::histogram::HistogramRow;
use readperf_profile::{FunctionId, Value};
use regex::{Regex, RegexBuilder};
use rustc_hash::FxHashMap;
use serde_json::{Value as Json, json};
use std::cmp::Reverse;

/// Rows of an answer if nobody says: who wants others searches.
const ROWS: usize = 1000;
/// More rows than anybody reads.
const MOST_ROWS: usize = 20_000;

/// A function.
#[derive(Clone, Debug)]
pub(crate) struct FunctionRow {
    pub(crate) name: String,
    pub(crate) binary: String,
    kind: &'static str,
    pub(crate) own: u64,
    pub(crate) total: u64,
    /// The function itself, if it is one.
    pub(super) function: Option<FunctionId>,
    /// How what it takes itself was before, where recordings are compared.
    change: Option<Change>,
}

impl FunctionRow {
    pub(super) fn json(&self) -> Json {
        let FunctionRow { function: _, name, binary, kind, own, total, change } = self;
        let mut row = json!({"name": name, "binary": binary, "kind": kind, "self": own, "total": total});
        if let (Some(Change { before, now, p, presence }), Json::Object(row)) = (change, &mut row) {
            let presence = match presence {
                Presence::Both => "both",
                Presence::New => "new",
                Presence::Gone => "gone",
            };
            row.insert("change".into(), json!({"before": before, "now": now, "p": p, "presence": presence}));
        }
        row
    }

    /// By how many points its share has changed.
    fn delta(&self) -> f64 {
        self.change.as_ref().map_or(0.0, |change| change.now - change.before)
    }
}

fn function_row(rows: &Rows<'_>, row: &HistogramRow) -> FunctionRow {
    let value = rows.values.values(row.key).last().unwrap_or(Value::Unknown);
    let (name, binary, kind) = names::of_value(&rows.facts, value);
    let function = match value {
        Value::Function { function, .. } => Some(function),
        _ => None,
    };
    let (own, total) = (row.numbers.self_period, row.numbers.total_period);
    FunctionRow { name, binary, kind, own, total, function, change: None }
}

/// The functions with how they were before, and those that are gone: they are rows without samples.
fn compared(explorer: &Explorer<'_>) -> Vec<FunctionRow> {
    let Some(changes) = explorer.changes() else { return all(explorer) };
    let mut list: Vec<FunctionRow> = {
        let rows = explorer.rows();
        let row = |row: &HistogramRow| FunctionRow {
            change: changes.rows.get(&row.key).cloned(),
            ..function_row(&rows, row)
        };
        rows.histogram.rows.iter().map(row).collect()
    };
    let place = |row: &FunctionRow| (row.binary.clone(), row.name.clone());
    let places: FxHashMap<(String, String), usize> = list
        .iter()
        .enumerate()
        .filter(|(_, row)| row.kind != "inlined")
        .map(|(nr, row)| (place(row), nr))
        .collect();
    for gone in &changes.gone {
        let [binary, name] = gone.key.as_slice() else { continue };
        let binary = if binary == UNKNOWN { String::new() } else { shown(binary).into_owned() };
        let name = shown(name).into_owned();
        let change =
            Some(Change { before: gone.base.mean, now: gone.new.mean, p: gone.p, presence: gone.presence });
        // What only calls others now is still there.
        match places.get(&(binary.clone(), name.clone())).and_then(|nr| list.get_mut(*nr)) {
            Some(row) => row.change = change,
            None => list.push(FunctionRow {
                name,
                binary,
                kind: "gone",
                own: 0,
                total: 0,
                function: None,
                change,
            }),
        }
    }
    list
}

/// All functions, in the order of the rows: that with the highest total first.
pub(super) fn all(explorer: &Explorer<'_>) -> Vec<FunctionRow> {
    let rows = explorer.rows();
    rows.histogram.rows.iter().map(|row| function_row(&rows, row)).collect()
}

/// The function that a query names. Several binaries may have one of that name.
pub(super) fn function(explorer: &Explorer<'_>, query: &Query) -> Result<FunctionRow, String> {
    let (name, binary) = (query.get("function"), query.get("binary"));
    let is_it = |row: &FunctionRow| row.name == name && (binary.is_empty() || row.binary == binary);
    all(explorer)
        .into_iter()
        .find(is_it)
        .ok_or_else(|| format!("{name}: it has no samples of what is chosen"))
}

/// The functions that take most themselves.
pub(crate) fn hottest(explorer: &Explorer<'_>, most: usize) -> Vec<FunctionRow> {
    let mut list = all(explorer);
    list.sort_by_key(|row| Reverse((row.own, row.total)));
    list.truncate(most);
    list
}

/// What is searched for, as the picture searches: without capital letters case does not matter; what is no regular expression is searched
/// for as it is.
pub(super) fn search_pattern(search: &str) -> Result<Regex, String> {
    let insensitive = !search.chars().any(char::is_uppercase);
    let pattern = |text: &str| RegexBuilder::new(text).case_insensitive(insensitive).build();
    pattern(search).or_else(|_| pattern(&regex::escape(search))).map_err(|error| error.to_string())
}

/// How many functions have samples of their own, and so code to show.
pub(crate) fn with_code(explorer: &Explorer<'_>) -> usize {
    all(explorer).iter().filter(|row| row.own > 0 && row.function.is_some()).count()
}

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let mut list = compared(&answers.explorer);
    let search = query.get("search");
    if !search.is_empty() {
        let pattern = search_pattern(search)?;
        list.retain(|row| pattern.is_match(&row.name));
    }
    match query.get("sort") {
        "name" => list.sort_by(|a, b| (&a.name, &a.binary).cmp(&(&b.name, &b.binary))),
        "change" => list.sort_by(|a, b| b.delta().abs().total_cmp(&a.delta().abs())),
        "total" => list.sort_by_key(|row| Reverse((row.total, row.own))),
        _ => list.sort_by_key(|row| Reverse((row.own, row.total))),
    }
    let count = list.len();
    list.truncate(query.number("rows")?.unwrap_or(ROWS).min(MOST_ROWS));
    let rows: Vec<Json> = list.iter().map(FunctionRow::json).collect();
    with_measure(answers, json!({"count": count, "rows": rows}))
}
