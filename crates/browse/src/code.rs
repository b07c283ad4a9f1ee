//! A function as code: the lines that `annotate` writes, to scroll through.

use crate::app::{App, Screen};
use crate::host::PrintForm;
use crate::list::Cursor;
use readperf_output::annotate::{
    Annotation, CodeLine, CodeRow, Measure, ShareOf, Show, Sources, code_lines, write_json,
};
use readperf_output::text::shown;
use readperf_profile::FunctionId;
use readperf_profile::view::listing::Listing;
use std::slice;

/// Shares from which a line is hot, in percent; as colours have it.
const HOT: f64 = 0.5;

/// A function as code.
#[derive(Debug)]
pub(crate) struct CodeScreen {
    /// The function, and whether it is code of it that is inlined.
    of: (FunctionId, bool),
    pub(crate) title: String,
    pub(crate) lines: Vec<CodeLine>,
    pub(crate) cursor: Cursor,
    listing: Listing,
    sources: Sources,
    show: Show,
    /// Whence jumps were followed.
    jumps: Vec<usize>,
}

impl App<'_> {
    /// Shows the code of a function.
    pub(crate) fn show_code_of(&mut self, function: FunctionId, inlined: bool) {
        let label = self.explorer.totals().function(function).map(|function| function.label().into_owned());
        let title = shown(&label.unwrap_or_default()).into_owned();
        let of = (function, inlined);
        let Some((listing, sources)) = self.list(of, &title) else { return };
        let mut code = CodeScreen {
            of,
            title,
            lines: Vec::new(),
            cursor: Cursor::default(),
            listing,
            sources,
            show: Show::Both,
            jumps: Vec::new(),
        };
        code.renew(self);
        code.go_to_hot(self, Some(0));
        self.show(Screen::Code(code));
    }

    /// The code of a function in what is looked at, with its source files. Without samples there says so.
    fn list(&mut self, (function, inlined): (FunctionId, bool), title: &str) -> Option<(Listing, Sources)> {
        let Some(listing) = self.explorer.listing(function, inlined) else {
            self.message = format!("no sample was taken in {title} itself");
            return None;
        };
        let sources = self.host.sources(slice::from_ref(&listing), self.explorer.session());
        Some((listing, sources))
    }
}

impl CodeScreen {
    /// Lists what is looked at now, from the hottest line on; says whether there is anything.
    pub(crate) fn look_again(&mut self, app: &mut App<'_>) -> bool {
        let Some((listing, sources)) = app.list(self.of, &self.title) else { return false };
        (self.listing, self.sources) = (listing, sources);
        self.jumps.clear();
        self.renew(app);
        self.go_to_hot(app, Some(0));
        true
    }

    fn annotation<'a>(&'a self, app: &'a App<'_>) -> Annotation<'a> {
        Annotation {
            listings: slice::from_ref(&self.listing),
            profile: app.explorer.totals(),
            session: app.explorer.session(),
            recorded: app.explorer.totals().recorded(),
            sources: &self.sources,
            show: self.show,
            measures: &[Measure::Share],
            share_of: ShareOf::default(),
            inclusive: false,
            bytes: false,
            others: 0,
            width: None,
        }
    }

    fn renew(&mut self, app: &App<'_>) {
        self.lines = code_lines(&self.annotation(app));
    }

    /// Source on or off. The cursor stays on its instruction.
    pub(crate) fn turn_source(&mut self, app: &mut App<'_>) {
        let here = self.lines.get(self.cursor.at).map(|line| line.what);
        self.show = if self.show == Show::Both { Show::Code } else { Show::Both };
        self.renew(app);
        let same = |line: &CodeLine| matches!(line.what, CodeRow::Instruction(..)) && Some(line.what) == here;
        let at = self.lines.iter().position(same);
        let at = at.unwrap_or(self.cursor.at);
        self.go(app, at);
        app.message =
            if self.show == Show::Both { "source is shown" } else { "source is not shown" }.to_owned();
    }

    fn go(&mut self, app: &App<'_>, at: usize) {
        self.cursor.go(at, self.lines.len(), app.seen());
    }

    /// The lines of code that are hot, the hottest first; at least the hottest.
    fn hot(&self) -> Vec<usize> {
        let lines = self.lines.iter().enumerate();
        let code = lines.filter(|(_, line)| matches!(line.what, CodeRow::Instruction(..) | CodeRow::Other));
        let mut shares: Vec<(usize, f64)> = code.map(|(nr, line)| (nr, line.share)).collect();
        if shares.iter().all(|(_, share)| *share == 0.0) {
            shares = self.lines.iter().map(|line| line.share).enumerate().collect();
        }
        shares.retain(|(_, share)| *share > 0.0);
        shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let warm = shares.iter().filter(|(_, share)| *share >= HOT).count();
        shares.truncate(warm.max(1));
        shares.into_iter().map(|(nr, _)| nr).collect()
    }

    /// To the hot line of this rank, the hottest being 0; else to the one behind that where the cursor is.
    pub(crate) fn go_to_hot(&mut self, app: &mut App<'_>, rank: Option<usize>) {
        let hot = self.hot();
        let here = hot.iter().position(|line| *line == self.cursor.at);
        let rank = rank.unwrap_or_else(|| here.map_or(0, |here| (here + 1) % hot.len().max(1)));
        if let Some(line) = hot.get(rank) {
            self.go(app, *line);
        }
    }

    /// To the hot line before that where the cursor is.
    pub(crate) fn go_to_hot_before(&mut self, app: &mut App<'_>) {
        let hot = self.hot();
        let here = hot.iter().position(|line| *line == self.cursor.at).unwrap_or(0);
        let rank = here.checked_sub(1).unwrap_or(hot.len().saturating_sub(1));
        self.go_to_hot(app, Some(rank));
    }

    /// Follows the jump or call under the cursor.
    pub(crate) fn follow(&mut self, app: &mut App<'_>) {
        let line = self.lines.get(self.cursor.at);
        let Some(CodeRow::Instruction(part, index)) = line.map(|line| line.what) else {
            app.message = "there is nothing to follow here".to_owned();
            return;
        };
        let row = self.listing.parts.get(part).and_then(|part| part.instructions.get(index));
        let Some(row) = row else { return };
        if let Some(target) = row.jumps_to.and_then(|target| usize::try_from(target).ok()) {
            let to = CodeRow::Instruction(part, target);
            if let Some(at) = self.lines.iter().position(|line| line.what == to) {
                self.jumps.push(self.cursor.at);
                self.go(app, at);
            }
            return;
        }
        let Some(name) = &row.code.target_name else {
            app.message = "there is nothing to follow here".to_owned();
            return;
        };
        let name = name.clone();
        let profile = app.explorer.totals();
        let called = |id: &FunctionId| {
            profile.function(*id).is_some_and(|function| {
                function.name() == Some(&name) || function.linkage_name() == Some(&name)
            })
        };
        let found = profile.addresses().ids().filter_map(|id| profile.names().function_at(id)).find(called);
        match found {
            Some(function) => app.show_code_of(function, false),
            None => app.message = format!("no sample was taken in {}", shown(&name)),
        }
    }

    /// Goes back whence a jump was followed; says whether there was one.
    pub(crate) fn return_from_jump(&mut self) -> bool {
        let from = self.jumps.pop();
        if let Some(at) = from {
            let seen = self.cursor.at.abs_diff(self.cursor.top).saturating_add(1);
            self.cursor.go(at, self.lines.len(), seen.max(1));
        }
        from.is_some()
    }

    /// The code as `annotate` writes it.
    pub(crate) fn printed(&self, app: &App<'_>, form: PrintForm) -> String {
        match form {
            PrintForm::Text => {
                let line = |line: &CodeLine| match &line.numbers {
                    Some((cells, _)) => format!("{cells} │{}\n", line.text),
                    None => format!("{}\n", line.text),
                };
                self.lines.iter().map(line).collect()
            }
            PrintForm::Json => {
                let mut out = Vec::new();
                // Writing to memory does not fail.
                let _ = write_json(&mut out, &self.annotation(app), app.explorer.analysis().issues.iter());
                String::from_utf8_lossy(&out).into_owned()
            }
        }
    }

    /// How many hot lines there are, and which of them the cursor is on.
    pub(crate) fn told(&self) -> String {
        let hot = self.hot();
        match hot.iter().position(|line| *line == self.cursor.at) {
            Some(rank) => format!("hot line {} of {}", rank + 1, hot.len()),
            None => format!("{} hot lines", hot.len()),
        }
    }
}
