//! Tables of the project's own recordings: every column can be made, totals are those of the records, ids lead somewhere, and say the same
//! wherever they stand.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use readperf_tables::{BATCH_ROWS, Error, Options, Table, Tables, Wanted};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let folders = root.read_dir().unwrap().map(|entry| entry.unwrap().path().join("perf.data"));
    let mut list: Vec<PathBuf> = folders.filter(|path| path.exists()).collect();
    list.sort();
    assert!(list.len() > 5);
    list
}

/// Without the files of this machine: names come from what lies beside the recordings, and so do not change.
fn options(path: &Path) -> Options {
    let mut options = Options::default();
    options.symbols.symfs = Some("/nonexistent".into());
    options.symbols.search_dirs =
        vec![path.parent().unwrap().to_owned(), path.parent().unwrap().join("../bin")];
    options
}

fn open(path: &Path) -> Tables {
    Tables::open(path, &options(path)).unwrap()
}

fn rows(tables: &Tables, table: Table) -> Vec<RecordBatch> {
    tables.batches(table, None, 1000).unwrap().map(Result::unwrap).collect()
}

/// The values of a column that are not NULL.
fn numbers(batches: &[RecordBatch], column: &str) -> Vec<i64> {
    let of = |batch: &RecordBatch| {
        let column = batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().clone();
        column.iter().flatten().collect::<Vec<_>>()
    };
    batches.iter().flat_map(of).collect()
}

fn set(batches: &[RecordBatch], column: &str) -> HashSet<i64> {
    numbers(batches, column).into_iter().collect()
}

#[test]
fn every_column_of_every_table_can_be_made() {
    for path in fixtures() {
        let tables = open(&path);
        for table in Table::ALL {
            let batches = rows(&tables, *table);
            let count: usize = batches.iter().map(RecordBatch::num_rows).sum();
            assert_eq!(count, tables.row_count(*table), "{table} of {}", path.display());
            assert!(batches.iter().all(|batch| batch.num_rows() <= 1000));
        }
    }
}

#[test]
fn totals_are_those_of_the_records() {
    for path in fixtures() {
        // Counted without a session, a profile or a table.
        let recording = perffile::Recording::open(&path).unwrap();
        let mut statistics = readperf_profile::statistics::Statistics::default();
        recording.for_each(|event| statistics.add(event)).unwrap();
        let schema = recording.read_metadata().unwrap().schema;
        let counts = statistics.events(&schema).map(|(_, count)| count);
        let expected: Vec<(i64, i64)> =
            counts.map(|count| (count.samples.cast_signed(), count.period.cast_signed())).collect();

        let tables = open(&path);
        let events = rows(&tables, Table::Events);
        let told: Vec<(i64, i64)> =
            numbers(&events, "samples").into_iter().zip(numbers(&events, "period")).collect();
        assert_eq!(told, expected, "{}", path.display());
        let samples = rows(&tables, Table::Samples);
        let sum = |numbers: Vec<i64>| numbers.into_iter().fold(0i64, i64::wrapping_add);
        assert_eq!(sum(numbers(&samples, "period")), sum(numbers(&events, "period")));
        assert_eq!(tables.row_count(Table::Samples).cast_signed() as i64, sum(numbers(&events, "samples")));
        let threads = rows(&tables, Table::Threads);
        assert_eq!(sum(numbers(&threads, "samples")), sum(numbers(&events, "samples")));
        assert_eq!(sum(numbers(&threads, "period")), sum(numbers(&events, "period")));
        assert_eq!(numbers(&rows(&tables, Table::Profiles), "samples"), [sum(numbers(&events, "samples"))]);
    }
}

#[test]
fn ids_lead_somewhere_and_are_defined_once() {
    for path in fixtures() {
        let tables = open(&path);
        let ids = |table: Table, column: &str| set(&rows(&tables, table), column);
        for (table, column) in [
            (Table::Stacks, "stack_id"),
            (Table::Frames, "frame_id"),
            (Table::Symbols, "function_id"),
            (Table::Binaries, "binary_id"),
            (Table::Threads, "thread_id"),
        ] {
            assert_eq!(ids(table, column).len(), tables.row_count(table), "{table} of {}", path.display());
        }
        for (from, column, to, id) in [
            (Table::Samples, "stack_id", Table::Stacks, "stack_id"),
            (Table::Samples, "frame_id", Table::Frames, "frame_id"),
            (Table::Samples, "function_id", Table::Symbols, "function_id"),
            (Table::Samples, "thread_id", Table::Threads, "thread_id"),
            (Table::Stacks, "leaf_frame_id", Table::Frames, "frame_id"),
            (Table::Stacks, "root_frame_id", Table::Frames, "frame_id"),
            (Table::Frames, "binary_id", Table::Binaries, "binary_id"),
            (Table::Frames, "function_id", Table::Symbols, "function_id"),
            (Table::Symbols, "binary_id", Table::Binaries, "binary_id"),
            (Table::Mappings, "binary_id", Table::Binaries, "binary_id"),
            (Table::FrameLevels, "function_id", Table::Symbols, "function_id"),
        ] {
            assert!(ids(from, column).is_subset(&ids(to, id)), "{from}.{column} of {}", path.display());
        }
        assert_eq!(ids(Table::FrameLevels, "frame_id"), ids(Table::Frames, "frame_id"));
        for batch in rows(&tables, Table::Stacks) {
            let list = batch.column_by_name("frame_ids").unwrap().as_list::<i32>();
            let frames: HashSet<i64> =
                list.values().as_primitive::<Int64Type>().values().iter().copied().collect();
            assert!(frames.is_subset(&ids(Table::Frames, "frame_id")));
        }
    }
}

/// The rows of a table as text, by the id in their first column.
fn told(tables: &Tables, table: Table) -> HashMap<i64, String> {
    let mut told = HashMap::new();
    for batch in rows(tables, table) {
        let ids = batch.column(0).as_primitive::<Int64Type>().clone();
        for row in 0..batch.num_rows() {
            let text = batch.columns().iter().map(|column| {
                if column.is_null(row) {
                    return "NULL".to_owned();
                }
                let column = column.slice(row, 1);
                match column.as_any_dictionary_opt() {
                    Some(words) => {
                        words.values().as_string::<i32>().value(words.normalized_keys()[0]).to_owned()
                    }
                    None => format!("{column:?}"),
                }
            });
            told.insert(ids.value(row), text.collect::<Vec<_>>().join("|"));
        }
    }
    told
}

#[test]
fn one_id_says_the_same_in_all_recordings() {
    let mut known: HashMap<(Table, i64), String> = HashMap::new();
    let mut seen_again = 0;
    // Once with the names that there are, once without: places with other names are other frames.
    for is_named in [true, false] {
        for path in fixtures() {
            let mut options = options(&path);
            if !is_named {
                options.symbols.search_dirs.clear();
            }
            let tables = Tables::open(&path, &options).unwrap();
            for table in [Table::Stacks, Table::Frames, Table::Symbols, Table::Binaries] {
                for (id, text) in told(&tables, table) {
                    match known.get(&(table, id)) {
                        Some(before) => {
                            assert_eq!(*before, text, "{table} of {}", path.display());
                            seen_again += 1;
                        }
                        None => drop(known.insert((table, id), text)),
                    }
                }
            }
        }
    }
    assert!(seen_again > 100, "{seen_again}");
}

#[test]
fn a_part_of_the_columns_has_the_values_of_the_whole() {
    let path = &fixtures()[0].parent().unwrap().join("../multi/perf.data");
    let whole = rows(&open(path), Table::Samples);
    for name in ["time_ns", "function", "stack_id", "tid", "frame_id", "event"] {
        let column = [Table::Samples.column_index(name).unwrap()];
        let wanted = Wanted::nothing().and(Table::Samples, Some(&column));
        let tables = Tables::open(path, &Options { wanted, ..options(path) }).unwrap();
        let part: Vec<RecordBatch> =
            tables.batches(Table::Samples, Some(&column), 1000).unwrap().map(Result::unwrap).collect();
        assert_eq!(part.len(), whole.len());
        for (part, whole) in part.iter().zip(&whole) {
            assert_eq!(part.num_columns(), 1);
            assert_eq!(part.column(0), whole.column_by_name(name).unwrap(), "{name}");
        }
    }
}

#[test]
fn a_table_alone_has_the_rows_that_it_has_among_all() {
    for name in ["multi", "stat", "tracepoints"] {
        let path = &fixtures()[0].parent().unwrap().join("..").join(name).join("perf.data");
        let whole = open(path);
        for table in Table::ALL {
            let wanted = Wanted::nothing().and(*table, None);
            let alone = Tables::open(path, &Options { wanted, ..options(path) }).unwrap();
            assert_eq!(rows(&alone, *table), rows(&whole, *table), "{table} of {name}");
        }
    }
}

#[test]
fn what_was_not_asked_for_is_an_error() {
    let path = &fixtures()[0];
    let wanted = Wanted::nothing().and(Table::Samples, Some(&[]));
    let tables = Tables::open(path, &Options { wanted, ..options(path) }).unwrap();
    let function = Table::Samples.column_index("function").unwrap();
    let error = tables.batches(Table::Samples, Some(&[function]), BATCH_ROWS).unwrap_err();
    assert!(matches!(error, Error::NotMade { table: Table::Samples, column: "function" }), "{error}");
    assert!(matches!(
        tables.batches(Table::Samples, Some(&[999]), BATCH_ROWS).unwrap_err(),
        Error::NoColumn { number: 999, .. }
    ));
    // Rows without a column can be counted.
    let batches = tables.batches(Table::Samples, Some(&[]), BATCH_ROWS).unwrap();
    let counted: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
    assert!(counted > 0 && counted == tables.row_count(Table::Samples));
}

#[test]
fn filters_choose_samples() {
    let path = &fixtures()[0].parent().unwrap().join("../threads/perf.data");
    let all = open(path);
    let tids: HashSet<i64> = {
        let column = |batch: &RecordBatch| {
            batch.column_by_name("tid").unwrap().as_primitive::<arrow_array::types::Int32Type>().clone()
        };
        rows(&all, Table::Samples)
            .iter()
            .flat_map(|batch| column(batch).values().to_vec())
            .map(i64::from)
            .collect()
    };
    assert!(tids.len() > 1);
    let mut counted = 0;
    for tid in &tids {
        let mut options = options(path);
        options.samples.tids = vec![u32::try_from(*tid).unwrap()];
        let tables = Tables::open(path, &options).unwrap();
        counted += tables.row_count(Table::Samples);
        let threads = set(&rows(&tables, Table::Samples), "thread_id");
        assert_eq!(threads.len(), 1);
    }
    assert_eq!(counted, all.row_count(Table::Samples));
}
