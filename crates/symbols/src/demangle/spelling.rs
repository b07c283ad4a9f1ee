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
    empty_packs(booleans(literals(function_types(addresses(classes(special(name)))))))
}

/// What compilers make beside functions, as the demangler writes it in braces (Itanium C++ ABI, 5.1.4).
fn special(name: String) -> String {
    // The demangler has the two classes the wrong way round.
    if let Some((outer, inner)) =
        name.strip_prefix("construction vtable for ").and_then(|rest| rest.split_once("-in-"))
    {
        return format!("construction vtable for {inner}-in-{outer}");
    }
    let Some((kind, rest)) = name.strip_prefix('{').and_then(|rest| rest.split_once('(')) else {
        return name;
    };
    let Some((of, clones)) = rest.rsplit_once(")}") else { return name };
    let (prefix, of) = match kind {
        "vtable" => ("vtable for", of),
        "vtt" => ("VTT for", of),
        "virtual override thunk" => match thunk(of) {
            Some(parts) => parts,
            None => return name,
        },
        _ => return name,
    };
    format!("{prefix} {of}{clones}")
}

/// A thunk tells how it changes `this`, and with a second place how it changes what is returned.
fn thunk(text: &str) -> Option<(&'static str, &str)> {
    let after_place = |text: &'_ str| -> Option<(bool, usize)> {
        let is_virtual = text.starts_with("{virtual offset(");
        (is_virtual || text.starts_with("{offset(")).then_some(())?;
        Some((is_virtual, text.find(")}, ")?.checked_add(")}, ".len())?))
    };
    let (is_virtual, end) = after_place(text)?;
    let rest = text.get(end..)?;
    match (after_place(rest), is_virtual) {
        (Some((_, end)), _) => Some(("covariant return thunk to", rest.get(end..)?)),
        (None, true) => Some(("virtual thunk to", rest)),
        (None, false) => Some(("non-virtual thunk to", rest)),
    }
}

/// Cuts what tells the clones of a function apart.
pub(super) fn cut_clones(name: &mut String) {
    name.truncate(name.find(" [clone ").unwrap_or(name.len()));
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

/// The address of a function as a template argument: without its parameters.
fn addresses(name: String) -> String {
    if !name.contains("<&") && !name.contains(", &") {
        return name;
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name.as_str();
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at(at);
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'~');
        let length = from.bytes().skip(1).take_while(|byte| is_name(byte)).count().saturating_add(1);
        let (function, behind) = from.split_at(length);
        out.push_str(before);
        out.push_str(function);
        let is_argument = before.ends_with('<') || before.ends_with(", ");
        rest = match parameters(behind) {
            Some(after) if is_argument && function.contains("::") => after,
            _ => behind,
        };
    }
    out.push_str(rest);
    out
}

/// A function type as a template argument: a blank behind its result type, if that is a template or a qualified name.
/// What follows the parameters tells it from a function in whose scope something is.
fn function_types(name: String) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name.as_str();
    while let Some((result, behind)) = rest.find('(').and_then(|at| rest.split_at_checked(at)) {
        out.push_str(result);
        let is_type = |after: &str| after.starts_with([',', '>']) || after.starts_with(" >");
        if is_result(result) && parameters(behind).is_some_and(is_type) {
            out.push(' ');
        }
        let (parenthesis, inner) = behind.split_at_checked(1).unwrap_or((behind, ""));
        out.push_str(parenthesis);
        rest = inner;
    }
    out.push_str(rest);
    out
}

/// Whether a text ends with a template, or with a qualified name that is a template argument.
fn is_result(text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
    let before = text.trim_end_matches(is_name);
    let word = text.get(before.len()..).unwrap_or("");
    text.ends_with('>') || (word.contains("::") && (before.ends_with('<') || before.ends_with(", ")))
}

/// What follows a list in parentheses at the beginning of a text.
fn parameters(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth = depth.saturating_add(1),
            b')' if depth == 1 => return text.get(at.saturating_add(1)..),
            b')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
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
    for (left, right) in [(", >", ">"), (", )", ")")] {
        if name.contains(left) {
            name = name.replace(left, right);
        }
    }
    name
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
            ("a<&b::c(int, d (*)()), &e::f()>::g(int&)", "a<&b::c, &e::f>::g(int&)"),
            ("a<b&(c)>(d::e&)", "a<b&(c)>(d::e&)"),
            ("a<b::c(d, )>::e(f::g)", "a<b::c (d)>::e(f::g)"),
            ("a<b<c>(d), e<f>(g)::h>::i<j>(k)", "a<b<c> (d), e<f>(g)::h>::i<j>(k)"),
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
