//! One event in words: what it counts, when it takes a sample, and what a sample holds.

use super::super::attr::flag_names;
use super::page::Page;
use crate::text::{grouped, printable};
use perffile::wire::attr::{AttrFlags, EventAttr, SampleType};
use perffile::wire::event_type::{BreakpointAccess, EventType};
use perffile::wire::registers::RegsAbi;
use perffile::{EventDescription, Metadata};

/// Ids that are shown of an event that has more.
const MOST_IDS: usize = 8;

/// The block of an event.
pub(super) fn block(page: &mut Page, metadata: &Metadata, event: &EventDescription) {
    let attr = &event.attr;
    page.gap();
    page.heading(&format!("event {}", printable(&event.name)));
    page.fact("  type", kind_words(metadata, attr));
    page.fact("  sampling", sampling(attr));
    if let Some(unit) = event.unit.as_deref().filter(|unit| !unit.is_empty()) {
        page.fact("  unit", printable(unit));
    }
    if let Some(scale) = event.scale {
        page.fact("  scale", scale.to_string());
    }
    names(page, "  sample fields", attr.sample_type.names());
    names(page, "  read format", attr.read_format.names());
    names(page, "  branches", attr.branch_sample_type.names());
    registers(page, metadata, "  user registers", attr.sample_regs_user);
    registers(page, metadata, "  intr registers", attr.sample_regs_intr);
    if attr.sample_stack_user > 0 {
        page.fact("  user stack", format!("{} bytes", grouped(u64::from(attr.sample_stack_user))));
    }
    if attr.sample_max_stack > 0 {
        page.fact("  call chains", format!("at most {} frames", grouped(u64::from(attr.sample_max_stack))));
    }
    if let Some(clock) = attr.clockid() {
        page.fact("  clock", clock.to_string());
    }
    if attr.aux_sample_size > 0 {
        page.fact("  aux sample", format!("{} bytes", grouped(u64::from(attr.aux_sample_size))));
    }
    names(page, "  flags", flag_names(attr.flags));
    ids(page, &event.ids);
}

fn names(page: &mut Page, label: &str, names: Vec<String>) {
    if !names.is_empty() {
        page.items(label, "", " ", &names);
    }
}

fn ids(page: &mut Page, ids: &[u64]) {
    let mut shown: Vec<String> = ids.iter().take(MOST_IDS).map(u64::to_string).collect();
    if ids.len() > MOST_IDS {
        shown.push(format!("… ({} in all)", grouped(ids.len() as u64)));
    }
    names(page, "  ids", shown);
}

/// What kind of event, and which one of that kind.
fn kind_words(metadata: &Metadata, attr: &EventAttr) -> String {
    let EventAttr { kind, config, config1, config2, .. } = attr;
    let pmu = || {
        let pmus = metadata.features.pmu_mappings()?;
        let name = pmus.pmus.iter().find(|pmu| pmu.kind == *kind)?.name.display();
        Some(format!("PMU {}", printable(&name)))
    };
    let name = kind.name().map(str::to_owned).or_else(pmu);
    let name = name.unwrap_or_else(|| "PMU of unknown name".to_owned());
    let which = match *kind {
        EventType::TRACEPOINT => format!("id {config}"),
        EventType::HW_CACHE => format!("config {config:#x}{}", cache_words(*config)),
        EventType::BREAKPOINT => format!("{} at {config1:#x}, {config2} bytes", access(attr.bp_type)),
        _ => {
            let more = [("config1", *config1), ("config2", *config2), ("config3", attr.config3)];
            let more = more.iter().filter(|(_, value)| *value != 0);
            more.fold(format!("config {config:#x}"), |text, (name, value)| {
                format!("{text}, {name} {value:#x}")
            })
        }
    };
    format!("{name} ({}), {which}", kind.0)
}

/// `PERF_COUNT_HW_CACHE_*`: cache, operation and result, a byte each.
fn cache_words(config: u64) -> String {
    let pick = |names: &[&'static str], shift: u32| {
        usize::try_from(config >> shift & 0xff).ok().and_then(|number| names.get(number).copied())
    };
    let cache = pick(&["L1d", "L1i", "LLC", "dTLB", "iTLB", "branch predictor", "node"], 0);
    let operation = pick(&["loads", "stores", "prefetches"], 8);
    let result = pick(&["all", "misses"], 16);
    match (cache, operation, result) {
        (Some(cache), Some(operation), Some(result)) => format!(" ({cache} {operation}, {result})"),
        _ => String::new(),
    }
}

/// What stops at a breakpoint.
fn access(accesses: BreakpointAccess) -> &'static str {
    let [read, write, execute] = [BreakpointAccess::READ, BreakpointAccess::WRITE, BreakpointAccess::EXECUTE]
        .map(|access| accesses.has(access));
    match (read, write, execute) {
        (true, false, false) => "reads",
        (false, true, false) => "writes",
        (true, true, false) => "reads and writes",
        (false, false, true) => "execution",
        _ => "no access",
    }
}

/// When a sample is taken, and how exact its instruction pointer has to be.
fn sampling(attr: &EventAttr) -> String {
    let rate = match (attr.sample_period, attr.flags.has(AttrFlags::freq)) {
        (0, _) if attr.sample_type.has(SampleType::READ) => "none of its own, read with its group".to_owned(),
        (0, _) => "none, it only counts".to_owned(),
        (frequency, true) => format!("{} Hz", grouped(frequency)),
        (1, false) => "every event".to_owned(),
        (period, false) => format!("every {} events", grouped(period)),
    };
    match attr.flags.precise_ip() {
        0 => rate,
        1 => format!("{rate}, instruction pointer with constant skid"),
        2 => format!("{rate}, instruction pointer precise on request"),
        _ => format!("{rate}, instruction pointer precise"),
    }
}

fn registers(page: &mut Page, metadata: &Metadata, label: &str, mask: u64) {
    if mask == 0 {
        return;
    }
    let machine = metadata.features.machine();
    let name = |bit| machine?.register_name(bit, RegsAbi::ABI_64);
    let bits = (0..64).filter(|bit| mask >> bit & 1 == 1);
    let items: Vec<String> = bits.map(|bit| name(bit).unwrap_or_else(|| format!("#{bit}"))).collect();
    page.items(label, &format!("{mask:#x}:"), " ", &items);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configs_of_caches_are_told_apart() {
        assert_eq!(cache_words(0x1_0100), " (L1d stores, misses)");
        assert_eq!(cache_words(2), " (LLC loads, all)");
        assert_eq!(cache_words(0x7f), "");
    }

    #[test]
    fn rates() {
        let mut attr = EventAttr { sample_period: 100_000, ..EventAttr::default() };
        assert_eq!(sampling(&attr), "every 100,000 events");
        attr.flags = AttrFlags::freq | AttrFlags::precise_ip_2;
        assert_eq!(sampling(&attr), "100,000 Hz, instruction pointer precise on request");
        attr.sample_period = 0;
        attr.flags = AttrFlags::default();
        assert_eq!(sampling(&attr), "none, it only counts");
    }
}
