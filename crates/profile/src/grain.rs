//! Stretches of time that no [map](crate::view::timeline) of a long recording tells apart: the samples in one of them can share a row.

/// Nanoseconds in a second.
pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// Columns that make a map of a short recording worth looking at: with fewer seconds its columns are shorter ones.
pub(crate) const FEW_COLUMNS: u64 = 10;

/// Whether the columns of maps are seconds or longer, if there are samples at these times, ns, whatever others there are.
pub(crate) fn is_long(first_ns: u64, last_ns: u64) -> bool {
    (last_ns / SECOND_NS).saturating_sub(first_ns / SECOND_NS) + 1 >= FEW_COLUMNS
}

/// The length of such a stretch: that of a cell of columns of a second. Cells of longer columns are several of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grain {
    ns: u64,
}

impl Grain {
    /// That of maps with so many rows; none if a second cannot be divided by them.
    pub fn of(rows: usize) -> Option<Grain> {
        let rows = u64::try_from(rows).ok()?;
        (SECOND_NS.checked_rem(rows)? == 0).then_some(Grain { ns: SECOND_NS / rows })
    }

    /// The number of the stretch that a time lies in.
    #[inline]
    pub(crate) fn stretch(self, time_ns: u64) -> u64 {
        time_ns / self.ns
    }
}
