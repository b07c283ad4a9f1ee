//! The question and the answer about names: addresses of one binary out, functions back.

use crate::profile::{AddressId, Function, FunctionId, Profile};
use readperf_session::BinaryId;
use rustc_hash::FxHashMap;

/// Addresses of one binary, unique and ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressBatch {
    /// The binary.
    pub binary: BinaryId,
    /// What the addresses are to the binary: see [`readperf_session::CodeAddress::address`].
    pub addresses: Vec<u64>,
}

/// What an address turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// In a function: index in [`NamedBatch::functions`].
    Function(usize),
    /// In none: why, in plain words.
    Unnamed(String),
}

/// The answer to an [`AddressBatch`]: one entry for each of its addresses, in the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedBatch {
    /// Name, first address and source file of the functions.
    pub functions: Vec<(String, u64, Option<String>)>,
    /// What each address turned out to be.
    pub named: Vec<Named>,
}

impl Profile {
    /// The addresses that have samples, by binary. Binaries in the order of their ids.
    pub fn address_batches(&self) -> Vec<AddressBatch> {
        let mut wanted: Vec<(BinaryId, u64)> =
            self.addresses.iter().filter_map(|code| Some((code.binary?, code.address))).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let by_binary = wanted.chunk_by(|a, b| a.0 == b.0);
        by_binary
            .filter_map(|chunk| {
                let (binary, _) = *chunk.first()?;
                Some(AddressBatch { binary, addresses: chunk.iter().map(|(_, address)| *address).collect() })
            })
            .collect()
    }

    /// Gives the functions their names: addresses of one function become one function.
    pub fn name_functions(&mut self, answers: &[(AddressBatch, NamedBatch)]) {
        let mut of_address: FxHashMap<(BinaryId, u64), FunctionId> = FxHashMap::default();
        let mut functions = Vec::new();
        let next = |functions: &Vec<Function>| FunctionId(u32::try_from(functions.len()).unwrap_or(u32::MAX));
        for (batch, answer) in answers {
            let mut ids: Vec<Option<FunctionId>> = vec![None; answer.functions.len()];
            for (address, named) in batch.addresses.iter().zip(&answer.named) {
                let id = match named {
                    Named::Function(nr) => {
                        let Some(((name, start, source_file), id)) = answer.functions.get(*nr).zip(ids.get_mut(*nr))
                        else {
                            continue;
                        };
                        *id.get_or_insert_with(|| {
                            let id = next(&functions);
                            functions.push(Function {
                                binary: Some(batch.binary),
                                name: Some(name.clone()),
                                address: *start,
                                source_file: source_file.clone(),
                                reason: None,
                            });
                            id
                        })
                    }
                    Named::Unnamed(reason) => {
                        let id = next(&functions);
                        functions.push(unnamed(Some(batch.binary), *address, Some(reason.clone())));
                        id
                    }
                };
                of_address.insert((batch.binary, *address), id);
            }
        }
        // Addresses outside any mapping, and those nobody answered about, stay as they are.
        let mut function_of = Vec::with_capacity(self.addresses.len());
        for code in &self.addresses {
            let known = code.binary.and_then(|binary| of_address.get(&(binary, code.address)).copied());
            function_of.push(known.unwrap_or_else(|| {
                let id = next(&functions);
                let reason = code.binary.is_none().then(|| "no mapping covers the address".to_owned());
                functions.push(unnamed(code.binary, code.address, reason));
                id
            }));
        }
        self.functions = functions;
        self.function_of = function_of;
    }

    /// The number of the address with this index.
    pub fn address_id(&self, index: usize) -> Option<AddressId> {
        (index < self.addresses.len()).then(|| AddressId(u32::try_from(index).unwrap_or(u32::MAX)))
    }
}

fn unnamed(binary: Option<BinaryId>, address: u64, reason: Option<String>) -> Function {
    Function { binary, name: None, address, source_file: None, reason }
}
