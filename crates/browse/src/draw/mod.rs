//! The screen: one file a view. Nothing is decided here.

mod code;
mod flame;
mod menu;
mod page;
mod rows;
mod time;

use crate::app::{App, Overlay, Screen};
use crate::keys::View;
use crate::zoom::told;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use readperf_output::heading;
use readperf_output::short_name::shorten;
use readperf_output::text::{shown, width};

/// Draws what is to be seen.
pub fn draw(app: &App<'_>, frame: &mut Frame<'_>) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if area.height < 5 || area.width < 20 {
        buffer.set_stringn(area.x, area.y, "too small", usize::from(area.width), Style::new());
        return;
    }
    let line = |y: u16| Rect { y, height: 1, ..area };
    title(app, buffer, line(0));
    steps(app, buffer, line(1));
    let body = Rect { y: 2, height: area.height - 3, ..area };
    let told = match app.screens.last() {
        Some(Screen::Code(code)) => code::draw(app, code, buffer, body),
        Some(Screen::Flame(flame)) => flame::draw(app, flame, buffer, body),
        Some(Screen::Time(time)) => time::draw(app, time, buffer, body),
        Some(Screen::Page(page)) => page::draw(app, page, buffer, body),
        Some(Screen::Rows) | None => rows::draw(app, buffer, body),
    };
    status(app, &told, buffer, line(area.height - 1));
    if let Some(Overlay::Menu(menu)) = &app.overlay {
        menu::draw(app, menu, buffer, body);
    }
}

/// Puts a text at the beginning of a line, cut to its room.
fn put(buffer: &mut Buffer, area: Rect, text: &str, style: Style) {
    buffer.set_stringn(area.x, area.y, text, usize::from(area.width), style);
}

/// Fills a line with a style.
fn fill(buffer: &mut Buffer, area: Rect, style: Style) {
    buffer.set_style(area, style);
}

/// The recording and the event.
fn title(app: &App<'_>, buffer: &mut Buffer, area: Rect) {
    let profile = app.explorer.totals();
    let event = profile.events().get(app.state().event);
    let recorded = event.and_then(|event| profile.recorded().iter().find(|known| known.name == event.name));
    let about = event.map_or_else(String::new, |event| heading::samples(event, recorded.unwrap_or(event)));
    let events = profile.events().iter().filter(|event| event.samples > 0).count();
    let more = if events > 1 { format!("  (Tab: {events} events)") } else { String::new() };
    fill(buffer, area, app.theme.bar());
    put(buffer, area, &format!(" {}  {about}{more}", shown(&app.look.name)), app.theme.bar());
}

/// The steps that led here.
fn steps(app: &App<'_>, buffer: &mut Buffer, area: Rect) {
    let steps: Vec<String> = app.state().steps.iter().map(told).collect();
    let text = if steps.is_empty() { " all samples".to_owned() } else { format!(" {}", steps.join(" › ")) };
    let place = match app.screens.last() {
        Some(Screen::Code(code)) => format!("code of {}", code.title),
        Some(Screen::Flame(_)) if app.state().reversed => {
            "flame graph, from where samples were taken".to_owned()
        }
        Some(Screen::Flame(_)) => "flame graph".to_owned(),
        Some(Screen::Time(_)) => "time".to_owned(),
        Some(Screen::Page(page)) => page.title.clone(),
        Some(Screen::Rows) | None => String::new(),
    };
    let text = if place.is_empty() { text } else { format!("{text} › {place}") };
    put(buffer, area, &shorten(&text, usize::from(area.width)), app.theme.head());
}

/// The question, what is to be told, or what can be done.
fn status(app: &App<'_>, told: &str, buffer: &mut Buffer, area: Rect) {
    let theme = app.theme;
    if let Some(Overlay::Prompt(prompt)) = &app.overlay {
        let hint = match prompt.text.is_empty() && !prompt.default.is_empty() {
            true => format!("  (Enter: {})", shown(&prompt.default)),
            false => String::new(),
        };
        let text = format!("{}{}", prompt.question.text(), shown(&prompt.text));
        put(buffer, area, &text, theme.head());
        let x = u16::try_from(width(&text)).unwrap_or(u16::MAX);
        let rest = Rect {
            x: area.x.saturating_add(x).min(area.right()),
            width: area.width.saturating_sub(x),
            ..area
        };
        put(buffer, rest, &format!("▏{hint}"), theme.faint());
        return;
    }
    if !app.message.is_empty() {
        return put(buffer, area, &format!(" {}", app.message), theme.head());
    }
    let keys = match app.view() {
        View::Rows => {
            "? keys  Enter calls  a code  d t c zoom  / search  f x filter  W flame  T time  q quit"
        }
        View::Code => "? keys  Enter follow  Tab hot lines  s source  Esc back",
        View::Flame => "? keys  Enter zoom  Esc out  / search  a code  v turn",
        View::Time => "? keys  Space begin  ←→ move  Enter take  Esc back",
        View::Page => "Esc back  / search  P print",
    };
    let text = if told.is_empty() { format!(" {keys}") } else { format!(" {told}  │  {keys}") };
    put(buffer, area, &text, theme.faint());
}

/// The line of the cursor, below the heads.
fn mark_cursor(app: &App<'_>, line: usize, buffer: &mut Buffer, area: Rect) {
    let y = area.y.saturating_add(1).saturating_add(u16::try_from(line).unwrap_or(u16::MAX));
    if y < area.bottom() {
        fill(buffer, Rect { y, height: 1, ..area }, app.theme.cursor());
    }
}
