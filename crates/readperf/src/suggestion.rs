//! What a mistyped name may have meant.

/// The candidate closest to `typed`, if one is close enough to be meant; upper and lower case are the same. Of equally close
/// ones the first.
pub(crate) fn closest<'c>(typed: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let typed = typed.to_lowercase();
    // A third of the letters may be wrong.
    let most = typed.chars().count().div_ceil(3);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&typed, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// ` (did you mean X?)`, or nothing.
pub(crate) fn hint<'c>(typed: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    closest(typed, candidates).map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_close_is_meant() {
        let names = ["SAMPLE", "MMAP", "MMAP2", "COMM"];
        assert_eq!(closest("smaple", names), Some("SAMPLE"));
        assert_eq!(closest("mmap3", names), Some("MMAP"));
        assert_eq!(closest("zzzzzz", names), None);
        assert_eq!(hint("SAMPEL", names), " (did you mean SAMPLE?)");
    }
}
