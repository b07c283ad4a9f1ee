//! The screen: one function a view. Nothing is decided here.

use crate::app::{App, Overlay, Screen};
use crate::code::CodeScreen;
use crate::flame::FlameScreen;
use crate::keys::View;
use crate::menu::Menu;
use crate::page::Page;
use crate::rows::LineAt;
use crate::time::TimeScreen;
use crate::zoom::told;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use readperf_explore::{Change, FlameCell, Label};
use readperf_output::heading;
use readperf_output::overview::share;
use readperf_output::report::Report;
use readperf_output::short_name::{shorten, without_middle};
use readperf_output::table::{ColumnKind, Table, TableColumn};
use readperf_output::text::{grouped, shown, shown_bytes, width};
use readperf_profile::CodeKind;
use readperf_profile::diff::Presence;
use readperf_profile::view::flame_layout::BoxContent;
use readperf_profile::view::flame_tree::Sum;
use readperf_profile::view::histogram::{Histogram, HistogramRow};

/// Rows whose text columns are made to fit, besides those on the screen: so that columns do not jump while one scrolls.
const FITTED: usize = 100;
/// Calls farther in than this are not indented more.
const DEEPEST: usize = 40;
/// How high the strip of all samples is, in lines.
const STRIP: u16 = 6;
/// Bars of one line, from nothing to all.
const BARS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

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
        Some(Screen::Code(code)) => code_view(app, code, buffer, body),
        Some(Screen::Flame(flame)) => flame_view(app, flame, buffer, body),
        Some(Screen::Time(time)) => time_view(app, time, buffer, body),
        Some(Screen::Page(page)) => page_view(app, page, buffer, body),
        Some(Screen::Rows) | None => rows_view(app, buffer, body),
    };
    status(app, &told, buffer, line(area.height - 1));
    if let Some(Overlay::Menu(menu)) = &app.overlay {
        menu_view(app, menu, buffer, body);
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
    let profile = app.explorer.profile();
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

fn rows_view(app: &App<'_>, buffer: &mut Buffer, area: Rect) -> String {
    app.with_report(|report, histogram| rows_of(app, report, histogram, buffer, area))
}

fn rows_of(
    app: &App<'_>,
    report: &Report<'_>,
    histogram: &Histogram,
    buffer: &mut Buffer,
    area: Rect,
) -> String {
    if histogram.rows.is_empty() {
        put(buffer, Rect { y: area.y + 1, ..area }, "  no samples", Style::new());
        return String::new();
    }
    let seen = app.rows.lines.iter().skip(app.rows.cursor.top).take(usize::from(area.height - 1));
    let seen: Vec<LineAt> = seen.copied().collect();
    let mut table = fitted(app, report, histogram, &seen, usize::from(area.width).saturating_sub(2));
    let head = Rect { height: 1, ..area };
    put(buffer, head, &format!("  {}", table.head_line()), app.theme.head());
    for (y, line) in (area.y + 1..).zip(&seen) {
        let area = Rect { y, height: 1, ..area };
        let Some(row) = histogram.rows.get(line.row) else { continue };
        let (text, style) = match line.call {
            None => {
                let mark = match app.rows.open.get(&row.key) {
                    Some(calls) if calls.lines.is_empty() => "  ",
                    Some(_) => "▾ ",
                    None => "▸ ",
                };
                let cells = all_cells(app, report, histogram, row);
                (format!("{mark}{}", table.line(&cells)), app.theme.heat(report.share(histogram, row)))
            }
            Some(call) => call_line(app, report, histogram, row, call, usize::from(area.width)),
        };
        put(buffer, area, &text, style);
    }
    mark_cursor(app, app.rows.cursor.at - app.rows.cursor.top.min(app.rows.cursor.at), buffer, area);
    let left_out = histogram.left_out.rows;
    let below = format!(", {} below {} %", grouped(left_out), report.percent_limit);
    let place =
        format!("{}/{}", grouped(app.rows.cursor.at as u64 + 1), grouped(app.rows.lines.len() as u64));
    format!("{place}{}", if left_out > 0 { below } else { String::new() })
}

/// The line of the cursor, below the heads.
fn mark_cursor(app: &App<'_>, line: usize, buffer: &mut Buffer, area: Rect) {
    let y = area.y.saturating_add(1).saturating_add(u16::try_from(line).unwrap_or(u16::MAX));
    if y < area.bottom() {
        fill(buffer, Rect { y, height: 1, ..area }, app.theme.cursor());
    }
}

/// The columns, as wide as what is in them.
fn fitted(app: &App<'_>, report: &Report<'_>, histogram: &Histogram, seen: &[LineAt], room: usize) -> Table {
    let mut heads = report.heads(histogram);
    if app.rows.changes.is_some() {
        let numbers = heads.iter().take_while(|(_, kind)| *kind == ColumnKind::Number).count();
        let more = ["before", "change"].map(|head| (head.to_owned(), ColumnKind::Number));
        heads.splice(numbers..numbers, more);
    }
    let columns = heads.into_iter().map(|(head, kind)| TableColumn::new(&head, kind, None)).collect();
    let mut table = Table::new(columns, Some(room));
    let rows = seen.iter().filter(|line| line.call.is_none()).filter_map(|line| histogram.rows.get(line.row));
    for row in histogram.rows.iter().take(FITTED).chain(rows) {
        table.fit(&all_cells(app, report, histogram, row));
    }
    table
}

/// The cells of a row, with its change if another recording is compared with.
fn all_cells(app: &App<'_>, report: &Report<'_>, histogram: &Histogram, row: &HistogramRow) -> Vec<String> {
    let mut cells = report.cells(histogram, row);
    if let Some(changes) = &app.rows.changes {
        let heads = report.heads(histogram);
        let numbers = heads.iter().take_while(|(_, kind)| *kind == ColumnKind::Number).count();
        let more = changes.rows.get(&row.key).map_or_else(Default::default, change_cells);
        cells.splice(numbers..numbers, more);
    }
    cells
}

fn change_cells(change: &Change) -> [String; 2] {
    let before = match change.presence {
        Presence::New => "new".to_owned(),
        Presence::Both | Presence::Gone => format!("{:.2} %", change.before),
    };
    [before, format!("{:+.2} %", change.now - change.before)]
}

fn call_line(
    app: &App<'_>,
    report: &Report<'_>,
    histogram: &Histogram,
    row: &HistogramRow,
    call: usize,
    room: usize,
) -> (String, Style) {
    let Some(line) = app.rows.open.get(&row.key).and_then(|calls| calls.lines.get(call)) else {
        return (String::new(), Style::new());
    };
    let whole = match app.state().rows.whole {
        readperf_profile::Whole::Chosen => histogram.total.period,
        readperf_profile::Whole::Recorded => {
            let recorded = report.recorded.iter().find(|known| known.name == histogram.total.name);
            recorded.map_or(0, |recorded| recorded.period)
        }
    };
    let indent = " ".repeat(4 + 2 * usize::try_from(line.depth).unwrap_or(0).min(DEEPEST));
    let Some(frame) = &line.frame else {
        let left_out = line.left_out;
        let percent = share(left_out.period, whole);
        return (
            format!("{indent}{percent:>6.2} %    … {} more", grouped(left_out.count)),
            app.theme.faint(),
        );
    };
    let percent = share(frame.period, whole);
    let mark = match (line.is_open, frame.has_more) {
        (true, _) => "▾",
        (false, true) => "▸",
        (false, false) => " ",
    };
    let start = format!("{indent}{percent:>6.2} %  {mark} ");
    let name = report.frame_name(frame.frame);
    let name = shorten(&name, room.saturating_sub(width(&start)));
    (format!("{start}{name}"), app.theme.heat(percent))
}

fn code_view(app: &App<'_>, code: &CodeScreen, buffer: &mut Buffer, area: Rect) -> String {
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

fn page_view(app: &App<'_>, page: &Page, buffer: &mut Buffer, area: Rect) -> String {
    put(buffer, Rect { height: 1, ..area }, &format!(" {}", page.title), app.theme.head());
    let lines = page.lines.iter().skip(page.cursor.top).take(usize::from(area.height - 1));
    for (y, line) in (area.y + 1..).zip(lines) {
        put(buffer, Rect { y, height: 1, ..area }, line, Style::new());
    }
    mark_cursor(app, page.cursor.at - page.cursor.top.min(page.cursor.at), buffer, area);
    format!("{}/{}", page.cursor.at + 1, page.lines.len())
}

fn flame_view(app: &App<'_>, flame: &FlameScreen, buffer: &mut Buffer, area: Rect) -> String {
    for (nr, cell) in flame.window.cells.iter().enumerate() {
        let Some(line) = usize::try_from(cell.depth).ok().and_then(|depth| depth.checked_sub(flame.top))
        else {
            continue;
        };
        let y = area.y.saturating_add(u16::try_from(line).unwrap_or(u16::MAX));
        let (from, to) = flame.columns(cell);
        if y >= area.bottom() || from >= to {
            continue;
        }
        let place = Rect { x: area.x + from, y, width: to - from, height: 1 };
        flame_cell(app, flame, cell, nr == flame.at, buffer, place);
    }
    flame.told(&app.explorer)
}

/// A frame: its name on the colour of its kind. One column stays free between neighbours, as far as there is room.
fn flame_cell(
    app: &App<'_>,
    flame: &FlameScreen,
    cell: &FlameCell,
    is_here: bool,
    buffer: &mut Buffer,
    place: Rect,
) {
    let is_found = flame.matching.as_ref().is_some_and(|matching| matching.has(cell));
    let mut style = app.theme.fill(if is_found { Color::Magenta } else { kind_color(app, cell) });
    if is_found {
        style = style.add_modifier(Modifier::BOLD);
    }
    if is_here {
        style = style.add_modifier(Modifier::REVERSED);
    }
    let room = usize::from(if place.width > 1 { place.width - 1 } else { 1 });
    let name = flame.cell_name(&app.explorer, cell);
    let text = match app.theme.color {
        true => shorten(&shown(&name), room).into_owned(),
        // Without colours the ends of a frame are drawn.
        false => format!("[{}", shorten(&shown(&name), room.saturating_sub(1))),
    };
    let inner = Rect { width: u16::try_from(room).unwrap_or(place.width), ..place };
    fill(buffer, inner, style);
    put(buffer, inner, &text, style);
}

fn kind_color(app: &App<'_>, cell: &FlameCell) -> Color {
    let BoxContent::Level(level) = cell.what else { return Color::Gray };
    match app.explorer.flame().label(level) {
        Some(Label::Frame(frame)) => match frame.kind {
            CodeKind::User if frame.first.inlined => Color::LightYellow,
            CodeKind::User => Color::Yellow,
            CodeKind::Kernel => Color::LightBlue,
            CodeKind::Jit => Color::LightGreen,
            CodeKind::Unknown => Color::Gray,
        },
        Some(Label::Comm(_) | Label::Compared(_)) | None => Color::Cyan,
    }
}

fn time_view(app: &App<'_>, time: &TimeScreen, buffer: &mut Buffer, area: Rect) -> String {
    let weight = |sum: &Sum| app.state().weight.of_sum(sum);
    let height = STRIP.min(area.height);
    let most = time.strip.parts.iter().map(weight).max().unwrap_or(0).max(1);
    let range = time.range();
    for (part, sum) in time.strip.parts.iter().enumerate() {
        let Some(x) = u16::try_from(part).ok().filter(|x| *x < area.width) else { break };
        let style = if range.contains(&part) { app.theme.cursor() } else { Style::new() };
        let eighths = u128::from(weight(sum)) * u128::from(height) * 8 / u128::from(most);
        for line in 0..height {
            let filled = eighths.saturating_sub(u128::from(line) * 8).min(8);
            let bar =
                usize::try_from(filled).ok().and_then(|filled| BARS.get(filled)).copied().unwrap_or(" ");
            buffer.set_stringn(area.x + x, area.y + height - 1 - line, bar, 1, style);
        }
    }
    let threads = time.threads.threads.iter().skip(time.list.at);
    let mut y = area.y + height;
    for (thread, strip) in threads {
        if y + 1 >= area.bottom() {
            break;
        }
        let known = app.explorer.session().thread(*thread);
        let name = known.map_or_else(String::new, |known| {
            let comm = shown_bytes(app.explorer.session().comm(known.comm()));
            format!(" {} {comm}: {} samples", known.tid.cast_signed(), grouped(strip.total.samples))
        });
        let label = without_middle(&name, usize::from(area.width)).into_owned();
        put(buffer, Rect { y, height: 1, ..area }, &label, app.theme.faint());
        let most = strip.parts.iter().map(weight).max().unwrap_or(0).max(1);
        for (part, sum) in strip.parts.iter().enumerate() {
            let Some(x) = u16::try_from(part).ok().filter(|x| *x < area.width) else { break };
            let eighths = (u128::from(weight(sum)) * 8).div_ceil(u128::from(most));
            let bar =
                usize::try_from(eighths).ok().and_then(|filled| BARS.get(filled)).copied().unwrap_or(" ");
            let style = if range.contains(&part) { app.theme.cursor() } else { Style::new() };
            buffer.set_stringn(area.x + x, y + 1, bar, 1, style);
        }
        y += 2;
    }
    time.told()
}

/// A menu in the middle of the screen.
fn menu_view(app: &App<'_>, menu: &Menu, buffer: &mut Buffer, area: Rect) {
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
