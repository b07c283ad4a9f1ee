//! The columns of a profile.

use readperf_session::{BinaryId, CodeAddress, CommId};
use std::borrow::Cow;

/// Number of an address in [`Profile::addresses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressId(pub(crate) u32);

/// Number of a function in [`Profile::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub(crate) u32);

impl FunctionId {
    /// Its index in [`Profile::functions`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An event and what its samples add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventTotal {
    /// Its name.
    pub name: String,
    /// How many samples.
    pub samples: u64,
    /// Sum of their periods.
    pub period: u64,
}

/// Samples that agree in event, thread name and address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    /// Index of the event.
    pub event: u32,
    /// The thread's name.
    pub comm: CommId,
    /// Where.
    pub address: AddressId,
    /// How many samples.
    pub samples: u64,
    /// Sum of their periods.
    pub period: u64,
}

/// A function, or an address that has no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The binary; `None` where no mapping covers the address.
    pub binary: Option<BinaryId>,
    /// The name; without one the address itself stands in.
    pub name: Option<String>,
    /// First address of the function, or the unnamed address.
    pub address: u64,
    /// Source file, as the compiler recorded it.
    pub source_file: Option<String>,
    /// Why there is no name, in plain words.
    pub reason: Option<String>,
}

impl Function {
    /// The name, or the address in hex.
    pub fn label(&self) -> Cow<'_, str> {
        self.name.as_deref().map_or_else(|| Cow::Owned(format!("{:#018x}", self.address)), Cow::Borrowed)
    }
}

/// What the samples of a recording add up to. Frozen but for the names of its functions.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    pub(crate) events: Vec<EventTotal>,
    pub(crate) addresses: Vec<CodeAddress>,
    pub(crate) weights: Vec<Weight>,
    pub(crate) functions: Vec<Function>,
    /// The function of each address.
    pub(crate) function_of: Vec<FunctionId>,
}

impl Profile {
    /// The events and their totals, in the order of the recording.
    pub fn events(&self) -> &[EventTotal] {
        &self.events
    }

    /// Every address that has samples, once.
    pub fn addresses(&self) -> &[CodeAddress] {
        &self.addresses
    }

    /// The weights: samples by event, thread name and address. Sorted by these.
    pub fn weights(&self) -> &[Weight] {
        &self.weights
    }

    /// The functions; before [`Profile::name_functions`] one for each address.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The function that an address lies in.
    pub fn function_of(&self, address: AddressId) -> Option<FunctionId> {
        self.function_of.get(address.0 as usize).copied()
    }

    /// A function by its number.
    pub fn function(&self, id: FunctionId) -> Option<&Function> {
        self.functions.get(id.index())
    }
}
