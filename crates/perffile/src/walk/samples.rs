//! Samples one after the other, which is nearly all that there is in most recordings.

use super::batches::Batches;
use super::rounds::{BATCH_RECORDS, Rounds};
use super::stray_times::StrayTimes;
use super::touched::Touched;
use crate::order::Entry;
use crate::wire::endian::Order;
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::kind;

/// How many samples are taken before it is looked at how many records wait.
const MOST_AT_ONCE: usize = BATCH_RECORDS;

/// How far samples were taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    /// Behind the last one.
    pub(super) pos: usize,
    /// The last one.
    pub(super) last: usize,
}

impl Batches {
    /// Takes the samples at `pos`, up to the first record about which there is something to decide. Their times are at `time_at`.
    pub(super) fn samples<O: Order>(
        &mut self,
        bytes: &[u8],
        pos: usize,
        time_at: usize,
        chunk: u32,
        touched: &mut Touched,
    ) -> Taken {
        let walk = Samples { bytes, pos, time_at: HEAD_SIZE + time_at, strays: self.strays };
        let Rounds { sorting, queue, ready, .. } = &mut self.rounds;
        let first = self.index;
        let (taken, count) = if *sorting {
            walk.each::<O>(MOST_AT_ONCE, touched, |nr, pos, time| {
                queue.push(Entry { time, index: first + nr, chunk, pos })
            })
        } else {
            let room = BATCH_RECORDS.saturating_sub(ready.len());
            walk.each::<O>(room, touched, |nr, pos, time| {
                ready.push(Entry { time, index: first + nr, chunk, pos })
            })
        };
        self.index += count;
        taken
    }
}

/// Where samples are looked for.
struct Samples<'b> {
    bytes: &'b [u8],
    pos: usize,
    /// Where they have their time, their head included.
    time_at: usize,
    strays: StrayTimes,
}

impl Samples<'_> {
    /// Gives each sample to `take`: how many there were before, where it is, its time. How far that went, and how many there were.
    #[inline(always)]
    fn each<O: Order>(
        self,
        most: usize,
        touched: &mut Touched,
        mut take: impl FnMut(u64, u32, u64),
    ) -> (Taken, u64) {
        let Samples { bytes, mut pos, time_at, strays } = self;
        let (mut last, mut count) = (pos, 0);
        let mut rest = bytes.get(pos..).unwrap_or_default();
        while count < most as u64 {
            touched.before(bytes, pos);
            let Some(head) = RecordHead::read::<O>(rest) else { break };
            let size = usize::from(head.size);
            if head.kind != kind::SAMPLE || !size.is_multiple_of(8) || size < HEAD_SIZE {
                break;
            }
            let (Some((record, behind)), Ok(at)) = (rest.split_at_checked(size), u32::try_from(pos)) else {
                break;
            };
            let Some(time) = record.get(time_at..).and_then(|rest| rest.first_chunk()) else { break };
            let time = O::u64(*time);
            if !strays.is_usual(time) {
                break;
            }
            take(count, at, time);
            count += 1;
            last = pos;
            pos += size;
            rest = behind;
        }
        (Taken { pos, last }, count)
    }
}
