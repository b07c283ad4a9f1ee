//! PERF_RECORD_AUXTRACE_ERROR (72): an AUX trace could not be decoded. Three forms, told apart by `fmt`.

use crate::wire::pass::{Fields, Pass, Step};

/// What could not be decoded, where.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AuxtraceError<'a> {
    /// 1: instruction trace.
    pub error_type: u32,
    /// The decoder's number for it.
    pub code: u32,
    /// CPU.
    pub cpu_nr: u32,
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Form: 0 without time, 1 with, 2 with a guest too.
    pub fmt: u32,
    /// Address.
    pub ip: u64,
    /// Time, ns, from form 1 on.
    pub error_time: u64,
    /// What the decoder says, 64 bytes NUL-padded.
    pub msg: &'a [u8],
    /// Process id of the guest, from form 2 on.
    pub machine_pid: u32,
    /// Its virtual CPU, from form 2 on.
    pub vcpu: u32,
}

impl<'a> Fields<'a> for AuxtraceError<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u32("error_type", &mut self.error_type)?;
        pass.u32("code", &mut self.code)?;
        pass.u32("cpu_nr", &mut self.cpu_nr)?;
        pass.u32("pid", &mut self.pid)?;
        pass.u32("tid", &mut self.tid)?;
        pass.u32("fmt", &mut self.fmt)?;
        pass.addr("ip", &mut self.ip)?;
        if self.fmt >= 1 {
            pass.u64("error_time", &mut self.error_time)?;
        }
        // Writers cut the message short: the last field of the older forms may end early.
        let msg = pass.left().map_or(self.msg.len(), |left| left.min(64));
        pass.bytes("msg", msg as u64, &mut self.msg)?;
        if self.fmt >= 2 {
            pass.u32("machine_pid", &mut self.machine_pid)?;
            pass.u32("vcpu", &mut self.vcpu)?;
        }
        Ok(())
    }
}
