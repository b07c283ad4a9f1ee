//! CMDLINE (11): how perf was called.

use crate::wire::declare::fields;
use crate::wire::text::HeaderString;
use std::borrow::Cow;

fields! {
    /// The path of the perf binary, then its arguments, its own name among them.
    pub struct Cmdline<'a> {
        /// The words.
        words: Vec<HeaderString<'a>> as strings counted u32 "nr",
    }
}

impl<'a> From<Cmdline<'a>> for Vec<Cow<'a, str>> {
    fn from(cmdline: Cmdline<'a>) -> Self {
        cmdline.words.iter().map(|word| word.display()).collect()
    }
}
