//! Keys of a memory access.

use crate::addresses::AddressId;
use crate::detail::DetailField as Field;
use crate::profile::SampleRow;
use crate::value::Value;
use crate::view::facts::Facts;
use perffile::wire::data_src::DataSrc;
use perffile::wire::transaction::Transaction;

fn detail(facts: &Facts<'_>, row: &SampleRow, field: Field) -> Value {
    facts.profile.details.value(row.detail, field)
}

/// The place whose number a detail holds.
pub(super) fn place(facts: &Facts<'_>, row: &SampleRow, field: Field) -> Option<AddressId> {
    match detail(facts, row, field) {
        Value::Number(index) => facts.profile.addresses.id(usize::try_from(index).ok()?),
        _ => None,
    }
}

pub(in crate::view) fn code_page_size(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    detail(facts, row, Field::CodePageSize)
}

pub(in crate::view) fn data_page_size(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    detail(facts, row, Field::DataPageSize)
}

/// What is not recorded weighs nothing.
fn number_or_zero(facts: &Facts<'_>, row: &SampleRow, field: Field) -> u64 {
    match detail(facts, row, field) {
        Value::Number(number) => number,
        _ => 0,
    }
}

pub(in crate::view) fn local_weight(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    Value::Number(number_or_zero(facts, row, Field::Weight))
}

pub(in crate::view) fn weight(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    Value::PerSample(number_or_zero(facts, row, Field::Weight))
}

pub(in crate::view) fn local_ins_lat(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    Value::Number(number_or_zero(facts, row, Field::InstructionLatency))
}

pub(in crate::view) fn ins_lat(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    Value::PerSample(number_or_zero(facts, row, Field::InstructionLatency))
}

pub(in crate::view) fn local_stage(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    Value::Number(number_or_zero(facts, row, Field::StageCycles))
}

fn data_src(facts: &Facts<'_>, row: &SampleRow) -> Option<DataSrc> {
    match detail(facts, row, Field::DataSource) {
        Value::Number(bits) => Some(DataSrc(bits)),
        _ => None,
    }
}

fn say(facts: &mut Facts<'_>, row: &SampleRow, words: fn(DataSrc) -> String) -> Value {
    match data_src(facts, row) {
        Some(source) => facts.say(words(source).as_bytes()),
        None => Value::Unknown,
    }
}

pub(in crate::view) fn mem(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    say(facts, row, DataSrc::lvl_words)
}

pub(in crate::view) fn snoop(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    say(facts, row, DataSrc::snoop_words)
}

pub(in crate::view) fn tlb(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    say(facts, row, DataSrc::dtlb_words)
}

pub(in crate::view) fn locked(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    say(facts, row, |source| source.lock_words().to_owned())
}

pub(in crate::view) fn blocked(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    say(facts, row, DataSrc::blk_words)
}

/// The symbol of the data; without one the address itself, where the program ran.
pub(in crate::view) fn symbol(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    let place = place(facts, row, Field::DataPlace).and_then(|address| facts.taken_at(address));
    let named = place.filter(|place| {
        facts.profile.names.function(place.function).is_some_and(|function| function.has_name())
    });
    match named {
        Some(place) => Value::Offset {
            function: place.function,
            offset: facts
                .profile
                .names
                .function(place.piece)
                .map_or(0, |function| place.code.address.wrapping_sub(function.address)),
        },
        None => detail(facts, row, Field::DataAddress),
    }
}

pub(in crate::view) fn dso(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    match place(facts, row, Field::DataPlace).and_then(|address| facts.profile.addresses.get(address)) {
        Some(code) => facts.binary(code.binary),
        None => Value::Unknown,
    }
}

/// Bytes in a cache line, on all machines that tell data addresses but a few.
const CACHE_LINE: u64 = 64;

pub(in crate::view) fn cacheline(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    match detail(facts, row, Field::DataAddress) {
        Value::Address(address) => Value::Address(address & !(CACHE_LINE - 1)),
        _ => Value::Unknown,
    }
}

pub(in crate::view) fn phys_daddr(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    detail(facts, row, Field::PhysicalAddress)
}

pub(in crate::view) fn transaction(facts: &mut Facts<'_>, row: &SampleRow) -> Value {
    match detail(facts, row, Field::Transaction) {
        Value::Number(bits) => facts.say(Transaction(bits).to_string().trim_end().as_bytes()),
        _ => Value::Unknown,
    }
}
