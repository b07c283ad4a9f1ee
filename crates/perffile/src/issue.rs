//! What is wrong with a recording without keeping it from being read.

use crate::place::Place;
use std::fmt;

/// The kinds of issues: a stable name each, and what it means for the reader of the answer.
macro_rules! issue_kinds {
    ($( $(#[$meta:meta])* $variant:ident $name:literal $severity:ident, )*) => {
        /// What is wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum IssueKind { $( $(#[$meta])* $variant, )* }

        impl IssueKind {
            /// Stable name, as in JSON.
            pub fn name(self) -> &'static str {
                match self { $( IssueKind::$variant => $name, )* }
            }

            /// How much it matters.
            pub fn severity(self) -> Severity {
                match self { $( IssueKind::$variant => Severity::$severity, )* }
            }
        }
    };
}

issue_kinds! {
    /// The bytes are no recording, or too few to read anything.
    NotARecording "not_a_recording" Damage,
    /// The file ends before its records do.
    CutData "cut_data" Damage,
    /// The recorder did not finish: the size of the data is not in the header.
    Unfinished "unfinished" Damage,
    /// A record with an impossible size.
    BadRecordSize "bad_record_size" Damage,
    /// Bytes between or behind the records that are no records.
    StrayBytes "stray_bytes" Damage,
    /// A record whose fields cannot be decoded.
    BadRecord "bad_record" Damage,
    /// A feature section that lies outside the file, or whose fields cannot be decoded.
    BadFeature "bad_feature" Damage,
    /// An attr that cannot be decoded, or whose ids lie outside the file.
    BadAttr "bad_attr" Damage,
    /// The header contradicts itself in something that can be done without.
    BadHeader "bad_header" Damage,
    /// A name that is longer than any can be; only its beginning counts.
    LongName "long_name" Damage,
    /// Compressed data that cannot be decompressed.
    BadCompression "bad_compression" Damage,
    /// Compressed records that expand to more than the limits allow; perf writes none that do.
    ExpandsTooFar "expands_too_far" Damage,
    /// A file of a directory is not there, or is no file that can be read: its records are lost.
    MissingStream "missing_stream" Damage,
    /// Samples are missing that the recording says it has.
    MissingSamples "missing_samples" Damage,
    /// The bytes of the recording stopped arriving.
    ReadFailed "read_failed" Damage,
    /// The file grew or became shorter while it was read.
    SizeChanged "size_changed" Damage,
    /// A sample whose event id belongs to no event.
    UnknownEventId "unknown_event_id" Damage,
    /// Several events, and samples that do not say which one they belong to: all count for the first.
    AmbiguousEvents "ambiguous_events" Note,
    /// Records of types unknown to this version.
    UnknownRecord "unknown_record" Note,
    /// A file of a directory is empty although all threads of its CPU were recorded.
    EmptyStream "empty_stream" Note,
    /// Samples that went without the user part of their chain, which the kernel was to tell later.
    UserPartMissing "user_part_missing" Note,
    /// Samples whose time lies far outside the range that the recorder tells.
    StrayTime "stray_time" Note,
    /// Records older than what was delivered before them.
    Unordered "unordered" Note,
    /// Something that has no place in the recording that is written.
    NotWritten "not_written" Damage,
    /// A file that names or frames come from could not be read, so that some are missing.
    NamesLost "names_lost" Damage,
}

/// How much an issue matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is missing.
    Note,
    /// Something could not be read: the answer may be incomplete.
    Damage,
}

/// Something wrong with a recording: what, where first, how often.
#[derive(Clone, Debug, PartialEq)]
pub struct Issue {
    /// Its kind.
    pub kind: IssueKind,
    /// Where it was met first.
    pub place: Place,
    /// What is wrong with the first one, in plain words.
    pub message: String,
    /// How often.
    pub count: u64,
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.place)?;
        if self.count > 1 { write!(f, ", and {} more like it", self.count - 1) } else { Ok(()) }
    }
}

/// Issues as they come in: one entry a kind, however often it is met.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Issues {
    list: Vec<Issue>,
}

impl Issues {
    /// Adds one; the message is made only for the first of its kind.
    pub fn add(&mut self, kind: IssueKind, place: Place, message: impl FnOnce() -> String) {
        self.add_many(kind, place, 1, message);
    }

    /// Adds `count` of a kind.
    pub fn add_many(&mut self, kind: IssueKind, place: Place, count: u64, message: impl FnOnce() -> String) {
        match self.list.iter_mut().find(|issue| issue.kind == kind) {
            Some(issue) => issue.count += count,
            None => self.list.push(Issue { kind, place, message: message(), count }),
        }
    }

    /// Adds all of another list.
    pub fn extend(&mut self, other: &Issues) {
        for issue in &other.list {
            self.add_many(issue.kind, issue.place, issue.count, || issue.message.clone());
        }
    }

    /// The issues, in the order in which their kinds were met.
    pub fn iter(&self) -> std::slice::Iter<'_, Issue> {
        self.list.iter()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether something could not be read.
    pub fn damaged(&self) -> bool {
        self.list.iter().any(|issue| issue.kind.severity() == Severity::Damage)
    }
}

impl<'i> IntoIterator for &'i Issues {
    type Item = &'i Issue;
    type IntoIter = std::slice::Iter<'i, Issue>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
