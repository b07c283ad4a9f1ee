//! The pass that finds texts: the names that end a record, and all else that may hold the bytes of a name.

use super::attr::SampleShape;
use super::list::List;
use super::pass::{Element, Fields, Pass, Step};
use super::text::{CStr8, HeaderString};
use super::words::U64s;

/// A text, or bytes that may hold the remains of one.
pub(crate) enum Text<'v, 'a> {
    /// A name that ends a record.
    Name(&'v mut CStr8<'a>),
    /// A string of a feature.
    String(&'v mut HeaderString<'a>),
    /// A name of fixed size.
    Array(&'v mut [u8]),
    /// What fills something up.
    Rest(&'v mut &'a [u8]),
}

impl Text<'_, '_> {
    /// Leaves of a text what is text: perf does not clear what it fills up with.
    pub(crate) fn without_remains(self) {
        match self {
            Text::Name(name) => *name = CStr8::new(name.bytes()),
            Text::String(text) => *text = HeaderString::new(text.bytes()),
            Text::Array(name) => name.iter_mut().skip_while(|byte| **byte != 0).for_each(|byte| *byte = 0),
            Text::Rest(rest) => *rest = &[],
        }
    }
}

/// Shows the texts in a value.
pub(crate) struct Names<'s, F> {
    pub(crate) seen: F,
    pub(crate) shape: &'s SampleShape,
    pub(crate) misc: u16,
}

/// Fields that are no texts.
macro_rules! passed_over {
    ($($method:ident $(<const $n:ident: usize>)? ($($argument:ty),*))*) => {$(
        #[inline(always)]
        fn $method $(<const $n: usize>)? (&mut self, $(_: $argument),*) -> Step {
            Ok(())
        }
    )*};
}

type Name = &'static str;

impl<'a, F: FnMut(Text<'_, 'a>)> Pass<'a> for Names<'_, F> {
    fn misc(&self) -> u16 {
        self.misc
    }
    fn shape(&self) -> &SampleShape {
        self.shape
    }
    #[inline(always)]
    fn cstr8(&mut self, _: Name, value: &mut CStr8<'a>) -> Step {
        (self.seen)(Text::Name(value));
        Ok(())
    }
    #[inline(always)]
    fn header_string(&mut self, _: Name, value: &mut HeaderString<'a>) -> Step {
        (self.seen)(Text::String(value));
        Ok(())
    }
    fn strings(&mut self, _: Name, _: u64, value: &mut Vec<HeaderString<'a>>) -> Step {
        value.iter_mut().for_each(|text| (self.seen)(Text::String(text)));
        Ok(())
    }
    #[inline(always)]
    fn name<const N: usize>(&mut self, _: Name, value: &mut [u8; N]) -> Step {
        (self.seen)(Text::Array(value));
        Ok(())
    }
    #[inline(always)]
    fn rest(&mut self, _: Name, value: &mut &'a [u8]) -> Step {
        (self.seen)(Text::Rest(value));
        Ok(())
    }
    fn inner<T: Fields<'a>>(&mut self, _: Name, value: &mut T) -> Step {
        value.fields(self)
    }
    fn list<T: Element>(&mut self, _: Name, _: u64, _: &mut List<'a, T>) -> Step {
        Ok(())
    }
    fn vec_of<T: Fields<'a> + Clone>(&mut self, _: Name, _: u64, value: &mut Vec<T>, _: &T) -> Step {
        value.iter_mut().try_for_each(|element| element.fields(self))
    }
    passed_over! {
        u8(Name, &mut u8) u16(Name, &mut u16) u32(Name, &mut u32) u64(Name, &mut u64) i32(Name, &mut i32) f64(Name, &mut f64)
        addr(Name, &mut u64) array<const N: usize>(Name, &mut [u8; N])
        cstr(Name, &mut &'a [u8]) bytes(Name, u64, &mut &'a [u8]) owned(Name, u64, &mut Vec<u8>)
        u64s(Name, u64, &mut U64s<'a>) addrs(Name, u64, &mut U64s<'a>)
        bitfield(Name, &[u8], &mut u64)
    }
}
