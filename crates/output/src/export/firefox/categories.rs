//! Categories: what kind of code a frame is, for its colour, and what kind of thing a marker is, for its place in the chart.

use crate::export::Export;
use crate::export::json::JsonWriter;
use crate::text::printable;
use readperf_profile::CodeKind;

/// What kind of code a frame is, or of thing a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Category {
    Other,
    User,
    Kernel,
    Generated,
    /// A thread had no CPU.
    OffCpu,
    /// Samples of events that are not the one in the samples.
    Events,
    /// What was lost while recording.
    Lost,
}

impl Category {
    /// All, in the order of their indices. One has to be grey: it stands for what has no category. What is transparent does not
    /// count as activity.
    const ALL: [(Category, &'static str, &'static str); 7] = [
        (Category::Other, "Other", "grey"),
        (Category::User, "User", "yellow"),
        (Category::Kernel, "Kernel", "orange"),
        (Category::Generated, "Generated code", "green"),
        (Category::OffCpu, "Off CPU", "transparent"),
        (Category::Events, "Events", "blue"),
        (Category::Lost, "Lost", "red"),
    ];

    pub(super) fn of(kind: CodeKind) -> Category {
        match kind {
            CodeKind::User => Category::User,
            CodeKind::Kernel => Category::Kernel,
            CodeKind::Jit => Category::Generated,
            CodeKind::Unknown => Category::Other,
        }
    }

    /// Its index in the profile's list.
    pub(super) fn index(self) -> u32 {
        let at = Category::ALL.iter().position(|(category, ..)| *category == self);
        at.and_then(|at| u32::try_from(at).ok()).unwrap_or(0)
    }
}

/// The categories of a profile: those of every profile, then one for each system of tracepoints, as `sched`.
#[derive(Debug)]
pub(super) struct Categories {
    systems: Vec<String>,
    /// That of each event as a marker.
    of_event: Vec<u32>,
}

impl Categories {
    pub(super) fn of(export: &Export<'_>) -> Categories {
        let mut systems: Vec<String> = Vec::new();
        let mut of_event = Vec::new();
        for event in 0..export.profile.events().len() {
            let system = export.event_name(event).split_once(':').map(|(system, _)| system);
            let Some(system) = system.filter(|_| export.is_tracepoint(event)) else {
                of_event.push(Category::Events.index());
                continue;
            };
            let at = systems.iter().position(|known| known == system).unwrap_or_else(|| {
                systems.push(system.to_owned());
                systems.len() - 1
            });
            of_event.push(u32::try_from(Category::ALL.len().saturating_add(at)).unwrap_or(0));
        }
        Categories { systems, of_event }
    }

    /// The index of the category of an event's markers.
    pub(super) fn of_event(&self, event: u32) -> u32 {
        self.of_event.get(event as usize).copied().unwrap_or(0)
    }

    /// Writes the list.
    pub(super) fn write(&self, json: &mut JsonWriter<'_>) {
        let own = Category::ALL.iter().map(|(_, name, color)| (*name, *color));
        let systems = self.systems.iter().map(|system| (&**system, "purple"));
        for (name, color) in own.chain(systems) {
            json.object(|json| {
                json.field("name", printable(name));
                json.field("color", color);
                json.list("subcategories", ["Other"]);
            });
        }
    }
}
