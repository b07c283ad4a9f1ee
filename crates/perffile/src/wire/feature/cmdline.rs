//! CMDLINE (11): how perf was called.

use crate::wire::declare::fields;
use crate::wire::text::HeaderString;

fields! {
    /// The path of the perf binary, then its arguments, its own name among them.
    pub struct Cmdline<'a> {
        /// The words.
        words: Vec<HeaderString<'a>> as strings counted u32 "nr",
    }
}
