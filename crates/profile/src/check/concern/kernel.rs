//! What may be seen of the kernel: its addresses, and its samples at all.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::seen::Seen;
use crate::check::tally::Tally;
use crate::check::wording::{count, list, part, percent, plural};
use perffile::wire::attr::AttrFlags;
use perffile::wire::head::CpuMode;
use readperf_session::{BinaryKind, SampleMoment};

const HIDDEN_KERNEL_ADDRESSES: FindingKind = FindingKind::advice("hidden_kernel_addresses");
const KERNEL_NOT_ALLOWED: FindingKind = FindingKind::advice("kernel_not_allowed");

/// Samples taken in the kernel.
#[derive(Default)]
pub(crate) struct Kernel {
    samples: Tally,
}

impl Concern for Kernel {
    fn sample(&mut self, sample: &SampleMoment<'_>, seen: &Seen<'_, '_>) {
        if sample.mode == CpuMode::Kernel {
            self.samples.add(seen.event);
        }
    }

    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>) {
        if self.samples.any() && !kernel_is_placed(end) {
            let share = part(self.samples.count, end.totals.samples);
            let message = format!(
                "The address of the kernel was hidden from perf: {} in it, {} of all, cannot be named by its image.",
                count(self.samples.count, "sample"),
                percent(share)
            );
            let advice =
                "Record as root, or after sysctl kernel.kptr_restrict=0 (and kernel.perf_event_paranoid=1).";
            let finding = Finding::new(HIDDEN_KERNEL_ADDRESSES, &self.samples, message, advice);
            findings.push(finding.share(share));
        }
        if !self.samples.any() {
            fallback(end, findings);
        }
    }
}

/// ABI: the kernel's mapping has the address of a reference symbol in `pgoff`; 0 where `kptr_restrict` hid it.
fn kernel_is_placed(end: &End<'_>) -> bool {
    let image = end.session.kernel_image().and_then(|image| end.session.binary(image.binary));
    image.is_some_and(|image| matches!(image.kind, BinaryKind::Kernel { reference: Some(_) }))
}

/// perf goes on in user mode only if it may not see the kernel, and says so in nothing but the event's name.
fn fallback(end: &End<'_>, findings: &mut Vec<Finding>) {
    let Some(words) = end.metadata.features.cmdline() else { return };
    let mut options = words.iter().take_while(|word| *word != "--");
    let asked =
        options.any(|word| word == "--all-user" || word.split([',', '{', '}']).any(asks_for_user_mode));
    if asked {
        return;
    }
    let mut samples = 0;
    let mut names = Vec::new();
    for (event, count) in end.sampled() {
        if event.attr.flags.has(AttrFlags::exclude_kernel) {
            samples += count;
            names.push(event.name.clone());
        }
    }
    if names.is_empty() {
        return;
    }
    let message = format!(
        "Only user mode was recorded for {} {} although that was not asked for: time spent in the kernel is missing.",
        plural(names.len() as u64, "event", "events"),
        list(&names)
    );
    let advice = "Record as root, or after sysctl kernel.perf_event_paranoid=1.";
    findings.push(Finding::whole(KERNEL_NOT_ALLOWED, samples, message, advice));
}

/// Whether an event on the command line has the modifier u, as in `cycles:u`, `{a,b}:uS` and `cpu/config=1/u`.
fn asks_for_user_mode(event: &str) -> bool {
    let modifiers = event.rsplit([':', '/']).next().unwrap_or_default();
    modifiers.len() < event.len()
        && modifiers.contains('u')
        && modifiers.chars().all(|letter| "ukhGHIpPSDWebR".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_are_told_from_names() {
        for event in ["cycles:u", "cycles:upp", "cpu/config=1/u", ":uS"] {
            assert!(asks_for_user_mode(event), "{event}");
        }
        for event in ["cycles", "u", "cycles:k", "sched:sched_switch", "record", "/usr/bin/perf", "cycles:pp"]
        {
            assert!(!asks_for_user_mode(event), "{event}");
        }
    }
}
