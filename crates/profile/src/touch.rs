//! Memory that is read before it is needed.

use std::hint::black_box;
use std::ops::BitXor;

/// Reads all of these, so that the processor waits for many at once and not for one after the other. Where nothing is asked of one before
/// the next is read, none has to wait for another.
#[inline(always)]
pub fn touch<T: BitXor<Output = T> + Default>(parts: impl Iterator<Item = T>) {
    black_box(parts.fold(T::default(), |sum, part| sum ^ part));
}
