//! `perf report --stdio … -F period,sample,comm,dso,sym -t '|'` as numbers.

use std::collections::BTreeMap;

/// One line of the histogram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) period: u64,
    pub(crate) samples: u64,
    pub(crate) comm: String,
    pub(crate) dso: String,
    /// Without the level mark `[.]` or `[k]`.
    pub(crate) symbol: String,
}

/// The table of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) event: String,
    /// "Event count (approx.)", which is exact.
    pub(crate) period: u64,
    pub(crate) rows: Vec<Row>,
}

impl Table {
    /// The "Samples:" line of perf is rounded (`10K`), the rows are not.
    pub(crate) fn samples(&self) -> u64 {
        self.rows.iter().map(|r| r.samples).sum()
    }

    /// Period and samples summed over what `key` makes of a row.
    pub(crate) fn by<K: Ord>(&self, key: impl Fn(&Row) -> K) -> BTreeMap<K, (u64, u64)> {
        let mut sums = BTreeMap::new();
        for row in &self.rows {
            let sum: &mut (u64, u64) = sums.entry(key(row)).or_default();
            sum.0 += row.period;
            sum.1 += row.samples;
        }
        sums
    }
}

fn row(line: &str) -> Option<Row> {
    let mut columns = line.splitn(5, '|').map(str::trim);
    let (period, samples) = (columns.next()?.parse().ok()?, columns.next()?.parse().ok()?);
    let (comm, dso, symbol) = (columns.next()?, columns.next()?, columns.next()?);
    // "[.] name", with the level in brackets; a row without a level keeps its text.
    let symbol = symbol.split_once("] ").filter(|(mark, _)| mark.len() == 2).map_or(symbol, |(_, name)| name);
    Some(Row {
        period,
        samples,
        comm: comm.to_owned(),
        dso: dso.to_owned(),
        symbol: symbol.trim().to_owned(),
    })
}

/// Reads all tables. Tables of event groups (two figures in a column) have no rows here.
pub(crate) fn parse(text: &str) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for line in text.lines() {
        if let Some((_, event)) = line.strip_prefix("# Samples:").and_then(|l| l.split_once("of event '")) {
            let event = event.rsplit_once('\'').map_or(event, |(name, _)| name).to_owned();
            tables.push(Table { event, period: 0, rows: Vec::new() });
        } else if let Some(count) = line.strip_prefix("# Event count (approx.):") {
            if let Some(table) = tables.last_mut() {
                table.period = count.trim().parse().expect("an event count");
            }
        } else if !line.starts_with('#')
            && let (Some(table), Some(row)) = (tables.last_mut(), row(line))
        {
            table.rows.push(row);
        }
    }
    tables
}

#[test]
fn reads_a_table_of_perf() {
    let text = "# Samples: 1K of event 'cpu-clock:u'\n# Event count (approx.): 1400\n#\n#  Period| Samples|Command|Shared Object|Symbol\n \
                1000  | 10  |work one|work   |[.] operator|\n 400  | 4   |work   |[unknown]|[k] 0xffff\n\n#\n# (Tip)\n";
    let tables = parse(text);
    assert_eq!(tables.len(), 1);
    assert_eq!((tables[0].event.as_str(), tables[0].period, tables[0].samples()), ("cpu-clock:u", 1400, 14));
    assert_eq!(tables[0].rows[0].comm, "work one");
    assert_eq!(tables[0].rows[0].symbol, "operator|");
    assert_eq!(tables[0].rows[1].symbol, "0xffff");
}
