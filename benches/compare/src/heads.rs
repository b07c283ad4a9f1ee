//! The least that can be done with a recording: from the head of one record to that of the next, in the mapped file. What
//! takes longer than this is work, what is left is memory.

use perffile::bytes::map_file;
use std::error::Error;
use std::fs::File;

/// Of a file of version 2 in the byte order of this machine.
pub(crate) fn run(path: &str) -> Result<(), Box<dyn Error>> {
    let file = map_file(&File::open(path)?)?;
    let word = |at: usize| Some(usize::from_ne_bytes(*file.get(at..)?.first_chunk()?));
    // ABI: the section of the records is the second one of the header.
    let (start, size) = word(40).zip(word(48)).ok_or("no header")?;
    let bytes: &[u8] = &file;
    let mut at = start;
    let mut count = 0u64;
    while at < start + size {
        let size = bytes.get(at + 6..).and_then(|rest| rest.first_chunk()).ok_or("a record is cut")?;
        match u16::from_ne_bytes(*size) {
            0 => return Err("a record without size".into()),
            size => at += usize::from(size),
        }
        count += 1;
    }
    println!("{count} records");
    Ok(())
}
