//! The pass that tells: name, wire type and value of each field, to a sink. Behind `dump`, JSON and the reference page.

use super::attr::SampleShape;
use super::list::List;
use super::pass::{Element, Fields, Pass, Step, WireType};
use super::text::{CStr8, HeaderString, until_nul};
use super::value::{Words, WordsContext};
use super::words::U64s;

/// The value of a field, ready to be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shown<'v> {
    /// A number.
    Unsigned(u64),
    /// A signed number.
    Signed(i64),
    /// A real number.
    Float(f64),
    /// An address: hex.
    Address(u64),
    /// A name; not necessarily UTF-8.
    Text(&'v [u8]),
    /// Opaque bytes.
    Bytes(&'v [u8]),
    /// Numbers.
    Unsigneds(U64s<'v>),
    /// Addresses.
    Addresses(U64s<'v>),
    /// Names.
    Texts(&'v [HeaderString<'v>]),
}

/// Where a description goes.
pub trait Sink {
    /// One field.
    fn field(&mut self, name: &'static str, wire: WireType, value: Shown<'_>);
    /// One field, and what its value says in words. Most have none.
    fn worded(&mut self, name: &'static str, wire: WireType, value: Shown<'_>, _words: Words) {
        self.field(name, wire, value);
    }
    /// A list of structures begins; each element is one `open_element` … `close_element`.
    fn open_list(&mut self, name: &'static str);
    /// One structure of the list begins.
    fn open_element(&mut self);
    /// One structure of the list ends.
    fn close_element(&mut self);
    /// The list ends.
    fn close_list(&mut self);
    /// A structure inside the structure begins.
    fn open_inner(&mut self, name: &'static str);
    /// It ends.
    fn close_inner(&mut self);
}

/// Shows the fields of a value to a sink.
#[derive(Debug)]
pub struct Describe<'k, 's, S> {
    sink: &'k mut S,
    shape: &'s SampleShape,
    misc: u16,
    context: WordsContext,
    /// Of the next field.
    words: Option<Words>,
}

impl<'k, 's, S: Sink> Describe<'k, 's, S> {
    /// A pass that tells `sink`.
    pub fn new(sink: &'k mut S, shape: &'s SampleShape, misc: u16) -> Self {
        Describe { sink, shape, misc, context: WordsContext::default(), words: None }
    }

    /// With what its words depend on.
    pub fn context(self, context: WordsContext) -> Self {
        Describe { context, ..self }
    }

    fn say(&mut self, name: &'static str, wire: WireType, value: Shown<'_>) -> Step {
        match self.words.take() {
            Some(words) => self.sink.worded(name, wire, value, words),
            None => self.sink.field(name, wire, value),
        }
        Ok(())
    }
}

impl<'a, S: Sink> Pass<'a> for Describe<'_, '_, S> {
    fn misc(&self) -> u16 {
        self.misc
    }
    fn shape(&self) -> &SampleShape {
        self.shape
    }
    fn explain(&mut self, words: impl FnOnce(&WordsContext) -> Option<Words>) {
        self.words = words(&self.context);
    }

    fn u8(&mut self, name: &'static str, value: &mut u8) -> Step {
        self.say(name, WireType::U8, Shown::Unsigned(u64::from(*value)))
    }
    fn u16(&mut self, name: &'static str, value: &mut u16) -> Step {
        self.say(name, WireType::U16, Shown::Unsigned(u64::from(*value)))
    }
    fn u32(&mut self, name: &'static str, value: &mut u32) -> Step {
        self.say(name, WireType::U32, Shown::Unsigned(u64::from(*value)))
    }
    fn u64(&mut self, name: &'static str, value: &mut u64) -> Step {
        self.say(name, WireType::U64, Shown::Unsigned(*value))
    }
    fn i32(&mut self, name: &'static str, value: &mut i32) -> Step {
        self.say(name, WireType::I32, Shown::Signed(i64::from(*value)))
    }
    fn f64(&mut self, name: &'static str, value: &mut f64) -> Step {
        self.say(name, WireType::F64, Shown::Float(*value))
    }
    fn addr(&mut self, name: &'static str, value: &mut u64) -> Step {
        self.say(name, WireType::Address, Shown::Address(*value))
    }
    fn array<const N: usize>(&mut self, name: &'static str, value: &mut [u8; N]) -> Step {
        self.say(name, WireType::Bytes, Shown::Bytes(value.as_slice()))
    }
    fn name<const N: usize>(&mut self, name: &'static str, value: &mut [u8; N]) -> Step {
        self.say(name, WireType::Text, Shown::Text(until_nul(value.as_slice())))
    }
    fn cstr8(&mut self, name: &'static str, value: &mut CStr8<'a>) -> Step {
        self.say(name, WireType::Text, Shown::Text(value.bytes()))
    }
    fn cstr(&mut self, name: &'static str, value: &mut &'a [u8]) -> Step {
        self.say(name, WireType::Text, Shown::Text(value))
    }
    fn bytes(&mut self, name: &'static str, _: u64, value: &mut &'a [u8]) -> Step {
        self.say(name, WireType::Bytes, Shown::Bytes(value))
    }
    fn owned(&mut self, name: &'static str, _: u64, value: &mut Vec<u8>) -> Step {
        self.say(name, WireType::Bytes, Shown::Bytes(value))
    }
    fn rest(&mut self, name: &'static str, value: &mut &'a [u8]) -> Step {
        self.say(name, WireType::Bytes, Shown::Bytes(value))
    }
    fn u64s(&mut self, name: &'static str, _: u64, value: &mut U64s<'a>) -> Step {
        self.say(name, WireType::U64s, Shown::Unsigneds(*value))
    }
    fn addrs(&mut self, name: &'static str, _: u64, value: &mut U64s<'a>) -> Step {
        self.say(name, WireType::Addresses, Shown::Addresses(*value))
    }
    fn counted_addrs(&mut self, name: &'static str, value: &mut U64s<'a>) -> Step {
        self.addrs(name, 0, value)
    }
    fn counted_bytes_u32(&mut self, name: &'static str, value: &mut &'a [u8]) -> Step {
        self.rest(name, value)
    }
    fn counted_bytes_u64(&mut self, name: &'static str, value: &mut &'a [u8]) -> Step {
        self.rest(name, value)
    }
    fn list<T: Element>(&mut self, name: &'static str, _: u64, value: &mut List<'a, T>) -> Step {
        self.sink.open_list(name);
        for mut element in value.iter() {
            self.sink.open_element();
            element.fields(self)?;
            self.sink.close_element();
        }
        self.sink.close_list();
        Ok(())
    }
    fn vec_of<T: Fields<'a> + Clone>(
        &mut self,
        name: &'static str,
        _: u64,
        value: &mut Vec<T>,
        _: &T,
    ) -> Step {
        self.sink.open_list(name);
        for element in value {
            self.sink.open_element();
            element.fields(self)?;
            self.sink.close_element();
        }
        self.sink.close_list();
        Ok(())
    }
    fn header_string(&mut self, name: &'static str, value: &mut HeaderString<'a>) -> Step {
        self.say(name, WireType::Text, Shown::Text(value.bytes()))
    }
    fn strings(&mut self, name: &'static str, _: u64, value: &mut Vec<HeaderString<'a>>) -> Step {
        self.say(name, WireType::Texts, Shown::Texts(value))
    }
    fn inner<T: Fields<'a>>(&mut self, name: &'static str, value: &mut T) -> Step {
        self.sink.open_inner(name);
        value.fields(self)?;
        self.sink.close_inner();
        Ok(())
    }
    fn bitfield(&mut self, name: &'static str, _: &[u8], value: &mut u64) -> Step {
        self.say(name, WireType::U64, Shown::Address(*value))
    }
}
