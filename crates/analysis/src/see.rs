//! Records as they come, for those who need not know yet where samples were taken.

use crate::chunk::{Sample, Take};
use crate::pass::State;
use perffile::{Event, Metadata, Share};
use readperf_profile::{AddressId, Branch, Builder, SamplePlaces};
use readperf_session::{CommId, Moment, SampleMoment, Session};

/// Sees the records of a pass one by one, as they come, if [places may come later](crate::PassOptions::places_may_come_later). What takes a
/// record in has it in the processor's registers then; a chunk would be written first, and read again.
pub trait See {
    /// Events and features, as known before the records that follow, however these are shown.
    fn begin(&mut self, metadata: &Metadata);

    /// A sample that counts. Its [number](Sample::later) is known, and not where it was taken.
    fn sample(&mut self, state: &State, sample: &Sample<'_, '_>);

    /// Any other record, and the name of the thread that it is about, if such names are wanted.
    fn other(&mut self, state: &State, event: &Event<'_>, comm: Option<CommId>);
}

/// Takes nothing in, and has records seen.
pub(crate) struct Seeing<'s, S>(pub(crate) &'s mut S);

impl<S: See> Take for Seeing<'_, S> {
    fn begin(&mut self, metadata: &Metadata) {
        self.0.begin(metadata);
    }

    #[inline(always)]
    fn see(&mut self, state: &State, sample: &Sample<'_, '_>) {
        self.0.sample(state, sample);
    }

    fn see_other(&mut self, state: &State, event: &Event<'_>, comm: Option<CommId>) {
        self.0.other(state, event, comm);
    }

    fn record(&mut self, _: &Session, _: &Event<'_>, _: &Moment<'_>, _: bool) {}
    fn sample(&mut self, _: &SampleMoment<'_>, _: &[Share], _: Option<AddressId>, _: &[Branch]) {}
    fn pass_over(&mut self, _: &SampleMoment<'_>, _: &[Share]) {}
    fn places<'c>(&mut self, _: impl Iterator<Item = SamplePlaces<'c>>) {}

    fn builder(&mut self) -> Option<&mut Builder> {
        None
    }
}

/// Sees nothing.
pub(crate) struct Nobody;

impl See for Nobody {
    fn begin(&mut self, _: &Metadata) {}
    fn sample(&mut self, _: &State, _: &Sample<'_, '_>) {}
    fn other(&mut self, _: &State, _: &Event<'_>, _: Option<CommId>) {}
}
