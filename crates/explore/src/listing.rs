//! A function as code.

use crate::explorer::Explorer;
use readperf_profile::FunctionId;
use readperf_profile::view::listing::Listing;

impl Explorer<'_> {
    /// The code of a function with what the samples that are looked at say of it; `inlined` where it is inlined into others. Nothing if
    /// none of them was taken in it.
    pub fn listing(&mut self, function: FunctionId, inlined: bool) -> Option<Listing> {
        let (code, chosen, session) = self.for_listing();
        let targets = code.targets(chosen, session);
        let target = targets.of_function(function, inlined)?;
        code.list(&targets, &[target]).pop()
    }
}
