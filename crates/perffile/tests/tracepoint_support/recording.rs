//! The least walker over a perf.data file that gets at its tracing data and raw payloads. For the tests only: no
//! compression, one layer, files that are well formed.

/// A sample of a tracepoint event.
pub(crate) struct RawSample {
    pub(crate) time_ns: u64,
    /// `attr.config`: the id of the tracepoint.
    pub(crate) config: u64,
    pub(crate) payload: Vec<u8>,
}

pub(crate) struct Recording {
    pub(crate) tracing_data: Option<Vec<u8>>,
    /// In the order of time.
    pub(crate) samples: Vec<RawSample>,
}

struct Attr {
    kind: u32,
    config: u64,
    sample_type: u64,
    read_format: u64,
    ids: Vec<u64>,
}

struct Bytes<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl Bytes<'_> {
    fn u32(&self, at: usize) -> u32 {
        let raw = self.bytes[at..at + 4].try_into().unwrap();
        if self.big { u32::from_be_bytes(raw) } else { u32::from_le_bytes(raw) }
    }

    fn u64(&self, at: usize) -> u64 {
        let raw = self.bytes[at..at + 8].try_into().unwrap();
        if self.big { u64::from_be_bytes(raw) } else { u64::from_le_bytes(raw) }
    }

    fn record_size(&self, at: usize) -> usize {
        let raw = [self.bytes[at + 6], self.bytes[at + 7]];
        usize::from(if self.big { u16::from_be_bytes(raw) } else { u16::from_le_bytes(raw) })
    }

    fn at(&self, at: usize) -> usize {
        self.u64(at) as usize
    }
}

impl Recording {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let file = Bytes { bytes, big: &bytes[..8] == b"2ELIFREP" };
        if file.u64(8) == 16 {
            return Self::read_pipe(&file);
        }
        let (attr_stride, attrs_at, attrs_size) = (file.at(16), file.at(24), file.at(32));
        let (data_at, data_size) = (file.at(40), file.at(48));
        let attrs: Vec<Attr> =
            (0..attrs_size / attr_stride).map(|index| attr(&file, attrs_at + index * attr_stride)).collect();
        // Bit 1 is the lowest feature in use, so its section is the first of the table. The bitmap is of longs.
        let has_tracing_data = file.bytes[72] & 2 != 0 || file.bytes[79] & 2 != 0 || file.bytes[75] & 2 != 0;
        let table = data_at + data_size;
        let tracing_data =
            has_tracing_data.then(|| bytes[file.at(table)..file.at(table) + file.at(table + 8)].to_vec());
        let mut samples = Vec::new();
        let mut at = data_at;
        while at + 8 <= data_at + data_size {
            if file.u32(at) == 9 {
                samples.extend(sample(&file, &attrs, at + 8));
            }
            at += file.record_size(at);
        }
        samples.sort_by_key(|sample| sample.time_ns);
        Recording { tracing_data, samples }
    }

    /// A pipe has attributes and tracing data among the records.
    fn read_pipe(file: &Bytes) -> Self {
        let (mut attrs, mut samples, mut tracing_data) = (Vec::new(), Vec::new(), None);
        let mut at = 16;
        while at + 8 <= file.bytes.len() {
            let size = file.record_size(at);
            match file.u32(at) {
                9 => samples.extend(sample(file, &attrs, at + 8)),
                64 => {
                    let ids = at + 8 + file.u32(at + 12) as usize;
                    let ids = (ids..at + size).step_by(8).map(|id| file.u64(id)).collect();
                    attrs.push(attr_of(file, at + 8, ids));
                }
                66 => {
                    let length = file.u32(at + 8) as usize;
                    tracing_data = Some(file.bytes[at + size..at + size + length].to_vec());
                    at += length.next_multiple_of(8);
                }
                _ => {}
            }
            at += size;
        }
        samples.sort_by_key(|sample: &RawSample| sample.time_ns);
        Recording { tracing_data, samples }
    }
}

fn attr(file: &Bytes, at: usize) -> Attr {
    let section = at + file.u32(at + 4) as usize;
    let (ids_at, ids_size) = (file.at(section), file.at(section + 8));
    attr_of(file, at, (0..ids_size / 8).map(|index| file.u64(ids_at + index * 8)).collect())
}

fn attr_of(file: &Bytes, at: usize, ids: Vec<u64>) -> Attr {
    Attr {
        kind: file.u32(at),
        config: file.u64(at + 8),
        sample_type: file.u64(at + 24),
        read_format: file.u64(at + 32),
        ids,
    }
}

fn sample(file: &Bytes, attrs: &[Attr], start: usize) -> Option<RawSample> {
    let common = attrs[0].sample_type;
    // IDENTIFIER puts the id first; otherwise all events share one layout.
    let id_at = |sample_type: u64| {
        if sample_type & (1 << 16) != 0 {
            return Some(start);
        }
        let before = [1u64 << 0, 1 << 1, 1 << 2, 1 << 3];
        let count = before.iter().filter(|bit| sample_type & **bit != 0).count();
        (sample_type & (1 << 6) != 0).then_some(start + 8 * count)
    };
    let attr = match id_at(common) {
        Some(at) if attrs.len() > 1 => attrs.iter().find(|attr| attr.ids.contains(&file.u64(at)))?,
        _ => &attrs[0],
    };
    let mut at = start;
    let mut time_ns = 0;
    for bit in [16, 0, 1, 2, 3, 6, 9, 7, 8] {
        if attr.sample_type & (1 << bit) != 0 {
            if bit == 2 {
                time_ns = file.u64(at);
            }
            at += 8;
        }
    }
    if attr.sample_type & (1 << 4) != 0 {
        assert_eq!(attr.read_format & 8, 0, "group reads are not for this walker");
        at += 8 * (1 + (attr.read_format & 0x17).count_ones() as usize);
    }
    if attr.sample_type & (1 << 5) != 0 {
        at += 8 * (1 + file.at(at));
    }
    if attr.sample_type & (1 << 10) == 0 || attr.kind != 2 {
        return None;
    }
    let size = file.u32(at) as usize;
    Some(RawSample { time_ns, config: attr.config, payload: file.bytes[at + 4..at + 4 + size].to_vec() })
}
