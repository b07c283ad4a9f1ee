//! A page of text.

use super::{mark_cursor, put};
use crate::app::App;
use crate::page::Page;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

pub(super) fn draw(app: &App<'_>, page: &Page, buffer: &mut Buffer, area: Rect) -> String {
    put(buffer, Rect { height: 1, ..area }, &format!(" {}", page.title), app.theme.head());
    let lines = page.lines.iter().skip(page.cursor.top).take(usize::from(area.height - 1));
    for (y, line) in (area.y + 1..).zip(lines) {
        put(buffer, Rect { y, height: 1, ..area }, line, Style::new());
    }
    mark_cursor(app, page.cursor.at - page.cursor.top.min(page.cursor.at), buffer, area);
    format!("{}/{}", page.cursor.at + 1, page.lines.len())
}
