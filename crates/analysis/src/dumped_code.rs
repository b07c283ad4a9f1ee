//! The dumps of generated code that a recording tells of, and when the code in them came to its place.

use crate::code_times::{Clock, learn_clock};
use crate::subjects::path;
use perffile::wire::record::{Record, kind};
use perffile::{Ordering, Recording};
use readperf_symbols::unwind::Machine;
use readperf_symbols::{GeneratedImage, JitDump, Options};
use std::collections::BTreeMap;

/// A dump that a process mapped.
#[derive(Debug)]
pub struct DumpedCode {
    /// The process, as the recording numbers it.
    pub pid: u32,
    /// The name of the file, as the mapping has it.
    pub name: Box<[u8]>,
    /// The file.
    pub dump: JitDump,
    clock: Clock,
    machine: Option<Machine>,
}

impl DumpedCode {
    /// When the code with this number came to its place, ns of the recording's clock.
    pub fn time_ns(&self, number: usize) -> Option<u64> {
        self.dump.since(number).map(|since| self.clock.time_ns(since))
    }

    /// The code with this number as an ELF file: see [`JitDump::image`].
    pub fn image(&self, number: usize) -> Option<GeneratedImage> {
        self.dump.image(number, self.machine)
    }
}

/// Finds the dumps that processes have mapped, in order of processes, each as it is or with the reason why it is of no use: the name of
/// the file, and a sentence.
///
/// # Errors
/// A stream that has been read already.
pub fn dumped_code(
    recording: &Recording,
    options: &Options,
) -> perffile::Result<Vec<Result<DumpedCode, String>>> {
    let mut mapped: BTreeMap<(u32, Box<[u8]>), u32> = BTreeMap::new();
    let mut processor_time = None;
    let mut batches = recording.batches(Ordering::File)?;
    for batch in batches.by_ref() {
        for event in batch.iter() {
            learn_clock(&mut processor_time, &event);
            if !matches!(event.head().kind, kind::MMAP | kind::MMAP2) {
                continue;
            }
            let (pid, name) = match event.record() {
                Ok((Record::Mmap(map), _)) => (map.pid, map.filename.bytes()),
                Ok((Record::Mmap2(map), _)) => (map.pid, map.filename.bytes()),
                _ => continue,
            };
            if let Some(inner) = JitDump::pid_in_name(&path(name)) {
                mapped.insert((pid, name.into()), inner);
            }
        }
    }
    let metadata = batches.metadata();
    let uname = metadata.features.arch().unwrap_or_default();
    let machine = Machine::of_task(&uname, false);
    let mut found = Vec::new();
    for ((pid, name), inner) in &mapped {
        // Another process may look at the file of the one that wrote it.
        if inner != pid && mapped.contains_key(&(*inner, name.clone())) {
            continue;
        }
        let path = path(name);
        found.push(JitDump::find(options, *pid, &path).map_err(|reason| reason.to_string()).and_then(
            |dump| {
                let clock =
                    Clock::of(&dump, &metadata.schema, processor_time).ok_or_else(|| not_comparable(&dump));
                let clock = clock.map_err(|why| format!("{}: {why}", path.display()))?;
                Ok(DumpedCode { pid: *pid, name: name.clone(), dump, clock, machine })
            },
        ));
    }
    Ok(found)
}

fn not_comparable(dump: &JitDump) -> &'static str {
    if dump.has_processor_time() {
        "its times are ticks of the processor, and the recording does not tell how its clock follows from these (with -k it never does)"
    } else {
        "its times are not of the clock of the recording (record with -k mono)"
    }
}
