//! Colours: those of the terminal, so that they suit light and dark backgrounds alike.

use ratatui::style::{Color, Modifier, Style};
use readperf_output::overview;

/// Styles, with colours or without.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    pub(crate) color: bool,
}

impl Theme {
    /// A style of the texts of other commands.
    pub(crate) fn of(self, style: anstyle::Style) -> Style {
        let mut shown = Style::new();
        if style.get_effects().contains(anstyle::Effects::BOLD) {
            shown = shown.add_modifier(Modifier::BOLD);
        }
        match style.get_fg_color() {
            Some(anstyle::Color::Ansi(color)) if self.color => shown.fg(ansi(color)),
            _ => shown,
        }
    }

    /// The heat of a share in percent; the same steps as in reports.
    pub(crate) fn heat(self, share: f64) -> Style {
        self.of(overview::style(share))
    }

    /// Titles and status lines.
    pub(crate) fn bar(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Heads of columns.
    pub(crate) fn head(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What matters less.
    pub(crate) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// The line that the cursor is on.
    pub(crate) fn cursor(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// A background with text on it that can be read; without colours nothing.
    pub(crate) fn fill(self, color: Color) -> Style {
        if self.color { Style::new().bg(color).fg(Color::Black) } else { Style::new() }
    }
}

fn ansi(color: anstyle::AnsiColor) -> Color {
    use anstyle::AnsiColor as A;
    match color {
        A::Black => Color::Black,
        A::Red => Color::Red,
        A::Green => Color::Green,
        A::Yellow => Color::Yellow,
        A::Blue => Color::Blue,
        A::Magenta => Color::Magenta,
        A::Cyan => Color::Cyan,
        A::White => Color::Gray,
        A::BrightBlack => Color::DarkGray,
        A::BrightRed => Color::LightRed,
        A::BrightGreen => Color::LightGreen,
        A::BrightYellow => Color::LightYellow,
        A::BrightBlue => Color::LightBlue,
        A::BrightMagenta => Color::LightMagenta,
        A::BrightCyan => Color::LightCyan,
        A::BrightWhite => Color::White,
    }
}
