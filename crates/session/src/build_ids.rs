//! Build-ids by name, from the BUILD_ID feature and from HEADER_BUILD_ID records.

use crate::naming::module_short_name;
use perffile::Features;
use perffile::wire::head::{CpuMode, misc};
use perffile::wire::record::header_build_id::HeaderBuildId;
use rustc_hash::FxHashMap;

/// Size in bytes of an MD5 or UUID build-id, the only other kind that old recorders padded to 20 bytes.
const SHORT_ID: usize = 16;

/// Build-ids by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct BuildIds {
    user: FxHashMap<Box<[u8]>, Box<[u8]>>,
    /// Modules by their short name.
    modules: FxHashMap<Box<[u8]>, Box<[u8]>>,
    kernel: Option<Box<[u8]>>,
    guest_kernel: Option<Box<[u8]>>,
}

impl BuildIds {
    /// Takes all that the BUILD_ID feature tells.
    pub(crate) fn learn(&mut self, features: &Features) {
        for entry in features.build_ids().iter().flat_map(|table| &table.entries) {
            let sized = entry.misc & misc::BUILD_ID_SIZE != 0;
            self.add(CpuMode::of(entry.misc), entry.name(), entry.id(), sized);
        }
    }

    /// Takes what a HEADER_BUILD_ID record tells.
    pub(crate) fn learn_record(&mut self, record: &HeaderBuildId<'_>, record_misc: u16) {
        let sized = record_misc & misc::BUILD_ID_SIZE != 0;
        let size = if sized { usize::from(record.size) } else { record.build_id.len() };
        let id = record.build_id.get(..size).unwrap_or(&record.build_id);
        self.add(CpuMode::of(record_misc), record.filename.bytes(), id, sized);
    }

    fn add(&mut self, mode: CpuMode, name: &[u8], id: &[u8], sized: bool) {
        let Some(id) = known(id, sized) else { return };
        match mode {
            CpuMode::Kernel => {
                let short = module_short_name(name);
                if short.starts_with(b"[") && !short.starts_with(b"[kernel.") {
                    self.modules.insert(short.into(), id);
                } else {
                    self.kernel = Some(id);
                }
            }
            CpuMode::GuestKernel if name.starts_with(b"[guest.kernel.kallsyms") => {
                self.guest_kernel = Some(id)
            }
            CpuMode::User | CpuMode::Unknown => {
                self.user.insert(name.into(), id);
            }
            _ => {}
        }
    }

    pub(crate) fn of_user(&self, name: &[u8]) -> Option<Box<[u8]>> {
        self.user.get(name).cloned()
    }

    pub(crate) fn of_module(&self, short_name: &[u8]) -> Option<Box<[u8]>> {
        self.modules.get(short_name).cloned()
    }

    pub(crate) fn of_kernel(&self) -> Option<Box<[u8]>> {
        self.kernel.clone()
    }

    pub(crate) fn of_guest_kernel(&self) -> Option<Box<[u8]>> {
        self.guest_kernel.clone()
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
        let mut ids = BuildIds::default();
        ids.add(CpuMode::Kernel, b"[kernel.kallsyms]", &[1; 20], true);
        ids.add(CpuMode::Kernel, b"/lib/modules/5/snd-pcm.ko.xz", &[2; 20], true);
        ids.add(CpuMode::User, b"/bin/ls", &[3; 20], true);
        ids.add(CpuMode::GuestKernel, b"[guest.kernel.kallsyms]", &[4; 20], true);
        assert_eq!(ids.of_kernel().as_deref(), Some(&[1; 20][..]));
        assert_eq!(ids.of_module(b"[snd_pcm]").as_deref(), Some(&[2; 20][..]));
        assert_eq!(ids.of_user(b"/bin/ls").as_deref(), Some(&[3; 20][..]));
        assert_eq!(ids.of_guest_kernel().as_deref(), Some(&[4; 20][..]));
        assert_eq!(ids.of_user(b"/bin/cat"), None);
    }
}
