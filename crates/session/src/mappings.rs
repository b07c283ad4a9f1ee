//! MMAP, MMAP2 and KSYMBOL: what is mapped where; and build-ids told on the way.

use crate::binary::{Binary, BinaryKind};
use crate::build_ids;
use crate::kernel::{KernelMap, KernelSymbol, reference};
use crate::moment::{MapMoment, Moment};
use crate::naming::{last_part, module_short_name, user_binary};
use crate::session::Session;
use crate::space::Mapping;
use perffile::wire::head::{CpuMode, RecordHead};
use perffile::wire::misc;
use perffile::wire::protection::{MapFlags, Protection};
use perffile::wire::record::header_build_id::HeaderBuildId;
use perffile::wire::record::ksymbol::{Ksymbol, KsymbolFlags};
use perffile::wire::record::mmap::Mmap;
use perffile::wire::record::mmap2::Mmap2;

/// The pid of the kernel's own mappings.
const KERNEL_PID: u32 = u32::MAX;

/// What MMAP and MMAP2 have in common.
struct NewMap<'n> {
    pid: u32,
    start: u64,
    len: u64,
    pgoff: u64,
    prot: Protection,
    flags: MapFlags,
    data: bool,
    name: &'n [u8],
    build_id: Option<Box<[u8]>>,
}

impl NewMap<'_> {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.len)
    }
}

impl Session {
    pub(crate) fn mmap<'e>(&mut self, record: &Mmap<'_>, head: RecordHead, time_ns: u64) -> Moment<'e> {
        let data = head.misc & misc::MMAP_DATA != 0;
        let map = NewMap {
            pid: record.pid,
            start: record.addr,
            len: record.len,
            pgoff: record.pgoff,
            // Protection is not told, but what is not marked as data was mapped to be executed.
            prot: if data { Protection::default() } else { Protection::EXEC },
            flags: MapFlags::default(),
            data,
            name: record.filename.bytes(),
            build_id: None,
        };
        self.map(map, head.cpu_mode(), time_ns)
    }

    pub(crate) fn mmap2<'e>(&mut self, record: &Mmap2<'_>, head: RecordHead, time_ns: u64) -> Moment<'e> {
        let data = head.misc & misc::MMAP_DATA != 0;
        let map = NewMap {
            pid: record.pid,
            start: record.addr,
            len: record.len,
            pgoff: record.pgoff,
            // As where protection is not told at all.
            prot: if record.early && !data { Protection::EXEC } else { record.prot },
            flags: record.flags,
            data,
            name: record.filename.bytes(),
            build_id: record.file.build_id().and_then(|id| build_ids::known(id, true)),
        };
        self.map(map, head.cpu_mode(), time_ns)
    }

    fn map<'e>(&mut self, map: NewMap<'_>, mode: CpuMode, time_ns: u64) -> Moment<'e> {
        match mode {
            CpuMode::Kernel => self.map_kernel(map, false, time_ns),
            CpuMode::GuestKernel => self.map_kernel(map, true, time_ns),
            _ if map.pid == KERNEL_PID => self.map_kernel(map, false, time_ns),
            _ => self.map_user(map, time_ns),
        }
    }

    fn map_user<'e>(&mut self, map: NewMap<'_>, time_ns: u64) -> Moment<'e> {
        let mut binary = user_binary(map.name, map.pid, map.prot, map.flags);
        let file_offset = match binary.kind {
            // The image starts at its first byte, whatever the record says.
            BinaryKind::Vdso => Some(0),
            _ if binary.kind.by_run_time_address() => None,
            _ => Some(map.pgoff),
        };
        binary.build_id = map.build_id.clone();
        let binary = self.binaries.intern(binary, &self.build_ids);
        let bias = file_offset.map_or(0, |offset| map.start.wrapping_sub(offset));
        let (start, end) = (map.start, map.end());
        // A process has one address space, whichever of its threads maps.
        let process_id = self.find_or_add_process(map.pid);
        let mapping = Mapping { start, end, bias, binary, data: map.data };
        let above = self.code_above(process_id, &mapping);
        if let Some(process) = self.processes.get_mut(process_id) {
            process.mmaps += 1;
            if let Some(above) = above {
                process.space.insert(mapping);
                above.into_iter().for_each(|code| process.space.insert(code));
                process.space.stamp(self.versions.next());
            }
        }
        Moment::Map(MapMoment { process: Some(process_id), binary: Some(binary), start, end, time_ns })
    }

    fn map_kernel<'e>(&mut self, map: NewMap<'_>, in_guest: bool, time_ns: u64) -> Moment<'e> {
        let (start, end) = (map.start, map.end());
        let binary = match KernelMap::of(map.name) {
            KernelMap::Image { guest, name, symbol } => Some(self.map_image(&map, guest, name, symbol)),
            KernelMap::Module => Some(self.map_module(&map, in_guest)),
            KernelMap::Piece => self.map_piece(&map, in_guest),
        };
        Moment::Map(MapMoment { process: None, binary, start, end, time_ns })
    }

    fn map_image(&mut self, map: &NewMap<'_>, guest: bool, name: &[u8], symbol: &[u8]) -> crate::BinaryId {
        // ABI: pgoff is no offset here, but the address of the reference symbol.
        let reference = reference(symbol, map.pgoff);
        let kind =
            if guest { BinaryKind::GuestKernel { reference } } else { BinaryKind::Kernel { reference } };
        let image = Binary {
            name: name.into(),
            short_name: name.into(),
            kind: kind.clone(),
            build_id: map.build_id.clone(),
        };
        let binary = self.binaries.intern(image, &self.build_ids);
        self.binaries.set_kind(binary, kind);
        let kernel = if guest { &mut self.guest_kernel } else { &mut self.kernel };
        kernel.set_image(map.start, map.len, binary);
        kernel.stamp(self.versions.next());
        binary
    }

    fn map_module(&mut self, map: &NewMap<'_>, guest: bool) -> crate::BinaryId {
        let (start, end) = (map.start, map.end());
        let short_name: Box<[u8]> = module_short_name(map.name).into();
        let kind = if guest { BinaryKind::GuestModule { start } } else { BinaryKind::Module { start } };
        let build_id = map.build_id.clone();
        let module = Binary { name: map.name.into(), short_name, kind, build_id };
        let binary = self.binaries.intern(module, &self.build_ids);
        let kernel = if guest { &mut self.guest_kernel } else { &mut self.kernel };
        kernel.insert(Mapping { start, end, bias: 0, binary, data: map.data });
        kernel.stamp(self.versions.next());
        binary
    }

    /// Another place at which part of the image can be seen; there pgoff is the address of that part.
    fn map_piece(&mut self, map: &NewMap<'_>, guest: bool) -> Option<crate::BinaryId> {
        let kernel = if guest { &mut self.guest_kernel } else { &mut self.kernel };
        let binary = kernel.image()?.binary;
        let (start, end) = (map.start, map.end());
        let bias = if map.pgoff == 0 { 0 } else { start.wrapping_sub(map.pgoff) };
        kernel.insert(Mapping { start, end, bias, binary, data: map.data });
        kernel.stamp(self.versions.next());
        Some(binary)
    }

    pub(crate) fn ksymbol<'e>(&mut self, record: &Ksymbol<'_>, time_ns: u64) -> Moment<'e> {
        let (start, len) = (record.addr, u64::from(record.len));
        let end = start.saturating_add(len);
        let name = record.name.bytes();
        let gone = self.live_symbols.remove(&start);
        if let Some(symbol) = gone.and_then(|at| self.kernel_symbols.get_mut(at)) {
            symbol.until_ns = Some(time_ns);
        }
        if record.flags.has(KsymbolFlags::unregister) {
            self.kernel.remove_at(start);
            self.kernel.stamp(self.versions.next());
            return Moment::Map(MapMoment { process: None, binary: None, start, end, time_ns });
        }
        self.live_symbols.insert(start, self.kernel_symbols.len());
        let symbol =
            KernelSymbol { address: start, len, name: name.into(), from_ns: time_ns, until_ns: None };
        self.kernel_symbols.push(symbol);
        // Inside of something known it is just one more symbol of that.
        let binary = (!self.kernel.holds(start)).then(|| {
            let kind = BinaryKind::Bpf { start };
            let short_name = last_part(name).into();
            let code = Binary { name: name.into(), short_name, kind, build_id: None };
            let binary = self.binaries.intern(code, &self.build_ids);
            self.kernel.insert(Mapping { start, end, bias: 0, binary, data: false });
            self.kernel.stamp(self.versions.next());
            binary
        });
        Moment::Map(MapMoment { process: None, binary, start, end, time_ns })
    }

    pub(crate) fn build_id_record<'e>(&mut self, record: &HeaderBuildId<'_>, record_misc: u16) -> Moment<'e> {
        if let Some(subject) = self.build_ids.learn_record(record, record_misc) {
            self.binaries.identify(&subject, &self.build_ids);
        }
        Moment::Other
    }
}
