//! Several recordings and exported folders are asked as one.

use crate::oracle::{fixture, scratch, tool};
use crate::{asked, exported, rows, text, wrong};
use std::path::Path;

#[test]
fn recordings_are_asked_together() {
    let [one, two] = ["main", "multi"].map(fixture);
    let count = |query: &str, places: &[&Path]| tool::number(&rows(query, places)[0]["n"]);
    for table in ["samples", "threads", "profiles", "functions"] {
        let query = format!("SELECT count(*) AS n FROM {table}");
        let [first, second] = [&one, &two].map(|file| count(&query, &[file]));
        let both = count(&query, &[&one, &two]);
        assert!(
            both <= first + second && both >= first.max(second),
            "{table}: {both} of {first} and {second}"
        );
    }
    // What both have is there once, so that joins count nothing twice.
    let joined = "SELECT count(*) AS n FROM samples s JOIN stacks t USING (stack_id) JOIN frames f ON f.frame_id = t.leaf_frame_id";
    let copy = scratch();
    let third = copy.path().join("other.data");
    std::fs::copy(fixture("rust"), &third).unwrap();
    let places = [one.as_path(), &two, &third];
    assert_eq!(count(joined, &places), count("SELECT count(*) AS n FROM samples", &places));
    for table in ["stacks", "frames", "symbols", "binaries"] {
        let id = format!(
            "{}_id",
            table
                .strip_suffix("ies")
                .map_or_else(|| table.trim_end_matches('s').to_owned(), |name| format!("{name}y"))
        );
        let id = if table == "symbols" { "function_id".to_owned() } else { id };
        assert_eq!(
            count(&format!("SELECT count(*) AS n FROM {table}"), &places),
            count(&format!("SELECT count(DISTINCT {id}) AS n FROM {table}"), &places),
            "{table}"
        );
    }
    // The same recording under two names would count twice.
    let again = copy.path().join("main.data");
    std::fs::copy(&one, &again).unwrap();
    assert!(wrong("SELECT count(*) FROM samples", &[&one, &again]).contains("the same recording"));
}

/// Questions about what is in every kind of table.
const QUESTIONS: [&str; 10] = [
    "SELECT event, count(*), sum(period) FROM samples GROUP BY 1",
    "SELECT function, dso, self_period, total_period FROM functions ORDER BY 3 DESC, 4 DESC",
    "SELECT comm, count(*) FROM samples WHERE event = 'cpu-clock' GROUP BY 1",
    "SELECT dso, sum(period) FROM samples WHERE contains(stack_id, '^[a-m]') GROUP BY 1",
    "SELECT folded(stack_id), sum(period) FROM samples GROUP BY 1",
    "SELECT event, file, line, sum(period) FROM lines GROUP BY 1, 2, 3",
    "SELECT caller, function, sum(period) FROM callers GROUP BY 1, 2",
    "SELECT profile_id, second, samples FROM timeline",
    "SELECT b.build_id, b.path, count(*) FROM samples s JOIN frames USING (frame_id) JOIN binaries b USING (binary_id) GROUP BY 1, 2",
    "SELECT t.comm, t.samples, t.exit_ns - t.start_ns FROM threads t JOIN profiles p USING (profile_id) WHERE NOT p.damaged",
];

#[test]
fn folders_answer_as_the_recordings_in_them() {
    let dir = scratch();
    let [main, multi, everything] = ["main", "multi", "everything"].map(fixture);
    let (all, one) = (dir.path().join("all"), dir.path().join("one"));
    exported(&all, &["--label", "service=web"], &[&main, &multi, &everything]);
    exported(&one, &[], &[&multi]);
    for question in QUESTIONS {
        let read = text(question, &[&main, &multi, &everything], &["--format", "csv"]);
        assert!(read.lines().count() > 1, "{question}");
        assert_eq!(text(question, &[&all], &["--format", "csv"]), read, "{question}");
        assert_eq!(
            text(question, &[&main, &one, &everything], &["--format", "csv"]),
            read,
            "{question}: mixed"
        );
    }
    // What the folders are called by is a column; recordings that are read have none.
    let services = "SELECT service, count(DISTINCT profile_id) AS n FROM samples GROUP BY 1";
    let pipe = fixture("pipe");
    assert_eq!(text(services, &[&all, &pipe], &["--format", "csv"]), "service,n\nweb,3\n,1\n");
    // Nothing counts twice.
    assert!(wrong("SELECT count(*) FROM samples", &[&all, &one]).contains("the same recording"));
    assert!(wrong("SELECT count(*) FROM samples", &[&one, &multi]).contains("the same recording"));
}

#[test]
fn folders_that_are_not_whole_are_refused() {
    let dir = scratch();
    let tables = dir.path().join("tables");
    exported(&tables, &[], &[&fixture("main")]);
    let part = |table: &str| std::fs::read_dir(tables.join(table)).unwrap().next().unwrap().unwrap().path();
    let query = "SELECT count(*) AS n FROM samples";
    assert_eq!(tool::number(&rows(query, &[&tables])[0]["n"]), 574);
    // Rows of another tool.
    let other = tables.join("samples/part-other.parquet");
    text("SELECT 1 AS tid", &[], &["-o", other.to_str().unwrap()]);
    assert!(wrong(query, &[&tables]).contains("no version of the schema"));
    std::fs::remove_file(&other).unwrap();
    // A part of a recording that is not there.
    let left = tables.join("samples/part-0123456789abcdef0123456789abcdef.parquet");
    std::fs::copy(part("samples"), &left).unwrap();
    assert!(wrong(query, &[&tables]).contains("interrupted"));
    std::fs::remove_file(&left).unwrap();
    // A part that is cut off.
    let bytes = std::fs::read(part("samples")).unwrap();
    std::fs::write(part("samples"), &bytes[..bytes.len() / 2]).unwrap();
    assert!(wrong(query, &[&tables]).contains("part-"));
    std::fs::remove_dir_all(tables.join("profiles")).unwrap();
    assert!(wrong(query, &[&tables]).contains("no recordings"));
}

#[test]
fn damaged_recordings_answer_and_end_with_3() {
    let [sound, cut] = ["main", "cut"].map(fixture);
    let output = asked(
        "SELECT source LIKE '%cut%' AS cut, damaged FROM profiles ORDER BY 1",
        &[&sound, &cut],
        &["--format", "csv"],
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), "cut,damaged\nfalse,false\ntrue,true\n");
    assert_eq!(output.status.code(), Some(3), "{}", tool::stderr(&output));
    let output = asked("SELECT count(*) FROM samples", &[&sound, &cut], &["--strict"]);
    assert_eq!(output.status.code(), Some(1));
}
