//! What is known of a recording as a whole.

use crate::features::Features;
use crate::issue::Issues;
use crate::schema::Schema;
use crate::wire::endian::ByteOrder;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The kinds of recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Container {
    /// A file with a header, tables and sections.
    #[default]
    File,
    /// A stream that can be written to a pipe; everything is a record.
    Pipe,
    /// A directory with a file and a stream per CPU.
    Directory,
}

impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Container::File => "file",
            Container::Pipe => "pipe",
            Container::Directory => "directory",
        })
    }
}

/// What is known of a recording as a whole. Shared and immutable: holding it does not keep anything from being read.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// What kind of recording it is.
    pub container: Container,
    /// Version of the format: 1 or 2.
    pub version: u8,
    /// Byte order of the machine that recorded.
    pub order: ByteOrder,
    /// Its events.
    pub schema: Arc<Schema>,
    /// Its header features.
    pub features: Arc<Features>,
    /// Whether it has compressed records.
    pub compressed: bool,
    /// Where the recorder's copy of the running kernel lies, if it made one: a folder with `kcore`, `kallsyms` and `modules`.
    pub kcore_dir: Option<PathBuf>,
    /// Copies of the kernels of guests, as such folders, by the process that ran the guest.
    pub guest_kcore_dirs: Vec<(u32, PathBuf)>,
    /// What was wrong with it so far.
    pub issues: Issues,
}
