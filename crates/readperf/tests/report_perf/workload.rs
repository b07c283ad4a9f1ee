//! Programs to record: templates, inlined functions, recursion, threads, fork and exec.

use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("workload.cpp");

/// Compiles the program into `dir`; a loud message in the name of `test` if that cannot be done here.
pub(crate) fn compiled(test: &str, dir: &Path) -> Option<PathBuf> {
    let (source, program) = (dir.join("workload.cpp"), dir.join("workload"));
    std::fs::write(&source, SOURCE).expect("a source file");
    let compiler = Command::new("g++")
        .args(["-O2", "-g", "-fno-omit-frame-pointer", "-pthread", "-o"])
        .arg(&program)
        .arg(&source)
        .output();
    match compiler {
        Ok(output) if output.status.success() => Some(program),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => {
            super::oracle::skip(test, "no g++ on this machine");
            None
        }
    }
}
