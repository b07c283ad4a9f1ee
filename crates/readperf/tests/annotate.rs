//! `readperf annotate` on recordings that do not change: its sums against those of `report`, what is meant by SYMBOL, where source
//! files are looked for, and what is said where something is missing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, kind, scratch, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Arguments by which only what is in the repository is looked at.
fn places() -> Vec<String> {
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let (bin, src) = (text(&kind("bin")), text(&kind("src")));
    ["--symfs", "/nowhere", "--symbols", &bin, "--source", &src].map(str::to_owned).into()
}

fn arguments(name: &str, more: &[&str]) -> Vec<String> {
    let recording = fixture(name).to_str().unwrap().to_owned();
    let more = more.iter().map(|word| (*word).to_owned());
    ["annotate".to_owned()].into_iter().chain(places()).chain([recording]).chain(more).collect()
}

fn text(name: &str, more: &[&str]) -> String {
    tool::answer(&arguments(name, more))
}

fn json(name: &str, more: &[&str]) -> Value {
    let more = [&["--json"], more].concat();
    serde_json::from_str(&text(name, &more)).unwrap()
}

/// Period and samples of an object.
fn own(numbers: &Value) -> (u64, u64) {
    (numbers["self_period"].as_u64().unwrap(), numbers["self_samples"].as_u64().unwrap())
}

fn sum<'v>(rows: impl Iterator<Item = &'v Value>, event: usize) -> (u64, u64) {
    let numbers = rows.map(|row| own(&row["events"][event]));
    numbers.fold((0, 0), |sum, number| (sum.0 + number.0, sum.1 + number.1))
}

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}

/// The rows of `report` with these options, by event, binary and function.
fn report(name: &str, more: &[&str]) -> BTreeMap<(String, String, String), (u64, u64)> {
    let mut arguments = vec!["report", "--json", "--no-children", "--sort", "dso,symbol"];
    arguments.extend(more);
    let places = places();
    arguments.extend(places[..4].iter().map(String::as_str));
    let path = fixture(name);
    arguments.push(path.to_str().unwrap());
    let report: Value = serde_json::from_str(&tool::answer(&arguments)).unwrap();
    let mut rows = BTreeMap::new();
    for event in array(&report["events"]) {
        for row in array(&event["rows"]) {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let key = (text(&event["name"]), text(&row["dso"]), text(&row["symbol"]));
            let sum: &mut (u64, u64) = rows.entry(key).or_default();
            sum.0 += row["self_period"].as_u64().unwrap();
            sum.1 += row["samples"].as_u64().unwrap();
        }
    }
    rows
}

#[test]
fn every_sample_is_on_one_instruction_and_on_one_line() {
    let mut functions = 0;
    let all = ["main", "rust", "dwarf", "threads", "group", "everything"].map(|name| (name, &[][..]));
    // Whatever is chosen, and however stacks are changed.
    let chosen = [
        &["--time", "10%-60%"][..],
        &["--focus", "main"],
        &["--hide", "insert"],
        &["--collapse", "tree"],
        &["--collapse-recursion"],
    ];
    for (name, options) in all.into_iter().chain(chosen.map(|options| ("dwarf", options))) {
        let rows = report(name, options);
        let annotated = json(name, &[&["--top", "1000"], options].concat());
        for function in array(&annotated["functions"]) {
            let symbol = function["symbol"].as_str().unwrap();
            let parts = array(&function["parts"]);
            for (nr, event) in array(&annotated["events"]).iter().enumerate() {
                let all = own(&function["events"][nr]);
                let instructions = parts.iter().flat_map(|part| array(&part["instructions"]));
                let elsewhere = parts.iter().flat_map(|part| array(&part["elsewhere"]));
                assert_eq!(sum(instructions.chain(elsewhere), nr), all, "{name}: instructions of {symbol}");
                assert_eq!(sum(array(&function["lines"]).iter(), nr), all, "{name}: lines of {symbol}");
                assert_eq!(sum(parts.iter(), nr), all, "{name}: parts of {symbol}");
                let dso = parts[0]["dso"].as_str().unwrap().to_owned();
                let row = rows.get(&(event["name"].as_str().unwrap().to_owned(), dso, symbol.to_owned()));
                assert_eq!(row.copied().unwrap_or_default(), all, "{name}: the row of {symbol}");
                functions += usize::from(all.1 > 0 && parts[0]["no_code"].is_null());
            }
        }
    }
    assert!(functions > 20, "only {functions} functions have code");
}

#[test]
fn instructions_are_those_of_the_function() {
    let annotated = json("main", &["spin_five"]);
    let part = &annotated["functions"][0]["parts"][0];
    let code: Vec<(&str, &str)> = array(&part["instructions"])
        .iter()
        .map(|row| (row["address"].as_str().unwrap(), row["text"].as_str().unwrap()))
        .collect();
    let objdump = std::fs::read_to_string(kind("annotate").join("spin_five.txt")).unwrap();
    let expected: Vec<(String, String)> = objdump
        .lines()
        .filter_map(|line| {
            let (address, text) = line.trim().split_once(":\t")?;
            Some((format!("0x{address}"), text.split("  #").next()?.trim().to_owned()))
        })
        .collect();
    assert!(expected.len() > 10);
    assert_eq!(code.len(), expected.len());
    for ((address, text), (objdump_address, objdump_text)) in code.iter().zip(&expected) {
        assert_eq!(address, objdump_address);
        // objdump adds the name to the target of a jump.
        let objdump_text = objdump_text.split(" <").next().unwrap();
        assert_eq!(
            text.split_whitespace().collect::<Vec<_>>(),
            objdump_text.split_whitespace().collect::<Vec<_>>()
        );
    }
    let jumps: Vec<&Value> =
        array(&part["instructions"]).iter().filter(|row| !row["jumps"].is_null()).collect();
    assert_eq!(jumps.len(), 1);
    let target = jumps[0]["jumps"]["index"].as_u64().unwrap();
    assert_eq!(code[usize::try_from(target).unwrap()].0, jumps[0]["jumps"]["address"].as_str().unwrap());
}

/// The hottest instruction of `spin_five`, the samples of the function, and those of the recording.
fn hottest() -> (Value, (u64, u64), (u64, u64)) {
    let annotated = json("main", &["spin_five"]);
    let function = &annotated["functions"][0];
    let rows = array(&function["parts"][0]["instructions"]);
    let hottest = rows.iter().max_by_key(|row| own(&row["events"][0])).unwrap().clone();
    let event = &annotated["events"][0];
    let all = (event["period"].as_u64().unwrap(), event["samples"].as_u64().unwrap());
    (hottest, own(&function["events"][0]), all)
}

fn percent(part: u64, whole: u64) -> String {
    #[allow(clippy::cast_precision_loss)]
    let percent = part as f64 * 100.0 / whole as f64;
    format!("{percent:.2}")
}

/// The number of the only line of work.c with this text.
fn line_of(text: &str) -> usize {
    let work = std::fs::read_to_string(kind("src").join("work.c")).unwrap();
    let mut lines = work.lines().enumerate().filter(|(_, line)| line.contains(text));
    let line = lines.next().unwrap().0 + 1;
    assert!(lines.next().is_none(), "{text} is there twice");
    line
}

#[test]
fn text_has_lines_above_their_instructions_and_arrows() {
    let text = text("main", &["spin_five"]);
    let rows: Vec<&str> = text.lines().collect();
    let (hottest, function, all) = hottest();
    assert_eq!(rows[2], "spin_five");
    assert!(rows[3].starts_with(&format!(
        "  {} % of cpu-clock:u: {} samples",
        percent(function.0, all.0),
        function.1
    )));
    let address = hottest["address"].as_str().unwrap().strip_prefix("0x").unwrap();
    let row = rows.iter().find(|row| row.contains(&format!("│ {address} "))).unwrap();
    assert_eq!(
        row.split_whitespace().next(),
        Some(percent(own(&hottest["events"][0]).0, function.0).as_str())
    );
    // The loop: an arrow from its end to its beginning, with lines of the source above the instructions within.
    let from = rows.iter().position(|row| row.contains("╰─ jne ")).unwrap();
    let to = rows.iter().position(|row| row.contains("╭▶ ")).unwrap();
    let target = rows[from].split_whitespace().last().unwrap();
    assert!(to < from && rows[to].contains(&format!("│ {target} ")), "{text}");
    let (inlined, outer) = (line_of("x ^= x >> 7;"), line_of("i < 5 * UNIT"));
    assert!(
        rows[to..from].iter().any(|row| row.contains(&format!("│  work.c:{inlined}  x ^= x >> 7;  [mix]"))),
        "{text}"
    );
    assert!(rows[to..from].iter().any(|row| row.contains(&format!("│  work.c:{outer}  "))), "{text}");
}

#[test]
fn what_a_symbol_means() {
    let symbols = |name: &str, symbol: &str| -> Vec<(String, bool)> {
        let functions = json(name, &[symbol, "-q"]);
        let functions = array(&functions["functions"]).clone();
        let found = functions.iter().map(|function| {
            (function["symbol"].as_str().unwrap().to_owned(), function["inlined"].as_bool().unwrap())
        });
        found.collect()
    };
    let is = |name: &str, inlined: bool| vec![(name.to_owned(), inlined)];
    assert_eq!(symbols("main", "spin_five"), is("spin_five", false));
    assert_eq!(symbols("main", "mix"), is("mix", true), "a function that is only inlined");
    let (hottest, ..) = hottest();
    let address = hottest["address"].as_str().unwrap();
    assert_eq!(symbols("main", address), is("spin_five", false), "an address of the linker");
    assert_eq!(symbols("main", "work:spin_three"), is("spin_three", false));
    let line = |text: &str| format!("work.c:{}", line_of(text));
    assert_eq!(symbols("main", &line("i < 5 * UNIT")), is("spin_five", false), "a line");
    assert_eq!(symbols("main", &line("x ^= x >> 7;")), is("mix", true), "a line of what is inlined");
    let found = symbols("main", "/^spin_/");
    assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["spin_five", "spin_three"]);
    // With and without parameters, and as the compiler mangled it.
    let tree = "forest::Tree<unsigned int>::insert_below";
    let full = "forest::Tree<unsigned int>::insert_below(forest::Node<unsigned int>*, unsigned int)";
    for symbol in [tree, full, "_ZN6forest4TreeIjE12insert_belowEPNS_4NodeIjEEj"] {
        // It is inlined into itself, too.
        let found = symbols("dwarf", symbol);
        assert!(found.contains(&(tree.to_owned(), false)), "{symbol}: {found:?}");
        assert!(found.iter().all(|(name, _)| name == tree), "{symbol}: {found:?}");
    }
    let output = tool::run(&arguments("main", &["/^spin_/"]));
    assert!(tool::stderr(&output).contains("2 functions are meant by /^spin_/"), "{}", tool::stderr(&output));
}

#[test]
fn inlined_functions_have_only_their_own_instructions() {
    let annotated = json("main", &["mix"]);
    let function = &annotated["functions"][0];
    let parts = array(&function["parts"]);
    let hosts: Vec<&str> = parts.iter().map(|part| part["symbol"].as_str().unwrap()).collect();
    assert!(hosts.contains(&"spin_five") && hosts.contains(&"spin_three"), "{hosts:?}");
    let lines: Vec<u64> = array(&function["lines"]).iter().filter_map(|line| line["line"].as_u64()).collect();
    assert!(lines.iter().all(|line| (30..=35).contains(line)), "only lines of mix: {lines:?}");
    // By lines, the samples of spin_five and spin_three that are on those of mix.
    let expected: u64 = ["spin_five", "spin_three"]
        .iter()
        .map(|host| {
            let host = json("main", &[host]);
            let lines = array(&host["functions"][0]["lines"]).clone();
            let inner = lines.iter().filter(|line| line["inlined"] == "mix");
            inner.map(|line| own(&line["events"][0]).1).sum::<u64>()
        })
        .sum();
    let of_hosts =
        parts.iter().filter(|part| ["spin_five", "spin_three"].contains(&part["symbol"].as_str().unwrap()));
    assert_eq!(sum(of_hosts, 0).1, expected);
}

#[test]
fn what_is_called_counts_once_for_each_line() {
    let annotated = json("dwarf", &["--inclusive", "/insert/", "-q"]);
    let report: Value = {
        let mut arguments =
            vec!["report".to_owned(), "--json".into(), "--children".into(), "--sort".into(), "symbol".into()];
        arguments.extend(places()[..4].iter().cloned());
        arguments.push(fixture("dwarf").to_str().unwrap().to_owned());
        serde_json::from_str(&tool::answer(&arguments)).unwrap()
    };
    let mut more = 0;
    for function in array(&annotated["functions"]).iter().filter(|function| function["inlined"] == false) {
        let rows = array(&report["events"][0]["rows"]);
        let row = rows.iter().find(|row| row["symbol"] == function["symbol"]).unwrap();
        let total = function["events"][0]["total_period"].as_u64().unwrap();
        assert_eq!(total, row["total_period"].as_u64().unwrap(), "{}", function["symbol"]);
        for line in array(&function["lines"]) {
            let numbers = &line["events"][0];
            assert!(numbers["total_period"].as_u64().unwrap() <= total, "{line}");
            assert!(numbers["total_period"].as_u64() >= numbers["self_period"].as_u64(), "{line}");
            more += u64::from(numbers["total_period"].as_u64() > numbers["self_period"].as_u64());
        }
    }
    assert!(more > 0, "no line calls anything");
}

#[test]
fn source_files_are_found_where_the_user_says() {
    let dir = scratch();
    let work = std::fs::read_to_string(kind("src").join("work.c")).unwrap();
    let at = |path: &Path| path.to_str().unwrap().to_owned();
    let run = |more: &[&str]| {
        let bin = at(&kind("bin"));
        let recording = at(&fixture("main"));
        let all = [&["annotate", "--symfs", "/nowhere", "--symbols", &bin], more, &[&recording, "spin_five"]]
            .concat();
        tool::answer(&all)
    };
    let line = "x ^= x >> 7;";
    assert!(run(&[]).contains("./work.c: no such file here; --source DIR looks below DIR"));
    // By the end of the path, and by another beginning of it.
    std::fs::write(dir.path().join("work.c"), &work).unwrap();
    assert!(run(&["--source", &at(dir.path())]).contains(line));
    let prefix = format!("./={}", at(dir.path()));
    assert!(run(&["--source-prefix", &prefix]).contains(line));
    // Cut: another file than the one that was compiled.
    let cut: String = work.lines().take(35).map(|line| format!("{line}\n")).collect();
    std::fs::write(dir.path().join("work.c"), cut).unwrap();
    let text = run(&["--source", &at(dir.path())]);
    assert!(text.contains("work.c: it has 35 lines, and line "), "{text}");
    // Nobody writes to the fifo: whoever opened it would wait.
    std::fs::remove_file(dir.path().join("work.c")).unwrap();
    assert!(Command::new("mkfifo").arg(dir.path().join("work.c")).status().unwrap().success());
    let text = run(&["--source", &at(dir.path())]);
    assert!(text.contains("work.c: not a regular file"), "{text}");
}

#[test]
fn lines_alone_and_whole_files() {
    let lines = text("main", &["spin_five", "--no-asm"]);
    assert!(lines.contains("  mix, inlined, in "), "{lines}");
    let number = line_of("x ^= x >> 7;");
    assert!(
        lines.contains(&format!("│ {number}          x ^= x >> 7;\n")) && !lines.contains("%rax"),
        "{lines}"
    );
    assert!(!lines.contains("int main("), "{lines}");
    let files = text("main", &["spin_five", "--source-only"]);
    let source = std::fs::read_to_string(kind("src").join("work.c")).unwrap();
    assert_eq!(files.lines().filter(|line| line.contains('│')).count(), source.lines().count() + 1);
    let code = text("main", &["spin_five", "--no-source", "-M", "intel"]);
    assert!(code.contains("mov    rdx,rax") && !code.contains("work.c"), "{code}");
}

#[test]
fn columns_and_what_shares_are_of() {
    let (hottest, function, all) = hottest();
    let address = hottest["address"].as_str().unwrap().strip_prefix("0x").unwrap().to_owned();
    let row = |more: &[&str]| -> Vec<String> {
        let text = text("main", &[&["spin_five", "--no-source"], more].concat());
        let row = text.lines().find(|line| line.contains(&format!("│ {address} "))).unwrap();
        row.split('│').next().unwrap().split_whitespace().map(str::to_owned).collect()
    };
    let (period, samples) = own(&hottest["events"][0]);
    assert_eq!(row(&[]), [percent(period, function.0)]);
    assert_eq!(row(&["--percent-type", "global-period"]), [percent(period, all.0)]);
    assert_eq!(row(&["--percent-type", "local-hits"]), [percent(samples, function.1)]);
    assert_eq!(row(&["--percent-type", "global-hits"]), [percent(samples, all.1)]);
    assert_eq!(row(&["-n"]), [samples.to_string()]);
    let three = row(&["-n", "--show-total-period", "--show-share"]);
    assert_eq!(three[..2], [percent(period, function.0), samples.to_string()]);
    assert_eq!(three[2].replace(',', ""), period.to_string());
    let several = text("group", &["spin_five", "-n"]);
    assert!(several.contains("cpu-clock") && several.contains("page-faults"), "{several}");
}

#[test]
fn what_is_not_there_is_told() {
    let fails = |arguments: &[String], status: i32, words: &str| {
        let output = tool::run(arguments);
        let stderr = tool::stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    };
    fails(&arguments("main", &["spin_fiv"]), 1, "no sample was taken in spin_fiv; names with it: spin_five");
    fails(
        &arguments("main", &["spni_five"]),
        1,
        "no sample was taken in spni_five (did you mean spin_five?)",
    );
    fails(&arguments("main", &["/(/"]), 2, "/(/: unclosed group");
    fails(&arguments("main", &["--itrace=i0"]), 2, "AUX");
    // The kernel that was recorded is not here, and neither is its source.
    let kernel = report("kernel", &[])
        .into_keys()
        .find(|(_, dso, name)| dso == "[kernel.kallsyms]" && !name.starts_with("0x"));
    if let Some((_, _, name)) = kernel {
        let text = fails(&arguments("kernel", &[&name]), 1, "neither code nor source is known");
        assert!(
            text.contains("no instructions: ") && text.contains(&name),
            "samples by address are shown: {text}"
        );
    }
}

#[test]
fn command_lines_of_perf_are_taken() {
    let path = fixture("main");
    let path = path.to_str().unwrap();
    let expected = text("main", &["spin_five"]);
    let places = places();
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    for words in [
        &["annotate", "--stdio", "-i", path, "-s", "spin_five"][..],
        &["annotate", "--stdio", "-l", "-f", "-i", path, "spin_five"],
        &["annotate", "--objdump=/usr/bin/objdump", "-i", path, "spin_five", "--source"],
        &["annotate", "-i", path, "--source", "spin_five"],
    ] {
        assert_eq!(tool::answer(&[words, &places].concat()), expected, "{words:?}");
    }
}

/// `--inclusive` lists what only calls others, too; without it there is nothing to list.
#[test]
fn what_only_calls_is_listed_with_all_below_it() {
    let annotated = json("multi", &["--inclusive", "main", "-q"]);
    // That of another program takes time itself, and comes first.
    let function = &annotated["functions"][1];
    assert_eq!((&function["symbol"], &function["parts"][0]["dso"]), (&"main".into(), &"work".into()));
    assert!(function["parts"].as_array().is_some_and(|parts| !parts.is_empty()), "{function}");
    let sums = |what: &str| function["events"][0][what].as_u64();
    assert_eq!((sums("self_period"), sums("total_period")), (Some(0), Some(28_028_028)));
    let alone = tool::run(&["annotate", "-q", fixture("multi").to_str().unwrap(), "main"]);
    assert_eq!(alone.status.code(), Some(1));
    assert!(tool::stderr(&alone).contains("no sample was taken in main"));
}
