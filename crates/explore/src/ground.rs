//! What is chosen from: the samples of a recording with their stacks, as they are or changed, and what holds for all choices of them. That is
//! worked out when it is first needed; a choice then only adds up. A change of stacks makes a new ground, whatever is chosen on it.

use crate::flame::Roots;
use crate::flame_names::FlameNames;
use readperf_profile::view::facts::Facts;
use readperf_profile::view::flame_paths::FlamePaths;
use readperf_profile::view::histogram::HistogramOptions;
use readperf_profile::view::place_rows::PlaceRows;
use readperf_profile::view::row_paths::RowPaths;
use readperf_profile::{Groups, Profile, Transform};
use readperf_session::{CommId, Session};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// For how many ways to make rows the rows of all places, and the paths to them, are kept.
const KEPT: usize = 3;

/// What tells rows apart that are otherwise the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Telling {
    pub(crate) threads: bool,
    pub(crate) cpus: bool,
}

/// What samples are chosen from.
#[derive(Debug, Default)]
pub(crate) struct Ground {
    /// The samples as they were recorded.
    pub(crate) recorded: Profile,
    /// Their places, names and stacks as these are changed; without samples, whose stacks are those of their groups.
    pub(crate) profile: Profile,
    /// The changes, and what they are changes of.
    changes: Vec<Transform>,
    whole: Option<Arc<Ground>>,
    /// By what tells rows apart.
    groups: [OnceLock<Groups>; 4],
    /// Which rows places are in, that used last behind.
    places: Mutex<Vec<Arc<PlaceRows>>>,
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
    /// A recording as it is.
    pub(crate) fn new(recorded: Profile) -> Ground {
        Ground { profile: recorded.without_samples(), recorded, ..Ground::default() }
    }

    /// The same with changed stacks.
    pub(crate) fn changed(before: &Arc<Ground>, transform: &Transform, session: &Session) -> Ground {
        let (profile, groups) =
            before.profile.with_changed(transform, before.groups(Telling::default()), session);
        let ground = Ground {
            recorded: before.recorded.clone(),
            profile,
            changes: before.changes.iter().chain([transform]).cloned().collect(),
            whole: Some(Arc::clone(before.whole.as_ref().unwrap_or(before))),
            ..Ground::default()
        };
        let _ = ground.kept_groups(Telling::default()).set(groups);
        ground
    }

    /// Whether this is another ground with one more change.
    pub(crate) fn is_changed_from(&self, before: &Ground, transform: &Transform) -> bool {
        let changes = self.changes.split_last();
        changes.is_some_and(|(last, others)| (last, others) == (transform, &before.changes))
    }

    /// Lets go all that can be worked out again.
    pub(crate) fn forget(&mut self) {
        let Ground { recorded, profile, changes, whole, groups, .. } = std::mem::take(self);
        *self = Ground { recorded, profile, changes, whole, groups, ..Ground::default() };
    }

    /// Which samples agree in all but their time, and what need not tell them apart.
    pub(crate) fn groups(&self, telling: Telling) -> &Groups {
        self.kept_groups(telling).get_or_init(|| match &self.whole {
            None => Groups::new(&self.recorded, telling.threads, telling.cpus),
            Some(whole) => whole.groups(telling).with_stacks_of(self.groups(Telling::default())),
        })
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

    /// Which rows the places are in.
    pub(crate) fn place_rows<'f>(
        &self,
        options: &HistogramOptions,
        facts: impl Fn() -> Facts<'f>,
    ) -> Arc<PlaceRows> {
        let mut known = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = match known.iter().position(|rows| rows.are_those_of(&self.profile, options)) {
            Some(at) => known.remove(at),
            None => Arc::new(PlaceRows::new(&mut facts(), options)),
        };
        keep(&mut known, rows)
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
        keep(&mut known, paths)
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
        let groups = self.groups(Telling::default());
        let roots = Roots::new(groups.rows_of(event), session, names.count);
        let paths = FlamePaths::new(&self.profile, groups, event, &names.levels, |row| roots.of(row));
        let flame = Arc::new(FlameGround { paths, comms: roots.comms, names });
        *known = Some((event, Arc::clone(&flame)));
        flame
    }
}

/// Keeps what is used last, behind what was used before.
fn keep<T>(known: &mut Vec<Arc<T>>, last: Arc<T>) -> Arc<T> {
    known.push(Arc::clone(&last));
    let too_many = known.len().saturating_sub(KEPT);
    known.drain(..too_many);
    last
}
