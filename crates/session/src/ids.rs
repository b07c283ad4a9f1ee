//! Numbers that stand for what a session knows. They are handed out in the order of first sight, from 0, and stay valid.

/// Declares an id: a number that only a session hands out.
macro_rules! ids {
    ($( $(#[$meta:meta])* $name:ident, )*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(u32);

            impl $name {
                /// Its number, from 0 without gaps: an index into tables of one's own.
                #[inline]
                pub fn index(self) -> usize {
                    self.0 as usize
                }
            }

            impl crate::arena::Id for $name {
                #[inline]
                fn of(number: u32) -> Self {
                    $name(number)
                }
                #[inline]
                fn number(self) -> u32 {
                    self.0
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
