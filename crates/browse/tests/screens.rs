//! Every view and every key, on a terminal that is a buffer.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use perffile::{Metadata, Recording};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::style::{Color, Modifier};
use readperf_analysis::{PassOptions, Request};
use readperf_browse::{App, BINDINGS, Early, Host, Look, View, draw, draw_early};
use readperf_explore::{Explorer, Opening};
use readperf_output::annotate::Sources;
use readperf_output::report::CellStyle;
use readperf_profile::view::column::Column;
use readperf_profile::view::listing::Listing;
use readperf_session::Session;
use readperf_symbols::{Files, Options};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name)
}

type Written = Rc<RefCell<Vec<(String, String)>>>;

/// A program that writes to memory.
#[derive(Default)]
struct FakeHost {
    written: Written,
}

impl Host for FakeHost {
    fn info(&mut self, _: &Metadata) -> Result<String, String> {
        Ok("hostname: \u{1b}[31mevil\nsecond line".to_owned())
    }

    fn check(&mut self) -> Result<String, String> {
        Err("it is gone".to_owned())
    }

    fn sources(&mut self, _: &[Listing], _: &Session) -> Sources {
        Sources::default()
    }

    fn write_file(&mut self, name: &str, content: &[u8]) -> Result<(), String> {
        self.written.borrow_mut().push((name.to_owned(), String::from_utf8(content.to_vec()).unwrap()));
        Ok(())
    }
}

/// A browser, and what it has written.
struct Browser {
    app: App<'static>,
    written: Written,
    size: (u16, u16),
}

fn opening(name: &str) -> Opening {
    let search_dirs = vec![fixture(name), fixture("bin")];
    let symbols = Options { search_dirs, inlines: true, cache: None, ..Options::default() };
    let pass = PassOptions { stacks: true, unwind: Some(symbols.clone()), ..PassOptions::default() };
    Opening { request: Request { symbols, pass, ..Request::default() }, ..Opening::default() }
}

impl Browser {
    fn new(name: &str, size: (u16, u16), color: bool) -> Browser {
        let files: &'static Files = Box::leak(Box::default());
        let recording = Recording::open(fixture(name).join("perf.data")).unwrap();
        let explorer = Explorer::open(files, &recording, &opening(name), |_| ()).unwrap();
        let columns =
            [Column::Children, Column::Overhead].into_iter().chain((0..3).map(Column::Key)).collect();
        let look = Look { name: name.to_owned(), base: None, columns, cells: CellStyle::default(), color };
        let written = Written::default();
        let host = FakeHost { written: Rc::clone(&written) };
        Browser { app: App::new(explorer, Box::new(host), look, size), written, size }
    }

    /// Presses keys: characters, or names in angle brackets.
    fn press(&mut self, keys: &str) -> &mut Browser {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|name| name.split_once('>'));
            let (code, behind) = match named {
                Some((name, behind)) => (code(name), behind),
                None => (KeyCode::Char(c), &rest[c.len_utf8()..]),
            };
            self.app.handle(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
            rest = behind;
        }
        self
    }

    fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) {
        self.app.handle(&Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
    }

    fn terminal(&self) -> Terminal<TestBackend> {
        let mut terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).unwrap();
        terminal.draw(|frame| draw(&self.app, frame)).unwrap();
        terminal
    }

    fn screen(&self) -> Vec<String> {
        lines(&self.terminal())
    }

    fn has(&self, text: &str) -> bool {
        self.screen().iter().any(|line| line.contains(text))
    }

    #[track_caller]
    fn sees(&self, text: &str) {
        assert!(self.has(text), "{text:?} is not on the screen:\n{}", self.screen().join("\n"));
    }

    fn samples(&self) -> u64 {
        self.app.explorer().profile().events().iter().map(|event| event.samples).sum()
    }

    /// The line that is reversed below the heads: that of the cursor.
    fn cursor(&self) -> String {
        let terminal = self.terminal();
        let buffer = terminal.backend().buffer();
        let is_cursor = |y: &u16| buffer[(self.size.0 - 1, *y)].modifier.contains(Modifier::REVERSED);
        let y = (2..self.size.1 - 1).find(is_cursor).unwrap();
        lines(&terminal)[usize::from(y)].clone()
    }
}

fn lines(terminal: &Terminal<TestBackend>) -> Vec<String> {
    let buffer = terminal.backend().buffer();
    let line =
        |y| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..buffer.area.height).map(line).collect()
}

fn code(name: &str) -> KeyCode {
    match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pgup" => KeyCode::PageUp,
        "pgdn" => KeyCode::PageDown,
        "tab" => KeyCode::Tab,
        "backtab" => KeyCode::BackTab,
        "back" => KeyCode::Backspace,
        _ => panic!("no key {name}"),
    }
}

fn main_rows() -> Browser {
    Browser::new("main", (100, 30), true)
}

/// Terminals send Escape and what is typed right behind it as one.
#[test]
fn escape_and_a_key_at_once_are_both_taken() {
    let mut browser = main_rows();
    let all = browser.samples();
    browser.press("d");
    assert!(browser.samples() < all);
    browser.app.handle(&Event::Key(KeyEvent::new(KeyCode::Char('W'), KeyModifiers::ALT)));
    assert_eq!(browser.samples(), all);
    browser.sees("flame graph");
}

#[test]
fn rows_are_shown_as_a_report_has_them() {
    let mut browser = main_rows();
    let screen = browser.screen();
    assert!(screen[0].contains("main  cpu-clock:u: 574 samples, period 574,574,574"), "{}", screen[0]);
    assert_eq!(screen[1], " all samples");
    assert_eq!(
        screen[2].split_whitespace().collect::<Vec<_>>(),
        ["total", "self", "command", "binary", "function"]
    );
    browser.sees(" 47.74 %  47.74 %  work     work");
    browser.press("j");
    assert_ne!(browser.cursor(), screen[3]);
    let second = browser.cursor();
    browser.press("<end>");
    let last = browser.cursor();
    browser.press("g");
    assert_eq!(browser.cursor(), screen[3]);
    browser.press("<pgdn><pgup>k<down>");
    assert_eq!(browser.cursor(), second);
    browser.press("G");
    assert_eq!(browser.cursor(), last);
}

#[test]
fn calls_are_opened_in_place_and_closed() {
    let mut browser = Browser::new("multi", (100, 40), true);
    let before = browser.screen();
    browser.press("<enter>");
    browser.sees("▾");
    assert!(browser.has("%  ▾ ") || browser.has("%  ▸ "), "{}", browser.screen().join("\n"));
    // Behind the call, then to the line that it is behind, then closed, then the row.
    browser.press("j");
    let call = browser.cursor();
    assert!(call.starts_with("     "), "{call}");
    for _ in 0..9 {
        if !browser.has("▾") {
            break;
        }
        browser.press("<left>");
    }
    assert_eq!(browser.screen()[3..39], before[3..39], "line by line to the row, which closes last");
    browser.press("e");
    browser.sees("▾");
    browser.press("+");
    assert!(!browser.has("▾"));
    browser.press("E");
    browser.sees("▾");
    // The rest is opened while nothing is typed, wherever one looks.
    for keys in ["", "<pgdn>", "G", "g"] {
        browser.press(keys);
        while browser.app.work() {}
        let closed = browser.screen().iter().any(|line| line.starts_with('▸'));
        assert!(!closed, "{keys}: {}", browser.screen().join("\n"));
    }
    assert!(browser.screen().iter().filter(|line| line.contains('▾')).count() > 5);
    browser.press("e");
    while browser.app.work() {}
    assert!(browser.cursor().starts_with('▸'), "what was closed by hand stays closed");
    browser.press("C");
    assert!(!browser.has("▾") && !browser.app.work());
    browser.press("v");
    browser.sees("calls are who calls rows");
    browser.press("/__libc_start_call_main<enter><enter>");
    assert!(!browser.has("%  ▸ __libc_start_call_main"), "callers do not begin with the row");
}

#[test]
fn zooms_are_steps_that_are_taken_back() {
    let mut browser = Browser::new("multi", (100, 40), true);
    let (all, screen) = (browser.samples(), browser.screen());
    for (key, told) in [("d", " in work"), ("c", " command work-one"), ("t", " thread 32210")] {
        browser.press(key);
        assert_eq!(browser.screen()[1], told);
        assert!((1..all).contains(&browser.samples()), "{key}");
        browser.press("<esc>");
        assert_eq!((browser.samples(), browser.screen()), (all, screen.clone()));
    }
    browser.press("cd<left>");
    assert_eq!(browser.screen()[1], " command work-one");
    browser.press("<esc><esc>");
    browser.sees("nothing to take back");
}

#[test]
fn focus_and_ignore_take_patterns() {
    let mut browser = main_rows();
    let all = browser.samples();
    browser.press("f^spin_(five|three)$<enter>");
    let spinning = browser.samples();
    assert!(spinning > 0 && spinning < all);
    assert_eq!(browser.screen()[1], " focus ^spin_(five|three)$");
    browser.press("<esc>x^spin_(five|three)$<enter>");
    assert_eq!(browser.samples(), all - spinning);
    // An empty line means the function of the row, and a pattern that is none is told.
    browser.press("<esc>/spin_five<enter>f");
    browser.sees("(Enter: ^spin_five$)");
    browser.press("<enter>");
    assert_eq!(browser.screen()[1], " focus ^spin_five$");
    browser.press("<esc>f(<enter>");
    assert_eq!(browser.samples(), all);
    browser.press("fno such function<enter>");
    browser.sees("no samples are left");
    browser.press("<esc>fabc<back><back><esc>");
    assert_eq!(browser.samples(), all);
}

#[test]
fn searching_goes_round() {
    let mut browser = main_rows();
    browser.press("/in_libc<enter>");
    let first = browser.cursor();
    assert!(first.contains("in_libc"));
    browser.press("n");
    let count = browser.screen().iter().filter(|line| line.contains("in_libc")).count();
    browser.press(&"n".repeat(count - 1));
    assert_eq!(browser.cursor(), first, "round the end");
    browser.press("Nn");
    assert_eq!(browser.cursor(), first);
    browser.press("/nothing like it<enter>");
    browser.sees("nothing matches nothing like it");
}

#[test]
fn rows_are_sorted_by_each_column_and_limited() {
    let mut browser = main_rows();
    let rows = |browser: &Browser| browser.app.explorer().rows().histogram.rows.len();
    let all = rows(&browser);
    browser.press("s");
    browser.sees("sorted by self");
    browser.press("ss");
    browser.sees("sorted by binary");
    browser.press("ss");
    browser.sees("sorted by total");
    browser.press("L10<enter>");
    assert!((1..all).contains(&rows(&browser)));
    browser.sees("below 10 %");
    browser.press("Lnonsense<enter>");
    browser.sees("is no share");
    browser.press("L0<enter>");
    assert_eq!(rows(&browser), all);
}

#[test]
fn shares_are_of_what_is_chosen_or_of_all() {
    let mut browser = main_rows();
    browser.press("/spin_three<enter>f<enter>");
    browser.sees("100.00 %");
    browser.press("F");
    browser.sees("shares are of all samples");
    assert!(!browser.has("100.00 %"));
    browser.press("F");
    browser.sees("100.00 %");
}

#[test]
fn events_follow_each_other() {
    let mut browser = Browser::new("multi", (140, 24), true);
    let title = |browser: &Browser| browser.screen()[0].clone();
    let first = title(&browser);
    let mut titles = vec![first.clone()];
    for _ in 0..2 {
        browser.press("<tab>");
        assert!(!titles.contains(&title(&browser)));
        titles.push(title(&browser));
    }
    browser.press("<tab>");
    assert_eq!(title(&browser), first);
    browser.press("<backtab>");
    assert_eq!(Some(&title(&browser)), titles.last());
}

#[test]
fn code_is_shown_and_followed() {
    let mut browser = main_rows();
    browser.press("/spin_five<enter>a");
    assert_eq!(browser.app.view(), View::Code);
    browser.sees("code of spin_five");
    browser.sees("hot line 1 of");
    let hottest = browser.cursor();
    assert!(hottest.contains('│') && hottest.contains('%') || hottest.contains('.'), "{hottest}");
    browser.press("<tab>");
    browser.sees("hot line 2 of");
    browser.press("<backtab>");
    assert_eq!(browser.cursor(), hottest);
    browser.press("gH");
    assert_eq!(browser.cursor(), hottest);
    let with_source = browser.screen();
    browser.press("s");
    browser.sees("source is not shown");
    assert_ne!(browser.screen()[3..28], with_source[3..28]);
    browser.press("s/jne +[0-9a-f]+<enter>");
    let jump = browser.cursor();
    browser.press("<enter>");
    assert_ne!(browser.cursor(), jump, "followed");
    browser.press("<esc>");
    assert_eq!(browser.cursor(), jump, "and back");
    browser.press("<esc>");
    assert_eq!(browser.app.view(), View::Rows);
    browser.press("/mix<enter>ag");
    browser.sees("where it is inlined");
    let mut browser = Browser::new("multi", (100, 40), true);
    browser.press("/start_thread<enter>a");
    assert_eq!(browser.app.view(), View::Rows);
    browser.sees("no sample was taken in start_thread itself");
}

#[test]
fn flame_graphs_are_zoomed_and_searched() {
    let mut browser = Browser::new("multi", (100, 40), true);
    browser.press("W");
    assert_eq!(browser.app.view(), View::Flame);
    browser.sees("work-one");
    browser.sees(" 100.00 %, 128 samples, 0.00 % of its own: all");
    browser.press("<down><down>");
    browser.sees(" 31.25 %, 40 samples, 0.00 % of its own: start_thread");
    browser.press("<up><right>");
    assert!(!browser.has("of its own: work-one"));
    browser.press("<left>");
    browser.sees("of its own: work-one");
    browser.press("<enter>");
    assert!(!browser.has("work-child"), "only what stands on it");
    browser.sees("of its own: work-one");
    browser.press("<esc>");
    browser.sees("work-child");
    browser.press("/start_thread<enter>");
    browser.sees("start_thread matches 53.12 %, 68 samples");
    browser.press("v");
    browser.sees("from where samples were taken");
    browser.press("v<end><home>V");
    browser.sees("details");
    browser.press("<esc>W");
    assert_eq!(browser.app.view(), View::Rows);
}

#[test]
fn a_range_of_time_is_chosen() {
    let mut browser = Browser::new("multi", (100, 30), true);
    let all = browser.samples();
    browser.press("T");
    assert_eq!(browser.app.view(), View::Time);
    browser.sees("work-one: 40 samples");
    browser.press(" <pgdn><pgdn><pgdn><right><left>");
    browser.press("<enter>");
    assert_eq!(browser.app.view(), View::Rows);
    assert!((1..all).contains(&browser.samples()));
    assert!(browser.screen()[1].ends_with(" s"), "{}", browser.screen()[1]);
    browser.press("<esc>T<end> <home>");
    browser.mouse(MouseEventKind::Down(MouseButton::Left), 20, 4);
    browser.mouse(MouseEventKind::Drag(MouseButton::Left), 60, 4);
    browser.press("<esc>");
    assert_eq!(browser.app.view(), View::Time, "the range is forgotten first");
    browser.press("<esc>");
    assert_eq!((browser.app.view(), browser.samples()), (View::Rows, all));
}

#[test]
fn pages_are_text_and_harmless() {
    let mut browser = main_rows();
    browser.press("i");
    browser.sees("hostname: \\x1b[31mevil");
    browser.press("/second<enter>");
    assert_eq!(browser.cursor(), "second line");
    browser.press("<esc>K");
    browser.sees("it is gone");
    browser.press("?");
    browser.sees("Rows and calls");
    browser.press("<esc>/spin_five<enter>V");
    browser.sees("function         spin_five");
    browser.press("<left>m");
    browser.sees("what can be done here");
    browser.press("jjjj<esc>m<enter>");
    assert!(browser.has("▾") || browser.app.view() != View::Rows, "the first item opens the calls");
}

#[test]
fn what_is_seen_is_printed() {
    let mut browser = main_rows();
    browser.press("P<enter>");
    browser.sees("written to readperf.txt");
    browser.press("Prows.json<enter>");
    browser.press("/spin_five<enter>aPcode.txt<enter>Pcode.json<enter>?Pkeys<enter>");
    let written = browser.written.borrow();
    let names: Vec<&str> = written.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["readperf.txt", "rows.json", "code.txt", "code.json", "keys"]);
    assert!(written[0].1.contains("47.74 %  47.74 %  work") && !written[0].1.contains('\u{1b}'));
    assert!(written[1].1.contains("\"self_period\": 274274274") || written[1].1.contains("274274274"));
    assert!(written[2].1.contains("spin_five") && written[2].1.contains('│'));
    assert!(written[3].1.starts_with('{'));
    assert!(written[4].1.contains("Flame graph"));
}

#[test]
fn rows_are_clicked() {
    let mut browser = main_rows();
    browser.mouse(MouseEventKind::Down(MouseButton::Left), 10, 5);
    let third = browser.cursor();
    assert_eq!(third, browser.screen()[5]);
    browser.mouse(MouseEventKind::Down(MouseButton::Left), 10, 5);
    browser.sees("▾");
    browser.mouse(MouseEventKind::ScrollDown, 10, 5);
    assert_ne!(browser.cursor(), third);
    browser.press("W");
    browser.mouse(MouseEventKind::Down(MouseButton::Left), 3, 3);
    browser.sees(" 100.00 %, 574 samples, 0.00 % of its own: work");
}

#[test]
fn any_size_will_do() {
    let mut browser = main_rows();
    for size in [(1, 1), (20, 5), (19, 40), (80, 24), (200, 50), (500, 3), (80, 24)] {
        browser.size = size;
        browser.app.handle(&Event::Resize(size.0, size.1));
        for keys in ["jjE", "W<down><esc>", "T<esc>", "?<end><esc>", "m<esc>", "/spin<enter>a<esc>", "C"] {
            browser.press(keys);
            browser.screen();
        }
    }
    browser.sees("spin_five");
}

#[test]
fn without_colours_there_are_none() {
    for (color, expected) in [(true, true), (false, false)] {
        let mut browser = Browser::new("main", (100, 30), color);
        let mut coloured = false;
        for keys in ["", "E", "W", "<esc>T", "<esc>/spin_five<enter>a", "?"] {
            browser.press(keys);
            let terminal = browser.terminal();
            let cells = terminal.backend().buffer().content();
            coloured |= cells.iter().any(|cell| (cell.fg, cell.bg) != (Color::Reset, Color::Reset));
        }
        assert_eq!(coloured, expected);
    }
}

#[test]
fn every_key_may_come_at_any_time() {
    let keys: Vec<KeyCode> = BINDINGS.iter().flat_map(|binding| binding.keys.iter().copied()).collect();
    for name in ["main", "multi", "stat", "cut"] {
        let mut browser = Browser::new(name, (80, 24), true);
        // A walk that comes by all keys in many orders, and never quits.
        let mut at = 0;
        for step in 0..1500 {
            at = (at * 31 + step * 7 + 3) % keys.len();
            if keys[at] == KeyCode::Char('q') {
                continue;
            }
            browser.app.handle(&Event::Key(KeyEvent::new(keys[at], KeyModifiers::NONE)));
            if step % 3 == 0 {
                browser.screen();
            }
            // The menu has an item for that.
            if browser.app.is_done() {
                browser = Browser::new(name, (80, 24), true);
            }
        }
    }
}

#[test]
fn q_ends_it_and_so_does_control_c() {
    let mut browser = main_rows();
    browser.press("q");
    assert!(browser.app.is_done());
    let mut browser = main_rows();
    browser.press("/");
    browser.app.handle(&Event::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
    assert!(browser.app.is_done());
}

#[test]
fn rows_by_binary_come_before_names() {
    let recording = Recording::open(fixture("multi").join("perf.data")).unwrap();
    let files = Files::new();
    let mut early = Early::default();
    let mut terminal = Terminal::new(TestBackend::new(60, 12)).unwrap();
    terminal.draw(|frame| draw_early(&early, "a\u{1b}b", true, frame)).unwrap();
    assert!(lines(&terminal)[0].contains("a\\x1bb"));
    let opening = Opening { early: true, ..opening("multi") };
    Explorer::open(&files, &recording, &opening, |progress| early = Early::of(&progress)).unwrap();
    terminal.draw(|frame| draw_early(&early, "multi", true, frame)).unwrap();
    let screen = lines(&terminal);
    assert!(screen[0].contains("names are looked up"), "{screen:?}");
    assert!(screen[3].contains("%  work-one") && screen[3].contains("work"), "{screen:?}");
}

#[test]
fn changes_since_another_recording_have_columns() {
    let mut browser = main_rows();
    assert!(!browser.has("change"));
    let recording = Recording::open(fixture("main").join("perf.data")).unwrap();
    let request = opening("main").request;
    let files: &'static Files = Box::leak(Box::default());
    let mut explorer = Explorer::open(files, &recording, &opening("main"), |_| ()).unwrap();
    explorer.set_base(readperf_analysis::analyse(&recording, &request).unwrap());
    let columns = vec![Column::Children, Column::Overhead, Column::Key(0), Column::Key(1), Column::Key(2)];
    let base = Some("before.data".to_owned());
    let look = Look { name: "main".into(), base, columns, cells: CellStyle::default(), color: true };
    let host = FakeHost { written: Rc::clone(&browser.written) };
    browser.app = App::new(explorer, Box::new(host), look, browser.size);
    browser.sees("main  since before.data");
    browser.sees("before");
    browser.sees("47.74 %  +0.00 %");
    // What has changed most comes first, here what has a change at all.
    let first = browser.screen()[3].clone();
    assert!(first.contains("+0.00 %"), "{first}");
    browser.press("s");
    browser.sees("sorted by total");
    browser.press("sssss");
    browser.sees("sorted by change");
    browser.press("V");
    browser.sees("before           ");
    browser.press("<esc>Prows.txt<enter>");
    let written = browser.written.borrow();
    assert!(written[0].1.contains("change") && written[0].1.contains("47.74 %  +0.00 %"), "{}", written[0].1);
}

#[test]
fn code_is_that_of_the_samples_chosen() {
    let mut browser = main_rows();
    browser.press("/spin_five<enter>a");
    let all = browser.screen();
    browser.press("T <pgdn><enter>");
    assert_eq!(browser.app.view(), View::Code);
    browser.sees("code of spin_five");
    assert_ne!(browser.screen()[3..28], all[3..28], "shares of fewer samples");
    let mut browser = Browser::new("main", (600, 30), true);
    browser.press("/spin_three<enter>aT<home> <enter>");
    browser.sees("no sample was taken in spin_three itself");
    assert_eq!(browser.app.view(), View::Rows, "code of which nothing is left goes");
}

#[test]
fn pictures_stay_as_they_are_below_others_and_in_another_size() {
    let mut browser = Browser::new("multi", (100, 40), true);
    browser.press("W<down><enter><down>");
    let zoomed = browser.screen();
    assert!(!browser.has("work-child"));
    browser.press("?<esc>V<esc>");
    assert_eq!(browser.screen(), zoomed);
    for size in [(90, 30), (100, 40)] {
        browser.size = size;
        browser.app.handle(&Event::Resize(size.0, size.1));
        assert!(!browser.has("work-child"), "still zoomed");
    }
    assert_eq!(browser.screen(), zoomed);
    browser.press("WT<right> <pgdn>");
    let range = browser.screen();
    browser.press("?<esc>");
    assert_eq!(browser.screen(), range);
    browser.press("/work-child<enter>");
    assert!(!browser.has("nothing matches"));
    browser.press("/no such thread<enter>");
    browser.sees("nothing matches no such thread");
}

#[test]
fn the_cursor_stays_on_its_row() {
    let mut browser = main_rows();
    browser.press("/spin_three<enter>");
    let row = browser.cursor();
    for keys in ["s", "s", "s", "s", "s", "d", "<esc>", "FF"] {
        browser.press(keys);
        assert!(browser.cursor().contains("spin_three"), "{keys}: {}", browser.cursor());
    }
    assert_eq!(browser.cursor(), row);
    browser.press("F");
    browser.sees("all samples (shares of all)");
}

#[test]
fn pictures_are_printed_as_they_are_seen() {
    let mut browser = Browser::new("multi", (100, 40), true);
    browser.press("WPflame.txt<enter>");
    browser.sees("written to flame.txt");
    browser.press("Pflame.json<enter>");
    browser.sees("a picture is written as text");
    browser.press("TPtime.txt<enter>");
    let written = browser.written.borrow();
    let [flame, time] = [&written[0].1, &written[1].1];
    assert!(flame.contains("flame graph") && flame.contains("[work-one"), "{flame}");
    assert!(time.contains("work-one: 40 samples") && time.contains('█'), "{time}");
}

#[test]
fn what_is_typed_stays_in_sight() {
    let mut browser = Browser::new("main", (40, 12), true);
    browser.press("fa_long_pattern_that_needs_more_than_forty_columns_of_room");
    let screen = browser.screen();
    let line = &screen[11];
    assert!(line.starts_with("only…") && line.ends_with("columns_of_room▏"), "{line}");
}

#[test]
fn a_damaged_recording_says_so() {
    let browser = Browser::new("cut", (100, 20), true);
    browser.sees("cut  DAMAGED (K)");
    assert!(!main_rows().has("DAMAGED"));
}
