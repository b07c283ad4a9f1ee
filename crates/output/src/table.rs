//! Tables for people: numbers to the right, names to the left, no wider than the terminal.

use crate::short_name::{shorten, without_middle};
use crate::text::{printable, width, without_long_middle};
use anstyle::Style;
use std::borrow::Cow;
use std::io::{self, Write};

/// What is between two columns.
const GAP: usize = 2;

/// Where there is no terminal to fit, names up to this width make their column as wide; longer ones push the rest of their row.
const WIDEST: usize = 40;

/// Heads are cut to this: each row is padded to them.
const WIDEST_HEAD: usize = 100;

/// Columns that a terminal is too narrow for keep this much, and the table is wider than it.
pub(crate) const NARROWEST: usize = 10;

/// The head of a column of numbers keeps this much.
const SHORTEST_HEAD: usize = 5;

/// What a column shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers. They are never cut.
    Number,
    /// Functions: cut by sense. Where there is too little room, they get most of it.
    Name,
    /// Source files and lines: without directories rather than without their middle.
    File,
    /// Any other text.
    Text,
}

/// The weight of the heaviest kind.
const MOST_WEIGHT: usize = 4;

impl ColumnKind {
    /// How much of the room a column gets that is too wide.
    fn weight(self) -> usize {
        match self {
            ColumnKind::Number => 0,
            ColumnKind::Name => MOST_WEIGHT,
            ColumnKind::File => 2,
            ColumnKind::Text => 1,
        }
    }

    /// A cell in a width.
    fn cut(self, cell: &str, room: usize) -> Cow<'_, str> {
        match self {
            ColumnKind::Number => Cow::Borrowed(cell),
            ColumnKind::Name | ColumnKind::File => shorten(cell, room),
            ColumnKind::Text => without_middle(cell, room),
        }
    }
}

/// A column.
#[derive(Clone, Debug)]
pub struct TableColumn {
    head: String,
    kind: ColumnKind,
    /// As wide as its head and the cells it was made to fit, or as told.
    width: usize,
    /// As wide as the cells alone.
    cells: usize,
    told: bool,
}

impl TableColumn {
    /// A column as wide as its head, or as is told.
    pub fn new(head: &str, kind: ColumnKind, told: Option<usize>) -> TableColumn {
        let head = without_middle(&printable(head), WIDEST_HEAD).into_owned();
        TableColumn { width: told.unwrap_or(width(&head)), cells: 0, head, kind, told: told.is_some() }
    }
}

/// The columns of a table.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<TableColumn>,
    /// Columns of the terminal, if it is one.
    terminal: Option<usize>,
}

impl Table {
    /// A table with these columns. Names are cut only to fit a terminal, or if they are very long.
    pub fn new(columns: Vec<TableColumn>, terminal: Option<usize>) -> Table {
        Table { columns, terminal }
    }

    /// Makes room for the cells of a row.
    pub fn fit(&mut self, cells: &[String]) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            let cell = width(cell);
            let is_held = cell <= WIDEST || self.terminal.is_some() || column.kind == ColumnKind::Number;
            if !column.told && is_held {
                column.width = column.width.max(cell);
                column.cells = column.cells.max(cell);
            }
        }
    }

    /// Writes the heads. All cells have been made room for; what is too wide for the terminal gets narrower now, and what is
    /// narrow stays as it is.
    ///
    /// # Errors
    /// What the writer says.
    pub fn head(&mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        let (text, style) = (self.head_line(), Style::new().bold());
        writeln!(out, "{style}{text}{style:#}")
    }

    /// The heads as text; makes columns narrower as [`Table::head`] does.
    pub fn head_line(&mut self) -> String {
        if let Some(terminal) = self.terminal {
            self.narrow(terminal);
        }
        let heads = self.columns.iter().map(|column| match column.kind {
            // They are cut only if they were made narrower above.
            ColumnKind::Number => without_middle(&column.head, column.width).into_owned(),
            ColumnKind::Name | ColumnKind::File | ColumnKind::Text => column.head.clone(),
        });
        let heads: Vec<String> = heads.collect();
        self.line(&heads)
    }

    /// Shares the width of a terminal among columns of text: each gets what it needs or its part of what is left. Numbers are
    /// never cut, but their heads are, if even the narrowest text would have no room beside them.
    fn narrow(&mut self, terminal: usize) {
        let gaps = GAP * self.columns.len().saturating_sub(1);
        let (mut fixed, mut wide): (Vec<&mut TableColumn>, Vec<&mut TableColumn>) =
            self.columns.iter_mut().partition(|column| column.told || column.kind == ColumnKind::Number);
        let least: usize = wide.iter().map(|column| column.width.min(NARROWEST)).sum();
        let mut taken: usize = gaps + least + fixed.iter().map(|column| column.width).sum::<usize>();
        fixed.sort_by_key(|column| std::cmp::Reverse(column.width));
        for column in fixed.iter_mut().filter(|column| !column.told) {
            let spare = column.width.saturating_sub(column.cells.max(SHORTEST_HEAD));
            let less = spare.min(taken.saturating_sub(terminal));
            column.width -= less;
            taken -= less;
        }
        let mut room = terminal.saturating_sub(taken);
        // Those that need the least of their part come first: what they leave is for the others.
        let more = |column: &TableColumn| column.width.saturating_sub(NARROWEST);
        wide.sort_by_key(|column| more(column) * MOST_WEIGHT / column.kind.weight().max(1));
        let mut weights: usize = wide.iter().map(|column| column.kind.weight()).sum();
        for column in wide {
            let weight = column.kind.weight();
            let part = more(column).min(room * weight / weights.max(1));
            column.width = column.width.min(NARROWEST) + part;
            room -= part;
            weights -= weight;
        }
    }

    /// Writes a row. The last cell goes on to the end of the terminal, and no space follows it.
    ///
    /// # Errors
    /// What the writer says.
    pub fn row(&self, out: &mut (impl Write + ?Sized), cells: &[String], style: Style) -> io::Result<()> {
        let text = self.line(cells);
        writeln!(out, "{style}{text}{style:#}")
    }

    /// A row as text.
    pub fn line(&self, cells: &[String]) -> String {
        // Space is written only when something follows it.
        let (mut text, mut at, mut space) = (String::new(), 0, 0);
        let last = cells.len().saturating_sub(1);
        for (nr, (cell, column)) in cells.iter().zip(&self.columns).enumerate() {
            let room = match self.terminal {
                Some(terminal) if nr == last && !column.told => terminal.saturating_sub(at).max(NARROWEST),
                Some(_) => column.width,
                None if column.told => column.width,
                None => usize::MAX,
            };
            let cell = without_long_middle(cell);
            let cell = column.kind.cut(&cell, room);
            let taken = width(&cell);
            let pad = column.width.saturating_sub(taken);
            let (before, behind) = if column.kind == ColumnKind::Number { (pad, 0) } else { (0, pad) };
            space += before;
            if taken > 0 {
                text.extend(std::iter::repeat_n(' ', space));
                text.push_str(&cell);
                space = 0;
            }
            space += behind + GAP;
            at += before + taken + behind + GAP;
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(terminal: Option<usize>, rows: &[[&str; 4]]) -> Vec<String> {
        let columns = vec![
            TableColumn::new("share", ColumnKind::Number, None),
            TableColumn::new("command", ColumnKind::Text, None),
            TableColumn::new("function", ColumnKind::Name, None),
            TableColumn::new("file", ColumnKind::File, None),
        ];
        let mut table = Table::new(columns, terminal);
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
        rows.iter().for_each(|row| table.fit(row));
        let mut out = Vec::new();
        table.head(&mut out).unwrap();
        for row in &rows {
            table.row(&mut out, row, Style::new()).unwrap();
        }
        let text = anstream_free(&String::from_utf8(out).unwrap());
        text.lines().map(str::to_owned).collect()
    }

    /// Without the escapes of the bold head.
    fn anstream_free(text: &str) -> String {
        text.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "")
    }

    const ROWS: [[&str; 4]; 2] = [
        [
            "99.00 %",
            "work",
            "std::vector<int, std::allocator<int> >::push_back(int&&)",
            "/usr/include/c++/12/bits/vector.tcc",
        ],
        ["1.00 %", "a longer command", "f", "./f.c"],
    ];

    #[test]
    fn fits_any_terminal() {
        for terminal in 50..200 {
            for line in table(Some(terminal), &ROWS) {
                assert!(width(&line) <= terminal, "{terminal}: {line:?}");
            }
        }
        assert_eq!(
            table(Some(80), &ROWS),
            [
                "  share  command          function                         file",
                "99.00 %  work             std::vector<…>::push_back(…)     …/12/bits/vector.tcc",
                " 1.00 %  a longe…command  f                                ./f.c",
            ]
        );
    }

    #[test]
    fn without_a_terminal_nothing_is_cut() {
        assert_eq!(
            table(None, &ROWS),
            [
                "  share  command           function  file",
                "99.00 %  work              std::vector<int, std::allocator<int> >::push_back(int&&)  \
                 /usr/include/c++/12/bits/vector.tcc",
                " 1.00 %  a longer command  f         ./f.c",
            ]
        );
    }

    #[test]
    fn nothing_is_padded_to_a_very_long_name() {
        let long = "x".repeat(60_000);
        let columns = vec![
            TableColumn::new(&long, ColumnKind::Number, None),
            TableColumn::new(&long, ColumnKind::Text, None),
            TableColumn::new("f", ColumnKind::Text, None),
        ];
        let mut table = Table::new(columns, None);
        let rows = [["1", long.as_str(), "f"], ["2", "short", "f"]];
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
        rows.iter().for_each(|row| table.fit(row));
        let mut out = Vec::new();
        table.head(&mut out).unwrap();
        rows.iter().for_each(|row| table.row(&mut out, row, Style::new()).unwrap());
        let lengths: Vec<usize> =
            String::from_utf8(out).unwrap().lines().map(|line| line.chars().count()).collect();
        // The head has escapes for bold.
        assert_eq!(lengths, [213, 1105, 205]);
    }

    #[test]
    fn told_widths_cut_everywhere() {
        let columns = vec![
            TableColumn::new("symbol", ColumnKind::Text, Some(5)),
            TableColumn::new("n", ColumnKind::Number, None),
        ];
        let table = Table::new(columns, None);
        let mut out = Vec::new();
        table.row(&mut out, &["abcdefghij".to_owned(), "1".to_owned()], Style::new()).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "ab…ij  1\n");
    }
}
