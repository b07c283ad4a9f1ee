//! How the lines of samples begin: mostly as an earlier one, but for the digits behind the second and the period.

use crate::buffer::{Append as _, Buffer, put};
use crate::digits::{millionths, short_decimal};
use readperf_session::CommId;
use std::ops::Range;

/// How many are remembered, by thread and CPU.
const REMEMBERED: usize = 16;

/// Bytes of one that is remembered, at most.
pub(super) const LONGEST: usize = 96;

/// A thread on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) cpu: u32,
}

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

/// A line that begins as one of them, or as none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Again {
    number: u32,
    rest_us: u32,
    /// Its period, if it is another one.
    period: u32,
}

impl Again {
    /// As none.
    pub(super) const NONE: Again = Again { number: u32::MAX, rest_us: 0, period: 0 };

    /// The period is the same.
    const SAME: u32 = u32::MAX;

    /// Whether it begins as one of them.
    #[inline]
    pub(super) fn is_some(self) -> bool {
        self.number != u32::MAX
    }
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
        let period = match period == known.period {
            true => Again::SAME,
            false => {
                let fits = known.short_period.is_some() && short_decimal(period).is_some();
                u32::try_from(period).ok().filter(|_| fits)?
            }
        };
        Some(Again { number: *number, rest_us: u32::try_from(rest_us).ok()?, period })
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
    pub(super) fn write(&self, again: Again, text: &Buffer, out: &mut Buffer) {
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
    fn write_last(&self, again: Again, known: &Beginning, text: &Buffer, out: &mut Buffer) {
        let before = out.length();
        out.slice(text.as_slice().get(known.at.clone()).unwrap_or_default());
        out.append(|out| change(out.get_mut(before..).unwrap_or_default(), known, again));
    }
}

/// Puts in what differs.
#[inline(always)]
fn change(text: &mut [u8], known: &Beginning, again: Again) {
    let fraction = millionths(again.rest_us.into(), b':');
    put(text, known.point, &fraction, fraction.len());
    if again.period != Again::SAME
        && let (Some(at), Some(period)) = (known.short_period, short_decimal(again.period.into()))
    {
        put(text, at, &period, period.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Piece;
    use crate::script::columns::Columns;
    use crate::script::completed::Completed;
    use crate::script::draft::Draft;
    use crate::script::fields::{ScriptField, ScriptFields};
    use crate::script::start::When;
    use crate::script::{Script, ScriptOptions};
    use perffile::Share;
    use readperf_profile::Located;
    use readperf_session::Session;

    fn columns(fields: &[ScriptField], is_comm_padded: bool, has_same_beginnings: bool) -> Columns {
        Columns {
            fields: ScriptFields::of(fields),
            has_chain: !is_comm_padded,
            has_stand_in: false,
            is_comm_padded,
            has_same_beginnings,
            has_rare: false,
            style: Some(0),
            unwound_style: None,
            return_style: None,
            name: Piece::new(b"cycles: ".to_vec()),
            tracepoint: None,
            is_fault: false,
            is_bpf_output: false,
        }
    }

    /// Lines that begin so. What makes one is now the same as before, now another one.
    fn lines(
        events: &[Columns],
        comms: &[CommId],
    ) -> impl Iterator<Item = (Share, CommId, Who, When)> + use<> {
        let (events, comms) = (events.len(), comms.to_vec());
        (0..6000_u32).map(move |nr| {
            let pick = |every: u32, of: u32| nr / every % of;
            let periods = [1, 250_000, 99_999_999, 100_000_000, 12_345_678_901, 0];
            let share = Share {
                event: pick(4, u32::try_from(events).unwrap()) as usize,
                period: periods[pick(1, 6) as usize],
            };
            let who = Who { pid: pick(7, 2), tid: pick(5, 3) * 16, cpu: pick(11, 2) * 4 };
            let time_ns = u64::from(nr) * 7_654_321;
            let when = When { time_ns, recorded_ns: Some(time_ns), misc: 0, kind: None };
            (share, comms[pick(2, 2) as usize], who, when)
        })
    }

    #[test]
    fn lines_begin_as_if_each_were_the_first() {
        let mut session = Session::default();
        let comms = [&b"a"[..], b"other"].map(|name| session.add_comm(name));
        let mut script = Script::new(ScriptOptions::default());
        script.comms.extend(["a", "other"].map(|name| Piece::new(name.into())));
        let [comm, pid, tid, cpu] = [ScriptField::Comm, ScriptField::Pid, ScriptField::Tid, ScriptField::Cpu];
        let [time, period, event] = [ScriptField::Time, ScriptField::Period, ScriptField::Event];
        let events = |same| {
            [
                columns(&[comm, tid, cpu, time, period, event], false, same),
                columns(&[comm, tid, cpu, time, event], true, same),
                columns(&[comm, pid, tid, time, period, event, ScriptField::Flags], false, same),
            ]
        };
        let [again, written] = [true, false].map(|same| {
            let (events, mut draft, mut text) = (events(same), Draft::default(), Completed::default());
            let mut again = 0;
            for (nr, (share, comm, who, when)) in lines(&events, &comms).enumerate() {
                let columns = &events[share.event];
                script.write_beginning(&mut draft, (&share, columns), (comm, who), &when);
                draft.end_line();
                if nr % 7 == 6 {
                    // Other records are lines, too.
                    draft.append(|text| text.extend_from_slice(b"-\n"));
                }
                // Texts end anywhere, and drafts are used again.
                if nr % 700 == 699 {
                    again += draft.again_count();
                    script.fillings().complete(&draft, &Located::default(), &mut text);
                    draft = draft.emptied().unwrap();
                }
            }
            script.fillings().complete(&draft, &Located::default(), &mut text);
            assert_eq!(again > 500, same, "{again} lines of 5600 begin as others");
            String::from_utf8(text.as_slice().to_vec()).unwrap()
        });
        assert_eq!(again, written);
    }
}
