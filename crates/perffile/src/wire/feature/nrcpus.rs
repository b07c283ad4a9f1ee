//! NRCPUS (7): how many CPUs the machine had.

use crate::wire::declare::fields;

fields! {
    /// CPUs. The disk order is this one; perf before 4.4 read it the other way round.
    #[derive(Copy)]
    pub struct Nrcpus {
        /// Highest CPU present plus one (once: the number of CPUs).
        available: u32,
        /// CPUs online.
        online: u32,
    }
}
