//! The recordings.

use super::bits;
use crate::field::{self, Definition, Value};
use crate::made::Made;
use crate::needs::Needs;
use perffile::wire::endian::ByteOrder;
use readperf_profile::Profile;
use std::borrow::Cow;
use std::ops::Range;

type Field = field::Field<()>;

pub(crate) const TABLE: Definition<()> = Definition {
    meaning: "A recording: where it was made and how, and what is wrong with it.",
    needs: Needs::NOTHING,
    len: |_| 1,
    rows: |_, rows: Range<usize>| rows.map(|_| ()).collect(),
    fields: FIELDS,
};

const FIELDS: &[Field] = &[
    Field::new(
        "profile_id",
        "The recording: a hash of its content.",
        Value::Int64(|made, ()| Some(made.profile_id())),
    ),
    Field::new(
        "profile_id_lo",
        "The other half of the hash.",
        Value::Int64(|made, ()| Some(made.source.profile_id.rest())),
    ),
    Field::new(
        "source",
        "Where it was read from.",
        Value::Text(|made, ()| Some(Cow::from(made.source.name.as_str()))),
    ),
    Field::new("bytes", "Its size.", Value::Int64(|made, ()| bits(made.source.bytes))).unit("bytes"),
    Field::new("labels", "What was said of it with `--label`.", Value::TextMap(|made, ()| &made.labels)),
    Field::new(
        "host",
        "Name of the machine.",
        Value::Text(|made, ()| made.analysis.metadata.features.hostname()),
    )
    .optional(),
    Field::new(
        "kernel_release",
        "Release of its kernel.",
        Value::Text(|made, ()| made.analysis.metadata.features.osrelease()),
    )
    .optional(),
    Field::new(
        "arch",
        "Its architecture, as `uname -m`.",
        Value::Text(|made, ()| made.analysis.metadata.features.arch()),
    )
    .optional(),
    Field::new(
        "cpu_description",
        "Its CPU in words.",
        Value::Text(|made, ()| made.analysis.metadata.features.cpudesc()),
    )
    .optional(),
    Field::new(
        "cpu_model",
        "Its CPU by numbers.",
        Value::Text(|made, ()| made.analysis.metadata.features.cpuid()),
    )
    .optional(),
    Field::new(
        "cpus_online",
        "How many CPUs were online.",
        Value::Int32(|made, ()| i32::try_from(made.analysis.metadata.features.nrcpus()?.online).ok()),
    )
    .optional(),
    Field::new(
        "memory_kib",
        "Its memory.",
        Value::Int64(|made, ()| bits(made.analysis.metadata.features.total_mem_kib()?)),
    )
    .optional()
    .unit("KiB"),
    Field::new(
        "perf_version",
        "Version of perf.",
        Value::Text(|made, ()| made.analysis.metadata.features.version()),
    )
    .optional(),
    Field::new(
        "command",
        "How perf was called, its own path first; empty where that is not told.",
        Value::TextList(|made, ()| {
            let command = made.analysis.metadata.features.cmdline().unwrap_or_default();
            command.into_iter().map(Cow::into_owned).collect()
        }),
    ),
    Field::new(
        "first_time_ns",
        "Time of the first sample in `samples`, by the clock of the recording.",
        Value::Int64(|made, ()| bits(times(made)?.0)),
    )
    .optional()
    .unit("ns")
    .needs(Needs::SAMPLES),
    Field::new("last_time_ns", "Time of the last one.", Value::Int64(|made, ()| bits(times(made)?.1)))
        .optional()
        .unit("ns")
        .needs(Needs::SAMPLES),
    Field::new(
        "start",
        "Time of day of the first sample, where the recording tells how its clock stands to that.",
        Value::Timestamp(|made, ()| made.moment_us(times(made)?.0)),
    )
    .optional()
    .needs(Needs::SAMPLES),
    Field::new(
        "samples",
        "How many rows it has in `samples`.",
        Value::Int64(|made, ()| i64::try_from(made.profile().rows().len()).ok()),
    )
    .needs(Needs::SAMPLES),
    Field::new(
        "lost_records",
        "Records lost while recording, as it tells.",
        Value::Int64(|made, ()| bits(made.session().summary().lost_records)),
    ),
    Field::new(
        "lost_samples",
        "Samples lost while recording, as it tells.",
        Value::Int64(|made, ()| bits(made.session().summary().lost_samples)),
    ),
    Field::new(
        "container",
        "What kind of recording it is: `file`, `pipe`, `directory`.",
        Value::Text(|made, ()| Some(Cow::from(made.analysis.metadata.container.to_string()))),
    ),
    Field::new(
        "byte_order",
        "Byte order of the machine: `little`, `big`.",
        Value::Text(|made, ()| {
            Some(Cow::from(match made.analysis.metadata.order {
                ByteOrder::Little => "little",
                ByteOrder::Big => "big",
            }))
        }),
    ),
    Field::new(
        "compressed",
        "Whether it has compressed records.",
        Value::Boolean(|made, ()| Some(made.analysis.metadata.compressed)),
    ),
    Field::new(
        "damaged",
        "Whether something of it could not be read: the tables have its sound part.",
        Value::Boolean(|made, ()| Some(made.analysis.issues.damaged())),
    ),
    Field::new(
        "issues",
        "What is wrong with it.",
        Value::TextList(|made, ()| {
            let issue = |issue: &perffile::Issue| format!("{}: {issue}", issue.kind.name());
            made.analysis.issues.iter().map(issue).collect()
        }),
    ),
];

fn times(made: &Made) -> Option<(u64, u64)> {
    Profile::times_ns(made.profile())
}
