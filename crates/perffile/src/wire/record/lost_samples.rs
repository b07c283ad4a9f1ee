//! PERF_RECORD_LOST_SAMPLES (13): the kernel or the hardware dropped samples. Since Linux 4.2.

use crate::wire::declare::fields;

fields! {
    /// Samples dropped.
    #[derive(Copy)]
    pub struct LostSamples {
        /// How many.
        lost: u64,
    }
}
