//! The code of the kernel and its modules: an image that was named, a copy of the memory that belongs to the recording, an image that
//! is found, the memory of the running kernel. In memory the code is as it ran: the kernel changes its own when it starts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::NoCode;
use super::content;
use super::file::CodeFile;
use super::function::Segment;
use super::source::parse;
use crate::build_id::BuildId;
use crate::find::{Opened, Search, kernel_symbol_lists, module_name};
use crate::image::Image;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::{Shared, kernel_image, running_kernel};
use crate::subject::Subject;

/// The memory of the running kernel, and the list of its symbols.
const RUNNING: (&str, &str) = ("/proc/kcore", "/proc/kallsyms");

/// Finds the code of a kernel or a module. `None` if the subject is none.
pub(super) fn open<'f>(shared: &Shared<'f>, subject: &Subject) -> Option<Result<CodeFile<'f>, NoCode>> {
    let host = || Machine { shared, options: shared.options.clone(), is_guest: false };
    Some(match subject {
        Subject::Kernel { build_id, reference } => host().kernel(*build_id, reference.as_ref()),
        Subject::KernelModule { name, build_id, start } => host().module(name, *build_id, *start),
        Subject::GuestKernel { pid, build_id, reference } => {
            Machine::guest(shared, *pid).kernel(*build_id, reference.as_ref())
        }
        Subject::GuestModule { pid, name, build_id, start } => {
            Machine::guest(shared, *pid).module(name, *build_id, *start)
        }
        _ => return None,
    })
}

/// The machine whose kernel it is.
struct Machine<'s, 'f> {
    shared: &'s Shared<'f>,
    options: Options,
    is_guest: bool,
}

impl<'s, 'f> Machine<'s, 'f> {
    /// A guest has nothing but what the user or the recording named for it.
    fn guest(shared: &'s Shared<'f>, pid: Option<u32>) -> Machine<'s, 'f> {
        Machine { shared, options: shared.options.for_guest(pid), is_guest: true }
    }

    fn kernel(
        &self,
        build_id: Option<BuildId>,
        reference: Option<&(String, u64)>,
    ) -> Result<CodeFile<'f>, NoCode> {
        let search = self.search(Path::new("vmlinux"), build_id);
        if let Some(path) = &self.options.vmlinux {
            return self.image(search.given(path)?, reference);
        }
        let build_id = build_id.or(self.options.kernel_build_id);
        let search = Search { build_id, ..search };
        if let Some(code) = self.recorded_memory(reference) {
            return Ok(code);
        }
        let from_image = match search.kernel_image() {
            Ok(opened) => self.image(opened, reference),
            Err(reason) => Err(reason.into()),
        };
        let image_reason = match from_image {
            Ok(code) => return Ok(code),
            Err(reason) => reason,
        };
        if let Some(code) = self.other_memory(build_id, reference) {
            return Ok(code);
        }
        Err(match (image_reason, build_id, running_kernel::build_id().filter(|_| !self.is_guest)) {
            (
                NoCode::Binary(Reason::NoFile { .. } | Reason::BuildIdDiffers { .. }),
                Some(recorded),
                running,
            ) if !running.is_some_and(|running| running.matches(&recorded)) => {
                Reason::KernelDiffers { recorded, running }.into()
            }
            (NoCode::Binary(Reason::NoFile { .. }), ..) => NoCode::OnlyKernelList,
            (reason, ..) => reason,
        })
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
        let running = running_kernel::build_id();
        let is_running = !self.is_guest
            && match (build_id, running) {
                (Some(recorded), Some(running)) => running.matches(&recorded),
                (Some(_), None) => false,
                (None, _) => self.options.trust_running_kernel,
            };
        if is_running
            && let Some(shift) = self.shift(Path::new(RUNNING.1), reference)
            && let Some(code) = self.memory(Path::new(RUNNING.0), shift)
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
    fn module(
        &self,
        name: &Path,
        build_id: Option<BuildId>,
        start: Option<u64>,
    ) -> Result<CodeFile<'f>, NoCode> {
        let module = module_name(name);
        if let Some(code) =
            self.recorded_memory(None).or_else(|| self.loaded_module(&module, build_id, start))
        {
            return Ok(code);
        }
        let opened = self.search(name, build_id).module()?;
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

    fn loaded_module(
        &self,
        module: &str,
        build_id: Option<BuildId>,
        start: Option<u64>,
    ) -> Option<CodeFile<'f>> {
        let loaded_at = running_kernel::module_start(module).filter(|_| !self.is_guest)?;
        let is_same = match (build_id, running_kernel::module_build_id(module)) {
            (Some(recorded), Some(loaded)) => loaded.matches(&recorded),
            (Some(_), None) => false,
            (None, _) => self.options.trust_running_kernel && start.is_none_or(|start| start == loaded_at),
        };
        let shift = start.map_or(0, |start| loaded_at.wrapping_sub(start));
        is_same.then(|| self.memory(Path::new(RUNNING.0), shift)).flatten()
    }

    fn search<'a>(&'a self, path: &'a Path, build_id: Option<BuildId>) -> Search<'a> {
        Search { options: &self.options, path, build_id, debug_link: None }
    }

    fn image(&self, opened: Opened, reference: Option<&(String, u64)>) -> Result<CodeFile<'f>, NoCode> {
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
