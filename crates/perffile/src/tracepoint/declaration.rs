//! One C declaration of an event format: `__data_loc char[] name`, `u8 addr[6]`, `void (*func)(int)`.
//!
//! Written for what the kernel's `TRACE_EVENT` macros print, and forgiving about the rest: attributes are skipped,
//! array lengths may be expressions.

use super::c_type::{TypeName, type_of_words};

/// A declaration taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declaration {
    /// Type without storage words and array brackets of the name, as `const char *`.
    pub(crate) c_type: String,
    /// The declared name; empty when none could be found.
    pub(crate) name: String,
    /// What an element (of an array) or the field itself is.
    pub(crate) element: TypeName,
    /// Number of elements when brackets stand there: `Some(None)` for `[]` or an expression.
    pub(crate) array: Option<Option<u64>>,
    /// How the value is stored.
    pub(crate) storage: Storage,
    /// Elements are characters or bytes: may be text.
    pub(crate) text_like: bool,
}

/// Where the bytes of a field lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    /// In the field.
    Here,
    /// `__data_loc`: elsewhere in the payload, counted from its start.
    DataLoc,
    /// `__rel_loc`: elsewhere in the payload, counted from the end of the field.
    RelLoc,
}

impl Declaration {
    pub(crate) fn parse(text: &str, long_size: u8) -> Self {
        let mut storage = Storage::Here;
        let mut tokens = tokens(text);
        tokens.retain(|token| match *token {
            "__data_loc" => {
                storage = Storage::DataLoc;
                false
            }
            "__rel_loc" => {
                storage = Storage::RelLoc;
                false
            }
            _ => true,
        });
        drop_attributes(&mut tokens);
        let array = take_dimensions(&mut tokens);
        let (name, function) = take_name(&mut tokens);
        let inner = take_dimensions(&mut tokens);
        let c_type = join(&tokens);
        let stars = tokens.iter().filter(|token| **token == "*").count() + usize::from(function);
        let words: Vec<&str> = tokens.iter().copied().filter(|token| *token != "*").collect();
        let element = type_of_words(&words, stars, long_size);
        let text_like = stars == 0 && ["char", "u8", "s8"].iter().any(|byte| c_type.contains(byte));
        // `char[] name` of a dynamic array and `char name[]` mean the same.
        let array = match (array, inner) {
            (Some(Some(outer)), Some(Some(inner))) => Some(outer.checked_mul(inner)),
            (Some(_), Some(_)) => Some(None),
            (array, inner) => array.or(inner),
        };
        let c_type = if inner.is_some() { format!("{c_type}[]") } else { c_type };
        Declaration { c_type, name: name.to_owned(), element, array, storage, text_like }
    }
}

/// Words, numbers and single punctuation marks.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '$';
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// Removes `__attribute__((...))` and its like, which newer kernels leave in declarations.
fn drop_attributes(tokens: &mut Vec<&str>) {
    const WORDS: [&str; 4] = ["__attribute__", "__attribute", "__aligned", "__typeof__"];
    while let Some(start) = tokens.iter().position(|token| WORDS.contains(token)) {
        let mut depth = 0usize;
        let mut end = start + 1;
        for token in tokens.get(end..).unwrap_or_default() {
            match *token {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ if depth == 0 => break,
                _ => {}
            }
            end += 1;
            if depth == 0 {
                break;
            }
        }
        tokens.drain(start..end);
    }
}

/// Takes the bracket groups off the end; the product of their lengths if all are plain numbers.
fn take_dimensions(tokens: &mut Vec<&str>) -> Option<Option<u64>> {
    let mut total: Option<Option<u64>> = None;
    while tokens.last() == Some(&"]") {
        let Some(open) = tokens.iter().rposition(|token| *token == "[") else { break };
        let length = match tokens.get(open + 1..tokens.len() - 1) {
            Some([number]) => number.parse::<u64>().ok(),
            _ => None,
        };
        total = Some(match total {
            None => length,
            Some(before) => before.zip(length).and_then(|(one, two)| one.checked_mul(two)),
        });
        tokens.truncate(open);
    }
    total
}

/// Takes the declared name out; true if it is a pointer to a function, whose parameters are dropped too.
fn take_name<'a>(tokens: &mut Vec<&'a str>) -> (&'a str, bool) {
    if tokens.last() == Some(&")") {
        let start = tokens.windows(2).position(|pair| pair == ["(", "*"]);
        if let Some(start) = start {
            let name = tokens.iter().skip(start + 2).find(|token| is_name(token)).copied().unwrap_or("");
            tokens.truncate(start);
            return (name, true);
        }
    }
    match tokens.last().copied() {
        Some(last) if is_name(last) => {
            tokens.pop();
            (last, false)
        }
        _ => ("", false),
    }
}

fn is_name(token: &str) -> bool {
    token.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// The type as C programmers write it: words with one blank between, no blank between asterisks.
fn join(tokens: &[&str]) -> String {
    let mut text = String::new();
    for token in tokens {
        let another_star = *token == "*" && text.ends_with('*');
        if !text.is_empty() && !another_star {
            text.push(' ');
        }
        text.push_str(token);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::IntType;
    use super::*;

    fn parse(text: &str) -> Declaration {
        Declaration::parse(text, 8)
    }

    #[test]
    fn scalars_and_pointers() {
        let plain = parse("unsigned long long size");
        assert_eq!((plain.c_type.as_str(), plain.name.as_str()), ("unsigned long long", "size"));
        assert_eq!(plain.element, TypeName::Int(IntType::U64));
        let pointer = parse("const char *const * argv");
        assert_eq!((pointer.c_type.as_str(), pointer.name.as_str()), ("const char * const *", "argv"));
        assert!(matches!(pointer.element, TypeName::Pointer(_)));
        assert!(!pointer.text_like);
        assert_eq!(parse("struct foo *bar").element, TypeName::Pointer(None));
        assert_eq!(parse("enum zone_type idx").element, TypeName::Opaque);
    }

    #[test]
    fn arrays() {
        let fixed = parse("char comm[16]");
        assert_eq!((fixed.array, fixed.text_like, fixed.name.as_str()), (Some(Some(16)), true, "comm"));
        assert_eq!(parse("char comm[TASK_COMM_LEN]").array, Some(None));
        assert_eq!(parse("u32 x[(1 << 2) + 1]").array, Some(None));
        assert_eq!(parse("u8 mac[2][6]").array, Some(Some(12)));
        assert_eq!(parse("unsigned long args[]").array, Some(None));
    }

    #[test]
    fn dynamic_arrays_in_every_word_order() {
        for text in ["__data_loc char[] name", "char[] __data_loc name", "__data_loc char name[]"] {
            let dynamic = parse(text);
            assert_eq!((dynamic.name.as_str(), dynamic.storage), ("name", Storage::DataLoc), "{text}");
            assert_eq!(dynamic.array, Some(None), "{text}");
        }
        assert_eq!(parse("__rel_loc __u8[] buf").storage, Storage::RelLoc);
        assert_eq!(parse("__rel_loc __u8[] buf").element, TypeName::Int(IntType::U8));
    }

    #[test]
    fn oddities() {
        let function = parse("void (*func)(struct work_struct *, int)");
        assert_eq!((function.name.as_str(), function.element), ("func", TypeName::Pointer(None)));
        let attribute = parse("__attribute__((__vector_size__(4 * sizeof(int)))) int v");
        assert_eq!((attribute.name.as_str(), attribute.c_type.as_str()), ("v", "int"));
        assert_eq!(parse("void __seg_gs * base").name, "base");
        for hostile in ["", "]", "[", "[]]", ")", "(*)", "__attribute__((", "* * *", "é[ü]"] {
            parse(hostile);
        }
    }
}
