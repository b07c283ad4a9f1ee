//! One instruction.

/// An instruction: where it is and where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction<'b> {
    /// Its address.
    pub address: u64,
    /// Its bytes.
    pub bytes: &'b [u8],
    /// Where it leads.
    pub flow: Flow,
    /// The address of data that it names: relative to itself or absolute, and known without running it. On machines that put an
    /// address together in two instructions it is known at the second one.
    pub refers_to: Option<u64>,
    /// What the bytes are.
    pub content: Content,
    /// The condition that an instruction before it (IT of Thumb) puts on this one.
    pub(crate) condition: Option<u8>,
}

/// What some bytes in code are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Content {
    /// Instructions; on Arm those of A32.
    #[default]
    Code,
    /// Instructions of Arm's T32.
    Thumb,
    /// Data between instructions.
    Data,
}

/// Where an instruction leads. A target is not known if it comes from a register or from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// To the next one.
    Next,
    /// To another one, or, where it is conditional, perhaps to the next one.
    Jump {
        /// Where it leads.
        target: Option<u64>,
        /// Whether the next one may follow.
        conditional: bool,
    },
    /// To a function, which mostly returns to the next one.
    Call {
        /// Where it leads.
        target: Option<u64>,
    },
    /// Back to the caller, or, where it is conditional, perhaps to the next one.
    Return {
        /// Whether the next one may follow.
        conditional: bool,
    },
    /// Into the kernel, which mostly returns to the next one: a system call, a software interrupt.
    System,
    /// Nowhere: the processor stops or raises an exception.
    Stop,
    /// The bytes are no instruction.
    Bad,
    /// The bytes are data.
    Data,
}

impl Flow {
    /// Where it leads if that is known and not the next instruction.
    pub fn target(self) -> Option<u64> {
        match self {
            Flow::Jump { target, .. } | Flow::Call { target } => target,
            _ => None,
        }
    }

    /// Whether the processor may go on elsewhere than behind the instruction, as it means to.
    pub fn leads_elsewhere(self) -> bool {
        matches!(self, Flow::Jump { .. } | Flow::Call { .. } | Flow::Return { .. } | Flow::System)
    }

    /// Whether the next instruction never follows directly.
    pub fn ends_block(self) -> bool {
        matches!(
            self,
            Flow::Jump { conditional: false, .. } | Flow::Return { conditional: false } | Flow::Stop
        )
    }
}
