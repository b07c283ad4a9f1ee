//! Single parts: an attr, a record's body, a feature section, a tracepoint's format, a compressed stream.

use super::show::Shown;
use super::walk::everything;
use perffile::tracepoint::{Abi, Catalog, NoSymbols, PrintkFormats, Tracepoint, TracingData};
use perffile::wire::attr::{AttrFlags, BranchSampleType, EventAttr, ReadFormat, SampleShape, SampleType};
use perffile::wire::decode::Decoder;
use perffile::wire::endian::{Be, ByteOrder, Le, Order};
use perffile::wire::event_type::EventType;
use perffile::wire::feature::Feature;
use perffile::wire::head::RecordHead;
use perffile::wire::pass::CpuCounts;
use perffile::wire::record::{Record, kind};
use perffile::wire::sample::SampleView;
use perffile::wire::sample::layout::{SampleLayout, TrailerLayout};

/// An attr, in both byte orders.
pub fn attr(bytes: &[u8]) {
    one_attr::<Le>(bytes);
    one_attr::<Be>(bytes);
}

fn one_attr<O: Order>(bytes: &[u8]) {
    let shape = SampleShape::default();
    let mut decoder = Decoder::<O, _>::new(bytes, &shape, 0);
    let Ok(attr) = decoder.value::<EventAttr>() else { return };
    let _ = (attr.sample_type.names(), attr.flags.names(), attr.read_format.names(), attr.default_period());
    let body = decoder.remainder();
    let layout = SampleLayout::new(attr.shape(), O::ORDER);
    let trailer = TrailerLayout::new(&attr.shape());
    assert!(trailer.size() <= 64);
    view(body, &layout);
}

fn view(body: &[u8], layout: &SampleLayout) {
    let view = SampleView::new(body, layout, 0);
    let _ = (view.ip(), view.pid(), view.tid(), view.time(), view.addr(), view.period(), view.cpu());
    let fetched = view.callchain();
    match (view.decode(), view.essentials()) {
        (Ok((sample, _)), Ok(essentials)) => {
            assert_eq!(sample.ip.unwrap_or_default(), essentials.ip);
            assert_eq!(sample.callchain.unwrap_or_default(), essentials.callchain);
            assert_eq!(fetched.unwrap_or_default(), essentials.callchain);
        }
        (Ok(_), Err(error)) => panic!("the whole sample can be decoded, its essentials cannot: {error}"),
        (Err(_), _) => {}
    }
}

/// A record's body; the first byte tells the type, the next ones the shape of its event.
pub fn record(bytes: &[u8]) {
    one_record::<Le>(bytes);
    one_record::<Be>(bytes);
}

fn one_record<O: Order>(bytes: &[u8]) {
    let Some((&[number, misc_low, misc_high, read, branch], rest)) = bytes.split_first_chunk::<5>() else {
        return;
    };
    let Some((types, rest)) = rest.split_first_chunk::<4>() else { return };
    let Some((masks, body)) = rest.split_first_chunk::<2>() else { return };
    let misc = u16::from_le_bytes([misc_low, misc_high]);
    let shape = SampleShape {
        sample_type: SampleType(u64::from(u32::from_le_bytes(*types))),
        read_format: ReadFormat(u64::from(read)),
        branch_sample_type: BranchSampleType(u64::from(branch) << 14),
        sample_regs_user: u64::from(masks[0]),
        sample_regs_intr: u64::from(masks[1]),
        sample_id_all: true,
    };
    let Ok((mut record, rest)) = Record::decode::<O>(u32::from(number), body, &shape, misc) else { return };
    let mut shown = Shown::default();
    record.describe(&mut shown, &shape, misc);
    assert_eq!(shown.depth(), 0, "what is opened is closed");
    there_and_back::<O>(&mut record, body, rest, &shape, misc);
    view(body, &SampleLayout::new(shape, O::ORDER));
}

/// What was read is written again byte for byte, and what is written in the other order is read as the same values.
fn there_and_back<O: Order>(
    record: &mut Record<'_>,
    body: &[u8],
    rest: &[u8],
    shape: &SampleShape,
    misc: u16,
) {
    let read = &body[..body.len() - rest.len()];
    assert_eq!(record.size(shape, misc), read.len(), "{record:?}");
    let mut out = Vec::new();
    record.encode::<O>(&mut out, shape, misc).expect("what was read can be written");
    assert_eq!(out, read, "{record:?}");
}

/// A feature section; the first byte tells the bit.
pub fn feature(bytes: &[u8]) {
    let Some((bit, section)) = bytes.split_first() else { return };
    one_feature::<Le>(u32::from(*bit), section);
    one_feature::<Be>(u32::from(*bit), section);
}

fn one_feature<O: Order>(bit: u32, section: &[u8]) {
    let Ok((mut feature, rest)) = Feature::decode::<O>(bit, section, CpuCounts::default()) else { return };
    let mut shown = Shown::default();
    feature.describe(&mut shown);
    assert_eq!(shown.depth(), 0, "what is opened is closed");
    let mut out = Vec::new();
    feature.encode::<O>(&mut out).expect("what was read can be written");
    assert_eq!(out, &section[..section.len() - rest.len()], "{feature:?}");
}

/// A format with its `print fmt`, then behind a NUL a payload; and all of it as a blob of tracing data.
pub fn tracepoint(bytes: &[u8]) {
    if let Ok(data) = TracingData::parse(bytes) {
        let catalog = Catalog::new(&data);
        for (id, _) in catalog.iter().take(100) {
            catalog.write_text(id, bytes, &NoSymbols, &mut Vec::new());
        }
    }
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (format, payload) = bytes.split_at(end);
    for (order, long_size) in [(ByteOrder::Little, 8), (ByteOrder::Big, 4)] {
        let Ok(tracepoint) = Tracepoint::parse("fuzz", format, Abi::new(order, long_size)) else { continue };
        let mut text = Vec::new();
        tracepoint.write_text(payload, &NoSymbols, &PrintkFormats::default(), &mut text);
    }
}

/// The zstd stream of a pipe recording: cut into compressed records at places that the first bytes tell.
pub fn compressed(bytes: &[u8]) {
    let Some((&[new, piece], stream)) = bytes.split_first_chunk::<2>() else { return };
    let mut file = pipe_start();
    for piece in stream.chunks(usize::from(piece).max(1) * 64) {
        if new & 1 == 0 {
            push(&mut file, kind::COMPRESSED, piece);
        } else {
            let mut body = (piece.len() as u64).to_le_bytes().to_vec();
            body.extend_from_slice(piece);
            body.resize(body.len().next_multiple_of(8), 0);
            push(&mut file, kind::COMPRESSED2, &body);
        }
    }
    everything(file);
}

/// The start of a pipe stream with one event, whose samples have IP, TID and TIME.
pub fn pipe_start() -> Vec<u8> {
    use perffile::wire::encode::Encoder;
    use perffile::wire::pass::Fields as _;
    let mut attr = EventAttr {
        kind: EventType::SOFTWARE,
        size: 64,
        sample_type: SampleType::IP | SampleType::TID | SampleType::TIME,
        flags: AttrFlags::sample_id_all,
        ..EventAttr::default()
    };
    let mut file = b"PERFILE2\x10\0\0\0\0\0\0\0".to_vec();
    let mut body = Vec::new();
    let shape = SampleShape::default();
    attr.fields(&mut Encoder::<Le>::new(&mut body, &shape, 0)).expect("an attr without a tail");
    push(&mut file, kind::HEADER_ATTR, &body);
    file
}

/// Appends a record.
pub fn push(file: &mut Vec<u8>, kind: u32, body: &[u8]) {
    let size = u16::try_from(body.len() + 8).expect("a record of less than 64 KiB");
    RecordHead { kind, misc: 0, size }.put::<Le>(file);
    file.extend_from_slice(body);
}
