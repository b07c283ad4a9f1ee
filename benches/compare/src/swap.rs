//! A copy of a recording as a machine of the other byte order would have written it, by perffile's own encoders.
//! Attrs, ids and records; no features.

use perffile::wire::attr::SampleShape;
use perffile::wire::encode::Encoder;
use perffile::wire::endian::{Be, Order};
use perffile::wire::pass::Fields;
use perffile::{Ordering, Recording};
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};

type O = Be;

pub(crate) fn run(path: &str, out: &str) -> Result<(), Box<dyn Error>> {
    let recording = Recording::open(path)?;
    let events = recording.metadata().schema.events();
    let none = SampleShape::default();
    let stride = events.first().map_or(64, |event| event.attr.wire_size()) + 16;
    let attrs_at = 104u64;
    let ids_at = attrs_at + events.len() as u64 * u64::from(stride);
    let data_at = ids_at + events.iter().map(|event| event.ids.len() as u64 * 8).sum::<u64>();

    let (mut attrs, mut ids) = (Vec::new(), Vec::new());
    for event in events {
        event.attr.clone().fields(&mut Encoder::<O>::new(&mut attrs, &none, 0))?;
        attrs.extend_from_slice(&O::put_u64(ids_at + ids.len() as u64));
        attrs.extend_from_slice(&O::put_u64(event.ids.len() as u64 * 8));
        event.ids.iter().for_each(|id| ids.extend_from_slice(&O::put_u64(*id)));
    }
    let mut file = BufWriter::new(File::create(out)?);
    file.seek(SeekFrom::Start(data_at))?;
    let mut size = 0u64;
    for batch in recording.batches(Ordering::File)? {
        for event in batch.iter() {
            let record = one_record(&event)?;
            size += record.len() as u64;
            file.write_all(&record)?;
        }
    }
    file.seek(SeekFrom::Start(0))?;
    // The magic is a number too: as bytes it reads backwards.
    file.write_all(&O::put_u64(u64::from_le_bytes(*b"PERFILE2")))?;
    let attrs_size = events.len() as u64 * u64::from(stride);
    for word in [104, u64::from(stride), attrs_at, attrs_size, data_at, size, 0, 0, 0, 0, 0, 0] {
        file.write_all(&O::put_u64(word))?;
    }
    file.write_all(&attrs)?;
    file.write_all(&ids)?;
    file.flush()?;
    Ok(())
}

fn one_record(event: &perffile::Event<'_>) -> Result<Vec<u8>, Box<dyn Error>> {
    let (mut record, rest) = event.record()?;
    let (_, shape) = event.body_and_shape();
    let head = event.head();
    let mut out = Vec::new();
    head.put::<O>(&mut out);
    record.encode::<O>(&mut out, &shape, head.misc)?;
    out.extend_from_slice(rest);
    if let Some(mut trailer) = event.sample_id() {
        trailer.fields(&mut Encoder::<O>::new(&mut out, &shape, 0))?;
    }
    assert_eq!(out.len(), usize::from(head.size), "{record:?}");
    Ok(out)
}
