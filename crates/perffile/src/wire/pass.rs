//! The visitor behind every declaration.
//!
//! A record, a header feature or an attr states its fields once, in ABI order, in [`Fields::fields`]. What is done with
//! them is a [`Pass`]:
//!
//! | pass | does |
//! |---|---|
//! | [`Decoder`](super::decode::Decoder) | bytes to values, both byte orders |
//! | [`Encoder`](super::encode::Encoder) | values to bytes, both byte orders |
//! | [`Measure`](super::measure::Measure) | the exact size in bytes |
//! | [`Describe`](super::describe::Describe) | name, wire type and value of each field, to a sink |
//! | [`Locate`](super::sample::layout) | the offset of each field up to the first of variable size |
//!
//! Decoding fills a default value in place; the other passes read through the same `&mut` and leave the value as it is.

use super::attr::SampleShape;
use super::callchain;
use super::endian::ByteOrder;
use super::list::List;
use super::text::CStr8;
use super::value::{NamedValue, Words, WordsContext};
use super::words::U64s;
use super::{HeaderString, WireError};

/// Result of a step of a pass.
pub type Step = Result<(), WireError>;

/// How many CPUs the machine had, where a layout depends on it and does not store it. NRCPUS tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuCounts {
    /// Highest CPU present plus one.
    pub available: Option<u32>,
    /// CPUs online.
    pub online: Option<u32>,
}

/// What a field looks like on the wire; for reference pages and for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireType {
    /// One byte.
    U8,
    /// Two bytes, in the order of the file.
    U16,
    /// Four bytes, in the order of the file.
    U32,
    /// Eight bytes, in the order of the file.
    U64,
    /// Four bytes, signed.
    I32,
    /// Eight bytes: IEEE 754 double.
    F64,
    /// Eight bytes, an address.
    Address,
    /// Bytes to a NUL, padded.
    Text,
    /// Opaque bytes.
    Bytes,
    /// Some u64.
    U64s,
    /// Some addresses.
    Addresses,
    /// Some structures.
    List,
    /// Some names.
    Texts,
}

/// A run over the fields of a declaration.
///
/// Every method takes the field's ABI name and its value. All of them fail only while decoding (bytes are missing) or
/// when a count does not fit its wire type.
pub trait Pass<'a>: Sized {
    /// The `misc` bits of the record at hand; some layouts depend on them.
    fn misc(&self) -> u16;
    /// Which sample fields the event of this record carries.
    fn shape(&self) -> &SampleShape;
    /// Bytes not yet read while decoding; `None` in passes that know no end.
    fn left(&self) -> Option<usize> {
        None
    }
    /// While decoding: the bytes not yet read, and their order. To tell apart forms of a layout that nothing marks.
    fn ahead(&self) -> (&'a [u8], ByteOrder) {
        (&[], ByteOrder::Little)
    }
    /// While decoding a header feature: how many CPUs the machine had.
    fn cpu_counts(&self) -> CpuCounts {
        CpuCounts::default()
    }

    /// What the next field says in words. Only the pass that describes asks.
    #[inline(always)]
    fn explain(&mut self, _words: impl FnOnce(&WordsContext) -> Option<Words>) {}

    /// A number whose type knows what it says.
    #[inline(always)]
    fn value<T: NamedValue>(&mut self, name: &'static str, value: &mut T) -> Step {
        self.explain(|_| value.words());
        self.bare(name, value)
    }
    /// As [`Pass::value`], but the words are not shown, or are others.
    #[inline(always)]
    fn bare<T: NamedValue>(&mut self, name: &'static str, value: &mut T) -> Step {
        value.number(name, self)
    }
    /// One byte.
    fn u8(&mut self, name: &'static str, value: &mut u8) -> Step;
    /// Two bytes.
    fn u16(&mut self, name: &'static str, value: &mut u16) -> Step;
    /// Four bytes.
    fn u32(&mut self, name: &'static str, value: &mut u32) -> Step;
    /// Eight bytes.
    fn u64(&mut self, name: &'static str, value: &mut u64) -> Step;
    /// Four bytes, signed.
    fn i32(&mut self, name: &'static str, value: &mut i32) -> Step;
    /// Eight bytes, IEEE 754.
    fn f64(&mut self, name: &'static str, value: &mut f64) -> Step;
    /// Eight bytes that are an address: shown in hex.
    fn addr(&mut self, name: &'static str, value: &mut u64) -> Step;
    /// Exactly `N` opaque bytes.
    fn array<const N: usize>(&mut self, name: &'static str, value: &mut [u8; N]) -> Step;
    /// A name in exactly `N` bytes, NUL-padded.
    fn name<const N: usize>(&mut self, name: &'static str, value: &mut [u8; N]) -> Step;
    /// A NUL-terminated name padded to eight bytes, up to the end of the record's body.
    fn cstr8(&mut self, name: &'static str, value: &mut CStr8<'a>) -> Step;
    /// A name up to its NUL, which is on the wire and not in the value.
    fn cstr(&mut self, name: &'static str, value: &mut &'a [u8]) -> Step;
    /// `count` opaque bytes.
    fn bytes(&mut self, name: &'static str, count: u64, value: &mut &'a [u8]) -> Step;
    /// `count` opaque bytes, kept as a copy.
    fn owned(&mut self, name: &'static str, count: u64, value: &mut Vec<u8>) -> Step;
    /// All bytes that are left.
    fn rest(&mut self, name: &'static str, value: &mut &'a [u8]) -> Step;
    /// `count` u64.
    fn u64s(&mut self, name: &'static str, count: u64, value: &mut U64s<'a>) -> Step;
    /// `count` u64 that are addresses.
    fn addrs(&mut self, name: &'static str, count: u64, value: &mut U64s<'a>) -> Step;
    /// `count` structures of fixed size.
    fn list<T: Element>(&mut self, name: &'static str, count: u64, value: &mut List<'a, T>) -> Step;
    /// `count` structures of any size, kept in a vector (header features). Decoding starts each one from `blank`, which may
    /// carry what an element has to know of its surroundings.
    fn vec_of<T: Fields<'a> + Clone>(
        &mut self,
        name: &'static str,
        count: u64,
        value: &mut Vec<T>,
        blank: &T,
    ) -> Step;
    /// As [`Pass::vec_of`], from default values.
    fn vec<T: Fields<'a> + Clone>(&mut self, name: &'static str, count: u64, value: &mut Vec<T>) -> Step {
        self.vec_of(name, count, value, &T::default())
    }
    /// Structures of any size up to the end of the bytes; nothing counts them.
    fn vec_to_end<T: Fields<'a> + Clone>(
        &mut self,
        name: &'static str,
        value: &mut Vec<T>,
        blank: &T,
    ) -> Step {
        self.vec_until(name, value, blank, <[u8]>::is_empty)
    }
    /// Structures of any size up to where what is left is their end; nothing counts them.
    fn vec_until<T: Fields<'a> + Clone>(
        &mut self,
        name: &'static str,
        value: &mut Vec<T>,
        blank: &T,
        is_end: fn(&[u8]) -> bool,
    ) -> Step {
        if self.left().is_none() {
            return self.vec_of(name, value.len() as u64, value, blank);
        }
        value.clear();
        while !is_end(self.ahead().0) {
            // Fails unless it reads something.
            let mut one = Vec::new();
            self.vec_of(name, 1, &mut one, blank)?;
            value.append(&mut one);
        }
        Ok(())
    }
    /// A header string: u32 length, then that many bytes, NUL-terminated and padded.
    fn header_string(&mut self, name: &'static str, value: &mut HeaderString<'a>) -> Step;
    /// `count` header strings.
    fn strings(&mut self, name: &'static str, count: u64, value: &mut Vec<HeaderString<'a>>) -> Step;
    /// Fields of an inner structure.
    fn inner<T: Fields<'a>>(&mut self, name: &'static str, value: &mut T) -> Step;
    /// A 64-bit word of C bit-fields of the given widths, first field first. On a big-endian machine a compiler
    /// allocates them from the other end, so the word is rearranged, not swapped. `value` has field 0 in its lowest bits.
    fn bitfield(&mut self, name: &'static str, widths: &[u8], value: &mut u64) -> Step;

    /// A count that the value itself knows: written and shown from `len`, read from the bytes.
    fn count_u64(&mut self, name: &'static str, len: usize) -> Result<u64, WireError> {
        let mut count = len as u64;
        self.u64(name, &mut count)?;
        Ok(count)
    }
    /// As [`Pass::count_u64`], in four bytes.
    fn count_u32(&mut self, name: &'static str, len: usize) -> Result<u64, WireError> {
        let mut count = u32::try_from(len).map_err(|_| WireError::too_many(name, len as u64))?;
        self.u32(name, &mut count)?;
        Ok(u64::from(count))
    }
    /// As [`Pass::count_u64`], in two bytes.
    fn count_u16(&mut self, name: &'static str, len: usize) -> Result<u64, WireError> {
        let mut count = u16::try_from(len).map_err(|_| WireError::too_many(name, len as u64))?;
        self.u16(name, &mut count)?;
        Ok(u64::from(count))
    }
    /// A u64 count and that many addresses, shown as one field.
    #[inline(always)]
    fn counted_addrs(&mut self, name: &'static str, value: &mut U64s<'a>) -> Step {
        let count = self.count_u64(name, value.len())?;
        self.addrs(name, count, value)
    }
    /// A call chain: a u64 count and that many entries, addresses and markers, shown as one field.
    #[inline(always)]
    fn callchain(&mut self, name: &'static str, value: &mut U64s<'a>) -> Step {
        let chain = *value;
        self.explain(|context| callchain::marks(chain, context.defers_callchains));
        self.counted_addrs(name, value)
    }
    /// A u32 count and that many bytes, shown as one field.
    fn counted_bytes_u32(&mut self, name: &'static str, value: &mut &'a [u8]) -> Step {
        let count = self.count_u32(name, value.len())?;
        self.bytes(name, count, value)
    }
    /// A u64 count and that many bytes, shown as one field.
    fn counted_bytes_u64(&mut self, name: &'static str, value: &mut &'a [u8]) -> Step {
        let count = self.count_u64(name, value.len())?;
        self.bytes(name, count, value)
    }
    /// A field that is there only if `present`.
    #[inline(always)]
    fn optional<T: WireField<'a>>(
        &mut self,
        present: bool,
        name: &'static str,
        value: &mut Option<T>,
    ) -> Step {
        if present {
            let mut inner = value.take().unwrap_or_default();
            inner.field(name, self)?;
            *value = Some(inner);
        }
        Ok(())
    }
}

/// A field behind a condition, by a named method of the pass: for what is not told by its type alone.
macro_rules! optional_as {
    ($pass:ident, $present:expr, $name:literal, $value:expr, $method:ident) => {
        if $present {
            let mut inner = $value.take().unwrap_or_default();
            $pass.$method($name, &mut inner)?;
            *$value = Some(inner);
        }
    };
}
pub(crate) use optional_as;

/// Something whose fields are declared once, in ABI order.
pub trait Fields<'a>: Default {
    /// Visits every field in ABI order.
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step;
}

/// Sees the type behind every line of a registry: for whatever has to be done for all of them, such as a reference page.
pub trait Declarations {
    /// The declaration of the record or feature with this number.
    fn declaration<'a, T: Fields<'a>>(&mut self, number: u32);
}

/// A structure of fixed size without borrowed parts: an element of a [`List`].
pub trait Element: for<'e> Fields<'e> + Copy {}

/// A type that knows which method of a pass it belongs to.
pub trait WireField<'a>: Default {
    /// Visits this one field.
    fn field<P: Pass<'a>>(&mut self, name: &'static str, pass: &mut P) -> Step;
}

macro_rules! field {
    ($($type:ty => $method:ident),+ $(,)?) => {$(
        impl<'a> WireField<'a> for $type {
            #[inline(always)]
            fn field<P: Pass<'a>>(&mut self, name: &'static str, pass: &mut P) -> Step {
                pass.$method(name, self)
            }
        }
    )+};
}

field! {
    u8 => u8, u16 => u16, u32 => u32, u64 => u64, i32 => i32, f64 => f64,
    CStr8<'a> => cstr8, HeaderString<'a> => header_string,
}

impl<'a, const N: usize> WireField<'a> for [u8; N]
where
    [u8; N]: Default,
{
    #[inline(always)]
    fn field<P: Pass<'a>>(&mut self, name: &'static str, pass: &mut P) -> Step {
        pass.array(name, self)
    }
}
