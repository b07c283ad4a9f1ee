//! The functions.

use super::{bits, hex, part};
use crate::field::{self, Definition, Value};
use crate::made::Made;
use crate::needs::Needs;
use readperf_profile::{Function, FunctionId};
use readperf_session::Binary;
use std::borrow::Cow;

type Field = field::Field<FunctionId>;

pub(crate) const TABLE: Definition<FunctionId> = Definition {
    meaning: "A function of a binary, inlined or not: code of one name in one binary. Code without a name is a row for each address.",
    needs: Needs::STACKS,
    len: |made| made.functions.len(),
    rows: |made, rows| part(&made.functions, rows),
    fields: FIELDS,
};

const FIELDS: &[Field] = &[
    Field::new(
        "function_id",
        "The function: a hash of its names and its binary.",
        Value::Int64(|made, id| Some(made.function_ids.get(id.index())?.number())),
    ),
    Field::new(
        "function_id_lo",
        "The other half of the hash.",
        Value::Int64(|made, id| Some(made.function_ids.get(id.index())?.rest())),
    ),
    Field::new(
        "function",
        "Its name, demangled; NULL where there is none.",
        Value::Word(|made| &made.dictionaries.functions, |_, id| Some(id.index())),
    )
    .optional(),
    Field::new(
        "linkage_name",
        "Its name in the symbol table, where that is another one.",
        Value::Text(|made, id| Some(Cow::from(function(made, *id)?.linkage_name()?))),
    )
    .optional(),
    Field::new(
        "address",
        "The address of code without a name, as bits; NULL of functions with one.",
        Value::Int64(|made, id| bits(function(made, *id).filter(|function| !function.has_name())?.address)),
    )
    .optional(),
    Field::new(
        "binary_id",
        "The binary: `binaries.binary_id`; NULL where nothing was mapped.",
        Value::Int64(|made, id| Some(made.binary_ids.get(function(made, *id)?.binary?.index())?.number())),
    )
    .optional(),
    Field::new(
        "dso",
        "Short name of the binary.",
        Value::Word(
            |made| &made.dictionaries.binaries,
            |made, id| Some(function(made, *id)?.binary?.index()),
        ),
    )
    .optional(),
    Field::new(
        "build_id",
        "Build-id of the binary, in hex.",
        Value::Text(|made, id| Some(Cow::from(hex(binary(made, *id)?.build_id.as_deref()?)))),
    )
    .optional(),
];

fn function(made: &Made, id: FunctionId) -> Option<Function<'_>> {
    made.profile().function(id)
}

fn binary(made: &Made, id: FunctionId) -> Option<&Binary> {
    made.session().binary(function(made, id)?.binary?)
}
