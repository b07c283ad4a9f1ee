//! Samples that agree are one row, however many others with the same stack come between: also when there are more kinds of them
//! than are looked at, and so many samples that equal rows are put together on the way.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod handmade;

use handmade::{Attr, CODE, Pipe, Sample, USER};
use readperf::profile::Keep;
use readperf::{PassOptions, Request};
use std::collections::BTreeMap;

/// So many that those which may be equal to others are put together several times.
const SAMPLES: u64 = 250_000;

#[test]
fn samples_that_agree_are_one_row() {
    let mut pipe = Pipe::sound(&[Attr::default()]);
    let mut expected: BTreeMap<(bool, u64, u32), u64> = BTreeMap::new();
    for nr in 0..SAMPLES {
        let (has_stack, place) = (nr % 3 > 0, CODE + 0x10 * (nr % 5));
        let cpu = u32::try_from((nr.wrapping_mul(2_654_435_761) >> 7) % 128).unwrap();
        let chain = if has_stack { vec![-512i64 as u64, place, CODE + 0x100 * (nr % 2)] } else { Vec::new() };
        pipe.sample(&Sample {
            mode: USER,
            ip: place,
            cpu,
            chain,
            time: 1_000_000_000 + nr,
            ..Sample::default()
        });
        *expected.entry((has_stack, place, cpu)).or_default() += 1;
    }
    let recording = readperf::perffile::Recording::from_reader(std::io::Cursor::new(pipe.bytes)).unwrap();
    let request = Request {
        pass: PassOptions { stacks: true, ..PassOptions::default() },
        keep: Keep { stacks: true, cpus: true, ..Keep::default() },
        ..Request::default()
    };
    let analysis = readperf::analyse(&recording, &request).unwrap();
    let profile = &analysis.profile;
    let mut found: BTreeMap<(bool, u64, u32), u64> = BTreeMap::new();
    for row in profile.rows() {
        let code = profile.addresses().get(row.address).unwrap();
        let has_stack = profile.stacks().places(row.stack).count() > 1;
        *found.entry((has_stack, code.ip, row.cpu.unwrap())).or_default() += row.samples;
    }
    assert_eq!(found, expected);
    let mut rows: Vec<_> =
        profile.rows().iter().map(|row| (row.event, row.comm, row.cpu, row.stack, row.address)).collect();
    let count = rows.len();
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows.len(), count, "each once");
    assert!(count > 1000, "{count}");
    assert!(profile.rows().iter().is_sorted());
}
