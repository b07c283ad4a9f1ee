//! Recordings as a folder of Parquet files: `cargo run --release -p readperf-tables --example write -- DIR FILE...`

use readperf_tables::store::{FileFormat, Partition, Store};
use readperf_tables::{Options, Tables};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().ok_or("which folder?")?;
    let store = Store::open(Path::new(&folder), FileFormat::Parquet)?;
    for file in arguments {
        let tables = Tables::open(Path::new(&file), &Options::default())?;
        store.add(&tables, &Partition::default())?;
    }
    Ok(())
}
