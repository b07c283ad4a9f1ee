//! Samples by time: those that are looked at, and all.

use crate::explorer::Explorer;
use readperf_profile::Weight;
use readperf_profile::view::time_strip::{Parts, Strip, ThreadStrips};
use readperf_session::ThreadId;
use std::sync::Arc;

/// All samples of an event by time. They stay the same whatever is chosen of them.
#[derive(Debug)]
pub struct WholeStrips {
    /// Of all threads.
    pub all: Strip,
    /// Of the threads with most samples.
    pub threads: ThreadStrips,
    made_of: (usize, Weight, Parts, usize),
}

impl Explorer<'_> {
    /// The samples that are looked at by time.
    pub fn strip(&self, parts: &Parts) -> Strip {
        self.now.ground.profile.strip_of(self.now.placed_samples(), parts)
    }

    /// The same of the threads with most of them.
    pub fn thread_strips(&self, parts: &Parts, most: usize) -> ThreadStrips {
        let weight = self.now.state.weight;
        self.now.ground.profile.thread_strips(self.now.placed_samples(), parts, weight, most)
    }

    /// The same of some threads.
    pub fn strips_of_threads(&self, parts: &Parts, threads: &[ThreadId]) -> Vec<Strip> {
        self.now.ground.profile.strips_of_threads(self.now.placed_samples(), parts, threads)
    }

    /// Groups of threads by time: all of their samples of the event, and those that are looked at.
    pub fn strips_of_groups(&self, parts: &Parts, groups: &[Vec<ThreadId>]) -> (Vec<Strip>, Vec<Strip>) {
        let (whole, groups) = (self.whole(), groups.iter().map(Vec::as_slice));
        let rows = whole.rows_of(self.now.state.event).iter().map(|row| (row, row.address));
        let chosen = &self.now.ground.profile;
        let chosen = chosen.strips_of_groups(self.now.placed_samples(), parts, groups.clone());
        (whole.strips_of_groups(rows, parts, groups), chosen)
    }

    /// All samples of the event by time, and those of the threads with most of them.
    pub fn whole_strips(&self, parts: &Parts, most: usize) -> Arc<WholeStrips> {
        let made_of = (self.now.state.event, self.now.state.weight, parts.clone(), most);
        let mut known = self.strips.borrow_mut();
        if let Some(strips) = known.as_ref().filter(|known| known.made_of == made_of) {
            return Arc::clone(strips);
        }
        let (whole, (event, weight, ..)) = (self.whole(), &made_of);
        let rows = || whole.rows_of(*event).iter().map(|row| (row, row.address));
        let threads = whole.thread_strips(rows(), parts, *weight, most);
        let strips = Arc::new(WholeStrips { all: whole.strip_of(rows(), parts), threads, made_of });
        *known = Some(Arc::clone(&strips));
        strips
    }

    /// Whether all samples are looked at, with their stacks as they were recorded.
    pub fn looks_at_all(&self) -> bool {
        Arc::ptr_eq(&self.now.ground, &self.whole) && self.now.picked.is_all()
    }
}
