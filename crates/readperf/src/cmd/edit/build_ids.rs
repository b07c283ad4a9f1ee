//! `--add-build-ids`: those of the files on this machine.

use crate::input::Input;
use crate::outcome::say;
use clap::ValueEnum;
use perffile::Recording;
use readperf::output::text::counted;
use readperf::session::{Binary, BinaryKind};
use readperf::symbols::Options;
use readperf_edit::AddedBuildId;
use std::fs;

/// Most binaries of which it is told that they have none.
const MOST_TOLD: usize = 8;

/// Modes of code, as in `misc`.
const KERNEL: u16 = 1;
const USER: u16 = 2;
const GUEST_KERNEL: u16 = 4;

/// Which binaries get one.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binaries {
    /// Those that samples or their callers are in
    Used,
    /// All that were mapped
    All,
}

/// The build-ids to be added; says which binaries have none.
pub(super) fn found(
    input: &Input,
    recording: &Recording,
    which: Binaries,
) -> anyhow::Result<Vec<AddedBuildId>> {
    if recording.is_stream() {
        anyhow::bail!(
            "--add-build-ids reads a recording twice, and a stream can be read only once: write it to a file first"
        );
    }
    let recorded = input.path().and_then(|path| fs::metadata(path).ok()?.modified().ok());
    let options = Options { file_loader: readperf::mapped_files(Vec::new()), ..Options::default() };
    let (mut added, mut missing) = (Vec::new(), Vec::new());
    for (binary, found) in readperf::identify(recording, &options, which == Binaries::All, recorded)? {
        match found {
            Ok(id) => {
                let (mode, build_id) = (mode(&binary), id.as_bytes().into());
                added.push(AddedBuildId { name: binary.name, mode, build_id });
            }
            Err(why) => missing.push(format!("{}: {why}", String::from_utf8_lossy(&binary.name))),
        }
    }
    say(&format!("{} added", counted(added.len() as u64, "build-id")));
    missing.iter().take(MOST_TOLD).for_each(|why| say(&format!("no build-id: {why}")));
    if missing.len() > MOST_TOLD {
        say(&format!("no build-id: and {} more", missing.len() - MOST_TOLD));
    }
    Ok(added)
}

fn mode(binary: &Binary) -> u16 {
    match binary.kind {
        BinaryKind::Kernel { .. } | BinaryKind::Module { .. } => KERNEL,
        BinaryKind::GuestKernel { .. } | BinaryKind::GuestModule { .. } => GUEST_KERNEL,
        _ => USER,
    }
}
