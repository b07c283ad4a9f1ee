//! CLN_SIZE (34): size of a cache line (Linux 7.1 and later).

use crate::wire::declare::fields;

fields! {
    /// A line of the cache.
    #[derive(Copy)]
    pub struct ClnSize {
        /// Its size in bytes.
        cln_size: u32,
    }
}
