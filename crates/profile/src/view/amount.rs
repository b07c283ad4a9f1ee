//! What samples add up to in a call graph.

/// What samples add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    /// Sum of their periods.
    pub(super) period: u64,
    /// How many they are.
    pub(super) samples: u64,
}

impl Amount {
    /// Adds another amount.
    #[inline]
    pub(super) fn add(&mut self, other: Amount) {
        self.period = self.period.wrapping_add(other.period);
        self.samples = self.samples.wrapping_add(other.samples);
    }

    /// Takes another amount away, of sums that wrap.
    #[inline]
    pub(super) fn subtract(&mut self, other: Amount) {
        self.period = self.period.wrapping_sub(other.period);
        self.samples = self.samples.wrapping_sub(other.samples);
    }

    /// What is left without another amount.
    pub(super) fn without(self, other: Amount) -> Amount {
        Amount {
            period: self.period.saturating_sub(other.period),
            samples: self.samples.saturating_sub(other.samples),
        }
    }

    /// All of them together.
    pub(super) fn total(amounts: impl Iterator<Item = Amount>) -> Amount {
        let mut total = Amount::default();
        amounts.for_each(|amount| total.add(amount));
        total
    }
}
