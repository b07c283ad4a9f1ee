//! The samples by time.

use super::put;
use crate::app::App;
use crate::time::{TimeScreen, thread_name};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use readperf_output::short_name::without_middle;
use readperf_output::text::counted;
use readperf_profile::view::flame_tree::Sum;

/// How high the strip of all samples is, in lines.
const STRIP: u16 = 6;
/// Bars of one line, from nothing to all.
const BARS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

pub(super) fn draw(app: &App<'_>, time: &TimeScreen, buffer: &mut Buffer, area: Rect) -> String {
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
        let count = counted(strip.total.samples, "sample");
        let name = format!(" {}: {count}", thread_name(&app.explorer, *thread));
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
