//! Network addresses as the kernel's `printk` shows them.

use std::io::Write as _;

use super::ByteOrder;

/// Numbers of address families that are the same on every architecture (`include/linux/socket.h`).
const AF_INET: u64 = 2;
const AF_INET6: u64 = 10;

/// Six bytes in hexadecimal.
pub(crate) fn write_mac(bytes: &[u8], separator: Option<u8>, reversed: bool, out: &mut Vec<u8>) {
    let mut six = [0u8; 6];
    for (target, byte) in six.iter_mut().zip(bytes) {
        *target = *byte;
    }
    if reversed {
        six.reverse();
    }
    super::tables::write_hex(&six, separator.as_slice(), out);
}

/// Four numbers with dots between; with `zeros` each has three digits.
pub(crate) fn write_ipv4(bytes: &[u8], order: ByteOrder, zeros: bool, out: &mut Vec<u8>) {
    let mut four = [0u8; 4];
    for (target, byte) in four.iter_mut().zip(bytes) {
        *target = *byte;
    }
    if order == ByteOrder::Little {
        four.reverse();
    }
    for (index, byte) in four.iter().enumerate() {
        let dot = if index == 0 { "" } else { "." };
        // Writing to a vector cannot fail.
        let _ = if zeros { write!(out, "{dot}{byte:03}") } else { write!(out, "{dot}{byte}") };
    }
}

/// Eight groups in full, or shortened as RFC 5952 says.
pub(crate) fn write_ipv6(bytes: &[u8], colons: bool, compressed: bool, out: &mut Vec<u8>) {
    let mut groups = [0u16; 8];
    for (group, pair) in groups.iter_mut().zip(bytes.chunks_exact(2)) {
        *group = u16::try_from(ByteOrder::Big.unsigned(pair).unwrap_or(0)).unwrap_or(0);
    }
    if compressed {
        return write_ipv6_compressed(groups, bytes, out);
    }
    for (index, group) in groups.iter().enumerate() {
        let colon = if colons && index > 0 { ":" } else { "" };
        let _ = write!(out, "{colon}{group:04x}");
    }
}

fn write_ipv6_compressed(groups: [u16; 8], bytes: &[u8], out: &mut Vec<u8>) {
    // The last two groups of a mapped IPv4 address (RFC 4291) and of an ISATAP one (RFC 5214) are shown as IPv4.
    let mapped = groups.starts_with(&[0, 0, 0, 0, 0, 0xffff]);
    let isatap = matches!(groups, [_, _, _, _, high, 0x5efe, _, _] if high & !0x0200 == 0);
    let as_ipv4 = mapped || isatap;
    let count = if as_ipv4 { 6 } else { 8 };
    let (start, length) = longest_zero_run(groups.get(..count).unwrap_or_default());
    let mut colon = false;
    let mut index = 0;
    while index < count {
        if length > 1 && index == start {
            // One colon ends the group before, or opens the text.
            out.extend_from_slice(b"::");
            colon = false;
            index += length;
            continue;
        }
        if colon {
            out.push(b':');
        }
        let _ = write!(out, "{:x}", groups.get(index).copied().unwrap_or(0));
        colon = true;
        index += 1;
    }
    if as_ipv4 {
        if colon {
            out.push(b':');
        }
        write_ipv4(bytes.get(12..).unwrap_or_default(), ByteOrder::Big, false, out);
    }
}

/// Start and length of the first longest run of zeros.
fn longest_zero_run(groups: &[u16]) -> (usize, usize) {
    let mut best = (0, 0);
    let mut start = 0;
    for (index, group) in groups.iter().enumerate() {
        if *group != 0 {
            start = index + 1;
        } else if index + 1 - start > best.1 {
            best = (start, index + 1 - start);
        }
    }
    best
}

/// A `struct sockaddr`: IPv4 or IPv6, with its port if asked for. Nothing for other families and for none.
pub(crate) fn write_socket_address(
    bytes: &[u8],
    endian: ByteOrder,
    port: bool,
    compressed: bool,
    out: &mut Vec<u8>,
) {
    let family = bytes.get(..2).and_then(|family| endian.unsigned(family)).unwrap_or(0);
    let number = bytes.get(2..4).and_then(|port| ByteOrder::Big.unsigned(port)).unwrap_or(0);
    match (family, bytes.get(4..8), bytes.get(8..24)) {
        (AF_INET, Some(address), _) => {
            write_ipv4(address, ByteOrder::Big, false, out);
            if port {
                let _ = write!(out, ":{number}");
            }
        }
        (AF_INET6, _, Some(address)) if port => {
            out.push(b'[');
            write_ipv6(address, true, compressed, out);
            let _ = write!(out, "]:{number}");
        }
        (AF_INET6, _, Some(address)) => write_ipv6(address, true, compressed, out),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn six(address: &str, compressed: bool) -> String {
        let bytes = address.parse::<std::net::Ipv6Addr>().unwrap().octets();
        let mut out = Vec::new();
        write_ipv6(&bytes, true, compressed, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn ipv6() {
        assert_eq!(six("2001:db8::1", false), "2001:0db8:0000:0000:0000:0000:0000:0001");
        // The standard library follows RFC 5952 and is the witness.
        let addresses = "2001:db8::1 :: ::1 fe80:: 1:0:2::3 1:2:3:4:5:6:7:8 ::ffff:1.2.3.4 1:2:0:4:5:6:7:8 \
                         1:0:0:2::3 1::2:0:0:3:4";
        for address in addresses.split_whitespace() {
            assert_eq!(six(address, true), address);
        }
        assert_eq!(six("fe80::5efe:102:304", true), "fe80::5efe:1.2.3.4");
    }

    #[test]
    fn socket_addresses() {
        let mut out = Vec::new();
        write_socket_address(&[2, 0, 0, 80, 127, 0, 0, 1, 0, 0], ByteOrder::Little, true, true, &mut out);
        assert_eq!(out, b"127.0.0.1:80");
        out.clear();
        write_socket_address(&[1, 0], ByteOrder::Little, true, true, &mut out);
        assert_eq!(out, b"");
    }
}
