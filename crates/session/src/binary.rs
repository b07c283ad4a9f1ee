//! Binaries: whatever code can lie in.

use crate::arena::Arena;
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

/// What makes two binaries one: the name, the build-id, and of generated and loaded kernel code the place.
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
}

impl Binaries {
    /// The id of a binary; the same one for the same binary.
    pub(crate) fn intern(&mut self, binary: Binary) -> BinaryId {
        let key = Key::of(&binary);
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let id = self.list.push(binary);
        self.ids.insert(key, id);
        id
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

    /// Gives those without build-id the one that `find` has for their name. A pipe tells build-ids at its end.
    pub(crate) fn complete(&mut self, find: impl Fn(&Binary) -> Option<Box<[u8]>>) {
        let without: Vec<BinaryId> =
            self.ids.iter().filter(|(key, _)| key.build_id.is_none()).map(|(_, id)| *id).collect();
        for id in without {
            let Some(binary) = self.list.get_mut(id) else { continue };
            let Some(build_id) = find(binary) else { continue };
            self.ids.remove(&Key::of(binary));
            binary.build_id = Some(build_id);
            self.ids.entry(Key::of(binary)).or_insert(id);
        }
    }
}
