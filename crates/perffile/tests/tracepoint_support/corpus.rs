//! Recordings beside the repository, and the comparison with what `perf script` said of them.

#[path = "../../../../tests/corpus_root.rs"]
mod corpus_root;

use corpus_root::corpus_root;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use perffile::tracepoint::{Catalog, NoSymbols, SymbolNames, TracingData};

use super::kernel::KernelSymbols;
use super::recording::Recording;

/// All its files, by name.
pub(crate) fn corpus_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![corpus_root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

/// A file of the corpus.
pub(crate) fn corpus_file(folder: &str, name: &str) -> Option<PathBuf> {
    let path = corpus_root().join(folder).join(name);
    path.is_file().then_some(path)
}

/// A text file, or its gzipped form.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    if let Ok(bytes) = std::fs::read(path) {
        return Some(String::from_utf8_lossy(&bytes).into_owned());
    }
    let packed = PathBuf::from(format!("{}.gz", path.display()));
    let output = Command::new("gzip").arg("-dc").arg(packed).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// How two texts compare, line by line.
#[derive(Default)]
pub(crate) struct Comparison {
    pub(crate) expected: usize,
    pub(crate) compared: usize,
    pub(crate) same: usize,
    pub(crate) differences: Vec<(String, String)>,
}

impl Comparison {
    pub(crate) fn is_equal(&self) -> bool {
        self.same == self.compared
    }

    /// Takes out differences in events where `perf` is known to be wrong; the number of them is the answer.
    pub(crate) fn forgive(&mut self, events: &[&str]) -> usize {
        let before = self.differences.len();
        self.differences
            .retain(|(perf, _)| !events.iter().any(|event| perf.starts_with(&format!("{event}:"))));
        let forgiven = before - self.differences.len();
        self.compared -= forgiven;
        forgiven
    }

    pub(crate) fn add(&mut self, other: Comparison) {
        self.expected += other.expected;
        self.compared += other.compared;
        self.same += other.same;
        self.differences.extend(other.differences);
    }

    pub(crate) fn first_differences(&self, count: usize) -> String {
        let lines: Vec<String> = self
            .differences
            .iter()
            .take(count)
            .map(|(perf, ours)| format!("  perf: {perf}\n  ours: {ours}"))
            .collect();
        lines.join("\n")
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {} lines the same ({} expected)", self.same, self.compared, self.expected)
    }
}

/// Compares `system:event: text` of each sample, in the order of time, with the lines of `perf script`; what stands
/// before the time is passed over.
pub(crate) fn compare_with_text(
    recording: &Recording,
    text: &str,
    names: Option<&KernelSymbols>,
) -> Comparison {
    let blob = recording.tracing_data.as_ref().expect("tracing data");
    let data = TracingData::parse(blob).expect("whole tracing data");
    let catalog = Catalog::new(&data);
    assert!(catalog.faults().is_empty(), "{:?}", catalog.faults());
    let mut ours = Vec::new();
    for sample in &recording.samples {
        let Some(tracepoint) = catalog.tracepoint(sample.config) else { continue };
        let mut out = format!("{}:{}: ", tracepoint.system, tracepoint.format.name).into_bytes();
        let names: &dyn SymbolNames = names.map_or(&NoSymbols, |names| names);
        catalog.write_text(sample.config, &sample.payload, names, &mut out);
        ours.push((sample.time_ns, String::from_utf8_lossy(&out).into_owned()));
    }
    let theirs = events_of(text);
    let mut result = Comparison { expected: theirs.len(), ..Comparison::default() };
    for ((time, line), expected) in ours.iter().zip(&theirs) {
        result.compared += 1;
        if line.trim_end() == expected.trim_end() {
            result.same += 1;
        } else {
            result.differences.push((expected.clone(), format!("{line} (at {time})")));
        }
    }
    result
}

/// The tracepoint lines from the event's name on; lines that go on from the one before are joined to it. In the order
/// of time: `perf` itself is now and then out of it, when a sample comes later than the round it belongs to.
fn events_of(text: &str) -> Vec<String> {
    let mut events: Vec<(&str, String)> = Vec::new();
    let mut other = false;
    for line in text.lines() {
        match after_time(line) {
            Some((time, rest))
                if rest.split(' ').next().is_some_and(|name| name.matches(':').count() == 2) =>
            {
                events.push((time, rest.to_owned()));
                other = false;
            }
            Some(_) => other = true,
            None if !other => {
                if let Some((_, last)) = events.last_mut() {
                    last.push('\n');
                    last.push_str(line);
                }
            }
            None => {}
        }
    }
    events.sort_by_key(|(time, _)| time.replace('.', "").parse::<u64>().unwrap());
    events.into_iter().map(|(_, event)| event).collect()
}

/// The first `SECONDS.FRACTION:` and what follows it.
fn after_time(line: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    while let Some(found) = line.get(from..)?.find(": ") {
        let at = from + found;
        let time = line.get(..at)?.rsplit(' ').next()?;
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if let Some((seconds, fraction)) = time.split_once('.')
            && digits(seconds)
            && digits(fraction)
            && matches!(fraction.len(), 6 | 9)
        {
            return Some((time, line.get(at + 2..)?.trim_start()));
        }
        from = at + 2;
    }
    None
}
