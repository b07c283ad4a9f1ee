//! Recordings of chosen attrs: a header, ids, attrs, one record, and the features asked for. Written by hand, so that
//! perf can be asked for names that this machine cannot record.

/// The fields of an attr that have a part in its name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attr {
    pub(crate) kind: u32,
    pub(crate) config: u64,
    pub(crate) flags: u64,
    pub(crate) bp_type: u32,
    pub(crate) config1: u64,
    pub(crate) config2: u64,
}

const ATTR_SIZE: u32 = 128;
/// IP, TID, TIME, CPU, PERIOD, IDENTIFIER.
const SAMPLE_TYPE: u64 = 0x1_0187;
const SAMPLE_ID_ALL: u64 = 1 << 18;

impl Attr {
    fn bytes(&self, big: bool) -> Vec<u8> {
        let mut out = Vec::new();
        u32_to(&mut out, big, self.kind);
        u32_to(&mut out, big, ATTR_SIZE);
        for word in [self.config, 1000, SAMPLE_TYPE, 4] {
            u64_to(&mut out, big, word);
        }
        let flags = self.flags | SAMPLE_ID_ALL;
        u64_to(&mut out, big, if big { from_the_other_end(flags) } else { flags });
        u32_to(&mut out, big, 0);
        u32_to(&mut out, big, self.bp_type);
        u64_to(&mut out, big, self.config1);
        u64_to(&mut out, big, self.config2);
        out.resize(ATTR_SIZE as usize, 0);
        out
    }
}

/// C bit-fields begin at the other end of the word there; `precise_ip`, of two bits, keeps its own order.
fn from_the_other_end(flags: u64) -> u64 {
    let precise = flags >> 15 & 3;
    let swapped = precise >> 1 | (precise & 1) << 1;
    (flags & !(3 << 15) | swapped << 15).reverse_bits()
}

fn u32_to(out: &mut Vec<u8>, big: bool, value: u32) {
    out.extend(if big { value.to_be_bytes() } else { value.to_le_bytes() });
}

fn u64_to(out: &mut Vec<u8>, big: bool, value: u64) {
    out.extend(if big { value.to_be_bytes() } else { value.to_le_bytes() });
}

/// A header string: length, bytes, zeros up to a multiple of 64.
pub(crate) fn string(big: bool, text: &str) -> Vec<u8> {
    let len = (text.len() + 1).next_multiple_of(64);
    let mut out = Vec::new();
    u32_to(&mut out, big, u32::try_from(len).unwrap());
    out.extend(text.as_bytes());
    out.resize(4 + len, 0);
    out
}

/// The payload of PMU_MAPPINGS.
pub(crate) fn pmu_mappings(big: bool, pmus: &[(u32, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    u32_to(&mut out, big, u32::try_from(pmus.len()).unwrap());
    for (number, name) in pmus {
        u32_to(&mut out, big, *number);
        out.extend(string(big, name));
    }
    out
}

/// A recording of these attrs, with these features (ascending by bit).
pub(crate) fn file(big: bool, attrs: &[Attr], features: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let count = attrs.len() as u64;
    let (ids_at, stride) = (104, u64::from(ATTR_SIZE) + 16);
    let attrs_at = ids_at + 8 * count;
    let data_at = attrs_at + stride * count;
    let mut out = if big { b"2ELIFREP".to_vec() } else { b"PERFILE2".to_vec() };
    for word in [104, stride, attrs_at, stride * count, data_at, 8, 0, 0] {
        u64_to(&mut out, big, word);
    }
    u64_to(&mut out, big, features.iter().fold(0, |bits, (bit, _)| bits | 1 << bit));
    out.resize(104, 0);
    (0..count).for_each(|id| u64_to(&mut out, big, id + 1));
    for (nr, attr) in (0..count).zip(attrs) {
        out.extend(attr.bytes(big));
        u64_to(&mut out, big, ids_at + 8 * nr);
        u64_to(&mut out, big, 8);
    }
    out.extend(record(big, 68, &[]));
    let mut at = data_at + 8 + 16 * features.len() as u64;
    for (_, payload) in features {
        u64_to(&mut out, big, at);
        u64_to(&mut out, big, payload.len() as u64);
        at += payload.len() as u64;
    }
    features.iter().for_each(|(_, payload)| out.extend(payload));
    out
}

/// The same as a pipe: attrs, features, and `last` records.
pub(crate) fn pipe(big: bool, attrs: &[Attr], features: &[(u32, Vec<u8>)], last: &[Vec<u8>]) -> Vec<u8> {
    let mut out = if big { b"2ELIFREP".to_vec() } else { b"PERFILE2".to_vec() };
    u64_to(&mut out, big, 16);
    for (nr, attr) in (1..).zip(attrs) {
        let mut body = attr.bytes(big);
        u64_to(&mut body, big, nr);
        out.extend(record(big, 64, &body));
    }
    for (bit, payload) in features {
        let mut body = Vec::new();
        u64_to(&mut body, big, u64::from(*bit));
        body.extend(payload);
        out.extend(record(big, 80, &body));
    }
    last.iter().for_each(|record| out.extend(record));
    out
}

/// A record.
pub(crate) fn record(big: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    u32_to(&mut out, big, kind);
    let size = u16::try_from(8 + body.len()).unwrap();
    out.extend([0, 0]);
    out.extend(if big { size.to_be_bytes() } else { size.to_le_bytes() });
    out.extend(body);
    out
}
