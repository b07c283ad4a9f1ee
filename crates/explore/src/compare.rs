//! What is looked at, beside the same of another recording.

use crate::change::{Base, Changes, event_of, total_of};
use crate::explorer::Explorer;
use crate::flame::Flame;
use crate::flame_names::ComparedSide;
use crate::made::Compared;
use readperf_analysis::Analysis;
use readperf_profile::Profile;
use readperf_profile::matching::Matching;
use readperf_profile::view::flame_tree::Sum;

impl Explorer<'_> {
    /// Compares with another recording from now on.
    pub fn set_base(&mut self, base: Analysis) {
        self.base = Some(Base::new(base));
        self.now.compared = Compared::default();
        self.before.clear();
    }

    /// The samples of the other recording that are looked at: chosen by the same steps, but for times and numbers of processes, threads
    /// and CPUs.
    fn before(&self) -> Option<(&Base, &Profile)> {
        let base = self.base.as_ref()?;
        Some((base, self.now.compared.before.get_or_init(|| base.chosen(&self.now.state))))
    }

    /// What the samples of the other recording add up to that are looked at; nothing if there is none.
    pub fn total_before(&self) -> Option<Sum> {
        let (_, before) = self.before()?;
        Some(total_of(before, event_of(before, self.whole(), self.now.state.event)))
    }

    /// What has changed since the other recording, row by row; nothing if there is none, or the rows cannot be compared.
    pub fn changes(&self) -> Option<&Changes> {
        let (base, before) = self.before()?;
        let changes =
            || base.changes(before, self.now.summed(), &self.analysis.session, &self.now.state, &self.rows());
        self.now.compared.changes.get_or_init(changes).as_ref()
    }

    /// The flame graph with the samples of the other recording beside those of this one; nothing if there is none.
    pub fn compared_flame(&self) -> Option<&Flame> {
        self.compared_flame_from(self.now.state.reversed)
    }

    /// The same from the outermost functions, whatever is turned around.
    pub fn upright_compared_flame(&self) -> Option<&Flame> {
        self.compared_flame_from(false)
    }

    fn compared_flame_from(&self, reversed: bool) -> Option<&Flame> {
        let (base, before) = self.before()?;
        let [from_roots, from_leaves] = &self.now.compared.flame;
        let flame = if reversed { from_leaves } else { from_roots };
        Some(flame.get_or_init(|| {
            let (chosen, session, state) = (self.now.summed(), &self.analysis.session, &self.now.state);
            let (matching, same) = (base.matching(before, chosen, session), Matching::default());
            let new = ComparedSide { profile: chosen, session, event: Some(state.event), matching: &same };
            let event = event_of(before, self.whole(), state.event);
            let base = ComparedSide { profile: before, session: base.session(), event, matching: &matching };
            Flame::compared(&new, &base, reversed)
        }))
    }
}
