//! Values with names: the types of fields that hold one of some numbers, or some bits.
//!
//! Both are open: a number or a bit without a name here is kept, written back, and shown as a number.

use super::pass::{Pass, Step};
use super::registers::Machine;

/// What a value says in words.
#[derive(Clone, Debug, PartialEq)]
pub enum Words {
    /// A text.
    Text(String),
    /// Some words.
    List(Vec<String>),
    /// Named parts of a number.
    Parts(Vec<(&'static str, u64)>),
    /// A name for each of some values.
    Names(Vec<Option<String>>),
    /// Remarks about some of some values.
    Marks(Vec<Option<String>>),
}

impl Words {
    /// A text.
    pub fn text(text: impl ToString) -> Words {
        Words::Text(text.to_string())
    }
}

/// What the words of a record depend on beyond its own fields.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordsContext {
    /// The machine that recorded: it decides the names of registers.
    pub machine: Option<Machine>,
    /// Whether call chains of the record's event may end in a cookie, see [`callchain`](super::callchain).
    pub defers_callchains: bool,
}

/// A number that says something: the type of a field whose values have names, or parts.
pub trait NamedValue: Copy + Default {
    /// Every number that has a name, where a value is one of them; empty for bits and parts.
    const VALUES: &'static [(u64, &'static str)] = &[];

    /// Visits the number, by the method of the pass that tells how it lies on the wire.
    fn number<'a, P: Pass<'a>>(&mut self, name: &'static str, pass: &mut P) -> Step;

    /// What it says; `None` if it has no name.
    fn words(&self) -> Option<Words>;
}

/// Makes a type a [`NamedValue`] and a field of declarations: by which method of the pass its number goes, what it says, and
/// which numbers have names.
macro_rules! value {
    ($type:ident as $method:ident $(($widths:expr))?, $words:expr $(, $values:expr)?) => {
        impl $crate::wire::value::NamedValue for $type {
            $( const VALUES: &'static [(u64, &'static str)] = $values; )?
            #[inline(always)]
            fn number<'a, P: $crate::wire::pass::Pass<'a>>(
                &mut self,
                name: &'static str,
                pass: &mut P,
            ) -> $crate::wire::pass::Step {
                pass.$method(name, $($widths,)? &mut self.0)
            }
            fn words(&self) -> Option<$crate::wire::value::Words> {
                $words(*self)
            }
        }

        impl<'a> $crate::wire::pass::WireField<'a> for $type {
            #[inline(always)]
            fn field<P: $crate::wire::pass::Pass<'a>>(
                &mut self,
                name: &'static str,
                pass: &mut P,
            ) -> $crate::wire::pass::Step {
                pass.value(name, self)
            }
        }
    };
}

/// Declares a type of numbers that have names: constants and `name`. On the wire it is what it holds.
macro_rules! numbers {
    (
        $(#[$meta:meta])*
        pub struct $type:ident($number:ident) {
            $( $(#[$value_meta:meta])* $value:literal $constant:ident $name:literal ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $type(pub $number);

        impl $type {
            $(
                $(#[$value_meta])*
                #[doc = concat!("Shown as `", $name, "`.")]
                pub const $constant: $type = $type($value);
            )*

            /// Its name; `None` if it has none here.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $( $value => Some($name), )*
                    _ => None,
                }
            }
        }

        $crate::wire::value::value!(
            $type as $number,
            |value: $type| value.name().map($crate::wire::value::Words::text),
            &[$( ($value, $name) ),*]
        );
    };
}

/// Declares a type of named bits: constants, `has`, and the names for people. `as` names the method of the pass.
macro_rules! bits {
    (
        $(#[$meta:meta])*
        pub struct $type:ident($number:ident as $method:ident $(($widths:expr))?) {
            $( $(#[$bit_meta:meta])* $bit:literal $name:ident ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $type(pub $number);

        impl $type {
            $(
                $(#[$bit_meta])*
                #[doc = concat!("Bit ", $bit, ".")]
                #[allow(non_upper_case_globals)]
                pub const $name: $type = $type(1 << $bit);
            )*
            /// Every named bit with its name.
            pub const NAMES: &'static [($type, &'static str)] = &[$(($type::$name, stringify!($name))),*];

            /// Whether all bits of `other` are set.
            #[inline(always)]
            pub const fn has(self, other: $type) -> bool {
                self.0 & other.0 == other.0
            }

            /// The bits that have no name here.
            pub fn unnamed(self) -> $number {
                Self::NAMES.iter().fold(self.0, |left, (bit, _)| left & !bit.0)
            }

            /// The names of the set bits, in the order of their declaration; unnamed ones as one hex number.
            pub fn names(self) -> Vec<String> {
                let set = Self::NAMES.iter().filter(|(bit, _)| self.has(*bit));
                let mut names: Vec<String> = set.map(|(_, name)| (*name).to_owned()).collect();
                if self.unnamed() != 0 {
                    names.push(format!("{:#x}", self.unnamed()));
                }
                names
            }
        }

        impl std::ops::BitOr for $type {
            type Output = $type;
            fn bitor(self, other: $type) -> $type {
                $type(self.0 | other.0)
            }
        }

        $crate::wire::value::value!($type as $method $(($widths))?, |value: $type| {
            let names = value.names();
            (!names.is_empty()).then_some($crate::wire::value::Words::List(names))
        });
    };
}

pub(crate) use {bits, numbers, value};
