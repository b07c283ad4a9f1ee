//! Functions, as `report --sort dso,symbol` has them.

use super::{Answers, names, with_measure};
use crate::query::Query;
use readperf_explore::{Explorer, Rows};
use readperf_profile::view::histogram::HistogramRow;
use readperf_profile::{FunctionId, Value};
use regex_lite::{Regex, RegexBuilder};
use serde_json::{Value as Json, json};
use std::cmp::Reverse;

/// Most rows of an answer: who wants others searches.
const MOST: usize = 1000;

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
}

impl FunctionRow {
    pub(super) fn json(&self) -> Json {
        let FunctionRow { function: _, name, binary, kind, own, total } = self;
        json!({"name": name, "binary": binary, "kind": kind, "self": own, "total": total})
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
    FunctionRow { name, binary, kind, own, total, function }
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
    pattern(search).or_else(|_| pattern(&regex_lite::escape(search))).map_err(|error| error.to_string())
}

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let mut list = all(&answers.explorer);
    let search = query.get("search");
    if !search.is_empty() {
        let pattern = search_pattern(search)?;
        list.retain(|row| pattern.is_match(&row.name));
    }
    match query.get("sort") {
        "name" => list.sort_by(|a, b| (&a.name, &a.binary).cmp(&(&b.name, &b.binary))),
        "total" => list.sort_by_key(|row| Reverse((row.total, row.own))),
        _ => list.sort_by_key(|row| Reverse((row.own, row.total))),
    }
    let count = list.len();
    list.truncate(MOST);
    let rows: Vec<Json> = list.iter().map(FunctionRow::json).collect();
    with_measure(answers, json!({"count": count, "rows": rows}))
}
