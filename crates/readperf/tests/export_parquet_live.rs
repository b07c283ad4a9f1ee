//! Tables read by others: `tests/accept/tables.py` compares what DuckDB finds in them with `report --json` and `stats --json`, and the answers of
//! DuckDB with those of pandas and pyarrow, over the fixtures and the corpus.

#![cfg(feature = "tables")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing
)]

mod oracle;

use oracle::{corpus_root, skip};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the script imports.
const PACKAGES: [&str; 3] = ["duckdb", "pandas", "pyarrow"];

/// Largest recordings: data frames are held whole.
const LARGEST: u64 = 40 << 20;

/// Python with the packages, which are installed below `target` if they are missing.
fn python() -> Option<Command> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-tables");
    let python = || {
        let mut python = Command::new("python3");
        let paths = std::env::var_os("PYTHONPATH").unwrap_or_default();
        let paths = std::iter::once(folder.clone()).chain(std::env::split_paths(&paths));
        python.env("PYTHONPATH", std::env::join_paths(paths).unwrap());
        python
    };
    let has_packages = || {
        let import = format!("import {}, pyarrow.dataset", PACKAGES.join(", "));
        python().args(["-c", &import]).output().is_ok_and(|output| output.status.success())
    };
    if !has_packages() {
        let install = ["-m", "pip", "install", "--quiet", "--target"];
        // What came of it is seen when they are imported.
        let _ = Command::new("python3").args(install).arg(&folder).args(PACKAGES).output();
    }
    has_packages().then(python)
}

fn recordings(root: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            recordings(&path, found);
            continue;
        }
        let mut magic = [0; 8];
        let is_read = File::open(&path).and_then(|mut file| file.read_exact(&mut magic)).is_ok();
        let is_recording = is_read && [b"PERFILE2", b"2ELIFREP", b"PERFFILE", b"ELIFFREP"].contains(&&magic);
        if is_recording && path.metadata().is_ok_and(|file| file.len() <= LARGEST) {
            found.push(path);
        }
    }
}

#[test]
#[ignore = "live: needs python3 and pip"]
fn others_read_the_tables_and_find_the_sums_of_the_report() {
    let test = "others_read_the_tables_and_find_the_sums_of_the_report";
    let Some(mut python) = python() else {
        return skip(
            test,
            "python3 has not the packages duckdb, pandas and pyarrow, and they cannot be installed",
        );
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    recordings(&root.join("tests/fixtures"), &mut all);
    assert!(all.len() > 10);
    recordings(&corpus_root(), &mut all);
    all.sort();
    let script = root.join("tests/accept/tables.py");
    let output = python.arg(script).arg(env!("CARGO_BIN_EXE_readperf")).args(&all).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    eprintln!("{told}");
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
}
