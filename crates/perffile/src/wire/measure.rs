//! The pass that counts: the exact size of a body in bytes.

use super::attr::SampleShape;
use super::list::List;
use super::pass::{Element, Fields, Pass, Step};
use super::text::{CStr8, HeaderString, until_nul};
use super::words::U64s;

/// Adds up the sizes of the fields.
#[derive(Debug)]
pub struct Measure<'s> {
    size: usize,
    shape: &'s SampleShape,
    misc: u16,
}

impl<'s> Measure<'s> {
    /// Size in bytes that `value` has on the wire.
    pub fn of<'a>(value: &mut impl Fields<'a>, shape: &'s SampleShape, misc: u16) -> usize {
        let mut pass = Measure { size: 0, shape, misc };
        // Nothing in this pass fails but a count too large for its wire type: then the size so far is as good as any.
        let _ = value.fields(&mut pass);
        pass.size
    }

    #[inline(always)]
    fn add(&mut self, size: usize) -> Step {
        self.size = self.size.saturating_add(size);
        Ok(())
    }
}

impl<'a> Pass<'a> for Measure<'_> {
    fn misc(&self) -> u16 {
        self.misc
    }
    fn shape(&self) -> &SampleShape {
        self.shape
    }

    fn u8(&mut self, _: &'static str, _: &mut u8) -> Step {
        self.add(1)
    }
    fn u16(&mut self, _: &'static str, _: &mut u16) -> Step {
        self.add(2)
    }
    fn u32(&mut self, _: &'static str, _: &mut u32) -> Step {
        self.add(4)
    }
    fn u64(&mut self, _: &'static str, _: &mut u64) -> Step {
        self.add(8)
    }
    fn i32(&mut self, _: &'static str, _: &mut i32) -> Step {
        self.add(4)
    }
    fn f64(&mut self, _: &'static str, _: &mut f64) -> Step {
        self.add(8)
    }
    fn addr(&mut self, _: &'static str, _: &mut u64) -> Step {
        self.add(8)
    }
    fn array<const N: usize>(&mut self, _: &'static str, _: &mut [u8; N]) -> Step {
        self.add(N)
    }
    fn name<const N: usize>(&mut self, _: &'static str, _: &mut [u8; N]) -> Step {
        self.add(N)
    }
    fn cstr8(&mut self, _: &'static str, value: &mut CStr8<'a>) -> Step {
        let (bytes, nuls) = value.on_the_wire();
        self.add(bytes.len() + nuls)
    }
    fn cstr(&mut self, _: &'static str, value: &mut &'a [u8]) -> Step {
        self.add(until_nul(value).len() + 1)
    }
    fn bytes(&mut self, _: &'static str, _: u64, value: &mut &'a [u8]) -> Step {
        self.add(value.len())
    }
    fn owned(&mut self, _: &'static str, _: u64, value: &mut Vec<u8>) -> Step {
        self.add(value.len())
    }
    fn rest(&mut self, _: &'static str, value: &mut &'a [u8]) -> Step {
        self.add(value.len())
    }
    fn u64s(&mut self, _: &'static str, _: u64, value: &mut U64s<'a>) -> Step {
        self.add(value.as_bytes().len())
    }
    fn addrs(&mut self, _: &'static str, _: u64, value: &mut U64s<'a>) -> Step {
        self.add(value.as_bytes().len())
    }
    fn list<T: Element>(&mut self, _: &'static str, _: u64, value: &mut List<'a, T>) -> Step {
        self.add(value.as_bytes().len())
    }
    fn vec_of<T: Fields<'a> + Clone>(&mut self, _: &'static str, _: u64, value: &mut Vec<T>, _: &T) -> Step {
        value.iter_mut().try_for_each(|element| element.fields(self))
    }
    fn header_string(&mut self, _: &'static str, value: &mut HeaderString<'a>) -> Step {
        let (bytes, nuls) = value.on_the_wire();
        self.add(4 + bytes.len() + nuls)
    }
    fn strings(&mut self, name: &'static str, _: u64, value: &mut Vec<HeaderString<'a>>) -> Step {
        value.iter_mut().try_for_each(|text| self.header_string(name, text))
    }
    fn inner<T: Fields<'a>>(&mut self, _: &'static str, value: &mut T) -> Step {
        value.fields(self)
    }
    fn bitfield(&mut self, _: &'static str, _: &[u8], _: &mut u64) -> Step {
        self.add(8)
    }
}
