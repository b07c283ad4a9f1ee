//! Names of the files that parts are in.

use readperf_edit::split::{Division, Key, Survey};
use std::collections::BTreeSet;

/// So much of the name of an event is in that of its file, in bytes.
const MOST_OF_A_NAME: usize = 100;

/// The names of all parts, in their order.
pub(super) fn names(survey: &Survey) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut free = |name: String| {
        let others = (2..).map(|nr: u64| format!("{name}-{nr}"));
        let free = std::iter::once(name.clone()).chain(others).find(|name| !taken.contains(name));
        let free = free.unwrap_or(name);
        taken.insert(free.clone());
        format!("{free}.data")
    };
    survey.keys().iter().map(|key| free(name(survey, *key))).collect()
}

fn name(survey: &Survey, key: Key) -> String {
    let Key::Of(number) = key else { return "rest".to_owned() };
    match survey.division() {
        Division::Every(_) | Division::Times(_) | Division::Bytes(_) => {
            format!("part-{:04}", number.saturating_add(1))
        }
        Division::Process => format!("pid-{number}"),
        Division::Cpu => format!("cpu-{number}"),
        Division::Event => {
            let event = usize::try_from(number).ok().and_then(|index| survey.metadata().schema.event(index));
            format!("event-{}", harmless(event.map_or("", |event| event.name.as_str())))
        }
    }
}

/// A name without what means something to a shell or a file system.
fn harmless(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.chars().take(MOST_OF_A_NAME).map(|c| if is_plain(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn names_of_events_become_names_of_files() {
        assert_eq!(harmless("cpu-clock:u"), "cpu-clock_u");
        assert_eq!(harmless("cpu/mem-loads,ldlat=30/P"), "cpu_mem-loads_ldlat_30_P");
        assert_eq!(harmless("../../etc/passwd"), ".._.._etc_passwd");
        assert_eq!(harmless(&"x".repeat(1000)).len(), 100);
    }
}
