//! What is known of places, on the way or at the end.

use crate::addresses::Addresses;
use crate::names::Names;
use readperf_session::Session;

/// Places, their binaries and their names.
#[derive(Clone, Copy, Debug)]
pub struct Known<'k> {
    /// Processes, threads, binaries.
    pub session: &'k Session,
    /// The places.
    pub addresses: &'k Addresses,
    /// Their names.
    pub names: &'k Names,
}
