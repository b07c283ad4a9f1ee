//! PERF_RECORD_MMAP2 (10): as MMAP, with protection, flags and what identifies the file. Since Linux 3.12.
//!
//! 24 bytes are a union: device and inode, or with `misc` bit 14 (Linux 5.12) the build-id.

use crate::wire::misc;
use crate::wire::pass::{Fields, Pass, Step, WireField};
use crate::wire::protection::{MapFlags, Protection, permissions};
use crate::wire::text::CStr8;
use crate::wire::value::Words;

/// A mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mmap2<'a> {
    /// Process; -1 for the kernel's.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// First address.
    pub addr: u64,
    /// Size in bytes.
    pub len: u64,
    /// Offset in the file, bytes.
    pub pgoff: u64,
    /// What identifies the file.
    pub file: FileIdentity,
    /// `PROT_*` bits.
    pub prot: Protection,
    /// `MAP_*` bits.
    pub flags: MapFlags,
    /// File, or a name in brackets.
    pub filename: CStr8<'a>,
}

/// What identifies a mapped file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileIdentity {
    /// Device and inode.
    Inode {
        /// Major number of the device.
        maj: u32,
        /// Minor number of the device.
        min: u32,
        /// Inode.
        ino: u64,
        /// Generation of the inode.
        ino_generation: u64,
    },
    /// Build-id.
    BuildId {
        /// How many of the bytes count; at most 20.
        size: u8,
        /// Unused; kept for writing.
        reserved: [u8; 3],
        /// The bytes.
        bytes: [u8; 20],
    },
}

impl Default for FileIdentity {
    fn default() -> Self {
        FileIdentity::Inode { maj: 0, min: 0, ino: 0, ino_generation: 0 }
    }
}

impl FileIdentity {
    /// The build-id, if that is what the record has; never longer than 20 bytes.
    pub fn build_id(&self) -> Option<&[u8]> {
        match self {
            FileIdentity::BuildId { size, bytes, .. } => {
                Some(bytes.get(..usize::from(*size)).unwrap_or(bytes))
            }
            FileIdentity::Inode { .. } => None,
        }
    }
}

impl<'a> Fields<'a> for Mmap2<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u32("pid", &mut self.pid)?;
        pass.u32("tid", &mut self.tid)?;
        pass.addr("addr", &mut self.addr)?;
        pass.addr("len", &mut self.len)?;
        pass.addr("pgoff", &mut self.pgoff)?;
        if pass.misc() & misc::MMAP_BUILD_ID != 0 {
            let (mut size, mut reserved, mut bytes) = match self.file {
                FileIdentity::BuildId { size, reserved, bytes } => (size, reserved, bytes),
                FileIdentity::Inode { .. } => Default::default(),
            };
            pass.u8("build_id_size", &mut size)?;
            pass.array("build_id_reserved", &mut reserved)?;
            pass.array("build_id", &mut bytes)?;
            self.file = FileIdentity::BuildId { size, reserved, bytes };
        } else {
            let (mut maj, mut min, mut ino, mut ino_generation) = match self.file {
                FileIdentity::Inode { maj, min, ino, ino_generation } => (maj, min, ino, ino_generation),
                FileIdentity::BuildId { .. } => Default::default(),
            };
            pass.u32("maj", &mut maj)?;
            pass.u32("min", &mut min)?;
            pass.u64("ino", &mut ino)?;
            pass.u64("ino_generation", &mut ino_generation)?;
            self.file = FileIdentity::Inode { maj, min, ino, ino_generation };
        }
        let (prot, flags) = (self.prot, self.flags);
        pass.explain(|_| Some(Words::text(permissions(prot, flags))));
        pass.bare("prot", &mut self.prot)?;
        self.flags.field("flags", pass)?;
        pass.cstr8("filename", &mut self.filename)
    }
}
