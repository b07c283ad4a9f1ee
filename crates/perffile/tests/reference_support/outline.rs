//! The pass that notes which fields a declaration visits, with their types on the wire. Unlike a decoder it needs no
//! bytes: what a layout depends on is told by a [`Setting`], and every list is taken to have one element.

use perffile::wire::attr::{BranchSampleType, ReadFormat, SampleShape, SampleType};
use perffile::wire::endian::ByteOrder;
use perffile::wire::list::List;
use perffile::wire::pass::{CpuCounts, Element, Fields, Pass, Step};
use perffile::wire::value::NamedValue;
use perffile::wire::words::U64s;
use perffile::wire::{CStr8, HeaderString, WireError};
use std::collections::BTreeMap;

/// Something a layout may depend on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dimension {
    /// A bit of `misc`: 0 or 1.
    Misc(u16),
    /// A bit of `sample_type` by its place in the table of names.
    Sample(usize),
    /// A bit of `read_format`.
    Read(usize),
    /// A bit of `branch_sample_type`.
    Branch(usize),
    /// Whether there are bytes left.
    Left,
    /// Whether those that are left are a multiple of 16.
    Sixteens,
    /// The value of a number that comes before.
    Number(String),
}

/// The values of the dimensions; where one is missing it has its usual value.
pub(crate) type Setting = BTreeMap<Dimension, u64>;

/// A field of a declaration. Two are the same if they have the same name and kind.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// Its ABI name; behind those of what it is inside of.
    pub(crate) path: String,
    /// What it looks like on the wire.
    pub(crate) wire: String,
    /// The count that says how many of them there are.
    pub(crate) count: Option<String>,
    /// The type that declares it.
    pub(crate) owner: &'static str,
    /// Numbers that have a name, where it holds one of them.
    pub(crate) values: &'static [(u64, &'static str)],
}

impl PartialEq for Field {
    fn eq(&self, other: &Field) -> bool {
        (&self.path, &self.wire) == (&other.path, &other.wire)
    }
}

/// A number that was visited.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    pub(crate) path: String,
    pub(crate) is_count: bool,
}

/// What the first count is taken to be, the next ones each one more: so that a list shows by which one it is counted.
pub(crate) const FIRST_COUNT: u64 = 1000;
/// Counts from here on come from the number of bytes that are left.
const TO_THE_END: u64 = 100_000;

/// The pass.
#[derive(Debug)]
pub(crate) struct Outline<'s> {
    setting: &'s Setting,
    shape: SampleShape,
    inside: String,
    owner: &'static str,
    pub(crate) fields: Vec<Field>,
    pub(crate) numbers: Vec<Number>,
}

/// Lists of CPUs as CPU_TOPOLOGY has them behind its lists: one CPU, one die.
const ONE_CPU: &[u8] = &[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, b'0', 0, 0, 0, 0, 0];

impl<'s> Outline<'s> {
    /// The fields of a type under a setting.
    pub(crate) fn of<'a, T: Fields<'a>>(setting: &'s Setting) -> Result<Self, WireError> {
        let mut outline = Outline::new(setting, std::any::type_name::<T>());
        T::default().fields(&mut outline)?;
        Ok(outline)
    }

    fn new(setting: &'s Setting, owner: &'static str) -> Self {
        let bit = |dimension: Dimension| setting.get(&dimension).copied() != Some(0);
        let mut shape = SampleShape {
            sample_regs_user: 1,
            sample_regs_intr: 1,
            sample_id_all: true,
            ..SampleShape::default()
        };
        for (nr, (mask, _)) in SampleType::NAMES.iter().enumerate() {
            shape.sample_type.0 |= if bit(Dimension::Sample(nr)) { mask.0 } else { 0 };
        }
        for (nr, (mask, _)) in ReadFormat::NAMES.iter().enumerate() {
            shape.read_format.0 |= if bit(Dimension::Read(nr)) { mask.0 } else { 0 };
        }
        for (nr, (mask, _)) in BranchSampleType::NAMES.iter().enumerate() {
            shape.branch_sample_type.0 |= if bit(Dimension::Branch(nr)) { mask.0 } else { 0 };
        }
        Outline { setting, shape, inside: String::new(), owner, fields: Vec::new(), numbers: Vec::new() }
    }

    fn path(&self, name: &str) -> String {
        format!("{}{name}", self.inside)
    }

    fn note(&mut self, name: &str, wire: impl Into<String>) -> Step {
        let path = self.path(name);
        self.fields.push(Field { path, wire: wire.into(), count: None, owner: self.owner, values: &[] });
        Ok(())
    }

    /// A field of `count` elements. Where nothing counts them, the number itself is noted if it is a fixed one.
    fn note_many(&mut self, name: &str, wire: &str, count: u64) -> Step {
        self.note(name, wire)?;
        let counts = self.numbers.iter().filter(|number| number.is_count);
        let counting =
            count.checked_sub(FIRST_COUNT).and_then(|nr| counts.clone().nth(usize::try_from(nr).ok()?));
        let counting = counting.map(|number| number.path.clone());
        if let Some(field) = self.fields.last_mut() {
            field.count = match count {
                _ if counting.is_some() => counting,
                2..FIRST_COUNT => Some(count.to_string()),
                TO_THE_END.. => Some("to the end".into()),
                _ => None,
            };
        }
        Ok(())
    }

    fn count(&mut self, name: &str, wire: &str) -> u64 {
        let nr = self.numbers.iter().filter(|number| number.is_count).count();
        self.number(name, wire, FIRST_COUNT + nr as u64, true)
    }

    fn number(&mut self, name: &str, wire: &str, usual: u64, is_count: bool) -> u64 {
        let path = self.path(name);
        // The size of an attr is at least that of the oldest one.
        let usual = if name == "attr_size" { usual.max(64) } else { usual };
        let value = self.setting.get(&Dimension::Number(path.clone())).copied().unwrap_or(usual);
        self.numbers.push(Number { path, is_count });
        let _ = self.note(name, wire);
        value
    }

    fn within<'a, T: Fields<'a>>(&mut self, name: &str, value: &mut T) -> Step {
        let path = self.path(name) + ".";
        let outside = std::mem::replace(&mut self.inside, path);
        let owner = std::mem::replace(&mut self.owner, std::any::type_name::<T>());
        let step = value.fields(self);
        self.inside = outside;
        self.owner = owner;
        step
    }
}

impl<'a> Pass<'a> for Outline<'_> {
    fn misc(&self) -> u16 {
        (0..16)
            .filter(|bit| self.setting.get(&Dimension::Misc(*bit)) == Some(&1))
            .fold(0, |misc, bit| misc | 1 << bit)
    }
    fn shape(&self) -> &SampleShape {
        &self.shape
    }
    fn left(&self) -> Option<usize> {
        if self.setting.get(&Dimension::Left) == Some(&0) {
            return Some(0);
        }
        Some(if self.setting.get(&Dimension::Sixteens) == Some(&1) { 1 << 20 } else { (1 << 20) + 8 })
    }
    fn ahead(&self) -> (&'a [u8], ByteOrder) {
        let lists_only = self.setting.get(&Dimension::Left) == Some(&0);
        (if lists_only { &[] } else { ONE_CPU }, ByteOrder::Little)
    }
    fn cpu_counts(&self) -> CpuCounts {
        CpuCounts { available: Some(1), online: Some(1) }
    }

    fn bare<T: NamedValue>(&mut self, name: &'static str, value: &mut T) -> Step {
        value.number(name, self)?;
        if let Some(field) = self.fields.last_mut() {
            field.values = T::VALUES;
        }
        Ok(())
    }
    fn u8(&mut self, name: &'static str, value: &mut u8) -> Step {
        *value = self.number(name, "u8", u64::from(*value), false).try_into().unwrap_or(u8::MAX);
        Ok(())
    }
    fn u16(&mut self, name: &'static str, value: &mut u16) -> Step {
        *value = self.number(name, "u16", u64::from(*value), false).try_into().unwrap_or(u16::MAX);
        Ok(())
    }
    fn u32(&mut self, name: &'static str, value: &mut u32) -> Step {
        *value = self.number(name, "u32", u64::from(*value), false).try_into().unwrap_or(u32::MAX);
        Ok(())
    }
    fn u64(&mut self, name: &'static str, value: &mut u64) -> Step {
        *value = self.number(name, "u64", *value, false);
        Ok(())
    }
    fn i32(&mut self, name: &'static str, _: &mut i32) -> Step {
        self.note(name, "i32")
    }
    fn f64(&mut self, name: &'static str, _: &mut f64) -> Step {
        self.note(name, "f64")
    }
    fn addr(&mut self, name: &'static str, _: &mut u64) -> Step {
        self.note(name, "u64")
    }
    fn count_u64(&mut self, name: &'static str, _: usize) -> Result<u64, WireError> {
        Ok(self.count(name, "u64"))
    }
    fn count_u32(&mut self, name: &'static str, _: usize) -> Result<u64, WireError> {
        Ok(self.count(name, "u32"))
    }
    fn count_u16(&mut self, name: &'static str, _: usize) -> Result<u64, WireError> {
        Ok(self.count(name, "u16"))
    }
    fn array<const N: usize>(&mut self, name: &'static str, _: &mut [u8; N]) -> Step {
        self.note(name, format!("u8 × {N}"))
    }
    fn name<const N: usize>(&mut self, name: &'static str, _: &mut [u8; N]) -> Step {
        self.note(name, format!("text in {N} bytes"))
    }
    fn cstr8(&mut self, name: &'static str, _: &mut CStr8<'a>) -> Step {
        self.note(name, "text, NUL, padding to 8")
    }
    fn cstr(&mut self, name: &'static str, _: &mut &'a [u8]) -> Step {
        self.note(name, "text, NUL")
    }
    fn bytes(&mut self, name: &'static str, count: u64, _: &mut &'a [u8]) -> Step {
        self.note_many(name, "u8", count)
    }
    fn owned(&mut self, name: &'static str, _: u64, _: &mut Vec<u8>) -> Step {
        self.note(name, "bytes")
    }
    fn rest(&mut self, name: &'static str, _: &mut &'a [u8]) -> Step {
        self.note(name, "bytes to the end")
    }
    fn u64s(&mut self, name: &'static str, count: u64, _: &mut U64s<'a>) -> Step {
        self.note_many(name, "u64", count)
    }
    fn addrs(&mut self, name: &'static str, count: u64, value: &mut U64s<'a>) -> Step {
        self.u64s(name, count, value)
    }
    fn counted_addrs(&mut self, name: &'static str, _: &mut U64s<'a>) -> Step {
        self.note(name, "u64 count, u64 × count")
    }
    fn counted_bytes_u32(&mut self, name: &'static str, _: &mut &'a [u8]) -> Step {
        self.note(name, "u32 size, u8 × size")
    }
    fn counted_bytes_u64(&mut self, name: &'static str, _: &mut &'a [u8]) -> Step {
        self.note(name, "u64 size, u8 × size")
    }
    fn list<T: Element>(&mut self, name: &'static str, count: u64, _: &mut List<'a, T>) -> Step {
        self.note_many(name, "structure", count)?;
        self.within(name, &mut T::default())
    }
    fn vec_of<T: Fields<'a> + Clone>(
        &mut self,
        name: &'static str,
        count: u64,
        _: &mut Vec<T>,
        blank: &T,
    ) -> Step {
        self.note_many(name, "structure", count)?;
        self.within(name, &mut blank.clone())
    }
    fn vec_until<T: Fields<'a> + Clone>(
        &mut self,
        name: &'static str,
        _: &mut Vec<T>,
        blank: &T,
        _: fn(&[u8]) -> bool,
    ) -> Step {
        self.note_many(name, "structure", TO_THE_END)?;
        self.within(name, &mut blank.clone())
    }
    fn header_string(&mut self, name: &'static str, _: &mut HeaderString<'a>) -> Step {
        self.note(name, "string")
    }
    fn strings(&mut self, name: &'static str, count: u64, _: &mut Vec<HeaderString<'a>>) -> Step {
        self.note_many(name, "string", count)
    }
    fn inner<T: Fields<'a>>(&mut self, name: &'static str, value: &mut T) -> Step {
        if name == "attr" {
            return self.note(name, "`perf_event_attr`");
        }
        self.within(name, value)
    }
    fn bitfield(&mut self, name: &'static str, _: &[u8], _: &mut u64) -> Step {
        self.note(name, "u64 of bit-fields")
    }
}
