//! C's integer types and arithmetic, as far as `print fmt` expressions need them.
//!
//! Rules by the C standard: integer promotion, the usual arithmetic conversions, wrap-around on overflow (the kernel
//! is compiled so).

/// An integer type: size in bytes (1, 2, 4 or 8) and signedness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IntType {
    /// Bytes: 1, 2, 4 or 8.
    pub size: u8,
    /// True for signed types.
    pub signed: bool,
}

impl IntType {
    pub(crate) const INT: IntType = IntType { size: 4, signed: true };
    pub(crate) const U8: IntType = IntType { size: 1, signed: false };
    pub(crate) const U64: IntType = IntType { size: 8, signed: false };
    pub(crate) const I64: IntType = IntType { size: 8, signed: true };

    /// The type of that size; sizes that no integer has give `None`.
    pub fn new(size: u64, signed: bool) -> Option<Self> {
        match size {
            1 => Some(IntType { size: 1, signed }),
            2 => Some(IntType { size: 2, signed }),
            4 => Some(IntType { size: 4, signed }),
            8 => Some(IntType { size: 8, signed }),
            _ => None,
        }
    }

    /// Types narrower than `int` become `int`.
    pub(crate) fn promoted(self) -> IntType {
        if self.size < 4 { IntType::INT } else { self }
    }

    /// The common type of two operands.
    pub(crate) fn common(self, other: IntType) -> IntType {
        let (one, two) = (self.promoted(), other.promoted());
        match one.size.cmp(&two.size) {
            std::cmp::Ordering::Greater => one,
            std::cmp::Ordering::Less => two,
            std::cmp::Ordering::Equal => IntType { size: one.size, signed: one.signed && two.signed },
        }
    }
}

/// A C integer: its 64 bits (sign- or zero-extended) and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// The value, extended to 64 bits according to its type.
    pub bits: u64,
    /// Its C type.
    pub int_type: IntType,
}

impl Number {
    /// Cuts `bits` to the type's size and extends them again.
    pub fn new(bits: u64, int_type: IntType) -> Self {
        let shift = 64 - u32::from(int_type.size.clamp(1, 8)) * 8;
        let high = bits << shift;
        let bits =
            if int_type.signed { (high.cast_signed() >> shift).cast_unsigned() } else { high >> shift };
        Number { bits, int_type }
    }

    pub(crate) fn int(value: i32) -> Self {
        Number { bits: i64::from(value).cast_unsigned(), int_type: IntType::INT }
    }

    pub(crate) fn truth(value: bool) -> Self {
        Number::int(i32::from(value))
    }

    pub(crate) fn is_true(self) -> bool {
        self.bits != 0
    }
}

/// What a type name in an expression or a declaration stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeName {
    Int(IntType),
    /// A boolean: any value but 0 becomes 1.
    Bool,
    /// A pointer, with what it points to when that is an integer.
    Pointer(Option<IntType>),
    /// A typedef, structure or enumeration whose layout is not in the format.
    Opaque,
}

impl TypeName {
    /// Bytes of a value of this type; `None` when the format does not say.
    pub(crate) fn size(self, long_size: u8) -> Option<u8> {
        match self {
            TypeName::Int(int) => Some(int.size),
            TypeName::Bool => Some(1),
            TypeName::Pointer(_) => Some(long_size),
            TypeName::Opaque => None,
        }
    }
}

/// The type written as these words, e.g. `["unsigned", "long"]`; `stars` counts the asterisks after them.
pub(crate) fn type_of_words(words: &[&str], stars: usize, long_size: u8) -> TypeName {
    let base = base_type(words, long_size);
    match (stars, base) {
        (0, base) => base,
        (1, TypeName::Int(int)) => TypeName::Pointer(Some(int)),
        (1, TypeName::Bool) => TypeName::Pointer(Some(IntType::U8)),
        (1, _) => TypeName::Pointer(None),
        _ => TypeName::Pointer(IntType::new(u64::from(long_size), false)),
    }
}

fn base_type(words: &[&str], long_size: u8) -> TypeName {
    let (mut longs, mut short, mut char, mut int, mut sign) = (0u8, false, false, false, None);
    for word in words {
        match *word {
            "const" | "volatile" | "static" | "__user" | "__iomem" | "__rcu" | "__percpu" | "__force" => {}
            "long" => longs = longs.saturating_add(1),
            "short" => short = true,
            "char" => char = true,
            "int" => int = true,
            "signed" | "__signed__" => sign = Some(true),
            "unsigned" => sign = Some(false),
            "struct" | "union" | "enum" => return TypeName::Opaque,
            other => {
                return if longs > 0 || short || char || int || sign.is_some() {
                    TypeName::Opaque
                } else {
                    typedef(other, long_size)
                };
            }
        }
    }
    let size = match (char, short, longs) {
        (true, _, _) => 1,
        (_, true, _) => 2,
        (_, _, 1) => long_size,
        (_, _, 2..) => 8,
        _ if int || sign.is_some() => 4,
        _ => return TypeName::Opaque,
    };
    TypeName::Int(IntType { size, signed: sign.unwrap_or(true) })
}

/// Typedefs of the kernel whose size is the same everywhere, or that of `long`.
fn typedef(name: &str, long_size: u8) -> TypeName {
    let (size, signed) = match name {
        "bool" | "_Bool" => return TypeName::Bool,
        "u8" | "__u8" | "uint8_t" | "uchar" | "u_char" | "unchar" => (1, false),
        "s8" | "__s8" | "int8_t" => (1, true),
        "u16" | "__u16" | "uint16_t" | "__le16" | "__be16" | "ushort" | "umode_t" | "u_int16_t" => (2, false),
        "s16" | "__s16" | "int16_t" => (2, true),
        "u32" | "__u32" | "uint32_t" | "__le32" | "__be32" | "uint" | "u_int32_t" | "u_int" | "dev_t"
        | "gfp_t" | "uid_t" | "gid_t" => (4, false),
        "s32" | "__s32" | "int32_t" | "pid_t" => (4, true),
        "u64" | "__u64" | "uint64_t" | "__le64" | "__be64" | "sector_t" | "u_int64_t" => (8, false),
        "s64" | "__s64" | "int64_t" | "loff_t" | "ktime_t" => (8, true),
        "size_t" | "uintptr_t" | "ulong" | "u_long" | "ino_t" | "pgoff_t" => (long_size, false),
        "ssize_t" | "intptr_t" | "ptrdiff_t" | "off_t" => (long_size, true),
        _ => return TypeName::Opaque,
    };
    TypeName::Int(IntType { size, signed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_size_and_sign() {
        assert_eq!(Number::new(0xff, IntType { size: 1, signed: true }).bits, u64::MAX);
        assert_eq!(Number::new(0x1_ff, IntType::U8).bits, 0xff);
        assert_eq!(Number::int(-1).bits, u64::MAX);
    }

    #[test]
    fn conversions_follow_c() {
        let u32_type = IntType { size: 4, signed: false };
        assert_eq!(IntType::U8.common(IntType::U8), IntType::INT);
        assert_eq!(IntType::INT.common(u32_type), u32_type);
        assert_eq!(IntType::I64.common(u32_type), IntType::I64);
        assert_eq!(IntType::I64.common(IntType::U64), IntType::U64);
    }

    #[test]
    fn type_words() {
        let int = |size, signed| TypeName::Int(IntType { size, signed });
        assert_eq!(type_of_words(&["unsigned", "long"], 0, 4), int(4, false));
        assert_eq!(type_of_words(&["unsigned", "long", "long", "int"], 0, 4), int(8, false));
        assert_eq!(type_of_words(&["unsigned"], 0, 8), int(4, false));
        assert_eq!(type_of_words(&["const", "u8"], 1, 8), TypeName::Pointer(Some(IntType::U8)));
        assert_eq!(type_of_words(&["struct", "page"], 1, 8), TypeName::Pointer(None));
        assert_eq!(type_of_words(&["xfs_ino_t"], 0, 8), TypeName::Opaque);
    }
}
