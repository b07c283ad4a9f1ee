//! However a recording is gone over, its samples are in the same places.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use perffile::{Event, Metadata, Recording};
use readperf_analysis::{Chunk, PassOptions, Request, Sample, See, State, analyse, pass, pass_seeing};
use readperf_profile::view::timeline::Size;
use readperf_profile::{AddressId, Grain, Keep, LocatedId, SampleRow, Times};
use readperf_session::{CodeAddress, CommId, ThreadId};
use readperf_symbols::Options;
use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroUsize;
use std::path::Path;

const FIXTURES: [&str; 5] = ["multi", "pipe", "dwarf", "threads", "main"];

fn recording(name: &str) -> Recording {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    Recording::open(fixtures.join(name).join("perf.data")).unwrap()
}

/// The places of each sample, and how many were known at most, and at the end.
fn places(name: &str, most_places: Option<usize>) -> (Vec<Vec<CodeAddress>>, usize, usize) {
    places_by(name, PassOptions { most_places, ..PassOptions::default() })
}

fn places_by(name: &str, options: PassOptions) -> (Vec<Vec<CodeAddress>>, usize, usize) {
    let options = PassOptions { stacks: true, shows_samples: true, ..options };
    let most_places = options.most_places;
    let (mut places, mut most) = (Vec::new(), 0);
    let passed = pass::<perffile::Error>(&recording(name), &options, |state, chunk| {
        let code = |id| state.addresses.get(id).unwrap();
        places.extend(chunk.samples(state).map(|sample| {
            std::iter::once(sample.address).chain(sample.stack.iter().copied()).map(code).collect()
        }));
        let (held, most_places) = (state.addresses.len(), most_places.unwrap_or(usize::MAX));
        assert!(!state.is_full || held > most_places, "{name}: {held}");
        // All places of a chunk may be new.
        let left = if state.is_full { 0 } else { held };
        assert!(left <= most_places.saturating_add(most_places / 4), "{name}: {held}");
        most = most.max(held);
        Ok(())
    });
    (places, most, passed.unwrap().state.addresses.len())
}

#[test]
fn places_are_the_same_if_they_are_forgotten_now_and_then() {
    for name in FIXTURES {
        let (all, count, left) = places(name, None);
        assert!(!all.is_empty(), "{name}");
        assert_eq!(left, count, "{name}: none is forgotten");
        for wanted in [0, 20] {
            let (places, _, left) = places(name, Some(wanted));
            assert_eq!(places, all, "{name}: {wanted}");
            assert!(left <= wanted + wanted / 4, "{name}: {left} of {count} are left");
        }
    }
}

/// When a sample was taken, at which address, the place, and its stack.
type Located = (u64, u64, CodeAddress, Vec<CodeAddress>);

/// The samples of a chunk, and the types of its other records.
fn shown(state: &State, chunk: &Chunk<'_>, samples: &mut Vec<Located>, others: &mut Vec<u32>) {
    let code = |id| state.addresses.get(id).unwrap();
    for entry in chunk.entries() {
        match chunk.sample(state, entry) {
            Some(sample) => {
                let stack = sample.stack.iter().copied().map(code).collect();
                samples.push((sample.moment.time_ns, sample.moment.ip, code(sample.address), stack));
            }
            None => others.push(entry.event.head().kind),
        }
    }
}

/// Sees samples as they come, and the types of other records.
#[derive(Default)]
struct Seen {
    /// Those whose places have not been told yet: when and where they were taken, and their numbers.
    samples: Vec<(u64, u64, LocatedId)>,
    others: Vec<u32>,
}

impl See for Seen {
    fn begin(&mut self, _: &Metadata) {}

    fn sample(&mut self, _: &State, sample: &Sample<'_, '_>) {
        assert!(sample.stack.is_empty() && !sample.shares.is_empty());
        self.samples.push((sample.moment.time_ns, sample.moment.ip, sample.later.unwrap()));
    }

    fn other(&mut self, _: &State, event: &Event<'_>, _: Option<CommId>) {
        self.others.push(event.head().kind);
    }
}

#[test]
fn samples_that_are_seen_as_they_come_are_where_those_of_chunks_are() {
    let mut seen_as_they_came = 0;
    for name in FIXTURES {
        let options = PassOptions { stacks: true, shows_samples: true, ..PassOptions::default() };
        let (mut expected, mut others) = (Vec::new(), Vec::new());
        let passed = pass::<perffile::Error>(&recording(name), &options, |state, chunk| {
            shown(state, chunk, &mut expected, &mut others);
            Ok(())
        });
        passed.unwrap();
        for (is_concurrent, every, most_places) in
            [(false, 1, None), (false, 3, Some(20)), (true, 1, None), (true, 4, None), (true, 2, Some(20))]
        {
            let options =
                PassOptions { places_may_come_later: true, is_concurrent, most_places, ..options.clone() };
            let (mut seen, mut codes, mut found, mut visits) = (Seen::default(), Vec::new(), Vec::new(), 0);
            let mut tell = |state: &mut State, seen: &mut Seen, found: &mut Vec<Located>| {
                let mut located = state.take_located();
                codes.extend(located.take_new_places().as_slice().iter());
                let code = |id: &AddressId| codes[id.index()];
                for (time_ns, ip, id) in seen.samples.drain(..) {
                    let taken_at = code(located.taken_at(id).unwrap());
                    let stack: Vec<CodeAddress> = located.stack(id).0.iter().map(code).collect();
                    found.push((
                        time_ns,
                        ip,
                        taken_at,
                        if stack.is_empty() { vec![taken_at] } else { stack },
                    ));
                }
                state.use_again(located);
                if state.is_full {
                    codes.clear();
                }
            };
            let passed = pass_seeing::<_, perffile::Error>(
                &recording(name),
                &options,
                &mut seen,
                |state, chunk, seen| {
                    visits += 1;
                    seen_as_they_came += usize::from(chunk.was_seen());
                    if visits % every == 0 || state.is_full || !chunk.was_seen() {
                        tell(state, seen, &mut found);
                    }
                    if !chunk.was_seen() {
                        shown(state, chunk, &mut found, &mut seen.others);
                    }
                    Ok(())
                },
            );
            tell(&mut passed.unwrap().state, &mut seen, &mut found);
            assert_eq!(found, expected, "{name}: {options:?}");
            assert_eq!(seen.others, others, "{name}");
        }
    }
    assert!(seen_as_they_came > 0);
}

#[test]
fn processes_with_one_binary_have_one_place_if_it_does_not_matter_where_it_ran() {
    let mut merged = 0;
    for name in FIXTURES {
        let (all, count, _) = places(name, None);
        let options = PassOptions { places_of_binaries: true, ..PassOptions::default() };
        let (of_binaries, left, _) = places_by(name, options);
        let expected = |code: &CodeAddress| CodeAddress { ip: code.address, ..*code };
        let expected: Vec<Vec<_>> = all.iter().map(|places| places.iter().map(expected).collect()).collect();
        assert_eq!(of_binaries, expected, "{name}");
        let different: HashSet<CodeAddress> = expected.into_iter().flatten().collect();
        assert_eq!(left, different.len(), "{name}");
        merged += count - left;
    }
    assert!(merged > 0, "there is a recording of several processes with one library");
}

/// Samples and periods by event, thread name, thread, CPU and place.
type Sums = BTreeMap<(u32, CommId, Option<ThreadId>, Option<u32>, CodeAddress), (u64, u64)>;

/// What samples add up to, and in how many rows.
fn sums(name: &str, keep: Keep, most_places: Option<usize>, threads: usize) -> (Sums, usize) {
    let threads = NonZeroUsize::new(threads);
    let symbols = Options { threads, symfs: Some("/nowhere".into()), ..Options::default() };
    let request = Request { symbols, keep, most_places, ..Request::default() };
    let profile = analyse(&recording(name), &request).unwrap().profile;
    let mut sums = Sums::new();
    for row in profile.rows().iter() {
        let code = profile.addresses().get(row.address).unwrap();
        let sum = sums.entry((row.event, row.comm, row.thread, row.cpu, code)).or_default();
        *sum = (sum.0 + row.samples, sum.1 + row.period);
    }
    (sums, profile.rows().len())
}

#[test]
fn samples_that_agree_have_one_row_with_their_sum() {
    for name in FIXTURES {
        for keep in [Keep::default(), Keep { threads: true, cpus: true, ..Keep::default() }] {
            // Places are those of the mappings, or of the binaries; those that are too many are put together.
            for most_places in [None, Some(1 << 20), Some(10)] {
                // With its time, each sample has a row of its own.
                let (expected, samples) = sums(name, Keep { times: Times::Each, ..keep }, most_places, 1);
                for threads in [1, 2] {
                    let (found, rows) = sums(name, keep, most_places, threads);
                    assert_eq!(found, expected, "{name}: {keep:?}, {most_places:?}, {threads} threads");
                    assert_eq!(rows, expected.len(), "{name}: of {samples} samples");
                }
            }
        }
    }
}

#[test]
fn maps_of_time_need_neither_each_time_nor_places() {
    let size = Size { columns: 100, rows: 20 };
    let map = Times::OfMap(Grain::of(size.rows).unwrap());
    for name in FIXTURES {
        let made = |times, stacks, without_places, threads| {
            let symbols = Options { threads: NonZeroUsize::new(threads), ..Options::default() };
            let pass = PassOptions { stacks, without_places, ..PassOptions::default() };
            let keep = Keep { stacks, times, ..Keep::default() };
            let request = Request { symbols, pass, keep, without_names: true, ..Request::default() };
            analyse(&recording(name), &request).unwrap().profile
        };
        let expected = made(Times::Each, false, false, 1).timelines(size);
        assert!(!expected.is_empty(), "{name}");
        for threads in [1, 2] {
            for (stacks, without_places) in [(false, true), (false, false), (true, false)] {
                let profile = made(map, stacks, without_places, threads);
                assert_eq!(profile.timelines(size), expected, "{name}: {stacks}, {without_places}");
                assert_eq!(profile.addresses().is_empty(), without_places, "{name}");
            }
        }
    }
}

#[test]
fn profiles_do_not_depend_on_the_number_of_threads() {
    for name in FIXTURES {
        for (stacks, times, most_places) in [
            (true, false, None),
            (true, true, None),
            (false, false, None),
            (true, false, Some(40)),
            (false, false, Some(10)),
        ] {
            let made = |threads| {
                let threads = NonZeroUsize::new(threads);
                let symbols = Options { threads, symfs: Some("/nowhere".into()), ..Options::default() };
                let pass = PassOptions { stacks, ..PassOptions::default() };
                let keep = Keep { stacks, times: Times::each(times), ..Keep::default() };
                let request = Request { symbols, pass, keep, most_places, ..Request::default() };
                let profile = analyse(&recording(name), &request).unwrap().profile;
                let rows: Vec<SampleRow> = profile.rows().iter().collect();
                let stacks: Vec<Vec<_>> =
                    rows.iter().map(|row| profile.stacks().places(row.stack).collect()).collect();
                (profile.addresses().as_slice().iter().collect::<Vec<_>>(), rows, stacks)
            };
            let one = made(1);
            assert!(!one.1.is_empty(), "{name}");
            for threads in [2, 3, 8] {
                assert_eq!(made(threads), one, "{name}: {threads} threads");
            }
        }
    }
}
