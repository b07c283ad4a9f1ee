//! The flame graph in cells of the terminal: the roots at the top, what is called below.

use crate::app::{App, Screen};
use crate::list::Move;
use readperf_explore::{Explorer, Flame, FlameCell, FlameWindow, Label, Matching};
use readperf_output::overview::share;
use readperf_output::text::{counted, decoded, grouped, shown};
use readperf_profile::FunctionId;
use readperf_profile::view::flame_layout::BoxContent;
use readperf_profile::view::flame_tree::NodeIndex;
use regex::Regex;
use std::borrow::Cow;

/// More frames high no picture is.
const MOST_ROWS: u32 = 1000;

/// A flame graph on the screen.
#[derive(Debug)]
pub(crate) struct FlameScreen {
    /// The frame that is the whole.
    root: NodeIndex,
    pub(crate) window: FlameWindow,
    /// The cell that the cursor is on.
    pub(crate) at: usize,
    /// The first row of frames that is shown.
    pub(crate) top: usize,
    pub(crate) matching: Option<Matching>,
    /// Where cells are drawn.
    width: u16,
}

impl FlameScreen {
    pub(crate) fn new(explorer: &Explorer<'_>, width: u16, seen: usize) -> FlameScreen {
        let (window, matching) = (FlameWindow::default(), None);
        let mut flame = FlameScreen { root: Flame::ROOT, window, at: 0, top: 0, matching, width };
        flame.look(explorer, width, seen);
        flame
    }

    /// Begins anew: another graph is looked at.
    pub(crate) fn renew(&mut self, explorer: &Explorer<'_>, width: u16, seen: usize) {
        self.root = Flame::ROOT;
        self.matching = None;
        self.look(explorer, width, seen);
    }

    /// Draws the same in a terminal of this size. The cursor stays on its frame.
    pub(crate) fn fit(&mut self, explorer: &Explorer<'_>, width: u16, seen: usize) {
        let (here, top) = (self.cell().and_then(|cell| cell.node), self.top);
        self.look(explorer, width, seen);
        let is_here = |cell: &FlameCell| here.is_some() && cell.node == here;
        self.at = self.window.cells.iter().position(is_here).unwrap_or(0);
        self.top = top;
        self.keep_seen(seen);
    }

    fn look(&mut self, explorer: &Explorer<'_>, width: u16, seen: usize) {
        self.width = width;
        self.window = explorer.flame().window(self.root, width.into(), MOST_ROWS);
        (self.at, self.top) = (0, 0);
        self.keep_seen(seen);
    }

    /// The cell that the cursor is on.
    pub(crate) fn cell(&self) -> Option<&FlameCell> {
        self.window.cells.get(self.at)
    }

    /// Where a cell is drawn: its first column, and the first behind it.
    pub(crate) fn columns(&self, cell: &FlameCell) -> (u16, u16) {
        let whole = u128::from(self.window.cells.first().map_or(1, |all| all.weight.max(1)));
        let at = |weight: u64| {
            let column = (u128::from(weight) * u128::from(self.width) + whole / 2) / whole;
            u16::try_from(column).unwrap_or(u16::MAX).min(self.width)
        };
        (at(cell.from), at(cell.from.saturating_add(cell.weight)))
    }

    /// The cells that are wide enough to be seen.
    fn is_seen(&self, cell: &FlameCell) -> bool {
        let (from, to) = self.columns(cell);
        from < to
    }

    pub(crate) fn step(&mut self, step: Move, seen: usize) {
        let Some(here) = self.cell().copied() else { return };
        let cells = || self.window.cells.iter().enumerate();
        let beside = |(_, cell): &(usize, &FlameCell)| cell.depth == here.depth && self.is_seen(cell);
        let within = |cell: &FlameCell| {
            let (from, to) = (cell.from.max(here.from), cell.from.saturating_add(cell.weight));
            from < to.min(here.from.saturating_add(here.weight.max(1)))
        };
        let found = match step {
            Move::Left => cells().take(self.at).rfind(beside),
            Move::Right => cells().skip(self.at + 1).find(beside),
            Move::Up => cells().take(self.at).rfind(|(_, cell)| cell.depth < here.depth),
            Move::Down => cells()
                .filter(|(_, cell)| cell.depth == here.depth + 1 && within(cell) && self.is_seen(cell))
                .max_by_key(|(nr, cell)| (cell.weight, std::cmp::Reverse(*nr))),
            Move::First => cells().next(),
            Move::Last => cells()
                .filter(|(_, cell)| self.is_seen(cell))
                .max_by_key(|(nr, cell)| (cell.depth, std::cmp::Reverse(*nr))),
            Move::PageUp | Move::PageDown => {
                (0..seen.saturating_sub(1)).for_each(|_| {
                    self.step(if step == Move::PageUp { Move::Up } else { Move::Down }, seen);
                });
                return;
            }
        };
        if let Some((at, _)) = found {
            self.at = at;
            self.keep_seen(seen);
        }
    }

    fn keep_seen(&mut self, seen: usize) {
        let depth = self.cell().map_or(0, |cell| cell.depth as usize);
        self.top = self.top.min(depth).max((depth + 1).saturating_sub(seen.max(1)));
    }

    /// Makes the frame under the cursor the whole.
    pub(crate) fn zoom_in(&mut self, app: &mut App<'_>) {
        match self.cell().map(|cell| (cell.node, self.at)) {
            Some((Some(node), 1..)) => {
                self.root = node;
                let (width, seen) = (app.size.0, app.seen());
                self.look(&app.explorer, width, seen);
            }
            Some((Some(_), _)) => app.message = "this is the whole already; Esc zooms out".to_owned(),
            _ => app.message = "what is left out here is too narrow".to_owned(),
        }
    }

    /// Zooms out; says whether that was possible.
    pub(crate) fn zoom_out(&mut self, explorer: &Explorer<'_>, width: u16, seen: usize) -> bool {
        if self.root == Flame::ROOT {
            return false;
        }
        let was = self.root;
        let path = explorer.flame().path(self.root);
        self.root = path.len().checked_sub(2).and_then(|at| path.get(at)).copied().unwrap_or(Flame::ROOT);
        self.look(explorer, width, seen);
        self.at = self.window.cells.iter().position(|cell| cell.node == Some(was)).unwrap_or(0);
        self.keep_seen(seen);
        true
    }

    /// Marks what matches, and goes to the next cell of it; says how much it is.
    pub(crate) fn search(
        &mut self,
        explorer: &Explorer<'_>,
        pattern: &Regex,
        forward: bool,
        seen: usize,
    ) -> String {
        let found = explorer.flame().matching(pattern, |label| name(explorer, label));
        let has =
            |nr: usize| self.window.cells.get(nr).is_some_and(|cell| found.has(cell) && self.is_seen(cell));
        if let Some(at) = crate::page::find(self.window.cells.len(), self.at, forward, has) {
            self.at = at;
            self.keep_seen(seen);
        }
        let event = explorer.totals().events().get(explorer.state().event);
        let part = share(found.sum.period, event.map_or(0, |event| event.period));
        let told = format!(
            "{} matches {part:.2} %, {}",
            shown(pattern.as_str()),
            counted(found.sum.samples, "sample")
        );
        self.matching = Some(found);
        told
    }

    /// What a cell is called.
    pub(crate) fn cell_name<'a>(&self, explorer: &'a Explorer<'_>, cell: &FlameCell) -> Cow<'a, str> {
        match cell.what {
            BoxContent::All => "all".into(),
            BoxContent::LeftOut(count) => format!("({} left out)", grouped(count)).into(),
            BoxContent::Level(level) => {
                let label = explorer.flame().label(level);
                label.map_or(Cow::Borrowed(""), |label| name(explorer, label))
            }
        }
    }

    /// The function under the cursor, and whether it is inlined.
    pub(crate) fn function(&self, app: &App<'_>) -> Option<(FunctionId, bool)> {
        let BoxContent::Level(level) = self.cell()?.what else { return None };
        match app.explorer.flame().label(level)? {
            Label::Frame(frame) => Some((frame.first.function, frame.first.inlined)),
            Label::Comm(_) | Label::Compared(_) => None,
        }
    }

    /// Its name.
    pub(crate) fn function_name(&self, app: &App<'_>) -> Option<String> {
        let (function, _) = self.function(app)?;
        app.explorer.totals().function(function)?.name().map(str::to_owned)
    }

    /// What is said of the cell under the cursor, in a line. Names may be long: numbers come first.
    pub(crate) fn told(&self, explorer: &Explorer<'_>) -> String {
        let Some(cell) = self.cell() else { return String::new() };
        let total = explorer.flame().window(Flame::ROOT, 1, 0);
        let whole = total.cells.first().map_or(0, |all| all.total.period);
        let (part, count) = (share(cell.total.period, whole), counted(cell.total.samples, "sample"));
        // Seen from where samples were taken, what a frame has of its own is on top of others, not in it.
        let own = match explorer.state().reversed {
            false => format!(", {:.2} % of its own", share(cell.own.period, whole)),
            true => String::new(),
        };
        format!("{part:.2} %, {count}{own}: {}", shown(&self.cell_name(explorer, cell)))
    }

    /// The frame under the cursor and those that called it, with names in full.
    pub(crate) fn details(&self, app: &App<'_>) -> String {
        let explorer = &app.explorer;
        let mut text = self.told(explorer);
        text.push_str("\n\n");
        let node = self.cell().and_then(|cell| cell.node).unwrap_or(Flame::ROOT);
        for level in
            explorer.flame().path(node).into_iter().rev().filter_map(|node| explorer.flame().level(node))
        {
            if let Some(label) = explorer.flame().label(level) {
                text.push_str(&name(explorer, label));
                text.push('\n');
            }
        }
        text
    }
}

fn name<'a>(explorer: &'a Explorer<'_>, label: Label<'a>) -> Cow<'a, str> {
    match label {
        Label::Comm(comm) => decoded(explorer.session().comm(comm)),
        Label::Frame(frame) => frame.label(explorer.totals(), explorer.session()),
        Label::Compared(frame) => Cow::Borrowed(&frame.name),
    }
}

impl App<'_> {
    /// A click on a cell goes there; on the cell of the cursor it zooms.
    pub(crate) fn click_flame(&mut self, column: u16, line: usize) {
        let Some(Screen::Flame(flame)) = self.screens.last_mut() else { return };
        let depth = flame.top.saturating_add(line);
        let is_hit = |cell: &FlameCell| {
            let (from, to) = flame.columns(cell);
            cell.depth as usize == depth && (from..to).contains(&column)
        };
        match flame.window.cells.iter().position(is_hit) {
            Some(at) if at == flame.at => self.in_flame(FlameScreen::zoom_in),
            Some(at) => flame.at = at,
            None => {}
        }
    }
}
