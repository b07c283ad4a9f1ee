//! Byte order, as a value and as a type.
//!
//! A recording is in the byte order of the machine that made it. It is found out once per file; from then on every
//! decoder is generic over [`Order`], so that no field asks again.

use std::fmt;

/// Runs `$body` with `$O` standing for the type of a byte order known as a value.
macro_rules! with_order {
    ($order:expr, $O:ident => $body:expr) => {
        match $order {
            $crate::wire::endian::ByteOrder::Little => {
                type $O = $crate::wire::endian::Le;
                $body
            }
            $crate::wire::endian::ByteOrder::Big => {
                type $O = $crate::wire::endian::Be;
                $body
            }
        }
    };
}
pub(crate) use with_order;

/// The byte order of a recording, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ByteOrder {
    /// Least significant byte first (x86, Arm, RISC-V, …).
    #[default]
    Little,
    /// Most significant byte first (s390x, older PowerPC, …).
    Big,
}

impl fmt::Display for ByteOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ByteOrder::Little => "little",
            ByteOrder::Big => "big",
        })
    }
}

/// The byte order of a recording, as a type: [`Le`] or [`Be`].
pub trait Order: Copy + Default + fmt::Debug + 'static {
    /// The same fact as a value.
    const ORDER: ByteOrder;
    /// Two bytes of the recording as a number.
    fn u16(bytes: [u8; 2]) -> u16;
    /// Four bytes of the recording as a number.
    fn u32(bytes: [u8; 4]) -> u32;
    /// Eight bytes of the recording as a number.
    fn u64(bytes: [u8; 8]) -> u64;
    /// A number as two bytes of the recording.
    fn put_u16(value: u16) -> [u8; 2];
    /// A number as four bytes of the recording.
    fn put_u32(value: u32) -> [u8; 4];
    /// A number as eight bytes of the recording.
    fn put_u64(value: u64) -> [u8; 8];
}

/// Little-endian, as a type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Le;

/// Big-endian, as a type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Be;

macro_rules! order {
    ($name:ident, $order:expr, $from16:path, $from32:path, $from64:path, $to16:path, $to32:path, $to64:path) => {
        impl Order for $name {
            const ORDER: ByteOrder = $order;
            #[inline(always)]
            fn u16(bytes: [u8; 2]) -> u16 {
                $from16(bytes)
            }
            #[inline(always)]
            fn u32(bytes: [u8; 4]) -> u32 {
                $from32(bytes)
            }
            #[inline(always)]
            fn u64(bytes: [u8; 8]) -> u64 {
                $from64(bytes)
            }
            #[inline(always)]
            fn put_u16(value: u16) -> [u8; 2] {
                $to16(value)
            }
            #[inline(always)]
            fn put_u32(value: u32) -> [u8; 4] {
                $to32(value)
            }
            #[inline(always)]
            fn put_u64(value: u64) -> [u8; 8] {
                $to64(value)
            }
        }
    };
}

order!(
    Le,
    ByteOrder::Little,
    u16::from_le_bytes,
    u32::from_le_bytes,
    u64::from_le_bytes,
    u16::to_le_bytes,
    u32::to_le_bytes,
    u64::to_le_bytes
);
order!(
    Be,
    ByteOrder::Big,
    u16::from_be_bytes,
    u32::from_be_bytes,
    u64::from_be_bytes,
    u16::to_be_bytes,
    u32::to_be_bytes,
    u64::to_be_bytes
);

impl ByteOrder {
    /// Two bytes as a number in this order.
    #[inline]
    pub fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            ByteOrder::Little => Le::u16(bytes),
            ByteOrder::Big => Be::u16(bytes),
        }
    }

    /// Four bytes as a number in this order.
    #[inline]
    pub fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            ByteOrder::Little => Le::u32(bytes),
            ByteOrder::Big => Be::u32(bytes),
        }
    }

    /// Eight bytes as a number in this order.
    #[inline]
    pub fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            ByteOrder::Little => Le::u64(bytes),
            ByteOrder::Big => Be::u64(bytes),
        }
    }

    /// A number as four bytes in this order.
    #[inline]
    pub fn put_u32(self, value: u32) -> [u8; 4] {
        with_order!(self, O => O::put_u32(value))
    }

    /// A number as eight bytes in this order.
    #[inline]
    pub fn put_u64(self, value: u64) -> [u8; 8] {
        with_order!(self, O => O::put_u64(value))
    }

    /// The u16 at `at`, if the bytes reach that far.
    #[inline]
    pub fn u16_at(self, bytes: &[u8], at: usize) -> Option<u16> {
        bytes.get(at..)?.first_chunk().map(|b| self.u16(*b))
    }

    /// The u32 at `at`, if the bytes reach that far.
    #[inline]
    pub fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        bytes.get(at..)?.first_chunk().map(|b| self.u32(*b))
    }

    /// The u64 at `at`, if the bytes reach that far.
    #[inline]
    pub fn u64_at(self, bytes: &[u8], at: usize) -> Option<u64> {
        bytes.get(at..)?.first_chunk().map(|b| self.u64(*b))
    }
}

impl ByteOrder {
    /// The unsigned integer of up to eight bytes; longer slices give `None`.
    pub fn unsigned(self, bytes: &[u8]) -> Option<u64> {
        if bytes.len() > 8 {
            return None;
        }
        let push = |sum: u64, byte: &u8| (sum << 8) | u64::from(*byte);
        Some(match self {
            ByteOrder::Little => bytes.iter().rev().fold(0, push),
            ByteOrder::Big => bytes.iter().fold(0, push),
        })
    }
}
