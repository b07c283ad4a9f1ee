//! The machine's own perf.

use std::path::Path;
use std::process::{Command, Stdio};

/// Whether there is a perf whose spelling is the one promised here. Later ones spell some names differently: since
/// 6.12 an event of the host only has `:H`, one that counts everywhere no letters.
pub(crate) fn speaks_our_spelling() -> bool {
    let version = Command::new("perf").arg("--version").output();
    version.is_ok_and(|out| String::from_utf8_lossy(&out.stdout).starts_with("perf version 6.1."))
}

/// The names that `perf evlist` prints; none if it does not read the file.
pub(crate) fn evlist(file: &Path) -> Vec<String> {
    let out = Command::new("perf").args(["evlist", "-f", "-i"]).arg(file).output().expect("perf runs");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(str::to_owned).collect()
}

/// Names of a recording in memory.
pub(crate) fn names(recording: &[u8]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("perf.data");
    std::fs::write(&file, recording).expect("a file");
    evlist(&file)
}

/// `perf record` with these arguments over a short program; `None` if perf cannot record that here.
pub(crate) fn record(arguments: &[&str]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("perf.data");
    let mut command = Command::new("perf");
    command.arg("record").args(arguments).arg("-o").arg(&file).args(["--", "true"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    std::fs::read(&file).ok().filter(|bytes| !bytes.is_empty())
}
