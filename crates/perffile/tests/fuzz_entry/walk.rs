//! A whole recording: opened, walked in both orders, every record and feature decoded and shown.

use super::show::Shown;
use perffile::bytes::Bytes;
use perffile::tracepoint::{Catalog, NoSymbols, TracingData};
use perffile::wire::feature::bit;
use perffile::wire::record::Record;
use perffile::wire::record::mmap2::Mmap2;
use perffile::{Batch, Delivery, Event, Features, Metadata, Ordering, Recording, Tally};

/// What was met on the way.
#[derive(Debug, Default)]
pub struct Seen {
    /// Records.
    pub records: u64,
    /// Samples of a known event.
    pub samples: u64,
    /// Records whose fields could be decoded.
    pub decoded: u64,
    /// All values.
    pub shown: Shown,
}

/// Bytes as a file.
pub fn container(bytes: &[u8]) {
    everything(bytes.to_vec());
}

/// Bytes as a file; what was met, if it is one.
pub fn everything(bytes: Vec<u8>) -> Option<Seen> {
    match Recording::from_bytes(Bytes::new(bytes)) {
        Ok(recording) => Some(walk(&recording)),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// All that can be asked of a recording that is there as a whole.
pub fn walk(recording: &Recording) -> Seen {
    let mut seen = Seen::default();
    let metadata = recording.read_metadata().expect("the bytes are all there");
    features(&metadata.features, &mut seen.shown);
    let catalog = catalog(&metadata.features);
    let mut indices = [0u64; 2];
    for (ordering, sum) in [Ordering::File, Ordering::Time].into_iter().zip(&mut indices) {
        let mut state = State::new(ordering, &metadata);
        let mut batches = recording.batches(ordering).expect("the bytes are all there");
        for batch in batches.by_ref() {
            *sum = sum.wrapping_add(one_batch(&batch, &mut state, catalog.as_ref(), &mut seen));
        }
        for issue in batches.issues() {
            assert!(!issue.to_string().is_empty() && issue.count > 0);
        }
    }
    assert_eq!(indices[0], indices[1], "both orders deliver the same records");
    seen
}

/// What lasts from record to record.
struct State {
    ordering: Ordering,
    delivery: Delivery,
    /// The next index, in the order of the file.
    next: u64,
}

impl State {
    fn new(ordering: Ordering, _: &Metadata) -> State {
        State { ordering, delivery: Delivery::default(), next: 0 }
    }
}

fn one_batch(batch: &Batch, state: &mut State, catalog: Option<&Catalog>, seen: &mut Seen) -> u64 {
    let mut sum = 0u64;
    let mut count = 0;
    for event in batch.iter() {
        count += 1;
        sum = sum.wrapping_add(event.index() + 1);
        if state.ordering == Ordering::File {
            assert_eq!(event.index(), state.next, "records in the order of the file");
            state.next += 1;
            one_record(&event, seen);
        }
        one_sample(&event, &mut state.delivery, catalog, seen);
    }
    assert_eq!(count, batch.len(), "every entry is a record");
    tallies(batch);
    sum
}

/// What is added up is what its samples say one by one.
fn tallies(batch: &Batch) {
    let mut events = batch.iter();
    for tally in batch.tallies() {
        let run = match tally {
            Tally::Samples(run) => run,
            Tally::Record(record) => {
                assert_eq!(events.next().map(|event| event.index()), Some(record.index()));
                continue;
            }
        };
        let (mut bytes, mut period) = (0, 0u64);
        for _ in 0..run.samples {
            let event = events.next().expect("as many as are counted");
            assert_eq!(event.event_index(), Some(run.event));
            let sample = event.sample().expect("a sample");
            assert!(sample.decode().is_ok_and(|(_, left)| left.is_empty()) && !event.has_stray_time());
            let (first, last) = run.times_ns;
            assert!(sample.time().is_some_and(|time| (first..=last).contains(&time)));
            bytes += u64::from(event.head().size);
            period = period.wrapping_add(event.event().expect("known").period(sample.period()));
        }
        assert_eq!((bytes, period), (run.bytes, run.period));
    }
    assert!(events.next().is_none(), "every record is counted");
}

fn one_record(event: &Event<'_>, seen: &mut Seen) {
    seen.records += 1;
    assert!(event.raw().len() >= 8 && event.raw().len() <= 65_535);
    let place = event.place().to_string();
    seen.shown.sum = seen.shown.sum.wrapping_add(place.len() as u64 + event.payload().len() as u64);
    let (body, shape) = event.body_and_shape();
    assert!(body.len() + 8 <= event.raw().len());
    let _ = (event.time(), event.sample_id(), event.type_name());
    match event.record() {
        Ok((mut record, rest)) => {
            seen.decoded += 1;
            assert!(rest.len() <= body.len());
            record.describe(&mut seen.shown, &shape, event.head().misc);
            assert_eq!(seen.shown.depth(), 0, "what is opened is closed");
            assert_eq!(record.size(&shape, event.head().misc) + rest.len(), body.len(), "{record:?}");
            look_inside(&record, seen);
        }
        Err(error) => assert!(error.place().is_some()),
    }
}

/// What only some records can be asked.
fn look_inside(record: &Record<'_>, seen: &mut Seen) {
    let more = match record {
        Record::CpuMap(map) => map.numbers().len(),
        Record::EventUpdate(update) => update.cpus.numbers().len(),
        Record::Mmap2(Mmap2 { file, .. }) => file.build_id().map_or(0, <[u8]>::len),
        _ => 0,
    };
    seen.shown.sum = seen.shown.sum.wrapping_add(more as u64);
}

fn one_sample(event: &Event<'_>, delivery: &mut Delivery, catalog: Option<&Catalog>, seen: &mut Seen) {
    let Some((index, sample)) = event.event_index().and_then(|index| Some((index, event.sample()?))) else {
        return;
    };
    seen.samples += 1;
    let ids = [sample.ip(), sample.time(), sample.addr(), sample.period()];
    let mut sum = ids.into_iter().flatten().fold(0, u64::wrapping_add);
    for address in sample.callchain().unwrap_or_default() {
        sum = sum.wrapping_add(address);
    }
    for share in delivery.shares(event.schema(), index, &sample) {
        sum = sum.wrapping_add(share.period);
    }
    if let Ok((whole, _)) = sample.decode() {
        let values = whole.read.iter().flat_map(|read| read.values().take(100_000)).map(|value| value.value);
        sum = values.fold(sum, u64::wrapping_add);
        let registers = [whole.regs_user, whole.regs_intr];
        for (_, value) in registers.iter().flatten().flat_map(|registers| registers.iter()) {
            sum = sum.wrapping_add(value);
        }
        if let (Some(catalog), Some(raw), Some(event)) = (catalog, whole.raw, event.event()) {
            let mut text = Vec::new();
            catalog.write_text(event.attr.config, raw, &NoSymbols, &mut text);
            sum = sum.wrapping_add(text.len() as u64);
        }
    }
    if let Ok(essentials) = sample.essentials() {
        sum = sum.wrapping_add(essentials.ip);
    }
    seen.shown.sum = seen.shown.sum.wrapping_add(sum);
}

fn features(features: &Features, shown: &mut Shown) {
    for bit in features.bits() {
        assert!(features.place(bit).is_some() && features.has(bit));
        if let Some(Ok((mut feature, _))) = features.feature(bit) {
            feature.describe(shown);
            assert_eq!(shown.depth(), 0);
        }
    }
    let _ = (features.hostname(), features.osrelease(), features.version(), features.arch());
    let _ = (features.cpudesc(), features.cpuid(), features.nrcpus(), features.total_mem_kib());
    let _ = (features.cmdline(), features.event_desc(), features.build_ids());
}

fn catalog(features: &Features) -> Option<Catalog> {
    let data = TracingData::parse(features.bytes(bit::TRACING_DATA)?).ok()?;
    Some(Catalog::new(&data))
}
