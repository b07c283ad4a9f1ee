//! BUILD_ID (2): build-ids of the binaries that got samples. Entries look like HEADER_BUILD_ID records of type 0.
//!
//! ABI: sizes are ≡ 4 modulo 8, since the fixed part is 36 bytes and names are padded to 8. perf 2.6.33 and .34 left out
//! the pid; such a table shows in its first name, which is then the end of `[kernel.kallsyms]`.

use crate::wire::WireError;
use crate::wire::misc::BUILD_ID_SIZE;
use crate::wire::pass::{Fields, Pass, Step};
use crate::wire::text::until_nul;

/// Build-ids by file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BuildIds<'a> {
    /// One entry a binary.
    pub entries: Vec<BuildIdEntry<'a>>,
}

/// A binary's build-id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BuildIdEntry<'a> {
    /// 0 in files.
    pub kind: u32,
    /// CPU mode (1 kernel, 2 user, 4 and 5 guest), bit 15: `id_size` is valid.
    pub misc: u16,
    /// Machine: -1 the host, 0 the default guest, else the pid of a guest; absent in the oldest files.
    pub pid: Option<i32>,
    /// The id; 24 bytes in the oldest files, the last four unused.
    pub build_id: [u8; 20],
    /// How many bytes count, with `misc` bit 15.
    pub id_size: u8,
    /// Unused.
    pub reserved: [u8; 3],
    /// File, or a name in brackets; padding included.
    pub filename: &'a [u8],
    without_pid: bool,
}

impl<'a> BuildIdEntry<'a> {
    /// The bytes of the id that count.
    pub fn id(&self) -> &[u8] {
        let size = if self.misc & BUILD_ID_SIZE != 0 { usize::from(self.id_size).min(20) } else { 20 };
        self.build_id.get(..size).unwrap_or(&self.build_id)
    }

    /// The file's name.
    pub fn name(&self) -> &'a [u8] {
        until_nul(self.filename)
    }
}

impl<'a> BuildIds<'a> {
    fn entries_of<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        let without_pid = self.entries.first().is_some_and(|entry| entry.without_pid);
        let blank = BuildIdEntry { without_pid, ..BuildIdEntry::default() };
        pass.vec_to_end("entries", &mut self.entries, &blank)
    }

    /// Decodes a table of the oldest form, without pid.
    pub fn decode_without_pid<P: Pass<'a>>(pass: &mut P) -> Result<BuildIds<'a>, WireError> {
        let mut ids = BuildIds::default();
        ids.entries.push(BuildIdEntry { without_pid: true, ..BuildIdEntry::default() });
        ids.entries_of(pass)?;
        Ok(ids)
    }

    /// Whether this, decoded as the newer form, is a table of the oldest one.
    pub fn lacks_pid(&self) -> bool {
        self.entries.first().is_some_and(|entry| !entry.without_pid && entry.name() == b"nel.kallsyms]")
    }
}

impl<'a> Fields<'a> for BuildIds<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        self.entries_of(pass)
    }
}

impl<'a> Fields<'a> for BuildIdEntry<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        let fixed: u16 = if self.without_pid { 32 } else { 36 };
        let name = u16::try_from(self.filename.len())
            .map_err(|_| WireError::too_many("filename", self.filename.len() as u64))?;
        let mut size = name.saturating_add(fixed);
        pass.u32("type", &mut self.kind)?;
        pass.u16("misc", &mut self.misc)?;
        pass.u16("size", &mut size)?;
        if !self.without_pid {
            pass.i32("pid", self.pid.get_or_insert_default())?;
        }
        pass.array("build_id", &mut self.build_id)?;
        pass.u8("build_id_size", &mut self.id_size)?;
        pass.array("reserved", &mut self.reserved)?;
        let Some(name) = size.checked_sub(fixed) else {
            return Err(WireError::unreadable("size", u64::from(size)));
        };
        pass.bytes("filename", u64::from(name), &mut self.filename)
    }
}
