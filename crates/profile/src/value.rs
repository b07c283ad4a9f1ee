//! What a sort key says of a sample: a small value, that is compared and counted, and becomes text only in an output.

use crate::index::{Index, hash};
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

/// Rows of values, each held once. All rows of one table are as long as the first.
#[derive(Clone, Debug, Default)]
pub struct Tuples {
    width: usize,
    len: usize,
    /// All rows, one after the other.
    values: Vec<Value>,
    index: Index,
}

impl Tuples {
    /// The number of a row of values.
    pub fn number(&mut self, values: &[Value]) -> u32 {
        if self.len == 0 {
            self.width = values.len();
        }
        self.index.make_room(self.len);
        let mut index = std::mem::take(&mut self.index);
        let number = index.find_or_add(hash(values), self.len, |number| self.values(number) == values);
        self.index = index;
        if number as usize == self.len {
            self.push(values);
        }
        number
    }

    /// The number of a row of values, if it has one.
    pub(crate) fn find(&self, values: &[Value]) -> Option<u32> {
        self.index.find(hash(values), |number| self.values(number) == values)
    }

    /// The number of a row of values that no other row is equal to, now and later: it is not looked for.
    pub(crate) fn number_only(&mut self, values: &[Value]) -> u32 {
        if self.len == 0 {
            self.width = values.len();
        }
        let number = u32::try_from(self.len).unwrap_or(u32::MAX);
        self.push(values);
        number
    }

    fn push(&mut self, values: &[Value]) {
        self.values.extend((0..self.width).map(|nr| values.get(nr).copied().unwrap_or_default()));
        self.len += 1;
    }

    /// A row of values by its number; empty for a number that is not from here.
    #[inline]
    pub fn values(&self, id: u32) -> &[Value] {
        let start = (id as usize).saturating_mul(self.width);
        self.values.get(start..start.saturating_add(self.width)).unwrap_or_default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_number() {
        let mut tuples = Tuples::default();
        let a = tuples.number(&[Value::Number(1), Value::Unknown]);
        let b = tuples.number(&[Value::Address(1), Value::Unknown]);
        assert_ne!(a, b, "a number is no address");
        assert_eq!(tuples.number(&[Value::Number(1), Value::Unknown]), a);
        assert_eq!(tuples.values(b), [Value::Address(1), Value::Unknown]);
        assert_eq!(tuples.values(7), [], "no such row");
        let c = tuples.number_only(&[Value::Number(2), Value::Unknown]);
        assert_eq!((c, tuples.len()), (2, 3));
        assert_eq!(tuples.values(c), [Value::Number(2), Value::Unknown]);
        assert_eq!(tuples.number(&[Value::Address(1), Value::Unknown]), b, "still found");
        let mut texts = Texts::default();
        let id = texts.number(b"a");
        assert_eq!((texts.number(b"a"), texts.text(id)), (id, &b"a"[..]));
    }
}
