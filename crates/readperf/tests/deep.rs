//! Stacks of thousands of functions, each of them another one: what is written is bounded, by the entries of the chains, not by
//! their square, and says what it leaves out.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may fail loudly"
)]

mod handmade;
mod oracle;

use handmade::{KERNEL_CODE, deep};
use oracle::{scratch, tool};
use readperf::output::export::FORMATS;
use std::path::Path;

/// A recording of samples of this depth in which no function occurs twice, and the names of the functions.
fn record(directory: &Path, samples: u64, depth: u64) {
    let mut symbols = format!("{KERNEL_CODE:016x} T _text\n{KERNEL_CODE:016x} T _stext\n");
    symbols.extend((0..samples * depth).map(|nr| format!("{:016x} t function_{nr}\n", deep::start_of(nr))));
    symbols.push_str(&format!("{:016x} T _etext\n", deep::start_of(samples * depth)));
    std::fs::write(directory.join("kallsyms"), symbols).unwrap();
    std::fs::write(directory.join("deep.data"), &deep::recording(samples, depth).bytes).unwrap();
}

fn run(directory: &Path, words: &[&str]) -> Vec<u8> {
    let output = tool::command()
        .args(words)
        .args(["--no-progress", "--kallsyms"])
        .arg(directory.join("kallsyms"))
        .arg(directory.join("deep.data"))
        .env("HOME", directory)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{words:?}: {}", tool::stderr(&output));
    output.stdout
}

fn text(directory: &Path, words: &[&str]) -> String {
    String::from_utf8(run(directory, words)).unwrap()
}

#[test]
fn what_is_written_grows_with_the_chains_not_with_their_square() {
    let (half, whole) = (scratch(), scratch());
    record(half.path(), 10, 500);
    record(whole.path(), 10, 1000);
    let mut commands: Vec<Vec<&str>> = vec![vec!["script"], vec!["script", "--json"], vec!["report"]];
    commands.extend([vec!["report", "-g", "caller"], vec!["report", "-g", "folded,callee"]]);
    commands
        .extend([vec!["report", "--no-children", "-g", "callee"], vec!["report", "--json", "-g", "callee"]]);
    commands.extend(FORMATS.iter().map(|format| vec!["export", "-f", format.name]));
    commands.push(vec!["export", "-f", "flamegraph", "--reverse"]);
    for words in commands {
        let [half, whole] = [&half, &whole].map(|directory| run(directory.path(), &words).len());
        assert!(half > 0 && whole < half * 5 / 2, "{words:?}: {half} and {whole} bytes");
    }
}

#[test]
fn graphs_say_what_they_leave_out() {
    let directory = scratch();
    record(directory.path(), 2, 4000);
    let report = text(directory.path(), &["report", "-g", "callee"]);
    assert!(report.contains("… and 1 more branch, 50.00 %"), "{}", report.len());
    assert!(report.contains("… and more in the graphs of "), "{}", report.len());
    let few = text(directory.path(), &["report", "-g", "callee,0.5,3"]);
    let graphs =
        few.lines().filter(|line| line.starts_with("          ") && line.contains("function_")).count();
    assert!((3 * 7_900..=3 * 8_000).contains(&graphs), "{graphs} {}", &few[..600]);
    let json: serde_json::Value =
        serde_json::from_str(&text(directory.path(), &["report", "--json", "-g", "callee"])).unwrap();
    let rows = json["events"][0]["rows"].as_array().unwrap();
    let left_out = rows.iter().filter(|row| row["callchains_left_out"]["period"] == 1000).count();
    assert!(left_out > 7_900, "{left_out} of {}: {:?}", rows.len(), rows.last());
}

#[test]
fn pictures_have_an_end() {
    let directory = scratch();
    record(directory.path(), 2, 3000);
    let page = text(directory.path(), &["export", "-f", "flamegraph"]);
    assert!(
        page.contains("Not shown: 4,004 frames that stand on 1,000 others."),
        "{:?}",
        page.split_once("Not shown").map(|(_, rest)| rest.get(..80))
    );
    assert!(page.contains("function_5999") && !page.contains("function_3000\""));
    let whole = text(directory.path(), &["export", "-f", "flamegraph", "--min-share", "0"]);
    assert!(!whole.contains("Not shown") && whole.contains("function_3000\""));
    let graph = text(directory.path(), &["export", "-f", "dot"]);
    assert_eq!(graph.lines().filter(|line| line.starts_with('N') && !line.contains("->")).count(), 300);
    assert!(graph.contains("5,700 functions but for the largest left out"), "{}", &graph[..500]);
}
