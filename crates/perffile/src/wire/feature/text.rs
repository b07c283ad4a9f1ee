//! Features that are one string: HOSTNAME (3), OSRELEASE (4), VERSION (5), ARCH (6), CPUDESC (8), CPUID (9).

use crate::wire::declare::fields;
use crate::wire::text::HeaderString;

fields! {
    /// One string.
    #[derive(Copy)]
    pub struct Text<'a> {
        /// The text.
        text: HeaderString<'a>,
    }
}
