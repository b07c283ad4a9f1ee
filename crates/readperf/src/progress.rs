//! One line on stderr for work that takes longer than half a second; only on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// How long work may take before it is worth a line.
const PATIENCE: Duration = Duration::from_millis(500);

/// How far a piece of work has come.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    what: &'static str,
    wanted: bool,
}

impl Progress {
    /// Work that begins now.
    pub(crate) fn new(what: &'static str, wanted: bool) -> Self {
        Progress { bar: None, started: Instant::now(), what, wanted }
    }

    /// `done` of `total` bytes are done.
    pub(crate) fn bytes(&mut self, (done, total): (u64, u64)) {
        if !self.wanted || self.started.elapsed() < PATIENCE {
            return;
        }
        let what = self.what;
        let bar = self.bar.get_or_insert_with(|| {
            // Hides itself where stderr is no terminal.
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10));
            let style =
                ProgressStyle::with_template("{msg} {percent:>3} % of {total_bytes} {bar:30} {eta} left");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(what);
            bar
        });
        bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
