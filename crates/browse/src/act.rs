//! What the keys do.

use crate::app::{App, Overlay, Screen};
use crate::code::CodeScreen;
use crate::draw;
use crate::flame::FlameScreen;
use crate::host::PrintForm;
use crate::keys::{Action, View};
use crate::list::Move;
use crate::menu::{Choice, Menu};
use crate::page::{Page, find};
use crate::prompt::Question;
use crate::time::TimeScreen;
use readperf_explore::Step;
use readperf_output::text::shown;
use readperf_profile::{Whole, pattern};

impl App<'_> {
    /// Does what a key stands for.
    pub(crate) fn act(&mut self, action: Action) {
        match action {
            Action::Go(step) => self.step(step),
            Action::Open => self.open(),
            Action::Left => self.left(),
            Action::Back => self.back(),
            Action::Code => self.show_code(),
            Action::ZoomBinary => self.zoom_binary(),
            Action::ZoomThread => self.zoom_thread(),
            Action::ZoomComm => self.zoom_comm(),
            Action::Toggle => self.toggle(),
            Action::OpenAll => self.open_all(),
            Action::CloseAll => self.close_all(),
            Action::TurnAround => self.turn_around(),
            Action::Search => self.ask(Question::Search, String::new()),
            Action::Next => self.search_on(true),
            Action::Previous => self.search_on(false),
            Action::Focus => self.ask(Question::Focus, self.pattern_here()),
            Action::Ignore => self.ask(Question::Ignore, self.pattern_here()),
            Action::Whole => self.change_whole(),
            Action::Least => self.ask(Question::Least, "0.5".to_owned()),
            Action::Details => self.show_details(),
            Action::Menu => self.overlay = Some(Overlay::Menu(Menu::of(self.view()))),
            Action::Sort => self.sort_by_next(),
            Action::NextEvent => self.change_event(true),
            Action::PreviousEvent => self.change_event(false),
            Action::Source => self.in_code(CodeScreen::turn_source),
            Action::Hottest => self.in_code(|code, app| code.go_to_hot(app, Some(0))),
            Action::NextHot => self.in_code(|code, app| code.go_to_hot(app, None)),
            Action::PreviousHot => self.in_code(CodeScreen::go_to_hot_before),
            Action::Time => self.show_time(),
            Action::Flame => self.show_flame(),
            Action::Mark => self.in_time(TimeScreen::begin),
            Action::Print => self.ask(Question::Print, "readperf.txt".to_owned()),
            Action::Info => self.show_info(),
            Action::Check => self.show_check(),
            Action::Help => self.show_page(Page::help()),
            Action::Quit => self.quit(),
        }
    }

    fn step(&mut self, step: Move) {
        let (seen, len) = (self.seen(), self.rows.lines.len());
        match self.screens.last_mut() {
            Some(Screen::Code(code)) => code.cursor.step(step, code.lines.len(), seen),
            Some(Screen::Page(page)) => page.cursor.step(step, page.lines.len(), seen),
            Some(Screen::Flame(flame)) => flame.step(step, seen),
            Some(Screen::Time(time)) => time.step(step),
            Some(Screen::Rows) | None => self.rows.cursor.step(step, len, seen),
        }
    }

    fn open(&mut self) {
        match self.view() {
            View::Rows => self.open_here(),
            View::Code => self.in_code(CodeScreen::follow),
            View::Flame => self.in_flame(FlameScreen::zoom_in),
            View::Time => self.take_time(),
            View::Page => {}
        }
    }

    fn back(&mut self) {
        let stays = match self.screens.last_mut() {
            Some(Screen::Code(code)) => code.return_from_jump(),
            Some(Screen::Flame(flame)) => {
                let (width, seen) = (self.size.0, usize::from(self.size.1.saturating_sub(4)).max(1));
                flame.zoom_out(&self.explorer, width, seen)
            }
            Some(Screen::Time(time)) => time.forget(),
            Some(Screen::Page(_)) => false,
            Some(Screen::Rows) | None => return self.take_back(),
        };
        if !stays {
            self.leave();
        }
    }

    /// Takes the last step back.
    pub(crate) fn take_back(&mut self) {
        let mut state = self.state().clone();
        match state.steps.pop() {
            Some(_) => self.go(state),
            None => self.message = "all samples are shown: nothing to take back; q quits".to_owned(),
        }
    }

    /// Goes a step further.
    pub(crate) fn take(&mut self, step: Step) {
        let mut state = self.state().clone();
        state.steps.push(step);
        self.go(state);
        let left: u64 = self.explorer.totals().events().iter().map(|event| event.samples).sum();
        if left == 0 {
            self.message = "no samples are left; Esc takes the last step back".to_owned();
        }
    }

    /// Does what an item of a menu says.
    pub(crate) fn choose(&mut self, choice: Choice) {
        match choice {
            Choice::Act(action) => self.act(action),
            Choice::Take(step) => self.take(step),
        }
    }

    /// Takes a line that was asked for.
    pub(crate) fn answer(&mut self, question: Question, line: &str) {
        match question {
            Question::Search => match pattern(line) {
                _ if line.is_empty() => self.pattern = None,
                Ok(found) => {
                    self.pattern = Some(found);
                    self.search_on(true);
                }
                Err(error) => self.message = error,
            },
            Question::Focus | Question::Ignore if line.is_empty() => {}
            Question::Focus => self.take_pattern(Step::focus(line)),
            Question::Ignore => self.take_pattern(Step::ignore(line)),
            Question::Least => match line.trim_end_matches('%').trim().parse::<f64>() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => {
                    let mut state = self.state().clone();
                    state.rows.least_percent = percent;
                    self.go(state);
                }
                _ => self.message = format!("{} is no share from 0 to 100", shown(line)),
            },
            Question::Print => self.print(line),
        }
    }

    fn take_pattern(&mut self, step: Result<Step, String>) {
        match step {
            Ok(step) => self.take(step),
            Err(error) => self.message = error,
        }
    }

    /// Goes to the next line that matches.
    fn search_on(&mut self, forward: bool) {
        let Some(pattern) = self.pattern.clone() else {
            self.message = "nothing was searched for: / searches".to_owned();
            return;
        };
        let seen = self.seen();
        let found = match self.screens.last_mut() {
            Some(Screen::Page(page)) => {
                let found = page.find(&pattern, forward);
                found.map(|at| page.cursor.go(at, page.lines.len(), seen)).is_some()
            }
            Some(Screen::Code(code)) => {
                let text = |nr: usize| code.lines.get(nr).map_or("", |line| line.text.as_str());
                let found = find(code.lines.len(), code.cursor.at, forward, |nr| pattern.is_match(text(nr)));
                found.map(|at| code.cursor.go(at, code.lines.len(), seen)).is_some()
            }
            Some(Screen::Flame(flame)) => {
                let told = flame.search(&self.explorer, &pattern, forward, seen);
                self.message = told;
                return;
            }
            Some(Screen::Time(time)) => time.find(&self.explorer, &pattern, forward),
            Some(Screen::Rows) | None => self.find_row(&pattern, forward),
        };
        if !found {
            self.message = format!("nothing matches {}", shown(pattern.as_str()));
        }
    }

    fn change_whole(&mut self) {
        let mut state = self.state().clone();
        state.rows.whole = match state.rows.whole {
            Whole::Chosen => Whole::Recorded,
            Whole::Recorded => Whole::Chosen,
        };
        let of = match state.rows.whole {
            Whole::Chosen => "shares are of the samples chosen",
            Whole::Recorded => "shares are of all samples",
        };
        self.go(state);
        self.message = of.to_owned();
    }

    /// The next event that has samples.
    fn change_event(&mut self, forward: bool) {
        let events = self.explorer.totals().events();
        let next = find(events.len(), self.state().event, forward, |nr| {
            events.get(nr).is_some_and(|event| event.samples > 0)
        });
        match next.filter(|next| *next != self.state().event) {
            Some(event) => {
                let mut state = self.state().clone();
                state.event = event;
                self.go(state);
            }
            None => self.message = "there is no other event with samples".to_owned(),
        }
    }

    pub(crate) fn show_page(&mut self, page: Page) {
        let page = page.folded(self.width());
        // Keys show the same page again: one is enough.
        if matches!(self.screens.last(), Some(Screen::Page(open)) if open.title == page.title) {
            return self.leave();
        }
        self.show(Screen::Page(page));
    }

    fn show_info(&mut self) {
        match self.host.info(&self.explorer.analysis().metadata) {
            Ok(text) => self.show_page(Page::new("recording", &text)),
            Err(why) => self.message = why,
        }
    }

    fn show_check(&mut self) {
        match self.host.check() {
            Ok(text) => self.show_page(Page::new("check", &text)),
            Err(why) => self.message = why,
        }
    }

    fn show_time(&mut self) {
        let time = TimeScreen::new(&self.explorer, self.size.0);
        match time {
            Some(_) if self.view() == View::Time => self.leave(),
            Some(time) => self.show(Screen::Time(time)),
            None if self.explorer.profile().events().iter().all(|event| event.samples == 0) => {
                self.message = "there are no samples; K checks the recording".to_owned();
            }
            None => self.message = "samples have no times: perf record -T keeps them".to_owned(),
        }
    }

    fn show_flame(&mut self) {
        if self.view() == View::Flame {
            return self.leave();
        }
        let flame = FlameScreen::new(&self.explorer, self.size.0, self.seen());
        self.show(Screen::Flame(flame));
    }

    /// Writes what is seen to a file.
    fn print(&mut self, name: &str) {
        if name.is_empty() {
            return;
        }
        let form = PrintForm::of_name(name);
        let content = match (self.screens.last(), form) {
            (Some(Screen::Page(page)), _) => page.lines.join("\n") + "\n",
            (Some(Screen::Code(code)), form) => code.printed(self, form),
            (Some(Screen::Flame(_) | Screen::Time(_)), PrintForm::Text) => draw::text(self),
            (Some(Screen::Flame(_) | Screen::Time(_)), PrintForm::Json) => {
                self.message = "a picture is written as text; readperf export writes JSON".to_owned();
                return;
            }
            (Some(Screen::Rows) | None, PrintForm::Text) if self.rows.changes.is_some() => {
                draw::text_of_rows(self)
            }
            (Some(Screen::Rows) | None, form) => self.printed_rows(form),
        };
        self.message = match self.host.write_file(name, content.as_bytes()) {
            Ok(()) => format!("written to {}", shown(name)),
            Err(why) => why,
        };
    }

    /// Works with the code that is shown.
    fn in_code(&mut self, work: impl FnOnce(&mut CodeScreen, &mut Self)) {
        self.in_screen(|screen, app| {
            if let Screen::Code(code) = screen {
                work(code, app);
            }
        });
    }

    pub(crate) fn in_flame(&mut self, work: impl FnOnce(&mut FlameScreen, &mut Self)) {
        self.in_screen(|screen, app| {
            if let Screen::Flame(flame) = screen {
                work(flame, app);
            }
        });
    }

    pub(crate) fn in_time(&mut self, work: impl FnOnce(&mut TimeScreen)) {
        if let Some(Screen::Time(time)) = self.screens.last_mut() {
            work(time);
        }
    }

    /// Works with the screen on top and all else. What is shown over it meanwhile stays over it.
    fn in_screen(&mut self, work: impl FnOnce(&mut Screen, &mut Self)) {
        let at = self.screens.len().saturating_sub(1);
        let Some(mut screen) = self.screens.pop() else { return };
        work(&mut screen, self);
        self.screens.insert(at.min(self.screens.len()), screen);
    }
}
