//! Texts that many rows have, in lists that all batches share.

use super::Made;
use crate::words::Words;
use perffile::wire::head::CpuMode;
use perffile::wire::text::decoded;
use readperf_profile::CodeKind;
use std::borrow::Cow;

/// What modes are called.
const MODES: [(CpuMode, &str); 5] = [
    (CpuMode::Kernel, "kernel"),
    (CpuMode::User, "user"),
    (CpuMode::Hypervisor, "hypervisor"),
    (CpuMode::GuestKernel, "guest kernel"),
    (CpuMode::GuestUser, "guest user"),
];

/// What kinds of code are called.
const KINDS: [(CodeKind, &str); 4] = [
    (CodeKind::User, "user"),
    (CodeKind::Kernel, "kernel"),
    (CodeKind::Jit, "jit"),
    (CodeKind::Unknown, "unknown"),
];

/// Texts that many rows have.
#[derive(Debug, Default)]
pub(crate) struct Dictionaries {
    pub(crate) events: Words,
    pub(crate) comms: Words,
    pub(crate) binaries: Words,
    pub(crate) functions: Words,
    pub(crate) files: Words,
    /// By [`CpuMode`].
    pub(crate) modes: Words,
    /// By [`CodeKind`].
    pub(crate) kinds: Words,
    /// Names of fields of tracepoints.
    pub(crate) trace_fields: Words,
}

impl Made {
    pub(super) fn make_dictionaries(&self) -> Dictionaries {
        let (profile, session) = (self.profile(), self.session());
        let names = profile.names();
        Dictionaries {
            events: Words::new(profile.events().iter().map(|event| Some(Cow::from(event.name.as_str())))),
            comms: Words::new(session.comms().map(|comm| Some(decoded(comm)))),
            binaries: Words::new(session.binaries().iter().map(|binary| Some(decoded(&binary.short_name)))),
            functions: Words::new(names.functions().map(|function| function.name().map(Cow::from))),
            files: Words::new(names.files().map(|file| Some(Cow::from(file)))),
            modes: Words::by_number(MODES.map(|(mode, word)| (mode as usize, word))),
            kinds: Words::by_number(KINDS.map(|(kind, word)| (kind as usize, word))),
            trace_fields: Words::default(),
        }
    }
}
