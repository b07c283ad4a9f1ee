//! Whether a recording has counts, as `perf stat record` makes them, and no sample: then most commands have nothing to show.

use crate::chunk::Chunk;
use perffile::Metadata;
use perffile::wire::feature::bit;
use perffile::wire::record::kind;

/// Looks out for samples and counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnlyCounts {
    samples: bool,
    counts: bool,
}

impl OnlyCounts {
    /// Looks at some records; no more once there was a sample.
    pub fn see(&mut self, chunk: &Chunk<'_>) {
        self.samples |= chunk.has_samples();
        if !self.samples {
            self.counts |= chunk.entries().iter().any(|entry| entry.event.head().kind == kind::STAT);
        }
    }

    /// Whether it is so, at the end.
    pub fn is_so(self, metadata: &Metadata) -> bool {
        !self.samples && (self.counts || metadata.features.has(bit::STAT))
    }
}
