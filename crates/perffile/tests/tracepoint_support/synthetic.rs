//! A recording that never was: every event of the running kernel with made-up payloads, for `perf` to read.

use perffile::tracepoint::{Abi, ByteOrder, EventFormat, FieldKind, System, TracingData};

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
        .map(|(_, text)| EventFormat::parse(text, Abi::new(ByteOrder::Little, 8)).unwrap())
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
                // Socket addresses want a family: IPv4 and IPv6 in turn.
                if field.size == 28 {
                    payload[at] = if round.is_multiple_of(2) { 2 } else { 10 };
                    payload[at + 1] = 0;
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
    while !(payload.len() + 4).is_multiple_of(8) {
        payload.push(0);
    }
    payload
}

/// Formats that ask for what the running kernel's events may not: each conversion and each function at least once.
pub(crate) fn crafted_formats(prints: &[&str]) -> Vec<(String, Vec<u8>)> {
    let fields = "name: NAME\nID: NUMBER\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:u32 u;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:int i;\toffset:12;\tsize:4;\tsigned:1;\n\
        \tfield:unsigned long ul;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:long l;\toffset:24;\tsize:8;\tsigned:1;\n\
        \tfield:u8 b;\toffset:32;\tsize:1;\tsigned:0;\n\
        \tfield:s8 sb;\toffset:33;\tsize:1;\tsigned:1;\n\
        \tfield:short h;\toffset:34;\tsize:2;\tsigned:1;\n\
        \tfield:char text[8];\toffset:36;\tsize:8;\tsigned:0;\n\
        \tfield:u8 bytes[16];\toffset:44;\tsize:16;\tsigned:0;\n\
        \tfield:u32 words[4];\toffset:60;\tsize:16;\tsigned:0;\n\
        \tfield:__data_loc char[] name;\toffset:76;\tsize:4;\tsigned:0;\n\
        \tfield:__data_loc u32[] list;\toffset:80;\tsize:4;\tsigned:0;\n\
        \tfield:__data_loc unsigned long[] mask;\toffset:84;\tsize:4;\tsigned:0;\n\
        \tfield:void * p;\toffset:88;\tsize:8;\tsigned:0;\n\
        \tfield:__rel_loc char[] rel;\toffset:96;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned char ip4[4];\toffset:100;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned char mac[6];\toffset:104;\tsize:6;\tsigned:0;\n\
        \tfield:__u8 addr[28];\toffset:110;\tsize:28;\tsigned:0;\n\n";
    let format = |(index, print): (usize, &&str)| {
        let head = fields
            .replace("NAME", &format!("crafted_{index}"))
            .replace("NUMBER", &(60_000 + index).to_string());
        ("crafted".to_owned(), format!("{head}print fmt: {print}\n").into_bytes())
    };
    prints.iter().enumerate().map(format).collect()
}
