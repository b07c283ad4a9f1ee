//! Menus: what can be done here, or which of several is meant.

use crate::keys::{Action, BINDINGS, View};
use crate::list::{Cursor, Move};
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use readperf_explore::Step;

/// What an item does.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    Act(Action),
    Take(Step),
}

/// A menu on the screen.
#[derive(Clone, Debug)]
pub(crate) struct Menu {
    pub(crate) title: String,
    pub(crate) items: Vec<(String, Choice)>,
    pub(crate) cursor: Cursor,
}

/// What became of a menu.
pub(crate) enum Chosen {
    /// Nothing yet.
    Waits,
    /// An item was chosen.
    Item(Choice),
    /// It was given up.
    GivenUp,
}

impl Menu {
    /// What can be done in a view.
    pub(crate) fn of(view: View) -> Menu {
        let is_moving =
            |action: Action| matches!(action, Action::Go(_) | Action::Menu | Action::Next | Action::Previous);
        let here =
            BINDINGS.iter().filter(|binding| binding.views.contains(&view) && !is_moving(binding.action));
        let items = here
            .map(|binding| (format!("{:<8} {}", binding.name, binding.help), Choice::Act(binding.action)));
        Menu { title: "what can be done here".to_owned(), items: items.collect(), cursor: Cursor::default() }
    }

    /// Takes a key; so many items are seen.
    pub(crate) fn key(&mut self, key: &KeyEvent, seen: usize) -> Chosen {
        let step = match key.code {
            KeyCode::Esc | KeyCode::Left | KeyCode::Char('q' | 'm') => return Chosen::GivenUp,
            KeyCode::Enter | KeyCode::Right => {
                let item = self.items.get(self.cursor.at);
                return item.map_or(Chosen::GivenUp, |(_, choice)| Chosen::Item(choice.clone()));
            }
            KeyCode::Up | KeyCode::Char('k') => Move::Up,
            KeyCode::Down | KeyCode::Char('j') => Move::Down,
            KeyCode::PageUp => Move::PageUp,
            KeyCode::PageDown => Move::PageDown,
            KeyCode::Home | KeyCode::Char('g') => Move::First,
            KeyCode::End | KeyCode::Char('G') => Move::Last,
            _ => return Chosen::Waits,
        };
        self.cursor.step(step, self.items.len(), seen);
        Chosen::Waits
    }
}
