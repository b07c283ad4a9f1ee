//! No server is asked unless the user said so: by an option, or once in the configuration.
#![cfg(feature = "debuginfod")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, scratch, tool};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A server that has nothing, and how often it was asked.
fn server() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 4096]);
            let _ =
                stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    (url, asked)
}

/// How often the server is asked by a report with these options and this configuration.
fn questions(configuration: Option<&str>, options: &[&str]) -> (usize, Option<i32>, String) {
    let (url, asked) = server();
    let dir = scratch();
    if let Some(text) = configuration {
        std::fs::create_dir(dir.path().join("readperf")).unwrap();
        std::fs::write(dir.path().join("readperf/config.toml"), text).unwrap();
    }
    let data = dir.path().join("perf.data");
    std::fs::copy(fixture("main"), &data).unwrap();
    let output = tool::command()
        .args(["report", "--no-cache"])
        .args(options)
        .arg(&data)
        .env("DEBUGINFOD_URLS", url)
        .env("DEBUGINFOD_CACHE_PATH", dir.path().join("cache"))
        .env("XDG_CONFIG_HOME", dir.path())
        .output()
        .unwrap();
    (asked.load(Ordering::SeqCst), output.status.code(), tool::stderr(&output))
}

#[test]
fn servers_are_asked_only_if_the_user_agreed() {
    assert_eq!(questions(None, &[]).0, 0, "an address in the environment is no agreement");
    assert_eq!(questions(Some("[debuginfod]\nask = false\n"), &[]).0, 0);
    assert!(questions(None, &["--debuginfod"]).0 > 0);
    assert!(questions(Some("[debuginfod]\nask = true\n"), &[]).0 > 0);
    assert_eq!(questions(Some("[debuginfod]\nask = true\n"), &["--no-debuginfod"]).0, 0);
}

#[test]
fn a_configuration_that_is_wrong_is_told() {
    let (asked, status, said) = questions(Some("[debuginfod]\nask = maybe\n"), &[]);
    assert_eq!((asked, status), (0, Some(1)), "{said}");
    assert!(said.contains("config.toml") && said.contains("line 2"), "{said}");
}
