//! The samples of an event: a sequence of packets of its own, since a sequence has one event that its samples were taken of.

use super::message::*;
use super::{Packets, write_packet};
use crate::export::Export;
use crate::export::images::Images;
use crate::text::{decoded, printable};
use readperf_profile::{AddressId, Apart, CodeKind, FrameId, FrameTable, SampleRow, StackId};
use readperf_session::{BinaryId, BinaryKind, CpuMode};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::io;

/// Writes the samples of an event as the sequence with this number.
pub(super) fn write(
    export: &Export<'_>,
    images: &Images,
    event: usize,
    sequence: u32,
    packets: &mut Packets<'_>,
) -> io::Result<()> {
    let timebase = super::timebase::of(export, event);
    let defaults =
        Defaults { clock: super::clock(export), samples: Some(SampleDefaults { timebase: Some(timebase) }) };
    let first =
        TracePacket { sequence, flags: STATE_CLEARED, defaults: Some(defaults), ..TracePacket::default() };
    write_packet(packets, &first)?;
    // What a frame is in the trace has an address and a line.
    let table = export.frame_table(Apart { lines: true, addresses: true, ..Apart::default() });
    let known = Known { frames: vec![0; table.frames().len()], ..Known::default() };
    let mut told = Told { export: *export, images, table, known, new: InternedData::default() };
    // How far each CPU has counted: what the format wants instead of the period.
    let mut counts: BTreeMap<Option<u32>, u64> = BTreeMap::new();
    for row in export.profile.rows_of(event) {
        let count = counts.entry(row.cpu).or_default();
        *count = count.wrapping_add(export.weight(&row));
        let callstack = told.callstack(&row);
        let (pid, tid) = export.ids(&row).unwrap_or_default();
        let (pid, tid) = (pid.cast_unsigned(), tid.cast_unsigned());
        let sample =
            PerfSample { cpu: row.cpu, pid, tid, callstack, mode: mode(export, &row), count: *count };
        let new = std::mem::take(&mut told.new);
        let packet = TracePacket {
            sequence,
            flags: NEEDS_STATE,
            timestamp: Some(row.time_ns),
            interned: (new != InternedData::default()).then_some(new),
            sample: Some(sample),
            ..TracePacket::default()
        };
        write_packet(packets, &packet)?;
    }
    Ok(())
}

/// In which mode the CPU was, as `Profiling.CpuMode` numbers it.
fn mode(export: &Export<'_>, row: &SampleRow) -> u32 {
    match export.profile.addresses().get(row.address).map(|code| code.mode) {
        None | Some(CpuMode::Unknown) => 0,
        Some(CpuMode::Kernel) => 1,
        Some(CpuMode::User) => 2,
        Some(CpuMode::Hypervisor) => 3,
        Some(CpuMode::GuestKernel) => 4,
        Some(CpuMode::GuestUser) => 5,
    }
}

/// Numbers of what the sequence has been told.
#[derive(Debug, Default)]
struct Known {
    callstacks: FxHashMap<(StackId, Option<AddressId>), u64>,
    /// By frame; 0 for those not told yet.
    frames: Vec<u64>,
    last_frame: u64,
    mappings: FxHashMap<BinaryId, u64>,
    function_names: FxHashMap<Vec<u8>, u64>,
    source_paths: FxHashMap<Vec<u8>, u64>,
    mapping_paths: FxHashMap<Vec<u8>, u64>,
    build_ids: FxHashMap<Vec<u8>, u64>,
}

/// What the sequence has been told, and what it has to be told next.
struct Told<'t, 'x> {
    export: Export<'x>,
    images: &'t Images,
    table: FrameTable,
    known: Known,
    new: InternedData,
}

impl Told<'_, '_> {
    /// The number of a row's stack.
    fn callstack(&mut self, row: &SampleRow) -> u64 {
        let key = (row.stack, (row.stack == StackId::EMPTY).then_some(row.address));
        if let Some(known) = self.known.callstacks.get(&key) {
            return *known;
        }
        let iid = next(self.known.callstacks.len());
        self.known.callstacks.insert(key, iid);
        let mut stack: Vec<FrameId> =
            self.export.places(row).flat_map(|place| self.table.at(place)).copied().collect();
        stack.reverse();
        let frames = stack.into_iter().map(|frame| self.frame(frame)).collect();
        self.new.callstacks.push(Callstack { iid, frames });
        iid
    }

    fn frame(&mut self, id: FrameId) -> u64 {
        let Some(unique) = self.table.get(id) else { return 0 };
        let Some(iid) = self.known.frames.get_mut(id.index()) else { return 0 };
        if *iid != 0 {
            return *iid;
        }
        self.known.last_frame += 1;
        *iid = self.known.last_frame;
        let iid = *iid;
        let (export, level) = (self.export, unique.first);
        let place = export.profile.addresses().get(level.address);
        let binary = place.and_then(|code| code.binary);
        let name = printable(&export.label(unique)).into_owned();
        let path = level.file.and_then(|file| export.profile.names().file(file)).map(|file| printable(file));
        let frame = Frame {
            iid,
            function_name: intern(
                &mut self.known.function_names,
                &mut self.new.function_names,
                name.as_bytes(),
            ),
            mapping: binary.map(|binary| self.mapping(binary)),
            address: place.map_or(0, |code| match binary {
                Some(binary) => self.images.relative(binary, code.address),
                None => code.address,
            }),
            source_path: path.map(|path| {
                intern(&mut self.known.source_paths, &mut self.new.source_paths, path.as_bytes())
            }),
            line: (level.line > 0).then_some(level.line),
            kind: match export.kind(level.address) {
                CodeKind::User => code::NATIVE,
                CodeKind::Kernel => code::KERNEL,
                CodeKind::Jit => code::JIT,
                CodeKind::Unknown => code::UNKNOWN,
            },
        };
        self.new.frames.push(frame);
        iid
    }

    fn mapping(&mut self, id: BinaryId) -> u64 {
        if let Some(known) = self.known.mappings.get(&id) {
            return *known;
        }
        let iid = next(self.known.mappings.len());
        self.known.mappings.insert(id, iid);
        let Some(binary) = self.export.session.binary(id) else { return iid };
        if let BinaryKind::Kernel { .. } = binary.kind {
            let path = vec![self.path_part(KERNEL)];
            self.new.mappings.push(Mapping { iid, path, ..Mapping::default() });
            return iid;
        }
        let name = decoded(&binary.name);
        let parts = name.split('/').filter(|part| !part.is_empty());
        let path = parts.map(|part| self.path_part(part)).collect();
        let build_id = binary
            .build_id
            .as_deref()
            .map(|build_id| intern(&mut self.known.build_ids, &mut self.new.build_ids, build_id));
        let image = self.images.get(id);
        self.new.mappings.push(Mapping {
            iid,
            build_id,
            start: image.map_or(0, |image| image.start),
            end: image.map_or(0, |image| image.limit),
            offset: image.map_or(0, |image| image.offset()),
            path,
        });
        iid
    }

    /// The number of a part of a path.
    fn path_part(&mut self, part: &str) -> u64 {
        let part = printable(part);
        intern(&mut self.known.mapping_paths, &mut self.new.mapping_paths, part.as_bytes())
    }
}

/// The whole path of the kernel's mapping, which has no addresses and no build-id: only so does Perfetto's importer take it for
/// the kernel.
const KERNEL: &str = "kernel";

/// The number of a text; tells it if it is new.
fn intern(known: &mut FxHashMap<Vec<u8>, u64>, new: &mut Vec<Text>, bytes: &[u8]) -> u64 {
    if let Some(known) = known.get(bytes) {
        return *known;
    }
    let iid = next(known.len());
    known.insert(bytes.to_vec(), iid);
    new.push(Text { iid, bytes: bytes.to_vec() });
    iid
}

/// Numbers start at 1.
fn next(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX).saturating_add(1)
}
