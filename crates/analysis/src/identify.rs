//! The binaries of a recording that have no build-id, and those of the files that are here.

use crate::naming::with_recorded;
use crate::pass::{PassOptions, pass};
use crate::recorded_kernel::KernelEvidence;
use crate::subjects::subject_with_file;
use perffile::Recording;
use readperf_session::Binary;
use readperf_symbols::{BuildId, Options, Unidentified};
use std::collections::BTreeSet;
use std::time::SystemTime;

/// A binary that was recorded without a build-id, and the one that it has here, or why there is none.
pub type Identified = (Binary, Result<BuildId, Unidentified>);

/// Finds the build-ids of the binaries that samples or their callers are in, or of all. `recorded` is when the recording was written.
///
/// # Errors
/// A stream that has been read already.
pub fn identify(
    recording: &Recording,
    options: &Options,
    all: bool,
    recorded: Option<SystemTime>,
) -> perffile::Result<Vec<Identified>> {
    let wanted = PassOptions { stacks: true, ..PassOptions::default() };
    let passed = pass(recording, &wanted, |_, _| Ok::<(), perffile::Error>(()))?;
    let (session, metadata) = (&passed.state.session, &passed.metadata);
    let mut options = with_recorded(options.clone(), metadata);
    KernelEvidence::new(&metadata.features).apply(&mut options, session);
    let places = passed.state.addresses.as_slice();
    let used: BTreeSet<usize> = places.iter().filter_map(|place| Some(place.binary?.index())).collect();
    let mut found = Vec::new();
    for (index, binary) in session.binaries().iter().enumerate() {
        let is_wanted = all || used.contains(&index);
        let Some(subject) = subject_with_file(binary).filter(|_| is_wanted && binary.build_id.is_none())
        else {
            continue;
        };
        found.push((binary.clone(), BuildId::of(&subject, &options, recorded)));
    }
    Ok(found)
}
