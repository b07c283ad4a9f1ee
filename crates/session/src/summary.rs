//! How many samples and records a session could use, and how many not.

/// Counts over all records so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Samples that could be used.
    pub samples: u64,
    /// Sum of their periods, all events together.
    pub period: u64,
    /// Samples whose id belongs to no event.
    pub unknown_event: u64,
    /// Samples whose bytes end before their fields do.
    pub undecodable_samples: u64,
    /// Usable samples that do not tell their process.
    pub without_thread: u64,
    /// Records other than samples that could not be decoded.
    pub undecodable_records: u64,
    /// Records lost while recording, as LOST records tell it.
    pub lost_records: u64,
    /// Samples lost while recording, as LOST_SAMPLES records tell it.
    pub lost_samples: u64,
}

impl Summary {
    /// All samples, usable or not.
    pub fn all_samples(&self) -> u64 {
        self.samples + self.unknown_event + self.undecodable_samples
    }
}
