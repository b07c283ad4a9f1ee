//! What a sort key says of a sample: a small value, that is compared and counted, and becomes text only in an output.

use crate::names::{FileId, FunctionId};
use readperf_session::{BinaryId, CommId, ProcessId, ThreadId};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

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
    /// A source file.
    File(FileId),
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
    list: Vec<Box<[u8]>>,
    ids: FxHashMap<Box<[u8]>, TextId>,
}

impl Texts {
    /// The number of a text.
    pub fn number(&mut self, text: &[u8]) -> TextId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = TextId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.list.push(text.into());
        self.ids.insert(text.into(), id);
        id
    }

    /// A text by its number; empty for a number that is not from here.
    pub fn text(&self, id: TextId) -> &[u8] {
        self.list.get(id.0 as usize).map_or(&[], |text| text)
    }
}

/// Rows of values, each held once. All rows of one table are as long as the first.
#[derive(Clone, Debug, Default)]
pub struct Tuples {
    width: usize,
    len: usize,
    /// All rows, one after the other.
    values: Vec<Value>,
    /// Rows, at their hash or behind it. The length is a power of two, or 0.
    slots: Vec<Slot>,
}

/// A place of the index. With the hash beside the number, only the row that is looked for is touched.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    /// [`EMPTY`] in a free one.
    number: u32,
}

/// No row.
const EMPTY: u32 = u32::MAX;
const FREE: Slot = Slot { hash: 0, number: EMPTY };

impl Tuples {
    /// The number of a row of values.
    pub fn number(&mut self, values: &[Value]) -> u32 {
        if self.len == 0 {
            self.width = values.len();
        }
        if self.len * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let mask = self.slots.len().wrapping_sub(1);
        let hash = hash(values);
        let mut at = hash as usize & mask;
        while let Some(slot) = self.slots.get(at).copied().filter(|slot| slot.number != EMPTY) {
            if slot.hash == hash && self.values(slot.number) == values {
                return slot.number;
            }
            at = (at + 1) & mask;
        }
        let number = u32::try_from(self.len).unwrap_or(EMPTY);
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = Slot { hash, number };
        }
        self.values.extend((0..self.width).map(|nr| values.get(nr).copied().unwrap_or_default()));
        self.len += 1;
        number
    }

    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(64);
        let old = std::mem::replace(&mut self.slots, vec![FREE; len]);
        for known in old.into_iter().filter(|slot| slot.number != EMPTY) {
            let mut at = known.hash as usize & (len - 1);
            while let Some(slot) = self.slots.get_mut(at) {
                if slot.number == EMPTY {
                    *slot = known;
                    break;
                }
                at = (at + 1) & (len - 1);
            }
        }
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

#[allow(clippy::cast_possible_truncation)] // The lower half of a hash is a hash.
fn hash(values: &[Value]) -> u32 {
    let mut hasher = FxHasher::default();
    values.hash(&mut hasher);
    hasher.finish() as u32
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
        let mut texts = Texts::default();
        let id = texts.number(b"a");
        assert_eq!((texts.number(b"a"), texts.text(id)), (id, &b"a"[..]));
    }
}
