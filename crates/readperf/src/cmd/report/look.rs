//! What a report looks like: columns of numbers, groups, the form of the output.

use super::separator;
use clap::Args;
use readperf::profile::view::column::Column;

/// The options.
#[derive(Args, Debug)]
pub(super) struct Look {
    /// Show the number of samples
    #[arg(short = 'n', long)]
    pub(super) show_nr_samples: bool,

    /// Show the sum of periods
    #[arg(long)]
    pub(super) show_total_period: bool,

    /// Show shares in the kernel and in user mode
    #[arg(long)]
    pub(super) show_cpu_utilization: bool,

    /// Show the events of a group side by side; all events if the recording has no groups. Call graphs are those of the
    /// first
    #[arg(long)]
    pub(super) group: bool,

    /// Sort by this event of a group, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) group_sort_idx: usize,

    /// Show source files with their directories
    #[arg(long)]
    pub(super) full_source_path: bool,

    /// Show what the recording says of itself first
    #[arg(long, visible_short_alias = 'I', alias = "show-info")]
    pub(super) header: bool,

    /// Show only what the recording says of itself
    #[arg(long)]
    pub(super) header_only: bool,

    /// As text, as perf's plain output: with call graphs, if stacks are recorded. Without it, -g shows them, as in perf's
    /// browser E does
    #[arg(long)]
    pub(super) stdio: bool,

    /// Widths of columns, from left to right; what is left out follows from what is in the column. Longer names are cut
    #[arg(short = 'w', long, value_name = "N,N", value_parser = widths)]
    pub(super) column_widths: Option<Widths>,

    /// Use no pager
    #[arg(long)]
    pub(super) no_pager: bool,

    /// Say nothing of damage, and show no progress; the exit status tells
    #[arg(short, long)]
    pub(super) quiet: bool,

    /// Print JSON
    #[arg(long, conflicts_with_all = ["csv", "field_separator"])]
    pub(super) json: bool,

    /// Print comma-separated values
    #[arg(long)]
    pub(super) csv: bool,

    /// Print values with this character between them
    #[arg(short = 't', long, value_name = "CHARACTER", value_parser = separator)]
    pub(super) field_separator: Option<u8>,
}

impl Look {
    /// Whether the answer is for a program.
    pub(super) fn is_for_program(&self) -> bool {
        self.json || self.csv || self.field_separator.is_some()
    }

    /// The widths of columns, as far as they are told.
    pub(super) fn widths(&self) -> &[Option<usize>] {
        self.column_widths.as_ref().map_or(&[], |widths| &widths.0)
    }

    /// The columns of numbers.
    pub(super) fn numbers(&self, children: bool) -> Vec<Column> {
        let columns = [
            (children, Column::Children),
            (true, Column::Overhead),
            (self.show_cpu_utilization, Column::System),
            (self.show_cpu_utilization, Column::User),
            (self.show_nr_samples, Column::Samples),
            (self.show_total_period, Column::Period),
        ];
        columns.into_iter().filter(|(wanted, _)| *wanted).map(|(_, column)| column).collect()
    }
}

/// Widths of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Widths(Vec<Option<usize>>);

/// More columns than that no terminal has.
const WIDEST: usize = 10_000;

fn widths(text: &str) -> Result<Widths, String> {
    let width = |word: &str| match word.trim() {
        "" | "0" => Ok(None),
        word => match word.parse().ok().filter(|width| *width <= WIDEST) {
            Some(width) => Ok(Some(width)),
            None => Err(format!("{word} is no width: expected numbers separated by commas, as 8,,30")),
        },
    };
    Ok(Widths(text.split(',').map(width).collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_may_be_left_out() {
        assert_eq!(widths("8,,30").unwrap(), Widths(vec![Some(8), None, Some(30)]));
        assert!(widths("8,x").is_err() && widths("99999999999").is_err());
    }
}
