//! The code of a function.

use super::{mark_cursor, put};
use crate::app::App;
use crate::code::CodeScreen;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

pub(super) fn draw(app: &App<'_>, code: &CodeScreen, buffer: &mut Buffer, area: Rect) -> String {
    // The heads of the columns stay where they are seen.
    let heads = code.lines.iter().find(|line| line.numbers.is_none() && line.text.ends_with('│'));
    let heads = heads.map_or("", |line| line.text.as_str());
    put(buffer, Rect { height: 1, ..area }, heads, app.theme.head());
    let lines = code.lines.iter().skip(code.cursor.top).take(usize::from(area.height - 1));
    for (y, line) in (area.y + 1..).zip(lines) {
        let mut spans = Vec::new();
        if let Some((cells, heat)) = &line.numbers {
            spans.push(Span::styled(cells.as_str(), app.theme.of(*heat)));
            spans.push(Span::raw(" │"));
        }
        spans.push(Span::styled(line.text.as_str(), app.theme.of(line.style)));
        buffer.set_line(area.x, y, &Line::from(spans), area.width);
    }
    mark_cursor(app, code.cursor.at - code.cursor.top.min(code.cursor.at), buffer, area);
    code.told()
}
