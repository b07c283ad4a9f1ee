//! The columns of a histogram, and the order of its rows.

use super::facts::Facts;
use super::histogram::{ByMode, Numbers};
use crate::names::{Function, FunctionId};
use crate::value::Value;
use readperf_session::BinaryId;
use std::cmp::Ordering;
use std::ops::Range;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// Share of the samples taken there.
    Overhead,
    /// Share of the samples with the row in their stack.
    Children,
    /// Share of those taken in the kernel.
    System,
    /// Share of those taken in user mode.
    User,
    /// Share of those taken in a guest's kernel.
    GuestSystem,
    /// Share of those taken in a guest's user mode.
    GuestUser,
    /// Number of samples taken there.
    Samples,
    /// Sum of their periods.
    Period,
    /// What a key says, by its index.
    Key(usize),
}

/// The columns of numbers, by the names that perf gives them.
pub const NUMBERS: &[(&str, Column, &str)] = &[
    ("overhead", Column::Overhead, "share of samples taken there"),
    ("overhead_children", Column::Children, "share of samples with it in their stack"),
    ("overhead_sys", Column::System, "share in the kernel"),
    ("overhead_us", Column::User, "share in user mode"),
    ("overhead_guest_sys", Column::GuestSystem, "share in a guest's kernel"),
    ("overhead_guest_us", Column::GuestUser, "share in a guest's user mode"),
    ("sample", Column::Samples, "number of samples"),
    ("period", Column::Period, "sum of periods"),
];

impl Column {
    /// The number a row has in this column; 0 in those of keys.
    pub fn number(self, row: &Numbers) -> u64 {
        let by_mode = |of: fn(&ByMode) -> u64| row.by_mode.as_deref().map_or(0, of);
        match self {
            Column::Overhead | Column::Period => row.self_period,
            Column::Children => row.total_period,
            Column::System => by_mode(|by_mode| by_mode.kernel),
            Column::User => by_mode(|by_mode| by_mode.user),
            Column::GuestSystem => by_mode(|by_mode| by_mode.guest_kernel),
            Column::GuestUser => by_mode(|by_mode| by_mode.guest_user),
            Column::Samples => row.samples,
            Column::Key(_) => 0,
        }
    }

    /// Whether it shows periods by mode of the CPU, see [`Numbers::by_mode`].
    pub fn is_by_mode(self) -> bool {
        matches!(self, Column::System | Column::User | Column::GuestSystem | Column::GuestUser)
    }

    /// Whether it is a share of the event's period.
    pub fn is_share(self) -> bool {
        !matches!(self, Column::Samples | Column::Period | Column::Key(_))
    }
}

/// Orders two values of a key: names by their letters, numbers by size.
pub(super) fn compare(facts: &Facts<'_>, a: Value, b: Value) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    let comm = |id| facts.session.comm(id);
    let pid = |id| facts.session.process(id).map(|process| process.pid);
    let tid = |id| facts.session.thread(id).map(|thread| thread.tid);
    let file = |id| facts.profile.names.file(id);
    match (&a, &b) {
        (Value::Comm(a), Value::Comm(b)) => comm(*a).cmp(comm(*b)),
        (Value::Process(a), Value::Process(b)) => pid(*a).cmp(&pid(*b)),
        (Value::Thread(a), Value::Thread(b)) => tid(*a).cmp(&tid(*b)),
        (Value::Binary(a), Value::Binary(b)) => binary(facts, *a).cmp(binary(facts, *b)),
        (Value::Function { function: a, inlined: x }, Value::Function { function: b, inlined: y }) => {
            by_function(facts, *a, *b).then(x.cmp(y))
        }
        (Value::Offset { function: a, offset: x }, Value::Offset { function: b, offset: y }) => {
            by_function(facts, *a, *b).then(x.cmp(y))
        }
        (Value::Code { binary: a, address: x }, Value::Code { binary: b, address: y }) => {
            binary(facts, Some(*a)).cmp(binary(facts, Some(*b))).then(x.cmp(y))
        }
        (Value::NoFile(a), Value::NoFile(b)) => binary(facts, *a).cmp(binary(facts, *b)),
        (Value::File(a), Value::File(b)) => file(*a).cmp(&file(*b)),
        (Value::Line { file: a, line: x }, Value::Line { file: b, line: y }) => {
            file(*a).cmp(&file(*b)).then(x.cmp(y))
        }
        (Value::Text(a), Value::Text(b)) => facts.text(*a).cmp(facts.text(*b)),
        _ => a.cmp(&b),
    }
}

fn binary<'f>(facts: &Facts<'f>, id: Option<BinaryId>) -> &'f [u8] {
    id.and_then(|id| facts.session.binary(id)).map_or(&[], |binary| &binary.name)
}

/// By name, then by binary and address. Addresses without a name are all as long, so that their numbers tell their order.
fn by_function(facts: &Facts<'_>, a: FunctionId, b: FunctionId) -> Ordering {
    let function = |id| facts.profile.names.function(id);
    let (Some(a), Some(b)) = (function(a), function(b)) else { return a.cmp(&b) };
    let label = match (a.name(), b.name()) {
        (Some(a), Some(b)) => a.cmp(b),
        (None, None) => a.address.cmp(&b.address),
        _ => a.label().cmp(&b.label()),
    };
    let place = |function: Function<'_>| (binary(facts, function.binary), function.address);
    label.then_with(|| place(a).cmp(&place(b)))
}

/// The beginnings of addresses, which stand for functions without a name.
pub(super) const ADDRESSES: Range<u128> = (0x3078 << 112)..(0x3079 << 112);

/// The address that stands for a function, if it has no name.
pub(super) fn unnamed_address(facts: &Facts<'_>, value: Value) -> Option<u64> {
    let Value::Function { function, .. } = value else { return None };
    let function = facts.profile.names.function(function)?;
    (!function.has_name()).then_some(function.address)
}

/// The first 16 bytes of the name of a function, or of what stands for it, as a number: of two functions that differ in it, the one with the
/// less comes first. 0 for other values.
pub(super) fn beginning(facts: &Facts<'_>, value: Value) -> u128 {
    let Value::Function { function, .. } = value else { return 0 };
    let Some(function) = facts.profile.names.function(function) else { return 0 };
    match function.name() {
        Some(name) => {
            let mut first = [0; 16];
            first.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from);
            u128::from_be_bytes(first)
        }
        // As `Function::label` writes it: 0x, and the digits from the highest on.
        None => (0..14).fold(u128::from(u16::from_be_bytes(*b"0x")), |so_far, nr| {
            let digit = (function.address >> (60 - 4 * nr)) & 15;
            let letter = if digit < 10 { b'0' } else { b'a' - 10 };
            so_far << 8 | (u128::from(letter) + u128::from(digit))
        }),
    }
}
