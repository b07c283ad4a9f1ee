//! Build-ids that are added to a recording: those of its binaries that were recorded without.

use perffile::wire::feature::build_id::{BuildIdEntry, BuildIds};
use perffile::wire::feature::{Feature, bit};
use perffile::wire::misc::BUILD_ID_SIZE;
use perffile::write::Head;

/// A build-id to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedBuildId {
    /// The name of the binary, as its mappings have it.
    pub name: Box<[u8]>,
    /// In which mode its code runs: the lowest bits of `misc`.
    pub mode: u16,
    /// The id, at most 20 bytes.
    pub build_id: Box<[u8]>,
}

/// Names are filled up to this, as perf does it.
const FILLED_TO: usize = 64;

/// The machine that recorded.
const HOST: i32 = -1;

/// Adds them to those that are told already.
pub(crate) fn add(head: &mut Head, added: &[AddedBuildId]) {
    let names: Vec<Vec<u8>> = added.iter().map(|added| filled_up(&added.name)).collect();
    let features = head.features.clone();
    let mut entries = match features.feature(bit::BUILD_ID) {
        Some(Ok((Feature::BuildId(ids), _))) => ids.entries,
        _ => Vec::new(),
    };
    for (added, name) in added.iter().zip(&names) {
        let mut entry = BuildIdEntry::default();
        entry.misc = added.mode | BUILD_ID_SIZE;
        entry.pid = Some(HOST);
        entry.build_id.iter_mut().zip(added.build_id.iter()).for_each(|(to, from)| *to = *from);
        entry.id_size = u8::try_from(added.build_id.len()).unwrap_or(u8::MAX).min(20);
        entry.filename = name;
        entries.push(entry);
    }
    // More than fits is not there: a session has not as many binaries.
    let _ = head.features.set(bit::BUILD_ID, Feature::BuildId(BuildIds { entries }));
}

fn filled_up(name: &[u8]) -> Vec<u8> {
    let mut name = name.to_vec();
    name.resize((name.len() + 1).next_multiple_of(FILLED_TO), 0);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_stays_before_what_is_added() {
        let mut head = Head::default();
        let added = |name: &[u8], id: &[u8]| AddedBuildId { name: name.into(), mode: 2, build_id: id.into() };
        add(&mut head, &[added(b"/usr/bin/first", &[1; 20])]);
        add(&mut head, &[added(b"/usr/bin/second", &[2; 16])]);
        let Some(Ok((Feature::BuildId(told), rest))) = head.features.feature(bit::BUILD_ID) else { panic!() };
        let entries: Vec<(&[u8], &[u8])> =
            told.entries.iter().map(|entry| (entry.name(), entry.id())).collect();
        let expected: [(&[u8], &[u8]); 2] = [(b"/usr/bin/first", &[1; 20]), (b"/usr/bin/second", &[2; 16])];
        assert!(entries == expected && rest.is_empty(), "{told:?}");
    }
}
