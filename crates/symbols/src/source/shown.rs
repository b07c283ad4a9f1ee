//! Names as they are shown, remembered: the same few thousand names are asked for again and again, and demangling takes
//! longer than finding them.

use std::sync::{PoisonError, RwLock};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::demangle::Demangle;
use crate::function_name::shown;

/// How many bytes of names are remembered of one binary.
const MAX_BYTES: usize = 64 << 20;

/// Names handed to a thread at once.
const MIN_NAMES: usize = 16;

/// The names of one binary in one style.
#[derive(Debug)]
pub(crate) struct ShownNames {
    style: Demangle,
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    names: FxHashMap<Box<str>, Box<str>>,
    bytes: usize,
}

impl ShownNames {
    pub(crate) fn new(style: Demangle) -> ShownNames {
        ShownNames { style, known: RwLock::default() }
    }

    /// How names are shown.
    pub(crate) fn style(&self) -> Demangle {
        self.style
    }

    /// What is shown for each of these names.
    pub(crate) fn of<'n>(&self, raw: impl IntoIterator<Item = &'n str>) -> Vec<String> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let names: Vec<(&str, Option<String>)> = raw
            .into_iter()
            .map(|raw| (raw, known.names.get(raw).map(|name| String::from(&**name))))
            .collect();
        drop(known);
        let shown: Vec<(String, Option<&str>)> = names
            .into_par_iter()
            .with_min_len(MIN_NAMES)
            .map(|(raw, name)| match name {
                Some(name) => (name, None),
                None => (shown(raw, self.style), Some(raw)),
            })
            .collect();
        self.remember(shown.iter().filter_map(|(name, raw)| Some(((*raw)?, name.as_str()))));
        shown.into_iter().map(|(name, _)| name).collect()
    }

    fn remember<'n>(&self, new: impl Iterator<Item = (&'n str, &'n str)>) {
        // What is shown as it is was found out fast.
        let mut new = new.filter(|(raw, name)| raw != name).peekable();
        if new.peek().is_none() {
            return;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for (raw, name) in new {
            known.bytes = known.bytes.saturating_add(raw.len()).saturating_add(name.len());
            if known.bytes > MAX_BYTES {
                return;
            }
            known.names.insert(raw.into(), name.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembered_or_not() {
        let names = ShownNames::new(Demangle::Simple);
        let raw = ["_ZN1a1bEv", "main", "_ZN1a1bEv@plt", ".plt", "_ZN1a1bEv"];
        for _ in 0..2 {
            assert_eq!(names.of(raw), ["a::b", "main", "a::b@plt", ".plt", "a::b"]);
        }
        assert_eq!(names.known.read().unwrap().names.len(), 2);
    }
}
