//! What is looked at now, or was before, and the tables that were made of it.

use crate::change::Changes;
use crate::flame::Flame;
use crate::flame_time::TimeFlame;
use crate::rows::KeptRows;
use crate::state::State;
use readperf_profile::view::histogram::Frames;
use readperf_profile::view::key::KeyNeeds;
use readperf_profile::{Profile, Weight};
use std::cell::OnceCell;

/// What is looked at, and the tables that were made of it.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) state: State,
    /// What of the whole is looked at.
    pub(crate) chosen: Profile,
    /// The same without samples, each of which counts as one in the totals if that is its weight.
    pub(crate) shown: Profile,
    /// The same with rows as tables need them: those that agree in what is asked are one.
    summed: OnceCell<Profile>,
    /// The same with each sample counted as one, if that is its weight.
    counted: OnceCell<Profile>,
    pub(crate) rows: OnceCell<KeptRows>,
    /// What the frames of calls say that were opened.
    pub(crate) frames: Option<Frames>,
    pub(crate) flame: OnceCell<Flame>,
    pub(crate) in_time: OnceCell<TimeFlame>,
    pub(crate) compared: Compared,
}

/// What was made of both recordings where one is compared with another.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    /// What is looked at of the other one.
    pub(crate) before: OnceCell<Profile>,
    pub(crate) changes: OnceCell<Option<Changes>>,
    pub(crate) flame: OnceCell<Flame>,
}

impl Made {
    pub(crate) fn new(state: State, chosen: Profile) -> Made {
        let shown = chosen.without_samples();
        let shown = match state.weight {
            Weight::Period => shown,
            Weight::Samples => shown.counting_samples(),
        };
        let (summed, counted) = (OnceCell::new(), OnceCell::new());
        let (rows, flame, in_time) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Made {
            state,
            chosen,
            shown,
            summed,
            counted,
            rows,
            frames: None,
            flame,
            in_time,
            compared: Compared::default(),
        }
    }

    /// The samples of which tables are made.
    pub(crate) fn summed(&self) -> &Profile {
        self.summed.get_or_init(|| {
            let needs = |of: fn(&KeyNeeds) -> bool| self.state.rows.keys.iter().any(|key| of(&key.key.needs));
            self.chosen.summed(needs(|needs| needs.threads), needs(|needs| needs.cpus))
        })
    }

    /// The same, for tables of periods.
    pub(crate) fn measured(&self) -> &Profile {
        match self.state.weight {
            Weight::Period => self.summed(),
            Weight::Samples => self.counted.get_or_init(|| self.summed().counting_samples()),
        }
    }

    /// Lets go what is large, and soon made again.
    pub(crate) fn forget_samples(&mut self) {
        self.summed.take();
        self.counted.take();
    }

    /// Whether what is looked at in a state is the same samples with the same stacks.
    pub(crate) fn is_of(&self, state: &State) -> bool {
        (&self.state.steps, self.state.weight) == (&state.steps, state.weight)
    }
}
