//! Names of places that a transform made or that are known from elsewhere, and names that a transform changed.

use super::{FileId, Frame, FunctionId, Names};
use readperf_session::BinaryId;
use readperf_symbols::FunctionName;

/// What samples are shown as of whose stack all functions are hidden.
const HIDDEN: &str = "[hidden]";

impl Names {
    /// Names the next address: its levels, the innermost first. The outermost is its function.
    pub(crate) fn add_place(&mut self, levels: &[Frame]) {
        match levels.last() {
            Some(outermost) => self.levels.push(outermost.function, levels.iter().copied()),
            None => self.levels.push_none(),
        }
    }

    /// A function of which all is known: its name, or why it has none.
    pub(crate) fn add_function(
        &mut self,
        binary: Option<BinaryId>,
        address: u64,
        name: Result<FunctionName, &str>,
    ) -> FunctionId {
        match name {
            Ok(name) => self.functions_mut().known(binary, address, name),
            Err(reason) => {
                let cause = self.functions_mut().cause(binary, reason);
                self.functions_mut().unnamed(address, cause)
            }
        }
    }

    /// The number of a source file.
    pub(crate) fn add_file(&mut self, name: &str) -> FileId {
        let known = self.files.get_index_of(name);
        FileId::new(known.unwrap_or_else(|| self.files.insert_full(name.into()).0))
    }

    /// The function that stands for those that are hidden, if there is one yet.
    pub(crate) fn known_hidden(&self) -> Option<FunctionId> {
        self.hidden
    }

    /// Adds that function.
    pub(crate) fn hidden(&mut self) -> FunctionId {
        let id = self.functions_mut().outside(HIDDEN);
        if !self.one_of.is_empty() {
            self.one_of.push(id);
        }
        self.hidden = Some(id);
        id
    }

    /// Takes a beginning away from all names of functions that have it, and more than it.
    pub(crate) fn drop_prefix(&mut self, prefix: &str) {
        self.functions_mut().rename(|name| without(name, prefix).map(str::to_owned));
        self.dropped.push(prefix.to_owned());
    }

    /// A name that was not learned here, without the beginnings that were taken away from all names.
    pub(crate) fn as_shown<'n>(&self, name: &'n str) -> &'n str {
        self.dropped.iter().fold(name, |name, prefix| without(name, prefix).unwrap_or(name))
    }
}

/// A name without this beginning, if it has it and more.
fn without<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    name.strip_prefix(prefix).filter(|rest| !rest.is_empty())
}
