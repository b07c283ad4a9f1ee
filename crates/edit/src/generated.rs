//! Mappings of generated code that are added: of files that were made of what runtimes dumped.

use perffile::wire::attr::SampleShape;
use perffile::wire::head::RecordHead;
use perffile::wire::misc::COMM_EXEC;
use perffile::wire::protection::{MapFlags, Protection};
use perffile::wire::record::mmap2::Mmap2;
use perffile::wire::record::{Record, kind};
use perffile::wire::sample::SampleId;
use perffile::wire::text::Padded;
use perffile::write::RecordParts;
use perffile::{ByteOrder, Event, Result};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A dump of generated code: its mapping goes, and others come in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dump {
    /// The process, as the recording numbers it.
    pub pid: u32,
    /// The name of the dump, as its mapping has it.
    pub name: Box<[u8]>,
    /// What comes, in any order.
    pub mappings: Vec<AddedMapping>,
}

/// A mapping of code that was generated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddedMapping {
    /// When the code came to its place, ns of the recording's clock. If that is before the dump was mapped, it is told behind that.
    pub time_ns: u64,
    /// First address.
    pub start: u64,
    /// Size in bytes.
    pub size: u64,
    /// Where the code lies in the file, bytes.
    pub offset: u64,
    /// The file.
    pub file: Box<[u8]>,
}

/// The mode of user code, as in `misc`.
const USER: u16 = 2;

/// What is added, as far as records have come.
#[derive(Debug)]
pub(crate) struct Generated<'p> {
    dumps: FxHashMap<(u32, &'p [u8]), &'p Dump>,
    /// What is to come, the last first.
    waiting: Vec<(u64, u32, &'p AddedMapping)>,
    /// What stands behind the fields of the mapping of a dump, and so behind those that are added.
    trailer: Option<(SampleId, SampleShape)>,
    /// By process: where code was put, first address to end.
    placed: FxHashMap<u32, BTreeMap<u64, u64>>,
}

impl<'p> Generated<'p> {
    pub(crate) fn new(dumps: &'p [Dump]) -> Generated<'p> {
        let of = |dump: &'p Dump| dump.mappings.iter().map(|mapping| (mapping.time_ns, dump.pid, mapping));
        let mut waiting: Vec<_> = dumps.iter().flat_map(of).collect();
        // What came at the same time keeps its order: the later one is on top.
        waiting.sort_by_key(|(time, ..)| *time);
        waiting.reverse();
        let dumps = dumps.iter().map(|dump| ((dump.pid, &*dump.name), dump)).collect();
        Generated { dumps, waiting, trailer: None, placed: FxHashMap::default() }
    }

    /// Whether a mapping is to be told before this record.
    #[inline]
    pub(crate) fn is_due(&self, event: &Event<'_>) -> bool {
        let Some((next_ns, ..)) = self.waiting.last().filter(|_| self.trailer.is_some()) else {
            return false;
        };
        event.time().is_some_and(|time| time >= *next_ns) && !event.has_stray_time()
    }

    /// Writes the next one that is to be told before this record, or at the end; says whether there was one.
    pub(crate) fn next_before(
        &mut self,
        event: Option<&Event<'_>>,
        order: ByteOrder,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let Some((id, shape)) = self.trailer.filter(|_| event.is_none_or(|event| self.is_due(event))) else {
            return Ok(false);
        };
        let Some((time_ns, pid, added)) = self.waiting.pop() else { return Ok(false) };
        let record = Mmap2 {
            pid,
            tid: pid,
            addr: added.start,
            len: added.size,
            pgoff: added.offset,
            prot: Protection(Protection::READ.0 | Protection::EXEC.0),
            filename: Padded::new(&added.file),
            flags: MapFlags::default(),
            ..Mmap2::default()
        };
        let id = SampleId {
            pid: id.pid.map(|_| pid),
            tid: id.tid.map(|_| pid),
            time: id.time.map(|_| time_ns),
            ..id
        };
        let (head, record) = (RecordHead { kind: kind::MMAP2, misc: USER, size: 0 }, Record::Mmap2(record));
        RecordParts { head, record, rest: &[], id: Some(id), shape }.encode(order, out)?;
        let placed = self.placed.entry(pid).or_default();
        placed.insert(added.start, added.start.saturating_add(added.size));
        Ok(true)
    }

    /// Whether what is added takes the place of a record: of the mapping of a dump, and of memory that is told once more
    /// (as a new protection is) after code was put there, which would cover it.
    pub(crate) fn replaces(&mut self, event: &Event<'_>) -> bool {
        if self.dumps.is_empty() || !matches!(event.head().kind, kind::MMAP | kind::MMAP2 | kind::COMM) {
            return false;
        }
        let Ok((record, _)) = event.record() else { return false };
        let (pid, start, size, name, flags) = match &record {
            Record::Comm(comm) => {
                if event.head().misc & COMM_EXEC != 0 {
                    self.placed.remove(&comm.pid);
                }
                return false;
            }
            Record::Mmap(map) => (map.pid, map.addr, map.len, map.filename.bytes(), MapFlags::default()),
            Record::Mmap2(map) => (map.pid, map.addr, map.len, map.filename.bytes(), map.flags),
            _ => return false,
        };
        if self.dumps.contains_key(&(pid, name)) {
            let Ok(parts) = RecordParts::of(event) else { return false };
            self.trailer = parts.id.map(|id| (id, parts.shape));
            return self.trailer.is_some();
        }
        let covered = || {
            let last = self.placed.get(&pid)?.range(..start.saturating_add(size)).next_back();
            last.filter(|(_, end)| **end > start)
        };
        readperf_session::is_memory(name, flags) && covered().is_some()
    }
}
