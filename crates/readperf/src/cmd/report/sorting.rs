//! Which keys make a row and which columns are shown: `--sort`, `--fields`, and what stands in for them.

use crate::suggestion::hint;
use readperf::profile::view::column::{Column, NUMBERS};
use readperf::profile::view::key::{KEYS, KeyUse, NOT_HERE, TRACE_FIELD, TraceField, by_name};

/// What a word of `--sort` or `--fields` stands for.
#[derive(Clone, Debug)]
enum Word {
    Number(Column),
    Key(KeyUse),
}

/// A word, with a hint if there is none like it.
fn word(text: &str, raw_trace: bool) -> Result<Word, String> {
    if let Some((_, column, _)) = NUMBERS.iter().find(|(name, ..)| *name == text) {
        return Ok(Word::Number(*column));
    }
    if let Some(key) = by_name(text) {
        return Ok(Word::Key(KeyUse { key, field: TraceField::default() }));
    }
    let (name, raw) = text.strip_suffix("/raw").map_or((text, raw_trace), |name| (name, true));
    if let Some((event, field)) = name.rsplit_once('.')
        && !event.is_empty()
        && !field.is_empty()
    {
        let field = TraceField { event: Some(event.to_owned()), field: field.to_owned(), raw };
        return Ok(Word::Key(KeyUse { key: TRACE_FIELD, field }));
    }
    if let Some((_, why)) = NOT_HERE.iter().find(|(name, _)| *name == text) {
        return Err(format!("there is no sort key {text}: {why}"));
    }
    let names = || {
        let keys = KEYS.iter().flat_map(|key| std::iter::once(key.name).chain(key.aliases.iter().copied()));
        keys.chain(NUMBERS.iter().map(|(name, ..)| *name))
    };
    // perf takes the beginning of a name for it. Of several the one that all others begin with.
    let longer = || names().filter(|name| !text.is_empty() && name.starts_with(text));
    if let Some(meant) = longer().find(|meant| longer().all(|name| name.starts_with(meant))) {
        return word(meant, raw_trace);
    }
    let names = names();
    Err(format!("no sort key is called {text}{}; readperf report --help lists them", hint(text, names)))
}

/// The keys and columns of a report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorting {
    /// What makes a row.
    pub(crate) keys: Vec<KeyUse>,
    /// The columns, from left to right.
    pub(crate) columns: Vec<Column>,
    /// By which columns rows are sorted, the first first.
    pub(crate) order: Vec<Column>,
}

/// What decides on keys and columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted<'w> {
    /// `--sort`.
    pub(super) sort: Option<&'w str>,
    /// `--fields`.
    pub(super) fields: Option<&'w str>,
    /// The keys if neither tells any.
    pub(super) default: &'static str,
    /// Columns of numbers if `--fields` does not tell them.
    pub(super) numbers: Vec<Column>,
    /// `--raw-trace`.
    pub(super) raw_trace: bool,
    /// A key besides those.
    pub(super) more: Option<&'static str>,
    /// Names of fields of the recording's tracepoints.
    pub(super) trace_fields: Vec<String>,
}

impl Wanted<'_> {
    /// The keys and columns.
    pub(super) fn sorting(&self) -> Result<Sorting, String> {
        let mut sorting = Sorting::default();
        let more = self.fields.and_then(|fields| fields.strip_prefix('+'));
        let sort_more = self.sort.and_then(|sort| sort.strip_prefix('+'));
        let sort = match (self.sort, sort_more, self.fields, more) {
            (_, Some(more), ..) => format!("{},{more}", self.default),
            (Some(sort), ..) => sort.to_owned(),
            (None, _, Some(_), None) => String::new(),
            (None, ..) => self.default.to_owned(),
        };
        let mut order = Vec::new();
        for word in self.words(&sort)? {
            order.push(sorting.column(word));
        }
        for word in self.words(self.more.unwrap_or_default())? {
            sorting.column(word);
        }
        let lead = self.numbers.first().copied().unwrap_or(Column::Overhead);
        match self.fields {
            Some(fields) => {
                for word in self.words(fields.strip_prefix('+').unwrap_or(fields))? {
                    let column = sorting.column(word);
                    if !sorting.columns.contains(&column) {
                        sorting.columns.push(column);
                    }
                }
                if more.is_some() {
                    let before = self.numbers.iter().copied();
                    let keys = order.iter().copied().filter(|column| matches!(column, Column::Key(_)));
                    let front: Vec<Column> = before.chain(keys).collect();
                    sorting.columns.retain(|column| !front.contains(column));
                    sorting.columns.splice(0..0, front);
                }
            }
            None => {
                let listed = order.iter().copied().filter(|column| !matches!(column, Column::Key(_)));
                sorting.columns = self.numbers.clone();
                for column in listed {
                    if !sorting.columns.contains(&column) {
                        sorting.columns.push(column);
                    }
                }
            }
        }
        for index in 0..sorting.keys.len() {
            if !sorting.columns.contains(&Column::Key(index)) {
                sorting.columns.push(Column::Key(index));
            }
        }
        // A key counts for the order before the numbers only if it is named before them.
        if !order.iter().any(|column| !matches!(column, Column::Key(_))) {
            order.insert(0, lead);
        }
        sorting.order = order;
        if sorting.keys.is_empty() {
            return Err(
                "no key makes rows: name one, such as comm, dso or symbol, in --sort or --fields".to_owned()
            );
        }
        Ok(sorting)
    }

    fn words(&self, list: &str) -> Result<Vec<Word>, String> {
        let names = list.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty());
        let mut words = Vec::new();
        for name in names {
            let field = name.strip_suffix("/raw").unwrap_or(name);
            let is_field = by_name(name).is_none() && self.trace_fields.iter().any(|known| known == field);
            match (name, is_field) {
                ("trace_fields", _) => {
                    words.extend(self.trace_fields.iter().map(|name| self.field(name, false)))
                }
                (_, true) => words.push(self.field(field, field != name)),
                _ => words.push(word(name, self.raw_trace)?),
            }
        }
        Ok(words)
    }

    fn field(&self, name: &str, raw: bool) -> Word {
        let field = TraceField { event: None, field: name.to_owned(), raw: raw || self.raw_trace };
        Word::Key(KeyUse { key: TRACE_FIELD, field })
    }
}

impl Sorting {
    /// The column of a word; a key that is new gets one.
    fn column(&mut self, word: Word) -> Column {
        let new = match word {
            Word::Number(column) => return column,
            Word::Key(new) => new,
        };
        let known = self.keys.iter().position(|key| key.name() == new.name());
        Column::Key(known.unwrap_or_else(|| {
            self.keys.push(new);
            self.keys.len() - 1
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorting(sort: Option<&str>, fields: Option<&str>) -> Result<Sorting, String> {
        let numbers = vec![Column::Children, Column::Overhead];
        let trace_fields = vec!["prev_pid".to_owned()];
        let default = "comm,dso,symbol";
        Wanted { sort, fields, default, numbers, raw_trace: false, more: None, trace_fields }.sorting()
    }

    fn names(sorting: &Sorting) -> Vec<String> {
        sorting.keys.iter().map(KeyUse::name).collect()
    }

    #[test]
    fn defaults_stand_in() {
        let plain = sorting(None, None).unwrap();
        assert_eq!(names(&plain), ["comm", "dso", "symbol"]);
        assert_eq!(plain.columns.len(), 5);
        assert_eq!(plain.order.first(), Some(&Column::Children));
        assert_eq!(names(&sorting(Some("+cpu"), None).unwrap()), ["comm", "dso", "symbol", "cpu"]);
        assert_eq!(names(&sorting(Some("sym,sym,symbol"), None).unwrap()), ["symbol"]);
    }

    #[test]
    fn fields_tell_columns_and_keys() {
        let fields = sorting(None, Some("sample,dso,overhead")).unwrap();
        assert_eq!(fields.columns, [Column::Samples, Column::Key(0), Column::Overhead]);
        let more = sorting(None, Some("+period")).unwrap();
        assert_eq!(more.columns.last(), Some(&Column::Period));
        assert_eq!(more.columns.len(), 6);
        let both = sorting(Some("comm,dso"), Some("overhead,dso")).unwrap();
        assert_eq!(both.columns, [Column::Overhead, Column::Key(1), Column::Key(0)]);
        assert!(sorting(None, Some("overhead")).is_err(), "no key at all");
    }

    #[test]
    fn keys_before_numbers_come_first_in_the_order() {
        let time = sorting(Some("time,overhead,sym"), None).unwrap();
        assert_eq!(time.order, [Column::Key(0), Column::Overhead, Column::Key(1)]);
    }

    #[test]
    fn tracepoint_fields_and_mistakes() {
        assert_eq!(
            names(&sorting(Some("prev_pid,switch.next_pid/raw"), None).unwrap()),
            ["prev_pid", "switch.next_pid/raw"]
        );
        let error = sorting(Some("symbl"), None).unwrap_err();
        assert!(error.contains("did you mean symbol"), "{error}");
        assert!(sorting(Some("typeoff"), None).unwrap_err().contains("types of data"));
        assert_eq!(
            names(&sorting(Some("phys,pare,srcl"), None).unwrap()),
            ["phys_daddr", "parent", "srcline"]
        );
        assert!(sorting(Some("symbol_"), None).is_err(), "the beginning of several");
    }
}
