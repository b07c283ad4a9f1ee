//! Whether the names of binaries, and what processes dumped of their generated code, can be found on this machine.

use crate::code_times;
use crate::naming::with_recorded;
use crate::pass::has_user_stacks;
use crate::recorded_kernel::KernelEvidence;
use crate::subjects::{path, subject_with_file};
use perffile::Metadata;
use readperf_profile::check::UnusedDump;
use readperf_session::{Binary, BinaryKind, Session};
use readperf_symbols::unwind::Machine;
use readperf_symbols::{AddressBatch, JitDump, Options, Reason, resolve};

/// Says of each binary, by one address in it, why its function names cannot be found here; `None` where they can. Of code
/// that has no file (generated code, guests) nothing is said. One answer a binary, in the same order.
pub fn missing_names(
    binaries: &[(&Binary, u64)],
    session: &Session,
    metadata: &Metadata,
    options: &Options,
) -> Vec<Option<String>> {
    let mut answers = vec![None; binaries.len()];
    let (mut asked, mut batches) = (Vec::new(), Vec::new());
    for (answer, (binary, address)) in answers.iter_mut().zip(binaries) {
        // A name in brackets that is neither the kernel's nor a module's stands for memory without a file.
        if binary.kind == BinaryKind::Vdso || binary.kind == BinaryKind::User && binary.name.starts_with(b"[")
        {
            continue;
        }
        if let Some(subject) = subject_with_file(binary) {
            asked.push(answer);
            batches.push(AddressBatch::new(subject, vec![*address]));
        }
    }
    // Names are all that is asked for.
    let mut options = with_recorded(Options { inlines: false, ..options.clone() }, metadata);
    KernelEvidence::new(&metadata.features).apply(&mut options, session);
    for (answer, batch) in asked.into_iter().zip(resolve(&options, batches)) {
        *answer = match batch.symbol(0) {
            // Code between the symbols says nothing of the file.
            Ok(_) | Err(Reason::NoSymbolCovers) => None,
            Err(reason) => Some(reason.to_string()),
        };
    }
    answers
}

/// The jitdump files that the recording tells of and of which not all can be used.
pub fn unused_dumps(session: &Session, metadata: &Metadata, options: &Options) -> Vec<UnusedDump> {
    let machines = machines(metadata);
    let files = session.binaries().iter().filter(|binary| binary.kind == BinaryKind::User);
    let unused = files.filter_map(|binary| {
        let name = path(&binary.name);
        let (what, is_here) = match JitDump::find(options, JitDump::pid_in_name(&name)?, &name) {
            Err(reason) => (vec![reason.to_string()], false),
            Ok(dump) => {
                let mut what = dump.unused(&machines);
                what.extend(code_times::not_told_apart(&dump, &metadata.schema));
                (what, true)
            }
        };
        Some(UnusedDump { path: name.display().to_string(), what, is_here })
            .filter(|dump| !dump.what.is_empty())
    });
    unused.collect()
}

/// The machines of which recorded stacks may be: that of the recording, and the one with 32 bits that it can be.
fn machines(metadata: &Metadata) -> Vec<Machine> {
    let uname = metadata.features.arch().filter(|_| has_user_stacks(&metadata.schema));
    let uname = uname.unwrap_or_default();
    [false, true].into_iter().filter_map(|is_32_bit| Machine::of_task(&uname, is_32_bit)).collect()
}
