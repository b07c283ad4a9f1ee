//! Recordings put together by hand, with whatever numbers a test wants in them.

use perffile::wire::endian::{Le, Order};

/// A little-endian recording of version 2.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Size of an entry of the attrs table, as the header tells it.
    pub attr_size: u64,
    /// Size of the table, as the header tells it; `None`: what it is.
    pub attrs_size: Option<u64>,
    /// The table.
    pub attrs: Vec<u8>,
    /// The records.
    pub data: Vec<u8>,
    /// The features by bit, ascending.
    pub features: Vec<(u32, Vec<u8>)>,
}

impl Default for Recipe {
    fn default() -> Self {
        Recipe {
            attr_size: 80,
            attrs_size: None,
            attrs: attr(64, 0, 0),
            data: Vec::new(),
            features: Vec::new(),
        }
    }
}

/// An attr of 64 bytes that claims another size, with its ids section. Samples have IP, TID, TIME; all have trailers.
pub fn attr(size: u32, ids_at: u64, ids_size: u64) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(&Le::put_u32(1));
    out.extend_from_slice(&Le::put_u32(size));
    for word in [0u64, 1, 7, 0, 1 << 18, 0, 0, ids_at, ids_size] {
        out.extend_from_slice(&Le::put_u64(word));
    }
    // Seven words of eight bytes follow the first: the attr has 64 bytes, the section 16.
    assert_eq!(out.len(), 80);
    out
}

/// A sample of [`attr`]'s event.
pub fn sample(time: u64) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(&Le::put_u32(9));
    out.extend_from_slice(&Le::put_u16(2));
    out.extend_from_slice(&Le::put_u16(32));
    for word in [0x40_0000, 7 | 7 << 32, time] {
        out.extend_from_slice(&Le::put_u64(word));
    }
    out
}

impl Recipe {
    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let attrs_at = 104u64;
        let data_at = attrs_at + self.attrs.len() as u64;
        let mut out = b"PERFILE2".to_vec();
        let attrs_size = self.attrs_size.unwrap_or(self.attrs.len() as u64);
        for word in [104, self.attr_size, attrs_at, attrs_size, data_at, self.data.len() as u64, 0, 0] {
            out.extend_from_slice(&Le::put_u64(word));
        }
        let mut bitmap = [0u64; 4];
        for (bit, _) in &self.features {
            bitmap[*bit as usize / 64] |= 1 << (bit % 64);
        }
        bitmap.iter().for_each(|word| out.extend_from_slice(&Le::put_u64(*word)));
        out.extend_from_slice(&self.attrs);
        out.extend_from_slice(&self.data);
        let mut at = out.len() as u64 + self.features.len() as u64 * 16;
        for (_, section) in &self.features {
            out.extend_from_slice(&Le::put_u64(at));
            out.extend_from_slice(&Le::put_u64(section.len() as u64));
            at += section.len() as u64;
        }
        self.features.iter().for_each(|(_, section)| out.extend_from_slice(section));
        out
    }
}
