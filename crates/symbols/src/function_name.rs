//! What a function is called.

use std::fmt::{self, Debug, Formatter};
use std::sync::OnceLock;

use crate::demangle::{Demangle, demangle};

/// What a function is called. The name to show is made when it is asked for the first time: demangling takes longer than finding a name, and of
/// most functions in a recording nobody sees the name.
#[derive(Clone)]
pub struct FunctionName {
    /// That of the symbol table or debug information.
    raw: Box<str>,
    style: Demangle,
    /// The name to show, if it is another one.
    shown: OnceLock<Option<Box<str>>>,
}

impl FunctionName {
    /// Of the name to show, and the name in the symbol table or debug information; nothing if there is no other one.
    pub fn new(shown: String, raw: String) -> FunctionName {
        if raw.is_empty() || raw == shown {
            return FunctionName::plain(shown);
        }
        let shown = OnceLock::from(Some(shown.into_boxed_str()));
        FunctionName { raw: raw.into_boxed_str(), style: Demangle::None, shown }
    }

    /// Of the name in the symbol table or debug information, to be shown in this style.
    pub fn mangled(raw: String, style: Demangle) -> FunctionName {
        FunctionName { raw: raw.into_boxed_str(), style, shown: OnceLock::new() }
    }

    /// Of a name that is shown as it is.
    pub fn plain(name: String) -> FunctionName {
        FunctionName { raw: name.into_boxed_str(), style: Demangle::None, shown: OnceLock::from(None) }
    }

    /// The name in the symbol table or debug information.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The name to show.
    pub fn shown(&self) -> &str {
        self.other().unwrap_or(&self.raw)
    }

    /// The linkage name: that of the symbol table, as the compiler mangled it. `None` if it is the one that is shown.
    pub fn linkage(&self) -> Option<&str> {
        self.other().map(|_| &*self.raw)
    }

    /// The name to show, if it is not the raw one.
    fn other(&self) -> Option<&str> {
        let make = || Some(shown(&self.raw, self.style)).filter(|shown| **shown != *self.raw);
        self.shown.get_or_init(|| make().map(String::into_boxed_str)).as_deref()
    }
}

/// Whether the names are the same, made or not.
impl PartialEq for FunctionName {
    fn eq(&self, other: &FunctionName) -> bool {
        (self.raw(), self.shown()) == (other.raw(), other.shown())
    }
}

impl Eq for FunctionName {}

/// The names, made or not.
impl Debug for FunctionName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionName").field("shown", &self.shown()).field("raw", &self.raw()).finish()
    }
}

/// A name as it is shown. That of a piece of a linkage table is that of its function.
pub(crate) fn shown(raw: &str, style: Demangle) -> String {
    match raw.strip_suffix("@plt") {
        Some(function) => format!("{}@plt", demangle(function, style)),
        None => demangle(raw, style).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_when_they_are_asked_for() {
        let name = FunctionName::mangled("_ZN1a1bEv@plt".to_owned(), Demangle::Simple);
        assert_eq!(name, name.clone());
        assert_eq!((name.shown(), name.linkage()), ("a::b@plt", Some("_ZN1a1bEv@plt")));
        assert_eq!(name, FunctionName::new("a::b@plt".to_owned(), "_ZN1a1bEv@plt".to_owned()));
        let c = FunctionName::mangled("main".to_owned(), Demangle::Full);
        assert_eq!((c.shown(), c.raw(), c.linkage()), ("main", "main", None));
        assert_eq!(c, FunctionName::new("main".to_owned(), String::new()));
        let as_it_is = FunctionName::mangled("_ZN1a1bEv".to_owned(), Demangle::None);
        assert_eq!((as_it_is.shown(), as_it_is.linkage()), ("_ZN1a1bEv", None));
        let plain = FunctionName::plain("_ZN1a1bEv".to_owned());
        assert_eq!((plain.shown(), plain.linkage()), ("_ZN1a1bEv", None));
    }
}
