//! What is known of a branch: the bit-fields of `perf_branch_entry`.

/// Widths of the C bit-fields, first one first; the rest is reserved.
pub(crate) const BRANCH_FLAG_WIDTHS: &[u8] = &[1, 1, 1, 1, 16, 4, 2, 4, 3];

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
