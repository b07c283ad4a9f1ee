//! Keys of a place in code.

use crate::value::Value;
use crate::view::facts::{Facts, Place};

pub(in crate::view) fn dso(facts: &mut Facts<'_>, place: &Place) -> Value {
    facts.binary(place.code.binary)
}

pub(in crate::view) fn symbol(_: &mut Facts<'_>, place: &Place) -> Value {
    Value::Function { function: place.function, inlined: place.inlined }
}

/// The function of the level, if inlined functions are told apart from their symbols: what is inlined, or the symbol itself.
pub(in crate::view) fn inlined(facts: &mut Facts<'_>, place: &Place) -> Value {
    match facts.inlined_apart {
        true => Value::Function { function: place.level.function, inlined: place.level.inlined },
        false => symbol(facts, place),
    }
}

/// Of what is inlined, or has no name, no size is known.
pub(in crate::view) fn symbol_size(facts: &mut Facts<'_>, place: &Place) -> Value {
    let function = facts.profile.names.function(place.function).filter(|_| !place.inlined);
    function.map(|function| function.size()).filter(|size| *size > 0).map_or(Value::Unknown, Value::Number)
}

/// Without a line the function stands in; without a function the binary and the address in it.
pub(in crate::view) fn srcline(facts: &mut Facts<'_>, place: &Place) -> Value {
    if let Some(file) = place.level.file {
        return Value::Line { file, line: place.level.line };
    }
    let unnamed = facts.profile.names.function(place.function).filter(|function| !function.has_name());
    match (unnamed, facts.binary(place.code.binary)) {
        (Some(function), Value::Binary(Some(binary))) => Value::Code { binary, address: function.address },
        _ => symbol(facts, place),
    }
}

pub(in crate::view) fn srcfile(facts: &mut Facts<'_>, place: &Place) -> Value {
    match (place.level.file, facts.binary(place.code.binary)) {
        (Some(file), _) => Value::File(file),
        (None, Value::Binary(binary)) => Value::NoFile(binary),
        (None, _) => Value::Unknown,
    }
}

pub(in crate::view) fn symoff(facts: &mut Facts<'_>, place: &Place) -> Value {
    let function = facts.profile.names.function(place.piece);
    match function.filter(|function| function.has_name() && !place.inlined) {
        Some(function) => Value::Offset {
            function: place.function,
            // What returns to the first byte of a signal trampoline is looked up one byte before it.
            offset: place.code.address.saturating_sub(function.address),
        },
        None => symbol(facts, place),
    }
}

pub(in crate::view) fn addr(_: &mut Facts<'_>, place: &Place) -> Value {
    Value::Address(place.code.ip)
}
