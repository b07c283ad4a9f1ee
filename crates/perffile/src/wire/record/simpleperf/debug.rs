//! DEBUG (32778): a note of the recorder.

use crate::wire::declare::fields;
use crate::wire::text::CStr8;

fields! {
    /// A note.
    #[derive(Copy)]
    pub struct Debug<'a> {
        /// When, ns.
        time: u64,
        /// The text.
        text: CStr8<'a>,
    }
}
