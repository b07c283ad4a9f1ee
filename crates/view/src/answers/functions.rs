//! Functions, as `report --sort dso,symbol` has them.

use super::{Answers, names, with_measure};
use crate::query::Query;
use readperf_explore::{Change, Changes, Explorer, Flame, Rows, Unnamed};
use readperf_output::names::UNKNOWN;
use readperf_output::text::shown;
use readperf_profile::diff::Presence;
use readperf_profile::view::histogram::{HistogramRow, RowKey};
use readperf_profile::{FunctionId, Value, frames};
use regex::{Regex, RegexBuilder};
use rustc_hash::{FxHashMap, FxHashSet};
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
    /// Whether a pattern can match it.
    named: bool,
    /// How what it takes itself was before, where recordings are compared.
    change: Option<Change>,
}

impl FunctionRow {
    pub(super) fn json(&self) -> Json {
        let FunctionRow { function: _, name, binary, kind, own, total, named, change } = self;
        let mut row = json!({"name": name, "binary": binary, "kind": kind, "named": named, "self": own, "total": total});
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
    let named = function.and_then(|id| rows.facts.profile.function(id)).is_some_and(|one| one.has_name());
    FunctionRow { name, binary, kind, own, total, function, named, change: None }
}

/// Code without names that is compared: a row for each binary, as where nothing is known of its addresses.
fn unnamed(explorer: &Explorer<'_>, changes: &Changes) -> Vec<FunctionRow> {
    let rows = explorer.rows();
    let by_key: FxHashMap<RowKey, &HistogramRow> =
        rows.histogram.rows.iter().map(|row| (row.key, row)).collect();
    let flame = explorer.upright_compared_flame();
    let (totals, weight) = (flame.map(Flame::unnamed).unwrap_or_default(), explorer.state().weight);
    let row = |unnamed: &Unnamed| {
        let [binary, name] = unnamed.key.as_slice() else { return None };
        let mut all = unnamed.rows.iter().filter_map(|key| by_key.get(key)).peekable();
        let first = function_row(&rows, all.peek()?);
        let own = all.map(|row| row.numbers.self_period).fold(0, u64::saturating_add);
        let total = totals.get(name.as_str()).map_or(own, |sum| weight.of_sum(sum));
        let (binary, name) = place_of(binary, name);
        Some(FunctionRow { name, binary, own, total, function: None, change: unnamed.change, ..first })
    };
    changes.unnamed.iter().filter_map(row).collect()
}

/// Binary and name of a row of a comparison, as they are shown.
fn place_of(binary: &str, name: &str) -> (String, String) {
    let binary = if binary == UNKNOWN { String::new() } else { shown(binary).into_owned() };
    (binary, shown(name).into_owned())
}

/// The functions with how they were before, and those that are gone: they are rows without samples.
fn compared(explorer: &Explorer<'_>) -> Vec<FunctionRow> {
    let Some(changes) = explorer.changes() else { return all(explorer) };
    let mut list: Vec<FunctionRow> = {
        let rows = explorer.rows();
        let row = |row: &HistogramRow| FunctionRow {
            change: changes.rows.get(&row.key).copied(),
            ..function_row(&rows, row)
        };
        let unnamed: FxHashSet<RowKey> =
            changes.unnamed.iter().flat_map(|one| one.rows.iter().copied()).collect();
        rows.histogram.rows.iter().filter(|row| !unnamed.contains(&row.key)).map(row).collect()
    };
    list.extend(unnamed(explorer, changes));
    let place = |row: &FunctionRow| (row.binary.clone(), row.name.clone());
    let places: FxHashMap<(String, String), usize> = list
        .iter()
        .enumerate()
        .filter(|(_, row)| row.kind != "inlined")
        .map(|(nr, row)| (place(row), nr))
        .collect();
    for gone in &changes.gone {
        let [binary, name] = gone.key.as_slice() else { continue };
        let named = *name != frames::unnamed(binary.into());
        let (binary, name) = place_of(binary, name);
        let change = Some(Change::of(gone));
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
                named,
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
    let is_of = |other: &str| other == binary || names::compared_binary(explorer.session(), other) == binary;
    let is_it = |row: &FunctionRow| row.name == name && (binary.is_empty() || is_of(&row.binary));
    all(explorer)
        .into_iter()
        .find(is_it)
        .ok_or_else(|| format!("{name}: no function with samples of what is chosen is called so"))
}

/// The functions that take most themselves.
pub(crate) fn hottest(explorer: &Explorer<'_>, most: usize) -> Vec<FunctionRow> {
    heaviest(explorer, None, Sort::Own, most).1
}

/// What is searched for, as the picture searches: without capital letters case does not matter; what is no regular expression is searched
/// for as it is.
pub(super) fn search_pattern(search: &str) -> Result<Regex, String> {
    let insensitive = !search.chars().any(char::is_uppercase);
    let pattern = |text: &str| RegexBuilder::new(text).case_insensitive(insensitive).build();
    pattern(search).or_else(|_| pattern(&regex::escape(search))).map_err(|error| error.to_string())
}

/// What was searched for last, and which functions match: searches are asked again of other samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Searched {
    search: String,
    /// By function, as far as it was asked; none where functions have other names than in the recording.
    matches: Vec<Option<bool>>,
}

impl Searched {
    /// What is known of a search in what is looked at.
    fn of(&mut self, search: &str, explorer: &Explorer<'_>) -> &mut Vec<Option<bool>> {
        let (profile, whole) = (explorer.totals(), explorer.whole());
        let functions = if profile.has_functions_of(whole) { whole.names().functions().len() } else { 0 };
        if self.search != search || self.matches.len() != functions {
            *self = Searched { search: search.to_owned(), matches: vec![None; functions] };
        }
        &mut self.matches
    }
}

/// How many functions have samples of their own, and so code to show.
pub(crate) fn with_code(explorer: &Explorer<'_>) -> usize {
    let rows = explorer.rows();
    let is_function =
        |row: &HistogramRow| matches!(rows.values.values(row.key).last(), Some(Value::Function { .. }));
    rows.histogram.rows.iter().filter(|row| row.numbers.self_period > 0 && is_function(row)).count()
}

/// What functions are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Name,
    Change,
    Total,
    Own,
}

impl Sort {
    fn of(query: &Query) -> Sort {
        match query.get("sort") {
            "name" => Sort::Name,
            "change" => Sort::Change,
            "total" => Sort::Total,
            _ => Sort::Own,
        }
    }

    /// What decides among numbers: the highest first.
    fn weight(self, own: u64, total: u64) -> Reverse<(u64, u64)> {
        match self {
            Sort::Total => Reverse((total, own)),
            Sort::Own => Reverse((own, total)),
            Sort::Name | Sort::Change => Reverse((0, 0)),
        }
    }
}

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let search = query.get("search");
    let pattern = (!search.is_empty()).then(|| search_pattern(search)).transpose()?;
    let most = query.number("rows")?.unwrap_or(ROWS).min(MOST_ROWS);
    let sort = Sort::of(query);
    let (count, list) = match sort != Sort::Name && answers.explorer.changes().is_none() {
        true => {
            let Answers { explorer, searched, .. } = answers;
            let search = pattern.as_ref().map(|pattern| (pattern, searched.of(search, explorer)));
            heaviest(explorer, search, sort, most)
        }
        false => sorted(&answers.explorer, pattern.as_ref(), sort, most),
    };
    let rows: Vec<Json> = list.iter().map(FunctionRow::json).collect();
    with_measure(answers, json!({"count": count, "rows": rows}))
}

/// How many functions match, and the heaviest of them. Names are made of those that are shown, or searched.
fn heaviest(
    explorer: &Explorer<'_>,
    mut search: Option<(&Regex, &mut Vec<Option<bool>>)>,
    sort: Sort,
    most: usize,
) -> (usize, Vec<FunctionRow>) {
    let rows = explorer.rows();
    let all = || rows.histogram.rows.iter().enumerate();
    let value = |row: &HistogramRow| rows.values.values(row.key).last().unwrap_or(Value::Unknown);
    let mut matches = |row: &HistogramRow| {
        let Some((pattern, known)) = &mut search else { return true };
        let value = value(row);
        let ask = || pattern.is_match(&names::name_of_value(&rows.facts, value));
        let Value::Function { function, .. } = value else { return ask() };
        known.get_mut(function.index()).map_or_else(ask, |known| *known.get_or_insert_with(ask))
    };
    let weight = |row: &HistogramRow| sort.weight(row.numbers.self_period, row.numbers.total_period);
    // Where functions weigh the same the order is that of the rows.
    let mut list: Vec<(Reverse<(u64, u64)>, usize)> =
        all().filter(|(_, row)| matches(row)).map(|(at, row)| (weight(row), at)).collect();
    let count = list.len();
    if most < count {
        list.select_nth_unstable(most);
        list.truncate(most);
    }
    list.sort_unstable();
    let shown = list.into_iter().filter_map(|(_, at)| rows.histogram.rows.get(at));
    (count, shown.map(|row| function_row(&rows, row)).collect())
}

/// The same in orders that need what all functions are called, or how they were.
fn sorted(
    explorer: &Explorer<'_>,
    pattern: Option<&Regex>,
    sort: Sort,
    most: usize,
) -> (usize, Vec<FunctionRow>) {
    let mut list = compared(explorer);
    list.retain(|row| pattern.is_none_or(|pattern| pattern.is_match(&row.name)));
    match sort {
        Sort::Name => list.sort_by(|a, b| (&a.name, &a.binary).cmp(&(&b.name, &b.binary))),
        Sort::Change => list.sort_by(|a, b| b.delta().abs().total_cmp(&a.delta().abs())),
        Sort::Total | Sort::Own => list.sort_by_key(|row| sort.weight(row.own, row.total)),
    }
    let count = list.len();
    list.truncate(most);
    (count, list)
}
