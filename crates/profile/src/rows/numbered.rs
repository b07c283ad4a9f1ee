//! A row as tables hold it on the way.

use crate::addresses::AddressId;
use crate::detail::DetailId;
use crate::stacks::StackId;

/// A row without its time: what it comes from is a number, of the [`super::Origins`] of whoever made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NumberedRow {
    pub(crate) origin: u32,
    pub(crate) stack: StackId,
    pub(crate) address: AddressId,
    pub(crate) detail: DetailId,
    pub(crate) samples: u64,
    pub(crate) period: u64,
}

impl NumberedRow {
    /// All but its sums, as one number: to compare these is what sorting takes most of its time for.
    #[inline]
    pub(crate) fn key(&self) -> u128 {
        let NumberedRow { origin, stack, address, detail, samples: _, period: _ } = *self;
        let [origin, stack, address, detail] = [origin, stack.0, address.0, detail.number()].map(u128::from);
        origin << 96 | stack << 64 | address << 32 | detail
    }

    /// Whether two rows differ in their sums alone.
    #[inline]
    pub(crate) fn agrees(&self, other: &NumberedRow) -> bool {
        self.key() == other.key()
    }

    /// Adds the samples of another one.
    #[inline]
    pub(crate) fn add(&mut self, other: &NumberedRow) {
        self.samples = self.samples.saturating_add(other.samples);
        self.period = self.period.wrapping_add(other.period);
    }
}
