//! `readperf timeline`: samples by time as a map.

use super::Cmd;
use crate::input::Input;
use crate::out::Out;
use crate::outcome::Outcome;
use crate::profile_options::{ProfileOptions, Wanted};
use crate::sample_options::Weight;
use crate::stack_options::StackOptions;
use clap::Args;
use readperf::output::timeline::{self, Look};
use readperf::profile::view::timeline::Size;
use readperf::profile::{Grain, Keep, Selection, Times};

/// Columns of a map that does not go to a terminal.
const COLUMNS: usize = 100;
/// Columns that are taken by the offsets beside the map.
const MARGIN: usize = 14;

/// Shows samples by time as a map.
#[derive(Args, Debug)]
pub(crate) struct TimelineCommand {
    #[command(flatten)]
    input: Input,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Write an SVG file; so does -o NAME.svg
    #[arg(long, conflicts_with = "json")]
    svg: bool,

    /// What cells count
    #[arg(long, value_enum, default_value_t = Weight::Samples)]
    weight: Weight,

    /// At most this many columns [default: as many as the terminal has room for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    columns: Option<u16>,

    /// How many cells a column is divided into
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=200))]
    rows: u16,

    /// Use only ASCII
    #[arg(long)]
    ascii: bool,

    #[command(flatten)]
    stacks: StackOptions,

    #[command(flatten)]
    profile: ProfileOptions,
}

impl Cmd for TimelineCommand {
    const NAME: &'static str = "timeline";
    const ABOUT: &'static str = "Show samples by time as a map, to find spikes and patterns";
    const EXAMPLES: &'static str = "\
Examples:
  readperf timeline perf.data
  readperf timeline --focus malloc perf.data
  readperf timeline perf.data -o timeline.svg
  readperf report --time 5254.350000000,5254.399999999 perf.data     one of the hottest stretches";

    fn run(&self) -> anyhow::Result<Outcome> {
        let recording = if self.json { self.input.open_for_program()? } else { self.input.open()? };
        let wanted = self.wanted();
        let selection = Selection { weight: self.weight.into(), ..self.profile.selection(&self.stacks) };
        let analysis = self.profile.analyse(&self.input, &recording, &wanted, &selection)?;
        let out = self.write(&analysis.profile)?;
        Outcome::of(&self.input, analysis.issues).publishing(out.complete()?)
    }
}

impl TimelineCommand {
    /// Of the times of samples what a map shows. Names, and stacks, only to choose by them.
    fn wanted(&self) -> Wanted {
        let stacks = !self.profile.names.filter().is_open() || self.stacks.needs_stacks();
        let times = Grain::of(usize::from(self.rows)).map_or(Times::Each, Times::OfMap);
        Wanted {
            keep: Keep { stacks, times, ..Keep::default() },
            without_places: !stacks,
            inlines: stacks,
            ..Wanted::default()
        }
    }

    fn write(&self, profile: &readperf::profile::Profile) -> anyhow::Result<Out> {
        let look =
            Look { size: Size { columns: self.columns(), rows: usize::from(self.rows) }, ascii: self.ascii };
        let svg = self.svg || self.profile.output.file_name().is_some_and(|name| name.ends_with(".svg"));
        let mut out = if svg {
            self.profile.output.open_bytes(&[&self.input])?
        } else {
            self.profile.output.open(&[&self.input])?
        };
        match (self.json, svg) {
            (true, _) => timeline::write_json(&mut out, profile, &look)?,
            (_, true) => timeline::write_svg(&mut out, profile, &look)?,
            _ => timeline::write(&mut out, profile, &look)?,
        }
        Ok(out)
    }

    fn columns(&self) -> usize {
        let terminal = || {
            let (width, _) = terminal_size::terminal_size().filter(|_| self.profile.output.is_terminal())?;
            Some(usize::from(width.0).saturating_sub(MARGIN).max(20))
        };
        self.columns.map(usize::from).or_else(terminal).unwrap_or(COLUMNS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        command: TimelineCommand,
    }

    #[test]
    fn what_no_cell_shows_is_not_kept() {
        let wanted = |line: &[&str]| Line::parse_from(line).command.wanted();
        let asked_for = wanted(&["timeline", "--rows", "50"]);
        assert_eq!(asked_for.keep.times, Times::OfMap(Grain::of(50).unwrap()));
        assert!(asked_for.without_places && !asked_for.keep.stacks && !asked_for.inlines);
        let uneven = wanted(&["timeline", "--rows", "7"]);
        assert_eq!(uneven.keep.times, Times::Each, "these cells are no whole nanoseconds");
        let chosen_by_name = wanted(&["timeline", "--focus", "malloc"]);
        assert!(!chosen_by_name.without_places && chosen_by_name.keep.stacks && chosen_by_name.inlines);
    }
}
