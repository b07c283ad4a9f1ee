//! Nothing but the zstd stream of a compressed recording: the floor for reading it.

use std::error::Error;
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

pub(crate) fn run(path: &str) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let word = |at: usize| -> Option<u64> { Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?)) };
    let start = usize::try_from(word(40).ok_or("no header")?)?;
    let end = start + usize::try_from(word(48).ok_or("no header")?)?;
    let mut decoder = Decoder::new()?;
    let mut out = vec![0u8; 1 << 20];
    let (mut at, mut total) = (start, 0usize);
    while at < end {
        let head = word(at).ok_or("cut")?;
        let size = usize::try_from(head >> 48)?;
        if head & 0xffff_ffff == 81 {
            let mut input = InBuffer::around(bytes.get(at + 8..at + size).ok_or("cut")?);
            loop {
                let mut output = OutBuffer::around(&mut out[..]);
                decoder.run(&mut input, &mut output)?;
                total += output.pos();
                if input.pos() == input.src.len() && output.pos() < 1 << 20 {
                    break;
                }
            }
        }
        at += size.max(8);
    }
    println!("{total} bytes");
    Ok(())
}
