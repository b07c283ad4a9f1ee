//! What a sort key says of a sample: a small value, that is compared and counted, and becomes text only in an output.

use crate::index::{Index, hash};
use crate::names::{FileId, FunctionId};
use indexmap::IndexSet;
use readperf_session::{BinaryId, CommId, ProcessId, ThreadId};
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

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
    /// Those that were there before: the first ones.
    before: Option<Arc<Tuples>>,
    /// How many there are besides.
    len: usize,
    /// These, one after the other.
    values: Vec<Value>,
    /// By number without those before.
    index: Index,
}

impl Tuples {
    /// Tuples to add to. Others that have them keep theirs as they are, and share them.
    pub(crate) fn to_add_to(shared: &mut Arc<Tuples>) -> &mut Tuples {
        if Arc::get_mut(shared).is_none() {
            let behind = match &shared.before {
                // What came later is little.
                Some(_) => Tuples::clone(shared),
                None => Tuples { width: shared.width, before: Some(Arc::clone(shared)), ..Tuples::default() },
            };
            *shared = Arc::new(behind);
        }
        Arc::make_mut(shared)
    }

    /// The number of a row of values.
    pub fn number(&mut self, values: &[Value]) -> u32 {
        if let Some(known) = self.before.as_ref().and_then(|before| before.find(values)) {
            return known;
        }
        self.set_width(values);
        self.index.make_room(self.len);
        let mut index = std::mem::take(&mut self.index);
        let found = index.find_or_add(hash(values), self.len, |number| self.values_here(number) == values);
        self.index = index;
        let number = self.number_of(found as usize);
        if found as usize == self.len {
            self.push(values);
        }
        number
    }

    /// The number of a row of values, if it has one.
    pub(crate) fn find(&self, values: &[Value]) -> Option<u32> {
        let here = || self.index.find(hash(values), |number| self.values_here(number) == values);
        let before = self.before.as_ref().and_then(|before| before.find(values));
        before.or_else(|| here().map(|number| self.number_of(number as usize)))
    }

    /// The number of a row of values that no other row is equal to, now and later: it is not looked for.
    pub(crate) fn number_only(&mut self, values: &[Value]) -> u32 {
        self.set_width(values);
        let number = self.number_of(self.len);
        self.push(values);
        number
    }

    /// The number of a row that was not there before, and has this one here.
    fn number_of(&self, here: usize) -> u32 {
        u32::try_from(self.count_before() + here).unwrap_or(u32::MAX)
    }

    fn set_width(&mut self, values: &[Value]) {
        if self.is_empty() {
            self.width = values.len();
        }
    }

    fn push(&mut self, values: &[Value]) {
        self.values.extend((0..self.width).map(|nr| values.get(nr).copied().unwrap_or_default()));
        self.len += 1;
    }

    /// A row of values by its number; empty for a number that is not from here.
    #[inline]
    pub fn values(&self, id: u32) -> &[Value] {
        match &self.before {
            None => self.values_here(id),
            Some(before) => match (id as usize).checked_sub(before.len()) {
                None => before.values(id),
                Some(here) => u32::try_from(here).map_or(&[], |here| self.values_here(here)),
            },
        }
    }

    /// A row that was not there before.
    #[inline]
    fn values_here(&self, number: u32) -> &[Value] {
        let start = (number as usize).saturating_mul(self.width);
        self.values.get(start..start.saturating_add(self.width)).unwrap_or_default()
    }

    fn count_before(&self) -> usize {
        self.before.as_ref().map_or(0, |before| before.len())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count_before() + self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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

    #[test]
    fn what_is_added_to_shared_ones_lies_behind_them() {
        let row = |nr: u64| [Value::Number(nr), Value::Size(nr)];
        let mut first = Arc::new(Tuples::default());
        for nr in 0..100 {
            assert_eq!(Tuples::to_add_to(&mut first).number(&row(nr)), u32::try_from(nr).unwrap());
        }
        assert!(first.before.is_none(), "nobody else had them");
        let (mut second, mut other) = (Arc::clone(&first), Arc::clone(&first));
        assert_eq!(Tuples::to_add_to(&mut second).number(&row(200)), 100);
        assert_eq!(Tuples::to_add_to(&mut second).number(&row(7)), 7, "as before");
        assert_eq!(Tuples::to_add_to(&mut other).number_only(&row(300)), 100);
        let mut third = Arc::clone(&second);
        assert_eq!(Tuples::to_add_to(&mut third).number(&row(400)), 101);
        assert_eq!(Tuples::to_add_to(&mut third).number(&row(200)), 100);
        assert_eq!((first.len(), second.len(), other.len(), third.len()), (100, 101, 101, 102));
        assert_eq!(
            (third.values(99), third.values(101), third.values(102)),
            (&row(99)[..], &row(400)[..], &[][..])
        );
        assert_eq!((second.values(100), other.values(100)), (&row(200)[..], &row(300)[..]));
        assert_eq!(
            (second.find(&row(400)), third.find(&row(400)), first.find(&row(200))),
            (None, Some(101), None)
        );
    }
}
