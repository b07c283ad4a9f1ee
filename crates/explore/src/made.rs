//! What was made of the samples that are looked at.

use crate::change::Changes;
use crate::flame::Flame;
use crate::flame_time::TimeFlame;
use crate::ground::{Ground, Telling};
use crate::rows::KeptRows;
use crate::state::{State, Step};
use readperf_profile::view::flame_tree::Sum;
use readperf_profile::view::histogram::Frames;
use readperf_profile::view::key::KeyNeeds;
use readperf_profile::{AddressId, Picked, Profile, SampleRow, Weight};
use readperf_session::Session;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

/// What is looked at, and the tables that were made of it.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) state: State,
    /// The samples that are chosen from, their stacks changed as the state has it, and which of them are looked at.
    pub(crate) ground: Arc<Ground>,
    pub(crate) picked: Picked,
    /// What is looked at without samples: places, names and totals.
    pub(crate) totals: Profile,
    /// The same where each sample counts as one in the totals if that is its weight.
    pub(crate) shown: Profile,
    /// What is looked at with its samples.
    chosen: OnceCell<Profile>,
    /// What it adds up to, by group; and the same for flame graphs, whose groups are always the same.
    sums: OnceCell<Vec<Sum>>,
    flame_sums: OnceCell<Vec<Sum>>,
    /// The same with a row for each thread name.
    by_comm: OnceCell<Profile>,
    /// The same with rows as some tables need them: those that agree in what is asked are one.
    summed: OnceCell<Profile>,
    pub(crate) rows: OnceCell<KeptRows>,
    /// What the frames of calls say that were opened.
    pub(crate) frames: Option<Frames>,
    /// From the roots, and from the leaves.
    pub(crate) flame: [OnceCell<Flame>; 2],
    pub(crate) in_time: OnceCell<TimeFlame>,
    pub(crate) compared: Compared,
}

/// What was made of both recordings where one is compared with another.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    /// What is looked at of the other one.
    pub(crate) before: OnceCell<Profile>,
    pub(crate) changes: OnceCell<Option<Changes>>,
    /// As [`Made::flame`] has them.
    pub(crate) flame: [OnceCell<Flame>; 2],
}

/// What is left of some samples after a step. `known` are grounds with stacks that were changed before.
pub(crate) fn step<'g>(
    ground: &mut Arc<Ground>,
    picked: &mut Picked,
    step: &Step,
    session: &Session,
    known: impl IntoIterator<Item = &'g Arc<Ground>>,
) {
    match step {
        Step::Samples(samples) => ground.recorded.pick(samples, session, picked),
        Step::Names(names) => {
            ground.groups(Telling::default()).pick_named(&ground.profile, names, session, picked);
        }
        Step::Stacks(transform) => {
            let same = known.into_iter().find(|known| known.is_changed_from(ground, transform));
            *ground = same.map_or_else(|| Arc::new(Ground::changed(ground, transform, session)), Arc::clone);
            ground.groups(Telling::default()).pick_kept(picked);
        }
    }
}

impl Made {
    pub(crate) fn new(state: State, ground: Arc<Ground>, picked: Picked) -> Made {
        let events = ground.recorded.totals_of(&picked);
        let totals = ground.profile.with_totals(events).weighing(state.weight);
        let shown = match state.weight {
            Weight::Period => totals.clone(),
            Weight::Samples => totals.counting_samples(),
        };
        Made {
            state,
            ground,
            picked,
            totals,
            shown,
            chosen: OnceCell::new(),
            sums: OnceCell::new(),
            flame_sums: OnceCell::new(),
            by_comm: OnceCell::new(),
            summed: OnceCell::new(),
            rows: OnceCell::new(),
            frames: None,
            flame: Default::default(),
            in_time: OnceCell::new(),
            compared: Compared::default(),
        }
    }

    /// What is looked at, sample by sample: what can do without goes over [`Made::samples`].
    pub(crate) fn chosen(&self) -> &Profile {
        self.chosen.get_or_init(|| {
            let groups = self.ground.groups(Telling::default());
            self.totals.with_rows(groups.samples(self.ground.recorded.rows(), &self.picked))
        })
    }

    /// The samples of the event that are looked at, as they were recorded, with their indices in the ground.
    pub(crate) fn samples(&self) -> impl Iterator<Item = (usize, SampleRow)> + Clone {
        let of_event = self.ground.recorded.range_of(self.state.event);
        self.picked.of(self.ground.recorded.rows()).filter(move |(at, _)| of_event.contains(at))
    }

    /// The same with the places that they have now.
    pub(crate) fn placed_samples(&self) -> impl Iterator<Item = (SampleRow, AddressId)> + Clone {
        let groups = self.ground.is_changed().then(|| self.ground.groups(Telling::default()));
        let place = move |at, row: &SampleRow| groups.map_or(row.address, |groups| groups.place_of(at, row));
        self.samples().map(move |(at, row)| (row, place(at, &row)))
    }

    /// What the keys of rows tell apart.
    pub(crate) fn telling(&self) -> Telling {
        let needs = |of: fn(&KeyNeeds) -> bool| self.state.rows.keys.iter().any(|key| of(&key.key.needs));
        Telling { threads: needs(|needs| needs.threads), cpus: needs(|needs| needs.cpus) }
    }

    fn sums_of(&self, telling: Telling) -> Vec<Sum> {
        self.ground.groups(telling).sums(self.ground.recorded.rows(), &self.picked)
    }

    /// What is looked at adds up to, by the groups of rows.
    fn sums(&self) -> &[Sum] {
        self.sums.get_or_init(|| self.sums_of(self.telling()))
    }

    /// The same, for tables of periods.
    pub(crate) fn measures(&self) -> Cow<'_, [Sum]> {
        let counted = |sum: &Sum| Sum { period: sum.samples, ..*sum };
        match self.state.weight {
            Weight::Period => Cow::Borrowed(self.sums()),
            Weight::Samples => self.sums().iter().map(counted).collect(),
        }
    }

    /// What is looked at adds up to, by the groups of flame graphs.
    pub(crate) fn flame_sums(&self) -> &[Sum] {
        match self.telling() == Telling::default() {
            true => self.sums(),
            false => self.flame_sums.get_or_init(|| self.sums_of(Telling::default())),
        }
    }

    /// What is looked at with a row for each event and thread name.
    pub(crate) fn by_comm(&self) -> &Profile {
        self.by_comm.get_or_init(|| {
            let groups = self.ground.groups(Telling::default());
            groups.by_comm(&self.totals, self.flame_sums())
        })
    }

    /// The samples put together, of which tables are made.
    pub(crate) fn summed(&self) -> &Profile {
        self.summed.get_or_init(|| {
            let groups = self.ground.groups(self.telling());
            match self.picked.is_all() {
                true => groups.all(&self.totals),
                false => groups.summed(&self.totals, self.sums()),
            }
        })
    }

    /// The samples of the event put together, for tables of periods.
    pub(crate) fn measured(&self) -> impl Iterator<Item = SampleRow> + '_ {
        let groups = self.ground.groups(self.telling());
        let of_event = groups.of_event(self.state.event);
        let (rows, measures) = (groups.rows_of(of_event.clone()), self.measures());
        rows.zip(of_event).filter_map(move |(row, group)| {
            let Sum { period, samples } = measures.get(group).copied().filter(|sum| sum.samples > 0)?;
            Some(SampleRow { period, samples, ..row })
        })
    }

    /// Lets go what is large, and soon made again.
    pub(crate) fn forget_samples(&mut self) {
        self.chosen.take();
        self.forget_sums();
    }

    /// Lets go the flame graphs in directions and orders that are not looked at.
    pub(crate) fn forget_other_flames(&mut self) {
        let other = usize::from(!self.state.reversed);
        for flames in [&mut self.flame, &mut self.compared.flame] {
            if let Some(flame) = flames.get_mut(other) {
                flame.take();
            }
        }
        self.in_time.take();
    }

    /// Lets go what depends on the keys of rows.
    pub(crate) fn forget_sums(&mut self) {
        self.sums.take();
        self.flame_sums.take();
        self.summed.take();
    }

    /// Whether what is looked at in a state is the same samples with the same stacks.
    pub(crate) fn is_of(&self, state: &State) -> bool {
        (&self.state.steps, self.state.weight) == (&state.steps, state.weight)
    }
}
