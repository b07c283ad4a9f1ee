//! Samples that carry counter values (`PERF_SAMPLE_READ`): they stand for what was counted since the last one, so the values
//! of those that stay must not have what was counted by those that go.

use perffile::wire::attr::{AttrFlags, ReadFormat, SampleType};
use perffile::{ByteOrder, Event, EventDescription};
use rustc_hash::FxHashMap;

/// A counter: its id, and the thread where children inherit it.
type Counter = (u64, u32);

/// What is known of a counter.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    last: u64,
    /// How much of it was counted by samples that went.
    gone: u64,
}

/// The counters of a recording.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    counters: FxHashMap<Counter, Count>,
}

/// Whether the samples of an event stand for what their counters have counted.
pub(crate) fn has_values(event: &EventDescription) -> bool {
    event.attr.sample_type.has(SampleType::READ) && event.attr.read_format.has(ReadFormat::ID)
}

impl Counts {
    /// Takes note of a sample that goes.
    pub(crate) fn goes(&mut self, event: &Event<'_>, description: &EventDescription) {
        self.each(event, description, |count, value| {
            count.gone = count.gone.wrapping_add(value.wrapping_sub(count.last));
            count.last = value;
        });
    }

    /// Takes note of a sample that stays, and changes its values in `bytes`, the record as it is written in this order.
    pub(crate) fn stays(
        &mut self,
        event: &Event<'_>,
        description: &EventDescription,
        order: ByteOrder,
        bytes: &mut [u8],
    ) {
        let mut values = Vec::new();
        self.each(event, description, |count, value| {
            count.last = value;
            values.push(value.wrapping_sub(count.gone));
        });
        for (at, value) in places(description, values.len()).zip(values) {
            bytes.iter_mut().skip(at).zip(order.put_u64(value)).for_each(|(byte, said)| *byte = said);
        }
    }

    fn each(
        &mut self,
        event: &Event<'_>,
        description: &EventDescription,
        mut change: impl FnMut(&mut Count, u64),
    ) {
        let Some(sample) = event.sample() else { return };
        let Some(read) = sample.decode().ok().and_then(|(sample, _)| sample.read) else { return };
        let is_inherited = description.attr.flags.has(AttrFlags::inherit);
        let thread = if is_inherited { sample.tid().unwrap_or(0) } else { 0 };
        for counter in read.values() {
            let Some(id) = counter.id else { continue };
            change(self.counters.entry((id, thread)).or_default(), counter.value);
        }
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
