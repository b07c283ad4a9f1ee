//! What rows have in common: whose samples they are.

use crate::profile::SampleRow;
use readperf_session::{CommId, ThreadId};
use rustc_hash::FxHashMap;

/// What samples have in common with many others: what was counted, and of whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Taker {
    pub(crate) event: u32,
    pub(crate) comm: CommId,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) cpu: Option<u32>,
}

/// Each of these once, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Takers {
    list: Vec<Taker>,
    numbers: FxHashMap<Taker, u32>,
    /// That of the row before.
    last: u32,
}

impl Takers {
    /// All of them, by number.
    pub(crate) fn as_slice(&self) -> &[Taker] {
        &self.list
    }

    /// The number of what a row has.
    #[inline]
    pub(crate) fn number_of(&mut self, row: &SampleRow) -> u32 {
        let SampleRow { event, comm, thread, cpu, .. } = *row;
        self.number(Taker { event, comm, thread, cpu })
    }

    /// For each by its number the place that it has in order of event, thread name, thread and CPU.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        let mut order: Vec<(Taker, usize)> = self.list.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let mut ranks = vec![0; order.len()];
        for (rank, (_, number)) in (0..).zip(order) {
            if let Some(slot) = ranks.get_mut(number) {
                *slot = rank;
            }
        }
        ranks
    }

    /// Those with a number for each, in order.
    pub(crate) fn sorted(mut self) -> Takers {
        self.list.sort_unstable();
        (self.numbers, self.last) = (self.list.iter().copied().zip(0..).collect(), 0);
        self
    }

    #[inline]
    fn number(&mut self, taker: Taker) -> u32 {
        if self.list.get(self.last as usize) != Some(&taker) {
            self.last = *self.numbers.entry(taker).or_insert_with(|| {
                self.list.push(taker);
                // There are no more than rows, whose numbers fit.
                u32::try_from(self.list.len() - 1).unwrap_or(u32::MAX)
            });
        }
        self.last
    }
}
