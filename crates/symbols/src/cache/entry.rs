//! What the cache knows of one binary.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::assemble::assemble;
use super::file::{self, Content};
use super::stored::Stored;
use crate::batch::SymbolBatch;
use crate::build_id::BuildId;
use crate::demangle::Demangle;
use crate::subject::{AddressBatch, Subject};
use crate::trace::{Trace, Tried};

/// New frames that are collected until they are written; more are not cached.
const MAX_NEW_FRAMES: usize = 4 << 20;

/// What the cache knows of one binary.
#[derive(Debug)]
pub(super) struct CacheEntry {
    path: PathBuf,
    key: String,
    /// What the file had, and what that depends on.
    stored: Option<(SymbolBatch, Vec<Tried>)>,
    /// What was found out since.
    new: Vec<SymbolBatch>,
    new_frames: usize,
    trace: Arc<Trace>,
    /// How names are shown.
    style: Demangle,
}

impl CacheEntry {
    pub(super) fn read(
        dir: &Path,
        id: &BuildId,
        key: String,
        subject: &Subject,
        style: Demangle,
    ) -> CacheEntry {
        let path = file::path(dir, id, &key);
        let content = file::read(&path, &key);
        let content = content.filter(|content| content.tried.iter().all(Tried::still_holds));
        let stored = content
            .and_then(|Content { stored, tried, .. }| Some((stored.answer(subject.clone(), style)?, tried)))
            // Nothing is known about a binary without looking at a file.
            .filter(|(_, tried)| !tried.is_empty());
        CacheEntry { path, key, stored, new: Vec::new(), new_frames: 0, trace: Arc::default(), style }
    }

    pub(super) fn stored(&self) -> Option<&SymbolBatch> {
        self.stored.as_ref().map(|(answer, _)| answer)
    }

    pub(super) fn trace(&self) -> Arc<Trace> {
        Arc::clone(&self.trace)
    }

    /// After the binary was opened: what was kept counts only if it came from the same files.
    pub(super) fn check(&mut self) {
        let now = self.trace.tried();
        // Some files are tried only when an address needs them: those may be among what was kept alone.
        if self.stored.as_ref().is_some_and(|(_, tried)| !now.iter().all(|one| tried.contains(one))) {
            self.stored = None;
        }
    }

    pub(super) fn add(&mut self, answer: SymbolBatch) {
        self.new_frames = self.new_frames.saturating_add(answer.frame_count());
        if self.new_frames <= MAX_NEW_FRAMES {
            self.new.push(answer);
        }
    }

    /// Writes what is new; whether anything was written.
    pub(super) fn save(&mut self, subject: &Subject) -> io::Result<bool> {
        let new = std::mem::take(&mut self.new);
        if new.is_empty() || !self.trace.is_settled() {
            return Ok(false);
        }
        let mut from: Vec<&SymbolBatch> = new.iter().collect();
        from.extend(self.stored.as_ref().map(|(answer, _)| answer));
        let addresses = from.iter().flat_map(|answer| answer.addresses.iter().copied()).collect();
        let batch = AddressBatch::new(subject.clone(), addresses);
        let Some(stored) = assemble(batch, &from).and_then(|all| Stored::of(&all, self.style)) else {
            return Ok(false);
        };
        let mut tried = self.trace.tried();
        for one in self.stored.iter().flat_map(|(_, tried)| tried) {
            if !tried.contains(one) {
                tried.push(one.clone());
            }
        }
        file::write(&self.path, &Content { key: self.key.clone(), tried, stored })
    }
}
