//! Names of places that a transform made, and names that it changed.

use super::{AddressNames, Frame, Function, FunctionId, Names, number};
use crate::symbolize::NamedFunction;

/// What samples are shown as of whose stack all functions are hidden.
const HIDDEN: &str = "[hidden]";

impl Names {
    /// Names the next address: its levels, the innermost first. The outermost is its function.
    pub(crate) fn add_place(&mut self, levels: &[Frame]) {
        let start = number(self.frames.len());
        self.frames.extend_from_slice(levels);
        let frames = start..number(self.frames.len());
        let function = levels.last().map_or(FunctionId(u32::MAX), |level| level.function);
        self.of_address.push(AddressNames { function, frames });
    }

    /// The function that stands for those that are hidden.
    pub(crate) fn hidden(&mut self) -> FunctionId {
        let id = FunctionId(number(self.functions.len()));
        let known = NamedFunction { name: HIDDEN.to_owned(), ..NamedFunction::default() };
        self.functions.push(Function { binary: None, address: 0, known: Ok(Box::new(known)) });
        if !self.one_of.is_empty() {
            self.one_of.push(id);
        }
        id
    }

    /// Takes a beginning away from all names of functions that have it, and more than it.
    pub(crate) fn drop_prefix(&mut self, prefix: &str) {
        for known in self.functions.iter_mut().filter_map(|function| function.known.as_deref_mut().ok()) {
            let rest = known.name.strip_prefix(prefix).filter(|rest| !rest.is_empty());
            if let Some(rest) = rest.map(str::to_owned) {
                known.name = rest;
            }
        }
    }
}
