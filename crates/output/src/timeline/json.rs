//! The map as JSON.

use super::{Look, time_argument};
use crate::heading::Whole;
use crate::json::{self, SCHEMA};
use readperf_profile::Profile;
use readperf_profile::view::timeline::Timeline;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes the maps of all events that have samples: `samples` and `period` are lists of columns, a column is a list of cells.
///
/// # Errors
/// What the writer says.
pub fn write_json(out: &mut dyn Write, profile: &Profile, look: &Look) -> io::Result<()> {
    let timelines = profile.timelines(look.size);
    let events: Vec<Value> = timelines.iter().map(|timeline| event(profile, timeline)).collect();
    json::write(&mut *out, &json!({ "schema": SCHEMA, "events": events }))?;
    writeln!(out)
}

fn event(profile: &Profile, timeline: &Timeline) -> Value {
    let columns = |value: fn(&readperf_profile::view::flame_tree::Sum) -> u64| -> Value {
        timeline
            .cells
            .chunks(timeline.scale.rows.max(1))
            .map(|column| column.iter().map(value).collect::<Value>())
            .collect()
    };
    let hottest = timeline.hottest();
    let hottest = hottest.iter().map(|stretch| {
        json!({
            "from_ns": stretch.from_ns,
            "to_ns": stretch.to_ns,
            "time": time_argument(stretch),
            "samples": stretch.sum.samples,
            "period": stretch.sum.period,
        })
    });
    let recorded = super::recorded(profile, timeline);
    json!({
        "name": profile.events().get(timeline.event).map(|event| event.name.as_str()),
        "samples": timeline.total.samples,
        "period": timeline.total.period,
        "recorded": { "samples": recorded.samples, "period": recorded.period },
        "percent_of": Whole::Chosen.name(),
        "samples_without_time": timeline.timeless.samples,
        "first_time_ns": timeline.first_ns,
        "last_time_ns": timeline.last_ns,
        "start_ns": timeline.scale.start_ns,
        "column_ns": timeline.scale.column_ns,
        "cell_ns": timeline.scale.cell_ns,
        "cells": { "samples": columns(|sum| sum.samples), "period": columns(|sum| sum.period) },
        "hottest": hottest.collect::<Value>(),
    })
}
