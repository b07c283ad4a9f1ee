//! How the lines of samples begin: mostly as an earlier one, but for the digits behind the second and the period.

use super::start::Who;
use crate::buffer::{Append as _, Buffer, put};
use crate::digits::{millionths, short_decimal};
use readperf_session::CommId;
use std::ops::Range;

/// How many are remembered, by thread and CPU.
const REMEMBERED: usize = 16;

/// Bytes of one that is remembered, at most.
pub(super) const LONGEST: usize = 96;

/// What the beginning of a line depends on, but for what differs from line to line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Of {
    pub(super) event: usize,
    pub(super) comm: CommId,
    pub(super) who: Who,
    pub(super) seconds: u64,
}

/// The beginning of a line: where in a text it is, and what of it differs in others.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    pub(super) at: Range<usize>,
    /// Where in it the point behind the second is.
    pub(super) point: usize,
    /// The period; 0 if that is not shown.
    pub(super) period: u64,
    /// Where in it the last eight bytes of the period are, if it has no more.
    pub(super) short_period: Option<usize>,
}

/// A line that begins as one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Again {
    number: u32,
    rest_us: u32,
    period: u64,
}

/// The beginnings of the lines in a text that others may begin as.
#[derive(Clone, Debug, Default)]
pub(super) struct Beginnings {
    all: Vec<Beginning>,
    /// Of the last ones: what they are of, and their numbers.
    last: [Option<(Of, u32)>; REMEMBERED],
}

impl Beginnings {
    #[inline]
    fn slot(of: &Of) -> usize {
        (of.who.tid ^ of.who.cpu << 2) as usize % REMEMBERED
    }

    /// A line that begins as an earlier one, so many microseconds behind the second and with this period, if there is one.
    #[inline]
    pub(super) fn again(&self, of: &Of, rest_us: u64, period: u64) -> Option<Again> {
        let (_, number) = self.last.get(Beginnings::slot(of))?.as_ref().filter(|(known, _)| known == of)?;
        let known = self.all.get(*number as usize)?;
        let fits = period == known.period || known.short_period.is_some() && short_decimal(period).is_some();
        Some(Again { number: *number, rest_us: u32::try_from(rest_us).ok()?, period }).filter(|_| fits)
    }

    /// Takes one in.
    pub(super) fn remember(&mut self, of: Of, beginning: Beginning) {
        if let (Ok(number), Some(slot)) =
            (u32::try_from(self.all.len()), self.last.get_mut(Beginnings::slot(&of)))
        {
            *slot = Some((of, number));
            self.all.push(beginning);
        }
    }

    /// Forgets all, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.last = [None; REMEMBERED];
    }

    /// Appends the beginning of a line that begins as one in this text.
    #[inline]
    pub(super) fn write(&self, again: &Again, text: &Buffer, out: &mut Buffer) {
        let Some(known) = self.all.get(again.number as usize) else { return };
        let Some(chunk) = text.with_room().get(known.at.start..).and_then(<[u8]>::first_chunk) else {
            return self.write_last(again, known, text, out);
        };
        out.put::<LONGEST>(|room| {
            *room = *chunk;
            change(room, known, again);
            known.at.len()
        });
    }

    /// The same of one behind which the text has not much more.
    #[cold]
    fn write_last(&self, again: &Again, known: &Beginning, text: &Buffer, out: &mut Buffer) {
        let before = out.length();
        out.slice(text.as_slice().get(known.at.clone()).unwrap_or_default());
        out.append(|out| change(out.get_mut(before..).unwrap_or_default(), known, again));
    }
}

/// Puts in what differs.
#[inline(always)]
fn change(text: &mut [u8], known: &Beginning, again: &Again) {
    let fraction = millionths(again.rest_us.into(), b':');
    put(text, known.point, &fraction, fraction.len());
    if again.period != known.period
        && let (Some(at), Some(period)) = (known.short_period, short_decimal(again.period))
    {
        put(text, at, &period, period.len());
    }
}
