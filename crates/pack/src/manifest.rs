//! The manifest: what is in the archive, in JSON.

use crate::contents::{Contents, Kind};
use crate::{CACHE, RECORDING, layout};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The number of the form of the archive. A reader refuses a greater one.
const VERSION: u64 = 1;

/// Longest manifest that is read, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// What the manifest says it is of.
const FORMAT: &str = "readperf pack";

impl Contents {
    /// What is in the archive, with where it comes from.
    pub(crate) fn manifest(&self) -> Value {
        let files: Vec<Value> = self
            .members
            .iter()
            .map(|member| {
                json!({
                    "path": member.path.to_string_lossy(),
                    "kind": kind(member.kind),
                    "recorded": member.recorded.to_string_lossy(),
                    "build_id": member.build_id.map(|id| id.to_string()),
                    "from": member.from.to_string_lossy(),
                    "bytes": member.bytes,
                })
            })
            .collect();
        json!({
            "format": FORMAT,
            "version": VERSION,
            "recording": RECORDING,
            "only_symbols": self.only_symbols,
            "files": files,
            "missing": self.missing,
        })
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Recording => "recording",
        Kind::Binary => "binary",
        Kind::DebugFile => "debug_file",
        Kind::Kernel => "kernel",
        Kind::Generated => "generated",
        Kind::Source => "source",
    }
}

/// What is said of an archive that is read.
#[derive(Debug)]
pub(crate) struct Manifest(Value);

impl Manifest {
    /// Reads one.
    pub(crate) fn read(path: &Path) -> io::Result<Manifest> {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
        let refused = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidData, why.to_owned()));
        let Ok(manifest) = serde_json::from_slice::<Value>(&bytes) else {
            return refused("its manifest is damaged");
        };
        if manifest.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return refused("its manifest is of something else");
        }
        match manifest.get("version").and_then(Value::as_u64) {
            Some(VERSION) => Ok(Manifest(manifest)),
            Some(version) => {
                refused(&format!("its form has the number {version}; this program knows {VERSION}"))
            }
            None => refused("its manifest has no number of its form"),
        }
    }

    /// Where files come from that were unpacked into a folder: also those that are found by a link at their path.
    pub(crate) fn origins(&self, folder: &Path) -> FxHashMap<PathBuf, PathBuf> {
        let files = self.0.get("files").and_then(Value::as_array).into_iter().flatten();
        let text = |file: &Value, key: &str| file.get(key).and_then(Value::as_str).map(PathBuf::from);
        let origins = files.filter_map(|file| {
            let (path, from) = (text(file, "path")?, text(file, "from")?);
            let linked =
                text(file, "recorded").filter(|recorded| recorded.is_absolute() && path.starts_with(CACHE));
            let linked = linked.map(|recorded| (folder.join(layout::in_root(&recorded)), from.clone()));
            Some([Some((folder.join(path), from)), linked])
        });
        origins.flatten().flatten().collect()
    }
}
