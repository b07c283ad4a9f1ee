//! The recorded bytes of a stack.

/// The bytes of a stack from the stack pointer upwards, as recorded.
#[derive(Clone, Copy, Debug)]
pub struct Stack<'a> {
    /// The first byte is the one that the recorded stack pointer points to.
    pub bytes: &'a [u8],
    /// The byte order of the machine that recorded.
    pub big_endian: bool,
}

/// A stack at its place in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory<'a> {
    stack: Stack<'a>,
    start: u64,
    word: u8,
}

/// Why something cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is above what was recorded of the stack.
    Above,
    /// It is below the recorded stack pointer.
    Below,
}

impl<'a> Memory<'a> {
    pub(super) fn new(stack: Stack<'a>, start: u64, word: u8) -> Memory<'a> {
        Memory { stack, start, word }
    }

    pub(super) fn is_big_endian(&self) -> bool {
        self.stack.big_endian
    }

    pub(super) fn word_size(&self) -> u8 {
        self.word
    }

    /// A word of the machine.
    #[inline]
    pub(super) fn word(&self, address: u64) -> Result<u64, Unreadable> {
        self.read(address, self.word)
    }

    /// A number of 1, 2, 4 or 8 bytes; of others nothing.
    #[inline]
    pub(super) fn read(&self, address: u64, size: u8) -> Result<u64, Unreadable> {
        let at = address.checked_sub(self.start).ok_or(Unreadable::Below)?;
        let at = usize::try_from(at).map_err(|_| Unreadable::Above)?;
        let rest = self.stack.bytes.get(at..).ok_or(Unreadable::Above)?;
        match size {
            8 => number::<8>(rest, self.stack.big_endian),
            4 => number::<4>(rest, self.stack.big_endian),
            2 => number::<2>(rest, self.stack.big_endian),
            1 => number::<1>(rest, self.stack.big_endian),
            _ => None,
        }
        .ok_or(Unreadable::Above)
    }
}

#[inline]
fn number<const N: usize>(bytes: &[u8], big_endian: bool) -> Option<u64> {
    let first: &[u8; N] = bytes.first_chunk()?;
    let mut wide = [0; 8];
    if big_endian {
        wide.last_chunk_mut::<N>()?.copy_from_slice(first);
        Some(u64::from_be_bytes(wide))
    } else {
        wide.first_chunk_mut::<N>()?.copy_from_slice(first);
        Some(u64::from_le_bytes(wide))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_and_without() {
        let bytes: Vec<u8> = (1..=12).collect();
        let little = Memory::new(Stack { bytes: &bytes, big_endian: false }, 0x1000, 8);
        let big = Memory::new(Stack { bytes: &bytes, big_endian: true }, 0x1000, 4);
        assert_eq!(little.word(0x1004), Ok(0x0c0b_0a09_0807_0605));
        assert_eq!(little.word(0x1005), Err(Unreadable::Above));
        assert_eq!(little.word(u64::MAX), Err(Unreadable::Above));
        assert_eq!(little.word(0xfff), Err(Unreadable::Below));
        assert_eq!(big.word(0x1008), Ok(0x090a_0b0c));
        assert_eq!(big.read(0x100b, 1), Ok(12));
        assert_eq!(big.read(0x1000, 3), Err(Unreadable::Above));
    }
}
