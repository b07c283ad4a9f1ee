//! PERF_RECORD_AUXTRACE_INFO (70): how to decode AUX traces.

use crate::wire::pass::{Fields, Pass, Step, WireField};
use crate::wire::value::numbers;
use crate::wire::words::U64s;

numbers! {
    /// Kinds of hardware traces.
    pub struct AuxtraceType(u32) {
        0 UNKNOWN "unknown", 1 INTEL_PT "intel_pt", 2 INTEL_BTS "intel_bts", 3 CS_ETM "cs_etm",
        4 ARM_SPE "arm_spe", 5 S390_CPUMSF "s390_cpumsf", 6 HISI_PTT "hisi_ptt", 7 VPA_DTL "vpa_dtl",
    }
}

/// Which hardware trace, and its parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AuxtraceInfo<'a> {
    /// Which hardware trace.
    pub auxtrace_type: AuxtraceType,
    /// Keeps what follows aligned.
    pub reserved: u32,
    /// Words whose meaning depends on the type. Text among them (a filter of Intel PT) is in words too: it has to be
    /// swapped with them.
    pub priv_data: U64s<'a>,
    /// Bytes behind the last whole word.
    pub tail: &'a [u8],
}

impl<'a> Fields<'a> for AuxtraceInfo<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        self.auxtrace_type.field("auxtrace_type", pass)?;
        pass.u32("reserved", &mut self.reserved)?;
        let words = pass.left().map_or(self.priv_data.len(), |left| left / 8);
        pass.addrs("priv_data", words as u64, &mut self.priv_data)?;
        pass.rest("tail", &mut self.tail)
    }
}
