//! Which rows of a profile agree in what tables are made of. Samples have times, and tables have none: what is the same but for its time is
//! put together once, and for each choice of samples only added up.

mod changed;

use crate::addresses::AddressId;
use crate::counted::counted;
use crate::picked::Picked;
use crate::profile::{Profile, SampleRow};
use crate::rows::{Origin, RowSlice, Rows};
use crate::stacks::StackId;
use crate::view::flame_tree::Sum;
use readperf_session::CommId;
use std::ops::Range;
use std::sync::Arc;

/// The rows of a profile in groups that agree in all but their time. A change of stacks changes the groups: the rows stay as they were taken.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// A row each with the sums of all of it, in order of event, thread name, stack, place and the rest. Who adds up over stacks finds
    /// them in the caches so.
    rows: Arc<Rows>,
    /// By row of the profile, which group it is in.
    of_row: Arc<Vec<u32>>,
    /// By group, the stack and the place that changes of stacks gave it: no place where they left its samples out. Nothing where stacks
    /// are as they were recorded.
    changed: Option<Arc<Vec<(StackId, AddressId)>>>,
}

impl Groups {
    /// Those of a profile. Threads and CPUs tell rows apart only if they are to.
    pub fn new(profile: &Profile, threads: bool, cpus: bool) -> Groups {
        let all = &*profile.rows;
        // Rows lie in order of time: whatever is not asked of one here is not fetched.
        let rest = |placed: &Placed| {
            let at = placed.at as usize;
            let origin = (threads || cpus).then(|| all.origins().get(all.origin_at(at))).flatten();
            let thread = origin.and_then(|of| of.thread).filter(|_| threads);
            let cpu = origin.and_then(|of| of.cpu).filter(|_| cpus);
            (placed.address, thread, cpu, all.detail_at(at))
        };
        let mut order = by_stack(all);
        let mut rows = Rows::default();
        let mut of_row = vec![0; all.len()];
        let same_stack = |a: &Placed, b: &Placed| (a.name, a.stack) == (b.name, b.stack);
        for of_stack in order.chunk_by_mut(same_stack) {
            let first = of_stack.first().map(rest);
            if of_stack.iter().any(|placed| Some(rest(placed)) != first) {
                of_stack.sort_by_cached_key(rest);
            }
            let mut last = None;
            for placed in of_stack.iter() {
                let at = placed.at as usize;
                let Some(row) = all.get(at) else { continue };
                let this = rest(placed);
                match rows.len().checked_sub(1).filter(|_| last == Some(this)) {
                    Some(sum) => rows.add(sum, row.samples, row.period),
                    None => {
                        let (address, thread, cpu, detail) = this;
                        let stack = placed.stack;
                        rows.push(SampleRow { thread, cpu, time_ns: 0, stack, address, detail, ..row });
                    }
                }
                last = Some(this);
                if let Some(group) = of_row.get_mut(at) {
                    // There are no more groups than rows, whose numbers fit.
                    *group = u32::try_from(rows.len() - 1).unwrap_or(u32::MAX);
                }
            }
        }
        Groups { rows: Arc::new(rows), of_row: Arc::new(of_row), changed: None }
    }

    /// The stack and the place of each group.
    fn placed(&self) -> impl ExactSizeIterator<Item = (StackId, AddressId)> + '_ {
        (0..self.rows.len()).map(|group| self.placed_at(group).unwrap_or((StackId::EMPTY, AddressId::NONE)))
    }

    #[inline]
    fn placed_at(&self, group: usize) -> Option<(StackId, AddressId)> {
        match &self.changed {
            Some(changed) => changed.get(group).copied(),
            None => self.rows.get(group).map(|row| (row.stack, row.address)),
        }
    }

    /// The stack and the place that changes of stacks gave a group.
    #[inline]
    fn changed_at(&self, group: usize) -> Option<(StackId, AddressId)> {
        self.changed.as_ref()?.get(group).copied()
    }

    /// Where the samples of a group were taken.
    #[inline]
    pub(crate) fn address_of(&self, group: usize) -> AddressId {
        self.placed_at(group).map_or(AddressId::NONE, |(_, address)| address)
    }

    /// The row of a group, with what all of it adds up to.
    #[inline]
    pub(crate) fn row(&self, group: usize) -> Option<SampleRow> {
        let (stack, address) = self.placed_at(group)?;
        self.rows.get(group).map(|row| SampleRow { stack, address, ..row })
    }

    /// The rows of some groups, with what all of each adds up to.
    pub fn rows_of(&self, groups: Range<usize>) -> impl ExactSizeIterator<Item = SampleRow> + '_ {
        let recorded = self.rows.as_slice().range(groups.clone()).iter();
        groups.zip(recorded).map(|(group, row)| match self.changed_at(group) {
            Some((stack, address)) => SampleRow { stack, address, ..row },
            None => row,
        })
    }

    /// The place that a row of the profile, which has this index, has in its group.
    #[inline]
    pub fn place_of(&self, at: usize, row: &SampleRow) -> AddressId {
        self.changed_at(self.of_row(at)).map_or(row.address, |(_, address)| address)
    }

    /// A row of the profile, which has this index, with the stack and the place of its group.
    fn sample(&self, at: usize, row: SampleRow) -> SampleRow {
        let changed = self.changed_at(self.of_row(at));
        changed.map_or(row, |(stack, address)| SampleRow { stack, address, ..row })
    }

    /// The rows that are picked, each with the stack and the place of its group.
    pub fn samples(&self, rows: RowSlice<'_>, picked: &Picked) -> Rows {
        let mut samples = Rows::with_capacity(picked.count());
        picked.of(rows).for_each(|(at, row)| samples.push(self.sample(at, row)));
        samples
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The groups of an event.
    pub fn of_event(&self, event: usize) -> Range<usize> {
        let before = |limit: usize| self.rows.as_slice().partition_point(|row| (row.event as usize) < limit);
        before(event)..before(event.saturating_add(1))
    }

    /// The names of threads that samples of an event have, each at least once.
    pub fn comms_of(&self, event: usize) -> impl Iterator<Item = CommId> + '_ {
        let rows = self.rows.as_slice().range(self.of_event(event));
        rows.chunk_by(|a, b| a.comm == b.comm).filter_map(|of_comm| of_comm.first()).map(|row| row.comm)
    }

    /// The group of the row with this index.
    #[inline]
    pub fn of_row(&self, row: usize) -> usize {
        self.of_row.get(row).map_or(usize::MAX, |group| *group as usize)
    }

    /// What the rows that are picked add up to, by group. `rows` are all rows of the profile. The work is that of the rows that are
    /// picked, or of the others: the fewer of both.
    pub fn sums(&self, rows: RowSlice<'_>, picked: &Picked) -> Vec<Sum> {
        if picked.count() > rows.len() / 2 {
            let mut sums: Vec<Sum> = self.rows.iter().map(|row| Sum::of(&row)).collect();
            for (at, row) in picked.left_out(rows) {
                if let Some(of_group) = sums.get_mut(self.of_row(at)) {
                    of_group.subtract(Sum::of(&row));
                }
            }
            return sums;
        }
        let mut sums = vec![Sum::default(); self.rows.len()];
        for (at, row) in picked.of(rows) {
            if let Some(of_group) = sums.get_mut(self.of_row(at)) {
                of_group.add(Sum::of(&row));
            }
        }
        sums
    }

    /// The profile with a row a group: those that have samples.
    #[must_use]
    pub fn summed(&self, profile: &Profile, sums: &[Sum]) -> Profile {
        let with =
            |(row, sum): (SampleRow, &Sum)| SampleRow { samples: sum.samples, period: sum.period, ..row };
        let rows = self.rows_of(0..self.len()).zip(sums).filter(|(_, sum)| sum.samples > 0).map(with);
        profile.with_rows(rows.collect())
    }

    /// The profile with a row for each event and thread name, of groups with these sums.
    #[must_use]
    pub fn by_comm(&self, profile: &Profile, sums: &[Sum]) -> Profile {
        let mut rows = Rows::default();
        let mut last = None;
        for (row, sum) in self.rows.iter().zip(sums).filter(|(_, sum)| sum.samples > 0) {
            let this = Some((row.event, row.comm));
            match rows.len().checked_sub(1).filter(|_| last == this) {
                Some(at) => rows.add(at, sum.samples, sum.period),
                None => rows.push(SampleRow { samples: sum.samples, period: sum.period, ..row }),
            }
            last = this;
        }
        profile.with_rows(rows)
    }

    /// The profile with a row for each group.
    #[must_use]
    pub fn all(&self, profile: &Profile) -> Profile {
        let rows = match &self.changed {
            None => Arc::clone(&self.rows),
            Some(_) => Arc::new(self.rows_of(0..self.len()).collect()),
        };
        Profile { rows, ..profile.clone() }
    }
}

/// A row on its way to its place.
#[derive(Clone, Copy, Debug)]
struct Placed {
    /// The rank of its event and the name of its thread.
    name: u32,
    stack: StackId,
    address: AddressId,
    /// Its index.
    at: u32,
}

/// Rows by event, thread name and stack, of which the empty one is the last. These are numbers without large gaps, so they are counted, not
/// compared.
fn by_stack(rows: &Rows) -> Vec<Placed> {
    let name = |of: &Origin| (of.event, of.comm);
    let mut names: Vec<(u32, CommId)> = rows.origins().iter().map(name).collect();
    names.sort_unstable();
    names.dedup();
    let rank = |of: &Origin| names.partition_point(|known| *known < name(of));
    // There are no more names than rows, whose numbers fit.
    let ranks: Vec<u32> =
        rows.origins().iter().map(|of| u32::try_from(rank(of)).unwrap_or(u32::MAX)).collect();
    let placed = |(row, at): (SampleRow, u32)| Placed {
        name: ranks.get(rows.origin_at(at as usize)).copied().unwrap_or(0),
        stack: row.stack,
        address: row.address,
        at,
    };
    let placed = rows.iter().zip(0..).map(placed);
    let stacks = rows.iter().filter_map(|row| row.stack.index()).max().map_or(0, |most| most + 1);
    let by_stack = counted(placed, stacks + 1, |placed| placed.stack.index().unwrap_or(stacks));
    counted(by_stack.iter().copied(), names.len(), |placed| placed.name as usize)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::addresses::AddressId;
    use crate::detail::DetailId;
    use crate::profile::EventTotal;
    use crate::stacks::{StackId, Stacks};
    use proptest::prelude::*;
    use readperf_session::Session;
    use std::sync::OnceLock;

    /// What is kept of a sample: event, thread name, stack, place, period.
    pub(crate) type Sample = (u32, u32, Vec<u32>, u32, u64);

    pub(crate) fn samples() -> impl Strategy<Value = Vec<Sample>> {
        let stack = proptest::collection::vec(0..6_u32, 0..5);
        proptest::collection::vec((0..2_u32, 0..3_u32, stack, 0..4_u32, 0..9_u64), 0..300)
    }

    /// Names of threads, as only a session hands them out: those of a recording in which each has its own.
    fn comms() -> &'static [CommId] {
        static COMMS: OnceLock<Vec<CommId>> = OnceLock::new();
        COMMS.get_or_init(|| {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/multi/perf.data");
            let recording = perffile::Recording::open(path).unwrap();
            let mut session = Session::new(recording.metadata());
            let each = |event: &perffile::Event<'_>| {
                session.apply(event);
            };
            recording.for_each(each).unwrap();
            let mut comms: Vec<CommId> =
                session.threads().iter().map(readperf_session::Thread::comm).collect();
            comms.sort_unstable();
            comms.dedup();
            comms
        })
    }

    /// A profile with a row a sample, in the order of events, each at another time.
    pub(crate) fn profile(samples: &[Sample]) -> Profile {
        let mut stacks = Stacks::default();
        let mut rows: Vec<SampleRow> = Vec::new();
        let mut events = vec![EventTotal::default(); 2];
        for (time_ns, (event, comm, places, address, period)) in (1..).zip(samples) {
            let places: Vec<AddressId> = places.iter().copied().map(AddressId).collect();
            let mut ids = Vec::new();
            stacks.number_all(&places, &[places.len()], &mut ids);
            let total = &mut events[*event as usize];
            (total.samples, total.period) = (total.samples + 1, total.period + period);
            rows.push(SampleRow {
                event: *event,
                comm: comms()[*comm as usize % comms().len()],
                thread: None,
                cpu: Some(comm % 2),
                time_ns,
                stack: ids.first().copied().unwrap_or(StackId::EMPTY),
                address: AddressId(*address),
                detail: DetailId::default(),
                samples: 1,
                period: *period,
            });
        }
        rows.sort_by_key(|row| row.event);
        Profile {
            events,
            rows: Arc::new(Rows::of_list(rows, Rows::push)),
            stacks: Arc::new(stacks),
            ..Profile::default()
        }
    }

    /// Every so manieth row, or all others.
    pub(crate) fn some(profile: &Profile, step: usize, others: bool) -> Picked {
        let mut picked = Picked::all(profile.rows().len());
        picked.retain_at(|at| profile.rows.time_ns_at(at).is_multiple_of(step as u64) != others);
        picked
    }

    /// The profile with the rows that are picked.
    pub(crate) fn chosen(profile: &Profile, groups: &Groups, picked: &Picked) -> Profile {
        profile.with_totals(profile.totals_of(picked)).with_rows(groups.samples(profile.rows(), picked))
    }

    proptest! {
        #[test]
        fn rows_that_agree_are_added_up(samples in samples(), step in 1..5_usize, others: bool, cpus: bool) {
            let profile = profile(&samples);
            let picked = some(&profile, step, others);
            let groups = Groups::new(&profile, false, cpus);
            let chosen = chosen(&profile, &groups, &picked);
            prop_assert_eq!(chosen.rows().len(), picked.count());
            let summed = groups.summed(&chosen, &groups.sums(profile.rows(), &picked));
            let key = |row: &SampleRow| {
                (row.event, row.comm, row.stack, row.address, row.cpu.filter(|_| cpus), row.detail)
            };
            let mut expected: std::collections::BTreeMap<_, Sum> = Default::default();
            for row in chosen.rows() {
                expected.entry(key(&row)).or_default().add(Sum { period: row.period, samples: row.samples });
            }
            let got = summed.rows().iter().map(|row| (key(&row), Sum { period: row.period, samples: row.samples }));
            prop_assert_eq!(got.collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
            // The totals are those of the rows.
            let mut again = chosen.clone();
            again.add_up();
            prop_assert_eq!((chosen.events(), summed.events()), (again.events(), again.events()));
            for (at, row) in picked.of(profile.rows()) {
                let group = groups.row(groups.of_row(at)).unwrap();
                prop_assert_eq!((group.stack, group.address, group.time_ns), (row.stack, row.address, 0));
            }
        }
    }
}
