//! PERF_RECORD_FINISHED_INIT (82): end of what perf made up about tasks already running.

use crate::wire::declare::fields;

fields! {
    /// Nothing but the mark.
    #[derive(Copy)]
    pub struct FinishedInit {}
}
