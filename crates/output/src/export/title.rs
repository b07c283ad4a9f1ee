//! What to call a recording.

use crate::export::Export;
use crate::text::{decoded, grouped};
use readperf_session::CommId;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cmp::Reverse;

/// A program with at least this share is named alone in a title, in percent.
const NAMED: f64 = 90.0;
/// A thread's name is cut by the kernel after so many bytes.
const COMM_BYTES: usize = 15;

impl Export<'_> {
    /// What to call the recording in one line: the title that was given; else the program, the host, and the command.
    pub fn title(&self) -> String {
        if let Some(title) = &self.options.title {
            return title.clone();
        }
        let host = self.metadata.features.hostname();
        let subject = match (self.event().and_then(|event| self.program(event)), host) {
            (Some(program), Some(host)) => Some(format!("{program} on {host}")),
            (program, host) => program.or(host.map(Cow::into_owned)),
        };
        let parts: Vec<String> = subject.into_iter().chain(self.command_line()).collect();
        if parts.is_empty() { "perf.data".to_owned() } else { parts.join(": ") }
    }

    /// What ran: the program that the recorder was told to run, if it was only that; else what took the most.
    pub(super) fn program(&self, event: usize) -> Option<String> {
        let mut weights: FxHashMap<CommId, u64> = FxHashMap::default();
        let mut whole = 0u64;
        for row in self.profile.rows_of(event) {
            let sum = weights.entry(row.comm).or_default();
            *sum = sum.wrapping_add(self.weight(&row));
            whole = whole.wrapping_add(self.weight(&row));
        }
        let mut comms: Vec<(&[u8], u64)> =
            weights.into_iter().map(|(comm, weight)| (self.session.comm(comm), weight)).collect();
        comms.sort_unstable_by_key(|(name, weight)| (Reverse(*weight), *name));
        let text = |name: &[u8]| decoded(name).into_owned();
        let words = self.metadata.features.cmdline();
        let is_name = |word: &[u8]| self.session.comms().any(|name| name == word);
        let started = words.as_deref().and_then(|words| started(words, is_name));
        if let Some(name) = started {
            return Some(text(name));
        }
        let (widest, weight) = comms.first()?;
        let others = comms.len() - 1;
        let others = match others {
            _ if crate::overview::share(*weight, whole) >= NAMED => String::new(),
            0 => String::new(),
            1 => " and another".to_owned(),
            _ => format!(" and {} others", grouped(others as u64)),
        };
        Some(text(widest) + &others)
    }
}

/// The program that the recorder was told to run: the first word of its command that is the name of a thread, unless everything on
/// the machine was recorded (`-a`) and the program only ended the recording.
fn started<'w>(words: &'w [Cow<'_, str>], is_name: impl Fn(&[u8]) -> bool) -> Option<&'w [u8]> {
    for word in words.iter().skip(2) {
        let everything =
            word == "--all-cpus" || (word.starts_with('-') && !word.starts_with("--") && word.contains('a'));
        if everything {
            return None;
        }
        let name = word.rsplit('/').next().unwrap_or(word).as_bytes();
        let name = name.get(..COMM_BYTES).unwrap_or(name);
        if is_name(name) {
            return Some(name);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_that_was_started_is_told_from_the_recorder() {
        let started = |line: &str| {
            let words: Vec<Cow<'_, str>> = line.split(' ').map(Cow::Borrowed).collect();
            let is_name = |word: &[u8]| [&b"work"[..], b"sleep", b"a-name-of-fifte"].contains(&word);
            started(&words, is_name).map(|name| decoded(name).into_owned())
        };
        let work = Some("work".to_owned());
        assert_eq!(started("/usr/bin/perf perf record -F 99 -e cycles ./work all -a"), work);
        assert_eq!(started("/usr/bin/perf perf record --call-graph dwarf -- /opt/bin/work"), work);
        assert_eq!(
            started("/usr/bin/perf record a-name-of-fifteen-letters"),
            Some("a-name-of-fifte".to_owned())
        );
        assert_eq!(started("/usr/bin/perf perf record -ag sleep 5"), None);
        assert_eq!(started("/usr/bin/perf perf record --all-cpus sleep 5"), None);
        assert_eq!(started("/usr/bin/perf perf record -p 17 -g"), None);
    }
}
