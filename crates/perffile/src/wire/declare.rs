//! The macro for regular records: a field list, in ABI order, and nothing else.

/// Declares a structure and its one visiting function.
///
/// ```text
/// fields! {
///     /// A kernel symbol came or went.
///     pub struct Ksymbol<'a> {
///         /// Where it starts.
///         addr: u64 as addr,
///         /// Its size in bytes.
///         len: u32,
///         /// Its name.
///         name: CStr8<'a>,
///     }
/// }
/// ```
///
/// expands to
///
/// ```text
/// /// A kernel symbol came or went.
/// #[derive(Clone, Debug, Default, PartialEq)]
/// pub struct Ksymbol<'a> {
///     /// Where it starts.
///     pub addr: u64,
///     /// Its size in bytes.
///     pub len: u32,
///     /// Its name.
///     pub name: CStr8<'a>,
/// }
///
/// impl<'a> Fields<'a> for Ksymbol<'a> {
///     fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
///         pass.addr("addr", &mut self.addr)?;            // `as addr` names the method of the pass
///         self.len.field("len", pass)?;                  // without it the type knows its method
///         self.name.field("name", pass)?;
///         Ok(())
///     }
/// }
/// ```
///
/// A field whose name here is not that of the ABI has the latter behind its method: `kind: u32 as u32 "type"`.
/// `#[derive(Copy)]` is added where nothing is owned. Counted lists are written `entries: List<'a, Link> as list counted u64 "nr"`: the count goes first, under its own name,
/// in the given width. Whatever does not fit is written by hand against the same [`Pass`](super::pass::Pass).
macro_rules! fields {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(<$life:lifetime>)? {
            $(
                $(#[$field_meta:meta])*
                $field:ident : $type:ty $(as $method:ident $($wire:literal)? $(counted $width:ident $count:literal)?)?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[allow(unreachable_pub)] // In a private module it is public for its parent only.
        pub struct $name $(<$life>)? {
            $( $(#[$field_meta])* pub $field: $type, )*
        }

        impl<'a> $crate::wire::pass::Fields<'a> for $name $(<$life>)? {
            #[inline(always)]
            fn fields<P: $crate::wire::pass::Pass<'a>>(&mut self, pass: &mut P) -> $crate::wire::pass::Step {
                $( $crate::wire::declare::visit!(self, pass, $field $(, $method $(, $wire)? $(, $width, $count)?)?); )*
                let _ = pass;
                Ok(())
            }
        }
    };
}

/// One field of [`fields!`]: by its type, by a named method, under another name, or counted.
macro_rules! visit {
    ($self:ident, $pass:ident, $field:ident) => {
        $crate::wire::pass::WireField::field(&mut $self.$field, stringify!($field), $pass)?
    };
    ($self:ident, $pass:ident, $field:ident, $method:ident) => {
        $pass.$method(stringify!($field), &mut $self.$field)?
    };
    ($self:ident, $pass:ident, $field:ident, $method:ident, $wire:literal) => {
        $pass.$method($wire, &mut $self.$field)?
    };
    ($self:ident, $pass:ident, $field:ident, $method:ident, u64, $count:literal) => {
        let count = $pass.count_u64($count, $self.$field.len())?;
        $pass.$method(stringify!($field), count, &mut $self.$field)?
    };
    ($self:ident, $pass:ident, $field:ident, $method:ident, u32, $count:literal) => {
        let count = $pass.count_u32($count, $self.$field.len())?;
        $pass.$method(stringify!($field), count, &mut $self.$field)?
    };
    ($self:ident, $pass:ident, $field:ident, $method:ident, u16, $count:literal) => {
        let count = $pass.count_u16($count, $self.$field.len())?;
        $pass.$method(stringify!($field), count, &mut $self.$field)?
    };
}

/// Declares the module of a line of a registry, unless another line does.
macro_rules! module {
    ($module:ident) => {
        pub mod $module;
    };
    ($module:ident again) => {};
}

pub(crate) use {fields, module, visit};
