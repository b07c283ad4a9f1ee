//! Samples by time, and a range of it to look at.

use crate::app::{App, Screen};
use crate::keys::View;
use crate::list::{Cursor, Move};
use crate::page::find;
use readperf_explore::{Explorer, Step};
use readperf_output::text::{counted, seconds, shown_bytes};
use readperf_profile::view::flame_tree::Sum;
use readperf_profile::view::time_strip::{Parts, Strip, ThreadStrips};
use readperf_session::ThreadId;
use regex::Regex;
use std::ops::RangeInclusive;

/// Most threads that have a strip of their own.
const MOST_THREADS: usize = 200;
/// How many parts a page is.
const PAGE: usize = 10;

/// The time strip.
#[derive(Debug)]
pub(crate) struct TimeScreen {
    pub(crate) parts: Parts,
    pub(crate) strip: Strip,
    pub(crate) threads: ThreadStrips,
    pub(crate) at: usize,
    /// The other end of the range, if one was begun.
    pub(crate) mark: Option<usize>,
    /// The first thread that is shown.
    pub(crate) list: Cursor,
}

impl TimeScreen {
    pub(crate) fn new(explorer: &Explorer<'_>, width: u16) -> Option<TimeScreen> {
        let parts = Parts { range_ns: explorer.times_ns()?, count: usize::from(width.max(1)) };
        let strip = explorer.strip(&parts);
        let threads = explorer.thread_strips(&parts, MOST_THREADS);
        Some(TimeScreen { parts, strip, threads, at: 0, mark: None, list: Cursor::default() })
    }

    /// Shows what is looked at now. Cursor and range stay where they are in time.
    pub(crate) fn renew(&mut self, explorer: &Explorer<'_>, width: u16) {
        let Some(new) = TimeScreen::new(explorer, width) else { return };
        let TimeScreen { parts, at, mark, list, .. } = std::mem::replace(self, new);
        let same = |part: usize| self.parts.at(*parts.times(part).start()).unwrap_or(0);
        (self.at, self.mark) = (same(at), mark.map(same));
        self.list.go(list.at, self.threads.threads.len(), 1);
    }

    /// Draws the same in a terminal of this width.
    pub(crate) fn fit(&mut self, explorer: &Explorer<'_>, width: u16) {
        if self.parts.count != usize::from(width.max(1)) {
            self.renew(explorer, width);
        }
    }

    /// Goes to the next thread whose name or number matches; says whether there is one.
    pub(crate) fn find(&mut self, explorer: &Explorer<'_>, pattern: &Regex, forward: bool) -> bool {
        let threads = &self.threads.threads;
        let is_it = |nr: usize| {
            threads.get(nr).is_some_and(|(thread, _)| pattern.is_match(&thread_name(explorer, *thread)))
        };
        let found = find(threads.len(), self.list.at, forward, is_it);
        found.map(|at| self.list.go(at, threads.len(), 1)).is_some()
    }

    pub(crate) fn step(&mut self, step: Move) {
        let last = self.parts.count.saturating_sub(1);
        self.at = match step {
            Move::Left => self.at.saturating_sub(1),
            Move::Right => self.at.saturating_add(1),
            Move::PageUp => self.at.saturating_sub(PAGE),
            Move::PageDown => self.at.saturating_add(PAGE),
            Move::First => 0,
            Move::Last => last,
            Move::Up | Move::Down => return self.list.step(step, self.threads.threads.len(), 1),
        }
        .min(last);
    }

    /// Begins a range, or a new one.
    pub(crate) fn begin(&mut self) {
        self.mark = Some(self.at);
    }

    /// Forgets the range; says whether there was one.
    pub(crate) fn forget(&mut self) -> bool {
        self.mark.take().is_some()
    }

    /// The parts of the range.
    pub(crate) fn range(&self) -> RangeInclusive<usize> {
        let other = self.mark.unwrap_or(self.at);
        self.at.min(other)..=self.at.max(other)
    }

    /// The times of the range, ns.
    pub(crate) fn times_ns(&self) -> RangeInclusive<u64> {
        let range = self.range();
        *self.parts.times(*range.start()).start()..=*self.parts.times(*range.end()).end()
    }

    /// What is said of the range, in a line.
    pub(crate) fn told(&self) -> String {
        let mut sum = Sum::default();
        let parts = self.strip.parts.get(self.range()).unwrap_or_default();
        parts.iter().for_each(|part| sum.add(*part));
        let times = self.times_ns();
        let count = counted(sum.samples, "sample");
        format!("{}–{} s: {count}", seconds(*times.start()), seconds(*times.end()))
    }
}

/// The number and the name of a thread.
pub(crate) fn thread_name(explorer: &Explorer<'_>, thread: ThreadId) -> String {
    explorer.session().thread(thread).map_or_else(String::new, |thread| {
        let comm = shown_bytes(explorer.session().comm(thread.comm()));
        format!("{} {comm}", thread.tid.cast_signed())
    })
}

impl App<'_> {
    /// Looks at the range only.
    pub(crate) fn take_time(&mut self) {
        if let Some(Screen::Time(time)) = self.screens.last() {
            let times = time.times_ns();
            self.leave();
            self.take(Step::time(times));
        }
    }

    /// A click goes where it is: to a row, a cell, a time.
    pub(crate) fn click(&mut self, column: u16, line: u16) {
        // Title and steps are over all views; rows, code and pages have a line of heads, too.
        let line = usize::from(line);
        match self.screens.last_mut() {
            Some(Screen::Flame(_)) => {
                if let Some(line) = line.checked_sub(2) {
                    self.click_flame(column, line);
                }
            }
            Some(Screen::Time(time)) => {
                time.at = usize::from(column).min(time.parts.count.saturating_sub(1));
                time.begin();
            }
            _ => self.click_line(line.checked_sub(3)),
        }
    }

    fn click_line(&mut self, line: Option<usize>) {
        let (seen, rows) = (self.seen(), self.rows.lines.len());
        let (cursor, len) = match self.screens.last_mut() {
            Some(Screen::Code(code)) => (&mut code.cursor, code.lines.len()),
            Some(Screen::Page(page)) => (&mut page.cursor, page.lines.len()),
            _ => (&mut self.rows.cursor, rows),
        };
        let Some(at) = line.filter(|line| *line < seen).map(|line| cursor.top + line).filter(|at| *at < len)
        else {
            return;
        };
        let is_here = cursor.at == at;
        cursor.go(at, len, seen);
        if is_here && self.view() == View::Rows {
            self.toggle();
        }
    }

    /// A mouse that is dragged draws a range of time.
    pub(crate) fn drag(&mut self, column: u16) {
        if let Some(Screen::Time(time)) = self.screens.last_mut() {
            time.at = usize::from(column).min(time.parts.count.saturating_sub(1));
        }
    }
}
