//! Whether a file is of a table as this version has it.

use datafusion::arrow::datatypes::Schema;
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::parquet::arrow::parquet_to_arrow_schema;
use datafusion::parquet::file::metadata::FileMetaData;
use readperf_tables::{SCHEMA_VERSION, Table};
use std::fmt::Display;

/// Whether a file has the columns of a table in this version of the schema.
pub(super) fn check_metadata(file: &dyn Display, table: Table, metadata: &FileMetaData) -> Result<()> {
    let pairs = metadata.key_value_metadata();
    let version = pairs.into_iter().flatten().find(|pair| pair.key == "readperf.schema");
    let version = version.and_then(|pair| pair.value.as_deref());
    if version != Some(&SCHEMA_VERSION.to_string()) {
        let said = version.map_or_else(
            || "no version of the schema".to_owned(),
            |said| format!("version {said} of the schema"),
        );
        return exec_err!(
            "{}: it has {said}, and this program reads version {SCHEMA_VERSION}: export it anew",
            file
        );
    }
    let there: Schema = parquet_to_arrow_schema(metadata.schema_descr(), pairs)?;
    for column in table.schema().fields() {
        match there.field_with_name(column.name()) {
            Err(_) => {
                return exec_err!(
                    "{}: the column {}.{} is missing: export it anew",
                    file,
                    table,
                    column.name()
                );
            }
            Ok(found) if found.data_type() != column.data_type() => {
                return exec_err!(
                    "{}: {}.{} is {}, not {}: export it anew",
                    file,
                    table,
                    column.name(),
                    found.data_type(),
                    column.data_type()
                );
            }
            Ok(_) => (),
        }
    }
    Ok(())
}
