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

/// A function of a program, as machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BpfFunction<'a> {
    /// Where it was in memory.
    pub address: u64,
    /// Its machine code.
    pub code: &'a [u8],
}

/// Where the struct has what the functions of a program are told by: how many addresses there are, and where in the arrays; and
/// where their lengths are (`nr_jited_ksyms`, `jited_ksyms`, `jited_func_lens`, Linux 4.18 and later).
const NR_JITED_KSYMS: usize = 104;
const JITED_KSYMS: usize = 112;
const JITED_FUNC_LENS: usize = 120;

/// The arrays that tell of functions: machine code, addresses, lengths.
const ARRAYS_OF_FUNCTIONS: u64 = 1 << 0 | 1 << 3 | 1 << 4;

impl<'a> BpfProgram<'a> {
    /// The functions of the program, if their code was recorded. The code of one lies behind that of the other.
    pub fn functions(&self, order: ByteOrder) -> Vec<BpfFunction<'a>> {
        self.functions_told(order).unwrap_or_default()
    }

    fn functions_told(&self, order: ByteOrder) -> Option<Vec<BpfFunction<'a>>> {
        if self.arrays & ARRAYS_OF_FUNCTIONS != ARRAYS_OF_FUNCTIONS {
            return None;
        }
        let (info, data) = (self.info, self.data);
        let offset = |at| usize::try_from(order.u64_at(info, at)?).ok();
        let (addresses, lengths) = (data.get(offset(JITED_KSYMS)?..)?, data.get(offset(JITED_FUNC_LENS)?..)?);
        let mut code = data.get(usize::try_from(self.head(order)?.jited_prog_insns).ok()?..)?;
        let mut functions = Vec::new();
        for number in 0..order.u32_at(info, NR_JITED_KSYMS)? {
            let at = usize::try_from(number).ok()?;
            let told =
                order.u64_at(addresses, at.checked_mul(8)?).zip(order.u32_at(lengths, at.checked_mul(4)?));
            let Some((address, length)) = told else { break };
            let Some((own, rest)) = code.split_at_checked(usize::try_from(length).ok()?) else { break };
            functions.push(BpfFunction { address, code: own });
            code = rest;
        }
        Some(functions)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The offsets are those of `struct bpf_prog_info` in `linux/bpf.h`: two functions of 2 and 3 bytes, whose code is at 0, addresses at
    /// 8, lengths at 24 of the arrays.
    fn info(functions: u32, lengths_at: u64) -> Vec<u8> {
        let mut info = vec![0; 128];
        info[104..108].copy_from_slice(&functions.to_le_bytes());
        info[112..120].copy_from_slice(&8_u64.to_le_bytes());
        info[120..128].copy_from_slice(&lengths_at.to_le_bytes());
        info
    }

    #[test]
    fn functions_of_a_program() {
        let mut data = vec![0x90, 0xc3, 0x0f, 0x05, 0xc3, 0, 0, 0];
        [0x1000_u64, 0x2000].iter().for_each(|address| data.extend(address.to_le_bytes()));
        [2_u32, 3].iter().for_each(|length| data.extend(length.to_le_bytes()));
        let function = |address, code| BpfFunction { address, code };
        let told = |arrays, info: &[u8]| {
            let functions = BpfProgram { arrays, info, data: &data }.functions(ByteOrder::Little);
            functions
                .into_iter()
                .map(|function| (function.address, function.code.to_vec()))
                .collect::<Vec<_>>()
        };
        let both = [function(0x1000, &data[..2]), function(0x2000, &data[2..5])];
        let both = both.map(|function| (function.address, function.code.to_vec()));
        assert_eq!(told(0x19, &info(2, 24)), both);
        // More than there are, none, and no place for them.
        assert_eq!(told(0x19, &info(u32::MAX, 24)), both);
        assert_eq!(told(0x18, &info(2, 24)), []);
        assert_eq!(told(0x19, &info(2, u64::MAX)), []);
        assert_eq!(told(0x19, &info(2, 24)[..126]), []);
    }
}
