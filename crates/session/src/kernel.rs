//! The kernel: its image, its modules, and the code it generates.

use crate::binary::ReferenceSymbol;
use crate::ids::BinaryId;
use crate::space::{AddressSpace, Mapping, SpaceVersion};

/// Largest size of an image, in bytes: more than any kernel has.
const LONGEST_IMAGE: u64 = 256 << 20;

/// Where x86-64 keeps its kernel's image, and from where on modules and generated code lie: the image ends before.
const X86_IMAGES: u64 = 0xffff_ffff_8000_0000;
const X86_MODULES: u64 = 0xffff_ffff_c000_0000;

/// A symbol of kernel code generated at run time, from KSYMBOL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSymbol {
    /// First address.
    pub address: u64,
    /// Size in bytes.
    pub len: u64,
    /// Its name.
    pub name: Box<[u8]>,
    /// When it came, ns; 0 if before the recording.
    pub from_ns: u64,
    /// When it went, ns; `None` if it did not.
    pub until_ns: Option<u64>,
}

/// The code of one kernel, host's or guest's. Addresses are those at run time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kernel {
    /// The image. Recorders that may not see addresses, and old ones, give it a range that covers modules too.
    image: Option<Mapping>,
    /// Modules and generated code.
    extras: AddressSpace,
    version: SpaceVersion,
}

impl Kernel {
    /// Which state of the kernel's mappings this is.
    #[inline]
    pub(crate) fn version(&self) -> SpaceVersion {
        self.version
    }

    /// Notes that the mappings have changed.
    pub(crate) fn stamp(&mut self, version: SpaceVersion) {
        self.version = version;
    }

    /// Notes where the image lies; what was known before is replaced. An empty range at 0 stands for everything.
    pub(crate) fn set_image(&mut self, start: u64, len: u64, binary: BinaryId) {
        let end = if start == 0 && len == 0 { u64::MAX } else { start.saturating_add(len) };
        self.image = Some(Mapping { start, end, bias: 0, binary, data: false });
    }

    pub(crate) fn image(&self) -> Option<&Mapping> {
        self.image.as_ref()
    }

    pub(crate) fn insert(&mut self, mapping: Mapping) {
        self.extras.insert(mapping);
    }

    /// Takes the mapping of generated code at an address away; the image stays.
    pub(crate) fn remove_at(&mut self, address: u64) {
        self.extras.remove_at(address);
    }

    /// Whether a mapping is known to hold an address: without the reach that [`Kernel::find`] gives the image.
    pub(crate) fn holds(&self, address: u64) -> bool {
        self.extras.find(address).is_some() || self.image.as_ref().is_some_and(|image| image.covers(address))
    }

    /// The mapping that covers an address: modules first, since the image's range may be too wide.
    ///
    /// It may be too narrow as well: recorders tell the end of the kernel's text, and behind its data lies more code, that
    /// of its initialisation, in which the first frames of idle threads are. So the image goes on to the next mapping.
    #[inline]
    pub(crate) fn find(&self, address: u64) -> Option<&Mapping> {
        if let Some(found) = self.extras.find(address) {
            return Some(found);
        }
        let image = self.image.as_ref()?;
        if image.covers(address) {
            return Some(image);
        }
        let among_modules = image.start >= X86_IMAGES && image.start < X86_MODULES && address >= X86_MODULES;
        let behind = address >= image.end && address - image.start < LONGEST_IMAGE && !among_modules;
        let nothing_between = || self.extras.last_from(address).is_none_or(|last| last.start < image.end);
        (behind && nothing_between()).then_some(image)
    }
}

/// What the name of a kernel's mapping says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KernelMap<'n> {
    /// The image; what follows the name is the reference symbol.
    Image {
        /// Whether a guest's.
        guest: bool,
        /// Name of the image.
        name: &'n [u8],
        /// Name of the reference symbol, maybe empty.
        symbol: &'n [u8],
    },
    /// A module.
    Module,
    /// Another piece of the image, as the x86 entry trampolines.
    Piece,
}

impl<'n> KernelMap<'n> {
    /// ABI: the image is named `[kernel.kallsyms]` (guests: `[guest.kernel.kallsyms]`, or with a pid inside the brackets)
    /// and the reference symbol behind it; modules have a path or a name in brackets.
    pub(crate) fn of(name: &'n [u8]) -> KernelMap<'n> {
        for (prefix, guest) in [(&b"[kernel.kallsyms"[..], false), (b"[guest.kernel.kallsyms", true)] {
            if name.starts_with(prefix) {
                let end = name.iter().position(|b| *b == b']').map_or(name.len(), |at| at + 1);
                let (name, symbol) = name.split_at_checked(end).unwrap_or((name, &[]));
                return KernelMap::Image { guest, name, symbol };
            }
        }
        match name.first() {
            Some(b'/' | b'[') => KernelMap::Module,
            _ => KernelMap::Piece,
        }
    }
}

/// The reference symbol; `None` without an address, which means that the recorder could not see it.
pub(crate) fn reference(symbol: &[u8], address: u64) -> Option<ReferenceSymbol> {
    (address != 0).then(|| ReferenceSymbol { name: symbol.into(), address })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_kernel_mappings() {
        assert_eq!(
            KernelMap::of(b"[kernel.kallsyms]_text"),
            KernelMap::Image { guest: false, name: b"[kernel.kallsyms]", symbol: b"_text" }
        );
        assert_eq!(
            KernelMap::of(b"[guest.kernel.kallsyms.123]_stext"),
            KernelMap::Image { guest: true, name: b"[guest.kernel.kallsyms.123]", symbol: b"_stext" }
        );
        assert_eq!(KernelMap::of(b"/lib/modules/5.15/x.ko"), KernelMap::Module);
        assert_eq!(KernelMap::of(b"[video]"), KernelMap::Module);
        assert_eq!(KernelMap::of(b"__entry_SYSCALL_64_trampoline"), KernelMap::Piece);
    }
}
