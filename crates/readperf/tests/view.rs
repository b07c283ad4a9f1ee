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

mod oracle;

use oracle::{fixture, tool};
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
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(words: &[&str]) -> Server {
        let mut command = tool::command();
        command.args(["view", "--no-open"]).args(words).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("http://").unwrap_or_else(|| panic!("{line:?}"));
        let (host, path) = address.split_once('/').unwrap();
        Server { child, host: host.to_owned(), path: format!("/{path}") }
    }

    /// Status and body of an answer.
    fn ask(&self, path: &str, headers: &[&str]) -> (u32, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let host = format!("Host: {}", self.host);
        let has_host = headers.iter().any(|header| header.starts_with("Host:"));
        let own = if has_host { None } else { Some(host.as_str()) };
        let headers: Vec<&str> = own.into_iter().chain(headers.iter().copied()).collect();
        write!(stream, "GET {path} HTTP/1.1\r\nConnection: close\r\n{}\r\n\r\n", headers.join("\r\n"))
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
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
        let answer = server.data(question);
        let report = json(&[&["report", "--json", "--sort", "dso,symbol", path], options].concat());
        let expected = report["events"][0]["rows"].as_array().unwrap();
        let rows = answer["rows"].as_array().unwrap();
        assert_eq!(rows.len(), expected.len(), "{question}");
        assert_eq!(answer["whole"], report["events"][0]["period"], "{question}");
        for row in rows {
            let mark = if row["kind"] == "inlined" { " (inlined)" } else { "" };
            let name = format!("{}{mark}", row["name"].as_str().unwrap());
            let dso = if row["binary"] == "" { "[unknown]" } else { row["binary"].as_str().unwrap() };
            let same = |other: &&Value| other["symbol"] == *name && other["dso"] == *dso;
            let other = expected.iter().find(same).unwrap_or_else(|| panic!("{question}: {row}"));
            assert_eq!(
                (&row["self"], &row["total"]),
                (&other["self_period"], &other["total_period"]),
                "{name}"
            );
        }
    }
}

/// By the folded stacks: a stack counts once for a call, however often the call is in it.
#[test]
fn calls_are_those_of_the_folded_stacks() {
    let path = fixture("multi");
    let path = path.to_str().unwrap();
    let folded = tool::answer(&["export", "-f", "folded", "--event", "cpu-clock", path]);
    let stacks: Vec<(Vec<&str>, u64)> = folded
        .lines()
        .map(|line| {
            let (stack, period) = line.rsplit_once(' ').unwrap();
            (stack.split(';').collect(), period.parse().unwrap())
        })
        .collect();
    let sum_of = |has: &dyn Fn(&[&str]) -> bool| -> u64 {
        stacks.iter().filter(|(stack, _)| has(stack)).map(|(_, period)| period).sum()
    };
    let server = Server::start(&[path]);
    let names: BTreeSet<&str> = stacks.iter().flat_map(|(stack, _)| stack[1..].iter().copied()).collect();
    assert!(names.len() > 3, "{names:?}");
    for name in names {
        let encoded: String = name.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let answer = server.data(&format!("sandwich?function={encoded}"));
        assert_eq!(answer["function"]["total"], sum_of(&|stack| stack[1..].contains(&name)), "{name}");
        assert_eq!(answer["function"]["self"], sum_of(&|stack| stack.last() == Some(&name)), "{name}");
        for (side, from, to) in [("callers", 0, 1), ("callees", 1, 0)] {
            for call in answer[side].as_array().unwrap() {
                let other = call["name"].as_str().unwrap();
                let pair = |pair: &[&str]| pair[from] == other && pair[to] == name;
                assert_eq!(
                    call["total"],
                    sum_of(&|stack| stack.windows(2).any(pair)),
                    "{side}: {name}, {other}"
                );
            }
        }
    }
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
    let document = tool::answer(&["export", "--format", "page", "--comm", "tree", path]);
    let answers = stored(&document);
    let server = Server::start(&["--comm", "tree", path]);
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
