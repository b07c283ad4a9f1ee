//! The machine whose kernel, or a module of it, is asked about: the host or a guest. Names and code are looked for in the same places.

use std::path::Path;

use crate::build_id::BuildId;
use crate::find::Search;
use crate::options::Options;
use crate::source::{Shared, running_kernel};
use crate::subject::Subject;

/// A machine, and where its files are.
pub(crate) struct Machine<'s, 'f> {
    pub(crate) shared: &'s Shared<'f>,
    pub(crate) options: Options,
    /// A guest has nothing but what the user or the recording named for it.
    pub(crate) is_guest: bool,
}

/// What of a machine is meant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KernelPart<'a> {
    /// The kernel proper. `reference` is a symbol, and where it was.
    Kernel { build_id: Option<BuildId>, reference: Option<&'a (String, u64)> },
    /// A module, and where it was loaded.
    Module { name: &'a Path, build_id: Option<BuildId>, start: Option<u64> },
}

impl<'s, 'f> Machine<'s, 'f> {
    /// The machine of a subject, and what of it the subject is. `None` if that is no kernel and no module.
    pub(crate) fn of<'a>(
        shared: &'s Shared<'f>,
        subject: &'a Subject,
    ) -> Option<(Machine<'s, 'f>, KernelPart<'a>)> {
        let host = || Machine { shared, options: shared.options.clone(), is_guest: false };
        let guest = |pid| Machine { shared, options: shared.options.for_guest(pid), is_guest: true };
        Some(match subject {
            Subject::Kernel { build_id, reference } => {
                (host(), KernelPart::Kernel { build_id: *build_id, reference: reference.as_ref() })
            }
            Subject::KernelModule { name, build_id, start } => {
                (host(), KernelPart::Module { name, build_id: *build_id, start: *start })
            }
            Subject::GuestKernel { pid, build_id, reference } => {
                (guest(*pid), KernelPart::Kernel { build_id: *build_id, reference: reference.as_ref() })
            }
            Subject::GuestModule { pid, name, build_id, start } => {
                (guest(*pid), KernelPart::Module { name, build_id: *build_id, start: *start })
            }
            _ => return None,
        })
    }

    /// A search in its places.
    pub(crate) fn search<'a>(&'a self, path: &'a Path, build_id: Option<BuildId>) -> Search<'a> {
        Search { options: &self.options, path, build_id, debug_link: None }
    }

    /// The build-id of its kernel if that is the one that runs here.
    pub(crate) fn running_build_id(&self) -> Option<BuildId> {
        running_kernel::build_id().filter(|_| !self.is_guest)
    }
}
