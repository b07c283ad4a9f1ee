//! Call chains: the addresses of a sample's callers, and the markers between them.
//!
//! A [`Marker`] gives the CPU mode of the addresses behind it, and is counted like an address. The innermost address comes first.

use crate::ids::ProcessId;
use crate::moment::CodeAddress;
use crate::session::Session;
use perffile::wire::callchain::Marker;
use perffile::wire::head::CpuMode;
use perffile::wire::words;

/// What a marker says of the addresses behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Context {
    /// Hypervisor.
    Hypervisor,
    /// Kernel.
    Kernel,
    /// User.
    User,
    /// User, in a later CALLCHAIN_DEFERRED record with this cookie.
    UserDeferred(u64),
    /// Guest.
    Guest,
    /// Kernel of a guest.
    GuestKernel,
    /// User of a guest.
    GuestUser,
    /// A marker unknown to this version.
    Unknown(u64),
}

impl Context {
    fn of(marker: Marker) -> Context {
        match marker {
            Marker::HYPERVISOR => Context::Hypervisor,
            Marker::KERNEL => Context::Kernel,
            Marker::USER => Context::User,
            Marker::USER_DEFERRED => Context::UserDeferred(0),
            Marker::GUEST => Context::Guest,
            Marker::GUEST_KERNEL => Context::GuestKernel,
            Marker::GUEST_USER => Context::GuestUser,
            Marker(unknown) => Context::Unknown(unknown),
        }
    }

    /// The mode of the addresses behind it.
    pub fn mode(self) -> CpuMode {
        match self {
            Context::Hypervisor => CpuMode::Hypervisor,
            Context::Kernel => CpuMode::Kernel,
            Context::User | Context::UserDeferred(_) => CpuMode::User,
            Context::GuestKernel => CpuMode::GuestKernel,
            Context::GuestUser => CpuMode::GuestUser,
            Context::Guest | Context::Unknown(_) => CpuMode::Unknown,
        }
    }
}

/// An entry of a call chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainEntry {
    /// A place in code. Of callers it is the return address, unchanged.
    Address(CodeAddress),
    /// A marker.
    Marker(Context),
}

/// An entry of a call chain, before its address is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawEntry {
    /// A place in code.
    Address {
        /// The address; of callers the return address, unchanged.
        ip: u64,
        /// In which mode it ran.
        mode: CpuMode,
        /// Whether it is the address of the instruction itself, not a return address: the first of its mode.
        exact: bool,
    },
    /// A marker.
    Marker(Context),
}

/// The entries of a call chain, the innermost first, before they are looked up.
#[derive(Clone, Debug)]
pub struct RawChain<W> {
    mode: CpuMode,
    exact: bool,
    words: W,
}

impl<W: Iterator<Item = u64>> RawChain<W> {
    /// The chain of a sample that was taken in a mode, which counts up to the first marker.
    pub fn new(chain: impl IntoIterator<IntoIter = W>, mode: CpuMode) -> RawChain<W> {
        RawChain { mode, exact: true, words: chain.into_iter() }
    }
}

impl<W: Iterator<Item = u64>> Iterator for RawChain<W> {
    type Item = RawEntry;

    #[inline]
    fn next(&mut self) -> Option<RawEntry> {
        let word = self.words.next()?;
        let Some(marker) = Marker::of(word) else {
            let exact = std::mem::replace(&mut self.exact, false);
            return Some(RawEntry::Address { ip: word, mode: self.mode, exact });
        };
        let mut context = Context::of(marker);
        if let Context::UserDeferred(cookie) = &mut context {
            // What follows is no address but what finds the rest of the chain.
            *cookie = self.words.next().unwrap_or_default();
        }
        self.mode = context.mode();
        self.exact = true;
        Some(RawEntry::Marker(context))
    }
}

/// The entries of a call chain, the innermost first.
#[derive(Clone, Debug)]
pub struct CallchainEntries<'s, 'e> {
    session: &'s Session,
    process: ProcessId,
    chain: RawChain<words::Iter<'e>>,
}

impl<'s, 'e> CallchainEntries<'s, 'e> {
    pub(crate) fn new(
        session: &'s Session,
        process: ProcessId,
        mode: CpuMode,
        chain: words::U64s<'e>,
    ) -> Self {
        CallchainEntries { session, process, chain: RawChain::new(chain, mode) }
    }

    /// Only the addresses.
    pub fn addresses(self) -> impl Iterator<Item = CodeAddress> {
        self.filter_map(|entry| match entry {
            ChainEntry::Address(address) => Some(address),
            ChainEntry::Marker(_) => None,
        })
    }
}

impl Iterator for CallchainEntries<'_, '_> {
    type Item = ChainEntry;

    #[inline]
    fn next(&mut self) -> Option<ChainEntry> {
        Some(match self.chain.next()? {
            RawEntry::Address { ip, mode, .. } => {
                ChainEntry::Address(self.session.locate(self.process, mode, ip))
            }
            RawEntry::Marker(context) => ChainEntry::Marker(context),
        })
    }
}
