//! What of a recording its samples use: each stack, frame, function and binary once, by id; and what samples add up to.

use super::{Made, PayloadField, StackRow};
use crate::id::Id;
use readperf_profile::AddressId;
use rustc_hash::{FxHashMap, FxHashSet};

impl Made {
    /// The stacks of samples, each once.
    pub(super) fn used_stacks(&self) -> Vec<StackRow> {
        let (mut seen, mut list) = (FxHashSet::default(), Vec::new());
        let mut seen_nodes = vec![false; self.node_ids.len()];
        for row in self.profile().rows() {
            if let Some(seen) = row.stack.index().and_then(|node| seen_nodes.get_mut(node))
                && std::mem::replace(seen, true)
            {
                continue;
            }
            if let Some(id) = self.stack_id(&row).filter(|id| seen.insert(*id)) {
                list.push(StackRow { id, sample: row });
            }
        }
        list
    }

    /// The places that samples were taken at and that their stacks have, by number.
    fn used_places(&self) -> Vec<AddressId> {
        let addresses = self.profile().addresses();
        let mut used = vec![false; addresses.len()];
        let mut mark = |address: AddressId| {
            if let Some(used) = used.get_mut(address.index()) {
                *used = true;
            }
        };
        let nodes = self.profile().stacks().nodes();
        let mut used_nodes = vec![false; nodes.len()];
        for row in self.profile().rows() {
            mark(row.address);
            if let Some(node) = row.stack.index().and_then(|node| used_nodes.get_mut(node)) {
                *node = true;
            }
        }
        // Callers come before what they call.
        for (nr, node) in nodes.iter().enumerate().rev() {
            if used_nodes.get(nr).is_some_and(|used| *used) {
                mark(node.address);
                if let Some(caller) = node.parent.index().and_then(|caller| used_nodes.get_mut(caller)) {
                    *caller = true;
                }
            }
        }
        addresses.ids().filter(|address| used.get(address.index()).is_some_and(|used| *used)).collect()
    }

    /// Lists the frames, their levels and their functions, each once.
    pub(super) fn list_used(&mut self) {
        let (mut seen_frames, mut seen_functions) = (FxHashSet::default(), FxHashSet::default());
        let (mut frames, mut levels, mut functions) = (Vec::new(), Vec::new(), Vec::new());
        for address in self.used_places() {
            let own = self.profile().names().function_at(address);
            let inlined = self.profile().levels_at(address).map(|level| level.function);
            for function in inlined.chain(own) {
                if self.function_ids.get(function.index()).is_some_and(|id| seen_functions.insert(*id)) {
                    functions.push(function);
                }
            }
            if self.frame_ids.get(address.index()).is_some_and(|id| seen_frames.insert(*id)) {
                frames.push(address);
                levels.extend(
                    (0..).take(self.profile().levels_at(address).len()).map(|level| (address, level)),
                );
            }
        }
        (self.frames, self.levels, self.functions) = (frames, levels, functions);
    }

    /// The fields of all payloads, and the names of the fields by number.
    pub(super) fn list_payload_fields(&self) -> (Vec<PayloadField>, Vec<String>) {
        let (mut list, mut names) = (Vec::new(), Vec::new());
        // Of each event the number of its first field's name.
        let mut first_names: FxHashMap<u32, u32> = FxHashMap::default();
        for (sample, row) in (0u32..).zip(self.profile().rows()) {
            let Some((tracepoint, _)) = self.payload(&row) else { continue };
            let fields = tracepoint.format.own_fields();
            let first = *first_names.entry(row.event).or_insert_with(|| {
                let first = u32::try_from(names.len()).unwrap_or(u32::MAX);
                names.extend(fields.iter().map(|field| field.name.clone()));
                first
            });
            let numbers = (0u32..).zip(fields);
            list.extend(numbers.map(|(field, _)| PayloadField {
                sample,
                field,
                name: first.saturating_add(field),
            }));
        }
        (list, names)
    }

    pub(super) fn sum_threads(&self) -> Vec<(u64, u64)> {
        let mut sums = vec![(0, 0u64); self.session().threads().len()];
        for row in self.profile().rows() {
            if let Some((samples, period)) = row.thread.and_then(|thread| sums.get_mut(thread.index())) {
                *samples += row.samples;
                *period = period.wrapping_add(row.period);
            }
        }
        sums
    }
}

/// The numbers of the things that have these ids, without those that have the id of one before.
pub(super) fn firsts(ids: &[Id]) -> Vec<usize> {
    let mut seen = FxHashSet::default();
    ids.iter().enumerate().filter(|(_, id)| seen.insert(**id)).map(|(number, _)| number).collect()
}
