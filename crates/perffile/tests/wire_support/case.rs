//! The golden cases, and how a record is taken apart for decoding.

use super::tree::{Tree, Value};
use perffile::wire::WireError;
use perffile::wire::attr::{AttrFlags, BranchSampleType, EventAttr, ReadFormat, SampleShape, SampleType};
use perffile::wire::decode::Decoder;
use perffile::wire::describe::Describe;
use perffile::wire::encode::Encoder;
use perffile::wire::endian::Order;
use perffile::wire::head::{HEAD_SIZE, RecordHead};
use perffile::wire::measure::Measure;
use perffile::wire::pass::Fields;
use perffile::wire::record::{Record, USER_RECORDS, kind};
use perffile::wire::sample::SampleId;
use perffile::wire::sample::layout::TrailerLayout;
use serde_json::Value as Json;
use std::path::Path;

/// The golden cases: bytes made by `tests/fixtures/golden/make.py` from the ABI alone.
pub(crate) fn golden() -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/golden/records.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// The cases of one section: `records`, `attrs`, `features`.
pub(crate) fn cases(golden: &Json, section: &str, at_least: usize) -> Vec<Json> {
    let cases = golden[section].as_array().unwrap().clone();
    assert!(cases.len() >= at_least, "{} cases in {section}", cases.len());
    cases
}

/// The bytes of a hex string.
pub(crate) fn bytes_of(hex: &Json) -> Vec<u8> {
    let digits: Vec<u32> = hex.as_str().unwrap().chars().map(|c| c.to_digit(16).unwrap()).collect();
    digits.as_chunks().0.iter().map(|[high, low]: &[u32; 2]| u8::try_from(high << 4 | low).unwrap()).collect()
}

/// What decides the layout of a case's record.
pub(crate) fn shape_of(attr: &Json) -> SampleShape {
    let word = |name: &str| attr[name].as_u64().unwrap_or(0);
    SampleShape {
        sample_type: SampleType(word("sample_type")),
        read_format: ReadFormat(word("read_format")),
        branch_sample_type: BranchSampleType(word("branch_sample_type")),
        sample_regs_user: word("sample_regs_user"),
        sample_regs_intr: word("sample_regs_intr"),
        sample_id_all: word("sample_id_all") != 0,
    }
}

/// Size of the trailer that a record of this type has.
pub(crate) fn trailer_size(number: u32, shape: &SampleShape) -> usize {
    if number == kind::SAMPLE || number >= USER_RECORDS { 0 } else { TrailerLayout::new(shape).size() }
}

/// A record taken apart: its typed body with what that leaves over, and its trailer.
#[derive(Debug)]
pub(crate) struct Parsed<'a> {
    pub(crate) head: RecordHead,
    pub(crate) shape: SampleShape,
    pub(crate) record: Record<'a>,
    pub(crate) rest: &'a [u8],
    pub(crate) sample_id: Option<SampleId>,
}

impl<'a> Parsed<'a> {
    /// Of a whole record, head included. Nothing of it may get lost: that is what [`Parsed::encode`] checks.
    pub(crate) fn new<O: Order>(bytes: &'a [u8], shape: &SampleShape) -> Result<Parsed<'a>, WireError> {
        let head = RecordHead::read::<O>(bytes).unwrap();
        let body = &bytes[HEAD_SIZE..];
        let trailer = trailer_size(head.kind, shape).min(body.len());
        let (body, trailer) = body.split_at(body.len() - trailer);
        let (record, rest) = Record::decode::<O>(head.kind, body, shape, head.misc)?;
        let sample_id = match trailer {
            [] => None,
            _ => Some(Decoder::<O, _>::new(trailer, shape, 0).value()?),
        };
        Ok(Parsed { head, shape: *shape, record, rest, sample_id })
    }

    /// The record in a byte order.
    pub(crate) fn encode<O: Order>(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.head.put::<O>(&mut out);
        let mut record = self.record.clone();
        record.encode::<O>(&mut out, &self.shape, self.head.misc).unwrap();
        assert_eq!(
            record.size(&self.shape, self.head.misc),
            out.len() - HEAD_SIZE,
            "the measured size is the written one"
        );
        out.extend_from_slice(self.rest);
        if let Some(mut id) = self.sample_id {
            id.fields(&mut Encoder::<O>::new(&mut out, &self.shape, 0)).unwrap();
        }
        out
    }

    /// Its fields.
    pub(crate) fn describe(&self) -> Value {
        Tree::of(|tree| self.record.clone().describe(tree, &self.shape, self.head.misc))
    }

    /// The fields of its trailer.
    pub(crate) fn describe_sample_id(&self) -> Option<Value> {
        let mut id = self.sample_id?;
        Some(Tree::of(|tree| id.fields(&mut Describe::new(tree, &self.shape, 0)).unwrap()))
    }
}

/// Decodes an attr, and what is left behind it.
pub(crate) fn attr_of<O: Order>(bytes: &[u8]) -> (EventAttr, usize) {
    let shape = SampleShape::default();
    let mut decoder = Decoder::<O, _>::new(bytes, &shape, 0);
    let attr = decoder.value().unwrap();
    (attr, decoder.remainder().len())
}

/// An attr in a byte order.
pub(crate) fn attr_bytes<O: Order>(attr: &EventAttr) -> Vec<u8> {
    let (mut out, shape) = (Vec::new(), SampleShape::default());
    attr.clone().fields(&mut Encoder::<O>::new(&mut out, &shape, 0)).unwrap();
    assert_eq!(Measure::of(&mut attr.clone(), &shape, 0), out.len());
    out
}

/// The fields of an attr.
pub(crate) fn attr_tree(attr: &EventAttr) -> Value {
    let shape = SampleShape::default();
    Tree::of(|tree| attr.clone().fields(&mut Describe::new(tree, &shape, 0)).unwrap())
}

/// The attr's flags by their names in the ABI, `precise_ip` as one.
pub(crate) fn flag(flags: AttrFlags, name: &str) -> u64 {
    if name == "precise_ip" {
        return u64::from(flags.precise_ip());
    }
    let (bit, _) =
        AttrFlags::NAMES.iter().find(|(_, known)| *known == name).unwrap_or_else(|| panic!("flag {name}"));
    u64::from(flags.has(*bit))
}
