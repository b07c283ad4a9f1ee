//! What has to be made of a recording for a column: what no column needs is not made.

use readperf_profile::DetailField;
use std::ops::BitOr;

/// What has to be made of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs(u32);

impl Needs {
    /// Only what is known of every recording that was read.
    pub(crate) const NOTHING: Needs = Needs(0);
    /// The samples, each as a row.
    pub(crate) const SAMPLES: Needs = Needs(1);
    /// Names of functions.
    pub(crate) const NAMES: Needs = Needs(1 << 1 | 1);
    /// Lines and inlined functions, which are a part of what a frame is.
    pub(crate) const FRAMES: Needs = Needs(1 << 2 | Needs::NAMES.0);
    /// Stacks.
    pub(crate) const STACKS: Needs = Needs(1 << 3 | Needs::FRAMES.0);
    /// Context switches.
    pub(crate) const SWITCHES: Needs = Needs(1 << 4);
    /// What was mapped.
    pub(crate) const MAPPINGS: Needs = Needs(1 << 5);
    /// Values of counters.
    pub(crate) const COUNTERS: Needs = Needs(1 << 6);
    /// Payloads of tracepoints.
    pub(crate) const PAYLOADS: Needs = Needs(1 << 7 | 1);

    const FIRST_DETAIL: u32 = 8;

    /// What else is recorded of samples, in the order of the bits.
    const DETAILS: [DetailField; 10] = [
        DetailField::DataAddress,
        DetailField::PhysicalAddress,
        DetailField::Weight,
        DetailField::InstructionLatency,
        DetailField::StageCycles,
        DetailField::DataSource,
        DetailField::Transaction,
        DetailField::Cgroup,
        DetailField::DataPageSize,
        DetailField::CodePageSize,
    ];

    /// A field of samples.
    pub(crate) const fn detail(field: DetailField) -> Needs {
        let bit = match field {
            DetailField::DataAddress => 0,
            DetailField::PhysicalAddress => 1,
            DetailField::Weight => 2,
            DetailField::InstructionLatency => 3,
            DetailField::StageCycles => 4,
            DetailField::DataSource => 5,
            DetailField::Transaction => 6,
            DetailField::Cgroup => 7,
            DetailField::DataPageSize => 8,
            DetailField::CodePageSize => 9,
            DetailField::Raw => return Needs::PAYLOADS,
            _ => return Needs::SAMPLES,
        };
        Needs(1 << (Needs::FIRST_DETAIL + bit) | 1)
    }

    /// Whether all of it is among what is needed here.
    pub(crate) fn has(self, other: Needs) -> bool {
        self.0 & other.0 == other.0
    }

    /// The fields of samples that are needed.
    pub(crate) fn details(self) -> impl Iterator<Item = DetailField> {
        let payload = self.has(Needs::PAYLOADS).then_some(DetailField::Raw);
        Needs::DETAILS.into_iter().filter(move |field| self.has(Needs::detail(*field))).chain(payload)
    }
}

impl BitOr for Needs {
    type Output = Needs;

    fn bitor(self, other: Needs) -> Needs {
        Needs(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_needs_itself_alone() {
        for field in Needs::DETAILS.into_iter().chain([DetailField::Raw]) {
            assert_eq!(Needs::detail(field).details().collect::<Vec<_>>(), [field]);
        }
    }
}
