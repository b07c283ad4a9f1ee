//! The code of the kernel and its modules: an image that was named, a copy of the memory that belongs to the recording, an image that
//! is found, the memory of the running kernel. In memory the code is as it ran: the kernel changes its own when it starts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::content;
use super::file::CodeFile;
use super::function::Segment;
use super::no_code::{KCORE, KernelMemory, NoCode};
use super::source::parse;
use crate::build_id::BuildId;
use crate::find::{Opened, Search, kernel_symbol_lists, module_name};
use crate::image::Image;
use crate::reason::Reason;
use crate::source::kernel_machine::{KernelPart, Machine};
use crate::source::{Shared, kernel_image, running_kernel};
use crate::subject::Subject;

/// The list of the symbols of the running kernel.
const KALLSYMS: &str = "/proc/kallsyms";

/// Finds the code of a kernel or a module. `None` if the subject is none.
pub(super) fn open<'f>(shared: &Shared<'f>, subject: &Subject) -> Option<Result<CodeFile<'f>, NoCode>> {
    let (machine, part) = Machine::of(shared, subject)?;
    Some(match part {
        KernelPart::Kernel { build_id, reference } => machine.kernel_code(build_id, reference),
        KernelPart::Module { name, build_id, start } => machine.module_code(name, build_id, start),
    })
}

impl<'f> Machine<'_, 'f> {
    fn kernel_code(
        &self,
        build_id: Option<BuildId>,
        reference: Option<&(String, u64)>,
    ) -> Result<CodeFile<'f>, NoCode> {
        let search = self.search(Path::new("vmlinux"), build_id);
        if let Some(path) = &self.options.vmlinux {
            return self.image_code(search.given(path)?, reference);
        }
        let build_id = build_id.or(self.options.kernel_build_id);
        let search = Search { build_id, ..search };
        if let Some(code) = self.recorded_memory(reference) {
            return Ok(code);
        }
        let from_image = match search.kernel_image() {
            Ok(opened) => self.image_code(opened, reference),
            Err(reason) => Err(reason.into()),
        };
        let image_reason = match from_image {
            Ok(code) => return Ok(code),
            Err(reason) => reason,
        };
        if let Some(code) = self.other_memory(build_id, reference) {
            return Ok(code);
        }
        Err(self.why_no_code(image_reason, build_id))
    }

    /// Why there is no code of the kernel, given why there is no image of it.
    fn why_no_code(&self, image_reason: NoCode, build_id: Option<BuildId>) -> NoCode {
        let (is_missing, is_other) = match &image_reason {
            NoCode::Binary(Reason::NoFile { .. }) => (true, false),
            NoCode::Binary(Reason::BuildIdDiffers { .. }) => (false, true),
            _ => (false, false),
        };
        let running = self.running_build_id();
        match build_id {
            _ if self.is_guest || !(is_missing || is_other) => image_reason,
            Some(recorded) if !running.is_some_and(|running| running.matches(&recorded)) => {
                Reason::KernelDiffers { recorded, running }.into()
            }
            None if !self.options.trust_running_kernel => {
                self.options.kernel_doubt.clone().unwrap_or(Reason::KernelUnknown).into()
            }
            _ if is_missing => NoCode::OnlyKernelList { memory: KernelMemory::here() },
            _ => image_reason,
        }
    }

    /// The copy of the memory that belongs to the recording.
    fn recorded_memory(&self, reference: Option<&(String, u64)>) -> Option<CodeFile<'f>> {
        let dir = self.options.kcore_dir.as_ref()?;
        let shift = self.shift(&dir.join("kallsyms"), reference).unwrap_or(0);
        self.memory(&dir.join("kcore"), shift)
    }

    /// The memory of the running kernel, if it is the recorded one, or a copy in the recorder's cache.
    fn other_memory(
        &self,
        build_id: Option<BuildId>,
        reference: Option<&(String, u64)>,
    ) -> Option<CodeFile<'f>> {
        let is_running = !self.is_guest
            && match (build_id, self.running_build_id()) {
                (Some(recorded), Some(running)) => running.matches(&recorded),
                (Some(_), None) => false,
                (None, _) => self.options.trust_running_kernel,
            };
        if is_running
            && let Some(shift) = self.shift(Path::new(KALLSYMS), reference)
            && let Some(code) = self.memory(Path::new(KCORE), shift)
        {
            return Some(code);
        }
        let lists = build_id.map(|id| kernel_symbol_lists(&self.options, &id)).unwrap_or_default();
        lists.iter().find_map(|list| {
            let shift = self.shift(list, reference)?;
            self.memory(&list.parent()?.join("kcore"), shift)
        })
    }

    /// What to add to a recorded address to get that in the memory which a list is of.
    fn shift(&self, list: &Path, reference: Option<&(String, u64)>) -> Option<u64> {
        let Some((symbol, recorded)) = reference.filter(|(_, recorded)| *recorded != 0) else {
            return Some(0);
        };
        let list = self.shared.kernel_lists.at(list, &self.options.file_loader).ok()?;
        Some(list.address_of(symbol)?.wrapping_sub(*recorded))
    }

    fn memory(&self, kcore: &Path, shift: u64) -> Option<CodeFile<'f>> {
        CodeFile::memory(self.shared, kcore, shift)
    }

    /// In memory a module is linked; in its file it is not.
    fn module_code(
        &self,
        name: &Path,
        build_id: Option<BuildId>,
        start: Option<u64>,
    ) -> Result<CodeFile<'f>, NoCode> {
        let module = module_name(name);
        if let Some(code) = self.recorded_memory(None) {
            return Ok(code);
        }
        let is_loaded = self.is_loaded(&module, build_id, start);
        if let Some(code) = is_loaded.then(|| self.loaded_module(&module, start)).flatten() {
            return Ok(code);
        }
        let opened = self.search(name, build_id).module().map_err(|reason| match reason {
            Reason::NoFile { .. } if is_loaded => NoCode::OnlyKernelList { memory: KernelMemory::here() },
            Reason::NoFile { .. } if self.is_guest || !running_kernel::has_module(&module) => {
                Reason::ModuleNotFound { module: module.clone(), recorded: build_id }.into()
            }
            Reason::NoFile { .. } => Reason::ModuleUnproven { module: module.clone() }.into(),
            reason => NoCode::Binary(reason),
        })?;
        let start = start.ok_or(Reason::ModuleStartUnknown { module })?;
        let path = opened.path.clone();
        let image = parse(self.shared, opened)?;
        let place = |placed: kernel_image::Placed| Segment {
            address: placed.address,
            linked: placed.address,
            size: placed.size,
            offset: placed.offset,
        };
        let segments: Arc<[Segment]> =
            kernel_image::places_of_module(&image, start).into_iter().map(place).collect();
        CodeFile::placed(path, image, segments, Vec::new(), false)
    }

    /// Whether the module that is loaded now is the recorded one.
    fn is_loaded(&self, module: &str, build_id: Option<BuildId>, start: Option<u64>) -> bool {
        let Some(loaded_at) = running_kernel::module_start(module).filter(|_| !self.is_guest) else {
            return false;
        };
        match (build_id, running_kernel::module_build_id(module)) {
            (Some(recorded), Some(loaded)) => loaded.matches(&recorded),
            (Some(_), None) => false,
            (None, _) => self.options.trust_running_kernel && start.is_none_or(|start| start == loaded_at),
        }
    }

    fn loaded_module(&self, module: &str, start: Option<u64>) -> Option<CodeFile<'f>> {
        let loaded_at = running_kernel::module_start(module)?;
        let shift = start.map_or(0, |start| loaded_at.wrapping_sub(start));
        self.memory(Path::new(KCORE), shift)
    }

    fn image_code(&self, opened: Opened, reference: Option<&(String, u64)>) -> Result<CodeFile<'f>, NoCode> {
        let path: PathBuf = opened.path.clone();
        let image: Image<'f> = parse(self.shared, opened)?;
        let moved = kernel_image::moved(&image, reference)?;
        let segments = image.loads.iter().map(|load| Segment {
            address: load.address.wrapping_add(moved),
            linked: load.address,
            size: load.file_size,
            offset: load.offset,
        });
        let segments = segments.collect();
        let marks = content::marks(&image);
        CodeFile::placed(path, image, segments, marks, true)
    }
}
