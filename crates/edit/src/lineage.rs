//! From which processes a process has what is true of it: its own records, and those of the processes that it was forked from.

use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A process that another one was forked from, as it was then.
#[derive(Debug)]
struct Ancestor {
    pid: u32,
    before: Option<Rc<Ancestor>>,
    /// How many there are before it.
    generation: u32,
}

/// So many generations are followed. A longer line is one of records that are wrong.
const MOST_GENERATIONS: u32 = 1024;

/// The lines of all processes, as of the last FORK.
#[derive(Debug, Default)]
pub(crate) struct Lineage {
    parents: FxHashMap<u32, Rc<Ancestor>>,
}

impl Lineage {
    /// A process is forked from another one.
    pub(crate) fn fork(&mut self, pid: u32, parent: u32) {
        let before = self.parents.get(&parent).filter(|line| line.generation < MOST_GENERATIONS).cloned();
        let generation = before.as_ref().map_or(0, |before| before.generation + 1);
        self.parents.insert(pid, Rc::new(Ancestor { pid: parent, before, generation }));
    }

    /// The processes that a process has something from; not itself.
    pub(crate) fn ancestors(&self, pid: u32) -> impl Iterator<Item = u32> {
        let first = self.parents.get(&pid).map(Rc::as_ref);
        std::iter::successors(first, |ancestor| ancestor.before.as_deref()).map(|ancestor| ancestor.pid)
    }
}

/// The processes that some samples are of, with those that they were forked from.
#[derive(Debug, Default)]
pub(crate) struct Needed {
    lineage: Lineage,
    pids: FxHashSet<u32>,
    /// Whether a sample does not say whose it is: then it may need everything.
    everyone: bool,
    /// The process of the last sample: the next one is most often of the same.
    last: Option<u32>,
}

impl Needed {
    /// A process is forked from another one.
    pub(crate) fn fork(&mut self, pid: u32, parent: u32) {
        self.lineage.fork(pid, parent);
        self.last = None;
    }

    /// There is a sample of this process.
    pub(crate) fn add(&mut self, pid: Option<u32>) {
        let Some(pid) = pid else {
            self.everyone = true;
            return;
        };
        if self.last.replace(pid) != Some(pid) {
            self.pids.insert(pid);
            self.pids.extend(self.lineage.ancestors(pid));
        }
    }

    /// Their pids; `None` if it may be all.
    pub(crate) fn pids(self) -> Option<FxHashSet<u32>> {
        (!self.everyone).then_some(self.pids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_that_of_the_parent_when_it_forked() {
        let mut lineage = Lineage::default();
        lineage.fork(2, 1);
        lineage.fork(3, 2);
        // The pid is used again: its children before have nothing to do with that.
        lineage.fork(2, 9);
        lineage.fork(4, 2);
        let of = |pid| lineage.ancestors(pid).collect::<Vec<_>>();
        assert_eq!((of(1), of(2), of(3), of(4)), (vec![], vec![9], vec![2, 1], vec![2, 9]));
    }

    #[test]
    fn two_that_fork_each_other_have_an_end() {
        let mut lineage = Lineage::default();
        for _ in 0..100_000 {
            lineage.fork(1, 2);
            lineage.fork(2, 1);
        }
        assert!(lineage.ancestors(1).count() <= MOST_GENERATIONS as usize + 1);
    }
}
