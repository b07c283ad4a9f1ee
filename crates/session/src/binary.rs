//! Binaries: files, kernel images and generated code.

use crate::arena::Arena;
use crate::build_ids::{KnownBuildIds, Subject};
use crate::ids::BinaryId;
use rustc_hash::FxHashMap;

/// What kind of binary.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BinaryKind {
    /// A file mapped by a process.
    User,
    /// The kernel's own image.
    Kernel {
        /// The symbol whose address the recorder noted: with it the image can be moved to where it ran (KASLR). `None`
        /// where the recorder was not allowed to see addresses.
        reference: Option<ReferenceSymbol>,
    },
    /// A kernel module.
    Module {
        /// Where it was loaded.
        start: u64,
    },
    /// The image that the kernel maps into every process.
    Vdso,
    /// The page of old system calls.
    Vsyscall,
    /// Executable memory without a file: code that its process generated.
    Jit {
        /// The process.
        pid: u32,
        /// Which of the pieces of code that were at an address after each other, where that is known: from 1 on, in order of
        /// time. 0 where it is not.
        generation: u32,
    },
    /// Other memory without a file.
    Anon,
    /// A BPF program, or other code that the kernel generated.
    Bpf {
        /// Where it lies.
        start: u64,
    },
    /// The kernel of a guest.
    GuestKernel {
        /// As for [`BinaryKind::Kernel`].
        reference: Option<ReferenceSymbol>,
    },
    /// A module of a guest's kernel.
    GuestModule {
        /// Where it was loaded.
        start: u64,
    },
}

impl BinaryKind {
    /// Whether addresses in it are those at run time; otherwise they are offsets in a file.
    pub fn by_run_time_address(&self) -> bool {
        !matches!(self, BinaryKind::User | BinaryKind::Vdso | BinaryKind::Vsyscall)
    }

    /// Whether it is code of the host's kernel.
    pub fn is_kernel(&self) -> bool {
        matches!(self, BinaryKind::Kernel { .. } | BinaryKind::Module { .. } | BinaryKind::Bpf { .. })
    }
}

/// A symbol of the kernel and its address at run time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReferenceSymbol {
    /// Its name: `_text` or `_stext`.
    pub name: Box<[u8]>,
    /// Its address.
    pub address: u64,
}

/// A binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// Its path, or a name in brackets, as recorded. Of generated code the path where its symbols may be
    /// (`/tmp/perf-PID.map`). Not necessarily UTF-8.
    pub name: Box<[u8]>,
    /// The name for tables: last part of the path, `[kernel.kallsyms]`, `[module]`, `[JIT] tid PID`.
    pub short_name: Box<[u8]>,
    /// What kind it is.
    pub kind: BinaryKind,
    /// Its build-id, usually 20 bytes.
    pub build_id: Option<Box<[u8]>>,
}

/// What makes two binaries the same: the name, the build-id, of kernel code that was generated or loaded the place, and of code
/// that a process generated its generation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    name: Box<[u8]>,
    build_id: Option<Box<[u8]>>,
    start: Option<u64>,
}

impl Key {
    fn of(binary: &Binary) -> Key {
        let start = match binary.kind {
            BinaryKind::Module { start } | BinaryKind::GuestModule { start } | BinaryKind::Bpf { start } => {
                Some(start)
            }
            BinaryKind::Jit { generation: generation @ 1.., .. } => Some(u64::from(generation)),
            _ => None,
        };
        Key { name: binary.name.clone(), build_id: binary.build_id.clone(), start }
    }
}

/// All binaries of a recording.
#[derive(Clone, Debug, Default)]
pub(crate) struct Binaries {
    list: Arena<BinaryId, Binary>,
    ids: FxHashMap<Key, BinaryId>,
    /// Those whose build-id may still be told: a pipe does so at its end.
    unidentified: FxHashMap<Subject, Vec<BinaryId>>,
}

impl Binaries {
    /// The id of a binary; the same one for the same binary. Its build-id, if it has none itself, is the one told of it.
    pub(crate) fn intern(&mut self, mut binary: Binary, build_ids: &KnownBuildIds) -> BinaryId {
        let subject = if binary.build_id.is_none() { Subject::of_binary(&binary) } else { None };
        if let Some(subject) = &subject {
            binary.build_id = build_ids.get(subject).map(Into::into);
        }
        let key = Key::of(&binary);
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let lacks = binary.build_id.is_none();
        let id = self.list.push(binary);
        self.ids.insert(key, id);
        if let Some(subject) = subject
            && lacks
        {
            self.unidentified.entry(subject).or_default().push(id);
        }
        id
    }

    /// A build-id became known: binaries that were mapped without one get it.
    pub(crate) fn identify(&mut self, subject: &Subject, build_ids: &KnownBuildIds) {
        let Some(build_id) = build_ids.get(subject) else { return };
        for id in self.unidentified.remove(subject).unwrap_or_default() {
            let Some(binary) = self.list.get_mut(id) else { continue };
            self.ids.remove(&Key::of(binary));
            binary.build_id = Some(build_id.into());
            self.ids.entry(Key::of(binary)).or_insert(id);
        }
    }

    #[inline]
    pub(crate) fn get(&self, id: BinaryId) -> Option<&Binary> {
        self.list.get(id)
    }

    pub(crate) fn as_slice(&self) -> &[Binary] {
        self.list.as_slice()
    }

    /// Changes a kernel's own image: what is told of it later replaces what was told before.
    pub(crate) fn set_kind(&mut self, id: BinaryId, kind: BinaryKind) {
        if let Some(binary) = self.list.get_mut(id) {
            binary.kind = kind;
        }
    }
}
