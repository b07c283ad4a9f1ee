//! Addresses of a binary to functions, inlined functions and source lines, in process.
//!
//! The crate knows binaries and addresses, and nothing of where the addresses came from. A caller hands over one
//! [`AddressBatch`] per binary and gets one [`SymbolBatch`] per binary back, in the same order:
//!
//! ```
//! use readperf_symbols::{AddressBatch, Options, Subject, resolve};
//!
//! let subject = Subject::File { path: "/nonexistent/prog".into(), build_id: None };
//! let answers = resolve(&Options::default(), vec![AddressBatch::new(subject, vec![0x1040])]);
//! assert_eq!(answers.len(), 1);
//! assert_eq!(
//!     answers[0].symbol(0).unwrap_err().to_string(),
//!     "no file at /nonexistent/prog, and no build-id was recorded to find it by"
//! );
//! ```
//!
//! Who asks more than once keeps a [`Resolver`], which reads each binary once.
//!
//! An address without a name is not an error: it has a [`Reason`]. Nothing is executed, and nothing goes to the
//! network unless the caller says so (feature `debuginfod`).
//! The answer does not depend on the number of threads.
#![forbid(unsafe_code)]

mod archive;
mod batch;
mod build_id;
mod cache;
mod code;
mod compressed;
mod demangle;
mod failures;
mod file_loader;
mod files;
mod find;
mod function_name;
mod identify;
mod ids;
mod image;
mod kernel_doubt;
mod machine;
mod name;
mod needed;
mod options;
mod origins;
mod reason;
mod resolve;
mod source;
mod subject;
mod symbol_list;
mod table;
mod threads;
mod trace;
pub mod unwind;
mod uses;

pub use archive::{SymbolArchive, Wanted, first_member, unpack};
pub use batch::{Found, Provides, SourceFrame, Symbol, SymbolBatch};
pub use build_id::BuildId;
pub use cache::cache_dir;
pub use code::{Code, Extent, FunctionCode, KernelMemory, Layout, NoCode, RecordedCode};
pub use demangle::{Demangle, demangle};
pub use file_loader::FileLoader;
pub use files::{FileBytes, Files};
#[cfg(feature = "debuginfod")]
pub use find::Debuginfod;
pub use find::{MountNamespaces, SymbolFiles};
pub use function_name::FunctionName;
pub use identify::Unidentified;
pub use ids::{FileId, FunctionId, SymbolId};
pub use kernel_doubt::KernelDoubt;
pub use options::{GuestFiles, Options};
pub use origins::Origins;
pub use readperf_code::{Content, Disassembler, Flow, Instruction, Machine, Refers, Syntax, Text};
pub use reason::Reason;
pub use resolve::{Resolver, resolve};
pub use source::generations::CodeChange;
pub use source::jitdump::{GeneratedImage, GeneratedLine, IMAGE_CODE_OFFSET, JitDamage, JitDump};
pub use source::perf_map::{GeneratedFunction, PerfMap};
pub use source::same_kernel::{RecordedKernel, SameKernel};
pub use subject::{AddressBatch, Subject};
pub use symbol_list::{ListedSymbol, SymbolList};
pub use table::Binding;
pub use threads::thread_pool;
pub use uses::{Role, UsedFile};
