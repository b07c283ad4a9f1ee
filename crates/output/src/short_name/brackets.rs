//! The brackets of a function's name: which belong together, and what is between them.

/// What stands between two brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Arguments of a template or of a generic type, and the expression that stands for one.
    Arguments,
    /// Parameters of a function.
    Parameters,
    /// A type in whose place a path begins: `<A as B>::c`.
    Qualified,
    /// What is part of the name: `(anonymous namespace)`, `{closure}`, `[clone .cold]`.
    Name,
}

/// A pair of brackets, both of one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// Where the opening one is.
    pub(super) open: usize,
    /// Where the closing one is.
    pub(super) close: usize,
    pub(super) kind: Kind,
    /// In how many pairs of arguments and parameters it lies; it counts as one of them.
    pub(super) depth: usize,
    /// Whether it lies in no other pair at all.
    pub(super) outermost: bool,
}

/// Deeper brackets than these are text: no sensible name has them, and stacks of brackets cost.
const DEEPEST: usize = 64;

/// What may follow the word `operator`, longer ones first.
const OPERATORS: [&str; 13] =
    ["<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">"];

/// The pairs of brackets in a name, by where they open. Brackets without a partner are text.
pub(super) fn pairs(name: &str) -> Vec<Pair> {
    let bytes = name.as_bytes();
    let (mut pairs, mut open) = (Vec::new(), Vec::<(usize, u8)>::new());
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        if let Some(length) = operator(name, at) {
            at += length;
            continue;
        }
        match byte {
            b'<' | b'(' | b'[' | b'{' if open.len() < DEEPEST => open.push((at, byte)),
            // An arrow, of a type or a member.
            b'>' if at > 0 && bytes.get(at - 1) == Some(&b'-') => {}
            // In an expression `a > b` nothing was opened.
            b'>' if open.last().is_some_and(|(_, byte)| *byte != b'<') => {}
            b'>' | b')' | b']' | b'}' => {
                let wanted = match byte {
                    b'>' => b'<',
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                // What is still open in between, as in `(a < b)`, is no bracket.
                if let Some(partner) = open.iter().rposition(|(_, byte)| *byte == wanted) {
                    let from = open.get(partner).map_or(at, |(from, _)| *from);
                    open.truncate(partner);
                    let kind = kind(name, from, at);
                    pairs.push(Pair { open: from, close: at, kind, depth: 0, outermost: true });
                }
            }
            _ => {}
        }
        at += 1;
    }
    pairs.sort_unstable_by_key(|pair| pair.open);
    nest(&mut pairs);
    pairs
}

/// Says of each pair in which others it lies.
fn nest(pairs: &mut [Pair]) {
    let mut around: Vec<(usize, bool)> = Vec::new();
    for pair in pairs {
        while around.last().is_some_and(|(close, _)| *close < pair.open) {
            around.pop();
        }
        let counts = matches!(pair.kind, Kind::Arguments | Kind::Parameters);
        pair.outermost = around.is_empty();
        pair.depth = around.iter().filter(|(_, counts)| *counts).count() + usize::from(counts);
        around.push((pair.close, counts));
    }
}

fn kind(name: &str, open: usize, close: usize) -> Kind {
    let before = name.get(..open).unwrap_or_default();
    let inside = name.get(open + 1..close).unwrap_or_default();
    let last = before.chars().next_back();
    let follows_name =
        last.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '~' | '>' | ']' | '}' | '…'));
    let follows_operator = operator_before(before);
    match name.as_bytes().get(open) {
        Some(b'<') if before.ends_with("::") => match inside.starts_with("impl ") || is_as(inside) {
            true => Kind::Qualified,
            false => Kind::Arguments,
        },
        Some(b'<') if follows_name || follows_operator => Kind::Arguments,
        Some(b'<') => Kind::Qualified,
        Some(b'(') if follows_name || follows_operator => Kind::Parameters,
        Some(b'(') if before.ends_with("decltype ") => Kind::Arguments,
        _ => Kind::Name,
    }
}

/// Whether a type is one seen as another.
fn is_as(inside: &str) -> bool {
    inside.contains(" as ")
}

/// The length of the word `operator` and the symbol behind it, if they are at this place.
fn operator(name: &str, at: usize) -> Option<usize> {
    const WORD: &str = "operator";
    let rest = name.get(at..)?.strip_prefix(WORD)?;
    let in_a_word = name.get(..at)?.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    if in_a_word {
        return None;
    }
    let symbol = OPERATORS.iter().find(|symbol| rest.starts_with(**symbol))?;
    Some(WORD.len() + symbol.len())
}

/// Whether a text ends with an operator's name, as `operator<<` or `operator< `.
fn operator_before(text: &str) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    // A symbol and a space are four bytes at most.
    let symbol =
        text.bytes().rev().take(4).take_while(|byte| byte.is_ascii() && !is_of_word(char::from(*byte)));
    let (word, symbol) = text.split_at(text.len() - symbol.count());
    !symbol.is_empty() && word.ends_with("operator")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str, kind: Kind) -> Vec<(&str, usize)> {
        let of_kind = pairs(name).into_iter().filter(|pair| pair.kind == kind);
        of_kind.map(|pair| (name.get(pair.open..=pair.close).unwrap(), pair.depth)).collect()
    }

    #[test]
    fn arguments_and_parameters() {
        let name = "void a::b<int, c<d> >::e(f<g> const&, int) const";
        assert_eq!(texts(name, Kind::Arguments), [("<int, c<d> >", 1), ("<d>", 2), ("<g>", 2)]);
        assert_eq!(texts(name, Kind::Parameters), [("(f<g> const&, int)", 1)]);
    }

    #[test]
    fn operators_are_no_brackets() {
        assert_eq!(texts("a::operator<< <int>(b)", Kind::Arguments), [("<int>", 1)]);
        assert_eq!(texts("a::operator()(int)", Kind::Parameters), [("(int)", 1)]);
        assert_eq!(texts("a::operator->() const", Kind::Parameters), [("()", 1)]);
        assert_eq!(texts("a::operator<=>(a)", Kind::Parameters), [("(a)", 1)]);
        assert_eq!(texts("my_operator<a>(b)", Kind::Arguments), [("<a>", 1)]);
    }

    #[test]
    fn what_belongs_to_the_name() {
        assert_eq!(texts("(anonymous namespace)::f(int)", Kind::Name), [("(anonymous namespace)", 0)]);
        assert_eq!(texts("f (inlined)", Kind::Name), [("(inlined)", 0)]);
        assert_eq!(texts("main.(*T).f", Kind::Name), [("(*T)", 0)]);
        assert_eq!(texts("<a::B<c> as d::E>::f", Kind::Qualified), [("<a::B<c> as d::E>", 0)]);
        assert_eq!(texts("<a::B<c> as d::E>::f", Kind::Arguments), [("<c>", 1)]);
        assert_eq!(texts("a::<impl b for c>::d", Kind::Qualified), [("<impl b for c>", 0)]);
        assert_eq!(texts("a::f::<b>", Kind::Arguments), [("<b>", 1)]);
    }

    #[test]
    fn expressions_and_strays() {
        assert_eq!(texts("f<(a>b)>(c)", Kind::Arguments), [("<(a>b)>", 1)]);
        assert_eq!(texts("f<(a<b)>(c)", Kind::Parameters), [("(c)", 1)]);
        assert_eq!(pairs(")]}>"), []);
        assert_eq!(pairs("<<<((("), []);
        assert!(pairs(&"<".repeat(100_000)).is_empty());
        assert_eq!(pairs(&format!("a{}{}", "<".repeat(1000), ">".repeat(1000))).len(), DEEPEST);
    }
}
