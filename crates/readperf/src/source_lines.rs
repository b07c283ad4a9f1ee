//! Lines of source files, as they are on this machine.

use readperf::output::script::SourceText;
use readperf::profile::{AddressId, FileId, Names};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Largest source file that is read, bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Source files, each read once, and what was shown last of each thread.
#[derive(Debug, Default)]
pub(crate) struct SourceLines {
    files: FxHashMap<FileId, Option<SourceText>>,
    /// File and line by thread.
    shown: FxHashMap<u32, (FileId, u32)>,
}

impl SourceLines {
    /// The line of the innermost code at a place, unless it is the one that was shown before for this thread.
    pub(crate) fn next(&mut self, names: &Names, tid: u32, place: AddressId) -> Option<(SourceText, u32)> {
        let frame = names.frames_at(place).first()?;
        let here = (frame.file?, frame.line);
        if frame.line == 0 || self.shown.get(&tid) == Some(&here) {
            return None;
        }
        let text = self.files.entry(here.0).or_insert_with(|| read(names.file(here.0)?)).clone()?;
        text.line(frame.line)?;
        self.shown.insert(tid, here);
        Some((text, frame.line))
    }
}

/// A regular file that is not too large: the path comes from the debugging information of a binary.
fn read(path: &str) -> Option<SourceText> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    Some(SourceText::new(Arc::from(std::fs::read(path).ok()?)))
}
