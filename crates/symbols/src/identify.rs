//! Build-ids of binaries that were recorded without: those of the files that are here now.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::build_id::BuildId;
use crate::find::{Search, module_name};
use crate::image::Image;
use crate::options::Options;
use crate::source::{elf_file, running_kernel, vdso};
use crate::subject::Subject;

/// Why a binary has no build-id.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unidentified {
    /// There is no file of it, or it cannot be read: why.
    NoFile(String),
    /// Its file has none.
    NoId(PathBuf),
    /// Its file was written after the recording.
    Newer(PathBuf),
    /// Nothing proves that the running kernel is the recorded one.
    OtherKernel,
}

impl std::fmt::Display for Unidentified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unidentified::NoFile(why) => f.write_str(why),
            Unidentified::NoId(path) => write!(f, "{} has no build-id", path.display()),
            Unidentified::Newer(path) => write!(f, "{} was written after the recording", path.display()),
            Unidentified::OtherKernel => {
                f.write_str("nothing proves that the running kernel is the recorded one")
            }
        }
    }
}

impl BuildId {
    /// The build-id of a binary as it is here. `recorded` is when the recording was written: a file that was written later is another one.
    ///
    /// # Errors
    /// Why there is none.
    pub fn of(
        subject: &Subject,
        options: &Options,
        recorded: Option<SystemTime>,
    ) -> Result<BuildId, Unidentified> {
        let running = |id: Option<BuildId>| {
            id.filter(|_| options.trust_running_kernel).ok_or(Unidentified::OtherKernel)
        };
        match subject {
            Subject::File { path, build_id: None } => of_file(path, options, recorded),
            Subject::Kernel { build_id: None, .. } => running(running_kernel::build_id()),
            Subject::KernelModule { name, build_id: None, .. } => {
                running(running_kernel::module_build_id(&module_name(name)))
            }
            Subject::Vdso { build_id: None } => {
                running(vdso::image_of(options, None).ok().and_then(|bytes| Image::parse(&bytes)?.build_id()))
            }
            _ => subject
                .build_id()
                .copied()
                .ok_or_else(|| Unidentified::NoFile(format!("{subject} is no file"))),
        }
    }
}

fn of_file(path: &Path, options: &Options, recorded: Option<SystemTime>) -> Result<BuildId, Unidentified> {
    if elf_file::is_without_file(path, None) {
        return Err(Unidentified::NoFile(format!("{} is no file", path.display())));
    }
    let search = Search { options, path, build_id: None, debug_link: None };
    let opened = search.binary().map_err(|reason| Unidentified::NoFile(reason.to_string()))?;
    let written = std::fs::metadata(&opened.path).and_then(|file| file.modified()).ok();
    if written.zip(recorded).is_some_and(|(written, recorded)| written > recorded) {
        return Err(Unidentified::Newer(opened.path));
    }
    Image::parse(opened.data()).and_then(|image| image.build_id()).ok_or(Unidentified::NoId(opened.path))
}
