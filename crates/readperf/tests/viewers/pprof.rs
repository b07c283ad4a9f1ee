//! pprof: read by the field numbers of `profile.proto`, and by `go tool pprof`.

use crate::handmade::{Attr, CODE, KERNEL_CODE, PID, Pipe, Sample};
use crate::oracle::{self, fixture, skip, tool};
use crate::protobuf::Message;
use crate::run::{self, Stacks, assert_stacks, events, recordings, spelled};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A profile with its string table and its tables by id.
pub(crate) struct Profile {
    pub(crate) message: Message,
    strings: Vec<String>,
    mappings: BTreeMap<u64, Message>,
    locations: BTreeMap<u64, Message>,
    functions: BTreeMap<u64, Message>,
}

fn by_id(messages: Vec<Message>) -> BTreeMap<u64, Message> {
    let count = messages.len();
    let by_id: BTreeMap<u64, Message> =
        messages.into_iter().map(|message| (message.number(1), message)).collect();
    assert_eq!(by_id.len(), count, "ids are unique");
    assert!(!by_id.contains_key(&0), "no id is 0");
    by_id
}

impl Profile {
    pub(crate) fn of(file: &Path, more: &[&str]) -> Profile {
        let message = Message::new(&run::unzipped(&run::export("pprof", file, more)));
        let strings = message.texts(6);
        assert_eq!(strings.first().map(String::as_str), Some(""), "the first text is empty");
        Profile {
            mappings: by_id(message.messages(3)),
            locations: by_id(message.messages(4)),
            functions: by_id(message.messages(5)),
            strings,
            message,
        }
    }

    fn string(&self, index: u64) -> &str {
        &self.strings[usize::try_from(index).unwrap()]
    }

    /// Types of values: what, and in which unit.
    pub(crate) fn types(&self) -> Vec<(String, String)> {
        let types = self.message.messages(1).into_iter();
        types.map(|t| (self.string(t.number(1)).to_owned(), self.string(t.number(2)).to_owned())).collect()
    }

    /// The functions at a location, the innermost first.
    fn names(&self, location: u64) -> Vec<String> {
        let location = &self.locations[&location];
        let mapping = location.number(2);
        if mapping > 0 {
            let mapping = &self.mappings[&mapping];
            let (start, limit) = (mapping.number(2), mapping.number(3));
            let address = location.number(3);
            assert!((start..limit).contains(&address), "{address:#x} lies in {start:#x}..{limit:#x}");
        }
        let lines = location.messages(4);
        assert!(!lines.is_empty(), "pprof's flame graph leaves a location without lines out");
        let name = |line: &Message| spelled(self.string(self.functions[&line.number(1)].number(2)));
        lines.iter().map(name).collect()
    }

    /// Weights by stack, of one of the values.
    pub(crate) fn stacks(&self, value: usize) -> Stacks {
        let mut stacks = Stacks::new();
        for sample in self.message.messages(2) {
            let values = sample.numbers(2);
            assert_eq!(values.len(), self.types().len(), "a value for each type");
            let mut names: Vec<String> = sample.numbers(1).iter().flat_map(|id| self.names(*id)).collect();
            names.reverse();
            if values[value] > 0 {
                *stacks.entry(names.join(";")).or_default() += values[value];
            }
        }
        stacks
    }

    /// The labels of samples that are texts, as key and text.
    pub(crate) fn labels(&self) -> Vec<(String, String)> {
        let labels = self.message.messages(2).into_iter().flat_map(|sample| sample.messages(3));
        let texts = labels.filter(|label| label.number(2) > 0);
        texts.map(|l| (self.string(l.number(1)).to_owned(), self.string(l.number(2)).to_owned())).collect()
    }

    /// The labels of samples that are numbers, as key and number.
    pub(crate) fn numbers(&self) -> Vec<(String, i64)> {
        let labels = self.message.messages(2).into_iter().flat_map(|sample| sample.messages(3));
        let numbers = labels.filter(|label| label.number(2) == 0).map(|label| {
            // pprof passes over a number of 0 that has no unit.
            assert!(label.number(4) > 0, "a number has a unit");
            (self.string(label.number(1)).to_owned(), label.number(3).cast_signed())
        });
        numbers.collect()
    }

    /// The paths of the binaries, in the order of the file.
    pub(crate) fn binaries(&self) -> Vec<String> {
        self.message.messages(3).iter().map(|mapping| self.string(mapping.number(5)).to_owned()).collect()
    }

    pub(crate) fn comments(&self) -> Vec<&str> {
        self.message.numbers(13).into_iter().map(|index| self.string(index)).collect()
    }
}

#[test]
fn weights_are_those_of_folded_stacks_and_totals_those_of_stats() {
    for file in recordings() {
        let profile = Profile::of(&file, &[]);
        let types = profile.types();
        let events = events(&file);
        assert_eq!(types.len(), 2 * events.len(), "{}: two values an event", file.display());
        for (nr, (event, ..)) in events.iter().enumerate() {
            assert_eq!(types[2 * nr].1, "count");
            assert_eq!(&types[2 * nr + 1].0, event);
            assert_stacks("pprof", &file, event, &profile.stacks(2 * nr), "samples");
            assert_stacks("pprof", &file, event, &profile.stacks(2 * nr + 1), "period");
        }
    }
}

#[test]
fn one_event_of_many() {
    let file = fixture("multi");
    let event = &events(&file)[1].0;
    assert!(event.starts_with("page-faults"));
    let profile = Profile::of(&file, &["--event", event]);
    let names: Vec<String> = profile.types().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["samples", event]);
    assert_stacks("pprof", &file, event, &profile.stacks(1), "period");
}

/// The names that the system knows are those of the symbol table, as `nm` lists it; names to show are others.
#[test]
#[ignore = "live: needs nm"]
fn mangled_names_are_those_of_nm() {
    let bin = oracle::kind("bin");
    let Ok(nm) = Command::new("nm").arg(bin.join("rusty")).output() else {
        return skip("mangled_names_are_those_of_nm", "no nm on this machine");
    };
    let nm = String::from_utf8_lossy(&nm.stdout).into_owned();
    let listed: Vec<&str> = nm.lines().filter_map(|line| line.split(' ').next_back()).collect();
    let profile = Profile::of(&fixture("rust"), &["--symbols", bin.to_str().unwrap(), "--no-inline"]);
    let (mut mangled, mut plain) = (0, 0);
    for function in profile.functions.values() {
        let (name, system) = (profile.string(function.number(2)), profile.string(function.number(3)));
        assert!(!system.is_empty(), "{name}");
        if system == name {
            plain += 1;
            continue;
        }
        assert!(listed.contains(&system), "{system} is in {listed:?}");
        assert!(!name.starts_with("_R"), "{name}");
        mangled += 1;
    }
    assert!(mangled >= 3, "{mangled} mangled, {plain} plain");
}

/// perf says which processes there are and what their build-ids are.
#[test]
fn labels_binaries_and_comments() {
    let profile = Profile::of(&fixture("multi"), &["--with-cpu"]);
    let script = oracle::said("multi", "perf.script.txt").unwrap();
    // Texts are boxes under every function that they are of: only names are.
    assert!(profile.labels().iter().all(|(key, _)| key == "comm"));
    let numbers = profile.numbers();
    for key in ["pid", "tid", "cpu"] {
        assert!(numbers.iter().any(|(name, _)| name == key), "{key}");
    }
    assert!(numbers.contains(&("cpu".to_owned(), 0)), "0 is a number, too");
    let mut pids = numbers.iter().filter(|(name, _)| name == "pid").map(|(_, pid)| pid.to_string());
    assert!(pids.all(|pid| script.contains(&pid)), "{numbers:?}");
    let build_ids = oracle::said("multi", "perf.buildids.txt").unwrap();
    let mut with_build_id = 0;
    for mapping in profile.mappings.values() {
        let (path, build_id) = (profile.string(mapping.number(5)), profile.string(mapping.number(6)));
        if !build_id.is_empty() && !path.starts_with('[') {
            assert!(build_ids.contains(&format!("{build_id} {path}")), "{build_id} {path}\n{build_ids}");
            with_build_id += 1;
        }
    }
    assert!(with_build_id > 1);
    assert!(profile.comments().contains(&"host: fixture"), "{:?}", profile.comments());
    let command = profile.comments().into_iter().find(|comment| comment.starts_with("command: ")).unwrap();
    assert!(command.ends_with("./work all 240"), "{command}");
    // The duration is the time between the first and the last sample.
    let stats = tool::json("stats", &fixture("multi"));
    let times = tool::number(&stats["last_time_ns"]) - tool::number(&stats["first_time_ns"]);
    assert_eq!(profile.message.number(10), times);
}

/// pprof takes the first binary for what the profile is of: the program that most samples are of, also where that is seldom
/// the innermost code, and neither a library nor code that only is in memory.
#[test]
fn the_program_comes_first() {
    let dir = oracle::scratch();
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.kernel_map(KERNEL_CODE);
    let paths = ["/memfd:doublemapper (deleted)", "/usr/bin/bash", "/lib/libc.so.6", "/home/work"];
    let places: Vec<u64> = (0..4).map(|nr| CODE + nr * 0x10_0000).collect();
    for (path, place) in paths.iter().zip(&places) {
        pipe.map(PID, *place, path, Some(7), 0);
    }
    let mut sample = |count: u64, outermost_last: &[usize]| {
        let mut chain = vec![(-512i64).cast_unsigned()];
        chain.extend(outermost_last.iter().map(|nr| places[*nr] + 0x10));
        pipe.samples(count, &Sample { ip: chain[1], chain, ..Sample::default() });
    };
    sample(9, &[0]);
    sample(2, &[1]);
    sample(3, &[2, 3]);
    let file = dir.path().join("perf.data");
    std::fs::write(&file, &pipe.bytes).unwrap();
    let binaries = Profile::of(&file, &[]).binaries();
    assert_eq!(binaries, ["/home/work", paths[0], paths[1], paths[2]]);
    // Of nothing but code in memory, that.
    let binaries = Profile::of(&file, &["--dso", "memfd:doublemapper (deleted)"]).binaries();
    assert_eq!(binaries, [paths[0]]);
}

/// Lines of `go tool pprof`, or none if it is not there.
fn go_pprof(test: &str, file: &Path, arguments: &[&str]) -> Option<String> {
    if !run::installed("go", &["version"]) {
        skip(test, "no go here, and so no `go tool pprof`");
        return None;
    }
    let dir = oracle::scratch();
    let profile = dir.path().join("profile.pb.gz");
    std::fs::write(&profile, run::export("pprof", file, &[])).unwrap();
    let output = Command::new("go")
        .args(["tool", "pprof", "-symbolize=none"])
        .args(arguments)
        .arg(&profile)
        .env("HOME", dir.path())
        .env("PPROF_TMPDIR", dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", tool::stderr(&output));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// pprof's own table of functions has the periods of the folded stacks, by the innermost function.
#[test]
#[ignore = "live: needs go"]
fn pprof_itself_counts_the_same() {
    for name in ["main", "multi"] {
        let file = fixture(name);
        let event = events(&file)[0].0.clone();
        let index = format!("-sample_index={event}");
        let arguments = [&*index, "-top", "-unit=ns", "-nodefraction=0", "-nodecount=100000"];
        let Some(top) = go_pprof("pprof_itself_counts_the_same", &file, &arguments) else { return };
        let mut expected = Stacks::new();
        for (stack, period) in run::folded(&file, &event, &[]) {
            let leaf = stack.rsplit(';').next().unwrap();
            *expected.entry(leaf.to_owned()).or_default() += period;
        }
        let mut found = Stacks::new();
        for line in top.lines().skip_while(|line| !line.contains("flat%")).skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let flat: f64 = words[0].trim_end_matches("ns").parse().unwrap();
            let name = words[5..].join(" ").trim_end_matches(" (inline)").replace(" (partial-inline)", "");
            if flat > 0.0 {
                *found.entry(name).or_default() += flat as u64;
            }
        }
        assert_eq!(found, expected, "{name}\n{top}");
    }
}

#[test]
#[ignore = "live: needs go"]
fn pprof_itself_lists_sources_and_traces() {
    let file = fixture("main");
    let Some(traces) = go_pprof("pprof_itself_lists_sources_and_traces", &file, &["-traces"]) else { return };
    assert!(traces.contains("comm:  work"), "{traces}");
    let raw = go_pprof("", &file, &["-raw"]).unwrap();
    assert!(raw.contains("work.c"), "source files are told: {raw}");
    assert!(raw.contains("[FN][FL][LN]"), "{raw}");
}

/// Names with what graphviz takes for the end of a text: pprof hands labels on as they are.
#[test]
#[ignore = "live: needs go, dot"]
fn pprof_itself_draws_names_with_quotation_marks() {
    if !run::installed("dot", &["-V"]) {
        return skip("pprof_itself_draws_names_with_quotation_marks", "no dot here");
    }
    let dir = oracle::scratch();
    for name in ["say \"hi\"", "end\\", "both\"\\"] {
        let mut pipe = Pipe::new(&[Attr::default()]);
        pipe.comm(PID, PID, name);
        pipe.map(PID, CODE, "/bin/work\"er", Some(7), 0);
        pipe.samples(3, &Sample::default());
        let file = dir.path().join("perf.data");
        std::fs::write(&file, &pipe.bytes).unwrap();
        let test = "pprof_itself_draws_names_with_quotation_marks";
        let Some(svg) = go_pprof(test, &file, &["-svg", "-nodefraction=0"]) else { return };
        let shown = name.replace('"', "&quot;");
        assert!(svg.contains(&format!("comm:{shown}")), "{name}: {svg}");
    }
}
