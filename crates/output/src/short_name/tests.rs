//! What names become in less and less room.

use super::*;

const SORT: &str = "void std::__introsort_loop<__gnu_cxx::__normal_iterator<unsigned long*, std::vector<unsigned long, \
                    std::allocator<unsigned long> > >, long>(__gnu_cxx::__normal_iterator<unsigned long*, \
                    std::vector<unsigned long> >, long)";

/// What a name becomes in less and less room.
#[track_caller]
fn check(name: &str, expected: &[&str]) {
    for short in expected {
        assert_eq!(shorten(name, width(short)), *short, "in {}", width(short));
    }
}

#[test]
fn arguments_go_first_the_innermost_before_the_outer_ones() {
    check(
        SORT,
        &[
            "void std::__introsort_loop<__gnu_cxx::__normal_iterator<unsigned long*, std::vector<…> >, \
             long>(__gnu_cxx::__normal_iterator<unsigned long*, std::vector<…> >, long)",
            "void std::__introsort_loop<__gnu_cxx::__normal_iterator<…>, \
             long>(__gnu_cxx::__normal_iterator<…>, long)",
            "void std::__introsort_loop<…>(__gnu_cxx::__normal_iterator<…>, long)",
            "void std::__introsort_loop<…>(…)",
            "std::__introsort_loop<…>(…)",
            "…::__introsort_loop<…>(…)",
            "__introsort_loop…",
            "__intr…t_loop",
        ],
    );
}

#[test]
fn namespaces_go_from_the_outermost_on() {
    check(
        "boost::asio::detail::scheduler::run(boost::system::error_code&)",
        &[
            "boost::asio::detail::scheduler::run(…)",
            "…::asio::detail::scheduler::run(…)",
            "…::scheduler::run(…)",
            "…::run(…)",
            "run…",
            "r…",
            "…",
            "",
        ],
    );
    check("non-virtual thunk to a::bcd::efg()", &["non-virtual thunk to …::efg()"]);
}

#[test]
fn what_is_no_type_is_not_taken_for_the_returned_one() {
    check("a::operator unsigned long<bcdef>() const", &["a::operator unsigned long<…>() const"]);
    check("f<int>() const", &["f<…>() const"]);
    check("long f<abcdefgh>() const", &["long f<…>() const", "f<…>() const"]);
    check("decltype (x(y)) f<abcdefgh>(b)", &["decltype (…) f<…>(b)", "f<…>(…)"]);
}

#[test]
fn operators_and_local_names() {
    check(
        "std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)",
        &["std::ostream& std::operator<< <…>(…)", "std::operator<< <…>(…)", "…::operator<< <…>(…)"],
    );
    check(
        "(anonymous namespace)::Parser::parse(std::string const&)::{lambda(int)#1}::operator()(int) const",
        &["(anonymous namespace)::Parser::parse(…)::{lambda(…)#1}::operator()(…) const"],
    );
}

#[test]
fn rust() {
    check(
        "<alloc::vec::Vec<alloc::string::String> as core::ops::drop::Drop>::drop",
        &["<alloc::vec::Vec<…> as core::ops::drop::Drop>::drop", "<…::Vec<…> as …::Drop>::drop", "…::drop"],
    );
    check("core::ptr::drop_in_place::<abc::Def>", &["core::ptr::drop_in_place::<…>"]);
}

#[test]
fn other_languages() {
    check("github.com/user/repo/pkg.(*Type).Method", &["…/repo/pkg.(*Type).Method", "…/pkg.(*Type).Method"]);
    check("py::work:/home/me/project/work.py", &["py::work:…/project/work.py", "py::work:…/work.py"]);
    check("*burn /srv/app/lib/hot.js:12:3", &["*burn …/lib/hot.js:12:3", "*burn …/hot.js:12:3"]);
    check("/usr/include/c++/12/bits/stl_algo.h:1932", &["…/bits/stl_algo.h:1932"]);
}

#[test]
fn inlined_functions_stay_recognizable() {
    check(
        "std::vector<int, std::allocator<int> >::size() const (inlined)",
        &["std::vector<…>::size() const (inlined)", "…::size() const (inlined)"],
    );
}

#[test]
fn names_of_c_lose_their_middle() {
    check("asm_sysvec_apic_timer_interrupt", &["asm_sys…errupt", "asm…upt"]);
    assert_eq!(without_middle("abcdefghij", 5), "ab…ij");
    assert_eq!(without_middle("abcdefghij", 6), "abc…ij");
    assert_eq!(width(&without_middle("größenwahnsinnig", 9)), 9);
}

/// Characters that are two columns wide.
#[test]
fn wide_characters_count_as_they_are_shown() {
    assert_eq!(width("関数"), 4);
    assert_eq!(without_middle("関数の名前", 7), "関…前");
}

/// Names of a recording are as long as whoever made it wished.
#[test]
fn long_names_take_no_long_time() {
    for part in ["a::", "<>", "a<", "(a)", "/a", " a", "<a as b>::"] {
        let name = part.repeat(50_000);
        assert!(width(&shorten(&name, 80)) <= 80, "{part}");
    }
}

/// Whatever the name, the result fits, and says that it is not the whole.
#[test]
fn always_fits() {
    let names = [
        SORT,
        "",
        "::::::",
        "a::b::",
        "<<<<>>>>((([[[",
        "operator<operator<operator<",
        "f(g(h(i(j)k)l)m)n",
        "<a as b>::<c as d>::e",
        "//////",
        " a b c ::d ",
        "関数<関数>(関数)::関数",
        "x (inlined)",
        "…<…>(…)",
    ];
    for name in names {
        for room in 0..=width(name) + 1 {
            let short = shorten(name, room);
            assert!(width(&short) <= room, "{name:?} in {room}: {short:?}");
            assert!(room == 0 || short == name || short.contains(MARK), "{name:?} in {room}: {short:?}");
        }
    }
}
