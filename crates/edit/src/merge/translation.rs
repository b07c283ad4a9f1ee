//! A record of one of the recordings as it is in the one they become: its ids, pids, times and addresses.

use super::Merge;
use super::events::EventsOf;
use super::features::OwnIds;
use super::kernels::Kernel;
use crate::role::Role;
use perffile::wire::attr::SampleType;
use perffile::wire::callchain::Marker;
use perffile::wire::head::CpuMode;
use perffile::wire::list::List;
use perffile::wire::misc::MMAP_BUILD_ID;
use perffile::wire::record::Record;
use perffile::wire::record::mmap2::{FileIdentity, Mmap2};
use perffile::wire::sample::{Read, Sample};
use perffile::wire::words::U64s;
use perffile::write::RecordParts;
use perffile::{ByteOrder, Event, Result};

/// Where addresses of the kernel begin, for what does not say in which mode it was: branches.
const KERNEL_HALF: u64 = 1 << 63;

/// What becomes of the records of one recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct Translation<'m> {
    events: &'m EventsOf,
    own_ids: &'m OwnIds,
    kernel: &'m Kernel,
    adds_identifier: bool,
    shift_ns: u64,
    pids: u32,
    order: ByteOrder,
    /// What perf made up itself says no event, and is read as a record of the first one: if that is another one now, an id of it.
    first_was: Option<u64>,
    /// Whether records are as they were.
    pub(super) is_idle: bool,
    /// Whether records tell what they told, if with other ids: then they are compared as they were.
    pub(super) tells_the_same: bool,
}

/// What a record holds in lists, written anew.
#[derive(Debug, Default)]
struct Lists {
    chain: Vec<u8>,
    group: Vec<u8>,
    branches: Vec<u8>,
    entries: Vec<u8>,
}

impl<'m> Translation<'m> {
    /// That of the recording with this number.
    pub(super) fn of(merge: &'m Merge<'_>, number: usize) -> Option<Translation<'m>> {
        let source = merge.sources.get(number)?;
        let (events, kernel) = (merge.events.of.get(number)?, merge.kernels.get(number)?);
        let own_ids = merge.own_ids.get(number)?;
        let (shift_ns, pids) = (merge.clocks.get(number)?.shift_ns, *merge.pids.get(number)?);
        let (adds_identifier, order) = (merge.events.adds_identifier, merge.head.order);
        let first = (events.index.first().copied(), events.first.first().copied().flatten());
        let first_was = first.1.filter(|_| first.0 != Some(0));
        let tells_the_same =
            *kernel == Kernel::Stays && (shift_ns, pids) == (0, 0) && source.survey.metadata.order == order;
        let is_idle = tells_the_same
            && events.ids.is_empty()
            && first_was.is_none()
            && own_ids.is_empty()
            && !adds_identifier;
        Some(Translation {
            events,
            own_ids,
            kernel,
            adds_identifier,
            shift_ns,
            pids,
            order,
            first_was,
            is_idle,
            tells_the_same,
        })
    }

    /// When a record is, in ns.
    pub(super) fn time(&self, time_ns: u64) -> u64 {
        if time_ns == 0 { 0 } else { time_ns.saturating_add(self.shift_ns) }
    }

    fn pid(&self, pid: &mut u32) {
        if !matches!(*pid, 0 | u32::MAX) {
            *pid = pid.saturating_add(self.pids);
        }
    }

    fn wide_pid(&self, pid: u64) -> u64 {
        let mut narrow = u32::try_from(pid).unwrap_or(u32::MAX);
        self.pid(&mut narrow);
        if narrow == u32::MAX { pid } else { u64::from(narrow) }
    }

    fn id(&self, id: u64) -> u64 {
        self.events.ids.get(&id).copied().unwrap_or(id)
    }

    /// Whether a record goes because another kernel is in the place of its own.
    pub(super) fn drops(&self, event: &Event<'_>) -> bool {
        *self.kernel == Kernel::Goes
            && Role::of(event) == Role::Common
            && event.head().cpu_mode() == CpuMode::Kernel
            && !event.is_user_record()
    }

    /// Puts the bytes of a record as it is now into `out`.
    ///
    /// # Errors
    /// A record whose fields cannot be decoded, or of an unknown type.
    pub(super) fn write(&self, event: &Event<'_>, out: &mut Vec<u8>) -> Result<()> {
        let mut lists = Lists::default();
        self.gather(event, &mut lists);
        let mut parts = RecordParts::of(event)?;
        if let Record::Mmap2(map) = &mut parts.record {
            self.identify(map, &mut parts.head.misc);
        }
        let first = || self.events.first.get(event.event_index().unwrap_or(0)).copied().flatten();
        let (order, mode) = (event.schema().order(), parts.head.cpu_mode());
        match &mut parts.record {
            Record::Sample(sample) => {
                self.sample(sample, mode, order, &lists);
                if self.adds_identifier {
                    sample.identifier = sample.identifier.or(sample.id).or_else(first);
                }
            }
            record => self.other(record, order, &lists),
        }
        if self.adds_identifier && !event.is_user_record() {
            parts.shape.sample_type = parts.shape.sample_type | SampleType::IDENTIFIER;
            if parts.shape.sample_id_all && !matches!(parts.record, Record::Sample(_)) {
                let id = parts.id.get_or_insert_default();
                id.identifier = id.identifier.or(id.id).or_else(first);
            }
        }
        if let Some(id) = &mut parts.id {
            [&mut id.pid, &mut id.tid].into_iter().flatten().for_each(|pid| self.pid(pid));
            for id in [&mut id.id, &mut id.identifier].into_iter().flatten() {
                *id = if *id == 0 { self.first_was.unwrap_or(0) } else { self.id(*id) };
            }
            id.time = id.time.map(|time| self.time(time));
        }
        parts.encode(self.order, out)
    }

    /// Writes the lists of a record anew, in its own byte order.
    fn gather(&self, event: &Event<'_>, lists: &mut Lists) {
        let order = event.schema().order();
        if let Some(sample) = event.sample() {
            let moves = matches!(self.kernel, Kernel::Moves(_));
            if let Some(chain) = sample.callchain().filter(|_| moves) {
                self.chain(chain, event.head().cpu_mode(), order, &mut lists.chain);
            }
            let needs_fields = |field| event.event().is_some_and(|event| event.attr.sample_type.has(field));
            if moves && needs_fields(SampleType::BRANCH_STACK) || needs_fields(SampleType::READ) {
                let Ok((fields, _)) = sample.decode() else { return };
                if let Some(read) = fields.read {
                    self.group(&read, order, &mut lists.group);
                }
                if let Some(branches) = fields.branch_stack.filter(|_| moves) {
                    for (words, bytes) in
                        branches.entries.iter().zip(branches.entries.as_bytes().chunks_exact(24))
                    {
                        for address in [words.from, words.to] {
                            let is_kernel = address >= KERNEL_HALF;
                            let address = if is_kernel { self.kernel.address(address) } else { address };
                            lists.branches.extend(order.put_u64(address));
                        }
                        lists.branches.extend_from_slice(bytes.get(16..).unwrap_or_default());
                    }
                }
            }
            return;
        }
        match event.record() {
            Ok((Record::IdIndex(index), _)) => {
                for entry in index.entries.iter() {
                    let words = [self.id(entry.id), entry.idx, entry.cpu, self.wide_pid(entry.tid)];
                    words.into_iter().for_each(|word| lists.entries.extend(order.put_u64(word)));
                }
            }
            Ok((Record::ThreadMap(map), _)) => {
                for thread in map.threads.iter() {
                    lists.entries.extend(order.put_u64(self.wide_pid(thread.pid)));
                    lists.entries.extend(thread.comm);
                }
            }
            Ok((Record::Read(read), _)) => self.group(&read.values, order, &mut lists.group),
            _ => {}
        }
    }

    /// A call chain, with the kernel where it is now.
    fn chain(&self, chain: U64s<'_>, mode: CpuMode, order: ByteOrder, out: &mut Vec<u8>) {
        let mut is_kernel = mode == CpuMode::Kernel;
        for entry in chain.iter() {
            let now = match Marker::of(entry) {
                Some(marker) => {
                    is_kernel = marker == Marker::KERNEL;
                    entry
                }
                None if is_kernel => self.kernel.address(entry),
                None => entry,
            };
            out.extend(order.put_u64(now));
        }
    }

    /// The values of a group, with the ids that they have now.
    fn group(&self, read: &Read<'_>, order: ByteOrder, out: &mut Vec<u8>) {
        for value in read.values().filter(|_| !read.group.is_empty()) {
            let words = [Some(value.value), value.id.map(|id| self.id(id)), value.lost];
            words.into_iter().flatten().for_each(|word| out.extend(order.put_u64(word)));
        }
    }

    fn sample<'l>(&self, sample: &mut Sample<'l>, mode: CpuMode, order: ByteOrder, lists: &'l Lists) {
        [&mut sample.pid, &mut sample.tid].into_iter().flatten().for_each(|pid| self.pid(pid));
        [&mut sample.id, &mut sample.identifier].into_iter().flatten().for_each(|id| *id = self.id(*id));
        sample.time = sample.time.map(|time| self.time(time));
        if mode == CpuMode::Kernel {
            sample.ip = sample.ip.map(|ip| self.kernel.address(ip));
        }
        if !lists.chain.is_empty() {
            sample.callchain = Some(U64s::new(&lists.chain, order));
        }
        if let Some(read) = &mut sample.read {
            self.read(read, order, lists);
        }
        if let Some(branches) = sample.branch_stack.as_mut().filter(|_| !lists.branches.is_empty()) {
            branches.entries = List::new(&lists.branches, order);
        }
    }

    fn read<'l>(&self, read: &mut Read<'l>, order: ByteOrder, lists: &'l Lists) {
        read.id = read.id.map(|id| self.id(id));
        if !lists.group.is_empty() {
            read.group = U64s::new(&lists.group, order);
        }
    }

    fn other<'l>(&self, record: &mut Record<'l>, order: ByteOrder, lists: &'l Lists) {
        let pids = |pids: &mut [&mut u32]| pids.iter_mut().for_each(|pid| self.pid(pid));
        match record {
            Record::Mmap(map) => {
                pids(&mut [&mut map.pid, &mut map.tid]);
                if map.pid == u32::MAX {
                    self.kernel_map(&mut map.addr, &mut map.pgoff);
                }
            }
            Record::Mmap2(map) => {
                pids(&mut [&mut map.pid, &mut map.tid]);
                if map.pid == u32::MAX {
                    self.kernel_map(&mut map.addr, &mut map.pgoff);
                }
            }
            Record::Comm(comm) => pids(&mut [&mut comm.pid, &mut comm.tid]),
            Record::Namespaces(spaces) => pids(&mut [&mut spaces.pid, &mut spaces.tid]),
            Record::ItraceStart(start) => pids(&mut [&mut start.pid, &mut start.tid]),
            Record::SwitchCpuWide(switch) => {
                pids(&mut [&mut switch.next_prev_pid, &mut switch.next_prev_tid])
            }
            Record::Fork(task) | Record::Exit(task) => {
                pids(&mut [&mut task.pid, &mut task.ppid, &mut task.tid, &mut task.ptid]);
                task.time = self.time(task.time);
            }
            Record::Read(read) => {
                pids(&mut [&mut read.pid, &mut read.tid]);
                self.read(&mut read.values, order, lists);
            }
            Record::Lost(lost) => lost.id = self.id(lost.id),
            Record::Throttle(throttle) | Record::Unthrottle(throttle) => {
                throttle.id = self.id(throttle.id);
                throttle.time = self.time(throttle.time);
            }
            Record::EventUpdate(update) => update.event_id = self.id(update.event_id),
            Record::TimeConv(conversion) => {
                conversion.time_zero = conversion.time_zero.wrapping_add(self.shift_ns)
            }
            Record::Ksymbol(symbol) => symbol.addr = self.kernel.address(symbol.addr),
            Record::TextPoke(poke) => poke.addr = self.kernel.address(poke.addr),
            Record::IdIndex(index) => index.entries = List::new(&lists.entries, order),
            Record::ThreadMap(map) => map.threads = List::new(&lists.entries, order),
            _ => {}
        }
    }

    /// Says in a mapping which build its file is of, if the table of build-ids does not.
    fn identify(&self, map: &mut Mmap2<'_>, misc: &mut u16) {
        let Some(id) = self.own_ids.get(map.filename.bytes()) else { return };
        if matches!(map.file, FileIdentity::BuildId { .. }) {
            return;
        }
        let mut bytes = [0; 20];
        bytes.iter_mut().zip(&**id).for_each(|(byte, of_id)| *byte = *of_id);
        let size = u8::try_from(id.len().min(bytes.len())).unwrap_or(0);
        map.file = FileIdentity::BuildId { size, reserved: [0; 3], bytes };
        *misc |= MMAP_BUILD_ID;
    }

    /// A mapping of the kernel; that of its image says where its symbol is.
    fn kernel_map(&self, start: &mut u64, symbol: &mut u64) {
        *symbol = self.kernel.address(*symbol);
        *start = self.kernel.address(*start);
    }
}
