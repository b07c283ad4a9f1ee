//! Samples by thread, in order of time: for formats that show a thread a track.

use crate::export::Export;
use readperf_profile::SampleRow;
use readperf_session::ThreadId;
use std::borrow::Cow;
use std::ops::Range;

/// Rows by thread.
#[derive(Debug)]
pub(crate) struct ThreadRows<'r> {
    rows: &'r [SampleRow],
    /// Indices of rows: thread after thread, in the order of the rows.
    order: Vec<u32>,
    threads: Vec<(ThreadId, Range<usize>)>,
}

impl<'r> ThreadRows<'r> {
    /// Sorts rows. Threads come in the order in which the recording shows them first; rows without one are left out, and there
    /// are none if threads are kept.
    pub(crate) fn new(rows: &'r [SampleRow]) -> Self {
        let indices = (0u32..).zip(rows).filter(|(_, row)| row.thread.is_some());
        let mut order: Vec<u32> = indices.map(|(index, _)| index).collect();
        let thread = |index: &u32| rows.get(*index as usize).and_then(|row| row.thread);
        order.sort_by_key(thread);
        let mut threads: Vec<(ThreadId, Range<usize>)> = Vec::new();
        for (at, index) in order.iter().enumerate() {
            let Some(thread) = thread(index) else { continue };
            match threads.last_mut() {
                Some((last, range)) if *last == thread => range.end = at + 1,
                _ => threads.push((thread, at..at + 1)),
            }
        }
        ThreadRows { rows, order, threads }
    }

    /// The threads and their rows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ThreadId, OneThread<'_>)> {
        self.threads.iter().map(|(thread, range)| {
            let order = self.order.get(range.clone()).unwrap_or_default();
            (*thread, OneThread { rows: self.rows, order })
        })
    }
}

/// The rows of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OneThread<'r> {
    rows: &'r [SampleRow],
    order: &'r [u32],
}

impl<'r> OneThread<'r> {
    /// The rows, in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'r SampleRow> {
        self.order.iter().filter_map(move |index| self.rows.get(*index as usize))
    }
}

impl<'x> Export<'x> {
    /// Process and thread id of a thread, and its last name.
    pub(crate) fn thread(&self, thread: ThreadId) -> (u32, u32, Cow<'x, str>) {
        let Some(known) = self.session.thread(thread) else { return (0, 0, Cow::Borrowed("")) };
        let pid = self.session.process(known.process).map_or(0, |process| process.pid);
        (pid, known.tid, String::from_utf8_lossy(self.session.comm(known.comm())))
    }
}
