//! docs/sql.md: its answers are those that the program gives.

use crate::oracle::{kind, tool};
use std::path::Path;

/// The answer to a query about fixtures, as the page has it.
fn answer(query: &str, fixtures: &str) -> String {
    let fixtures: Vec<String> = fixtures.split_whitespace().map(|name| format!("{name}/perf.data")).collect();
    let mut command = tool::command();
    command.current_dir(kind("")).args(["sql", "--no-progress", "--symfs", "/nowhere", "--symbols", "bin"]);
    let output = command.arg(query).args(fixtures).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{query}: {}", tool::stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Queries stand in blocks that name the fixtures, ```sql main, each followed by a block with the answer.
#[test]
fn the_answers_on_the_page_are_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut made = String::new();
    let mut rest = page.as_str();
    while let Some((before, block)) = rest.split_once("```sql ") {
        let (fixtures, block) = block.split_once('\n').unwrap();
        let (query, block) = block.split_once("```\n").unwrap();
        let (_, after) = block.strip_prefix("```text\n").unwrap().split_once("```\n").unwrap();
        let answer = answer(query, fixtures);
        made.push_str(&format!("{before}```sql {fixtures}\n{query}```\n```text\n{answer}```\n"));
        rest = after;
    }
    made.push_str(rest);
    if std::env::var_os("READPERF_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert!(made.contains("```text\n") && made == page, "READPERF_BLESS=1 writes the page anew");
}
