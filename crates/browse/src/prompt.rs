//! A line that the user types.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a line is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Search,
    Focus,
    Ignore,
    Least,
    Print,
}

impl Question {
    /// What stands before the line.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Question::Search => "search: ",
            Question::Focus => "only samples with a function that matches: ",
            Question::Ignore => "no samples with a function that matches: ",
            Question::Least => "least share in percent: ",
            Question::Print => "print to file: ",
        }
    }
}

/// A question and what has been typed.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    pub(crate) question: Question,
    pub(crate) text: String,
    /// What an empty line means.
    pub(crate) default: String,
}

/// What became of a prompt.
pub(crate) enum Typed {
    /// More may come.
    More,
    /// The line is complete.
    Line(String),
    /// It was given up.
    GivenUp,
}

impl Prompt {
    pub(crate) fn new(question: Question, default: String) -> Prompt {
        Prompt { question, text: String::new(), default }
    }

    /// Takes a key.
    pub(crate) fn key(&mut self, key: &KeyEvent) -> Typed {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => return Typed::GivenUp,
            KeyCode::Enter if self.text.is_empty() => return Typed::Line(self.default.clone()),
            KeyCode::Enter => return Typed::Line(self.text.clone()),
            KeyCode::Backspace => {
                self.text.pop();
            }
            KeyCode::Char('u') if control => self.text.clear(),
            KeyCode::Char('w') if control => {
                let kept = self.text.trim_end().rfind(' ').map_or(0, |space| space + 1);
                self.text.truncate(kept);
            }
            KeyCode::Char(c) if !control => self.text.push(c),
            _ => {}
        }
        Typed::More
    }
}
