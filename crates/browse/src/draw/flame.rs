//! The flame graph.

use super::{fill, put};
use crate::app::App;
use crate::flame::FlameScreen;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use readperf_explore::{FlameCell, Label};
use readperf_output::short_name::shorten;
use readperf_output::text::shown;
use readperf_profile::CodeKind;
use readperf_profile::view::flame_layout::BoxContent;

pub(super) fn draw(app: &App<'_>, flame: &FlameScreen, buffer: &mut Buffer, area: Rect) -> String {
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
