//! PERF_RECORD_MMAP2 (10): as MMAP, with protection, flags and what identifies the file. Since Linux 3.12.
//!
//! 24 bytes are a union: device and inode, or with `misc` bit 14 (Linux 5.12) the build-id. `prot` and `flags` came with Linux 3.16: before,
//! and in kernels that others made of such, the name follows at once. Nothing marks that but the name itself.

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
    /// Whether the record has neither `prot` nor `flags`, as before Linux 3.16: both are 0 then.
    pub early: bool,
    /// `PROT_*` bits. Not there before Linux 3.16.
    pub prot: Protection,
    /// `MAP_*` bits. Not there before Linux 3.16.
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
        if pass.left().is_some() {
            self.early = pass.misc() & misc::MMAP_BUILD_ID == 0 && begins_name(pass.ahead().0);
        }
        if !self.early {
            let (prot, flags) = (self.prot, self.flags);
            pass.explain(|_| Some(Words::text(permissions(prot, flags))));
            pass.bare("prot", &mut self.prot)?;
            self.flags.field("flags", pass)?;
        }
        pass.cstr8("filename", &mut self.filename)
    }
}

/// Whether a name is here, and not `prot`. Of that the kernel sets the lowest three bits, so its first byte is none of those with which names
/// of mappings begin, in either byte order.
fn begins_name(bytes: &[u8]) -> bool {
    matches!(bytes, [b'/' | b'[', second, ..] if second.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use crate::wire::attr::SampleShape;
    use crate::wire::endian::{Be, Le, Order};
    use crate::wire::record::{Record, kind};

    /// The body of a record: numbers up to the inode's generation, and what follows.
    fn body<O: Order>(words: [u64; 5], rest: &[u8]) -> Vec<u8> {
        let ids = [7_u32, 8].into_iter().flat_map(|id| O::put_u32(id).to_vec());
        let words = words.into_iter().flat_map(|word| O::put_u64(word).to_vec());
        // Major and minor number are 0.
        let mut bytes: Vec<u8> = ids.chain(words).collect();
        bytes.splice(32..32, [0; 8]);
        bytes.extend_from_slice(rest);
        bytes
    }

    fn decoded<O: Order>(bytes: &[u8]) -> (bool, u32, u32, Vec<u8>) {
        let shape = SampleShape::default();
        let (mut record, left) = Record::decode::<O>(kind::MMAP2, bytes, &shape, 0).unwrap();
        let mut again = Vec::new();
        record.encode::<O>(&mut again, &shape, 0).unwrap();
        assert_eq!((again.as_slice(), left), (bytes, &[][..]), "written as it was");
        let Record::Mmap2(map) = record else { panic!("{record:?}") };
        (map.early, map.prot.0, map.flags.0, map.filename.bytes().to_vec())
    }

    fn both_forms<O: Order>() {
        let numbers = [0x40_0000, 0x1000, 0x2000, 5, 6];
        for name in [&b"/usr/lib64/ld-2.17.so\0\0\0"[..], b"[vdso]\0\0", b"//anon\0\0"] {
            let bare: Vec<u8> = name.iter().copied().take_while(|byte| *byte != 0).collect();
            assert_eq!(decoded::<O>(&body::<O>(numbers, name)), (true, 0, 0, bare.clone()));
            let rest = [&O::put_u32(5)[..], &O::put_u32(2), name].concat();
            assert_eq!(decoded::<O>(&body::<O>(numbers, &rest)), (false, 5, 2, bare));
        }
    }

    #[test]
    fn a_name_may_follow_the_inode() {
        both_forms::<Le>();
        both_forms::<Be>();
    }
}
