//! CLOCKID (23): how fine the clock of the recording is (`-k`).

use crate::wire::declare::fields;

fields! {
    /// The clock's resolution.
    #[derive(Copy)]
    pub struct Clockid {
        /// In ns.
        resolution_ns: u64,
    }
}
