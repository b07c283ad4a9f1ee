//! The modules of the page as one script, for a file that can load no others.
//!
//! Each module becomes a block with what it takes from others before, and what it gives behind: nothing but the lines that begin with
//! `import` and `export` is changed. A module comes behind those that it takes from.

use crate::assets::{asset, modules};
use std::fmt::Write as _;

/// The module with which everything begins.
const FIRST: &str = "main.js";

/// The script.
pub(super) fn script() -> String {
    let mut script = String::from("const modules = {};\n");
    let mut done = Vec::new();
    add(FIRST, &mut done, &mut script);
    script
}

/// Adds a module, and before it those that it takes from.
fn add(name: &'static str, done: &mut Vec<&'static str>, script: &mut String) {
    if done.contains(&name) {
        return;
    }
    done.push(name);
    let text = asset(name).map(|asset| asset.text).unwrap_or_default();
    for line in text.lines() {
        if let Some(other) = imported(line).and_then(|(_, from)| modules().find(|module| *module == from)) {
            add(other, done, script);
        }
    }
    script.push_str("{\n");
    let mut given: Vec<&str> = Vec::new();
    for line in text.lines() {
        let line = match (imported(line), line.strip_prefix("export ")) {
            (Some((names, from)), _) => taking(names, from),
            (None, Some(declared)) => {
                given.extend(declared_name(declared));
                declared.to_owned()
            }
            (None, None) => line.to_owned(),
        };
        script.push_str(&line);
        script.push('\n');
    }
    // Writing to a string does not fail.
    let _ = writeln!(script, "modules['{name}'] = {{ {} }};\n}}", given.join(", "));
}

/// What a line takes from which module, if it does.
fn imported(line: &str) -> Option<(&str, &str)> {
    let (names, from) = line.strip_prefix("import ")?.split_once(" from './")?;
    Some((names, from.strip_suffix("';")?))
}

/// The same without modules.
fn taking(names: &str, from: &str) -> String {
    match names.strip_prefix("* as ") {
        Some(name) => format!("const {name} = modules['{from}'];"),
        None => format!("const {} = modules['{from}'];", names.replace(" as ", ": ")),
    }
}

/// The name that a declaration gives.
fn declared_name(declared: &str) -> Option<&str> {
    let rest = declared.strip_prefix("async ").unwrap_or(declared);
    let (_, rest) = rest.split_once(' ')?;
    rest.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_module_is_in_it_once_and_behind_what_it_takes_from() {
        let script = script();
        assert!(!script.contains("</script") && !script.contains("<!--"));
        for line in script.lines() {
            assert!(!line.starts_with("import") && !line.starts_with("export"), "{line}");
        }
        for name in modules() {
            let given = format!("modules['{name}'] = {{");
            assert_eq!(script.matches(&given).count(), 1, "{name}");
            let (before, _) = script.split_once(&given).unwrap();
            assert!(
                !before.contains(&format!("}} = modules['{name}'];")),
                "{name} is taken from before it is there"
            );
        }
    }

    #[test]
    fn lines_become_others() {
        assert_eq!(
            imported("import { a, b as c } from './x.js';").map(|(names, from)| taking(names, from)).unwrap(),
            "const { a, b: c } = modules['x.js'];"
        );
        assert_eq!(
            imported("import * as x from './x.js';").map(|(names, from)| taking(names, from)).unwrap(),
            "const x = modules['x.js'];"
        );
        assert_eq!(imported("imported();"), None);
        let names = [
            "async function show(into) {",
            "const get = key => 1;",
            "class Stale extends Error {}",
            "function flameGraph(data) {",
        ];
        assert_eq!(names.map(|line| declared_name(line).unwrap()), ["show", "get", "Stale", "flameGraph"]);
    }
}
