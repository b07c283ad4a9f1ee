//! Names of events that the recording leaves to its reader.

use crate::event_name::NameSources;
use crate::metadata::Metadata;
use crate::wire::feature::bit;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How often a stream may tell anew what names are made of: each time costs a walk over all events.
const MOST_RENAMINGS: u32 = 64;

/// How many bytes of tracepoint formats may be read for that, all together; the first time they are read in any case.
const MOST_RENAMING_BYTES: usize = 32 << 20;

/// How many events may be named for each record that was walked, and how many more in any case.
const NAMED_PER_RECORD: u64 = 16;
const ALWAYS_NAMED: u64 = 1 << 20;

/// What names are made of, and what making them has cost so far.
#[derive(Debug, Default)]
pub(super) struct EventNames {
    /// Made when they are needed; nothing when the features have changed since.
    sources: Option<NameSources>,
    /// Whether events or features have come that names depend on.
    stale: bool,
    /// Names by `config` that HEADER_EVENT_TYPE records have told.
    of_configs: FxHashMap<u64, String>,
    /// How many events were named, those that were named anew included.
    named: u64,
    /// How often the sources have changed, and how many bytes were read anew for that.
    renamings: u32,
    renaming_bytes: usize,
}

impl EventNames {
    /// An event has come.
    pub(super) fn event_added(&mut self) {
        self.stale = true;
    }

    /// A HEADER_EVENT_TYPE record has told a name; at most so many are kept.
    pub(super) fn told(&mut self, config: u64, name: impl FnOnce() -> String, most: usize) {
        if self.of_configs.len() < most {
            self.of_configs.entry(config).or_insert_with(name);
            self.stale = true;
        }
    }

    /// A feature has come that was not told before.
    pub(super) fn feature_added(&mut self, feature: u32, metadata: &Metadata) {
        if matches!(feature, bit::PMU_MAPPINGS | bit::TRACING_DATA)
            && self.renamings < MOST_RENAMINGS
            && self.renaming_bytes < MOST_RENAMING_BYTES
        {
            self.renamings += 1;
            self.renaming_bytes += metadata.features.bytes(bit::TRACING_DATA).map_or(0, <[u8]>::len);
            self.sources = None;
            self.stale = true;
        }
    }

    /// Names the events that the recording does not name, by what is known after so many records: once per batch, not per
    /// record, since features come in any order and a stream may have many. Where hostile ones come with every batch, now and
    /// then, and at the end.
    pub(super) fn give(&mut self, metadata: &mut Metadata, records: u64, is_end: bool) {
        let cost = metadata.schema.events().len() as u64;
        let most = ALWAYS_NAMED.saturating_add(records.saturating_mul(NAMED_PER_RECORD));
        if !self.stale || !is_end && self.named.saturating_add(cost) > most {
            return;
        }
        self.stale = false;
        self.named = self.named.saturating_add(cost);
        if !metadata.schema.has_unnamed() {
            return;
        }
        let new = || NameSources::new(&metadata.features, metadata.order);
        let sources = self.sources.get_or_insert_with(new);
        let schema = Arc::make_mut(&mut metadata.schema);
        schema.set_names_of_configs(|config| self.of_configs.get(&config).cloned());
        schema.set_fallback_names(sources);
    }
}
