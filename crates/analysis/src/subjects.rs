//! What to ask the symbols about the binaries of a session.

use perffile::wire::text::decoded;
use readperf_session::{Binary, BinaryKind, ReferenceSymbol, Session};
use readperf_symbols::{BuildId, JitDump, ListedSymbol, Subject, SymbolList};
use rustc_hash::FxHashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// A name as a path.
pub(crate) fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(name))
}

/// What to ask the symbols about a binary that is a file, or an image of the kernel; of others nothing.
pub(crate) fn subject_with_file(binary: &Binary) -> Option<Subject> {
    let build_id = binary.build_id.as_deref().and_then(BuildId::from_bytes);
    match &binary.kind {
        BinaryKind::User => Some(Subject::File { path: path(&binary.name), build_id }),
        BinaryKind::Kernel { reference: symbol } => {
            Some(Subject::Kernel { build_id, reference: reference(symbol.as_ref()) })
        }
        BinaryKind::Module { start } => {
            Some(Subject::KernelModule { name: path(&binary.name), build_id, start: Some(*start) })
        }
        BinaryKind::Vdso => Some(Subject::Vdso { build_id }),
        BinaryKind::GuestKernel { reference: symbol } => Some(Subject::GuestKernel {
            pid: guest_pid(&binary.name),
            build_id,
            reference: reference(symbol.as_ref()),
        }),
        BinaryKind::GuestModule { start } => {
            Some(Subject::GuestModule { pid: None, name: path(&binary.name), build_id, start: Some(*start) })
        }
        BinaryKind::Jit { .. } | BinaryKind::Bpf { .. } | BinaryKind::Vsyscall | BinaryKind::Anon => None,
    }
}

/// The jitdump file of each process that was asked about, with the number in its name.
pub(crate) type Dumps = FxHashMap<u32, Option<(u32, PathBuf)>>;

/// What to ask the symbols about a binary.
pub(crate) fn subject(binary: &Binary, session: &Session, dumps: &mut Dumps) -> Subject {
    match &binary.kind {
        BinaryKind::Jit { pid, generation } => {
            let dump = dumps.entry(*pid).or_insert_with(|| jitdump(*pid, session)).clone();
            let (inner_pid, dump) = dump.unzip();
            let inner_pid = inner_pid.filter(|inner| inner != pid);
            Subject::Generated { pid: *pid, inner_pid, dump, generation: *generation }
        }
        BinaryKind::Bpf { start } => {
            let name = decoded(&binary.name).into_owned();
            // It is one symbol, and all of it: what else lies there is another binary.
            let symbol = ListedSymbol { start: *start, end: u64::MAX, name };
            Subject::Listed { symbols: SymbolList::new(path(&binary.name), [symbol]) }
        }
        BinaryKind::Vsyscall => Subject::Vsyscall,
        _ => subject_with_file(binary).unwrap_or(Subject::Anonymous),
    }
}

fn reference(symbol: Option<&ReferenceSymbol>) -> Option<(String, u64)> {
    symbol.map(|symbol| (decoded(&symbol.name).into_owned(), symbol.address))
}

/// The process that runs a guest: its number is in the name, `[guest.kernel.kallsyms.PID]`.
fn guest_pid(name: &[u8]) -> Option<u32> {
    let name = std::str::from_utf8(name).ok()?;
    name.strip_prefix("[guest.kernel.kallsyms.")?.strip_suffix(']')?.parse().ok()
}

/// The jitdump file that a process mapped to tell of itself, if it did, and the number in its name. That is the one that the
/// process sees, which is another in a pid namespace.
fn jitdump(pid: u32, session: &Session) -> Option<(u32, PathBuf)> {
    let dump = |binary: &Binary| {
        let name = path(&binary.name);
        Some((JitDump::pid_in_name(&name)?, name))
    };
    let mapped_by = |pid: u32| {
        let processes = session.processes().iter().filter(move |process| process.pid == pid);
        processes
            .flat_map(|process| process.space().iter())
            .filter_map(|mapping| dump(session.binary(mapping.binary)?))
    };
    let own = mapped_by(pid).filter(|(inner, name)| {
        // A child that was forked has the mappings of its parent, and did not write that file.
        *inner == pid || !mapped_by(*inner).any(|(_, other)| other == *name)
    });
    let own = own.max_by_key(|(inner, _)| *inner == pid);
    // It may have been unmapped since.
    own.or_else(|| session.binaries().iter().rev().filter_map(dump).find(|(inner, _)| *inner == pid))
}
