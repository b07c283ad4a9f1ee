//! What could not be read, and the order of what could: the issues of perffile, with what to do about each.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind, Severity};
use crate::check::wording::{count, plural};
use perffile::{Issue, IssueKind};
use std::time::Duration;

/// A file written so recently may well be written still.
const RECENT: Duration = Duration::from_secs(10);

/// Nothing to count: perffile has.
#[derive(Default)]
pub(crate) struct Container;

impl Concern for Container {
    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>) {
        findings.extend(end.issues.iter().map(|issue| finding(issue, end)));
    }
}

fn finding(issue: &Issue, end: &End<'_>) -> Finding {
    let severity = match issue.kind.severity() {
        perffile::Severity::Damage => Severity::Damage,
        perffile::Severity::Note => Severity::Note,
    };
    let message = match issue.kind {
        IssueKind::Unfinished => unfinished(end),
        IssueKind::Unordered => format!(
            "{} {} older than what came before {} round and could not be put in order.",
            count(issue.count, "record"),
            plural(issue.count, "is", "are"),
            plural(issue.count, "its", "their")
        ),
        _ => sentence(&issue.message, issue.count),
    };
    // Issues that are about no place in particular have the very start of the header.
    let place = (issue.place != perffile::Place::default()).then_some(issue.place);
    Finding {
        kind: FindingKind { name: issue.kind.name(), severity },
        count: issue.count,
        share: None,
        message,
        advice: advice(issue.kind).to_owned(),
        place,
    }
}

fn unfinished(end: &End<'_>) -> String {
    let records = count(end.totals.records, "record");
    if end.surroundings.written_ago.is_some_and(|ago| ago < RECENT) {
        return format!(
            "The recorder has not finished: the file was written moments ago and it may still be running; \
             {records} are there so far, but no features such as build-ids."
        );
    }
    format!(
        "The recorder was killed before it could finish: {records} could be read, up to the end of the file, but there are \
         no features such as build-ids and the host's name."
    )
}

/// The message of an issue as a sentence.
fn sentence(message: &str, issues: u64) -> String {
    let mut letters = message.chars();
    let mut text: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    text.push_str(letters.as_str());
    match issues {
        0 | 1 => text.push('.'),
        _ if message.starts_with(|c: char| c.is_ascii_digit()) => text.push('.'),
        _ => text.push_str(&format!("; that is the first of {issues}.")),
    }
    text
}

fn advice(kind: IssueKind) -> &'static str {
    match kind {
        IssueKind::CutData => {
            "Copy the file again if it came from elsewhere, and see whether the disk was full; what comes before the cut can be \
             used."
        }
        IssueKind::Unfinished => {
            "End perf record with Ctrl-C (SIGINT) and wait for it; with perf record --switch-output an interrupted run \
             leaves finished files."
        }
        IssueKind::BadRecordSize | IssueKind::StrayBytes | IssueKind::BadRecord => {
            "Record again if you can: the bytes were changed after or while they were written, and what was passed over is \
             missing from every number."
        }
        IssueKind::LongName => {
            "Do not trust the file if you do not know who wrote it: the kernel writes no such name. readperf dump shows it whole."
        }
        IssueKind::BadFeature | IssueKind::BadAttr | IssueKind::BadHeader => {
            "See whether a tool has rewritten the file, and use its original; samples are as good as the events that could be \
             read."
        }
        IssueKind::BadCompression => {
            "Record without -z if it happens again: what follows in that stream cannot be read."
        }
        IssueKind::SizeChanged => "Wait until whatever writes the file has ended, and read it again.",
        IssueKind::ReadFailed => "Copy the file to another disk, or read the stream again.",
        IssueKind::UnknownEventId => {
            "Use the file that perf record has written, not one that was cut together: these samples are in no number."
        }
        IssueKind::AmbiguousEvents => {
            "Record with a newer perf, which marks each sample with its event: totals of all events together are right, \
             those of single events are not."
        }
        IssueKind::UnknownRecord => "Look for a newer readperf.",
        IssueKind::Unordered => {
            "Nothing has to be done for totals; around these records names of threads and mappings may be those of a moment \
             earlier or later."
        }
        _ => "See readperf dump for the place.",
    }
}
