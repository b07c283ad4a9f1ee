//! CACHE (20): the caches of the machine.

use crate::wire::declare::fields;
use crate::wire::pass::{Fields, Pass, Step};
use crate::wire::text::HeaderString;

/// Every cache once, not once per CPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caches<'a> {
    /// Form of the section; 1 so far.
    pub version: u32,
    /// The caches.
    pub caches: Vec<Cache<'a>>,
    /// What another form holds.
    pub other: &'a [u8],
}

/// The only form so far.
const VERSION: u32 = 1;

fields! {
    /// A cache.
    #[derive(Copy, Eq)]
    pub struct Cache<'a> {
        /// 1 nearest to the CPU.
        level: u32,
        /// Bytes of a line.
        line_size: u32,
        /// How many sets.
        sets: u32,
        /// Lines of a set.
        ways: u32,
        /// `Data`, `Instruction` or `Unified`.
        kind: HeaderString<'a> as header_string "type",
        /// Its size as the kernel writes it: `32K`.
        size: HeaderString<'a>,
        /// CPUs that share it, as `0-1`.
        map: HeaderString<'a>,
    }
}

impl<'a> Fields<'a> for Caches<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u32("version", &mut self.version)?;
        if self.version != VERSION {
            return pass.rest("other", &mut self.other);
        }
        let nr = pass.count_u32("nr", self.caches.len())?;
        pass.vec("caches", nr, &mut self.caches)
    }
}
