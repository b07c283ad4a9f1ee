//! Fields that are taken out of samples: what is large, or tells more than others should know.

use perffile::wire::attr::{BranchSampleType, EventAttr, SampleShape, SampleType};
use perffile::wire::sample::Sample;
use perffile::wire::words::U64s;

/// The first of the numbers in a call chain that are no addresses but say in which mode those behind were.
const FIRST_MARKER: u64 = 4095u64.wrapping_neg();

/// Which fields are taken out of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strip {
    /// What tracepoints and other events say of themselves.
    pub raw: bool,
    /// Copies of user stacks.
    pub stacks: bool,
    /// Registers.
    pub registers: bool,
    /// Branch stacks.
    pub branches: bool,
    /// Pieces of AUX traces.
    pub aux: bool,
    /// Call chains as a whole.
    pub chains: bool,
    /// All but so many addresses of a call chain, the innermost.
    pub max_stack: Option<u32>,
}

impl Strip {
    /// Whether nothing is taken out.
    pub(crate) fn is_idle(self) -> bool {
        self == Strip::default()
    }

    /// The fields that samples do not have any more.
    fn fields(self) -> SampleType {
        let parts = [
            (self.raw, SampleType::RAW),
            (self.stacks, SampleType::STACK_USER),
            (self.registers, SampleType::REGS_USER | SampleType::REGS_INTR),
            (self.branches, SampleType::BRANCH_STACK),
            (self.aux, SampleType::AUX),
            (self.chains, SampleType::CALLCHAIN),
        ];
        let taken = parts.into_iter().filter(|(taken, _)| *taken).map(|(_, field)| field.0);
        SampleType(taken.fold(0, |all, field| all | field))
    }

    /// How an event is opened whose samples do not have them.
    pub(crate) fn attr(self, attr: &mut EventAttr) {
        let taken = self.fields();
        attr.sample_type = SampleType(attr.sample_type.0 & !taken.0);
        if self.stacks {
            attr.sample_stack_user = 0;
        }
        if self.registers {
            (attr.sample_regs_user, attr.sample_regs_intr) = (0, 0);
        }
        if self.branches {
            attr.branch_sample_type = BranchSampleType(0);
        }
        if self.aux {
            attr.aux_sample_size = 0;
        }
    }

    /// The shape of such samples.
    pub(crate) fn shape(self, shape: &mut SampleShape) {
        shape.sample_type = SampleType(shape.sample_type.0 & !self.fields().0);
    }

    /// Shortens the call chain. Markers of modes do not count, and go with the addresses behind them.
    pub(crate) fn sample<'a>(self, sample: &mut Sample<'a>) {
        let (Some(most), Some(chain)) = (self.max_stack, sample.callchain) else { return };
        let (mut left, mut end) = (most, 0);
        for (nr, entry) in chain.iter().enumerate() {
            if entry < FIRST_MARKER {
                let Some(less) = left.checked_sub(1) else { break };
                (left, end) = (less, nr + 1);
            }
        }
        let bytes: &'a [u8] = chain.as_bytes();
        sample.callchain = Some(U64s::new(bytes.get(..end * 8).unwrap_or(bytes), chain.order()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perffile::ByteOrder;

    #[test]
    fn chains_keep_their_innermost_addresses_and_the_markers_before_them() {
        let (kernel, user) = (u64::MAX - 127, u64::MAX - 511);
        let words = [kernel, 1, 2, user, 3, 4];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        for (most, left) in [(0, 0), (1, 2), (2, 3), (3, 5), (4, 6), (9, 6)] {
            let callchain = Some(U64s::new(&bytes, ByteOrder::Little));
            let mut sample = Sample { callchain, ..Sample::default() };
            Strip { max_stack: Some(most), ..Strip::default() }.sample(&mut sample);
            assert!(sample.callchain.unwrap().iter().eq(words[..left].iter().copied()), "{most}");
        }
    }
}
