//! Folders of tables that are not as this program writes them: of another version, without a column, with one id for two things.

use crate::oracle::{fixture, scratch, tool};
use crate::{exported, wrong};
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file of a table of one recording.
fn part(folder: &Path, table: &str) -> PathBuf {
    std::fs::read_dir(folder.join(table)).unwrap().next().unwrap().unwrap().path()
}

/// Writes a file again, with other rows and another version of the schema.
fn rewrite(file: &Path, version: &str, change: impl Fn(&RecordBatch) -> RecordBatch) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap();
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(|rows| change(&rows.unwrap())).collect();
    let version = KeyValue::new("readperf.schema".to_owned(), version.to_owned());
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![version])).build();
    let schema = batches[0].schema();
    let mut writer = ArrowWriter::try_new(File::create(file).unwrap(), schema, Some(properties)).unwrap();
    for rows in &batches {
        writer.write(rows).unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn tables_of_another_version_are_refused() {
    let dir = scratch();
    exported(dir.path(), &[], &[&fixture("main")]);
    let samples = part(dir.path(), "samples");
    rewrite(&samples, "99", RecordBatch::clone);
    let said = wrong("SELECT count(*) FROM samples", &[dir.path()]);
    assert!(said.contains(&samples.display().to_string()), "{said}");
    assert!(said.contains("it has version 99 of the schema") && said.contains("export it anew"), "{said}");
    // Other tables of the folder are as they were.
    assert_eq!(crate::rows("SELECT * FROM threads", &[dir.path()]).len(), 1);
}

#[test]
fn a_missing_column_is_named() {
    let dir = scratch();
    exported(dir.path(), &[], &[&fixture("main")]);
    let samples = part(dir.path(), "samples");
    let version = readperf::tables::SCHEMA_VERSION.to_string();
    rewrite(&samples, &version, |rows| {
        let schema = rows.schema();
        let others = (0..schema.fields().len()).filter(|nr| schema.field(*nr).name() != "period");
        rows.project(&others.collect::<Vec<_>>()).unwrap()
    });
    let said = wrong("SELECT count(*) FROM samples", &[dir.path()]);
    assert!(said.contains("the column samples.period is missing: export it anew"), "{said}");
}

#[test]
fn two_things_under_one_id_are_an_error() {
    let dir = scratch();
    let [one, other] = ["one", "other"].map(|name| dir.path().join(name));
    exported(&one, &[], &[&fixture("main")]);
    // The same functions in another recording.
    let half = dir.path().join("half.data");
    let words = ["edit", "--no-progress", "--every", "2", "-o"].map(OsStr::new);
    let edited = tool::run(&[&words[..], &[half.as_os_str(), fixture("main").as_os_str()]].concat());
    assert_eq!(edited.status.code(), Some(0), "{}", tool::stderr(&edited));
    exported(&other, &[], &[&half]);
    let query = "SELECT count(*) AS n FROM symbols";
    let both = tool::number(&crate::rows(query, &[&one, &other])[0]["n"]);
    let apart: u64 =
        [&one, &other].map(|folder| tool::number(&crate::rows(query, &[folder])[0]["n"])).iter().sum();
    assert!(both < apart, "they have functions in common");
    let version = readperf::tables::SCHEMA_VERSION.to_string();
    rewrite(&part(&other, "symbols"), &version, |rows| {
        let at = rows.schema().index_of("function_id_lo").unwrap();
        let rests = rows.column(at).as_primitive::<Int64Type>();
        let rests: ArrayRef = Arc::new(rests.unary::<_, Int64Type>(|rest| rest ^ 1) as Int64Array);
        let mut columns = rows.columns().to_vec();
        columns[at] = rests;
        RecordBatch::try_new(rows.schema(), columns).unwrap()
    });
    let said = wrong(query, &[&one, &other]);
    assert!(said.contains("two different things have the id "), "{said}");
    assert!(said.contains("their recordings cannot be asked together"), "{said}");
    // Each by itself is sound.
    assert!(crate::rows(query, &[&other]).len() == 1);
}
