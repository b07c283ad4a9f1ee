//! PERF_RECORD_HEADER_FEATURE (80): a header feature in a pipe. One without payload ends them.

use crate::wire::declare::fields;

fields! {
    /// A feature section.
    #[derive(Copy)]
    pub struct HeaderFeature<'a> {
        /// Its bit.
        feat_id: u64,
        /// Its bytes, as in a file.
        data: &'a [u8] as rest,
    }
}
