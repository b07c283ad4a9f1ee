//! PERF_RECORD_AUX_OUTPUT_HW_ID (21): which hardware id in an AUX trace belongs to an event. Since Linux 5.16.

use crate::wire::declare::fields;

fields! {
    /// A hardware id.
    #[derive(Copy)]
    pub struct AuxOutputHwId {
        /// The id.
        hw_id: u64 as addr,
    }
}
