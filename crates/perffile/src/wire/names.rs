//! The pass that finds names: those that end a record.

use super::attr::SampleShape;
use super::list::List;
use super::pass::{Element, Fields, Pass, Step};
use super::text::{CStr8, HeaderString};
use super::words::U64s;

/// Shows the names in a value.
pub(crate) struct Names<'s, F> {
    pub(crate) seen: F,
    pub(crate) shape: &'s SampleShape,
    pub(crate) misc: u16,
}

/// Fields that are no names.
macro_rules! passed_over {
    ($($method:ident $(<const $n:ident: usize>)? ($($argument:ty),*))*) => {$(
        #[inline(always)]
        fn $method $(<const $n: usize>)? (&mut self, $(_: $argument),*) -> Step {
            Ok(())
        }
    )*};
}

type Name = &'static str;

impl<'a, F: FnMut(&mut CStr8<'a>)> Pass<'a> for Names<'_, F> {
    fn misc(&self) -> u16 {
        self.misc
    }
    fn shape(&self) -> &SampleShape {
        self.shape
    }
    #[inline(always)]
    fn cstr8(&mut self, _: Name, value: &mut CStr8<'a>) -> Step {
        (self.seen)(value);
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
        addr(Name, &mut u64) array<const N: usize>(Name, &mut [u8; N]) name<const N: usize>(Name, &mut [u8; N])
        cstr(Name, &mut &'a [u8]) bytes(Name, u64, &mut &'a [u8]) owned(Name, u64, &mut Vec<u8>) rest(Name, &mut &'a [u8])
        u64s(Name, u64, &mut U64s<'a>) addrs(Name, u64, &mut U64s<'a>) header_string(Name, &mut HeaderString<'a>)
        strings(Name, u64, &mut Vec<HeaderString<'a>>) bitfield(Name, &[u8], &mut u64)
    }
}
