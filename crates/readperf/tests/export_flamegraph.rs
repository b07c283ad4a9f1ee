//! Flame graphs: the numbers in the file are those of the folded stacks; what is left out is told; differences; names that are
//! markup. What a browser makes of them is shown in `tests/browser`.
//!
//! After a deliberate change: `READPERF_BLESS=1 cargo test -p readperf --test export_flamegraph`, and look at the difference.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may fail loudly"
)]

mod handmade;
mod oracle;

use handmade::{Attr, CODE, PID, Pipe, Sample};
use oracle::golden::assert_golden;
use oracle::{fixture, kind, scratch, skip, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Weight of each stack and of each beginning of one.
type Weights = BTreeMap<Vec<String>, u64>;

fn run(file: &Path, words: &[&str]) -> String {
    let nothing = scratch();
    let output = tool::command()
        .args(["export", "--no-progress", "--kallsyms", "/dev/null", "--symfs"])
        .arg(nothing.path())
        .arg("--symbols")
        .arg(kind("bin"))
        .args(words)
        .arg(file)
        .env("HOME", nothing.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The numbers in a file: everything between two lines, whatever the page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"flame-data\">\n").expect("numbers");
    let (json, _) = rest.split_once("\n</script>").expect("their end");
    assert!(!json.contains(['<', '>', '&']), "no markup in the numbers");
    serde_json::from_str(json).expect("JSON")
}

fn column(data: &Value, name: &str) -> Vec<u64> {
    data[name].as_array().unwrap_or_else(|| panic!("{name}")).iter().map(tool::number).collect()
}

/// Every frame with its path from the outermost, and its weight on a side.
fn frames(data: &Value, side: &str) -> Weights {
    let names = data["names"].as_array().unwrap();
    let (depths, name_of, weights) =
        (column(data, "depth"), column(data, "name"), column(data, &format!("{side}Weight")));
    assert_eq!((depths.len(), name_of.len()), (weights.len(), weights.len()));
    let mut path = Vec::new();
    let mut frames = Weights::new();
    for ((depth, name), weight) in depths.iter().zip(&name_of).zip(weights) {
        path.truncate(*depth as usize);
        path.push(names[*name as usize].as_str().unwrap().to_owned());
        assert_eq!(path.len() as u64, depth + 1, "a frame stands on its caller");
        assert_eq!(frames.insert(path[1..].to_vec(), weight), None, "{path:?} is there once");
    }
    frames
}

/// The same from folded stacks; with the outermost places last if `reverse`.
fn folded(text: &str, reverse: bool) -> Weights {
    let mut weights = Weights::new();
    for line in text.lines() {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        let mut path: Vec<String> = stack.split(';').map(str::to_owned).collect();
        if reverse {
            path.reverse();
        }
        for length in 0..=path.len() {
            *weights.entry(path[..length].to_vec()).or_default() += weight.parse::<u64>().unwrap();
        }
    }
    weights
}

fn save(pipe: &Pipe, directory: &Path, name: &str) -> PathBuf {
    let file = directory.join(name);
    std::fs::write(&file, &pipe.bytes).unwrap();
    file
}

#[test]
fn golden_pictures() {
    for (name, words) in [("main", "flamegraph"), ("main", "flamegraph-html")] {
        let written = run(&fixture(name), &["--format", words]);
        let ending = if words == "flamegraph" { "svg" } else { "html" };
        assert_golden(&format!("export/{name}.{ending}"), &written);
    }
}

/// The same stack has the same weight in both formats.
#[test]
fn frames_are_the_folded_stacks() {
    for name in ["main", "multi", "rust", "dwarf", "everything"] {
        for words in
            [&[][..], &["--weight", "samples"], &["--with-tid"], &["--reverse"], &["--order", "weight"]]
        {
            let file = fixture(name);
            let page = run(&file, &[&["--format", "flamegraph", "--min-share", "0"], words].concat());
            let for_folded: Vec<&str> = words
                .iter()
                .copied()
                .filter(|word| !["--reverse", "--order", "weight"].contains(word))
                .collect();
            let text = run(&file, &[&["--format", "folded"], for_folded.as_slice()].concat());
            assert!(!text.is_empty(), "{name} has stacks");
            let reverse = words.contains(&"--reverse");
            assert_eq!(frames(&data(&page), "new"), folded(&text, reverse), "{name} {words:?}");
        }
    }
}

/// Of siblings, and of what is left out.
#[test]
fn what_is_too_small_is_left_out_and_told() {
    let directory = scratch();
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.comm(PID, PID, "work");
    let at = |nr: u64| CODE + 0x10_0000 * nr + 0x10;
    for nr in 0..12 {
        pipe.map(PID, at(nr) - 0x10, &format!("/bin/f{nr:02}"), None, 0);
    }
    // 988 samples in f00, 2 in f01, and 1 each in ten others.
    let mut add = |nr: u64, count| {
        pipe.samples(count, &Sample { chain: vec![-512i64 as u64, at(nr)], ip: at(nr), ..Sample::default() });
    };
    add(0, 988);
    add(1, 2);
    (2..12).for_each(|nr| add(nr, 1));
    let file = save(&pipe, directory.path(), "many.data");
    let page = run(&file, &["--format", "flamegraph", "--min-share", "0.15"]);
    let shown = frames(&data(&page), "new");
    let path = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let expected: Weights = [
        (path(&[]), 1_000_000),
        (path(&["work"]), 1_000_000),
        (path(&["work", "[f00]"]), 988_000),
        (path(&["work", "[f01]"]), 2_000),
        (path(&["work", "(10 left out)"]), 10_000),
    ]
    .into();
    assert_eq!(shown, expected);
    assert!(page.contains("Not shown: 10 frames under 0.15 %, together 1.00 % of the weight."), "{page}");
    let everything = frames(&data(&run(&file, &["--format", "flamegraph", "--min-share", "0"])), "new");
    assert_eq!(everything.len(), 14);
}

/// Of a long tail of small stacks as much is shown as makes up nearly all of the weight.
#[test]
fn the_weight_that_stays_decides_what_is_left_out() {
    let directory = scratch();
    let tail = |heavy: u64, small: u64| {
        let mut pipe = Pipe::new(&[Attr::default()]);
        pipe.comm(PID, PID, "work");
        let at = |nr: u64| CODE + 0x10_0000 * nr + 0x10;
        for nr in 0..=small {
            pipe.map(PID, at(nr) - 0x10, &format!("/bin/f{nr}"), None, 0);
            let sample = Sample { chain: vec![-512i64 as u64, at(nr)], ip: at(nr), ..Sample::default() };
            pipe.samples(if nr == 0 { heavy } else { 1 }, &sample);
        }
        let page = run(&save(&pipe, directory.path(), "tail.data"), &["--format", "flamegraph"]);
        let shown = frames(&data(&page), "new").keys().filter(|path| path.len() == 2).count() as u64;
        (shown, page)
    };
    // 2,400 stacks of 0.04 %.
    let (shown, page) = tail(100, 2400);
    assert_eq!(shown, 2401);
    assert!(!page.contains("Not shown"));
    // The small ones are 4 % altogether, and each is under the share that is ever drawn.
    let (shown, page) = tail(9600, 400);
    assert_eq!(shown, 2, "one, and the rest as one");
    assert!(page.contains("Not shown: 400 frames under 0.05 %, together 4.00 % of the weight."));
}

/// What the title says is what perf says of the recording.
#[test]
fn the_title_says_what_was_recorded() {
    let head = |name: &str| data(&run(&fixture(name), &["--format", "flamegraph"]));
    assert_eq!(head("multi")["title"], "work on fixture, cpu-clock");
    assert_eq!(head("main")["title"], "work on fixture, cpu-clock:u");
    let perf = std::fs::read_to_string(fixture("everything").with_file_name("perf.header.txt")).unwrap();
    let date =
        perf.lines().find_map(|line| line.strip_prefix("# reference time: ")).expect("a reference time");
    let title = head("everything")["title"].as_str().unwrap().to_owned();
    assert_eq!(title, format!("work on fixture, {} UTC, cpu-clock", &date[..16]));
    let subtitle = head("multi")["subtitle"].as_str().unwrap().to_owned();
    assert!(subtitle.starts_with("Flame graph: 128 samples, 128.128 ms · "), "{subtitle}");
    let command = std::fs::read_to_string(fixture("multi").with_file_name("command.txt")).unwrap();
    let (_, record) = command.trim().split_once(" record ").unwrap();
    assert!(subtitle.ends_with(&format!(" record {record}")), "{subtitle}");
}

/// The line in the hint of a frame is the one with the most weight, as the samples one by one have it.
#[test]
fn frames_tell_their_hottest_line() {
    for (name, words) in
        [("dwarf", &[][..]), ("dwarf", &["--reverse"]), ("multi", &[]), ("rust", &["--no-comm"])]
    {
        let file = fixture(name);
        let lines = run(&file, &["--format", "jsonl"]);
        // Of each path the weight of each line of its last frame.
        let mut weights: BTreeMap<Vec<String>, BTreeMap<String, u64>> = BTreeMap::new();
        let page = data(&run(&file, &[&["--format", "flamegraph", "--min-share", "0"], words].concat()));
        let event = page["title"].as_str().unwrap().rsplit(", ").next().unwrap().to_owned();
        for line in lines.lines() {
            let sample: Value = serde_json::from_str(line).unwrap();
            if sample["event"] != event.as_str() {
                continue;
            }
            let mut path: Vec<(String, String)> =
                vec![(sample["comm"].as_str().unwrap().to_owned(), String::new())];
            for frame in sample["stack"].as_array().unwrap().iter().rev() {
                path.push((label_of(frame), line_of(frame)));
            }
            if words.contains(&"--no-comm") {
                path.remove(0);
            }
            if words.contains(&"--reverse") {
                path.reverse();
            }
            for length in 1..=path.len() {
                let names = path[..length].iter().map(|(name, _)| name.clone()).collect();
                let of_path = weights.entry(names).or_default();
                *of_path.entry(path[length - 1].1.clone()).or_default() += tool::number(&sample["period"]);
            }
        }
        let shown = places(&page);
        assert!(
            shown.values().filter(|place| place.contains(".c") || place.contains(".rs:")).count() > 5,
            "{name}: {shown:?}"
        );
        for (path, place) in shown {
            if path.is_empty() {
                continue;
            }
            let mut of_path =
                weights.get(&path).unwrap_or_else(|| panic!("{name}: no stack is {path:?}")).clone();
            of_path.remove("");
            let most = of_path.values().max().copied().unwrap_or(0);
            assert_eq!(
                of_path.get(&place).copied().unwrap_or(0),
                most,
                "{name} {words:?} {path:?}: {place} of {of_path:?}"
            );
        }
    }
}

/// A frame of JSON lines as flame graphs call it.
fn label_of(frame: &Value) -> String {
    frame["symbol"].as_str().map_or_else(
        || {
            let binary = frame["dso"].as_str().unwrap_or("[unknown]");
            let binary = binary.rsplit('/').next().unwrap();
            if binary.starts_with('[') { binary.to_owned() } else { format!("[{binary}]") }
        },
        str::to_owned,
    )
}

fn line_of(frame: &Value) -> String {
    match (frame["file"].as_str(), frame["line"].as_u64()) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.to_owned(),
        _ => String::new(),
    }
}

/// Every frame with its path from the outermost, and its place in the source.
fn places(data: &Value) -> BTreeMap<Vec<String>, String> {
    let (names, places) = (data["names"].as_array().unwrap(), data["places"].as_array().unwrap());
    let mut path = Vec::new();
    let columns = column(data, "depth").into_iter().zip(column(data, "name")).zip(column(data, "place"));
    columns
        .map(|((depth, name), place)| {
            path.truncate(depth as usize);
            path.push(names[name as usize].as_str().unwrap().to_owned());
            (path[1..].to_vec(), places[place as usize].as_str().unwrap().to_owned())
        })
        .collect()
}

/// Two builds of a program have two names: their functions are compared all the same.
#[test]
fn differences_are_not_told_apart_by_process() {
    let directory = scratch();
    let recording = |name: &str| {
        let mut pipe = Pipe::new(&[Attr::default()]);
        pipe.comm(PID, PID, name);
        pipe.map(PID, CODE, "/bin/f", None, 0);
        let at = CODE + 0x10;
        pipe.samples(10, &Sample { chain: vec![-512i64 as u64, at], ip: at, ..Sample::default() });
        save(&pipe, directory.path(), name)
    };
    let (base, new) = (recording("work-old"), recording("work-new"));
    let page = |words: &[&str]| {
        let all = ["--format", "flamegraph", "--base", base.to_str().unwrap()];
        frames(&data(&run(&new, &[&all, words].concat())), "base")
    };
    let path = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(page(&[]), [(path(&[]), 10_000), (path(&["[f]"]), 10_000)].into());
    assert_eq!(page(&["--reverse"]), [(path(&[]), 10_000), (path(&["[f]"]), 10_000)].into());
    let apart = page(&["--with-comm"]);
    // Builds of other names are matched by their functions.
    assert_eq!(apart[&path(&["work-new", "[f]"])], 10_000);
    let alone = run(&new, &["--format", "flamegraph", "--no-comm"]);
    assert_eq!(frames(&data(&alone), "new"), [(path(&[]), 10_000), (path(&["[f]"]), 10_000)].into());
}

#[test]
fn two_recordings() {
    let directory = scratch();
    let recording = |name: &str, stacks: &[(u64, u64)]| {
        let mut pipe = Pipe::new(&[Attr::default()]);
        pipe.comm(PID, PID, "work");
        for nr in 0..4 {
            pipe.map(PID, CODE + 0x10_0000 * nr, &format!("/bin/f{nr}"), None, 0);
        }
        for (nr, count) in stacks {
            let at = CODE + 0x10_0000 * nr + 0x10;
            pipe.samples(*count, &Sample { chain: vec![-512i64 as u64, at], ip: at, ..Sample::default() });
        }
        save(&pipe, directory.path(), name)
    };
    let base = recording("base.data", &[(0, 10), (1, 30)]);
    let new = recording("new.data", &[(0, 10), (2, 5)]);
    for words in [&[][..], &["--reverse"]] {
        let all = ["--format", "flamegraph", "--min-share", "0", "--base", base.to_str().unwrap()];
        let page = run(&new, &[&all, words].concat());
        let data = data(&page);
        let leaf = |weights: &Weights, name: &str| {
            weights.iter().find(|(path, _)| path.contains(&name.to_owned())).map(|(_, weight)| *weight)
        };
        let (new, base) = (frames(&data, "new"), frames(&data, "base"));
        assert_eq!((leaf(&new, "[f0]"), leaf(&base, "[f0]")), (Some(10_000), Some(10_000)));
        assert_eq!(
            (leaf(&new, "[f1]"), leaf(&base, "[f1]")),
            (Some(0), Some(30_000)),
            "vanished, but reachable"
        );
        assert_eq!((leaf(&new, "[f2]"), leaf(&base, "[f2]")), (Some(5_000), Some(0)));
        assert_eq!((new[&vec![]], base[&vec![]]), (15_000, 40_000));
    }
    let output =
        tool::run(&["export", "-f", "folded", "--base", base.to_str().unwrap(), new.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(tool::stderr(&output).contains("shows no differences"), "{}", tool::stderr(&output));
}

/// Both pages are read by parsers that are not ours.
#[test]
#[ignore = "live: needs python3"]
fn hostile_names_are_text_for_others() {
    let directory = scratch();
    let names =
        ["]]><script>alert(1)<", "\"'><img src=x>&amp;", "\u{1b}[2J\u{7}\u{202e}x", "\u{fffe}\u{2028}"];
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.comm(PID, PID, "</title>&<");
    for (nr, name) in (0u64..).zip(names) {
        pipe.map(PID, CODE + 0x10_0000 * nr, &format!("/bin/{name}"), None, 0);
        let at = CODE + 0x10_0000 * nr + 0x10;
        pipe.sample(&Sample { chain: vec![-512i64 as u64, at], ip: at, ..Sample::default() });
    }
    let file = save(&pipe, directory.path(), "hostile.data");
    let read = r#"
import json, sys, xml.dom.minidom
from html.parser import HTMLParser
svg = xml.dom.minidom.parse(sys.argv[1]).documentElement
tags = {element.tagName for element in svg.getElementsByTagName("*")}
assert tags == {"title", "desc", "style", "g", "text", "svg", "rect", "script"}, tags
assert len(svg.getElementsByTagName("script")) == 2
titles = [t.firstChild.data for t in svg.getElementsByTagName("title")]
assert any("]]><script>alert(1)<" in title for title in titles), titles
assert not any(ord(c) < 32 for title in titles for c in title), titles
class Page(HTMLParser):
    def __init__(self):
        super().__init__(); self.tags = []
    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        assert not any(name.startswith("on") for name, _ in attributes), attributes
page = Page(); page.feed(open(sys.argv[2], encoding="utf-8").read())
assert "img" not in page.tags and page.tags.count("script") == 2, page.tags
print("read")
"#;
    let pages = [("flamegraph", "a.svg"), ("flamegraph-html", "a.html")].map(|(format, name)| {
        let path = directory.path().join(name);
        std::fs::write(&path, run(&file, &["--format", format, "--title", "<&\"]]>"])).unwrap();
        path
    });
    match Command::new("python3").arg("-c").arg(read).args(&pages).output() {
        Ok(output) => {
            assert_eq!(String::from_utf8_lossy(&output.stdout), "read\n", "{}", tool::stderr(&output))
        }
        Err(error) => skip("hostile_names_are_text_for_others", &format!("python3: {error}")),
    }
    let shown = frames(&data(&run(&file, &["--format", "flamegraph"])), "new");
    let path = |name: &str| vec!["</title>&<".to_owned(), format!("[{name}]")];
    assert_eq!(shown.get(&path("]]><script>alert(1)<")), Some(&1000), "{shown:?}");
    assert_eq!(shown.get(&path("\\x1b[2J\\x07\\u{202e}x")), Some(&1000), "{shown:?}");
}

#[test]
fn nothing_and_one_sample() {
    let directory = scratch();
    let empty = save(&Pipe::sound(&[Attr::default()]), directory.path(), "empty.data");
    for words in [&["--format", "flamegraph"][..], &["--format", "flamegraph-html", "--reverse"]] {
        let data = data(&run(&empty, words));
        assert_eq!(column(&data, "newWeight"), [0]);
    }
    let mut pipe = Pipe::sound(&[Attr::default()]);
    pipe.sample(&Sample::default());
    let one = save(&pipe, directory.path(), "one.data");
    assert_eq!(column(&data(&run(&one, &["--format", "flamegraph"])), "newWeight"), [1000; 5]);
    assert_eq!(column(&data(&run(&one, &["--format", "flamegraph"])), "newOwn"), [0, 0, 0, 0, 1000]);
}

#[test]
fn the_same_bytes_whatever_the_number_of_threads() {
    let page = |threads| run(&fixture("multi"), &["--format", "flamegraph", "--threads", threads]);
    assert_eq!(page("1"), page("5"));
}
