//! Numbers of what a table holds: of an answer, or of all answers together.

use std::num::NonZeroU32;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

/// Values that have numbers in the order of their first appearance.
pub(crate) type FxIndexSet<T> = IndexSet<T, FxBuildHasher>;

/// Keys that have numbers in the order of their first appearance, each with a value.
pub(crate) type FxIndexMap<K, V> = IndexMap<K, V, FxBuildHasher>;

/// Ids that are held one higher, so that "none" needs no place of its own.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The id of the element with this index.
            #[inline]
            pub fn new(index: usize) -> Self {
                $name(NonZeroU32::MIN.saturating_add(number(index)))
            }

            /// The index of the element.
            #[inline]
            pub fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }
    )+};
}

ids! {
    /// Number of a symbol in [`SymbolBatch::symbols`](crate::SymbolBatch::symbols).
    SymbolId
    /// Number of a function in [`SymbolBatch::functions`](crate::SymbolBatch::functions), or in the table that takes answers in.
    FunctionId
    /// Number of a source file in [`SymbolBatch::files`](crate::SymbolBatch::files), or in the table that takes answers in.
    FileId
}

/// An index as a number. A table has fewer elements than 2^32, because it would not fit in memory otherwise; the last number is
/// shared should that ever be wrong.
#[inline]
pub(crate) fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_takes_no_room() {
        assert_eq!(size_of::<Option<FunctionId>>(), 4);
        for index in [0, 1, 7, u32::MAX as usize - 1] {
            assert_eq!(FileId::new(index).index(), index);
        }
        assert_eq!(SymbolId::new(usize::MAX).index(), u32::MAX as usize - 1);
    }
}
