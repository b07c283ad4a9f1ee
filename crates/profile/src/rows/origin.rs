//! Where samples come from: what many rows have in common.

use readperf_session::{CommId, ThreadId};
use rustc_hash::FxHashMap;

/// The event, and the thread and CPU that it was counted of, as far as they are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Origin {
    pub(crate) event: u32,
    pub(crate) comm: CommId,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) cpu: Option<u32>,
}

/// Each of these once, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origins {
    list: Vec<Origin>,
    numbers: FxHashMap<Origin, u32>,
    /// The number that was asked for last.
    last: u32,
}

impl Origins {
    /// All of them, by number.
    pub(crate) fn as_slice(&self) -> &[Origin] {
        &self.list
    }

    /// For each by its number its rank in order of event, thread name, thread and CPU.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        let mut order: Vec<(Origin, usize)> = self.list.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let mut ranks = vec![0; order.len()];
        for (rank, (_, number)) in (0..).zip(order) {
            if let Some(slot) = ranks.get_mut(number) {
                *slot = rank;
            }
        }
        ranks
    }

    /// The same, numbered in that order.
    pub(crate) fn sorted(mut self) -> Origins {
        self.list.sort_unstable();
        (self.numbers, self.last) = (self.list.iter().copied().zip(0..).collect(), 0);
        self
    }

    /// The number of one.
    #[inline]
    pub(crate) fn number(&mut self, origin: Origin) -> u32 {
        if self.list.get(self.last as usize) != Some(&origin) {
            self.last = *self.numbers.entry(origin).or_insert_with(|| {
                self.list.push(origin);
                // There are no more than rows, whose numbers fit.
                u32::try_from(self.list.len() - 1).unwrap_or(u32::MAX)
            });
        }
        self.last
    }
}
