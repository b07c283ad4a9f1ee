//! The fields that nearly every reader of samples wants, decoded at the speed of code written for one layout.
//!
//! The declaration of [`Sample`] is compiled once for each layout that perf writes by default, with the shape as a
//! constant ([`FixedShape`]), so that no question about `sample_type` is left. Which of them fits is found out once per
//! event. Any other layout goes through the same declaration with the shape asked at run time.

use super::Sample;
use crate::wire::WireError;
use crate::wire::attr::{SampleShape, SampleType as T};
use crate::wire::decode::{Decoder, FixedShape, ShapeSource};
use crate::wire::endian::{Be, ByteOrder, Le, Order};
use crate::wire::words::U64s;

/// The fields that nearly every reader of samples wants; 0 or empty where the event does not record them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Essentials<'a> {
    /// Instruction pointer.
    pub ip: u64,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Time, ns of the recording's clock.
    pub time: u64,
    /// CPU number.
    pub cpu: u32,
    /// Period.
    pub period: u64,
    /// Call chain, innermost first, context markers included.
    pub callchain: U64s<'a>,
    /// Bytes behind the last field: none, unless the record's size is wrong or the event records fields unknown here.
    pub left: usize,
}

/// Decodes the essentials of one layout.
pub(crate) type Decode = for<'a> fn(&'a [u8], &SampleShape) -> Result<Essentials<'a>, WireError>;

#[inline(always)]
fn decode<'a, O: Order>(body: &'a [u8], shape: impl ShapeSource) -> Result<Essentials<'a>, WireError> {
    let mut decoder = Decoder::<O, _>::new(body, shape, 0);
    let sample: Sample<'a> = decoder.value()?;
    Ok(Essentials {
        left: decoder.remainder().len(),
        ip: sample.ip.unwrap_or_default(),
        pid: sample.pid.unwrap_or_default(),
        tid: sample.tid.unwrap_or_default(),
        time: sample.time.unwrap_or_default(),
        cpu: sample.cpu.unwrap_or_default(),
        period: sample.period.unwrap_or_default(),
        callchain: sample.callchain.unwrap_or_default(),
    })
}

fn fixed<'a, O: Order, const TYPE: u64>(
    body: &'a [u8],
    _: &SampleShape,
) -> Result<Essentials<'a>, WireError> {
    decode::<O>(body, FixedShape::<TYPE>)
}

fn any<'a, O: Order>(body: &'a [u8], shape: &SampleShape) -> Result<Essentials<'a>, WireError> {
    decode::<O>(body, shape)
}

const PLAIN: u64 = T::IP.0 | T::TID.0 | T::TIME.0 | T::PERIOD.0;
const CPU: u64 = T::CPU.0;
const CHAIN: u64 = T::CALLCHAIN.0;
const IDENTIFIER: u64 = T::IDENTIFIER.0;
const ID: u64 = T::ID.0;

fn of_order<O: Order>(sample_type: T) -> Decode {
    // What `perf record` asks for with and without -a, -g and more than one event; in the latter case IDENTIFIER where
    // the events differ in what they sample, else ID.
    const PLAIN_CPU: u64 = PLAIN | CPU;
    const PLAIN_CHAIN: u64 = PLAIN | CHAIN;
    const PLAIN_CPU_CHAIN: u64 = PLAIN | CPU | CHAIN;
    const IDENTIFIER_PLAIN: u64 = IDENTIFIER | PLAIN;
    const IDENTIFIER_CPU: u64 = IDENTIFIER | PLAIN | CPU;
    const IDENTIFIER_CHAIN: u64 = IDENTIFIER | PLAIN | CHAIN;
    const IDENTIFIER_CPU_CHAIN: u64 = IDENTIFIER | PLAIN | CPU | CHAIN;
    const ID_PLAIN: u64 = ID | PLAIN;
    const ID_CPU: u64 = ID | PLAIN | CPU;
    const ID_CHAIN: u64 = ID | PLAIN | CHAIN;
    const ID_CPU_CHAIN: u64 = ID | PLAIN | CPU | CHAIN;
    match sample_type.0 {
        PLAIN => fixed::<O, PLAIN>,
        PLAIN_CPU => fixed::<O, PLAIN_CPU>,
        PLAIN_CHAIN => fixed::<O, PLAIN_CHAIN>,
        PLAIN_CPU_CHAIN => fixed::<O, PLAIN_CPU_CHAIN>,
        IDENTIFIER_PLAIN => fixed::<O, IDENTIFIER_PLAIN>,
        IDENTIFIER_CPU => fixed::<O, IDENTIFIER_CPU>,
        IDENTIFIER_CHAIN => fixed::<O, IDENTIFIER_CHAIN>,
        IDENTIFIER_CPU_CHAIN => fixed::<O, IDENTIFIER_CPU_CHAIN>,
        ID_PLAIN => fixed::<O, ID_PLAIN>,
        ID_CPU => fixed::<O, ID_CPU>,
        ID_CHAIN => fixed::<O, ID_CHAIN>,
        ID_CPU_CHAIN => fixed::<O, ID_CPU_CHAIN>,
        _ => any::<O>,
    }
}

/// The decoder for samples of this shape.
pub(crate) fn decoder(shape: &SampleShape, order: ByteOrder) -> Decode {
    match order {
        ByteOrder::Little => of_order::<Le>(shape.sample_type),
        ByteOrder::Big => of_order::<Be>(shape.sample_type),
    }
}
