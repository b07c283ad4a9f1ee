//! What is chosen from: the samples of a recording with their stacks, as they are or changed, and what holds for all choices of them. That is
//! worked out when it is first needed; a choice then only adds up. A change of stacks makes a new ground, whatever is chosen on it.

use crate::flame::Roots;
use crate::flame_names::FlameNames;
use readperf_profile::view::changed_paths::{Before, are_for_any_stacks};
use readperf_profile::view::facts::{FactMemory, Facts};
use readperf_profile::view::flame_paths::FlamePaths;
use readperf_profile::view::histogram::HistogramOptions;
use readperf_profile::view::place_rows::PlaceRows;
use readperf_profile::view::row_paths::RowPaths;
use readperf_profile::view::surroundings::Surroundings;
use readperf_profile::{Groups, Profile, SampleRow, Transform};
use readperf_session::{CommId, Session};
use regex::Regex;
use std::borrow::Cow;
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
    /// The changes, and what the last of them changed.
    changes: Vec<Transform>,
    before: Option<Arc<Ground>>,
    /// By what tells rows apart.
    groups: [OnceLock<Groups>; 4],
    /// Which rows places are in, that used last behind.
    places: Mutex<Vec<Arc<PlaceRows>>>,
    /// Those used last behind.
    paths: Mutex<Vec<Arc<RowPaths>>>,
    flame_names: OnceLock<Arc<FlameNames>>,
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
            before: Some(Arc::clone(before)),
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

    /// Whether stacks are others than those that were recorded.
    pub(crate) fn is_changed(&self) -> bool {
        self.before.is_some()
    }

    /// Lets go all that can be worked out again.
    pub(crate) fn forget(&mut self) {
        let Ground { recorded, profile, changes, before, groups, .. } = std::mem::take(self);
        *self = Ground { recorded, profile, changes, before, groups, ..Ground::default() };
    }

    /// Which samples agree in all but their time, and what need not tell them apart.
    pub(crate) fn groups(&self, telling: Telling) -> &Groups {
        self.kept_groups(telling).get_or_init(|| match &self.before {
            None => Groups::new(&self.recorded, telling.threads, telling.cpus),
            Some(before) => before.groups(telling).with_stacks_of(self.groups(Telling::default())),
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

    /// What this is a change of, if the functions have the same names there.
    fn same_functions(&self) -> Option<&Arc<Ground>> {
        self.before.as_ref().filter(|before| self.profile.has_functions_of(&before.profile))
    }

    /// Which rows the places are in.
    pub(crate) fn place_rows(&self, making: &RowMaking<'_>) -> Arc<PlaceRows> {
        let is_wanted = |rows: &Arc<PlaceRows>| rows.are_those_of(&self.profile, &making.options);
        if let Some(known) = used(&self.places, is_wanted) {
            return known;
        }
        let rows = match self.same_functions() {
            None => Arc::new(PlaceRows::new(&mut making.facts(&self.profile, None), &making.options)),
            Some(before) => {
                let rows = before.place_rows(making);
                match is_wanted(&rows) {
                    true => rows,
                    false => {
                        let mut facts = making.facts(&self.profile, Some(rows.memory()));
                        Arc::new(rows.with_more_places(&mut facts, &making.options))
                    }
                }
            }
        };
        keep(&self.places, rows)
    }

    /// Puts the rows of places in the order of their names: what [`Ground::row_paths`] does in any case, but it needs more for it.
    pub(crate) fn rank_places(&self, making: &RowMaking<'_>) {
        let places = self.place_rows(making);
        places.rank(&making.facts(&self.profile, Some(places.memory())));
    }

    /// The ways to the rows of places.
    pub(crate) fn row_paths(&self, making: &RowMaking<'_>) -> Arc<RowPaths> {
        let places = self.place_rows(making);
        if let Some(known) = used(&self.paths, |paths| paths.lead_to(&places, making.event)) {
            return known;
        }
        let paths = self.changed_row_paths(making, &places).unwrap_or_else(|| {
            let facts = making.facts(&self.profile, Some(places.memory()));
            RowPaths::new(facts, &making.options, places, self.groups(making.telling), making.event)
        });
        keep(&self.paths, Arc::new(paths))
    }

    /// The same of those before the stacks were changed, if they can be made of these.
    fn changed_row_paths(&self, making: &RowMaking<'_>, places: &Arc<PlaceRows>) -> Option<RowPaths> {
        let before = self.same_functions().filter(|_| are_for_any_stacks(&making.options))?;
        let has_texts = before.place_rows(making).memory().has_texts_of(places.memory());
        let paths = has_texts.then(|| before.row_paths(making))?;
        let facts = making.facts(&self.profile, Some(paths.memory()));
        let nodes = before.profile.stacks().nodes();
        let before = Before { paths: &paths, nodes, groups: before.groups(making.telling) };
        let groups = self.groups(making.telling);
        Some(RowPaths::with_changed_stacks(before, facts, &making.options, Arc::clone(places), groups))
    }

    /// What the levels of places are called in flame graphs.
    pub(crate) fn flame_names(&self, session: &Session) -> Arc<FlameNames> {
        let names = || match self.same_functions() {
            None => Arc::new(FlameNames::new(&self.profile, session)),
            Some(before) => match self.profile.has_names_of(&before.profile) {
                true => before.flame_names(session),
                false => Arc::new(before.flame_names(session).with_more_places(&self.profile)),
            },
        };
        Arc::clone(self.flame_names.get_or_init(names))
    }

    /// The ways into the flame graph of an event.
    pub(crate) fn flame(&self, session: &Session, event: usize) -> Arc<FlameGround> {
        let mut known = self.flames.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, flame)) = known.as_ref().filter(|(of, _)| *of == event) {
            return Arc::clone(flame);
        }
        let (names, groups) = (self.flame_names(session), self.groups(Telling::default()));
        let roots = Roots::new(groups.comms_of(event), session, names.count);
        let (profile, root) = (&self.profile, |row: &SampleRow| roots.of(row));
        let paths = match self.same_functions() {
            None => FlamePaths::new(profile, groups, event, &names.levels, root),
            Some(before) => {
                let nodes = before.profile.stacks().nodes();
                let before = before.flame(session, event);
                before.paths.with_changed_stacks(nodes, (profile, groups), &names.levels, root)
            }
        };
        let flame = Arc::new(FlameGround { paths, comms: roots.comms, names });
        *known = Some((event, Arc::clone(&flame)));
        flame
    }
}

/// What rows are made with.
pub(crate) struct RowMaking<'m> {
    pub(crate) options: HistogramOptions,
    pub(crate) telling: Telling,
    pub(crate) event: usize,
    pub(crate) session: &'m Session,
    pub(crate) surroundings: &'m Surroundings,
    /// See [`Facts`].
    pub(crate) parent: Option<&'m Regex>,
    pub(crate) innermost_parent: bool,
}

impl RowMaking<'_> {
    /// The facts of a profile, with what was worked out before.
    fn facts<'f>(&'f self, profile: &'f Profile, memory: Option<&FactMemory>) -> Facts<'f> {
        let mut facts = match memory {
            None => Facts::new(profile, self.session, self.surroundings),
            Some(memory) => {
                let memory = Cow::Owned(memory.clone());
                Facts::with_memory(profile, self.session, self.surroundings, memory)
            }
        };
        (facts.parent, facts.innermost_parent) = (self.parent, self.innermost_parent);
        facts
    }
}

/// What was used before, if it is wanted; it is used last from now on.
fn used<T>(known: &Mutex<Vec<Arc<T>>>, is_wanted: impl Fn(&Arc<T>) -> bool) -> Option<Arc<T>> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let at = known.iter().position(is_wanted)?;
    let wanted = known.remove(at);
    known.push(Arc::clone(&wanted));
    Some(wanted)
}

/// Keeps what is used last, behind what was used before.
fn keep<T>(known: &Mutex<Vec<Arc<T>>>, last: Arc<T>) -> Arc<T> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    known.push(Arc::clone(&last));
    let too_many = known.len().saturating_sub(KEPT);
    known.drain(..too_many);
    last
}
