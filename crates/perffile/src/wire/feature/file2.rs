//! FILE2 (132, simpleperf): as FILE, each binary a protobuf message (`FileFeature` of simpleperf's record_file.proto).

use crate::wire::declare::fields;
use crate::wire::pass::{Fields, Pass, Step};

/// Binaries, up to the end of the section.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileMessages<'a> {
    /// In the order of the file.
    pub files: Vec<FileMessage<'a>>,
}

fields! {
    /// A binary.
    pub struct FileMessage<'a> {
        /// The message, whose size goes before it as a u32.
        message: &'a [u8] as counted_bytes_u32,
    }
}

impl<'a> Fields<'a> for FileMessages<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.vec_to_end("files", &mut self.files, &FileMessage::default())
    }
}
