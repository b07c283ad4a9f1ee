//! Text on its way to a file, in whole blocks: of pieces that begin and end anywhere, the system makes the file of more and smaller parts, and is busy
//! with them for a fifth longer.

use std::io::{self, Write};

/// Bytes of a block: some pages, whatever machine it is.
const BLOCK: usize = 64 << 10;

/// Holds what is written until it fills blocks.
pub(crate) struct InBlocks<W: Write> {
    to: W,
    /// Less than what is missing of a block.
    held: Vec<u8>,
    /// Bytes that were handed on behind the last block that is full.
    ahead: usize,
}

impl<W: Write> InBlocks<W> {
    pub(crate) fn new(to: W) -> InBlocks<W> {
        InBlocks { to, held: Vec::with_capacity(BLOCK), ahead: 0 }
    }

    /// Nothing is held then, even if that fails: it is not tried again.
    fn hand_on_held(&mut self) -> io::Result<()> {
        let done = self.to.write_all(&self.held);
        self.ahead = (self.ahead + self.held.len()) % BLOCK;
        self.held.clear();
        done
    }
}

impl<W: Write> Write for InBlocks<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let missing = BLOCK - self.ahead - self.held.len();
        if bytes.len() < missing {
            self.held.extend_from_slice(bytes);
            return Ok(());
        }
        let mut rest = bytes;
        if !self.held.is_empty() {
            let (last, others) = bytes.split_at(missing);
            self.held.extend_from_slice(last);
            self.hand_on_held()?;
            rest = others;
        }
        let behind = (self.ahead + rest.len()) % BLOCK;
        let (blocks, others) = rest.split_at(rest.len() - behind);
        if !blocks.is_empty() {
            self.to.write_all(blocks)?;
            self.ahead = 0;
        }
        self.held.extend_from_slice(others);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.held.is_empty() {
            self.hand_on_held()?;
        }
        self.to.flush()
    }
}

impl<W: Write> Drop for InBlocks<W> {
    /// What is held goes where it was to go, as far as that is possible. Who wants to know flushes.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = self.flush();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// Keeps what is handed on, piece by piece.
    #[derive(Clone, Default)]
    struct Pieces(Rc<RefCell<Vec<Vec<u8>>>>);

    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().push(bytes.to_vec());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn all_is_handed_on_in_order_and_each_piece_ends_with_a_block(
            texts in prop::collection::vec(
                prop_oneof![4 => 0..200_usize, 2 => 0..9000_usize, 1 => BLOCK - 3..BLOCK + 3, 1 => 0..300_000_usize],
                0..20,
            ),
            flushed_after in prop::option::of(0..20_usize),
        ) {
            let pieces = Pieces::default();
            let mut out = InBlocks::new(pieces.clone());
            let (mut expected, mut flushed_at) = (Vec::new(), None);
            for (nr, len) in texts.into_iter().enumerate() {
                let text: Vec<u8> = (0..=250).cycle().skip(nr).take(len).collect();
                out.write_all(&text).unwrap();
                expected.extend(text);
                prop_assert!(out.ahead + out.held.len() < BLOCK);
                if Some(nr) == flushed_after {
                    out.flush().unwrap();
                    prop_assert_eq!(pieces.0.borrow().concat(), &*expected);
                    flushed_at = Some(expected.len());
                }
            }
            drop(out);
            let pieces = pieces.0.borrow();
            let mut end = 0;
            for piece in &*pieces {
                prop_assert!(!piece.is_empty());
                end += piece.len();
                let may_end = end % BLOCK == 0 || Some(end) == flushed_at || end == expected.len();
                prop_assert!(may_end, "a piece ends at {end}");
            }
            prop_assert_eq!(pieces.concat(), expected);
        }
    }

    #[test]
    fn what_fails_is_told() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut out = InBlocks::new(Full);
        assert!(out.write_all(&[1; 10]).is_ok(), "that is held");
        assert_eq!(out.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
        let error = (0..100_000).map(|_| out.write_all(b"text").err()).find_map(|error| error);
        assert_eq!(error.map(|error| error.kind()), Some(io::ErrorKind::StorageFull));
    }
}
