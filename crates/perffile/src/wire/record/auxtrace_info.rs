//! PERF_RECORD_AUXTRACE_INFO (70): how to decode AUX traces.

use crate::wire::pass::{Fields, Pass, Step};
use crate::wire::words::U64s;

/// Which hardware trace, and its parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AuxtraceInfo<'a> {
    /// 1 Intel PT, 2 Intel BTS, 3 CoreSight ETM, 4 Arm SPE, 5 s390 CPU-MF, 6 HiSilicon PTT.
    pub auxtrace_type: u32,
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
        pass.u32("auxtrace_type", &mut self.auxtrace_type)?;
        pass.u32("reserved", &mut self.reserved)?;
        let words = pass.left().map_or(self.priv_data.len(), |left| left / 8);
        pass.addrs("priv_data", words as u64, &mut self.priv_data)?;
        pass.rest("tail", &mut self.tail)
    }
}
