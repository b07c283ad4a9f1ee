//! What the tests of `script` share: programs to record, and the comparison of two texts by lines.

// Each test binary uses a part of this module.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)]

mod owners;

pub(crate) use owners::without_other_names;

use crate::oracle::tool;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// What `readperf script` prints; damage of the input is no reason to fail here.
pub(crate) fn script(data: &Path, options: &[&str]) -> String {
    let output = tool::command().args(["script", "--no-progress"]).args(options).arg(data).output().unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "script {options:?} {}: {}",
        data.display(),
        tool::stderr(&output)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// How a program is built: name and options of the compiler.
pub(crate) const BUILDS: [(&str, &[&str]); 5] = [
    ("pie", &["-pie", "-fPIE", "-DSHARED", "-ldl"]),
    ("nopie", &["-no-pie", "-fno-pie", "-DSHARED", "-ldl"]),
    ("static", &["-static"]),
    ("static-pie", &["-static-pie", "-fPIE"]),
    ("stripped", &["-pie", "-fPIE", "-DSHARED", "-ldl", "-s"]),
];

/// Builds the program as `dir/NAME`; says why not if there is no compiler for it.
pub(crate) fn build(dir: &Path, name: &str, options: &[&str]) -> Result<(), String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/script_support");
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(dir).output();
        match output {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => Err(format!("{program}: {error}")),
        }
    };
    let source = sources.join("shapes.cpp");
    let plugin = sources.join("plugin.c");
    let common = ["-g", "-O2", "-fno-omit-frame-pointer", "-pthread", "-o", name, source.to_str().unwrap()];
    run("c++", &[&common, options].concat())?;
    run("cc", &["-g", "-O2", "-shared", "-fPIC", "-o", "libplugin.so", plugin.to_str().unwrap()])
}

/// A text in which entries of procedure linkage tables have no names: perf has none for some of them. The head of a table, `.plt`, has none there at all
/// (`oracle::names::is_unnamed_linkage` has the rule).
pub(crate) fn without_plt_names(text: &str) -> String {
    let bare = |word: &str| match word.find("@plt") {
        Some(at) => word[at..].to_owned(),
        None if word == ".plt" || word.starts_with(".plt+0x") => "[unknown]".to_owned(),
        None => word.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(bare).collect::<Vec<_>>().join(" ");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn entries_of_linkage_tables_have_no_names() {
    let ours = "\t 55cfd899f026 .plt+0x6 (/a)\n free@plt+0x4 (/a.plt)\n1 .plt";
    assert_eq!(without_plt_names(ours), "\t 55cfd899f026 [unknown] (/a)\n @plt+0x4 (/a.plt)\n1 [unknown]");
}

/// How many lines of two texts agree.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Agreement {
    /// The lines of the longer text.
    pub(crate) lines: usize,
    /// Those of perf's.
    pub(crate) theirs: usize,
    /// Those of ours.
    pub(crate) ours: usize,
    pub(crate) same: usize,
}

impl Agreement {
    pub(crate) fn add(&mut self, other: Agreement) {
        self.lines += other.lines;
        self.theirs += other.theirs;
        self.ours += other.ours;
        self.same += other.same;
    }

    pub(crate) fn share(self) -> f64 {
        self.same as f64 / (self.lines.max(1)) as f64
    }
}

/// A sample with its call chain, or another record: the lines up to the next one.
fn blocks(text: &str) -> Vec<Vec<&str>> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    for line in text.lines() {
        match blocks.last_mut() {
            Some(block)
                if line.is_empty()
                    || line.starts_with(['\t'])
                    || line.starts_with("  ") && !line.contains(": ") =>
            {
                block.push(line);
            }
            _ => blocks.push(vec![line]),
        }
    }
    blocks
}

/// Samples of both in pairs, in order. perf leaves out what has no place in a chain that ends in no address
/// (tests/accept/script-differences.md): such a one is paired with nothing.
fn paired<'t>(perf: Vec<Vec<&'t str>>, mine: Vec<Vec<&'t str>>) -> Vec<(Vec<&'t str>, Vec<&'t str>)> {
    let mut perf = perf.into_iter().peekable();
    let more = mine.len().saturating_sub(perf.len());
    let mut left_out = 0;
    let pair = |ours: Vec<&'t str>| {
        let is_left_out = left_out < more && perf.peek().is_none_or(|theirs| theirs[0] != ours[0]);
        left_out += usize::from(is_left_out);
        (if is_left_out { Vec::new() } else { perf.next().unwrap_or_default() }, ours)
    };
    mine.into_iter().map(pair).collect()
}

/// Compares sample by sample, and in each sample lines as often as both have them. perf may leave out one in a hundred.
pub(crate) fn compare(what: &str, perf: &str, mine: &str) -> Agreement {
    let (perf, mine) = (blocks(perf), blocks(mine));
    assert!(!perf.is_empty(), "{what}: perf shows nothing");
    let most = perf.len() + perf.len() / 100;
    assert!((perf.len()..=most).contains(&mine.len()), "{what}: {} samples, not {}", mine.len(), perf.len());
    let mut agreement = Agreement::default();
    let mut told = 0;
    for (theirs, ours) in &paired(perf, mine) {
        agreement.lines += theirs.len().max(ours.len());
        agreement.theirs += theirs.len();
        agreement.ours += ours.len();
        if theirs == ours {
            agreement.same += theirs.len();
            continue;
        }
        let mut left: BTreeMap<&str, usize> = BTreeMap::new();
        for line in ours {
            *left.entry(line).or_default() += 1;
        }
        for line in theirs {
            match left.get_mut(line) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    agreement.same += 1;
                }
                _ if told < 5 => {
                    told += 1;
                    eprintln!(
                        "{what}: perf has {line:?}; here is {:?}",
                        ours.iter().take(40).collect::<Vec<_>>()
                    );
                }
                _ => {}
            }
        }
    }
    agreement
}

/// Compares lines as often as both texts have them, wherever they stand.
pub(crate) fn agree(perf: &str, mine: &str) -> Agreement {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for line in mine.lines() {
        *left.entry(line).or_default() += 1;
    }
    let mut same = 0;
    for line in perf.lines() {
        if let Some(count) = left.get_mut(line).filter(|count| **count > 0) {
            *count -= 1;
            same += 1;
        }
    }
    let (theirs, ours) = (perf.lines().count(), mine.lines().count());
    Agreement { lines: theirs.max(ours), theirs, ours, same }
}
