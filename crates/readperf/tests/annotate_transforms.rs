//! `readperf annotate` where stacks and names are changed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, kind, tool};
use serde_json::Value;

/// The only function that is listed.
fn function(arguments: &[&str]) -> Value {
    let (bin, data) = (kind("bin"), fixture("main"));
    let places = ["annotate", "--json", "--symfs", "/nowhere", "--symbols", bin.to_str().unwrap()];
    let words = [&places[..], &[data.to_str().unwrap()], arguments].concat();
    let annotated: Value = serde_json::from_str(&tool::answer(&words)).unwrap();
    let functions = annotated["functions"].as_array().unwrap();
    assert_eq!(functions.len(), 1, "{arguments:?}");
    functions[0].clone()
}

/// The samples taken in something that is listed.
fn own(listed: &Value) -> u64 {
    listed["events"][0]["self_samples"].as_u64().unwrap()
}

/// What a hidden function took is its caller's: on the line that calls it.
#[test]
fn samples_of_hidden_functions_are_on_the_call() {
    let lines = |options: &[&str]| {
        let function = function(&[options, &["spin_five"]].concat());
        let (mut of_self, mut of_mix) = (0, 0);
        for line in function["lines"].as_array().unwrap() {
            let samples = own(line);
            *(if line["inlined"] == "mix" { &mut of_mix } else { &mut of_self }) += samples;
        }
        assert_eq!(of_self + of_mix, own(&function));
        (of_self, of_mix)
    };
    let (of_self, of_mix) = lines(&[]);
    assert!(of_mix > 100);
    assert_eq!(lines(&["--hide", "^mix$"]), (of_self + of_mix, 0));
}

/// A function that is only inlined and has no linkage name is found by the name that is shown.
#[test]
fn inlined_functions_without_a_beginning_of_their_name() {
    let samples = |arguments: &[&str]| -> u64 {
        let function = function(arguments);
        assert_eq!(function["inlined"], true);
        let parts = function["parts"].as_array().unwrap().iter();
        parts.flat_map(|part| part["instructions"].as_array().unwrap()).map(own).sum()
    };
    let whole = samples(&["mix"]);
    assert!(whole > 100);
    assert_eq!(samples(&["--drop-prefix", "mi", "x"]), whole);
}
