//! The format that the name of a file stands for.

use readperf::output::export::{FORMATS, by_file_name};
use std::collections::BTreeSet;

#[test]
fn every_ending_stands_for_one_format() {
    let mut endings = BTreeSet::new();
    for format in FORMATS {
        for ending in format.extensions {
            assert!(endings.insert(*ending), "{ending} stands for two formats");
            let found = by_file_name(&format!("some.recording.{ending}")).map(|format| format.name);
            assert_eq!(found, Some(format.name), "{ending}");
        }
    }
}

#[test]
fn the_readme_tells_of_every_format() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    for format in FORMATS {
        let mut files = format.extensions.iter().map(|ending| format!(".{ending}"));
        let told = readme.contains(&format!("`{}`", format.name)) || files.any(|file| readme.contains(&file));
        assert!(told, "README.md does not say what the export {} is for", format.name);
    }
}

#[test]
fn the_longest_ending_counts() {
    let name = |file: &str| by_file_name(file).map(|format| format.name);
    assert_eq!(name("a.pb.gz"), Some("pprof"));
    assert_eq!(name("a.json.gz"), Some("firefox"));
    assert_eq!(name("a.speedscope.json"), Some("speedscope"));
    assert_eq!(name("a.trace.json"), Some("chrome"));
    assert_eq!(name("a.perfetto-trace"), Some("perfetto"));
    assert_eq!(name("a.gz"), None);
}
