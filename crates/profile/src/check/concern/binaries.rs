//! Whether the code that ran can be found again: build-ids, deleted files, generated code, names.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::seen::Seen;
use crate::check::tally::Tally;
use crate::check::wording::{count, list, part, percent, plural};
use perffile::wire::text::decoded;
use readperf_session::{Binary, BinaryKind, SampleMoment};
use std::cmp::Reverse;

const MISSING_BUILD_IDS: FindingKind = FindingKind::advice("missing_build_ids");
const DELETED_FILES: FindingKind = FindingKind::advice("deleted_files");
const GENERATED_CODE: FindingKind = FindingKind::note("generated_code");
const NO_NAMES_HERE: FindingKind = FindingKind::note("no_names_here");

/// What the kernel puts behind the name of a mapped file that is not there any more.
const DELETED: &[u8] = b" (deleted)";

/// Samples by binary.
#[derive(Default)]
pub(crate) struct Binaries {
    samples: Vec<Sampled>,
}

/// The samples of a binary.
#[derive(Clone, Copy, Default)]
struct Sampled {
    tally: Tally,
    /// Where the first of them was.
    address: u64,
}

impl Concern for Binaries {
    fn sample(&mut self, sample: &SampleMoment<'_>, seen: &Seen<'_, '_>) {
        let code = sample.code(seen.session);
        let Some(index) = code.binary.map(|binary| binary.index()) else { return };
        if self.samples.len() <= index {
            self.samples.resize(index + 1, Sampled::default());
        }
        if let Some(sampled) = self.samples.get_mut(index) {
            if !sampled.tally.any() {
                sampled.address = code.address;
            }
            sampled.tally.add(seen.event);
        }
    }

    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>) {
        let deleted = |binary: &Binary| binary.kind == BinaryKind::User && binary.name.ends_with(DELETED);
        let of_generated = |binary: &Binary| matches!(binary.kind, BinaryKind::Jit { .. } | BinaryKind::Anon);
        // What is in brackets ([heap], [uprobes]) is no file.
        let without_id = |binary: &Binary| {
            binary.kind == BinaryKind::User
                && binary.build_id.is_none()
                && binary.name.starts_with(b"/")
                && !deleted(binary)
        };
        let advice = "Record with --buildid-mmap (with -B, with -z and through a pipe perf writes no table of them at the end) and \
                      link programs with --build-id: without one, a rebuilt file is taken for the one that ran.";
        let what = |files: u64| format!("{} without a build-id", count(files, "mapped file"));
        findings.extend(self.about(end, MISSING_BUILD_IDS, without_id, what, advice));
        let advice = "Record again without replacing programs while they run, or keep a copy of what ran and give its directory with \
                      --symfs.";
        let what = |files: u64| {
            format!(
                "{} that {} deleted or replaced",
                count(files, "mapped file"),
                plural(files, "was", "were")
            )
        };
        findings.extend(self.about(end, DELETED_FILES, deleted, what, advice));
        let advice = "Its names are in what the runtime writes: a perf map (/tmp/perf-PID.map; java -XX:+DumpPerfMapAtExit, node \
                      --perf-basic-prof) or a jitdump file (python3.13 -X perf_jit, node --perf-prof). Keep that with the recording.";
        let what = |regions: u64| format!("{} of code generated at run time", count(regions, "region"));
        findings.extend(self.about(end, GENERATED_CODE, of_generated, what, advice));
        findings.extend(self.without_names(end));
    }
}

impl Binaries {
    /// The binaries with samples.
    fn sampled<'e>(&'e self, end: &End<'e>) -> impl Iterator<Item = (&'e Binary, &'e Sampled)> {
        end.session.binaries().iter().zip(&self.samples).filter(|(_, sampled)| sampled.tally.any())
    }

    /// The code whose names cannot be found on this machine, and why.
    fn without_names(&self, end: &End<'_>) -> Option<Finding> {
        let lookup = end.surroundings.names?;
        let sampled: Vec<(&Binary, &Sampled)> = self.sampled(end).collect();
        let questions: Vec<(&Binary, u64)> =
            sampled.iter().map(|(binary, sampled)| (*binary, sampled.address)).collect();
        let answers = lookup(&questions, end.session, end.metadata).into_iter();
        let mut found: Vec<(u64, String)> = sampled
            .iter()
            .zip(answers)
            .filter_map(|((binary, sampled), reason)| {
                let name = decoded(&binary.short_name);
                Some((sampled.tally.count, format!("{name} ({})", reason?)))
            })
            .collect();
        if found.is_empty() {
            return None;
        }
        found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.cmp(other)));
        let samples = found.iter().map(|(samples, _)| samples).sum();
        let share = part(samples, end.totals.samples);
        let binaries = found.len() as u64;
        let names: Vec<String> = found.into_iter().map(|(_, name)| name).collect();
        let message = format!(
            "{}, {} of all, {} in {} whose function names cannot be found here: {}.",
            count(samples, "sample"),
            percent(share),
            plural(samples, "lies", "lie"),
            plural(binaries, "a binary", &format!("{binaries} binaries")),
            list(&names)
        );
        let advice = "Say where the binaries are (--symbols, --symfs), install their debug symbols, or look at the recording on the \
                      machine that made it.";
        Some(Finding::whole(NO_NAMES_HERE, samples, message, advice).share(share))
    }

    /// A finding about the binaries with samples for which `holds`.
    fn about(
        &self,
        end: &End<'_>,
        kind: FindingKind,
        holds: impl Fn(&Binary) -> bool,
        what: impl Fn(u64) -> String,
        advice: &str,
    ) -> Option<Finding> {
        let sampled = self.sampled(end).map(|(binary, sampled)| (binary, &sampled.tally));
        let mut found: Vec<(&Binary, &Tally)> = sampled.filter(|(binary, _)| holds(binary)).collect();
        let first = found.first()?.1.first;
        found.sort_by_key(|(binary, tally)| (Reverse(tally.count), &binary.name));
        let samples = found.iter().map(|(_, tally)| tally.count).sum();
        let share = part(samples, end.totals.samples);
        let mut names: Vec<String> = Vec::new();
        for (binary, _) in &found {
            let name = decoded(&binary.short_name).into_owned();
            if !names.contains(&name) {
                names.push(name);
            }
            // The sentence shows a few only.
            if names.len() > 100 {
                break;
            }
        }
        let message = format!(
            "{}, {} of all, {} in {}: {}.",
            count(samples, "sample"),
            percent(share),
            plural(samples, "lies", "lie"),
            what(found.len() as u64),
            list(&names)
        );
        let tally = Tally { count: samples, first };
        Some(Finding::new(kind, &tally, message, advice).share(share))
    }
}
