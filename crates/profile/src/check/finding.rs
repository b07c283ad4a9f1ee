//! What a check has found.

use super::tally::Tally;
use perffile::{Issues, Place};

/// How much a finding matters, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Something in the recording could not be read.
    Damage,
    /// The recording can be read, but what it should hold was not recorded, or is misleading.
    Loss,
    /// Nothing is lost, but recorded differently it would tell more.
    Advice,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// Stable name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Damage => "damage",
            Severity::Loss => "loss",
            Severity::Advice => "advice",
            Severity::Note => "note",
        }
    }
}

/// A kind of finding: a stable name, and how much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FindingKind {
    /// Stable name, as in JSON.
    pub name: &'static str,
    /// How much it matters.
    pub severity: Severity,
}

impl FindingKind {
    pub(crate) const fn loss(name: &'static str) -> FindingKind {
        FindingKind { name, severity: Severity::Loss }
    }

    pub(crate) const fn advice(name: &'static str) -> FindingKind {
        FindingKind { name, severity: Severity::Advice }
    }

    pub(crate) const fn note(name: &'static str) -> FindingKind {
        FindingKind { name, severity: Severity::Note }
    }
}

/// One thing that is wrong with a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What kind.
    pub kind: FindingKind,
    /// How often, in what the message counts.
    pub count: u64,
    /// For how much of the whole it holds, from 0 to 1, where there is a whole.
    pub share: Option<f64>,
    /// What is wrong: one sentence.
    pub message: String,
    /// What to do about it: one sentence.
    pub advice: String,
    /// Where it was met first.
    pub place: Option<Place>,
}

impl Finding {
    /// A finding that was met at places.
    pub(crate) fn new(kind: FindingKind, tally: &Tally, message: String, advice: &str) -> Finding {
        Finding {
            kind,
            count: tally.count,
            share: None,
            message,
            advice: advice.to_owned(),
            place: tally.first,
        }
    }

    /// A finding about the recording as a whole.
    pub(crate) fn whole(kind: FindingKind, count: u64, message: String, advice: &str) -> Finding {
        Finding::new(kind, &Tally { count, first: None }, message, advice)
    }

    #[must_use]
    pub(crate) fn share(self, share: f64) -> Finding {
        Finding { share: Some(share), ..self }
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The findings, worst first.
    pub findings: Vec<Finding>,
    /// How many samples were seen, usable or not.
    pub samples: u64,
    /// How many records were seen, samples included.
    pub records: u64,
    /// What could not be read, as perffile tells it; it is among the findings too.
    pub issues: Issues,
}

impl Verdict {
    /// Whether nothing is damaged and nothing lost.
    pub fn sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.kind.severity > Severity::Loss)
    }

    /// How many findings of a severity there are.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.kind.severity == severity).count()
    }
}
