//! The pass that writes: values to bytes.

use super::WireError;
use super::attr::SampleShape;
use super::bitfield;
use super::endian::Order;
use super::list::List;
use super::pass::{Element, Fields, Pass, Step};
use super::text::{CStr8, HeaderString, until_nul};
use super::words::U64s;
use std::marker::PhantomData;

/// Appends the fields of one body to a buffer, in byte order `O`.
#[derive(Debug)]
pub struct Encoder<'o, 's, O> {
    out: &'o mut Vec<u8>,
    shape: &'s SampleShape,
    misc: u16,
    order: PhantomData<O>,
}

impl<'o, 's, O: Order> Encoder<'o, 's, O> {
    /// An encoder that appends to `out`.
    pub fn new(out: &'o mut Vec<u8>, shape: &'s SampleShape, misc: u16) -> Self {
        Encoder { out, shape, misc, order: PhantomData }
    }

    fn put(&mut self, bytes: &[u8]) -> Step {
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn pad(&mut self, nuls: usize) -> Step {
        self.out.resize(self.out.len() + nuls, 0);
        Ok(())
    }

    fn counted(name: &'static str, count: u64, len: usize) -> Step {
        if count == len as u64 { Ok(()) } else { Err(WireError::too_many(name, count)) }
    }
}

impl<'a, O: Order> Pass<'a> for Encoder<'_, '_, O> {
    fn misc(&self) -> u16 {
        self.misc
    }
    fn shape(&self) -> &SampleShape {
        self.shape
    }

    fn u8(&mut self, _: &'static str, value: &mut u8) -> Step {
        self.put(&[*value])
    }
    fn u16(&mut self, _: &'static str, value: &mut u16) -> Step {
        self.put(&O::put_u16(*value))
    }
    fn u32(&mut self, _: &'static str, value: &mut u32) -> Step {
        self.put(&O::put_u32(*value))
    }
    fn u64(&mut self, _: &'static str, value: &mut u64) -> Step {
        self.put(&O::put_u64(*value))
    }
    fn i32(&mut self, _: &'static str, value: &mut i32) -> Step {
        self.put(&O::put_u32(value.cast_unsigned()))
    }
    fn f64(&mut self, _: &'static str, value: &mut f64) -> Step {
        self.put(&O::put_u64(value.to_bits()))
    }
    fn addr(&mut self, name: &'static str, value: &mut u64) -> Step {
        self.u64(name, value)
    }
    fn array<const N: usize>(&mut self, _: &'static str, value: &mut [u8; N]) -> Step {
        self.put(value.as_slice())
    }
    fn name<const N: usize>(&mut self, name: &'static str, value: &mut [u8; N]) -> Step {
        self.array(name, value)
    }
    fn cstr8(&mut self, _: &'static str, value: &mut CStr8<'a>) -> Step {
        let (bytes, nuls) = value.on_the_wire();
        self.put(bytes)?;
        self.pad(nuls)
    }
    fn cstr(&mut self, _: &'static str, value: &mut &'a [u8]) -> Step {
        self.put(until_nul(value))?;
        self.pad(1)
    }
    fn bytes(&mut self, name: &'static str, count: u64, value: &mut &'a [u8]) -> Step {
        Self::counted(name, count, value.len())?;
        self.put(value)
    }
    fn owned(&mut self, name: &'static str, count: u64, value: &mut Vec<u8>) -> Step {
        Self::counted(name, count, value.len())?;
        self.put(value)
    }
    fn rest(&mut self, _: &'static str, value: &mut &'a [u8]) -> Step {
        self.put(value)
    }
    fn u64s(&mut self, name: &'static str, count: u64, value: &mut U64s<'a>) -> Step {
        Self::counted(name, count, value.len())?;
        if value.order() == O::ORDER {
            return self.put(value.as_bytes());
        }
        value.iter().try_for_each(|word| self.put(&O::put_u64(word)))
    }
    fn addrs(&mut self, name: &'static str, count: u64, value: &mut U64s<'a>) -> Step {
        self.u64s(name, count, value)
    }
    fn list<T: Element>(&mut self, name: &'static str, count: u64, value: &mut List<'a, T>) -> Step {
        Self::counted(name, count, value.len())?;
        if value.order() == O::ORDER {
            return self.put(value.as_bytes());
        }
        value.iter().try_for_each(|mut element| element.fields(self))
    }
    fn vec_of<T: Fields<'a> + Clone>(
        &mut self,
        name: &'static str,
        count: u64,
        value: &mut Vec<T>,
        _: &T,
    ) -> Step {
        Self::counted(name, count, value.len())?;
        value.iter_mut().try_for_each(|element| element.fields(self))
    }
    fn header_string(&mut self, name: &'static str, value: &mut HeaderString<'a>) -> Step {
        let (bytes, nuls) = value.on_the_wire();
        let len = bytes.len() + nuls;
        self.put(&O::put_u32(u32::try_from(len).map_err(|_| WireError::too_many(name, len as u64))?))?;
        self.put(bytes)?;
        self.pad(nuls)
    }
    fn strings(&mut self, name: &'static str, count: u64, value: &mut Vec<HeaderString<'a>>) -> Step {
        Self::counted(name, count, value.len())?;
        value.iter_mut().try_for_each(|text| self.header_string(name, text))
    }
    fn inner<T: Fields<'a>>(&mut self, _: &'static str, value: &mut T) -> Step {
        value.fields(self)
    }
    fn bitfield(&mut self, _: &'static str, widths: &[u8], value: &mut u64) -> Step {
        self.put(&O::put_u64(bitfield::to_wire::<O>(*value, widths)))
    }
}
