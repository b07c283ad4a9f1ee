//! Sets of bits, which the kernel stores as an array of `long`.

use std::io::Write as _;

use super::Abi;

/// Hexadecimal digits from the highest bit down, a comma after every 32 bits.
pub(crate) fn write_bitmap_hex(bytes: &[u8], abi: Abi, out: &mut Vec<u8>) {
    let ordered = from_lowest(bytes, abi);
    for (index, byte) in ordered.iter().enumerate().rev() {
        let comma = if index % 4 == 0 && index > 0 { "," } else { "" };
        // Writing to a vector cannot fail.
        let _ = write!(out, "{byte:02x}{comma}");
    }
}

/// Ranges as `0-3,8` of the first `count` bits.
pub(crate) fn write_bitmap_list(bytes: &[u8], count: usize, abi: Abi, out: &mut Vec<u8>) {
    let ordered = from_lowest(bytes, abi);
    let is_set =
        |bit: usize| bit < count && ordered.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
    let end = count.min(ordered.len() * 8);
    let mut bit = 0;
    let mut comma = "";
    while bit < end {
        if !is_set(bit) {
            bit += 1;
            continue;
        }
        let first = bit;
        while is_set(bit) {
            bit += 1;
        }
        let last = bit - 1;
        let _ =
            if first == last { write!(out, "{comma}{first}") } else { write!(out, "{comma}{first}-{last}") };
        comma = ",";
    }
}

/// The bytes with bit 0 in the first one, whatever the byte order of the longs.
fn from_lowest(bytes: &[u8], abi: Abi) -> Vec<u8> {
    let mut ordered = bytes.to_vec();
    if abi.endian == super::ByteOrder::Big {
        for long in ordered.chunks_mut(usize::from(abi.long_size.max(1))) {
            long.reverse();
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::super::ByteOrder;
    use super::*;

    #[test]
    fn both_byte_orders_show_the_same_set() {
        let little = [0x0d, 0x01, 0, 0, 0, 0, 0, 0x80];
        let big = [0x80, 0, 0, 0, 0, 0, 0x01, 0x0d];
        for (bytes, endian) in [(little, ByteOrder::Little), (big, ByteOrder::Big)] {
            let mut hex = Vec::new();
            write_bitmap_hex(&bytes, Abi::new(endian, 8), &mut hex);
            assert_eq!(hex, b"80000000,0000010d");
            let mut list = Vec::new();
            write_bitmap_list(&bytes, 64, Abi::new(endian, 8), &mut list);
            assert_eq!(list, b"0,2-3,8,63");
        }
    }
}
