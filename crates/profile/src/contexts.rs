//! What the places of call chains depend on besides their addresses. Many samples have it in common.

use crate::index::bucket;
use crate::interner::Interner;
use readperf_session::{CpuMode, SpaceVersion};

/// Numbers that are at hand without being looked for; a power of two. On each CPU process and mode mostly are those of the last sample.
const AT_HAND: usize = 16;

/// What the places of a chain depend on besides its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Context {
    /// In which mode the sample was taken.
    pub(crate) mode: CpuMode,
    /// The states of the mappings.
    pub(crate) user: SpaceVersion,
    pub(crate) kernel: SpaceVersion,
    pub(crate) guest_kernel: SpaceVersion,
    /// How many words, the last ones, are where the hardware's branches were; the others are entries of a chain.
    pub(crate) branches: u32,
}

impl Context {
    /// The state of the mappings for addresses in a mode.
    #[inline]
    pub(crate) fn version(&self, mode: CpuMode) -> SpaceVersion {
        match mode {
            CpuMode::User => self.user,
            CpuMode::Kernel => self.kernel,
            CpuMode::GuestKernel => self.guest_kernel,
            CpuMode::Unknown | CpuMode::Hypervisor | CpuMode::GuestUser => SpaceVersion::default(),
        }
    }
}

/// The number of a context in [`Contexts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContextId(pub(crate) u32);

/// Contexts, each once.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    list: Interner<Vec<Context>>,
    at_hand: [ContextId; AT_HAND],
}

impl Contexts {
    /// All of them, by number.
    pub(crate) fn as_slice(&self) -> &[Context] {
        self.list.list()
    }

    /// A context by its number.
    #[inline]
    pub(crate) fn get(&self, id: ContextId) -> Option<&Context> {
        self.as_slice().get(id.0 as usize)
    }

    /// The number of a context; a new one gets the next.
    #[inline(always)]
    pub(crate) fn number(&mut self, context: Context) -> ContextId {
        let at = bucket(context.mode as u64, context.user.number(), AT_HAND) as usize;
        match self.at_hand.get(at).copied() {
            Some(id) if self.get(id) == Some(&context) => id,
            _ => self.find(context, at),
        }
    }

    #[cold]
    fn find(&mut self, context: Context, at: usize) -> ContextId {
        let id = ContextId(self.list.number(context));
        if let Some(at_hand) = self.at_hand.get_mut(at) {
            *at_hand = id;
        }
        id
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_told_apart_by_all_that_they_are() {
        let of = |mode, branches| {
            let none = SpaceVersion::default();
            Context { mode, user: none, kernel: none, guest_kernel: none, branches }
        };
        let some: Vec<Context> = (0..40)
            .flat_map(|branches| [CpuMode::User, CpuMode::Kernel].map(|mode| of(mode, branches)))
            .collect();
        let mut contexts = Contexts::default();
        for _ in 0..2 {
            for _ in 0..2 {
                for (nr, context) in some.iter().enumerate() {
                    let id = contexts.number(*context);
                    assert_eq!(id.0 as usize, nr);
                    assert_eq!(contexts.get(id), Some(context));
                    assert_eq!(contexts.number(*context), id, "once more at once");
                }
            }
            contexts.clear();
            assert!(contexts.as_slice().is_empty());
            // In another order, so that what was at hand is wrong.
            contexts.number(some[1]);
            contexts.clear();
        }
    }
}
