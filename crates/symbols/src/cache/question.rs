//! What cached answers depend on besides files.

use std::path::Path;

use crate::demangle::Demangle;
use crate::find::{MountNamespaces, module_name};
use crate::options::Options;
use crate::source::running_kernel;
use crate::subject::Subject;
use crate::trace::Identity;

/// What the answers of one resolver depend on besides files.
#[derive(Debug)]
pub(super) struct Question {
    /// What matters for every binary.
    general: String,
    /// What matters for the kernel and its modules; `None` when a symbol list is to be used for them.
    kernel: Option<String>,
}

impl Question {
    /// All options that an answer may depend on, also those that are yet to come: what it does not depend on is set to one
    /// value. And the program, since another build may answer better.
    pub(super) fn of(options: &Options) -> Option<Question> {
        let plain = Options {
            demangle: Demangle::None,
            threads: None,
            cache: None,
            cache_bytes: 0,
            // What is only asked about kernels.
            kernel_release: None,
            kernel_build_id: None,
            kernel_doubt: None,
            trust_running_kernel: false,
            kcore_dir: None,
            // What comes from there is not kept.
            mount_namespaces: MountNamespaces::none(),
            ..options.clone()
        };
        let program = Identity::of(&std::fs::metadata(std::env::current_exe().ok()?).ok()?);
        let general = format!(
            "{} {program:?} {:?} {plain:?}",
            env!("CARGO_PKG_VERSION"),
            Path::new(".").canonicalize().ok()?
        );
        let kernel = options.given_kernel_list().is_none();
        Some(Question { general, kernel: kernel.then(|| format!("{:?}", options.kernel_release)) })
    }

    /// The question about one binary: the key of its answers. `None` when they are not cached: without a build-id there is no
    /// proof that the binary is the same, and a path that is no text cannot be told from others.
    pub(super) fn about(&self, subject: &Subject) -> Option<String> {
        let id = subject.build_id()?;
        let what = match subject {
            Subject::File { path, .. } => path.to_str()?.to_owned(),
            Subject::Kernel { reference, .. } => {
                format!("kernel {} by {reference:?}", self.kernel.as_ref()?)
            }
            Subject::KernelModule { name, start: Some(start), .. } => {
                let loaded = running_kernel::module_build_id(&module_name(name));
                let is_loaded = loaded.is_some_and(|loaded| loaded.matches(id));
                format!(
                    "module {} of {} at {start:#x}, loaded: {is_loaded}",
                    name.to_str()?,
                    self.kernel.as_ref()?
                )
            }
            _ => return None,
        };
        Some(format!("{id} {what} {}", self.general))
    }
}
