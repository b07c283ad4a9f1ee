//! `readperf browse` in a terminal: keys are sent by tmux, and the screen is read.

#![cfg(feature = "browse")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::terminal::Terminal;
use oracle::{fixture, kind, scratch, tool};
use std::process::Command;

/// The command that browses a fixture. Names are those of the fixtures, even if this machine has the kernel that they were recorded on.
fn browse(name: &str, more: &str) -> String {
    let (bin, src) = (kind("bin"), kind("src"));
    format!(
        "env HOME=/nowhere XDG_CACHE_HOME=/nowhere {} browse --symfs /nowhere --kallsyms /dev/null --symbols {} --source {} {more} {}",
        env!("CARGO_BIN_EXE_readperf"),
        bin.display(),
        src.display(),
        fixture(name).display()
    )
}

/// Keys one after the other, and what is on the screen after each.
fn walk(name: &str, recording: &str, steps: &[(&[&str], &str)]) {
    let dir = scratch();
    let terminal = Terminal::new(name, (110, 30), dir.path());
    terminal.run(&browse(recording, ""));
    terminal.wait("all samples");
    for (keys, seen) in steps {
        terminal.keys(keys);
        match seen.strip_prefix("not ") {
            Some(gone) => terminal.wait_without(gone),
            None => terminal.wait(seen),
        }
    }
    terminal.keys(&["q"]);
    terminal.wait("ready>");
}

#[test]
#[ignore = "live: tmux"]
fn keys_of_rows() {
    walk(
        "browse-rows",
        "multi",
        &[
            (&["Down"], " 2/"),
            (&["j"], " 3/"),
            (&["Up"], " 2/"),
            (&["k"], " 1/"),
            (&["PageDown"], " 26/"),
            (&["PageUp"], " 1/"),
            (&["Space"], " 26/"),
            (&["Home"], " 1/"),
            (&["End"], " 50/50"),
            (&["g"], " 1/"),
            (&["G"], " 50/50"),
            (&["g", "Enter"], "▾"),
            (&["Left"], "not ▾"),
            (&["Right"], "▾"),
            (&["C"], "not ▾"),
            (&["e"], "▾"),
            (&["+"], "not ▾"),
            (&["E"], "  ▾ "),
            (&["C"], "not ▾"),
            (&["v"], "calls are who calls rows"),
            (&["v"], "calls are what rows call"),
            (&["d"], " in work"),
            (&["Escape"], " all samples"),
            (&["c"], " command work"),
            (&["Left"], " all samples"),
            (&["t"], " thread 32"),
            (&["Escape"], " all samples"),
            (&["/", "g", "r", "o", "w", "Enter"], " 13/"),
            (&["n"], " 14/"),
            (&["N"], " 13/"),
            (&["f", "g", "r", "o", "w", "Enter"], " focus grow"),
            (&["F"], "shares are of all samples"),
            (&["F"], "shares are of the samples chosen"),
            (&["Escape"], " all samples"),
            (&["x", "g", "r", "o", "w", "Enter"], " ignore grow"),
            (&["Escape"], " all samples"),
            (&["L", "5", "Enter"], "below 5 %"),
            (&["L", "0", "Enter"], "not below 5 %"),
            (&["V"], " › details"),
            (&["Escape"], "not details"),
            (&["m"], "what can be done here"),
            (&["Escape"], "not what can be done"),
            (&["s"], "sorted by self"),
            (&["s"], "sorted by command"),
            (&["Tab"], "page-faults"),
            (&["BTab"], "cpu-clock"),
            (&["i"], " › recording"),
            (&["Escape"], "not › recording"),
            (&["K"], " › check"),
            (&["Escape"], "not › check"),
            (&["?"], "Rows and calls"),
            (&["Escape"], "not Rows and calls"),
            (&["F1"], "Rows and calls"),
            (&["q"], "ready>"),
        ],
    );
}

#[test]
#[ignore = "live: tmux"]
fn keys_of_code() {
    walk(
        "browse-code",
        "main",
        &[
            (&["/", "f", "i", "v", "e", "Enter"], "spin_five"),
            (&["a"], "code of spin_five"),
            (&["H"], "hot line 1 of"),
            (&["Tab"], "hot line 2 of"),
            (&["BTab"], "hot line 1 of"),
            (&["s"], "source is not shown"),
            (&["s"], "source is shown"),
            (&["/", "j", "n", "e", "Enter"], "jne"),
            (&["Enter"], "code of spin_five"),
            (&["Escape"], "code of spin_five"),
            (&["g"], "% of cpu-clock"),
            (&["G"], "ret"),
            (&["P", "c", ".", "j", "s", "o", "n", "Enter"], "written to c.json"),
            (&["Escape"], "not code of"),
        ],
    );
}

#[test]
#[ignore = "live: tmux"]
fn keys_of_flame_graph_and_time() {
    walk(
        "browse-flame",
        "multi",
        &[
            (&["W"], " 100.00 %, 128 samples, 0.00 % of its own: all"),
            (&["Down"], "of its own: work-one"),
            (&["Down"], " 31.25 %, 40 samples, 0.00 % of its own: [libc.so.6]"),
            (&["Up", "Right"], "not of its own: work-one"),
            (&["Left"], "of its own: work-one"),
            (&["Enter"], "not work-child"),
            (&["Escape"], "work-child"),
            (&["/", "s", "p", "i", "n", "Enter"], "spin matches"),
            (&["v"], "from where samples were taken"),
            (&["v"], "not from where samples were taken"),
            (&["End", "Home"], " 100.00 %, 128 samples, 0.00 % of its own: all"),
            (&["Tab"], "page-faults"),
            (&["BTab"], "cpu-clock"),
            (&["W"], "function"),
            (&["T"], "work-one: 40 samples"),
            (&["Space", "Right", "Right", "PageDown"], " s: "),
            (&["Enter"], " of 128 samples"),
            (&["T", "End"], " s: "),
            (&["Escape"], "function"),
            (&["Escape"], " all samples"),
        ],
    );
}

/// Numbers on the screen are those of `report --json`.
#[test]
#[ignore = "live: tmux"]
fn rows_on_the_screen_are_those_of_the_report() {
    let dir = scratch();
    let terminal = Terminal::new("browse-numbers", (200, 50), dir.path());
    for more in ["", "--comm tree", "--focus grow", "--no-children", "--sort dso,symbol"] {
        terminal.run(&browse("multi", more));
        terminal.wait("? keys");
        let seen = terminal.screen();
        terminal.keys(&["q"]);
        terminal.wait("ready>");
        let report = browse("multi", more).replacen(" browse ", " report --event cpu-clock ", 1);
        let report = report.replace(&format!("--source {} ", kind("src").display()), "");
        let words: Vec<&str> = report.split_whitespace().skip(4).collect();
        let text = tool::answer(&words);
        let numbers = |line: &str| -> Vec<String> {
            let words = line.trim_start_matches(['▸', '▾', ' ']).split_whitespace();
            words.map(str::to_owned).collect()
        };
        let expected: Vec<Vec<String>> = text
            .lines()
            .filter(|line| line.contains(" %  ") && !line.starts_with('…'))
            .take(46)
            .map(numbers)
            .collect();
        let shown: Vec<Vec<String>> = seen.lines().skip(3).take(expected.len()).map(numbers).collect();
        assert_eq!(shown, expected, "{more}");
    }
}

/// Keys come from the terminal, the recording from a pipe.
#[test]
#[ignore = "live: tmux"]
fn a_recording_may_come_on_standard_input() {
    let dir = scratch();
    let terminal = Terminal::new("browse-stdin", (80, 24), dir.path());
    terminal.run(&format!(
        "cat {} | {} browse -",
        fixture("multi").display(),
        env!("CARGO_BIN_EXE_readperf")
    ));
    terminal.wait("standard input");
    terminal.keys(&["K"]);
    terminal.wait("came on standard input");
    terminal.keys(&["d"]);
    terminal.wait(" in ");
    terminal.keys(&["q"]);
    terminal.wait("ready>");
}

/// However it ends, the terminal is as it was.
#[test]
#[ignore = "live: tmux"]
fn the_terminal_is_given_back() {
    let dir = scratch();
    let terminal = Terminal::new("browse-end", (80, 24), dir.path());
    terminal.run("stty -g > before; echo kept");
    terminal.wait("\nkept");
    for (nr, signal) in ["", "TERM", "INT", "HUP"].into_iter().enumerate() {
        terminal.run(&browse("multi", ""));
        terminal.wait("all samples");
        match signal {
            "" => terminal.keys(&["C-c"]),
            signal => {
                let pid = terminal.tmux(&["list-panes", "-F", "#{pane_pid}"]).output().unwrap().stdout;
                let shell = String::from_utf8(pid).unwrap();
                let children =
                    Command::new("ps").args(["-o", "pid=", "--ppid", shell.trim()]).output().unwrap();
                let child = String::from_utf8(children.stdout).unwrap().trim().to_owned();
                assert!(
                    Command::new("kill").args([&format!("-{signal}"), &child]).status().unwrap().success()
                );
            }
        }
        terminal.wait_without("all samples");
        terminal.wait_for_shell();
        terminal.run(&format!("stty -g > after; cmp before after && echo same{nr}"));
        terminal.wait(&format!("\nsame{nr}"));
        assert!(nr > 0 || terminal.screen().contains("kept"), "{}", terminal.screen());
    }
}

/// The screen follows the terminal.
#[test]
#[ignore = "live: tmux"]
fn the_terminal_may_change_its_size() {
    let dir = scratch();
    let terminal = Terminal::new("browse-size", (80, 24), dir.path());
    terminal.run(&browse("multi", ""));
    terminal.wait("all samples");
    for (columns, lines) in [("200", "50"), ("40", "8"), ("12", "3"), ("80", "24")] {
        assert!(terminal.tmux(&["resize-window", "-x", columns, "-y", lines]).status().unwrap().success());
        terminal.wait(if columns == "12" { "too small" } else { "all samples" });
    }
    assert!(!terminal.cursor().is_empty());
    terminal.keys(&["q"]);
    terminal.wait("ready>");
}
