//! The kernel and its modules: which of the places that have their symbols is used.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::build_id::BuildId;
use crate::file_loader::FileLoader;
use crate::find::{Opened, Search, kernel_symbol_lists, module_name};
use crate::image::Image;
use crate::reason::Reason;
use crate::source::kallsyms::Kallsyms;
use crate::source::kernel_image::AtRunTime;
use crate::source::kernel_list::{Located, WithCopy};
use crate::source::kernel_machine::{KernelPart, Machine};
use crate::source::{Names, Shared, elf_file, running_kernel};
use crate::subject::Subject;

const RUNNING: &str = "/proc/kallsyms";

/// What names a kernel or a module.
type Opening<'f> = Result<Box<dyn Names + 'f>, Reason>;

pub(crate) fn open<'f>(shared: &Shared<'f>, subject: &Subject) -> Option<Opening<'f>> {
    let (machine, part) = Machine::of(shared, subject)?;
    Some(match part {
        KernelPart::Kernel { build_id, reference } => machine.kernel(build_id, reference),
        KernelPart::Module { name, build_id, start } => machine.module(name, build_id, start),
    })
}

/// Reads the list that a kernel will have its names from, if it is a list: the lists that `shared` knows keep it.
pub(crate) fn read_list(shared: &Shared<'_>, subject: &Subject) {
    let Subject::Kernel { .. } = subject else { return };
    let Some((host, KernelPart::Kernel { build_id, reference })) = Machine::of(shared, subject) else {
        return;
    };
    if let Some(path) = host.options.given_kernel_list() {
        drop(host.list(&path));
    } else if host.options.vmlinux.is_none() {
        let build_id = build_id.or(host.options.kernel_build_id);
        if host.search(Path::new("vmlinux"), build_id).kernel_image().is_err() {
            drop(host.kernel_without_image(build_id, reference));
        }
    }
}

impl<'f> Machine<'_, 'f> {
    /// The order is that of `perf`: what is given, and nothing else then; an image; the running kernel; the cache. (A copy of the running
    /// kernel's list in the cache says the same.)
    fn kernel(&self, build_id: Option<BuildId>, reference: Option<&(String, u64)>) -> Opening<'f> {
        if let Some(path) = self.options.given_kernel_list() {
            return self.listed(&path, reference);
        }
        let search = self.search(Path::new("vmlinux"), build_id);
        if let Some(path) = &self.options.vmlinux {
            return self.image(search.given(path)?, &search, reference);
        }
        let build_id = build_id.or(self.options.kernel_build_id);
        let search = Search { build_id, ..search };
        let from_image = search.kernel_image().and_then(|opened| self.image(opened, &search, reference));
        let image_reason = match from_image {
            Ok(names) => return Ok(names),
            Err(reason) => reason,
        };
        self.kernel_without_image(build_id, reference).map_err(|reason| match image_reason {
            // An image that is there and damaged says more than a kernel that does not run here.
            Reason::NoFile { .. } | Reason::BuildIdDiffers { .. } => reason,
            image_reason => image_reason,
        })
    }

    fn kernel_without_image(
        &self,
        build_id: Option<BuildId>,
        reference: Option<&(String, u64)>,
    ) -> Opening<'f> {
        let running = self.running_build_id();
        let Some(recorded) = build_id else {
            let doubt = self.options.kernel_doubt.clone().unwrap_or(Reason::KernelUnknown);
            return match self.options.trust_running_kernel {
                true => self.listed(Path::new(RUNNING), reference),
                false => Err(doubt),
            };
        };
        let mut reason = Reason::KernelDiffers { recorded, running };
        if running.is_some_and(|running| running.matches(&recorded)) {
            let lists = (&self.shared.kernel_lists, &self.options.file_loader);
            let with_copy = |copy| WithCopy::new((copy, Path::new(RUNNING)), lists, reference);
            let copies = kernel_symbol_lists(&self.options, &recorded);
            if let Some(names) = copies.into_iter().find_map(with_copy) {
                return Ok(Box::new(names));
            }
            match self.listed(Path::new(RUNNING), reference) {
                Ok(names) => return Ok(names),
                Err(error) => reason = error,
            }
        }
        let mut cached = kernel_symbol_lists(&self.options, &recorded).into_iter();
        cached.find_map(|path| self.listed(&path, reference).ok()).ok_or(reason)
    }

    fn module(&self, name: &Path, build_id: Option<BuildId>, start: Option<u64>) -> Opening<'f> {
        let module = module_name(name);
        if let Some(path) = self.options.given_kernel_list() {
            let listed = module_start_beside(&path, &module, &self.options.file_loader);
            return self.module_in_list(&path, &module, start, listed);
        }
        let search = self.search(name, build_id);
        // A list has no lines: where they are wanted, a file with debug information is better.
        let opened = self.options.reads_debug_info().then(|| self.module_from_file(&search, start));
        let opened = match opened {
            Some(Ok(names)) if names.has_debug_info() => return Ok(Box::new(names)),
            other => other,
        };
        let running_reason = match self.running_module(&module, build_id, start) {
            Ok(names) => return Ok(names),
            Err(reason) => reason,
        };
        let file_reason = match opened.unwrap_or_else(|| self.module_from_file(&search, start)) {
            Ok(names) => return Ok(Box::new(names)),
            Err(reason) => reason,
        };
        let lists = self.options.kernel_build_id.iter().flat_map(|id| kernel_symbol_lists(&self.options, id));
        for path in lists {
            let listed = module_start_beside(&path, &module, &self.options.file_loader);
            if let Ok(names) = self.module_in_list(&path, &module, start, listed) {
                return Ok(names);
            }
        }
        Err(match file_reason {
            Reason::NoFile { .. } => running_reason,
            file_reason => file_reason,
        })
    }

    fn running_module(&self, module: &str, build_id: Option<BuildId>, start: Option<u64>) -> Opening<'f> {
        let not_loaded = || Reason::ModuleNotFound { module: module.to_owned(), recorded: build_id };
        if self.is_guest {
            return Err(not_loaded());
        }
        // Reading the list takes long, so the rest is asked before.
        match build_id {
            Some(recorded) => {
                let loaded = running_kernel::module_build_id(module).ok_or_else(not_loaded)?;
                if !loaded.matches(&recorded) {
                    return Err(Reason::ModuleDiffers { module: module.to_owned(), recorded, loaded });
                }
            }
            // One that was loaded anew since, elsewhere, may be another.
            None if self.options.trust_running_kernel
                && start.is_none_or(|start| running_kernel::module_start(module) == Some(start)) => {}
            None if running_kernel::has_module(module) => {
                return Err(Reason::ModuleUnproven { module: module.to_owned() });
            }
            None => return Err(not_loaded()),
        }
        let list = self.list(Path::new(RUNNING))?;
        let located = Located::module(list, module, start, running_kernel::module_start(module))?;
        Ok(Box::new(located))
    }

    fn list(&self, path: &Path) -> Result<(PathBuf, Arc<Kallsyms>), Reason> {
        self.shared.kernel_lists.at(path, &self.options.file_loader).map(|list| (path.to_owned(), list))
    }

    fn listed(&self, path: &Path, reference: Option<&(String, u64)>) -> Opening<'f> {
        Ok(Box::new(Located::kernel(self.list(path)?, reference)?))
    }

    fn module_in_list(
        &self,
        path: &Path,
        module: &str,
        start: Option<u64>,
        listed: Option<u64>,
    ) -> Opening<'f> {
        Ok(Box::new(Located::module(self.list(path)?, module, start, listed)?))
    }

    fn image(&self, opened: Opened, search: &Search<'_>, reference: Option<&(String, u64)>) -> Opening<'f> {
        let (image, names) = self.read(opened, search)?;
        Ok(Box::new(AtRunTime::kernel(&image, names, reference)?))
    }

    fn module_from_file(&self, search: &Search<'_>, start: Option<u64>) -> Result<AtRunTime<'f>, Reason> {
        let opened = search.module()?;
        let start = start.ok_or_else(|| Reason::ModuleStartUnknown { module: module_name(search.path) })?;
        let (image, names) = self.read(opened, search)?;
        Ok(AtRunTime::module(&image, names, start))
    }

    fn read(
        &self,
        opened: Opened,
        search: &Search<'_>,
    ) -> Result<(Image<'f>, crate::source::naming::ElfNames<'f>), Reason> {
        let path = opened.path.clone();
        let kept = elf_file::Kept::new(opened, self.shared.files);
        let image = Image::parse(kept.data).ok_or(Reason::NotElf { path })?;
        let search = Search { debug_link: None, ..*search };
        Ok((image, elf_file::from_binary(search, kept, self.shared.files)?))
    }
}

/// Where a module was when a list was made, by the copy of `/proc/modules` that a recorder puts beside it.
fn module_start_beside(list: &Path, module: &str, loader: &FileLoader) -> Option<u64> {
    let modules = match list.to_str() {
        Some(RUNNING) => return running_kernel::module_start(module),
        _ => list.parent()?.join("modules"),
    };
    running_kernel::module_start_in(&modules, module, loader)
}
