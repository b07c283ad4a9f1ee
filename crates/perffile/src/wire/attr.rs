//! `perf_event_attr`: how an event was opened, hence what its records hold.
//!
//! ABI: `include/uapi/linux/perf_event.h`, `struct perf_event_attr`. The struct has grown ten times; its own `size` field
//! says how long it is. Whatever lies behind the fields known here is kept in [`EventAttr::tail`].

use super::clock::ClockId;
use super::encode::Encoder;
use super::endian::Le;
use super::event_type::{BreakpointAccess, EventType, SoftwareEvent};
use super::pass::{Fields, Pass, Step, WireField};
use super::value::{Words, bits};

bits! {
    /// `sample_type`: which fields a sample carries.
    pub struct SampleType(u64 as u64) {
        /// Instruction pointer.
        0 IP,
        /// Process and thread id.
        1 TID,
        /// Time in ns.
        2 TIME,
        /// Data address.
        3 ADDR,
        /// Counter values.
        4 READ,
        /// Call chain.
        5 CALLCHAIN,
        /// Event id.
        6 ID,
        /// CPU number.
        7 CPU,
        /// Period.
        8 PERIOD,
        /// Id of the counter itself, not of the group's leader.
        9 STREAM_ID,
        /// Raw payload: tracepoint fields and the like.
        10 RAW,
        /// Last branches.
        11 BRANCH_STACK,
        /// User registers.
        12 REGS_USER,
        /// Copy of the user stack.
        13 STACK_USER,
        /// Weight, usually latency in cycles.
        14 WEIGHT,
        /// Where the data came from.
        15 DATA_SRC,
        /// Event id at a fixed place.
        16 IDENTIFIER,
        /// Transaction flags.
        17 TRANSACTION,
        /// Registers at the interrupt.
        18 REGS_INTR,
        /// Physical data address.
        19 PHYS_ADDR,
        /// Piece of an AUX trace.
        20 AUX,
        /// Cgroup id.
        21 CGROUP,
        /// Size of the page of the data address.
        22 DATA_PAGE_SIZE,
        /// Size of the page of the instruction pointer.
        23 CODE_PAGE_SIZE,
        /// Weight in three parts.
        24 WEIGHT_STRUCT,
    }
}

bits! {
    /// `read_format`: what a counter value consists of.
    pub struct ReadFormat(u64 as u64) {
        /// With the time the event was enabled.
        0 TOTAL_TIME_ENABLED,
        /// With the time the event was counting.
        1 TOTAL_TIME_RUNNING,
        /// With the event id.
        2 ID,
        /// All values of the group at once.
        3 GROUP,
        /// With the number of lost samples.
        4 LOST,
    }
}

bits! {
    /// `branch_sample_type`: which branches, and what is recorded of them.
    pub struct BranchSampleType(u64 as u64) {
        /// User branches.
        0 USER,
        /// Kernel branches.
        1 KERNEL,
        /// Hypervisor branches.
        2 HV,
        /// Any branch.
        3 ANY,
        /// Any call.
        4 ANY_CALL,
        /// Any return.
        5 ANY_RETURN,
        /// Indirect calls.
        6 IND_CALL,
        /// Transaction aborts.
        7 ABORT_TX,
        /// In a transaction.
        8 IN_TX,
        /// Not in a transaction.
        9 NO_TX,
        /// Conditional branches.
        10 COND,
        /// Call/return stack.
        11 CALL_STACK,
        /// Indirect jumps.
        12 IND_JUMP,
        /// Direct calls.
        13 CALL,
        /// No flags recorded.
        14 NO_FLAGS,
        /// No cycles recorded.
        15 NO_CYCLES,
        /// Type of branch recorded.
        16 TYPE_SAVE,
        /// Index in the hardware recorded.
        17 HW_INDEX,
        /// Privilege recorded.
        18 PRIV_SAVE,
        /// Event counters recorded.
        19 COUNTERS,
    }
}

bits! {
    /// The flags of an attr, first C bit-field lowest, whatever the recorder's byte order.
    pub struct AttrFlags(u64 as bitfield(AttrFlags::WIDTHS)) {
        /// Off by default.
        0 disabled,
        /// Children inherit it.
        1 inherit,
        /// Must always be on the PMU.
        2 pinned,
        /// Only group on the PMU.
        3 exclusive,
        /// Not in user mode.
        4 exclude_user,
        /// Not in the kernel.
        5 exclude_kernel,
        /// Not in the hypervisor.
        6 exclude_hv,
        /// Not when idle.
        7 exclude_idle,
        /// MMAP records.
        8 mmap,
        /// COMM records.
        9 comm,
        /// `sample_period` is a frequency.
        10 freq,
        /// Per-task counts.
        11 inherit_stat,
        /// Enabled by the next exec.
        12 enable_on_exec,
        /// FORK and EXIT records.
        13 task,
        /// `wakeup` is in bytes.
        14 watermark,
        /// Low bit of `precise_ip`.
        15 precise_ip_1,
        /// High bit of `precise_ip`.
        16 precise_ip_2,
        /// MMAP records of data mappings.
        17 mmap_data,
        /// Records other than samples have a trailer.
        18 sample_id_all,
        /// Not in the host.
        19 exclude_host,
        /// Not in a guest.
        20 exclude_guest,
        /// No kernel call chains.
        21 exclude_callchain_kernel,
        /// No user call chains.
        22 exclude_callchain_user,
        /// MMAP2 instead of MMAP.
        23 mmap2,
        /// COMM records tell an exec.
        24 comm_exec,
        /// Time by `clockid`.
        25 use_clockid,
        /// SWITCH records.
        26 context_switch,
        /// The ring buffer is written backward.
        27 write_backward,
        /// NAMESPACES records.
        28 namespaces,
        /// KSYMBOL records.
        29 ksymbol,
        /// BPF_EVENT records.
        30 bpf_event,
        /// AUX data instead of events.
        31 aux_output,
        /// CGROUP records.
        32 cgroup,
        /// TEXT_POKE records.
        33 text_poke,
        /// Build-ids in MMAP2.
        34 build_id,
        /// Only threads inherit it.
        35 inherit_thread,
        /// Removed by exec.
        36 remove_on_exec,
        /// SIGTRAP on each event.
        37 sigtrap,
        /// User call chains are deferred.
        38 defer_callchain,
        /// CALLCHAIN_DEFERRED records.
        39 defer_output,
    }
}

impl AttrFlags {
    /// Widths of the C bit-fields. Those not yet named count as single bits, which all but one so far have been.
    pub(crate) const WIDTHS: &'static [u8] = &{
        let mut widths = [1; 63];
        widths[15] = 2;
        widths
    };

    /// How exact the instruction pointer has to be, 0 to 3 (`:p` modifiers).
    pub fn precise_ip(self) -> u8 {
        u8::from(self.has(Self::precise_ip_1)) | u8::from(self.has(Self::precise_ip_2)) << 1
    }
}

/// The part of an attr that decides how its records are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SampleShape {
    /// Which fields a sample carries.
    pub sample_type: SampleType,
    /// What a counter value consists of.
    pub read_format: ReadFormat,
    /// What is recorded of a branch.
    pub branch_sample_type: BranchSampleType,
    /// Which user registers, a bit each.
    pub sample_regs_user: u64,
    /// Which interrupt registers, a bit each.
    pub sample_regs_intr: u64,
    /// Whether records other than samples have a trailer.
    pub sample_id_all: bool,
}

/// How an event was opened (`perf_event_attr`), any published size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventAttr {
    /// Kind of event; other numbers are those of PMUs, by PMU_MAPPINGS.
    pub kind: EventType,
    /// Size of the attr on the wire, in bytes; 0 stands for 64.
    pub size: u32,
    /// Which event of that type.
    pub config: u64,
    /// Sampling period, or frequency in Hz with the flag `freq`.
    pub sample_period: u64,
    /// Which fields a sample carries.
    pub sample_type: SampleType,
    /// What a counter value consists of.
    pub read_format: ReadFormat,
    /// All one-bit options.
    pub flags: AttrFlags,
    /// Wake the reader after so many events, or bytes with the flag `watermark`.
    pub wakeup_events: u32,
    /// Which accesses stop at a breakpoint.
    pub bp_type: BreakpointAccess,
    /// Breakpoint address, or more of `config`.
    pub config1: u64,
    /// Breakpoint length, or more of `config`.
    pub config2: u64,
    /// Which branches, and what of them.
    pub branch_sample_type: BranchSampleType,
    /// Which user registers, a bit each.
    pub sample_regs_user: u64,
    /// Bytes of user stack to copy.
    pub sample_stack_user: u32,
    /// Clock of the time fields, with the flag `use_clockid`.
    pub clockid: ClockId,
    /// Which interrupt registers, a bit each.
    pub sample_regs_intr: u64,
    /// Wake the AUX reader after so many bytes.
    pub aux_watermark: u32,
    /// Longest call chain.
    pub sample_max_stack: u16,
    /// Reserved.
    pub reserved_2: u16,
    /// Bytes of AUX data in a sample.
    pub aux_sample_size: u32,
    /// AUX pause and resume bits.
    pub aux_action: u32,
    /// Data handed to the signal.
    pub sig_data: u64,
    /// More of `config`.
    pub config3: u64,
    /// More of `config`.
    pub config4: u64,
    /// Bytes behind the fields known here.
    pub tail: Vec<u8>,
}

impl EventAttr {
    /// Size of the oldest attr, in bytes: the least that can be read.
    pub const MIN_SIZE: u32 = 64;

    /// Every size that the struct has had, in bytes.
    pub const SIZES: &[u32] = &[Self::MIN_SIZE, 72, 80, 96, 104, 112, 120, 128, 136, 144];

    /// The size on the wire in bytes, the 0 of the oldest files resolved.
    pub fn wire_size(&self) -> u32 {
        if self.size == 0 { Self::MIN_SIZE } else { self.size }
    }

    /// The least published size that has room for all that it says, in bytes; its tail counts only if it is there.
    pub fn least_size(&self) -> u32 {
        let tail = u32::try_from(self.tail.len()).unwrap_or(u32::MAX);
        let newest = Self::SIZES.last().copied().unwrap_or(Self::MIN_SIZE);
        if tail > 0 {
            return newest.saturating_add(tail);
        }
        let (mut whole, mut bytes) = (EventAttr { size: newest, ..self.clone() }, Vec::new());
        // Fails on nothing but counts, of which an attr has none.
        let _ = whole.fields(&mut Encoder::<Le>::new(&mut bytes, &SampleShape::default(), 0));
        let said = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let fits = |size: &&u32| usize::try_from(**size).is_ok_and(|size| size >= said);
        Self::SIZES.iter().find(fits).copied().unwrap_or(newest)
    }

    /// What decides the layout of this event's records.
    pub fn shape(&self) -> SampleShape {
        SampleShape {
            sample_type: self.sample_type,
            read_format: self.read_format,
            branch_sample_type: self.branch_sample_type,
            sample_regs_user: self.sample_regs_user,
            sample_regs_intr: self.sample_regs_intr,
            sample_id_all: self.flags.has(AttrFlags::sample_id_all),
        }
    }

    /// The id of the tracepoint that it is.
    pub fn tracepoint(&self) -> Option<u64> {
        (self.kind == EventType::TRACEPOINT).then_some(self.config)
    }

    /// Which of the events that the kernel itself counts it is.
    pub fn software(&self) -> Option<SoftwareEvent> {
        (self.kind == EventType::SOFTWARE).then_some(SoftwareEvent(self.config))
    }

    /// The clock of its times; `None`: perf's own.
    pub fn clockid(&self) -> Option<ClockId> {
        self.flags.has(AttrFlags::use_clockid).then_some(self.clockid)
    }

    /// The period of a sample that does not carry its own: the fixed period, or 1 where `sample_period` is a frequency.
    pub fn default_period(&self) -> u64 {
        if self.flags.has(AttrFlags::freq) { 1 } else { self.sample_period }
    }
}

impl<'a> Fields<'a> for EventAttr {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        self.kind.field("type", pass)?;
        pass.u32("size", &mut self.size)?;
        pass.u64("config", &mut self.config)?;
        pass.u64("sample_period", &mut self.sample_period)?;
        self.sample_type.field("sample_type", pass)?;
        self.read_format.field("read_format", pass)?;
        self.flags.field("flags", pass)?;
        pass.u32("wakeup_events", &mut self.wakeup_events)?;
        self.bp_type.field("bp_type", pass)?;
        pass.u64("config1", &mut self.config1)?;
        // Each step is one published size of the struct.
        let size = self.wire_size();
        let mut known = Self::MIN_SIZE;
        if size >= 72 {
            known = 72;
            pass.u64("config2", &mut self.config2)?;
        }
        if size >= 80 {
            known = 80;
            self.branch_sample_type.field("branch_sample_type", pass)?;
        }
        if size >= 96 {
            known = 96;
            pass.u64("sample_regs_user", &mut self.sample_regs_user)?;
            pass.u32("sample_stack_user", &mut self.sample_stack_user)?;
            let clock = self.clockid().and_then(ClockId::name);
            pass.explain(|_| clock.map(Words::text));
            pass.bare("clockid", &mut self.clockid)?;
        }
        if size >= 104 {
            known = 104;
            pass.u64("sample_regs_intr", &mut self.sample_regs_intr)?;
        }
        if size >= 112 {
            known = 112;
            pass.u32("aux_watermark", &mut self.aux_watermark)?;
            pass.u16("sample_max_stack", &mut self.sample_max_stack)?;
            pass.u16("reserved_2", &mut self.reserved_2)?;
        }
        if size >= 120 {
            known = 120;
            pass.u32("aux_sample_size", &mut self.aux_sample_size)?;
            pass.u32("aux_action", &mut self.aux_action)?;
        }
        if size >= 128 {
            known = 128;
            pass.u64("sig_data", &mut self.sig_data)?;
        }
        if size >= 136 {
            known = 136;
            pass.u64("config3", &mut self.config3)?;
        }
        if size >= 144 {
            known = 144;
            pass.u64("config4", &mut self.config4)?;
        }
        pass.owned("tail", u64::from(size.saturating_sub(known)), &mut self.tail)
    }
}
