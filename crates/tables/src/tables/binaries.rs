//! The files and other things that have code.

use super::{hex, part};
use crate::field::{self, Definition, Value};
use crate::made::Made;
use crate::needs::Needs;
use perffile::wire::text::decoded;
use readperf_session::{Binary, BinaryKind};
use std::borrow::Cow;

type Field = field::Field<usize>;

pub(crate) const TABLE: Definition<usize> = Definition {
    meaning: "A binary that the recording tells of: a file, a kernel, a module, generated code.",
    needs: Needs::NOTHING,
    len: |made| made.binaries.len(),
    rows: |made, rows| part(&made.binaries, rows),
    fields: FIELDS,
};

const FIELDS: &[Field] = &[
    Field::new(
        "binary_id",
        "The binary: a hash of its path and build-id.",
        Value::Int64(|made, number| Some(made.binary_ids.get(*number)?.number())),
    ),
    Field::new(
        "binary_id_lo",
        "The other half of the hash.",
        Value::Int64(|made, number| Some(made.binary_ids.get(*number)?.rest())),
    ),
    Field::new(
        "dso",
        "Its short name: the last part of the path, `[kernel.kallsyms]`, `[module]`, `[JIT] tid PID`.",
        Value::Word(|made| &made.dictionaries.binaries, |_, number| Some(*number)),
    ),
    Field::new(
        "path",
        "Its path as recorded, or a name in brackets.",
        Value::Text(|made, number| Some(decoded(&binary(made, *number)?.name))),
    ),
    Field::new(
        "build_id",
        "Its build-id, in hex.",
        Value::Text(|made, number| Some(Cow::from(hex(binary(made, *number)?.build_id.as_deref()?)))),
    )
    .optional(),
    Field::new(
        "kind",
        "What it is: `user`, `kernel`, `module`, `vdso`, `vsyscall`, `jit`, `anon`, `bpf`, `guest kernel`, `guest module`.",
        Value::Text(|made, number| {
            Some(Cow::from(match binary(made, *number)?.kind {
                BinaryKind::User => "user",
                BinaryKind::Kernel { .. } => "kernel",
                BinaryKind::Module { .. } => "module",
                BinaryKind::Vdso => "vdso",
                BinaryKind::Vsyscall => "vsyscall",
                BinaryKind::Jit { .. } => "jit",
                BinaryKind::Anon => "anon",
                BinaryKind::Bpf { .. } => "bpf",
                BinaryKind::GuestKernel { .. } => "guest kernel",
                BinaryKind::GuestModule { .. } => "guest module",
            }))
        }),
    ),
];

fn binary(made: &Made, number: usize) -> Option<&Binary> {
    made.session().binaries().get(number)
}
