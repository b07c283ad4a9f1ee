//! PERF_RECORD_READ (8): counter values of a thread that ends, with `inherit_stat`. Since Linux 2.6.31.

use crate::wire::pass::{Fields, Pass, Step};
use crate::wire::sample::Read;

/// A thread's counter values; only those the read format names, without gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThreadRead<'a> {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// The values.
    pub values: Read<'a>,
}

impl<'a> Fields<'a> for ThreadRead<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u32("pid", &mut self.pid)?;
        pass.u32("tid", &mut self.tid)?;
        pass.inner("read", &mut self.values)
    }
}
