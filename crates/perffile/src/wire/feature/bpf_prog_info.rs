//! BPF_PROG_INFO (25): the BPF programs that were loaded.
//!
//! ABI: `struct bpf_prog_info` of the kernel as it was when recording, in the recorder's byte order, and behind it the
//! arrays it points to; the pointers have been made offsets into them. The struct has grown over time: its length is told.

use crate::wire::declare::fields;
use crate::wire::decode::Decoder;
use crate::wire::endian::{ByteOrder, with_order};
use crate::wire::pass::{Fields, Pass, Step};
use crate::wire::value::numbers;

numbers! {
    /// `BPF_PROG_TYPE_*` of `linux/bpf.h`.
    pub struct BpfProgramType(u32) {
        0 UNSPEC "unspec", 1 SOCKET_FILTER "socket_filter", 2 KPROBE "kprobe", 3 SCHED_CLS "sched_cls",
        4 SCHED_ACT "sched_act", 5 TRACEPOINT "tracepoint", 6 XDP "xdp", 7 PERF_EVENT "perf_event",
        8 CGROUP_SKB "cgroup_skb", 9 CGROUP_SOCK "cgroup_sock", 10 LWT_IN "lwt_in", 11 LWT_OUT "lwt_out",
        12 LWT_XMIT "lwt_xmit", 13 SOCK_OPS "sock_ops", 14 SK_SKB "sk_skb",
        15 CGROUP_DEVICE "cgroup_device", 16 SK_MSG "sk_msg", 17 RAW_TRACEPOINT "raw_tracepoint",
        18 CGROUP_SOCK_ADDR "cgroup_sock_addr", 19 LWT_SEG6LOCAL "lwt_seg6local",
        20 LIRC_MODE2 "lirc_mode2", 21 SK_REUSEPORT "sk_reuseport", 22 FLOW_DISSECTOR "flow_dissector",
        23 CGROUP_SYSCTL "cgroup_sysctl", 24 RAW_TRACEPOINT_WRITABLE "raw_tracepoint_writable",
        25 CGROUP_SOCKOPT "cgroup_sockopt", 26 TRACING "tracing", 27 STRUCT_OPS "struct_ops",
        28 EXT "ext", 29 LSM "lsm", 30 SK_LOOKUP "sk_lookup", 31 SYSCALL "syscall",
        32 NETFILTER "netfilter",
    }
}

fields! {
    /// All programs.
    pub struct BpfProgInfo<'a> {
        /// One entry a program.
        programs: Vec<BpfProgram<'a>> as vec counted u32 "count",
    }
}

/// A program, still as the kernel told it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BpfProgram<'a> {
    /// Which arrays are there, a bit each: 0 jited_insns, 1 xlated_insns, 2 map_ids, 3 jited_ksyms, 4 jited_func_lens,
    /// 5 func_info, 6 line_info, 7 jited_line_info, 8 prog_tags.
    pub arrays: u64,
    /// `struct bpf_prog_info`, in the byte order of the recorder.
    pub info: &'a [u8],
    /// The arrays, in the byte order of the recorder.
    pub data: &'a [u8],
}

fields! {
    /// The start of `struct bpf_prog_info`, which has not changed since Linux 4.15.
    #[derive(Copy)]
    pub struct BpfProgHead {
        /// Kind of program.
        prog_type: BpfProgramType,
        /// Its id.
        id: u32,
        /// Hash of its instructions.
        tag: [u8; 8],
        /// Bytes of its machine code.
        jited_prog_len: u32,
        /// Bytes of its BPF code as the kernel holds it.
        xlated_prog_len: u32,
        /// Where in the arrays its machine code lies.
        jited_prog_insns: u64 as addr,
        /// Where in the arrays its BPF code lies.
        xlated_prog_insns: u64 as addr,
        /// When it was loaded, ns since boot.
        load_time: u64,
        /// Who loaded it.
        created_by_uid: u32,
        /// How many maps it uses.
        nr_map_ids: u32,
        /// Where in the arrays their ids lie.
        map_ids: u64 as addr,
        /// Its name, NUL-padded.
        name: [u8; 16] as name,
    }
}

impl BpfProgram<'_> {
    /// What `info` begins with; `None` if it is too short for that.
    pub fn head(&self, order: ByteOrder) -> Option<BpfProgHead> {
        let shape = Default::default();
        with_order!(order, O => Decoder::<O, _>::new(self.info, &shape, 0).value().ok())
    }
}

impl<'a> Fields<'a> for BpfProgram<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        let info = pass.count_u32("info_len", self.info.len())?;
        let data = pass.count_u32("data_len", self.data.len())?;
        pass.addr("arrays", &mut self.arrays)?;
        pass.bytes("info", info, &mut self.info)?;
        pass.bytes("data", data, &mut self.data)
    }
}
