//! Flags that a format has no place for: they are told, so that nobody looks for what they do.

use super::{ExportCommand, Weight};
use readperf::output::export::Format;

/// A flag: its name, whether it was given, and the formats that have no place for it. Formats that always show what it asks for
/// are not among them.
type Flag = (&'static str, fn(&ExportCommand) -> bool, &'static [&'static str]);

const FLAGS: [Flag; 6] = [
    ("--weight samples", |command| matches!(command.weight, Weight::Samples), &["jsonl", "csv"]),
    ("--with-pid", |command| command.with_pid, &["dot"]),
    ("--with-tid", |command| command.with_tid, &["dot"]),
    (
        "--with-cpu",
        |command| command.with_cpu,
        &["folded", "flamegraph", "flamegraph-html", "speedscope", "callgrind", "dot"],
    ),
    (
        "--annotate",
        |command| command.annotate,
        &["pprof", "firefox", "speedscope", "perfetto", "chrome", "callgrind", "jsonl"],
    ),
    ("--title", |command| command.title.is_some(), &["folded", "perfetto", "jsonl", "csv"]),
];

/// The flags that were given and mean nothing to a format.
pub(super) fn unheeded(command: &ExportCommand, format: &Format) -> Vec<&'static str> {
    let flags = FLAGS.iter().filter(|(_, given, without)| given(command) && without.contains(&format.name));
    let drawing = (!format.name.starts_with("flamegraph")).then(|| command.flame.given());
    flags.map(|(name, ..)| *name).chain(drawing.into_iter().flatten()).collect()
}
