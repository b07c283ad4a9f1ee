//! How often something was met, and where first.

use perffile::{Event, Place};

/// How often, and where first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) count: u64,
    pub(crate) first: Option<Place>,
}

impl Tally {
    /// Once more.
    pub(crate) fn add(&mut self, event: &Event<'_>) {
        self.add_many(1, event);
    }

    /// So many more, told by one record.
    pub(crate) fn add_many(&mut self, count: u64, event: &Event<'_>) {
        self.count = self.count.saturating_add(count);
        if self.first.is_none() {
            self.first = Some(event.place());
        }
    }

    /// Whether it was met at all.
    pub(crate) fn any(&self) -> bool {
        self.count > 0
    }
}
