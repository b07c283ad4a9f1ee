//! What is mapped where samples were taken, as far as it was asked before: most samples are in a few mappings.

use crate::addresses::Lookup;
use crate::index;
use crate::recorded_chains::RecordedChains;
use readperf_session::{CpuMode, Mapping, SpaceVersion};

/// How many answers are remembered: fewer in tests, so that they take each other's place. A power of two.
const REMEMBERED: usize = if cfg!(debug_assertions) { 2 } else { 128 };

/// Addresses that share an answer lie in the same block of this size.
const BLOCK_BITS: u32 = 20;

/// Mappings of processes, by the state they are of and the MiB. Those of a state do not overlap, and a state does not change.
#[derive(Clone, Debug)]
pub(crate) struct RecentMappings([Option<(SpaceVersion, Mapping)>; REMEMBERED]);

impl Default for RecentMappings {
    fn default() -> RecentMappings {
        RecentMappings([None; REMEMBERED])
    }
}

impl RecentMappings {
    /// What is mapped at an address.
    #[inline(always)]
    pub(crate) fn find<'m>(
        &'m mut self,
        recorded: &'m RecordedChains,
        lookup: Lookup,
    ) -> Option<&'m Mapping> {
        let Lookup { version, mode, ip } = lookup;
        if mode != CpuMode::User {
            // Those of a kernel may overlap.
            return recorded.mapping(version, ip);
        }
        let at = index::bucket(ip >> BLOCK_BITS, version.number(), REMEMBERED);
        let known = self.0.get_mut(at as usize)?;
        let is_known = known.as_ref().is_some_and(|(of, mapping)| *of == version && mapping.covers(ip));
        if !is_known {
            *known = Some((version, looked_up(recorded, lookup)?));
        }
        known.as_ref().map(|(_, mapping)| mapping)
    }
}

#[cold]
fn looked_up(recorded: &RecordedChains, lookup: Lookup) -> Option<Mapping> {
    recorded.mapping(lookup.version, lookup.ip).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use perffile::{Ordering, Recording};
    use readperf_session::{Moment, Session};
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn each_state_has_its_own_mappings() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/multi/perf.data");
        let recording = Recording::open(fixture).unwrap();
        let mut session = Session::new(recording.metadata());
        let mut recorded = RecordedChains::new(false);
        for batch in recording.batches(Ordering::Time).unwrap() {
            for event in batch.iter() {
                if let Moment::Sample(sample) = session.apply(&event) {
                    recorded.push(&session, &sample, None);
                }
            }
        }
        let of_users = || recorded.places().iter().filter(|lookup| lookup.mode == CpuMode::User);
        let versions: BTreeSet<SpaceVersion> = of_users().map(|lookup| lookup.version).collect();
        let ips: BTreeSet<u64> = recorded.places().iter().map(|lookup| lookup.ip).collect();
        let (mut mappings, mut found, mut not_found) = (RecentMappings::default(), 0, 0);
        for ip in ips {
            for mode in [CpuMode::User, CpuMode::Kernel] {
                for version in versions.iter().copied() {
                    let expected = recorded.mapping(version, ip);
                    assert_eq!(mappings.find(&recorded, Lookup { version, mode, ip }), expected, "{ip:#x}");
                    *(if expected.is_some() { &mut found } else { &mut not_found }) += 1;
                }
            }
        }
        assert!(versions.len() > 1 && found > 0 && not_found > 0, "{versions:?}, {found}, {not_found}");
    }
}
