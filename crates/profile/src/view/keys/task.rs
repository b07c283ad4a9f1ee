//! Keys of who ran, where and when.

use crate::detail::DetailField;
use crate::profile::SampleRow;
use crate::stacks::StackId;
use crate::value::Value;
use crate::view::facts::Facts;

pub(in crate::view) fn comm(_: &mut Facts<'_>, row: &SampleRow) -> Value {
    Value::Comm(row.comm)
}

pub(in crate::view) fn pid(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    let thread = row.thread.and_then(|thread| facts.session.thread(thread));
    thread.map_or(Value::Unknown, |thread| Value::Process(thread.process))
}

pub(in crate::view) fn tid(_: &mut Facts<'_>, row: &SampleRow) -> Value {
    row.thread.map_or(Value::Unknown, Value::Thread)
}

pub(in crate::view) fn cpu(_: &mut Facts<'_>, row: &SampleRow) -> Value {
    row.cpu.map_or(Value::Unknown, |cpu| Value::Number(cpu.into()))
}

pub(in crate::view) fn socket(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    let socket = row.cpu.and_then(|cpu| facts.surroundings.socket(cpu));
    socket.map_or(Value::Unknown, |socket| Value::Number(socket.into()))
}

pub(in crate::view) fn time(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    facts.profile.details.value(row.detail, DetailField::Time)
}

/// Device and inode of the thread's cgroup namespace, as perf has this key.
pub(in crate::view) fn cgroup_id(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    let tid = row.thread.and_then(|thread| facts.session.thread(thread)).map(|thread| thread.tid);
    match tid.and_then(|tid| facts.surroundings.cgroup_namespace(tid)) {
        Some((device, inode)) => facts.say(format!("{device}/{inode:#x}").as_bytes()),
        None => Value::Unknown,
    }
}

pub(in crate::view) fn cgroup(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    let id = facts.profile.details.value(row.detail, DetailField::Cgroup);
    let Value::Number(id) = id else { return Value::Unknown };
    let surroundings = facts.surroundings;
    surroundings.cgroup(id).map_or(Value::Unknown, |path| facts.say(path))
}

/// The outermost function that matches, or the innermost: in the order in which stacks are shown, as perf has it.
pub(in crate::view) fn parent(facts: &mut Facts<'_>, stack: StackId) -> Value {
    let Some(pattern) = facts.parent else { return Value::Unknown };
    let names = &facts.profile.names;
    let mut found = facts.say(b"[other]");
    for address in facts.profile.stacks.places(stack) {
        for place in facts.levels(address) {
            let name = names.function(place.level.function).and_then(|function| function.name());
            if name.is_some_and(|name| pattern.is_match(name)) {
                found = Value::Function { function: place.level.function, inlined: place.level.inlined };
                if facts.innermost_parent {
                    return found;
                }
            }
        }
    }
    found
}
