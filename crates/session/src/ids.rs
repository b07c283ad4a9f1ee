//! Ids of processes, threads, names and binaries. They are given in the order of first sight, from 0, and stay valid.
//!
//! They are held one higher: "none" then needs no place of its own beside them, and samples and addresses, of which there are
//! millions, are smaller.

use std::num::NonZeroU32;

/// Declares an id: a number that only a session hands out.
macro_rules! ids {
    ($( $(#[$meta:meta])* $name:ident, )*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(NonZeroU32);

            impl $name {
                /// Its number, from 0 without gaps: an index into tables of one's own.
                #[inline]
                pub fn index(self) -> usize {
                    crate::arena::Id::number(self) as usize
                }
            }

            impl crate::arena::Id for $name {
                #[inline]
                fn of(number: u32) -> Self {
                    // Memory is at its end before the numbers are.
                    $name(NonZeroU32::MIN.saturating_add(number))
                }
                #[inline]
                fn number(self) -> u32 {
                    self.0.get() - 1
                }
            }
        )*
    };
}

ids! {
    /// A process. A pid that is used again after its process went is another process.
    ProcessId,
    /// A thread of one process.
    ThreadId,
    /// A thread name.
    CommId,
    /// A binary.
    BinaryId,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Id;

    #[test]
    fn numbers_come_back_in_their_order_and_none_takes_no_place() {
        let numbers = [0, 1, 2, 1_000_000, u32::MAX - 1];
        assert_eq!(numbers.map(|number| ThreadId::of(number).number()), numbers);
        assert!(numbers.map(BinaryId::of).is_sorted());
        assert_eq!(size_of::<Option<ThreadId>>(), size_of::<u32>());
        assert_eq!(size_of::<crate::CodeAddress>(), 24);
    }
}
