//! `docs/tables.md` says what the declarations say.

#![allow(clippy::unwrap_used, clippy::panic)]

use readperf_tables::{Column, SCHEMA_VERSION, Table};
use std::fmt::Write as _;
use std::path::Path;

const HEAD: &str = "\
# The tables of a recording

What follows is made from the declarations in `crates/tables/src/tables`, from which readperf also makes the rows. Do not edit it: a test
keeps it up to date, and `READPERF_BLESS=1 cargo test -p readperf-tables --test reference_page` writes it anew.

`readperf export --format parquet -o DIR FILE...` writes each table as a folder of Parquet files, `DIR/TABLE/part-ID.parquet`, one file a
recording; with `--date` and `--label` in folders `date=.../key=value` within. `--format arrow` writes the same as files of Arrow (IPC).

* Ids are hashes of what they stand for (XXH3, 128 bits): the upper half is the id, the lower half is in the column `..._lo` of the table that
  has the id. They are the same in every recording. Tables without `profile_id` say the same of one id in all recordings: put side by side, one row of
  each id is enough (`SELECT DISTINCT`). Two rows of one id that differ in the lower half are a collision; among 100 million stacks one
  is to be expected in 3,700 such collections.
* Numbers that are unsigned where they were recorded (addresses, ids, bits) have their bits in a signed column: some tools know no others.
* NULL is what was not recorded or is not known. Columns that are never NULL are marked.
* `TEXT*` is text of which many rows have the same, in a dictionary: in Arrow `Dictionary(Int32, Utf8)`.
* Times are of the recording's clock, in ns. Columns `time` and `start` are times of day, UTC, in microseconds; they are there if the recording
  tells how its clock stands to that (`perf record -k CLOCK_MONOTONIC`).
* The metadata of each file say `readperf.schema` (the version of the schema) and `readperf.table`.

To count a function with what it calls, once for each sample whatever the recursion:

```sql
WITH functions AS (SELECT DISTINCT frame_id, function_id FROM frame_levels),
     found AS (SELECT DISTINCT stack_id, function_id
               FROM (SELECT stack_id, unnest(frame_ids) AS frame_id FROM stacks) JOIN functions USING (frame_id))
SELECT symbols.function, symbols.dso, sum(samples.period) AS total
FROM samples JOIN found USING (stack_id) JOIN symbols ON symbols.function_id = found.function_id
WHERE event = 'cycles' GROUP BY ALL ORDER BY total DESC LIMIT 20
```

";

#[test]
fn the_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md");
    let made = page();
    if std::env::var_os("READPERF_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        made == stored,
        "docs/tables.md is stale; READPERF_BLESS=1 cargo test -p readperf-tables --test reference_page writes it anew"
    );
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    writeln!(page, "Version of the schema: {SCHEMA_VERSION}.").unwrap();
    for table in Table::ALL {
        let shared =
            if table.is_shared() && *table != Table::Profiles { " The same in every recording." } else { "" };
        writeln!(page, "\n## {table}\n\n{}{shared}\n", table.meaning()).unwrap();
        page.push_str("| column | type | unit | meaning |\n|---|---|---|---|\n");
        table.columns().iter().for_each(|column| line(&mut page, column));
    }
    page
}

fn line(page: &mut String, column: &Column) {
    let Column { name, data, optional, unit, meaning } = column;
    let shared = if *data == readperf_tables::ColumnType::Word { "\\*" } else { "" };
    let never_null = if *optional { "" } else { ", never NULL" };
    writeln!(page, "| `{name}` | {data}{shared}{never_null} | {} | {meaning} |", unit.unwrap_or_default())
        .unwrap();
}

#[test]
fn names_are_plain_words() {
    for table in Table::ALL {
        assert_eq!(Table::by_name(table.name()), Some(*table));
        for (nr, column) in table.columns().iter().enumerate() {
            assert!(
                column
                    .name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
            );
            assert_eq!(table.column_index(column.name), Some(nr), "{table}.{}: once", column.name);
            assert!(
                column.meaning.ends_with('.') && !column.meaning.contains('|'),
                "{table}.{}",
                column.name
            );
        }
        assert!(!table.columns().is_empty() && table.meaning().ends_with('.'));
        assert_eq!(table.schema().fields().len(), table.columns().len());
    }
    assert_eq!(Table::by_name("nothing"), None);
}
