//! Build-ids by name, from the BUILD_ID feature and from HEADER_BUILD_ID records.

use crate::binary::{Binary, BinaryKind};
use crate::naming::module_short_name;
use perffile::Features;
use perffile::wire::head::CpuMode;
use perffile::wire::misc;
use perffile::wire::record::header_build_id::HeaderBuildId;
use rustc_hash::FxHashMap;

/// Size in bytes of an MD5 or UUID build-id, the only other kind that old recorders padded to 20 bytes.
const SHORT_ID: usize = 16;

/// What a build-id belongs to, as a key for looking it up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// A file, the vdso or the vsyscall page, by name.
    User(Box<[u8]>),
    /// A kernel module, by its name in brackets.
    Module(Box<[u8]>),
    /// The kernel's image.
    Kernel,
    /// The image of a guest's kernel.
    GuestKernel,
}

impl Subject {
    /// The key of an entry with this mode and name.
    fn of_entry(mode: CpuMode, name: &[u8]) -> Option<Subject> {
        match mode {
            CpuMode::Kernel => {
                let short = module_short_name(name);
                let is_module = short.starts_with(b"[") && !short.starts_with(b"[kernel.");
                Some(if is_module { Subject::Module(short.into()) } else { Subject::Kernel })
            }
            CpuMode::GuestKernel => {
                name.starts_with(b"[guest.kernel.kallsyms").then_some(Subject::GuestKernel)
            }
            CpuMode::User | CpuMode::Unknown => Some(Subject::User(name.into())),
            CpuMode::Hypervisor | CpuMode::GuestUser => None,
        }
    }

    /// The key of a binary, if it can have a build-id.
    pub(crate) fn of_binary(binary: &Binary) -> Option<Subject> {
        match binary.kind {
            BinaryKind::User | BinaryKind::Vdso | BinaryKind::Vsyscall => {
                Some(Subject::User(binary.name.clone()))
            }
            BinaryKind::Module { .. } => Some(Subject::Module(binary.short_name.clone())),
            BinaryKind::Kernel { .. } => Some(Subject::Kernel),
            BinaryKind::GuestKernel { .. } => Some(Subject::GuestKernel),
            _ => None,
        }
    }
}

/// Build-ids by the binary they belong to.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownBuildIds {
    known: FxHashMap<Subject, Box<[u8]>>,
}

impl KnownBuildIds {
    /// Adds the build-ids of the BUILD_ID feature. Returns their keys.
    pub(crate) fn learn(&mut self, features: &Features) -> Vec<Subject> {
        let table = features.build_ids();
        let entries = table.iter().flat_map(|table| &table.entries);
        let learnt = entries.filter_map(|entry| {
            let sized = entry.misc & misc::BUILD_ID_SIZE != 0;
            self.add(CpuMode::of(entry.misc), entry.name(), entry.id(), sized)
        });
        learnt.collect()
    }

    /// Adds the build-id of a HEADER_BUILD_ID record. Returns its key.
    pub(crate) fn learn_record(&mut self, record: &HeaderBuildId<'_>, record_misc: u16) -> Option<Subject> {
        let sized = record_misc & misc::BUILD_ID_SIZE != 0;
        let size = if sized { usize::from(record.size) } else { record.build_id.len() };
        let id = record.build_id.get(..size).unwrap_or(&record.build_id);
        self.add(CpuMode::of(record_misc), record.filename.bytes(), id, sized)
    }

    fn add(&mut self, mode: CpuMode, name: &[u8], id: &[u8], sized: bool) -> Option<Subject> {
        let id = known(id, sized)?;
        let subject = Subject::of_entry(mode, name)?;
        self.known.insert(subject.clone(), id);
        Some(subject)
    }

    /// The build-id of a key.
    pub(crate) fn get(&self, subject: &Subject) -> Option<&[u8]> {
        self.known.get(subject).map(|id| &**id)
    }
}

/// The bytes of an id that count; `None` for one of zeros or none, which stands for unknown.
pub(crate) fn known(id: &[u8], sized: bool) -> Option<Box<[u8]>> {
    let id = match id.split_at_checked(SHORT_ID) {
        Some((short, padding)) if !sized && !padding.is_empty() && padding.iter().all(|b| *b == 0) => short,
        _ => id,
    };
    id.iter().any(|b| *b != 0).then(|| id.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_no_part_of_an_id() {
        let mut padded = [7; 20];
        padded[16..].fill(0);
        assert_eq!(known(&padded, false).unwrap().len(), 16);
        assert_eq!(known(&padded, true).unwrap().len(), 20);
        assert_eq!(known(&[7; 20], false).unwrap().len(), 20);
        assert_eq!(known(&[7; 8], true).unwrap().len(), 8);
        assert_eq!(known(&[0; 20], false), None);
        assert_eq!(known(&[], true), None);
    }

    #[test]
    fn kinds_are_told_apart_by_mode_and_name() {
        let mut ids = KnownBuildIds::default();
        ids.add(CpuMode::Kernel, b"[kernel.kallsyms]", &[1; 20], true);
        ids.add(CpuMode::Kernel, b"/lib/modules/5/snd-pcm.ko.xz", &[2; 20], true);
        ids.add(CpuMode::User, b"/bin/ls", &[3; 20], true);
        ids.add(CpuMode::GuestKernel, b"[guest.kernel.kallsyms]", &[4; 20], true);
        let user = |name: &[u8]| Subject::User(name.into());
        assert_eq!(ids.get(&Subject::Kernel), Some(&[1; 20][..]));
        assert_eq!(ids.get(&Subject::Module(b"[snd_pcm]"[..].into())), Some(&[2; 20][..]));
        assert_eq!(ids.get(&user(b"/bin/ls")), Some(&[3; 20][..]));
        assert_eq!(ids.get(&Subject::GuestKernel), Some(&[4; 20][..]));
        assert_eq!(ids.get(&user(b"/bin/cat")), None);
    }
}
