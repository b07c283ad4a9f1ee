//! What is shown while the recording is read and names are looked up: samples by thread name and binary.

use crate::theme::Theme;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use readperf_explore::{EarlyRow, Progress};
use readperf_output::overview::share;
use readperf_output::short_name::without_middle;
use readperf_output::text::{binary_size, counted, shown, shown_bytes, width};
use readperf_profile::view::flame_tree::Sum;

/// Most rows that are shown early.
const MOST: usize = 200;

/// How far the reading has come.
#[derive(Clone, Debug, Default)]
pub struct Early {
    /// Bytes that have been read, and all.
    pub bytes: (u64, u64),
    /// Samples by thread name and binary, the heaviest first.
    pub rows: Vec<EarlyRow>,
    /// What all samples up to now add up to.
    pub total: Sum,
}

impl Early {
    /// As it is now.
    pub fn of(progress: &Progress<'_>) -> Early {
        let Progress { bytes, early, known } = progress;
        Early { bytes: *bytes, rows: early.rows(known, MOST), total: early.total() }
    }

    fn told(&self, name: &str) -> String {
        let (read, all) = self.bytes;
        if read < all {
            return format!(" {}: read {} of {}", shown(name), binary_size(read), binary_size(all));
        }
        let count = counted(self.total.samples, "sample");
        format!(" {}: {count}; names are looked up", shown(name))
    }
}

/// Draws what is known by now.
pub fn draw_early(early: &Early, name: &str, color: bool, frame: &mut Frame<'_>) {
    let (theme, area) = (Theme { color }, frame.area());
    let line = |y: u16| Rect { y, height: 1, ..area };
    let bar = format!("{:<width$}", early.told(name), width = usize::from(area.width));
    frame.render_widget(Line::styled(bar, theme.bar()), line(0));
    if area.height < 4 {
        return;
    }
    let widest = early.rows.iter().map(|row| width(&shown_bytes(&row.comm))).max().unwrap_or(0);
    let widest = widest.clamp("command".len(), usize::from(area.width / 3).max(8));
    let head = format!("   share  {:<widest$}  binary", "command");
    frame.render_widget(Line::styled(head, theme.head()), line(2));
    for (y, row) in (3..area.height.saturating_sub(1)).zip(&early.rows) {
        let share = share(row.sum.period, early.total.period);
        let comm = shown_bytes(&row.comm);
        let comm = without_middle(&comm, widest);
        let pad = widest.saturating_sub(width(&comm));
        let binary = row.binary.as_deref().map_or("[unknown]".into(), |binary| shown_bytes(binary));
        let text = format!("{share:>6.2} %  {comm}{:pad$}  {binary}", "");
        frame.render_widget(Line::styled(text, theme.heat(share)), line(y));
    }
    let last = Line::styled(" functions come when their names are known; q quits", theme.faint());
    frame.render_widget(last, line(area.height - 1));
}
