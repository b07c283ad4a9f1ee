//! The map as one SVG file: a box a cell, with what is in it as its hint.

use super::{Look, STEPS, bounds, length, seconds, step, time_argument};
use crate::export::Weight;
use crate::overview::share;
use crate::text::grouped;
use crate::xml::{push_shown, push_xml};
use readperf_profile::Profile;
use readperf_profile::view::timeline::{Scale, Stretch, Timeline};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Width and height of a cell, and the space around the map, in pixels.
const CELL: (usize, usize) = (13, 15);
const LEFT: usize = 64;
const TOP: usize = 74;
const BELOW: usize = 152;

const STYLE: &str = "\
:root{color-scheme:light dark}
svg{background:#fbfaf8;font:12px system-ui,\"DejaVu Sans\",sans-serif}
text{fill:#1c1f24}.title{font-size:16px;font-weight:600}.about,.axis{fill:#5b6470}.axis{font-size:11px}
.mono{font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace}
rect.c{stroke:#fbfaf8;stroke-width:1}rect.c:hover{stroke:#1c1f24}
.h0{fill:#fde8b4}.h1{fill:#fbc46d}.h2{fill:#f4913f}.h3{fill:#de5427}.h4{fill:#a91e22}.e{fill:#f0ede7}
@media (prefers-color-scheme:dark){
svg{background:#16181c}text{fill:#e8e6e1}.about,.axis{fill:#a3abb6}
rect.c{stroke:#16181c}rect.c:hover{stroke:#fff}
.h0{fill:#4a3a1d}.h1{fill:#7d5a1f}.h2{fill:#b8651e}.h3{fill:#e0602c}.h4{fill:#ff9c6b}.e{fill:#1e2126}
}
";

/// Writes the maps of all events that have samples, one below the other.
///
/// # Errors
/// What the writer says.
pub fn write_svg(out: &mut dyn Write, profile: &Profile, look: &Look) -> io::Result<()> {
    let timelines = profile.timelines(look.size);
    let columns = timelines.iter().map(|timeline| timeline.scale.columns).max().unwrap_or(0);
    let width = (LEFT + columns * CELL.0 + 24).max(720);
    let high = |timeline: &Timeline| TOP + timeline.scale.rows * CELL.1 + BELOW;
    let height = timelines.iter().map(high).sum::<usize>().max(60);
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>")?;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-labelledby=\"timeline-title\">\n<title id=\"timeline-title\">Samples by time</title>\n<style>\n{STYLE}</style>"
    )?;
    if timelines.is_empty() {
        writeln!(out, "<text class=\"title\" x=\"16\" y=\"32\">no samples</text>")?;
    }
    let mut y = 0;
    for timeline in &timelines {
        writeln!(out, "<g transform=\"translate(0,{y})\">")?;
        section(out, profile, timeline)?;
        writeln!(out, "</g>")?;
        y += high(timeline);
    }
    writeln!(out, "</svg>")
}

fn section(out: &mut dyn Write, profile: &Profile, timeline: &Timeline) -> io::Result<()> {
    let scale = &timeline.scale;
    let mut name = String::new();
    push_shown(&mut name, profile.events().get(timeline.event).map_or("", |event| &event.name));
    text(out, "title", (16, 26), &name)?;
    let mut about =
        format!("{} samples, period {}", grouped(timeline.total.samples), grouped(timeline.total.period));
    if timeline.timeless.samples > 0 {
        let _ = write!(about, "; {} more samples have no time", grouped(timeline.timeless.samples));
    }
    let _ = write!(about, "; a column is {}, a cell {}", length(scale.column_ns), length(scale.cell_ns));
    text(out, "about", (16, 45), &about)?;
    if timeline.total.samples == 0 {
        return Ok(());
    }
    axes(out, scale)?;
    let most = timeline.cells.iter().map(|cell| timeline.worth(cell)).max().unwrap_or(0);
    let whole = timeline.worth(&timeline.total);
    for (nr, sum) in timeline.cells.iter().enumerate() {
        let (column, row) = (nr / scale.rows, nr % scale.rows);
        let (x, y) = (LEFT + column * CELL.0, TOP + row * CELL.1);
        let (from_ns, to_ns) = scale.times(nr);
        let class = step(timeline.worth(sum), most).map_or_else(|| "e".to_owned(), |step| format!("h{step}"));
        let stretch = Stretch { from_ns, to_ns, sum: *sum };
        writeln!(
            out,
            "<rect class=\"c {class}\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\"><title>{} s: {} samples, period {}, {:.2} %\n\
             --time {}</title></rect>",
            CELL.0,
            CELL.1,
            seconds(from_ns, scale),
            grouped(sum.samples),
            grouped(sum.period),
            share(timeline.worth(sum), whole),
            time_argument(&stretch)
        )?;
    }
    let below = TOP + scale.rows * CELL.1;
    legend(out, most, timeline.weight, below + 16)?;
    for (nr, stretch) in timeline.hottest().iter().enumerate() {
        let share = share(timeline.worth(&stretch.sum), whole);
        let line = format!("--time {}", time_argument(stretch));
        let y = below + 54 + nr * 17;
        text(out, "mono", (16, y), &line)?;
        let about = format!("{share:.2} %, {} samples", grouped(stretch.sum.samples));
        text(out, "about", (16 + 8 * line.len() + 24, y), &about)?;
    }
    Ok(())
}

fn axes(out: &mut dyn Write, scale: &Scale) -> io::Result<()> {
    let coarse = Scale { cell_ns: scale.column_ns, ..*scale };
    for column in (0..scale.columns).step_by(10) {
        let time = scale.start_ns.saturating_add(scale.column_ns.saturating_mul(column as u64));
        text(out, "axis", (LEFT + column * CELL.0, TOP - 8), &format!("{} s", seconds(time, &coarse)))?;
    }
    for row in (0..scale.rows).step_by(5) {
        let offset = seconds(scale.cell_ns.saturating_mul(row as u64), scale);
        text(out, "axis", (16, TOP + row * CELL.1 + 11), &format!("+{offset}"))?;
    }
    Ok(())
}

fn legend(out: &mut dyn Write, most: u64, weight: Weight, y: usize) -> io::Result<()> {
    let mut x = LEFT;
    for nr in 0..STEPS {
        let Some((from, to)) = bounds(nr, most) else { continue };
        let numbers =
            if from == to { grouped(from) } else { format!("{} to {}", grouped(from), grouped(to)) };
        writeln!(out, "<rect class=\"h{nr}\" x=\"{x}\" y=\"{}\" width=\"12\" height=\"12\"/>", y - 10)?;
        text(out, "axis", (x + 17, y), &numbers)?;
        x += 34 + numbers.len() * 7;
    }
    let unit = if weight == Weight::Samples { "samples a cell" } else { "of period a cell" };
    text(out, "axis", (x, y), unit)
}

fn text(out: &mut dyn Write, class: &str, (x, y): (usize, usize), content: &str) -> io::Result<()> {
    let mut line = format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">");
    push_xml(&mut line, content);
    line.push_str("</text>\n");
    out.write_all(line.as_bytes())
}
