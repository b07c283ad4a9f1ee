//! The page that `readperf annotate` writes for browsers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, scratch, tool};
use serde_json::Value;

#[test]
fn the_page_is_one_file_with_all_rows() {
    let dir = scratch();
    let page = dir.path().join("code.html");
    let recording = fixture("main");
    let annotate = |more: &[&str]| {
        let recording = recording.to_str().unwrap();
        tool::answer(&[&["annotate", "--symfs", "/nowhere", "--top", "3", recording], more].concat())
    };
    assert_eq!(annotate(&["-o", page.to_str().unwrap()]), "");
    let page = std::fs::read_to_string(page).unwrap();
    for other in ["http:", "https:", "src=", "<link", "@import", "url("] {
        assert!(!page.contains(other), "{other} in the page");
    }
    let annotated: Value = serde_json::from_str(&annotate(&["--json"])).unwrap();
    let functions = annotated["functions"].as_array().unwrap();
    let parts = functions.iter().flat_map(|function| function["parts"].as_array().unwrap());
    let instructions: usize = parts.map(|part| part["instructions"].as_array().unwrap().len()).sum();
    assert!(instructions > 20);
    // What is not in a function with code is the row of its samples.
    assert!(page.matches("<tr class=\"i").count() >= instructions);
    // Jumps lead to rows that are there.
    let anchors = page.split("<a href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap());
    let anchors: Vec<&str> = anchors.collect();
    assert!(anchors.iter().any(|anchor| anchor.contains('i')), "{anchors:?}");
    assert!(anchors.iter().all(|anchor| page.contains(&format!("id=\"{anchor}\""))), "{anchors:?}");
}
