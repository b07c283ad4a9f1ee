//! PERF_RECORD_HEADER_BUILD_ID (67): the build-id of a binary. Also the entries of the BUILD_ID feature, there with type 0.

use crate::wire::pass::{Fields, Pass, Step};
use crate::wire::text::CStr8;

/// A binary's build-id.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeaderBuildId<'a> {
    /// Machine: -1 the host's kernel, 0 the default guest, else the pid of a guest. Not a process.
    pub pid: i32,
    /// The id; how many bytes count is told by `size` if `misc` bit 15 is set.
    pub build_id: [u8; 20],
    /// Size of the id in bytes, with `misc` bit 15.
    pub size: u8,
    /// Unused.
    pub reserved: [u8; 3],
    /// File, or a name in brackets.
    pub filename: CStr8<'a>,
}

impl<'a> Fields<'a> for HeaderBuildId<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.i32("pid", &mut self.pid)?;
        pass.array("build_id", &mut self.build_id)?;
        pass.u8("build_id_size", &mut self.size)?;
        pass.array("reserved", &mut self.reserved)?;
        pass.cstr8("filename", &mut self.filename)
    }
}
