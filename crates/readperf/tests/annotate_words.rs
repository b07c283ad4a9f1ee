//! What `readperf annotate` says of words that mean nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, scratch, tool};

fn fails(arguments: &[&str], words: &str) {
    let output = tool::run(&[&["annotate", "--no-cache"], arguments].concat());
    let stderr = tool::stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
    assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty());
}

#[test]
fn the_words_in_the_wrong_order_or_the_recording_forgotten() {
    let path = fixture("main");
    let path = path.to_str().unwrap();
    let order = "spin_five is no recording; the recording comes first: readperf annotate";
    fails(&["spin_five", path], &format!("{order} {path} spin_five"));
    fails(&["spin_five"], "there is no file spin_five; if that is a function, the recording comes first");
    fails(&["no/such", "spin_five"], "no/such: No such file");
    fails(&["no/such.data"], "no/such.data: No such file");
}

#[test]
fn what_is_looked_for_may_be_there_without_its_name() {
    let dir = scratch();
    let list = dir.path().join("kallsyms");
    std::fs::write(&list, "").unwrap();
    let (list, path) = (list.to_str().unwrap(), fixture("kernel"));
    let arguments = ["--kallsyms", list, path.to_str().unwrap(), "no_such_function"];
    fails(&arguments, &format!("samples have no name, most of them: {list} is no list of kernel symbols"));
}
