//! What the answers of the symbols become: of a fixture, with the programs that were recorded.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use readperf_analysis::{PassOptions, Request, analyse};
use readperf_profile::Profile;
use readperf_symbols::Options;
use std::collections::HashSet;
use std::path::Path;

/// The fixture `multi`, with inlined functions.
fn profile() -> Profile {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let recording = perffile::Recording::open(fixtures.join("multi/perf.data")).unwrap();
    let symbols = Options {
        symfs: Some("/nowhere".into()),
        search_dirs: vec![fixtures.join("bin")],
        inlines: true,
        lines: true,
        ..Options::default()
    };
    let pass = PassOptions { stacks: true, ..PassOptions::default() };
    let request = Request { symbols, pass, ..Request::default() };
    analyse(&recording, &request).unwrap().profile
}

/// `nm tests/fixtures/bin/tree`: the compiler made `depth_below` in parts, and the debug information has the linkage name of the
/// whole function where it is inlined.
#[test]
fn an_inlined_function_has_its_own_linkage_name() {
    let profile = profile();
    let names = profile.names();
    let of_name = |name: &str| {
        let functions = names.functions().filter(|function| function.name() == Some(name));
        functions.map(|function| (function.address == 0, function.linkage_name())).collect::<HashSet<_>>()
    };
    let expected = [
        (false, Some("_ZN6forest4TreeIjE11depth_belowEPKNS_4NodeIjEE.part.0")),
        (true, Some("_ZN6forest4TreeIjE11depth_belowEPKNS_4NodeIjEE")),
    ];
    assert_eq!(of_name("forest::Tree<unsigned int>::depth_below"), HashSet::from(expected));
}

#[test]
fn a_function_that_is_inlined_nowhere_is_held_once() {
    let profile = profile();
    let names = profile.names();
    let frames = profile.addresses().ids().flat_map(|address| names.frames_at(address));
    let in_frames: HashSet<usize> = frames.map(|frame| frame.function.index()).collect();
    assert!(names.functions().any(|function| function.address == 0), "something is inlined");
    let functions = names.functions().enumerate();
    let unused: Vec<_> = functions.filter(|(nr, _)| !in_frames.contains(nr)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}
