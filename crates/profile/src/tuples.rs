//! Rows of values, by number.

use crate::index::{Index, hash};
use crate::names::{FileId, FunctionId};
use crate::value::{TextId, Value};
use readperf_session::{BinaryId, CommId, ProcessId, ThreadId};
use std::sync::Arc;

/// Rows of values, each held once. All rows of one table are as long as the first.
#[derive(Clone, Debug, Default)]
pub struct Tuples {
    width: usize,
    /// Those that were there before: the first ones.
    before: Option<Arc<Tuples>>,
    /// How many there are besides.
    len: usize,
    /// The values of these, by their place in a row.
    columns: Vec<Column>,
    /// Of these, the values that have no small form.
    wide: Vec<Value>,
    /// By number without those before.
    index: Index,
}

/// The values at one place of all rows. There may be a row for each of millions of addresses, whose binaries and functions are all that is
/// asked for mostly: a quarter of the size of a value is enough for these.
#[derive(Clone, Debug)]
enum Column {
    Binaries(Vec<Option<BinaryId>>),
    Functions(Vec<PackedFunction>),
    Mixed(Vec<Held>),
}

/// A function, and in the lowest bit whether it is inlined. Memory is at its end before there are as many functions.
#[derive(Clone, Copy, Debug)]
struct PackedFunction(u32);

/// A value as it is held among others: what most keys say are ids, and half of the size of a value is enough for these.
#[derive(Clone, Copy, Debug)]
enum Held {
    Unknown,
    Comm(CommId),
    Process(ProcessId),
    Thread(ThreadId),
    Binary(Option<BinaryId>),
    Function(PackedFunction),
    File(FileId),
    NoFile(Option<BinaryId>),
    Text(TextId),
    /// Another one, by its index among those.
    Wide(u32),
}

impl PackedFunction {
    #[inline]
    fn new(function: FunctionId, inlined: bool) -> PackedFunction {
        PackedFunction(u32::try_from(function.index()).unwrap_or(u32::MAX) << 1 | u32::from(inlined))
    }

    #[inline]
    fn value(self) -> Value {
        Value::Function { function: FunctionId::new((self.0 >> 1) as usize), inlined: self.0 & 1 == 1 }
    }
}

impl Held {
    /// A value; one that has no small form goes to the others.
    fn new(value: Value, wide: &mut Vec<Value>) -> Held {
        match value {
            Value::Unknown => Held::Unknown,
            Value::Comm(id) => Held::Comm(id),
            Value::Process(id) => Held::Process(id),
            Value::Thread(id) => Held::Thread(id),
            Value::Binary(id) => Held::Binary(id),
            Value::Function { function, inlined } => Held::Function(PackedFunction::new(function, inlined)),
            Value::File(id) => Held::File(id),
            Value::NoFile(id) => Held::NoFile(id),
            Value::Text(id) => Held::Text(id),
            Value::Offset { .. }
            | Value::Code { .. }
            | Value::Line { .. }
            | Value::Number(_)
            | Value::PerSample(_)
            | Value::Address(_)
            | Value::Time(_)
            | Value::Size(_) => {
                wide.push(value);
                // Memory is at its end before the numbers are.
                Held::Wide(u32::try_from(wide.len() - 1).unwrap_or(u32::MAX))
            }
        }
    }
}

impl Column {
    /// An empty one for what is like this.
    fn of(value: &Value) -> Column {
        match value {
            Value::Binary(_) => Column::Binaries(Vec::new()),
            Value::Function { .. } => Column::Functions(Vec::new()),
            _ => Column::Mixed(Vec::new()),
        }
    }

    /// Adds the value of the next row. Those that have no small form go to the others.
    #[inline]
    fn push(&mut self, value: Value, wide: &mut Vec<Value>) {
        match (&mut *self, value) {
            (Column::Binaries(list), Value::Binary(binary)) => list.push(binary),
            (Column::Functions(list), Value::Function { function, inlined }) => {
                list.push(PackedFunction::new(function, inlined));
            }
            (Column::Mixed(list), value) => list.push(Held::new(value, wide)),
            (_, value) => self.push_other(value, wide),
        }
    }

    /// Adds what is unlike all before it.
    #[cold]
    fn push_other(&mut self, value: Value, wide: &mut Vec<Value>) {
        let mut mixed: Vec<Held> = (0..self.len()).filter_map(|row| self.get(row)).collect();
        mixed.push(Held::new(value, wide));
        *self = Column::Mixed(mixed);
    }

    fn len(&self) -> usize {
        match self {
            Column::Binaries(list) => list.len(),
            Column::Functions(list) => list.len(),
            Column::Mixed(list) => list.len(),
        }
    }

    #[inline]
    fn get(&self, row: usize) -> Option<Held> {
        match self {
            Column::Binaries(list) => list.get(row).copied().map(Held::Binary),
            Column::Functions(list) => list.get(row).copied().map(Held::Function),
            Column::Mixed(list) => list.get(row).copied(),
        }
    }
}

impl Tuples {
    /// Tuples that begin with those that others have, and can be added to.
    pub(crate) fn behind(shared: &Arc<Tuples>) -> Tuples {
        match &shared.before {
            // What came later is little.
            Some(_) => Tuples::clone(shared),
            None => Tuples { width: shared.width, before: Some(Arc::clone(shared)), ..Tuples::default() },
        }
    }

    /// The number of a row of values.
    pub fn number(&mut self, values: &[Value]) -> u32 {
        if let Some(known) = self.before.as_ref().and_then(|before| before.find(values)) {
            return known;
        }
        self.set_width(values);
        self.index.make_room(self.len);
        let mut index = std::mem::take(&mut self.index);
        let found = index.find_or_add(hash(values), self.len, |number| self.is_here(number, values));
        self.index = index;
        let number = self.number_of(found as usize);
        if found as usize == self.len {
            self.push(values);
        }
        number
    }

    /// The number of a row of values, if it has one.
    pub(crate) fn find(&self, values: &[Value]) -> Option<u32> {
        let here = || self.index.find(hash(values), |number| self.is_here(number, values));
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
        let Tuples { columns, wide, .. } = self;
        if columns.is_empty() {
            columns.extend(values.iter().map(Column::of));
        }
        for (nr, column) in columns.iter_mut().enumerate() {
            column.push(values.get(nr).copied().unwrap_or_default(), wide);
        }
        self.len += 1;
    }

    #[inline]
    fn value_of(&self, held: Held) -> Value {
        match held {
            Held::Unknown => Value::Unknown,
            Held::Comm(id) => Value::Comm(id),
            Held::Process(id) => Value::Process(id),
            Held::Thread(id) => Value::Thread(id),
            Held::Binary(id) => Value::Binary(id),
            Held::Function(function) => function.value(),
            Held::File(id) => Value::File(id),
            Held::NoFile(id) => Value::NoFile(id),
            Held::Text(id) => Value::Text(id),
            Held::Wide(index) => self.wide.get(index as usize).copied().unwrap_or_default(),
        }
    }

    /// Whether a row that was not there before has these values.
    fn is_here(&self, number: u32, values: &[Value]) -> bool {
        self.values_here(number as usize).eq(values.iter().copied())
    }

    /// A row of values by its number; empty for a number that is not from here.
    #[inline]
    pub fn values(&self, id: u32) -> impl ExactSizeIterator<Item = Value> + '_ {
        match &self.before {
            Some(before) => match (id as usize).checked_sub(before.len()) {
                // What is behind others has none behind itself.
                None => before.values_here(id as usize),
                Some(here) => self.values_here(here),
            },
            None => self.values_here(id as usize),
        }
    }

    /// A row that was not there before.
    #[inline]
    fn values_here(&self, number: usize) -> impl ExactSizeIterator<Item = Value> + '_ {
        let columns = if number < self.len { self.columns.as_slice() } else { &[] };
        columns.iter().map(move |column| self.value_of(column.get(number).unwrap_or(Held::Unknown)))
    }

    #[inline]
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
    use readperf_session::{Binary, BinaryKind, Session};

    fn row(tuples: &Tuples, id: u32) -> Vec<Value> {
        tuples.values(id).collect()
    }

    #[test]
    fn equal_values_have_one_number() {
        let mut tuples = Tuples::default();
        let a = tuples.number(&[Value::Number(1), Value::Unknown]);
        let b = tuples.number(&[Value::Address(1), Value::Unknown]);
        assert_ne!(a, b, "a number is no address");
        assert_eq!(tuples.number(&[Value::Number(1), Value::Unknown]), a);
        assert_eq!(row(&tuples, b), [Value::Address(1), Value::Unknown]);
        assert_eq!(row(&tuples, 7), [], "no such row");
        let c = tuples.number_only(&[Value::Number(2), Value::Unknown]);
        assert_eq!((c, tuples.len()), (2, 3));
        assert_eq!(row(&tuples, c), [Value::Number(2), Value::Unknown]);
        assert_eq!(tuples.number(&[Value::Address(1), Value::Unknown]), b, "still found");
    }

    #[test]
    fn values_are_what_they_were_whatever_form_they_are_held_in() {
        assert_eq!((size_of::<Held>(), size_of::<Value>()), (8, 16));
        let mut session = Session::default();
        let comm = session.add_comm(b"work");
        let (name, short_name) = (b"/bin/a".as_slice().into(), b"a".as_slice().into());
        let binary = session.add_binary(Binary { name, short_name, kind: BinaryKind::User, build_id: None });
        let (function, file) = (FunctionId::new(3), FileId::new(4));
        let text = crate::value::Texts::default().number(b"text");
        let rows = [
            [Value::Function { function, inlined: false }, Value::Comm(comm), Value::Binary(None)],
            [Value::Function { function, inlined: true }, Value::File(file), Value::Binary(Some(binary))],
            [Value::Unknown, Value::NoFile(None), Value::Text(text)],
            [Value::Number(u64::MAX), Value::Unknown, Value::NoFile(Some(binary))],
            [Value::Offset { function, offset: 1 << 40 }, Value::Line { file, line: 9 }, Value::PerSample(7)],
            [Value::Address(u64::MAX), Value::Time(1), Value::Size(1)],
        ];
        let mut tuples = Tuples::default();
        let numbers: Vec<u32> = rows.iter().map(|values| tuples.number(values)).collect();
        for (values, number) in rows.iter().zip(numbers) {
            assert_eq!(row(&tuples, number), *values, "of the kind of those before it, or of another");
            assert_eq!((tuples.find(values), tuples.number(values)), (Some(number), number));
        }
        assert_eq!(tuples.len(), rows.len());
    }

    #[test]
    fn what_is_added_to_shared_ones_lies_behind_them() {
        let values = |nr: u64| [Value::Number(nr), Value::Size(nr)];
        let mut first = Tuples::default();
        for nr in 0..100 {
            assert_eq!(first.number(&values(nr)), u32::try_from(nr).unwrap());
        }
        let first = Arc::new(first);
        let (mut second, mut other) = (Tuples::behind(&first), Tuples::behind(&first));
        assert_eq!(second.number(&values(200)), 100);
        assert_eq!(second.number(&values(7)), 7, "as before");
        assert_eq!(other.number_only(&values(300)), 100);
        let second = Arc::new(second);
        let mut third = Tuples::behind(&second);
        assert_eq!(third.number(&values(400)), 101);
        assert_eq!(third.number(&values(200)), 100);
        assert_eq!((first.len(), second.len(), other.len(), third.len()), (100, 101, 101, 102));
        assert_eq!((row(&third, 99), row(&third, 101)), (values(99).to_vec(), values(400).to_vec()));
        assert_eq!(row(&third, 102), [], "no such row");
        assert_eq!((row(&second, 100), row(&other, 100)), (values(200).to_vec(), values(300).to_vec()));
        assert_eq!(
            (second.find(&values(400)), third.find(&values(400)), first.find(&values(200))),
            (None, Some(101), None)
        );
    }
}
