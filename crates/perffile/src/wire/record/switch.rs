//! PERF_RECORD_SWITCH (14): a context switch of the thread in the trailer. `misc` bit 13: out. Since Linux 4.3.

use crate::wire::declare::fields;

fields! {
    /// A context switch; all it tells is in `misc` and the trailer.
    #[derive(Copy)]
    pub struct Switch {}
}
