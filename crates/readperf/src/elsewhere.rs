//! What other tools call things, and what they are called here.

use crate::suggestion::closest;

/// What is said of browsers that perf and others have.
#[cfg(not(feature = "browse"))]
pub(crate) const BROWSER: &str = "this program was built without a browser: `readperf report` prints the table, \
                                  `readperf export FILE -o flames.html` writes a page to click through";

/// What is said of browsers that perf and others have.
#[cfg(feature = "browse")]
pub(crate) const BROWSER: &str = "`readperf browse` shows the recording in the terminal, \
                                  `readperf export FILE -o flames.html` writes a page to click through";

/// Commands of other tools, and what does the same here.
const COMMANDS: &[(&[&str], &str)] = &[
    (&["browser", "tui", "gtk", "ui", "top"], BROWSER),
    (
        &["disassemble", "objdump", "disasm", "list", "weblist"],
        "`readperf annotate FILE FUNCTION` shows the code of a function, with `--no-asm` its lines of source",
    ),
    (&["record"], "readperf reads recordings: `perf record` makes them"),
    (
        &["flamegraph", "flamegraphs", "flame", "svg"],
        "`readperf export FILE -o flames.svg` draws a flame graph",
    ),
    (&["html"], "`readperf export FILE -o flames.html` writes a flame graph as a page"),
    (&["evlist", "header"], "`readperf info` shows what the recording says of itself"),
    (
        &["inject"],
        "`perf inject` is not needed: generated code has its names from the start; `readperf edit` writes a recording again",
    ),
    (
        &["folded", "collapse", "stackcollapse"],
        "`readperf export FILE -o stacks.folded` writes folded stacks",
    ),
    (
        &["pprof", "convert"],
        "`readperf export FILE -o profile.pb.gz` and the like write the forms of other tools",
    ),
];

/// What formats are called by their readers or by the endings of their files, and their names here.
const FORMATS: &[(&[&str], &str)] = &[
    (&["svg", "flame", "flames", "flamegraph-svg"], "flamegraph"),
    (&["html", "flamehtml"], "flamegraph-html"),
    (&["view", "page.html", "report"], "page"),
    (&["pb", "pb.gz", "proto", "profile", "go"], "pprof"),
    (&["gecko", "profiler", "samply"], "firefox"),
    (&["collapsed", "collapse", "stackcollapse", "txt"], "folded"),
    (&["cachegrind", "kcachegrind", "valgrind"], "callgrind"),
    (&["graphviz", "gv", "gprof2dot"], "dot"),
    (&["catapult", "trace", "trace-event"], "chrome"),
    (&["json", "ndjson"], "jsonl"),
    (&["perfetto-trace", "pftrace"], "perfetto"),
    (&["pq", "parq", "table", "tables", "duckdb", "sql"], "parquet"),
    (&["ipc", "feather"], "arrow"),
];

fn find(table: &[(&[&str], &'static str)], word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    table.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, here)| *here)
}

/// What does here what a command or option of this name does elsewhere.
pub(crate) fn command(word: &str) -> Option<&'static str> {
    find(COMMANDS, word.trim_start_matches('-'))
}

/// The format here that is meant by a name, one of `names`: ` (did you mean X?)`, or nothing.
pub(crate) fn format_hint<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let meant = find(FORMATS, word).or_else(|| closest(word, names));
    meant.map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use readperf::output::export;

    #[test]
    fn formats_that_are_named_exist() {
        for (words, name) in FORMATS {
            assert!(export::by_name(name).is_some() || ["parquet", "arrow"].contains(name), "{name}");
            assert!(words.iter().all(|word| export::by_name(word).is_none()), "{words:?}");
        }
    }

    #[test]
    fn commands_that_exist_are_no_others() {
        let is_command = |word: &&str| crate::cmd::COMMANDS.iter().any(|entry| entry.name == *word);
        assert!(!COMMANDS.iter().flat_map(|(words, _)| words.iter()).any(is_command));
    }
}
