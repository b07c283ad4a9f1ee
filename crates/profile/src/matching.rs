//! Which names of one recording stand for which of another, where two are compared.
//!
//! Names agree, mostly. Processes have other numbers, though, and are not the same for that: what has a number in its name goes by
//! its kind. And builds of a program may have other names, as versions of a library have: binaries that are only in one of the
//! recordings are taken for one if they have functions in common that most of the samples of each are in. Thread names go with
//! their programs. An event is the same one however precisely it was sampled and in which modes: `cycles:ppp` is `cycles`.

use crate::profile::{EventTotal, Profile};
use perffile::wire::text::decoded;
use readperf_session::{Binary, BinaryKind, Session};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What the kernel keeps of the name of a program for a thread, in bytes.
const COMM_BYTES: usize = 15;

/// What a binary is called where recordings are compared: its short name, but without the number of a process.
pub fn name_by_kind(binary: &Binary) -> Cow<'_, str> {
    match binary.kind {
        BinaryKind::Jit { .. } => Cow::Borrowed("[JIT]"),
        BinaryKind::User if is_made_of_a_dump(&binary.short_name) => Cow::Borrowed("[JIT]"),
        BinaryKind::GuestKernel { .. } => Cow::Borrowed("[guest.kernel.kallsyms]"),
        _ => decoded(&binary.short_name),
    }
}

/// Whether `perf inject --jit` made the file, one for each piece of code: `jitted-PID-NUMBER.so`.
fn is_made_of_a_dump(name: &[u8]) -> bool {
    let numbers =
        || std::str::from_utf8(name).ok()?.strip_prefix("jitted-")?.strip_suffix(".so")?.split_once('-');
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers().is_some_and(|(pid, nr)| is_number(pid) && is_number(nr))
}

/// The names of one side of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Files by name: the samples in each function of them, and in those without a name.
    files: BTreeMap<String, FileSamples>,
    comms: BTreeSet<String>,
    /// Events with samples.
    events: BTreeSet<String>,
}

#[derive(Clone, Debug, Default)]
struct FileSamples {
    all: u64,
    by_function: BTreeMap<String, u64>,
}

impl Side {
    /// The names of a recording.
    pub fn of(profile: &Profile, session: &Session) -> Side {
        let mut side = Side { events: sampled(profile.recorded()), ..Side::default() };
        let mut samples: FxHashMap<_, u64> = FxHashMap::default();
        let mut comms = FxHashMap::default();
        for row in profile.rows() {
            comms.entry(row.comm).or_insert(());
            let binary = profile.addresses().get(row.address).and_then(|code| code.binary);
            *samples.entry((binary, profile.names().function_at(row.address))).or_default() += row.samples;
        }
        side.comms.extend(comms.into_keys().map(|comm| decoded(session.comm(comm)).into_owned()));
        for ((binary, function), samples) in samples {
            let binary = binary.and_then(|binary| session.binary(binary));
            let is_file =
                |binary: &&Binary| binary.kind == BinaryKind::User && !is_made_of_a_dump(&binary.short_name);
            let Some(binary) = binary.filter(is_file) else { continue };
            let file = side.files.entry(name_by_kind(binary).into_owned()).or_default();
            file.all += samples;
            let name = function.and_then(|function| profile.function(function)?.name());
            if let Some(name) = name {
                *file.by_function.entry(name.to_owned()).or_default() += samples;
            }
        }
        side
    }

    /// Takes another recording of the side in.
    pub fn add(&mut self, other: &Side) {
        self.comms.extend(other.comms.iter().cloned());
        self.events.extend(other.events.iter().cloned());
        for (name, theirs) in &other.files {
            let file = self.files.entry(name.clone()).or_default();
            file.all += theirs.all;
            for (function, samples) in &theirs.by_function {
                *file.by_function.entry(function.clone()).or_default() += samples;
            }
        }
    }
}

/// The names of events that have samples.
fn sampled(events: &[EventTotal]) -> BTreeSet<String> {
    events.iter().filter(|event| event.samples > 0).map(|event| event.name.clone()).collect()
}

/// The name of an event without its modifiers, which say in which modes and how precisely it was sampled: those that perf knows.
fn without_modifiers(event: &str) -> &str {
    let is_modifier = |letter: u8| b"ukhGHIpPSDWebRX".contains(&letter);
    match event.rsplit_once(':') {
        Some((name, modifiers)) if !modifiers.is_empty() && modifiers.bytes().all(is_modifier) => name,
        _ => event,
    }
}

/// What was taken for one though its names differ. Prints as a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The name before.
    pub base: String,
    /// The name after.
    pub new: String,
    /// By what they were matched.
    pub by: MatchedBy,
}

/// By what two names were matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchedBy {
    /// Binaries: so many functions that they have in common.
    Functions(u64),
    /// Thread names: the programs of these names were matched.
    Program,
    /// Thread names: the only ones that are on one side alone.
    Rest,
    /// Events: the same but for their modifiers.
    Modifiers,
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pair { base, new, by } = self;
        match by {
            MatchedBy::Functions(1) => {
                write!(f, "binary {base} is compared with {new} (one function of the same name)")
            }
            MatchedBy::Functions(count) => {
                write!(f, "binary {base} is compared with {new} ({count} functions of the same names)")
            }
            MatchedBy::Program => write!(f, "command {base} with {new} (after their binaries)"),
            MatchedBy::Rest => write!(f, "command {base} with {new} (the only ones left)"),
            MatchedBy::Modifiers => write!(f, "event {base} is compared with {new}"),
        }
    }
}

/// What the names before are after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    files: BTreeMap<String, String>,
    comms: BTreeMap<String, String>,
    events: BTreeMap<String, String>,
    /// What was matched, events first, then binaries.
    pub pairs: Vec<Pair>,
}

impl Matching {
    /// Matches what is on one side alone.
    pub fn of(base: &Side, new: &Side) -> Matching {
        let mut matching = Matching::default();
        matching.match_events(&base.events, &new.events);
        matching.match_files(base, new);
        matching.match_comms(base, new);
        matching
    }

    /// Matches events alone.
    pub fn of_events(base: &Profile, new: &Profile) -> Matching {
        let mut matching = Matching::default();
        matching.match_events(&sampled(base.recorded()), &sampled(new.recorded()));
        matching
    }

    /// What an event before is called after.
    pub fn event<'n>(&'n self, name: &'n str) -> &'n str {
        self.events.get(name).map_or(name, String::as_str)
    }

    /// The event before that is called so after, by its index.
    pub fn event_before(&self, base: &Profile, name: &str) -> Option<usize> {
        base.events().iter().position(|event| self.event(&event.name) == name)
    }

    /// What a binary before is called after, by [`name_by_kind`].
    pub fn binary<'n>(&'n self, name: &'n str) -> &'n str {
        self.files.get(name).map_or(name, String::as_str)
    }

    /// What a thread before is called after.
    pub fn comm<'n>(&'n self, name: &'n str) -> &'n str {
        self.comms.get(name).map_or(name, String::as_str)
    }

    /// Says what was matched, as a phrase; `None` if all names agree.
    pub fn told(&self) -> Option<String> {
        /// More are not read.
        const MOST: usize = 5;
        let shown: Vec<String> = self.pairs.iter().take(MOST).map(Pair::to_string).collect();
        let more = self.pairs.len().saturating_sub(MOST);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        (!shown.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
    }

    fn match_events(&mut self, base: &BTreeSet<String>, new: &BTreeSet<String>) {
        for to in new.difference(base) {
            let is_same = |event: &&String| without_modifiers(event) == without_modifiers(to);
            let before: Vec<&String> = base.difference(new).filter(is_same).collect();
            let after = new.difference(base).filter(is_same).count();
            // Of several it is not known which is which.
            if let ([from], 1) = (&before[..], after) {
                self.events.insert((*from).clone(), to.clone());
                let (base, new) = ((*from).clone(), to.clone());
                self.pairs.push(Pair { base, new, by: MatchedBy::Modifiers });
            }
        }
    }

    fn match_files(&mut self, base: &Side, new: &Side) {
        let mut by_function: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
        for (name, file) in base.files.iter().filter(|(name, _)| !new.files.contains_key(*name)) {
            file.by_function.keys().for_each(|function| by_function.entry(function).or_default().push(name));
        }
        let mut likely = Vec::new();
        for (name, file) in new.files.iter().filter(|(name, _)| !base.files.contains_key(*name)) {
            let mut common: BTreeMap<&String, (u64, u64, u64)> = BTreeMap::new();
            for (function, samples) in &file.by_function {
                for other in by_function.get(function.as_str()).into_iter().flatten() {
                    let theirs = base.files.get(*other).and_then(|other| other.by_function.get(function));
                    let (count, before, after) = common.entry(other).or_default();
                    *count += 1;
                    *before += theirs.copied().unwrap_or_default();
                    *after += samples;
                }
            }
            for (other, (count, before, after)) in common {
                let all = base.files.get(other).map_or(0, |other| other.all);
                // Most samples of each have to be in what both have.
                if before.saturating_mul(2) >= all && after.saturating_mul(2) >= file.all {
                    likely.push((count, before.saturating_add(after), other, name));
                }
            }
        }
        // What has most in common goes first; ties by name.
        likely.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then_with(|| (a.2, a.3).cmp(&(b.2, b.3))));
        let mut taken = BTreeSet::new();
        for (count, _, base, new) in likely {
            if !self.files.contains_key(base) && taken.insert(new) {
                self.files.insert(base.clone(), new.clone());
                let by = MatchedBy::Functions(count);
                self.pairs.push(Pair { base: base.clone(), new: new.clone(), by });
            }
        }
    }

    fn match_comms(&mut self, base: &Side, new: &Side) {
        let mut before: BTreeSet<&String> = base.comms.difference(&new.comms).collect();
        let mut after: BTreeSet<&String> = new.comms.difference(&base.comms).collect();
        let mut pairs = Vec::new();
        for (from, to) in &self.files {
            let of = |comms: &BTreeSet<&String>, file: &String| {
                comms.iter().find(|comm| is_comm_of(comm, file)).map(|comm| (*comm).clone())
            };
            if let (Some(from), Some(to)) = (of(&before, from), of(&after, to)) {
                before.remove(&from);
                after.remove(&to);
                pairs.push(Pair { base: from, new: to, by: MatchedBy::Program });
            }
        }
        if let (1, 1, Some(from), Some(to)) = (before.len(), after.len(), before.first(), after.first()) {
            pairs.push(Pair { base: (*from).clone(), new: (*to).clone(), by: MatchedBy::Rest });
        }
        for pair in pairs {
            self.comms.insert(pair.base.clone(), pair.new.clone());
            self.pairs.push(pair);
        }
    }
}

/// Whether a thread has the name that the kernel gives it when it starts this program.
fn is_comm_of(comm: &str, file: &str) -> bool {
    comm.as_bytes() == file.as_bytes().get(..COMM_BYTES).unwrap_or(file.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Functions = [(&'static str, u64)];

    fn side(comms: &[&str], files: &[(&str, u64, &Functions)]) -> Side {
        let mut side = Side::default();
        side.comms.extend(comms.iter().map(|name| (*name).to_owned()));
        for (name, all, functions) in files {
            let by_function =
                functions.iter().map(|(name, samples)| ((*name).to_owned(), *samples)).collect();
            side.files.insert((*name).to_owned(), FileSamples { all: *all, by_function });
        }
        side
    }

    #[test]
    fn files_that_perf_makes_are_generated_code() {
        let names = ["jitted-7-12.so", "jitted-7.so", "jitted--1.so", "jitted-7-x.so", "libjitted-7-12.so"];
        assert_eq!(names.map(|name| is_made_of_a_dump(name.as_bytes())), [true, false, false, false, false]);
    }

    #[test]
    fn builds_with_other_names_are_matched_by_their_functions() {
        let base = side(
            &["work-of-last-wee", "sh"],
            &[
                ("work-of-last-week", 100, &[("main", 1), ("hot", 90)]),
                ("libc.so.6", 5, &[("malloc", 5)]),
                ("other", 9, &[("main", 2)]),
            ],
        );
        let new = side(
            &["work-of-today", "sh"],
            &[
                ("work-of-today", 80, &[("main", 1), ("hot", 60), ("added", 19)]),
                ("libc.so.6", 5, &[("malloc", 5)]),
            ],
        );
        let matching = Matching::of(&base, &new);
        assert_eq!(matching.binary("work-of-last-week"), "work-of-today");
        assert_eq!([matching.binary("libc.so.6"), matching.binary("other")], ["libc.so.6", "other"]);
        // The kernel cuts names of threads at 15 bytes: this one is not cut like that, but it is the only one left.
        assert_eq!(matching.comm("work-of-last-wee"), "work-of-today");
        assert_eq!(
            matching.told().unwrap(),
            "binary work-of-last-week is compared with work-of-today (2 functions of the same names), \
             command work-of-last-wee with work-of-today (the only ones left)"
        );
        assert_eq!(Matching::of(&base, &base).told(), None);
    }

    #[test]
    fn threads_go_with_their_programs() {
        let base = side(&["a-0123456789012", "x", "y"], &[("a-01234567890123456", 9, &[("f", 9)])]);
        let new = side(&["b", "z"], &[("b", 9, &[("f", 9)])]);
        let matching = Matching::of(&base, &new);
        assert_eq!([matching.comm("a-0123456789012"), matching.comm("x")], ["b", "x"]);
    }

    #[test]
    fn events_are_the_same_but_for_their_modifiers() {
        let events = |names: &[&str]| {
            let events = names.iter().map(|name| (*name).to_owned()).collect();
            Side { events, ..Side::default() }
        };
        let told = |base: &[&str], new: &[&str]| Matching::of(&events(base), &events(new)).told();
        let matching = Matching::of(&events(&["cycles:ppp", "faults"]), &events(&["cycles:u", "faults"]));
        assert_eq!(["cycles:ppp", "faults"].map(|name| matching.event(name)), ["cycles:u", "faults"]);
        assert_eq!(
            told(&["cpu-clock:pppH"], &["cpu-clock"]).unwrap(),
            "event cpu-clock:pppH is compared with cpu-clock"
        );
        assert_eq!(told(&["cycles:u", "cycles:k"], &["cycles"]), None, "two may be meant");
        assert_eq!(told(&["cycles"], &["cycles:u", "cycles:k"]), None, "two may be meant");
        assert_eq!(told(&["cycles:u", "cycles"], &["cycles"]), None, "that one is there");
        assert_eq!(told(&["sched:sched_switch"], &["sched:sched_wakeup"]), None, "other events");
        assert_eq!(told(&["probe:up"], &["probe:down"]), None, "no modifiers");
    }

    /// A function or two that everything has make no two programs one.
    #[test]
    fn what_has_little_in_common_is_not_matched() {
        let base = side(&[], &[("a", 100, &[("main", 10), ("one", 90)])]);
        let new = side(&[], &[("b", 100, &[("main", 60), ("two", 40)])]);
        assert_eq!(Matching::of(&base, &new), Matching::default());
    }
}
