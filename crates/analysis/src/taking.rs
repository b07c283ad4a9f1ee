//! Samples go into a profile while a recording is gone over.

use crate::chunk::Take;
use perffile::{Event, Share};
use readperf_profile::{
    AddressId, Branch, Builder, DetailOptions, MarkBuilder, SampleFilter, SamplePlaces, Weighing,
};
use readperf_session::{Moment, SampleMoment, Session};

/// Takes samples in, and what else happened if that is wanted.
pub(crate) struct Taking<'r> {
    pub(crate) builder: Builder,
    pub(crate) marks: Option<MarkBuilder>,
    pub(crate) filter: &'r SampleFilter,
    pub(crate) details: &'r DetailOptions,
}

impl Taking<'_> {
    /// Whether branches are taken in instead of samples.
    fn takes_branches(&self) -> bool {
        self.details.weighing == Weighing::Branches
    }
}

impl Take for Taking<'_> {
    #[inline]
    fn record(&mut self, session: &Session, event: &Event<'_>, moment: &Moment<'_>, counts: bool) {
        if let Some(marks) = &mut self.marks {
            marks.add(session, self.filter, event, moment, counts);
        }
    }

    #[inline(always)]
    fn sample(
        &mut self,
        moment: &SampleMoment<'_>,
        shares: &[Share],
        data: Option<AddressId>,
        branches: &[Branch],
    ) {
        match self.takes_branches() {
            true => self.builder.add_branches(moment, moment.event, branches),
            false => self.builder.note(moment, shares, data),
        }
    }

    fn pass_over(&mut self, moment: &SampleMoment<'_>, shares: &[Share]) {
        self.builder.pass_over(moment, shares);
    }

    fn places<'c>(&mut self, places: impl Iterator<Item = SamplePlaces<'c>>) {
        if self.takes_branches() {
            return;
        }
        self.builder.place(places);
    }

    fn builder(&mut self) -> Option<&mut Builder> {
        // Branches are taken in as they come.
        (!self.takes_branches()).then_some(&mut self.builder)
    }
}
