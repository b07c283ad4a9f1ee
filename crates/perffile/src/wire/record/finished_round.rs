//! PERF_RECORD_FINISHED_ROUND (68): perf has read every ring buffer once.

use crate::wire::declare::fields;

fields! {
    /// Nothing but the mark.
    #[derive(Copy)]
    pub struct FinishedRound {}
}
