//! Tables of the project's own recordings: every column of every table can be made, and totals are those of the profile.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use readperf_tables::{BATCH_ROWS, Options, Table, Tables, Wanted};
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

fn rows(tables: &Tables, table: Table) -> Vec<RecordBatch> {
    tables.batches(table, None, BATCH_ROWS).unwrap().map(Result::unwrap).collect()
}

fn numbers(batches: &[RecordBatch], column: &str) -> Vec<i64> {
    let column = |batch: &RecordBatch| batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().clone();
    batches.iter().flat_map(|batch| column(batch).values().to_vec()).collect()
}

#[test]
fn every_table_of_every_recording() {
    for path in fixtures() {
        let tables = Tables::open(&path, &Options::default()).unwrap();
        for table in Table::ALL {
            let count: usize = rows(&tables, *table).iter().map(RecordBatch::num_rows).sum();
            assert_eq!(count, tables.row_count(*table), "{table} of {}", path.display());
        }
    }
}
