//! The messages of pprof's `profile.proto` (package `perftools.profiles`). Texts are numbers in the string table, whose
//! first is empty; ids start at 1, and 0 is none.

/// What a value of a sample is.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct ValueType {
    /// What is measured.
    #[prost(int64, tag = "1")]
    pub(super) kind: i64,
    /// In which unit.
    #[prost(int64, tag = "2")]
    pub(super) unit: i64,
}

/// Samples that agree in stack and labels.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Sample {
    /// The stack, the innermost place first.
    #[prost(uint64, repeated, tag = "1")]
    pub(super) locations: Vec<u64>,
    /// A value for each type.
    #[prost(int64, repeated, tag = "2")]
    pub(super) values: Vec<i64>,
    /// What else is known.
    #[prost(message, repeated, tag = "3")]
    pub(super) labels: Vec<Label>,
}

/// Something known of a sample: a text or a number.
#[derive(Clone, Copy, PartialEq, ::prost::Message)]
pub(super) struct Label {
    /// Its name.
    #[prost(int64, tag = "1")]
    pub(super) key: i64,
    /// The text.
    #[prost(int64, tag = "2")]
    pub(super) text: i64,
    /// The number.
    #[prost(int64, tag = "3")]
    pub(super) number: i64,
    /// The number's unit.
    #[prost(int64, tag = "4")]
    pub(super) unit: i64,
}

/// A binary.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Mapping {
    /// From 1.
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    /// First address.
    #[prost(uint64, tag = "2")]
    pub(super) start: u64,
    /// First address behind it.
    #[prost(uint64, tag = "3")]
    pub(super) limit: u64,
    /// Offset in the file of the first address.
    #[prost(uint64, tag = "4")]
    pub(super) offset: u64,
    /// Its path.
    #[prost(int64, tag = "5")]
    pub(super) file_name: i64,
    /// Its build-id in hex.
    #[prost(int64, tag = "6")]
    pub(super) build_id: i64,
    /// Whether the places in it have functions.
    #[prost(bool, tag = "7")]
    pub(super) has_functions: bool,
    /// Whether the functions have files.
    #[prost(bool, tag = "8")]
    pub(super) has_file_names: bool,
    /// Whether the places have lines.
    #[prost(bool, tag = "9")]
    pub(super) has_line_numbers: bool,
    /// Whether functions that were inlined are told.
    #[prost(bool, tag = "10")]
    pub(super) has_inline_frames: bool,
}

/// A place.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Location {
    /// From 1.
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    /// The binary.
    #[prost(uint64, tag = "2")]
    pub(super) mapping: u64,
    /// The address.
    #[prost(uint64, tag = "3")]
    pub(super) address: u64,
    /// The functions there, the innermost inlined one first.
    #[prost(message, repeated, tag = "4")]
    pub(super) lines: Vec<Line>,
}

/// A level of a place.
#[derive(Clone, Copy, PartialEq, ::prost::Message)]
pub(super) struct Line {
    /// The function.
    #[prost(uint64, tag = "1")]
    pub(super) function: u64,
    /// The line in its file.
    #[prost(int64, tag = "2")]
    pub(super) line: i64,
}

/// A function.
#[derive(Clone, Copy, PartialEq, ::prost::Message)]
pub(super) struct Function {
    /// From 1.
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    /// Its name.
    #[prost(int64, tag = "2")]
    pub(super) name: i64,
    /// Its name as the linker knows it.
    #[prost(int64, tag = "3")]
    pub(super) system_name: i64,
    /// Its source file.
    #[prost(int64, tag = "4")]
    pub(super) file_name: i64,
}

/// Numbers of the fields of the outermost message.
pub(super) mod field {
    pub(in super::super) const SAMPLE_TYPE: u32 = 1;
    pub(in super::super) const SAMPLE: u32 = 2;
    pub(in super::super) const MAPPING: u32 = 3;
    pub(in super::super) const LOCATION: u32 = 4;
    pub(in super::super) const FUNCTION: u32 = 5;
    pub(in super::super) const STRING_TABLE: u32 = 6;
    pub(in super::super) const TIME_NANOS: u32 = 9;
    pub(in super::super) const DURATION_NANOS: u32 = 10;
    pub(in super::super) const PERIOD_TYPE: u32 = 11;
    pub(in super::super) const PERIOD: u32 = 12;
    pub(in super::super) const COMMENT: u32 = 13;
    pub(in super::super) const DEFAULT_SAMPLE_TYPE: u32 = 14;
}
