//! Which levels of stacks are the same frame.

#![allow(clippy::unwrap_used)]

use perffile::Recording;
use readperf::profile::{Apart, FrameTable, Keep};
use readperf::{Analysis, Request, analyse, symbols};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn analysis(fixture: &str) -> Analysis {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let request = Request {
        symbols: symbols::Options {
            search_dirs: vec![fixtures.join("bin")],
            inlines: true,
            lines: true,
            ..symbols::Options::default()
        },
        keep: Keep { stacks: true, ..Keep::default() },
        ..Request::default()
    };
    analyse(&Recording::open(fixtures.join(fixture).join("perf.data")).unwrap(), &request).unwrap()
}

/// A function of which code is inlined in some places, and that is called in others, is one.
#[test]
fn a_function_is_one_frame_inlined_or_not() {
    let mut both = 0;
    for fixture in ["multi", "rust", "main"] {
        let Analysis { profile, session, .. } = analysis(fixture);
        let table = FrameTable::new(&profile, &session, Apart::default());
        let (mut frames, mut inlined) = (BTreeMap::new(), BTreeMap::new());
        for address in profile.addresses().ids() {
            for (id, level) in table.at(address).iter().zip(profile.levels_at(address)) {
                let function = profile.function(level.function).unwrap();
                let Some(name) = function.name() else { continue };
                let name = (function.binary, name);
                assert_eq!(*frames.entry(name).or_insert(*id), *id, "{name:?} is two frames");
                inlined.entry(name).or_insert_with(BTreeSet::new).insert(level.inlined);
            }
        }
        both += inlined.values().filter(|both| both.len() == 2).count();
    }
    assert!(both > 0, "no function of the fixtures is both");
}

/// With lines and addresses apart, levels of one frame have one line and one address; no more frames are made than that takes.
#[test]
fn lines_and_addresses_are_told_apart_where_asked_for() {
    let Analysis { profile, session, .. } = analysis("multi");
    let count = |apart: Apart| {
        let table = FrameTable::new(&profile, &session, apart);
        assert_eq!(table.ids().count(), table.frames().len());
        let mut differ = BTreeSet::new();
        for address in profile.addresses().ids() {
            for (id, level) in table.at(address).iter().zip(profile.levels_at(address)) {
                let first = table.get(*id).unwrap().first;
                if apart.lines {
                    assert_eq!((first.file, first.line), (level.file, level.line));
                }
                if apart.addresses {
                    assert_eq!(first.address, address);
                }
                let function = profile.function(level.function).unwrap();
                let what =
                    function.name().map_or_else(|| Err(function.binary), |name| Ok((function.binary, name)));
                let line = apart.lines.then_some((level.file, level.line));
                differ.insert((what, line, apart.addresses.then_some(address)));
            }
        }
        assert_eq!(table.frames().len(), differ.len(), "{apart:?}");
        differ.len()
    };
    let (functions, lines) = (count(Apart::default()), count(Apart { lines: true, ..Apart::default() }));
    let addresses = count(Apart { addresses: true, ..Apart::default() });
    let both = count(Apart { lines: true, addresses: true, ..Apart::default() });
    assert!(functions < lines && lines < both && addresses <= both, "{functions} {lines} {addresses} {both}");
}
