//! All that a name becomes in less and less room, for who shows it in room that changes without asking again.

use super::{MARK, shorten, without_middle};
use crate::text::width;

/// More forms than these are only made of every other step; names of a recording are as long as whoever made it wished.
const MOST: usize = 24;

/// No screen has room for more.
const WIDEST: usize = 600;

/// The forms of a name from the widest to the narrowest. The last one is the function's own name with a `…` behind it: in less
/// room, that name loses its middle. None, if already the whole name does.
pub fn forms(name: &str) -> Vec<String> {
    let mut forms: Vec<String> = Vec::new();
    let mut room = width(name).min(WIDEST);
    loop {
        room = if forms.len() < MOST { room.saturating_sub(1) } else { room / 2 };
        let form = shorten(name, room);
        if room == 0 || form == without_middle(name, room) {
            return forms;
        }
        room = width(&form);
        let own = form
            .strip_suffix(MARK)
            .is_some_and(|own| !own.is_empty() && !own.contains(MARK) && !own.ends_with(['<', '(']));
        forms.push(form.into_owned());
        if own {
            return forms;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_the_widest_to_the_own_name() {
        let expected = [
            "boost::asio::detail::scheduler::run(…)",
            "…::asio::detail::scheduler::run(…)",
            "…::detail::scheduler::run(…)",
            "…::scheduler::run(…)",
            "…::run(…)",
            "run…",
        ];
        assert_eq!(forms("boost::asio::detail::scheduler::run(boost::system::error_code&)"), expected);
        assert_eq!(forms("asm_sysvec_apic_timer_interrupt"), [""; 0]);
        assert_eq!(forms(""), [""; 0]);
        assert_eq!(forms("x"), [""; 0]);
    }

    /// The script of flame graphs makes the same of these forms (`tests/browser`).
    #[test]
    fn names_are_those_of_the_table() {
        let table: serde_json::Value =
            serde_json::from_str(include_str!("../export/flamegraph/texts.json")).unwrap();
        for entry in table["names"].as_array().unwrap() {
            let name = entry["name"].as_str().unwrap();
            let expected: Vec<&str> =
                entry["forms"].as_array().unwrap().iter().map(|form| form.as_str().unwrap()).collect();
            assert_eq!(forms(name), expected);
            for (room, expected) in entry["rooms"].as_object().unwrap() {
                assert_eq!(shorten(name, room.parse().unwrap()), expected.as_str().unwrap(), "in {room}");
            }
        }
    }

    #[test]
    fn there_are_not_too_many() {
        for part in ["a::", "<>", "a<", "(a)", "/a", " a", "<a as b>::"] {
            let forms = forms(&part.repeat(5_000));
            assert!(forms.len() <= 2 * MOST, "{part}: {}", forms.len());
        }
    }
}
