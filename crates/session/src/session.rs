//! The state of a session, and the questions it answers.

use crate::arena::Arena;
use crate::binary::{Binaries, Binary};
use crate::build_ids::KnownBuildIds;
use crate::callchain::CallchainEntries;
use crate::comm::Comms;
use crate::ids::{BinaryId, CommId, ProcessId, ThreadId};
use crate::kernel::{Kernel, KernelSymbol};
use crate::moment::{CodeAddress, SampleMoment};
use crate::process::Process;
use crate::recent_threads::RecentThreads;
use crate::space::{Mapping, SpaceVersion, Versions};
use crate::space_state::SpaceState;
use crate::summary::Summary;
use crate::thread::Thread;
use perffile::wire::head::CpuMode;
use perffile::wire::sample::SampleView;
use perffile::{Delivery, Features, Issues, Metadata, Share};
use rustc_hash::FxHashMap;

/// What is known of the recorded machine, as of the last record applied: processes, threads, mappings and the kernel.
#[derive(Clone, Debug, Default)]
pub struct Session {
    pub(crate) processes: Arena<ProcessId, Process>,
    pub(crate) threads: Arena<ThreadId, Thread>,
    pub(crate) comms: Comms,
    pub(crate) binaries: Binaries,
    pub(crate) build_ids: KnownBuildIds,
    pub(crate) kernel: Kernel,
    pub(crate) guest_kernel: Kernel,
    pub(crate) kernel_symbols: Vec<KernelSymbol>,
    /// Kernel symbols that have not gone, by address: indices into `kernel_symbols`.
    pub(crate) live_symbols: FxHashMap<u64, usize>,
    /// The process that has a pid now.
    pub(crate) by_pid: FxHashMap<u32, ProcessId>,
    /// The thread that has a pid and tid now.
    pub(crate) by_tid: FxHashMap<(u32, u32), ThreadId>,
    pub(crate) versions: Versions,
    pub(crate) recent_threads: RecentThreads,
    /// Mappings of code that were looked through because memory was told of again.
    pub(crate) relaid: usize,
    pub(crate) summary: Summary,
    pub(crate) issues: Issues,
    pub(crate) delivery: Delivery,
}

impl Session {
    /// A session before the first record.
    pub fn new(metadata: &Metadata) -> Session {
        let mut session = Session::default();
        session.build_ids.learn(&metadata.features);
        session
    }

    /// Takes build-ids from features that became known on the way, as those of a pipe do.
    pub fn learn(&mut self, features: &Features) {
        for subject in self.build_ids.learn(features) {
            self.binaries.identify(&subject, &self.build_ids);
        }
    }

    /// The mapping that covers an address now, if any. O(log n) in the number of mappings.
    #[inline]
    pub fn mapping(&self, process: ProcessId, mode: CpuMode, ip: u64) -> Option<&Mapping> {
        match mode {
            CpuMode::User => self.processes.get(process).and_then(|process| process.space.find(ip)),
            CpuMode::Kernel => self.kernel.find(ip),
            CpuMode::GuestKernel => self.guest_kernel.find(ip),
            CpuMode::Unknown | CpuMode::Hypervisor | CpuMode::GuestUser => None,
        }
    }

    /// Where an address is, in the mappings as of now. O(log n) in the number of mappings.
    #[inline]
    pub fn locate(&self, process: ProcessId, mode: CpuMode, ip: u64) -> CodeAddress {
        CodeAddress::of(self.mapping(process, mode, ip), mode, ip)
    }

    /// The state of the mappings in which [`Session::locate`] looks: as long as it is the same, so are the answers.
    #[inline]
    pub fn space_version(&self, process: ProcessId, mode: CpuMode) -> SpaceVersion {
        match mode {
            CpuMode::User => self.processes.get(process).map_or_else(Default::default, |p| p.space.version()),
            CpuMode::Kernel => self.kernel.version(),
            CpuMode::GuestKernel => self.guest_kernel.version(),
            CpuMode::Unknown | CpuMode::Hypervisor | CpuMode::GuestUser => SpaceVersion::default(),
        }
    }

    /// That state, to be asked later; `None` if nothing is mapped.
    pub fn space_state(&self, process: ProcessId, mode: CpuMode) -> Option<SpaceState> {
        let state = match mode {
            CpuMode::User => SpaceState::of_process(&self.processes.get(process)?.space),
            CpuMode::Kernel => SpaceState::of_kernel(&self.kernel),
            CpuMode::GuestKernel => SpaceState::of_kernel(&self.guest_kernel),
            CpuMode::Unknown | CpuMode::Hypervisor | CpuMode::GuestUser => return None,
        };
        (state.version() != SpaceVersion::default()).then_some(state)
    }

    /// The call chain of a sample, in the mappings as of now; empty if none is recorded. `mode` is that of the sample,
    /// which counts up to the first marker.
    pub fn callchain<'s, 'e>(
        &'s self,
        process: ProcessId,
        sample: &SampleView<'e>,
        mode: CpuMode,
    ) -> CallchainEntries<'s, 'e> {
        CallchainEntries::new(self, process, mode, sample.callchain().unwrap_or_default())
    }

    /// All binaries; a [`BinaryId`] is an index.
    pub fn binaries(&self) -> &[Binary] {
        self.binaries.as_slice()
    }

    /// A binary.
    #[inline]
    pub fn binary(&self, id: BinaryId) -> Option<&Binary> {
        self.binaries.get(id)
    }

    /// All processes, those that are gone included; a [`ProcessId`] is an index.
    pub fn processes(&self) -> &[Process] {
        self.processes.as_slice()
    }

    /// All processes with their ids.
    pub fn processes_with_ids(&self) -> impl Iterator<Item = (ProcessId, &Process)> {
        self.processes.iter_with_ids()
    }

    /// A process.
    #[inline]
    pub fn process(&self, id: ProcessId) -> Option<&Process> {
        self.processes.get(id)
    }

    /// The name of a process: the last one of its main thread.
    pub fn process_name(&self, id: ProcessId) -> &[u8] {
        let main = self.processes.get(id).and_then(|process| self.threads.get(process.main_thread));
        main.map_or(&[], |thread| self.comms.name(thread.comm()))
    }

    /// All threads, those that are gone included; a [`ThreadId`] is an index.
    pub fn threads(&self) -> &[Thread] {
        self.threads.as_slice()
    }

    /// A thread.
    #[inline]
    pub fn thread(&self, id: ThreadId) -> Option<&Thread> {
        self.threads.get(id)
    }

    /// The thread that has a pid and tid now, if it has been seen.
    pub fn thread_now(&self, pid: u32, tid: u32) -> Option<ThreadId> {
        if let Some(id) = self.by_tid.get(&(pid, tid)) {
            return Some(*id);
        }
        let process = self.by_pid.get(&pid).filter(|_| pid == tid)?;
        self.processes.get(*process).map(|process| process.main_thread)
    }

    /// A thread name; not necessarily UTF-8.
    #[inline]
    pub fn comm(&self, id: CommId) -> &[u8] {
        self.comms.name(id)
    }

    /// All thread names; a [`CommId`] is an index.
    pub fn comms(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.comms.names()
    }

    /// How much of which event the last sample stands for: one share, unless it carries the values of several counters.
    #[inline]
    pub fn shares(&self) -> &[Share] {
        self.delivery.last()
    }

    /// Where the kernel's image lies, and which binary it is.
    pub fn kernel_image(&self) -> Option<&Mapping> {
        self.kernel.image()
    }

    /// Symbols of kernel code generated at run time, in the order in which they came.
    pub fn kernel_symbols(&self) -> &[KernelSymbol] {
        &self.kernel_symbols
    }

    /// Counts over all records so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// What was wrong with the records so far.
    pub fn issues(&self) -> &Issues {
        &self.issues
    }
}

impl SampleMoment<'_> {
    /// Where it was taken, in the mappings as of now: to be asked before the next record is applied. O(log n) in the number of
    /// mappings.
    #[inline]
    pub fn code(&self, session: &Session) -> CodeAddress {
        session.locate(self.process, self.mode, self.ip)
    }
}

impl CodeAddress {
    /// Where an address is, given the mapping that covers it.
    #[inline]
    pub fn of(mapping: Option<&Mapping>, mode: CpuMode, ip: u64) -> CodeAddress {
        match mapping {
            Some(mapping) => {
                let address = mapping.address_in_binary(ip);
                CodeAddress { binary: Some(mapping.binary), address, ip, mode }
            }
            None => CodeAddress { binary: None, address: ip, ip, mode },
        }
    }
}
