//! Events of a group side by side.

use perffile::Metadata;
use readperf::profile::view::histogram::Histogram;

/// The histograms with those of each group made one. Without groups all events are one.
pub(super) fn side_by_side(histograms: Vec<Histogram>, metadata: &Metadata) -> Vec<Histogram> {
    let events = metadata.schema.events().len();
    let described = metadata.features.group_desc();
    let mut groups: Vec<(usize, usize)> = described
        .iter()
        .flat_map(|description| &description.groups)
        .map(|group| (group.leader_idx as usize, group.nr_members as usize))
        .collect();
    if groups.is_empty() {
        groups.push((0, events));
    }
    let leader = |event: usize| {
        let group =
            groups.iter().find(|(first, count)| (*first..first.saturating_add(*count)).contains(&event));
        group.map_or(event, |(first, _)| *first)
    };
    let mut sets: Vec<(usize, Vec<Histogram>)> = Vec::new();
    for histogram in histograms {
        let first = leader(histogram.event);
        match sets.iter_mut().find(|(other, _)| *other == first) {
            Some((_, set)) => set.push(histogram),
            None => sets.push((first, vec![histogram])),
        }
    }
    sets.into_iter().filter_map(|(_, set)| Histogram::side_by_side(set)).collect()
}
