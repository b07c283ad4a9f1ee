//! `readperf timeline`: samples by time as a map, for people.

mod json;
mod svg;

pub use json::write_json;
pub use svg::write_svg;

use crate::export::Weight;
use crate::heading::{self, Whole};
use crate::overview::share;
use crate::text::{grouped, shown};
use anstyle::{Ansi256Color, Color, Style};
use readperf_profile::Profile;
use readperf_profile::profile::EventTotal;
use readperf_profile::view::flame_tree::Sum;
use readperf_profile::view::timeline::{Scale, Size, Stretch, Timeline};
use std::io::{self, Write};

/// How a map is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// How large it may be.
    pub size: Size,
    /// Whether to use only ASCII.
    pub ascii: bool,
}

/// How many steps there are from little to much.
const STEPS: usize = 5;
const SHADES: [char; STEPS] = ['·', '░', '▒', '▓', '█'];
const ASCII: [char; STEPS] = ['.', ':', '+', '#', '@'];
/// From yellow to red, of the 256 colours of terminals.
const COLORS: [u8; STEPS] = [229, 221, 214, 202, 160];

/// The step of a cell; none of an empty one.
fn step(value: u64, most: u64) -> Option<usize> {
    let step = u128::from(value.checked_sub(1)?) * STEPS as u128 / u128::from(most.max(1));
    usize::try_from(step).ok().map(|step| step.min(STEPS - 1))
}

/// The least and the most of a step; nothing if no number falls into it.
fn bounds(nr: usize, most: u64) -> Option<(u64, u64)> {
    let end = |nr: usize| u64::try_from(u128::from(most) * nr as u128 / STEPS as u128).unwrap_or(u64::MAX);
    // The inverse of the division above: the numbers whose predecessor, times the steps, is below.
    let first = |nr: usize| {
        if u128::from(end(nr)) * STEPS as u128 == u128::from(most) * nr as u128 {
            end(nr) + 1
        } else {
            end(nr) + 2
        }
    };
    let (from, to) = (first(nr), first(nr + 1) - 1);
    let to = if nr + 1 == STEPS { most } else { to };
    (from <= to).then_some((from, to))
}

/// A time in seconds with as many digits as cells need.
fn seconds(time_ns: u64, scale: &Scale) -> String {
    let digits = (0..9).find(|digits| scale.cell_ns.is_multiple_of(10_u64.pow(9 - digits))).unwrap_or(9);
    let text = crate::text::seconds(time_ns);
    let cut = if digits == 0 { 10 } else { 9 - digits as usize };
    text.get(..text.len().saturating_sub(cut)).unwrap_or_default().to_owned()
}

/// A length of time in words.
fn length(ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "µs"), (1, "ns")];
    let (unit, name) = units.into_iter().find(|(unit, _)| ns.is_multiple_of(*unit)).unwrap_or((1, "ns"));
    format!("{} {name}", grouped(ns / unit))
}

/// The stretch as the argument of `--time`.
pub fn time_argument(stretch: &Stretch) -> String {
    format!("{},{}", crate::text::seconds(stretch.from_ns), crate::text::seconds(stretch.to_ns))
}

/// Writes a map for each event that has samples.
///
/// # Errors
/// What the writer says.
pub fn write(out: &mut dyn Write, profile: &Profile, look: &Look) -> io::Result<()> {
    let timelines = profile.timelines(look.size);
    if timelines.is_empty() {
        return writeln!(out, "no samples");
    }
    for (nr, timeline) in timelines.iter().enumerate() {
        if nr > 0 {
            writeln!(out)?;
        }
        section(out, &recorded(profile, timeline), timeline, look)?;
    }
    Ok(())
}

/// All samples of an event, chosen or not, but for those without a time.
fn recorded(profile: &Profile, timeline: &Timeline) -> EventTotal {
    let recorded = profile.recorded().get(timeline.event).cloned().unwrap_or_default();
    let Sum { samples, period } = timeline.timeless;
    EventTotal {
        samples: recorded.samples.saturating_sub(samples),
        period: recorded.period.wrapping_sub(period),
        ..recorded
    }
}

fn section(out: &mut dyn Write, recorded: &EventTotal, timeline: &Timeline, look: &Look) -> io::Result<()> {
    let Timeline { scale, total, timeless, .. } = timeline;
    let bold = Style::new().bold();
    let chosen = EventTotal { samples: total.samples, period: total.period, ..recorded.clone() };
    write!(out, "{bold}{}{bold:#}: {}", shown(&recorded.name), heading::amounts(&chosen, recorded))?;
    if timeless.samples > 0 {
        write!(out, "; {} more samples have no time", grouped(timeless.samples))?;
    }
    writeln!(out)?;
    if total.samples == 0 {
        return Ok(());
    }
    heading::write_whole(out, &chosen, recorded, Whole::Chosen)?;
    writeln!(
        out,
        "from {} s to {} s; a column is {}, a cell {}",
        crate::text::seconds(timeline.first_ns),
        crate::text::seconds(timeline.last_ns),
        length(scale.column_ns),
        length(scale.cell_ns)
    )?;
    map(out, timeline, look)?;
    hottest(out, timeline)
}

fn map(out: &mut dyn Write, timeline: &Timeline, look: &Look) -> io::Result<()> {
    let scale = &timeline.scale;
    let most = timeline.cells.iter().map(|cell| timeline.worth(cell)).max().unwrap_or(0);
    let shades = if look.ascii { ASCII } else { SHADES };
    let style = |step: usize| {
        let color = COLORS.get(step).copied().unwrap_or_default();
        Style::new().fg_color(Some(Color::Ansi256(Ansi256Color(color))))
    };
    let offset = |row: usize| seconds(scale.cell_ns.saturating_mul(row as u64), scale);
    let margin = offset(scale.rows).len().max(4);
    writeln!(out, "{:margin$}  {}", "", axis(scale))?;
    for row in 0..scale.rows {
        write!(out, "{:>margin$}  ", offset(row))?;
        let steps: Vec<Option<usize>> =
            (0..scale.columns).map(|column| step(timeline.worth(&timeline.at(column, row)), most)).collect();
        let used = steps.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        for run in steps.get(..used).unwrap_or_default().chunk_by(|a, b| a == b) {
            match run.first() {
                Some(Some(step)) => {
                    let (style, shade) = (style(*step), shades.get(*step).copied().unwrap_or('#'));
                    write!(out, "{style}{}{style:#}", shade.to_string().repeat(run.len()))?;
                }
                _ => write!(out, "{}", " ".repeat(run.len()))?,
            }
        }
        writeln!(out)?;
    }
    let mut legend = Vec::new();
    for (nr, shade) in shades.iter().enumerate() {
        if let Some((from, to)) = bounds(nr, most) {
            let style = style(nr);
            let numbers =
                if from == to { grouped(from) } else { format!("{} to {}", grouped(from), grouped(to)) };
            legend.push(format!("{style}{shade}{style:#} {numbers}"));
        }
    }
    let unit = if timeline.weight == Weight::Samples { "samples" } else { "of period" };
    writeln!(out, "{:margin$}  {} {unit} a cell; blank: none", "", legend.join("   "))
}

/// Times of columns, as many as there is room for.
fn axis(scale: &Scale) -> String {
    let label = |column: usize| {
        let time = scale.start_ns.saturating_add(scale.column_ns.saturating_mul(column as u64));
        seconds(time, &Scale { cell_ns: scale.column_ns, ..*scale })
    };
    let step = label(scale.columns).len() + 3;
    let mut axis = String::new();
    for column in (0..scale.columns).step_by(step) {
        axis.push_str(&" ".repeat(column.saturating_sub(axis.len())));
        axis.push_str(&label(column));
    }
    axis
}

fn hottest(out: &mut dyn Write, timeline: &Timeline) -> io::Result<()> {
    writeln!(out, "the hottest:")?;
    let whole = timeline.worth(&timeline.total);
    for stretch in timeline.hottest() {
        writeln!(
            out,
            "  --time {}   {:>6.2} %, {} samples in {}",
            time_argument(&stretch),
            share(timeline.worth(&stretch.sum), whole),
            grouped(stretch.sum.samples),
            length(stretch.to_ns.saturating_sub(stretch.from_ns).saturating_add(1))
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The legend tells of each number the step that it is drawn with.
    #[test]
    fn bounds_are_those_of_the_steps() {
        for most in [1, 2, 3, 4, 5, 6, 7, 11, 99, 100, 101, 12_345] {
            for value in 1..=most {
                let nr = step(value, most).unwrap();
                let (from, to) = bounds(nr, most).unwrap();
                assert!((from..=to).contains(&value), "{value} of {most} is step {nr}, {from} to {to}");
            }
        }
        assert_eq!(step(0, 7), None);
        assert_eq!(step(u64::MAX, u64::MAX), Some(STEPS - 1));
    }

    #[test]
    fn lengths_have_units() {
        assert_eq!(
            [1, 50_000_000, 2_000_000_000, 1500, 60_000_000_000].map(length),
            ["1 ns", "50 ms", "2 s", "1,500 ns", "60 s"]
        );
    }
}
