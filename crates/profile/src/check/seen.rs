//! What a concern is shown with each record.

use perffile::{Event, EventDescription};
use readperf_session::{SampleMoment, Session};

/// A record and the state it was met in.
pub(crate) struct Seen<'s, 'b> {
    pub(crate) event: &'s Event<'b>,
    /// After the record was applied.
    pub(crate) session: &'s Session,
}

impl<'b> Seen<'_, 'b> {
    /// The event that a sample is one of.
    pub(crate) fn event_of(&self, sample: &SampleMoment<'_>) -> Option<&'b EventDescription> {
        self.event.schema().event(sample.event)
    }
}
