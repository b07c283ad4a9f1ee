//! Which functions are the same one: decided here for every table, graph and export.
//!
//! A runtime makes the code of a function again and again, at other addresses: hotter, or for other types. It is one function by
//! the process and the name. (A source file decides nothing: that of optimised code may be that of what is inlined.) Addresses
//! tell the pieces apart.

use super::{Function, FunctionId, Names};
use readperf_session::{BinaryId, BinaryKind, Session};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// What the same functions agree in: the binary, the name, and without a name the address.
type Key<'n> = (Option<BinaryId>, Option<&'n str>, u64);

impl Names {
    /// Takes functions for one that are the same: pieces of generated code with one name, and equal addresses without a name.
    pub fn unify(&mut self, session: &Session) {
        let generated = generated(self, session);
        if !self.is_of_pieces && generated.is_empty() {
            return;
        }
        let mut first: FxHashMap<Key<'_>, FunctionId> = FxHashMap::default();
        let one_of = self.functions().enumerate().map(|(nr, function)| {
            let own = FunctionId::new(nr);
            let generated = function.binary.and_then(|binary| generated.get(&binary)).copied();
            if function.has_name() && generated.is_none() {
                return own;
            }
            let address = if function.has_name() { 0 } else { function.address };
            let key = (generated.or(function.binary), function.name(), address);
            *first.entry(key).or_insert(own)
        });
        let one_of: Vec<FunctionId> = one_of.collect();
        self.take_for_one(one_of);
    }

    /// For each function the first of its binary with its name: a function that is inlined somewhere is itself there, too.
    pub(crate) fn one_of_name(&self) -> Vec<FunctionId> {
        self.one_of(|function| (function.binary, function.name()))
    }

    /// The same, but functions with other linkage names are others, as overloads whose parameters are not shown.
    pub(crate) fn one_of_linkage_name(&self) -> Vec<FunctionId> {
        self.one_of(|function| (function.binary, function.name(), function.linkage_name()))
    }

    /// For each function the first that agrees with it. What has no name is like no other.
    fn one_of<'n, K: Eq + Hash>(&'n self, key: impl Fn(Function<'n>) -> K) -> Vec<FunctionId> {
        let mut first: FxHashMap<K, FunctionId> = FxHashMap::default();
        let all = (0..).map(FunctionId::new).zip(self.functions());
        all.map(|(id, function)| match function.name() {
            Some(_) => *first.entry(key(function)).or_insert(id),
            None => id,
        })
        .collect()
    }

    /// Takes functions for one, wherever they are asked for.
    fn take_for_one(&mut self, one_of: Vec<FunctionId>) {
        for frame in self.levels.frames_mut() {
            frame.function = one_of.get(frame.function.index()).copied().unwrap_or(frame.function);
        }
        for (nr, one) in one_of.iter().enumerate().filter(|(nr, one)| *nr != one.index()) {
            let other = self.functions_mut().named_mut(FunctionId::new(nr));
            let file = other.and_then(|named| named.source_file.clone());
            if let (Some(file), Some(known)) = (file, self.functions_mut().named_mut(*one)) {
                known.source_file.get_or_insert(file);
            }
        }
        self.one_of = one_of;
    }
}

/// The binaries that are code of a process, each with the one that stands for all such code of it.
pub(crate) fn generated(names: &Names, session: &Session) -> FxHashMap<BinaryId, BinaryId> {
    let mut of_name: FxHashMap<&[u8], BinaryId> = FxHashMap::default();
    let mut generated = FxHashMap::default();
    if !session.binaries().iter().any(|binary| is_generated(&binary.kind)) {
        return generated;
    }
    for id in names.functions().filter_map(|function| function.binary) {
        if generated.contains_key(&id) {
            continue;
        }
        if let Some(binary) = session.binary(id).filter(|binary| is_generated(&binary.kind)) {
            generated.insert(id, *of_name.entry(&binary.name).or_insert(id));
        }
    }
    generated
}

fn is_generated(kind: &BinaryKind) -> bool {
    matches!(kind, BinaryKind::Jit { .. })
}
