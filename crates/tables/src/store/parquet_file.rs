//! A table as a Parquet file.

use crate::batches::Batches;
use crate::error::Result;
use crate::schema::{SCHEMA_VERSION, Table};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use std::fs::File;

/// Rows of a row group: what others read at a time.
const GROUP_ROWS: usize = 1 << 20;

/// More than this takes longer, and saves little.
const ZSTD_LEVEL: i32 = 3;

/// Columns whose numbers mostly grow, or never come twice: differences take less than a dictionary.
const GROWING: [&str; 4] = ["time_ns", "time", "sample_no", "ip"];

/// Columns by which single rows are looked for.
const LOOKED_FOR: [&str; 5] = ["stack_id", "frame_id", "function_id", "binary_id", "build_id"];

/// Most different values that a filter is made for: that of a row group of one value each.
const FILTERED: u64 = 1 << 16;

/// Writes the rows of a table.
pub(super) fn write(table: Table, batches: Batches, file: &File) -> Result<()> {
    let mut writer = ArrowWriter::try_new(file, batches.schema(), Some(properties(table)?))?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.close()?;
    Ok(())
}

fn properties(table: Table) -> Result<WriterProperties> {
    let told = |key: &str, value: String| KeyValue { key: key.to_owned(), value: Some(value) };
    let builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_created_by(concat!("readperf ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(vec![
            told("readperf.schema", SCHEMA_VERSION.to_string()),
            told("readperf.table", table.name().to_owned()),
        ]));
    Ok(table.columns().iter().fold(builder, |builder, column| of_column(builder, column.name)).build())
}

fn of_column(builder: WriterPropertiesBuilder, name: &str) -> WriterPropertiesBuilder {
    let path = || ColumnPath::from(name);
    if GROWING.contains(&name) {
        return builder
            .set_column_dictionary_enabled(path(), false)
            .set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED);
    }
    if LOOKED_FOR.contains(&name) {
        return builder
            .set_column_bloom_filter_enabled(path(), true)
            .set_column_bloom_filter_max_ndv(path(), FILTERED);
    }
    builder
}
