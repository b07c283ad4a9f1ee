//! Samples that carry counter values (`PERF_SAMPLE_READ`): they stand for what was counted since the last one, so the values
//! of those that stay must not have what was counted by those that go.

use perffile::wire::attr::{AttrFlags, ReadFormat, SampleType};
use perffile::{ByteOrder, Event, EventDescription};
use rustc_hash::FxHashMap;

/// A counter: its id, and the thread where children inherit it.
type Counter = (u64, u32);

/// The counters of a recording, and what the recordings say of them that are made of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// The last value of each.
    last: FxHashMap<Counter, u64>,
    /// By part: what its samples have counted.
    kept: FxHashMap<(usize, Counter), u64>,
}

/// Whether the samples of an event stand for what their counters have counted.
pub(crate) fn has_values(event: &EventDescription) -> bool {
    event.attr.sample_type.has(SampleType::READ) && event.attr.read_format.has(ReadFormat::ID)
}

impl Counts {
    /// Takes note of a sample that goes.
    pub(crate) fn goes(&mut self, event: &Event<'_>, description: &EventDescription) {
        let last = &mut self.last;
        each(event, description, |counter, value| {
            last.insert(counter, value);
        });
    }

    /// Takes note of a sample that stays, in the part with this number, and changes its values in `bytes`, the record as it is
    /// written in this order.
    pub(crate) fn stays(
        &mut self,
        part: usize,
        event: &Event<'_>,
        description: &EventDescription,
        order: ByteOrder,
        bytes: &mut [u8],
    ) {
        let mut values = Vec::new();
        let Counts { last, kept } = self;
        each(event, description, |counter, value| {
            let before = last.insert(counter, value).unwrap_or(0);
            let sum = kept.entry((part, counter)).or_default();
            *sum = sum.wrapping_add(value.wrapping_sub(before));
            values.push(*sum);
        });
        for (at, value) in places(description, values.len()).zip(values) {
            bytes.iter_mut().skip(at).zip(order.put_u64(value)).for_each(|(byte, said)| *byte = said);
        }
    }
}

/// Calls `seen` for each counter value of a sample.
fn each(event: &Event<'_>, description: &EventDescription, mut seen: impl FnMut(Counter, u64)) {
    let Some(sample) = event.sample() else { return };
    let Some(read) = sample.decode().ok().and_then(|(sample, _)| sample.read) else { return };
    let is_inherited = description.attr.flags.has(AttrFlags::inherit);
    let thread = if is_inherited { sample.tid().unwrap_or(0) } else { 0 };
    for value in read.values() {
        let Some(id) = value.id else { continue };
        seen((id, thread), value.value);
    }
}

/// Size of the head of a record, and of each value, in bytes.
const WORD: usize = 8;

/// Offsets of the values in a record.
fn places(description: &EventDescription, count: usize) -> impl Iterator<Item = usize> + use<> {
    let format = description.attr.read_format;
    let words = |fields: &[ReadFormat]| fields.iter().filter(|field| format.has(**field)).count();
    let times = words(&[ReadFormat::TOTAL_TIME_ENABLED, ReadFormat::TOTAL_TIME_RUNNING]);
    let is_group = format.has(ReadFormat::GROUP);
    // A group: how many, the times, and then each with what belongs to it. Else the value comes first.
    let first = if is_group { 1 + times } else { 0 };
    let stride = 1 + words(&[ReadFormat::ID, ReadFormat::LOST]);
    let start = description.layout.read_offset().map(|at| at + WORD);
    start.into_iter().flat_map(move |start| (0..count).map(move |nr| start + (first + nr * stride) * WORD))
}
