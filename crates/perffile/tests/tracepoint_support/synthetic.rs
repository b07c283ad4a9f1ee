//! A recording that never was: every event of the running kernel with made-up payloads, for `perf` to read.

use perffile::tracepoint::{Abi, Endian, EventFormat, FieldKind, System, TracingData};

use super::noise::Noise;

const SAMPLE_TYPE: u64 = 1 << 16 | 1 << 1 | 1 << 2 | 1 << 10;
const ATTR_SIZE: usize = 128;
/// Payloads per event: all zero, small numbers, all bits, noise.
const ROUNDS: u64 = 4;

/// A little-endian file with the tracing data of these formats.
pub(crate) fn synthetic_recording(formats: &[(String, Vec<u8>)], seed: u64) -> Vec<u8> {
    let mut noise = Noise::new(seed);
    let parsed: Vec<EventFormat> = formats
        .iter()
        .map(|(_, text)| EventFormat::parse(text, Abi::new(Endian::Little, 8)).unwrap())
        .collect();
    let mut data = Vec::new();
    let mut time = 1_000_000_000u64;
    for round in 0..ROUNDS {
        for format in &parsed {
            let payload = payload(format, round, &mut noise);
            let id = format.id.unwrap();
            let size = 8 + 8 + 8 + 8 + 4 + payload.len();
            data.extend(9u32.to_le_bytes());
            data.extend(1u16.to_le_bytes());
            data.extend((size as u16).to_le_bytes());
            data.extend(id.to_le_bytes());
            data.extend([1u32.to_le_bytes(), 1u32.to_le_bytes()].concat());
            time += 1_000_000;
            data.extend(time.to_le_bytes());
            data.extend((payload.len() as u32).to_le_bytes());
            data.extend(payload);
        }
    }
    assemble(&parsed, &data, &tracing_data(formats))
}

fn tracing_data(formats: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut systems: Vec<System> = Vec::new();
    for (name, text) in formats {
        if systems.last().is_none_or(|last| last.name != name.as_bytes()) {
            systems.push(System { name: name.as_bytes(), formats: Vec::new() });
        }
        systems.last_mut().unwrap().formats.push(text);
    }
    let header_page = std::fs::read("/sys/kernel/tracing/events/header_page").unwrap_or_default();
    let header_event = std::fs::read("/sys/kernel/tracing/events/header_event").unwrap_or_default();
    TracingData {
        version: b"0.6",
        big_endian_flag: 0,
        long_size: 8,
        page_size: 4096,
        header_page: &header_page,
        header_event: &header_event,
        systems,
        printk_formats: b"0xffffffff00001000 : \"a string of the kernel\"\n",
        saved_cmdlines: Some(b""),
        ..TracingData::default()
    }
    .encode()
}

/// Header, attributes, ids, data, feature table, tracing data.
fn assemble(formats: &[EventFormat], data: &[u8], tracing_data: &[u8]) -> Vec<u8> {
    let attrs_at = 104usize;
    let ids_at = attrs_at + formats.len() * (ATTR_SIZE + 16);
    let data_at = ids_at + formats.len() * 8;
    let table_at = data_at + data.len();
    let mut file = b"PERFILE2".to_vec();
    let mut push =
        |values: &[usize]| values.iter().for_each(|value| file.extend((*value as u64).to_le_bytes()));
    push(&[
        104,
        ATTR_SIZE + 16,
        attrs_at,
        formats.len() * (ATTR_SIZE + 16),
        data_at,
        data.len(),
        0,
        0,
        2,
        0,
        0,
        0,
    ]);
    for (index, format) in formats.iter().enumerate() {
        let mut attr = vec![0u8; ATTR_SIZE];
        attr[..4].copy_from_slice(&2u32.to_le_bytes());
        attr[4..8].copy_from_slice(&(ATTR_SIZE as u32).to_le_bytes());
        attr[8..16].copy_from_slice(&format.id.unwrap().to_le_bytes());
        attr[16..24].copy_from_slice(&1u64.to_le_bytes());
        attr[24..32].copy_from_slice(&SAMPLE_TYPE.to_le_bytes());
        // sample_id_all
        attr[40..48].copy_from_slice(&(1u64 << 18).to_le_bytes());
        file.extend(attr);
        file.extend(((ids_at + index * 8) as u64).to_le_bytes());
        file.extend(8u64.to_le_bytes());
    }
    for format in formats {
        file.extend(format.id.unwrap().to_le_bytes());
    }
    file.extend(data);
    file.extend(((table_at + 16) as u64).to_le_bytes());
    file.extend((tracing_data.len() as u64).to_le_bytes());
    file.extend(tracing_data);
    file
}

/// A payload whose locators are right and whose texts end; everything else as the round wants it.
fn payload(format: &EventFormat, round: u64, noise: &mut Noise) -> Vec<u8> {
    let end = |field: &perffile::tracepoint::Field| (field.offset + field.size) as usize;
    let fixed = format.fields.iter().map(end).max().unwrap_or(0).next_multiple_of(8);
    let mut payload: Vec<u8> = (0..fixed)
        .map(|_| match round {
            0 => 0,
            2 => 0xff,
            _ => noise.byte(),
        })
        .collect();
    payload[..2].copy_from_slice(&(format.id.unwrap() as u16).to_le_bytes());
    for field in format.own_fields() {
        let at = field.offset as usize;
        match field.kind {
            FieldKind::Scalar(_) | FieldKind::Pointer(_) if round == 1 => {
                let value = (noise.next() % 20).to_le_bytes();
                payload[at..at + field.size as usize].copy_from_slice(&value[..field.size as usize]);
            }
            FieldKind::Chars => {
                let text = b"text of sixteen+";
                for (index, byte) in payload[at..at + field.size as usize].iter_mut().enumerate() {
                    if round != 3 || !field.c_type.contains("u8") {
                        *byte = if index + 1 < field.size as usize { text[index % 16] } else { 0 };
                    }
                }
            }
            FieldKind::Dynamic { relative, chars, .. } => {
                let content: &[u8] =
                    if chars { b"dynamic\0" } else { &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0] };
                let base = if relative { at + field.size as usize } else { 0 };
                let locator = (content.len() as u32) << 16 | (payload.len() - base) as u32;
                payload[at..at + 4].copy_from_slice(&locator.to_le_bytes());
                payload.extend_from_slice(content);
            }
            _ => {}
        }
    }
    // The raw size and its four bytes fill whole words.
    while (payload.len() + 4) % 8 != 0 {
        payload.push(0);
    }
    payload
}
