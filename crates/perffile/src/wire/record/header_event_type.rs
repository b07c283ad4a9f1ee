//! PERF_RECORD_HEADER_EVENT_TYPE (65): name of an event number. Out of use since 2013.

use crate::wire::declare::fields;
use crate::wire::text::CStr8;

fields! {
    /// A name.
    #[derive(Copy)]
    pub struct HeaderEventType<'a> {
        /// `config` of the attr.
        event_id: u64,
        /// Its name, 64 bytes NUL-padded in perf's own files.
        event_name: CStr8<'a>,
    }
}
