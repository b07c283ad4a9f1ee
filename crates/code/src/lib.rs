//! Machine code as instructions: how long each is, where it leads, and its text.
//!
//! ```
//! use readperf_code::{Disassembler, Flow, Machine, Syntax};
//!
//! let disassembler = Disassembler::new(Machine::X86_64, Syntax::Att);
//! let code = [0x48, 0x83, 0xec, 0x08, 0xe8, 0x07, 0x00, 0x00, 0x00, 0xc3];
//! let instructions: Vec<_> = disassembler.instructions(0x1000, &code).collect();
//! let flows: Vec<Flow> = instructions.iter().map(|instruction| instruction.flow).collect();
//! assert_eq!(flows, [Flow::Next, Flow::Call { target: Some(0x1010) }, Flow::Return]);
//!
//! let mut names = |address, _| (address == 0x1010).then(|| "puts@plt".to_owned());
//! let text: Vec<String> =
//!     instructions.iter().map(|instruction| disassembler.text(instruction, &mut names).to_string()).collect();
//! assert_eq!(text, ["sub    $0x8,%rsp", "call   puts@plt", "ret"]);
//! ```
//!
//! The crate knows nothing of files, symbols and profiles: who calls says where the code is and what is at other addresses. Bytes
//! may be anything. Those that are no instruction become one whose flow is [`Flow::Bad`], so that the lengths of all add up to
//! what was given.
//!
//! # Where the text is not that of `objdump`
//!
//! The decoders are [iced](https://github.com/icedland/iced) for x86 and [Capstone](https://www.capstone-engine.org/) for the
//! others. Their text is made to look as that of GNU `objdump`. What differs:
//!
//! * Bytes that are no instruction are `(bad)` on all machines, and on x86 always a single byte.
#![forbid(unsafe_code)]

mod data;
mod disassembler;
mod instruction;
mod machine;
mod others;
mod text;
mod x86;

pub use disassembler::{Disassembler, Instructions};
pub use instruction::{Content, Flow, Instruction};
pub use machine::{Machine, Syntax};
pub use text::{Names, Refers, Text};
