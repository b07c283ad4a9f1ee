//! Whether the names of binaries can be found on this machine.

use crate::naming::{subject_with_file, with_recorded};
use crate::recorded_kernel::KernelEvidence;
use perffile::Metadata;
use readperf_session::{Binary, BinaryKind, Session};
use readperf_symbols::{AddressBatch, Options, Reason, resolve};

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
