//! Why it is not known that the running kernel is the recorded one.

use std::fmt;

/// Why the running kernel may be another one than that of a recording without a build-id of its kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KernelDoubt {
    /// It was recorded on another machine, or on a kernel of another release.
    Elsewhere {
        /// Name, release and kind of machine when recording.
        recorded: String,
        /// Name, release and kind of this machine.
        running: String,
    },
    /// The recorder might not see where the kernel was.
    AddressHidden,
    /// A symbol had another address: it is another boot, or another kernel.
    Moved {
        /// The symbol.
        symbol: String,
        /// Its address when recording.
        recorded: u64,
        /// Its address now.
        running: u64,
    },
    /// The code had another size: it is another build.
    OtherSize {
        /// Where it ended when recording.
        recorded: u64,
    },
    /// The running kernel's list of symbols does not tell.
    NotListed,
}

impl fmt::Display for KernelDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelDoubt::Elsewhere { recorded, running } => {
                write!(f, "it was made on {recorded}, this is {running}")
            }
            KernelDoubt::AddressHidden => f.write_str("where the kernel was is not in it either"),
            KernelDoubt::Moved { symbol, recorded, running } => write!(
                f,
                "its {symbol} was at {recorded:#x}, that of the running kernel is at {running:#x}: another boot or another \
                 kernel"
            ),
            KernelDoubt::OtherSize { recorded } => write!(
                f,
                "its code ended at {recorded:#x}, that of the running kernel ends elsewhere: it is another build"
            ),
            KernelDoubt::NotListed => {
                f.write_str("the running kernel's list of symbols does not tell whether it is the same")
            }
        }
    }
}
