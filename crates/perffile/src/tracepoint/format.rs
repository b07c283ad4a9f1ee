//! The text of one event's `format` file: name, id, fields, `print fmt`.

use crate::wire::text::decoded;
use std::fmt;

use super::c_type::{IntType, TypeName};
use super::declaration::{Declaration, Storage};
use super::{Abi, limits};

/// One event's description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFormat {
    /// Name without its system, as `sched_switch`.
    pub name: String,
    /// Number that samples of the event start with, and `attr.config` of the event; `None` if the text has none.
    pub id: Option<u64>,
    /// All fields: the common ones first.
    pub fields: Vec<Field>,
    /// How many of `fields` every event has.
    pub common_count: usize,
    /// What follows `print fmt:`, with its quotes; empty if the text has none.
    pub print_fmt: String,
    /// Byte order and size of `long` of the payloads.
    pub abi: Abi,
}

/// One field of a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The declaration as it stands in the text.
    pub declaration: String,
    /// Its type, as `unsigned long` or `char[]`.
    pub c_type: String,
    /// Its name; empty if the declaration has none.
    pub name: String,
    /// Bytes from the start of the payload.
    pub offset: u32,
    /// Bytes in the payload; for dynamic arrays those of the locator. 0 means "to the end".
    pub size: u32,
    /// True if the kernel says the type is signed.
    pub signed: bool,
    /// Number of elements of a fixed array, when the declaration tells.
    pub array_len: Option<u64>,
    /// What the bytes are.
    pub kind: FieldKind,
}

/// What the bytes of a field are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// One integer, boolean or enumerator.
    Scalar(IntType),
    /// One address.
    Pointer(IntType),
    /// Characters or bytes, ended by a NUL if they are text.
    Chars,
    /// Integers of a fixed number.
    Array(IntType),
    /// A locator of bytes elsewhere in the payload.
    Dynamic {
        /// Type of one element.
        element: IntType,
        /// Elements are characters or bytes.
        chars: bool,
        /// The locator counts from the end of the field (`__rel_loc`), not from the start of the payload.
        relative: bool,
    },
    /// A structure, or a size that no integer has.
    Unknown,
}

/// Why a text is not an event format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatError {
    /// What is missing or too large.
    pub reason: &'static str,
}

impl fmt::Display for FormatError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "event format: {}", self.reason)
    }
}

impl std::error::Error for FormatError {}

impl EventFormat {
    /// Reads the text of a `format` file. Lines it does not know are passed over; only a text without a name is an
    /// error, or one with more than [`limits::FIELDS`] fields.
    pub fn parse(text: &[u8], abi: Abi) -> Result<Self, FormatError> {
        let text = decoded(text);
        let (head, print_fmt) = split_print_fmt(&text);
        let mut name = None;
        let mut id = None;
        let mut fields = Vec::new();
        let mut common_count = None;
        for line in head.lines().map(str::trim) {
            if let Some(value) = line.strip_prefix("name:") {
                name.get_or_insert_with(|| value.trim().to_owned());
            } else if let Some(value) = line.strip_prefix("ID:") {
                id = id.or(value.trim().parse().ok());
            } else if let Some(field) = Field::parse(line, abi.long_size) {
                if fields.len() == limits::FIELDS {
                    return Err(FormatError { reason: "too many fields" });
                }
                fields.push(field);
            } else if line.is_empty() && !fields.is_empty() {
                // A blank line stands between the fields of all events and the event's own.
                common_count.get_or_insert(fields.len());
            }
        }
        let name = name.ok_or(FormatError { reason: "no name" })?;
        let common_count = common_count.unwrap_or_else(|| {
            fields.iter().take_while(|field: &&Field| field.name.starts_with("common_")).count()
        });
        // Without an own field, the blank line comes after the last common one and may be cut off.
        let common_count = common_count.min(fields.len());
        Ok(EventFormat { name, id, fields, common_count, print_fmt: print_fmt.trim().to_owned(), abi })
    }

    /// The event's own fields.
    pub fn own_fields(&self) -> &[Field] {
        self.fields.get(self.common_count..).unwrap_or_default()
    }

    /// The fields that every event has.
    pub fn common_fields(&self) -> &[Field] {
        self.fields.get(..self.common_count).unwrap_or_default()
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Field {
    /// Reads `field:DECLARATION; offset:N; size:N; signed:N;`.
    fn parse(line: &str, long_size: u8) -> Option<Self> {
        let line = line.strip_prefix("field").map(|rest| rest.trim_start_matches(" special"))?;
        let mut parts = line.strip_prefix(':')?.split(';').map(str::trim);
        let text = parts.next()?;
        let (mut offset, mut size, mut signed) = (None, None, false);
        for part in parts {
            let Some((key, value)) = part.split_once(':') else { continue };
            let number = value.trim().parse::<u32>().ok();
            match key {
                "offset" => offset = number,
                "size" => size = number,
                "signed" => signed = number.is_some_and(|number| number != 0),
                _ => {}
            }
        }
        let short = if text.len() > limits::DECLARATION_BYTES { "" } else { text };
        let declaration = Declaration::parse(short, long_size);
        let size = size?;
        let kind = FieldKind::of(&declaration, size, signed, long_size);
        Some(Field {
            array_len: declaration.array.flatten(),
            declaration: text.to_owned(),
            c_type: declaration.c_type,
            name: declaration.name,
            offset: offset?,
            size,
            signed,
            kind,
        })
    }

    /// True if its type has the word `long` in it.
    pub(crate) fn is_long(&self) -> bool {
        self.c_type.contains("long")
    }
}

impl FieldKind {
    fn of(declaration: &Declaration, size: u32, signed: bool, long_size: u8) -> Self {
        let known = declaration.element.size(long_size);
        let element = |size: Option<u64>| {
            let size = size.or(known.map(u64::from)).unwrap_or(1);
            IntType::new(size, signed_element(declaration.element, signed)).unwrap_or(IntType::U8)
        };
        if declaration.storage != Storage::Here {
            let relative = declaration.storage == Storage::RelLoc;
            return FieldKind::Dynamic { element: element(None), chars: declaration.text_like, relative };
        }
        if let Some(length) = declaration.array {
            if declaration.text_like {
                return FieldKind::Chars;
            }
            // The sizes are facts of the kernel; the type name may be a typedef that nobody here knows.
            let size = length.filter(|length| *length > 0).map(|length| u64::from(size) / length);
            return FieldKind::Array(element(size));
        }
        match (IntType::new(u64::from(size), signed), declaration.element) {
            (Some(int), TypeName::Pointer(_)) => FieldKind::Pointer(int),
            (Some(int), _) => FieldKind::Scalar(int),
            (None, _) => FieldKind::Unknown,
        }
    }
}

/// The kernel's flag speaks of the whole field, which for a dynamic array is its locator.
fn signed_element(element: TypeName, signed: bool) -> bool {
    match element {
        TypeName::Int(int) => int.signed,
        TypeName::Bool | TypeName::Pointer(_) => false,
        TypeName::Opaque => signed,
    }
}

/// Everything before and after `print fmt:` at the start of a line; its strings may hold line ends.
fn split_print_fmt(text: &str) -> (&str, &str) {
    const MARK: &str = "print fmt:";
    if let Some(rest) = text.strip_prefix(MARK) {
        return ("", rest);
    }
    match text.find(&format!("\n{MARK}")) {
        Some(at) => {
            let (head, rest) = text.split_at_checked(at).unwrap_or((text, ""));
            (head, rest.get(MARK.len() + 1..).unwrap_or(""))
        }
        None => (text, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ByteOrder;
    use super::*;

    const TEXT: &[u8] = b"name: demo\nID: 314\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:void * ip;\toffset:24;\tsize:8;\tsigned:0;\n\
        \tfield:__data_loc u32[] list;\toffset:32;\tsize:4;\tsigned:0;\n\
        \tfield:xfs_x_t pair[2];\toffset:36;\tsize:8;\tsigned:1;\n\
        \tfield:struct timespec when;\toffset:44;\tsize:12;\tsigned:0;\n\n\
        print fmt: \"%s\n second\", REC->comm\n";

    #[test]
    fn reads_a_format() {
        let format = EventFormat::parse(TEXT, Abi::new(ByteOrder::Little, 8)).unwrap();
        assert_eq!((format.name.as_str(), format.id, format.common_count), ("demo", Some(314), 2));
        assert_eq!(format.print_fmt, "\"%s\n second\", REC->comm");
        let kinds: Vec<FieldKind> = format.own_fields().iter().map(|field| field.kind).collect();
        let int = |size, signed| IntType { size, signed };
        assert_eq!(
            kinds,
            [
                FieldKind::Chars,
                FieldKind::Pointer(int(8, false)),
                FieldKind::Dynamic { element: int(4, false), chars: false, relative: false },
                FieldKind::Array(int(4, true)),
                FieldKind::Unknown,
            ]
        );
        assert_eq!(format.field("ip").map(|field| field.offset), Some(24));
    }

    #[test]
    fn a_text_without_name_is_refused() {
        let error = EventFormat::parse(b"ID: 3\n", Abi::new(ByteOrder::Little, 8)).unwrap_err();
        assert_eq!(error.to_string(), "event format: no name");
    }
}
