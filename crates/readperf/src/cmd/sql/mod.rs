//! `readperf sql`: recordings as tables.

#[cfg(feature = "sql")]
mod asked;
#[cfg(feature = "sql")]
pub(super) mod recordings;

use super::Cmd;
use crate::input::Reading;
use crate::out::Output;
use crate::outcome::Outcome;
use crate::symbol_options::SymbolOptions;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How an answer is written.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Format {
    /// Columns for people
    #[default]
    Table,
    /// CSV with a line of names
    Csv,
    /// An array of objects
    Json,
    /// A Parquet file
    Parquet,
}

/// Options that say how recordings are read, and so belong to executors where there is a cluster.
const OF_EXECUTORS: &[&str] = &[
    "memory",
    "max_expansion",
    "symbols",
    "symfs",
    "kallsyms",
    "vmlinux",
    "guestkallsyms",
    "guestvmlinux",
    "guestmount",
    "demangle",
    "no_demangle",
    "no_cache",
    #[cfg(feature = "debuginfod")]
    "debuginfod",
    #[cfg(feature = "debuginfod")]
    "no_debuginfod",
    "threads",
];

/// Asks recordings in SQL.
#[derive(Args, Debug)]
pub(crate) struct SqlCommand {
    /// Queries, separated by semicolons; without them, and without --file, there is a prompt
    #[arg(value_name = "QUERY")]
    query: Option<String>,

    /// Recordings, and folders with tables that were exported from recordings; all of them together are asked: paths, - for a recording on
    /// standard input, and s3://BUCKET/KEY for what lies in an object store [default: perf.data]
    #[arg(value_name = "FILE|DIR")]
    places: Vec<PathBuf>,

    /// Take the queries from this file; - is standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// How answers are written [default: as the name of the output says (.csv, .json, .parquet), else table]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Memory that sorting, grouping and joining may take before they go to disk, as 500M or 4G [default: as much as it takes]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory: Option<usize>,

    /// Ask a cluster, by its scheduler: df://HOST:PORT. Its executors open the recordings, with their own options for symbols and memory
    #[arg(long, value_name = "URL", conflicts_with_all = OF_EXECUTORS.iter().copied())]
    cluster: Option<String>,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    symbols: SymbolOptions,

    #[command(flatten)]
    output: Output,
}

impl Cmd for SqlCommand {
    const NAME: &'static str = "sql";
    const ABOUT: &'static str = "Ask recordings in SQL, one or thousands at once";
    const EXAMPLES: &'static str = "\
SHOW TABLES lists the tables and views, DESCRIBE TABLE says what its columns mean. Only what a query needs is read of a recording. Without ORDER BY rows
are sorted by their columns; what only picks rows keeps the order of the recording.

Examples:
  readperf sql \"SELECT function, self_period FROM functions ORDER BY 2 DESC LIMIT 10\" perf.data
  readperf sql \"SELECT p.host, sum(s.period) FROM samples s JOIN profiles p USING (profile_id) GROUP BY 1\" *.data
  readperf sql --format csv \"SELECT folded(stack_id), count(*) FROM samples GROUP BY 1\" perf.data
  readperf sql --file fleet.sql -o answer.parquet tables/
  readperf sql --file fleet.sql s3://fleet/tables s3://fleet/today/
  perf record -o - -g -- ./program | readperf sql \"SELECT * FROM functions LIMIT 10\" -
  readperf sql --cluster df://10.0.0.1:50050 --file fleet.sql /shared/*.data
  readperf sql perf.data                       a prompt";

    #[cfg(feature = "sql")]
    fn run(&self) -> anyhow::Result<Outcome> {
        if cfg!(not(feature = "cluster")) && self.cluster.is_some() {
            anyhow::bail!(
                "this program was built without clusters: cargo install --path crates/readperf --features cluster builds it"
            );
        }
        self.answer()
    }

    #[cfg(not(feature = "sql"))]
    fn run(&self) -> anyhow::Result<Outcome> {
        anyhow::bail!(
            "this program was built without SQL: cargo install --path crates/readperf --features sql builds it (about twenty minutes more on two cores)"
        )
    }
}

/// A size: bytes, or with K, M, G, T.
pub(super) fn bytes(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(digits.len()..).unwrap_or_default().to_ascii_uppercase();
    let power = match unit.trim_end_matches("IB").trim_end_matches('B') {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return Err("a number with K, M, G or T is wanted, as 500M".into()),
    };
    let number: usize =
        digits.parse().map_err(|_| "a number with K, M, G or T is wanted, as 500M".to_owned())?;
    number
        .checked_mul(1 << (10 * power))
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "not a size of memory".into())
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_read() {
        assert_eq!(bytes("500M"), Ok(500 << 20));
        assert_eq!(bytes("4GiB"), Ok(4 << 30));
        assert_eq!(bytes("100"), Ok(100));
        for wrong in ["", "M", "4X", "-1", "0", "99999999999999999999", "99999999999T"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
