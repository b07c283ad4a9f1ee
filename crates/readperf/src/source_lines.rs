//! Lines of source files, as they are on this machine.

use crate::source_files::ends;
use readperf::output::script::SourceText;
use readperf::profile::{AddressId, FileId, Names};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest source file that is read, bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Source files, each read once, and what was shown last of each thread.
#[derive(Debug, Default)]
pub(crate) struct SourceLines {
    /// Where the files are that were packed with the recording.
    packed: Option<PathBuf>,
    files: FxHashMap<FileId, Option<SourceText>>,
    /// File and line by thread.
    shown: FxHashMap<u32, (FileId, u32)>,
}

impl SourceLines {
    /// Lines of files of this machine, and before them of those that were packed with the recording.
    pub(crate) fn new(packed: Option<PathBuf>) -> SourceLines {
        SourceLines { packed, ..SourceLines::default() }
    }

    /// The line of the innermost code at a place, unless it is the one that was shown before for this thread.
    pub(crate) fn next(&mut self, names: &Names, tid: u32, place: AddressId) -> Option<(SourceText, u32)> {
        let frame = names.frames_at(place).next()?;
        let here = (frame.file?, frame.line);
        if frame.line == 0 || self.shown.get(&tid) == Some(&here) {
            return None;
        }
        let packed = self.packed.as_deref();
        let text = self.files.entry(here.0).or_insert_with(|| find(packed, names.file(here.0)?)).clone()?;
        text.line(frame.line)?;
        self.shown.insert(tid, here);
        Some((text, frame.line))
    }
}

fn find(packed: Option<&Path>, path: &str) -> Option<SourceText> {
    let packed = packed.and_then(|packed| Some(packed.join(ends(path).next()?)));
    packed.and_then(|packed| read(&packed)).or_else(|| read(Path::new(path)))
}

/// A regular file that is not too large: the path comes from the debugging information of a binary.
fn read(path: &Path) -> Option<SourceText> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    Some(SourceText::new(Arc::from(std::fs::read(path).ok()?)))
}
