//! Single fields of a sample, fetched where they lie.

use super::layout::{SampleLayout, Slot};
use super::{Essentials, Read, Sample};
use crate::wire::WireError;
use crate::wire::attr::SampleType;
use crate::wire::decode::Decoder;
use crate::wire::endian::with_order;
use crate::wire::pass::Fields;
use crate::wire::words::U64s;

/// A sample still in its bytes. Each call reads one field; [`SampleView::decode`] reads all.
#[derive(Clone, Copy, Debug)]
pub struct SampleView<'a> {
    body: &'a [u8],
    layout: &'a SampleLayout,
    misc: u16,
}

impl<'a> SampleView<'a> {
    /// A view of the body of a SAMPLE record (behind its eight-byte header).
    #[inline]
    pub fn new(body: &'a [u8], layout: &'a SampleLayout, misc: u16) -> Self {
        SampleView { body, layout, misc }
    }

    #[inline(always)]
    fn u64(&self, slot: Slot) -> Option<u64> {
        self.layout.order.u64_at(self.body, slot.offset_or_beyond())
    }

    #[inline(always)]
    fn u32(&self, slot: Slot) -> Option<u32> {
        self.layout.order.u32_at(self.body, slot.offset_or_beyond())
    }

    /// Instruction pointer.
    #[inline]
    pub fn ip(&self) -> Option<u64> {
        self.u64(self.layout.ip)
    }
    /// Process id.
    #[inline]
    pub fn pid(&self) -> Option<u32> {
        self.u32(self.layout.pid)
    }
    /// Thread id.
    #[inline]
    pub fn tid(&self) -> Option<u32> {
        self.u32(self.layout.tid)
    }
    /// Time, ns of the recording's clock.
    #[inline]
    pub fn time(&self) -> Option<u64> {
        self.u64(self.layout.time)
    }
    /// Data address.
    #[inline]
    pub fn addr(&self) -> Option<u64> {
        self.u64(self.layout.addr)
    }
    /// Event id: IDENTIFIER if there is one, else ID.
    #[inline]
    pub fn id(&self) -> Option<u64> {
        self.u64(self.layout.identifier).or_else(|| self.u64(self.layout.id))
    }
    /// Id of the very counter.
    #[inline]
    pub fn stream_id(&self) -> Option<u64> {
        self.u64(self.layout.stream_id)
    }
    /// CPU number.
    #[inline]
    pub fn cpu(&self) -> Option<u32> {
        self.u32(self.layout.cpu)
    }
    /// Period as recorded. Without one, [`EventAttr::default_period`](crate::wire::attr::EventAttr::default_period) stands in.
    #[inline]
    pub fn period(&self) -> Option<u64> {
        self.u64(self.layout.period)
    }

    /// The call chain, innermost first, context markers included; `None` without one or where its bytes are missing.
    #[inline]
    pub fn callchain(&self) -> Option<U64s<'a>> {
        let at = match self.layout.callchain.offset() {
            Some(at) => at,
            None => self.behind_read()?,
        };
        let count = usize::try_from(self.layout.order.u64_at(self.body, at)?).ok()?;
        let bytes = self.body.get(at + 8..)?.get(..count.checked_mul(8)?)?;
        Some(U64s::new(bytes, self.layout.order))
    }

    /// Offset of the call chain behind a READ block whose size depends on the sample.
    fn behind_read(&self) -> Option<usize> {
        if !self.layout.shape.sample_type.has(SampleType::CALLCHAIN) {
            return None;
        }
        let start = self.layout.read.offset()?;
        let bytes = self.body.get(start..)?;
        with_order!(self.layout.order, O => {
            let mut decoder = Decoder::<O, _>::new(bytes, &self.layout.shape, self.misc);
            Read::default().fields(&mut decoder).ok()?;
            Some(start + decoder.at())
        })
    }

    /// The fields that nearly every reader wants, in one go.
    ///
    /// # Errors
    /// The field at which the bytes end.
    #[inline]
    pub fn essentials(&self) -> Result<Essentials<'a>, WireError> {
        (self.layout.essentials)(self.body, &self.layout.shape)
    }

    /// Whether it has nothing but fields of fixed size and perhaps a call chain, and ends where they do: then nothing of it
    /// can be missing or too long, which is known without decoding it.
    #[inline(always)]
    pub fn is_simple(&self) -> bool {
        let size = self.layout.simple;
        size.is_some_and(|size| with_order!(self.layout.order, O => size.is_of::<O>(self.body)))
    }

    /// Every field, and the bytes behind the last one.
    ///
    /// # Errors
    /// The field at which the bytes end.
    pub fn decode(&self) -> Result<(Sample<'a>, &'a [u8]), WireError> {
        with_order!(self.layout.order, O => {
            let mut decoder = Decoder::<O, _>::new(self.body, &self.layout.shape, self.misc);
            let sample = decoder.value::<Sample>()?;
            Ok((sample, decoder.remainder()))
        })
    }

    /// What keeps a sample of this size from being one, in words, if `left` bytes are behind its fields: of an event whose
    /// fields are all known here there can be none.
    #[inline]
    pub fn too_long(&self, left: usize) -> Option<String> {
        let is_wrong = left > 0 && self.layout.shape.sample_type.unnamed() == 0;
        is_wrong.then(|| format!("a sample has {left} bytes behind its fields: its size is wrong"))
    }

    /// The bytes of the sample behind its eight-byte header.
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// `misc` of the record.
    pub fn misc(&self) -> u16 {
        self.misc
    }

    /// Which fields the event records.
    pub fn layout(&self) -> &'a SampleLayout {
        self.layout
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::attr::{SampleShape, SampleType as T};
    use crate::wire::endian::ByteOrder;

    #[test]
    fn simple_is_what_decodes_without_anything_left() {
        let plain = T::IDENTIFIER | T::IP | T::TID | T::TIME | T::CPU | T::PERIOD;
        for (sample_type, can_be) in [
            (plain, true),
            (plain | T::CALLCHAIN, true),
            (plain | T::CALLCHAIN | T::RAW, false),
            (plain | T(1 << 60), false),
        ] {
            let layout =
                SampleLayout::new(SampleShape { sample_type, ..SampleShape::default() }, ByteOrder::Little);
            for words in 0..12usize {
                // The count of the chain is the seventh word.
                for count in (0..6).chain([u64::MAX, 1 << 61]) {
                    for more in [0, 4] {
                        let mut body = [vec![1; 6], vec![count], vec![7; 5]].concat();
                        body.truncate(words);
                        let mut body: Vec<u8> = body.into_iter().flat_map(u64::to_le_bytes).collect();
                        body.resize(body.len() + more, 0);
                        let view = SampleView::new(&body, &layout, 0);
                        let is_whole = view.essentials().is_ok_and(|essentials| essentials.left == 0);
                        assert_eq!(
                            view.is_simple(),
                            can_be && is_whole,
                            "{sample_type:?}, {words} words, {count}, {more}"
                        );
                    }
                }
            }
        }
    }
}
