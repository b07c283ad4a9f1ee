//! The keys: one line each. The dispatch, the help and the menu come from this table.

use crate::list::Move;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What is on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Rows, and calls below them.
    Rows,
    /// A function as code.
    Code,
    /// The flame graph.
    Flame,
    /// The time strip.
    Time,
    /// A page of text.
    Page,
}

use View::{Code, Flame, Page, Rows, Time};

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Moves the cursor.
    Go(Move),
    /// Opens what is under the cursor.
    Open,
    /// To the left, or back.
    Left,
    /// Back.
    Back,
    /// The code of the row.
    Code,
    /// Into the binary of the row.
    ZoomBinary,
    /// Into a thread.
    ZoomThread,
    /// Into the command of the row.
    ZoomComm,
    /// Opens or closes one.
    Toggle,
    /// Opens all.
    OpenAll,
    /// Closes all.
    CloseAll,
    /// Callers instead of callees, and back.
    TurnAround,
    /// Asks what to look for.
    Search,
    /// To the next match.
    Next,
    /// To the match before.
    Previous,
    /// Asks for a focus.
    Focus,
    /// Asks what to ignore.
    Ignore,
    /// Changes what shares are of.
    Whole,
    /// Asks for the least share.
    Least,
    /// All that is known of the row.
    Details,
    /// The menu.
    Menu,
    /// Sorts by the next column.
    Sort,
    /// The next event.
    NextEvent,
    /// The event before.
    PreviousEvent,
    /// Source on or off.
    Source,
    /// The hottest line.
    Hottest,
    /// The next hot line.
    NextHot,
    /// The hot line before.
    PreviousHot,
    /// The time strip.
    Time,
    /// The flame graph.
    Flame,
    /// Begins or ends a range of time.
    Mark,
    /// Prints what is seen to a file.
    Print,
    /// What the recording says of itself.
    Info,
    /// What is wrong with it.
    Check,
    /// The keys.
    Help,
    /// Ends.
    Quit,
}

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// The keys, as they are told.
    pub name: &'static str,
    /// The keys.
    pub keys: &'static [KeyCode],
    /// Where they do this.
    pub views: &'static [View],
    /// What they do.
    pub action: Action,
    /// The same in words.
    pub help: &'static str,
}

const fn bind(
    name: &'static str,
    keys: &'static [KeyCode],
    views: &'static [View],
    action: Action,
    help: &'static str,
) -> Binding {
    Binding { name, keys, views, action, help }
}

const ALL: &[View] = &[Rows, Code, Flame, Time, Page];
const TABLES: &[View] = &[Rows, Code, Flame, Time];

/// Every key.
pub const BINDINGS: &[Binding] = &[
    bind("↑ k", &[KeyCode::Up, KeyCode::Char('k')], ALL, Action::Go(Move::Up), "up"),
    bind("↓ j", &[KeyCode::Down, KeyCode::Char('j')], ALL, Action::Go(Move::Down), "down"),
    bind("PgUp", &[KeyCode::PageUp], ALL, Action::Go(Move::PageUp), "a screen up"),
    bind(
        "PgDn Space",
        &[KeyCode::PageDown, KeyCode::Char(' ')],
        &[Rows, Code, Flame, Page],
        Action::Go(Move::PageDown),
        "a screen down",
    ),
    bind("Home g", &[KeyCode::Home, KeyCode::Char('g')], ALL, Action::Go(Move::First), "to the beginning"),
    bind("End G", &[KeyCode::End, KeyCode::Char('G')], ALL, Action::Go(Move::Last), "to the end"),
    bind(
        "Enter →",
        &[KeyCode::Enter, KeyCode::Right],
        &[Rows],
        Action::Open,
        "open the calls; where there are none, the menu",
    ),
    bind("Enter →", &[KeyCode::Enter, KeyCode::Right], &[Code], Action::Open, "follow the jump or call"),
    bind("Enter", &[KeyCode::Enter], &[Flame], Action::Open, "zoom into the frame"),
    bind("Enter", &[KeyCode::Enter], &[Time], Action::Open, "look at the range only"),
    bind(
        "→ l",
        &[KeyCode::Right, KeyCode::Char('l')],
        &[Flame, Time],
        Action::Go(Move::Right),
        "to the right",
    ),
    bind("←", &[KeyCode::Left], &[Flame, Time], Action::Go(Move::Left), "to the left"),
    bind("←", &[KeyCode::Left], &[Rows], Action::Left, "close the calls, or take the last step back"),
    bind("Esc", &[KeyCode::Esc], &[Rows], Action::Back, "take the last step back"),
    bind("Esc ←", &[KeyCode::Esc, KeyCode::Left], &[Code, Page], Action::Back, "back"),
    bind("Esc", &[KeyCode::Esc], &[Flame, Time], Action::Back, "zoom out; then back"),
    bind("Space", &[KeyCode::Char(' ')], &[Time], Action::Mark, "begin a range here"),
    bind("a", &[KeyCode::Char('a')], &[Rows, Flame], Action::Code, "code"),
    bind("d", &[KeyCode::Char('d')], &[Rows], Action::ZoomBinary, "into the binary only"),
    bind("t", &[KeyCode::Char('t')], &[Rows], Action::ZoomThread, "into a thread only"),
    bind("c", &[KeyCode::Char('c')], &[Rows], Action::ZoomComm, "into the command only"),
    bind(
        "e +",
        &[KeyCode::Char('e'), KeyCode::Char('+')],
        &[Rows],
        Action::Toggle,
        "open or close the calls",
    ),
    bind("E", &[KeyCode::Char('E')], &[Rows], Action::OpenAll, "open all calls of all rows"),
    bind("C", &[KeyCode::Char('C')], &[Rows], Action::CloseAll, "close all calls"),
    bind(
        "v",
        &[KeyCode::Char('v')],
        &[Rows],
        Action::TurnAround,
        "show callers instead of callees, and back",
    ),
    bind(
        "v",
        &[KeyCode::Char('v')],
        &[Flame],
        Action::TurnAround,
        "from the callers, or from where samples were taken",
    ),
    bind("/", &[KeyCode::Char('/')], ALL, Action::Search, "search, by regular expression"),
    bind("n", &[KeyCode::Char('n')], ALL, Action::Next, "to the next match"),
    bind("N", &[KeyCode::Char('N')], ALL, Action::Previous, "to the match before"),
    bind(
        "f",
        &[KeyCode::Char('f')],
        &[Rows, Flame],
        Action::Focus,
        "only samples with a function that matches",
    ),
    bind(
        "x",
        &[KeyCode::Char('x')],
        &[Rows, Flame],
        Action::Ignore,
        "no samples with a function that matches",
    ),
    bind("F", &[KeyCode::Char('F')], &[Rows], Action::Whole, "shares of what is chosen, or of all samples"),
    bind("L", &[KeyCode::Char('L')], &[Rows], Action::Least, "the least share that is shown"),
    bind("V", &[KeyCode::Char('V')], &[Rows, Flame], Action::Details, "all of it, with names in full"),
    bind("m", &[KeyCode::Char('m')], TABLES, Action::Menu, "menu"),
    bind("s", &[KeyCode::Char('s')], &[Rows], Action::Sort, "sort by the next column"),
    bind("s", &[KeyCode::Char('s')], &[Code], Action::Source, "source on or off"),
    bind("H", &[KeyCode::Char('H')], &[Code], Action::Hottest, "to the hottest line"),
    bind("Tab", &[KeyCode::Tab], &[Rows, Flame, Time], Action::NextEvent, "next event"),
    bind("Shift-Tab", &[KeyCode::BackTab], &[Rows, Flame, Time], Action::PreviousEvent, "event before"),
    bind("Tab", &[KeyCode::Tab], &[Code], Action::NextHot, "next hot line"),
    bind("Shift-Tab", &[KeyCode::BackTab], &[Code], Action::PreviousHot, "hot line before"),
    bind("T", &[KeyCode::Char('T')], TABLES, Action::Time, "time: choose a range"),
    bind("W", &[KeyCode::Char('W')], TABLES, Action::Flame, "flame graph"),
    bind(
        "P",
        &[KeyCode::Char('P')],
        ALL,
        Action::Print,
        "print what is seen to a file: .json as JSON, else as text",
    ),
    bind("i", &[KeyCode::Char('i')], ALL, Action::Info, "what the recording says of itself"),
    bind("K", &[KeyCode::Char('K')], ALL, Action::Check, "what is wrong with the recording"),
    bind("? F1", &[KeyCode::Char('?'), KeyCode::F(1), KeyCode::Char('h')], ALL, Action::Help, "these keys"),
    bind("q", &[KeyCode::Char('q')], ALL, Action::Quit, "quit"),
];

/// Keys of perf's browser that are not here, and what to do instead.
const NOT_HERE: &[(char, &str)] = &[
    ('S', "S: --socket-filter N shows one processor socket"),
    ('r', "r: there are no scripts to run; readperf script and readperf export show samples to others"),
    ('H', "H: heads of columns are always shown"),
    ('z', "z: recordings do not change while they are looked at"),
    ('D', "D: one recording is shown at a time"),
    ('b', "b: there is no history; Esc takes steps back one by one"),
];

/// What a key does in a view.
pub(crate) fn binding(key: &KeyEvent, view: View) -> Option<&'static Binding> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return None;
    }
    BINDINGS.iter().find(|binding| binding.views.contains(&view) && binding.keys.contains(&key.code))
}

/// What is to be said of a key that does nothing.
pub(crate) fn not_here(key: &KeyEvent) -> Option<&'static str> {
    let KeyCode::Char(c) = key.code else { return None };
    if c.is_ascii_digit() {
        return Some("0-9: events are not sorted by side by side; Tab shows the next one");
    }
    NOT_HERE.iter().find(|(key, _)| *key == c).map(|(_, why)| *why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_does_one_thing_in_a_view() {
        for view in [Rows, Code, Flame, Time, Page] {
            let mut seen: Vec<KeyCode> = Vec::new();
            for binding in BINDINGS.iter().filter(|binding| binding.views.contains(&view)) {
                for key in binding.keys {
                    assert!(!seen.contains(key), "{key:?} twice in {view:?}");
                    seen.push(*key);
                }
            }
            assert!([Action::Help, Action::Quit, Action::Back].iter().all(|needed| {
                BINDINGS.iter().any(|binding| binding.action == *needed && binding.views.contains(&view))
            }));
        }
    }
}
