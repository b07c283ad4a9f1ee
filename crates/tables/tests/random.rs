//! Recordings that nobody made by hand: of each the tables say what was written into it, and of one that is damaged what can be read.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use perffile::write::{Options as WriteOptions, OwnSample, Writer};
use proptest::prelude::*;
use readperf_tables::{Options, Table, Tables, Wanted};
use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;

/// Where the program of each process lies, and how long it is.
const CODE: (u64, u64) = (0x40_0000, 0x1000);
const PAGE_OFFSET: u64 = 0x2000;

#[derive(Clone, Debug)]
struct Sampled {
    event: usize,
    thread: usize,
    period: u64,
    /// Addresses within the program or, every so often, outside.
    stack: Vec<u64>,
}

/// A recording: how many events, names of threads, samples.
#[derive(Clone, Debug)]
struct Made {
    events: usize,
    threads: Vec<(u32, String)>,
    samples: Vec<Sampled>,
}

fn made() -> impl Strategy<Value = Made> {
    let threads = prop::collection::vec((1..4u32, "[a-z ;'\"%]{1,15}"), 1..5);
    (1..4usize, threads).prop_flat_map(|(events, threads)| {
        let address = prop_oneof![8 => CODE.0..CODE.0 + CODE.1, 1 => 0x10_0000..0x10_0100u64];
        let period = prop_oneof![8 => 1..5000u64, 1 => Just(u64::MAX), 1 => Just(0)];
        let stack = prop::collection::vec(address, 1..6);
        let sample = (0..events, 0..threads.len(), period, stack)
            .prop_map(|(event, thread, period, stack)| Sampled { event, thread, period, stack });
        let samples = prop::collection::vec(sample, 0..60);
        (Just(events), Just(threads), samples).prop_map(|(events, threads, samples)| Made {
            events,
            threads,
            samples,
        })
    })
}

/// Process and thread id.
fn ids(made: &Made, thread: usize) -> (u32, u32) {
    (made.threads[thread].0, 100 + u32::try_from(thread).unwrap())
}

fn time(nr: usize) -> u64 {
    1000 + 10 * nr as u64
}

fn event_name(event: usize) -> String {
    format!("event-{event}")
}

fn written(made: &Made) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = Writer::file(&mut bytes, WriteOptions::default());
    (0..made.events).for_each(|event| assert_eq!(writer.own_event(&event_name(event)), event));
    for (nr, (pid, name)) in made.threads.iter().enumerate() {
        writer.own_thread(*pid, ids(made, nr).1, name).unwrap();
        writer.own_mapping(*pid, CODE.0..CODE.0 + CODE.1, PAGE_OFFSET, "/nonexistent/program").unwrap();
    }
    for (nr, sample) in made.samples.iter().enumerate() {
        let (pid, tid) = ids(made, sample.thread);
        let own = OwnSample { pid, tid, time_ns: time(nr), period: sample.period, stack: &sample.stack };
        writer.own_sample(sample.event, own).unwrap();
    }
    writer.finish().unwrap();
    bytes.into_inner()
}

fn opened(bytes: &[u8]) -> Result<Tables, readperf_tables::Error> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let mut options = Options { wanted: Wanted::everything(), ..Options::default() };
    options.symbols.symfs = Some("/nonexistent".into());
    Tables::open(file.path(), &options)
}

fn rows(tables: &Tables, table: Table) -> Vec<RecordBatch> {
    tables.batches(table, None, 7).unwrap().map(Result::unwrap).collect()
}

fn longs(batches: &[RecordBatch], column: &str) -> Vec<Option<i64>> {
    let of = |batch: &RecordBatch| {
        batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().iter().collect::<Vec<_>>()
    };
    batches.iter().flat_map(of).collect()
}

fn ints(batches: &[RecordBatch], column: &str) -> Vec<Option<i32>> {
    let of = |batch: &RecordBatch| {
        batch.column_by_name(column).unwrap().as_primitive::<Int32Type>().iter().collect::<Vec<_>>()
    };
    batches.iter().flat_map(of).collect()
}

/// Texts that are in dictionaries.
fn words(batches: &[RecordBatch], column: &str) -> Vec<Option<String>> {
    let of = |batch: &RecordBatch| {
        let column = batch.column_by_name(column).unwrap().as_dictionary::<Int32Type>().clone();
        let values = column.values().as_string::<i32>().clone();
        let word = |key: Option<i32>| key.map(|key| values.value(usize::try_from(key).unwrap()).to_owned());
        column.keys().iter().map(word).collect::<Vec<_>>()
    };
    batches.iter().flat_map(of).collect()
}

fn sum(numbers: impl IntoIterator<Item = Option<i64>>) -> i64 {
    numbers.into_iter().flatten().fold(0, i64::wrapping_add)
}

/// Where a program's address is in its file; others are as they are. Callers are told by the byte before the one where they go on.
fn place(address: u64, depth: usize) -> i64 {
    let address = if depth == 0 { address } else { address - 1 };
    let in_file = (CODE.0..CODE.0 + CODE.1).contains(&address);
    (if in_file { address - CODE.0 + PAGE_OFFSET } else { address }).cast_signed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn tables_say_what_was_written(made in made()) {
        let tables = opened(&written(&made)).unwrap();
        prop_assert!(!tables.issues().damaged());
        let samples = rows(&tables, Table::Samples);
        // In the order of events, then of time.
        let mut expected: Vec<(usize, &Sampled)> = made.samples.iter().enumerate().collect();
        expected.sort_by_key(|(_, sample)| sample.event);
        let (pids, tids, times) = (ints(&samples, "pid"), ints(&samples, "tid"), longs(&samples, "time_ns"));
        let (ips, periods) = (longs(&samples, "ip"), longs(&samples, "period"));
        let (events, comms) = (words(&samples, "event"), words(&samples, "comm"));
        prop_assert_eq!(pids.len(), expected.len());
        for (row, (nr, sample)) in expected.iter().enumerate() {
            let (pid, tid) = ids(&made, sample.thread);
            prop_assert_eq!((pids[row], tids[row]), (Some(pid.cast_signed()), Some(tid.cast_signed())));
            prop_assert_eq!(times[row], Some(time(*nr).cast_signed()));
            prop_assert_eq!(ips[row], Some(sample.stack[0].cast_signed()));
            prop_assert_eq!(periods[row], Some(sample.period.cast_signed()));
            prop_assert_eq!(events[row].as_deref(), Some(&*event_name(sample.event)));
            prop_assert_eq!(comms[row].as_deref(), Some(&*made.threads[sample.thread].1));
        }
        // Every stack leads to the places that were written.
        let stacks = rows(&tables, Table::Stacks);
        let frames = rows(&tables, Table::Frames);
        let address: HashMap<i64, i64> =
            longs(&frames, "frame_id").into_iter().zip(longs(&frames, "address")).map(|(id, at)| (id.unwrap(), at.unwrap())).collect();
        let mut places: HashMap<i64, Vec<i64>> = HashMap::new();
        for batch in &stacks {
            let lists = batch.column_by_name("frame_ids").unwrap().as_list::<i32>().clone();
            for (id, list) in longs(std::slice::from_ref(batch), "stack_id").into_iter().zip(lists.iter()) {
                let list = list.unwrap();
                let ids = list.as_primitive::<Int64Type>().iter().flatten();
                places.insert(id.unwrap(), ids.map(|id| address[&id]).collect());
            }
        }
        for (id, (_, sample)) in longs(&samples, "stack_id").into_iter().zip(&expected) {
            let wanted: Vec<i64> = sample.stack.iter().enumerate().map(|(depth, at)| place(*at, depth)).collect();
            prop_assert_eq!(&places[&id.unwrap()], &wanted);
        }
        // Totals of events.
        let mut totals: BTreeMap<usize, (i64, i64)> = (0..made.events).map(|event| (event, (0, 0))).collect();
        for sample in &made.samples {
            let total = totals.get_mut(&sample.event).unwrap();
            *total = (total.0 + 1, total.1.wrapping_add(sample.period.cast_signed()));
        }
        let events = rows(&tables, Table::Events);
        let told = longs(&events, "samples").into_iter().flatten().zip(longs(&events, "period").into_iter().flatten());
        prop_assert_eq!(told.collect::<Vec<_>>(), totals.into_values().collect::<Vec<_>>());
    }

    #[test]
    fn damage_costs_rows_and_nothing_else(
        made in made(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = written(&made);
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        // What is no recording any more is an error; of all else every row can be made, and the tables agree.
        if let Ok(tables) = opened(&bytes) {
            for table in Table::ALL {
                let count: usize = rows(&tables, *table).iter().map(RecordBatch::num_rows).sum();
                prop_assert_eq!(count, tables.row_count(*table));
            }
            let (samples, events) = (rows(&tables, Table::Samples), rows(&tables, Table::Events));
            prop_assert_eq!(sum(longs(&samples, "period")), sum(longs(&events, "period")));
            prop_assert_eq!(sum(longs(&events, "samples")), i64::try_from(tables.row_count(Table::Samples)).unwrap());
            let stacks = longs(&rows(&tables, Table::Stacks), "stack_id");
            prop_assert!(longs(&samples, "stack_id").iter().all(|id| stacks.contains(id)));
        }
    }
}
