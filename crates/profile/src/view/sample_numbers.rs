//! Samples as rows: what the keys say of each, by number.

use super::facts::Facts;
use super::key::{KeyUse, Part};
use crate::detail::DetailId;
use crate::profile::SampleRow;
use crate::stacks::StackId;
use crate::tuples::Tuples;
use crate::value::Value;
use readperf_session::{CommId, ThreadId};
use rustc_hash::FxHashMap;

/// What keys of the sample depend on.
type SampleParts = (u32, CommId, Option<ThreadId>, Option<u32>, DetailId, StackId);

/// Numbers what the keys say of samples.
#[derive(Debug)]
pub(super) struct SampleNumbers {
    known: FxHashMap<SampleParts, u32>,
    /// Of the samples before: most that follow each other agree.
    last: Option<(SampleParts, u32)>,
    scratch: Vec<Value>,
    of_stack: bool,
    of_event: bool,
}

impl SampleNumbers {
    pub(super) fn new(keys: &[KeyUse]) -> SampleNumbers {
        SampleNumbers {
            known: FxHashMap::default(),
            last: None,
            scratch: Vec::new(),
            of_stack: keys.iter().any(|key| matches!(key.key.part, Part::Stack(_))),
            of_event: keys.iter().any(|key| matches!(key.key.part, Part::Field(_))),
        }
    }

    /// Whether keys depend on the stack.
    pub(super) fn of_stack(&self) -> bool {
        self.of_stack
    }

    /// Samples of another event follow: the text of a tracepoint depends on it.
    pub(super) fn next_event(&mut self) {
        self.known.clear();
        self.last = None;
    }

    /// The number of what the keys say of a sample.
    pub(super) fn number(
        &mut self,
        facts: &mut Facts<'_>,
        keys: &[KeyUse],
        tuples: &mut Tuples,
        row: &SampleRow,
    ) -> u32 {
        let stack = if self.of_stack { row.stack } else { StackId::EMPTY };
        let event = if self.of_event { row.event } else { 0 };
        let parts = (event, row.comm, row.thread, row.cpu, row.detail, stack);
        if let Some((_, number)) = self.last.filter(|(last, _)| *last == parts) {
            return number;
        }
        if let Some(number) = self.known.get(&parts) {
            self.last = Some((parts, *number));
            return *number;
        }
        self.scratch.clear();
        for key in keys {
            match key.key.part {
                Part::Sample(of) => self.scratch.push(of(facts, row)),
                Part::Field(of) => self.scratch.push(of(facts, row, &key.field)),
                Part::Stack(of) => self.scratch.push(of(facts, row.stack)),
                Part::Function(_) | Part::Place(_) => {}
            }
        }
        let number = tuples.number(&self.scratch);
        self.known.insert(parts, number);
        self.last = Some((parts, number));
        number
    }
}
