//! Differences between how the demangler writes a C++ type and how other tools do. Only the text is changed; what a
//! name means was decided before.

/// Stream and string classes whose short name (`std::istream`) other tools write everywhere but in constructors and
/// destructors.
const CLASSES: &[(&str, &str)] = &[
    ("istream", "char, std::char_traits<char> "),
    ("ostream", "char, std::char_traits<char> "),
    ("iostream", "char, std::char_traits<char> "),
    ("string", "char, std::char_traits<char>, std::allocator<char> "),
];

/// The types of literals in template arguments, and what other tools write behind the digits in place of it.
const LITERALS: &[(&str, &str)] = &[
    ("(unsigned long long)", "ull"),
    ("(unsigned long)", "ul"),
    ("(unsigned int)", "u"),
    ("(long long)", "ll"),
    ("(long)", "l"),
    ("(int)", ""),
];

/// Rewrites a name as the GNU tools (and `perf`, which uses their demangler) write it.
pub(super) fn like_gnu(name: String) -> String {
    empty_packs(booleans(literals(classes(name))))
}

/// Cuts what belongs to the signature and is still there.
pub(super) fn cut_qualifiers(name: &mut String) {
    for (end, kept) in [(" &", 0), (" &&", 0), ("operator() const", "operator()".len())] {
        name.truncate(name.strip_suffix(end).map_or(name.len(), |rest| rest.len().saturating_add(kept)));
    }
}

fn classes(mut name: String) -> String {
    // Nearly all names have none of this; only the rest is worth making the strings below.
    let own = |rest: &str| CLASSES.iter().any(|(class, _)| rest.starts_with(class));
    if !name.contains("std::basic_i") && !name.strip_prefix("std::").is_some_and(own) {
        return name;
    }
    for (class, arguments) in CLASSES {
        let (short, long) = (format!("std::{class}"), format!("std::basic_{class}<{arguments}>"));
        if *class != "ostream" && *class != "string" && name.contains(&long) {
            name = name.replace(&long, &short);
        }
        for tilde in ["", "~"] {
            for own in [format!("{tilde}{class}"), format!("{tilde}basic_{class}")] {
                let constructor = format!("{short}::{own}");
                let at = name.strip_prefix(&constructor);
                if at.is_some_and(|rest| rest.is_empty() || rest.starts_with(['(', '<'])) {
                    name = name.replacen(&constructor, &format!("{long}::{tilde}basic_{class}"), 1);
                }
            }
        }
    }
    name
}

fn literals(mut name: String) -> String {
    if !name.contains('(') {
        return name;
    }
    for (cast, suffix) in LITERALS {
        if !name.contains(cast) {
            continue;
        }
        let mut parts = name.split(cast);
        let mut out = parts.next().unwrap_or("").to_owned();
        for part in parts {
            let sign = usize::from(part.starts_with('-'));
            let digits = part.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
            let (number, rest) = part.split_at(if digits > 0 { sign.saturating_add(digits) } else { 0 });
            if digits == 0 {
                out.push_str(cast);
            }
            out.push_str(number);
            if digits > 0 {
                out.push_str(suffix);
            }
            out.push_str(rest);
        }
        name = out;
    }
    name
}

fn booleans(name: String) -> String {
    if !name.contains("(bool)") {
        return name;
    }
    name.replace("(bool)0", "false").replace("(bool)1", "true")
}

/// An empty parameter pack leaves its comma behind.
fn empty_packs(mut name: String) -> String {
    while name.contains(", , ") {
        name = name.replace(", , ", ", ");
    }
    if name.contains(", >") { name.replace(", >", ">") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelled_like_gnu() {
        for (ours, gnu) in [
            ("a<(unsigned long)0, (long)-12>::b", "a<0ul, -12l>::b"),
            ("a<(bool)1, (bool)0>", "a<true, false>"),
            ("a<b<c>, , >::d", "a<b<c>>::d"),
            ("(long)x", "(long)x"),
            ("std::basic_istream<char, std::char_traits<char> >::tellg", "std::istream::tellg"),
            (
                "std::string::string",
                "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string",
            ),
            ("std::string::stringify", "std::string::stringify"),
        ] {
            assert_eq!(like_gnu(ours.to_owned()), gnu);
        }
    }
}
