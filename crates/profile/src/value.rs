//! What a sort key says of a sample: a small value, that is compared and counted, and becomes text only in an output.

use crate::names::{FileId, FunctionId};
use indexmap::IndexSet;
use readperf_session::{BinaryId, CommId, ProcessId, ThreadId};
use rustc_hash::FxBuildHasher;

/// Number of a text in [`Texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextId(u32);

/// What a sort key says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// Not recorded, or not known.
    #[default]
    Unknown,
    /// A thread's name.
    Comm(CommId),
    /// A process.
    Process(ProcessId),
    /// A thread.
    Thread(ThreadId),
    /// A binary; `None` where no mapping covers the address.
    Binary(Option<BinaryId>),
    /// A function.
    Function {
        /// Which.
        function: FunctionId,
        /// Whether its code is inlined here.
        inlined: bool,
    },
    /// A place in a function, by the distance from its start in bytes.
    Offset {
        /// The function.
        function: FunctionId,
        /// Bytes from its start.
        offset: u64,
    },
    /// A place in a binary that has neither a line nor a name there.
    Code {
        /// The binary.
        binary: BinaryId,
        /// The address, as in the binary.
        address: u64,
    },
    /// A source file.
    File(FileId),
    /// A source file that is not known, of code in this binary; `None` where no mapping covers the address.
    NoFile(Option<BinaryId>),
    /// A line of a source file, from 1.
    Line {
        /// The file.
        file: FileId,
        /// The line.
        line: u32,
    },
    /// A number.
    Number(u64),
    /// A number that every sample of a row adds.
    PerSample(u64),
    /// An address.
    Address(u64),
    /// A time of the recording's clock, ns.
    Time(u64),
    /// A size in bytes.
    Size(u64),
    /// A text.
    Text(TextId),
}

/// Texts, each held once.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    set: IndexSet<Box<[u8]>, FxBuildHasher>,
}

impl Texts {
    /// The number of a text.
    pub fn number(&mut self, text: &[u8]) -> TextId {
        let known = self.set.get_index_of(text);
        let index = known.unwrap_or_else(|| self.set.insert_full(text.into()).0);
        TextId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.set.len()
    }

    /// A text by its number; empty for a number that is not from here.
    pub fn text(&self, id: TextId) -> &[u8] {
        self.set.get_index(id.0 as usize).map_or(&[], |text| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_number() {
        let mut texts = Texts::default();
        let id = texts.number(b"a");
        assert_eq!((texts.number(b"a"), texts.text(id)), (id, &b"a"[..]));
        assert_ne!(texts.number(b"b"), id);
    }
}
