//! PERF_RECORD_CALLCHAIN_DEFERRED (22): the user part of call chains taken before. Since Linux 6.19.

use crate::wire::declare::fields;
use crate::wire::words::U64s;

fields! {
    /// User addresses for the samples with this cookie.
    #[derive(Copy)]
    pub struct CallchainDeferred<'a> {
        /// Cookie in the samples' call chains.
        cookie: u64 as addr,
        /// The addresses, innermost first.
        ips: U64s<'a> as callchain,
    }
}
