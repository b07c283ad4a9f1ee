//! The stacks of samples.

use super::part;
use crate::field::{self, Definition, Value};
use crate::made::{Made, StackRow};
use crate::needs::Needs;
use readperf_profile::{AddressId, CodeKind};

type Field = field::Field<StackRow>;

pub(crate) const TABLE: Definition<StackRow> = Definition {
    meaning: "A stack: the frames of a sample, and of all samples that have the same. Inlined functions are levels of its frames.",
    needs: Needs::STACKS,
    len: |made| made.stacks.len(),
    rows: |made, rows| part(&made.stacks, rows),
    fields: FIELDS,
};

const FIELDS: &[Field] = &[
    Field::new(
        "stack_id",
        "The stack: a hash of its frames.",
        Value::Int64(|_, stack| Some(stack.id.number())),
    ),
    Field::new("stack_id_lo", "The other half of the hash.", Value::Int64(|_, stack| Some(stack.id.rest()))),
    Field::new(
        "depth",
        "How many frames.",
        Value::Int32(|made, stack| i32::try_from(places(made, stack).count()).ok()),
    ),
    Field::new(
        "leaf_frame_id",
        "The innermost frame. That is mostly where the sample was taken (`samples.frame_id`); a recorded stack can begin elsewhere.",
        Value::Int64(|made, stack| frame(made, places(made, stack).next()?)),
    ),
    Field::new(
        "root_frame_id",
        "The outermost frame.",
        Value::Int64(|made, stack| frame(made, places(made, stack).last()?)),
    ),
    Field::new(
        "frame_ids",
        "All frames, the innermost first: `frames.frame_id`.",
        Value::Int64List(|made, stack, list| {
            list.extend(places(made, stack).filter_map(|place| frame(made, place)));
        }),
    ),
    Field::new(
        "has_kernel",
        "Whether one of them is of the kernel.",
        Value::Boolean(|made, stack| {
            Some(places(made, stack).any(|place| made.kind(place) == CodeKind::Kernel))
        }),
    ),
    Field::new(
        "has_unknown",
        "Whether one of them has no name.",
        Value::Boolean(|made, stack| {
            let names = made.profile().names();
            let is_unknown = |place| {
                let function = names.function_at(place).and_then(|function| names.function(function));
                function.is_none_or(|function| !function.has_name())
            };
            Some(places(made, stack).any(is_unknown))
        }),
    ),
];

fn places<'m>(made: &'m Made, stack: &StackRow) -> impl Iterator<Item = AddressId> + use<'m> {
    made.profile().places(&stack.sample)
}

fn frame(made: &Made, place: AddressId) -> Option<i64> {
    Some(made.frame_ids.get(place.index())?.number())
}
