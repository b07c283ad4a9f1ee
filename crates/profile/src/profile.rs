//! The columns of a profile.

use crate::addresses::{AddressId, Addresses};
use crate::detail::{DetailId, Details};
use crate::names::{Function, FunctionId, Names};
use crate::rows::{RowSlice, Rows};
use crate::stacks::{StackId, Stacks};
use crate::weight::Weight;
use readperf_session::{CommId, ThreadId};
use std::ops::Range;
use std::sync::Arc;

/// An event and what its samples add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventTotal {
    /// Its name.
    pub name: String,
    /// How many samples.
    pub samples: u64,
    /// Sum of their periods.
    pub period: u64,
}

/// Samples that agree in everything that is kept of them: one sample, if its time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SampleRow {
    /// Index of the event.
    pub event: u32,
    /// The thread's name at that time.
    pub comm: CommId,
    /// The thread, if kept.
    pub thread: Option<ThreadId>,
    /// CPU number, if recorded and kept.
    pub cpu: Option<u32>,
    /// Time in ns of the recording's clock, if kept; else 0.
    pub time_ns: u64,
    /// The stack, if kept. Its innermost place is where the recorded chain begins, mostly `address`. Rows are sorted by it
    /// before `address`, since whoever walks the rows walks the stacks, and these are numbered as they came.
    pub stack: StackId,
    /// Where the CPU was.
    pub address: AddressId,
    /// What else is kept of it.
    pub detail: DetailId,
    /// How many samples.
    pub samples: u64,
    /// Sum of their periods.
    pub period: u64,
}

/// What the samples of a recording add up to, with the names of the places.
///
/// A copy is cheap: its columns and names are shared, until a [`Selection`](crate::Selection) changes them.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    pub(crate) events: Vec<EventTotal>,
    pub(crate) recorded: Vec<EventTotal>,
    pub(crate) weight: Weight,
    pub(crate) addresses: Arc<Addresses>,
    pub(crate) stacks: Arc<Stacks>,
    pub(crate) details: Arc<Details>,
    pub(crate) rows: Arc<Rows>,
    pub(crate) names: Arc<Names>,
    pub(crate) times_ns: Option<(u64, u64)>,
    /// Of the places that transforms made, which are the last: what was recorded.
    pub(crate) made_of: Vec<AddressId>,
}

impl Profile {
    /// The events and what the samples add up to that were chosen, in the order of the recording.
    pub fn events(&self) -> &[EventTotal] {
        &self.events
    }

    /// The events and what all their samples add up to, chosen or not. Of events that were not chosen nothing is known.
    pub fn recorded(&self) -> &[EventTotal] {
        &self.recorded
    }

    /// What samples count for in pictures of them, as it was chosen.
    pub fn weight(&self) -> Weight {
        self.weight
    }

    /// Whether another profile has the same places with the same names: what is worked out of these holds for both.
    pub fn has_names_of(&self, other: &Profile) -> bool {
        Arc::ptr_eq(&self.addresses, &other.addresses) && Arc::ptr_eq(&self.names, &other.names)
    }

    /// Whether another profile, of which this one was made by changes of stacks, has the same functions under the same names: then its
    /// places are the first of those here.
    pub fn has_functions_of(&self, other: &Profile) -> bool {
        self.names.has_functions_of(&other.names)
    }

    /// The same places with their names, and totals, without samples.
    #[must_use]
    pub fn without_samples(&self) -> Profile {
        Profile { rows: Arc::default(), ..self.clone() }
    }

    /// The same with each sample counted as one: periods are numbers of samples.
    #[must_use]
    pub fn counting_samples(&self) -> Profile {
        let count = |total: &EventTotal| EventTotal { period: total.samples, ..total.clone() };
        let rows = self.rows.iter().map(|row| SampleRow { period: row.samples, ..row }).collect();
        Profile {
            events: self.events.iter().map(count).collect(),
            recorded: self.recorded.iter().map(count).collect(),
            rows: Arc::new(rows),
            ..self.clone()
        }
    }

    /// The same with other rows.
    #[must_use]
    pub fn with_rows(&self, rows: Rows) -> Profile {
        Profile { rows: Arc::new(rows), ..self.clone() }
    }

    /// Every address, once.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Every stack, once.
    pub fn stacks(&self) -> &Stacks {
        &self.stacks
    }

    /// What else is kept of the samples.
    pub fn details(&self) -> &Details {
        &self.details
    }

    /// The samples, sorted by event; then by time if that was kept, else by the other columns, unless [stacks are whole](crate::DetailOptions::whole_stacks).
    pub fn rows(&self) -> RowSlice<'_> {
        self.rows.as_slice()
    }

    /// The rows of one event.
    pub fn rows_of(&self, event: usize) -> RowSlice<'_> {
        self.rows().range(self.range_of(event))
    }

    /// The indices of the rows of one event.
    pub fn range_of(&self, event: usize) -> Range<usize> {
        let before = |limit: usize| self.rows().partition_point(|row| (row.event as usize) < limit);
        before(event)..before(event.saturating_add(1))
    }

    /// The places of a row's stack, the innermost first: without a stack where the sample was taken.
    pub fn places<'p>(&'p self, row: &SampleRow) -> impl Iterator<Item = AddressId> + use<'p> {
        let alone = (row.stack == StackId::EMPTY).then_some(row.address);
        self.stacks.places(row.stack).chain(alone)
    }

    /// The names of the addresses.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Times of the first and the last sample that was taken in, ns; `None` if there is none with a time.
    pub fn times_ns(&self) -> Option<(u64, u64)> {
        self.times_ns
    }

    /// A function by its number.
    pub fn function(&self, id: FunctionId) -> Option<Function<'_>> {
        self.names.function(id)
    }
}
