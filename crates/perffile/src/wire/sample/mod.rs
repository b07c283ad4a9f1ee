//! PERF_RECORD_SAMPLE: which fields it has is told by the attr of its event.
//!
//! ABI: `perf_output_sample` in the kernel. Its order is the one below; the comment in `perf_event.h` puts AUX before the
//! page sizes and leaves out the cgroup, the kernel does not.
//!
//! Two ways to read one: [`SampleView`] fetches single fields at offsets worked out once per event, at memory speed;
//! [`Sample`] holds every field.

mod blocks;
mod essentials;
pub mod layout;
mod view;

pub use blocks::{BranchEntry, BranchStack, CounterValue, Read, Registers, UserStack};
pub use essentials::Essentials;
pub use view::SampleView;

use super::attr::SampleType as T;
use super::data_src::DataSrc;
use super::pass::{Fields, Pass, Step, optional_as};
use super::transaction::Transaction;
use super::weight::WeightParts;
use super::words::U64s;

/// Every field of a sample; `None` where the event does not record it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample<'a> {
    /// Event id, at a fixed place.
    pub identifier: Option<u64>,
    /// Instruction pointer.
    pub ip: Option<u64>,
    /// Process id.
    pub pid: Option<u32>,
    /// Thread id.
    pub tid: Option<u32>,
    /// Time, ns of the recording's clock.
    pub time: Option<u64>,
    /// Data address.
    pub addr: Option<u64>,
    /// Event id.
    pub id: Option<u64>,
    /// Id of the very counter.
    pub stream_id: Option<u64>,
    /// CPU number.
    pub cpu: Option<u32>,
    /// Reserved half of the CPU word.
    pub cpu_reserved: Option<u32>,
    /// Period: how many events this sample stands for.
    pub period: Option<u64>,
    /// Counter values.
    pub read: Option<Read<'a>>,
    /// Call chain, innermost first, context markers included.
    pub callchain: Option<U64s<'a>>,
    /// Raw payload, the kernel's padding included.
    pub raw: Option<&'a [u8]>,
    /// Last branches, newest first.
    pub branch_stack: Option<BranchStack<'a>>,
    /// User registers.
    pub regs_user: Option<Registers<'a>>,
    /// Copy of the user stack.
    pub stack_user: Option<UserStack<'a>>,
    /// Weight (one number), usually latency in cycles.
    pub weight: Option<u64>,
    /// Weight in three parts: 32 bits, 16, 16, lowest first.
    pub weight_struct: Option<WeightParts>,
    /// Where the data came from, bits of `perf_mem_data_src`.
    pub data_src: Option<DataSrc>,
    /// Transaction flags.
    pub transaction: Option<Transaction>,
    /// Registers at the interrupt.
    pub regs_intr: Option<Registers<'a>>,
    /// Physical data address.
    pub phys_addr: Option<u64>,
    /// Cgroup id.
    pub cgroup: Option<u64>,
    /// Size of the page of the data address, bytes.
    pub data_page_size: Option<u64>,
    /// Size of the page of the instruction pointer, bytes.
    pub code_page_size: Option<u64>,
    /// Piece of an AUX trace.
    pub aux: Option<&'a [u8]>,
}

impl<'a> Fields<'a> for Sample<'a> {
    #[inline(always)]
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        let shape = *pass.shape();
        let has = |bit: T| shape.sample_type.has(bit);
        pass.optional(has(T::IDENTIFIER), "identifier", &mut self.identifier)?;
        optional_as!(pass, has(T::IP), "ip", &mut self.ip, addr);
        pass.optional(has(T::TID), "pid", &mut self.pid)?;
        pass.optional(has(T::TID), "tid", &mut self.tid)?;
        pass.optional(has(T::TIME), "time", &mut self.time)?;
        optional_as!(pass, has(T::ADDR), "addr", &mut self.addr, addr);
        pass.optional(has(T::ID), "id", &mut self.id)?;
        pass.optional(has(T::STREAM_ID), "stream_id", &mut self.stream_id)?;
        pass.optional(has(T::CPU), "cpu", &mut self.cpu)?;
        pass.optional(has(T::CPU), "cpu_reserved", &mut self.cpu_reserved)?;
        pass.optional(has(T::PERIOD), "period", &mut self.period)?;
        optional_as!(pass, has(T::READ), "read", &mut self.read, inner);
        optional_as!(pass, has(T::CALLCHAIN), "callchain", &mut self.callchain, callchain);
        optional_as!(pass, has(T::RAW), "raw", &mut self.raw, counted_bytes_u32);
        optional_as!(pass, has(T::BRANCH_STACK), "branch_stack", &mut self.branch_stack, inner);
        if has(T::REGS_USER) {
            let regs = self.regs_user.get_or_insert_default();
            regs.mask = shape.sample_regs_user;
            pass.inner("regs_user", regs)?;
        }
        optional_as!(pass, has(T::STACK_USER), "stack_user", &mut self.stack_user, inner);
        pass.optional(has(T::WEIGHT), "weight", &mut self.weight)?;
        pass.optional(has(T::WEIGHT_STRUCT), "weight_struct", &mut self.weight_struct)?;
        pass.optional(has(T::DATA_SRC), "data_src", &mut self.data_src)?;
        pass.optional(has(T::TRANSACTION), "transaction", &mut self.transaction)?;
        if has(T::REGS_INTR) {
            let regs = self.regs_intr.get_or_insert_default();
            regs.mask = shape.sample_regs_intr;
            pass.inner("regs_intr", regs)?;
        }
        optional_as!(pass, has(T::PHYS_ADDR), "phys_addr", &mut self.phys_addr, addr);
        pass.optional(has(T::CGROUP), "cgroup", &mut self.cgroup)?;
        pass.optional(has(T::DATA_PAGE_SIZE), "data_page_size", &mut self.data_page_size)?;
        pass.optional(has(T::CODE_PAGE_SIZE), "code_page_size", &mut self.code_page_size)?;
        optional_as!(pass, has(T::AUX), "aux", &mut self.aux, counted_bytes_u64);
        Ok(())
    }
}

/// The trailer of every record but samples, if the event has `sample_id_all`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleId {
    /// Process id.
    pub pid: Option<u32>,
    /// Thread id.
    pub tid: Option<u32>,
    /// Time, ns of the recording's clock; 0 in records that perf made up itself.
    pub time: Option<u64>,
    /// Event id.
    pub id: Option<u64>,
    /// Id of the very counter.
    pub stream_id: Option<u64>,
    /// CPU number.
    pub cpu: Option<u32>,
    /// Reserved half of the CPU word.
    pub cpu_reserved: Option<u32>,
    /// Event id, at a fixed place.
    pub identifier: Option<u64>,
}

impl<'a> Fields<'a> for SampleId {
    #[inline(always)]
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        let t = pass.shape().sample_type;
        pass.optional(t.has(T::TID), "pid", &mut self.pid)?;
        pass.optional(t.has(T::TID), "tid", &mut self.tid)?;
        pass.optional(t.has(T::TIME), "time", &mut self.time)?;
        pass.optional(t.has(T::ID), "id", &mut self.id)?;
        pass.optional(t.has(T::STREAM_ID), "stream_id", &mut self.stream_id)?;
        pass.optional(t.has(T::CPU), "cpu", &mut self.cpu)?;
        pass.optional(t.has(T::CPU), "cpu_reserved", &mut self.cpu_reserved)?;
        pass.optional(t.has(T::IDENTIFIER), "identifier", &mut self.identifier)
    }
}
