//! The state of the screen, and what keys and clicks make of it.

use crate::code::CodeScreen;
use crate::flame::FlameScreen;
use crate::host::Host;
use crate::keys::{Action, View, binding, not_here};
use crate::menu::{Chosen, Menu};
use crate::page::Page;
use crate::prompt::{Prompt, Question, Typed};
use crate::rows::RowsScreen;
use crate::theme::Theme;
use crate::time::TimeScreen;
use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use readperf_explore::{Explorer, State};
use readperf_output::report::CellStyle;
use readperf_profile::view::column::Column;
use regex::Regex;

/// Lines that the wheel of a mouse moves by.
const WHEEL: usize = 3;

/// What the screen looks like, as options say.
#[derive(Clone, Debug)]
pub struct Look {
    /// The recording, as the user named it.
    pub name: String,
    /// The recording that it is compared with, if there is one.
    pub base: Option<String>,
    /// The columns of rows, from left to right.
    pub columns: Vec<Column>,
    /// How values are shown.
    pub cells: CellStyle,
    /// Whether there are colours.
    pub color: bool,
}

/// What is shown now.
#[derive(Debug)]
pub(crate) enum Screen {
    Rows,
    Code(CodeScreen),
    Flame(FlameScreen),
    Time(TimeScreen),
    Page(Page),
}

impl Screen {
    fn view(&self) -> View {
        match self {
            Screen::Rows => View::Rows,
            Screen::Code(_) => View::Code,
            Screen::Flame(_) => View::Flame,
            Screen::Time(_) => View::Time,
            Screen::Page(_) => View::Page,
        }
    }
}

/// What lies over the screen.
#[derive(Debug)]
pub(crate) enum Overlay {
    Prompt(Prompt),
    Menu(Menu),
}

/// The state of the screen.
pub struct App<'f> {
    pub(crate) explorer: Explorer<'f>,
    pub(crate) host: Box<dyn Host + 'f>,
    pub(crate) look: Look,
    pub(crate) theme: Theme,
    /// Columns and lines of the terminal.
    pub(crate) size: (u16, u16),
    pub(crate) rows: RowsScreen,
    /// What is over the rows, the last on top.
    pub(crate) screens: Vec<Screen>,
    pub(crate) overlay: Option<Overlay>,
    pub(crate) message: String,
    pub(crate) pattern: Option<Regex>,
    is_done: bool,
}

impl std::fmt::Debug for App<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("size", &self.size)
            .field("screens", &self.screens)
            .finish_non_exhaustive()
    }
}

impl<'f> App<'f> {
    /// The rows of a recording, on a terminal of so many columns and lines.
    pub fn new(explorer: Explorer<'f>, host: Box<dyn Host + 'f>, look: Look, size: (u16, u16)) -> App<'f> {
        let theme = Theme { color: look.color };
        let mut app = App {
            explorer,
            host,
            look,
            theme,
            size,
            rows: RowsScreen::default(),
            screens: vec![Screen::Rows],
            overlay: None,
            message: String::new(),
            pattern: None,
            is_done: false,
        };
        app.renew_rows();
        app.sort_by_change(app.rows.changes.is_some());
        app
    }

    /// Whether the user has ended it.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// What is looked at.
    pub fn state(&self) -> &State {
        self.explorer.state()
    }

    /// What the browser looks into.
    pub fn explorer(&self) -> &Explorer<'f> {
        &self.explorer
    }

    /// What is shown now.
    pub fn view(&self) -> View {
        self.screens.last().map_or(View::Rows, Screen::view)
    }

    pub(crate) fn quit(&mut self) {
        self.is_done = true;
    }

    /// Takes a key, a click, or another size of the terminal. Returns whether something may have changed.
    pub fn handle(&mut self, event: &Event) -> bool {
        match event {
            // Escape and a key that follow each other at once look like that key with Alt; nothing is bound to Alt.
            Event::Key(key)
                if key.kind != KeyEventKind::Release && key.modifiers.contains(KeyModifiers::ALT) =>
            {
                let back = self.handle(&Event::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE)));
                let key = KeyEvent { modifiers: key.modifiers.difference(KeyModifiers::ALT), ..*key };
                self.handle(&Event::Key(key)) || back
            }
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key),
            Event::Mouse(mouse) => self.mouse(mouse),
            Event::Resize(columns, lines) => {
                self.size = (*columns, *lines);
                self.fit();
                true
            }
            _ => false,
        }
    }

    fn key(&mut self, key: &KeyEvent) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if control && matches!(key.code, KeyCode::Char('c')) {
            self.quit();
            return true;
        }
        match self.overlay.take() {
            Some(Overlay::Prompt(mut prompt)) => match prompt.key(key) {
                Typed::More => self.overlay = Some(Overlay::Prompt(prompt)),
                Typed::Line(line) => self.answer(prompt.question, &line),
                Typed::GivenUp => {}
            },
            Some(Overlay::Menu(mut menu)) => match menu.key(key, self.seen()) {
                Chosen::Waits => self.overlay = Some(Overlay::Menu(menu)),
                Chosen::Item(choice) => self.choose(choice),
                Chosen::GivenUp => {}
            },
            None => {
                self.message.clear();
                match binding(key, self.view()) {
                    Some(binding) => self.act(binding.action),
                    None => self.message = not_here(key).unwrap_or_default().to_owned(),
                }
            }
        }
        true
    }

    fn mouse(&mut self, mouse: &MouseEvent) -> bool {
        if self.overlay.is_some() {
            return false;
        }
        let step = match mouse.kind {
            MouseEventKind::ScrollUp => crate::list::Move::Up,
            MouseEventKind::ScrollDown => crate::list::Move::Down,
            MouseEventKind::Down(MouseButton::Left) => {
                self.message.clear();
                self.click(mouse.column, mouse.row);
                return true;
            }
            MouseEventKind::Drag(MouseButton::Left) => {
                self.drag(mouse.column);
                return true;
            }
            _ => return false,
        };
        (0..WHEEL).for_each(|_| self.act(Action::Go(step)));
        true
    }

    /// How many lines of a list are seen: without title, steps, heads and status.
    pub(crate) fn seen(&self) -> usize {
        usize::from(self.size.1.saturating_sub(4)).max(1)
    }

    /// How many columns there are.
    pub(crate) fn width(&self) -> usize {
        usize::from(self.size.0)
    }

    /// Asks something.
    pub(crate) fn ask(&mut self, question: Question, default: String) {
        self.overlay = Some(Overlay::Prompt(Prompt::new(question, default)));
    }

    /// Shows something over what is shown.
    pub(crate) fn show(&mut self, screen: Screen) {
        self.screens.push(screen);
    }

    /// Back to what is below. The rows stay.
    pub(crate) fn leave(&mut self) {
        if self.screens.len() > 1 {
            self.screens.pop();
            self.fit();
        }
    }

    /// Looks at something else, and makes all that is shown anew. The cursor stays on its row, if there still is one like it.
    pub(crate) fn go(&mut self, state: State) {
        let here = self.values_of_row();
        self.explorer.go(state);
        self.renew_rows();
        self.go_to_row(&here);
        self.renew_screens();
    }

    /// Makes all screens anew from what is looked at. Code of which there is nothing any more goes.
    fn renew_screens(&mut self) {
        let (width, seen) = (self.size.0, self.seen());
        for mut screen in std::mem::take(&mut self.screens) {
            let stays = match &mut screen {
                Screen::Flame(flame) => {
                    flame.renew(&self.explorer, width, seen);
                    true
                }
                Screen::Time(time) => {
                    time.renew(&self.explorer, width);
                    true
                }
                Screen::Code(code) => code.look_again(self),
                Screen::Rows | Screen::Page(_) => true,
            };
            if stays {
                self.screens.push(screen);
            }
        }
    }

    /// Makes what is shown fit the terminal.
    fn fit(&mut self) {
        let (width, seen) = (self.size.0, self.seen());
        let len = self.rows.lines.len();
        self.rows.cursor.go(self.rows.cursor.at, len, seen);
        match self.screens.last_mut() {
            Some(Screen::Flame(flame)) => flame.fit(&self.explorer, width, seen),
            Some(Screen::Time(time)) => time.fit(&self.explorer, width),
            Some(Screen::Code(code)) => code.cursor.go(code.cursor.at, code.lines.len(), seen),
            Some(Screen::Page(page)) => page.cursor.go(page.cursor.at, page.lines.len(), seen),
            Some(Screen::Rows) | None => {}
        }
    }
}
