//! What is known of a branch: the bit-fields of `perf_branch_entry`.

use super::value::{Words, value};
use std::fmt;

/// Widths of the C bit-fields, first one first; the rest is reserved.
const BRANCH_FLAG_WIDTHS: &[u8] = &[1, 1, 1, 1, 16, 4, 2, 4, 3];

/// The flags of one branch, first C bit-field lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BranchFlags(pub u64);

impl BranchFlags {
    const fn bits(self, shift: u32, width: u32) -> u64 {
        self.0 >> shift & ((1 << width) - 1)
    }

    /// The target was mispredicted.
    pub const fn mispredicted(self) -> bool {
        self.bits(0, 1) == 1
    }
    /// The target was predicted.
    pub const fn predicted(self) -> bool {
        self.bits(1, 1) == 1
    }
    /// In a transaction.
    pub const fn in_tx(self) -> bool {
        self.bits(2, 1) == 1
    }
    /// A transaction abort.
    pub const fn abort(self) -> bool {
        self.bits(3, 1) == 1
    }
    /// Cycles since the branch before.
    pub const fn cycles(self) -> u64 {
        self.bits(4, 16)
    }
    /// Kind of branch; 15 means that [`BranchFlags::new_kind`] tells.
    pub const fn kind(self) -> u64 {
        self.bits(20, 4)
    }
    /// Speculation: 0 not known, 1 wrong path, 2 not speculated and correct, 3 speculated and correct.
    pub const fn speculation(self) -> u64 {
        self.bits(24, 2)
    }
    /// Kind of branch beyond [`BranchFlags::kind`].
    pub const fn new_kind(self) -> u64 {
        self.bits(26, 4)
    }
    /// Privilege: 0 not known, 1 user, 2 kernel, 3 hypervisor.
    pub const fn privilege(self) -> u64 {
        self.bits(30, 3)
    }
}

/// Names of [`BranchFlags::kind`] (PERF_BR_*), as perf prints them.
const KINDS: [&str; 15] = [
    "-",
    "COND",
    "UNCOND",
    "IND",
    "CALL",
    "IND_CALL",
    "RET",
    "SYSCALL",
    "SYSRET",
    "COND_CALL",
    "COND_RET",
    "ERET",
    "IRQ",
    "SERROR",
    "NO_TX",
];

/// Names of [`BranchFlags::new_kind`] (PERF_BR_NEW_*); what the last five mean depends on the machine.
const NEW_KINDS: [&str; 8] =
    ["FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5"];

/// Names of [`BranchFlags::speculation`] (PERF_BR_SPEC_*).
const SPECULATIONS: [&str; 4] = ["-", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH", "SPEC_CORRECT_PATH"];

/// Names of [`BranchFlags::privilege`] (PERF_BR_PRIV_*).
const PRIVILEGES: [&str; 4] = ["unknown", "user", "kernel", "hypervisor"];

impl BranchFlags {
    /// Kind of branch in a word; `-` if it was not recorded.
    pub fn kind_name(self) -> &'static str {
        let (names, number): (&[&str], u64) =
            if self.kind() == 15 { (&NEW_KINDS, self.new_kind()) } else { (&KINDS, self.kind()) };
        name(names, number)
    }

    /// Speculation in a word; `-` if it was not recorded.
    pub fn speculation_name(self) -> &'static str {
        name(&SPECULATIONS, self.speculation())
    }

    /// Privilege in a word.
    pub fn privilege_name(self) -> &'static str {
        name(&PRIVILEGES, self.privilege())
    }
}

fn name(names: &[&'static str], number: u64) -> &'static str {
    usize::try_from(number).ok().and_then(|number| names.get(number)).copied().unwrap_or("?")
}

/// As in the branch stacks of `perf script`: prediction, transaction, abort, cycles, kind, speculation.
impl fmt::Display for BranchFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prediction = match (self.predicted(), self.mispredicted()) {
            (true, _) => 'P',
            (false, true) => 'M',
            (false, false) => '-',
        };
        let in_tx = if self.in_tx() { 'X' } else { '-' };
        let abort = if self.abort() { 'A' } else { '-' };
        let (kind, speculation) = (self.kind_name(), self.speculation_name());
        write!(f, "{prediction}/{in_tx}/{abort}/{}/{kind}/{speculation}", self.cycles())
    }
}

value!(BranchFlags as bitfield(BRANCH_FLAG_WIDTHS), |value| Some(Words::text(value)));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_perf() {
        let golden = include_str!("../../../../tests/fixtures/words/branch.txt");
        assert!(golden.lines().count() > 35);
        for line in golden.lines() {
            let (value, words) = line.split_once(' ').unwrap();
            let flags = BranchFlags(u64::from_str_radix(&value[2..], 16).unwrap());
            // perf 6.1 leaves an unknown kind empty, and does not print the speculation.
            let words = if words.ends_with('/') { format!("{words}-") } else { words.to_owned() };
            let ours = flags.to_string();
            assert_eq!(ours.rsplit_once('/').unwrap().0, words, "{:#x}", flags.0);
        }
    }

    #[test]
    fn speculation_and_privilege() {
        // perf_event.h: PERF_BR_SPEC_CORRECT_PATH is 3 in bits 24-25, PERF_BR_PRIV_KERNEL 2 in bits 30-32.
        let flags = BranchFlags(3 << 24 | 2 << 30 | 2);
        assert_eq!(flags.to_string(), "P/-/-/0/-/SPEC_CORRECT_PATH");
        assert_eq!(flags.privilege_name(), "kernel");
        assert_eq!(BranchFlags(7 << 30).privilege_name(), "?");
    }
}
