//! A recording written again: as it is, and as another kind in the other byte order.

use perffile::bytes::Bytes;
use perffile::write::{Compressed, CompressedRecords, Compression, Options, Unchanged, Writer, copy};
use perffile::{ByteOrder, Ordering, Recording};
use std::io::Cursor;

/// Bytes as a recording that is copied.
pub fn copied(bytes: &[u8]) {
    let Ok(recording) = Recording::from_bytes(Bytes::new(bytes.to_vec())) else { return };
    let order = recording.metadata().order;
    let mut out = Cursor::new(Vec::new());
    let writer = Writer::file(&mut out, Options { order, compression: None });
    let done = copy(&recording, Ordering::File, writer, Compressed::Anew, &mut Unchanged).expect("memory");
    let again = Recording::from_bytes(Bytes::new(out.into_inner()));
    // What has no event of its own is no file.
    if let Ok(again) = again {
        let mut batches = again.batches(Ordering::File).expect("the bytes are all there");
        let records: usize = batches.by_ref().map(|batch| batch.len()).sum();
        if !done.issues.damaged() {
            assert_eq!(records as u64, done.records.max(1), "{:?}", batches.issues());
        }
    }
    let other = if order == ByteOrder::Big { ByteOrder::Little } else { ByteOrder::Big };
    let compression = Some(Compression { level: 1, records: CompressedRecords::Compressed2 });
    let mut out = Vec::new();
    let writer = Writer::pipe(&mut out, Options { order: other, compression });
    copy(&recording, Ordering::Time, writer, Compressed::Anew, &mut Unchanged).expect("memory");
    let again = Recording::from_bytes(Bytes::new(out)).expect("a pipe begins with its header");
    again.for_each(|_| {}).expect("the bytes are all there");
}
