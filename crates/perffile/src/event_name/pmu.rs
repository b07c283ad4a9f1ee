//! Types of events that a kernel numbers as it finds its PMUs: PMU_MAPPINGS has their names.

use super::modifiers::modifiers;
use super::sources::NameSources;
use crate::wire::attr::EventAttr;
use std::fmt::Write as _;

/// `PERF_PMU_TYPE_SHIFT`: on machines with several kinds of cores, `config` of the types HARDWARE and HW_CACHE has the number
/// of the PMU from this bit on.
const PMU_SHIFT: u32 = 32;

/// The number of the PMU that an event of those types is bound to, if it is.
pub(super) fn of_config(config: u64) -> Option<u32> {
    u32::try_from(config >> PMU_SHIFT).ok().filter(|number| *number != 0)
}

/// The name in the form that perf takes on its command line: `msr/config=0x1/`. perf itself shows a number only, so that
/// all events of a PMU look the same; that is what stands here too if the recording does not name the PMU.
pub(super) fn name(number: u32, attr: &EventAttr, sources: &NameSources) -> String {
    let Some(pmu) = sources.pmu(number) else { return format!("unknown attr type: {number}") };
    let mut name = format!("{pmu}/config={:#x}", attr.config);
    for (term, value) in [("config1", attr.config1), ("config2", attr.config2)] {
        if value != 0 {
            // Writing to a string does not fail.
            let _ = write!(name, ",{term}={value:#x}");
        }
    }
    name.push('/');
    // Counting everywhere is what the command line means without letters.
    let letters = modifiers(attr);
    if letters != "HG" {
        name.push_str(&letters);
    }
    name
}
