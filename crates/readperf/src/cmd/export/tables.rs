//! `readperf export --format parquet` and `arrow`: recordings as a folder of tables.

#[cfg(feature = "tables")]
mod write;

use clap::Args;
use std::path::PathBuf;

/// A format of tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableFormat {
    /// What users call it.
    pub(super) name: &'static str,
    /// One line of help.
    pub(super) help: &'static str,
}

/// The formats of tables.
pub(super) const TABLE_FORMATS: [TableFormat; 2] = [
    TableFormat {
        name: "parquet",
        help: "samples, stacks, functions and all else as tables, a folder of Parquet files (DuckDB, pandas, Spark, ...); takes several recordings",
    },
    TableFormat { name: "arrow", help: "the same tables as files of Arrow (IPC)" },
];

/// What is said of recordings that become tables.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Tables (parquet, arrow)")]
pub(super) struct TablesArguments {
    /// More recordings for the same folder; with --from tables, more folders
    #[arg(value_name = "MORE")]
    more: Vec<PathBuf>,

    /// Say this of the recordings, as service=web: a folder of each table, and in profiles.labels. May be given more than once
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    labels: Vec<(String, String)>,

    /// A folder of each table for each day: the day of the first sample where the recording tells the time of day (perf record -k
    /// CLOCK_MONOTONIC), else this one [default: unknown]
    #[arg(long, value_name = "DAY", num_args = 0..=1, require_equals = true, default_missing_value = "unknown", value_parser = day)]
    date: Option<String>,

    /// Write recordings anew that the folder has, as when symbols have been found since
    #[arg(long)]
    replace: bool,
}

impl TablesArguments {
    /// What was named besides the first.
    #[cfg(feature = "sql")]
    pub(super) fn more(&self) -> &[PathBuf] {
        &self.more
    }

    /// The flags that were given.
    pub(super) fn given(&self) -> impl Iterator<Item = &'static str> + use<> {
        let more = (!self.more.is_empty()).then_some("more than one recording");
        more.into_iter().chain(self.of_writing())
    }

    /// The flags about how tables are written that were given.
    pub(super) fn of_writing(&self) -> impl Iterator<Item = &'static str> + use<> {
        let TablesArguments { more: _, labels, date, replace } = self;
        let all = [("--label", !labels.is_empty()), ("--date", date.is_some()), ("--replace", *replace)];
        all.into_iter().filter_map(|(name, given)| given.then_some(name))
    }
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, as service=web")?;
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !key.starts_with(|first: char| first.is_ascii_lowercase()) || !key.bytes().all(is_word) {
        return Err("a key has small letters, digits and _, and begins with a letter".to_owned());
    }
    if key == "date" || is_column(key) {
        return Err(format!("{key} is a column of the tables: a label needs another name"));
    }
    if value.is_empty() {
        return Err(format!("{key} has no value"));
    }
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(feature = "tables")]
fn is_column(name: &str) -> bool {
    readperf::tables::Table::ALL.iter().any(|table| table.column_index(name).is_some())
}

#[cfg(feature = "tables")]
fn day(text: &str) -> Result<String, String> {
    if text == UNKNOWN_DAY {
        return Ok(text.to_owned());
    }
    let day = text.parse::<jiff::civil::Date>().map_err(|_| "expected a day, as 2026-11-23".to_owned())?;
    Ok(day.to_string())
}

/// What stands for the day of recordings that do not tell theirs.
#[cfg(feature = "tables")]
const UNKNOWN_DAY: &str = "unknown";

#[cfg(not(feature = "tables"))]
fn is_column(_: &str) -> bool {
    false
}

#[cfg(not(feature = "tables"))]
fn day(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

#[cfg(not(feature = "tables"))]
impl super::ExportCommand {
    /// The tables are a part of the program that can be left out.
    pub(super) fn write_tables(&self, format: TableFormat) -> anyhow::Result<crate::outcome::Outcome> {
        anyhow::bail!("this readperf was built without {} (feature `tables`)", format.name)
    }
}
