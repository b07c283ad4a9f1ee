//! `readperf view`: the server answers with the numbers of `report`, and nobody but who has the address. What the page makes of it is
//! tested in a browser (`tests/browser`).
#![cfg(feature = "view")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may fail loudly"
)]

mod handmade;
mod oracle;

use handmade::{Attr, PID, Pipe, Sample};
use oracle::{fixture, scratch, tool};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// A server that ends with the test.
struct Server {
    child: Child,
    /// Host and port.
    host: String,
    /// The path of the page, with the token.
    path: String,
    /// The query of the address that is opened, without its question mark.
    first: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(words: &[&str]) -> Server {
        Server::start_on(words, &[])
    }

    /// With these bytes on standard input.
    fn start_on(words: &[&str], input: &[u8]) -> Server {
        let mut command = tool::command();
        command.args(["view", "--no-open"]).args(words);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("http://").unwrap_or_else(|| panic!("{line:?}"));
        let (host, path) = address.split_once('/').unwrap();
        let (path, first) = path.split_once('?').unwrap_or((path, ""));
        Server { child, host: host.to_owned(), path: format!("/{path}"), first: first.to_owned() }
    }

    /// The server of an export: the address that is printed is that of a viewer, which has that of the file in it.
    fn of_export(words: &[&str], viewer: &str) -> Server {
        let mut command = tool::command();
        command.args(["view", "--no-open", "--in", viewer]).args(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (_, file) = line.trim_end().split_once("http%3A%2F%2F").unwrap_or_else(|| panic!("{line:?}"));
        let file = file.replace("%3A", ":").replace("%2F", "/");
        let (host, path) = file.split_once('/').unwrap();
        Server { child, host: host.to_owned(), path: format!("/{path}"), first: String::new() }
    }

    /// Status and body of an answer.
    fn ask(&self, path: &str, headers: &[&str]) -> (u32, String) {
        let (head, body) = self.request("GET", path, headers);
        (head.split(' ').nth(1).unwrap().parse().unwrap(), String::from_utf8(body).unwrap())
    }

    /// Head and body of an answer.
    fn request(&self, method: &str, path: &str, headers: &[&str]) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let host = format!("Host: {}", self.host);
        let has_host = headers.iter().any(|header| header.starts_with("Host:"));
        let own = if has_host { None } else { Some(host.as_str()) };
        let headers: Vec<&str> = own.into_iter().chain(headers.iter().copied()).collect();
        write!(stream, "{method} {path} HTTP/1.1\r\nConnection: close\r\n{}\r\n\r\n", headers.join("\r\n"))
            .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let body = answer.split_off(end + 4);
        (String::from_utf8(answer).unwrap(), body)
    }

    fn data(&self, view: &str) -> Value {
        let (status, body) = self.ask(&format!("{}data/{view}", self.path), &[]);
        assert_eq!(status, 200, "{view}: {body}");
        serde_json::from_str(&body).unwrap()
    }
}

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&tool::answer(words)).unwrap()
}

#[test]
fn functions_are_the_rows_of_report() {
    let path = fixture("multi");
    let path = path.to_str().unwrap();
    let server = Server::start(&[path]);
    let questions: [(&str, &[&str]); 5] = [
        ("functions?sort=total", &[]),
        ("functions?comm=tree", &["--comm", "tree"]),
        ("functions?focus=_dl_&event=0", &["--focus", "_dl_"]),
        ("functions?ignore=_dl_&tid=32213", &["--ignore", "_dl_", "--tid", "32213"]),
        ("functions?hide=%5E_dl_", &["--hide", "^_dl_"]),
    ];
    for (question, options) in questions {
        let report = json(&[&["report", "--json", "--sort", "dso,symbol", path], options].concat());
        functions_are_rows(&server.data(question), &report["events"][0], question);
    }
}

/// The functions of an answer are the rows of an event of `report --json`.
fn functions_are_rows(answer: &Value, event: &Value, what: &str) {
    let expected = event["rows"].as_array().unwrap_or_else(|| panic!("{what}: no rows in {event}"));
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), expected.len(), "{what}");
    assert_eq!(answer["whole"], event["period"], "{what}");
    for row in rows {
        let mark = if row["kind"] == "inlined" { " (inlined)" } else { "" };
        let name = format!("{}{mark}", row["name"].as_str().unwrap());
        let dso = if row["binary"] == "" { "[unknown]" } else { row["binary"].as_str().unwrap() };
        let same = |other: &&Value| other["symbol"] == *name && other["dso"] == *dso;
        let other = expected.iter().find(same).unwrap_or_else(|| panic!("{what}: {row}"));
        assert_eq!(
            (&row["self"], &row["total"]),
            (&other["self_period"], &other["total_period"]),
            "{what}: {name}"
        );
    }
}

/// Options choose in the address what they choose of a report, and nothing is lost with them.
#[test]
fn options_are_what_the_opened_address_chooses() {
    let (path, dir) = (fixture("multi"), scratch());
    // Not those of the kernel that runs, which may be the recorded one.
    let list = dir.path().join("kallsyms");
    let symbols =
        ["ffffffff81000000 T _text", "ffffffff81600000 T exc_page_fault", "ffffffff81602000 T behind"];
    std::fs::write(&list, symbols.join("\n") + "\n").unwrap();
    let recording = [path.to_str().unwrap(), "--kallsyms", list.to_str().unwrap()];
    let all = Server::start(&recording);
    assert_eq!(all.first, "");
    let summary = all.data("summary");
    let tids: Vec<String> = summary["processes"][0]["threads"]
        .as_array()
        .unwrap()
        .iter()
        .take(2)
        .map(|thread| thread["tid"].to_string())
        .collect();
    let tids = tids.join(",");
    let cases: [&[&str]; 15] = [
        &["--comm", "tree,work-one"],
        &["--tid", &tids],
        &["--pid", "32213"],
        &["--cpu", "1,3-4"],
        &["--time", "10%-40%"],
        &["--time", "10%-20%,50%-70%"],
        &["--event", "page-faults/period=16/"],
        &["--dso", "tree,ld-linux-x86-64.so.2", "--focus", "start_thread", "--focus", "^__libc_start"],
        &["--symbol", "exc_page_fault"],
        &["--hide-unresolved"],
        &["--exclude-other", "--parent", "start_thread", "--focus", "start"],
        &["--socket-filter", "0", "--cpu", "1"],
        &["--symbol-filter", "page", "--ignore", "relocate"],
        &["--hide", "^_dl_", "--hide", "main", "--collapse-recursion"],
        &[
            "--show-from",
            "^__libc_start_call_main$",
            "--collapse",
            "libc.so.6,[kernel.kallsyms]",
            "--drop-prefix",
            "_dl_",
        ],
    ];
    for options in cases {
        let what = options.join(" ");
        let server = Server::start(&[&recording, options].concat());
        let report = ["report", "--json", "--sort", "dso,symbol"];
        let report = json(&[&report[..], &recording, options].concat());
        let chosen = server.data(&format!("summary?{}", server.first));
        let name = &chosen["events"][usize::try_from(chosen["event"].as_u64().unwrap()).unwrap()]["name"];
        let event = report["events"]
            .as_array()
            .unwrap()
            .iter()
            .find(|event| event["name"] == *name)
            .unwrap_or_else(|| panic!("{what}: nothing of {name}"));
        functions_are_rows(&server.data(&format!("functions?{}", server.first)), event, &what);
        assert_eq!(server.data("functions")["rows"], all.data("functions")["rows"], "{what}: taken back");
        assert_eq!(chosen["events"], summary["events"], "{what}: what there is to choose from");
    }
}

/// Exports cannot choose by them: that is said, and nothing is served.
#[test]
fn filters_of_rows_are_not_for_other_viewers() {
    let path = fixture("multi");
    for options in
        [&["--hide-unresolved"][..], &["--exclude-other"], &["--parent", "a"], &["--socket-filter", "0"]]
    {
        let mut command = tool::command();
        command.args(["view", "--no-open", "--in", "speedscope"]).args(options).arg(&path);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        if !address.is_empty() {
            // A server does not end by itself.
            child.kill().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        let told = tool::stderr(&output);
        assert!(output.status.code() == Some(2) && address.is_empty(), "{options:?}: {address}{told}");
        assert!(told.contains(&format!("{} is not for --in", options[0])), "{told}");
    }
}

/// What a report says besides its numbers, the page says, too.
#[test]
fn how_far_it_is_to_be_trusted_is_what_report_tells() {
    for name in ["cut", "killed", "dwarf", "multi"] {
        let path = fixture(name);
        let path = path.to_str().unwrap();
        let run = tool::command().args(["report", path]).output().unwrap();
        let stderr = tool::stderr(&run);
        let expected: Vec<&str> =
            stderr.lines().filter_map(|line| line.strip_prefix(&format!("readperf: {path}: "))).collect();
        assert_eq!(expected.is_empty(), name == "multi", "{name}: {stderr}");
        let summary = Server::start(&[path]).data("summary");
        let told = [&summary["told"], &summary["damage"]].map(|list| list.as_array().unwrap().clone());
        let told: Vec<&str> = told.iter().flatten().map(|one| one.as_str().unwrap()).collect();
        assert_eq!(told, expected, "{name}");
    }
}

/// A file has only what options choose, and says what that is.
#[test]
fn options_of_a_file_are_told() {
    let path = fixture("multi");
    let path = path.to_str().unwrap();
    let options = ["--comm", "tree", "--hide", "^_dl_", "--weight", "samples"];
    let answers = stored(&tool::answer(&[&["export", "--format", "page", path][..], &options].concat()));
    let of = |view: &str| answers[&["0/", view, ""].map(str::to_owned)].clone();
    assert_eq!(
        of("summary")["fixed"],
        serde_json::json!([["weight", "samples"], ["comm", "tree"], ["hide", "^_dl_"]])
    );
    let server = Server::start(&[path]);
    let rows = &server.data("functions?comm=tree&hide=%5E_dl_&weight=samples")["rows"];
    assert!(rows.as_array().unwrap().len() > 3);
    assert_eq!(&of("functions")["rows"], rows);
    let whole = stored(&tool::answer(&["export", "--format", "page", path]));
    assert!(whole[&["0/", "summary", ""].map(str::to_owned)].get("fixed").is_none());
}

/// Stacks and what they weigh, as they are exported for flame graphs; the first word of a stack is a thread's name.
struct Folded(Vec<(Vec<String>, u64)>);

impl Folded {
    fn of(path: &str) -> Folded {
        let text = tool::answer(&["export", "-f", "folded", "--event", "cpu-clock", path]);
        let stacks = text.lines().map(|line| {
            let (stack, period) = line.rsplit_once(' ').unwrap();
            (stack.split(';').map(str::to_owned).collect(), period.parse().unwrap())
        });
        Folded(stacks.collect())
    }

    fn names(&self) -> BTreeSet<&str> {
        self.0.iter().flat_map(|(stack, _)| stack[1..].iter().map(String::as_str)).collect()
    }

    fn sum(&self, has: impl Fn(&[String]) -> bool) -> u64 {
        self.0.iter().filter(|(stack, _)| has(stack)).map(|(_, period)| period).sum()
    }

    /// A stack counts once for a call, however often the call is in it.
    fn calls(&self, caller: &str, callee: &str) -> u64 {
        self.sum(|stack| stack.windows(2).any(|pair| pair[0] == caller && pair[1] == callee))
    }
}

fn calls_of(server: &Server, name: &str) -> Value {
    let encoded: String = name.bytes().map(|byte| format!("%{byte:02x}")).collect();
    server.data(&format!("sandwich?function={encoded}"))
}

/// Compares callers and callees with folded stacks, and returns how many there are. `total` and `own` are the names of the sums.
fn calls_are_those_of(folded: &Folded, answer: &Value, name: &str, total: &str, own: &str) -> usize {
    let is_in = |stack: &[String]| stack[1..].iter().any(|one| one == name);
    assert_eq!(answer["function"][total], folded.sum(is_in), "{name}");
    let ends_in = |stack: &[String]| stack[1..].last().is_some_and(|one| one == name);
    assert_eq!(answer["function"][own], folded.sum(ends_in), "{name}");
    let sides = ["callers", "callees"].map(|side| answer[side].as_array().unwrap());
    for call in sides[0] {
        let caller = call["name"].as_str().unwrap();
        assert_eq!(call[total], folded.calls(caller, name), "{caller} calls {name}");
    }
    for call in sides[1] {
        let callee = call["name"].as_str().unwrap();
        assert_eq!(call[total], folded.calls(name, callee), "{name} calls {callee}");
    }
    sides[0].len() + sides[1].len()
}

#[test]
fn calls_are_those_of_the_folded_stacks() {
    let path = fixture("multi");
    let path = path.to_str().unwrap();
    let folded = Folded::of(path);
    let server = Server::start(&[path]);
    assert!(folded.names().len() > 3);
    for name in folded.names() {
        let answer = calls_of(&server, name);
        calls_are_those_of(&folded, &answer, name, "total", "self");
        assert!(answer["function"].get("before").is_none(), "nothing is compared: {name}");
    }
}

/// Also of what only one of the recordings has.
#[test]
fn compared_calls_are_those_of_the_folded_stacks_of_both() {
    let path = fixture("multi");
    let dir = tempfile::tempdir().unwrap();
    let half = dir.path().join("half.data");
    let (path, half) = (path.to_str().unwrap(), half.to_str().unwrap());
    tool::answer(&["edit", path, "-o", half, "--time", "0%-70%"]);
    let (whole, part) = (Folded::of(path), Folded::of(half));
    assert!(part.names().len() > 3 && part.names().len() < whole.names().len());
    for (now, before, files) in [(&whole, &part, [path, half]), (&part, &whole, [half, path])] {
        let server = Server::start(&["--base", files[1], files[0]]);
        let mut calls = 0;
        for name in whole.names() {
            let answer = calls_of(&server, name);
            calls += calls_are_those_of(now, &answer, name, "total", "self");
            calls_are_those_of(before, &answer, name, "before", "self_before");
        }
        assert!(calls > 10, "{calls}");
    }
}

/// Each process has code of its own, but where recordings are compared it is called by its kind.
#[test]
fn generated_functions_are_found_by_both_names() {
    const GENERATED: u64 = 0x7f00_0000_0000;
    let dir = tempfile::tempdir().unwrap();
    let (path, symbols) = (dir.path().join("perf.data"), dir.path().to_str().unwrap());
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.comm(PID, PID, b"runtime");
    pipe.map(PID, GENERATED, "//anon", None, 0);
    let chain = vec![-512i64 as u64, GENERATED + 0x11, GENERATED + 1];
    pipe.samples(7, &Sample { ip: GENERATED + 0x11, chain, ..Sample::default() });
    std::fs::write(&path, &pipe.bytes).unwrap();
    let functions = format!("{GENERATED:x} 10 Hot.main\n{:x} 10 Hot.burn\n", GENERATED + 0x10);
    std::fs::write(dir.path().join(format!("perf-{PID}.map")), functions).unwrap();
    let path = path.to_str().unwrap();
    let server = Server::start(&["--symbols", symbols, "--base", path, path]);
    let rows = server.data("functions");
    let row = rows["rows"].as_array().unwrap().iter().find(|row| row["name"] == "Hot.burn").unwrap();
    let own = row["binary"].as_str().unwrap();
    assert_ne!(own, "[JIT]");
    for binary in [own, "[JIT]"] {
        let query = format!("function=Hot.burn&binary={}", binary.replace(' ', "%20"));
        let calls = server.data(&format!("sandwich?{query}"));
        assert_eq!(calls["callers"][0]["name"], "Hot.main", "{binary}: {calls}");
        let [now, before] = ["total", "before"].map(|sum| calls["function"][sum].as_u64().unwrap());
        assert!(now > 0 && now == before, "{binary}: {calls}");
        // An answer at all: an error has another status.
        server.data(&format!("code?{query}"));
    }
    assert!(server.data("sandwich?function=Hot.burn&binary=other")["function"].is_null());
}

#[test]
fn records_are_those_of_dump() {
    for name in ["multi", "zstd", "pipe", "tracepoints"] {
        let path = fixture(name);
        let dumped = tool::answer(&["dump", "--json", path.to_str().unwrap()]);
        let expected: Vec<Value> = dumped.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let server = Server::start(&[path.to_str().unwrap()]);
        let mut at = 0;
        while at < expected.len() {
            let answer = server.data(&format!("records?at={at}&count=300"));
            assert_eq!((&answer["all"], &answer["count"]), (&expected.len().into(), &expected.len().into()));
            let rows = answer["rows"].as_array().unwrap();
            assert!(!rows.is_empty(), "{name}: {at}");
            for (row, record) in rows.iter().zip(&expected[at..]) {
                for field in ["index", "offset", "part", "type", "number", "misc", "size", "time", "event"] {
                    assert_eq!(row.get(field), record.get(field), "{name}: {field} of {record}");
                }
            }
            at += rows.len();
        }
        // Those of each type, counted and found.
        let types = server.data("records?count=0")["types"].clone();
        for kind in types.as_array().unwrap() {
            let of: Vec<&Value> =
                expected.iter().filter(|record| record["number"] == kind["number"]).collect();
            assert_eq!(kind["count"], of.len(), "{name}: {kind}");
            let last = of.last().unwrap();
            let place = format!("records?kind={}&goto=%23{}&count=9", kind["number"], last["index"]);
            let answer = server.data(&place);
            assert_eq!(
                (&answer["at"], &answer["rows"][0]["index"]),
                (&(of.len() - 1).into(), &last["index"])
            );
            assert_eq!(answer["rows"].as_array().unwrap().len(), 1, "{name}: {kind}");
        }
        let mut found = Vec::new();
        let mut next = Value::from(0);
        while let Some(after) = next.as_u64() {
            let answer = server.data(&format!("find?search=MMAP2%7Cidle&count=7&after={after}"));
            found.extend(answer["rows"].as_array().unwrap().iter().map(|row| row["index"].clone()));
            next = answer["next"].clone();
        }
        let text = tool::answer(&["dump", path.to_str().unwrap()]);
        let texts = format!("\n{text}").replace("\n0x", "\n\u{0}0x");
        let texts = texts.split('\u{0}').skip(1).zip(&expected);
        let is_it = |text: &str| text.contains("MMAP2") || text.contains("idle");
        let matching: Vec<Value> =
            texts.filter(|(text, _)| is_it(text)).map(|(_, record)| record["index"].clone()).collect();
        assert_eq!(found, matching, "{name}");
    }
}

#[test]
fn records_of_a_stream_are_gone() {
    let pipe = std::fs::read(fixture("pipe")).unwrap();
    let server = Server::start_on(&["-"], &pipe);
    let why = server.data("records")["why"].as_str().unwrap().to_owned();
    assert!(why.contains("stream"), "{why}");
    let (status, told) = server.ask(&format!("{}data/record?number=0", server.path), &[]);
    assert!(status == 400 && told == why, "{status} {told}");
}

#[test]
fn changes_are_those_of_diff() {
    let folder = tempfile::tempdir().unwrap();
    let (path, half) = (fixture("multi"), folder.path().join("half.data"));
    let (path, half) = (path.to_str().unwrap(), half.to_str().unwrap());
    tool::answer(&["edit", path, "-o", half, "--time", "0%-50%"]);
    let server = Server::start(&["--base", half, path]);
    let diff = json(&["diff", "--json", "--by", "dso,function", half, path]);
    for event in diff["events"].as_array().unwrap() {
        let events = server.data("summary")["events"].as_array().unwrap().clone();
        let nr = events.iter().position(|other| other["name"] == event["name"]).unwrap();
        let answer = server.data(&format!("functions?event={nr}"));
        let rows = answer["rows"].as_array().unwrap();
        for row in event["rows"].as_array().unwrap() {
            let (dso, symbol) = (row["dso"].as_str().unwrap(), row["symbol"].as_str().unwrap());
            // What has no name is one row there, and a row for each address here.
            let is_it = |other: &&Value| {
                other["binary"] == dso
                    && (other["name"] == symbol || symbol == format!("[{dso}]"))
                    && other["change"] != Value::Null
            };
            let other = rows.iter().find(is_it).unwrap_or_else(|| panic!("{event}: {row}"));
            let change = &other["change"];
            for (ours, theirs) in [("before", "base"), ("now", "new"), ("presence", "presence")] {
                assert_eq!(change[ours], row[theirs], "{symbol}");
            }
        }
        let flame = server.data(&format!("flame?event={nr}"));
        assert_eq!(
            [&flame["newWeight"][0], &flame["baseWeight"][0]].map(|sum| sum.as_f64().unwrap()),
            [&event["new_period"], &event["base_period"]].map(|sum| sum.as_f64().unwrap())
        );
        let tree = server.data(&format!("tree?event={nr}"));
        let before: u64 =
            tree["calls"].as_array().unwrap().iter().map(|call| call["before"].as_u64().unwrap()).sum();
        assert_eq!(tree["whole_before"], before);
    }
}

/// The answers that a file has inside, by state, view and question.
fn stored(document: &str) -> BTreeMap<[String; 3], Value> {
    use base64::Engine as _;
    let (_, rest) = document.split_once("id=\"stored\">").unwrap();
    let (text, _) = rest.split_once("</script>").unwrap();
    let packed = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    let mut json = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut json).unwrap();
    let stored: Value = serde_json::from_str(&json).unwrap();
    let one = |one: &Value| ([0, 1, 2].map(|part| one[0][part].as_str().unwrap().to_owned()), one[1].clone());
    stored["answers"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn a_file_has_the_answers_of_the_server() {
    let path = fixture("multi");
    let path = path.to_str().unwrap();
    let document = tool::answer(&["export", "--format", "page", path]);
    let answers = stored(&document);
    let server = Server::start(&[path]);
    let questions = [
        ("0/", "summary", "", "summary?event=0"),
        ("0/", "functions", "", "functions?event=0"),
        ("1/", "functions", "", "functions?event=1"),
        ("0/", "flame", "", "flame?event=0&columns=20000"),
        ("1/", "flame", "1", "flame?event=1&inverted=1&columns=20000"),
        ("0/", "time", "", "time?event=0&buckets=1000"),
        ("0/", "recording", "stats", "recording?part=stats"),
    ];
    for (state, view, of, question) in questions {
        let answer = answers.get(&[state, view, of].map(str::to_owned));
        assert_eq!(answer, Some(&server.data(question)), "{question}");
    }
    for view in ["sandwich", "code"] {
        let of_view = answers.iter().filter(|([state, other, _], _)| state == "0/" && other == view);
        let mut count = 0;
        for ([_, _, of], answer) in of_view.take(10) {
            let [function, binary] = of.split('\n').collect::<Vec<_>>().try_into().unwrap();
            let encoded =
                |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02x}")).collect() };
            let question =
                format!("{view}?event=0&function={}&binary={}", encoded(function), encoded(binary));
            assert_eq!(answer, &server.data(&question), "{view} of {of}");
            count += 1;
        }
        assert!(count > 3, "{view}: {count}");
    }
    // Nothing but its own script is run.
    assert_eq!(document.matches("<script").count(), 2);
    assert!(
        document.contains("default-src 'none'; script-src 'sha256-") && !document.contains("unsafe-inline")
    );
}

#[test]
fn only_who_has_the_address_is_answered() {
    let path = fixture("main");
    let server = Server::start(&[path.to_str().unwrap()]);
    let (status, page) = server.ask(&server.path, &[]);
    assert_eq!(status, 200);
    let report = json(&["report", "--json", "--no-children", "--sort", "dso,symbol", path.to_str().unwrap()]);
    let hottest = report["events"][0]["rows"][0]["symbol"].as_str().unwrap();
    assert!(page.contains(&format!("<td>{hottest}</td>")), "{page}");
    let functions = format!("{}data/functions", server.path);
    assert_eq!(server.ask("/", &[]).0, 404);
    assert_eq!(server.ask(&functions.replacen(|c: char| c.is_ascii_hexdigit(), "x", 1), &[]).0, 404);
    assert_eq!(server.ask(&functions, &["Host: example.com"]).0, 403);
    assert_eq!(server.ask(&functions, &["Host: localhost:1"]).0, 200);
    assert_eq!(server.ask(&functions, &["Origin: http://example.com"]).0, 403);
    for name in ["main.js", "flame.js", "flame.css", "page.css", "icon.svg", "state.js"] {
        assert_eq!(server.ask(&format!("{}page/{name}", server.path), &[]).0, 200, "{name}");
    }
    assert_eq!(server.ask(&format!("{}page/../Cargo.toml", server.path), &[]).0, 404);
    let (status, told) = server.ask(&format!("{functions}?focus=("), &[]);
    assert!(status == 400 && told.starts_with("focus=("), "{status} {told}");
}

#[test]
fn a_port_that_is_taken_is_told() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output =
        tool::command().args(["view", "--no-open", "--port", &port]).arg(fixture("main")).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && told.contains(&format!("port {port}")), "{told}");
    assert!(output.stdout.is_empty());
}

/// The file is the export, and only the viewer's page may fetch it.
#[test]
fn a_viewer_gets_the_export() {
    let path = fixture("multi");
    let path = path.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (viewer, origin, file) in [
        ("firefox", "https://profiler.firefox.com", "profile.json.gz"),
        ("speedscope", "https://www.speedscope.app", "profile.speedscope.json"),
    ] {
        let out = folder.path().join(file);
        tool::answer(&["export", "--comm", "tree", "-o", out.to_str().unwrap(), path]);
        let server = Server::of_export(&["--comm", "tree", path], viewer);
        let allowed = format!("Origin: {origin}");
        let (head, body) = server.request("GET", &server.path, &[&allowed, "Sec-Fetch-Site: cross-site"]);
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.contains(&format!("\r\naccess-control-allow-origin: {origin}\r\n")), "{head}");
        assert!(body == std::fs::read(&out).unwrap(), "{viewer}: not what export writes");

        // What browsers ask before.
        let asks = [
            allowed.as_str(),
            "Access-Control-Request-Private-Network: true",
            "Access-Control-Request-Method: GET",
        ];
        let (head, body) = server.request("OPTIONS", &server.path, &asks);
        assert!(head.starts_with("HTTP/1.1 204") && body.is_empty(), "{head}");
        assert!(head.contains("access-control-allow-private-network: true"), "{head}");

        let status = |method: &str, path: &str, headers: &[&str]| {
            server.request(method, path, headers).0[9..12].to_owned()
        };
        let token = server.path.split('/').nth(1).unwrap();
        let wrong = server.path.replacen(token, &"0".repeat(token.len()), 1);
        assert_eq!(status("GET", &wrong, &[&allowed]), "404");
        assert_eq!(status("GET", &format!("/{token}/"), &[&allowed]), "404");
        assert_eq!(status("GET", "/", &[&allowed]), "404");
        assert_eq!(status("GET", &server.path, &["Origin: https://example.com"]), "403");
        assert_eq!(status("GET", &server.path, &[&format!("{allowed}.example.com")]), "403");
        assert_eq!(status("OPTIONS", &server.path, &[]), "403");
        assert_eq!(status("GET", &server.path, &["Host: example.com"]), "403");
        assert_eq!(status("POST", &server.path, &[&allowed]), "405");
        assert_eq!(status("GET", &server.path, &[]), "200");
    }
}

#[test]
fn a_viewer_that_is_not_known_or_cannot_be_served_is_told() {
    let path = fixture("main");
    for (words, expected) in [
        (vec!["--in", "firefix"], "did you mean firefox?"),
        (vec!["--in", "perfetto", "--port", "9002"], "may fetch from port 9001 only"),
        (vec!["--in", "firefox", "--viewer-page", "nowhere"], "expected https://"),
        (vec!["--viewer-page", "https://example.com"], "--in"),
    ] {
        let output = tool::command().args(["view", "--no-open"]).args(&words).arg(&path).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && told.contains(expected), "{words:?}: {told}");
    }
}

/// By the slices of the trace for Chrome, which is made of the same switches.
#[test]
fn tracks_say_how_long_threads_had_a_cpu() {
    let path = fixture("everything");
    let path = path.to_str().unwrap();
    let trace: Value = serde_json::from_str(&tool::answer(&["export", "-f", "chrome", path])).unwrap();
    let dumped = tool::answer(&["dump", "--json", "--type", "sample", path]);
    let time = |line: &str| serde_json::from_str::<Value>(line).unwrap()["time"].as_u64().unwrap();
    let (first, last) = (dumped.lines().map(time).min().unwrap(), dumped.lines().map(time).max().unwrap());
    let server = Server::start(&[path]);
    let whole = server.data("time?buckets=97");
    assert_eq!(whole["length_ns"], last - first);
    let mut threads = 0;
    for track in whole["tracks"].as_array().unwrap() {
        let slices = trace["traceEvents"].as_array().unwrap().iter();
        let of_thread = slices.filter(|slice| slice["tid"] == track["tid"] && slice["cat"] == "running");
        // Times are in µs with three digits behind the point. What is told is the time between the first and the last sample.
        let ns = |slice: &Value| -> u64 {
            format!("{:.3}", slice["ts"].as_f64().unwrap()).replace('.', "").parse().unwrap()
        };
        let within = |slice: &Value| ns(slice).clamp(first, last + 1);
        let (mut begun, mut ended) = (0, 0);
        for slice in of_thread {
            let sum = if slice["ph"] == "b" { &mut begun } else { &mut ended };
            *sum += within(slice);
        }
        assert_eq!(track["running_ns"], ended - begun, "{}", track["tid"]);
        assert!(ended > begun);
        let parts: Vec<u64> =
            track["running"].as_array().unwrap().iter().map(|part| part.as_u64().unwrap()).collect();
        assert!(parts.len() == 97 && parts.iter().all(|part| *part <= 1000));
        let told = track["running_ns"].as_f64().unwrap();
        // A part says thousandths of its length.
        let length = whole["length_ns"].as_f64().unwrap() / 97.0;
        let sum =
            parts.iter().map(|part| f64::from(u32::try_from(*part).unwrap())).sum::<f64>() / 1000.0 * length;
        assert!((sum - told).abs() < length, "{}: {sum} and {told}", track["tid"]);
        threads += 1;
    }
    assert!(threads > 2, "{whole}");
    assert!(
        server.data("time?buckets=97&events=9&tid=1")["running_note"].as_str().unwrap().contains("not shown")
    );
}

#[test]
fn other_events_are_counted_by_time() {
    let path = fixture("multi");
    let path = path.to_str().unwrap();
    let dumped = tool::answer(&["dump", "--json", "--type", "sample", path]);
    let samples: Vec<Value> = dumped.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let times = samples.iter().map(|sample| sample["time"].as_u64().unwrap());
    let (first, last) = (times.clone().min().unwrap(), times.max().unwrap());
    let server = Server::start(&[path]);
    let length = last - first;
    for (from, to) in [(0, length), (length / 4, length / 2), (length - 5, length)] {
        let answer = server.data(&format!("time?events=9&buckets=31&seen={from}-{to}"));
        let tracks = answer["events"].as_array().unwrap();
        assert_eq!((tracks.len(), &answer["events_left_out"]), (2, &0.into()));
        for track in tracks {
            let seen = samples.iter().filter(|sample| {
                sample["event"] == track["name"]
                    && (first + from..=first + to).contains(&sample["time"].as_u64().unwrap())
            });
            let (count, period) = seen
                .fold((0, 0), |(count, sum), sample| (count + 1, sum + sample["period"].as_u64().unwrap()));
            assert_eq!(
                (&track["samples_seen"], &track["period_seen"]),
                (&count.into(), &period.into()),
                "{track}"
            );
            let sum: u64 = track["all"].as_array().unwrap().iter().map(|part| part.as_u64().unwrap()).sum();
            assert_eq!(sum, period);
        }
    }
    let answer = server.data("time?events=1");
    assert_eq!((answer["events"].as_array().unwrap().len(), &answer["events_left_out"]), (1, &1.into()));
}

#[test]
fn the_heat_map_is_that_of_timeline() {
    let path = fixture("multi");
    let path = path.to_str().unwrap();
    let server = Server::start(&[path]);
    for (question, options) in [
        ("columns=80&rows=20", vec!["--columns", "80"]),
        ("columns=30&rows=8&comm=tree", vec!["--columns", "30", "--rows", "8", "--comm", "tree"]),
        ("columns=80&rows=20&focus=_dl_&from=5&to=9", vec!["--columns", "80", "--focus", "_dl_"]),
    ] {
        let timeline = json(&[vec!["timeline", "--json", "--event", "cpu-clock", path], options].concat());
        let (map, answer) = (&timeline["events"][0], server.data(&format!("heat?{question}")));
        for (own, other) in [("column_ns", "column_ns"), ("cell_ns", "cell_ns")] {
            assert_eq!(answer[own], map[other], "{question}: {own}");
        }
        assert_eq!(answer["cells"], map["cells"]["period"], "{question}");
        let by_samples = server.data(&format!("heat?{question}&weight=samples"));
        assert_eq!(by_samples["cells"], map["cells"]["samples"], "{question}");
        let hottest = |list: &Value| list.as_array().unwrap().len();
        assert_eq!(hottest(&by_samples["hottest"]), hottest(&map["hottest"]));
        // Times begin with the first sample of the recording.
        let stretch =
            |list: &Value| list[0]["to_ns"].as_u64().unwrap() - list[0]["from_ns"].as_u64().unwrap();
        assert_eq!(stretch(&by_samples["hottest"]), stretch(&map["hottest"]));
    }
}

/// A frame in order of time: depth, name, what comes before it, what it adds up to.
type Frame = (u64, String, u64, u64);

/// What is the same in one stack after the other is one frame. Every sample counts `period`.
fn joined(stacks: &[(Vec<String>, u64)]) -> BTreeSet<Frame> {
    let (mut frames, mut open): (BTreeSet<Frame>, Vec<(String, u64)>) = (BTreeSet::new(), Vec::new());
    let mut done = 0;
    for (stack, period) in stacks.iter().chain(std::iter::once(&(Vec::new(), 0))) {
        let same = open.iter().zip(stack).take_while(|((name, _), other)| name == *other).count();
        for (depth, (name, from)) in open.drain(same..).enumerate() {
            frames.insert(((same + depth + 1) as u64, name, from, done - from));
        }
        open.extend(stack[same..].iter().map(|name| (name.clone(), done)));
        done += period;
    }
    frames.insert((0, "all".to_owned(), 0, done));
    frames
}

#[test]
fn frames_in_order_of_time_are_runs_of_equal_ones() {
    let path = fixture("multi");
    let path = path.to_str().unwrap();
    let lines = tool::answer(&["export", "-f", "jsonl", "--event", "cpu-clock", path]);
    let mut samples: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    samples.sort_by_key(|sample| sample["time_ns"].as_u64().unwrap());
    let first = samples[0]["time_ns"].as_u64().unwrap();
    let dumped = tool::answer(&["dump", "--json", "--type", "sample", "--limit", "1", "--sorted", path]);
    let origin = serde_json::from_str::<Value>(&dumped).unwrap()["time"].as_u64().unwrap();
    let server = Server::start(&[path]);
    let frames = |question: &str| -> Vec<Frame> {
        let answer = server.data(&format!("flame-time?columns=20000&{question}"));
        let (picture, spans) = (&answer["picture"], answer["spans"].as_array().unwrap());
        assert_eq!(picture["note"], "", "nothing is left out");
        let number = |list: &str, nr: usize| picture[list][nr].as_u64().unwrap();
        let name =
            |nr: usize| picture["names"][usize::try_from(number("name", nr)).unwrap()].as_str().unwrap();
        let frame = |(nr, span): (usize, &Value)| {
            (number("depth", nr), name(nr).to_owned(), span[0].as_u64().unwrap(), number("newWeight", nr))
        };
        spans.iter().enumerate().map(frame).collect()
    };
    let stack = |sample: &Value, root: String| {
        let name = |level: &Value| match level["symbol"].as_str() {
            Some(name) => name.to_owned(),
            None => format!("[{}]", level["dso"].as_str().unwrap_or("unknown").trim_matches(['[', ']'])),
        };
        let levels = sample["stack"].as_array().unwrap().iter().rev().map(name);
        (std::iter::once(root).chain(levels).collect::<Vec<_>>(), sample["period"].as_u64().unwrap())
    };
    let comm = |sample: &Value| sample["comm"].as_str().unwrap().to_owned();
    let all: Vec<_> = samples.iter().map(|sample| stack(sample, comm(sample))).collect();
    let got = frames("order=time");
    assert_eq!(got.iter().cloned().collect::<BTreeSet<_>>(), joined(&all));
    // A caller comes before what it calls, from left to right.
    assert!(got.is_sorted_by_key(|(depth, _, from, _)| (*from, *depth)));

    // Each thread on its own, that with most first.
    let got = frames("order=threads");
    let threads: Vec<&Frame> = got.iter().filter(|(depth, ..)| *depth == 1).collect();
    assert!(threads.len() > 3 && threads.is_sorted_by_key(|(_, _, _, weight)| std::cmp::Reverse(*weight)));
    let by_thread = threads.iter().flat_map(|(_, name, ..)| {
        let root = |sample: &Value| format!("{} {}", comm(sample), sample["tid"]);
        samples
            .iter()
            .filter(move |sample| root(sample) == *name)
            .map(move |sample| stack(sample, root(sample)))
    });
    assert_eq!(got.iter().cloned().collect::<BTreeSet<_>>(), joined(&by_thread.collect::<Vec<_>>()));

    // A part of it: some time, of one thread.
    let (from, to) = (samples[90]["time_ns"].as_u64().unwrap(), samples[120]["time_ns"].as_u64().unwrap());
    let zoom = format!("order=time&zoom={}-{}", from - origin, to - origin);
    assert_eq!(frames(&zoom).into_iter().collect::<BTreeSet<_>>(), joined(&all[90..=120]));
    let tid = &samples[120]["tid"];
    let zoom = format!("order=threads&zoom={}-{}@{tid}", first - origin, to - origin);
    let of_thread = samples[..=120].iter().filter(|sample| sample["tid"] == *tid);
    let of_thread: Vec<_> =
        of_thread.map(|sample| stack(sample, format!("{} {tid}", comm(sample)))).collect();
    assert_eq!(frames(&zoom).into_iter().collect::<BTreeSet<_>>(), joined(&of_thread));

    // What is too narrow is left out, and counted.
    let narrow = server.data("flame-time?columns=20&order=time");
    let told = narrow["picture"]["note"].as_str().unwrap();
    let shown = narrow["picture"]["sort"].as_array().unwrap();
    let left_out: u64 = told.split(' ').next().unwrap().replace(',', "").parse().unwrap();
    let seen = shown.iter().filter(|sort| **sort != 7).count() as u64;
    assert_eq!(left_out + seen, joined(&all).len() as u64, "{told}");
    let (status, told) = server.ask(&format!("{}data/flame-time?zoom=x", server.path), &[]);
    assert!(status == 400 && told.starts_with("zoom=x: expected"), "{told}");
}

#[test]
fn the_line_of_a_hint_is_the_hottest_of_annotate() {
    let path = fixture("main");
    let path = path.to_str().unwrap();
    let server = Server::start(&[path]);
    let mut known = 0;
    for function in json(&["annotate", "--json", "--top", "9", path])["functions"].as_array().unwrap() {
        let own = |line: &Value| line["events"][0]["self_period"].as_u64().unwrap_or(0);
        let lines = function["lines"].as_array().cloned().unwrap_or_default();
        let lines: Vec<&Value> = lines.iter().filter(|line| line["line"].is_u64() && own(line) > 0).collect();
        let most = lines.iter().map(|line| own(line)).max();
        let answer = server.data(&format!("line?function={}", function["symbol"].as_str().unwrap()));
        let Some(most) = most else {
            assert_eq!(answer["place"], Value::Null, "{function}");
            continue;
        };
        assert_eq!((&answer["self"], &answer["of"]), (&most.into(), &function["events"][0]["self_period"]));
        let place = |line: &Value| {
            format!("{}:{}", line["file"].as_str().unwrap().rsplit('/').next().unwrap(), line["line"])
        };
        let is_it = |line: &&&Value| own(line) == most && answer["place"] == place(line);
        assert!(lines.iter().any(|line| is_it(&line)), "{answer}");
        known += 1;
    }
    assert!(known > 2, "{known}");
    assert_eq!(server.data("line?function=nothing")["place"], Value::Null);
}

#[test]
fn counts_of_perf_stat_are_tracks() {
    let path = fixture("stat");
    let path = path.to_str().unwrap();
    let stat = json(&["stat", "--json", "--by", "total", path]);
    let server = Server::start(&[path]);
    let answer = server.data("time?buckets=101");
    assert_eq!(answer["length_ns"], stat["elapsed_ns"]);
    let tracks = answer["events"].as_array().unwrap();
    assert!(tracks.len() > 2, "{answer}");
    for track in tracks {
        let rows =
            stat["rounds"].as_array().unwrap().iter().flat_map(|round| round["rows"].as_array().unwrap());
        let of_event = rows.filter(|row| row["event"] == track["name"]);
        let count: u64 = of_event.map(|row| row["count"].as_u64().unwrap()).sum();
        let sum: u64 = track["all"].as_array().unwrap().iter().map(|part| part.as_u64().unwrap()).sum();
        assert_eq!((sum, &track["period_seen"]), (count, &count.into()), "{}", track["name"]);
    }
}
