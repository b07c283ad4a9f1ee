//! Samples and other things by thread, in order of time: for formats that show a thread a track.

use crate::export::Export;
use crate::text::decoded;
use readperf_profile::{RowSlice, SampleRow};
use readperf_session::ThreadId;
use std::borrow::Cow;
use std::ops::Range;

/// Things by number.
pub(crate) trait Items: Copy {
    /// One of them.
    type Item;

    /// How many there are.
    fn count(self) -> usize;

    /// The one with this number.
    fn item(self, at: usize) -> Option<Self::Item>;
}

impl<'i, T> Items for &'i [T] {
    type Item = &'i T;

    fn count(self) -> usize {
        self.len()
    }

    fn item(self, at: usize) -> Option<&'i T> {
        self.get(at)
    }
}

impl Items for RowSlice<'_> {
    type Item = SampleRow;

    fn count(self) -> usize {
        self.len()
    }

    fn item(self, at: usize) -> Option<SampleRow> {
        self.get(at)
    }
}

/// Items by thread.
#[derive(Debug)]
pub(crate) struct ByThread<I> {
    items: I,
    /// Indices of items: thread after thread, in the order of the items.
    order: Vec<u32>,
    /// Ascending, with where each lies in `order`.
    threads: Vec<(ThreadId, Range<usize>)>,
}

impl<I: Items> ByThread<I> {
    /// Sorts items, of which each may belong to a thread; the others are left out. Threads come in the order in which the
    /// recording shows them first.
    pub(crate) fn new(items: I, thread: impl Fn(I::Item) -> Option<ThreadId>) -> Self {
        let of = |index: u32| Some((items.item(index as usize).and_then(&thread)?, index));
        let mut placed: Vec<(ThreadId, u32)> = (0u32..).take(items.count()).filter_map(of).collect();
        placed.sort_by_key(|(thread, _)| *thread);
        let mut threads: Vec<(ThreadId, Range<usize>)> = Vec::new();
        for (at, (thread, _)) in placed.iter().enumerate() {
            match threads.last_mut() {
                Some((last, range)) if last == thread => range.end = at + 1,
                _ => threads.push((*thread, at..at + 1)),
            }
        }
        ByThread { items, order: placed.into_iter().map(|(_, index)| index).collect(), threads }
    }

    /// The threads that have items.
    pub(crate) fn threads(&self) -> impl Iterator<Item = ThreadId> {
        self.threads.iter().map(|(thread, _)| *thread)
    }

    /// The items of a thread, in order.
    pub(crate) fn of(&self, thread: ThreadId) -> impl Iterator<Item = I::Item> + Clone {
        let found = self.threads.binary_search_by_key(&thread, |(thread, _)| *thread).ok();
        let range = found.and_then(|at| self.threads.get(at)).map(|(_, range)| range.clone());
        let order = range.and_then(|range| self.order.get(range)).unwrap_or_default();
        let items = self.items;
        order.iter().filter_map(move |index| items.item(*index as usize))
    }
}

/// A thread as viewers show it.
#[derive(Clone, Debug)]
pub(crate) struct ThreadLabel<'x> {
    /// As the kernel's type has it (`pid_t`), as the other: -1 of what is on its way out.
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    /// Its last name.
    pub(crate) comm: Cow<'x, str>,
}

impl<'x> Export<'x> {
    /// Process and thread id of a thread, and its last name.
    pub(crate) fn thread_label(&self, thread: ThreadId) -> ThreadLabel<'x> {
        let Some(known) = self.session.thread(thread) else {
            return ThreadLabel { pid: 0, tid: 0, comm: Cow::Borrowed("") };
        };
        let pid = self.session.process(known.process).map_or(0, |process| process.pid);
        let (pid, tid) = (pid.cast_signed(), known.tid.cast_signed());
        ThreadLabel { pid, tid, comm: decoded(self.session.comm(known.comm())) }
    }
}
