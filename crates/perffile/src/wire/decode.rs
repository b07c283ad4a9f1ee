//! The pass that reads: bytes to values.

use super::attr::{BranchSampleType, ReadFormat, SampleShape, SampleType};
use super::endian::{ByteOrder, Order};
use super::list::List;
use super::pass::{CpuCounts, Element, Fields, Pass, Step};
use super::text::{CStr8, HeaderString};
use super::words::U64s;
use super::{WireError, bitfield};
use std::marker::PhantomData;

/// Where a decoder learns which sample fields there are: at run time, or at compile time.
pub trait ShapeSource {
    /// The shape.
    fn shape(&self) -> &SampleShape;
    /// How many CPUs the machine had, if known: for header features.
    fn cpu_counts(&self) -> CpuCounts {
        CpuCounts::default()
    }
}

impl ShapeSource for &SampleShape {
    #[inline(always)]
    fn shape(&self) -> &SampleShape {
        self
    }
}

/// A shape known at compile time: nothing but these `sample_type` bits. The compiler then drops every branch of the
/// declaration, and what is left is what one would write by hand for this one layout.
#[derive(Clone, Copy, Debug, Default)]
pub struct FixedShape<const SAMPLE_TYPE: u64>;

impl<const SAMPLE_TYPE: u64> FixedShape<SAMPLE_TYPE> {
    const SHAPE: SampleShape = SampleShape {
        sample_type: SampleType(SAMPLE_TYPE),
        read_format: ReadFormat(0),
        branch_sample_type: BranchSampleType(0),
        sample_regs_user: 0,
        sample_regs_intr: 0,
        sample_id_all: false,
    };
}

impl<const SAMPLE_TYPE: u64> ShapeSource for FixedShape<SAMPLE_TYPE> {
    #[inline(always)]
    fn shape(&self) -> &SampleShape {
        &Self::SHAPE
    }
}

/// Reads the fields of one body in byte order `O`.
#[derive(Debug)]
pub struct Decoder<'a, O, S> {
    bytes: &'a [u8],
    whole: usize,
    shape: S,
    misc: u16,
    /// How many more elements may be kept in vectors.
    elements_left: u32,
    order: PhantomData<O>,
}

/// Elements that one body may make its reader keep in vectors, lists inside of lists included. The smallest take two bytes
/// of the file and a dozen times as much memory; no real file has a tenth of it.
const MOST_ELEMENTS: u32 = 1 << 21;

impl<'a, O: Order, S: ShapeSource> Decoder<'a, O, S> {
    /// A decoder at the start of `bytes`.
    #[inline(always)]
    pub fn new(bytes: &'a [u8], shape: S, misc: u16) -> Self {
        Decoder { bytes, whole: bytes.len(), shape, misc, elements_left: MOST_ELEMENTS, order: PhantomData }
    }

    /// Decodes a value of type `T` from the start of the bytes; what it leaves over is [`Decoder::remainder`].
    #[inline(always)]
    pub fn value<T: Fields<'a>>(&mut self) -> Result<T, WireError> {
        let mut value = T::default();
        value.fields(self)?;
        Ok(value)
    }

    /// The bytes behind the fields read so far.
    pub fn remainder(&self) -> &'a [u8] {
        self.bytes
    }

    /// Offset of the next field, in bytes from the start.
    #[inline(always)]
    pub fn at(&self) -> usize {
        self.whole - self.bytes.len()
    }

    #[inline(always)]
    fn chunk<const N: usize>(&mut self, name: &'static str) -> Result<[u8; N], WireError> {
        match self.bytes.split_first_chunk::<N>() {
            Some((first, rest)) => {
                self.bytes = rest;
                Ok(*first)
            }
            None => Err(WireError::short(name, self.at(), N as u64, self.bytes.len())),
        }
    }

    fn one_more(&mut self, name: &'static str, count: u64) -> Step {
        self.elements_left =
            self.elements_left.checked_sub(1).ok_or_else(|| WireError::too_many(name, count))?;
        Ok(())
    }

    #[inline(always)]
    fn take(&mut self, name: &'static str, count: u64) -> Result<&'a [u8], WireError> {
        match usize::try_from(count).ok().and_then(|n| self.bytes.split_at_checked(n)) {
            Some((first, rest)) => {
                self.bytes = rest;
                Ok(first)
            }
            None => Err(WireError::short(name, self.at(), count, self.bytes.len())),
        }
    }
}

impl<'a, O: Order, S: ShapeSource> Pass<'a> for Decoder<'a, O, S> {
    #[inline(always)]
    fn misc(&self) -> u16 {
        self.misc
    }
    #[inline(always)]
    fn shape(&self) -> &SampleShape {
        self.shape.shape()
    }
    #[inline(always)]
    fn left(&self) -> Option<usize> {
        Some(self.bytes.len())
    }
    fn ahead(&self) -> (&'a [u8], ByteOrder) {
        (self.bytes, O::ORDER)
    }
    fn cpu_counts(&self) -> CpuCounts {
        self.shape.cpu_counts()
    }

    #[inline(always)]
    fn u8(&mut self, name: &'static str, value: &mut u8) -> Step {
        let [byte] = self.chunk::<1>(name)?;
        *value = byte;
        Ok(())
    }
    #[inline(always)]
    fn u16(&mut self, name: &'static str, value: &mut u16) -> Step {
        *value = O::u16(self.chunk(name)?);
        Ok(())
    }
    #[inline(always)]
    fn u32(&mut self, name: &'static str, value: &mut u32) -> Step {
        *value = O::u32(self.chunk(name)?);
        Ok(())
    }
    #[inline(always)]
    fn u64(&mut self, name: &'static str, value: &mut u64) -> Step {
        *value = O::u64(self.chunk(name)?);
        Ok(())
    }
    #[inline(always)]
    fn i32(&mut self, name: &'static str, value: &mut i32) -> Step {
        *value = O::u32(self.chunk(name)?).cast_signed();
        Ok(())
    }
    fn f64(&mut self, name: &'static str, value: &mut f64) -> Step {
        *value = f64::from_bits(O::u64(self.chunk(name)?));
        Ok(())
    }
    #[inline(always)]
    fn addr(&mut self, name: &'static str, value: &mut u64) -> Step {
        self.u64(name, value)
    }
    #[inline(always)]
    fn array<const N: usize>(&mut self, name: &'static str, value: &mut [u8; N]) -> Step {
        *value = self.chunk(name)?;
        Ok(())
    }
    fn name<const N: usize>(&mut self, name: &'static str, value: &mut [u8; N]) -> Step {
        self.array(name, value)
    }
    #[inline(always)]
    fn cstr8(&mut self, _: &'static str, value: &mut CStr8<'a>) -> Step {
        *value = CStr8::from_padded(std::mem::take(&mut self.bytes));
        Ok(())
    }
    fn cstr(&mut self, name: &'static str, value: &mut &'a [u8]) -> Step {
        let end = self.bytes.iter().position(|byte| *byte == 0);
        let Some((text, rest)) =
            end.and_then(|end| Some((self.bytes.get(..end)?, self.bytes.get(end + 1..)?)))
        else {
            let need = self.bytes.len() as u64 + 1;
            return Err(WireError::short(name, self.at(), need, self.bytes.len()));
        };
        (*value, self.bytes) = (text, rest);
        Ok(())
    }
    #[inline(always)]
    fn bytes(&mut self, name: &'static str, count: u64, value: &mut &'a [u8]) -> Step {
        *value = self.take(name, count)?;
        Ok(())
    }
    fn owned(&mut self, name: &'static str, count: u64, value: &mut Vec<u8>) -> Step {
        *value = self.take(name, count)?.to_vec();
        Ok(())
    }
    #[inline(always)]
    fn rest(&mut self, _: &'static str, value: &mut &'a [u8]) -> Step {
        *value = std::mem::take(&mut self.bytes);
        Ok(())
    }
    #[inline(always)]
    fn u64s(&mut self, name: &'static str, count: u64, value: &mut U64s<'a>) -> Step {
        *value = U64s::new(self.take(name, count.saturating_mul(8))?, O::ORDER);
        Ok(())
    }
    #[inline(always)]
    fn addrs(&mut self, name: &'static str, count: u64, value: &mut U64s<'a>) -> Step {
        self.u64s(name, count, value)
    }
    fn list<T: Element>(&mut self, name: &'static str, count: u64, value: &mut List<'a, T>) -> Step {
        let size = List::<T>::element_size() as u64;
        *value = List::new(self.take(name, count.saturating_mul(size))?, O::ORDER);
        Ok(())
    }
    fn vec_of<T: Fields<'a> + Clone>(
        &mut self,
        name: &'static str,
        count: u64,
        value: &mut Vec<T>,
        blank: &T,
    ) -> Step {
        // Grows with what is really there: a count alone allocates nothing.
        value.clear();
        for _ in 0..count {
            self.one_more(name, count)?;
            let before = self.bytes.len();
            let mut element = blank.clone();
            element.fields(self)?;
            value.push(element);
            if self.bytes.len() == before {
                return Err(WireError::too_many(name, count));
            }
        }
        Ok(())
    }
    fn header_string(&mut self, name: &'static str, value: &mut HeaderString<'a>) -> Step {
        let mut len = 0;
        self.u32(name, &mut len)?;
        *value = HeaderString::from_padded(self.take(name, u64::from(len))?);
        Ok(())
    }
    fn strings(&mut self, name: &'static str, count: u64, value: &mut Vec<HeaderString<'a>>) -> Step {
        // Each takes at least its length word, so that a count alone allocates nothing.
        value.clear();
        for _ in 0..count {
            self.one_more(name, count)?;
            let mut text = HeaderString::default();
            self.header_string(name, &mut text)?;
            value.push(text);
        }
        Ok(())
    }
    fn inner<T: Fields<'a>>(&mut self, _: &'static str, value: &mut T) -> Step {
        value.fields(self)
    }
    #[inline(always)]
    fn bitfield(&mut self, name: &'static str, widths: &[u8], value: &mut u64) -> Step {
        let word = O::u64(self.chunk(name)?);
        *value = bitfield::from_wire::<O>(word, widths);
        Ok(())
    }
}
