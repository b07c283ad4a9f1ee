//! Where the fields of a sample lie, worked out once per event from the one declaration.

use super::essentials::{self, Decode};
use super::{Sample, SampleId};
use crate::wire::WireError;
use crate::wire::attr::{SampleShape, SampleType as T};
use crate::wire::endian::{ByteOrder, Order};
use crate::wire::list::List;
use crate::wire::pass::{Element, Fields, Pass, Step};
use crate::wire::text::{CStr8, HeaderString};
use crate::wire::words::U64s;

/// The pass that notes at which offset each field begins, up to the first field of variable size.
struct Locate<'s> {
    shape: &'s SampleShape,
    at: u16,
    found: Vec<(&'static str, u16)>,
}

impl<'s> Locate<'s> {
    /// Offsets of the fields of `value` up to where they depend on the bytes, and the offset of that place.
    fn run<'a>(value: &mut impl Fields<'a>, shape: &'s SampleShape) -> (Vec<(&'static str, u16)>, u16) {
        let mut pass = Locate { shape, at: 0, found: Vec::new() };
        // The error is the sign that a field of variable size was met.
        let _ = value.fields(&mut pass);
        (pass.found, pass.at)
    }

    fn fixed(&mut self, name: &'static str, size: u16) -> Step {
        self.found.push((name, self.at));
        self.at += size;
        Ok(())
    }

    fn variable(&mut self, name: &'static str) -> Step {
        self.found.push((name, self.at));
        Err(WireError::unreadable(name, 0))
    }
}

impl<'a> Pass<'a> for Locate<'_> {
    fn misc(&self) -> u16 {
        0
    }
    fn shape(&self) -> &SampleShape {
        self.shape
    }

    fn u8(&mut self, name: &'static str, _: &mut u8) -> Step {
        self.fixed(name, 1)
    }
    fn u16(&mut self, name: &'static str, _: &mut u16) -> Step {
        self.fixed(name, 2)
    }
    fn u32(&mut self, name: &'static str, _: &mut u32) -> Step {
        self.fixed(name, 4)
    }
    fn u64(&mut self, name: &'static str, _: &mut u64) -> Step {
        self.fixed(name, 8)
    }
    fn i32(&mut self, name: &'static str, _: &mut i32) -> Step {
        self.fixed(name, 4)
    }
    fn f64(&mut self, name: &'static str, _: &mut f64) -> Step {
        self.fixed(name, 8)
    }
    fn addr(&mut self, name: &'static str, _: &mut u64) -> Step {
        self.fixed(name, 8)
    }
    fn array<const N: usize>(&mut self, name: &'static str, _: &mut [u8; N]) -> Step {
        self.variable(name)
    }
    fn name<const N: usize>(&mut self, name: &'static str, _: &mut [u8; N]) -> Step {
        self.variable(name)
    }
    fn cstr8(&mut self, name: &'static str, _: &mut CStr8<'a>) -> Step {
        self.variable(name)
    }
    fn cstr(&mut self, name: &'static str, _: &mut &'a [u8]) -> Step {
        self.variable(name)
    }
    fn bytes(&mut self, name: &'static str, _: u64, _: &mut &'a [u8]) -> Step {
        self.variable(name)
    }
    fn owned(&mut self, name: &'static str, _: u64, _: &mut Vec<u8>) -> Step {
        self.variable(name)
    }
    fn rest(&mut self, name: &'static str, _: &mut &'a [u8]) -> Step {
        self.variable(name)
    }
    fn u64s(&mut self, name: &'static str, _: u64, _: &mut U64s<'a>) -> Step {
        self.variable(name)
    }
    fn addrs(&mut self, name: &'static str, _: u64, _: &mut U64s<'a>) -> Step {
        self.variable(name)
    }
    fn counted_addrs(&mut self, name: &'static str, _: &mut U64s<'a>) -> Step {
        self.variable(name)
    }
    fn counted_bytes_u32(&mut self, name: &'static str, _: &mut &'a [u8]) -> Step {
        self.variable(name)
    }
    fn counted_bytes_u64(&mut self, name: &'static str, _: &mut &'a [u8]) -> Step {
        self.variable(name)
    }
    fn list<T: Element>(&mut self, name: &'static str, _: u64, _: &mut List<'a, T>) -> Step {
        self.variable(name)
    }
    fn vec_of<T: Fields<'a> + Clone>(&mut self, name: &'static str, _: u64, _: &mut Vec<T>, _: &T) -> Step {
        self.variable(name)
    }
    fn header_string(&mut self, name: &'static str, _: &mut HeaderString<'a>) -> Step {
        self.variable(name)
    }
    fn strings(&mut self, name: &'static str, _: u64, _: &mut Vec<HeaderString<'a>>) -> Step {
        self.variable(name)
    }
    fn inner<T: Fields<'a>>(&mut self, name: &'static str, value: &mut T) -> Step {
        let start = self.at;
        self.found.push((name, start));
        let known = self.found.len();
        let step = value.fields(self);
        // The fields inside are nobody's business; what could not be measured has no known end.
        self.found.truncate(known);
        if step.is_err() {
            self.at = start;
        }
        step
    }
    fn bitfield(&mut self, name: &'static str, _: &[u8], _: &mut u64) -> Step {
        self.fixed(name, 8)
    }
}

/// Offset of a field in bytes from the start of the body, if it has a fixed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(u16);

impl Slot {
    const NONE: Slot = Slot(u16::MAX);

    /// The offset, or one that lies behind the end of any body: for a fetch that checks the end anyway.
    #[inline(always)]
    pub(crate) fn offset_or_beyond(self) -> usize {
        self.0 as usize
    }

    #[inline(always)]
    pub(crate) fn offset(self) -> Option<usize> {
        (self != Slot::NONE).then_some(self.0 as usize)
    }

    fn of(found: &[(&'static str, u16)], name: &str) -> Slot {
        found.iter().find(|(n, _)| *n == name).map_or(Slot::NONE, |(_, at)| Slot(*at))
    }
}

/// Where the fields of an event's samples lie, as far as that does not depend on the sample.
#[derive(Clone, Debug)]
pub struct SampleLayout {
    pub(crate) shape: SampleShape,
    pub(crate) order: ByteOrder,
    pub(crate) essentials: Decode,
    pub(crate) identifier: Slot,
    pub(crate) ip: Slot,
    pub(crate) pid: Slot,
    pub(crate) tid: Slot,
    pub(crate) time: Slot,
    pub(crate) addr: Slot,
    pub(crate) id: Slot,
    pub(crate) stream_id: Slot,
    pub(crate) cpu: Slot,
    pub(crate) period: Slot,
    /// The READ block, whose size may depend on the sample.
    pub(crate) read: Slot,
    /// The call chain, unless a block of variable size precedes it.
    pub(crate) callchain: Slot,
    /// What samples are held against, if they have nothing but fields of fixed size and perhaps a call chain.
    pub(crate) simple: Option<SimpleSize>,
}

/// The size of samples that have nothing but fields of fixed size and perhaps a call chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SimpleSize {
    /// In bytes, without what is in the chain.
    fixed: usize,
    /// Where the chain has its count.
    chain_at: Option<usize>,
}

impl SimpleSize {
    /// Whether a sample has it. `O` is the byte order of the recording.
    #[inline(always)]
    pub(crate) fn is_of<O: Order>(self, body: &[u8]) -> bool {
        let chain = match self.chain_at {
            Some(at) => O::ORDER.u64_at(body, at),
            None => Some(0),
        };
        let left = body.len().checked_sub(self.fixed);
        left.is_some_and(|left| left.is_multiple_of(8) && chain == Some(left as u64 / 8))
    }
}

/// Fields of fixed size, and the call chain that comes behind them.
const SIMPLE: T = T(T::IDENTIFIER.0
    | T::IP.0
    | T::TID.0
    | T::TIME.0
    | T::ADDR.0
    | T::ID.0
    | T::STREAM_ID.0
    | T::CPU.0
    | T::PERIOD.0
    | T::CALLCHAIN.0);

impl SampleLayout {
    /// The layout of samples of this shape in a recording of this byte order.
    pub fn new(shape: SampleShape, order: ByteOrder) -> Self {
        let (found, end) = Locate::run(&mut Sample::default(), &shape);
        let slot = |name| Slot::of(&found, name);
        let count_size = if shape.sample_type.has(T::CALLCHAIN) { 8 } else { 0 };
        let fixed = usize::from(end) + count_size;
        let callchain = slot("callchain");
        let simple =
            SIMPLE.has(shape.sample_type).then(|| SimpleSize { fixed, chain_at: callchain.offset() });
        SampleLayout {
            shape,
            order,
            essentials: essentials::decoder(&shape, order),
            identifier: slot("identifier"),
            ip: slot("ip"),
            pid: slot("pid"),
            tid: slot("tid"),
            time: slot("time"),
            addr: slot("addr"),
            id: slot("id"),
            stream_id: slot("stream_id"),
            cpu: slot("cpu"),
            period: slot("period"),
            read: slot("read"),
            callchain,
            simple,
        }
    }

    /// What decides this layout.
    pub fn shape(&self) -> &SampleShape {
        &self.shape
    }

    /// Offset of the time in bytes from the start of the body, if samples have one.
    pub fn time_offset(&self) -> Option<usize> {
        self.time.offset()
    }

    /// Offset of the period in bytes from the start of the body, if samples have one.
    pub fn period_offset(&self) -> Option<usize> {
        self.period.offset()
    }

    /// Offset of the counter values in bytes from the start of the body, if samples have some.
    pub fn read_offset(&self) -> Option<usize> {
        self.read.offset()
    }

    /// Offset of the event id in bytes from the start of the body: IDENTIFIER if there is one, else ID.
    pub fn id_offset(&self) -> Option<usize> {
        self.identifier.offset().or(self.id.offset())
    }
}

/// Where the fields of the trailer lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrailerLayout {
    size: u16,
    time: Slot,
    id: Slot,
    identifier: Slot,
}

impl TrailerLayout {
    /// The trailer of records of events of this shape; of no size without `sample_id_all`.
    pub fn new(shape: &SampleShape) -> Self {
        let shape = if shape.sample_id_all { *shape } else { SampleShape::default() };
        let (found, size) = Locate::run(&mut SampleId::default(), &shape);
        let slot = |name| Slot::of(&found, name);
        TrailerLayout { size, time: slot("time"), id: slot("id"), identifier: slot("identifier") }
    }

    /// Size in bytes.
    #[inline]
    pub fn size(&self) -> usize {
        usize::from(self.size)
    }

    /// Offset of the time from the start of the trailer.
    #[inline]
    pub fn time_offset(&self) -> Option<usize> {
        self.time.offset()
    }

    /// Offset of the event id from the start of the trailer.
    pub fn id_offset(&self) -> Option<usize> {
        self.identifier.offset().or(self.id.offset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::attr::ReadFormat;

    #[test]
    fn offsets_follow_the_kernels_order() {
        let shape = SampleShape {
            sample_type: T::IP | T::TID | T::TIME | T::ID | T::CPU | T::PERIOD | T::CALLCHAIN | T::IDENTIFIER,
            ..SampleShape::default()
        };
        let layout = SampleLayout::new(shape, ByteOrder::Little);
        // IDENTIFIER 0, IP 8, TID 16, TIME 24, ID 32, CPU 40, PERIOD 48, CALLCHAIN 56
        assert_eq!(layout.ip.offset(), Some(8));
        assert_eq!(layout.tid.offset(), Some(20));
        assert_eq!(layout.time_offset(), Some(24));
        assert_eq!(layout.id_offset(), Some(0));
        assert_eq!(layout.callchain.offset(), Some(56));
        assert_eq!(layout.addr.offset(), None);
    }

    #[test]
    fn a_group_read_hides_what_follows() {
        let sample_type = T::IP | T::READ | T::CALLCHAIN;
        let single = SampleShape { sample_type, read_format: ReadFormat::ID, ..SampleShape::default() };
        assert_eq!(SampleLayout::new(single, ByteOrder::Little).callchain.offset(), Some(24));
        let group = SampleShape { read_format: ReadFormat::ID | ReadFormat::GROUP, ..single };
        let layout = SampleLayout::new(group, ByteOrder::Little);
        assert_eq!((layout.read.offset(), layout.callchain.offset()), (Some(8), None));
    }

    #[test]
    fn trailer_has_no_size_without_sample_id_all() {
        let sample_type = T::TID | T::TIME | T::CPU | T::IDENTIFIER;
        let mut shape = SampleShape { sample_type, sample_id_all: true, ..SampleShape::default() };
        let trailer = TrailerLayout::new(&shape);
        assert_eq!((trailer.size(), trailer.time_offset(), trailer.id_offset()), (32, Some(8), Some(24)));
        shape.sample_id_all = false;
        assert_eq!(TrailerLayout::new(&shape).size(), 0);
    }
}
