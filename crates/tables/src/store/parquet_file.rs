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

/// What a dictionary may take of a row group, bytes: the names of all functions of a large program. Beyond that values are written out.
const DICTIONARY_BYTES: usize = 8 << 20;

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
    let builder = builder.set_dictionary_page_size_limit(DICTIONARY_BYTES);
    let columns = table.columns().iter().map(|column| column.name);
    let builder = columns.clone().fold(builder, of_column);
    // Hashes that come once: the ids that the table defines.
    let defined =
        columns.filter(|name| name.ends_with("_lo")).flat_map(|rest| [rest, rest.trim_end_matches("_lo")]);
    Ok(defined
        .fold(builder, |builder, name| builder.set_column_dictionary_enabled(name.into(), false))
        .build())
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
