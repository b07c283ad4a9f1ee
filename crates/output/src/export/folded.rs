//! Folded stacks: a line a stack, `comm;outermost;…;innermost weight`, for flame graph tools.

use crate::export::frames::{CodeKind, Level};
use crate::export::{Export, Format, Needs};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::io::{self, Write};

/// The format.
pub const FORMAT: Format = Format {
    name: "folded",
    extensions: &["folded", "collapsed"],
    help: "a line a stack: comm;outermost;…;innermost weight (FlameGraph, inferno, speedscope)",
    binary: false,
    needs: Needs { threads: false, cpus: false, times: false, lines: true, marks: false },
    write,
};

/// Writes it. Lines are sorted, and no stack is on two of them.
///
/// # Errors
/// What the writer says.
pub fn write(export: &Export<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(event) = export.event() else { return Ok(()) };
    let mut sums: FxHashMap<String, u64> = FxHashMap::default();
    let mut line = String::new();
    let mut levels = Vec::new();
    for row in export.profile.rows_of(event) {
        line.clear();
        push_name(&mut line, &export.comm(row), ' ');
        if let (true, Some((pid, tid))) =
            (export.options.with_pid || export.options.with_tid, export.ids(row))
        {
            line.push_str(&format!("-{pid}"));
            if export.options.with_tid {
                line.push_str(&format!("/{tid}"));
            }
        }
        levels.clear();
        levels.extend(export.levels(row));
        for level in levels.iter().rev() {
            line.push(';');
            push_name(&mut line, &export.label(level), '\n');
            if export.options.annotate {
                line.push_str(mark(export, level));
            }
        }
        let sum = match sums.get_mut(&line) {
            Some(sum) => sum,
            None => sums.entry(line.clone()).or_default(),
        };
        *sum = sum.wrapping_add(export.weight(row));
    }
    let mut lines: Vec<(String, u64)> = sums.into_iter().collect();
    lines.sort_unstable();
    lines.iter().try_for_each(|(line, sum)| writeln!(out, "{line} {sum}"))
}

/// The marks of stackcollapse-perf.
fn mark(export: &Export<'_>, level: &Level) -> &'static str {
    match export.kind(level.address) {
        _ if level.inlined => "_[i]",
        CodeKind::Kernel => "_[k]",
        CodeKind::Jit => "_[j]",
        CodeKind::User | CodeKind::Unknown => "",
    }
}

/// A name in a line: what separates names, or ends the line, is replaced.
fn push_name(line: &mut String, name: &str, space: char) {
    let replaced = |c: char| match c {
        ';' => ':',
        _ if c == space => '_',
        _ if c.is_control() => '?',
        _ => c,
    };
    let plain = |c: char| replaced(c) == c;
    let name: Cow<'_, str> = if name.chars().all(plain) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.chars().map(replaced).collect())
    };
    line.push_str(&name);
}
