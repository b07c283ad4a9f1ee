//! Folders of tables: what is there is whole, read back as it was, and each recording once.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use readperf_tables::store::{FileFormat, Partition, Store};
use readperf_tables::{BATCH_ROWS, Error, Options, SCHEMA_VERSION, Table, Tables};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name).join("perf.data")
}

fn tables(name: &str) -> Tables {
    let mut options = Options { labels: vec![("service".into(), "web".into())], ..Options::default() };
    options.symbols.symfs = Some("/nonexistent".into());
    Tables::open(&fixture(name), &options).unwrap()
}

fn by_service(name: &str) -> Partition {
    Partition::new([("service".to_owned(), name.to_owned())])
}

/// All files below a folder, by path.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut list = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { list.extend(files(&path)) } else { list.push(path) }
    }
    list.sort();
    list
}

fn rows(tables: &Tables, table: Table) -> Vec<RecordBatch> {
    tables.batches(table, None, BATCH_ROWS).unwrap().map(Result::unwrap).collect()
}

#[test]
fn parquet_says_what_the_batches_say() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("deep/out"), FileFormat::Parquet).unwrap();
    for name in ["main", "tracepoints", "stat", "multi", "zstd"] {
        let tables = tables(name);
        let added = store.add(&tables, &Partition::default()).unwrap();
        let mut counted = 0;
        for table in Table::ALL {
            let part = format!("deep/out/{table}/part-{}.parquet", tables.profile_id().hex());
            let file = File::open(dir.path().join(part)).unwrap();
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
            let told =
                |key: &str| metadata.iter().find(|told| told.key == key).and_then(|told| told.value.clone());
            assert_eq!(told("readperf.schema"), Some(SCHEMA_VERSION.to_string()));
            assert_eq!(told("readperf.table").as_deref(), Some(table.name()));
            let read: Vec<RecordBatch> =
                reader.with_batch_size(BATCH_ROWS).build().unwrap().map(Result::unwrap).collect();
            let made = rows(&tables, *table);
            assert_eq!(read.iter().map(RecordBatch::num_rows).sum::<usize>(), tables.row_count(*table));
            for (read, made) in read.iter().zip(&made) {
                assert_eq!(read.num_columns(), made.num_columns());
                for (read, made) in read.columns().iter().zip(made.columns()) {
                    assert_eq!(read, made, "{table} of {name}");
                }
            }
            counted += tables.row_count(*table);
        }
        assert_eq!(added.rows, counted);
    }
}

#[test]
fn arrow_says_what_the_batches_say() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), FileFormat::Arrow).unwrap();
    let tables = tables("multi");
    store.add(&tables, &Partition::default()).unwrap();
    for table in Table::ALL {
        let part = dir.path().join(format!("{table}/part-{}.arrow", tables.profile_id().hex()));
        let reader = arrow_ipc::reader::FileReader::try_new(File::open(part).unwrap(), None).unwrap();
        let read: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
        assert_eq!(read, rows(&tables, *table), "{table}");
    }
}

#[test]
fn a_recording_is_there_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), FileFormat::Parquet).unwrap();
    let (main, multi) = (tables("main"), tables("multi"));
    assert!(!store.has(main.profile_id()));
    store.add(&main, &by_service("web")).unwrap();
    assert!(store.has(main.profile_id()) && !store.has(multi.profile_id()));
    assert_eq!(files(dir.path()).len(), Table::ALL.len());
    // Again, and under another label: it moves.
    store.add(&main, &by_service("web")).unwrap();
    assert_eq!(files(dir.path()).len(), Table::ALL.len());
    store.add(&main, &by_service("db")).unwrap();
    let all = files(dir.path());
    assert_eq!(all.len(), Table::ALL.len());
    assert!(all.iter().all(|file| file.parent().unwrap().ends_with("service=db")), "{all:?}");
    store.add(&multi, &by_service("web")).unwrap();
    assert_eq!(files(dir.path()).len(), 2 * Table::ALL.len());
}

#[test]
fn what_was_interrupted_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), FileFormat::Parquet).unwrap();
    let main = tables("main");
    store.add(&main, &Partition::default()).unwrap();
    // As if it had ended between two parts.
    fs::remove_file(&files(&dir.path().join("profiles"))[0]).unwrap();
    let store = Store::open(dir.path(), FileFormat::Parquet).unwrap();
    assert!(!store.has(main.profile_id()));
    store.add(&main, &Partition::default()).unwrap();
    assert!(store.has(main.profile_id()));
    assert_eq!(files(dir.path()).len(), Table::ALL.len());
}

#[test]
fn what_fails_leaves_the_folder_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), FileFormat::Parquet).unwrap();
    // A file is where the folder of the last table has to be.
    let last = Table::ALL.last().unwrap();
    fs::write(dir.path().join(last.name()), "in the way").unwrap();
    let error = store.add(&tables("main"), &Partition::default()).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if path.ends_with(last.name())), "{error}");
    assert_eq!(files(dir.path()), [dir.path().join(last.name())]);
}

#[test]
fn all_recordings_of_a_folder_have_the_same_keys() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), FileFormat::Parquet).unwrap();
    store.accept(&by_service("web")).unwrap();
    store.add(&tables("main"), &by_service("web")).unwrap();
    store.accept(&by_service("db")).unwrap();
    let error = store.accept(&Partition::default()).unwrap_err().to_string();
    assert!(error.contains("divided by service, these would be by no partition"), "{error}");
}

#[test]
fn parts_can_be_read_by_whoever_may_read_the_folder() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    fs::write(&plain, "").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
    let store = Store::open(&dir.path().join("out"), FileFormat::Parquet).unwrap();
    store.add(&tables("main"), &Partition::default()).unwrap();
    assert!(files(&dir.path().join("out")).iter().all(|part| mode(part) == mode(&plain)));
}
