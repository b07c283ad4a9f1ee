//! What shares are of when only some samples are chosen: those that are chosen, by whatever option; the heads of tables and the JSON
//! say it, and how much that is of all.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, tool};
use serde_json::{Value, json};

/// 574 samples of 1,001,001 ns, of which 222 are in `spin_three`; all of them in the thread `work`.
fn main() -> String {
    fixture("main").to_str().unwrap().to_owned()
}

fn answer(words: &[&str]) -> String {
    tool::answer(&[words, &["--no-progress", &main()]].concat())
}

/// Every option that chooses samples, and how many are then left.
const CHOICES: [(&[&str], u64); 7] = [
    (&["-S", "spin_three"], 222),
    (&["--symbol", "spin_three"], 222),
    (&["--symbol-filter", "three"], 222),
    (&["--focus", "^spin_three$"], 222),
    (&["--ignore", "^spin_(five|three)$"], 78),
    (&["--dso", "libc.so.6"], 45),
    (&["--time", "10%/2"], 57),
];

/// The first column of the first row, in percent.
fn first_share(text: &str) -> f64 {
    let mut lines = text.lines().skip_while(|line| !line.contains("command"));
    lines.next().unwrap();
    lines.next().unwrap().trim_start().split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn shares_are_of_what_is_chosen_and_the_head_says_so() {
    for (options, chosen) in CHOICES {
        let text = answer(&[&["report", "--sort", "comm"], options].concat());
        assert!(
            text.starts_with(&format!("cpu-clock:u: {chosen} of 574 samples, period ")),
            "{options:?}: {text}"
        );
        assert!(
            text.contains(&format!("\nshares are of the {chosen} samples chosen\n")),
            "{options:?}: {text}"
        );
        assert_eq!(first_share(&text), 100.0, "{options:?}: {text}");
        let text = answer(&[&["report", "--sort", "comm", "--percentage", "absolute"], options].concat());
        assert!(text.contains("\nshares are of all 574 samples\n"), "{options:?}: {text}");
        let expected = (chosen as f64 / 574.0 * 10_000.0).round() / 100.0;
        assert_eq!(first_share(&text), expected, "{options:?}: {text}");
    }
    let all = answer(&["report", "--sort", "comm"]);
    assert!(all.starts_with("cpu-clock:u: 574 samples, period 574,574,574\n   share"), "{all}");
    // Who is chosen is all there is.
    assert_eq!(answer(&["report", "--sort", "comm", "--comm", "work"]), all);
}

#[test]
fn json_and_csv_say_it_too() {
    let report = |options: &[&str]| -> Value {
        serde_json::from_str(&answer(&[&["report", "--json"], options].concat())).unwrap()
    };
    let recorded = json!({"samples": 574, "period": 574_574_574});
    for (options, chosen) in CHOICES {
        let event = &report(options)["events"][0];
        assert_eq!((&event["samples"], &event["recorded"]), (&json!(chosen), &recorded), "{options:?}");
        assert_eq!(event["percent_of"], "chosen");
    }
    assert_eq!(report(&[])["events"][0]["recorded"], recorded);
    let absolute = report(&["-S", "spin_three", "--percentage", "absolute"]);
    assert_eq!(absolute["events"][0]["percent_of"], "recorded");
    let csv = answer(&["report", "--csv", "--sort", "symbol", "-S", "spin_three"]);
    assert!(csv.contains("spin_three,100.0000,"), "{csv}");
}

/// Thresholds and graphs go by the same whole: of a part of the recording nothing is left out because the whole is large.
#[test]
fn graphs_are_of_what_is_chosen() {
    let file = fixture("dwarf");
    let report = |options: &[&str]| {
        tool::answer(
            &[&["report", "--no-progress", "--no-children", file.to_str().unwrap()], options].concat(),
        )
    };
    let all = report(&["--sort", "symbol"]);
    let line = all.lines().nth(2).unwrap();
    let symbol = line.split("  ").last().unwrap();
    let text = report(&["-S", symbol, "-g", "caller", "--sort", "symbol"]);
    assert!(text.contains(&format!("100.00 %  {symbol}")), "{text}");
    let graph: Vec<&str> = text.lines().filter(|line| line.contains("─ ")).collect();
    let outermost: f64 = graph
        .iter()
        .filter(|line| line.starts_with("          ├─") || line.starts_with("          └─"))
        .map(|line| line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap())
        .sum();
    assert!(graph.is_empty() || (99.0..100.1).contains(&outermost), "{text}");
}

#[test]
fn the_comparison_says_it_too() {
    let diff =
        |options: &[&str]| tool::answer(&[&["diff", "--no-progress", &main(), &main()], options].concat());
    assert!(diff(&["-S", "spin_three"]).contains("cpu-clock:u: percent of period of the samples chosen"));
    assert!(!diff(&[]).contains("chosen"));
    let json: Value = serde_json::from_str(&diff(&["--json", "--time", "0%-50%"])).unwrap();
    assert_eq!(json["percent_of"], "chosen");
}

#[test]
fn the_timeline_says_it_too() {
    let text = answer(&["timeline", "-S", "spin_three"]);
    assert!(
        text.starts_with("cpu-clock:u: 222 of 574 samples, period 222,222,222 of 574,574,574 (38.68 %)\n"),
        "{text}"
    );
    assert!(text.contains("\nshares are of the 222 samples chosen\n"), "{text}");
    let json: Value = serde_json::from_str(&answer(&["timeline", "--json", "-S", "spin_three"])).unwrap();
    assert_eq!(json["events"][0]["recorded"], json!({"samples": 574, "period": 574_574_574}));
    assert_eq!(json["events"][0]["percent_of"], "chosen");
}
