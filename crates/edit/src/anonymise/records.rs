//! Records written anew without names.

use super::paths::anonymous;
use super::tokens::{Name, Tokens};
use perffile::wire::list::List;
use perffile::wire::record::event_update::EventUpdateType;
use perffile::wire::record::mmap2::FileIdentity;
use perffile::wire::record::{Record, USER_RECORDS, kind};
use perffile::wire::text::CStr8;
use perffile::write::RecordParts;
use perffile::{ByteOrder, Event, Result};

/// Types of records that stay: those that have nothing but numbers, and those whose names are known.
const STAY: [u32; 30] = [
    kind::MMAP,
    kind::LOST,
    kind::COMM,
    kind::EXIT,
    kind::THROTTLE,
    kind::UNTHROTTLE,
    kind::FORK,
    kind::READ,
    kind::MMAP2,
    kind::ITRACE_START,
    kind::LOST_SAMPLES,
    kind::SWITCH,
    kind::SWITCH_CPU_WIDE,
    kind::NAMESPACES,
    kind::KSYMBOL,
    kind::CGROUP,
    kind::CALLCHAIN_DEFERRED,
    kind::HEADER_EVENT_TYPE,
    kind::HEADER_BUILD_ID,
    kind::FINISHED_ROUND,
    kind::ID_INDEX,
    kind::THREAD_MAP,
    kind::CPU_MAP,
    kind::STAT_CONFIG,
    kind::STAT,
    kind::STAT_ROUND,
    kind::EVENT_UPDATE,
    kind::TIME_CONV,
    kind::FINISHED_INIT,
    kind::SCHEDSTAT_CPU,
];

/// Whether records of this type stay.
pub(super) fn stays(number: u32) -> bool {
    STAY.contains(&number)
}

/// What fills records up.
const ZEROS: [u8; 8] = [0; 8];

/// Writes a record anew.
pub(super) fn rewrite(
    event: &Event<'_>,
    order: ByteOrder,
    tokens: &mut Tokens,
    keeps_build_ids: bool,
    out: &mut Vec<u8>,
) -> Result<()> {
    let (name, threads);
    let mut parts = RecordParts::of(event)?;
    parts.rest = &[];
    let (shape, misc) = (parts.shape, event.head().misc);
    parts.record.clear_remains(&shape, misc);
    match &mut parts.record {
        Record::Mmap(mmap) => {
            name = anonymous(tokens, mmap.filename.bytes());
            mmap.filename = CStr8::new(&name);
        }
        Record::Mmap2(mmap) => {
            name = anonymous(tokens, mmap.filename.bytes());
            mmap.filename = CStr8::new(&name);
            if let (FileIdentity::BuildId { size, reserved, bytes }, false) =
                (&mut mmap.file, keeps_build_ids)
            {
                let id = bytes.get(..usize::from(*size)).unwrap_or(bytes);
                (*bytes, *reserved) = (tokens.build_id(id), [0; 3]);
            }
        }
        Record::Comm(comm) => {
            name = tokens.of(Name::Comm, comm.comm.bytes()).into_bytes();
            comm.comm = CStr8::new(&name);
        }
        Record::Ksymbol(symbol) => {
            name = tokens.of(Name::Symbol, symbol.name.bytes()).into_bytes();
            symbol.name = CStr8::new(&name);
        }
        Record::Cgroup(cgroup) => {
            // The root says nothing.
            name = match cgroup.path.bytes() {
                b"/" => b"/".to_vec(),
                path => format!("/{}", tokens.of(Name::Cgroup, path)).into_bytes(),
            };
            cgroup.path = CStr8::new(&name);
        }
        Record::EventUpdate(update) if update.update_type == EventUpdateType::NAME => {
            let schema = event.schema();
            let known = schema.event_of_id(update.event_id).and_then(|index| schema.event(index));
            let known = known.or_else(|| schema.events().first().filter(|_| schema.events().len() == 1));
            name = match known {
                Some(known) => tokens.event(&known.attr, update.text.bytes()),
                None => tokens.of(Name::Event, update.text.bytes()),
            }
            .into_bytes();
            update.text = CStr8::new(&name);
        }
        Record::HeaderEventType(told) => {
            name = tokens.of(Name::Event, told.event_name.bytes()).into_bytes();
            told.event_name = CStr8::new(&name);
        }
        Record::HeaderBuildId(told) => {
            name = anonymous(tokens, told.filename.bytes());
            told.filename = CStr8::new(&name);
            told.reserved = [0; 3];
            if !keeps_build_ids {
                told.build_id = tokens.build_id(&told.build_id);
            }
        }
        Record::ThreadMap(map) => {
            threads = thread_map(tokens, map.threads.order(), map.threads.iter());
            map.threads = List::new(&threads, map.threads.order());
        }
        _ => {}
    }
    parts.encode(order, out)?;
    // What filled the record up went with what may have been left there.
    let fill = out.len().next_multiple_of(ZEROS.len()) - out.len();
    if fill > 0 && event.head().kind >= USER_RECORDS {
        parts.rest = ZEROS.get(..fill).unwrap_or_default();
        parts.encode(order, out)?;
    }
    Ok(())
}

/// The threads of a map as they lie in a record.
fn thread_map(
    tokens: &mut Tokens,
    order: ByteOrder,
    threads: impl Iterator<Item = perffile::wire::record::thread_map::MappedThread>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    for thread in threads {
        let end = thread.comm.iter().position(|byte| *byte == 0).unwrap_or(thread.comm.len());
        let token = tokens.of(Name::Comm, thread.comm.get(..end).unwrap_or_default());
        let mut comm = [0; 16];
        comm.iter_mut().zip(token.bytes()).for_each(|(to, from)| *to = from);
        bytes.extend(order.put_u64(thread.pid));
        bytes.extend(comm);
    }
    bytes
}
