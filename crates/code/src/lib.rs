//! Machine code as instructions: how long each is, where it leads, and its text.
//!
//! ```
//! use readperf_code::{Disassembler, Flow, Machine, Syntax};
//!
//! let disassembler = Disassembler::new(Machine::X86_64, Syntax::Att);
//! let code = [0x48, 0x83, 0xec, 0x08, 0xe8, 0x07, 0x00, 0x00, 0x00, 0xc3];
//! let instructions: Vec<_> = disassembler.instructions(0x1000, &code).collect();
//! let flows: Vec<Flow> = instructions.iter().map(|instruction| instruction.flow).collect();
//! assert_eq!(flows, [Flow::Next, Flow::Call { target: Some(0x1010) }, Flow::Return { conditional: false }]);
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
//! * Bytes that are no instruction are `(bad)` on all machines. On x86 that is always a single byte; on the others as many as its first
//!   bits say. What `objdump` shows as prefixes on their own (`rex.W`, `data16`), in what is no code, belongs to the next
//!   instruction here.
//! * x86, Intel syntax: distances before the instruction are negative (`[rip-0x16e]`); the topmost register of the x87 is always named.
//! * Arm: an offset of 0 is not shown (`[r3]`), negative numbers have a sign, shifts have names of their own (`lsl.w` for `mov.w …, lsl`),
//!   and `adr` is not an addition to `pc`. Accesses to coprocessors that version 8 of the architecture does not have are `(bad)`.
//! * RISC-V: `addi`, `slli` and the like keep the letter that binutils 2.39 and 2.40 leave out.
//! * PowerPC: moves between kinds of registers have their general names (`mfvsrd`, not `mfvrd`). Instructions of Power 10 are `(bad)`.
//! * Where a machine puts an address together in two instructions (`adrp` and `add`, `auipc` and `ld`), the address is told with the
//!   second one.
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
