//! The stacks of many recordings, added up: what flame graphs of a fleet are drawn from.
//!
//! The engine adds up samples by stack, so that what comes here is a row a stack, however many samples there are. Names are looked up after
//! that, of these stacks alone. The result is a profile like that of a recording, and whatever writes one writes the other.

mod chosen;
mod columns;
mod named;
mod numbers;

use crate::engine::Engine;
use crate::error::{Error, Result};
use chosen::Chosen;
use named::Named;
use perffile::wire::attr::{AttrFlags, EventAttr, SampleType};
use perffile::wire::endian::ByteOrder;
use perffile::wire::event_type::EventType;
use perffile::{Container, Issues, Metadata, Schema};
use readperf_profile::Profile;
use readperf_profile::profile::EventTotal;
use readperf_session::Session;
use std::sync::Arc;

/// Which stacks.
#[derive(Clone, Debug, Default)]
pub struct StackQuestion {
    /// A condition in SQL on `samples` joined with `profiles`.
    pub condition: Option<String>,
    /// Names of events; all if there is none.
    pub events: Vec<String>,
    /// Whether inlined functions are left out.
    pub no_inlines: bool,
}

/// Samples of many recordings, added up by stack.
#[derive(Debug)]
pub struct SummedStacks {
    /// The stacks with their names. It has the totals of all events that were chosen, and the samples of the first one that has any.
    pub profile: Profile,
    /// Names of threads and binaries.
    pub session: Session,
    /// The events.
    pub metadata: Metadata,
    /// How many recordings have samples in it.
    pub recordings: usize,
    /// The machines that these were made on; those that do not tell are not among them.
    pub hosts: usize,
    /// Samples whose stacks the tables do not have, or not in full: they are shown as far as they are known.
    pub incomplete: u64,
}

impl Engine {
    /// Adds up stacks.
    ///
    /// # Errors
    /// A condition that is wrong; an event that no sample has; folders that cannot be read.
    pub fn summed_stacks(&self, question: &StackQuestion) -> Result<SummedStacks> {
        let chosen = Chosen::new(self, question.condition.as_deref())?;
        let parts = chosen.totals()?;
        let events = wanted(parts.events, &question.events)?;
        let shown = events.iter().position(|event| event.total.samples > 0);
        let mut named = Named::default();
        if let Some((nr, event)) = shown.and_then(|nr| Some((nr, events.get(nr)?))) {
            named.add(u32::try_from(nr).unwrap_or(u32::MAX), chosen.sums(&event.total.name)?);
        }
        let incomplete = named.look_up(self, question.no_inlines)?;
        let (session, assembly) = named.into_parts();
        let metadata = metadata(&events);
        let profile = assembly.finish(events.into_iter().map(|event| event.total).collect());
        let (recordings, hosts) = (parts.recordings, parts.hosts);
        Ok(SummedStacks { profile, session, metadata, recordings, hosts, incomplete })
    }
}

/// An event of the chosen samples.
#[derive(Debug)]
struct Event {
    total: EventTotal,
    kind: u32,
    config: u64,
    sample_type: u64,
    /// Whether samples were taken by frequency.
    by_frequency: bool,
}

/// The events that were asked for.
fn wanted(events: Vec<Event>, names: &[String]) -> Result<Vec<Event>> {
    let known = |name: &&String| events.iter().any(|event| event.total.name == **name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let all: Vec<&str> = events.iter().map(|event| event.total.name.as_str()).collect();
        let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
        return Err(Error::said(format!(
            "no sample that was chosen is of the event {unknown}; there is {all}"
        )));
    }
    let is_wanted = |event: &Event| names.is_empty() || names.contains(&event.total.name);
    Ok(events.into_iter().filter(is_wanted).collect())
}

/// What is to be known of the events: in which unit they count.
fn metadata(events: &[Event]) -> Metadata {
    let mut schema = Schema::new(ByteOrder::Little);
    for (nr, event) in events.iter().enumerate() {
        let flags = if event.by_frequency { AttrFlags::freq } else { AttrFlags::default() };
        let attr = EventAttr {
            kind: EventType(event.kind),
            config: event.config,
            sample_type: SampleType(event.sample_type),
            flags,
            ..EventAttr::default()
        };
        schema.add(attr, Vec::new());
        schema.set_name(nr, event.total.name.clone());
    }
    Metadata {
        container: Container::default(),
        version: 2,
        order: ByteOrder::Little,
        schema: Arc::new(schema),
        features: Arc::default(),
        compressed: false,
        kcore_dir: None,
        guest_kcore_dirs: Vec::new(),
        issues: Issues::default(),
    }
}
