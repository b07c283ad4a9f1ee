//! Which kernel was recorded: by its build-id, or, without one, whether it is the running one.

use perffile::Features;
use perffile::wire::text::decoded;
use readperf_session::{BinaryKind, Session};
use readperf_symbols::{BuildId, Options, RecordedKernel, SameKernel};

/// Name, release and kind of the recorded machine, and what they and the kernel's place in memory prove.
#[derive(Debug, Default)]
pub(crate) struct KernelEvidence {
    machine: Option<[String; 3]>,
    same: Option<SameKernel>,
}

impl KernelEvidence {
    pub(crate) fn new(features: &Features) -> KernelEvidence {
        let machine = || Some([features.hostname()?, features.osrelease()?, features.arch()?]);
        KernelEvidence { machine: machine().map(|words| words.map(|word| word.into_owned())), same: None }
    }

    /// Tells the options which kernel was recorded: by its build-id, or, if that is not recorded and the running kernel is the
    /// same, as that one. Nothing is proved where the recording or the user says where its symbols are.
    pub(crate) fn apply(&mut self, options: &mut Options, session: &Session) {
        options.kernel_build_id = options.kernel_build_id.or_else(|| build_id(session));
        let is_known = options.kernel_build_id.is_some()
            || options.kallsyms.is_some()
            || options.vmlinux.is_some()
            || options.kcore_dir.is_some();
        let Some(recorded) = self.recorded(session).filter(|_| !is_known) else { return };
        match recorded.is_running() {
            Ok(same) => {
                options.trust_running_kernel = true;
                options.kernel_build_id = same.build_id();
                self.same = Some(same);
            }
            Err(doubt) => options.kernel_doubt = Some(doubt),
        }
    }

    /// Says by what it is known that the running kernel is the recorded one, if its names may have been used.
    pub(crate) fn told(&self) -> Option<String> {
        self.same.as_ref().map(ToString::to_string)
    }

    fn recorded(&self, session: &Session) -> Option<RecordedKernel> {
        let [hostname, release, machine] = self.machine.clone()?;
        let image = session.kernel_image()?;
        let BinaryKind::Kernel { reference } = &session.binary(image.binary)?.kind else { return None };
        let reference = reference.as_ref().map(|symbol| (decoded(&symbol.name).into_owned(), symbol.address));
        Some(RecordedKernel {
            hostname,
            release,
            machine,
            reference: reference.unwrap_or_default(),
            end: image.end,
        })
    }
}

fn build_id(session: &Session) -> Option<BuildId> {
    let kernel = session.binary(session.kernel_image()?.binary)?;
    BuildId::from_bytes(kernel.build_id.as_deref()?)
}
