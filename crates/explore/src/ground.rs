//! What is chosen from: a profile, and what of it holds for all choices of its samples. That is worked out when it is first needed; a choice
//! then only adds up. A change of stacks makes a new one.

use crate::flame::Roots;
use crate::flame_names::FlameNames;
use readperf_profile::view::facts::Facts;
use readperf_profile::view::flame_paths::FlamePaths;
use readperf_profile::view::histogram::HistogramOptions;
use readperf_profile::view::place_rows::PlaceRows;
use readperf_profile::view::row_paths::RowPaths;
use readperf_profile::{Groups, Profile};
use readperf_session::{CommId, Session};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// For how many ways to make rows the paths to them are kept.
const KEPT_PATHS: usize = 3;

/// What tells rows apart that are otherwise the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Telling {
    pub(crate) threads: bool,
    pub(crate) cpus: bool,
}

/// A profile whose samples are chosen from.
#[derive(Debug, Default)]
pub(crate) struct Ground {
    pub(crate) profile: Profile,
    /// By what tells rows apart.
    groups: [OnceLock<Groups>; 4],
    /// Those used last behind.
    paths: Mutex<Vec<Arc<RowPaths>>>,
    flames: Mutex<Option<(usize, Arc<FlameGround>)>>,
}

/// The ways of the samples of an event into a flame graph.
#[derive(Debug)]
pub(crate) struct FlameGround {
    pub(crate) paths: FlamePaths,
    pub(crate) comms: Vec<CommId>,
    pub(crate) names: Arc<FlameNames>,
}

impl Ground {
    pub(crate) fn new(profile: Profile) -> Ground {
        Ground { profile, ..Ground::default() }
    }

    /// Lets go all that can be worked out again.
    pub(crate) fn forget(&mut self) {
        *self = Ground::new(std::mem::take(&mut self.profile));
    }

    /// Which samples agree in all but their time, and what need not tell them apart.
    pub(crate) fn groups(&self, telling: Telling) -> &Groups {
        let new = || Groups::new(&self.profile, telling.threads, telling.cpus);
        self.kept_groups(telling).get_or_init(new)
    }

    /// Whether that is known.
    pub(crate) fn has_groups(&self, telling: Telling) -> bool {
        self.kept_groups(telling).get().is_some()
    }

    fn kept_groups(&self, telling: Telling) -> &OnceLock<Groups> {
        let [none, threads, cpus, both] = &self.groups;
        match (telling.threads, telling.cpus) {
            (false, false) => none,
            (true, false) => threads,
            (false, true) => cpus,
            (true, true) => both,
        }
    }

    /// The ways to the rows of places.
    pub(crate) fn row_paths(
        &self,
        facts: Facts<'_>,
        options: &HistogramOptions,
        (places, groups): (Arc<PlaceRows>, &Groups),
        event: usize,
    ) -> Arc<RowPaths> {
        let mut known = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        let paths = match known.iter().position(|paths| paths.lead_to(&places, event)) {
            Some(at) => known.remove(at),
            None => Arc::new(RowPaths::new(facts, options, places, groups, event)),
        };
        known.push(Arc::clone(&paths));
        let too_many = known.len().saturating_sub(KEPT_PATHS);
        known.drain(..too_many);
        paths
    }

    /// The ways into the flame graph of an event.
    pub(crate) fn flame(
        &self,
        session: &Session,
        event: usize,
        names: impl FnOnce() -> Arc<FlameNames>,
    ) -> Arc<FlameGround> {
        let mut known = self.flames.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, flame)) = known.as_ref().filter(|(of, _)| *of == event) {
            return Arc::clone(flame);
        }
        let names = names();
        let roots = Roots::new(&self.profile, session, event, names.count);
        let groups = self.groups(Telling::default());
        let paths = FlamePaths::new(&self.profile, groups, event, &names.levels, |row| roots.of(row));
        let flame = Arc::new(FlameGround { paths, comms: roots.comms, names });
        *known = Some((event, Arc::clone(&flame)));
        flame
    }
}
