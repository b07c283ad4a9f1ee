//! Samples whose address lies in nothing that is known to be mapped, and why that may be.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::seen::Seen;
use crate::check::tally::Tally;
use crate::check::wording::{count, part, percent, plural};
use perffile::wire::attr::SampleType;
use perffile::wire::head::CpuMode;
use perffile::wire::misc;
use perffile::wire::record::Record;
use readperf_session::SampleMoment;

const CUT_PROCESS_MAPS: FindingKind = FindingKind::loss("cut_process_maps");
const UNMAPPED_USER: FindingKind = FindingKind::advice("unmapped_user");
const UNKNOWN_PROCESS: FindingKind = FindingKind::note("unknown_process");
const GUEST_SAMPLES: FindingKind = FindingKind::note("guest_samples");

/// A user sample in a hundred outside of all mappings is what generated code and races with mmap(2) make.
const TOLERATED: f64 = 0.01;

/// Counts of samples that have no binary.
#[derive(Default)]
pub(crate) struct Mappings {
    timeouts: Tally,
    user: Tally,
    all_user: u64,
    guest: Tally,
    without_process: Tally,
}

impl Concern for Mappings {
    fn sample(&mut self, sample: &SampleMoment<'_>, seen: &Seen<'_, '_>) {
        let recorded = seen.event_of(sample).map(|event| event.attr.sample_type).unwrap_or_default();
        if recorded.has(SampleType::TID) && sample.sample.pid() == Some(u32::MAX) {
            self.without_process.add(seen.event);
        }
        let is_unmapped = || sample.code(seen.session).binary.is_none();
        match sample.mode {
            CpuMode::User if recorded.has(SampleType::IP) => {
                self.all_user += 1;
                if is_unmapped() {
                    self.user.add(seen.event);
                }
            }
            CpuMode::GuestUser | CpuMode::GuestKernel if is_unmapped() => self.guest.add(seen.event),
            _ => {}
        }
    }

    fn record(&mut self, record: &Record<'_>, seen: &Seen<'_, '_>) {
        let timeout = seen.event.head().misc & misc::PROC_MAP_PARSE_TIMEOUT != 0;
        if timeout && matches!(record, Record::Mmap(_) | Record::Mmap2(_)) {
            self.timeouts.add(seen.event);
        }
    }

    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>) {
        if self.timeouts.any() {
            let processes = self.timeouts.count;
            let message = format!(
                "Reading the memory {} of {} that ran before took perf too long: only a part of what {} mapped is known.",
                plural(processes, "map", "maps"),
                plural(processes, "a process", &format!("{processes} processes")),
                plural(processes, "it had", "they had")
            );
            let advice = "Record with --proc-map-timeout 5000 (milliseconds), and start perf before processes with many mappings.";
            findings.push(Finding::new(CUT_PROCESS_MAPS, &self.timeouts, message, advice));
        }
        let share = part(self.user.count, self.all_user);
        if self.user.any() && share > TOLERATED {
            let message = format!(
                "{} in user mode, {} of those, {} in memory that no mapping covers, and will have no name.",
                count(self.user.count, "sample"),
                percent(share),
                plural(self.user.count, "lies", "lie")
            );
            let advice = "Start perf before the program, give perf the right to read its /proc/PID/maps, and record generated code with \
                          a perf map or jitdump.";
            findings.push(Finding::new(UNMAPPED_USER, &self.user, message, advice).share(share));
        }
        let of_all = |kind, tally: &Tally, what: &str, advice: &str| {
            let share = part(tally.count, end.totals.samples);
            let message = format!("{}, {} of all, {what}.", count(tally.count, "sample"), percent(share));
            Finding::new(kind, tally, message, advice).share(share)
        };
        if self.guest.any() {
            let what = plural(
                self.guest.count,
                "was taken inside a virtual machine",
                "were taken inside virtual machines",
            );
            let advice = "Exclude guests with the event modifier H, or record them with perf kvm and their own kernel's symbols.";
            findings.push(of_all(GUEST_SAMPLES, &self.guest, what, advice));
        }
        if self.without_process.any() {
            let what =
                plural(self.without_process.count, "does not tell its process", "do not tell their process");
            let advice = "Nothing has to be done: the kernel no longer knew a task that was ending.";
            findings.push(of_all(UNKNOWN_PROCESS, &self.without_process, what, advice));
        }
    }
}
