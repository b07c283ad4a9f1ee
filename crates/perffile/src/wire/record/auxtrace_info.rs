//! PERF_RECORD_AUXTRACE_INFO (70): how to decode AUX traces.

use crate::wire::declare::fields;

fields! {
    /// Which hardware trace, and its parameters.
    #[derive(Copy)]
    pub struct AuxtraceInfo<'a> {
        /// 1 Intel PT, 2 Intel BTS, 3 CoreSight ETM, 4 Arm SPE, 5 s390 CPU-MF, 6 HiSilicon PTT.
        auxtrace_type: u32,
        /// Keeps what follows aligned.
        reserved: u32,
        /// Words whose meaning depends on the type.
        priv_data: &'a [u8] as rest,
    }
}
