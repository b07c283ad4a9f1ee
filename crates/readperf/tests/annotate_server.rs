//! `readperf annotate` with source files that a debuginfod server has, which runs on this machine for the test.
#![cfg(feature = "debuginfod")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, kind, scratch, tool};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What of the library the function has inlined, and the binary that says so.
const SOURCE: &str = "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/cmp.rs";
const BUILD_ID: &str = "6213c992dc7f75bf092a2ce69150932274f53a00";
const FUNCTION: &str = "rusty::walk::dynamic";

/// A server that has one file, and the paths that it was asked for.
fn server(path: String, text: &'static [u8]) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &seen, &path, text);
        }
    });
    (url, asked)
}

fn answer(mut stream: TcpStream, seen: &Mutex<Vec<String>>, path: &str, text: &[u8]) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    let wanted = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let (status, body) = if wanted == path { ("200 OK", text) } else { ("404 Not Found", &b""[..]) };
    seen.lock().unwrap().push(wanted);
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

/// The listing of the function, with this server and cache.
fn listing(url: &str, cache: &Path, options: &[&str]) -> Value {
    let (bin, data) = (kind("bin"), fixture("rust"));
    let output = tool::command()
        .args(["annotate", "--json", "--no-cache", "--symfs", "/nowhere", "--symbols"])
        .arg(bin)
        .args(options)
        .arg(data)
        .arg(FUNCTION)
        .env("DEBUGINFOD_URLS", url)
        .env("DEBUGINFOD_CACHE_PATH", cache)
        .output()
        .unwrap();
    let stderr = tool::stderr(&output);
    let annotated: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{stderr}"));
    annotated["functions"][0].clone()
}

/// The texts of the lines of a file, and what is said of that.
fn of_file<'v>(listing: &'v Value, path: &str) -> (Vec<&'v Value>, &'v Value) {
    let lines = listing["lines"].as_array().unwrap().iter().filter(|line| line["file"] == path);
    let file = listing["files"].as_array().unwrap().iter().find(|file| file["file"] == path).unwrap();
    (lines.map(|line| &line["text"]).collect(), file)
}

#[test]
fn source_files_come_from_a_server_if_it_may_be_asked() {
    let lines: &'static str = String::leak("told by the server\n".repeat(5000));
    let question = format!("/buildid/{BUILD_ID}/source{SOURCE}");
    let (url, asked) = server(question.clone(), lines.as_bytes());
    let dir = scratch();
    let questions = || -> Vec<String> {
        let asked = std::mem::take(&mut *asked.lock().unwrap());
        asked.into_iter().filter(|path| path.contains("/source")).collect()
    };
    let without = listing(&url, dir.path(), &[]);
    assert_eq!(questions(), Vec::<String>::new(), "an address in the environment is no agreement");
    let (texts, file) = of_file(&without, SOURCE);
    assert!(!texts.is_empty() && texts.iter().all(|text| text.is_null()), "{texts:?}");
    assert_eq!(file["reason"], "no such file here; --source DIR looks below DIR");
    let with = listing(&url, dir.path(), &["--debuginfod"]);
    let first = questions();
    assert!(first.contains(&question), "{first:?}");
    // Only what debug information names by a whole path.
    assert!(first.iter().all(|path| path.contains("/source/rustc/")), "{first:?}");
    let (texts, file) = of_file(&with, SOURCE);
    assert!(texts.iter().all(|text| **text == "told by the server"), "{texts:?}");
    let found = file["found"].as_str().unwrap();
    assert!(found.ends_with(&format!("{BUILD_ID}/source{}", SOURCE.replace('/', "#"))), "{found}");
    assert!(file["doubt"].is_null(), "{file}");
    // What it had, and what it had not, is not asked for again.
    let again = listing(&url, dir.path(), &["--debuginfod"]);
    assert_eq!((questions(), again), (Vec::new(), with));
}

#[test]
fn a_server_that_does_not_answer_is_told() {
    let gone = {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", closed.local_addr().unwrap())
    };
    let dir = scratch();
    let listing = listing(&gone, dir.path(), &["--debuginfod"]);
    let reason = of_file(&listing, SOURCE).1["reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with(&format!("no file, and none from {gone}")), "{reason}");
}
