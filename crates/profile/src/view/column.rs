//! The columns of a histogram, and the order of its rows.

use super::facts::Facts;
use super::histogram::{ByMode, Histogram, HistogramRow, Numbers, RowValues};
use crate::names::{Function, FunctionId};
use crate::value::Value;
use readperf_session::BinaryId;
use std::cmp::Ordering;

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

impl Histogram {
    /// Sorts the rows: by the columns of `order`, the highest numbers first; then by names, so that the order does not
    /// depend on how these were numbered. Of the events of a group that with the index `lead` counts first.
    pub fn sort(&mut self, order: &[Column], lead: usize, facts: &Facts<'_>, values: &RowValues) {
        let by_column = |a: &HistogramRow, b: &HistogramRow| {
            order.iter().fold(Ordering::Equal, |so_far, column| {
                so_far.then_with(|| match column {
                    Column::Key(index) => {
                        compare(facts, values.value(a.key, *index), values.value(b.key, *index))
                    }
                    column => numbers(b, lead)
                        .map(|row| column.number(row))
                        .cmp(numbers(a, lead).map(|row| column.number(row))),
                })
            })
        };
        let by_name = |a: &HistogramRow, b: &HistogramRow| {
            let keys = values.values(a.key).zip(values.values(b.key));
            keys.fold(Ordering::Equal, |so_far, (a, b)| so_far.then_with(|| compare(facts, a, b)))
        };
        let weight = |row: &HistogramRow| {
            let Numbers { samples, self_period, total_period, .. } = row.numbers;
            (total_period, self_period, samples)
        };
        // Rows come as stacks do, which are often in order for thousands of rows: the stable sort takes them as they are.
        self.rows.sort_by(|a, b| {
            by_column(a, b).then_with(|| weight(b).cmp(&weight(a))).then_with(|| by_name(a, b)).then_with(
                || {
                    // What has the same names: by number, which only depends on the recording.
                    values.values(a.key).cmp(values.values(b.key))
                },
            )
        });
    }
}

/// The numbers of a row: those of the leading event of a group, then all from the first on.
fn numbers(row: &HistogramRow, lead: usize) -> impl Iterator<Item = &Numbers> {
    let all = || std::iter::once(&row.numbers).chain(&row.others);
    all().nth(lead).into_iter().chain(all())
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
    let place = |function: &Function| (binary(facts, function.binary), function.address);
    label.then_with(|| place(a).cmp(&place(b)))
}
