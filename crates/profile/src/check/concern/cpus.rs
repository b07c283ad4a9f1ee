//! System-wide recordings: which CPU, and which of them had nothing to do.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::seen::Seen;
use crate::check::wording::{count, part, plural};
use perffile::wire::attr::SampleType;
use readperf_session::SampleMoment;

const NO_CPU_NUMBERS: FindingKind = FindingKind::advice("no_cpu_numbers");
const CPUS_WITHOUT_SAMPLES: FindingKind = FindingKind::note("cpus_without_samples");

/// CPU numbers followed: more than Linux allows, and a bound for files made to hurt.
const MOST: usize = 1 << 16;

/// Which CPUs had samples.
#[derive(Default)]
pub(crate) struct Cpus {
    seen: Vec<bool>,
}

impl Concern for Cpus {
    fn sample(&mut self, sample: &SampleMoment<'_>, _seen: &Seen<'_, '_>) {
        let Some(cpu) = sample.cpu.map(|cpu| cpu as usize).filter(|cpu| *cpu < MOST) else { return };
        if self.seen.len() <= cpu {
            self.seen.resize(cpu + 1, false);
        }
        if let Some(seen) = self.seen.get_mut(cpu) {
            *seen = true;
        }
    }

    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>) {
        if !end.system_wide() || end.totals.samples == 0 {
            return;
        }
        let without: u64 = end
            .sampled()
            .filter(|(event, _)| !event.attr.sample_type.has(SampleType::CPU))
            .map(|(_, samples)| samples)
            .sum();
        if without > 0 {
            let message = format!(
                "All CPUs were recorded, but {} {} not tell which one.",
                count(without, "sample"),
                plural(without, "does", "do")
            );
            let share = part(without, end.totals.samples);
            let advice = "Record with --sample-cpu.";
            findings.push(Finding::whole(NO_CPU_NUMBERS, without, message, advice).share(share));
        }
        let with_samples = self.seen.iter().filter(|seen| **seen).count() as u64;
        let Some(cpus) = end.metadata.features.nrcpus() else { return };
        let online = u64::from(cpus.online);
        if with_samples > 0 && with_samples < online && without == 0 {
            let idle = online - with_samples;
            let message = format!("{idle} of {online} CPUs {} no sample.", plural(idle, "has", "have"));
            let advice = "Nothing has to be done: a CPU that sleeps counts nothing.";
            let finding = Finding::whole(CPUS_WITHOUT_SAMPLES, idle, message, advice);
            findings.push(finding.share(part(idle, online)));
        }
    }
}
