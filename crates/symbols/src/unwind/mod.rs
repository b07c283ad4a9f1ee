//! Callers from a recorded stack: registers and the bytes above the stack pointer become a list of code addresses.
//!
//! The tables that compilers leave for exceptions and debuggers (call frame information: `.eh_frame`, `.debug_frame`)
//! say for each instruction where the return address and the caller's registers are. [`Unwinder`] holds these tables, one
//! set a binary, found like the binaries of symbols are. [`Cache`] belongs to one thread and keeps what was worked out.
//!
//! ```
//! use readperf_symbols::Options;
//! use readperf_symbols::unwind::{Cache, End, Machine, Registers, Space, Stack, Unwinder};
//!
//! let unwinder = Unwinder::new(&Options::default());
//! let registers = Registers::recorded(Machine::X86_64, 0b1_1100_0000, &[0, 0x7ffc_0000, 0x40_1000]).unwrap();
//! let stack = Stack { bytes: &[0; 64], big_endian: false };
//! let mut frames = Vec::new();
//! let end = unwinder.unwind(&mut Cache::default(), &Space::default(), &registers, stack, 127, &mut frames);
//! assert_eq!(frames, [0x40_1000]);
//! assert_eq!(end, End::Unmapped);
//! ```

mod cache;
mod cfi;
mod exidx;
mod expression;
mod fallback;
mod generated;
mod registers;
mod rule;
mod sections;
mod space;
mod stack;
mod store;
mod walk;

pub use crate::machine::Machine;
pub use cache::Cache;
pub use registers::Registers;
pub use space::{BinaryId, Lookup, Mapping, Space};
pub use stack::Stack;
pub use store::Unwinder;
pub use walk::End;
