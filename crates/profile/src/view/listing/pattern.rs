//! What a user says to mean a function.

use crate::names::Function;
use readperf_symbols::{Demangle, demangle};
use regex::Regex;

/// A way to mean functions.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// By name, as it is shown, with or without parameters, or as in the symbol table.
    Name(String),
    /// By an address in it.
    Address(u64),
    /// By a line of source that samples were taken on: the file, or the end of its path, and the line.
    Line(String, u32),
    /// By the name of its binary, or the path of it, and its own.
    InBinary(String, String),
    /// By a regular expression that its name matches.
    Matching(Regex),
}

impl Pattern {
    /// All that a text may mean, what is meant first.
    ///
    /// # Errors
    /// What is wrong with a regular expression between slashes.
    pub fn meanings(text: &str) -> Result<Vec<Pattern>, String> {
        let mut meanings = vec![Pattern::Name(text.to_owned())];
        let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        meanings.extend(hex.and_then(|hex| u64::from_str_radix(hex, 16).ok()).map(Pattern::Address));
        if let Some((file, line)) = text.rsplit_once(':')
            && let Ok(line) = line.parse()
            && line > 0
        {
            meanings.push(Pattern::Line(file.to_owned(), line));
        }
        // Names of binaries have no colons, names of functions may.
        if let Some((binary, function)) = text.split_once(':').filter(|(binary, _)| !binary.is_empty()) {
            meanings.push(Pattern::InBinary(binary.to_owned(), function.to_owned()));
        }
        let inner = text.strip_prefix('/').and_then(|text| text.strip_suffix('/'));
        if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
            let pattern = crate::pattern(inner).map_err(|error| format!("{text}: {error}"))?;
            meanings.push(Pattern::Matching(pattern));
        }
        Ok(meanings)
    }

    /// Whether lines have to be known to tell what is meant.
    pub fn needs_lines(&self) -> bool {
        matches!(self, Pattern::Line(..))
    }
}

/// Whether a function is called so: as it is shown, with or without parameters, or in the symbol table.
pub(super) fn is_called(function: Function<'_>, wanted: &str) -> bool {
    let Some(shown) = function.name() else { return false };
    if shown == wanted {
        return true;
    }
    let Some(linkage) = function.linkage_name() else {
        // Without a name to demangle again, what is shown may still have parameters.
        return shown.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('('));
    };
    linkage == wanted
        || [Demangle::Full, Demangle::Simple].iter().any(|how| demangle(linkage, *how) == wanted)
}

/// Whether the end of a path is this one, part by part.
pub(super) fn is_at(path: &str, wanted: &str) -> bool {
    let wanted = wanted.trim_start_matches("./");
    path == wanted || path.strip_suffix(wanted).is_some_and(|before| before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_may_mean_several_things() {
        let meanings = |text: &str| -> Vec<String> {
            Pattern::meanings(text).unwrap().iter().map(|meaning| format!("{meaning:?}")).collect()
        };
        assert_eq!(meanings("main").len(), 1);
        assert_eq!(meanings("0x10aF")[1], "Address(4271)");
        assert_eq!(meanings("src/cat.cc:12")[1], "Line(\"src/cat.cc\", 12)");
        assert_eq!(meanings("libc.so.6:malloc")[1], "InBinary(\"libc.so.6\", \"malloc\")");
        assert_eq!(meanings("shop::Cat::speak").len(), 2);
        assert!(meanings("/^fib$/").len() == 2 && Pattern::meanings("/(/").is_err());
    }

    #[test]
    fn ends_of_paths_are_whole_parts() {
        assert!(is_at("/src/cat.cc", "cat.cc") && is_at("/src/cat.cc", "src/cat.cc"));
        assert!(is_at("/src/cat.cc", "/src/cat.cc") && is_at("./cat.cc", "./cat.cc"));
        assert!(!is_at("/src/cat.cc", "at.cc") && !is_at("/src/cat.cc", "/cat.cc"));
    }
}
