//! Damage: bytes that flip, go, come, and numbers that are too large where numbers matter.

use super::noise::Noise;
use perffile::ByteOrder;

const U16S: [u16; 7] = [0, 1, 7, 8, 0x8000, 0xfff8, 0xffff];
const U32S: [u32; 7] = [0, 1, 63, 65, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
const U64S: [u64; 9] = [0, 1, 7, 1 << 31, 1 << 32, 1 << 61, 1 << 63, u64::MAX - 7, u64::MAX];

/// Where the parts of a recording lie, as far as its first bytes tell.
#[derive(Debug)]
pub struct Anatomy {
    order: ByteOrder,
    /// Where numbers of the header lie, each of eight bytes.
    header: Vec<usize>,
    /// The attrs, first and end.
    attrs: (usize, usize),
    /// Where records begin.
    records: Vec<usize>,
    /// The feature table.
    table: Vec<usize>,
    /// Where feature sections begin.
    sections: Vec<usize>,
}

impl Anatomy {
    /// Looks at a recording that is whole.
    pub fn of(bytes: &[u8]) -> Anatomy {
        let order = if bytes.starts_with(b"2ELIFREP") { ByteOrder::Big } else { ByteOrder::Little };
        let word =
            |at: usize| order.u64_at(bytes, at).and_then(|word| usize::try_from(word).ok()).unwrap_or(0);
        let mut anatomy = Anatomy {
            order,
            header: Vec::new(),
            attrs: (0, 0),
            records: Vec::new(),
            table: Vec::new(),
            sections: Vec::new(),
        };
        if !bytes.starts_with(b"PERF") && !bytes.starts_with(b"2ELI") {
            return anatomy;
        }
        if word(8) == 16 {
            anatomy.walk(bytes, 16, bytes.len());
            return anatomy;
        }
        anatomy.header = (8..104).step_by(8).collect();
        anatomy.attrs = (word(24), word(24).saturating_add(word(32)));
        let end = word(40).saturating_add(word(48)).min(bytes.len());
        anatomy.walk(bytes, word(40), end);
        anatomy.table = (end..end + 40 * 16).step_by(8).filter(|at| *at + 8 <= bytes.len()).collect();
        anatomy.sections =
            anatomy.table.iter().step_by(2).map(|at| word(*at)).filter(|at| *at < bytes.len()).collect();
        anatomy
    }

    fn walk(&mut self, bytes: &[u8], mut at: usize, end: usize) {
        while at < end && self.records.len() < 100_000 {
            self.records.push(at);
            let size = self.order.u16_at(bytes, at.saturating_add(6)).unwrap_or(0);
            at += usize::from(size).max(8);
        }
    }
}

/// A copy with one damage, told in words.
pub fn mutant(bytes: &[u8], anatomy: &Anatomy, noise: &mut Noise) -> (Vec<u8>, String) {
    let mut out = bytes.to_vec();
    let what = match noise.below(14) {
        0 | 1 => flip(&mut out, 1, noise),
        2 => {
            let count = 2 + noise.below(15);
            flip(&mut out, count, noise)
        }
        3 => {
            out.truncate(noise.below(bytes.len()));
            format!("cut to {} bytes", out.len())
        }
        4 => delete(&mut out, noise),
        5 => insert(&mut out, noise),
        6 | 7 => put_u64(&mut out, anatomy.order, pick(&anatomy.header, noise), noise),
        8 | 9 => {
            let (first, end) = anatomy.attrs;
            let at = first + noise.below(end.saturating_sub(first)) / 4 * 4;
            put_u32(&mut out, anatomy.order, at, noise)
        }
        10 => record_head(&mut out, anatomy, noise),
        11 => record_body(&mut out, anatomy, noise),
        12 => put_u64(&mut out, anatomy.order, pick(&anatomy.table, noise), noise),
        _ => {
            let at = pick(&anatomy.sections, noise) + noise.below(5) * 4;
            put_u32(&mut out, anatomy.order, at, noise)
        }
    };
    (out, what)
}

/// One of some places, or any small one where there are none.
fn pick(places: &[usize], noise: &mut Noise) -> usize {
    if places.is_empty() { noise.below(4096) } else { noise.pick(places) }
}

fn flip(out: &mut [u8], count: usize, noise: &mut Noise) -> String {
    let mut places = Vec::new();
    for _ in 0..count {
        // The first bytes matter more than most.
        let end = if noise.below(3) == 0 { out.len().min(4096) } else { out.len() };
        let at = noise.below(end);
        if let Some(byte) = out.get_mut(at) {
            *byte ^= 1 << noise.below(8);
            places.push(at);
        }
    }
    format!("bits flipped at {places:?}")
}

fn delete(out: &mut Vec<u8>, noise: &mut Noise) -> String {
    let at = noise.below(out.len());
    let count = noise.below(64.min(out.len() - at)) + 1;
    out.drain(at..(at + count).min(out.len()));
    format!("{count} bytes gone at {at}")
}

fn insert(out: &mut Vec<u8>, noise: &mut Noise) -> String {
    let at = noise.below(out.len());
    let count = noise.below(64) + 1;
    let new: Vec<u8> = (0..count).map(|_| noise.next().to_le_bytes()[3]).collect();
    out.splice(at..at, new);
    format!("{count} bytes new at {at}")
}

fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = out.get_mut(at..).and_then(|rest| rest.get_mut(..bytes.len())) {
        place.copy_from_slice(bytes);
    }
}

fn put_u64(out: &mut [u8], order: ByteOrder, at: usize, noise: &mut Noise) -> String {
    let near = (out.len() as u64 + noise.next() % 64).wrapping_sub(32);
    let number = if noise.below(4) == 0 { near } else { noise.pick(&U64S) };
    put(out, at, &if order == ByteOrder::Big { number.to_be_bytes() } else { number.to_le_bytes() });
    format!("u64 {number:#x} at {at}")
}

fn put_u32(out: &mut [u8], order: ByteOrder, at: usize, noise: &mut Noise) -> String {
    let number = if noise.below(4) == 0 { noise.next().to_le_bytes()[2].into() } else { noise.pick(&U32S) };
    put(out, at, &if order == ByteOrder::Big { number.to_be_bytes() } else { number.to_le_bytes() });
    format!("u32 {number:#x} at {at}")
}

fn record_head(out: &mut [u8], anatomy: &Anatomy, noise: &mut Noise) -> String {
    let at = pick(&anatomy.records, noise);
    if noise.below(2) == 0 {
        let number = noise.pick(&U16S);
        let bytes = if anatomy.order == ByteOrder::Big { number.to_be_bytes() } else { number.to_le_bytes() };
        put(out, at + 6, &bytes);
        return format!("size {number:#x} of the record at {at}");
    }
    let number = [1u32, 9, 64, 66, 69, 71, 80, 81, 83, 255, 32_800, u32::MAX][noise.below(12)];
    let bytes = if anatomy.order == ByteOrder::Big { number.to_be_bytes() } else { number.to_le_bytes() };
    put(out, at, &bytes);
    format!("type {number} of the record at {at}")
}

fn record_body(out: &mut [u8], anatomy: &Anatomy, noise: &mut Noise) -> String {
    let at = pick(&anatomy.records, noise) + 8 + noise.below(12) * 8;
    put_u64(out, anatomy.order, at, noise)
}
