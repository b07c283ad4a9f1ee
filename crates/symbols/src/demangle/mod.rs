//! Names as people know them: C++ (Itanium) and Rust (legacy and v0).

mod spelling;

use std::borrow::Cow;
use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, ParseOptions};

/// A name of a few bytes can stand for one of gigabytes (back references), so the length of what is written is bounded.
const MAX_BYTES: usize = 64 * 1024;

/// Also in relation to the mangled name: this many bytes, and as many times its length.
const MAX_GROWTH: (usize, usize) = (1024, 64);

/// Nesting allowed in a C++ name. The demangler recurses for each level; its own limit is about this.
const MAX_DEPTH: u32 = 128;

/// How many places are tried at which the signature of an unreadable name might begin.
const MAX_NAME_ENDS: usize = 64;

/// How names are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Demangle {
    /// With template arguments and parameter types: `std::vector<int, std::allocator<int> >::push_back(int const&)`.
    /// `perf` shows this with `-v`.
    Full,
    /// Without what belongs to the signature: parameters, return type, `const`, and the suffix of a clone. `perf`
    /// shows this.
    #[default]
    Simple,
    /// As in the symbol table.
    None,
}

/// Shows a name from a symbol table or from DWARF. What is not mangled, or cannot be read, comes back as it is.
pub fn demangle(raw: &str, style: Demangle) -> Cow<'_, str> {
    if style == Demangle::None {
        return Cow::Borrowed(raw);
    }
    // The legacy Rust scheme is a form of the C++ one, marked by a hash at the end, so Rust is tried first.
    match rust(raw).or_else(|| cpp(raw, style)) {
        Some(name) => Cow::Owned(name),
        None => Cow::Borrowed(raw),
    }
}

fn rust(raw: &str) -> Option<String> {
    if !raw.starts_with("_R") && !raw.starts_with("_ZN") {
        return None;
    }
    let name = rustc_demangle::try_demangle(raw).ok()?;
    let mut out = Bounded::for_name(raw);
    write!(out, "{name:#}").ok()?;
    Some(out.text)
}

fn cpp(raw: &str, style: Demangle) -> Option<String> {
    // Compilers mark global constructors and the like with a prefix that the demangler knows too.
    if !raw.starts_with("_Z") && !raw.starts_with("__Z") && !raw.starts_with("_GLOBAL_") {
        return None;
    }
    let symbol = match parse(raw) {
        Some(symbol) => symbol,
        // What cannot be read is mostly an expression in the signature, which is not shown in this style.
        None if style == Demangle::Simple => without_signature(raw)?,
        None => return None,
    };
    let mut options = DemangleOptions::new().recursion_limit(MAX_DEPTH);
    // What the compiler makes for a function has its whole name, in which the parameters are no signature of its own.
    let is_special = raw.starts_with("_ZT") || raw.starts_with("_ZG");
    if style == Demangle::Simple && !is_special {
        options = options.no_params().no_return_type();
    }
    let mut out = Bounded::for_name(raw);
    symbol.structured_demangle(&mut out, &options).ok()?;
    let mut name = out.text;
    if style == Demangle::Simple {
        match is_special {
            true => spelling::cut_clones(&mut name),
            false => spelling::cut_qualifiers(&mut name),
        }
    }
    Some(spelling::like_gnu(name))
}

fn parse(raw: &str) -> Option<cpp_demangle::BorrowedSymbol<'_>> {
    let options = ParseOptions::default().recursion_limit(MAX_DEPTH);
    cpp_demangle::Symbol::new_with_options(raw.as_bytes(), &options).ok()
}

/// The name alone, which comes before the signature and, if it has more than one part, ends with `E`. No shorter
/// beginning of a mangled name that ends so is complete.
fn without_signature(raw: &str) -> Option<cpp_demangle::BorrowedSymbol<'_>> {
    let ends = raw.match_indices('E').map(|(at, _)| at.saturating_add(1)).take(MAX_NAME_ENDS);
    ends.filter_map(|end| parse(raw.get(..end)?)).next()
}

/// A string that refuses to grow beyond a length.
struct Bounded {
    text: String,
    max_bytes: usize,
}

impl Bounded {
    fn for_name(raw: &str) -> Bounded {
        let (fixed, times) = MAX_GROWTH;
        let max_bytes = raw.len().saturating_mul(times).saturating_add(fixed).min(MAX_BYTES);
        Bounded { text: String::with_capacity(raw.len()), max_bytes }
    }
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len().saturating_add(text.len()) > self.max_bytes {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected names are what `c++filt` prints and, for the simple ones, `c++filt -p`; perf prints these.
    #[test]
    fn what_compilers_make_beside_functions() {
        let names = [
            (
                "_ZThn8_N12LIRGenerator8block_doEP10BlockBegin",
                "non-virtual thunk to LIRGenerator::block_do(BlockBegin*)",
            ),
            ("_ZTv0_n24_N3Foo3barEi", "virtual thunk to Foo::bar(int)"),
            ("_ZTcv0_n24_v0_n32_N1D1fEv", "covariant return thunk to D::f()"),
            ("_ZTch0_h16_N1D1fEv", "covariant return thunk to D::f()"),
            ("_ZThn8_NK1A3fooEv.cold", "non-virtual thunk to A::foo() const"),
            ("_ZGVZ3fooiE1x", "guard variable for foo(int)::x"),
            ("_ZTV3Foo", "vtable for Foo"),
            ("_ZTTSt9strstream", "VTT for std::strstream"),
            ("_ZTIPKc", "typeinfo for char const*"),
            ("_ZTSSt6vectorIiSaIiEE", "typeinfo name for std::vector<int, std::allocator<int> >"),
            ("_ZTC3Foo16_3Bar", "construction vtable for Bar-in-Foo"),
            ("_ZTW3foo", "TLS wrapper function for foo"),
        ];
        for (raw, name) in names {
            assert_eq!(demangle(raw, Demangle::Simple), name, "{raw}");
        }
        let raw = "_ZThn8_NK1A3fooEv.cold";
        assert_eq!(demangle(raw, Demangle::Full), "non-virtual thunk to A::foo() const [clone .cold]");
    }

    // As `c++filt -p` prints them.
    #[test]
    fn qualifiers_of_methods_are_dropped() {
        let names = [
            ("_ZNKSt6vectorIiE4sizeEv", "std::vector<int>::size"),
            ("_ZNVK4PolyILi3EE4areaEd", "Poly<3>::area"),
            ("_ZNKO1A1fEv", "A::f"),
            ("_ZZN1A1fEvENKUlvE_clEv", "A::f()::{lambda()#1}::operator()"),
            ("_ZNK1AcvbEv", "A::operator bool"),
            ("_ZNK1A1fB5cxx11Ev", "A::f[abi:cxx11]"),
            ("_ZNK1A1fEv.cold", "A::f"),
            ("_ZZNK1A1fEvE1g", "A::f() const::g"),
            ("_ZNK1AplERKS_", "A::operator+"),
            ("_ZNK1AclEi", "A::operator()"),
        ];
        let shown = names.map(|(raw, _)| demangle(raw, Demangle::Simple).into_owned());
        assert_eq!(shown, names.map(|(_, name)| name));
    }

    // The expected names are what c++filt and rustfilt print.
    #[test]
    fn full_and_simple() {
        let raw = "_ZNSt6vectorIiSaIiEE9push_backERKi";
        assert_eq!(
            demangle(raw, Demangle::Full),
            "std::vector<int, std::allocator<int> >::push_back(int const&)"
        );
        assert_eq!(demangle(raw, Demangle::Simple), "std::vector<int, std::allocator<int> >::push_back");
        assert_eq!(demangle(raw, Demangle::None), raw);
        assert_eq!(demangle("_ZNSi5tellgEv", Demangle::Simple), "std::istream::tellg");
        assert_eq!(
            demangle("_ZNSiC1Ev", Demangle::Simple),
            "std::basic_istream<char, std::char_traits<char> >::basic_istream"
        );
        // An expression in the return type that the demangler cannot read.
        let raw = "_ZSt4swapIjENSt9enable_ifIXsrSt6__and_IJSt6__not_ISt15__is_tuple_likeIT_EESt21is_move_constructibleIS4_E\
            St18is_move_assignableIS4_EEE5valueEvE4typeERS4_SE_";
        assert_eq!(demangle(raw, Demangle::Simple), "std::swap<unsigned int>");
        assert_eq!(
            demangle("_ZZ4mainENKUljE0_clEj", Demangle::Simple),
            "main::{lambda(unsigned int)#2}::operator()"
        );
        let legacy = "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE";
        assert_eq!(demangle(legacy, Demangle::Full), "core::fmt::Write::write_fmt");
        let v0 = "_RNvNtCs1234_7mycrate3foo3bar";
        assert_eq!(demangle(v0, Demangle::Full), "mycrate::foo::bar");
    }

    #[test]
    fn other_names_stay() {
        for raw in ["main", "", "_", "_Z", "_ZN", "_R", "foo.part.0", "_init", "ünïcode"] {
            assert_eq!(demangle(raw, Demangle::Full), raw);
        }
    }

    #[test]
    fn a_bomb_is_refused() {
        // Each level names the pair of the one before twice.
        let mut bomb = String::from("_Z1fI1aS_E");
        for level in 0..60 {
            let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
            let back = match level {
                0 => "S0_".to_owned(),
                n => format!("S{}{}_", if n / 36 == 0 { "" } else { "1" }, char::from(digits[n % 36])),
            };
            bomb.push_str(&format!("St4pairI{back}{back}E"));
        }
        assert!(demangle(&bomb, Demangle::Full).len() <= MAX_BYTES);
    }
}
