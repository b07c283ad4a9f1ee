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
use readperf_output::heading::{self, Whole};
use readperf_output::short_name::shorten;
use readperf_output::text::{shown, width};

pub(crate) use self::rows::text as text_of_rows;

/// Draws what is to be seen.
pub fn draw(app: &App<'_>, frame: &mut Frame<'_>) {
    let area = frame.area();
    paint(app, frame.buffer_mut(), area);
}

/// What is to be seen as text: all but the line of keys. Without colours: frames of a flame graph have their ends then.
pub(crate) fn text(app: &mut App<'_>) -> String {
    let area = Rect::new(0, 0, app.size.0, app.size.1);
    let mut buffer = Buffer::empty(area);
    let color = std::mem::replace(&mut app.theme.color, false);
    paint(app, &mut buffer, area);
    app.theme.color = color;
    let cell = |x, y| buffer.cell((x, y)).map_or(" ", |cell| cell.symbol());
    let line = |y| (0..area.width).map(|x| cell(x, y)).collect::<String>();
    (0..area.height.saturating_sub(1)).map(|y| format!("{}\n", line(y).trim_end())).collect()
}

fn paint(app: &App<'_>, buffer: &mut Buffer, area: Rect) {
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

/// The recording, what it is compared with, whether it is damaged, and the event.
fn title(app: &App<'_>, buffer: &mut Buffer, area: Rect) {
    let profile = app.explorer.totals();
    let event = profile.events().get(app.state().event);
    let recorded = event.and_then(|event| profile.recorded().iter().find(|known| known.name == event.name));
    let about = event.map_or_else(String::new, |event| heading::samples(event, recorded.unwrap_or(event)));
    let events = profile.events().iter().filter(|event| event.samples > 0).count();
    let more = if events > 1 { format!("  (Tab: {events} events)") } else { String::new() };
    let base = app.look.base.as_ref().map(|base| format!("  since {}", shown(base)));
    let damaged = if app.explorer.analysis().issues.damaged() { "  DAMAGED (K)" } else { "" };
    let text = format!(" {}{}{damaged}  {about}{more}", shown(&app.look.name), base.unwrap_or_default());
    fill(buffer, area, app.theme.bar());
    put(buffer, area, &text, app.theme.bar());
}

/// The steps that led here.
fn steps(app: &App<'_>, buffer: &mut Buffer, area: Rect) {
    let steps: Vec<String> = app.state().steps.iter().map(told).collect();
    let mut text =
        if steps.is_empty() { " all samples".to_owned() } else { format!(" {}", steps.join(" › ")) };
    if app.state().rows.whole == Whole::Recorded {
        text.push_str(" (shares of all)");
    }
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
        // What is typed stays in sight: the question gives way, then the beginning of the answer.
        let room = usize::from(area.width).saturating_sub(1);
        let typed = shown(&prompt.text);
        let question = shorten(prompt.question.text(), room.saturating_sub(width(&typed)).max(room / 4));
        let text = format!("{question}{}", end_of(&typed, room.saturating_sub(width(&question))));
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
            "? keys  q quit  Enter calls  a code  W flame  T time  / search  f x filter  d t c zoom"
        }
        View::Code => "? keys  Enter follow  Tab hot lines  s source  Esc back",
        View::Flame => "? keys  Enter zoom  Esc out  / search  a code  v turn",
        View::Time => "? keys  Space begin  ←→ move  Enter take  Esc back",
        View::Page => "Esc back  / search  P print",
    };
    let text = if told.is_empty() { format!(" {keys}") } else { format!(" {told}  │  {keys}") };
    put(buffer, area, &text, theme.faint());
}

/// As much of the end of a text as has room.
fn end_of(text: &str, room: usize) -> &str {
    let mut starts = text.char_indices().map(|(at, _)| text.get(at..).unwrap_or_default());
    starts.find(|rest| width(rest) <= room).unwrap_or_default()
}

/// The line of the cursor, below the heads.
fn mark_cursor(app: &App<'_>, line: usize, buffer: &mut Buffer, area: Rect) {
    let y = area.y.saturating_add(1).saturating_add(u16::try_from(line).unwrap_or(u16::MAX));
    if y < area.bottom() {
        fill(buffer, Rect { y, height: 1, ..area }, app.theme.cursor());
    }
}
