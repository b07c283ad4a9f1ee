//! A record taken apart to be written again: in another byte order, or with other fields.

use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::wire::WireError;
use crate::wire::attr::SampleShape;
use crate::wire::encode::Encoder;
use crate::wire::endian::{ByteOrder, Order, with_order};
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::pass::Fields as _;
use crate::wire::record::{Record, USER_RECORDS};
use crate::wire::sample::SampleId;

/// Why something cannot be written.
pub(super) fn unwritable(error: WireError) -> Error {
    Error::new(ErrorKind::Unwritable(error.to_string()), None)
}

/// A record with all its fields.
#[derive(Clone, Debug)]
pub struct RecordParts<'e> {
    /// Its type and `misc`; its size is worked out when it is written.
    pub head: RecordHead,
    /// Its fields.
    pub record: Record<'e>,
    /// What its body holds behind the fields that are known.
    pub rest: &'e [u8],
    /// Its trailer, if it has one.
    pub id: Option<SampleId>,
    /// Which fields a sample or a trailer has.
    pub shape: SampleShape,
}

impl<'e> RecordParts<'e> {
    /// The parts of a record that was read.
    ///
    /// # Errors
    /// A record whose fields cannot be decoded, or of an unknown type.
    pub fn of(event: &Event<'e>) -> Result<RecordParts<'e>> {
        let (record, rest) = event.record()?;
        if matches!(record, Record::Unknown(_)) {
            let what = format!("nothing is known of records of type {}", event.head().kind);
            return Err(Error::new(ErrorKind::Unwritable(what), Some(event.place())));
        }
        let (body, shape) = event.body_and_shape();
        let id = event.sample_id();
        if id.is_none() && body.len() < event.body().len() {
            let what = "the end of the record, which says when it happened, is not all there".to_owned();
            return Err(Error::new(ErrorKind::Unwritable(what), Some(event.place())));
        }
        Ok(RecordParts { head: event.head(), record, rest, id, shape })
    }

    /// Puts the bytes of the record into `out`, in place of what is there. The shape says which fields of a sample are written.
    ///
    /// # Errors
    /// A record that would be longer than one can be, a count that does not fit its wire type.
    pub fn encode(&mut self, order: ByteOrder, out: &mut Vec<u8>) -> Result<()> {
        with_order!(order, O => self.encode_as::<O>(out))
    }

    fn encode_as<O: Order>(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let RecordParts { head, record, rest, id, shape } = self;
        out.clear();
        head.put::<O>(out);
        record.encode::<O>(out, shape, head.misc).map_err(unwritable)?;
        out.extend_from_slice(rest);
        if let Some(id) = id {
            id.fields(&mut Encoder::<O>::new(out, shape, 0)).map_err(unwritable)?;
        }
        set_size::<O>(head.kind, out)
    }
}

/// Where a head says the size of its record.
const SIZE_AT: usize = 6;

/// Says in the head of a record how long it is.
fn set_size<O: Order>(number: u32, record: &mut [u8]) -> Result<()> {
    let said = u16::try_from(record.len()).ok();
    // The kernel's records are words, and perf reads them as such.
    let fits = number >= USER_RECORDS || record.len().is_multiple_of(8);
    let Some(said) = said.filter(|_| fits) else {
        let what = format!(
            "a record of type {number} would have {} bytes: at most 65,535, and of the kernel's records a multiple of eight",
            record.len()
        );
        return Err(Error::new(ErrorKind::Unwritable(what), None));
    };
    record.iter_mut().skip(SIZE_AT).zip(O::put_u16(said)).for_each(|(byte, said)| *byte = said);
    Ok(())
}

/// A record of perf's own.
pub(super) fn user_record<O: Order>(number: u32, misc: u16, body: &[u8]) -> Result<Vec<u8>> {
    let mut record = Vec::with_capacity(HEAD_SIZE + body.len());
    RecordHead { kind: number, misc, size: 0 }.put::<O>(&mut record);
    record.extend_from_slice(body);
    set_size::<O>(number, &mut record)?;
    Ok(record)
}
