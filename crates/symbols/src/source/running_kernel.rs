//! What the running kernel tells of itself: its build-id, those of its modules, and where these are.

use std::path::Path;

use crate::build_id::BuildId;
use crate::file_loader::FileLoader;
use crate::image::build_id_note;

/// The build-id of the running kernel.
pub(crate) fn build_id() -> Option<BuildId> {
    notes_at(Path::new("/sys/kernel/notes"))
}

/// The build-id of a loaded module.
pub(crate) fn module_build_id(module: &str) -> Option<BuildId> {
    if module.contains('/') {
        return None;
    }
    notes_at(&Path::new("/sys/module").join(module).join("notes/.note.gnu.build-id"))
}

/// Whether a module is loaded now.
pub(crate) fn has_module(module: &str) -> bool {
    !module.contains('/') && Path::new("/sys/module").join(module).is_dir()
}

/// Where a module is loaded now.
pub(crate) fn module_start(module: &str) -> Option<u64> {
    start_in(&std::fs::read_to_string("/proc/modules").ok()?, module)
}

/// Where a module was when a copy of `/proc/modules` was made.
pub(crate) fn module_start_in(modules: &Path, module: &str, loader: &FileLoader) -> Option<u64> {
    if let Some(packed) = loader.load_packed(modules) {
        return start_in(std::str::from_utf8((*packed.ok()?).as_ref()).ok()?, module);
    }
    if !std::fs::metadata(modules).ok()?.is_file() {
        return None;
    }
    start_in(&std::fs::read_to_string(modules).ok()?, module)
}

fn notes_at(path: &Path) -> Option<BuildId> {
    build_id_note(&std::fs::read(path).ok()?, cfg!(target_endian = "big"))
}

/// Lines of `/proc/modules` are `name size users dependencies state address`.
fn start_in(modules: &str, module: &str) -> Option<u64> {
    let line = modules.lines().find(|line| line.split(' ').next() == Some(module))?;
    let address = line.split(' ').nth(5)?.strip_prefix("0x")?;
    u64::from_str_radix(address, 16).ok().filter(|address| *address != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_module_lines() {
        let text = "nf_nat 49152 1 - Live 0xffffffffc0a3f000\nnf 4 0 - Live 0x0000000000000000 (OE)\n";
        assert_eq!(start_in(text, "nf_nat"), Some(0xffff_ffff_c0a3_f000));
        assert_eq!(start_in(text, "nf"), None);
        assert_eq!(start_in(text, "ext4"), None);
    }
}
