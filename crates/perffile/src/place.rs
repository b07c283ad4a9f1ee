//! Where in a recording something is: every error and every issue carries it.

use std::fmt;

/// A part of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Part {
    /// The file header.
    #[default]
    Header,
    /// The table of attrs.
    Attrs,
    /// The event ids behind an attr.
    Ids,
    /// The table of event names of version 1 files.
    EventTypes,
    /// The records.
    Data,
    /// The records of one stream of a directory (`data.N`).
    Stream(u32),
    /// The table of feature sections.
    FeatureTable,
    /// One feature section, by its bit.
    Feature(u32),
    /// No part of it, but a file beside it, such as a binary that names come from.
    Elsewhere,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Header => f.write_str("header"),
            Part::Attrs => f.write_str("attrs"),
            Part::Ids => f.write_str("ids"),
            Part::EventTypes => f.write_str("event_types"),
            Part::Data => f.write_str("data"),
            Part::Stream(number) => write!(f, "data.{number}"),
            Part::FeatureTable => f.write_str("feature table"),
            Part::Elsewhere => f.write_str("not in the recording"),
            Part::Feature(bit) => match crate::wire::feature::name(*bit) {
                Some(name) => write!(f, "feature {name}"),
                None => write!(f, "feature {bit}"),
            },
        }
    }
}

/// A place in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Place {
    /// The part.
    pub part: Part,
    /// Offset in bytes from the start of the file. Of a record inside a compressed one: the offset of the latter.
    pub offset: u64,
    /// Number and type of the record, where it is about one.
    pub record: Option<RecordPlace>,
    /// The field, by its ABI name.
    pub field: Option<&'static str>,
}

/// A record, by number and type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// Its number in the recording, from 0.
    pub index: u64,
    /// Its type.
    pub kind: u32,
}

impl Place {
    /// A place by part and offset.
    pub fn new(part: Part, offset: u64) -> Self {
        Place { part, offset, record: None, field: None }
    }

    /// With the record it is about.
    #[must_use]
    pub fn record(self, index: u64, kind: u32) -> Self {
        Place { record: Some(RecordPlace { index, kind }), ..self }
    }

    /// With the field it is about.
    #[must_use]
    pub fn field(self, field: &'static str) -> Self {
        Place { field: Some(field), ..self }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.part == Part::Elsewhere {
            return write!(f, "{}", self.part);
        }
        write!(f, "{}, offset {:#x}", self.part, self.offset)?;
        if let Some(RecordPlace { index, kind }) = self.record {
            write!(f, ", record {index} ({})", crate::wire::record::record_name(kind))?;
        }
        match self.field {
            Some(field) => write!(f, ", field {field}"),
            None => Ok(()),
        }
    }
}
