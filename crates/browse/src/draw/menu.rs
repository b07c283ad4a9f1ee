//! A menu over what is seen.

use super::put;
use crate::app::App;
use crate::menu::Menu;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use readperf_output::short_name::without_middle;
use readperf_output::text::width;

/// A menu in the middle of the screen.
pub(super) fn draw(app: &App<'_>, menu: &Menu, buffer: &mut Buffer, area: Rect) {
    let widest = menu.items.iter().map(|(label, _)| width(label)).max().unwrap_or(0).max(width(&menu.title));
    let columns = u16::try_from(widest + 4).unwrap_or(u16::MAX).min(area.width);
    let lines = u16::try_from(menu.items.len() + 2).unwrap_or(u16::MAX).min(area.height);
    let (x, y) = (area.x + (area.width - columns) / 2, area.y + (area.height - lines) / 2);
    let place = Rect { x, y, width: columns, height: lines };
    let room = usize::from(columns);
    let line = |nr: u16| Rect { y: y + nr, height: 1, ..place };
    let seen = usize::from(lines.saturating_sub(2)).max(1);
    let top = menu.cursor.top.max((menu.cursor.at + 1).saturating_sub(seen)).min(menu.cursor.at);
    let bar = app.theme.bar();
    put(buffer, line(0), &format!("{:<room$}", format!(" {}", menu.title)), bar);
    for (nr, (at, (label, _))) in (1..lines - 1).zip(menu.items.iter().enumerate().skip(top)) {
        let style = if at == menu.cursor.at { app.theme.cursor() } else { Style::new() };
        let text = format!("  {}", without_middle(label, room.saturating_sub(4)));
        let pad = room.saturating_sub(width(&text));
        put(buffer, line(nr), &format!("{text}{:pad$}", ""), Style::reset().patch(style));
    }
    put(buffer, line(lines - 1), &format!("{:<room$}", " Enter takes, Esc leaves"), bar);
}
