//! Which samples and counts can be used: one decision for all readers, with one wording of the issues.

use crate::error::Error;
use crate::event::Event;
use crate::issue::{IssueKind, Issues};
use crate::schema::EventDescription;
use crate::walk::is_checked;
use crate::wire::record::stat::Stat;
use crate::wire::sample::{Essentials, SampleView};

/// A sample that can be used.
#[derive(Clone, Copy, Debug)]
pub struct UsableSample<'b> {
    /// Index of its event.
    pub index: usize,
    /// Its event.
    pub event: &'b EventDescription,
    /// All its fields.
    pub sample: SampleView<'b>,
    /// The fields that nearly every reader wants.
    pub essentials: Essentials<'b>,
}

/// Why a sample cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unattributed {
    /// Its id belongs to no event, so that its fields cannot be told apart.
    UnknownEvent,
    /// Its bytes end before its fields do.
    Undecodable,
}

impl<'b> Event<'b> {
    /// A record that is a sample, with its event and fields. Its faults are added to `issues`.
    ///
    /// # Errors
    /// The reason why it cannot be used.
    #[inline(always)]
    pub fn usable_sample(&self, issues: &mut Issues) -> Result<UsableSample<'b>, Unattributed> {
        let known = self.event_index().and_then(|index| Some((index, self.schema().event(index)?)));
        let Some((index, event)) = known else { return Err(self.tell_unknown_event(issues)) };
        let sample = SampleView::new(self.body(), &event.layout, self.head().misc);
        let Ok(essentials) = sample.essentials() else { return Err(self.tell_bad_sample(sample, issues)) };
        if let Some(message) = sample.too_long(essentials.left) {
            issues.add(IssueKind::BadRecordSize, self.place(), || message);
        }
        Ok(UsableSample { index, event, sample, essentials })
    }

    /// Index of the event that a count (STAT) belongs to. If there is none, an issue is added.
    pub fn event_of_count(&self, count: &Stat, issues: &mut Issues) -> Option<usize> {
        let known = self.schema().event_of_count(count.event_id);
        if known.is_none() {
            let message = || "a count's event id belongs to no event".to_owned();
            issues.add(IssueKind::UnknownEventId, self.place(), message);
        }
        known
    }

    /// Adds the issue that [`Event::record`] has failed, unless the walk has added it: it checks the length of most types.
    pub fn tell_undecodable(&self, error: &Error, issues: &mut Issues) {
        if !is_checked(self.schema().dialect().decoded_as(self.head().kind)) {
            let place = error.place().copied().unwrap_or(self.place());
            issues.add(IssueKind::BadRecord, place, || error.kind().to_string());
        }
    }

    #[cold]
    fn tell_unknown_event(&self, issues: &mut Issues) -> Unattributed {
        let message = || "a sample's event id belongs to no event".to_owned();
        issues.add(IssueKind::UnknownEventId, self.place(), message);
        Unattributed::UnknownEvent
    }

    #[cold]
    fn tell_bad_sample(&self, sample: SampleView<'b>, issues: &mut Issues) -> Unattributed {
        if let Err(error) = sample.essentials() {
            let message = || format!("a sample cannot be decoded: {error}");
            issues.add(IssueKind::BadRecord, self.place().field(error.field), message);
        }
        Unattributed::Undecodable
    }
}
