//! What a flame graph says of itself: which program, where, when, what was counted, and what is not shown.

use crate::calendar::date_time;
use crate::export::quantity::{Quantity, samples};
use crate::export::{Export, Weight};
use crate::text::grouped;
use crate::xml::push_shown;
use readperf_profile::view::flame_layout::FlameLayout;
use readperf_profile::view::flame_tree::Sum;

/// One of the recordings that are shown, and its event.
pub(super) type Side<'s, 'x> = (&'s Export<'x>, usize);

/// The title: program, host, date, event; of two recordings what they have in common is said once.
pub(super) fn title(sides: &[Side<'_, '_>]) -> String {
    let Some((new, _)) = sides.first() else { return String::new() };
    if let Some(title) = &new.options.title {
        return shown(title);
    }
    let of = |part: fn(&Side<'_, '_>) -> Option<String>, missing: &str| {
        let parts: Vec<String> =
            sides.iter().map(|side| part(side).unwrap_or_else(|| missing.to_owned())).collect();
        match parts.as_slice() {
            [new, base] if new != base => format!("{new} against {base}"),
            _ => parts.first().cloned().unwrap_or_default(),
        }
    };
    let program = of(|(side, event)| side.program(*event).map(|program| shown(&program)), "nothing");
    let host = of(|(side, _)| side.metadata.features.hostname().map(|host| shown(&host)), "");
    let host = if host.is_empty() { host } else { format!(" on {host}") };
    let mut title = format!("{program}{host}");
    let date = |side: &Side<'_, '_>| date(side.0);
    for part in [of(date, ""), of(event, "")] {
        if !part.is_empty() {
            title.push_str(&format!(", {part}"));
        }
    }
    title
}

/// Below the title: what sort of graph, how many samples, what they add up to, and the command.
pub(super) fn subtitle(sides: &[Side<'_, '_>]) -> String {
    let Some((new, event)) = sides.first() else { return String::new() };
    let kind = match (sides.len() > 1, new.options.flame.reverse) {
        (true, false) => "Differential flame graph",
        (true, true) => "Differential flame graph of callers",
        (false, true) => "Flame graph of callers",
        (false, false) => "Flame graph",
    };
    let quantity = Quantity::of(new, *event);
    let worth = |(side, event): &Side<'_, '_>| match side.profile.events().get(*event) {
        None => "no samples".to_owned(),
        Some(event) => format!("{}, {}", samples(event.samples), quantity.told(event.period)),
    };
    match sides {
        [new, base] => format!("{kind}: new {} · base {}", worth(new), worth(base)),
        [side] => {
            let command =
                new.command_line().map_or(String::new(), |command| format!(" · {}", shown(&command)));
            format!("{kind}: {}{command}", worth(side))
        }
        _ => String::new(),
    }
}

/// What is not shown, in words.
pub(super) fn note(frames: &FlameLayout, weight: Weight, reverse: bool) -> String {
    let mut told = Vec::new();
    if frames.left_out > 0 {
        told.push(too_small(frames, weight));
    }
    if frames.too_deep > 0 {
        let (count, rows) = (grouped(frames.too_deep), grouped(u64::from(frames.most_rows)));
        // A tree of callers is not grown any further.
        let more = if reverse { " or more" } else { "" };
        told.push(format!("{count}{more} frames that stand on {rows} others"));
    }
    if told.is_empty() { String::new() } else { format!("Not shown: {}.", told.join("; ")) }
}

fn too_small(frames: &FlameLayout, weight: Weight) -> String {
    let whole = frames.list.first().map(|all| all.total).unwrap_or_default();
    let share = |side: usize| {
        let of = |sums: [Sum; 2]| sums.get(side).map_or(0, |sum| weight.of_sum(sum));
        crate::overview::share(of(frames.left_out_sum), of(whole))
    };
    let percent = f64::from(frames.least.0) / 10_000.0;
    let sides = if share(1) > 0.0 {
        format!("{:.2} % and {:.2} %", share(0), share(1))
    } else {
        format!("{:.2} %", share(0))
    };
    format!("{} frames under {percent} %, together {sides} of the weight", grouped(frames.left_out))
}

fn shown(text: &str) -> String {
    let mut shown = String::new();
    push_shown(&mut shown, text);
    shown
}

fn event((side, event): &Side<'_, '_>) -> Option<String> {
    Some(side.event_name(*event)).filter(|name| !name.is_empty()).map(shown)
}

/// When it was recorded, if the recording tells.
fn date(export: &Export<'_>) -> Option<String> {
    let (first, _) = export.profile.times_ns()?;
    let time = date_time(export.time_of_day(first)?);
    Some(format!("{} {:02}:{:02} UTC", time.date(), time.hour(), time.minute()))
}
