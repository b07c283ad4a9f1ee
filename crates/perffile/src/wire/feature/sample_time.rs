//! SAMPLE_TIME (21): times of the first and the last sample.

use crate::wire::declare::fields;

fields! {
    /// Times, ns of the recording's clock; both 0 if perf did not look.
    #[derive(Copy)]
    pub struct SampleTime {
        /// Of the first sample.
        first: u64,
        /// Of the last one.
        last: u64,
    }
}
