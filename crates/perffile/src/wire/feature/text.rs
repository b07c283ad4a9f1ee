//! Features that are one string: HOSTNAME (3), OSRELEASE (4), VERSION (5), ARCH (6), CPUDESC (8), CPUID (9).

use crate::wire::declare::fields;
use crate::wire::text::HeaderString;
use std::borrow::Cow;

fields! {
    /// One string.
    #[derive(Copy)]
    pub struct Text<'a> {
        /// The text.
        text: HeaderString<'a>,
    }
}

impl<'a> From<Text<'a>> for Cow<'a, str> {
    fn from(text: Text<'a>) -> Self {
        text.text.display()
    }
}
