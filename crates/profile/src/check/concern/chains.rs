//! Call chains: none, cut at their longest, or broken off.
//!
//! ABI: entries from `PERF_CONTEXT_MAX` (-4095) up are markers. A chain has at most `sample_max_stack` addresses, or where
//! that is 0 as many as the sysctl `kernel.perf_event_max_stack` allows, 127 unless changed.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::seen::Seen;
use crate::check::tally::Tally;
use crate::check::wording::{count, part, percent, plural};
use perffile::wire::attr::{BranchSampleType, EventAttr, SampleType};
use perffile::wire::callchain::Marker;
use perffile::wire::head::CpuMode;
use perffile::wire::words::U64s;
use readperf_session::SampleMoment;

const NO_CALLCHAINS: FindingKind = FindingKind::note("no_callchains");
const EMPTY_CALLCHAINS: FindingKind = FindingKind::note("empty_callchains");
const CUT_CALLCHAINS: FindingKind = FindingKind::advice("cut_callchains");
const BROKEN_CALLCHAINS: FindingKind = FindingKind::advice("broken_callchains");

const DEFAULT_MAX_STACK: u64 = 127;

/// Some chains end early in any program: at the first instruction of a thread, in hand-written code.
const TOLERATED: f64 = 0.25;
/// Fewer chains than this prove nothing.
const ENOUGH: u64 = 10;

/// Counts of chains by how they end.
#[derive(Default)]
pub(crate) struct Chains {
    chains: u64,
    empty: Tally,
    at_limit: Tally,
    /// Chains longer than the limit that the attr tells: then it was another one.
    beyond_limit: u64,
    /// Chains whose user part was followed by frame pointers.
    followed: u64,
    broken: Tally,
}

/// What a chain consists of.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parts {
    /// Addresses of any kind.
    addresses: u64,
    /// Addresses in user mode, zeros at the end left out.
    user: u64,
    /// The outermost of them.
    outermost: u64,
    /// The user part is told by a later record.
    deferred: bool,
}

fn parts(chain: U64s<'_>, mode: CpuMode) -> Parts {
    let mut parts = Parts::default();
    let mut in_user = mode == CpuMode::User;
    let mut words = chain.iter();
    while let Some(word) = words.next() {
        if let Some(marker) = Marker::of(word) {
            in_user = marker == Marker::USER;
            if marker == Marker::USER_DEFERRED {
                parts.deferred = true;
                words.next();
            }
            continue;
        }
        parts.addresses += 1;
        // A chain of frame pointers often ends with the zero that stands for no caller.
        if in_user && word != 0 {
            parts.user += 1;
            parts.outermost = word;
        }
    }
    parts
}

/// Whether the user part of this event's chains was made by following frame pointers: not by unwinding a copy of the stack
/// later, nor by the hardware.
fn follows_frame_pointers(attr: &EventAttr) -> bool {
    !attr.sample_type.has(SampleType::STACK_USER)
        && !attr.branch_sample_type.has(BranchSampleType::CALL_STACK)
}

impl Concern for Chains {
    fn sample(&mut self, sample: &SampleMoment<'_>, seen: &Seen<'_, '_>) {
        let Some(event) = seen.event_of(sample) else { return };
        let Some(chain) = sample.sample.callchain() else { return };
        self.chains += 1;
        let parts = parts(chain, sample.mode);
        if parts.addresses == 0 && !parts.deferred {
            // With a copy of the stack or with branches the user part is made of those.
            if follows_frame_pointers(&event.attr) {
                self.empty.add(seen.event);
            }
            return;
        }
        let limit = match event.attr.sample_max_stack {
            0 => DEFAULT_MAX_STACK,
            limit => u64::from(limit),
        };
        match parts.addresses.cmp(&limit) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal => self.at_limit.add(seen.event),
            std::cmp::Ordering::Greater => self.beyond_limit += 1,
        }
        if parts.user == 0 || parts.addresses >= limit || !follows_frame_pointers(&event.attr) {
            return;
        }
        self.followed += 1;
        let outermost = seen.session.locate(sample.process, CpuMode::User, parts.outermost);
        if parts.user == 1 || outermost.binary.is_none() {
            self.broken.add(seen.event);
        }
    }

    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>) {
        if self.chains == 0 {
            return none(end, findings);
        }
        let of_chains = |tally: &Tally| part(tally.count, self.chains);
        if self.broken.count >= ENOUGH && part(self.broken.count, self.followed) > TOLERATED {
            let share = part(self.broken.count, self.followed);
            let message = format!(
                "{}, {} of those with a user part, {} off after one frame or outside of all mappings, as code without frame pointers makes them.",
                count(self.broken.count, "call chain"),
                percent(share),
                plural(self.broken.count, "breaks", "break")
            );
            let advice = "Compile with -fno-omit-frame-pointer (Rust: -C force-frame-pointers), or record with --call-graph dwarf, or \
                          --call-graph lbr where the CPU can.";
            findings.push(Finding::new(BROKEN_CALLCHAINS, &self.broken, message, advice).share(share));
        }
        if self.at_limit.any() && self.beyond_limit == 0 {
            let share = of_chains(&self.at_limit);
            let message = format!(
                "{}, {} of all, {} as long as the recorder allowed: the outer callers are cut off.",
                count(self.at_limit.count, "call chain"),
                percent(share),
                plural(self.at_limit.count, "is", "are")
            );
            let advice = "Raise sysctl kernel.perf_event_max_stack and record with a larger max-stack, as in -e cycles/max-stack=1000/.";
            findings.push(Finding::new(CUT_CALLCHAINS, &self.at_limit, message, advice).share(share));
        }
        if self.empty.any() {
            let share = of_chains(&self.empty);
            let message = format!(
                "{}, {} of those with a call chain, {} an empty one.",
                count(self.empty.count, "sample"),
                percent(share),
                plural(self.empty.count, "has", "have")
            );
            let advice = "Nothing has to be done if they are few: the stack could not be read, or its mode was excluded.";
            findings.push(Finding::new(EMPTY_CALLCHAINS, &self.empty, message, advice).share(share));
        }
    }
}

fn none(end: &End<'_>, findings: &mut Vec<Finding>) {
    let branches = |attr: &EventAttr| attr.sample_type.has(SampleType::BRANCH_STACK);
    if end.sampled().next().is_none() || end.sampled().any(|(event, _)| branches(&event.attr)) {
        return;
    }
    let message =
        "No call chains were recorded: it can be said where time was spent, but not who called.".to_owned();
    let advice = "Record with -g, or with --call-graph dwarf for code without frame pointers.";
    findings.push(Finding::whole(NO_CALLCHAINS, 1, message, advice));
}

#[cfg(test)]
mod tests {
    use super::*;
    use perffile::ByteOrder;

    fn parts_of(words: &[u64], mode: CpuMode) -> Parts {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        parts(U64s::new(&bytes, ByteOrder::Little), mode)
    }

    #[test]
    fn markers_and_zeros_are_no_frames() {
        let chain = [-128i64 as u64, 0xffff_8000, 0xffff_8004, Marker::USER.0, 0x1000, 0x2000, 0];
        let parts = parts_of(&chain, CpuMode::Kernel);
        assert_eq!(parts, Parts { addresses: 5, user: 2, outermost: 0x2000, deferred: false });
    }

    #[test]
    fn a_cookie_is_no_frame() {
        let parts = parts_of(&[Marker::USER_DEFERRED.0, 77], CpuMode::Kernel);
        assert_eq!(parts, Parts { addresses: 0, user: 0, outermost: 0, deferred: true });
    }

    #[test]
    fn without_marker_the_mode_is_that_of_the_sample() {
        assert_eq!(parts_of(&[0x1000], CpuMode::User).user, 1);
        assert_eq!(parts_of(&[0x1000], CpuMode::Kernel).user, 0);
    }
}
